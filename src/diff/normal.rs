//! What a diff never shows: what only the server writes, and copies of the whole object.

use serde_json::{Map, Value};

/// Fields of `metadata` that only the server writes.
const SERVER_FIELDS: [&str; 6] =
    ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"];

/// Annotations that hold a copy of the object (of Secrets: their values), or that a controller
/// counts up at every change.
const NOISE: [&str; 4] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "kapp.k14s.io/original",
    "kapp.k14s.io/original-diff-md5",
    "deployment.kubernetes.io/revision",
];

/// The object without what is never shown: status, server-side metadata, and annotations that
/// copy the object. Null timestamps, which Go's types leave behind in templates, go too. Our own
/// label stays: it is shown once, when the object is created or adopted.
pub fn normalize(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(map) = object.as_object_mut() else { return object };
    map.remove("status");
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_FIELDS {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            for annotation in NOISE {
                annotations.remove(annotation);
            }
        }
        // The server keeps no empty maps here.
        for field in ["annotations", "labels"] {
            if metadata.get(field).is_some_and(|v| v.as_object().is_some_and(Map::is_empty)) {
                metadata.remove(field);
            }
        }
    }
    drop_null_timestamps(&mut object);
    object
}

fn drop_null_timestamps(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut)
                && metadata.get("creationTimestamp").is_some_and(Value::is_null)
            {
                metadata.remove("creationTimestamp");
            }
            map.values_mut().for_each(drop_null_timestamps);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null_timestamps),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
