//! The part of a plan's document that says how an apply goes from target to target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::state::WavePlan;
use crate::config::TargetName;
use crate::rollout::{self, RolloutSettings, Step, Strategy, StrategyKind};

/// How an apply goes from target to target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutPlanReport {
    /// Whether an apply opens a rollout. If not, it writes to all targets at once, as nothing goes
    /// through steps and there is one wave without rules.
    pub opens: bool,
    /// The steps, in order, in words: `canary 20%`, `pause 5m`, `primary`.
    pub steps: Vec<String>,
    /// What happens when more targets of a wave fail than may: `stop`, `rollback-wave` or
    /// `rollback-all`.
    pub on_failure: String,
    /// The waves, in order.
    pub waves: Vec<WavePlanReport>,
}

/// A wave, with its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WavePlanReport {
    /// Its number, from 1.
    pub wave: usize,
    /// Its name.
    pub name: String,
    /// How many of its targets may be on their way at once.
    pub max_concurrent: usize,
    /// How many of them may fail.
    pub max_failures: usize,
    /// Those of which none may fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mandatory: Vec<String>,
    /// How long all must have been healthy before the next wave starts, in seconds.
    pub soak_seconds: u64,
    /// How long a step of a target may take, in seconds.
    pub progress_deadline_seconds: u64,
    /// Whether someone has to approve before it starts.
    pub approval: bool,
    /// Its targets, in the order in which they start.
    pub targets: Vec<TargetStrategyReport>,
}

/// How the release reaches a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetStrategyReport {
    /// The target.
    pub target: String,
    /// How; absent when it could not be planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<StrategyKind>,
    /// Why so.
    pub reason: String,
    /// The numbers of the steps that it goes through, from 1.
    pub steps: Vec<usize>,
}

impl RolloutPlanReport {
    /// The report of what was planned: how each target goes, and through which of the rollout's
    /// steps. None: the file says nothing of waves or steps.
    pub fn of(
        settings: &RolloutSettings,
        waves: &[WavePlan],
        opens: bool,
        targets: &BTreeMap<TargetName, (Strategy, Vec<usize>)>,
    ) -> Option<Self> {
        if settings.waves.is_empty() && settings.steps.is_empty() {
            return None;
        }
        let target = |name: &TargetName| match targets.get(name) {
            Some((strategy, steps)) => TargetStrategyReport {
                target: name.to_string(),
                strategy: Some(strategy.kind),
                reason: strategy.reason.clone(),
                steps: steps.iter().map(|index| index + 1).collect(),
            },
            None => TargetStrategyReport {
                target: name.to_string(),
                strategy: None,
                reason: "not planned".to_owned(),
                steps: Vec::new(),
            },
        };
        let wave = |(index, wave): (usize, &WavePlan)| WavePlanReport {
            wave: index + 1,
            name: wave.name.clone(),
            max_concurrent: wave.max_concurrent,
            max_failures: wave.max_failures,
            mandatory: wave.mandatory.iter().map(ToString::to_string).collect(),
            soak_seconds: wave.soak.as_secs(),
            progress_deadline_seconds: wave.progress_deadline.as_secs(),
            approval: wave.approval,
            targets: wave.targets.iter().map(|place| target(&place.target)).collect(),
        };
        Some(RolloutPlanReport {
            opens,
            steps: rollout::steps(settings).iter().map(Step::words).collect(),
            on_failure: settings.on_failure.word().to_owned(),
            waves: waves.iter().enumerate().map(wave).collect(),
        })
    }
}
