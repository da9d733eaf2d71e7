//! What the driver asks of the targets, and what they answer.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::cluster::state::{Approval, Stand};
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::event::Events;

/// What is done in targets, each a call that ends when it is done. The driver never makes two calls
/// for one target at once, and never drops a call that it made: one target's failure does not
/// cancel another's work. All that has to survive the process is in the records before a call
/// returns; every call may come again after a crash, and then ends as if it had not.
pub trait Fleet {
    /// Does the target's next step to its end, under its lock: `step` is an index into the
    /// header's steps, and the record's own next step. After the last one the record says
    /// `succeeded`. A pause is marked by the first call, and ended by the next: the scheduler has
    /// seen to it that it may end. Without a step (none is left, or the target has none, because
    /// nothing changes in it) health is waited for, and the record says `succeeded`.
    ///
    /// The deadline is the fleet's business: the wave's `progress_deadline`, afresh for each call.
    fn advance(&self, target: &TargetName, step: Option<usize>) -> impl Future<Output = Ended>;

    /// Looks once at the health of all that the rollout applied in the target, after its last step.
    /// The first time that it is healthy is kept in the record. With `last` the time for that is
    /// over: what is not healthy has failed. A failure is kept in the record.
    fn look(&self, target: &TargetName, last: bool) -> impl Future<Output = Looked>;

    /// Takes the target back to what was before the rollout; where nothing of it was begun, its
    /// release is only unstaged. Afterwards the record says `undone`, and stays open.
    ///
    /// # Errors
    /// It could not be taken back, or not wholly; exit 130 or 143 when the run was told to stop.
    fn undo(&self, target: &TargetName) -> impl Future<Output = Result<(), Error>>;

    /// Closes the target's record of the rollout: it blocks nobody any more.
    ///
    /// # Errors
    /// It could not be written.
    fn close(
        &self,
        target: &TargetName,
        stand: Stand,
        message: Option<String>,
    ) -> impl Future<Output = Result<(), Error>>;

    /// Writes into the target's record when the soak of its wave began, in the time of its server:
    /// for whoever looks. The soak itself is reckoned from when each target was first healthy.
    ///
    /// # Errors
    /// It could not be written.
    fn note_soak(
        &self,
        target: &TargetName,
        since: Timestamp,
    ) -> impl Future<Output = Result<(), Error>>;

    /// The approvals that the records of a wave hold, as far as they can be read: each counts from
    /// whichever record it is read.
    ///
    /// # Errors
    /// Someone takes the rollout back, by the record of that target.
    fn approvals(
        &self,
        wave: usize,
    ) -> impl Future<Output = Result<Vec<Approval>, (TargetName, Error)>>;

    /// The time of the target's server: what is kept in its record is compared with that.
    fn now(&self, target: &TargetName) -> Timestamp;
}

/// How a step ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It is done, and healthy where it applied something.
    Done,
    /// It is a pause, and the target came to it then, in the time of its server.
    Paused {
        /// When.
        since: Timestamp,
    },
    /// It failed, and the record says so.
    Failed(Error),
    /// The cluster cannot be reached, or not read.
    Unreachable(Error),
    /// Someone has to decide or to end first: another run holds the lock, the target is frozen, a
    /// conflict is to be decided, the step needs files. The target has not failed, and nothing new
    /// starts anywhere.
    Blocked(Error),
    /// The run was told to stop before the step was done.
    Halted,
}

impl Ended {
    /// How a step ended that met an error: its exit code decides.
    pub fn of(error: Error) -> Self {
        match error.exit() {
            Exit::Unreachable => Ended::Unreachable(error),
            // How mcd was called is nothing that the target could have done better.
            Exit::Blocked | Exit::Config => Ended::Blocked(error),
            Exit::Interrupted | Exit::Terminated => Ended::Halted,
            Exit::Ok
            | Exit::Failed
            | Exit::Changes
            | Exit::Manifest
            | Exit::Policy
            | Exit::Paused
            | Exit::Budget => Ended::Failed(error),
        }
    }
}

/// What a look at a target's health gave.
#[derive(Clone, Debug)]
pub enum Looked {
    /// It is healthy.
    Healthy {
        /// When it was first seen so after its last step, in the time of its server.
        since: Timestamp,
    },
    /// It is not healthy at this moment, and may become so: why.
    NotYet(String),
    /// It has failed, and the record says so.
    Failed(Error),
    /// The cluster cannot be reached, or not read.
    Unreachable(Error),
    /// Someone takes the rollout back: nothing new starts anywhere.
    Blocked(Error),
    /// The run was told to stop.
    Halted,
}

/// How to drive.
#[derive(Clone, Debug)]
pub struct How {
    /// How many targets at once, over the waves' own numbers.
    pub cap: Option<usize>,
    /// How long to wait for an approval when nothing else can go on; none: not at all.
    pub wait_approval: Option<Duration>,
    /// Targets that failed in an earlier run, and were not taken back, are tried again.
    pub retry_failed: bool,
    /// Cancelled when nothing new may start; what is under way sees to itself.
    pub halt: CancellationToken,
    /// Where news go.
    pub events: Events,
}
