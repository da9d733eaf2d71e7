//! The fast path's digests (design §6, A1.5): a manifest's, and a live object's over what we own.
//!
//! Together they say "unchanged" without a dry run: the same manifest was sent, and the fields
//! that came back for it are as they were, in the same order, owned in the same way. No quantity
//! is parsed and no default known: whatever the server made of the manifest was recorded.

use std::fmt::{self, Write};
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::Sha256;

use super::entry::{is_raw_apply, raw_entries};
use super::json::{same, write_canonical, write_string};
use super::path::has_keys;

/// The target's own key. Digests are keyed because a plain hash of a Secret's value can be guessed.
pub type Key = [u8; 32];

/// 128 bits of a keyed hash, spelled as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The keyed hash of a value, whatever its spelling. `purpose` keeps digests of different
    /// things apart.
    pub(crate) fn of_json(key: &Key, purpose: &str, value: &Value) -> Digest {
        let mut text = String::new();
        write_canonical(value, &mut text);
        Digest::of(key, purpose, &text)
    }

    /// The keyed hash of `text`.
    fn of(key: &Key, purpose: &str, text: &str) -> Digest {
        let mut bytes = [0; 16];
        // HMAC takes keys of any length, so this cannot fail.
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) {
            mac.update(purpose.as_bytes());
            mac.update(&[0]);
            mac.update(text.as_bytes());
            let full = mac.finalize().into_bytes();
            for (to, from) in bytes.iter_mut().zip(full.iter()) {
                *to = *from;
            }
        }
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "expected 32 hexadecimal digits".to_owned();
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 16];
        for (to, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *to = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The digest of a manifest as it is sent. The order of keys and the spelling of numbers are no
/// part of it.
pub fn manifest_digest(key: &Key, manifest: &Value) -> Digest {
    Digest::of_json(key, "manifest", manifest)
}

/// The digest of a live object over what `manager` applied: uid, whether it is terminating, the
/// entry's version and set, and the live values on that set, items of keyed lists and of sets in
/// live order. The object's own apiVersion and kind are no part of it: items of a LIST lack them
/// (A1.7). None unless there is exactly one Apply entry of the manager.
pub fn live_digest(key: &Key, live: &Value, manager: &str) -> Option<Digest> {
    let mut ours = raw_entries(live).iter().filter(|raw| is_raw_apply(raw, manager));
    let (Some(entry), None) = (ours.next(), ours.next()) else { return None };
    let own = &entry["fieldsV1"];
    let metadata = &live["metadata"];
    let mut text = String::new();
    write_canonical(&metadata["uid"], &mut text);
    // Writing to a String cannot fail.
    let _ = write!(text, " {} ", metadata["deletionTimestamp"].is_string());
    write_canonical(&entry["apiVersion"], &mut text);
    write_canonical(own, &mut text);
    project(live, own, &mut text);
    Some(Digest::of(key, "live", &text))
}

/// What the steps below a node of `fieldsV1` are.
enum Below<'v> {
    /// Nothing: the value is owned whole.
    Nothing,
    Fields,
    Keys(Vec<(&'v str, Map<String, Value>)>),
    Values(Vec<Value>),
    /// Indexes, a mixture, or something unknown.
    Unknown,
}

fn below(own: &Value) -> Below<'_> {
    let mut steps: Vec<&str> = own
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .filter(|key| *key != ".")
        .collect();
    steps.sort_unstable();
    if steps.is_empty() {
        return Below::Nothing;
    }
    if steps.iter().all(|step| step.starts_with("f:")) {
        return Below::Fields;
    }
    let keys: Option<Vec<_>> = steps
        .iter()
        .map(|step| Some((*step, serde_json::from_str(step.strip_prefix("k:")?).ok()?)))
        .collect();
    if let Some(keys) = keys {
        return Below::Keys(keys);
    }
    let values: Option<Vec<_>> =
        steps.iter().map(|step| serde_json::from_str(step.strip_prefix("v:")?).ok()).collect();
    values.map_or(Below::Unknown, Below::Values)
}

/// Writes the part of `live` that `own` covers. The marks (`!`, `?`, `-`) stand outside of JSON,
/// so that no value can look like one.
fn project(live: &Value, own: &Value, out: &mut String) {
    match (below(own), live) {
        (Below::Nothing, _) => write_canonical(live, out),
        (Below::Fields, Value::Object(map)) => {
            let mut fields: Vec<_> = own.as_object().into_iter().flatten().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, below) in fields {
                let Some(name) = key.strip_prefix("f:") else { continue };
                write_string(name, out);
                out.push(':');
                match map.get(name) {
                    Some(value) => project(value, below, out),
                    None => out.push('-'),
                }
                out.push(',');
            }
            out.push('}');
        }
        (Below::Keys(keys), Value::Array(items)) => {
            let mut missing: Vec<bool> = vec![true; keys.len()];
            out.push('[');
            for item in items {
                for ((step, wanted), missing) in keys.iter().zip(&mut missing) {
                    if has_keys(item, wanted, false) {
                        *missing = false;
                        out.push_str(step);
                        out.push(':');
                        project(item, &own[*step], out);
                        out.push(',');
                    }
                }
            }
            for ((step, _), _) in keys.iter().zip(&missing).filter(|(_, missing)| **missing) {
                out.push('-');
                out.push_str(step);
            }
            out.push(']');
        }
        (Below::Values(values), Value::Array(items)) => {
            out.push('[');
            for item in items.iter().filter(|item| values.iter().any(|v| same(v, item))) {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        (Below::Fields | Below::Keys(_) | Below::Values(_), _) => {
            out.push('!');
            write_canonical(live, out);
        }
        (Below::Unknown, _) => {
            out.push('?');
            write_canonical(live, out);
        }
    }
}
