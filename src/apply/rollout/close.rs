//! What is said in a target's record of a rollout beside its steps: approvals, health, its end.

use std::time::Duration;

use jiff::Timestamp;

use super::super::job::Job;
use super::work::Work;
use crate::cluster::state::{Approval, ClosedRollout, OpenRollout, Record, RolloutId, Stand};
use crate::error::Error;

/// The rollout that is open in a target, as its record says now.
pub async fn open(job: &Job) -> Result<Option<OpenRollout>, Error> {
    let record = job.store.record().await?;
    Ok(record.and_then(|(record, _)| record.rollout).map(|open| *open))
}

/// Closes the rollout in a target: it blocks nobody any more. Where it is closed already nothing
/// is done.
///
/// # Errors
/// Someone else is at work (exit 6), or a call fails.
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
    let mut work = Work::enter(job, id, Duration::ZERO).await?;
    let result = end(&mut work, stand, message).await;
    work.leave().await;
    result
}

async fn end(work: &mut Work, stand: Stand, message: Option<String>) -> Result<(), Error> {
    let progress = &work.open()?.progress;
    let closed = ClosedRollout {
        id: work.open()?.header.id.clone(),
        stand,
        release: progress.release,
        at: work.job.cluster.now(),
        message: message.map(|text| work.job.scrubber.scrub(&text)),
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
