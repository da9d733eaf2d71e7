//! What is said in a target's record of a rollout beside its steps: approvals, health, its end.

use std::time::Duration;

use jiff::Timestamp;

use super::super::job::Job;
use super::work::Work;
use crate::cluster::state::{Approval, ClosedRollout, Mark, OpenRollout, Record, RolloutId, Stand};
use crate::error::{Error, Exit};

/// How long whoever closes a record waits for someone who only looks into it under its lock.
const PATIENCE: Duration = Duration::from_secs(30);

/// The rollout that is open in a target, as its record says now.
/// Also after the run was halted.
pub async fn open(job: &Job) -> Result<Option<OpenRollout>, Error> {
    let record = job.uncancelled().store.record().await?;
    Ok(record.and_then(|(record, _)| record.rollout).map(|open| *open))
}

/// Closes the rollout in a target: it blocks nobody any more. Where it is closed already nothing
/// is done.
///
/// # Errors
/// Someone else is at work, or someone takes the rollout back and it was to be closed as succeeded
/// (exit 6), or a call fails.
pub async fn close(
    job: &Job,
    id: &RolloutId,
    stand: Stand,
    message: Option<String>,
) -> Result<(), Error> {
    let job = &job.uncancelled();
    if open(job).await?.is_none_or(|open| open.header.id != *id) {
        return Ok(());
    }
    let mut work = Work::enter_within(job, id, Duration::ZERO, PATIENCE).await?;
    let result = end(&mut work, stand, message).await;
    work.leave().await;
    result
}

async fn end(work: &mut Work, stand: Stand, message: Option<String>) -> Result<(), Error> {
    let open = work.open()?;
    let progress = &open.progress;
    if let (Some(abort), Stand::Succeeded) = (&open.abort, stand) {
        return Err(aborted(&open.header.id, abort).in_target(&work.job.target.name));
    }
    let closed = ClosedRollout {
        id: open.header.id.clone(),
        stand,
        release: progress.release,
        at: work.job.cluster.now(),
        message: message.map(|text| work.job.scrubber.scrub(&text)),
        aborted: open.abort.is_some(),
    };
    for id in &progress.variants {
        work.job.events.warn(Some(id), "is still there; the next apply deletes it");
    }
    work.ledger.record.rollout = None;
    work.ledger.record.closed = Some(closed);
    work.save().await
}

/// Marks something as approved in a target's record; who runs the rollout, or resumes it, sees it.
/// Needs no lock. Where the rollout is not open nothing is done. Says whether it was.
pub async fn approve(job: &Job, id: &RolloutId, approval: &Approval) -> Result<bool, Error> {
    change(job, id, |open| {
        let same = |known: &Approval| (known.wave, known.step) == (approval.wave, approval.step);
        if !open.approvals.iter().any(same) {
            open.approvals.push(approval.clone());
        }
    })
    .await
}

/// Marks in a target's record that all targets are staged, so that steps may begin. Needs no lock.
///
/// # Errors
/// The rollout is not open here any more, or someone takes it back (exit 6); a call fails.
pub async fn mark_staged(job: &Job, id: &RolloutId) -> Result<(), Error> {
    let abort = std::cell::RefCell::new(None);
    let found = change(job, id, |open| {
        open.staged |= open.abort.is_none();
        abort.replace(open.abort.clone());
    })
    .await?;
    let error = match (found, abort.into_inner()) {
        (true, None) => return Ok(()),
        (true, Some(abort)) => aborted(id, &abort),
        (false, _) => Error::new(Exit::Blocked, format!("rollout {id} is not open any more"))
            .because("someone took it back while it was staged"),
    };
    Err(error.in_target(&job.target.name))
}

/// Marks in a target's record that the rollout is taken back: from then on no step of it begins
/// here. The first word stands. Needs no lock. Says whether the rollout is open here.
pub async fn mark_abort(job: &Job, id: &RolloutId, mark: &Mark) -> Result<bool, Error> {
    let say = |open: &mut OpenRollout| {
        open.abort.get_or_insert_with(|| mark.clone());
    };
    change(job, id, say).await
}

/// That someone takes a rollout back (exit 6).
pub fn aborted(id: &RolloutId, abort: &Mark) -> Error {
    let Mark { who, at } = abort;
    let at = at.strftime("%Y-%m-%d %H:%M:%S UTC");
    Error::new(Exit::Blocked, format!("rollout {id} is taken back"))
        .because(format!("aborted by {who} at {at}"))
        .hint("`mcd rollout abort` goes on with that, `mcd rollout status` shows how far it is")
}

/// Keeps when the soak of the target's wave began; the first word stands.
pub async fn note_soak(job: &Job, id: &RolloutId, since: Timestamp) -> Result<(), Error> {
    let say = |open: &mut OpenRollout| {
        open.progress.soak.get_or_insert(since);
    };
    change(job, id, say).await.map(drop)
}

/// Changes the open rollout in a record as it is now, without the lock.
pub(super) async fn change(
    job: &Job,
    id: &RolloutId,
    what: impl Fn(&mut OpenRollout),
) -> Result<bool, Error> {
    let found = std::cell::Cell::new(false);
    let say = |record: &mut Record| {
        let open = record.rollout.as_deref_mut().filter(|open| open.header.id == *id);
        found.set(open.is_some());
        if let Some(open) = open {
            what(open);
        }
    };
    job.uncancelled().store.amend(say).await?;
    Ok(found.get())
}
