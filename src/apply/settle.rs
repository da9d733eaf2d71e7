//! The plan that is carried out is the one that was approved, or one that makes the same changes.

use std::collections::BTreeSet;

use super::job::Job;
use super::observe::{Observed, PlanOptions, observe};
use super::rollout::blocked;
use crate::cluster::state::Key;
use crate::error::{Error, Exit};
use crate::manifest::ObjectId;
use crate::plan::{Action, ObjectPlan, TargetPlan};
use crate::render::Rendered;

/// The plan that is carried out: the approved one, or, when someone wrote in between, a new one
/// that makes the same changes.
pub(super) async fn settle(
    job: &Job,
    rendered: &Rendered,
    observed: Observed,
    key: &Key,
    options: PlanOptions,
) -> Result<Observed, Error> {
    let current = job.store.record().await?;
    let held = current.as_ref().and_then(|(record, _)| blocked(record, job.cluster.now()));
    if let Some(error) = held {
        return Err(error.in_target(&job.target.name));
    }
    let known = observed.record.as_ref().map(|(_, version)| version);
    let mut same = current.as_ref().map(|(_, version)| version) == known;
    if let Some(moving) = &observed.moving {
        same &= moving.stands(job).await?;
    }
    if same && key.bytes() == observed.key.bytes() {
        return Ok(observed);
    }
    let again = observe(job, rendered, options)
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
