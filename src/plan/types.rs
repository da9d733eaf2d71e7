//! What a plan says: for each object of a target, what an apply would do and why.

use serde_json::Value;

use super::prune::{Condemned, Objection, Prune};
use crate::cluster::Resource;
use crate::config::TargetName;
use crate::diff::ObjectDiff;
use crate::error::{Error, Exit};
use crate::manifest::{Gvk, ObjectId, Origin};
use crate::ownership::{Deployer, Digest, FieldPath, Rekeyed, Revert, Stop};
use crate::render::{ChartUsed, Hook, ToolUsed};

use super::handling::{Handling, is_protected};

/// The plan of one target.
#[derive(Clone, Debug)]
pub struct TargetPlan {
    /// The target.
    pub target: TargetName,
    /// The tool that rendered, none for plain manifests.
    pub tool: Option<ToolUsed>,
    /// The chart that was rendered; none without helm.
    pub chart: Option<ChartUsed>,
    /// The server's version, such as `v1.36.3`.
    pub server_version: String,
    /// The objects, in the order in which an apply writes them.
    pub objects: Vec<ObjectPlan>,
    /// The helm releases that end because their objects become the application's.
    pub retires: Vec<Retirement>,
    /// What the manifests have and an annotation keeps from being applied: never, or as it exists.
    pub untouched: Vec<(ObjectId, Handling)>,
    /// What the inventory has and the manifests lack, and what becomes of it.
    pub prune: Prune,
    /// The chart's hooks that are not applied.
    pub hooks: Vec<Hook>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The state that an apply brings here from another place.
    pub moves: Option<StateMove>,
    /// Why an apply has work to do although no object changes: an earlier run was interrupted, or
    /// the target has no record yet.
    pub unfinished: Option<String>,
    /// Why nobody may write to the target as things stand, whatever the plan: a rollout is open in
    /// it, or it is frozen.
    pub held: Option<Error>,
}

/// The plan of one object.
#[derive(Clone, Debug)]
pub struct ObjectPlan {
    /// Which object, with its namespace resolved.
    pub id: ObjectId,
    /// Its version and kind.
    pub gvk: Gvk,
    /// Where it was written.
    pub origin: Origin,
    /// Where the server has it; none when its kind is defined by this very set.
    pub resource: Option<Resource>,
    /// When it is written: lower ranks first.
    pub rank: i64,
    /// It changes what traffic reaches, so it is written after the workloads are healthy (A10.4).
    pub after_health: bool,
    /// What would happen.
    pub action: Action,
    /// What would change.
    pub diff: ObjectDiff,
    /// What is sent.
    pub manifest: Value,
    /// The digest of what is sent and stays ours.
    pub digest: Digest,
    /// What the change rests on, to notice when live moves before the write.
    pub basis: Basis,
    /// How the fields of other managers are treated.
    pub ownership: Ownership,
    /// How its annotation says that it is applied.
    pub handling: Handling,
    /// Fields that are left to others: replicas that an autoscaler decides, and what `ignore:`
    /// names. Where they are sent because the object is new they are given up afterwards.
    pub leaves: Vec<FieldPath>,
    /// Why the change is not verified by the server, if it is not.
    pub unverified: Option<Unverified>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What would happen to an object.
#[derive(Clone, Debug)]
pub enum Action {
    /// It does not exist yet.
    Create,
    /// It changes, or its ownership does.
    Change,
    /// It is deleted and made anew, because the server refuses the change, as is said here.
    Recreate(String),
    /// Nothing.
    Unchanged,
    /// Someone has to decide first.
    Stopped(Vec<Stop>),
    /// It is being deleted; its finalizers are named.
    Terminating(Vec<String>),
    /// The server refuses it.
    Refused(Error),
}

impl Action {
    /// Whether an apply writes the object.
    pub fn writes(&self) -> bool {
        match self {
            Action::Create | Action::Change | Action::Recreate(_) => true,
            Action::Unchanged
            | Action::Stopped(_)
            | Action::Terminating(_)
            | Action::Refused(_) => false,
        }
    }

    /// The word for tables and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Change => "change",
            Action::Recreate(_) => "recreate",
            Action::Unchanged => "unchanged",
            Action::Stopped(_) => "conflict",
            Action::Terminating(_) => "terminating",
            Action::Refused(_) => "refused",
        }
    }
}

/// Live as the plan saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// The uid; none when the object did not exist.
    pub uid: Option<String>,
    /// The resourceVersion; none when the object did not exist.
    pub resource_version: Option<String>,
    /// The generation, for kinds that have one.
    pub generation: Option<i64>,
}

impl Basis {
    /// Reads it off a live object.
    pub fn of(live: Option<&Value>) -> Self {
        let Some(metadata) = live.map(|l| &l["metadata"]) else { return Basis::default() };
        Basis {
            uid: metadata["uid"].as_str().map(str::to_owned),
            resource_version: metadata["resourceVersion"].as_str().map(str::to_owned),
            generation: metadata["generation"].as_i64(),
        }
    }
}

/// Whether the manifest protects an object that it is only made from, so that a later annotation
/// never reaches the cluster.
pub fn is_protected_unsent(object: &ObjectPlan) -> bool {
    object.handling == Handling::CreateOnly && is_protected(&object.manifest)
}

/// How the fields of other managers are treated.
#[derive(Clone, Debug, Default)]
pub struct Ownership {
    /// Managers whose field sets become ours before the apply.
    pub take: Vec<String>,
    /// Hands whose values go back to the manifest's.
    pub reverts: Vec<Revert>,
    /// Fields of ours that are given up before the apply that omits them.
    pub relinquish: Vec<FieldPath>,
    /// Maps of a custom resource that become empty: left out once before they are sent (A1.9).
    pub emptied: Vec<FieldPath>,
    /// Items of lists whose keys hands have changed: they become ours, so that they go (A1.10).
    pub rekeyed: Vec<Rekeyed>,
    /// Send the apply with force: every conflict is of a kind that the table lets us win.
    pub force: bool,
    /// The deployers that the object is taken over from.
    pub adopt: Vec<Deployer>,
    /// Labels and annotations of theirs, which go whoever owns them.
    pub marks: Vec<FieldPath>,
    /// What of a selector stays against the manifest, because it cannot change.
    pub kept: Vec<FieldPath>,
    /// The helm release that the object is of: namespace and name.
    pub helm_release: Option<(String, String)>,
}

/// A helm release that is hidden from helm once its objects are the application's: `helm
/// uninstall` would delete them (A3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// The namespace that helm keeps it in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How many revisions helm has stored.
    pub revisions: usize,
    /// What of it is in the cluster and not in the manifests: kept, and nobody's afterwards.
    pub kept: Vec<ObjectId>,
}

/// State that comes from another place: record, key and releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateMove {
    /// Where it is, as `<stateNamespace>/<app>`.
    pub from: String,
    /// How many releases are there.
    pub releases: usize,
}

/// Why the server could not check a change beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unverified {
    /// The reason, as a fragment.
    pub reason: String,
    /// Whether the apply would fail for the same reason (no right to write).
    pub blocks_apply: bool,
}

/// How many objects of each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// To create.
    pub create: usize,
    /// To change.
    pub change: usize,
    /// To delete and make anew.
    pub recreate: usize,
    /// To delete.
    pub delete: usize,
    /// Unchanged.
    pub unchanged: usize,
    /// Stopped until someone decides: conflicts, terminating objects.
    pub conflicts: usize,
    /// Refused by the server.
    pub refused: usize,
    /// Left the manifests, and stay.
    pub left: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.create += other.create;
        self.change += other.change;
        self.recreate += other.recreate;
        self.delete += other.delete;
        self.unchanged += other.unchanged;
        self.conflicts += other.conflicts;
        self.refused += other.refused;
        self.left += other.left;
    }
}

impl TargetPlan {
    /// Counts the actions.
    pub fn counts(&self) -> Counts {
        let sweep = &self.prune.sweep;
        let mut counts = Counts {
            delete: sweep.delete.len(),
            left: sweep.kept.len() + sweep.unread.len(),
            ..Counts::default()
        };
        for object in &self.objects {
            match &object.action {
                Action::Create => counts.create += 1,
                Action::Change => counts.change += 1,
                Action::Recreate(_) => counts.recreate += 1,
                Action::Unchanged => counts.unchanged += 1,
                Action::Stopped(_) | Action::Terminating(_) => counts.conflicts += 1,
                Action::Refused(_) => counts.refused += 1,
            }
        }
        counts
    }

    /// Whether an apply would write or delete objects.
    pub fn has_changes(&self) -> bool {
        let counts = self.counts();
        counts.create + counts.change + counts.recreate + counts.delete > 0
    }

    /// What is wrong with the plan itself, in order: refusals, conflicts, terminating objects; a
    /// prune that someone has to confirm; what could not be read, which keeps nothing from being
    /// applied.
    pub fn problems(&self) -> Vec<Error> {
        let unread = self.unread();
        self.errors(ObjectPlan::problem, Condemned::problem).into_iter().chain(unread).collect()
    }

    /// The errors that keep an apply of this target from its first write, in order: besides the
    /// problems the rights that the user lacks, and what keeps everybody from writing. Who may only
    /// read still has a plan.
    pub fn blockers(&self) -> Vec<Error> {
        let held = self.held.clone();
        held.into_iter().chain(self.errors(ObjectPlan::blocker, Condemned::blocker)).collect()
    }

    /// What of the inventory could not be read: it is neither applied nor deleted, and an apply
    /// is no success.
    pub fn unread(&self) -> Vec<Error> {
        let unread = self.prune.sweep.unread.iter();
        unread.map(|error| error.clone().in_target(&self.target)).collect()
    }

    fn errors(
        &self,
        of: impl Fn(&ObjectPlan) -> Option<Error>,
        of_pruned: impl Fn(&Condemned) -> Option<Error>,
    ) -> Vec<Error> {
        let objects = self.objects.iter().filter_map(of);
        let pruned = self.prune.sweep.delete.iter().filter_map(of_pruned);
        let all = objects.chain(pruned).chain(self.prune.blocked.clone());
        all.map(|e| e.in_target(&self.target)).collect()
    }
}

impl ObjectPlan {
    /// Why this object cannot be applied as things stand, by whomever.
    pub fn problem(&self) -> Option<Error> {
        match &self.action {
            Action::Refused(error) => Some(error.clone()),
            Action::Terminating(finalizers) => {
                let mut error = Error::new(Exit::Blocked, "is being deleted").on(&self.id);
                if finalizers.is_empty() {
                    error = error.hint("run the command again when it is gone");
                } else {
                    error = error
                        .because(format!("waits for the finalizers {}", finalizers.join(", ")))
                        .hint("find out why the owner of the finalizer does not finish");
                }
                Some(error)
            }
            Action::Stopped(stops) => {
                let mut error = Error::new(Exit::Blocked, "someone has to decide").on(&self.id);
                for stop in stops {
                    error = error.because(stop.why.clone());
                    if !error.hints().contains(&stop.how) {
                        error = error.hint(stop.how.clone());
                    }
                }
                Some(error)
            }
            Action::Create | Action::Change | Action::Recreate(_) | Action::Unchanged => None,
        }
    }

    /// Why this user cannot apply this object as things stand.
    pub fn blocker(&self) -> Option<Error> {
        self.problem().or_else(|| {
            let unverified = self.unverified.as_ref().filter(|u| u.blocks_apply)?;
            Some(Error::new(Exit::Failed, unverified.reason.clone()).on(&self.id))
        })
    }
}

impl Condemned {
    /// Why this object cannot be deleted as things stand, by whomever.
    pub fn problem(&self) -> Option<Error> {
        match &self.objection {
            Some(Objection::Refused(error)) => {
                Some(error.clone().hint("`--prune=false` keeps what left the manifests"))
            }
            Some(Objection::Forbidden(_)) | None => None,
        }
    }

    /// Why this user cannot delete this object as things stand.
    pub fn blocker(&self) -> Option<Error> {
        match &self.objection {
            Some(Objection::Forbidden(error)) => Some(
                Error::new(Exit::Failed, error.message())
                    .on(&self.id)
                    .hint("`--prune=false` keeps what left the manifests"),
            ),
            Some(Objection::Refused(_)) | None => self.problem(),
        }
    }
}
