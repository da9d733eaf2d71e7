//! The calls behind releases.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use serde_json::Value;

use super::super::super::{CallError, Refusal};
use super::super::about::ReleaseSummary;
use super::super::kinds::may_have_arrived;
use super::super::record::Record;
use super::super::release::{
    Head, NUMBER_LABEL, Release, Stored, StoredPart, expired, mark_patch, next_number, repairs,
};
use super::Store;
use crate::error::{Error, Exit, Result};
use crate::manifest::ObjectId;

/// How many numbers are tried when others take them at the same time.
const ATTEMPTS: usize = 20;

/// A release that is stored.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Its summary, with its number.
    pub summary: ReleaseSummary,
    /// Parts for namespaces that do not exist yet.
    pending: Vec<StoredPart>,
}

/// Why a set of parts could not be stored.
enum NotStored {
    /// Its number is taken.
    Taken,
    /// A call failed.
    Failed(Error),
}

impl Store {
    /// The releases in the cluster, oldest first: metadata only.
    pub async fn releases(&self) -> Result<Vec<Stored>> {
        let names = self.names();
        let selector = format!("{},{NUMBER_LABEL}", names.state_selector());
        let namespace = Some(names.namespace.as_str());
        let listed =
            self.cluster.list_metadata(&self.secrets, namespace, Some(&selector), None).await;
        let listed = listed.map_err(|error| error.into_error(&names.target, None))?;
        Ok(Stored::group(&listed))
    }

    /// Stores a release under the next free number, as `staged`. Whatever number `release` bears is
    /// replaced. Parts for namespaces that the release itself creates wait for [`Store::complete`].
    ///
    /// # Errors
    /// A call fails: then what was stored of it is removed again, as far as that is possible.
    pub async fn stage(
        &self,
        mut release: Release,
        record: Option<&Record>,
        listed: &[Stored],
    ) -> Result<Staged> {
        release.number = next_number(record, listed);
        for _ in 0..ATTEMPTS {
            let (parts, summary) = release.encode(self.names())?;
            match self.store_parts(parts).await {
                Ok(pending) => return Ok(Staged { summary, pending }),
                Err(NotStored::Taken) => release.number = release.number.saturating_add(1),
                Err(NotStored::Failed(error)) => return Err(error),
            }
        }
        Err(Error::new(Exit::Blocked, "others take every release number")
            .in_target(&self.names().target)
            .hint("try again when they are done"))
    }

    /// Stores the parts whose namespaces did not exist when the release was staged. To be called
    /// once the release's namespaces are applied; without it the release cannot be loaded.
    pub async fn complete(&self, staged: &mut Staged) -> Result<()> {
        while let Some(part) = staged.pending.last() {
            match self.create(part).await {
                Ok(()) => {}
                // An earlier call of this arrived although its answer did not.
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(self.part_error(error, part)),
            }
            staged.pending.pop();
        }
        Ok(())
    }

    /// Stores a release that comes from another place, under its own number and with its summary.
    /// What is there of it already, from a run that was broken off, stays. Parts for namespaces that
    /// are not there any more are left out: whoever goes back to it is told.
    pub async fn import(&self, mut release: Release, summary: &ReleaseSummary) -> Result<()> {
        release.app = self.names().app.clone();
        let (parts, _) = release.encode(self.names())?;
        for part in &parts {
            let elsewhere = part.namespace != self.names().namespace;
            match self.create(part).await {
                Ok(()) => {}
                Err(error) if is_taken(&error) => {}
                Err(error) if elsewhere && is_without_namespace(&error) => {}
                Err(error) => return Err(self.part_error(error, part)),
            }
        }
        self.mark(summary).await
    }

    /// Makes a release's metadata say `summary`. One that is gone is left alone: the record has
    /// its summary.
    pub async fn mark(&self, summary: &ReleaseSummary) -> Result<()> {
        let (names, name) = (self.names(), self.names().release(summary.number, 1));
        let namespace = Some(names.namespace.as_str());
        let patch = mark_patch(summary);
        let manager = &names.manager;
        let marked =
            self.cluster.merge_patch(&self.secrets, namespace, &name, &patch, manager, false).await;
        match marked {
            Ok(_) => Ok(()),
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(self.error(error, &name)),
        }
    }

    /// Brings the metadata of releases in step with the record, after a run that was broken off:
    /// see [`repairs`]. To be called under the lease, with no rollout open. Answers what it marked.
    pub async fn repair(
        &self,
        record: Option<&Record>,
        listed: &[Stored],
    ) -> Result<Vec<ReleaseSummary>> {
        let repairs = repairs(record, listed, self.cluster.now());
        for summary in &repairs {
            self.mark(summary).await?;
        }
        Ok(repairs)
    }

    /// Loads a release with its objects; none: there is no such release.
    ///
    /// # Errors
    /// A call fails; a part is gone or damaged; a newer mcd wrote it.
    pub async fn release(&self, number: u64) -> Result<Option<Release>> {
        let names = self.names();
        let name = names.release(number, 1);
        let Some(head) = self.get(&name).await? else { return Ok(None) };
        let parts = Head::read(&head).map_err(|damage| {
            Error::new(Exit::Failed, format!("release {number} is damaged: {damage}"))
                .in_target(&names.target)
                .on(&names.secret_id(&name))
                .hint("choose another release: `mcd history` lists them")
        })?;
        let parts = parts.parts;
        let here = (2..=parts.here)
            .map(|part| self.part(number, names.namespace.clone(), names.release(number, part)));
        let mut own = vec![head];
        own.extend(try_join_all(here).await?);
        let elsewhere = parts.elsewhere.iter().map(|(namespace, count)| async move {
            let secrets = (1..=*count).map(|part| {
                self.part(number, namespace.clone(), names.release_elsewhere(number, part))
            });
            Ok::<_, Error>((namespace.clone(), try_join_all(secrets).await?))
        });
        let elsewhere: BTreeMap<String, Vec<Value>> =
            try_join_all(elsewhere).await?.into_iter().collect();
        Release::decode(number, &own, &elsewhere, names).map(Some)
    }

    /// Deletes the releases that are beyond what a target keeps; see [`expired`]. Answers their
    /// numbers.
    pub async fn prune_releases(&self, active: Option<u64>) -> Result<Vec<u64>> {
        let listed = self.releases().await?;
        let numbers = expired(&listed, active);
        for stored in listed.iter().filter(|stored| numbers.contains(&stored.number)) {
            self.remove_release(stored).await?;
        }
        Ok(numbers)
    }

    /// Removes a release that was staged and never applied: nobody will ask for it.
    pub async fn remove_staged(&self, number: u64) -> Result<()> {
        let listed = self.releases().await?;
        for stored in listed.iter().filter(|stored| stored.number == number) {
            self.remove_release(stored).await?;
        }
        Ok(())
    }

    pub(super) async fn remove_release(&self, stored: &Stored) -> Result<()> {
        for (namespace, name) in stored.to_delete(self.names()) {
            self.delete(&namespace, &name).await?;
        }
        Ok(())
    }

    /// Creates the parts in order, the head first. Answers those whose namespace is not there.
    async fn store_parts(&self, parts: Vec<StoredPart>) -> Result<Vec<StoredPart>, NotStored> {
        let mut pending = Vec::new();
        let mut stored: Vec<StoredPart> = Vec::new();
        for part in parts {
            let elsewhere = part.namespace != self.names().namespace;
            let failed = match self.create(&part).await {
                Ok(()) => {
                    stored.push(part);
                    continue;
                }
                Err(error) if elsewhere && is_without_namespace(&error) => {
                    pending.push(part);
                    continue;
                }
                Err(error) if is_taken(&error) => NotStored::Taken,
                Err(error) => NotStored::Failed(self.part_error(error, &part)),
            };
            for part in stored.iter().rev() {
                // What stays behind is a staged release that no record names: `repair` marks it
                // as failed, and retention removes it.
                self.delete(&part.namespace, &part.name).await.ok();
            }
            return Err(failed);
        }
        Ok(pending)
    }

    async fn create(&self, part: &StoredPart) -> Result<(), CallError> {
        let manager = &self.names().manager;
        let namespace = Some(part.namespace.as_str());
        let create = || self.cluster.create(&self.secrets, namespace, &part.manifest, manager);
        let lost = match create().await {
            Ok(_) => return Ok(()),
            Err(error) if may_have_arrived(&error) => error,
            Err(error) => return Err(error),
        };
        match self.cluster.get(&self.secrets, namespace, &part.name).await {
            Ok(Some(found)) if found["data"] == part.manifest["data"] => Ok(()),
            Ok(_) => create().await.map(|_| ()),
            Err(_) => Err(lost),
        }
    }

    async fn part(&self, number: u64, namespace: String, name: String) -> Result<Value> {
        let got = self.cluster.get(&self.secrets, Some(&namespace), &name).await;
        let part = StoredPart { namespace, name, manifest: Value::Null };
        got.map_err(|error| self.part_error(error, &part))?.ok_or_else(|| {
            Error::new(Exit::Failed, format!("a part of release {number} is gone"))
                .in_target(&self.names().target)
                .on(&id(&part))
                .hint("choose another release: `mcd history` lists them")
        })
    }

    fn part_error(&self, error: CallError, part: &StoredPart) -> Error {
        error.into_error(&self.names().target, Some(&id(part)))
    }
}

fn id(part: &StoredPart) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "Secret".into(),
        namespace: Some(part.namespace.clone()),
        name: part.name.clone(),
    }
}

fn is_taken(error: &CallError) -> bool {
    matches!(error.refusal(), Some(Refusal::AlreadyExists))
}

fn is_without_namespace(error: &CallError) -> bool {
    matches!(error.refusal(), Some(Refusal::MissingNamespace { .. }))
}
