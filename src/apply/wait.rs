//! Looks at the health of a target's objects, once or until all are healthy (design §10).
//!
//! Live state is read by one LIST a kind and namespace, again and again: nothing here trusts a
//! watch event alone, whose loss would leave a healthy object waited for (peers §3, case 7).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;
use tokio::time::Instant;

use super::around::{Around, Needs, has_pods};
use super::job::Job;
use super::observe::{Members, PARALLEL, Place, list_members};
use super::tree::{Tree, Which, tree};
use super::unserved;
use crate::cluster::Resource;
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::health::{
    self, Health, Own, Readiness, Summary, Surroundings, Verdict, aggregate, cause, readiness,
};
use crate::manifest::{Gvk, ObjectId, Scrubber};

/// The first pause between two looks; each is half as long again as the one before, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(150);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// An object whose health is looked at.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// Which object.
    pub id: ObjectId,
    /// Where the server has it; none when its API does not answer.
    pub resource: Option<Resource>,
    /// The anchor: what our own apply answered. Default when nothing was applied.
    pub own: Own,
    /// What was applied, for objects that are gone; null when nothing was.
    pub applied: Value,
}

/// The health of a target at one moment.
#[derive(Clone, Debug)]
pub struct Look {
    /// Of each object.
    pub verdicts: BTreeMap<ObjectId, Verdict>,
    /// Of the whole.
    pub summary: Summary,
    /// Pods of all workloads.
    pub pods: Option<Readiness>,
    /// Pods of each.
    pub pods_of: BTreeMap<ObjectId, Readiness>,
    /// A closer look, at those objects and when it was asked for.
    pub tree: Tree,
}

impl Look {
    /// Whether every object is healthy.
    pub fn is_healthy(&self) -> bool {
        self.summary.health == Health::Healthy
    }
}

/// What is known from look to look.
struct Watcher<'a> {
    job: &'a Job,
    subjects: &'a [Subject],
    verdicts: BTreeMap<ObjectId, Verdict>,
    pods: BTreeMap<ObjectId, Readiness>,
}

/// Looks once.
pub(super) async fn look(job: &Job, subjects: &[Subject]) -> Result<Look, Error> {
    let mut watcher = Watcher::new(job, subjects);
    watcher.look().await?;
    Ok(watcher.result())
}

/// As [`wait`], and where it ends badly with a closer look at what is not healthy.
pub(super) async fn wait_closely(
    job: &Job,
    subjects: &[Subject],
    timeout: Duration,
) -> Result<Look, (Error, Option<Look>)> {
    match wait(job, subjects, timeout).await {
        Err((error, Some(mut look))) if !job.is_halted() => {
            look.tree = tree(job, subjects, &look, Which::Unhealthy).await;
            Err((error, Some(look)))
        }
        result => result,
    }
}

/// Looks until all are healthy, one has failed, `timeout` is over, or the run is halted. A target
/// that is not healthy in time is an error that names the object, the reason and the time.
pub(super) async fn wait(
    job: &Job,
    subjects: &[Subject],
    timeout: Duration,
) -> Result<Look, (Error, Option<Look>)> {
    job.events.phase(Phase::Waiting);
    let started = Instant::now();
    let deadline = started + timeout;
    let mut watcher = Watcher::new(job, subjects);
    let mut pause = FIRST_PAUSE;
    let mut said = String::new();
    loop {
        if let Err(error) = watcher.look().await {
            // Not the call that was under way, but what it was for.
            if job.is_halted() {
                let look = watcher.any().then(|| watcher.result());
                return Err((job.halted().because("while waiting for health"), look));
            }
            // The cluster may be gone for a moment; the deadline decides, not one lost call.
            if Instant::now() >= deadline {
                return Err((error, None));
            }
            job.events.waiting(error.message());
        } else {
            let look = watcher.result();
            let reason = look.summary.health.reason().unwrap_or_default().to_owned();
            match &look.summary.health {
                Health::Healthy => return Ok(look),
                Health::Failed(_) | Health::Paused(_) => {
                    let error = watcher.error(&look, "is not healthy after", started.elapsed());
                    return Err((error, Some(look)));
                }
                Health::Progressing(_) | Health::Unknown(_) => {}
            }
            if Instant::now() >= deadline {
                let error =
                    watcher.error(&look, "did not become healthy within", started.elapsed());
                return Err((error, Some(look)));
            }
            if reason != said {
                job.events.waiting(reason.clone());
                said = reason;
            }
        }
        let next = (Instant::now() + pause).min(deadline);
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            () = job.cancel.cancelled() => {
                let error = job.halted().because("while waiting for health");
                return Err((error, Some(watcher.result())));
            }
        }
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

impl<'a> Watcher<'a> {
    fn new(job: &'a Job, subjects: &'a [Subject]) -> Self {
        Watcher { job, subjects, verdicts: BTreeMap::new(), pods: BTreeMap::new() }
    }

    /// Whether anything was looked at yet.
    fn any(&self) -> bool {
        !self.verdicts.is_empty()
    }

    /// Whether an object has to be looked at again: healthy ones stay so for this wait, so that
    /// each look reads less.
    fn is_open(&self, id: &ObjectId) -> bool {
        self.verdicts.get(id).is_none_or(|verdict| !verdict.is_healthy())
    }

    async fn look(&mut self) -> Result<(), Error> {
        let open: Vec<&Subject> = self.subjects.iter().filter(|s| self.is_open(&s.id)).collect();
        let place = |s: &Subject| Some(Place::of(s.resource.as_ref()?, &s.id));
        let places: BTreeSet<Place> = open.iter().filter_map(|s| place(s)).collect();
        let Members { mut live, unlisted, down } = list_members(self.job, &places).await?;
        let job = self.job;
        let is_down = |s: &Subject| place(s).is_none_or(|place| down.contains(&place));
        let unseen = open.iter().filter_map(|s| {
            let resource = s.resource.as_ref().filter(|_| !is_down(s))?;
            let seen = live.contains_key(&s.id) && !unlisted.contains(&Place::of(resource, &s.id));
            (!seen).then_some((&s.id, resource))
        });
        let found: Vec<(ObjectId, Option<Value>)> = stream::iter(unseen)
            .map(|(id, resource)| async move { Ok((id.clone(), job.get(resource, id).await?)) })
            .buffer_unordered(PARALLEL)
            .try_collect::<Vec<_>>()
            .await?;
        live.extend(found.into_iter().filter_map(|(id, object)| Some((id, object?))));
        let around = self.around(&open, &live).await;
        let now = self.job.cluster.now();
        for subject in open {
            let around = around.at(now, &self.job.target.health);
            let mut verdict = match live.get(&subject.id) {
                Some(object) => {
                    let mut verdict = health::health(object, &subject.own, &around);
                    if let Some(pods) = readiness(object, &subject.own) {
                        self.pods.insert(subject.id.clone(), pods);
                    }
                    explain(&mut verdict, object, &around);
                    verdict
                }
                None if is_down(subject) => {
                    let health = Health::Unknown(unserved::reason(&subject.id));
                    Verdict { health, known: false, notes: Vec::new() }
                }
                None if subject.applied.is_null() => missing(&subject.id),
                None => {
                    let last = self.verdicts.get(&subject.id);
                    health::gone(&subject.applied, &subject.own, last, &around)
                }
            };
            scrub(&mut verdict, &self.job.scrubber);
            self.verdicts.insert(subject.id.clone(), verdict);
        }
        Ok(())
    }

    /// Pods, ReplicaSets and warnings around workloads that are not healthy yet.
    async fn around(&self, open: &[&Subject], live: &BTreeMap<ObjectId, Value>) -> Around {
        let now = self.job.cluster.now();
        let mut needs = Needs::default();
        for subject in open {
            let Some(object) = live.get(&subject.id) else {
                needs.namespaces.extend(subject.id.namespace.clone());
                continue;
            };
            let alone =
                Surroundings { rules: Some(&self.job.target.health), ..Surroundings::at(now) };
            let verdict = health::health(object, &subject.own, &alone);
            if verdict.is_healthy() || !has_pods(&subject.id) {
                continue;
            }
            needs.namespaces.extend(subject.id.namespace.clone());
            needs.classes |= subject.id.kind == "PersistentVolumeClaim";
        }
        Around::read(self.job, &needs).await
    }

    fn result(&self) -> Look {
        Look {
            summary: aggregate(self.verdicts.iter()),
            pods: (!self.pods.is_empty()).then(|| self.pods.values().copied().sum()),
            pods_of: self.pods.clone(),
            tree: Tree::default(),
            verdicts: self.verdicts.clone(),
        }
    }

    fn error(&self, look: &Look, what: &str, elapsed: Duration) -> Error {
        let worst = look.verdicts.iter().find(|(_, v)| v.health == look_worst(look));
        let mut error = Error::new(Exit::Failed, format!("{what} {}s", elapsed.as_secs()))
            .in_target(&self.job.target.name);
        if let Some((id, verdict)) = worst {
            error = error.on(id);
            if let Some(reason) = verdict.health.reason() {
                error = error.because(reason);
            }
        }
        let namespace = &self.job.target.namespace;
        error
            .hint(format!(
                "look closer with `mcd status -t {} --tree` or `kubectl --context {} -n {namespace} get pods`",
                self.job.target.name, self.job.target.cluster.context
            ))
            .map_text(|text| self.job.scrubber.scrub(text))
    }
}

/// The health of the worst object itself; the summary's reason names the object in front.
fn look_worst(look: &Look) -> Health {
    let weight = |h: &Health| match h {
        Health::Healthy => 0,
        Health::Paused(_) => 1,
        Health::Unknown(_) => 2,
        Health::Progressing(_) => 3,
        Health::Failed(_) => 4,
    };
    let worst = look.verdicts.values().map(|v| &v.health).max_by_key(|h| weight(h));
    // The first of several alike, as the summary names it.
    let first = look
        .verdicts
        .values()
        .map(|v| &v.health)
        .find(|h| worst.is_some_and(|w| weight(w) == weight(h)));
    first.cloned().unwrap_or(Health::Healthy)
}

/// An object of the inventory that is not there. A Job may have gone by its TTL.
fn missing(id: &ObjectId) -> Verdict {
    if id.group == "batch" && id.kind == "Job" {
        let note = "gone, by its TTL or by someone".to_owned();
        return Verdict { health: Health::Healthy, known: false, notes: vec![note] };
    }
    let health = Health::Failed("is not in the cluster".to_owned());
    Verdict { health, known: true, notes: Vec::new() }
}

/// Puts the cause behind the rule's own reason.
fn explain(verdict: &mut Verdict, object: &Value, around: &Surroundings<'_>) {
    let (Health::Progressing(reason) | Health::Failed(reason)) = &mut verdict.health else {
        return;
    };
    if let Some(cause) = cause(object, around)
        && !reason.contains(&cause)
    {
        *reason = format!("{reason}: {cause}");
    }
}

/// Conditions, events and messages of containers are texts of others.
pub(super) fn scrub(verdict: &mut Verdict, scrubber: &Scrubber) {
    match &mut verdict.health {
        Health::Progressing(reason)
        | Health::Failed(reason)
        | Health::Paused(reason)
        | Health::Unknown(reason) => *reason = scrubber.scrub(reason),
        Health::Healthy => {}
    }
    for note in &mut verdict.notes {
        *note = scrubber.scrub(note);
    }
}

/// A kind that every cluster has under this name.
pub(super) fn core(api_version: &str, kind: &str, plural: &str) -> Resource {
    Resource::new(Gvk::new(api_version, kind), plural, true)
}
