//! `mcd rollout run`, and what an apply does that goes through steps or waves: every target is
//! staged before the first write, then the rollout is driven as far as it goes (design §7, §9).

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use futures::stream::{self, StreamExt};

use super::super::Outcome;
use super::super::apply::{DeployArgs, apply_with};
use super::super::args::{DriveArgs, GlobalArgs};
use super::super::deploy::{How, Planned, Ready, about, release_about};
use super::super::session::Session;
use super::super::strategy::{Ways, waves};
use super::commands;
use super::foresee::foresee_all;
use super::see::{At, finish};
use crate::apply::Job;
use crate::apply::rollout::{Jobs, Staging, drive, mark_staged, open, preflight, stage, unstage};
use crate::cluster::state::{Header, OpenRollout, RolloutId, Stand, TargetProgress, WavePlan, who};
use crate::config::{Target, TargetName};
use crate::error::{Error, Exit, Result};
use crate::event::{EventKind, Phase};
use crate::report::plan::plural;
use crate::rollout::{RolloutSettings, Step, Strategy, StrategyChoice, steps};
use crate::ui::Ui;

/// How many targets are asked at once whether they are ready.
const PARALLEL: usize = 16;

/// Arguments of `mcd rollout run`.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    deploy: DeployArgs,
}

/// Runs the verb.
pub(super) async fn run(args: &RunArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let options = args.deploy.planning.options();
    apply_with(&args.deploy, options, Some(StrategyChoice::Steps), None, global, ui).await
}

/// A rollout that is about to be opened.
pub(in super::super) struct Roll {
    waves: Vec<WavePlan>,
    /// How each target that is ready goes.
    strategies: BTreeMap<TargetName, Strategy>,
    drive: DriveArgs,
    /// The first step by hand; none: it runs by itself.
    by_hand: Option<Step>,
}

impl Roll {
    /// Decides whether what was planned is rolled out, rather than applied to all targets at once:
    /// through steps, in several waves, or in one that has rules of its own.
    ///
    /// # Errors
    /// Exit 3: a target is in no wave; `--wait=false`, since a step that nobody waits for says
    /// nothing.
    pub(in super::super) fn of(ways: Ways, args: &DeployArgs) -> Result<Option<Self>> {
        if !ways.opens {
            return Ok(None);
        }
        if !args.wait.wait {
            return Err(Error::config("a rollout waits for each step: `--wait=false` cannot be")
                .hint(
                    "`--strategy plain` with one wave (`--wave`, `-t`) applies without waiting",
                ));
        }
        let Ways { waves, strategies, opens: _ } = ways;
        Ok(Some(Roll { waves, strategies, drive: args.drive, by_hand: None }))
    }

    /// One that is made step by step, beginning with this one.
    pub(super) fn by_hand(session: &Session, args: &DeployArgs, step: Step) -> Result<Self> {
        // Waves are for those that run by themselves.
        let settings = RolloutSettings::default();
        let waves = waves(session, &settings, args.wait.timeout)?;
        let drive = args.drive;
        Ok(Roll { waves, strategies: BTreeMap::new(), drive, by_hand: Some(step) })
    }

    /// Finds out what the canaries of each target will be.
    pub(in super::super) async fn foresee(
        &self,
        session: &Session,
        planned: Vec<Planned>,
    ) -> Vec<Planned> {
        let settings = &session.project.rollout;
        foresee_all(planned, &settings.variants, |target| match &self.by_hand {
            Some(Step::Canary(canary)) => vec![canary],
            Some(_) => Vec::new(),
            None => {
                let strategy = self.strategies.get(&target.name);
                let own = strategy.map(|s| s.steps(settings, target)).unwrap_or_default();
                settings.canaries(&own)
            }
        })
        .await
    }

    /// What the user is asked.
    pub(in super::super) fn question(&self, targets: usize) -> String {
        let targets = plural(targets, "target");
        match (&self.by_hand, self.waves.len()) {
            (Some(step), _) => format!("Stage the release, and begin with `{step}`, in {targets}?"),
            (None, 1) => format!("Roll out to {targets}?"),
            (None, waves) => format!("Roll out to {targets} in {}?", plural(waves, "wave")),
        }
    }

    /// Whether it begins also where nothing changes.
    pub(in super::super) fn is_by_hand(&self) -> bool {
        self.by_hand.is_some()
    }

    fn progress(&self, settings: &RolloutSettings, target: &Target, job: &Job) -> TargetProgress {
        let strategy = self.strategies.get(&target.name);
        TargetProgress {
            release: None,
            previous: None,
            steps: strategy.map(|s| s.steps(settings, target)).unwrap_or_default(),
            hand: Vec::new(),
            reason: strategy.map_or_else(|| "by hand".to_owned(), |s| s.reason.clone()),
            done: 0,
            stand: Stand::Pending,
            since: job.cluster.now(),
            healthy: None,
            soak: None,
            interrupted: None,
            message: None,
            variants: Default::default(),
            created: Default::default(),
        }
    }
}

/// Looks in every target that is ready for what would stop the rollout half-way, and takes those
/// out of the ready ones.
pub(in super::super) async fn check(planned: Vec<Planned>) -> Vec<Planned> {
    let checked = stream::iter(planned).map(|(target, ready)| async move {
        let ready = match ready {
            Ok(ready) if ready.observed.plan.blockers().is_empty() => {
                let record = ready.observed.record.as_ref().map(|(record, _)| record);
                let errors = preflight(&ready.job, &ready.rendered, record).await;
                if errors.is_empty() { Ok(ready) } else { Err(errors) }
            }
            other => other,
        };
        (target, ready)
    });
    checked.buffered(PARALLEL).collect().await
}

/// Stages all targets that are ready, and drives the rollout.
pub(in super::super) async fn carry_out(
    session: &Session,
    planned: Vec<Planned>,
    how: &How,
    roll: &Roll,
    ui: &Ui,
) -> Outcome {
    let settings = match roll.by_hand {
        None => session.project.rollout.clone(),
        // How copies are made is the file's; in which order what is done is not.
        Some(_) => RolloutSettings {
            variants: session.project.rollout.variants.clone(),
            ..RolloutSettings::default()
        },
    };
    let mut ready: BTreeMap<TargetName, (Arc<Target>, Ready)> = BTreeMap::new();
    let mut unready: BTreeMap<TargetName, Vec<Error>> = BTreeMap::new();
    for (target, result) in planned {
        let blockers = result.as_ref().map_or_else(Clone::clone, |r| r.observed.plan.blockers());
        match result {
            Ok(one) if blockers.is_empty() => {
                ready.insert(target.name.clone(), (target, one));
            }
            _ => {
                unready.insert(target.name.clone(), blockers);
            }
        }
    }
    let header = header(session, roll, &settings, &ready, &unready).await;
    let (staged, missing) = stage_all(session, &header, roll, &settings, ready, how, ui).await?;
    if let Some(step) = &roll.by_hand {
        return super::hand::first(session, &header, staged, missing, step, how, ui).await;
    }
    session.events.send(EventKind::RolloutOpened {
        id: header.id.clone(),
        resumed: false,
        waves: header.waves.iter().map(|wave| wave.name.clone()).collect(),
        targets: header.waves.iter().map(|wave| wave.targets.len()).sum(),
    });
    let known = known(&header, &staged, &missing, &unready).await;
    let all = everywhere(&header, &staged, &unready, &missing);
    let fleet = Jobs::new(header.clone(), staged, commands(session, &header));
    let driving = drive::How {
        cap: how.cap,
        wait_approval: roll.drive.wait_approval,
        retry_failed: false,
        halt: session.interrupt.token().clone(),
        events: session.events.clone(),
    };
    let outcome = drive::drive(&fleet, &header, known, &driving).await;
    let exit = outcome.exit(roll.drive.budget_ok);
    finish(session, &header, &all, &outcome, exit, how.output, ui).await
}

/// What the rollout is, the same in all its records.
async fn header(
    session: &Session,
    roll: &Roll,
    settings: &RolloutSettings,
    ready: &BTreeMap<TargetName, (Arc<Target>, Ready)>,
    unready: &BTreeMap<TargetName, Vec<Error>>,
) -> Header {
    let now = ready.values().next().map(|(_, one)| one.job.cluster.now());
    let opened = now.unwrap_or_else(jiff::Timestamp::now);
    let mut salt = [0; 2];
    // Without random bytes the second alone tells rollouts apart.
    let _ = getrandom::fill(&mut salt);
    let mut waves = roll.waves.clone();
    for place in waves.iter_mut().flat_map(|wave| &mut wave.targets) {
        let why = unready.get(&place.target).and_then(|errors| errors.first());
        place.not_staged = why.map(|error| session.scrubber.scrub(&format!("{error:#}")));
    }
    let about = about(session).await;
    Header {
        id: RolloutId::new(opened, u16::from_be_bytes(salt)),
        by_hand: roll.by_hand.is_some(),
        opened,
        who: who::current_user(),
        commit: about.commit,
        waves,
        steps: if roll.by_hand.is_some() { Vec::new() } else { steps(settings) },
        variants: settings.variants.clone(),
        on_failure: settings.on_failure,
    }
}

/// The targets that were staged, and those that went away meanwhile.
type StagedAll = (Vec<Job>, BTreeMap<TargetName, Error>);

/// Stages the targets in the order of their names, so that of two rollouts that meet the one goes
/// on that came first to the first target of both. One that cannot be staged ends it: what was
/// staged is unstaged.
async fn stage_all(
    session: &Session,
    header: &Header,
    roll: &Roll,
    settings: &RolloutSettings,
    ready: BTreeMap<TargetName, (Arc<Target>, Ready)>,
    how: &How,
    ui: &Ui,
) -> Result<StagedAll> {
    let about = about(session).await;
    let (mut staged, mut missing) = (Vec::new(), BTreeMap::new());
    let mut failure = None;
    for (name, (target, one)) in ready {
        if let Some(interrupted) = session.interrupted() {
            failure = Some(Error::new(interrupted, "interrupted while staging"));
            break;
        }
        let Ready { job, rendered, observed, restored } = one;
        let staging = Staging {
            header: header.clone(),
            progress: roll.progress(settings, &target, &job),
            about: release_about(&about, &target, &rendered, restored.as_ref()),
            plan: how.plan,
            rollback_of: restored.map(|restored| restored.number),
        };
        let reason = staging.progress.reason.clone();
        match stage(&job, &rendered, observed, staging).await {
            Ok(()) => {
                let open = open(&job).await.ok().flatten();
                let release = open.and_then(|open| open.progress.release);
                job.events.send(EventKind::Staged { release, reason });
                job.events.phase(Phase::Pending);
                staged.push(job);
            }
            Err(error) if how.keep_going && error.exit() == Exit::Unreachable => {
                missing.insert(name.clone(), error.in_target(&name));
            }
            Err(error) => {
                failure = Some(error.in_target(&name));
                break;
            }
        }
    }
    if failure.is_none() && !staged.is_empty() && session.interrupted().is_none() {
        failure = open_for_steps(&mut staged, &mut missing, &header.id, how.keep_going).await;
        if failure.is_none() && !staged.is_empty() && session.interrupted().is_none() {
            return Ok((staged, missing));
        }
    }
    let failure = failure.or_else(|| missing.into_values().next());
    session.settle().await;
    let failure = match session.interrupted() {
        Some(interrupted) => Some(Error::new(interrupted, "interrupted while staging")),
        None => failure,
    };
    let mut left = Vec::new();
    for job in staged.iter().rev() {
        if let Err(error) = unstage(job, &header.id).await {
            ui.warning(&format!("it is still staged: {error}"));
            left.push(job.target.name.as_str());
        }
    }
    let error = failure.unwrap_or_else(|| Error::new(Exit::Failed, "nothing was staged"));
    Err(match left.as_slice() {
        [] => error.hint("nothing was applied anywhere"),
        _ => error.hint("nothing was applied anywhere; `mcd rollout abort` removes what is staged"),
    })
}

/// Says in all records that every target is staged: whoever goes on with the rollout, here or
/// elsewhere, knows that it may. Answers why it may not.
async fn open_for_steps(
    staged: &mut Vec<Job>,
    missing: &mut BTreeMap<TargetName, Error>,
    id: &RolloutId,
    keep_going: bool,
) -> Option<Error> {
    let marks = stream::iter(staged.iter()).map(|job| async move {
        let marked = mark_staged(job, id).await;
        (job.target.name.clone(), marked)
    });
    let marks: Vec<(TargetName, Result<()>)> = marks.buffered(PARALLEL).collect().await;
    let mut failure = None;
    for (name, marked) in marks {
        match marked {
            Ok(()) => {}
            Err(error) if keep_going && error.exit() == Exit::Unreachable => {
                staged.retain(|job| job.target.name != name);
                missing.insert(name.clone(), error.in_target(&name));
            }
            Err(error) => failure = failure.or(Some(error.in_target(&name))),
        }
    }
    failure
}

/// How far the targets are that were just staged.
async fn known(
    header: &Header,
    staged: &[Job],
    missing: &BTreeMap<TargetName, Error>,
    unready: &BTreeMap<TargetName, Vec<Error>>,
) -> BTreeMap<TargetName, drive::Known> {
    let read = stream::iter(staged).map(|job| async move {
        let known = match open(job).await {
            Ok(Some(OpenRollout { header: found, progress, .. })) if found.id == header.id => {
                drive::Known::Open(Box::new(progress))
            }
            Ok(_) => drive::Known::Missing(
                Error::new(Exit::Blocked, "someone removed the record").in_target(&job.target.name),
            ),
            Err(error) => drive::Known::Missing(error.in_target(&job.target.name)),
        };
        (job.target.name.clone(), known)
    });
    let mut known: BTreeMap<_, _> = read.buffer_unordered(PARALLEL).collect().await;
    // The exit code of a rollout that they stop is theirs.
    let unready = unready.iter().filter_map(|(name, errors)| Some((name, errors.first()?)));
    for (name, error) in missing.iter().chain(unready) {
        known.insert(name.clone(), drive::Known::Missing(error.clone()));
    }
    known
}

/// All targets of the rollout, for its report.
pub(super) fn everywhere(
    header: &Header,
    staged: &[Job],
    unready: &BTreeMap<TargetName, Vec<Error>>,
    missing: &BTreeMap<TargetName, Error>,
) -> Vec<At> {
    let places = header.waves.iter().flat_map(|wave| &wave.targets);
    let at = |place: &crate::cluster::state::Place| {
        let name = &place.target;
        let job = staged.iter().find(|job| job.target.name == *name).cloned();
        let why = unready.get(name).and_then(|errors| errors.first()).or(missing.get(name));
        let why = why.cloned();
        let job = job.ok_or_else(|| {
            why.unwrap_or_else(|| Error::new(Exit::Unreachable, "was not reached").in_target(name))
        });
        At { place: place.clone(), job }
    };
    places.map(at).collect()
}
