//! The results of commands as documents: what `-o json` and `-o yaml` print, and what the tables
//! are made from. Additive only within a `schema` version (docs/output.md).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::rollout::{FreezeReport, OpenReport};
pub use super::tree::{LogReport, NodeReport, WarningReport};
use crate::error::{Error, Exit, Location};
use crate::manifest::ObjectId;
use crate::plan::{Action, Condemned, Counts, ObjectPlan, Objection, Retirement, TargetPlan};
use crate::render::ChartUsed;

/// What `mcd plan -o json` prints, and `mcd diff -o json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// `mcd.dev/plan/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// One entry a target, in the order of the fleet.
    pub targets: Vec<TargetPlanReport>,
    /// The sum over the targets.
    pub counts: Counts,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// The plan of one target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetPlanReport {
    /// The target.
    pub target: String,
    /// The kubeconfig context.
    pub context: String,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// `changes`, `unchanged`, `blocked` (someone has to decide), `refused` (by the server),
    /// `failed` (not rendered, not reached, not read), or `orphaned` (there, and not selected any
    /// more).
    pub state: String,
    /// The tool that rendered; none for plain manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolReport>,
    /// The chart that was rendered; none without helm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<ChartUsed>,
    /// For a rollback: the release that it goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackReport>,
    /// The server's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_version: Option<String>,
    /// How many objects of each action.
    pub counts: Counts,
    /// Each object that does not stay as it is.
    pub changes: Vec<ObjectReport>,
    /// Helm releases that end because their objects become the application's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retires: Vec<RetirementReport>,
    /// What the annotation `mcd.dev/apply` keeps from being applied.
    pub untouched: Vec<UntouchedReport>,
    /// What left the manifests and stays.
    pub left: Vec<LeftReport>,
    /// Why an apply has work to do even where no object changes: an earlier run was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Hooks of the chart that are not applied.
    pub hooks: Vec<ObjectReference>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// What went wrong.
    pub errors: Vec<ErrorReport>,
}

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

/// An object that left the manifests and stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// Why it stays.
    pub reason: String,
}

/// What would happen to an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// `apiVersion` of the manifest.
    pub api_version: String,
    /// `create`, `change`, `recreate`, `delete`, `conflict`, `terminating` or `refused`.
    pub action: String,
    /// Why the object is deleted, or deleted and made anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Field by field; values of Secrets are masked.
    pub fields: Vec<FieldReport>,
    /// The deployers that the object is taken over from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adopts_from: Vec<DeployerReport>,
    /// Managers whose declared fields become the application's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub takes_from: Vec<String>,
    /// Changes by hand that go back to what the manifest says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reverts: Vec<RevertReport>,
    /// Fields that the application gives up, so that their values stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relinquishes: Vec<String>,
    /// What of an adopted selector stays against the manifest, because it cannot change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<String>,
    /// Why the server could not check the change beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_verified: Option<String>,
    /// Warnings of the server and of mcd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An object of the manifests that is not applied.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UntouchedReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// The annotation's value: `create-only` (it exists) or `ignore`.
    pub apply: String,
}

/// A field that changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FieldReport {
    /// The path as the API server prints it: `.spec.template.spec.containers[name="c"].image`.
    pub path: String,
    /// `add`, `remove`, `replace` or `move`.
    pub op: String,
    /// The value in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after an apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Another tool that deploys the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeployerReport {
    /// The tool: `helm`, `kapp`, `kluctl`, `Flux`, `Argo CD`, …
    pub tool: String,
    /// Its release, app or the like, where the object names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A helm release that is hidden from helm once its objects are the application's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetirementReport {
    /// The namespace that helm keeps it in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How many revisions helm has stored.
    pub revisions: usize,
    /// What of it is not in the manifests: kept, and nobody's afterwards.
    pub kept: Vec<ObjectReference>,
}

/// A change by hand that goes back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RevertReport {
    /// Who made it, as a field manager.
    pub manager: String,
    /// When (RFC 3339), if the server knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// What goes back.
    pub fields: Vec<String>,
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

impl From<&ObjectPlan> for ObjectReport {
    fn from(plan: &ObjectPlan) -> Self {
        let fields = plan.diff.changes.iter().map(|change| FieldReport {
            path: change.path.to_string(),
            op: change.op.word().to_owned(),
            before: change.before.clone(),
            after: change.after.clone(),
        });
        let adopts_from = plan.ownership.adopt.iter().map(|deployer| DeployerReport {
            tool: deployer.tool.clone(),
            unit: deployer.unit.clone(),
        });
        let reverts = plan.ownership.reverts.iter().map(|revert| RevertReport {
            manager: revert.manager.clone(),
            time: revert.time.clone(),
            fields: revert.fields.iter().map(ToString::to_string).collect(),
        });
        ObjectReport {
            object: (&plan.id).into(),
            api_version: plan.gvk.api_version(),
            action: plan.action.word().to_owned(),
            reason: match &plan.action {
                Action::Recreate(why) => Some(why.clone()),
                Action::Create
                | Action::Change
                | Action::Unchanged
                | Action::Stopped(_)
                | Action::Terminating(_)
                | Action::Refused(_) => None,
            },
            fields: fields.collect(),
            adopts_from: adopts_from.collect(),
            takes_from: plan.ownership.take.clone(),
            reverts: reverts.collect(),
            relinquishes: plan.ownership.relinquish.iter().map(ToString::to_string).collect(),
            keeps: match plan.ownership.adopt.is_empty() {
                true => Vec::new(),
                false => plan.ownership.kept.iter().map(ToString::to_string).collect(),
            },
            not_verified: plan.unverified.as_ref().map(|u| u.reason.clone()),
            warnings: plan.warnings.clone(),
        }
    }
}

impl From<&Retirement> for RetirementReport {
    fn from(retirement: &Retirement) -> Self {
        RetirementReport {
            namespace: retirement.namespace.clone(),
            name: retirement.name.clone(),
            revisions: retirement.revisions,
            kept: retirement.kept.iter().map(ObjectReference::from).collect(),
        }
    }
}

impl From<&Condemned> for ObjectReport {
    fn from(condemned: &Condemned) -> Self {
        let forbidden = match &condemned.objection {
            Some(Objection::Forbidden(error)) => Some(error.message().to_owned()),
            Some(Objection::Refused(_)) | None => None,
        };
        ObjectReport {
            object: (&condemned.id).into(),
            api_version: condemned.resource.gvk.api_version(),
            action: "delete".to_owned(),
            reason: Some("left the manifests".to_owned()),
            fields: Vec::new(),
            adopts_from: Vec::new(),
            keeps: Vec::new(),
            takes_from: Vec::new(),
            reverts: Vec::new(),
            relinquishes: Vec::new(),
            not_verified: forbidden,
            warnings: Vec::new(),
        }
    }
}

impl TargetPlanReport {
    /// The report of a target that was planned, with the errors that count for the verb.
    pub fn planned(plan: &TargetPlan, errors: &[Error], context: &str, namespace: &str) -> Self {
        let counts = plan.counts();
        let sweep = &plan.prune.sweep;
        let refused = counts.refused > 0 || sweep.delete.iter().any(|c| c.problem().is_some());
        let state = if refused {
            "refused"
        } else if counts.conflicts > 0 || plan.prune.blocked.is_some() {
            "blocked"
        } else if plan.has_changes() {
            "changes"
        } else {
            "unchanged"
        };
        let changed = plan.objects.iter().filter(|o| !matches!(o.action, Action::Unchanged));
        let left = |id: &ObjectId, why: &str| LeftReport { object: id.into(), reason: why.into() };
        let kept = sweep.kept.iter().map(|(id, why)| left(id, why));
        let unread =
            sweep.unread.iter().filter_map(|e| Some(left(e.object()?, "it could not be read")));
        TargetPlanReport {
            target: plan.target.to_string(),
            context: context.to_owned(),
            namespace: namespace.to_owned(),
            state: state.to_owned(),
            tool: plan.tool.as_ref().map(|tool| ToolReport {
                name: tool.name.to_string(),
                version: tool.version.clone(),
            }),
            chart: plan.chart.clone(),
            rollback: None,
            server_version: Some(plan.server_version.clone()),
            counts,
            retires: plan.retires.iter().map(RetirementReport::from).collect(),
            untouched: (plan.untouched.iter())
                .map(|(id, handling)| UntouchedReport {
                    object: id.into(),
                    apply: handling.word().to_owned(),
                })
                .collect(),
            changes: changed
                .map(ObjectReport::from)
                .chain(sweep.delete.iter().map(ObjectReport::from))
                .collect(),
            left: kept.chain(unread).collect(),
            unfinished: plan.unfinished.clone(),
            hooks: plan.hooks.iter().map(|hook| ObjectReference::from(&hook.id)).collect(),
            warnings: plan.warnings.clone(),
            errors: errors.iter().map(ErrorReport::from).collect(),
        }
    }

    /// Says that the plan goes back to a release, which is then what objects are missing in.
    pub fn go_back(&mut self, rollback: RollbackReport) {
        self.rollback = Some(rollback);
        for object in self.changes.iter_mut().filter(|object| object.action == "delete") {
            object.reason = Some(format!("not in release {}", rollback.to));
        }
    }

    /// The report of a target that could not be planned.
    pub fn failed(target: &str, context: &str, namespace: &str, errors: &[Error]) -> Self {
        TargetPlanReport {
            target: target.to_owned(),
            context: context.to_owned(),
            namespace: namespace.to_owned(),
            state: "failed".to_owned(),
            tool: None,
            chart: None,
            rollback: None,
            server_version: None,
            counts: Counts::default(),
            changes: Vec::new(),
            left: Vec::new(),
            retires: Vec::new(),
            untouched: Vec::new(),
            unfinished: None,
            hooks: Vec::new(),
            warnings: Vec::new(),
            errors: errors.iter().map(ErrorReport::from).collect(),
        }
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
