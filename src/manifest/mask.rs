//! Objects as they may be shown: without the values of Secrets, without copies of themselves.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::scrub::MASK;
use super::secret::{decode, fold, is_secret};

const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// Annotations in which other tools keep a copy of the whole object, Secrets included. They say
/// nothing that the object does not, and go from every kind.
const COPIES: [&str; 3] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "kapp.k14s.io/original",
    "kapp.k14s.io/original-diff",
];

/// What of a Secret is shown: its own fields that hold no value, and those of its metadata. Any
/// other is a value at the wrong place: `stringdata:`, or `data:` indented below `metadata:`.
const SHOWN: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];
const SHOWN_METADATA: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "labels",
    "finalizers",
    "ownerReferences",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// One object as it may be shown: each value of a Secret (data, stringData, annotations, fields
/// that a Secret does not have) is `***`. Other kinds stay as they are but for the annotations
/// that hold copies of them.
pub fn mask_one(object: &Value) -> Value {
    let mut shown = without_copies(object);
    if is_secret(&shown) {
        fold(&mut shown);
        mask_fields(&mut shown, None, MASK);
    }
    shown
}

/// The two sides of a difference as they may be shown. A value of a Secret that is the same on
/// both sides, or there on one side only, is `***`; one that changed is `*** (before)` and
/// `*** (after)`, as kubectl shows it. Neither its length nor any part of it can be told.
pub fn mask_pair(live: Option<&Value>, desired: Option<&Value>) -> (Option<Value>, Option<Value>) {
    let (Some(live), Some(desired)) = (live, desired) else {
        return (live.map(mask_one), desired.map(mask_one));
    };
    let (mut before, mut after) = (without_copies(live), without_copies(desired));
    if is_secret(&before) || is_secret(&after) {
        fold(&mut before);
        fold(&mut after);
        let (old, new) = (before.clone(), after.clone());
        mask_fields(&mut before, Some(&new), BEFORE);
        mask_fields(&mut after, Some(&old), AFTER);
    }
    (Some(before), Some(after))
}

/// Masks the fields of a Secret that hold values; `other` is the other side, unmasked.
fn mask_fields(secret: &mut Value, other: Option<&Value>, changed: &str) {
    for path in value_fields(secret) {
        let same: fn(&Value, &Value) -> bool = if path == ["data"] { same_data } else { same_text };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let theirs = other.map(|o| path.iter().fold(o, |value, key| &value[*key]));
        let ours = path.iter().try_fold(&mut *secret, |value, key| value.get_mut(*key));
        match ours {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => mask_map(map, theirs, same, changed),
            // Not what a Secret may hold; all the more reason not to show it.
            Some(value) => {
                let is_changed = theirs.is_some_and(|t| !t.is_null() && t != value);
                *value = if is_changed { changed } else { MASK }.into();
            }
        }
    }
}

/// The paths of the fields that hold values, or may.
fn value_fields(secret: &Value) -> Vec<Vec<String>> {
    let unknown = |object: &Value, shown: &[&str]| -> Vec<String> {
        let keys = object.as_object().into_iter().flat_map(Map::keys);
        keys.filter(|key| !shown.contains(&key.as_str())).cloned().collect()
    };
    let own = unknown(secret, &SHOWN).into_iter().map(|key| vec![key]);
    let metadata = unknown(&secret["metadata"], &SHOWN_METADATA).into_iter();
    own.chain(metadata.map(|key| vec!["metadata".to_owned(), key])).collect()
}

fn mask_map(
    map: &mut Map<String, Value>,
    theirs: Option<&Value>,
    same: fn(&Value, &Value) -> bool,
    changed: &str,
) {
    for (key, value) in map {
        let is_changed = theirs.and_then(|t| t.get(key)).is_some_and(|other| !same(value, other));
        *value = if is_changed { changed } else { MASK }.into();
    }
}

fn same_text(a: &Value, b: &Value) -> bool {
    a == b || (is_empty(a) && is_empty(b))
}

/// Base64 can spell the same bytes in two ways.
fn same_data(a: &Value, b: &Value) -> bool {
    let bytes = |v: &Value| v.as_str().and_then(decode);
    same_text(a, b) || bytes(a).is_some_and(|a| bytes(b) == Some(a))
}

/// Null and the empty text are one value of a Secret.
fn is_empty(value: &Value) -> bool {
    value.is_null() || value == ""
}

fn without_copies(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return object;
    };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else {
        return object;
    };
    let before = annotations.len();
    let copies = BTreeSet::from(COPIES);
    annotations.retain(|key, _| !copies.contains(key.as_str()));
    // An empty map would look like a change of its own.
    if annotations.is_empty() && before > 0 {
        metadata.remove("annotations");
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(rest: Value) -> Value {
        let mut value = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
        for (key, v) in rest.as_object().unwrap() {
            if key == "annotations" {
                value["metadata"]["annotations"] = v.clone();
            } else {
                value[key] = v.clone();
            }
        }
        value
    }

    #[test]
    fn equal_values_show_as_equal_and_changed_ones_as_changed() {
        let live = secret(json!({
            "data": {"same": "aHVudGVyMg==", "changed": "aHVudGVyMg==", "gone": "aHVudGVyMg==",
                "empty": ""},
            "annotations": {"a": "hunter2", "b": "hunter2",
                "kubectl.kubernetes.io/last-applied-configuration": "hunter2"},
        }));
        let desired = secret(json!({
            "data": {"changed": "aHVudGVyMw==", "empty": null},
            "stringData": {"same": "hunter2", "new": "hunter2"},
            "annotations": {"a": "hunter2", "b": "hunter3"},
        }));
        let (before, after) = mask_pair(Some(&live), Some(&desired));
        assert_eq!(
            before,
            Some(secret(json!({
                "data": {"same": "***", "changed": "*** (before)", "gone": "***", "empty": "***"},
                "annotations": {"a": "***", "b": "*** (before)"},
            })))
        );
        assert_eq!(
            after,
            Some(secret(json!({
                "data": {"same": "***", "changed": "*** (after)", "new": "***", "empty": "***"},
                "annotations": {"a": "***", "b": "*** (after)"},
            })))
        );
        let (before, after) = mask_pair(None, Some(&desired));
        assert_eq!(before, None);
        assert_eq!(after, Some(mask_one(&desired)));
        assert!(!after.unwrap().to_string().contains("hunter"));
    }

    #[test]
    fn what_is_no_map_is_masked_whole() {
        let odd = secret(json!({"data": "hunter2", "stringData": ["hunter2"], "annotations": 7}));
        let masked = mask_one(&odd);
        assert_eq!(masked["data"], "***");
        assert!(!masked.to_string().contains("hunter2"));
        let (before, after) = mask_pair(Some(&odd), Some(&secret(json!({"data": {"a": "eA=="}}))));
        assert_eq!(before.unwrap()["data"], "*** (before)");
        assert_eq!(after.unwrap()["data"], json!({"a": "***"}));
    }

    #[test]
    fn values_at_the_wrong_place_are_masked_too() {
        let odd =
            secret(json!({"stringdata": {"a": "hunter2"}, "type": "Opaque", "date": "hunter2",
            "immutable": true}));
        let masked = mask_one(&odd);
        assert_eq!(masked["stringdata"], json!({"a": "***"}));
        assert_eq!(masked["date"], "***");
        assert_eq!((&masked["type"], &masked["immutable"]), (&json!("Opaque"), &json!(true)));
        let mut below = secret(json!({}));
        below["metadata"]["data"] = json!({"a": {"b": "hunter2"}});
        below["metadata"]["labels"] = json!({"tier": "web"});
        let masked = mask_one(&below)["metadata"].clone();
        assert_eq!(masked, json!({"name": "s", "labels": {"tier": "web"}, "data": {"a": "***"}}));
    }

    #[test]
    fn other_kinds_lose_only_copies_of_themselves() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c",
            "annotations": {"kapp.k14s.io/original": "{}", "note": "x"}}, "data": {"a": "b"}});
        let mut expected = map.clone();
        expected["metadata"]["annotations"] = json!({"note": "x"});
        assert_eq!(mask_one(&map), expected);
        let mut only = map;
        only["metadata"]["annotations"] = json!({"kapp.k14s.io/original": "{}"});
        assert_eq!(mask_one(&only)["metadata"], json!({"name": "c"}));
        let untouched = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "c", "annotations": {}}});
        assert_eq!(mask_one(&untouched), untouched);
    }
}
