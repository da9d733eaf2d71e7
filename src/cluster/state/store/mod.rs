//! State in a cluster: the calls behind record, key and releases.

mod releases;

pub use releases::Staged;

use std::sync::Arc;

use serde_json::Value;

use super::super::{CallError, Cluster, Refusal, Resource};
use super::key::Key;
use super::kinds::{may_have_arrived, secrets};
use super::names::StateNames;
use super::record::Record;
use crate::error::{Error, Exit, Result};

/// The state of one target. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    cluster: Cluster,
    names: Arc<StateNames>,
    secrets: Arc<Resource>,
}

/// The version of an object as the server counts it: a write that carries it is refused when
/// someone else wrote since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceVersion(String);

impl ResourceVersion {
    fn of(object: &Value) -> Self {
        let text = object["metadata"]["resourceVersion"].as_str();
        ResourceVersion(text.unwrap_or_default().to_owned())
    }
}

impl Store {
    /// The state of the target with these names.
    pub fn new(cluster: &Cluster, names: &StateNames) -> Self {
        Store {
            cluster: cluster.clone(),
            names: Arc::new(names.clone()),
            secrets: Arc::new(secrets()),
        }
    }

    /// The names under which it is kept.
    pub fn names(&self) -> &StateNames {
        &self.names
    }

    /// The same state for what a cancelled run still has to write.
    #[must_use]
    pub fn uncancelled(&self) -> Store {
        Store { cluster: self.cluster.uncancelled(), ..self.clone() }
    }

    /// Reads the record; none: there is none. One call, of one object.
    ///
    /// # Errors
    /// The call fails; the record is damaged, or a newer mcd wrote it.
    pub async fn record(&self) -> Result<Option<(Record, ResourceVersion)>> {
        match self.get(&self.names.record()).await? {
            None => Ok(None),
            Some(secret) => {
                let record = Record::decode(&secret, &self.names)?;
                Ok(Some((record, ResourceVersion::of(&secret))))
            }
        }
    }

    /// Writes the record: `over` the version that was read, or as the first one.
    ///
    /// # Errors
    /// Someone else wrote, made or removed it since (exit 6); it is too large; the call fails.
    pub async fn write_record(
        &self,
        record: &Record,
        over: Option<&ResourceVersion>,
    ) -> Result<ResourceVersion> {
        let (name, manager) = (self.names.record(), self.names.manager.as_str());
        let mut record = record.clone();
        // Whoever writes last says so: another fleet may name the cluster otherwise.
        record.target = self.names.target.clone();
        record.mcd = env!("CARGO_PKG_VERSION").into();
        let mut secret = record.encode(&self.names)?;
        if let (Some(version), Some(metadata)) = (over, secret["metadata"].as_object_mut()) {
            metadata.insert("resourceVersion".into(), version.0.clone().into());
        }
        let (cluster, kind) = (&self.cluster, &*self.secrets);
        let namespace = Some(self.names.namespace.as_str());
        let write = || async {
            match over {
                None => cluster.create(kind, namespace, &secret, manager).await,
                Some(_) => cluster.replace(kind, namespace, &name, &secret, manager, false).await,
            }
        };
        let written = match write().await {
            Err(lost) if may_have_arrived(&lost) => {
                match cluster.get(kind, namespace, &name).await {
                    Ok(Some(found)) if found["data"] == secret["data"] => Ok(found),
                    Ok(_) => write().await,
                    Err(_) => Err(lost),
                }
            }
            written => written,
        };
        written.map(|secret| ResourceVersion::of(&secret)).map_err(|error| match error.refusal() {
            Some(Refusal::Moved | Refusal::AlreadyExists | Refusal::NotFound) => {
                Error::new(Exit::Blocked, "someone else wrote the record in the meantime")
                    .in_target(&self.names.target)
                    .on(&self.names.secret_id(&name))
                    .hint("run the command again: it reads the record anew")
            }
            _ => self.error(error, &name),
        })
    }

    /// Reads the key; none: there is none.
    pub async fn key(&self) -> Result<Option<Key>> {
        let secret = self.get(&self.names.key()).await?;
        secret.map(|secret| Key::decode(&secret, &self.names)).transpose()
    }

    /// Reads the key, and stores `fresh` as it when there is none. Of two that do so at once, one is
    /// kept.
    pub async fn ensure_key(&self, fresh: Key) -> Result<Key> {
        if let Some(key) = self.key().await? {
            return Ok(key);
        }
        let (key, name) = (fresh, self.names.key());
        let secret = key.encode(&self.names);
        let namespace = Some(self.names.namespace.as_str());
        match self.cluster.create(&self.secrets, namespace, &secret, &self.names.manager).await {
            Ok(_) => Ok(key),
            Err(error) if matches!(error.refusal(), Some(Refusal::AlreadyExists)) => {
                let theirs = self.key().await?;
                theirs.ok_or_else(|| self.error(error, &name))
            }
            Err(error) => Err(self.error(error, &name)),
        }
    }

    /// Removes all state but the lease, the record last: until it is gone, what is left is known.
    /// For `mcd delete`, when no member is left.
    pub async fn remove(&self) -> Result<()> {
        for stored in self.releases().await? {
            self.remove_release(&stored).await?;
        }
        for name in [self.names.key(), self.names.record()] {
            self.delete(&self.names.namespace, &name).await?;
        }
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Value>> {
        let namespace = Some(self.names.namespace.as_str());
        let got = self.cluster.get(&self.secrets, namespace, name).await;
        got.map_err(|error| self.error(error, name))
    }

    /// Deletes a Secret, there or not. Their names are mcd's own and never reused for anything
    /// else, so no uid is needed.
    async fn delete(&self, namespace: &str, name: &str) -> Result<()> {
        match self.cluster.delete(&self.secrets, Some(namespace), name, None).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(self.error(error, name)),
        }
    }

    fn error(&self, error: CallError, name: &str) -> Error {
        error.into_error(&self.names.target, Some(&self.names.secret_id(name)))
    }
}
