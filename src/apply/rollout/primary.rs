//! The step `primary`: the workloads themselves become the new release.

use super::super::execute::tidy;
use super::super::prune::prune;
use super::set::{Put, Set, conclude, put};
use super::work::Work;
use crate::cluster::state::ReleaseState;
use crate::error::Error;
use crate::event::Verb;
use crate::plan::Action;

/// Applies the whole set of the release. Once all of it is healthy, what left the manifests goes,
/// and the release is the active one. Variants stay: `clean` and `abort` know them.
pub(super) async fn primary(work: &mut Work) -> Result<(), Error> {
    let Some(number) = work.open()?.progress.release else { return Ok(()) };
    let variants = work.open()?.header.variants.clone();
    let set = Set::load(&work.job, number).await?.labelled(&variants)?;
    let put = put(work, &set.job, &set.rendered, set.options, |observed, progress| {
        for object in &observed.plan.objects {
            if matches!(object.action, Action::Create) && object.basis.uid.is_none() {
                progress.created.insert(object.id.clone());
            }
        }
    });
    let Put { observed, jobs } = put.await?;
    conclude(work, jobs);
    let plan = &observed.plan;
    let going = &plan.prune.sweep.delete;
    let mut failed = None;
    if !going.is_empty() {
        let time = Some(work.time_left());
        let besides = set.options.prune.besides;
        let pruned = prune(&set.job, &work.ledger.record, going, besides, &work.fence, time).await;
        for id in &pruned.deleted {
            work.written.insert(id.clone(), Verb::Deleted);
        }
        work.ledger.record.inventory.retain(|id, _| !pruned.gone.contains(id));
        failed = pruned.error;
    }
    if let Some(error) = failed {
        work.save().await?;
        return Err(error);
    }
    activate(work, number, &observed).await
}

/// The release is what the target runs.
async fn activate(
    work: &mut Work,
    number: u64,
    observed: &super::super::observe::Observed,
) -> Result<(), Error> {
    let now = work.job.cluster.now();
    let variants = work.open()?.progress.variants.clone();
    let plan = &observed.plan;
    let record = &mut work.ledger.record;
    // What neither the manifests nor the cluster have any more is nobody's.
    record.inventory.retain(|id, _| {
        variants.contains(id)
            || plan.objects.iter().any(|object| object.id == *id)
            || plan.prune.left().any(|left| left == id)
    });
    let superseded = record.active.filter(|old| *old != number);
    let Some(mut summary) = record.release(number).cloned() else { return Ok(()) };
    let written = work.written.values().filter(|verb| **verb != Verb::Deleted).count();
    let deleted = work.written.len() - written;
    summary.state = ReleaseState::Active;
    summary.finished = Some(now);
    summary.message = Some(match deleted {
        0 => format!("{written} written"),
        n => format!("{written} written, {n} deleted"),
    });
    record.note(summary.clone());
    work.save().await?;
    tidy(&work.job, &work.ledger.record, &summary, superseded).await;
    Ok(())
}
