//! `replicas`: other counts for workloads.

use serde_json::{Map, Value};

use crate::config::ReplicaOverride;
use crate::error::{Error, Result};
use crate::manifest::Object;
use crate::suggest;

/// Sets the count of every workload of that name, whatever its kind, as kustomize does.
pub(super) fn apply(objects: &mut [Object], over: &ReplicaOverride, namespace: &str) -> Result<()> {
    let found: Vec<usize> = (0..objects.len())
        .filter(|&i| objects.get(i).is_some_and(|o| scales(o) && o.id.name == over.name))
        .collect();
    if found.is_empty() {
        return Err(absent(objects, over));
    }
    for i in found {
        let Some(object) = objects.get(i) else { continue };
        if let Some(scaler) = objects.iter().find(|o| targets(o, object, namespace)) {
            return Err(Error::config(format!(
                "`replicas` sets {} {}, which {} {} scales",
                object.id.kind, over.name, scaler.id.kind, scaler.id.name
            ))
            .on(&object.id)
            .hint(format!(
                "remove it from `replicas`; the bounds of {} are its own",
                scaler.id.kind
            )));
        }
        if let Some(object) = objects.get_mut(i) {
            set(object, over.count);
        }
    }
    Ok(())
}

fn set(object: &mut Object, count: u32) {
    let Some(map) = object.value.as_object_mut() else { return };
    let spec = map.entry("spec").or_insert(Value::Null);
    if !spec.is_object() {
        *spec = Value::Object(Map::new());
    }
    if let Some(spec) = spec.as_object_mut() {
        spec.insert("replicas".into(), count.into());
    }
}

/// Whether the object is a workload with a count of replicas.
fn scales(object: &Object) -> bool {
    matches!(
        (object.id.group.as_str(), object.id.kind.as_str()),
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") | ("", "ReplicationController")
    )
}

/// Whether `scaler` is an autoscaler of the workload.
fn targets(scaler: &Object, workload: &Object, namespace: &str) -> bool {
    let default_kind = match (scaler.id.group.as_str(), scaler.id.kind.as_str()) {
        ("autoscaling", "HorizontalPodAutoscaler") => None,
        ("keda.sh", "ScaledObject") => Some("Deployment"),
        _ => return false,
    };
    let reference = &scaler.value["spec"]["scaleTargetRef"];
    let space = |o: &Object| o.id.namespace.clone().unwrap_or_else(|| namespace.to_owned());
    reference["kind"].as_str().or(default_kind) == Some(workload.id.kind.as_str())
        && reference["name"].as_str() == Some(workload.id.name.as_str())
        && space(scaler) == space(workload)
}

fn absent(objects: &[Object], over: &ReplicaOverride) -> Error {
    let name = &over.name;
    if let Some(other) = objects.iter().find(|o| o.id.name == *name && o.id.kind == "DaemonSet") {
        return Error::config(format!("`replicas` sets `{name}`, and a DaemonSet has none"))
            .on(&other.id);
    }
    let error = Error::config(format!("`replicas` sets `{name}`, and no workload has that name"));
    let names = objects.iter().filter(|o| scales(o)).map(|o| o.id.name.as_str());
    match suggest::hint(name, names) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
