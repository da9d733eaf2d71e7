//! Deletes an application from a target: exactly what the inventory has, in reverse order, each
//! with its uid, and waits until it is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::Value;
use tokio::time::Instant;

use super::job::Job;
use super::observe::PARALLEL;
use super::unserved;
use crate::cluster::state::lease::Fence;
use crate::cluster::state::{Record, ResourceVersion};
use crate::cluster::{Deleted, Lookup, Resource};
use crate::error::{Error, Exit};
use crate::event::{EventKind, Phase, Verb};
use crate::manifest::{Gvk, Object, ObjectId, Origin};
use crate::plan;

/// What a delete takes besides.
#[derive(Clone, Copy, Debug)]
pub struct DeleteOptions {
    /// Namespaces that the application owns, with everything in them.
    pub namespaces: bool,
    /// Definitions that it owns, with all their objects of whatever application.
    pub definitions: bool,
    /// Volumes and claims that it owns, with their data.
    pub volumes: bool,
    /// How long to wait until everything is gone; none: don't wait.
    pub wait: Option<Duration>,
}

impl DeleteOptions {
    /// The flag without which an object stays, if there is one.
    fn guard(&self, id: &ObjectId) -> Option<&'static str> {
        match (id.group.as_str(), id.kind.as_str()) {
            ("", "Namespace") if !self.namespaces => Some("--with-namespaces"),
            ("apiextensions.k8s.io", "CustomResourceDefinition") if !self.definitions => {
                Some("--with-definitions")
            }
            ("", "PersistentVolume" | "PersistentVolumeClaim") if !self.volumes => {
                Some("--with-volumes")
            }
            _ => None,
        }
    }
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

    /// Keeps what would take something along that stays: namespaces and definitions by what they
    /// hold, and the one of the state, since the record of all that stays is in it.
    fn spare(&mut self, homes: &Homes, state_namespace: &str) {
        self.keep_where(|id| Some(format!("{} would go with it", homes.get(id)?)));
        if !self.kept.is_empty() {
            let state = namespace(state_namespace);
            self.keep_where(|id| {
                (*id == state).then(|| "the record of what stays would go with it".to_owned())
            });
        }
        self.kept.sort();
    }

    fn keep_where(&mut self, why: impl Fn(&ObjectId) -> Option<String>) {
        let kept = &mut self.kept;
        self.delete.retain(|condemned| match why(&condemned.id) {
            None => true,
            Some(why) => {
                kept.push((condemned.id.clone(), why));
                false
            }
        });
    }
}

/// An object that goes.
#[derive(Clone, Debug)]
pub struct Condemned {
    /// Which object.
    pub id: ObjectId,
    /// Where the server has it.
    pub resource: Resource,
    /// Its uid, which is the precondition of the DELETE.
    pub uid: String,
    pub(super) rank: i64,
}

/// Reads what a delete would do. Only what the inventory has goes: with the same uid or, where the
/// inventory has none because a run died before it knew, with our label and our field manager.
pub async fn deletion_plan(job: &Job, options: &DeleteOptions) -> Result<Deletion, Error> {
    job.events.phase(Phase::Reading);
    let Some((record, version)) = job.store.record().await? else {
        return Ok(Deletion::default());
    };
    let discovery = job.cluster.discovery().await.map_err(|e| job.failed(e, None))?;
    let found: Vec<_> = stream::iter(&record.inventory)
        .map(|(id, member)| {
            let found = discovery.lookup_any(&Record::gvk(id, member));
            async move {
                let resource = match found {
                    Lookup::Served(resource) => resource,
                    // Its definition is gone, and all its objects with it.
                    Lookup::Unknown => return Ok((id, member, None)),
                    Lookup::Unavailable => return Err(unserved::error(&job.target, id)),
                };
                let live = job.get(resource, id).await?;
                Ok((id, member, live.map(|live| (resource.clone(), live))))
            }
        })
        .buffered(PARALLEL)
        .collect::<Vec<Result<_, Error>>>()
        .await;
    let mut deletion = Deletion::default();
    let mut homes = Homes::new();
    for found in found {
        let (id, member, found) = found?;
        // Gone already, by hand or by an earlier delete that was interrupted.
        let Some((resource, live)) = found else { continue };
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let kept = if let Some(flag) = options.guard(id) {
            Some(format!("deleted only with {flag}"))
        } else if plan::is_protected(&live) {
            Some("protected by the annotation mcd.dev/protect".to_owned())
        } else {
            match &member.uid {
                Some(known) if *known != uid => {
                    Some("recreated by someone since mcd applied it".to_owned())
                }
                None if !is_ours(job, &live) => Some("not made by this application".to_owned()),
                _ => None,
            }
        };
        if let Some(why) = kept {
            for home in homes_of(id, &resource) {
                homes.entry(home).or_insert_with(|| id.clone());
            }
            deletion.kept.push((id.clone(), why));
            continue;
        }
        let gvk = Record::gvk(id, member);
        let rank = rank(&gvk, live);
        deletion.delete.push(Condemned { id: id.clone(), resource, uid, rank });
    }
    deletion.delete.sort_by(|a, b| (b.rank, &b.id).cmp(&(a.rank, &a.id)));
    deletion.spare(&homes, &job.names.namespace);
    deletion.record = Some((record, version));
    Ok(deletion)
}

/// Namespaces and definitions, each with an object that would be lost with it.
type Homes = BTreeMap<ObjectId, ObjectId>;

/// What an object is lost with: its namespace, and the definition of its kind.
fn homes_of(id: &ObjectId, resource: &Resource) -> impl Iterator<Item = ObjectId> {
    let definition = ObjectId {
        group: "apiextensions.k8s.io".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        namespace: None,
        name: format!("{}.{}", resource.plural, resource.gvk.group),
    };
    id.namespace.as_deref().map(namespace).into_iter().chain([definition])
}

fn namespace(name: &str) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "Namespace".to_owned(),
        namespace: None,
        name: name.to_owned(),
    }
}

fn rank(gvk: &Gvk, mut live: Value) -> i64 {
    // Items of a LIST have no kind; the order is decided by it.
    if let Some(live) = live.as_object_mut() {
        live.insert("apiVersion".into(), gvk.api_version().into());
        live.insert("kind".into(), gvk.kind.clone().into());
    }
    Object::new(live, Origin::default()).map_or(0, |object| plan::rank(&object, &BTreeSet::new()))
}

fn is_ours(job: &Job, live: &Value) -> bool {
    live["metadata"]["labels"][crate::cluster::state::APP_LABEL] == job.names.app_label
        && crate::ownership::our_entry(live, &job.names.manager).is_some()
}

/// Carries a deletion out, then removes the state, unless something was kept or remains.
pub async fn delete(
    job: &Job,
    deletion: &Deletion,
    options: &DeleteOptions,
) -> (BTreeMap<ObjectId, Deleted>, Result<(), Error>) {
    let mut done = BTreeMap::new();
    let Some(record) = &deletion.record else { return (done, Ok(())) };
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
    delete_objects(job, deletion, options, fence, done).await?;
    if deletion.takes_its_state(job) {
        return Ok(());
    }
    fence.check()?;
    if deletion.kept.is_empty() && options.wait.is_some() {
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

async fn delete_objects(
    job: &Job,
    deletion: &Deletion,
    options: &DeleteOptions,
    fence: &Fence,
    done: &mut BTreeMap<ObjectId, Deleted>,
) -> Result<(), Error> {
    let mut rest = deletion.delete.as_slice();
    while let Some(first) = rest.first() {
        let end = rest.iter().position(|c| c.rank != first.rank).unwrap_or(rest.len());
        let (rank, later) = rest.split_at(end);
        rest = later;
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
                    let event = EventKind::Wrote { object: c.id.clone(), verb: Verb::Deleted };
                    job.events.send(event);
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
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(timeout) = options.wait {
            until_gone(job, rank, timeout).await?;
        }
    }
    Ok(())
}

/// Waits until the objects of a rank are gone. What still blocks after `timeout` is named with its
/// finalizers.
pub(super) async fn until_gone(
    job: &Job,
    rank: &[Condemned],
    timeout: Duration,
) -> Result<(), Error> {
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_millis(50);
    for c in rank {
        loop {
            let Some(live) = job.get(&c.resource, &c.id).await? else { break };
            if live["metadata"]["uid"].as_str() != Some(&c.uid) {
                break;
            }
            let finalizers: Vec<&str> = live["metadata"]["finalizers"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if Instant::now() >= deadline {
                let mut error =
                    Error::new(Exit::Failed, format!("is not gone after {}s", timeout.as_secs()))
                        .on(&c.id);
                if !finalizers.is_empty() {
                    error = error.because(format!("finalizers: {}", finalizers.join(", ")));
                }
                return Err(error.hint("run the command again; it goes on where it stopped"));
            }
            job.events.waiting(match finalizers.as_slice() {
                [] => format!("{} to go", c.id),
                names => format!("{} to go; finalizers: {}", c.id, names.join(", ")),
            });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = job.cancel.cancelled() => return Err(job.halted()),
            }
            pause = (pause * 3 / 2).min(Duration::from_secs(1));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(kind: &str, plural: &str, group: &str) -> Resource {
        Resource {
            gvk: Gvk { group: group.to_owned(), version: "v1".to_owned(), kind: kind.to_owned() },
            plural: plural.to_owned(),
            ..super::super::wait::core("v1", kind, plural)
        }
    }

    fn id(text: &str) -> ObjectId {
        let parts: Vec<&str> = text.split('/').collect();
        let [group, kind, namespace, name] = parts[..] else { panic!("{text}") };
        ObjectId {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    const STATE: &str = "/Namespace//shop";
    const OTHER: &str = "/Namespace//other";
    const DEFINITION: &str = "apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com";

    /// What stays of the two namespaces and the definition when the named objects do.
    fn spared(kept: &[(&str, &str)]) -> Vec<String> {
        let mut deletion = Deletion::default();
        for condemned in [STATE, OTHER, DEFINITION, "/Service/shop/web"] {
            deletion.delete.push(Condemned {
                id: id(condemned),
                resource: resource("Any", "anys", ""),
                uid: "1".to_owned(),
                rank: 0,
            });
        }
        let mut homes = Homes::new();
        for (kept, plural) in kept {
            let kept = id(kept);
            for home in homes_of(&kept, &resource(&kept.kind, plural, &kept.group)) {
                homes.insert(home, kept.clone());
            }
            deletion.kept.push((kept, "protected".to_owned()));
        }
        deletion.spare(&homes, "shop");
        assert_eq!(deletion.delete.len() + deletion.kept.len(), 4 + kept.len());
        let stays = deletion.kept.into_iter().filter(|(_, why)| why != "protected");
        stays.map(|(id, why)| format!("{}: {why}", id.name)).collect()
    }

    #[test]
    fn what_holds_something_that_stays_stays_too() {
        let record = "shop: the record of what stays would go with it";
        assert_eq!(spared(&[]), [""; 0]);
        assert_eq!(
            spared(&[("/Service/shop/a", "services")]),
            ["shop: Service shop/a would go with it"]
        );
        assert_eq!(
            spared(&[("/Service/other/a", "services")]),
            ["other: Service other/a would go with it", record]
        );
        assert_eq!(
            spared(&[("example.com/Widget//a", "widgets")]),
            [record, "widgets.example.com: Widget a would go with it"]
        );
        // Of another group, or of another namespace: only the record is at stake.
        assert_eq!(spared(&[("example.org/Widget/x/a", "widgets")]), [record]);
    }
}
