//! Takes a target back to what it was before the rollout (design §9): the previous release's set
//! applied and healthy, then the variants deleted, then what only this release made. Never what
//! existed before. Each part may be done again, so whoever comes after a crash starts over.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::execute::tidy;
use super::super::job::Job;
use super::clean::{Deletion, clean, delete};
use super::frozen;
use super::set::{Set, conclude, put};
use super::step::{StepEnd, Stepped, ended};
use super::work::{Work, joined};
use crate::cluster::state::{OpenRollout, ReleaseState, RolloutId, Stand};
use crate::error::Error;
use crate::manifest::ObjectId;
use crate::plan::{Besides, Condemned};
use crate::rollout::{Isolation, Step};

/// What of the rollout's own making goes though an apply would keep it: a claim or a definition
/// that was not there before it. A namespace stays: others may have moved in.
const OWN: Besides = Besides { namespaces: false, definitions: true, volumes: true };

/// Takes a target back. The release of the rollout is `failed` then, for `why`; the previous one is
/// active again. Of a target that is back already, or in which nothing was begun, only the record
/// is written. The rollout stays open here until it is closed. For whoever is at work in it is
/// waited as long as `wait`.
pub async fn undo(
    job: &Job,
    id: &RolloutId,
    deadline: Duration,
    wait: Duration,
    why: &str,
) -> Stepped {
    let mut work = match Work::enter_within(job, id, deadline, wait).await {
        Ok(work) => work,
        Err(error) => return Stepped::failed(error),
    };
    let result = back(&mut work, why).await;
    let stepped = match result {
        Ok(()) => Stepped::of(&work, StepEnd::Done),
        Err(error) => {
            let said = say(&mut work, &error).await;
            let error = joined(std::iter::once(error).chain(said.err()));
            Stepped::of(&work, ended(job, error))
        }
    };
    work.leave().await;
    stepped
}

/// That it is not back yet, and why.
async fn say(work: &mut Work, error: &Error) -> Result<(), Error> {
    let text = work.job.scrubber.scrub(&format!("going back: {error:#}"));
    let progress = &mut work.open_mut()?.progress;
    progress.message = Some(text);
    work.save().await
}

async fn back(work: &mut Work, why: &str) -> Result<(), Error> {
    if let Some(frozen) = frozen(&work.ledger.record, work.job.cluster.now()) {
        return Err(frozen.in_target(&work.job.target.name));
    }
    let progress = &work.open()?.progress;
    if progress.stand == Stand::Undone {
        return Ok(());
    }
    let untouched = progress.stand == Stand::Pending
        && progress.done == 0
        && progress.variants.is_empty()
        && progress.created.is_empty();
    let (release, previous) = (progress.release, progress.previous);
    let now = work.job.cluster.now();
    let progress = &mut work.open_mut()?.progress;
    if progress.stand != Stand::Undoing {
        (progress.stand, progress.since) = (Stand::Undoing, now);
        progress.interrupted = None;
        work.save().await?;
    }
    if let (Some(release), false) = (release, untouched) {
        // It may be lost, and is not needed: what it has made is in the record.
        let set = match work.job.store.release(release).await? {
            Some(_) => Some(Set::load(&work.job, release).await?),
            None => None,
        };
        let before = match previous {
            Some(previous) => restore(work, set.as_ref(), previous).await?,
            None => BTreeSet::new(),
        };
        clean(work).await?;
        forget(work, set.as_ref(), &before).await?;
    }
    settle(work, why).await
}

/// Applies the set of the release that was active, and waits until it is healthy. Answers what is
/// in it.
async fn restore(
    work: &mut Work,
    of: Option<&Set>,
    previous: u64,
) -> Result<BTreeSet<ObjectId>, Error> {
    let variants = work.open()?.header.variants.clone();
    // What was labelled for the canary stays so: the label off the pods before it is off the
    // Services' selectors would be an outage, and it restarts them once more.
    let set = Set::load(&work.job, previous).await?.labelled(&variants)?;
    if !is_changed(work.open()?) {
        // Nothing to go back from: what runs need not even be healthy, and may be why it goes back.
        return Ok(set.objects().iter().map(|object| object.id.clone()).collect());
    }
    let mut options = of.map_or(set.options, |of| of.options);
    // What the previous release lacks goes afterwards, and only what this rollout has made.
    options.prune.keep = true;
    let put = put(work, &set.job, &set.rendered, options, |_, _| {}).await?;
    conclude(work, put.jobs);
    Ok(put.observed.plan.objects.into_iter().map(|object| object.id).collect())
}

/// Whether a step was begun that changes what ran before: `primary`, and a canary that is made in
/// place or begins with the primary's label.
fn is_changed(open: &OpenRollout) -> bool {
    let variants = &open.header.variants;
    let in_place = variants.isolation == Isolation::Label
        || variants.workloads.iter().any(|workload| workload.kind == "StatefulSet");
    if open.header.by_hand {
        // A step that failed gives its place to the next one, and is not known any more.
        return true;
    }
    let begun = open.progress.steps.iter().take(open.progress.done.saturating_add(1));
    begun.filter_map(|at| open.steps().get(*at)).any(|step| match step {
        Step::Primary => true,
        Step::Canary(_) => in_place,
        Step::Pause(_) | Step::Run(_) | Step::Clean => false,
    })
}

/// Deletes what this rollout has made and the previous release lacks, and gives up what it has
/// taken over from others.
async fn forget(
    work: &mut Work,
    of: Option<&Set>,
    before: &BTreeSet<ObjectId>,
) -> Result<(), Error> {
    let created: BTreeSet<ObjectId> =
        work.open()?.progress.created.difference(before).cloned().collect();
    let reverse = |condemned: &Condemned| condemned.rank;
    let Deletion { gone, kept, error } = delete(work, &created, OWN, reverse).await?;
    let brought: BTreeSet<&ObjectId> =
        of.iter().flat_map(|of| of.objects()).map(|object| &object.id).collect();
    work.ledger.record.inventory.retain(|id, _| {
        let stays = before.contains(id) || kept.contains(id) || created.contains(id);
        !gone.contains(id) && (stays || !brought.contains(id))
    });
    work.open_mut()?.progress.created.retain(|id| !gone.contains(id) && !kept.contains(id));
    work.save().await?;
    error.map_or(Ok(()), Err)
}

/// The record says that the target is back.
async fn settle(work: &mut Work, why: &str) -> Result<(), Error> {
    let now = work.job.cluster.now();
    let progress = &mut work.open_mut()?.progress;
    let (release, previous) = (progress.release, progress.previous);
    (progress.stand, progress.since, progress.healthy) = (Stand::Undone, now, None);
    progress.message = Some(why.to_owned());
    let record = &mut work.ledger.record;
    let failed = release.and_then(|number| record.release(number).cloned()).map(|mut summary| {
        (summary.state, summary.undone) = (ReleaseState::Failed, true);
        summary.finished = Some(now);
        summary.message = Some(why.to_owned());
        record.note(summary.clone());
        summary
    });
    if let Some(mut summary) = previous.and_then(|number| record.release(number).cloned()) {
        summary.state = ReleaseState::Active;
        record.note(summary);
    }
    work.save().await?;
    if let Some(failed) = failed {
        tidy(&work.job, &work.ledger.record, &failed, previous).await;
    }
    Ok(())
}
