//! Fields that `conflicts.leave` gives to another manager: what it owns is left out of what is
//! sent, and given up where it is ours too, so that its value stays (A5.4).

use serde_json::Value;

use super::entry::entries;
use super::fields::FieldSet;
use super::path::{FieldPath, Segment, remove_path};
use super::policy::{Choice, Policy};

/// What the managers that the policy leaves alone own on the live object, as values: without the
/// keys of list items, which every owner of an item has to name.
pub fn left_to_others(live: &Value, policy: &Policy) -> FieldSet {
    // Nearly always, and asked of every object of every plan.
    if policy.leave.is_empty() {
        return FieldSet::default();
    }
    let entries = entries(live);
    let left = entries.iter().filter(|e| policy.choice(&e.manager) == Some(Choice::Leave));
    let values = left.flat_map(|entry| entry.fields.leaves());
    values.filter(|path| !is_key(path) && !is_membership(path)).collect()
}

/// Whether omitting a path would omit what says whose the object is.
fn is_membership(path: &FieldPath) -> bool {
    match path.segments() {
        [Segment::Field(metadata), rest @ ..] if metadata == "metadata" => match rest {
            [_, Segment::Field(key), ..] => key.starts_with("mcd.dev/"),
            // A map that its owner has emptied.
            _ => true,
        },
        _ => false,
    }
}

/// Whether a path leads to a key of the list item that it goes through, or to the item itself.
fn is_key(path: &FieldPath) -> bool {
    match path.segments() {
        [.., Segment::Key(keys), Segment::Field(name)] => keys.value().get(name).is_some(),
        [.., Segment::Key(_)] => true,
        _ => false,
    }
}

/// Takes the values of `left` out of a manifest, and says which of them it had.
pub fn omit(manifest: &mut Value, left: &FieldSet) -> Vec<FieldPath> {
    let mut omitted = left.leaves();
    omitted.retain(|path| remove_path(manifest, path));
    omitted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{entry, live, path};
    use super::*;

    #[test]
    fn values_of_others_are_left_out_and_keys_stay() {
        let fields = json!({
            "f:metadata": {
                "f:annotations": {".": {}, "f:example.com/a": {}, "f:mcd.dev/order": {}},
                "f:labels": {},
            },
            "f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}, "f:name": {}}}, "f:replicas": {}},
        });
        let policy = Policy::new(&[], &[], &["op*".to_owned()]);
        let others = vec![
            entry("operator", "Update", &fields),
            entry("kubectl-edit", "Update", &json!({"f:spec": {"f:paused": {}}})),
        ];
        let left = left_to_others(&live(json!({}), others), &policy);
        let mut manifest = json!({
            "metadata": {
                "annotations": {"example.com/a": "1", "b": "2", "mcd.dev/order": "3"},
                "labels": {"mcd.dev/app": "shop.web"},
            },
            "spec": {"paused": true, "replicas": 3, "ports": [{"port": 80, "name": "http", "x": 1}]},
        });
        let omitted = omit(&mut manifest, &left);
        assert_eq!(
            omitted,
            [
                path(".metadata.annotations.example.com/a"),
                path(".spec.ports[port=80].name"),
                path(".spec.replicas"),
            ]
        );
        assert_eq!(
            manifest,
            json!({
                "metadata": {
                    "annotations": {"b": "2", "mcd.dev/order": "3"},
                    "labels": {"mcd.dev/app": "shop.web"},
                },
                "spec": {"paused": true, "ports": [{"port": 80, "x": 1}]},
            })
        );
        assert!(omit(&mut manifest, &left).is_empty());
    }
}
