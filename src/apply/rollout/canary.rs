//! The step `canary`: copies of the workloads run the new release beside the old one. Nothing that
//! runs is changed or deleted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::set::{Set, conclude, put};
use super::work::{Work, joined};
use crate::error::Error;
use crate::manifest::{Object, ObjectId};
use crate::plan::Action;
use crate::rollout::Canary;

/// Puts the variant beside what runs, and waits until it is healthy.
pub(super) async fn canary(work: &mut Work, settings: &Canary) -> Result<(), Error> {
    let Some(number) = work.open()?.progress.release else { return Ok(()) };
    let set = Set::load(&work.job, number).await?;
    let variants = work.open()?.header.variants.clone();
    let counts = counts(work, &set).await?;
    let made = thin(&set, &counts, settings, &variants.label);
    let made = made.map_err(|errors| joined(errors).unwrap_or_else(|| work.job.halted()))?;
    let own: BTreeSet<ObjectId> = made.iter().map(|object| object.id.clone()).collect();
    let mut options = set.options;
    options.prune.keep = true;
    let made = set.with(made);
    let put = put(work, &set.job, &made, options, |observed, progress| {
        for object in &observed.plan.objects {
            match own.contains(&object.id) {
                true => drop(progress.variants.insert(object.id.clone())),
                false if matches!(object.action, Action::Create) => {
                    progress.created.insert(object.id.clone());
                }
                false => {}
            }
        }
    });
    let put = put.await?;
    conclude(work, put.jobs);
    Ok(())
}

/// How many replicas each workload of the set has in the cluster now.
async fn counts(work: &Work, set: &Set) -> Result<BTreeMap<ObjectId, u32>, Error> {
    let job = &work.job;
    let discovery = job.cluster.discovery().await.map_err(|error| job.failed(error, None))?;
    let mut counts = BTreeMap::new();
    for object in set.objects().iter().filter(|object| object.id.kind == "Deployment") {
        let Some(resource) = discovery.resolve(&object.gvk) else { continue };
        if let Some(live) = job.get(resource, &object.id).await? {
            let count = live["spec"]["replicas"].as_u64().unwrap_or(1);
            counts.insert(object.id.clone(), u32::try_from(count).unwrap_or(u32::MAX));
        }
    }
    Ok(counts)
}

fn thin(
    set: &Set,
    counts: &BTreeMap<ObjectId, u32>,
    settings: &Canary,
    label: &crate::rollout::VariantLabel,
) -> Result<Vec<Object>, Vec<Error>> {
    let mut copies = Vec::new();
    for object in set.objects().iter().filter(|object| object.id.kind == "Deployment") {
        let mut value = object.value.clone();
        let Some(count) = counts.get(&object.id) else { continue };
        let name = format!("{}-{}", object.id.name, settings.suffix);
        value["metadata"]["name"] = name.into();
        value["spec"]["replicas"] = settings.replicas.ceiling_of(*count).max(1).into();
        for path in ["/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
            if let Some(labels) = value.pointer_mut(path).and_then(Value::as_object_mut) {
                labels.insert(label.key.clone(), label.canary.clone().into());
            }
        }
        copies.extend(Object::new(value, object.origin.clone()));
    }
    Ok(copies)
}
