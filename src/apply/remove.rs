//! Deletes objects: in order, each with its uid, and waits until they are gone.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::Value;
use tokio::time::Instant;

use super::job::Job;
use super::observe::PARALLEL;
use crate::cluster::state::lease::Fence;
use crate::cluster::{Deleted, Resource};
use crate::error::{Error, Exit};
use crate::event::{EventKind, Verb};
use crate::manifest::ObjectId;
use crate::plan::Condemned;

/// Deletes what is condemned, rank by rank, and with `wait` waits at most that long until all of
/// it is gone. `done` says what came of each DELETE that the server took; what was waited for is
/// [`Deleted::Gone`].
pub(super) async fn remove(
    job: &Job,
    condemned: &[Condemned],
    fence: &Fence,
    wait: Option<Duration>,
    done: &mut BTreeMap<ObjectId, Deleted>,
) -> Result<(), Error> {
    let deadline = wait.map(|timeout| (Instant::now() + timeout, timeout));
    let mut rest = condemned;
    while let Some(first) = rest.first() {
        let end = rest.iter().position(|c| c.rank != first.rank).unwrap_or(rest.len());
        let (rank, later) = rest.split_at(end);
        rest = later;
        delete_rank(job, rank, fence, done).await?;
        if let Some(deadline) = deadline {
            until_gone(job, rank, deadline, done).await?;
        }
    }
    Ok(())
}

async fn delete_rank(
    job: &Job,
    rank: &[Condemned],
    fence: &Fence,
    done: &mut BTreeMap<ObjectId, Deleted>,
) -> Result<(), Error> {
    let results: Vec<_> = stream::iter(rank)
        .map(|c| async move {
            if job.is_halted() {
                return (c, Err(job.halted()));
            }
            if let Err(error) = fence.check() {
                return (c, Err(error));
            }
            let ns = c.id.namespace.as_deref();
            let sent = job.cluster.delete(&c.resource, ns, &c.id.name, Some(&c.uid)).await;
            (c, sent.map_err(|e| job.failed(e, Some(&c.id))))
        })
        .buffer_unordered(PARALLEL)
        .collect()
        .await;
    let mut failed: Option<Error> = None;
    for (c, result) in results {
        match result {
            Ok(deleted) => {
                job.events.send(EventKind::Wrote { object: c.id.clone(), verb: Verb::Deleted });
                done.insert(c.id.clone(), deleted);
            }
            // The others are said too, as causes of the first.
            Err(error) => {
                failed = Some(match failed {
                    Some(first) => first.because(error.to_string()),
                    None => error,
                });
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Waits until the objects of a rank are gone. What still blocks after the deadline is named with
/// its finalizers.
async fn until_gone(
    job: &Job,
    rank: &[Condemned],
    (deadline, timeout): (Instant, Duration),
    done: &mut BTreeMap<ObjectId, Deleted>,
) -> Result<(), Error> {
    let mut blocked: Option<Error> = None;
    for c in rank {
        if done.get(&c.id) != Some(&Deleted::Accepted) {
            continue;
        }
        let Some(names) = still_there(job, &c.resource, &c.id, &c.uid, deadline).await? else {
            done.insert(c.id.clone(), Deleted::Gone);
            continue;
        };
        blocked = Some(match blocked {
            Some(first) if names.is_empty() => first.because(format!("nor is {}", c.id)),
            Some(first) => first.because(format!("nor is {} (finalizers: {names})", c.id)),
            None => not_gone(&c.id, timeout, &names),
        });
    }
    blocked.map_or(Ok(()), Err)
}

/// Waits until an object is gone. What is still there after the deadline is told by its
/// finalizers.
pub(super) async fn still_there(
    job: &Job,
    resource: &Resource,
    id: &ObjectId,
    uid: &str,
    deadline: Instant,
) -> Result<Option<String>, Error> {
    let mut pause = Duration::from_millis(50);
    loop {
        // Not the call that was under way, but what it was for.
        let live = job.get(resource, id).await.map_err(|error| match job.is_halted() {
            true => job.halted().because(format!("while waiting until {id} is gone")),
            false => error,
        })?;
        let Some(live) = live.filter(|live| live["metadata"]["uid"] == *uid) else {
            return Ok(None);
        };
        let finalizers: Vec<&str> = live["metadata"]["finalizers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let names = finalizers.join(", ");
        if Instant::now() >= deadline {
            return Ok(Some(names));
        }
        job.events.waiting(match names.as_str() {
            "" => format!("{id} to go"),
            names => format!("{id} to go; finalizers: {names}"),
        });
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = job.cancel.cancelled() => return Err(job.halted()),
        }
        pause = (pause * 3 / 2).min(Duration::from_secs(1));
    }
}

/// That an object is still there after `timeout`, and what holds it.
pub(super) fn not_gone(id: &ObjectId, timeout: Duration, finalizers: &str) -> Error {
    let error =
        Error::new(Exit::Failed, format!("is not gone after {}s", timeout.as_secs())).on(id);
    let error = match finalizers {
        "" => error,
        names => error.because(format!("finalizers: {names}")),
    };
    error.hint("run the command again; it goes on where it stopped")
}
