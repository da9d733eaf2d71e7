//! References that the server does not check: a Deployment whose ServiceAccount, PriorityClass,
//! ConfigMap or Secret does not exist is accepted, and fails later (A4.6).

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt};

use super::job::Job;
use super::observe::PARALLEL;
use super::wait::core;
use crate::cluster::{Discovery, Resource};
use crate::manifest::ObjectId;
use crate::plan::{ObjectPlan, references};

/// A warning for each reference of an object that is created or changed, to something that is
/// neither in the set nor in the cluster. What may not be read is not warned about.
pub(super) async fn missing(
    job: &Job,
    discovery: &Discovery,
    objects: &[ObjectPlan],
) -> Vec<String> {
    let own: BTreeSet<&ObjectId> = objects.iter().map(|o| &o.id).collect();
    let mut wanted: BTreeMap<ObjectId, BTreeSet<String>> = BTreeMap::new();
    for object in objects.iter().filter(|o| o.action.writes()) {
        let namespace = object.id.namespace.as_deref().unwrap_or_default();
        for id in references(&object.gvk, &object.manifest, namespace) {
            if !own.contains(&id) {
                wanted.entry(id).or_default().insert(object.id.to_string());
            }
        }
    }
    let found: Vec<Option<String>> = stream::iter(&wanted)
        .map(|(id, users)| async move {
            let resource = resource(discovery, id)?;
            let got = job.cluster.get(&resource, id.namespace.as_deref(), &id.name).await;
            if !matches!(got, Ok(None)) {
                return None;
            }
            let users: Vec<&str> = users.iter().map(String::as_str).collect();
            let need = if users.len() == 1 { "needs" } else { "need" };
            Some(format!("{id} does not exist; {} {need} it", users.join(", ")))
        })
        .buffered(PARALLEL)
        .collect()
        .await;
    found.into_iter().flatten().collect()
}

fn resource(discovery: &Discovery, id: &ObjectId) -> Option<Resource> {
    match id.kind.as_str() {
        "ConfigMap" => Some(core("v1", "ConfigMap", "configmaps")),
        "Secret" => Some(core("v1", "Secret", "secrets")),
        "ServiceAccount" => Some(core("v1", "ServiceAccount", "serviceaccounts")),
        _ => discovery.by_kind(&id.group, &id.kind).cloned(),
    }
}
