//! What the file's `rollout:` comes to, before it is known which targets a run has. Pure.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::amount::Amount;
use super::step::{Canary, Step};
use crate::config::Selector;

/// How long a step of a target may take by default.
pub const STEP_DEADLINE: Duration = Duration::from_secs(600);

/// The key `rollout`, checked, with its defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RolloutSettings {
    /// How variants are made.
    pub variants: VariantSettings,
    /// The waves, in order; none: one wave with all targets.
    pub waves: Vec<WaveSettings>,
    /// The steps, in order; none: a plain apply. Else exactly one of them is [`Step::Primary`].
    pub steps: Vec<StepSettings>,
    /// What happens when a wave fails.
    pub on_failure: OnFailure,
}

impl RolloutSettings {
    /// The canaries among some of its steps, which are named by their indexes.
    pub fn canaries(&self, steps: &[usize]) -> Vec<&Canary> {
        let chosen = steps.iter().filter_map(|at| self.steps.get(*at));
        chosen
            .filter_map(|settings| match &settings.step {
                Step::Canary(canary) => Some(canary),
                Step::Pause(_) | Step::Run(_) | Step::Primary | Step::Clean => None,
            })
            .collect()
    }
}

/// How copies of workloads are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantSettings {
    /// The workloads that get variants; none: all Deployments.
    pub workloads: Vec<Workload>,
    /// The Service in front of them, where it is not the only one that selects them.
    pub service: Option<String>,
    /// The label that tells variants apart.
    pub label: VariantLabel,
    /// How the canary is kept apart from the primary.
    pub isolation: Isolation,
}

/// A workload by kind and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// The label of variants, and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantLabel {
    /// Its key.
    pub key: String,
    /// Its value for the primary.
    pub primary: String,
    /// Its value for the canary.
    pub canary: String,
    /// Its value for the baseline.
    pub baseline: String,
}

impl Default for VariantLabel {
    fn default() -> Self {
        VariantLabel {
            key: "mcd.dev/variant".into(),
            primary: "primary".into(),
            canary: "canary".into(),
            baseline: "baseline".into(),
        }
    }
}

/// How the canary is kept apart from the primary (design §8, A10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Isolation {
    /// `label` where the primary's template and Service carry the label already, else `share`.
    #[default]
    Auto,
    /// The canary has the primary's labels and its own: the Service spreads by number of pods.
    Share,
    /// The primary's template is labelled first, then the Service's selector narrowed.
    Label,
    /// The canary's selector labels get the suffix.
    Rename,
}

/// A wave, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveSettings {
    /// Its name.
    pub name: String,
    /// Its targets. Every target is in exactly one wave. None: those that no other wave selects.
    pub select: Option<Selector>,
    /// How many targets may be on their way at once; none: all of the wave. A share is rounded
    /// down, to at least 1.
    pub max_concurrent: Option<Amount>,
    /// How many targets may fail; none: 0. A share is rounded down.
    pub max_failures: Option<Amount>,
    /// Targets of which none may fail: names, or globs.
    pub mandatory: Vec<String>,
    /// How long all targets of the wave must have been healthy before the next wave starts.
    pub soak: Duration,
    /// How long a step of a target may take.
    pub progress_deadline: Duration,
    /// Whether someone has to approve before the wave starts.
    pub approval: bool,
}

/// A step, and the targets that go through it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSettings {
    /// The step.
    pub step: Step,
    /// The targets that go through it; none: all.
    pub select: Option<Selector>,
}

/// What happens when a wave fails: more of its targets than may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnFailure {
    /// Nothing new starts; what was done stays until `resume` or `abort`.
    #[default]
    Stop,
    /// The targets of the wave go back to what they ran before.
    RollbackWave,
    /// All targets of the rollout do.
    RollbackAll,
}

impl OnFailure {
    /// The word for documents.
    pub fn word(self) -> &'static str {
        match self {
            OnFailure::Stop => "stop",
            OnFailure::RollbackWave => "rollback-wave",
            OnFailure::RollbackAll => "rollback-all",
        }
    }
}
