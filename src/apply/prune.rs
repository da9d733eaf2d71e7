//! The effects of pruning: finds out what is there of what left the manifests, asks the server
//! whether it may go, and deletes it once everything else is applied.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::assess::{Assessed, Scene};
use super::job::Job;
use super::observe::PARALLEL;
use super::remove::remove;
use super::unserved;
use crate::cluster::state::lease::Fence;
use crate::cluster::state::{Member, Record};
use crate::cluster::{CallErrorKind, Deleted, Discovery, Lookup, Refusal, Resource};
use crate::error::Error;
use crate::event::Phase;
use crate::manifest::{Gvk, ObjectId};
use crate::plan::{
    Besides, Candidate, Condemned, Found, Objection, Rules, Sweep, successor, sweep,
};

/// What is known of an entry of the inventory before it is looked for.
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// The live object, from a LIST.
    Live(Value),
    /// Its API does not answer.
    Down,
}

/// Finds out what a cluster has of entries of the inventory: what a LIST gave, else by name.
pub(super) async fn candidates<'a>(
    job: &Job,
    discovery: &Discovery,
    entries: impl IntoIterator<Item = (&'a ObjectId, &'a Member, Known)>,
) -> Result<Vec<Candidate>, Error> {
    stream::iter(entries)
        .map(|(id, member, known)| async move {
            let found = match (place(discovery, id, member), known) {
                (Lookup::Unavailable, _) | (_, Known::Down) => {
                    Found::Unread(unserved::error(&job.target, id))
                }
                (Lookup::Unknown, _) => Found::Undefined,
                (Lookup::Served(resource), Known::Live(live)) => {
                    Found::Live(Box::new((resource.clone(), live)))
                }
                (Lookup::Served(resource), Known::Nothing) => find(job, resource, id).await?,
            };
            let (uid, protected) = (member.uid.clone(), member.protected);
            Ok(Candidate { id: id.clone(), uid, protected, found })
        })
        .buffered(PARALLEL)
        .try_collect()
        .await
}

/// The kind of an entry of the inventory, in whatever version. A cluster that has dropped a group
/// serves its objects in the one that took them over.
fn place<'a>(discovery: &'a Discovery, id: &ObjectId, member: &Member) -> Lookup<'a> {
    let gvk = Record::gvk(id, member);
    match (discovery.lookup_any(&gvk), successor(&id.group, &id.kind)) {
        (Lookup::Unknown, Some(group)) => {
            discovery.lookup_any(&Gvk { group: group.to_owned(), ..gvk })
        }
        (found, _) => found,
    }
}

/// Reads an entry of the inventory by its name.
async fn find(job: &Job, resource: &Resource, id: &ObjectId) -> Result<Found, Error> {
    match job.cluster.get(resource, id.namespace.as_deref(), &id.name).await {
        Ok(None) => Ok(Found::Gone),
        Ok(Some(live)) => {
            if id.is_secret() {
                job.scrubber.learn(&live);
            }
            Ok(Found::Live(Box::new((resource.clone(), live))))
        }
        Err(error) if error.is_api_down() => Ok(Found::Unread(unserved::error(&job.target, id))),
        Err(error) => match &error.kind {
            CallErrorKind::Refused(Refusal::MissingKind) => Ok(Found::Undefined),
            CallErrorKind::Refused(Refusal::Forbidden { .. }) => {
                Ok(Found::Unread(job.failed(error, Some(id))))
            }
            _ => Err(job.failed(error, Some(id))),
        },
    }
}

/// What becomes of what the inventory has and the manifests lack. `ignored` are objects of the
/// manifests that are not the application's.
pub(super) async fn left(
    job: &Job,
    discovery: &Discovery,
    record: &Record,
    scene: &Scene,
    assessed: &[Assessed],
    ignored: &[ObjectId],
) -> Result<Sweep, Error> {
    let desired: BTreeMap<&ObjectId, Option<&str>> =
        assessed.iter().map(|a| (&a.plan.id, a.plan.basis.uid.as_deref())).collect();
    // An object that moved to another group with its kind has another identity and the same uid.
    let uids: BTreeSet<&str> = desired.values().filter_map(|uid| *uid).collect();
    let is_moved = |uid: &Option<String>| uid.as_deref().is_some_and(|uid| uids.contains(uid));
    let known = |id| match scene.live.get(id) {
        _ if scene.down.contains(id) => Known::Down,
        Some(live) => Known::Live(live.clone()),
        None => Known::Nothing,
    };
    let variants = record.rollout.as_ref().map(|open| &open.progress.variants);
    let is_variant = |id: &ObjectId| variants.is_some_and(|variants| variants.contains(id));
    let entries = record
        .inventory
        .iter()
        .filter(|(id, member)| {
            !desired.contains_key(id) && !ignored.contains(id) && !is_moved(&member.uid)
        })
        .filter(|(id, _)| !is_variant(id))
        .map(|(id, member)| (id, member, known(id)));
    let found = candidates(job, discovery, entries).await?;
    let set = scene.prepared.iter().map(|p| (&p.object.id, p.resource.as_ref()));
    let stays: Vec<(&ObjectId, Option<&Resource>)> =
        set.chain(ignored.iter().map(|id| (id, None))).collect();
    let options = scene.options.prune;
    let mut sweep = sweep(found, &rules(job, options.besides, false), &stays);
    let own = record.inventory.keys().filter(|id| is_variant(id) && !desired.contains_key(id));
    sweep.variants.extend(own.cloned());
    if !options.keep {
        ask(job, &mut sweep).await?;
    }
    Ok(sweep)
}

/// By what the application of a job knows its objects.
pub(super) fn rules(job: &Job, besides: Besides, whole: bool) -> Rules<'_> {
    Rules {
        app_label: &job.names.app_label,
        manager: &job.names.manager,
        former: job.former.as_ref().map(|f| (f.app_label.as_str(), f.manager.as_str())),
        state_namespace: &job.names.namespace,
        besides,
        whole,
    }
}

/// Asks the server about each DELETE: rights and admission are its to judge, and the plan is the
/// time to know.
async fn ask(job: &Job, sweep: &mut Sweep) -> Result<(), Error> {
    let objections: Vec<Option<Objection>> = stream::iter(&sweep.delete)
        .map(|c| async move {
            let ns = c.id.namespace.as_deref();
            match job.cluster.would_delete(&c.resource, ns, &c.id.name, Some(&c.uid)).await {
                Ok(_) => Ok(None),
                Err(error) => match &error.kind {
                    // Another object by now: the prune looks again.
                    CallErrorKind::Refused(Refusal::Moved) => Ok(None),
                    CallErrorKind::Refused(Refusal::Forbidden { .. }) => {
                        Ok(Some(Objection::Forbidden(job.failed(error, Some(&c.id)))))
                    }
                    CallErrorKind::Refused(_) => {
                        Ok(Some(Objection::Refused(job.failed(error, Some(&c.id)))))
                    }
                    _ => Err(job.failed(error, Some(&c.id))),
                },
            }
        })
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    for (condemned, objection) in sweep.delete.iter_mut().zip(objections) {
        condemned.objection = objection;
    }
    Ok(())
}

/// What a prune came to.
#[derive(Default)]
pub(super) struct Pruned {
    /// What is the application's no more: gone, or found to be another object.
    pub(super) gone: BTreeSet<ObjectId>,
    /// What the server took a DELETE of.
    pub(super) deleted: BTreeSet<ObjectId>,
    /// What stopped it.
    pub(super) error: Option<Error>,
}

/// Deletes what the plan condemns and what is still condemned when it is looked at again: someone
/// may have protected it since, or made it anew. With `wait` it waits until all of it is gone.
pub(super) async fn prune(
    job: &Job,
    record: &Record,
    condemned: &[Condemned],
    besides: Besides,
    fence: &Fence,
    wait: Option<Duration>,
) -> Pruned {
    job.events.phase(Phase::Deleting);
    let mut pruned = Pruned::default();
    let again = match again(job, record, condemned, besides).await {
        Ok(again) => again,
        Err(error) => {
            pruned.error = Some(error);
            return pruned;
        }
    };
    for (id, why) in &again.kept {
        job.events.warn(Some(id), format!("not deleted: {why}"));
    }
    pruned.gone.extend(again.gone.into_iter().map(|(id, _)| id));
    let mut done = BTreeMap::new();
    let removed = match again.unread.into_iter().next() {
        Some(error) => Err(error),
        None => remove(job, &again.delete, fence, wait, &mut done).await,
    };
    pruned.error = removed.err().map(|e| e.in_target(&job.target.name));
    for (id, deleted) in done {
        if !matches!(deleted, Deleted::Accepted) {
            pruned.gone.insert(id.clone());
        }
        pruned.deleted.insert(id);
    }
    pruned
}

async fn again(
    job: &Job,
    record: &Record,
    condemned: &[Condemned],
    besides: Besides,
) -> Result<Sweep, Error> {
    let found: Vec<Candidate> = stream::iter(condemned)
        .map(|c| async move {
            let member = record.inventory.get(&c.id);
            let uid = member.and_then(|member| member.uid.clone());
            let protected = member.is_some_and(|member| member.protected);
            let found = find(job, &c.resource, &c.id).await?;
            Ok::<_, Error>(Candidate { id: c.id.clone(), uid, protected, found })
        })
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    // What they are lost with is in the plan already; what stays has not changed since.
    Ok(sweep(found, &rules(job, besides, false), &[]))
}
