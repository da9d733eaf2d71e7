//! The objects of a release as a step plans and writes them: read out of the cluster, in versions
//! that it serves, with the settings that the release was made with. Nothing is rendered.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::adopt;
use super::super::inventory::{intend, remember, subjects};
use super::super::job::Job;
use super::super::observe::{Adopt, Observed, PlanOptions, observe};
use super::super::restore::{load, rendered};
use super::super::wait::wait_closely;
use super::super::write::write_all;
use super::work::{Work, joined};
use crate::cluster::state::{Digests, Release, TargetProgress};
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::manifest::{Object, ObjectId};
use crate::plan::{Besides, PruneOptions};
use crate::render::Rendered;
use crate::rollout::VariantSettings;
use crate::rollout::variant::labelled;

/// The key of [`Flags`] in a release's settings.
const FLAGS: &str = "flags";

/// What the command line said of how the release is written: whoever goes on with its rollout, on
/// whatever machine, writes it the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Flags {
    force_conflicts: bool,
    adopt: bool,
    keep: bool,
    allow_prune_all: bool,
    with_namespaces: bool,
    with_definitions: bool,
    with_volumes: bool,
}

impl From<PlanOptions> for Flags {
    fn from(options: PlanOptions) -> Self {
        let PruneOptions { keep, all, besides } = options.prune;
        Flags {
            force_conflicts: options.force_conflicts,
            adopt: options.adopt != Adopt::No,
            keep,
            allow_prune_all: all,
            with_namespaces: besides.namespaces,
            with_definitions: besides.definitions,
            with_volumes: besides.volumes,
        }
    }
}

impl From<Flags> for PlanOptions {
    fn from(flags: Flags) -> Self {
        let besides = Besides {
            namespaces: flags.with_namespaces,
            definitions: flags.with_definitions,
            volumes: flags.with_volumes,
        };
        PlanOptions {
            verify: false,
            force_conflicts: flags.force_conflicts,
            adopt: if flags.adopt { Adopt::Yes } else { Adopt::No },
            prune: PruneOptions { keep: flags.keep, all: flags.allow_prune_all, besides },
            in_rollout: true,
        }
    }
}

/// The settings that a release is staged with: the target's own, and what the command line said.
pub(super) fn settings(job: &Job, options: PlanOptions) -> Value {
    let mut settings = job.target.settings();
    let flags = serde_json::to_value(Flags::from(options)).unwrap_or_default();
    if let Some(settings) = settings.as_object_mut() {
        settings.insert(FLAGS.to_owned(), flags);
    }
    settings
}

/// A release, ready to be planned.
pub(super) struct Set {
    /// The work on the target, with the settings of the release.
    pub(super) job: Job,
    /// Its objects, in versions that the cluster serves.
    pub(super) rendered: Rendered,
    /// How it is planned.
    pub(super) options: PlanOptions,
}

impl Set {
    /// Reads a release.
    ///
    /// # Errors
    /// It is gone or damaged, a kind of it is served no more, a call fails.
    pub(super) async fn load(job: &Job, number: u64) -> Result<Self, Error> {
        let (release, discovery) = tokio::join!(load(job, number), job.cluster.discovery());
        let release = release?;
        let discovery = discovery.map_err(|error| job.failed(error, None))?;
        let rendered = rendered(&release, &discovery).map_err(|errors| one(job, errors))?;
        Ok(Set { job: with_settings(job, &release)?, rendered, options: options_of(&release) })
    }

    /// The objects of the release, whose namespaces were resolved when it was staged.
    pub(super) fn objects(&self) -> &[Object] {
        &self.rendered.objects
    }

    /// With the objects as they are applied to the primary: where variants are kept apart by a label
    /// it has that label.
    ///
    /// # Errors
    /// The label cannot be had; see [`labelled`].
    pub(super) fn labelled(mut self, settings: &VariantSettings) -> Result<Self, Error> {
        let objects = std::mem::take(&mut self.rendered.objects);
        let objects = labelled(objects, settings, &self.job.target.namespace);
        self.rendered.objects = objects.map_err(|errors| one(&self.job, errors))?;
        Ok(self)
    }

    /// The same release with other objects in place of its own.
    pub(super) fn with(&self, objects: Vec<Object>) -> Rendered {
        Rendered { objects, warnings: Vec::new(), ..self.rendered.clone() }
    }
}

fn options_of(release: &Release) -> PlanOptions {
    let flags = release.settings.get(FLAGS).cloned().unwrap_or_default();
    serde_json::from_value::<Flags>(flags).unwrap_or_default().into()
}

/// The work on a target with the settings that a release was made with: they win over what the
/// files say today. Which cluster it is, and where the state is, is as it was.
pub(super) fn with_settings(job: &Job, release: &Release) -> Result<Job, Error> {
    let target = (*job.target).clone().with_settings(&release.settings).map_err(|why| {
        Error::new(Exit::Failed, format!("the settings of release {} are damaged", release.number))
            .in_target(&job.target.name)
            .because(why)
    })?;
    Ok(Job { target: Arc::new(target), ..job.clone() })
}

/// What was put into a cluster.
pub(super) struct Put {
    /// The plan that was carried out.
    pub(super) observed: Observed,
    /// Jobs that go by their TTL, with what is known of them once they are complete.
    pub(super) jobs: Vec<(ObjectId, Digests)>,
}

/// Plans objects, writes what changes, and waits until all of them are healthy. Before the first
/// write the record says what may be there from then on: the objects in its inventory, and what
/// `note` adds to the rollout's progress; `note` may also take objects out of the plan.
///
/// # Errors
/// The plan cannot be made or has blockers, a write fails, or the objects do not become healthy in
/// the step's time.
pub(super) async fn put(
    work: &mut Work,
    job: &Job,
    objects: &Rendered,
    options: PlanOptions,
    note: impl FnOnce(&mut Observed, &mut TargetProgress),
) -> Result<Put, Error> {
    let mut observed = observe(job, objects, options).await.map_err(|errors| one(job, errors))?;
    note(&mut observed, &mut work.open_mut()?.progress);
    if let Some(error) = joined(observed.plan.blockers()) {
        return Err(error);
    }
    job.store.ensure_key(observed.key.clone()).await?;
    for warning in &observed.plan.warnings {
        job.events.warn(None, warning.clone());
    }
    intend(&mut work.ledger.record, &observed);
    adopt::intend(&mut work.ledger.record, &observed.plan);
    work.save().await?;

    job.events.phase(Phase::Applying);
    let plan = &observed.plan;
    let mut progress =
        write_all(job, &observed.scene, &plan.objects, &work.fence, work.time_left()).await;
    work.written.extend(progress.written.iter().map(|(id, written)| (id.clone(), written.verb)));
    if progress.errors.is_empty()
        && let Err(error) = adopt::retire(&job.uncancelled(), &mut work.ledger.record).await
    {
        progress.errors.push(error);
    }
    let jobs = remember(&mut work.ledger.record, &observed, &progress);
    let saved = work.save().await;
    if let Some(error) = joined(progress.errors.drain(..).chain(saved.err())) {
        return Err(error);
    }
    match wait_closely(job, &subjects(&observed, &progress), work.time_left()).await {
        Ok(look) => work.look = Some(look),
        Err((error, look)) => {
            work.look = look;
            return Err(error);
        }
    }
    Ok(Put { observed, jobs })
}

/// What is known of Jobs once they are complete.
pub(super) fn conclude(work: &mut Work, jobs: Vec<(ObjectId, Digests)>) {
    let known: BTreeMap<ObjectId, Digests> = jobs.into_iter().collect();
    for (id, digests) in known {
        if let Some(member) = work.ledger.record.inventory.get_mut(&id) {
            member.digests = Some(digests);
        }
    }
}

/// One error of those that kept a plan from being made.
pub(super) fn one(job: &Job, errors: Vec<Error>) -> Error {
    joined(errors).unwrap_or_else(|| job.halted())
}
