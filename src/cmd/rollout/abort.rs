//! `mcd rollout abort`: takes a rollout back, the last wave first.

use std::collections::BTreeMap;

use clap::Args;
use futures::stream::{self, StreamExt};

use super::super::Outcome;
use super::super::args::{ClusterArgs, ConfirmArgs, EventsArgs, OutputArgs};
use super::find::{FindArgs, Found, find};
use super::resume::known;
use super::see::{At, finish, see};
use crate::apply::Job;
use crate::apply::rollout::{Jobs, NoCommands, drive, mark_abort};
use crate::cluster::state::{ClosedRollout, Mark, RolloutId, Stand, Who, who};
use crate::config::TargetName;
use crate::error::{Error, Exit, Result};
use crate::report::plan::plural;
use crate::report::rollout::{RolloutReport, Shown};
use crate::ui::Ui;

/// How many records are marked at once.
const PARALLEL: usize = 16;

/// Arguments of `mcd rollout abort`.
#[derive(Args, Debug)]
pub(super) struct AbortArgs {
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    events: EventsArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    find: FindArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Whether all that is left of a rollout is to close it. To take back what is still open would leave
/// two versions.
fn is_ending(known: &BTreeMap<TargetName, drive::Known>) -> bool {
    let is_over = |known: &drive::Known| match known {
        drive::Known::Open(progress) => progress.stand == Stand::Succeeded,
        drive::Known::Closed(_) => true,
        drive::Known::Missing(_) => false,
    };
    let is_closed = |known: &drive::Known| match known {
        drive::Known::Closed(closed) => closed.stand == Stand::Succeeded,
        drive::Known::Open(_) | drive::Known::Missing(_) => false,
    };
    known.values().all(is_over) && known.values().any(is_closed)
}

/// Runs the verb. With nothing open there is nothing to do.
pub(super) async fn run(args: &AbortArgs, ui: &Ui) -> Outcome {
    if !args.confirm.yes {
        ui.can_confirm()?;
    }
    let Found { session, header, members } = find(&args.find, &args.clusters, ui).await?;
    session.record(&args.events)?;
    let output = args.output.output;
    let Some(header) = header else {
        return super::nothing(&session, members, output, ui).await;
    };
    let mut known = known(&members, &header.id);
    // Staging was broken off before it came to them: they are what they were.
    for member in members.iter().filter(|member| member.record.is_ok()) {
        let untouched = || {
            drive::Known::Closed(ClosedRollout {
                id: header.id.clone(),
                stand: Stand::Undone,
                release: None,
                at: header.opened,
                message: Some("was not staged".to_owned()),
                aborted: true,
            })
        };
        known.entry(member.place.target.clone()).or_insert_with(untouched);
    }
    // Where someone has begun to take it back, that is how it ends.
    let begun = members.iter().any(|m| m.open(&header.id).is_some_and(|o| o.abort.is_some()));
    if !begun && is_ending(&known) {
        return Err(Error::new(Exit::Blocked, format!("the rollout {} is at its end", header.id))
            .because("all its targets have succeeded, and in some it is closed already")
            .hint("`mcd rollout resume` closes it in the others; `mcd rollback` then goes back"));
    }
    let jobs: Vec<_> = members.iter().filter_map(|member| member.job.clone()).collect();
    let all: Vec<At> = members.into_iter().map(At::from).collect();
    if !args.confirm.yes {
        let sights = see(&session, Some(&header), &all, false).await;
        session.settle().await;
        let now = jiff::Timestamp::now();
        let report = RolloutReport::of(&sights, now);
        ui.say(&crate::report::rollout::text(&report, Shown::default(), now, ui.err()));
        let question = format!("Take it back in {}?", plural(jobs.len(), "target"));
        session.confirm(ui, question, "nothing was taken back").await?;
    }
    session.resume();
    let who = who::current_user();
    forbid_steps(&jobs, &header.id, &who, &mut known).await?;
    let mut fleet = Jobs::new(header.clone(), jobs, Box::new(NoCommands));
    fleet.why = Some(format!("aborted by {who}"));
    fleet.patient = true;
    let how = drive::How {
        cap: args.clusters.concurrency.map(|n| n as usize),
        wait_approval: None,
        retry_failed: false,
        halt: session.interrupt.token().clone(),
        events: session.events.clone(),
    };
    let outcome = drive::abort(&fleet, &header, known, &how).await;
    let exit = outcome.exit_of_abort();
    finish(&session, &header, &all, &outcome, exit, output, ui).await
}

/// Says in every record that is reached, before anything is taken back, that nobody begins a step of
/// the rollout any more: a run that is at it stops, and none goes on with it. A record that was
/// closed meanwhile is known as that.
///
/// # Errors
/// No record could be told: nothing was taken back.
async fn forbid_steps(
    jobs: &[Job],
    id: &RolloutId,
    who: &Who,
    known: &mut BTreeMap<TargetName, drive::Known>,
) -> Result<()> {
    let marks = stream::iter(jobs).map(|job| async move {
        let mark = Mark { who: who.clone(), at: job.cluster.now() };
        let marked = match mark_abort(job, id, &mark).await {
            Ok(true) => Ok(None),
            Ok(false) => job.store.record().await.map(|found| {
                found.and_then(|(record, _)| record.closed).filter(|closed| closed.id == *id)
            }),
            Err(error) => Err(error),
        };
        (job, marked)
    });
    let marks: Vec<_> = marks.buffered(PARALLEL).collect().await;
    let told = marks.iter().any(|(_, marked)| marked.is_ok());
    for (job, marked) in marks {
        let name = &job.target.name;
        match marked {
            Ok(None) => {}
            Ok(Some(closed)) => {
                known.insert(name.clone(), drive::Known::Closed(closed));
            }
            Err(error) if !told => return Err(error.in_target(name)),
            // What cannot be written now is tried again when its turn comes.
            Err(error) => job.events.warn(None, format!("not marked as aborted: {error:#}")),
        }
    }
    Ok(())
}
