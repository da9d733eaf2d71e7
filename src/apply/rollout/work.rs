//! A target of a rollout while a step of it is under way: under its lock, with its record.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::super::job::Job;
use super::super::ledger::Ledger;
use super::super::wait::Look;
use crate::cluster::state::lease::{Fence, Guard};
use crate::cluster::state::{ClosedRollout, OpenRollout, RolloutId};
use crate::error::{Error, Exit};
use crate::event::Verb;
use crate::manifest::ObjectId;

/// A target of a rollout, under its lock.
pub(super) struct Work {
    /// The target.
    pub(super) job: Job,
    /// Its record, in which the rollout is open.
    pub(super) ledger: Ledger,
    /// The lock that is held.
    pub(super) fence: Fence,
    guard: Guard,
    /// When the step has taken too long.
    deadline: Instant,
    /// What was written so far.
    pub(super) written: BTreeMap<ObjectId, Verb>,
    /// The last look at the health of what was written.
    pub(super) look: Option<Look>,
}

impl Work {
    /// Takes the lock of a target, and makes sure that the rollout is open in it.
    ///
    /// # Errors
    /// Someone else is at work (exit 6), the rollout is not open here (exit 6), a call fails.
    pub(super) async fn enter(job: &Job, id: &RolloutId, time: Duration) -> Result<Self, Error> {
        Self::enter_within(job, id, time, Duration::ZERO).await
    }

    /// The same, and waits so long for someone who is at work.
    pub(super) async fn enter_within(
        job: &Job,
        id: &RolloutId,
        time: Duration,
        wait: Duration,
    ) -> Result<Self, Error> {
        let guard = job.lock_within(wait).await?;
        let deadline = Instant::now() + time;
        let ledger = Ledger::read(job).await.and_then(|ledger| {
            open_in(job, &ledger, id)?;
            Ok(ledger)
        });
        match ledger {
            Ok(ledger) => Ok(Work {
                job: job.clone(),
                ledger,
                fence: guard.fence(),
                guard,
                deadline,
                written: BTreeMap::new(),
                look: None,
            }),
            Err(error) => {
                give_up(job, guard).await;
                Err(error)
            }
        }
    }

    /// The rollout.
    ///
    /// # Errors
    /// It was closed by this very run.
    pub(super) fn open(&self) -> Result<&OpenRollout, Error> {
        self.ledger.record.rollout.as_deref().ok_or_else(|| closed(&self.job))
    }

    /// The rollout, to be changed.
    pub(super) fn open_mut(&mut self) -> Result<&mut OpenRollout, Error> {
        let Work { ledger, job, .. } = self;
        ledger.record.rollout.as_deref_mut().ok_or_else(|| closed(job))
    }

    /// Writes the record. Also when the run was halted: it says how far the run came.
    pub(super) async fn save(&mut self) -> Result<(), Error> {
        self.fence.check()?;
        self.ledger.write(&self.job.uncancelled()).await
    }

    /// How much of its time is left.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Gives up the lock.
    pub(super) async fn leave(self) {
        give_up(&self.job, self.guard).await;
    }
}

/// Gives up a lock. When that fails it ends by itself, and the work is done all the same.
pub(super) async fn give_up(job: &Job, guard: Guard) {
    if let Err(error) = guard.release().await {
        job.events.warn(None, format!("the lock was not given up, and ends by itself: {error}"));
    }
}

fn open_in(job: &Job, ledger: &Ledger, id: &RolloutId) -> Result<(), Error> {
    match &ledger.record.rollout {
        Some(open) if open.header.id == *id => Ok(()),
        Some(open) => Err(Error::new(Exit::Blocked, format!("rollout {id} is not open here"))
            .in_target(&job.target.name)
            .because(format!("rollout {} is", open.header.id))
            .hint("`mcd rollout status` shows it")),
        None => {
            let ended = ledger.record.closed.as_ref().filter(|closed| closed.id == *id);
            Err(match ended {
                Some(ended) if ended.aborted => taken_back(job, ended),
                Some(ended) => closed(job).because(format!("{id} was closed here at {}", ended.at)),
                None => closed(job).because(format!("{id} was never opened here")),
            })
        }
    }
}

/// That the rollout was taken back in the meantime.
pub(super) fn taken_back(job: &Job, ended: &ClosedRollout) -> Error {
    let why = ended.message.as_deref().unwrap_or("aborted");
    let at = ended.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    Error::new(Exit::Blocked, format!("rollout {} was taken back here", ended.id))
        .in_target(&job.target.name)
        .because(format!("{why}, at {at}"))
        .hint("`mcd rollout status` shows how it ended")
}

/// That the rollout is not open.
pub(super) fn closed(job: &Job) -> Error {
    Error::new(Exit::Blocked, "no rollout is open here")
        .in_target(&job.target.name)
        .hint("`mcd rollout status` shows how the last one ended")
}

/// One error of several: the first, with the others as its causes.
pub(super) fn joined(errors: impl IntoIterator<Item = Error>) -> Option<Error> {
    errors.into_iter().reduce(|first, other| first.because(format!("{other:#}")))
}
