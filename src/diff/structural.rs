//! Two objects field by field, with paths as the API server prints them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ownership::{FieldPath, Literal, Segment, same};

/// What happens at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// A value appears, with all that is in it.
    Add,
    /// A value goes, with all that is in it.
    Remove,
    /// A value changes.
    Replace,
    /// The items of a list that both sides have stand in another order.
    Move,
}

impl Op {
    /// The word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Remove => "remove",
            Op::Replace => "replace",
            Op::Move => "move",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Where; empty for the whole object.
    pub path: FieldPath,
    /// What.
    pub op: Op,
    /// The value before; for a move the keys of the items in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; for a move the keys of the items in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// The changes from `live` to `desired`, as one reads them. A subtree that appears or
/// goes is one change. Items of lists are matched by their keys where they have some, and where
/// not by equality, then by position.
pub fn changes(live: Option<&Value>, desired: Option<&Value>) -> Vec<Change> {
    let mut out = Vec::new();
    compare(&FieldPath::default(), live, desired, &mut out);
    out
}

fn compare(path: &FieldPath, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<Change>) {
    let mut push = |op: Op| {
        let (before, after) = (before.cloned(), after.cloned());
        out.push(Change { path: path.clone(), op, before, after });
    };
    match (before, after) {
        (None, None) => {}
        (None, Some(_)) => push(Op::Add),
        (Some(_), None) => push(Op::Remove),
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                let at = path.join(Segment::Field(name.clone()));
                compare(&at, before.get(name), after.get(name), out);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            compare_lists(path, before, after, out);
        }
        (Some(x), Some(y)) if same(x, y) => {}
        (Some(_), Some(_)) => push(Op::Replace),
    }
}

fn compare_lists(path: &FieldPath, before: &[Value], after: &[Value], out: &mut Vec<Change>) {
    if let Some((before, after)) = keyed(path, before, after) {
        compare_keyed(path, &before, &after, out);
    } else if let Some((before, after)) = as_sets(path, before, after) {
        compare_keyed(path, &before, &after, out);
    } else {
        compare_by_position(path, before, after, out);
    }
}

/// The items of a list with the step that leads to each.
type Items<'v> = Vec<(Segment, &'v Value)>;

/// The keys that lists of this name have in Kubernetes' own types, most telling first.
fn candidates(path: &FieldPath) -> &'static [&'static [&'static str]] {
    let Some(Segment::Field(name)) = path.segments().last() else { return &[&["name"]] };
    match name.as_str() {
        "ports" => &[&["containerPort", "protocol"], &["port", "protocol"], &["name"]],
        "volumeMounts" => &[&["mountPath"]],
        "volumeDevices" => &[&["devicePath"]],
        "hostAliases" => &[&["ip"]],
        "topologySpreadConstraints" => &[&["topologyKey", "whenUnsatisfiable"]],
        "conditions" | "conditionTypes" => &[&["type"]],
        "ownerReferences" => &[&["uid"]],
        "resourceClaims" => &[&["name"]],
        "subjects" => &[&["kind", "namespace", "name"], &["kind", "name"]],
        "volumeClaimTemplates" => &[],
        _ => &[&["name"]],
    }
}

/// Both lists by keys, if every item of both has them and no two items of a list share them.
fn keyed<'v>(
    path: &FieldPath,
    before: &'v [Value],
    after: &'v [Value],
) -> Option<(Items<'v>, Items<'v>)> {
    if before.is_empty() && after.is_empty() {
        return None;
    }
    candidates(path).iter().find_map(|keys| {
        let with_keys = |items: &'v [Value]| -> Option<Items<'v>> {
            let items: Option<Items<'v>> =
                items.iter().map(|item| Some((key_of(item, keys)?, item))).collect();
            items.filter(|items| {
                let unique: BTreeSet<&Segment> = items.iter().map(|(segment, _)| segment).collect();
                unique.len() == items.len()
            })
        };
        Some((with_keys(before)?, with_keys(after)?))
    })
}

/// The step to an item with these keys. A port without protocol is one of TCP.
fn key_of(item: &Value, keys: &[&str]) -> Option<Segment> {
    let item = item.as_object()?;
    let mut found = Map::new();
    for key in keys {
        let value = match item.get(*key) {
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => value.clone(),
            None if *key == "protocol" => "TCP".into(),
            _ => return None,
        };
        found.insert((*key).to_owned(), value);
    }
    Some(Segment::Key(Literal::new(Value::Object(found))))
}

/// The lists that are sets in every kind; elsewhere the position of a text matters, or may.
fn as_sets<'v>(
    path: &FieldPath,
    before: &'v [Value],
    after: &'v [Value],
) -> Option<(Items<'v>, Items<'v>)> {
    if !matches!(path.segments().last(), Some(Segment::Field(name)) if name == "finalizers") {
        return None;
    }
    let items = |list: &'v [Value]| -> Option<Items<'v>> {
        list.iter()
            .map(|v| v.is_string().then(|| (Segment::Value(Literal::new(v.clone())), v)))
            .collect()
    };
    Some((items(before)?, items(after)?))
}

fn compare_keyed(path: &FieldPath, before: &Items<'_>, after: &Items<'_>, out: &mut Vec<Change>) {
    let by_key: BTreeMap<&Segment, &Value> = before.iter().map(|(s, v)| (s, *v)).collect();
    let new_by_key: BTreeMap<&Segment, &Value> = after.iter().map(|(s, v)| (s, *v)).collect();
    let common = |items: &Items<'_>, other: &BTreeMap<&Segment, &Value>| -> Vec<Value> {
        let both = items.iter().filter(|(segment, _)| other.contains_key(segment));
        both.map(|(segment, _)| label(segment)).collect()
    };
    let (old_order, new_order) = (common(before, &new_by_key), common(after, &by_key));
    if old_order != new_order {
        out.push(Change {
            path: path.clone(),
            op: Op::Move,
            before: Some(Value::Array(old_order)),
            after: Some(Value::Array(new_order)),
        });
    }
    for (segment, old) in before {
        let at = path.join(segment.clone());
        compare(&at, Some(old), new_by_key.get(segment).copied(), out);
    }
    for (segment, new) in after.iter().filter(|(segment, _)| !by_key.contains_key(segment)) {
        compare(&path.join(segment.clone()), None, Some(new), out);
    }
}

/// What a move shows of an item: its key's value, where it has one key.
fn label(segment: &Segment) -> Value {
    match segment {
        Segment::Key(key) => {
            let values: Vec<&Value> =
                key.value().as_object().into_iter().flat_map(Map::values).collect();
            match values.as_slice() {
                [one] => (*one).clone(),
                _ => Value::String(segment.to_string()),
            }
        }
        Segment::Value(value) => value.value().clone(),
        Segment::Field(_) | Segment::Index(_) | Segment::Other(_) => {
            Value::String(segment.to_string())
        }
    }
}

/// Lists without keys: what is equal at the start and at the end stays, the middle is paired by
/// position. Indexes are those of the new list, of removed items those of the old one.
fn compare_by_position(path: &FieldPath, before: &[Value], after: &[Value], out: &mut Vec<Change>) {
    let equal = |(x, y): &(&Value, &Value)| same(x, y);
    let start = before.iter().zip(after).take_while(equal).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(equal).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    for offset in 0..old.len().max(new.len()) {
        let index = u64::try_from(start + offset).unwrap_or(u64::MAX);
        compare(&path.join(Segment::Index(index)), old.get(offset), new.get(offset), out);
    }
}
