//! The results of commands as documents: what `-o json` and `-o yaml` print, and what the tables
//! are made from. Additive only within a `schema` version (docs/output.md).

mod plan;
mod waves;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::rollout::{FreezeReport, OpenReport};
pub use super::tree::{LogReport, NodeReport, WarningReport};
use crate::error::{Error, Exit, Location};
use crate::manifest::ObjectId;
pub use plan::{
    DeployerReport, FieldReport, LeftReport, ObjectReport, PlanReport, RetirementReport,
    RevertReport, StateMoveReport, TargetPlanReport, UntouchedReport,
};
pub use waves::{RolloutPlanReport, TargetStrategyReport, WavePlanReport};

/// From which release a target goes back to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RollbackReport {
    /// The active release; absent when none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The release whose objects it gets again.
    pub to: u64,
}

/// A tool and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolReport {
    /// `kustomize` or `helm`.
    pub name: String,
    /// The version, such as `5.8.2`.
    pub version: String,
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// The API group; absent for the core group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; absent for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl From<&ObjectId> for ObjectReference {
    fn from(id: &ObjectId) -> Self {
        ObjectReference {
            group: id.group.clone(),
            kind: id.kind.clone(),
            namespace: id.namespace.clone(),
            name: id.name.clone(),
        }
    }
}

/// An error, in all outputs the same.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReport {
    /// The exit code that it stands for.
    pub exit_code: u8,
    /// What happened.
    pub message: String,
    /// On which object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectReference>,
    /// Where in a file: `file:line:column`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The same with its line's text, for people.
    #[serde(skip)]
    pub place: Option<Location>,
    /// Why, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl From<&Error> for ErrorReport {
    fn from(error: &Error) -> Self {
        ErrorReport {
            exit_code: error.exit().code(),
            message: error.message().to_owned(),
            object: error.object().map(ObjectReference::from),
            location: error.location().map(ToString::to_string),
            place: error.location().cloned(),
            causes: error.causes().to_vec(),
            hints: error.hints().to_vec(),
        }
    }
}

impl ErrorReport {
    /// One line for a table.
    pub fn line(&self) -> String {
        let place = self.location.iter().cloned();
        let subject = self.object.iter().map(super::plan::name);
        let message = std::iter::once(self.message.clone());
        let parts = place.chain(subject).chain(message).chain(self.causes.iter().cloned());
        parts.collect::<Vec<_>>().join(": ")
    }
}

/// What `mcd apply`, `mcd rollback`, `mcd delete` and `mcd status` print: a row a target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// `mcd.dev/apply/v1`, `mcd.dev/rollback/v1`, `mcd.dev/delete/v1` or `mcd.dev/status/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// One entry a target, in the order of the fleet.
    pub targets: Vec<TargetReport>,
    /// The exit code of the command.
    pub exit_code: u8,
}

impl RunReport {
    /// The command whose result it is: `apply`, `rollback`, `delete` or `status`.
    pub fn command(&self) -> &str {
        self.schema.split('/').nth(1).unwrap_or_default()
    }
}

/// What became of one target, or how it stands.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetReport {
    /// The target.
    pub target: String,
    /// The kubeconfig context.
    pub context: String,
    /// The namespace.
    pub namespace: String,
    /// Where it stands.
    pub state: TargetState,
    /// The number of the active release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<u64>,
    /// For a rollback: the release that it went back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackReport>,
    /// Pods that are ready, over all workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodCounts>,
    /// When the active release was applied (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<String>,
    /// The rollout that is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<OpenReport>,
    /// That nobody may write to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<FreezeReport>,
    /// Objects written, by kubectl's word: `created`, `configured`, `unchanged`, `deleted`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub objects: BTreeMap<String, usize>,
    /// Of `delete --dry-run`: each object that would go, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deletes: Vec<ObjectReference>,
    /// Of `delete`: what stays, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftReport>,
    /// Each object that is not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unhealthy: Vec<UnhealthyReport>,
    /// What a closer look gave: with `status --tree` all objects, after an `apply` that failed
    /// those that are not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<NodeReport>,
    /// What the user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// A few words.
    pub message: String,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorReport>,
}

/// Pods of a target's workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCounts {
    /// Wanted.
    pub wanted: i64,
    /// Ready.
    pub ready: i64,
    /// Of the newest revision.
    pub updated: i64,
}

/// An object that is not healthy, and why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnhealthyReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// `progressing`, `failed`, `paused` or `unknown`.
    pub health: String,
    /// Why.
    pub reason: String,
}

/// Where a target stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetState {
    /// Everything is healthy.
    Healthy,
    /// Applied; nobody waited for health.
    Applied,
    /// On its way.
    Progressing,
    /// Paused by its manifest or by someone.
    Paused,
    /// Something is wrong with it.
    Failed,
    /// Someone has to decide: a lock, a conflict.
    Blocked,
    /// Its cluster could not be reached or read.
    Unreachable,
    /// The run ended before its turn.
    NotStarted,
    /// The run was interrupted while it was under way.
    Interrupted,
    /// The application is not there.
    NotDeployed,
    /// The application was deleted.
    Deleted,
    /// The application would be deleted (`delete --dry-run`).
    ToDelete,
    /// The application is there, and does not select the cluster any more.
    Orphaned,
    /// Health is not known.
    #[default]
    Unknown,
}

impl TargetState {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            TargetState::Healthy => "Healthy",
            TargetState::Applied => "Applied",
            TargetState::Progressing => "Progressing",
            TargetState::Paused => "Paused",
            TargetState::Failed => "Failed",
            TargetState::Blocked => "Blocked",
            TargetState::Unreachable => "Unreachable",
            TargetState::NotStarted => "NotStarted",
            TargetState::Interrupted => "Interrupted",
            TargetState::NotDeployed => "NotDeployed",
            TargetState::Deleted => "Deleted",
            TargetState::ToDelete => "ToDelete",
            TargetState::Orphaned => "Orphaned",
            TargetState::Unknown => "Unknown",
        }
    }

    /// The state that an error leaves a target in.
    pub fn of(error: &Error) -> Self {
        match error.exit() {
            Exit::Unreachable => TargetState::Unreachable,
            Exit::Blocked => TargetState::Blocked,
            Exit::Interrupted | Exit::Terminated => TargetState::Interrupted,
            _ => TargetState::Failed,
        }
    }
}
