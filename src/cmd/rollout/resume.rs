//! `mcd rollout resume`: goes on with a rollout that stopped, was interrupted or was approved, from
//! whichever machine.

use std::collections::BTreeMap;

use clap::Args;

use super::super::Outcome;
use super::super::args::{ClusterArgs, ConfirmArgs, DriveArgs, EventsArgs, OutputArgs, duration};
use super::commands;
use super::find::{FindArgs, Found, Member, find, may_go_on};
use super::see::{At, finish, see};
use crate::apply::rollout::{Jobs, drive, frozen};
use crate::cluster::state::RolloutId;
use crate::config::TargetName;
use crate::error::Error;
use crate::event::EventKind;
use crate::report::plan::plural;
use crate::report::rollout::{RolloutReport, Shown};
use crate::ui::Ui;

/// Arguments of `mcd rollout resume`.
#[derive(Args, Debug)]
pub(super) struct ResumeArgs {
    /// How long a step of a target may take; default: what its wave says
    #[arg(long, value_name = "DURATION", value_parser = duration, env = "MCD_TIMEOUT", hide_env = true)]
    timeout: Option<std::time::Duration>,
    #[command(flatten)]
    drive: DriveArgs,
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

/// Runs the verb. Targets that failed and stand where they failed are tried again; those that were
/// taken back stay so.
pub(super) async fn run(args: &ResumeArgs, ui: &Ui) -> Outcome {
    if !args.confirm.yes {
        ui.can_confirm()?;
    }
    let found = find(&args.find, &args.clusters, ui).await?;
    let Found { session, header, members } = found;
    session.record(&args.events)?;
    let output = args.output.output;
    let Some(header) = header else {
        return super::nothing(&session, members, output, ui).await;
    };
    if header.by_hand {
        return Err(Error::config(format!("the rollout {} is made by hand", header.id)).hint(
            "go on with `mcd rollout primary`, then `mcd rollout clean`; `mcd rollout abort` takes \
             it back",
        ));
    }
    may_go_on(&members, &header)?;
    blocked(&members)?;
    let known = known(&members, &header.id);
    let jobs: Vec<_> = members.iter().filter_map(|member| member.job.clone()).collect();
    let all: Vec<At> = members.into_iter().map(At::from).collect();
    if !args.confirm.yes {
        let sights = see(&session, Some(&header), &all, false).await;
        session.settle().await;
        let report = RolloutReport::of(&sights, jiff::Timestamp::now());
        ui.say(&crate::report::rollout::text(
            &report,
            Shown::default(),
            jiff::Timestamp::now(),
            ui.err(),
        ));
        let question = format!("Go on with it in {}?", plural(all.len(), "target"));
        session.confirm(ui, question, "nothing was done").await?;
    }
    session.resume();
    session.events.send(EventKind::RolloutOpened {
        id: header.id.clone(),
        resumed: true,
        waves: header.waves.iter().map(|wave| wave.name.clone()).collect(),
        targets: all.len(),
    });
    let mut fleet = Jobs::new(header.clone(), jobs, commands(&session, &header));
    fleet.deadline = args.timeout;
    let how = drive::How {
        cap: args.clusters.concurrency.map(|n| n as usize),
        wait_approval: args.drive.wait_approval,
        retry_failed: true,
        halt: session.interrupt.token().clone(),
        events: session.events.clone(),
    };
    let outcome = drive::drive(&fleet, &header, known, &how).await;
    let exit = outcome.exit(args.drive.budget_ok);
    finish(&session, &header, &all, &outcome, exit, output, ui).await
}

/// Nothing goes on while a target is frozen: half of a wave that goes on is what a freeze is to
/// keep from happening.
fn blocked(members: &[Member]) -> Result<(), Error> {
    for member in members {
        let Some((job, Ok(Some(record)))) = member.job.as_ref().map(|job| (job, &member.record))
        else {
            continue;
        };
        if let Some(error) = frozen(record, job.cluster.now()) {
            return Err(error.in_target(&member.place.target));
        }
    }
    Ok(())
}

/// How far the targets are, by their records.
pub(super) fn known(members: &[Member], id: &RolloutId) -> BTreeMap<TargetName, drive::Known> {
    let known = members.iter().filter_map(|member| {
        let known = match (member.open(id), member.closed(id), &member.record) {
            (Some(open), ..) => drive::Known::Open(Box::new(open.progress.clone())),
            (None, Some(closed), _) => drive::Known::Closed(closed.clone()),
            (None, None, Err(error)) => drive::Known::Missing(error.clone()),
            // What the driver says of a target that nothing is known of.
            (None, None, Ok(_)) => return None,
        };
        Some((member.place.target.clone(), known))
    });
    known.collect()
}
