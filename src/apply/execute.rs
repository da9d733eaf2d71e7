//! Applies the plan of one target. The order of the writes makes a crash safe at every point
//! (design §7): namespace, lease, key, release, record with the union of old and new, objects,
//! record; where something is pruned, the wait for health, the deletes, and the record once more. Whoever comes after a crash finds a record that knows everything that may exist, and
//! goes on from there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::adopt;
use super::job::Job;
use super::observe::{Observed, PlanOptions, observe};
use super::prune::prune;
use super::restore::Restored;
use super::wait::{Look, Subject, wait_closely};
use super::write::{Progress, untouched, write_all};
use crate::cluster::state::lease::Fence;
use crate::cluster::state::{
    About, Digests, Key, Record, Release, ReleaseState, ReleaseSummary, ResourceVersion,
};
use crate::cluster::{Apply, CallErrorKind, Refusal};
use crate::error::{Error, Exit};
use crate::event::{Phase, Verb};
use crate::manifest::{Object, ObjectId};
use crate::plan::{Action, Handling, ObjectPlan, Prepared, TargetPlan};
use crate::render::Rendered;

/// The field manager of namespaces that are made on the way.
const NAMESPACE_MANAGER: &str = "mcd";

/// How to apply.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// Wait for health.
    pub wait: bool,
    /// How long a target may take to become healthy.
    pub timeout: Duration,
    /// How the plan was made, to make it again when something moved.
    pub plan: PlanOptions,
    /// Where the release comes from.
    pub about: About,
    /// The release that is gone back to; none: the manifests are applied.
    pub restored: Option<Restored>,
}

/// What an apply came to. Whatever happened before an error is said too.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// What was written.
    pub written: BTreeMap<ObjectId, Verb>,
    /// How many objects were left as they are.
    pub unchanged: usize,
    /// The release that is active now.
    pub release: Option<ReleaseSummary>,
    /// It was made by this run: there was something to do.
    pub is_new: bool,
    /// The last look at the target's health.
    pub look: Option<Look>,
    /// What stopped it.
    pub errors: Vec<Error>,
}

/// Applies a plan. `rendered` is what the plan was made from.
pub async fn apply(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    options: &ApplyOptions,
) -> Applied {
    let mut applied = Applied::default();
    let plan = &observed.plan;
    applied.unchanged = plan.counts().unchanged;
    if !plan.has_changes() && plan.unfinished.is_none() {
        // A no-op makes no release, and still says how the whole set stands.
        let record = observed.record.as_ref().map(|(record, _)| record);
        applied.release = record.and_then(Record::active_release).cloned();
        let subjects = subjects(&observed, &Progress::default());
        health(job, &subjects, options, &mut applied).await;
        applied.errors.extend(plan.unread());
        return applied;
    }
    let unread = plan.unread();
    if let Err(error) = locked(job, rendered, observed, options, &mut applied).await {
        applied.errors.push(error);
    }
    applied.errors.extend(unread);
    applied
}

async fn locked(
    job: &Job,
    rendered: &Rendered,
    mut observed: Observed,
    options: &ApplyOptions,
    applied: &mut Applied,
) -> Result<(), Error> {
    observed.scene.made = ensure_namespaces(job, &observed).await?;
    let guard = job.lock().await?;
    let result = run(job, rendered, observed, options, &guard.fence(), applied).await;
    let released = guard.release().await;
    let done = result?;
    if let Err(error) = released {
        job.events.warn(None, format!("the lock was not given up, and ends by itself: {error}"));
    }
    // The lock is for writing; nobody has to wait for our wait.
    if !done.looked {
        health(job, &done.subjects, options, applied).await;
    }
    conclude(job, &done, applied).await
}

/// What was applied.
struct Done {
    /// What to look at.
    subjects: Vec<Subject>,
    /// Jobs that go by their TTL, with what is known of them once they are complete.
    jobs: Vec<(ObjectId, Digests)>,
    /// Health was waited for already.
    looked: bool,
}

/// Everything under the lock.
async fn run(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    options: &ApplyOptions,
    fence: &Fence,
    applied: &mut Applied,
) -> Result<Done, Error> {
    let key = job.store.ensure_key(observed.key.clone()).await?;
    let observed = settle(job, rendered, observed, &key, options).await?;
    let plan = &observed.plan;
    let (mut record, mut version) = match &observed.record {
        Some((record, version)) => (record.clone(), Some(version.clone())),
        None => (Record::new(&job.names, &job.target.namespace), None),
    };
    let listed = job.store.releases().await?;
    // A release that is still staged belongs to a run that died: whoever holds the lock knows
    // that it will never end.
    record.fail_staged(job.cluster.now());
    job.store.repair(Some(&record), &listed).await?;
    let release = Release {
        schema: crate::cluster::state::release::SCHEMA,
        number: 0,
        app: job.target.app.clone(),
        target: job.target.name.clone(),
        namespace: job.target.namespace.clone(),
        about: About { started: job.cluster.now(), ..options.about.clone() },
        rollback_of: options.restored.as_ref().map(|restored| restored.number),
        settings: match &options.restored {
            Some(restored) => restored.settings.clone(),
            None => job.target.settings(),
        },
        objects: placed(rendered, &observed),
    };
    fence.check()?;
    let mut staged = job.store.stage(release, Some(&record), &listed).await?;
    // What was there and is only made when it is absent is somebody else's.
    let theirs = |p: &&Prepared| {
        let id = &p.object.id;
        p.handling == Handling::CreateOnly
            && plan.objects.iter().any(|o| o.id == *id && o.basis.uid.is_some())
            && !record.inventory.contains_key(id)
    };
    let ours: Vec<&Object> =
        observed.scene.prepared.iter().filter(|p| !theirs(p)).map(|p| &p.object).collect();
    record.intend(ours);
    // What is made anew has another uid than what is known: should the run die before it is known,
    // the object is still ours, by label and manager.
    let anew = |o: &&ObjectPlan| matches!(o.action, Action::Create | Action::Recreate(_));
    for object in plan.objects.iter().filter(anew) {
        if let Some(member) = record.inventory.get_mut(&object.id) {
            member.uid = None;
        }
    }
    // A workload whose configuration changes and that did not know of one: should the run die
    // between the two writes, the next one finds a hash that is not the right one.
    for (id, _) in observed.configs.iter().filter(|(_, config)| config.always) {
        if let Some(member) = record.inventory.get_mut(id) {
            member.config.get_or_insert_default();
        }
    }
    record.note(staged.summary.clone());
    adopt::intend(&mut record, plan);
    version = Some(job.store.write_record(&record, version.as_ref()).await?);

    job.events.phase(Phase::Applying);
    let mut progress = write_all(job, &observed.scene, &plan.objects, fence, options.timeout).await;
    // What follows is written also when the run was halted: it says how far the run came.
    let job = &job.uncancelled();
    for (id, written) in &progress.written {
        applied.written.insert(id.clone(), written.verb);
    }
    if let Err(error) = fence.check() {
        return Err(progress.errors.into_iter().next().unwrap_or(error));
    }
    if progress.errors.is_empty()
        && let Err(error) = job.store.complete(&mut staged).await
    {
        progress.errors.push(error);
    }
    if progress.errors.is_empty()
        && let Err(error) = adopt::retire(job, &mut record).await
    {
        progress.errors.push(error);
    }
    let jobs = remember(&mut record, &observed, &progress);
    if progress.errors.is_empty() {
        // What neither the manifests nor the cluster have any more is nobody's.
        let left: BTreeSet<&ObjectId> = plan.prune.left().collect();
        let desired: BTreeSet<&ObjectId> = plan.objects.iter().map(|o| &o.id).collect();
        record.inventory.retain(|id, _| left.contains(id) || desired.contains(id));
    }
    let mut summary = staged.summary;
    summary.finished = Some(job.cluster.now());
    summary.state = match progress.errors.first() {
        None => ReleaseState::Active,
        Some(_) => ReleaseState::Failed,
    };
    summary.message = Some(match progress.errors.first() {
        None => format!("{} written", progress.written.len()),
        Some(error) => job.scrubber.scrub(&format!("{error:#}")),
    });
    let superseded = record.active.filter(|old| *old != summary.number);
    record.note(summary.clone());
    let version = match job.store.write_record(&record, version.as_ref()).await {
        Ok(version) => version,
        Err(error) => {
            // What stopped the writes is the reason; that the record cannot say so comes after it.
            progress.errors.push(error);
            let first = progress.errors.remove(0);
            applied.errors.append(&mut progress.errors);
            return Err(first);
        }
    };
    tidy(job, &record, &summary, superseded).await;
    if !progress.errors.is_empty() {
        let first = progress.errors.remove(0);
        applied.errors.append(&mut progress.errors);
        return Err(first);
    }
    applied.release = Some(summary);
    applied.is_new = true;
    let mut done = Done { subjects: subjects(&observed, &progress), jobs, looked: false };
    if !plan.prune.sweep.delete.is_empty() {
        health(job, &done.subjects, options, applied).await;
        done.looked = true;
        sweep_up(job, plan, record, &version, options, fence, applied).await?;
    }
    Ok(done)
}

/// Deletes what left the manifests, and takes it out of the record. Only once what stays is healthy:
/// until then the old pods may run, with the configuration that they know, and what was renamed
/// may serve under its old name. Without waiting nobody knows, and it goes at once.
async fn sweep_up(
    job: &Job,
    plan: &TargetPlan,
    mut record: Record,
    version: &ResourceVersion,
    options: &ApplyOptions,
    fence: &Fence,
    applied: &mut Applied,
) -> Result<(), Error> {
    let going = &plan.prune.sweep.delete;
    if let Some(error) = applied.errors.pop() {
        let names: Vec<String> = going.iter().take(3).map(|c| c.id.to_string()).collect();
        let more = going.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let stays = format!(
            "{}{more} left the manifests and will be deleted by an apply that ends healthy, or \
             with `--wait=false`",
            names.join(", ")
        );
        applied.errors.push(error.hint(stays));
        return Ok(());
    }
    fence.check()?;
    let wait = options.wait.then_some(options.timeout);
    let besides = options.plan.prune.besides;
    let pruned = prune(job, &record, going, besides, fence, wait).await;
    for id in &pruned.deleted {
        applied.written.insert(id.clone(), Verb::Deleted);
    }
    record.inventory.retain(|id, _| !pruned.gone.contains(id));
    if let (Some(summary), false) = (&mut applied.release, pruned.deleted.is_empty()) {
        let written = summary.message.take().unwrap_or_default();
        summary.message = Some(format!("{written}, {} deleted", pruned.deleted.len()));
        record.note(summary.clone());
    }
    applied.errors.extend(pruned.error);
    // A lost lease is said by what it stopped.
    fence.check()?;
    job.store.write_record(&record, Some(version)).await.map(|_| ())
}

/// Brings the releases in step with the record, which has the last word, and deletes the oldest.
/// What fails here is made good by the next run.
async fn tidy(job: &Job, record: &Record, summary: &ReleaseSummary, superseded: Option<u64>) {
    let old = superseded.and_then(|old| record.release(old));
    let mut result = Ok(());
    for summary in [Some(summary), old].into_iter().flatten() {
        result = result.and(job.store.mark(summary).await);
    }
    let result = result.and(job.store.prune_releases(record.active).await.map(|_| ()));
    if let Err(error) = result {
        job.events.warn(None, format!("the list of releases is not up to date: {error}"));
    }
}

/// The objects of the release: as rendered, in their namespaces, so that each Secret is kept in
/// the namespace that it is for.
fn placed(rendered: &Rendered, observed: &Observed) -> Vec<Value> {
    let namespace = |object: &Object| {
        let same = |p: &&Prepared| {
            p.object.origin == object.origin
                && (&p.object.id.group, &p.object.id.kind, &p.object.id.name)
                    == (&object.id.group, &object.id.kind, &object.id.name)
        };
        observed.scene.prepared.iter().find(same).and_then(|p| p.object.id.namespace.clone())
    };
    let mut objects = rendered.objects.clone();
    for object in &mut objects {
        if object.id.namespace.is_none()
            && let Some(namespace) = namespace(object)
        {
            object.set_namespace(Some(&namespace));
        }
    }
    objects.into_iter().map(|object| object.value).collect()
}

/// The plan that is carried out: the approved one, or, when someone wrote in between, a new one
/// that makes the same changes.
async fn settle(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    key: &Key,
    options: &ApplyOptions,
) -> Result<Observed, Error> {
    let current = job.store.record().await?;
    let known = observed.record.as_ref().map(|(_, version)| version);
    let same = current.as_ref().map(|(_, version)| version) == known;
    if same && key.bytes() == observed.key.bytes() {
        return Ok(observed);
    }
    let again = observe(job, rendered, options.plan)
        .await
        .map_err(|mut errors| errors.drain(..).next().unwrap_or_else(|| job.halted()))?;
    match difference(&observed.plan, &again.plan) {
        None => Ok(again),
        Some(what) => Err(Error::new(Exit::Blocked, "the plan no longer holds")
            .in_target(&job.target.name)
            .because(format!("someone applied in between, and now {what}"))
            .hint("look at the new plan with `mcd plan`, then apply again")),
    }
}

/// The first object for which two plans differ.
fn difference(approved: &TargetPlan, again: &TargetPlan) -> Option<String> {
    let going = |plan: &TargetPlan| -> BTreeSet<(ObjectId, String)> {
        let delete = plan.prune.sweep.delete.iter();
        delete.map(|c| (c.id.clone(), c.uid.clone())).collect()
    };
    if let Some((id, _)) = going(again).difference(&going(approved)).next() {
        return Some(format!("{id} would be deleted"));
    }
    let changes = |o: &&ObjectPlan| !matches!(o.action, Action::Unchanged);
    let mut old = approved.objects.iter().filter(changes);
    let mut new = again.objects.iter().filter(changes);
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (Some(a), Some(b))
                if a.id == b.id
                    && a.action.word() == b.action.word()
                    && a.diff.changes == b.diff.changes => {}
            (Some(a), _) => return Some(format!("{} would change differently", a.id)),
            (None, Some(b)) => return Some(format!("{} would change too", b.id)),
        }
    }
}

/// Makes the namespaces that objects and state go into: as the set says, when it brings them, and
/// bare when the application says so. Returns those it made.
async fn ensure_namespaces(job: &Job, observed: &Observed) -> Result<BTreeSet<ObjectId>, Error> {
    let target = &job.target;
    let mut made = BTreeSet::new();
    let mut wanted = vec![target.state_namespace.clone()];
    if target.namespace != target.state_namespace {
        wanted.push(target.namespace.clone());
    }
    for name in wanted {
        let id = ObjectId {
            group: String::new(),
            kind: "Namespace".to_owned(),
            namespace: None,
            name: name.clone(),
        };
        let creates = target.create_namespace && name == target.namespace;
        let mut namespaces = super::wait::core("v1", "Namespace", "namespaces");
        namespaces.namespaced = false;
        match job.get(&namespaces, &id).await {
            Ok(Some(live)) if live["metadata"]["deletionTimestamp"].is_null() => continue,
            Ok(Some(_)) => {
                return Err(Error::new(Exit::Blocked, "is being deleted")
                    .in_target(&target.name)
                    .on(&id)
                    .hint("run the command again when it is gone"));
            }
            Ok(None) => {}
            // Whoever may not read namespaces may still write into one, and the dry runs say
            // whether it is there.
            Err(error) if error.exit() == Exit::Unreachable => {
                if !creates || is_there(observed, &name) {
                    continue;
                }
            }
            Err(error) => return Err(error),
        }
        let manager = job.names.manager.as_str();
        let sent = match observed.plan.objects.iter().find(|o| o.id == id) {
            Some(own) => {
                let how = Apply { manager, force: false, dry_run: false };
                let applied = job.cluster.apply(&namespaces, None, &name, &own.manifest, how).await;
                applied.map(|_| ())
            }
            None if creates => {
                // Not as the application: the labels that the server adds would count as its own.
                let body = json!({
                    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}
                });
                let sent = job.cluster.create(&namespaces, None, &body, NAMESPACE_MANAGER).await;
                sent.map(|_| ())
            }
            None => {
                let error =
                    Error::new(Exit::Manifest, "does not exist").in_target(&target.name).on(&id);
                return Err(if name == target.namespace {
                    error.hint("set `createNamespace: true`, or create it first")
                } else {
                    error.hint("create it first: mcd keeps its records there")
                });
            }
        };
        match sent {
            Ok(()) => {
                made.insert(id);
            }
            Err(error) if matches!(error.kind, CallErrorKind::Refused(Refusal::AlreadyExists)) => {}
            Err(error) => return Err(job.failed(error, Some(&id))),
        }
    }
    Ok(made)
}

/// Whether the server took a dry run in the namespace.
fn is_there(observed: &Observed, namespace: &str) -> bool {
    let inside = |o: &&ObjectPlan| o.id.namespace.as_deref() == Some(namespace);
    observed.plan.objects.iter().filter(inside).any(|o| o.unverified.is_none())
}

/// Writes into the record what is known of each object now. What is only known once a Job is
/// complete is returned: it may go by its TTL at any time, and only one that did its work is done.
fn remember(
    record: &mut Record,
    observed: &Observed,
    progress: &Progress,
) -> Vec<(ObjectId, Digests)> {
    let mut jobs = Vec::new();
    let server = &observed.plan.server_version;
    for object in &observed.plan.objects {
        let (uid, live) = match progress.written.get(&object.id) {
            Some(written) => (written.uid.clone(), written.digest),
            None => match observed.unchanged.get(&object.id) {
                Some(settled) => (object.basis.uid.clone(), settled.live),
                // Neither written nor known to be settled: its turn did not come.
                None => continue,
            },
        };
        let Some(member) = record.inventory.get_mut(&object.id) else { continue };
        member.uid = uid;
        member.config = observed.configs.get(&object.id).map(|config| config.hash.clone());
        let digests = live.map(|live| Digests {
            manifest: object.digest.to_string(),
            live: live.to_string(),
            server: server.clone(),
        });
        match digests {
            Some(digests) if is_expiring(object) => jobs.push((object.id.clone(), digests)),
            digests => member.digests = digests,
        }
    }
    jobs
}

/// Whether it is a Job that goes by itself when it is finished, well or not.
fn is_expiring(object: &ObjectPlan) -> bool {
    object.gvk.group == "batch"
        && object.gvk.kind == "Job"
        && !object.manifest["spec"]["ttlSecondsAfterFinished"].is_null()
}

/// What the health of the target is judged by: our own answers, and for the rest what the plan
/// saw.
fn subjects(observed: &Observed, progress: &Progress) -> Vec<Subject> {
    let subjects =
        observed.plan.objects.iter().filter_map(|object| match progress.written.get(&object.id) {
            Some(written) => Some(written.subject(&object.id)),
            None => untouched(object),
        });
    subjects.collect()
}

async fn health(job: &Job, subjects: &[Subject], options: &ApplyOptions, applied: &mut Applied) {
    if !options.wait {
        return;
    }
    match wait_closely(job, subjects, options.timeout).await {
        Ok(look) => applied.look = Some(look),
        Err((error, look)) => {
            applied.look = look;
            applied.errors.push(error);
        }
    }
}

/// Says in the record how the wait ended, unless another run has written since: that a release did
/// not become healthy, or that Jobs are complete.
async fn conclude(job: &Job, done: &Done, applied: &mut Applied) -> Result<(), Error> {
    let job = job.uncancelled();
    let Some(release) = &mut applied.release else { return Ok(()) };
    let healthy = applied.look.as_ref().is_some_and(Look::is_healthy);
    match applied.errors.first() {
        Some(error) => release.message = Some(job.scrubber.scrub(&error.to_string())),
        None if done.jobs.is_empty() || !healthy => return Ok(()),
        None => {}
    }
    let release = &*release;
    let say = |record: &mut Record| {
        if record.active != Some(release.number) {
            return;
        }
        record.note(release.clone());
        for (id, digests) in done.jobs.iter().filter(|_| healthy) {
            if let Some(member) = record.inventory.get_mut(id) {
                member.digests = Some(digests.clone());
            }
        }
    };
    job.store.amend(say).await
}
