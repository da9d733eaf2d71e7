//! Fields that are left to others although the manifest has them: replicas that an autoscaler
//! decides, and what `ignore:` names (design §6, A5.4). They are sent when an object is made, then
//! given up; from then on they are neither sent, nor compared, nor owned.

use serde_json::{Map, Value};

use super::fields::FieldSet;
use super::path::{FieldPath, Segment, remove_path};

/// Takes out of the manifest what is left to others. An item of a list that live lacks is new: of
/// it everything is sent, once.
pub fn leave_out(manifest: &mut Value, paths: &[FieldPath], live: &Value) {
    for path in paths {
        let new = item_of(path).is_some_and(|item| item.get(live).is_none());
        if !new {
            remove_path(manifest, path);
        }
    }
}

/// The list item that a path goes through on its way to something in it.
fn item_of(path: &FieldPath) -> Option<FieldPath> {
    let (_, parents) = path.segments().split_last()?;
    let at = parents.iter().rposition(|s| matches!(s, Segment::Key(_)))?;
    Some(FieldPath::new(parents.get(..=at)?.to_vec()))
}

/// Makes `object` have at each path what `live` has there, or nothing where live has nothing.
pub fn keep(object: &mut Value, paths: &[FieldPath], live: &Value) {
    for path in paths {
        match path.get(live) {
            Some(value) => put(object, path.segments(), value),
            None => {
                remove_path(object, path);
            }
        }
    }
}

/// The value that the server keeps as one and that holds the path, by what any manager owns of live:
/// the whole of it, and nobody the path alone. It is so also where the path is all that is in it.
pub fn kept_as_one<'a>(
    owned: impl Iterator<Item = &'a FieldSet> + Clone,
    live: &Value,
    path: &FieldPath,
) -> Option<FieldPath> {
    path.get(live)?;
    if owned.clone().any(|fields| fields.spelled(path).is_some()) {
        return None;
    }
    owned.into_iter().find_map(|fields| fields.whole_around(path))
}

/// Sets a value, with what is missing on the way to it.
fn put(object: &mut Value, path: &[Segment], value: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *object = value.clone();
        return;
    };
    let next = match first {
        Segment::Field(name) => {
            if !object.is_object() {
                *object = Value::Object(Map::new());
            }
            object.as_object_mut().map(|map| map.entry(name.clone()).or_insert(Value::Null))
        }
        Segment::Key(_) | Segment::Value(_) | Segment::Index(_) => {
            if !object.is_array() {
                *object = Value::Array(Vec::new());
            }
            let at = first.position(object, true);
            object.as_array_mut().and_then(|items| {
                let at = at.unwrap_or_else(|| {
                    items.push(match first {
                        Segment::Key(key) => key.value().clone(),
                        _ => Value::Null,
                    });
                    items.len() - 1
                });
                items.get_mut(at)
            })
        }
        Segment::Other(_) => None,
    };
    if let Some(next) = next {
        put(next, rest, value);
    }
}

impl FieldSet {
    /// The path as this set spells it, where it owns it or something below it. Keys of list items
    /// may be left out that the server fills in: `[port=80]` finds `[port=80,protocol="TCP"]`.
    pub fn spelled(&self, path: &FieldPath) -> Option<FieldPath> {
        let mut node = self;
        let mut spelled = FieldPath::default();
        for segment in path.segments() {
            let (found, next) = match (node.child(segment), segment) {
                (Some(next), _) => (segment.clone(), next),
                (None, Segment::Key(_)) => {
                    let same = node.children().find(|(own, _)| segment.is_part_of(own))?;
                    (same.0.clone(), same.1)
                }
                (None, _) => return None,
            };
            spelled = spelled.join(found);
            node = next;
        }
        Some(spelled)
    }

    /// The value that is owned as a whole and holds the path: of an atomic list or map nothing
    /// can be given up alone.
    pub fn whole_around(&self, path: &FieldPath) -> Option<FieldPath> {
        let mut node = self;
        let mut at = FieldPath::default();
        for segment in path.segments() {
            let own = match node.child(segment) {
                Some(_) => segment.clone(),
                None => match node.children().find(|(own, _)| segment.is_part_of(own)) {
                    Some((own, _)) => own.clone(),
                    None => {
                        let whole = node.is_member() && node.children().next().is_none();
                        return (whole && !at.is_empty()).then_some(at);
                    }
                },
            };
            node = node.child(&own)?;
            at = at.join(own);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn paths(texts: &[&str]) -> Vec<FieldPath> {
        texts.iter().map(|text| FieldPath::parse(text).unwrap()).collect()
    }

    #[test]
    fn what_is_left_out_of_a_manifest() {
        let manifest = json!({
            "metadata": {"annotations": {"a.b/c": "x", "d": "y"}},
            "spec": {"replicas": 2, "containers": [{"name": "old", "image": "a"}, {"name": "new", "image": "b"}]},
        });
        let live = json!({"spec": {"containers": [{"name": "old", "image": "z"}]}});
        let left = paths(&[
            ".metadata.annotations[\"a.b/c\"]",
            ".spec.replicas",
            ".spec.absent.below",
            ".spec.containers[name=\"old\"].image",
            ".spec.containers[name=\"new\"].image",
        ]);
        let mut sent = manifest.clone();
        leave_out(&mut sent, &left, &live);
        let expected = json!({
            "metadata": {"annotations": {"d": "y"}},
            "spec": {"containers": [{"name": "old"}, {"name": "new", "image": "b"}]},
        });
        assert_eq!(sent, expected, "an item that is new is sent whole");
        let mut sent = manifest;
        leave_out(&mut sent, &paths(&[".spec.containers[name=\"new\"]"]), &live);
        assert_eq!(sent["spec"]["containers"], json!([{"name": "old", "image": "a"}]));
    }

    #[test]
    fn what_is_kept_is_as_live_has_it() {
        let live = json!({
            "spec": {"replicas": 5, "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}], "set": ["a"]},
        });
        let cases = [
            (".spec.replicas", json!({"spec": {"replicas": 1}}), json!({"spec": {"replicas": 5}})),
            (".spec.replicas", json!({}), json!({"spec": {"replicas": 5}})),
            (".spec.gone", json!({"spec": {"gone": 1, "stays": 2}}), json!({"spec": {"stays": 2}})),
            (
                ".spec.ports[port=80].nodePort",
                json!({"spec": {"ports": [{"port": 80}]}}),
                json!({"spec": {"ports": [{"port": 80, "nodePort": 30080}]}}),
            ),
            (
                ".spec.ports[port=80].nodePort",
                json!({"spec": {"ports": [{"port": 81}]}}),
                json!({"spec": {"ports": [{"port": 81}, {"port": 80, "nodePort": 30080}]}}),
            ),
            (".spec.set[=\"a\"]", json!({"spec": {}}), json!({"spec": {"set": ["a"]}})),
            (
                ".spec.set[=\"a\"]",
                json!({"spec": {"set": ["a", "b"]}}),
                json!({"spec": {"set": ["a", "b"]}}),
            ),
            (".spec.replicas", json!({"spec": "no map"}), json!({"spec": {"replicas": 5}})),
        ];
        for (path, mut object, expected) in cases {
            let before = object.clone();
            keep(&mut object, &paths(&[path]), &live);
            assert_eq!(object, expected, "{path} in {before}");
            keep(&mut object, &paths(&[path]), &live);
            assert_eq!(object, expected, "{path} once more");
        }
    }

    #[test]
    fn paths_as_a_set_spells_them() {
        let set = FieldSet::from_json(&json!({"f:spec": {
            "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}},
            "f:selector": {},
            "f:replicas": {},
        }}));
        let spelled =
            |text: &str| set.spelled(&FieldPath::parse(text).unwrap()).map(|path| path.to_string());
        assert_eq!(spelled(".spec.replicas").as_deref(), Some(".spec.replicas"));
        let name = Some(".spec.ports[port=80,protocol=\"TCP\"].name");
        assert_eq!(spelled(".spec.ports[port=80].name").as_deref(), name);
        assert_eq!(spelled(".spec.ports[port=81].name"), None);
        assert_eq!(spelled(".spec.selector.app"), None);
        let whole = |text: &str| {
            set.whole_around(&FieldPath::parse(text).unwrap()).map(|path| path.to_string())
        };
        assert_eq!(whole(".spec.selector.app").as_deref(), Some(".spec.selector"));
        for text in
            [".spec.selector", ".spec.replicas", ".spec.absent", ".spec.ports[port=81].name"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_server_keeps_as_one() {
        let live = json!({
            "metadata": {"annotations": {"a": "1", "b": "2"}},
            "spec": {"selector": {"app": "web"}},
        });
        let set = |json: Value| FieldSet::from_json(&json);
        let ours = set(json!({"f:spec": {"f:selector": {}}, "f:metadata": {"f:annotations": {}}}));
        let theirs = set(json!({"f:metadata": {"f:annotations": {".": {}, "f:a": {}}}}));
        let kept = |sets: &[&FieldSet], path: &str| {
            let path = FieldPath::parse(path).unwrap();
            kept_as_one(sets.iter().copied(), &live, &path).map(|path| path.to_string())
        };
        let both = [&ours, &theirs];
        assert_eq!(kept(&both, ".spec.selector.app").as_deref(), Some(".spec.selector"));
        assert_eq!(kept(&both, ".spec.selector"), None, "it may be ignored as a whole");
        assert_eq!(kept(&both, ".spec.selector.tier"), None, "live has no such key");
        // Who owns one key of a map shows that each can be owned alone.
        assert_eq!(kept(&both, ".metadata.annotations.a"), None);
        assert_eq!(kept(&[&theirs], ".spec.selector.app"), None, "nobody knows");
        assert_eq!(kept(&[], ".spec.selector.app"), None);
    }

    proptest! {
        /// Whatever stands there: afterwards the path leads to what live has, and nothing else moved.
        #[test]
        fn keeping_is_of_one_path_alone(
            values in proptest::collection::btree_map("[a-c]", 0_u8..3, 0..3),
            others in proptest::collection::btree_map("[a-c]", 0_u8..3, 0..3),
            key in "[a-c]",
        ) {
            let (live, before) = (json!({"m": values}), json!(others));
            let mut object = json!({"m": others});
            let path = FieldPath::fields(&["m", &key]);
            keep(&mut object, std::slice::from_ref(&path), &live);
            prop_assert_eq!(path.get(&object), path.get(&live));
            for other in ["a", "b", "c"].into_iter().filter(|other| *other != key) {
                prop_assert_eq!(object["m"].get(other), before.get(other));
            }
        }
    }
}
