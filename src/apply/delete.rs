//! Deletes an application from a target: exactly what the inventory has, in reverse order, each
//! with its uid, and waits until it is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::job::Job;
use super::prune::{Known, candidates, rules};
use super::relocate::moved_away;
use super::remove::remove;
use super::rollout::blocked;
use crate::cluster::Deleted;
use crate::cluster::state::lease::{self, Fence};
use crate::cluster::state::release::Head;
use crate::cluster::state::{Record, ReleaseState, ResourceVersion, StateNames, Store};
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::manifest::ObjectId;
use crate::plan::{Besides, Condemned, namespace, sweep};

/// How to delete.
#[derive(Clone, Copy, Debug)]
pub struct DeleteOptions {
    /// What goes besides.
    pub besides: Besides,
    /// How long to wait until everything is gone; none: don't wait.
    pub wait: Option<Duration>,
}

/// What a delete would do.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// The record; none when the application is not there.
    pub record: Option<(Record, ResourceVersion)>,
    /// What goes, in the order in which it goes.
    pub delete: Vec<Condemned>,
    /// What stays, and why.
    pub kept: Vec<(ObjectId, String)>,
}

impl Deletion {
    /// Whether the namespace goes that holds the state: it takes record and lock along.
    fn takes_its_state(&self, job: &Job) -> bool {
        let state = namespace(&job.names.namespace);
        self.delete.iter().any(|condemned| condemned.id == state)
    }
}

/// Reads what a delete would do. Only what the inventory has goes: with the same uid or, where the
/// inventory has none because a run died before it knew, with our label and our field manager.
pub async fn deletion_plan(job: &Job, options: &DeleteOptions) -> Result<Deletion, Error> {
    job.events.phase(Phase::Reading);
    let Some((record, version)) = job.store.record().await? else {
        return match lost_record(job).await? {
            Some(error) => Err(error),
            None => Ok(Deletion::default()),
        };
    };
    if let Some(to) = &record.moved_to {
        return Err(moved_away(job, to));
    }
    if let Some(error) = blocked(&record, job.cluster.now()) {
        return Err(error.in_target(&job.target.name));
    }
    let former = record.moved_from.as_ref();
    let former = former.map(|place| StateNames::at(&job.target.name, place).into());
    let job = &job.coming_from(former.as_ref());
    let discovery = job.cluster.discovery().await.map_err(|e| job.failed(e, None))?;
    let entries = record.inventory.iter().map(|(id, member)| (id, member, Known::Nothing));
    let found = candidates(job, &discovery, entries).await?;
    let swept = sweep(found, &rules(job, options.besides, true), &[]);
    match swept.unread.into_iter().next() {
        Some(error) => Err(error.in_target(&job.target.name)),
        None => {
            Ok(Deletion { record: Some((record, version)), delete: swept.delete, kept: swept.kept })
        }
    }
}

/// Carries a deletion out, then removes the state, unless something was kept or remains.
pub async fn delete(
    job: &Job,
    deletion: &Deletion,
    options: &DeleteOptions,
) -> (BTreeMap<ObjectId, Deleted>, Result<(), Error>) {
    let mut done = BTreeMap::new();
    let Some(record) = &deletion.record else { return (done, clear(job).await) };
    let guard = match job.lock().await {
        Ok(guard) => guard,
        Err(error) => return (done, Err(error)),
    };
    job.events.phase(Phase::Deleting);
    let all = deletion.kept.is_empty() && options.wait.is_some();
    let result = delete_locked(job, record, deletion, options, &guard.fence(), &mut done).await;
    if result.is_ok() && deletion.takes_its_state(job) {
        guard.remove().await.ok();
        return (done, Ok(()));
    }
    let ended = if all && result.is_ok() { guard.remove().await } else { guard.release().await };
    (done, result.and(ended))
}

/// Why a target without a record is not one where nothing was ever deployed: releases are there that
/// were applied. None: there are none.
pub async fn lost_record(job: &Job) -> Result<Option<Error>, Error> {
    let releases = job.store.releases().await?;
    let applied = |head: &Head| head.summary.state != ReleaseState::Staged;
    let applied = releases.iter().filter(|release| release.head.as_ref().is_some_and(applied));
    Ok(applied.map(|release| release.number).max().map(|newest| {
        Error::new(Exit::Blocked, "the record is gone")
            .in_target(&job.target.name)
            .on(&job.names.secret_id(&job.names.record()))
            .because(format!("release {newest} was applied here"))
            .hint("`mcd apply` or `mcd rollback` writes it again; run the command after that")
    }))
}

/// Removes what a run left behind that died when the record was gone already, or not there yet:
/// then nothing else is there. Releases that were applied belong to a record that someone removed,
/// and stay.
async fn clear(job: &Job) -> Result<(), Error> {
    if lease::look(&job.cluster, &job.names).await?.is_none() {
        return Ok(());
    }
    let guard = job.lock().await?;
    let releases = job.store.releases().await?;
    let staged = |head: &Head| head.summary.state == ReleaseState::Staged;
    let never_applied = releases.iter().all(|release| release.head.as_ref().is_none_or(staged));
    if never_applied && job.store.record().await?.is_none() {
        job.store.remove().await?;
        return guard.remove().await;
    }
    guard.release().await
}

async fn delete_locked(
    job: &Job,
    record: &(Record, ResourceVersion),
    deletion: &Deletion,
    options: &DeleteOptions,
    fence: &Fence,
    done: &mut BTreeMap<ObjectId, Deleted>,
) -> Result<(), Error> {
    // Whoever applied while we asked has objects that this deletion does not know.
    let current = job.store.record().await?.map(|(_, version)| version);
    if current.as_ref() != Some(&record.1) {
        return Err(Error::new(Exit::Blocked, "someone applied or deleted in between")
            .in_target(&job.target.name)
            .hint("run the command again to see what there is to delete now"));
    }
    remove(job, &deletion.delete, fence, options.wait, done).await?;
    if deletion.takes_its_state(job) {
        return Ok(());
    }
    fence.check()?;
    if deletion.kept.is_empty() && options.wait.is_some() {
        // What a move that was broken off left behind.
        if let Some(place) = &record.0.moved_from {
            Store::new(&job.cluster, &StateNames::at(&job.target.name, place)).remove().await?;
        }
        job.store.remove().await
    } else {
        forget(job, record, deletion, options).await
    }
}

/// Keeps a record of what stays, so that a later delete can take it.
async fn forget(
    job: &Job,
    (record, version): &(Record, ResourceVersion),
    deletion: &Deletion,
    options: &DeleteOptions,
) -> Result<(), Error> {
    let mut rest = record.clone();
    if options.wait.is_some() {
        let kept: Vec<&ObjectId> = deletion.kept.iter().map(|(id, _)| id).collect();
        rest.inventory.retain(|id, _| kept.contains(&id));
    }
    let ended = rest.end_active();
    job.store.write_record(&rest, Some(version)).await?;
    match ended {
        Some(summary) => job.store.mark(&summary).await,
        None => Ok(()),
    }
}
