//! Two edits that server-side apply cannot take as they are: a map of a custom resource that becomes
//! empty, and an item of a list whose key a hand has changed (A1.9, A1.10).

use serde_json::{Value, json};

use super::entry::{entries, our_entry, raw_entries};
use super::fields::FieldSet;
use super::judge::Judgement;
use super::managers::ManagerClass;
use super::patch::patch;
use super::path::{FieldPath, Segment, remove_path};
use crate::cluster::Cause;

/// Maps that the manifest empties although we own keys in them: the server would make null of them
/// (A1.9). They are left out once, which removes our keys, and then sent.
pub fn emptied(manifest: &Value, own: &FieldSet) -> Vec<FieldPath> {
    let mut found = Vec::new();
    walk(own, &FieldPath::default(), &mut |path, node| {
        let empty = path.get_in_manifest(manifest).is_some_and(|v| *v == json!({}));
        if empty && node.children().next().is_some() {
            found.push(path.clone());
        }
    });
    found
}

/// An item of a list that a hand has given another key: beside the manifest's own item it would be
/// a duplicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rekeyed {
    /// Whose entry of managedFields has it, as [`super::Entry::who`] says.
    pub who: String,
    /// The manager.
    pub manager: String,
    /// When it last wrote (RFC 3339).
    pub time: Option<String>,
    /// The item, as it is in the cluster.
    pub item: FieldPath,
}

/// The items for which the server refuses the manifest because of duplicate values (A1.10): those
/// of hands that the manifest lacks, in the lists that the server's `causes` name.
pub fn rekeyed(
    live: &Value,
    manifest: &Value,
    causes: &[Cause],
    judged: &Judgement,
) -> Vec<Rekeyed> {
    let lists: Vec<String> = causes
        .iter()
        .filter(|cause| cause.message.starts_with("duplicate value"))
        .map(|cause| names_of(&cause.field))
        .collect();
    let hands = |index: usize| {
        judged.left.iter().any(|left| left.index == index && left.class == ManagerClass::Hand)
    };
    let mut found = Vec::new();
    for entry in entries(live).iter().filter(|e| hands(e.index) && e.subresource.is_none()) {
        walk(&entry.fields, &FieldPath::default(), &mut |path, _| {
            let Some((Segment::Key(_), parents)) = path.segments().split_last() else { return };
            let list = FieldPath::new(parents.to_vec());
            let named = format!("{}.", names_of(&list.to_string()));
            if lists.iter().any(|field| field.starts_with(&named))
                && list.get_in_manifest(manifest).is_some_and(Value::is_array)
                && path.get_in_manifest(manifest).is_none()
            {
                found.push(Rekeyed {
                    who: entry.who(),
                    manager: entry.manager.clone(),
                    time: entry.time.clone(),
                    item: path.clone(),
                });
            }
        });
    }
    found
}

/// `spec.ports[1].name` and `.spec.ports[port=80].name` without their keys: `spec.ports.name`.
fn names_of(path: &str) -> String {
    let mut names = String::new();
    let (mut depth, mut quoted) = (0_usize, false);
    for c in path.trim_start_matches('.').chars() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            c if depth == 0 => names.push(c),
            _ => {}
        }
    }
    names
}

fn walk(set: &FieldSet, at: &FieldPath, see: &mut impl FnMut(&FieldPath, &FieldSet)) {
    for (segment, below) in set.children() {
        let path = at.join(segment.clone());
        see(&path, below);
        walk(below, &path, see);
    }
}

/// The JSON patch that makes the items ours, and nothing else of the hands' fields: the next apply,
/// which lacks them, removes them. None when they are not there any more.
pub fn take_items(live: &Value, items: &[Rekeyed], ours: &str) -> Option<Value> {
    let all = entries(live);
    let own = our_entry(live, ours)?;
    let mut fields = own.fields.clone();
    let mut raw = raw_entries(live).to_vec();
    let mut emptied = Vec::new();
    let mut any = false;
    for entry in &all {
        let mut theirs = entry.fields.clone();
        for item in items.iter().filter(|item| item.who == entry.who()) {
            let Some(taken) = theirs.at(&item.item).cloned() else { continue };
            theirs.remove(&item.item);
            for path in taken.paths() {
                let mut whole = item.item.segments().to_vec();
                whole.extend(path.segments().iter().cloned());
                fields.insert(&FieldPath::new(whole));
            }
            fields.insert(&item.item);
            any = true;
        }
        if theirs.is_empty() && !entry.fields.is_empty() {
            emptied.push(entry.index);
        }
        raw.get_mut(entry.index)?.as_object_mut()?.insert("fieldsV1".into(), theirs.to_json());
    }
    raw.get_mut(own.index)?.as_object_mut()?.insert("fieldsV1".into(), fields.to_json());
    let rest: Vec<Value> = raw
        .into_iter()
        .enumerate()
        .filter(|(index, _)| !emptied.contains(index))
        .map(|(_, entry)| entry)
        .collect();
    if any { patch(live, &rest) } else { None }
}

/// The manifest without the items of those lists that live has not yet: what the server can be asked
/// while the hands' items are still there.
pub fn without_new_items(manifest: &mut Value, live: &Value, items: &[Rekeyed]) {
    for_each_list(items, |list| {
        let theirs = list.get(live).and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(ours) = list_mut(manifest, list) else { return };
        let keys = keys_of(items, list);
        ours.retain(|item| theirs.iter().any(|other| same_item(item, other, &keys)));
    });
}

/// What the lists will be: without the hands' items, and with the manifest's.
pub fn with_new_items(after: &mut Value, manifest: &Value, items: &[Rekeyed]) {
    for item in items {
        remove_path(after, &item.item);
    }
    for_each_list(items, |list| {
        let ours = list.get_in_manifest(manifest).and_then(Value::as_array).cloned();
        let Some(theirs) = list_mut(after, list) else { return };
        let keys = keys_of(items, list);
        for item in ours.unwrap_or_default() {
            if !theirs.iter().any(|other| same_item(&item, other, &keys)) {
                theirs.push(item);
            }
        }
    });
}

fn for_each_list(items: &[Rekeyed], mut each: impl FnMut(&FieldPath)) {
    let mut seen: Vec<FieldPath> = Vec::new();
    for item in items {
        let Some((_, parents)) = item.item.segments().split_last() else { continue };
        let list = FieldPath::new(parents.to_vec());
        if !seen.contains(&list) {
            each(&list);
            seen.push(list);
        }
    }
}

fn keys_of(items: &[Rekeyed], list: &FieldPath) -> Vec<String> {
    let key =
        items.iter().filter(|item| list.is_prefix_of(&item.item)).find_map(|item| {
            match item.item.segments().last() {
                Some(Segment::Key(key)) => key.value().as_object().cloned(),
                _ => None,
            }
        });
    key.into_iter().flatten().map(|(name, _)| name).collect()
}

/// Whether two items have the same keys, as far as the first one says them.
fn same_item(item: &Value, other: &Value, keys: &[String]) -> bool {
    keys.iter().all(|key| item.get(key).is_none() || item.get(key) == other.get(key))
}

fn list_mut<'v>(object: &'v mut Value, list: &FieldPath) -> Option<&'v mut Vec<Value>> {
    let mut at = object;
    for segment in list.segments() {
        at = super::path::step_mut(at, segment)?;
    }
    at.as_array_mut()
}

#[cfg(test)]
mod tests {
    use super::super::judge::Left;
    use super::*;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    #[test]
    fn maps_that_become_empty() {
        let own = FieldSet::from_json(&json!({"f:spec": {
            "f:m": {".": {}, "f:k": {}}, "f:n": {}, "f:o": {".": {}, "f:k": {}},
            "f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:m": {".": {}, "f:x": {}}}},
        }}));
        let manifest = json!({"spec": {
            "m": {}, "n": {}, "o": {"k": "v"}, "l": [{"name": "a", "m": {}}],
        }});
        let found: Vec<String> = emptied(&manifest, &own).iter().map(ToString::to_string).collect();
        assert_eq!(found, [".spec.l[name=\"a\"].m", ".spec.m"]);
        assert_eq!(emptied(&json!({"spec": {"other": 1}}), &own), []);
    }

    fn live() -> Value {
        json!({
            "metadata": {"resourceVersion": "7", "managedFields": [
                {"manager": "mcd:a/b", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:type": {}}}},
                {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z",
                 "fieldsV1": {"f:spec": {"f:ports": {".": {}, "k:{\"port\":54,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}}}}},
            ]},
            "spec": {"ports": [{"port": 54, "protocol": "TCP", "name": "t"}]},
        })
    }

    #[test]
    fn a_hands_item_becomes_ours_and_the_rest_of_its_fields_stays() {
        let manifest = json!({"spec": {"ports": [{"port": 53, "name": "t"}]}});
        let judged = Judgement {
            left: vec![Left { index: 1, class: ManagerClass::Hand }],
            ..Judgement::default()
        };
        let cause = |message: &str| {
            vec![Cause { field: "spec.ports[1].name".into(), message: message.into() }]
        };
        assert_eq!(rekeyed(&live(), &manifest, &cause("required value"), &judged), []);
        let found = rekeyed(&live(), &manifest, &cause("duplicate value: \"t\""), &judged);
        let item = path(".spec.ports[port=54,protocol=\"TCP\"]");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].manager.as_str(), &found[0].item), ("kubectl-edit", &item));
        let patch = take_items(&live(), &found, "mcd:a/b").unwrap();
        let entries = patch[0]["value"].as_array().unwrap();
        assert_eq!(
            entries[0]["fieldsV1"]["f:spec"]["f:ports"],
            json!({
                "k:{\"port\":54,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
            })
        );
        assert_eq!(entries[1]["fieldsV1"], json!({"f:spec": {"f:ports": {}}}));
        assert_eq!(patch[1]["value"], "7");

        let mut asked = manifest.clone();
        without_new_items(&mut asked, &live(), &found);
        assert_eq!(asked["spec"]["ports"], json!([]));
        let mut after = live();
        with_new_items(&mut after, &manifest, &found);
        assert_eq!(after["spec"]["ports"], json!([{"port": 53, "name": "t"}]));
    }
}
