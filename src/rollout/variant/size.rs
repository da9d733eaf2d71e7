//! How many pods the primary has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::set::{Item, Set};
use crate::manifest::ObjectId;
use crate::ownership::autoscaled;

/// How many pods a workload has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// How many it is told to have.
    pub(super) replicas: u32,
    /// Whether it runs; else they are what the release says.
    pub(super) is_live: bool,
}

/// The size of a workload: what is live, which is the autoscaler's word where there is one; of one
/// that does not run yet what the release says, be it the autoscaler's least.
pub(super) fn size(item: &Item, live: &BTreeMap<ObjectId, Value>, set: &Set) -> Size {
    match live.get(&item.id) {
        Some(found) if !found.is_null() => {
            let spec = count(&found["spec"]["replicas"]);
            let replicas = spec.or_else(|| count(&found["status"]["replicas"])).unwrap_or(1);
            Size { replicas, is_live: true }
        }
        // It may not be read, which is said elsewhere.
        Some(_) => Size { replicas: of_release(item, set), is_live: true },
        None => Size { replicas: of_release(item, set), is_live: false },
    }
}

fn of_release(item: &Item, set: &Set) -> u32 {
    let scaler = set.items.iter().find(|scaler| scales(scaler, &item.id));
    let least = scaler.and_then(|scaler| {
        let spec = &scaler.value()["spec"];
        count(&spec["minReplicas"]).or_else(|| count(&spec["minReplicaCount"]))
    });
    let own = count(&item.value()["spec"]["replicas"]).unwrap_or(1);
    least.map_or(own, |least| least.max(own))
}

/// Whether an object of the release is an autoscaler of a workload.
pub(super) fn scales(scaler: &Item, workload: &ObjectId) -> bool {
    matches!(&*scaler.id.kind, "HorizontalPodAutoscaler" | "ScaledObject") && {
        let object = scaler.to_object();
        autoscaled(std::iter::once(&object.value), &[]).contains(workload)
    }
}

fn count(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}
