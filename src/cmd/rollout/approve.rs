//! `mcd rollout approve`: lets a wave start, or a pause end. It only marks; whoever drives the rollout
//! goes on.

use clap::Args;
use futures::stream::{self, StreamExt};

use super::super::Outcome;
use super::super::args::{ClusterArgs, Output, OutputArgs};
use super::find::{FindArgs, Found, find, may_go_on};
use super::see::{At, see, show};
use crate::apply::rollout::approve;
use crate::cluster::state::{Approval, Header, who};
use crate::error::{Error, Exit, Result};
use crate::report::rollout::{Needed, RolloutReport, Shown};
use crate::rollout::Step;
use crate::suggest;
use crate::ui::Ui;

/// Arguments of `mcd rollout approve`.
#[derive(Args, Debug)]
pub(super) struct ApproveArgs {
    /// The wave, by name or number; default: the one that waits
    #[arg(long, value_name = "WAVE")]
    wave: Option<String>,
    /// The step, from 1, whose pause may end; default: the one that waits
    #[arg(long, value_name = "N")]
    step: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    find: FindArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// What is approved: a wave, from 0, and of it a pause, as an index into the steps, or its start.
type Gate = (usize, Option<usize>);

/// Runs the verb. It does not ask: it is itself the answer.
pub(super) async fn run(args: &ApproveArgs, ui: &Ui) -> Outcome {
    let Found { session, header, members } = find(&args.find, &args.clusters, ui).await?;
    let Some(header) = header else {
        return Err(Error::config("no rollout is open").hint("`mcd rollout status` shows the last"));
    };
    may_go_on(&members, &header)?;
    let all: Vec<At> = members.into_iter().map(At::from).collect();
    let sights = see(&session, Some(&header), &all, false).await;
    let report = RolloutReport::of(&sights, jiff::Timestamp::now());
    let (wave, step) = gate(args, &header, &report)?;
    let name = header.waves.get(wave).map(|wave| wave.name.clone()).unwrap_or_default();
    let in_wave = |at: &&At| {
        header
            .waves
            .get(wave)
            .is_some_and(|w| w.targets.iter().any(|p| p.target == at.place.target))
    };
    let id = &header.id;
    let marks: Vec<Result<bool>> = stream::iter(all.iter().filter(in_wave))
        .map(|at| async move {
            let job = at.job.as_ref().map_err(Clone::clone)?;
            let approval = Approval { wave, step, who: who::current_user(), at: job.cluster.now() };
            approve(job, id, &approval).await.map_err(|e| e.in_target(&at.place.target))
        })
        .buffered(session.concurrency)
        .collect()
        .await;
    session.settle().await;
    let errors: Vec<&Error> = marks.iter().filter_map(|mark| mark.as_ref().err()).collect();
    if !marks.iter().any(|mark| matches!(mark, Ok(true))) {
        let none = || Error::new(Exit::Blocked, "no record of the wave has the rollout open");
        return Err(errors.first().map_or_else(none, |error| (*error).clone()));
    }
    // It counts from whichever record it is read.
    for error in errors {
        ui.warning(&format!("not marked there, which one other record makes good: {error}"));
    }
    match args.output.output {
        Output::Table => {
            let what = match step.and_then(|step| header.steps.get(step).map(|s| (step, s))) {
                Some((at, step)) => {
                    format!("wave {} ({name}) may go on after step {} ({step})", wave + 1, at + 1)
                }
                None => format!("wave {} ({name}) may start", wave + 1),
            };
            ui.data(&format!("rollout {id}: {what}\n"))?;
            ui.hint("`mcd rollout resume` goes on, unless a run waits for this");
        }
        output => {
            let sights = see(&session, Some(&header), &all, false).await;
            let report = RolloutReport::of(&sights, jiff::Timestamp::now());
            show(&report, Shown::default(), output, ui)?;
        }
    }
    Ok(Exit::Ok)
}

/// What is meant.
fn gate(args: &ApproveArgs, header: &Header, report: &RolloutReport) -> Result<Gate> {
    let wave = args.wave.as_deref().map(|name| find_wave(header, name)).transpose()?;
    if let Some(step) = args.step {
        return pause(header, report, wave, step);
    }
    let waits = |needed: &&Needed| wave.is_none_or(|wave| needed.wave == wave + 1);
    let waiting: Vec<&Needed> = report.waits_for.iter().filter(waits).collect();
    match (waiting.as_slice(), wave) {
        ([one], _) => Ok((one.wave.saturating_sub(1), one.step.map(|n| n.saturating_sub(1)))),
        ([], Some(wave)) if header.waves.get(wave).is_some_and(|wave| wave.approval) => {
            Ok((wave, None))
        }
        ([], Some(wave)) => {
            let name = header.waves.get(wave).map(|w| w.name.as_str()).unwrap_or_default();
            Err(Error::config(format!("the wave `{name}` waits for no approval"))
                .hint("`--step N` names a pause that its targets have not come to yet"))
        }
        ([], None) => Err(Error::config("nothing waits for an approval")
            .because(report.message.clone())
            .hint("`--wave NAME` approves a wave before its turn has come")),
        (several, _) => {
            let list = several.iter().map(|needed| match needed.step {
                Some(step) => format!("`--wave {} --step {step}`", needed.name),
                None => format!("`--wave {}`", needed.name),
            });
            let list: Vec<String> = list.collect();
            Err(Error::config(format!("{} things wait for an approval", several.len()))
                .hint(format!("approve one: {}", list.join(", or "))))
        }
    }
}

/// A pause that was named, in the wave that was named or in the one that is at it, or comes to it.
fn pause(
    header: &Header,
    report: &RolloutReport,
    wave: Option<usize>,
    step: usize,
) -> Result<Gate> {
    let index = step.checked_sub(1);
    let found = index.and_then(|index| header.steps.get(index).map(|step| (index, step)));
    let Some((index, Step::Pause(_))) = found else {
        let pauses = header.steps.iter().enumerate();
        let pauses = pauses.filter(|(_, step)| matches!(step, Step::Pause(_)));
        let pauses: Vec<String> = pauses.map(|(at, _)| (at + 1).to_string()).collect();
        let error = Error::config(match found {
            Some((_, other)) => format!("step {step} is `{other}`, not a pause"),
            None => format!("there is no step {step}: the rollout has {}", header.steps.len()),
        });
        return Err(match pauses.as_slice() {
            [] => error.hint("the rollout has no pause"),
            _ => error.hint(format!("its pauses are: {}", pauses.join(", "))),
        });
    };
    let waiting = report.waits_for.iter().find(|needed| needed.step == Some(step));
    let only = (header.waves.len() == 1).then_some(0);
    match wave.or(waiting.map(|needed| needed.wave.saturating_sub(1))).or(only) {
        Some(wave) => Ok((wave, Some(index))),
        None => Err(Error::config(format!("no wave waits at step {step}"))
            .hint("name the wave too: `--wave NAME`")),
    }
}

/// A wave by its name or its number.
fn find_wave(header: &Header, text: &str) -> Result<usize> {
    if let Some(at) = header.waves.iter().position(|wave| wave.name == text) {
        return Ok(at);
    }
    let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(at) = number.filter(|at| *at < header.waves.len()) {
        return Ok(at);
    }
    let names = || header.waves.iter().map(|wave| wave.name.as_str());
    let error = Error::config(format!("the rollout has no wave `{text}`"));
    Err(match suggest::hint(text, names()) {
        Some(hint) => error.hint(hint),
        None => error.hint(format!("its waves are {}", names().collect::<Vec<_>>().join(", "))),
    })
}
