//! Random edits of a live object, the same ones in every run.

use serde_json::{Value, json};

/// A small generator (splitmix64), so that a failure can be seen again.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % bound.max(1) as u64).unwrap_or_default()
    }
}

/// A place in an object.
struct Place<'v> {
    pointer: String,
    value: &'v Value,
    /// The index, where the place is an item of a list.
    index: Option<usize>,
}

/// An edit as a JSON patch: replace, remove, duplicate, add, or move to the front. None when the
/// place that was drawn does not allow the edit that was drawn.
pub(crate) fn edit(object: &Value, random: &mut Random) -> Option<Value> {
    let mut places = Vec::new();
    let metadata = random.below(7) == 0;
    for field in if metadata {
        &["labels", "annotations", "finalizers"][..]
    } else {
        &["spec", "data", "rules", "subjects"]
    } {
        let (at, pointer) = match metadata {
            true => (&object["metadata"][*field], format!("/metadata/{field}")),
            false => (&object[*field], format!("/{field}")),
        };
        collect(at, &pointer, &mut places);
    }
    if places.is_empty() {
        return None;
    }
    let place = &places[random.below(places.len())];
    let path = &place.pointer;
    let operation = match random.below(5) {
        0 => json!({"op": "replace", "path": path, "value": other(place.value)}),
        1 => json!({"op": "remove", "path": path}),
        2 => {
            place.index?;
            json!({"op": "add", "path": path, "value": another(place.value)})
        }
        3 => {
            place.value.as_object()?;
            json!({"op": "add", "path": format!("{path}/zz"), "value": "zz"})
        }
        _ => {
            place.index.filter(|index| *index > 0)?;
            let (list, _) = path.rsplit_once('/')?;
            json!({"op": "move", "from": path, "path": format!("{list}/0")})
        }
    };
    Some(json!([operation]))
}

fn collect<'v>(value: &'v Value, pointer: &str, out: &mut Vec<Place<'v>>) {
    let mut add = |name: &str, value: &'v Value, index: Option<usize>| {
        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        out.push(Place { pointer: pointer.clone(), value, index });
        collect(value, &pointer, out);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| add(name, value, None)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| add(&i.to_string(), value, Some(i)));
        }
        _ => {}
    }
}

/// Another value of the same type.
fn other(value: &Value) -> Value {
    match value {
        Value::Number(n) => n.as_i64().map_or(json!(0), |n| json!(n + 1)),
        Value::String(s) => json!(format!("{s}x")),
        Value::Bool(b) => json!(!b),
        _ => value.clone(),
    }
}

/// A copy with other keys, to stand beside its original.
fn another(value: &Value) -> Value {
    let Some(map) = value.as_object() else { return other(value) };
    let mut copy = map.clone();
    for key in ["name", "port", "containerPort"] {
        if let Some(value) = copy.get_mut(key) {
            *value = other(value);
        }
    }
    Value::Object(copy)
}
