//! Goes back: reads a release out of the cluster and plans its objects as if they had just been
//! rendered. No tool runs, and nothing of the repository is read but where the targets are.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::job::Job;
use super::observe::{Observed, PlanOptions, observe};
use crate::cluster::state::{About, Choice, Release, Releases};
use crate::cluster::{Discovery, Lookup};
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::manifest::{Gvk, Object, Origin};
use crate::plan::{Serves, to_served};
use crate::render::Rendered;

/// The release that is gone back to.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The release that is active; none: none is.
    pub from: Option<u64>,
    /// Its number.
    pub number: u64,
    /// Where it came from.
    pub about: About,
    /// The settings that it was made with.
    pub settings: Value,
}

/// A release that was read and planned.
pub struct Restoration {
    /// The work on the target, with the settings of the release.
    pub job: Job,
    /// Its objects.
    pub rendered: Rendered,
    /// The plan to make the target have them.
    pub observed: Observed,
    /// Which release it is.
    pub restored: Restored,
}

/// Reads what a target's releases are.
pub async fn releases(job: &Job) -> Result<Releases, Error> {
    let (record, listed) = tokio::join!(job.store.record(), job.store.releases());
    let record = record?.map(|(record, _)| record);
    Ok(Releases::new(record.as_ref(), &listed?))
}

/// Reads a release with its objects, whose secret values the run knows from then on.
pub async fn load(job: &Job, number: u64) -> Result<Release, Error> {
    let gone = || {
        Error::new(Exit::Failed, format!("release {number} is gone: its Secret was deleted"))
            .in_target(&job.target.name)
            .hint("`mcd history` lists those that are there")
    };
    let release = job.store.release(number).await?.ok_or_else(gone)?;
    release.objects.iter().for_each(|object| job.scrubber.learn(object));
    Ok(release)
}

/// Plans to go back: to release `to`, or without it to the one before the active one.
pub async fn restore(
    job: &Job,
    to: Option<u64>,
    options: PlanOptions,
) -> Result<Restoration, Vec<Error>> {
    let one = |e: Error| vec![e.in_target(&job.target.name)];
    job.events.phase(Phase::Reading);
    let choice = releases(job).await.and_then(|all| all.choose(to)).map_err(one)?;
    let number = choice.to.number;
    let (release, discovery) = tokio::join!(load(job, number), job.cluster.discovery());
    let release = release.map_err(one)?;
    let discovery = discovery.map_err(|e| one(job.failed(e, None)))?;
    let rendered = rendered(&release, &discovery)
        .map_err(|errors| errors.into_iter().flat_map(one).collect::<Vec<_>>())?;
    let job = with_settings(job, &release);
    let mut observed = observe(&job, &rendered, options).await?;
    let plan = &mut observed.plan;
    if plan.unfinished.is_none() && !choice.is_active {
        // Also when no object changes: what the target runs has another number then.
        plan.unfinished = Some(not_active(&choice));
    }
    let restored =
        Restored { from: choice.from, number, about: release.about, settings: release.settings };
    Ok(Restoration { job, rendered, observed, restored })
}

fn not_active(choice: &Choice) -> String {
    match choice.from {
        Some(active) => format!("release {active} is active"),
        None => "no release is active".to_owned(),
    }
}

/// The objects of a release as if they had been rendered, in versions that the cluster serves.
pub(super) fn rendered(release: &Release, discovery: &Discovery) -> Result<Rendered, Vec<Error>> {
    let source = format!("release {}", release.number);
    let mut objects = Vec::with_capacity(release.objects.len());
    for (at, value) in release.objects.iter().enumerate() {
        let origin = Origin { source: source.clone(), document: at.saturating_add(1), line: 0 };
        let Some(object) = Object::new(value.clone(), origin) else {
            let what = format!("{source} is damaged: its object {} has no name", at + 1);
            return Err(vec![
                Error::new(Exit::Failed, what)
                    .hint("choose another release: `mcd history` lists them"),
            ]);
        };
        objects.push(object);
    }
    let warnings = to_served(&mut objects, discovery, &source)?;
    Ok(Rendered {
        objects,
        hooks: Vec::new(),
        tool: None,
        chart: None,
        warnings,
        took: Duration::ZERO,
    })
}

/// What a release was made with wins over what the files say today: a namespace that it was to make
/// is made again. Which cluster, and where the state is, only the files know.
fn with_settings(job: &Job, release: &Release) -> Job {
    let mut target = (*job.target).clone();
    if let Some(create) = release.settings["createNamespace"].as_bool() {
        target.create_namespace = create;
    }
    target.vars = release.about.vars.clone();
    Job { target: Arc::new(target), ..job.clone() }
}

impl Serves for Discovery {
    fn may_serve(&self, gvk: &Gvk) -> bool {
        self.lookup(gvk) != Lookup::Unknown
    }

    fn versions(&self, group: &str, kind: &str) -> Vec<String> {
        Discovery::versions(self, group, kind).into_iter().map(str::to_owned).collect()
    }
}
