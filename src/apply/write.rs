//! Writes the objects of one target, rank by rank, each as the plan says or not at all.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::assess::Scene;
use super::job::Job;
use super::observe::{PARALLEL, forget_managers};
use super::recreate::recreate;
use super::wait::{Subject, wait};
use crate::cluster::state::lease::Fence;
use crate::cluster::{Applied, Apply, CallErrorKind, Refusal, Resource};
use crate::error::{Error, Exit};
use crate::event::{EventKind, Verb};
use crate::health::Own;
use crate::manifest::ObjectId;
use crate::ownership::{
    Digest, FieldPath, entries, live_digest, our_entry, relinquish, remove_path, take, take_items,
};
use crate::plan::{Action, Handling, ObjectPlan, reaches};

/// How often an object is planned again when its live state keeps moving under the write.
const TRIES: usize = 5;

/// How long a definition may take to be served.
const ESTABLISH: Duration = Duration::from_secs(60);

/// An object that was written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) verb: Verb,
    pub(super) resource: Resource,
    /// Its uid.
    pub(super) uid: Option<String>,
    /// The digest of what of it is ours.
    pub(super) digest: Option<Digest>,
    /// The server's answer without managedFields, the larger part of it.
    answer: Value,
}

/// What was written, and what stopped the rest.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) written: BTreeMap<ObjectId, Written>,
    pub(super) errors: Vec<Error>,
}

/// Writes everything that the plan changes. `timeout` bounds the wait for workloads before a
/// change of traffic.
pub(super) async fn write_all(
    job: &Job,
    scene: &Scene,
    plans: &[ObjectPlan],
    fence: &Fence,
    timeout: Duration,
) -> Progress {
    let mut progress = Progress::default();
    let changes = |o: &&ObjectPlan| o.action.writes();
    let (later, now): (Vec<&ObjectPlan>, Vec<&ObjectPlan>) =
        plans.iter().filter(changes).partition(|o| o.after_health);
    for rank in ranks(&now) {
        if !write_rank(job, scene, &rank, fence, timeout, &mut progress).await {
            return progress;
        }
        if let Err(error) = establish(job, &rank, &progress).await {
            progress.errors.push(error);
            return progress;
        }
    }
    if later.is_empty() {
        return progress;
    }
    // What traffic reaches changes only when what it will reach is healthy (A10.4).
    let reached = |o: &&ObjectPlan| {
        later
            .iter()
            .any(|front| reaches((&front.id, &front.manifest), (&o.id, &o.gvk, &o.manifest)))
    };
    // Those of an earlier run too: it may have ended because they did not become healthy.
    let subjects: Vec<Subject> = plans
        .iter()
        .filter(reached)
        .filter_map(|o| match progress.written.get(&o.id) {
            Some(written) => Some(written.subject(&o.id)),
            None => untouched(o),
        })
        .collect();
    if let Err((error, _)) = wait(job, &subjects, timeout).await {
        let names: Vec<String> = later.iter().map(|o| o.id.to_string()).collect();
        progress.errors.push(error.hint(format!("{} not changed", names.join(", "))));
        return progress;
    }
    for rank in ranks(&later) {
        if !write_rank(job, scene, &rank, fence, timeout, &mut progress).await {
            return progress;
        }
    }
    progress
}

/// An object that stays as it is, as a subject of health.
pub(super) fn untouched(object: &ObjectPlan) -> Option<Subject> {
    let uid = object.basis.uid.clone()?;
    Some(Subject {
        id: object.id.clone(),
        resource: Some(object.resource.clone()?),
        own: Own { generation: object.basis.generation, uid: Some(uid) },
        applied: object.manifest.clone(),
    })
}

/// The objects by rank, lowest first.
fn ranks<'a>(objects: &[&'a ObjectPlan]) -> Vec<Vec<&'a ObjectPlan>> {
    let mut ranks: BTreeMap<i64, Vec<&ObjectPlan>> = BTreeMap::new();
    for object in objects {
        ranks.entry(object.rank).or_default().push(object);
    }
    ranks.into_values().collect()
}

impl Written {
    pub(super) fn of(scene: &Scene, verb: Verb, resource: Resource, mut answer: Value) -> Self {
        let digest = match verb {
            Verb::Created | Verb::Configured | Verb::Recreated => {
                live_digest(&scene.key, &answer, &scene.job.names.manager)
            }
            // Someone else brought it where it should be: what of it is ours is not what an apply
            // of ours would have made.
            Verb::Unchanged | Verb::Deleted => None,
        };
        forget_managers(&mut answer);
        let uid = answer["metadata"]["uid"].as_str().map(str::to_owned);
        Written { verb, resource, uid, digest, answer }
    }

    pub(super) fn subject(&self, id: &ObjectId) -> Subject {
        Subject {
            id: id.clone(),
            resource: Some(self.resource.clone()),
            own: Own::of(&self.answer),
            applied: self.answer.clone(),
        }
    }
}

/// Writes the objects of a rank in parallel. After the first failure, and when the run is halted,
/// nothing new is written and what is in flight ends. Whether to go on.
async fn write_rank(
    job: &Job,
    scene: &Scene,
    rank: &[&ObjectPlan],
    fence: &Fence,
    timeout: Duration,
    progress: &mut Progress,
) -> bool {
    let mut waiting = rank.iter();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < PARALLEL && progress.errors.is_empty() && !job.is_halted() {
            let Some(object) = waiting.next() else { break };
            if let Err(error) = fence.check() {
                progress.errors.push(error);
                break;
            }
            running.push(async move {
                (object.id.clone(), write(job, scene, object, fence, timeout).await)
            });
        }
        let Some((id, result)) = running.next().await else { break };
        match result {
            Ok(written) => {
                job.events.send(EventKind::Wrote { object: id.clone(), verb: written.verb });
                progress.written.insert(id, written);
            }
            Err(error) => progress.errors.push(error.in_target(&job.target.name)),
        }
    }
    if progress.errors.is_empty() && waiting.next().is_some() {
        progress.errors.push(job.halted());
    }
    progress.errors.is_empty()
}

/// Writes one object. When its live state moved since the plan it is planned again: the same
/// change goes ahead, another one stops it.
async fn write(
    job: &Job,
    scene: &Scene,
    planned: &ObjectPlan,
    fence: &Fence,
    timeout: Duration,
) -> Result<Written, Error> {
    let id = &planned.id;
    let resource = match &planned.resource {
        Some(resource) => resource.clone(),
        None => served(job, planned).await?,
    };
    if let Action::Recreate(_) = planned.action {
        return recreate(job, scene, planned, &resource, fence, timeout).await;
    }
    let mut plan = planned.clone();
    for _ in 0..TRIES {
        match attempt(job, scene, &plan, &resource).await? {
            Some(written) if scene.made.contains(id) => {
                return Ok(Written { verb: Verb::Created, ..written });
            }
            Some(written) => return Ok(written),
            None => {
                let Some(live) = job.get(&resource, id).await? else {
                    return Err(moved(id, "it was deleted since the plan"));
                };
                let again = scene.again(id, &resource, &live).await?.plan;
                if again.basis.uid != plan.basis.uid && plan.basis.uid.is_some() {
                    return Err(moved(id, "it was deleted and recreated since the plan"));
                }
                match again.action {
                    // Someone else brought it where it should be.
                    Action::Unchanged => {
                        let verb = Verb::Unchanged;
                        return Ok(Written::of(scene, verb, resource, live));
                    }
                    Action::Change if again.diff.changes == planned.diff.changes => {}
                    // The config hash may be all that differs between two plans of one change.
                    Action::Create | Action::Change | Action::Recreate(_) => {
                        return Err(moved(id, "another change would be made than was planned"));
                    }
                    Action::Stopped(_) | Action::Terminating(_) | Action::Refused(_) => {
                        return Err(again.blocker().unwrap_or_else(|| moved(id, "it changed")));
                    }
                }
                plan = again;
            }
        }
    }
    Err(moved(id, "it keeps changing"))
}

pub(super) fn moved(id: &ObjectId, why: &str) -> Error {
    Error::new(Exit::Blocked, "moved between plan and apply")
        .on(id)
        .because(why)
        .hint("look at the new plan with `mcd plan`, then apply again")
}

/// One attempt on live as the plan saw it. None when live moved.
async fn attempt(
    job: &Job,
    scene: &Scene,
    plan: &ObjectPlan,
    resource: &Resource,
) -> Result<Option<Written>, Error> {
    // The calls for one object belong together: a run that is halted ends after them.
    let job = &job.uncancelled();
    let id = &plan.id;
    if plan.handling == Handling::CreateOnly && job.get(resource, id).await?.is_some() {
        return Ok(None);
    }
    let mut version = plan.basis.resource_version.clone();
    let ownership = &plan.ownership;
    let takes = !ownership.take.is_empty() || !ownership.marks.is_empty();
    let items = !ownership.rekeyed.is_empty();
    if takes || items || !ownership.relinquish.is_empty() {
        let Some(live) = job.get(resource, id).await? else { return Ok(None) };
        if version_of(&live) != version {
            return Ok(None);
        }
        let Some(live) = own(job, plan, resource, live).await? else { return Ok(None) };
        version = version_of(&live);
    }
    if !ownership.emptied.is_empty() {
        // Left out once, which removes what is in them; sent as they are they would be refused.
        let mut without = plan.clone();
        for path in &ownership.emptied {
            remove_path(&mut without.manifest, path);
        }
        let sent = send(job, &without, resource, version).await?;
        let Some(sent) = sent else { return Ok(None) };
        version = version_of(&sent.object);
    }
    let Some(applied) = send(job, plan, resource, version).await? else { return Ok(None) };
    let answer = own_the_rest(job, plan, resource, applied.object).await?;
    let answer = give_up(job, plan, resource, answer).await?;
    let verb = if applied.created { Verb::Created } else { Verb::Configured };
    Ok(Some(Written::of(scene, verb, resource.clone(), answer)))
}

fn version_of(live: &Value) -> Option<String> {
    live["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

/// Takes and gives up what the plan says, and answers the object as it is then. None when live
/// moved.
async fn own(
    job: &Job,
    plan: &ObjectPlan,
    resource: &Resource,
    mut live: Value,
) -> Result<Option<Value>, Error> {
    let id = &plan.id;
    let manager = job.names.manager.as_str();
    let patches: [&dyn Fn(&Value) -> Option<Value>; 3] = [
        &|live| {
            let marks = plan.ownership.marks.iter().filter(|mark| mark.get(live).is_some());
            let marks: Vec<FieldPath> = marks.cloned().collect();
            take(live, &to_take(plan, live), &marks, manager, &now(job))
        },
        &|live| relinquish(live, &plan.ownership.relinquish, manager),
        &|live| take_items(live, &plan.ownership.rekeyed, manager),
    ];
    for patch in patches {
        let Some(patch) = patch(&live) else { continue };
        let (ns, name) = (id.namespace.as_deref(), &id.name);
        match job.cluster.json_patch(resource, ns, name, &patch, manager, false).await {
            Ok(answer) => live = answer,
            Err(error) if is_moved(&error.kind) => return Ok(None),
            Err(error) => return Err(job.failed(error, Some(id))),
        }
    }
    Ok(Some(live))
}

/// The entries that the plan takes, as far as they are there.
fn to_take(plan: &ObjectPlan, live: &Value) -> Vec<usize> {
    let all = entries(live);
    let taken = all.iter().filter(|entry| plan.ownership.take.contains(&entry.who()));
    taken.map(|entry| entry.index).collect()
}

/// One apply of the manifest. None when live moved.
async fn send(
    job: &Job,
    plan: &ObjectPlan,
    resource: &Resource,
    version: Option<String>,
) -> Result<Option<Applied>, Error> {
    let id = &plan.id;
    let mut body = plan.manifest.clone();
    if let (Some(version), Some(metadata)) =
        (version, body.get_mut("metadata").and_then(Value::as_object_mut))
    {
        metadata.insert("resourceVersion".into(), json!(version));
        // Alone, a resourceVersion would make an object anew that is gone (A4).
        metadata.insert("uid".into(), json!(plan.basis.uid));
    }
    let manager = job.names.manager.as_str();
    let how = Apply { manager, force: plan.ownership.force, dry_run: false };
    match job.cluster.apply(resource, id.namespace.as_deref(), &id.name, &body, how).await {
        Ok(applied) => Ok(Some(applied)),
        Err(error) if is_moved(&error.kind) => Ok(None),
        // It appeared since the plan, or someone's fields did.
        Err(error)
            if matches!(error.kind, CallErrorKind::Refused(Refusal::Conflict(_)))
                && !plan.ownership.force =>
        {
            Ok(None)
        }
        Err(error) => Err(job.failed(error, Some(id))),
    }
}

/// An object without managedFields has no owner to take from until the apply, for which the server
/// makes one up (`before-first-apply`). It is taken then, and the manifest applied once more, which
/// drops what it lacks.
async fn own_the_rest(
    job: &Job,
    plan: &ObjectPlan,
    resource: &Resource,
    answer: Value,
) -> Result<Value, Error> {
    let mut live = answer;
    let mut taken = false;
    for _ in 0..TRIES {
        if !taken && to_take(plan, &live).is_empty() {
            return Ok(live);
        }
        if let Some(owned) = own(job, plan, resource, live.clone()).await? {
            taken = true;
            if let Some(applied) = send(job, plan, resource, version_of(&owned)).await? {
                return Ok(applied.object);
            }
        }
        match job.get(resource, &plan.id).await? {
            Some(newer) => live = newer,
            None => return Ok(live),
        }
    }
    Err(moved(&plan.id, "it keeps changing"))
}

/// What is left to others is sent when the object, or the item of a list, is new, and then given
/// up: the next apply, which omits it, must not reset what others have decided (A5.2).
pub(super) async fn give_up(
    job: &Job,
    plan: &ObjectPlan,
    resource: &Resource,
    answer: Value,
) -> Result<Value, Error> {
    let manager = job.names.manager.as_str();
    let mut live = answer;
    for _ in 0..TRIES {
        let Some(own) = our_entry(&live, manager) else { return Ok(live) };
        let paths: Vec<FieldPath> =
            plan.leaves.iter().filter_map(|path| own.fields.spelled(path)).collect();
        let Some(patch) = relinquish(&live, &paths, manager) else { return Ok(live) };
        let (ns, name) = (plan.id.namespace.as_deref(), &plan.id.name);
        match job.cluster.json_patch(resource, ns, name, &patch, manager, false).await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_moved(&error.kind) => match job.get(resource, &plan.id).await? {
                Some(newer) => live = newer,
                None => return Ok(live),
            },
            Err(error) => return Err(job.failed(error, Some(&plan.id))),
        }
    }
    Ok(live)
}

fn is_moved(kind: &CallErrorKind) -> bool {
    matches!(kind, CallErrorKind::Refused(Refusal::Moved | Refusal::NotFound))
}

fn now(job: &Job) -> String {
    job.cluster.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Waits until the definitions of a rank are served, then reads discovery again.
async fn establish(job: &Job, rank: &[&ObjectPlan], progress: &Progress) -> Result<(), Error> {
    let definitions: Vec<Subject> = rank
        .iter()
        .filter(|o| o.gvk.kind == "CustomResourceDefinition")
        .filter_map(|o| Some(progress.written.get(&o.id)?.subject(&o.id)))
        .collect();
    if definitions.is_empty() {
        return Ok(());
    }
    wait(job, &definitions, ESTABLISH).await.map_err(|(error, _)| error)?;
    job.cluster.refresh_discovery().await.map_err(|e| job.failed(e, None))?;
    Ok(())
}

/// The resource of a kind that this very apply has defined. Discovery follows a definition by some
/// milliseconds (A11.6), behind several API servers by more.
async fn served(job: &Job, plan: &ObjectPlan) -> Result<Resource, Error> {
    let deadline = Instant::now() + ESTABLISH;
    loop {
        let discovery = job.cluster.discovery().await.map_err(|e| job.failed(e, Some(&plan.id)))?;
        if let Some(resource) = discovery.resolve(&plan.gvk) {
            return Ok(resource.clone());
        }
        if job.is_halted() {
            return Err(job.halted());
        }
        if Instant::now() >= deadline {
            return Err(Error::new(Exit::Failed, "its kind is not served although it is defined")
                .on(&plan.id)
                .hint("check the versions of the CustomResourceDefinition"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        job.cluster.refresh_discovery().await.map_err(|e| job.failed(e, Some(&plan.id)))?;
    }
}
