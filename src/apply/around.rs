//! What stands around a target's objects: their pods, and what was warned about them.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use serde_json::Value;

use super::job::Job;
use super::observe::PARALLEL;
use super::wait::core;
use crate::cluster::Resource;
use crate::health::{Rules, Surroundings};
use crate::manifest::ObjectId;

/// What to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// Namespaces whose pods, ReplicaSets and warnings are read.
    pub namespaces: BTreeSet<String>,
    /// Their Jobs too, for CronJobs.
    pub jobs: bool,
    /// StorageClasses, for claims that wait for their first pod.
    pub classes: bool,
}

/// Whether what keeps an object from being healthy stands with pods, or in events.
pub(super) fn has_pods(id: &ObjectId) -> bool {
    matches!(id.group.as_str(), "apps" | "batch")
        || matches!(id.kind.as_str(), "Pod" | "ReplicationController" | "PersistentVolumeClaim")
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Around {
    pods: Vec<Value>,
    replica_sets: Vec<Value>,
    jobs: Vec<Value>,
    events: Vec<Value>,
    storage_classes: Vec<Value>,
    /// Kinds that could not be read, by their plurals.
    pub unread: BTreeSet<String>,
}

impl Around {
    /// Reads what is needed, by one LIST a kind and namespace. What may not be read is not known:
    /// causes are a help, never a condition.
    pub(super) async fn read(job: &Job, needs: &Needs) -> Self {
        let mut around = Around::default();
        let mut lists: Vec<(Resource, Option<&str>, Option<&str>)> = Vec::new();
        for namespace in &needs.namespaces {
            let namespace = Some(namespace.as_str());
            lists.push((core("v1", "Pod", "pods"), namespace, None));
            lists.push((core("apps/v1", "ReplicaSet", "replicasets"), namespace, None));
            lists.push((core("v1", "Event", "events"), namespace, Some("type=Warning")));
            if needs.jobs {
                lists.push((core("batch/v1", "Job", "jobs"), namespace, None));
            }
        }
        if needs.classes {
            let mut classes = core("storage.k8s.io/v1", "StorageClass", "storageclasses");
            classes.namespaced = false;
            lists.push((classes, None, None));
        }
        let read: Vec<_> = stream::iter(lists)
            .map(|(resource, namespace, fields)| async move {
                let items = job.cluster.list(&resource, namespace, None, fields).await;
                (resource.plural, items)
            })
            .buffered(PARALLEL)
            .collect()
            .await;
        for (plural, items) in read {
            let Ok(items) = items else {
                around.unread.insert(plural);
                continue;
            };
            match plural.as_str() {
                "pods" => around.pods.extend(items),
                "replicasets" => around.replica_sets.extend(items),
                "jobs" => around.jobs.extend(items),
                "events" => around.events.extend(items),
                _ => around.storage_classes.extend(items),
            }
        }
        around
    }

    /// The same, as the rules of health take it.
    pub(super) fn at<'a>(&'a self, now: Timestamp, rules: &'a Rules) -> Surroundings<'a> {
        Surroundings {
            now,
            storage_classes: &self.storage_classes,
            replica_sets: &self.replica_sets,
            jobs: &self.jobs,
            pods: &self.pods,
            events: &self.events,
            rules: Some(rules),
        }
    }
}
