//! Before the first write of a rollout every target gets its release and, in its record, the
//! rollout (design §7, "Stage, then roll"). From then on the record keeps others from writing, and
//! whoever has a kubeconfig can go on.

use std::collections::BTreeSet;

use super::super::inventory::placed;
use super::super::job::Job;
use super::super::ledger::Ledger;
use super::super::namespaces::ensure_namespaces;
use super::super::observe::{Observed, PlanOptions};
use super::super::settle::settle;
use super::blocked;
use super::set::settings;
use super::work::{Work, give_up};
use crate::cluster::state::lease::Fence;
use crate::cluster::state::{
    About, Header, OpenRollout, Release, ReleaseSummary, RolloutId, Stand, TargetProgress, release,
};
use crate::error::{Error, Exit};
use crate::manifest::ObjectId;
use crate::plan::Action;
use crate::render::Rendered;

/// What of a target's rollout is said by whoever stages it.
#[derive(Clone, Debug)]
pub struct Staging {
    /// What the rollout is.
    pub header: Header,
    /// Where the target begins: its steps and why these. Its releases are filled in.
    pub progress: TargetProgress,
    /// Where the release comes from.
    pub about: About,
    /// How the plan was made: its steps are planned the same way.
    pub plan: PlanOptions,
    /// Why the release repeats another one: it goes back to it.
    pub rollback_of: Option<u64>,
}

/// Stages a target that was planned. One that goes through no step, because nothing changes in it,
/// gets no release, and the rollout's record all the same.
///
/// # Errors
/// Another rollout is open, or the target is frozen (exit 6); someone applied since the plan, and
/// now something else would change (exit 6); a call fails. Then nothing is staged here.
pub async fn stage(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    staging: Staging,
) -> Result<(), Error> {
    let made = ensure_namespaces(job, &observed, &homes(&observed)).await?;
    let guard = job.lock().await?;
    let staged = locked(job, rendered, observed, staging, made, &guard.fence()).await;
    give_up(job, guard).await;
    staged
}

/// The namespaces that the set brings and that Secrets of the release are kept in: the release is
/// only whole, and can be loaded elsewhere, when they are there.
fn homes(observed: &Observed) -> BTreeSet<String> {
    let brought = |name: &&str| {
        observed.plan.objects.iter().any(|o| {
            o.id.group.is_empty()
                && o.id.kind == "Namespace"
                && o.id.name == **name
                && matches!(o.action, Action::Create)
        })
    };
    let secrets = observed.plan.objects.iter().filter(|o| o.id.is_secret());
    secrets.filter_map(|o| o.id.namespace.as_deref()).filter(brought).map(str::to_owned).collect()
}

async fn locked(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    staging: Staging,
    made: BTreeSet<ObjectId>,
    fence: &Fence,
) -> Result<(), Error> {
    let key = job.store.ensure_key(observed.key.clone()).await?;
    let observed = settle(job, rendered, observed, &key, staging.plan).await?;
    let mut ledger = Ledger::new(job, observed.record.clone());
    if let Some(error) = blocked(&ledger.record, job.cluster.now()) {
        return Err(error.in_target(&job.target.name));
    }
    let listed = job.store.releases().await?;
    // Whoever holds the lock, with no rollout open, knows that what is still staged will never end.
    ledger.record.fail_staged(job.cluster.now());
    job.store.repair(Some(&ledger.record), &listed).await?;
    let Staging { header, mut progress, about, plan, rollback_of } = staging;
    let record = &mut ledger.record;
    (progress.previous, progress.release) = (record.active, None);
    progress.since = job.cluster.now();
    progress.created.extend(made.into_iter().filter(|id| is_of(&observed, id)));
    if header.by_hand || !progress.steps.is_empty() {
        let release = Release {
            schema: release::SCHEMA,
            number: 0,
            app: job.target.app.clone(),
            target: job.target.name.clone(),
            namespace: job.target.namespace.clone(),
            about: About { started: job.cluster.now(), ..about },
            rollback_of,
            settings: settings(job, plan),
            objects: placed(rendered, &observed),
        };
        fence.check()?;
        let mut staged = job.store.stage(release, Some(record), &listed).await?;
        job.store.complete(&mut staged).await?;
        progress.release = Some(staged.summary.number);
        record.note(staged.summary);
    }
    record.rollout = Some(Box::new(OpenRollout {
        header,
        progress,
        staged: false,
        abort: None,
        approvals: Vec::new(),
    }));
    fence.check()?;
    ledger.write(&job.uncancelled()).await
}

/// Whether a namespace that was made is one of the set's own.
fn is_of(observed: &Observed, id: &ObjectId) -> bool {
    observed.plan.objects.iter().any(|object| object.id == *id)
}

/// Takes back what [`stage`] did, where nothing of the rollout was begun: the record is as if it
/// had never been, and the release is gone. Where the rollout is not open there is nothing to do.
///
/// # Errors
/// A step of it was begun: then only `abort` takes it back. Or a call fails.
pub async fn unstage(job: &Job, id: &RolloutId) -> Result<(), Error> {
    let job = &job.uncancelled();
    let record = job.store.record().await?;
    if record.is_none_or(|(record, _)| record.rollout.is_none_or(|open| open.header.id != *id)) {
        return Ok(());
    }
    let mut work = Work::enter(job, id, std::time::Duration::ZERO).await?;
    let result = forget(&mut work).await;
    work.leave().await;
    result
}

async fn forget(work: &mut Work) -> Result<(), Error> {
    let open = work.open()?;
    if open.progress.stand != Stand::Pending || open.progress.done > 0 {
        return Err(Error::new(
            Exit::Blocked,
            format!("rollout {} was begun here", open.header.id),
        )
        .in_target(&work.job.target.name)
        .hint("`mcd rollout abort` takes it back"));
    }
    let number = open.progress.release;
    work.ledger.record.rollout = None;
    work.ledger.record.releases.retain(|release: &ReleaseSummary| Some(release.number) != number);
    let record = &work.ledger.record;
    let is_new = record.inventory.is_empty()
        && record.releases.is_empty()
        && record.closed.is_none()
        && record.freeze.is_none();
    if is_new {
        // Nothing was ever here.
        work.fence.check()?;
        return work.job.store.remove().await;
    }
    work.save().await?;
    match number {
        Some(number) => work.job.store.remove_staged(number).await,
        None => Ok(()),
    }
}
