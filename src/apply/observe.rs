//! Reads a target and works out its plan: live state and record in, dry runs where the digests
//! do not already say "unchanged", the ownership table applied (design §6).

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::adopt;
use super::assess::{Scene, UsedConfig, assess};
use super::job::Job;
use super::prune;
use super::references;
use super::relocate::{self, Moving, Sought};
use super::rollout::blocked;
use super::unserved;
use crate::cluster::state::{APP_LABEL, Key, Record, ReleaseState, ResourceVersion};
use crate::cluster::{CallErrorKind, Discovery, Lookup, Refusal, Resource};
use crate::config::Ignore;
use crate::error::Error;
use crate::event::Phase;
use crate::manifest::{Object, ObjectId};
use crate::ownership::{Digest, FieldPath, Policy, autoscaled};
use crate::plan::{
    self, Action, Handling, ObjectPlan, Prepared, PruneOptions, StateMove, Sweep, TargetPlan,
    is_protected_unsent, prepare,
};
use crate::render::Rendered;

/// How many calls of one target's reading are under way at once; the client bounds them too.
pub(super) const PARALLEL: usize = 8;

/// How many of its LISTs: about as many as the connections that the first questions have opened.
/// Another connection costs both sides more than most LISTs do, and takes longer than waiting.
const LISTS: usize = 5;

/// How to plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions {
    /// Dry-run every object, also where the digests say "unchanged".
    pub verify: bool,
    /// Win every conflict with another manager.
    pub force_conflicts: bool,
    /// What to do about objects of other deployers.
    pub adopt: Adopt,
    /// What becomes of what left the manifests.
    pub prune: PruneOptions,
    /// It is a step of the rollout that is open in the target, which keeps others from writing.
    pub in_rollout: bool,
}

/// What to do about objects that another deployer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adopt {
    /// They stop.
    #[default]
    No,
    /// They are taken over.
    Yes,
    /// They are taken over, and nothing is created: an object that is not there is most often one
    /// whose name or namespace is not what the other deployer calls it.
    Only,
}

/// A plan, with what an apply of it needs to know.
#[derive(Clone)]
pub struct Observed {
    /// The plan.
    pub plan: TargetPlan,
    /// The record as it was read, with its resourceVersion.
    pub record: Option<(Record, ResourceVersion)>,
    /// Where the state comes from, when it moves.
    pub moving: Option<Moving>,
    /// The target's key: the stored one, or one made for this run.
    pub key: Key,
    /// Digests of live objects that stay as they are, for the record.
    pub unchanged: BTreeMap<ObjectId, Settled>,
    /// The configuration that each workload uses.
    pub configs: BTreeMap<ObjectId, UsedConfig>,
    /// For planning an object again.
    pub(super) scene: Scene,
}

/// What is known of an object that does not change.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    /// The digest of its live state; none when what we own of it is not what an apply would own.
    pub live: Option<Digest>,
}

/// Plans a target.
pub async fn observe(
    job: &Job,
    rendered: &Rendered,
    options: PlanOptions,
) -> Result<Observed, Vec<Error>> {
    let one = |e: Error| vec![e.in_target(&job.target.name)];
    job.events.phase(Phase::Reading);
    let cluster = &job.cluster;
    // The first failure is enough: of a server that is down, each would take its full time.
    let failed = |e| job.failed(e, None);
    let (version, discovery, record, stored_key) = tokio::try_join!(
        async { cluster.version().await.map_err(failed) },
        async { cluster.discovery().await.map_err(failed) },
        job.store.record(),
        job.store.key(),
    )
    .map_err(one)?;
    let version = version.git_version;
    let sought = relocate::find(job, record.as_ref().map(|(record, _)| record)).await;
    let Sought { moving, warnings: said } = sought.map_err(one)?;
    let job = &job.coming_from(moving.as_ref().map(|moving| &moving.from));
    let key = match (stored_key, &moving) {
        (Some(key), _) => key,
        (None, Some(moving)) if moving.record.is_some() => {
            moving.store(job).key().await.and_then(or_random).map_err(one)?
        }
        (None, _) => Key::random().map_err(one)?,
    };
    // What is known of the target: its record, or the one that is moved here.
    let arriving = match (&record, &moving) {
        (None, Some(moving)) => moving.arriving(job),
        (Some(_) | None, _) => None,
    };
    let known = record.as_ref().map(|(record, _)| record).or(arriving.as_ref());

    let label = (APP_LABEL, job.names.app_label.as_str());
    let resolve = |gvk: &crate::manifest::Gvk| discovery.resolve(gvk).cloned();
    let (hidden, visible): (Vec<Object>, Vec<Object>) = rendered
        .objects
        .iter()
        .cloned()
        .partition(|object| discovery.lookup(&object.gvk) == Lookup::Unavailable);
    let prepared = prepare(visible, &job.target, label, resolve)
        .map_err(|errors| errors.into_iter().flat_map(one).collect::<Vec<_>>())?;
    let (ignored, mut prepared): (Vec<Prepared>, Vec<Prepared>) =
        prepared.into_iter().partition(|p| p.handling == Handling::Ignore);
    let mut ignored: Vec<ObjectId> = ignored.into_iter().map(|p| p.object.id).collect();

    let inventory = known.map(|record| &record.inventory);
    let mut places: BTreeSet<Place> = prepared
        .iter()
        .filter_map(|p| Some(Place::of(p.resource.as_ref()?, &p.object.id)))
        .collect();
    let mut resources: BTreeMap<ObjectId, Resource> = BTreeMap::new();
    let mut down: BTreeSet<ObjectId> = BTreeSet::new();
    for (id, member) in inventory.into_iter().flatten() {
        match discovery.lookup_any(&Record::gvk(id, member)) {
            Lookup::Served(resource) => {
                places.insert(Place::of(resource, id));
                resources.insert(id.clone(), resource.clone());
            }
            Lookup::Unavailable => drop(down.insert(id.clone())),
            Lookup::Unknown => {}
        }
    }
    for p in &prepared {
        if let Some(resource) = &p.resource {
            resources.insert(p.object.id.clone(), resource.clone());
        }
    }
    let (members, autoscalers) =
        tokio::try_join!(list_members(job, &places), live_autoscalers(job, &discovery, &prepared))
            .map_err(one)?;
    let Members { mut live, unlisted, down: unserved } = members;
    // What cannot be asked about is neither there nor gone.
    resources.retain(|id, resource| {
        let asked = !unserved.contains(&Place::of(resource, id));
        if !asked {
            down.insert(id.clone());
        }
        asked
    });
    for object in hidden {
        let hidden = unserved::prepare(object, &job.target, inventory);
        if hidden.handling == Handling::Ignore {
            ignored.push(hidden.object.id);
            continue;
        }
        down.insert(hidden.object.id.clone());
        prepared.push(hidden);
    }
    prepared.sort_by(|a, b| (a.rank, &a.object.id).cmp(&(b.rank, &b.object.id)));
    let desired: BTreeSet<ObjectId> = prepared.iter().map(|p| p.object.id.clone()).collect();

    // Known to the inventory, or in a kind that may not be listed: fetched by name. What neither
    // the label nor the inventory knows is left to the dry run, whose answer says whether it
    // exists.
    let by_name: Vec<(&ObjectId, &Resource)> = resources
        .iter()
        .filter(|(id, resource)| {
            let known = inventory.is_some_and(|inventory| inventory.contains_key(*id));
            // What left the manifests is looked for apart: it need not be readable.
            desired.contains(*id)
                && !live.contains_key(*id)
                && (known || unlisted.contains(&Place::of(resource, id)))
        })
        .collect();
    let fetched: Vec<(ObjectId, Option<Value>)> = stream::iter(by_name)
        .map(|(id, resource)| async move { Ok((id.clone(), job.get(resource, id).await?)) })
        .buffer_unordered(PARALLEL)
        .try_collect()
        .await
        .map_err(one)?;
    let looked_up: BTreeSet<ObjectId> = fetched.iter().map(|(id, _)| id.clone()).collect();
    live.extend(fetched.into_iter().filter_map(|(id, object)| Some((id, object?))));

    let scaled = autoscaled(prepared.iter().map(|p| &p.object.value), &autoscalers);
    let leaves = left_to_others(&prepared, &scaled, &job.target.ignore);
    let namespaces = prepared
        .iter()
        .filter(|p| p.object.gvk.group.is_empty() && p.object.gvk.kind == "Namespace")
        .map(|p| p.object.id.name.clone())
        .chain(job.target.create_namespace.then(|| job.target.namespace.clone()))
        .collect();

    job.events.phase(Phase::Planning);
    let mut scene = Scene {
        job: job.clone(),
        key: *key.bytes(),
        record: known.cloned(),
        server: version.clone(),
        live,
        looked_up,
        leaves,
        namespaces,
        made: BTreeSet::new(),
        down,
        prepared,
        policy: policy(job, options),
        options,
    };
    let assessed: Vec<_> = stream::iter(&scene.prepared)
        .map(|p| assess(&scene, p))
        .buffered(PARALLEL)
        .try_collect()
        .await
        .map_err(one)?;
    let left = match known {
        Some(record) => {
            prune::left(job, &discovery, record, &scene, &assessed, &ignored).await.map_err(one)?
        }
        None => Sweep::default(),
    };
    // Judged by now, and the larger part of what live objects take in memory.
    scene.live.values_mut().for_each(forget_managers);

    let mut objects = Vec::with_capacity(assessed.len());
    let mut unchanged = BTreeMap::new();
    let mut configs = BTreeMap::new();
    for mut assessed in assessed {
        if options.adopt == Adopt::Only {
            adopt::refuse_new(&mut assessed.plan);
        }
        let id = assessed.plan.id.clone();
        if let Some(settled) = assessed.settled {
            unchanged.insert(id.clone(), settled);
        }
        if let Some(config) = assessed.config {
            configs.insert(id, config);
        }
        objects.push(assessed.plan);
    }
    let owned = inventory.map_or(0, BTreeMap::len);
    let mut how = options.prune;
    // What only moves along is not lost: it is in the manifests, in another namespace.
    how.all |= moving.is_some() && left.delete.iter().all(|c| has_namesake(&c.id, &desired));
    let prune = plan::prune(left, how, owned, rendered.objects.len());
    let mut warnings = rendered.warnings.clone();
    warnings.extend(said);
    let set: Vec<&Object> = scene.prepared.iter().map(|p| &p.object).collect();
    warnings.extend(plan::idle(&set, &job.target.ignore, &job.target.health));
    warnings.extend(references::missing(job, &discovery, &objects).await);
    let retires = adopt::retirements(job, &discovery, known, &objects, &mut warnings).await;
    let retires = retires.map_err(one)?;
    let held = known.and_then(|record| blocked(record, cluster.now()));
    let held = held.filter(|_| !options.in_rollout).map(|e| e.in_target(&job.target.name));
    let unfinished = unfinished(known, &objects, &prune.sweep.gone, &ignored);
    let exists = objects
        .iter()
        .filter(|o| o.handling == Handling::CreateOnly && matches!(o.action, Action::Unchanged));
    let untouched = exists
        .map(|o| (o.id.clone(), o.handling))
        .chain(ignored.into_iter().map(|id| (id, Handling::Ignore)))
        .collect();
    let plan = TargetPlan {
        target: job.target.name.clone(),
        tool: rendered.tool.clone(),
        chart: rendered.chart.clone(),
        server_version: version,
        objects,
        retires,
        untouched,
        prune,
        hooks: rendered.dropped_hooks(),
        warnings,
        moves: moving.as_ref().filter(|moving| moving.record.is_some()).map(|moving| StateMove {
            from: moving.from.place().to_string(),
            releases: moving.releases,
        }),
        unfinished,
        held,
    };
    Ok(Observed { plan, record, moving, key, unchanged, configs, scene })
}

fn or_random(key: Option<Key>) -> Result<Key, Error> {
    key.map_or_else(Key::random, Ok)
}

/// Whether an object of that kind and name is in the set in another namespace.
fn has_namesake(id: &ObjectId, desired: &BTreeSet<ObjectId>) -> bool {
    desired.iter().any(|d| (&d.group, &d.kind, &d.name) == (&id.group, &id.kind, &id.name))
}

/// Whose wishes count beside the table of managers.
fn policy(job: &Job, options: PlanOptions) -> Policy {
    let file = &job.target.conflicts;
    let mut policy = Policy::new(&file.take, &file.stop, &file.leave);
    policy.adopt = options.adopt != Adopt::No;
    policy.force_conflicts = options.force_conflicts;
    policy.former = job.former.as_ref().map(|former| former.manager.clone());
    policy
}

/// The fields of each object that are left to others.
fn left_to_others(
    prepared: &[Prepared],
    scaled: &BTreeSet<ObjectId>,
    ignore: &[Ignore],
) -> BTreeMap<ObjectId, Vec<FieldPath>> {
    let mut leaves: BTreeMap<ObjectId, Vec<FieldPath>> = BTreeMap::new();
    for id in prepared.iter().map(|p| &p.object.id).filter(|id| scaled.contains(*id)) {
        leaves.entry(id.clone()).or_default().push(FieldPath::fields(&["spec", "replicas"]));
    }
    for rule in ignore {
        for object in prepared.iter().map(|p| &p.object).filter(|object| rule.matches(object)) {
            let known = leaves.entry(object.id.clone()).or_default();
            for path in rule.paths_of(object) {
                if !known.contains(&path) {
                    known.push(path);
                }
            }
        }
    }
    leaves
}

/// Drops the managedFields of an object whose owners were looked at.
pub(super) fn forget_managers(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Why the record has to be written although no object may change.
fn unfinished(
    record: Option<&Record>,
    objects: &[ObjectPlan],
    gone: &[(ObjectId, String)],
    ignored: &[ObjectId],
) -> Option<String> {
    let Some(record) = record else {
        return Some("the target has no record yet".to_owned());
    };
    if let Some(from) = &record.moved_from {
        return Some(format!("the state comes from `{from}`"));
    }
    if let Some(release) = record.retire.first() {
        return Some(format!("helm's release {release} is not retired yet"));
    }
    // A rollout that is open has staged its release, and will end it.
    let staged = record.rollout.as_ref().and_then(|open| open.progress.release);
    match record.releases.iter().rfind(|release| !release.undone) {
        Some(last) if Some(last.number) == staged => {}
        Some(last) if last.state == ReleaseState::Staged => {
            return Some(format!("release {} was interrupted", last.number));
        }
        Some(last) if last.state == ReleaseState::Failed => {
            return Some(format!("release {} failed", last.number));
        }
        _ if record.active.is_none() => return Some("no release is active".to_owned()),
        _ => {}
    }
    if let Some((id, why)) = gone.first() {
        return Some(format!("{id} is in the inventory and {why}"));
    }
    if let Some(id) = ignored.iter().find(|id| record.inventory.contains_key(*id)) {
        return Some(format!("{id} is in the inventory and is ignored from now on"));
    }
    let changed = objects.iter().find(|o| {
        record.inventory.get(&o.id).is_some_and(|m| m.protected != is_protected_unsent(o))
    });
    if let Some(object) = changed {
        return Some(match is_protected_unsent(object) {
            true => format!("{} is protected from now on", object.id),
            false => format!("{} is not protected any more", object.id),
        });
    }
    // What is only made when it is absent may be somebody else's.
    let settled = |o: &&ObjectPlan| {
        matches!(o.action, Action::Unchanged) && o.handling != Handling::CreateOnly
    };
    let strange = objects.iter().filter(settled).find(|o| {
        let known = record.inventory.get(&o.id).map(|member| member.uid.as_ref());
        // A Job that is done has no live object, and keeps what is known of it.
        o.basis.uid.is_some() && known != Some(o.basis.uid.as_ref())
    });
    strange.map(|o| format!("{} is not in the inventory as it is", o.id))
}

/// A kind in a namespace: what one LIST covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    group: String,
    plural: String,
    pub(super) namespace: Option<String>,
    pub(super) resource: ResourceKey,
}

/// A resource that compares by its name alone.
#[derive(Clone, Debug)]
pub(super) struct ResourceKey(pub(super) Resource);

impl PartialEq for ResourceKey {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for ResourceKey {}
impl PartialOrd for ResourceKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ResourceKey {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Place {
    pub(super) fn of(resource: &Resource, id: &ObjectId) -> Self {
        Place {
            group: resource.gvk.group.clone(),
            plural: resource.plural.clone(),
            namespace: id.namespace.clone(),
            resource: ResourceKey(resource.clone()),
        }
    }
}

/// What LISTs by label gave.
#[derive(Default)]
pub(super) struct Members {
    /// The objects with the label.
    pub(super) live: BTreeMap<ObjectId, Value>,
    /// Kinds that the caller may not list: their objects are fetched by name.
    pub(super) unlisted: BTreeSet<Place>,
    /// Kinds whose API does not answer: nothing is known of their objects.
    pub(super) down: BTreeSet<Place>,
}

/// What came of one LIST.
enum Listed {
    Items(Vec<Value>),
    Forbidden,
    Down,
}

/// One LIST a kind and namespace by label.
pub(super) async fn list_members(job: &Job, places: &BTreeSet<Place>) -> Result<Members, Error> {
    let selector = job.member_selector();
    let lists: Vec<(Place, Listed)> = stream::iter(places.iter().cloned())
        .map(|place| {
            let selector = selector.as_str();
            async move {
                let resource = &place.resource.0;
                let found = job
                    .cluster
                    .list(resource, place.namespace.as_deref(), Some(selector), None)
                    .await;
                match found {
                    Ok(items) => Ok((place, Listed::Items(items))),
                    Err(error) if error.is_api_down() => Ok((place, Listed::Down)),
                    Err(error) => match &error.kind {
                        CallErrorKind::Refused(Refusal::Forbidden { .. }) => {
                            Ok((place, Listed::Forbidden))
                        }
                        // A kind that went away between discovery and the LIST has no objects.
                        CallErrorKind::Refused(Refusal::MissingKind) => {
                            Ok((place, Listed::Items(Vec::new())))
                        }
                        _ => Err(job.failed(error, None)),
                    },
                }
            }
        })
        .buffer_unordered(LISTS)
        .try_collect()
        .await?;
    let mut members = Members::default();
    for (place, listed) in lists {
        let items = match listed {
            Listed::Items(items) => items,
            Listed::Forbidden => {
                members.unlisted.insert(place);
                continue;
            }
            Listed::Down => {
                members.down.insert(place);
                continue;
            }
        };
        let gvk = &place.resource.0.gvk;
        for item in items {
            let text = |key: &str| item["metadata"][key].as_str().map(str::to_owned);
            let Some(name) = text("name") else { continue };
            let id = ObjectId {
                group: gvk.group.clone(),
                kind: gvk.kind.clone(),
                namespace: text("namespace"),
                name,
            };
            if id.is_secret() {
                job.scrubber.learn(&item);
            }
            members.live.insert(id, item);
        }
    }
    Ok(members)
}

/// The autoscalers that live in the namespaces of the set's scalable workloads: an HPA or a KEDA
/// ScaledObject there makes us leave replicas alone, also when it is not ours and the manifest
/// says nothing of replicas (what was owned and is omitted would be reset, A5.2).
async fn live_autoscalers(
    job: &Job,
    discovery: &Discovery,
    prepared: &[Prepared],
) -> Result<Vec<Value>, Error> {
    let scalable = |p: &&Prepared| {
        let kind = p.object.gvk.kind.as_str();
        matches!(kind, "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController")
            || p.object.value["spec"]["replicas"].is_number()
    };
    let namespaces: BTreeSet<&str> =
        prepared.iter().filter(scalable).filter_map(|p| p.object.id.namespace.as_deref()).collect();
    autoscalers_in(job, discovery, &namespaces).await
}

/// The autoscalers in these namespaces. What may not be read is not known, and then only the set's
/// own count.
pub(super) async fn autoscalers_in(
    job: &Job,
    discovery: &Discovery,
    namespaces: &BTreeSet<&str>,
) -> Result<Vec<Value>, Error> {
    let kinds = [("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")];
    let lists: Vec<(&Resource, &str)> = kinds
        .iter()
        .filter_map(|(group, kind)| discovery.by_kind(group, kind))
        .flat_map(|resource| namespaces.iter().map(move |ns| (resource, *ns)))
        .collect();
    let found: Vec<Vec<Value>> = stream::iter(lists)
        .map(|(resource, ns)| async move {
            match job.cluster.list(resource, Some(ns), None, None).await {
                Ok(items) => Ok(items),
                Err(error) if error.is_forbidden() || error.is_missing() => Ok(Vec::new()),
                Err(error) => Err(job.failed(error, None)),
            }
        })
        .buffer_unordered(PARALLEL)
        .try_collect()
        .await?;
    Ok(found.into_iter().flatten().collect())
}
