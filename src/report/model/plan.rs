//! The document of a plan.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{ErrorReport, ObjectReference, RollbackReport, RolloutPlanReport, ToolReport};
use crate::error::Error;
use crate::manifest::ObjectId;
use crate::plan::{Action, Condemned, Counts, ObjectPlan, Objection, Retirement, TargetPlan};
use crate::render::ChartUsed;
use crate::report::rollout::{FreezeReport, OpenReport};

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
    /// How an apply goes from target to target; absent where the application file says nothing of
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutPlanReport>,
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
    /// The state that an apply brings here from another place (`--move-from`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<StateMoveReport>,
    /// The rollout that is open in the target: nobody else may write to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<OpenReport>,
    /// That nobody may write to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<FreezeReport>,
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

/// State that comes from another place: record, key and releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateMoveReport {
    /// Where it is: `<stateNamespace>/<application>`, or `<stateNamespace>/<namespace>.<application>`
    /// where `stateNamespace` was set.
    pub from: String,
    /// How many releases come along.
    pub releases: usize,
}

/// An object that left the manifests, or is not deleted, and stays.
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
            moves: plan.moves.as_ref().map(|moves| StateMoveReport {
                from: moves.from.clone(),
                releases: moves.releases,
            }),
            rollout: None,
            freeze: None,
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
            moves: None,
            rollout: None,
            freeze: None,
            unfinished: None,
            hooks: Vec::new(),
            warnings: Vec::new(),
            errors: errors.iter().map(ErrorReport::from).collect(),
        }
    }
}
