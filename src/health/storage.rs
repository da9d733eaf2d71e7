//! Claims and volumes.

use serde_json::Value;

use super::fields::{event_object, reason};
use super::{Surroundings, Verdict};

/// Bound, or waiting for the first pod that uses it: a claim of a class that binds late stays
/// Pending until then, and waiting for it would keep the pod from ever coming (kstatus and Helm
/// do).
pub(super) fn claim(object: &Value, around: &Surroundings<'_>) -> Verdict {
    match object["status"]["phase"].as_str() {
        Some("Bound") => Verdict::healthy(),
        Some("Lost") => Verdict::failed("Lost: the volume that it was bound to is gone"),
        _ if waits_for_pod(object, around) => {
            Verdict::healthy().note("Pending: it is bound when a pod uses it")
        }
        _ => Verdict::progressing(match latest_trouble(object, around) {
            Some(trouble) => format!("Pending: {trouble}"),
            None => "Pending: not bound yet".to_owned(),
        }),
    }
}

/// By its class where we may read classes, else by what the volume controller said of it. A
/// claim for which the scheduler has chosen a node has its pod, and is awaited.
fn waits_for_pod(object: &Value, around: &Surroundings<'_>) -> bool {
    let annotations = &object["metadata"]["annotations"];
    if annotations["volume.kubernetes.io/selected-node"].is_string() {
        return false;
    }
    let class = object["spec"]["storageClassName"].as_str();
    let late = around
        .storage_classes
        .iter()
        .find(|c| class.is_some_and(|name| c["metadata"]["name"] == name))
        .map(|c| c["volumeBindingMode"] == "WaitForFirstConsumer");
    late.unwrap_or_else(|| about(object, around).any(|e| e["reason"] == "WaitForFirstConsumer"))
}

fn latest_trouble(object: &Value, around: &Surroundings<'_>) -> Option<String> {
    let event = about(object, around)
        .filter(|e| e["type"] == "Warning" || e["reason"] == "FailedBinding")
        .max_by_key(|e| super::fields::event_time(e))?;
    Some(reason(event["reason"].as_str().unwrap_or_default(), super::fields::event_message(event)))
}

fn about<'a>(object: &'a Value, around: &Surroundings<'a>) -> impl Iterator<Item = &'a Value> {
    let uid = object["metadata"]["uid"].as_str();
    around.events.iter().filter(move |e| uid.is_some_and(|uid| event_object(e)["uid"] == uid))
}

/// A volume is there when it can be bound, or is.
pub(super) fn volume(object: &Value) -> Verdict {
    match object["status"]["phase"].as_str() {
        Some("Available" | "Bound") => Verdict::healthy(),
        Some("Released") => Verdict::healthy().note("Released: its claim is gone"),
        Some("Failed") => {
            let message = object["status"]["message"].as_str().unwrap_or_default();
            Verdict::failed(reason("Failed", message))
        }
        _ => Verdict::progressing("Pending"),
    }
}
