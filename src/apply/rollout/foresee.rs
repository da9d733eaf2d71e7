//! What the canary of a release is, beside what runs in the cluster: asked before a rollout writes
//! anything, and again by each step `canary`.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::super::inventory::placed_objects;
use super::super::job::Job;
use super::super::observe::{Observed, PARALLEL, autoscalers_in};
use super::set::Set;
use crate::cluster::{CallErrorKind, Refusal};
use crate::error::Error;
use crate::manifest::{Gvk, Object, ObjectId};
use crate::render::Rendered;
use crate::rollout::variant::{Live, Variant, canary, to_read};
use crate::rollout::{Canary, VariantSettings};

/// What is to be known of the canaries of a target that was planned, as it is now: what the first
/// of them is and what it means for whatever counts pods. Reads, and writes nothing.
///
/// # Errors
/// One of them cannot be made: the settings do not fit the release, or a name is taken. Or a call
/// fails.
pub async fn foresee(
    job: &Job,
    rendered: &Rendered,
    observed: &Observed,
    canaries: &[&Canary],
    variants: &VariantSettings,
) -> Result<Vec<String>, Vec<Error>> {
    let record = observed.record.as_ref().map(|(record, _)| record);
    let set = placed_objects(rendered, observed);
    let before = match record.and_then(|record| record.active) {
        Some(number) => Some(Set::load(job, number).await.map_err(|error| vec![error])?),
        None => None,
    };
    let running = before.as_ref().map(Set::objects).unwrap_or_default();
    let open = record.and_then(|record| record.rollout.as_deref());
    let created = open.map(|open| open.progress.created.clone()).unwrap_or_default();
    let mut notes = None;
    let mut errors = Vec::new();
    for canary in canaries {
        match made(job, &set, running, &created, canary, variants).await {
            Ok(variant) => drop(notes.get_or_insert(variant.notes)),
            Err(wrong) => {
                errors
                    .extend(wrong.into_iter().filter(|e| !errors.contains(e)).collect::<Vec<_>>());
            }
        }
    }
    match errors.is_empty() {
        true => Ok(notes.unwrap_or_default()),
        false => Err(errors.into_iter().map(|error| error.in_target(&job.target.name)).collect()),
    }
}

/// The canary of a release. `before` is what the release has that runs, `created` what this
/// rollout has made already.
pub(super) async fn made(
    job: &Job,
    set: &[Object],
    before: &[Object],
    created: &BTreeSet<ObjectId>,
    settings: &Canary,
    variants: &VariantSettings,
) -> Result<Variant, Vec<Error>> {
    let one = |error: Error| vec![error];
    let namespace = job.target.namespace.as_str();
    let wanted = to_read(set, namespace, settings, variants)?;
    let objects = read(job, wanted).await.map_err(one)?;
    let namespaces: BTreeSet<&str> =
        objects.keys().filter_map(|id| id.namespace.as_deref()).collect();
    let discovery = job.cluster.discovery().await.map_err(|error| one(job.failed(error, None)))?;
    let autoscalers = autoscalers_in(job, &discovery, &namespaces).await.map_err(one)?;
    let live =
        Live { namespace, objects: &objects, autoscalers: &autoscalers, previous: before, created };
    canary(set, &live, settings, variants)
}

/// What of the wanted objects exists; null for what may not be read.
async fn read(
    job: &Job,
    wanted: BTreeMap<ObjectId, Gvk>,
) -> Result<BTreeMap<ObjectId, Value>, Error> {
    let discovery = job.cluster.discovery().await.map_err(|error| job.failed(error, None))?;
    let discovery = &discovery;
    let found: Vec<(ObjectId, Option<Value>)> = stream::iter(wanted)
        .map(|(id, gvk)| async move {
            // What no kind is served of cannot exist: the release brings its definition.
            let Some(resource) = discovery.resolve(&gvk) else { return Ok((id, None)) };
            let found = job.cluster.get(resource, id.namespace.as_deref(), &id.name).await;
            let found = match found {
                Ok(found) => found,
                Err(error) => match &error.kind {
                    CallErrorKind::Refused(Refusal::Forbidden { .. }) => Some(Value::Null),
                    _ => return Err(job.failed(error, Some(&id))),
                },
            };
            if let Some(live) = found.as_ref().filter(|_| id.is_secret()) {
                job.scrubber.learn(live);
            }
            Ok((id, found))
        })
        .buffer_unordered(PARALLEL)
        .try_collect()
        .await?;
    Ok(found.into_iter().filter_map(|(id, live)| Some((id, live?))).collect())
}
