//! What differs between a live object and what an apply makes of it: field by field, and as the
//! unified text that `kubectl diff` shows. Pure.

mod normal;
mod shape;
mod structural;
mod text;

use serde::Serialize;
use serde_json::Value;

use crate::manifest::{self, ObjectId};

pub use normal::normalize;
pub use shape::shaped;
pub use structural::{Change, Op, changes};
pub use text::{DiffLine, LineKind};

/// The difference of one object. Values of Secrets are masked on both sides; what is never shown
/// (see [`normalize`]) is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ObjectDiff {
    /// Field by field; empty when nothing differs.
    pub changes: Vec<Change>,
    #[serde(skip)]
    live: Option<Value>,
    #[serde(skip)]
    desired: Option<Value>,
}

/// Compares a live object with what it will be. None: it does not exist, or will not. Secrets are
/// masked before anything is compared, by the identity, since items of a LIST have no kind (A1.7).
pub fn object_diff(id: &ObjectId, live: Option<&Value>, desired: Option<&Value>) -> ObjectDiff {
    let side = |value: Option<&Value>, other: Option<&Value>| {
        value.map(|value| {
            let mut value = normalize(value);
            name_kind(&mut value, other, id);
            value
        })
    };
    let (live, desired) = (side(live, desired), side(desired, live));
    let (live, desired) = manifest::mask_pair(live.as_ref(), desired.as_ref());
    let changes = changes(live.as_ref(), desired.as_ref());
    if changes.is_empty() {
        return ObjectDiff::default();
    }
    ObjectDiff { changes, live, desired }
}

/// Gives a side without apiVersion and kind those of the other side, or of the identity.
fn name_kind(value: &mut Value, other: Option<&Value>, id: &ObjectId) {
    let Some(map) = value.as_object_mut() else { return };
    map.entry("kind").or_insert_with(|| id.kind.clone().into());
    let version = other.and_then(|other| other.get("apiVersion")).cloned();
    let core = || id.is_secret().then(|| Value::from("v1"));
    if let Some(version) = version.or_else(core) {
        map.entry("apiVersion").or_insert(version);
    }
}

impl ObjectDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The difference as unified text, with `context` unchanged lines around each change. `live`
    /// and `desired` name the sides in the first two lines. Empty when nothing differs.
    pub fn unified(&self, live: &str, desired: &str, context: usize) -> Vec<DiffLine> {
        if self.is_empty() {
            return Vec::new();
        }
        text::unified((live, self.live.as_ref()), (desired, self.desired.as_ref()), context)
    }

    /// Both sides as YAML, for an external diff program; an absent side is empty.
    pub fn sides(&self) -> (String, String) {
        let yaml = |side: &Option<Value>| side.as_ref().map(manifest::to_yaml).unwrap_or_default();
        (yaml(&self.live), yaml(&self.desired))
    }
}

#[cfg(test)]
mod tests;
