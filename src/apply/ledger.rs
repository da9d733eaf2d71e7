//! The record of a target whose lock is held. It is written several times during a run, each time
//! over what this run has read or written last.

use jiff::Timestamp;

use super::job::Job;
use crate::cluster::state::{Approval, Freeze, Mark, Record, ResourceVersion};
use crate::error::{Error, Exit};

/// How often a write is tried anew when others write into the record what needs no lock.
const ATTEMPTS: usize = 10;

/// A record, as the run wants it and as the cluster has it.
pub(super) struct Ledger {
    /// As the run wants it.
    pub(super) record: Record,
    /// As the cluster has it; none: there is none yet.
    stored: Option<(Record, ResourceVersion)>,
}

impl Ledger {
    /// Over a record that was read; without one, a new record.
    pub(super) fn new(job: &Job, stored: Option<(Record, ResourceVersion)>) -> Self {
        let record = match &stored {
            Some((record, _)) => record.clone(),
            None => Record::new(&job.names, &job.target.namespace),
        };
        Ledger { record, stored }
    }

    /// Reads the record. To be called under the lock.
    pub(super) async fn read(job: &Job) -> Result<Self, Error> {
        Ok(Ledger::new(job, job.store.record().await?))
    }

    /// Writes the record. What others may write without the lock, and have written since, is kept:
    /// see [`Unlocked`].
    ///
    /// # Errors
    /// Someone else wrote anything else (exit 6), or a call fails.
    pub(super) async fn write(&mut self, job: &Job) -> Result<(), Error> {
        let mut attempt = 1;
        loop {
            let version = self.stored.as_ref().map(|(_, version)| version);
            match job.store.write_record(&self.record, version).await {
                Ok(version) => {
                    self.stored = Some((self.record.clone(), version));
                    return Ok(());
                }
                Err(error) if error.exit() == Exit::Blocked && attempt < ATTEMPTS => {
                    attempt += 1;
                    let current = job.store.record().await?;
                    if !self.keeps(current) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes over what the record has now, when it differs in nothing but what needs no lock.
    fn keeps(&mut self, current: Option<(Record, ResourceVersion)>) -> bool {
        let (Some((mut known, _)), Some((current, version))) = (self.stored.clone(), current)
        else {
            return false;
        };
        let theirs = Unlocked::of(&current);
        theirs.put_all_into(&mut known);
        // Whoever writes says so, in whatever version.
        (known.schema, known.mcd) = (current.schema, current.mcd.clone());
        known.target = current.target.clone();
        if known != current {
            return false;
        }
        theirs.put_into(&mut self.record);
        self.stored = Some((current, version));
        true
    }
}

/// What is written into a record without the lock: a freeze, approvals, an abort, and what whoever
/// soaks has seen of the target's health.
struct Unlocked {
    freeze: Option<Freeze>,
    rollout: Option<OfRollout>,
}

/// The same of its open rollout.
struct OfRollout {
    staged: bool,
    abort: Option<Mark>,
    approvals: Vec<Approval>,
    seen: (Option<Timestamp>, Option<Timestamp>),
}

impl Unlocked {
    fn of(record: &Record) -> Self {
        let rollout = record.rollout.as_ref().map(|open| OfRollout {
            staged: open.staged,
            abort: open.abort.clone(),
            approvals: open.approvals.clone(),
            seen: (open.progress.healthy, open.progress.soak),
        });
        Unlocked { freeze: record.freeze.clone(), rollout }
    }

    /// All of it.
    fn put_all_into(&self, record: &mut Record) {
        self.put_into(record);
        if let (Some(open), Some(theirs)) = (&mut record.rollout, &self.rollout) {
            (open.progress.healthy, open.progress.soak) = theirs.seen;
        }
    }

    /// What is to be kept. What was seen of the health before a step is not of that after it.
    fn put_into(&self, record: &mut Record) {
        record.freeze.clone_from(&self.freeze);
        if let (Some(open), Some(theirs)) = (&mut record.rollout, &self.rollout) {
            open.staged = theirs.staged;
            open.abort.clone_from(&theirs.abort);
            open.approvals.clone_from(&theirs.approvals);
        }
    }
}
