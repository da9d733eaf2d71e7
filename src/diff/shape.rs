//! What a live object has of what its manifest sets.

use serde_json::{Map, Value};

/// The live values of the fields that a manifest sets. Items of lists are found by their names,
/// else by their places; what a list has beyond the manifest's stays, since an item that someone
/// injects changes what the others mean.
pub fn shaped(live: &Value, manifest: &Value) -> Value {
    match (live, manifest) {
        (Value::Object(live), Value::Object(manifest)) => {
            let fields = manifest.iter().filter_map(|(key, manifest)| {
                Some((key.clone(), shaped(live.get(key)?, manifest)))
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        (Value::Array(live), Value::Array(manifest)) => {
            let named = live.iter().chain(manifest).all(|item| item["name"].is_string());
            let of = |at: usize, item: &Value| match named {
                true => manifest.iter().find(|m| m["name"] == item["name"]),
                false => manifest.get(at),
            };
            let items = live.iter().enumerate();
            Value::Array(
                items
                    .map(|(at, item)| match of(at, item) {
                        Some(manifest) => shaped(item, manifest),
                        None => item.clone(),
                    })
                    .collect(),
            )
        }
        (live, _) => live.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_manifest_sets_and_what_lists_have_besides() {
        let manifest = json!({
            "spec": {"replicas": 2, "gone": 1, "args": ["a"], "containers": [
                {"name": "web", "image": "web:1"}, {"name": "side", "image": "side:1"}]},
        });
        let live = json!({
            "spec": {"replicas": 5, "paused": true, "args": ["b", "c"], "containers": [
                {"name": "side", "image": "side:1", "imagePullPolicy": "Always"},
                {"name": "proxy", "image": "proxy:1"},
                {"name": "web", "image": "web:2", "ports": []}]},
            "status": {"replicas": 5},
        });
        assert_eq!(
            shaped(&live, &manifest),
            json!({"spec": {"replicas": 5, "args": ["b", "c"], "containers": [
                {"name": "side", "image": "side:1"},
                {"name": "proxy", "image": "proxy:1"},
                {"name": "web", "image": "web:2"}]}})
        );
    }
}
