//! Applies the plan of one target. The order of the writes makes a crash safe at every point
//! (design §7): namespace, lease, key, release, record with the union of old and new, objects,
//! record; where something is pruned, the wait for health, the deletes, and the record once more. Whoever comes after a crash finds a record that knows everything that may exist, and
//! goes on from there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::adopt;
use super::inventory::{intend, placed, remember, subjects};
use super::job::Job;
use super::ledger::Ledger;
use super::namespaces::ensure_namespaces;
use super::observe::{Observed, PlanOptions};
use super::prune::prune;
use super::restore::Restored;
use super::settle::settle;
use super::wait::{Look, Subject, wait_closely};
use super::write::{Progress, write_all};
use crate::cluster::state::lease::Fence;
use crate::cluster::state::{About, Digests, Record, Release, ReleaseState, ReleaseSummary};
use crate::error::Error;
use crate::event::{Phase, Verb};
use crate::manifest::ObjectId;
use crate::plan::TargetPlan;
use crate::render::Rendered;

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
    observed.scene.made = ensure_namespaces(job, &observed, &BTreeSet::new()).await?;
    let guard = job.lock().await?;
    let moving = observed.moving.clone();
    let left = match &moving {
        Some(moving) => moving.lock(job).await?,
        None => None,
    };
    let job = &observed.scene.job.clone();
    let result = run(job, rendered, observed, options, &guard.fence(), applied).await;
    if let (Ok(_), Some(moving)) = (&result, &moving)
        && applied.errors.is_empty()
        && let Err(error) = moving.leave(&job.uncancelled(), left).await
    {
        applied.errors.push(error);
    }
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
    let observed = settle(job, rendered, observed, &key, options.plan).await?;
    let plan = &observed.plan;
    let mut ledger = Ledger::new(job, observed.record.clone());
    if let (None, Some(arriving)) = (&observed.record, &observed.scene.record) {
        ledger.record = arriving.clone();
    }
    if let (None, Some(moving)) = (&observed.record, &observed.moving) {
        moving.bring(job, fence).await?;
    }
    let listed = job.store.releases().await?;
    // A release that is still staged belongs to a run that died: whoever holds the lock knows
    // that it will never end.
    ledger.record.fail_staged(job.cluster.now());
    job.store.repair(Some(&ledger.record), &listed).await?;
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
    let mut staged = job.store.stage(release, Some(&ledger.record), &listed).await?;
    intend(&mut ledger.record, &observed);
    ledger.record.note(staged.summary.clone());
    adopt::intend(&mut ledger.record, plan);
    ledger.write(job).await?;

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
        && let Err(error) = adopt::retire(job, &mut ledger.record).await
    {
        progress.errors.push(error);
    }
    let jobs = remember(&mut ledger.record, &observed, &progress);
    if progress.errors.is_empty() {
        // What neither the manifests nor the cluster have any more is nobody's.
        let left: BTreeSet<&ObjectId> = plan.prune.left().collect();
        let desired: BTreeSet<&ObjectId> = plan.objects.iter().map(|o| &o.id).collect();
        ledger.record.inventory.retain(|id, _| left.contains(id) || desired.contains(id));
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
    let superseded = ledger.record.active.filter(|old| *old != summary.number);
    ledger.record.note(summary.clone());
    if let Err(error) = ledger.write(job).await {
        // What stopped the writes is the reason; that the record cannot say so comes after it.
        progress.errors.push(error);
        let first = progress.errors.remove(0);
        applied.errors.append(&mut progress.errors);
        return Err(first);
    }
    tidy(job, &ledger.record, &summary, superseded).await;
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
        sweep_up(job, plan, &mut ledger, options, fence, applied).await?;
    }
    Ok(done)
}

/// Deletes what left the manifests, and takes it out of the record. Only once what stays is healthy:
/// until then the old pods may run, with the configuration that they know, and what was renamed
/// may serve under its old name. Without waiting nobody knows, and it goes at once.
async fn sweep_up(
    job: &Job,
    plan: &TargetPlan,
    ledger: &mut Ledger,
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
    let pruned = prune(job, &ledger.record, going, besides, fence, wait).await;
    for id in &pruned.deleted {
        applied.written.insert(id.clone(), Verb::Deleted);
    }
    ledger.record.inventory.retain(|id, _| !pruned.gone.contains(id));
    if let (Some(summary), false) = (&mut applied.release, pruned.deleted.is_empty()) {
        let written = summary.message.take().unwrap_or_default();
        summary.message = Some(format!("{written}, {} deleted", pruned.deleted.len()));
        ledger.record.note(summary.clone());
    }
    applied.errors.extend(pruned.error);
    // A lost lease is said by what it stopped.
    fence.check()?;
    ledger.write(job).await
}

/// Brings the releases in step with the record, which has the last word, and deletes the oldest.
/// What fails here is made good by the next run.
pub(super) async fn tidy(
    job: &Job,
    record: &Record,
    summary: &ReleaseSummary,
    superseded: Option<u64>,
) {
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
