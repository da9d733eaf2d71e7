//! What a run of a rollout came to, and the exit code that says so.

use std::collections::BTreeMap;

use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::rollout::{Gate, Stop};

/// What a run of a rollout came to. Nothing here says how far each target is in its steps: that is
/// in the records.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How each target ended.
    pub targets: BTreeMap<TargetName, TargetOutcome>,
    /// Why nothing new was started any more.
    pub stop: Option<Stop>,
    /// What waits for someone's approval, when nothing else could go on.
    pub waits_for: Vec<Gate>,
    /// The run was told to stop.
    pub halted: bool,
    /// All waves are over.
    pub done: bool,
}

/// How a target ended.
#[derive(Clone, Debug)]
pub struct TargetOutcome {
    /// Its wave, from 0.
    pub wave: usize,
    /// How it ended.
    pub end: End,
    /// It counted against the budget.
    pub failed: bool,
    /// Its record has the rollout open.
    pub open: bool,
    /// Why it failed, the reason first.
    pub errors: Vec<Error>,
    /// What kept it from going on, or its record from being closed: no budget covers that.
    pub troubles: Vec<Error>,
}

/// How a target ended, as far as this run is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// Its turn did not come.
    NotStarted,
    /// It has steps left.
    Unfinished,
    /// It has done all its steps.
    Succeeded,
    /// It failed, and stays as it is.
    Failed,
    /// It is back at what was before.
    Undone,
    /// It cannot be reached.
    Unreachable,
    /// It was never staged.
    NotStaged,
}

impl Outcome {
    /// The exit code of a run (design §3). With `budget_ok` failures inside the budget are none.
    pub fn exit(&self, budget_ok: bool) -> Exit {
        let mut exit = if self.halted { Exit::Interrupted } else { Exit::Ok };
        for target in self.targets.values() {
            // The budget is used up, or what failed could not be taken back.
            let stopped = self.stop.as_ref().is_some_and(|stop| stop.wave == target.wave);
            if target.failed && (stopped || target.end == End::Failed) {
                exit = exit.and(why(&target.errors));
            } else if target.failed && !budget_ok {
                exit = exit.and(Exit::Budget);
            }
            if !target.troubles.is_empty() {
                exit = exit.and(why(&target.troubles));
            }
        }
        if !self.waits_for.is_empty() {
            exit = exit.and(Exit::Paused);
        }
        exit
    }

    /// The exit code when everything was to be taken back.
    pub fn exit_of_abort(&self) -> Exit {
        let mut exit = if self.halted { Exit::Interrupted } else { Exit::Ok };
        for target in self.targets.values() {
            let left = match target.end {
                End::Undone | End::NotStaged | End::Succeeded => false,
                End::NotStarted | End::Unfinished | End::Failed | End::Unreachable => true,
            };
            if left || !target.troubles.is_empty() {
                let all = target.errors.iter().chain(&target.troubles);
                exit = exit.and(why(&all.cloned().collect::<Vec<_>>()));
            }
        }
        exit
    }
}

/// The code of the errors that decide.
fn why(errors: &[Error]) -> Exit {
    let all = errors.iter().map(Error::exit).reduce(Exit::and);
    // An error that says it is fine cannot be the reason for a failure.
    all.filter(|exit| *exit != Exit::Ok).unwrap_or(Exit::Failed)
}

#[cfg(test)]
mod tests;
