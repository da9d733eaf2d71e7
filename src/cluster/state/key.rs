//! The target's own key: what digests in the record, the config hash and the masking of equal
//! values are keyed with. A plain hash of a Secret's value would be an oracle for it (design §6).

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::codec::Damage;
use super::names::StateNames;
use super::secret::{self, StateSecret, Unfit};
use crate::error::{Error, Exit, Result};

const SECRET_TYPE: &str = "mcd.dev/key.v1";
const DATA_KEY: &str = "key";

/// 32 random bytes. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }

    /// The bytes, for an HMAC.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A new key from the system's source of randomness.
    pub fn random() -> Result<Key> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|e| {
            Error::new(Exit::Failed, "the system gave no random bytes").because(e.to_string())
        })?;
        Ok(Key(bytes))
    }

    /// The Secret that holds the key. It is immutable: with another key every digest would differ.
    pub fn encode(&self, names: &StateNames) -> Value {
        StateSecret {
            namespace: &names.namespace,
            name: names.key(),
            secret_type: SECRET_TYPE,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            data: [(DATA_KEY, self.0.as_slice())].into(),
            immutable: true,
        }
        .manifest(names)
    }

    /// Reads the key off its Secret.
    pub fn decode(secret: &Value, names: &StateNames) -> Result<Key> {
        let read = || -> Result<Key, Unfit> {
            secret::check_type(secret, SECRET_TYPE)?;
            let bytes = secret::data(secret, DATA_KEY)?;
            let length = bytes.len();
            let bytes = <[u8; 32]>::try_from(bytes)
                .map_err(|_| Damage::Other(format!("it has {length} bytes, not 32")))?;
            Ok(Key(bytes))
        };
        read().map_err(|unfit| {
            let (name, namespace) = (names.key(), &names.namespace);
            let repair = format!(
                "restore the Secret from a backup, or remove it with `kubectl -n {namespace} \
                 delete secret {name}`: the next apply makes a new key and compares every object \
                 afresh"
            );
            unfit.into_error(names, "the key", &name, &repair)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::names;
    use super::*;

    #[test]
    fn a_key_reads_as_it_was_written_and_no_two_are_equal() {
        let key = Key::random().unwrap();
        let secret = key.encode(&names());
        assert_eq!(secret["metadata"]["name"], "mcd-key.web");
        assert_eq!(secret["immutable"], true);
        assert_eq!(Key::decode(&secret, &names()).unwrap(), key);
        assert_ne!(Key::random().unwrap(), key);
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn a_short_key_and_a_foreign_secret_are_errors() {
        let mut secret = Key::random().unwrap().encode(&names());
        secret["data"]["key"] = "c2hvcnQ=".into();
        let error = Key::decode(&secret, &names()).unwrap_err();
        insta::assert_snapshot!(error, @"us-east: Secret shop/mcd-key.web: the key is damaged: it has 5 bytes, not 32");
        assert!(Key::decode(&json!({"type": "Opaque"}), &names()).is_err());
        secret["type"] = "mcd.dev/key.v2".into();
        assert_eq!(Key::decode(&secret, &names()).unwrap_err().exit(), Exit::Blocked);
    }
}
