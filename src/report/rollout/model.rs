//! The document `mcd.dev/rollout/v1`: what `rollout run`, `status` and the other verbs of a
//! rollout print, and what the table is made from. Additive only (docs/output.md).

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::state::{Stand, TargetProgress};
use crate::report::model::{ErrorReport, NodeReport, PodCounts, UnhealthyReport};

/// A rollout, as far as it can be seen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// `mcd.dev/rollout/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// The rollout's name; absent when the targets know of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the whole stands.
    pub state: RolloutState,
    /// The same in a few words.
    pub message: String,
    /// Whether it is made step by step with commands.
    pub by_hand: bool,
    /// When it was opened (RFC 3339). Absent, as all that follows, when only closed records know
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<String>,
    /// When the last of its records was closed; absent while one is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<String>,
    /// Who opened it, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The commit that it was rendered from, `-dirty` when the work tree differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What happens when a wave fails: `stop`, `rollback-wave` or `rollback-all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// The steps, in order, in words: `canary 20%`, `pause 5m`, `primary`. Targets may go through
    /// some of them only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The waves, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<WaveReport>,
    /// One entry a target, in the order of waves.
    pub targets: Vec<RolloutTarget>,
    /// What waits for someone's approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Needed>,
    /// What to do next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// Where a rollout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RolloutState {
    /// There is none.
    None,
    /// It is open, and nothing of it is under way.
    Pending,
    /// Targets get their release; no step begins before all have it. Or the run that staged them
    /// ended before: then only an abort ends it.
    Staging,
    /// Steps are under way, or were when the run that did them ended.
    Running,
    /// Steps were under way when the run that did them ended, and no run is at them now.
    Interrupted,
    /// At pauses that end by themselves.
    Paused,
    /// Someone has to approve.
    Waiting,
    /// A wave has to stay healthy for a time.
    Soaking,
    /// More failed than may; nothing new starts.
    Stopped,
    /// Targets go back to what they ran before, or some have and others not.
    Undoing,
    /// Every target is done, but for failures inside the budgets.
    Succeeded,
    /// It is closed, and more failed than may.
    Failed,
    /// Every target is back at what it ran before.
    Undone,
    /// No record can be read.
    Unknown,
}

impl RolloutState {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            RolloutState::None => "None",
            RolloutState::Pending => "Pending",
            RolloutState::Staging => "Staging",
            RolloutState::Running => "Running",
            RolloutState::Interrupted => "Interrupted",
            RolloutState::Paused => "Paused",
            RolloutState::Waiting => "Waiting",
            RolloutState::Soaking => "Soaking",
            RolloutState::Stopped => "Stopped",
            RolloutState::Undoing => "Undoing",
            RolloutState::Succeeded => "Succeeded",
            RolloutState::Failed => "Failed",
            RolloutState::Undone => "Undone",
            RolloutState::Unknown => "Unknown",
        }
    }

    /// Whether it is over, or there never was one.
    pub fn is_over(self) -> bool {
        match self {
            RolloutState::None
            | RolloutState::Succeeded
            | RolloutState::Failed
            | RolloutState::Undone => true,
            RolloutState::Pending
            | RolloutState::Staging
            | RolloutState::Running
            | RolloutState::Interrupted
            | RolloutState::Paused
            | RolloutState::Waiting
            | RolloutState::Soaking
            | RolloutState::Stopped
            | RolloutState::Undoing
            | RolloutState::Unknown => false,
        }
    }
}

/// A wave.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaveReport {
    /// Its number, from 1.
    pub wave: usize,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: WaveState,
    /// How many targets it has.
    pub targets: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many of them failed, or were never staged.
    pub failed: usize,
    /// How many of them could not be read.
    pub unreachable: usize,
    /// How many may be on their way at once.
    pub max_concurrent: usize,
    /// How many may fail.
    pub max_failures: usize,
    /// Those of which none may fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mandatory: Vec<String>,
    /// How long all must have been healthy before the next wave starts, in seconds.
    pub soak_seconds: u64,
    /// Until when they must, once that is known (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soak_until: Option<String>,
    /// How long a step of a target may take, in seconds.
    pub progress_deadline_seconds: u64,
    /// Whether someone has to approve before it starts.
    pub approval: bool,
    /// Who did, as `alice@laptop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
}

/// Where a wave stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaveState {
    /// Its turn has not come.
    Pending,
    /// It waits for someone's approval.
    Waiting,
    /// Targets of it are on their way.
    Running,
    /// Targets of it were on their way when the run that did their steps ended.
    Interrupted,
    /// Its targets are done, and have to stay healthy.
    Soaking,
    /// It is done, but for failures inside the budget.
    Done,
    /// More of its targets failed than may.
    Failed,
    /// Targets of it are back at what they ran before.
    Undone,
}

impl WaveState {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            WaveState::Pending => "Pending",
            WaveState::Waiting => "Waiting",
            WaveState::Running => "Running",
            WaveState::Interrupted => "Interrupted",
            WaveState::Soaking => "Soaking",
            WaveState::Done => "Done",
            WaveState::Failed => "Failed",
            WaveState::Undone => "Undone",
        }
    }
}

/// A target of a rollout.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutTarget {
    /// The target.
    pub target: String,
    /// The kubeconfig context.
    pub context: String,
    /// The namespace.
    pub namespace: String,
    /// The number of its wave, from 1; absent when that is not known any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<usize>,
    /// Where it stands.
    pub state: TargetStand,
    /// The step that it is at, or failed at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepReport>,
    /// Why it goes through these steps, or through none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The release that was active when the rollout was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The release that the rollout brings; absent when nothing changes here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// The release that is active now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<u64>,
    /// Pods of all its workloads, variants included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodCounts>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
    /// Since when it stands there (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// A few words.
    pub message: String,
    /// Each object that is not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unhealthy: Vec<UnhealthyReport>,
    /// Its objects and what they have made, where a closer look was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<NodeReport>,
    /// What the user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorReport>,
}

/// Where a target of a rollout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetStand {
    /// Its turn has not come.
    Pending,
    /// A step is under way, or was when the run that did it ended.
    Running,
    /// A step was under way when the run that did it ended, and no run is at it now.
    Interrupted,
    /// At a pause.
    Paused,
    /// All its steps are done.
    Succeeded,
    /// Nothing changes here.
    Unchanged,
    /// A step failed, or its health during the soak.
    Failed,
    /// It goes back to what it ran before.
    Undoing,
    /// It is back.
    Undone,
    /// It has no part of the rollout in its record, and counts as failed.
    NotStaged,
    /// Its record could not be read.
    Unreachable,
}

impl TargetStand {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            TargetStand::Pending => "Pending",
            TargetStand::Running => "Running",
            TargetStand::Interrupted => "Interrupted",
            TargetStand::Paused => "Paused",
            TargetStand::Succeeded => "Succeeded",
            TargetStand::Unchanged => "Unchanged",
            TargetStand::Failed => "Failed",
            TargetStand::Undoing => "Undoing",
            TargetStand::Undone => "Undone",
            TargetStand::NotStaged => "NotStaged",
            TargetStand::Unreachable => "Unreachable",
        }
    }

    /// The word in a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            TargetStand::Pending => "pending",
            TargetStand::Running => "running or interrupted",
            TargetStand::Interrupted => "interrupted",
            TargetStand::Paused => "paused",
            TargetStand::Succeeded => "done",
            TargetStand::Unchanged => "nothing to do",
            TargetStand::Failed => "failed",
            TargetStand::Undoing => "going back",
            TargetStand::Undone => "back at what was before",
            TargetStand::NotStaged => "not staged",
            TargetStand::Unreachable => "unreachable",
        }
    }

    /// As a record says it.
    pub(super) fn of(progress: &TargetProgress) -> Self {
        match progress.stand {
            Stand::Pending | Stand::Succeeded if progress.release.is_none() => {
                TargetStand::Unchanged
            }
            Stand::Running if progress.interrupted.is_some() => TargetStand::Interrupted,
            stand => stand.into(),
        }
    }

    /// Whether the target has done what the rollout wants of it.
    pub(super) fn is_done(self) -> bool {
        matches!(self, TargetStand::Succeeded | TargetStand::Unchanged)
    }

    /// Whether it uses up the budget of its wave, as far as its record says.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, TargetStand::Failed | TargetStand::NotStaged)
    }
}

impl From<Stand> for TargetStand {
    fn from(stand: Stand) -> Self {
        match stand {
            Stand::Pending => TargetStand::Pending,
            Stand::Running => TargetStand::Running,
            Stand::Paused => TargetStand::Paused,
            Stand::Succeeded => TargetStand::Succeeded,
            Stand::Failed => TargetStand::Failed,
            Stand::Undoing => TargetStand::Undoing,
            Stand::Undone => TargetStand::Undone,
        }
    }
}

/// A step of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Its number among the target's own steps, from 1.
    pub number: usize,
    /// How many steps the target has.
    pub of: usize,
    /// `canary`, `pause`, `run`, `primary` or `clean`; absent when all are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// What a target waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateReport {
    /// `wave` (its turn has not come), `slot` (others of its wave are on their way), `health`,
    /// `pause`, `approval`, `soak`, or `hand` (the next step of a rollout by hand).
    pub kind: String,
    /// When that ends by itself (RFC 3339): a pause, a soak, or the deadline of `health`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// How long until then, in seconds; 0 when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<i64>,
}

/// An approval that is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Needed {
    /// The number of the wave, from 1.
    pub wave: usize,
    /// Its name.
    pub name: String,
    /// The pause at which its targets wait, as its place in `steps`, from 1; absent: the wave
    /// waits to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// How many targets wait.
    pub targets: usize,
}
