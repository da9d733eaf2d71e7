//! Deletes an object and makes it anew, where its annotation says so and the server refuses the
//! change. Safe to die in between: the inventory knows the object, and the next apply makes it.

use std::time::Duration;

use tokio::time::Instant;

use super::assess::Scene;
use super::job::Job;
use super::remove::{not_gone, still_there};
use super::write::{Written, give_up, moved};
use crate::cluster::state::lease::Fence;
use crate::cluster::{Apply, Refusal, Resource};
use crate::error::Error;
use crate::event::Verb;
use crate::plan::{ObjectPlan, is_protected};

/// How long the quota may take to see that the object is gone.
const QUOTA: Duration = Duration::from_secs(30);

/// Recreates one object: deletes it with its uid, waits until it is gone, for at most `timeout`,
/// and creates it.
pub(super) async fn recreate(
    job: &Job,
    scene: &Scene,
    plan: &ObjectPlan,
    resource: &Resource,
    fence: &Fence,
    timeout: Duration,
) -> Result<Written, Error> {
    let id = &plan.id;
    let namespace = id.namespace.as_deref();
    if let Some(live) = job.get(resource, id).await? {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        if Some(uid) != plan.basis.uid.as_deref() {
            return Err(moved(id, "it was deleted and recreated since the plan"));
        }
        if is_protected(&live) {
            return Err(moved(id, "it was protected by `mcd.dev/protect` since the plan"));
        }
        // One that is going already is only waited for.
        if !live["metadata"]["deletionTimestamp"].is_string() {
            let sent = job.cluster.delete(resource, namespace, &id.name, Some(uid)).await;
            sent.map_err(|e| job.failed(e, Some(id)))?;
        }
        let later = "it is deleted and not made anew yet: the next apply does it";
        let deadline = Instant::now() + timeout;
        let gone = match still_there(job, resource, id, uid, deadline).await {
            Ok(None) => Ok(()),
            Ok(Some(finalizers)) => Err(not_gone(id, timeout, &finalizers)),
            Err(error) => Err(error),
        };
        gone.map_err(|e| e.because(later))?;
        fence.check().map_err(|e| e.because(later))?;
    }
    // From here on the object is missing: a run that is halted still makes it.
    let job = &job.uncancelled();
    let manager = job.names.manager.as_str();
    let deadline = Instant::now() + QUOTA;
    loop {
        let how = Apply { manager, force: false, dry_run: false };
        match job.cluster.apply(resource, namespace, &id.name, &plan.manifest, how).await {
            Ok(applied) => {
                let answer = give_up(job, plan, resource, applied.object).await?;
                return Ok(Written::of(scene, Verb::Recreated, resource.clone(), answer));
            }
            Err(error)
                if matches!(error.refusal(), Some(Refusal::Quota { .. }))
                    && Instant::now() < deadline =>
            {
                job.events.waiting(format!("{id}: the quota still counts the one that is gone"));
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            Err(error) => {
                let error = job.failed(error, Some(id));
                return Err(error.because("the object was deleted, and could not be made anew"));
            }
        }
    }
}
