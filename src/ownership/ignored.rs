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
