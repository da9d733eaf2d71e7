//! The step `canary`: copies of the workloads run the new release beside the old one. What runs is
//! not deleted, and changed only where the way of keeping the two apart asks for it (design §8).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::job::Job;
use super::super::observe::{Observed, PlanOptions};
use super::foresee::made;
use super::set::{Set, conclude, one, put};
use super::work::Work;
use crate::error::Error;
use crate::manifest::{Object, ObjectId};
use crate::ownership::FieldPath;
use crate::plan::Action;
use crate::rollout::variant::Variant;
use crate::rollout::{Canary, VariantLabel};

/// Puts the canary beside what runs, and waits until it is healthy. Done again it does the same,
/// and at another size it is made bigger or smaller.
pub(super) async fn canary(work: &mut Work, settings: &Canary) -> Result<(), Error> {
    let open = work.open()?;
    let (progress, variants) = (&open.progress, open.header.variants.clone());
    // The plan of the release said the rest.
    let tells = progress.hand.len() > 1;
    let Some(number) = progress.release else { return Ok(()) };
    let (previous, created) = (progress.previous, progress.created.clone());
    let set = Set::load(&work.job, number).await?;
    let before = match previous {
        Some(number) => Some(Set::load(&work.job, number).await?),
        None => None,
    };
    let running = before.as_ref().map(Set::objects).unwrap_or_default();
    let made = made(&set.job, set.objects(), running, &created, settings, &variants).await;
    let Variant { first, prerequisites, objects, partitioned, notes } =
        made.map_err(|errors| one(&work.job, errors))?;
    if tells {
        for note in notes {
            work.job.events.warn(None, note);
        }
    }
    if let Some(before) = before.as_ref().filter(|_| !first.is_empty()) {
        let changed = first.templates.into_iter().chain(first.services).collect();
        put_some(work, before, &before.job, changed).await?;
    }
    add(work, &set, prerequisites, objects, &variants.label).await?;
    if !partitioned.is_empty() {
        put_some(work, &set, &set.job, partitioned).await?;
    }
    Ok(())
}

/// Writes the copies, and before them what is new in the release and they need. That is only
/// created: what exists stays as it is until the primary's turn.
async fn add(
    work: &mut Work,
    set: &Set,
    prerequisites: Vec<Object>,
    objects: Vec<Object>,
    label: &VariantLabel,
) -> Result<(), Error> {
    let job = sized_by_us(&set.job);
    let copies: BTreeSet<ObjectId> = objects.iter().map(|object| object.id.clone()).collect();
    let needed: BTreeSet<ObjectId> = prerequisites.iter().map(|object| object.id.clone()).collect();
    let rendered = set.with(with_configs(set, prerequisites.into_iter().chain(objects)));
    let known: BTreeSet<ObjectId> = work.ledger.record.inventory.keys().cloned().collect();
    let events = job.events.clone();
    let put = put(work, &job, &rendered, additive(set.options), |observed, progress| {
        let mut leftovers = left_over(observed, &known, label);
        leftovers.retain(|id| !copies.contains(id));
        for id in leftovers {
            events.warn(Some(&id), "is left over from an earlier canary; `clean` deletes it");
            progress.variants.insert(id);
        }
        observed.plan.objects.retain(|object| {
            let id = &object.id;
            copies.contains(id)
                || needed.contains(id)
                    && (progress.created.contains(id) || matches!(object.action, Action::Create))
        });
        for object in &observed.plan.objects {
            let into = match copies.contains(&object.id) {
                true => &mut progress.variants,
                false => &mut progress.created,
            };
            into.insert(object.id.clone());
        }
    });
    let put = put.await?;
    conclude(work, put.jobs);
    Ok(())
}

/// Writes some objects of a release as they are given, and no other.
async fn put_some(
    work: &mut Work,
    set: &Set,
    job: &Job,
    objects: Vec<Object>,
) -> Result<(), Error> {
    let written: BTreeSet<ObjectId> = objects.iter().map(|object| object.id.clone()).collect();
    let rendered = set.with(with_configs(set, objects));
    let put = put(work, job, &rendered, additive(set.options), |observed, _| {
        observed.plan.objects.retain(|object| written.contains(&object.id));
    });
    let put = put.await?;
    conclude(work, put.jobs);
    Ok(())
}

/// Nothing is pruned beside a canary.
fn additive(mut options: PlanOptions) -> PlanOptions {
    options.prune.keep = true;
    options
}

/// The objects, with the configuration of the release: workloads carry the hash of what they use,
/// whether or not it is written with them.
fn with_configs(set: &Set, objects: impl IntoIterator<Item = Object>) -> Vec<Object> {
    let mut all: Vec<Object> = objects.into_iter().collect();
    let known: BTreeSet<ObjectId> = all.iter().map(|object| object.id.clone()).collect();
    let is_config =
        |id: &ObjectId| id.group.is_empty() && matches!(&*id.kind, "ConfigMap" | "Secret");
    let rest = set.objects().iter().filter(|o| is_config(&o.id) && !known.contains(&o.id));
    all.extend(rest.cloned());
    all
}

/// Copies have the size that the step says, also where the primary's is left to others.
fn sized_by_us(job: &Job) -> Job {
    let replicas = FieldPath::fields(&["spec", "replicas"]);
    let mut target = (*job.target).clone();
    for rule in &mut target.ignore {
        rule.paths.retain(|path| *path != replicas);
    }
    target.ignore.retain(|rule| !rule.paths.is_empty());
    Job { target: Arc::new(target), ..job.clone() }
}

/// Copies that an earlier run has left, and that no record knows.
fn left_over(
    observed: &Observed,
    known: &BTreeSet<ObjectId>,
    label: &VariantLabel,
) -> BTreeSet<ObjectId> {
    let variant = [&label.canary, &label.baseline];
    let members = observed.scene.live.iter().filter(|(id, live)| {
        let value = live["metadata"]["labels"][&label.key].as_str();
        value.is_some_and(|value| variant.iter().any(|v| *v == value)) && !known.contains(*id)
    });
    let planned = |id: &ObjectId| observed.plan.objects.iter().any(|object| object.id == *id);
    members.map(|(id, _)| id.clone()).filter(|id| !planned(id)).collect()
}
