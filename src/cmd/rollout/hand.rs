//! Steps by hand: `mcd rollout canary`, `primary` and `clean`, with the code of a rollout that runs
//! by itself (design §8). The first one stages a release and opens a rollout; later ones act on that
//! release, and render nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use futures::stream::{self, StreamExt};

use super::super::Outcome;
use super::super::apply::{DeployArgs, deploy_planned, observe_all};
use super::super::args::Output;
use super::super::args::{
    ClusterArgs, ConfirmArgs, EventsArgs, GlobalArgs, OutputArgs, ProjectArgs, WaitArgs,
};
use super::super::deploy::How;
use super::super::session::Session;
use super::run::{Roll, check, everywhere};
use super::see::{At, finish};
use crate::apply::Job;
use crate::apply::rollout::NoCommands;
use crate::apply::rollout::{StepEnd, close, drive, hand_step, open};
use crate::cluster::state::{Header, OpenRollout, Record, Stand};
use crate::config::{TargetName, is_dns_label};
use crate::error::{Error, Exit, Result};
use crate::event::{EventKind, StepMark};
use crate::report::plan::plural;
use crate::rollout::{Amount, Canary, STEP_DEADLINE, Step};
use crate::ui::Ui;

/// Arguments of `mcd rollout canary`.
#[derive(Args, Debug)]
pub(super) struct CanaryArgs {
    /// How many replicas each copy has: a number, or a share of the replicas that run now (`20%`)
    #[arg(long, value_name = "N|%", default_value = "1", value_parser = replicas)]
    replicas: Amount,
    /// Make a Service that selects only the copies
    #[arg(long)]
    service: bool,
    /// What is appended to the names of the copies, after a dash
    #[arg(long, value_name = "TEXT", default_value = "canary", value_parser = suffix)]
    suffix: String,
    #[command(flatten)]
    deploy: DeployArgs,
}

/// Arguments of `mcd rollout primary` and `clean`.
#[derive(Args, Debug)]
pub(super) struct HandArgs {
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    events: EventsArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

fn replicas(text: &str) -> Result<Amount, String> {
    match Amount::parse(text)? {
        Amount::Count(0) => Err("a canary has at least 1 replica".to_owned()),
        Amount::Percent(share) if share.0 == 0 || share.0 > 100 => {
            Err("expected a share of 1% to 100%".to_owned())
        }
        amount => Ok(amount),
    }
}

fn suffix(text: &str) -> Result<String, String> {
    match is_dns_label(text, 20) {
        true => Ok(text.to_owned()),
        false => Err("expected a DNS label of at most 20 characters".to_owned()),
    }
}

/// Runs `mcd rollout canary`: on a rollout by hand that is open, or on a new one.
pub(super) async fn canary(args: &CanaryArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let step = Step::Canary(Canary {
        replicas: args.replicas,
        service: args.service,
        suffix: args.suffix.clone(),
    });
    let deploy = &args.deploy;
    let session = Session::open(&deploy.project, &deploy.clusters, Some(&deploy.render), ui)?;
    session.record(&deploy.events)?;
    session.check_contexts()?;
    if !deploy.confirm.yes && !deploy.dry_run {
        ui.can_confirm()?;
    }
    if !deploy.wait.wait {
        return Err(Error::config("a step waits for its end: `--wait=false` cannot be"));
    }
    let records = records(&session).await;
    let hands: Vec<(Job, OpenRollout)> = by_hand(&records);
    if hands.is_empty() {
        let options = deploy.planning.options();
        let planned = observe_all(&session, options).await;
        let roll = Roll::by_hand(&session, deploy, step)?;
        let planned = roll.foresee(&session, planned).await;
        let planned = if deploy.dry_run { planned } else { check(planned).await };
        return deploy_planned(&session, planned, deploy, options, (Some(roll), None), global, ui)
            .await;
    }
    if hands.len() < records.len() {
        let open: Vec<&str> = hands.iter().map(|(job, _)| job.target.name.as_str()).collect();
        return Err(Error::config("a rollout by hand is open in some of the targets only")
            .because(format!("it is in {}", open.join(", ")))
            .hint("choose targets with `-t`: those, or others to begin another rollout"));
    }
    if deploy.dry_run {
        return Err(Error::config("`--dry-run` is for the step that begins a rollout by hand")
            .hint("`mcd rollout status` shows the one that is open"));
    }
    without_effect(args, &hands)?;
    let header = one(&hands)?;
    let how = Manner {
        yes: deploy.confirm.yes,
        timeout: deploy.wait.timeout,
        cap: deploy.clusters.concurrency,
        output: deploy.output.output,
    };
    go_on(&session, &header, hands, &step, how, ui).await
}

/// Refuses what a canary of a rollout that is open cannot heed: the release is staged, and a copy
/// of another name would share the selector of the one that is there.
fn without_effect(args: &CanaryArgs, hands: &[(Job, OpenRollout)]) -> Result<()> {
    let again = "`mcd rollout abort` takes it back; then begin anew";
    for (job, open) in hands {
        if !args.deploy.project.vars.is_empty() {
            let release = open.progress.release.map(|number| format!("release {number}"));
            let release = release.unwrap_or_else(|| "its release".to_owned());
            return Err(Error::config(format!(
                "`--var` has no effect: {release} is staged already"
            ))
            .in_target(&job.target.name)
            .hint(again));
        }
        let since_clean = open.progress.hand.iter().rev().take_while(|step| **step != Step::Clean);
        let other = since_clean.into_iter().find_map(|step| match step {
            Step::Canary(canary) if canary.suffix != args.suffix => Some(&canary.suffix),
            _ => None,
        });
        if let Some(suffix) = other {
            return Err(Error::config(format!("there is a canary with the suffix `{suffix}`"))
                .in_target(&job.target.name)
                .hint(format!("`--suffix {suffix}` changes that one; {again}")));
        }
    }
    Ok(())
}

/// Runs `mcd rollout primary`.
pub(super) async fn primary(args: &HandArgs, ui: &Ui) -> Outcome {
    later(args, &Step::Primary, ui).await
}

/// Runs `mcd rollout clean`.
pub(super) async fn clean(args: &HandArgs, ui: &Ui) -> Outcome {
    later(args, &Step::Clean, ui).await
}

/// A step of a rollout that is open.
async fn later(args: &HandArgs, step: &Step, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.record(&args.events)?;
    session.check_contexts()?;
    if !args.confirm.yes {
        ui.can_confirm()?;
    }
    if !args.wait.wait {
        return Err(Error::config("a step waits for its end: `--wait=false` cannot be"));
    }
    let records = records(&session).await;
    let hands = by_hand(&records);
    if hands.is_empty() {
        session.settle().await;
        return Err(none_open(&records));
    }
    let header = one(&hands)?;
    let how = Manner {
        yes: args.confirm.yes,
        timeout: args.wait.timeout,
        cap: args.clusters.concurrency,
        output: args.output.output,
    };
    go_on(&session, &header, hands, step, how, ui).await
}

type Read = (TargetName, Result<(Job, Option<Record>)>);

/// The records of the chosen targets.
async fn records(session: &Session) -> Vec<Read> {
    let all = session.each(|target| async move {
        let job = session.job(&target).await?;
        let record = job.store.record().await?;
        Ok((job, record.map(|(record, _)| record)))
    });
    let named = |(target, read): (std::sync::Arc<crate::config::Target>, Result<_>)| {
        (target.name.clone(), read.map_err(|e: Error| e.in_target(&target.name)))
    };
    all.await.into_iter().map(named).collect()
}

/// Those in which a rollout by hand is open.
fn by_hand(records: &[Read]) -> Vec<(Job, OpenRollout)> {
    let open = |(_, read): &Read| {
        let (job, record) = read.as_ref().ok()?;
        let open = record.as_ref()?.rollout.as_deref().filter(|open| open.header.by_hand)?;
        Some((job.clone(), open.clone()))
    };
    records.iter().filter_map(open).collect()
}

/// Why there is none to go on with.
fn none_open(records: &[Read]) -> Error {
    for (name, read) in records {
        match read {
            Ok((job, Some(record))) if record.rollout.is_some() => {
                let error = crate::apply::rollout::blocked(record, job.cluster.now());
                if let Some(error) = error {
                    return error.in_target(name);
                }
            }
            Ok(_) => {}
            Err(error) => return error.clone(),
        }
    }
    Error::config("no rollout by hand is open")
        .hint("`mcd rollout canary` begins one; `mcd rollout run` goes through the file's steps")
}

/// The one rollout that the targets are in.
fn one(hands: &[(Job, OpenRollout)]) -> Result<Header> {
    let mut ids: Vec<String> = Vec::new();
    for (job, open) in hands {
        let id = open.header.id.as_str();
        match ids.iter_mut().find(|known| known.starts_with(id)) {
            Some(known) => *known = format!("{known}, {}", job.target.name),
            None => ids.push(format!("{id} in {}", job.target.name)),
        }
    }
    match (ids.as_slice(), hands.first()) {
        ([_], Some((_, open))) => Ok(open.header.clone()),
        _ => Err(Error::config(format!("{} rollouts by hand are open", ids.len()))
            .because(ids.join("; "))
            .hint("choose the targets of one with `-t`")),
    }
}

/// How a step by hand is done.
struct Manner {
    yes: bool,
    timeout: Option<Duration>,
    cap: Option<u32>,
    output: Output,
}

/// Asks, and does the step in targets in which the rollout is open.
async fn go_on(
    session: &Session,
    header: &Header,
    hands: Vec<(Job, OpenRollout)>,
    step: &Step,
    how: Manner,
    ui: &Ui,
) -> Outcome {
    session.settle().await;
    let mut opens = hands.iter().map(|(_, open)| open);
    let all = header.waves.iter().flat_map(|wave| &wave.targets);
    let expected = all.filter(|place| place.not_staged.is_none()).count();
    if hands.len() < expected && !opens.any(OpenRollout::is_staged_everywhere) {
        return Err(Error::new(
            Exit::Blocked,
            format!("rollout {} was never staged in all its targets", header.id),
        )
        .because("the run that opened it ended before, or is at it")
        .hint("`mcd rollout abort` takes back what was staged; nothing was applied yet"));
    }
    if !how.yes {
        for (job, open) in &hands {
            let release = open.progress.release.map(|n| format!(", release {n}"));
            ui.say(&format!(
                "{}: {}{}",
                job.target.name,
                open.place_of(&job.target.name),
                release.unwrap_or_default()
            ));
        }
        let question =
            format!("Do `{step}` of {} in {}?", header.id, plural(hands.len(), "target"));
        session.confirm(ui, question, "nothing was done").await?;
    }
    session.resume();
    let jobs = hands.into_iter().map(|(job, _)| job).collect();
    let cap = how.cap.map(|n| n as usize);
    do_step(session, header, jobs, &BTreeMap::new(), step, how.timeout, cap, how.output, ui).await
}

/// The first step, in targets that were just staged.
pub(super) async fn first(
    session: &Session,
    header: &Header,
    staged: Vec<Job>,
    missing: BTreeMap<TargetName, Error>,
    step: &Step,
    how: &How,
    ui: &Ui,
) -> Outcome {
    do_step(session, header, staged, &missing, step, how.wait.timeout, how.cap, how.output, ui)
        .await
}

#[expect(clippy::too_many_arguments, reason = "two callers, each with all of it at hand")]
async fn do_step(
    session: &Session,
    header: &Header,
    jobs: Vec<Job>,
    missing: &BTreeMap<TargetName, Error>,
    step: &Step,
    timeout: Option<Duration>,
    cap: Option<usize>,
    output: Output,
    ui: &Ui,
) -> Outcome {
    let deadline = timeout.unwrap_or(STEP_DEADLINE);
    let ended = stream::iter(&jobs).map(|job| async move {
        if session.interrupted().is_some() {
            return (job.target.name.clone(), Err(job.halted()));
        }
        (job.target.name.clone(), one_step(job, header, step, deadline).await)
    });
    let limit = cap.unwrap_or(session.concurrency).max(1);
    let ended: Vec<_> = ended.buffer_unordered(limit).collect().await;
    let mut outcome = drive::Outcome::default();
    let mut exit = missing.values().fold(Exit::Ok, |exit, error| exit.and(error.exit()));
    for (name, result) in ended {
        let errors: Vec<Error> = result.err().into_iter().collect();
        exit = errors.iter().fold(exit, |exit, error| exit.and(error.exit()));
        let end = if errors.is_empty() { drive::End::Unfinished } else { drive::End::Failed };
        let target = drive::TargetOutcome {
            wave: 0,
            end,
            failed: !errors.is_empty(),
            open: true,
            errors,
            troubles: Vec::new(),
        };
        outcome.targets.insert(name, target);
    }
    let all: Vec<At> = everywhere(header, &jobs, &BTreeMap::new(), missing);
    // Of the others nothing is known here, and nothing was asked for.
    let asked = |at: &At| at.job.is_ok() || missing.contains_key(&at.place.target);
    let all: Vec<At> = all.into_iter().filter(asked).collect();
    finish(session, header, &all, &outcome, exit, output, ui).await
}

/// Does a step in a target, and closes the rollout there when it was the last: what `clean` after
/// `primary` is.
async fn one_step(job: &Job, header: &Header, step: &Step, deadline: Duration) -> Result<()> {
    let id = &header.id;
    let mark = |open: Option<&OpenRollout>| {
        let done = open.map_or(0, |open| open.progress.done);
        StepMark::new(done, done + 1, step.word())
    };
    let before = open(job).await?;
    job.events.send(EventKind::StepStarted { step: mark(before.as_ref()) });
    let stepped = hand_step(job, id, step.clone(), deadline, &NoCommands).await;
    let ok = matches!(stepped.end, StepEnd::Done);
    job.events.send(EventKind::StepEnded { step: mark(before.as_ref()), ok });
    match stepped.end {
        StepEnd::Done | StepEnd::Paused { .. } => {}
        StepEnd::Failed(error) => return Err(error.in_target(&job.target.name)),
        StepEnd::Halted => return Err(job.halted()),
    }
    let now = open(job).await?;
    if now.is_some_and(|open| open.header.id == *id && open.is_complete_by_hand()) {
        close(job, id, Stand::Succeeded, None).await?;
    }
    Ok(())
}
