//! The step `clean`: the variants go. And how whatever a rollout has made is deleted.

use std::collections::BTreeSet;

use super::super::prune::{Known, candidates, rules};
use super::super::remove::remove;
use super::work::{Work, joined};
use crate::cluster::Deleted;
use crate::cluster::state::Member;
use crate::error::Error;
use crate::event::{Phase, Verb};
use crate::manifest::ObjectId;
use crate::plan::{Besides, Condemned, sweep};

/// Deletes the variants: first what sends traffic to them, then the workloads, then the rest. Each
/// is tried whatever became of the others; what is left is known, and goes with the next `clean`.
pub(super) async fn clean(work: &mut Work) -> Result<(), Error> {
    let variants = work.open()?.progress.variants.clone();
    let result = delete(work, &variants, Besides::default(), traffic_first).await;
    let Deletion { gone, kept, error } = result?;
    work.ledger.record.inventory.retain(|id, _| !gone.contains(id));
    // What stays is said and is the application's; no later `clean` would do better.
    work.open_mut()?.progress.variants.retain(|id| !gone.contains(id) && !kept.contains(id));
    work.save().await?;
    error.map_or(Ok(()), Err)
}

/// Services before workloads, so that nobody is sent to pods that stop; then what they used.
fn traffic_first(condemned: &Condemned) -> i64 {
    match (condemned.id.group.as_str(), condemned.id.kind.as_str()) {
        ("", "Service") => 2,
        ("apps", _) => 1,
        _ => 0,
    }
}

/// What came of deleting.
#[derive(Default)]
pub(super) struct Deletion {
    /// What is not there any more, or is somebody else's by now.
    pub(super) gone: BTreeSet<ObjectId>,
    /// What stays, and was said to stay.
    pub(super) kept: BTreeSet<ObjectId>,
    /// What could not be deleted, all of it.
    pub(super) error: Option<Error>,
}

/// Deletes objects of the application, each with its uid, those with the highest rank first, and
/// waits until they are gone. One that cannot be deleted keeps no other from it.
///
/// # Errors
/// It cannot be found out what is there: then nothing was deleted.
pub(super) async fn delete(
    work: &mut Work,
    ids: &BTreeSet<ObjectId>,
    besides: Besides,
    rank: impl Fn(&Condemned) -> i64,
) -> Result<Deletion, Error> {
    let mut deletion = Deletion::default();
    if ids.is_empty() {
        return Ok(deletion);
    }
    let job = work.job.clone();
    job.events.phase(Phase::Deleting);
    let discovery = job.cluster.discovery().await.map_err(|error| job.failed(error, None))?;
    // Written into the record before it was made, so it is ours only by label and manager.
    let unknown =
        Member { version: String::new(), uid: None, digests: None, config: None, protected: false };
    let inventory = &work.ledger.record.inventory;
    let entries = ids.iter().map(|id| (id, inventory.get(id).unwrap_or(&unknown), Known::Nothing));
    let found = candidates(&job, &discovery, entries).await?;
    let swept = sweep(found, &rules(&job, besides, false), &[]);
    deletion.gone.extend(swept.gone.into_iter().map(|(id, _)| id));
    for (id, why) in swept.kept {
        job.events.warn(Some(&id), format!("not deleted: {why}"));
        deletion.kept.insert(id);
    }
    let mut condemned = swept.delete;
    for one in &mut condemned {
        one.rank = rank(one);
    }
    condemned.sort_by(|a, b| (b.rank, &b.id).cmp(&(a.rank, &a.id)));
    let mut errors = swept.unread;
    for group in condemned.chunk_by(|a, b| a.rank == b.rank) {
        let mut done = std::collections::BTreeMap::new();
        let removed = remove(&job, group, &work.fence, Some(work.time_left()), &mut done).await;
        errors.extend(removed.err());
        for (id, deleted) in done {
            work.written.insert(id.clone(), Verb::Deleted);
            if !matches!(deleted, Deleted::Accepted) {
                deletion.gone.insert(id);
            }
        }
        if job.is_halted() || work.fence.check().is_err() {
            break;
        }
    }
    deletion.error = joined(errors).map(|error| error.in_target(&job.target.name));
    Ok(deletion)
}
