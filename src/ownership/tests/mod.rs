//! Tables and properties of ownership.

mod digests;
mod judging;
mod managers;
mod patches;
mod sets;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FieldPath, FieldSet, Segment};

/// A managedFields entry.
pub(super) fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1",
           "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields})
}

/// A live object with these entries.
pub(super) fn live(mut object: Value, entries: Vec<Value>) -> Value {
    let metadata = json!({"name": "web", "namespace": "shop", "uid": "u1",
        "resourceVersion": "7", "managedFields": entries});
    match object["metadata"].as_object_mut() {
        Some(own) => own.extend(metadata.as_object().cloned().unwrap_or_default()),
        None => {
            object.as_object_mut().expect("an object").insert("metadata".into(), metadata);
        }
    }
    object
}

/// The path that the API server prints so.
pub(super) fn path(text: &str) -> FieldPath {
    FieldPath::parse(text).unwrap_or_else(|| panic!("{text} is no path"))
}

/// A step of a path, of every spelling.
pub(super) fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        4 => "[a-c]{1,2}|app.kubernetes.io/name".prop_map(Segment::Field),
        1 => ("[a-c]", 0..3).prop_map(|(name, port)| Segment::parse(&format!("k:{{\"name\":\"{name}\",\"port\":{port}}}"))),
        1 => "[a-c\"\\\\]{1,3}".prop_map(|v| Segment::parse(&format!("v:{}", Value::String(v)))),
        1 => (0u64..3).prop_map(Segment::Index),
    ]
}

/// A set of fields.
pub(super) fn field_set() -> impl Strategy<Value = FieldSet> {
    let path = prop::collection::vec(segment(), 1..5).prop_map(FieldPath::new);
    prop::collection::vec(path, 0..12).prop_map(FieldSet::from_iter)
}
