//! Moves an application's state (`--move-from`, design §7): record, key and releases go from where
//! they were to where the files say now, and the objects along, since label and field manager name
//! the place. A crash is safe at every point: the old record says first that it is left; the new one
//! is written when the releases are there, and says until the end where it comes from; the old state
//! is removed last.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::job::Job;
use super::wait::core;
use crate::cluster::CallError;
use crate::cluster::state::lease::{self, Fence, Guard};
use crate::cluster::state::{
    RECORD_TYPE, Record, ResourceVersion, STATE_LABEL, StateNames, StatePlace, Store,
};
use crate::error::{Error, Exit};

/// What `--move-from` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveFrom {
    /// A namespace: the record there that is of an application of the same name.
    Namespace(String),
    /// An application, by where its state is: it may have had another name.
    Place(StatePlace),
}

/// What is known of where state may be besides the target's own place.
#[derive(Clone, Debug, Default)]
pub struct Whereabouts {
    /// Where it is to come from.
    pub from: Option<MoveFrom>,
    /// Where the same files put state on the same cluster: other targets, which are nobody's past.
    pub others: Arc<BTreeSet<StatePlace>>,
}

/// A move of the state that an apply makes, or goes on with.
#[derive(Clone, Debug)]
pub struct Moving {
    /// The names of the state where it comes from.
    pub from: Arc<StateNames>,
    /// The record there; none: it is not there, or not any more.
    pub record: Option<(Record, ResourceVersion)>,
    /// How many releases are there.
    pub releases: usize,
}

/// What was found of a move.
#[derive(Default)]
pub(super) struct Sought {
    pub(super) moving: Option<Moving>,
    /// What the user should know.
    pub(super) warnings: Vec<String>,
}

/// How many records of an application's name are told: with more of them the name says nothing.
const TOLD: usize = 3;

/// Finds out whether a target's state moves. `record` is the one at the target's own place.
///
/// # Errors
/// The state is being moved away from here; there is a record here and there (both exit 6); a call
/// fails.
pub(super) async fn find(job: &Job, record: Option<&Record>) -> Result<Sought, Error> {
    let own = job.names.place();
    let mut warnings = Vec::new();
    let wanted = match &job.whereabouts.from {
        Some(from) if record.is_none_or(|record| record.moved_from.is_none()) => {
            resolve(job, from).await?.filter(|place| *place != own)
        }
        Some(_) | None => None,
    };
    let from = match record {
        None if job.whereabouts.from.is_none() => {
            warnings.extend(elsewhere(job, &own).await);
            None
        }
        None => wanted,
        Some(record) => match (&record.moved_to, &record.moved_from, wanted) {
            (Some(to), _, _) => return Err(moved_away(job, to)),
            (None, Some(from), _) => Some(from.clone()),
            (None, None, Some(place)) => {
                only_here(job, &place).await?;
                None
            }
            (None, None, None) => None,
        },
    };
    let Some(from) = from else {
        let nothing = record.is_none() && job.whereabouts.from.is_some();
        warnings.extend(nothing.then(|| "nothing to move here: no record was found".to_owned()));
        return Ok(Sought { moving: None, warnings });
    };
    let names = StateNames::at(&job.target.name, &from);
    let store = Store::new(&job.cluster, &names);
    let (there, releases) = tokio::try_join!(store.record(), store.releases())?;
    match &there {
        Some((there, _)) => leaves_for(job, &names, there, &own)?,
        None if record.is_none() => warnings.push(format!("`{from}` has no record")),
        None => {}
    }
    let moving = Moving { from: Arc::new(names), record: there, releases: releases.len() };
    Ok(Sought { moving: Some(moving), warnings })
}

/// Whether the record of the old place may be taken from there.
fn leaves_for(
    job: &Job,
    names: &StateNames,
    there: &Record,
    own: &StatePlace,
) -> Result<(), Error> {
    let blocked = |what: String| {
        Error::new(Exit::Blocked, what)
            .in_target(&job.target.name)
            .on(&names.secret_id(&names.record()))
    };
    match &there.moved_to {
        None if there.rollout.is_some() => Err(blocked("a rollout is open there".to_owned()).hint(
            "end it with the files as they were: `mcd rollout resume` or `mcd rollout abort`",
        )),
        Some(to) if to != own => Err(blocked(format!("its state is being moved to `{to}`"))
            .hint("an apply with the files that say so finishes that")),
        Some(_) | None => Ok(()),
    }
}

/// That the application goes away from here.
pub(super) fn moved_away(job: &Job, to: &StatePlace) -> Error {
    Error::new(Exit::Blocked, format!("its state is being moved to `{to}`"))
        .in_target(&job.target.name)
        .on(&job.names.secret_id(&job.names.record()))
        .hint("`mcd apply` with the files that say so finishes the move")
}

/// Refuses a second record: which of the two is the application's past, nobody can say.
async fn only_here(job: &Job, place: &StatePlace) -> Result<(), Error> {
    let there = StateNames::at(&job.target.name, place);
    match Store::new(&job.cluster, &there).record().await? {
        None => Ok(()),
        Some(_) => Err(Error::new(Exit::Blocked, "the application has a record already")
            .in_target(&job.target.name)
            .on(&job.names.secret_id(&job.names.record()))
            .because(format!("`{place}` has one too"))
            .hint(
                "leave `--move-from` out where both are deployments of their own; `-t` chooses the \
                 targets that move",
            )),
    }
}

/// The place that `--move-from` means; none: there is no record in that namespace.
async fn resolve(job: &Job, from: &MoveFrom) -> Result<Option<StatePlace>, Error> {
    let namespace = match from {
        MoveFrom::Place(place) => return Ok(Some(place.clone())),
        MoveFrom::Namespace(namespace) => namespace,
    };
    let mut places = records(job, Some(namespace)).await.map_err(|e| job.failed(e, None))?;
    let own = job.names.place();
    places.retain(|place| *place != own && !job.whereabouts.others.contains(place));
    if places.len() > 1 {
        // With a namespace of its own for state, several deployments of one name meet there.
        let same: Vec<&StatePlace> =
            places.iter().filter(|p| p.app_namespace() == job.target.namespace).collect();
        let names: Vec<String> = places.iter().map(|p| format!("`--move-from {p}`")).collect();
        return match same.as_slice() {
            [one] => Ok(Some((*one).clone())),
            _ => Err(Error::config(format!(
                "the namespace `{namespace}` has several records of `{}`",
                job.names.app
            ))
            .in_target(&job.target.name)
            .hint(format!("say which: {}", names.join(", ")))),
        };
    }
    Ok(places.pop())
}

/// Says where a target without a record may have come from. What may not be listed is not known.
async fn elsewhere(job: &Job, own: &StatePlace) -> Option<String> {
    let mut places = records(job, None).await.ok()?;
    places.retain(|place| place != own && !job.whereabouts.others.contains(place));
    if places.is_empty() || places.len() > TOLD {
        return None;
    }
    let there: Vec<String> =
        places.iter().map(|p| format!("`{}` (`--move-from {p}`)", p.namespace)).collect();
    Some(format!(
        "there is no record here, but `{}` has one in {}: the flag moves it, where it is the same \
         application",
        job.names.app,
        there.join(", ")
    ))
}

/// Where records of applications of this name are, by their metadata alone.
async fn records(job: &Job, namespace: Option<&str>) -> Result<Vec<StatePlace>, CallError> {
    let secrets = core("v1", "Secret", "secrets");
    let of_type = format!("type={RECORD_TYPE}");
    let listed =
        job.cluster.list_metadata(&secrets, namespace, Some(STATE_LABEL), Some(&of_type)).await?;
    let text = |item: &serde_json::Value, key: &str| {
        item["metadata"][key].as_str().unwrap_or_default().to_owned()
    };
    let places = listed
        .iter()
        .filter_map(|item| StatePlace::of_record(&text(item, "namespace"), &text(item, "name")));
    Ok(places.filter(|place| place.app() == job.names.app.as_str()).collect())
}

impl Moving {
    /// The record as it will be at the target's own place; none: there is none to bring.
    pub(super) fn arriving(&self, job: &Job) -> Option<Record> {
        let (record, _) = self.record.as_ref()?;
        Some(Record {
            app: job.names.app.clone(),
            namespace: job.target.namespace.clone(),
            moved_from: Some(self.from.place()),
            moved_to: None,
            ..record.clone()
        })
    }

    /// The state where it comes from.
    pub(super) fn store(&self, job: &Job) -> Store {
        Store::new(&job.cluster, &self.from)
    }

    /// Whether the record there is still the one that was planned with.
    pub(super) async fn stands(&self, job: &Job) -> Result<bool, Error> {
        let current = self.store(job).record().await?.map(|(_, version)| version);
        Ok(current.as_ref() == self.record.as_ref().map(|(_, version)| version))
    }

    /// Takes the lock of the old place too, as long as there is something to lock: whoever still
    /// has the old files must not write meanwhile.
    pub(super) async fn lock(&self, job: &Job) -> Result<Option<Guard>, Error> {
        if self.record.is_none() && lease::look(&job.cluster, &self.from).await?.is_none() {
            return Ok(None);
        }
        job.lock_of(&self.from, Duration::ZERO).await.map(Some)
    }

    /// Says in the old record that it is left, and copies the releases. To be called under both
    /// locks, before the new record is written.
    pub(super) async fn bring(&self, job: &Job, fence: &Fence) -> Result<(), Error> {
        let Some((record, version)) = &self.record else { return Ok(()) };
        let source = self.store(job);
        if record.moved_to.is_none() {
            if let Some(first) = job.store.releases().await?.first() {
                let head = job.names.release(first.number, 1);
                return Err(Error::new(Exit::Blocked, "releases without a record are in the way")
                    .in_target(&job.target.name)
                    .on(&job.names.secret_id(&head))
                    .hint(format!(
                        "look at them, then remove them with `kubectl -n {} delete secrets -l {}`",
                        job.names.namespace,
                        job.names.state_selector()
                    )));
            }
            fence.check()?;
            let left = Record { moved_to: Some(job.names.place()), ..record.clone() };
            source.write_record(&left, Some(version)).await?;
        }
        for stored in source.releases().await? {
            // Parts without a head are what a broken off attempt left.
            let Some(head) = &stored.head else { continue };
            fence.check()?;
            match source.release(stored.number).await {
                Ok(Some(release)) => job.store.import(release, &head.summary).await?,
                Ok(None) => {}
                // It could not be gone back to there either.
                Err(error) if error.exit() == Exit::Failed => {
                    let text = format!("release {} is not moved: {error:#}", stored.number);
                    job.events.warn(None, text);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the old state, then forgets where the new one comes from. To be called when every
    /// object is the new place's.
    pub(super) async fn leave(&self, job: &Job, guard: Option<Guard>) -> Result<(), Error> {
        self.store(job).remove().await?;
        if let Some(guard) = guard {
            guard.remove().await?;
        }
        job.store.amend(|record| record.moved_from = None).await
    }
}
