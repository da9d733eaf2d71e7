//! State as Secrets: how one is written and read back. Pure.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::codec::Damage;
use super::names::{STATE_LABEL, StateNames};
use crate::error::{Error, Exit};

/// The most bytes of data in one Secret, of the server's 1,048,576 (A7): the rest is room for
/// metadata and for a server that counts more than data.
pub(super) const MAX_DATA: usize = 900 * 1024;

/// A state Secret to be created.
pub(super) struct StateSecret<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: String,
    pub(super) secret_type: &'a str,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) data: BTreeMap<&'a str, &'a [u8]>,
    pub(super) immutable: bool,
}

impl StateSecret<'_> {
    /// The manifest.
    pub(super) fn manifest(&self, names: &StateNames) -> Value {
        let mut labels = self.labels.clone();
        labels.insert(STATE_LABEL.into(), names.app_label.clone());
        let mut metadata =
            json!({"name": self.name, "namespace": self.namespace, "labels": labels});
        if let (Some(metadata), false) = (metadata.as_object_mut(), self.annotations.is_empty()) {
            metadata.insert("annotations".into(), json!(self.annotations));
        }
        let data: Map<String, Value> = (self.data.iter())
            .map(|(key, bytes)| ((*key).to_owned(), STANDARD.encode(bytes).into()))
            .collect();
        let mut secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "type": self.secret_type,
            "data": data,
        });
        if let (Some(secret), true) = (secret.as_object_mut(), self.immutable) {
            secret.insert("immutable".into(), true.into());
        }
        secret
    }
}

/// The bytes under a data key.
pub(super) fn data(secret: &Value, key: &str) -> Result<Vec<u8>, Damage> {
    secret["data"][key]
        .as_str()
        .and_then(|text| STANDARD.decode(text).ok())
        .ok_or_else(|| Damage::Key(key.to_owned()))
}

/// Whether the Secret is of the type `mcd.dev/<what>.v<schema>` that this mcd writes. A later
/// version is refused by name; anything else is damage.
pub(super) fn check_type(secret: &Value, expected: &str) -> Result<(), Unfit> {
    let found = secret["type"].as_str().unwrap_or("Opaque");
    if found == expected {
        return Ok(());
    }
    let version = |text: &str| text.rsplit_once(".v").and_then(|(_, v)| v.parse::<u32>().ok());
    let family = |text: &str| text.rsplit_once(".v").map(|(family, _)| family.to_owned());
    match (version(found), version(expected)) {
        (Some(found_version), Some(known)) if family(found) == family(expected) => {
            Err(Unfit::Newer { found: found_version, known })
        }
        _ => Err(Unfit::Damaged(Damage::Other(format!(
            "its type is `{found}`, and mcd's own is `{expected}`"
        )))),
    }
}

/// Why state that is there cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// A newer mcd wrote it.
    Newer {
        /// The schema it has.
        found: u32,
        /// The schema that this mcd knows.
        known: u32,
    },
    /// It is not what mcd writes.
    Damaged(Damage),
}

impl From<Damage> for Unfit {
    fn from(damage: Damage) -> Self {
        Unfit::Damaged(damage)
    }
}

impl From<serde_json::Error> for Unfit {
    fn from(error: serde_json::Error) -> Self {
        Unfit::Damaged(error.into())
    }
}

impl Unfit {
    /// Refuses a `schema` that is newer than `known`, before anything else of `value` is read.
    pub(super) fn check_schema(value: &Value, known: u32) -> Result<(), Unfit> {
        match value["schema"].as_u64() {
            Some(schema) if (1..=u64::from(known)).contains(&schema) => Ok(()),
            Some(schema) if schema > u64::from(known) => {
                let found = u32::try_from(schema).unwrap_or(u32::MAX);
                Err(Unfit::Newer { found, known })
            }
            _ => Err(Damage::Other("it has no valid `schema`".into()).into()),
        }
    }

    /// The error: `what` is as in `the record` or `release 7`, `repair` what to do when it is damaged.
    pub fn into_error(self, names: &StateNames, what: &str, name: &str, repair: &str) -> Error {
        let error = match self {
            Unfit::Newer { found, known } => Error::new(
                Exit::Blocked,
                format!(
                    "{what} was written by a newer mcd (schema {found}; this one knows {known})"
                ),
            )
            .hint("upgrade mcd; nothing was changed"),
            Unfit::Damaged(damage) => {
                Error::new(Exit::Failed, format!("{what} is damaged: {damage}")).hint(repair)
            }
        };
        error.in_target(&names.target).on(&names.secret_id(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_a_later_version_are_newer_and_others_are_damage() {
        let expected = "mcd.dev/record.v1";
        let check = |t: &str| check_type(&json!({"type": t}), expected);
        assert_eq!(check("mcd.dev/record.v1"), Ok(()));
        assert_eq!(check("mcd.dev/record.v3"), Err(Unfit::Newer { found: 3, known: 1 }));
        assert!(matches!(check("mcd.dev/key.v1"), Err(Unfit::Damaged(_))));
        assert!(matches!(check("Opaque"), Err(Unfit::Damaged(_))));
        assert!(matches!(check_type(&Value::Null, expected), Err(Unfit::Damaged(_))));
    }
}
