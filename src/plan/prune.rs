//! What left the manifests: which of it an apply deletes, which stays, and why (design §7,
//! "Prune"). `mcd delete` is the same decision, about everything that the application owns.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::handling::{PROTECT, is_protected};
use super::order;
use crate::cluster::Resource;
use crate::diff::{ObjectDiff, object_diff};
use crate::error::{Error, Exit};
use crate::manifest::{Gvk, Object, ObjectId, Origin};
use crate::ownership::{deployer_of, entries};

/// What goes only when it is asked for: other objects, or data, go with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Besides {
    /// Namespaces that the application owns, with everything in them.
    pub namespaces: bool,
    /// Definitions that it owns, with all their objects of whatever application.
    pub definitions: bool,
    /// Volumes and claims that it owns, with their data.
    pub volumes: bool,
}

impl Besides {
    /// The flag without which an object stays, if there is one.
    fn guard(self, id: &ObjectId) -> Option<&'static str> {
        match (id.group.as_str(), id.kind.as_str()) {
            ("", "Namespace") if !self.namespaces => Some("--with-namespaces"),
            ("apiextensions.k8s.io", "CustomResourceDefinition") if !self.definitions => {
                Some("--with-definitions")
            }
            ("", "PersistentVolume" | "PersistentVolumeClaim") if !self.volumes => {
                Some("--with-volumes")
            }
            _ => None,
        }
    }
}

/// How an apply prunes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// Delete nothing; what left the manifests stays.
    pub keep: bool,
    /// Also when the set is empty, or over half of the inventory goes.
    pub all: bool,
    /// What goes besides.
    pub besides: Besides,
}

/// An entry of the inventory that may have to go.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Which object.
    pub id: ObjectId,
    /// The uid that the inventory has; none: written before its object.
    pub uid: Option<String>,
    /// Its last manifest protected it, and the cluster may not say so.
    pub protected: bool,
    /// What the cluster has.
    pub found: Found,
}

/// What the cluster has of a candidate.
#[derive(Clone, Debug)]
pub enum Found {
    /// The object, and where the server has it.
    Live(Box<(Resource, Value)>),
    /// Nothing.
    Gone,
    /// The cluster does not serve its kind any more: it went with its definition.
    Undefined,
    /// It could not be read, so it may be there.
    Unread(Error),
}

/// By what an application knows its objects, and what of them may go.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The value of its label.
    pub app_label: &'a str,
    /// Its field manager.
    pub manager: &'a str,
    /// Both as they were before its state moved.
    pub former: Option<(&'a str, &'a str)>,
    /// The namespace of its state.
    pub state_namespace: &'a str,
    /// What goes besides.
    pub besides: Besides,
    /// The application goes as a whole, so what has an owner goes too, and the state unless
    /// something stays.
    pub whole: bool,
}

/// An object that goes.
#[derive(Clone, Debug)]
pub struct Condemned {
    /// Which object.
    pub id: ObjectId,
    /// Where the server has it.
    pub resource: Resource,
    /// Its uid, which is the precondition of the DELETE.
    pub uid: String,
    /// When it goes: higher ranks first.
    pub rank: i64,
    /// What there is of it; values of Secrets are masked.
    pub diff: ObjectDiff,
    /// What the server says against it.
    pub objection: Option<Objection>,
}

/// What the server says against a DELETE, asked by a dry run.
#[derive(Clone, Debug)]
pub enum Objection {
    /// The user lacks the right.
    Forbidden(Error),
    /// Nobody may, as things stand: admission.
    Refused(Error),
}

/// What becomes of the candidates.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// What goes, in the order in which it goes.
    pub delete: Vec<Condemned>,
    /// What stays, and why.
    pub kept: Vec<(ObjectId, String)>,
    /// What is not the application's any more, and why: it is gone, or another object.
    pub gone: Vec<(ObjectId, String)>,
    /// What could not be read; each error names its object.
    pub unread: Vec<Error>,
    /// Variants of the rollout that is open: they are in no manifests, and none of this plan's
    /// business.
    pub variants: Vec<ObjectId>,
}

/// What an apply does about what left the manifests.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// What becomes of it.
    pub sweep: Sweep,
    /// Why nothing may be applied before someone confirms.
    pub blocked: Option<Error>,
}

impl Prune {
    /// What an apply leaves in the inventory until it is gone, or for good.
    pub fn left(&self) -> impl Iterator<Item = &ObjectId> {
        let sweep = &self.sweep;
        let unread = sweep.unread.iter().filter_map(Error::object);
        let kept = sweep.kept.iter().map(|(id, _)| id).chain(&sweep.variants);
        sweep.delete.iter().map(|c| &c.id).chain(kept).chain(unread)
    }
}

/// Decides about each candidate. `stays` are the objects that stay in any case, with their places
/// as far as they are known: the set that is applied.
pub fn sweep(
    candidates: Vec<Candidate>,
    rules: &Rules<'_>,
    stays: &[(&ObjectId, Option<&Resource>)],
) -> Sweep {
    let mut sweep = Sweep::default();
    let mut homes = Homes::new();
    for (id, resource) in stays {
        add_homes(&mut homes, id, *resource);
    }
    for Candidate { id, uid, protected, found } in candidates {
        let (resource, live) = match found {
            Found::Live(live) => *live,
            Found::Gone => {
                sweep.gone.push((id, "gone from the cluster".to_owned()));
                continue;
            }
            Found::Undefined => {
                let why = "gone with its definition: the cluster does not serve its kind";
                sweep.gone.push((id, why.to_owned()));
                continue;
            }
            Found::Unread(error) => {
                add_homes(&mut homes, &id, None);
                sweep.unread.push(error.on(&id));
                continue;
            }
        };
        let live_uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        let anothers = match &uid {
            Some(known) => {
                (known != live_uid).then_some("recreated by someone since mcd applied it")
            }
            None => (!is_ours(&live, rules)).then_some("not made by this application"),
        };
        let why = match anothers {
            Some(why) if !rules.whole => {
                sweep.gone.push((id, why.to_owned()));
                continue;
            }
            Some(why) => Some(why.to_owned()),
            None => why_kept(&id, &live, protected, rules),
        };
        match why {
            Some(why) => {
                add_homes(&mut homes, &id, Some(&resource));
                sweep.kept.push((id, why));
            }
            None => sweep.delete.push(Condemned {
                uid: live_uid.to_owned(),
                rank: rank(&resource.gvk, &live),
                diff: object_diff(&id, Some(&live), None),
                resource,
                id,
                objection: None,
            }),
        }
    }
    sweep.delete.sort_by(|a, b| (b.rank, &b.id).cmp(&(a.rank, &a.id)));
    sweep.spare(&homes, rules);
    sweep
}

/// What is pruned: the candidates that `sweep` condemns, unless pruning is off. `inventory` is how
/// many objects the inventory has, `set` how many the manifests.
pub fn prune(mut sweep: Sweep, options: PruneOptions, inventory: usize, set: usize) -> Prune {
    if options.keep {
        for condemned in std::mem::take(&mut sweep.delete) {
            sweep.kept.push((condemned.id, "--prune=false".to_owned()));
        }
        sweep.kept.sort();
        return Prune { sweep, blocked: None };
    }
    let going = sweep.delete.len();
    let blocked = (going > 0 && !options.all && (set == 0 || going * 2 > inventory)).then(|| {
        let what = match going {
            1 => format!("1 of {inventory} objects would be deleted"),
            n => format!("{n} of {inventory} objects would be deleted"),
        };
        let why = if set == 0 {
            "the manifests are empty"
        } else {
            "more than half of what the application owns left the manifests"
        };
        Error::new(Exit::Blocked, what)
            .because(why)
            .hint("`--allow-prune-all` deletes them, `--prune=false` keeps them")
    });
    Prune { sweep, blocked }
}

/// The group that took over a kind of the group, with its objects: on a cluster that has dropped
/// the old one they are still there.
pub fn successor(group: &str, kind: &str) -> Option<&'static str> {
    match (group, kind) {
        ("extensions", "Deployment" | "DaemonSet" | "ReplicaSet") => Some("apps"),
        ("extensions", "Ingress" | "NetworkPolicy") => Some("networking.k8s.io"),
        ("extensions", "PodSecurityPolicy") => Some("policy"),
        _ => None,
    }
}

/// Whether a live object carries the application's label and its field manager.
fn is_ours(live: &Value, rules: &Rules<'_>) -> bool {
    let all = entries(live);
    let label = &live["metadata"]["labels"][crate::cluster::state::APP_LABEL];
    let is = |(app_label, manager): (&str, &str)| {
        label == app_label && all.iter().any(|entry| entry.is_apply_of(manager))
    };
    is((rules.app_label, rules.manager)) || rules.former.is_some_and(is)
}

fn why_kept(id: &ObjectId, live: &Value, protected: bool, rules: &Rules<'_>) -> Option<String> {
    if let Some(flag) = rules.besides.guard(id) {
        return Some(format!("deleted only with {flag}"));
    }
    if is_protected(live) {
        return Some(format!("protected by the annotation {PROTECT}"));
    }
    if protected && live["metadata"]["annotations"][PROTECT].is_null() {
        return Some(format!(
            "protected by the annotation {PROTECT} of its last manifest, until the object itself \
             says `false`"
        ));
    }
    // It was given back, or taken: another tool would miss it.
    if let Some(deployer) = deployer_of(live, rules.manager) {
        return Some(format!("it is deployed by {deployer} now"));
    }
    let owner = live["metadata"]["ownerReferences"].as_array().and_then(|owners| owners.first());
    owner.filter(|_| !rules.whole).map(|owner| {
        let text = |key: &str| owner[key].as_str().unwrap_or_default().to_owned();
        format!("it belongs to {} {}, and goes with it", text("kind"), text("name"))
    })
}

impl Sweep {
    /// Keeps what would take something along that stays: namespaces and definitions by what they
    /// hold, and the one of the state, since the record of all that stays is in it.
    fn spare(&mut self, homes: &Homes, rules: &Rules<'_>) {
        self.keep_where(|id| Some(format!("{} would go with it", homes.get(id)?)));
        if !rules.whole || !self.kept.is_empty() || !self.unread.is_empty() {
            let state = namespace(rules.state_namespace);
            self.keep_where(|id| {
                (*id == state).then(|| "the record of what stays would go with it".to_owned())
            });
        }
        self.kept.sort();
    }

    fn keep_where(&mut self, why: impl Fn(&ObjectId) -> Option<String>) {
        let kept = &mut self.kept;
        self.delete.retain(|condemned| match why(&condemned.id) {
            None => true,
            Some(why) => {
                kept.push((condemned.id.clone(), why));
                false
            }
        });
    }
}

/// Namespaces and definitions, each with an object that would be lost with it.
type Homes = BTreeMap<ObjectId, ObjectId>;

/// Adds what an object is lost with: its namespace, and the definition of its kind.
fn add_homes(homes: &mut Homes, id: &ObjectId, resource: Option<&Resource>) {
    let definition = resource.map(|resource| ObjectId {
        group: "apiextensions.k8s.io".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        namespace: None,
        name: format!("{}.{}", resource.plural, resource.gvk.group),
    });
    for home in id.namespace.as_deref().map(namespace).into_iter().chain(definition) {
        homes.entry(home).or_insert_with(|| id.clone());
    }
}

/// The identity of a namespace.
pub fn namespace(name: &str) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "Namespace".to_owned(),
        namespace: None,
        name: name.to_owned(),
    }
}

fn rank(gvk: &Gvk, live: &Value) -> i64 {
    // Items of a LIST have no kind; the order is decided by it.
    let mut object = serde_json::json!({
        "apiVersion": gvk.api_version(), "kind": gvk.kind, "metadata": {"name": "_"},
    });
    object["metadata"]["annotations"] = live["metadata"]["annotations"].clone();
    Object::new(object, Origin::default())
        .map_or(0, |object| order::rank(&object, &BTreeSet::new()))
}

#[cfg(test)]
mod tests;
