//! A target's next step, from what its record says to what its record says then. Whoever runs it,
//! and whoever comes after a crash, does the same: a step that was begun is begun again.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::super::job::Job;
use super::super::wait::Look;
use super::work::{Work, joined};
use super::{
    aborted, canary::canary, clean::clean, frozen, look::settled, primary::primary, standing,
};
use crate::cluster::state::{Mark, OpenRollout, RolloutId, Stand, who};
use crate::error::{Error, Exit};
use crate::event::Verb;
use crate::manifest::ObjectId;
use crate::rollout::{Run, Step};

/// How a step of a target ended.
#[derive(Clone, Debug)]
pub enum StepEnd {
    /// It is done, and the record says so; or there was none to do.
    Done,
    /// The target came to a pause.
    Paused {
        /// When, in server time.
        since: Timestamp,
    },
    /// It failed. The record says so, unless the cluster cannot be reached, or someone has to
    /// decide or to end first (exit 6): then the step was not done, and may be begun again.
    Failed(Error),
    /// The run was asked to stop. The step is under way; whoever goes on begins it again.
    Halted,
}

/// What a step came to. Whatever happened before an error is said too.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// How it ended.
    pub end: StepEnd,
    /// What was written.
    pub written: BTreeMap<ObjectId, Verb>,
    /// The last look at the health of what the step applied.
    pub look: Option<Look>,
}

impl Stepped {
    pub(super) fn failed(error: Error) -> Self {
        let end = match error.exit() {
            Exit::Interrupted => StepEnd::Halted,
            _ => StepEnd::Failed(error),
        };
        Stepped { end, written: BTreeMap::new(), look: None }
    }

    pub(super) fn of(work: &Work, end: StepEnd) -> Self {
        Stepped { end, written: work.written.clone(), look: work.look.clone() }
    }
}

/// How a step that ended with this error ended.
pub(super) fn ended(job: &Job, error: Option<Error>) -> StepEnd {
    match error {
        None => StepEnd::Done,
        Some(error) if job.is_halted() && error.exit() == Exit::Interrupted => StepEnd::Halted,
        Some(error) => StepEnd::Failed(error),
    }
}

/// Runs the command of a `run` step on this machine.
pub trait Commands: Send + Sync {
    /// Runs it for a target, and waits for its end.
    fn run<'a>(&'a self, job: &'a Job, run: &'a Run) -> BoxFuture<'a, Result<(), Error>>;
}

/// For whoever has no files: a `run` step fails, and says what it needs.
#[derive(Clone, Copy, Debug)]
pub struct NoCommands;

impl Commands for NoCommands {
    fn run<'a>(&'a self, job: &'a Job, run: &'a Run) -> BoxFuture<'a, Result<(), Error>> {
        let error = Error::new(Exit::Config, "the step `run` needs the application's files")
            .in_target(&job.target.name)
            .because(format!("its command is `{}`", run.command.join(" ")))
            .hint("run the command in the application's folder, or with `-f`");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Does the target's next step, whose time `deadline` is. At a pause that the target came to
/// before it ends the pause: whether it is over is the caller's to know, since an approval may be
/// in another record. A step that failed is tried again.
pub async fn step(
    job: &Job,
    id: &RolloutId,
    deadline: Duration,
    commands: &dyn Commands,
) -> Stepped {
    go(job, id, deadline, None, commands).await
}

/// Does a step by hand: the next one of a rollout that is made so. One that was not done before,
/// because it failed or was interrupted, gives its place to it.
pub async fn hand_step(
    job: &Job,
    id: &RolloutId,
    step: Step,
    deadline: Duration,
    commands: &dyn Commands,
) -> Stepped {
    go(job, id, deadline, Some(step), commands).await
}

async fn go(
    job: &Job,
    id: &RolloutId,
    deadline: Duration,
    by_hand: Option<Step>,
    commands: &dyn Commands,
) -> Stepped {
    let mut work = match Work::enter(job, id, deadline).await {
        Ok(work) => work,
        Err(error) => return Stepped::failed(error),
    };
    let end = match begin(&mut work, by_hand).await {
        Ok(Some(step)) => run(&mut work, &step, commands).await,
        Ok(None) => StepEnd::Done,
        Err(error) => ended(job, Some(error)),
    };
    let stepped = Stepped::of(&work, end);
    work.leave().await;
    stepped
}

/// Which step is next; none: all are done. The record says that it is under way.
async fn begin(work: &mut Work, by_hand: Option<Step>) -> Result<Option<Step>, Error> {
    let now = work.job.cluster.now();
    let target = work.job.target.name.clone();
    if let Some(frozen) = frozen(&work.ledger.record, now) {
        return Err(frozen.in_target(&target));
    }
    let open = work.open_mut()?;
    if let Some(abort) = &open.abort {
        return Err(aborted(&open.header.id, abort).in_target(&target));
    }
    if let Stand::Undoing | Stand::Undone = open.progress.stand {
        let at = standing(open, &target);
        return Err(Error::new(Exit::Blocked, format!("rollout {}, {at}", open.header.id))
            .in_target(&target)
            .hint("`mcd rollout abort` ends it"));
    }
    if let Some(step) = by_hand {
        open.progress.push_by_hand(step);
    }
    let Some(step) = open.next_step().cloned() else {
        if open.progress.stand != Stand::Succeeded && !open.header.by_hand {
            succeed(work).await?;
        }
        return Ok(None);
    };
    let waits = matches!(step, Step::Pause(_)) && open.progress.stand == Stand::Paused;
    if !waits {
        let progress = &mut open.progress;
        (progress.stand, progress.since) = (Stand::Running, now);
        (progress.message, progress.healthy, progress.interrupted) = (None, None, None);
        work.save().await?;
    }
    Ok(Some(step))
}

/// A target that has no step left, or none at all because nothing changes in it, has succeeded when
/// it is healthy.
async fn succeed(work: &mut Work) -> Result<(), Error> {
    match settled(&work.job, &work.ledger.record, work.time_left()).await {
        Ok(look) => work.look = Some(look),
        Err((error, look)) => {
            work.look = look;
            if error.exit() == Exit::Failed {
                not_done(work, Some(&error)).await?;
            }
            return Err(error);
        }
    }
    let now = work.job.cluster.now();
    let progress = &mut work.open_mut()?.progress;
    (progress.stand, progress.since) = (Stand::Succeeded, now);
    work.save().await
}

async fn run(work: &mut Work, step: &Step, commands: &dyn Commands) -> StepEnd {
    let job = work.job.clone();
    let result = match step {
        Step::Pause(_) => match wait_here(work).await {
            Ok(Some(paused)) => return paused,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        },
        Step::Canary(settings) => canary(work, settings).await,
        Step::Run(run) => commands.run(&job, run).await,
        Step::Primary => primary(work).await,
        Step::Clean => clean(work).await,
    };
    let error = match result {
        Ok(()) => match done(work).await {
            Ok(()) => return StepEnd::Done,
            Err(error) => error,
        },
        Err(error) => error,
    };
    let end = ended(&job, Some(error));
    let said = match &end {
        StepEnd::Failed(error) if error.exit() == Exit::Unreachable => Ok(()),
        StepEnd::Failed(error) => not_done(work, Some(error)).await,
        _ => not_done(work, None).await,
    };
    match (end, said) {
        (StepEnd::Failed(error), Err(unsaid)) => {
            joined([error, unsaid]).map_or(StepEnd::Halted, StepEnd::Failed)
        }
        (end, _) => end,
    }
}

/// At a pause. None: it is over.
async fn wait_here(work: &mut Work) -> Result<Option<StepEnd>, Error> {
    let now = work.job.cluster.now();
    let progress = &mut work.open_mut()?.progress;
    if progress.stand == Stand::Paused {
        return Ok(None);
    }
    (progress.stand, progress.since) = (Stand::Paused, now);
    work.save().await?;
    Ok(Some(StepEnd::Paused { since: now }))
}

/// The record says that the step is done.
async fn done(work: &mut Work) -> Result<(), Error> {
    let now = work.job.cluster.now();
    let OpenRollout { header, progress, .. } = work.open_mut()?;
    progress.done += 1;
    progress.since = now;
    progress.message = None;
    progress.stand = match progress.done < progress.steps.len() {
        _ if header.by_hand => Stand::Paused,
        true => Stand::Running,
        false => Stand::Succeeded,
    };
    work.save().await
}

/// The record says why the step is not done, or that it was interrupted.
async fn not_done(work: &mut Work, error: Option<&Error>) -> Result<(), Error> {
    let now = work.job.cluster.now();
    let target = work.job.target.name.clone();
    let scrubber = work.job.scrubber.clone();
    let open = work.open_mut()?;
    match error {
        Some(error) => {
            let progress = &mut open.progress;
            progress.message = Some(scrubber.scrub(&format!("{error:#}")));
            // Whoever decides lets it go on; nothing of it has failed.
            if error.exit() != Exit::Blocked {
                (progress.stand, progress.since) = (Stand::Failed, now);
            }
        }
        None => {
            let at = open.place_of(&target);
            open.progress.interrupted = Some(Mark { who: who::current_user(), at: now });
            open.progress.message = Some(format!("interrupted at {at}"));
        }
    }
    work.save().await
}
