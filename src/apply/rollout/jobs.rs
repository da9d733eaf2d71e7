//! The targets of a rollout as the driver knows them: the engine behind each of its calls.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::super::job::Job;
use super::drive::{Ended, Fleet, Looked};
use super::step::{Commands, StepEnd};
use super::work::taken_back;
use super::{aborted, as_staged, close, look, note_soak, open, step, undo};
use crate::cluster::state::{Approval, Header, Stand};
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::rollout::STEP_DEADLINE;

/// How many records are asked for approvals at once.
const PARALLEL: usize = 16;

/// The targets that can be reached.
pub struct Jobs {
    header: Header,
    jobs: BTreeMap<TargetName, Reached>,
    commands: Box<dyn Commands>,
    /// How long a step may take; none: as its wave says.
    pub deadline: Option<Duration>,
    /// Why targets are taken back; none: because they failed, each as its record says.
    pub why: Option<String>,
    /// Whoever is at work in a target that is to be taken back is waited for, as long as a step of
    /// it may take.
    pub patient: bool,
}

struct Reached {
    job: Job,
    wave: usize,
    /// The same with the settings of the release that is rolled out.
    staged: OnceCell<Job>,
}

impl Jobs {
    /// Over these targets; those that cannot be reached are left out.
    pub fn new(
        header: Header,
        jobs: impl IntoIterator<Item = Job>,
        commands: Box<dyn Commands>,
    ) -> Self {
        let wave = |name: &TargetName| {
            header.waves.iter().position(|w| w.targets.iter().any(|p| p.target == *name))
        };
        let jobs = jobs
            .into_iter()
            .filter_map(|job| {
                let name = job.target.name.clone();
                Some((name.clone(), Reached { wave: wave(&name)?, job, staged: OnceCell::new() }))
            })
            .collect();
        Jobs { header, jobs, commands, deadline: None, why: None, patient: false }
    }

    fn get(&self, target: &TargetName) -> Result<&Reached, Error> {
        self.jobs.get(target).ok_or_else(|| {
            Error::new(Exit::Unreachable, "is not reached by this run").in_target(target)
        })
    }

    fn deadline(&self, reached: &Reached) -> Duration {
        let of_wave = self.header.waves.get(reached.wave).map(|wave| wave.progress_deadline);
        self.deadline.or(of_wave).unwrap_or(STEP_DEADLINE)
    }

    async fn why(&self, job: &Job) -> String {
        if let Some(why) = &self.why {
            return why.clone();
        }
        let known = open(job).await.ok().flatten().and_then(|open| open.progress.message);
        known.unwrap_or_else(|| "another target of the rollout failed".to_owned())
    }

    async fn look_at(&self, target: &TargetName, last: bool) -> Result<Looked, Error> {
        let reached = self.get(target)?;
        let staged = reached.staged.get_or_try_init(|| as_staged(&reached.job)).await?;
        let looked = look(staged, &self.header.id, last).await?;
        Ok(match (looked.failed, looked.healthy) {
            (Some(error), _) => Looked::Failed(error),
            (None, Some(since)) => Looked::Healthy { since },
            (None, None) => {
                let health = &looked.look.summary.health;
                Looked::NotYet(health.reason().unwrap_or("not healthy yet").to_owned())
            }
        })
    }
}

impl Fleet for Jobs {
    async fn advance(&self, target: &TargetName, _step: Option<usize>) -> Ended {
        let reached = match self.get(target) {
            Ok(reached) => reached,
            Err(error) => return Ended::Unreachable(error),
        };
        let deadline = self.deadline(reached);
        let stepped = step(&reached.job, &self.header.id, deadline, &*self.commands).await;
        // Whatever comes next, it waits for its turn now; the display must not say that it works.
        reached.job.events.phase(Phase::Pending);
        match stepped.end {
            StepEnd::Done => Ended::Done,
            StepEnd::Paused { since } => Ended::Paused { since },
            StepEnd::Failed(error) => Ended::of(error),
            StepEnd::Halted => Ended::Halted,
        }
    }

    async fn look(&self, target: &TargetName, last: bool) -> Looked {
        self.look_at(target, last).await.unwrap_or_else(|error| match error.exit() {
            Exit::Unreachable => Looked::Unreachable(error),
            Exit::Interrupted | Exit::Terminated => Looked::Halted,
            Exit::Blocked => Looked::Blocked(error),
            _ => Looked::Failed(error),
        })
    }

    async fn undo(&self, target: &TargetName) -> Result<(), Error> {
        let reached = self.get(target)?;
        let job = &reached.job;
        let why = self.why(job).await;
        let deadline = self.deadline(reached);
        let wait = if self.patient { deadline } else { Duration::ZERO };
        let stepped = undo(job, &self.header.id, deadline, wait, &why).await;
        job.events.phase(Phase::Pending);
        match stepped.end {
            StepEnd::Done | StepEnd::Paused { .. } => Ok(()),
            StepEnd::Failed(error) => Err(error.in_target(target)),
            StepEnd::Halted => Err(job.halted()),
        }
    }

    async fn close(
        &self,
        target: &TargetName,
        stand: Stand,
        message: Option<String>,
    ) -> Result<(), Error> {
        close(&self.get(target)?.job, &self.header.id, stand, message).await
    }

    async fn note_soak(&self, target: &TargetName, since: Timestamp) -> Result<(), Error> {
        note_soak(&self.get(target)?.job, &self.header.id, since).await
    }

    async fn approvals(&self, wave: usize) -> Result<Vec<Approval>, (TargetName, Error)> {
        let of_wave = self.jobs.values().filter(|reached| reached.wave == wave);
        let id = &self.header.id;
        let read = stream::iter(of_wave)
            .map(|reached| async move {
                let name = &reached.job.target.name;
                let record = reached.job.store.record().await.ok().flatten();
                let Some((record, _)) = record else { return Ok(Vec::new()) };
                match (record.rollout, record.closed) {
                    (Some(open), _) if open.header.id == *id => match &open.abort {
                        None => Ok(open.approvals),
                        Some(abort) => Err((name.clone(), aborted(id, abort).in_target(name))),
                    },
                    (_, Some(closed)) if closed.id == *id && closed.aborted => {
                        Err((name.clone(), taken_back(&reached.job, &closed)))
                    }
                    _ => Ok(Vec::new()),
                }
            })
            .buffer_unordered(PARALLEL);
        let read: Result<Vec<_>, _> = read.collect::<Vec<_>>().await.into_iter().collect();
        Ok(read?.into_iter().flatten().collect())
    }

    fn now(&self, target: &TargetName) -> Timestamp {
        self.jobs.get(target).map_or_else(Timestamp::now, |reached| reached.job.cluster.now())
    }
}
