//! Copies: of workloads, of the configuration that they use, of Services.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::labels::{Renames, insert, rename, rename_selector, selects};
use super::references::each_config;
use super::set::Item;
use crate::manifest::{Object, ObjectId};
use crate::plan::{APPLY, PROTECT};

/// Annotations that are about the one object that has them: what another tool or a controller
/// wrote, and how the original is applied and kept.
const OWN: [&str; 3] = ["kubectl.kubernetes.io/last-applied-configuration", APPLY, PROTECT];
const OWN_PREFIX: &str = "deployment.kubernetes.io/";

/// What a copy is called and known by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark<'a> {
    /// The key of the label that tells variants apart.
    pub(super) key: &'a str,
    /// Its value.
    pub(super) value: &'a str,
}

/// Copies a workload with its pod template. `renames` are the labels that its pods have otherwise
/// than the original's, `configs` the copies of what they use.
pub(super) fn workload(
    item: &Item,
    copy: &ObjectId,
    mark: Mark,
    renames: &Renames,
    configs: &BTreeMap<ObjectId, ObjectId>,
    replicas: u32,
) -> Object {
    let mut object = renamed(item, copy, mark);
    let labels = item.pod_labels().clone();
    let Some(spec) = object.value.get_mut("spec").and_then(Value::as_object_mut) else {
        return object;
    };
    spec.insert("replicas".into(), replicas.into());
    let own = [(mark.key.to_owned(), Value::from(mark.value))];
    if let Some(selector) = spec.get_mut("selector") {
        rename_selector(selector, renames);
        if let Some(selector) = selector.as_object_mut() {
            insert(selector, "matchLabels", own.clone());
        }
    }
    let Some(template) = spec.get_mut("template").filter(|t| t.is_object()) else { return object };
    relabel(template, &labels, renames, own);
    rewrite(template, copy.namespace.as_deref(), configs);
    object
}

/// Copies a ConfigMap or a Secret.
pub(super) fn config(item: &Item, copy: &ObjectId, mark: Mark) -> Object {
    renamed(item, copy, mark)
}

/// Makes a Service in front of the copies alone, of what the original says about ports and
/// addresses: never what there is only one of (a port of the nodes, an address), nor what gets it
/// one from outside (a load balancer, a name).
pub(super) fn service(item: &Item, copy: &ObjectId, mark: Mark, renames: &Renames) -> Object {
    let mut object = renamed(item, copy, mark);
    let original = &item.value()["spec"];
    let mut spec = Map::new();
    spec.insert("type".into(), "ClusterIP".into());
    if original["clusterIP"] == "None" {
        spec.insert("clusterIP".into(), "None".into());
    }
    for key in [
        "sessionAffinity",
        "sessionAffinityConfig",
        "publishNotReadyAddresses",
        "ipFamilyPolicy",
        "ipFamilies",
    ] {
        if let Some(value) = original.get(key) {
            spec.insert(key.into(), value.clone());
        }
    }
    if let Some(ports) = original["ports"].as_array() {
        spec.insert("ports".into(), ports.iter().map(port).collect());
    }
    let mut selector = original["selector"].as_object().cloned().unwrap_or_default();
    rename(&mut selector, renames);
    selector.insert(mark.key.to_owned(), mark.value.into());
    spec.insert("selector".into(), selector.into());
    object.value["spec"] = spec.into();
    // Annotations of Services are for whoever gives them names and balancers.
    object.value["metadata"]["annotations"] = json!({ APPLY: RECREATE });
    object
}

/// Copies are made anew where the server refuses a change: one that an earlier rollout left
/// behind may be immutable, select by other labels, or be on its way out.
const RECREATE: &str = "recreate";

fn port(original: &Value) -> Value {
    let keys = ["name", "port", "protocol", "targetPort", "appProtocol"];
    let kept =
        keys.into_iter().filter_map(|key| Some((key.to_owned(), original.get(key)?.clone())));
    Value::Object(kept.collect())
}

/// The object under another name, with what of its metadata is true of a copy.
fn renamed(item: &Item, copy: &ObjectId, mark: Mark) -> Object {
    let mut object = item.object.clone();
    let old = std::mem::take(&mut object.value["metadata"]);
    let map = |key: &str| old[key].as_object().cloned().unwrap_or_default();
    let mut labels = map("labels");
    labels.insert(mark.key.to_owned(), mark.value.into());
    let mut annotations = map("annotations");
    annotations.retain(|key, _| !OWN.contains(&key.as_str()) && !key.starts_with(OWN_PREFIX));
    annotations.insert(APPLY.to_owned(), RECREATE.into());
    object.value["metadata"] =
        json!({"name": copy.name, "labels": labels, "annotations": annotations});
    if let Some(map) = object.value.as_object_mut() {
        map.remove("status");
    }
    object.id.name.clone_from(&copy.name);
    object.set_namespace(copy.namespace.as_deref());
    object
}

/// Gives the pods of a template other labels. Where they choose their neighbours by the labels
/// that they have themselves, they go on to choose by their own.
pub(super) fn relabel(
    template: &mut Value,
    before: &Value,
    renames: &Renames,
    own: impl IntoIterator<Item = (String, Value)>,
) {
    let Some(map) = template.as_object_mut() else { return };
    if !map.get("metadata").is_some_and(Value::is_object) {
        map.insert("metadata".into(), json!({}));
    }
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            rename(labels, renames);
        }
        insert(metadata, "labels", own);
    }
    let turn = |selector: Option<&mut Value>| match selector {
        Some(selector) if selects(selector, before) => rename_selector(selector, renames),
        _ => {}
    };
    let Some(spec) = map.get_mut("spec") else { return };
    for constraint in list(spec.pointer_mut("/topologySpreadConstraints")) {
        turn(constraint.get_mut("labelSelector"));
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(rules) = spec.pointer_mut(&format!("/affinity/{kind}")) else { continue };
        for term in list(rules.get_mut("requiredDuringSchedulingIgnoredDuringExecution")) {
            turn(term.get_mut("labelSelector"));
        }
        for term in list(rules.get_mut("preferredDuringSchedulingIgnoredDuringExecution")) {
            turn(term.pointer_mut("/podAffinityTerm/labelSelector"));
        }
    }
}

/// Lets the pods of a template use the copies of what they use.
pub(super) fn rewrite(
    template: &mut Value,
    namespace: Option<&str>,
    configs: &BTreeMap<ObjectId, ObjectId>,
) {
    each_config(template, &mut |kind, name| {
        let id = ObjectId {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.clone(),
        };
        if let Some(copy) = configs.get(&id) {
            name.clone_from(&copy.name);
        }
    });
}

fn list(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}
