//! A rollout as the records of its targets keep it: what it is, the same in all of them, and how
//! far this target is. Pure; no manifest values. The state of the whole is derived from the records
//! that can be reached, so any machine can look, approve, go on or take it back (design §7).

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::about::{Commit, Who};
use crate::config::TargetName;
use crate::manifest::ObjectId;
use crate::rollout::{OnFailure, Step, VariantSettings, whole_seconds};

/// Names a rollout in all its records, such as `r-20260102-030405-1f9c`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RolloutId(String);

impl RolloutId {
    /// The name of a rollout that is opened now; `salt` tells those of one second apart.
    pub fn new(now: Timestamp, salt: u16) -> Self {
        RolloutId(format!("r-{}-{salt:04x}", now.strftime("%Y%m%d-%H%M%S")))
    }

    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RolloutId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A rollout in a target's record: open as long as it is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRollout {
    /// What the rollout is. The same in all its records, and never changed.
    pub header: Header,
    /// How far this target is.
    pub progress: TargetProgress,
    /// All targets are staged, so steps may begin; it counts from whichever record it is read. Not
    /// so: the run that opened the rollout is at it, or ended before.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub staged: bool,
    /// Someone takes the rollout back: no step begins here any more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub abort: Option<Mark>,
    /// What was approved, in this record; an approval counts from whichever record it is read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvals: Vec<Approval>,
}

impl OpenRollout {
    /// The steps that [`TargetProgress::steps`] names: those of the rollout, or by hand the
    /// target's own.
    pub fn steps(&self) -> &[Step] {
        if self.header.by_hand { &self.progress.hand } else { &self.header.steps }
    }

    /// Whether this record shows that all targets were staged: no step begins before.
    pub fn is_staged_everywhere(&self) -> bool {
        self.staged || self.progress.stand != Stand::Pending || self.progress.done > 0
    }

    /// The step that is next, or under way; none: all are done.
    pub fn next_step(&self) -> Option<&Step> {
        let at = self.progress.steps.get(self.progress.done)?;
        self.steps().get(*at)
    }

    /// The target's wave, from 0; none: the header does not know the target.
    pub fn wave_of(&self, target: &TargetName) -> Option<usize> {
        let is_in = |wave: &WavePlan| wave.targets.iter().any(|place| place.target == *target);
        self.header.waves.iter().position(is_in)
    }

    /// Where in the rollout the target is, for a person: `wave 2 of 3, step 3/6`.
    pub fn place_of(&self, target: &TargetName) -> String {
        let waves = self.header.waves.len();
        let mut words = Vec::new();
        if let Some(wave) = self.wave_of(target).filter(|_| waves > 1) {
            words.push(format!("wave {} of {waves}", wave + 1));
        }
        let (done, all) = (self.progress.done, self.progress.steps.len());
        match (self.header.by_hand, self.next_step()) {
            (true, Some(step)) => words.push(format!("step {} by hand ({step})", done + 1)),
            (true, None) => words.push(match done {
                1 => "1 step done by hand".to_owned(),
                n => format!("{n} steps done by hand"),
            }),
            (false, Some(_)) => words.push(format!("step {}/{all}", done + 1)),
            (false, None) => words.push(format!("{done} of {all} steps done")),
        }
        words.join(", ")
    }

    /// Whether the last thing that is to be done by hand is done: `clean` after `primary`.
    pub fn is_complete_by_hand(&self) -> bool {
        let done = self.progress.hand.get(..self.progress.done).unwrap_or_default();
        let primary = done.iter().rposition(|step| matches!(step, Step::Primary));
        let clean = done.iter().rposition(|step| matches!(step, Step::Clean));
        self.header.by_hand && primary.is_some() && clean > primary
    }
}

impl TargetProgress {
    /// Puts in a step that is done next, by hand. One that was begun and never done gives its
    /// place to it.
    pub fn push_by_hand(&mut self, step: Step) {
        self.hand.truncate(self.done);
        self.hand.push(step);
        self.steps = (0..self.hand.len()).collect();
    }
}

/// What a rollout is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Its name.
    pub id: RolloutId,
    /// Made step by step with commands, rather than run.
    pub by_hand: bool,
    /// When it was opened, in server time.
    pub opened: Timestamp,
    /// Who opened it.
    pub who: Who,
    /// The commit; none outside a git repository.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<Commit>,
    /// The waves, in order.
    pub waves: Vec<WavePlan>,
    /// The steps, in order. Targets may go through some of them only. Of a rollout by hand it is
    /// empty.
    pub steps: Vec<Step>,
    /// How variants are made.
    pub variants: VariantSettings,
    /// What happens when a wave fails.
    pub on_failure: OnFailure,
}

/// A wave with its numbers resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WavePlan {
    /// Its name.
    pub name: String,
    /// Its targets, in the order in which they start.
    pub targets: Vec<Place>,
    /// How many may be on their way at once, at least 1.
    pub max_concurrent: usize,
    /// How many may fail.
    pub max_failures: usize,
    /// Those of which none may fail.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub mandatory: BTreeSet<TargetName>,
    /// How long all must have been healthy before the next wave starts.
    #[serde(with = "whole_seconds")]
    pub soak: Duration,
    /// How long a step of a target may take.
    #[serde(with = "whole_seconds")]
    pub progress_deadline: Duration,
    /// Whether someone has to approve before it starts.
    pub approval: bool,
}

/// Where a target is, for whoever has a kubeconfig and no files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The target.
    pub target: TargetName,
    /// The context it was reached through; another machine may call it otherwise.
    pub context: String,
    /// The server's address.
    pub server: String,
    /// The digest of the certificate authority; none: the system's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ca_digest: Option<String>,
    /// The application's namespace there.
    pub namespace: String,
    /// The namespace of the record.
    pub state_namespace: String,
    /// Whether `stateNamespace` was written: then state names carry the namespace too.
    pub state_namespace_is_set: bool,
    /// Why the target was not staged, with `--keep-going`; it counts as failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_staged: Option<String>,
}

/// How far a target is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetProgress {
    /// The release that the rollout brings; none: nothing changes in this target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub release: Option<u64>,
    /// The release that was active when it was staged; none: there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous: Option<u64>,
    /// Which of the header's steps this target goes through, in order. Of a target that is applied
    /// plainly only [`Step::Primary`]; of one without changes none. By hand they are indexes into
    /// `hand`.
    pub steps: Vec<usize>,
    /// The steps of a rollout by hand, as far as they were begun.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hand: Vec<Step>,
    /// Why these.
    pub reason: String,
    /// How many of `steps` are done.
    pub done: usize,
    /// Where it stands.
    pub stand: Stand,
    /// Since when, in server time.
    pub since: Timestamp,
    /// When it was first seen healthy with the rollout's release, after its last step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub healthy: Option<Timestamp>,
    /// When the soak of its wave began, as far as this record was told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soak: Option<Timestamp>,
    /// The run that was at its step was told to stop, by whom it was run, and when.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interrupted: Option<Mark>,
    /// What to know: why it failed, why it waits. Never holds a value of a Secret.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Objects of variants that are there, or may be: `clean` and `abort` delete them, and no
    /// apply prunes them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub variants: BTreeSet<ObjectId>,
    /// Objects of the release that did not exist when the rollout was opened, and that it made or
    /// was about to: `abort` deletes them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub created: BTreeSet<ObjectId>,
}

/// Where a target stands in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stand {
    /// Staged; its turn has not come.
    Pending,
    /// A step is under way, or was when the run that did it ended.
    Running,
    /// At a pause.
    Paused,
    /// All its steps are done.
    Succeeded,
    /// A step failed.
    Failed,
    /// It goes back to what was before, or was about to when the run that did it ended.
    Undoing,
    /// It is back at what was before.
    Undone,
}

/// That someone did something, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// Who.
    pub who: Who,
    /// When, in server time.
    pub at: Timestamp,
}

/// Someone's word that a rollout may go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The wave, from 0.
    pub wave: usize,
    /// The pause that may end, as an index into the header's steps; none: the wave may start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<usize>,
    /// Who.
    pub who: Who,
    /// When, in server time.
    pub at: Timestamp,
}

/// How the last rollout ended in a target, for whoever asks after it is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedRollout {
    /// Its name.
    pub id: RolloutId,
    /// How it ended here: [`Stand::Succeeded`], [`Stand::Failed`] or [`Stand::Undone`]. A target
    /// that failed is back at what was before, too.
    pub stand: Stand,
    /// The release that it brought; none: nothing changed here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub release: Option<u64>,
    /// When, in server time.
    pub at: Timestamp,
    /// What to know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Someone takes the whole rollout back, or took it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub aborted: bool,
}

/// Keeps everybody from writing to a target, until someone unfreezes it or its time is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// Who.
    pub who: Who,
    /// Why.
    pub reason: String,
    /// When, in server time.
    pub at: Timestamp,
    /// Until when; none: until someone unfreezes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<Timestamp>,
}

#[cfg(test)]
mod tests;
