//! How a release reaches a target: through the steps, or at once. Pure, over the target's plan
//! (design §8 "Strategy", T10).

mod words;

use serde::{Deserialize, Serialize};

use super::settings::{RolloutSettings, Workload};
use super::waves::{plain_steps, steps_of};
use crate::config::Target;
use crate::manifest::ObjectId;
use crate::plan::{Action, ObjectPlan, TargetPlan};

/// How a release reaches a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StrategyKind {
    /// Nothing changes, so nothing is done.
    None,
    /// It is applied at once: of the steps only `primary`.
    Plain,
    /// It goes through the steps.
    Steps,
}

impl StrategyKind {
    /// The word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            StrategyKind::None => "none",
            StrategyKind::Plain => "plain",
            StrategyKind::Steps => "steps",
        }
    }
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrategyChoice {
    /// Each target by what changes in it.
    #[default]
    Auto,
    /// Every target at once.
    Plain,
    /// Every target that changes through the steps.
    Steps,
}

/// How a release reaches a target, and why so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// How.
    pub kind: StrategyKind,
    /// Why: objects and changes, never a value of a Secret.
    pub reason: String,
}

impl Strategy {
    /// The indexes of the header's steps that the target goes through.
    pub fn steps(&self, settings: &RolloutSettings, target: &Target) -> Vec<usize> {
        match self.kind {
            StrategyKind::None => Vec::new(),
            StrategyKind::Plain => plain_steps(settings),
            StrategyKind::Steps => steps_of(settings, target),
        }
    }
}

/// Decides for a target:
/// - nothing changes: none;
/// - a first deployment, where none of the workloads is live: plain, whatever was asked for, since
///   there is nothing that steps could protect;
/// - pod templates change, or configuration that they use, or a workload is new: steps;
/// - anything else, such as replicas, Services, rights: plain.
///
/// The workloads are those of `rollout.workloads`, else all Deployments, StatefulSets and
/// DaemonSets. An application without any is rolled out by steps when its configuration changes.
/// Without `rollout.steps` everything is plain.
pub fn strategy(plan: &TargetPlan, settings: &RolloutSettings, choice: StrategyChoice) -> Strategy {
    let (kind, reason) = decide(plan, settings, choice);
    Strategy { kind, reason }
}

fn decide(
    plan: &TargetPlan,
    settings: &RolloutSettings,
    choice: StrategyChoice,
) -> (StrategyKind, String) {
    let others = words::others(plan);
    if others.is_empty() {
        return match &plan.unfinished {
            // The record is written, which is no matter for steps.
            Some(why) => (StrategyKind::Plain, why.clone()),
            None => (StrategyKind::None, "no changes".to_owned()),
        };
    }
    let workloads: Vec<&ObjectPlan> =
        plan.objects.iter().filter(|o| is_workload(&o.id, &settings.variants.workloads)).collect();
    let is_new = |object: &&ObjectPlan| matches!(object.action, Action::Create);
    let all_new = match workloads.as_slice() {
        [] => plan.objects.iter().all(|o| is_new(&o)),
        workloads => workloads.iter().all(is_new),
    };
    if settings.steps.is_empty() {
        let reason = if all_new { first(plan, &workloads) } else { words::sum(others) };
        return (StrategyKind::Plain, reason);
    }
    if all_new {
        let reason = format!("{}: steps are skipped", first(plan, &workloads));
        return (StrategyKind::Plain, reason);
    }
    let mut reasons: Vec<String> = Vec::new();
    for object in &workloads {
        reasons.extend(words::workload(object, plan));
    }
    if workloads.is_empty() {
        reasons.extend(words::configuration(plan));
    }
    match choice {
        StrategyChoice::Auto if reasons.is_empty() => (StrategyKind::Plain, words::sum(others)),
        StrategyChoice::Auto => (StrategyKind::Steps, words::sum(reasons)),
        StrategyChoice::Plain => {
            let why = if reasons.is_empty() { others } else { reasons };
            (StrategyKind::Plain, format!("asked for; {}", words::sum(why)))
        }
        StrategyChoice::Steps if reasons.is_empty() => {
            (StrategyKind::Steps, format!("asked for; {}", words::sum(others)))
        }
        StrategyChoice::Steps => (StrategyKind::Steps, words::sum(reasons)),
    }
}

/// Why there is nothing yet that steps could protect.
fn first(plan: &TargetPlan, workloads: &[&ObjectPlan]) -> String {
    // A target that has been applied to has a record that nothing is to be said of.
    let goes = plan.prune.sweep.delete.iter().any(|c| is_workload(&c.id, &[]));
    match workloads {
        [one, ..] if goes || plan.unfinished.is_none() => {
            format!("{} is not there", words::name(&one.id))
        }
        _ => "first deployment".to_owned(),
    }
}

/// Whether changes of an object's pods go through the steps: those of the workloads that are
/// named, else of all that keep pods running. Jobs run to an end, and have no old and new side by
/// side.
fn is_workload(id: &ObjectId, named: &[Workload]) -> bool {
    if id.group != "apps" {
        return false;
    }
    match named {
        [] => matches!(id.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet"),
        named => named.iter().any(|w| w.kind == id.kind && w.name == id.name),
    }
}

#[cfg(test)]
mod tests;
