//! What an object will be that is deleted and made anew, as far as it can be told beforehand: the
//! server cannot be asked to create an object that exists.

use serde_json::Value;

use crate::ownership::{FieldSet, remove_path};

/// Live with the manifest laid over it: what the server defaults is taken to be as it is now, what
/// of `owned` the manifest lacks goes, and nothing of the object's life so far stays in.
pub fn anew(live: &Value, manifest: &Value, owned: &FieldSet) -> Value {
    let mut after = live.clone();
    for path in owned.leaves() {
        if path.get_in_manifest(manifest).is_none() {
            remove_path(&mut after, &path);
        }
    }
    overlay(&mut after, manifest);
    after
}

fn overlay(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, over) in new {
                match old.get_mut(key) {
                    Some(value) => overlay(value, over),
                    None => {
                        old.insert(key.clone(), over.clone());
                    }
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let named = |item: &Value| item["name"].as_str().map(str::to_owned);
            let mut items: Vec<Value> = Vec::with_capacity(new.len());
            for (index, over) in new.iter().enumerate() {
                // Items are the same by their name, else by their place.
                let same = match named(over) {
                    Some(name) => old.iter().find(|item| named(item).as_ref() == Some(&name)),
                    None => old.get(index),
                };
                let mut item = same.cloned().unwrap_or_else(|| over.clone());
                overlay(&mut item, over);
                items.push(item);
            }
            *old = items;
        }
        (value, over) => *value = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_filled_in_stays_and_what_was_ours_goes() {
        let live = json!({
            "metadata": {"name": "a", "labels": {"old": "x", "theirs": "y"}},
            "spec": {
                "template": {"spec": {
                    "dnsPolicy": "ClusterFirst",
                    "containers": [
                        {"name": "b", "image": "b:1"},
                        {"name": "a", "image": "a:1", "resources": {}},
                    ],
                }},
                "args": ["x", "y"],
            },
        });
        let manifest = json!({
            "metadata": {"name": "a", "labels": {"new": "z"}},
            "spec": {
                "template": {"spec": {"containers": [{"name": "a", "image": "a:2"}]}},
                "args": ["x"],
            },
        });
        let owned = FieldSet::from_json(&json!({"f:metadata": {"f:labels": {"f:old": {}}}}));
        assert_eq!(
            anew(&live, &manifest, &owned),
            json!({
                "metadata": {"name": "a", "labels": {"theirs": "y", "new": "z"}},
                "spec": {
                    "template": {"spec": {
                        "dnsPolicy": "ClusterFirst",
                        "containers": [{"name": "a", "image": "a:2", "resources": {}}],
                    }},
                    "args": ["x"],
                },
            })
        );
    }
}
