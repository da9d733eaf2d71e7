//! The canary of a StatefulSet: its highest ordinals run the new release, in place.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::copy::rewrite;
use super::set::Item;
use crate::manifest::{Object, ObjectId};
use crate::rollout::Amount;

/// The StatefulSet of the release, of which only the pods of the highest ordinals change: so many
/// of those that run, at least one. The number of pods stays as it is.
pub(super) fn partitioned(
    item: &Item,
    running: u32,
    amount: Amount,
    configs: &BTreeMap<ObjectId, ObjectId>,
) -> (Object, u32) {
    let changed = amount.ceiling_of(running).max(1).min(running);
    let mut object = item.to_object();
    let own = count(&item.value()["spec"]["updateStrategy"]["rollingUpdate"]["partition"]);
    // A release that keeps some of its pods back keeps them back.
    let partition = (running - changed).max(own.unwrap_or(0));
    let namespace = item.id.namespace.as_deref();
    if let Some(spec) = object.value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("replicas".into(), running.into());
        let strategy = spec.entry("updateStrategy").or_insert_with(|| json!({}));
        let rolling = strategy["rollingUpdate"].as_object().cloned().unwrap_or_default();
        *strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        strategy["rollingUpdate"]["partition"] = partition.into();
        if let Some(template) = spec.get_mut("template") {
            rewrite(template, namespace, configs);
        }
    }
    (object, running.saturating_sub(partition))
}

fn count(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}
