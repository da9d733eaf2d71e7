//! `mcd rollout`: a release through steps and waves, and everything that is done about one that is
//! open: looked at, approved, gone on with, taken back.

use clap::{Args, Subcommand};

use super::Outcome;
use super::args::{GlobalArgs, Output};
use super::session::Session;
use crate::apply::rollout::{Commands, Local, NoCommands};
use crate::cluster::state::Header;
use crate::error::Exit;
use crate::report::rollout::{RolloutReport, Shown};
use crate::ui::Ui;

mod abort;
mod approve;
mod find;
pub(super) mod foresee;
mod hand;
mod resume;
pub(super) mod run;
mod see;
mod status;
mod watch;

/// Arguments of `mcd rollout`.
#[derive(Args, Debug)]
pub(super) struct RolloutArgs {
    #[command(subcommand)]
    command: RolloutCommand,
}

#[derive(Debug, Subcommand)]
enum RolloutCommand {
    /// Apply through the steps and waves of the application file
    Run(Box<run::RunArgs>),
    /// By hand: run copies of the workloads with the new release beside the old one
    Canary(Box<hand::CanaryArgs>),
    /// By hand: make the workloads themselves the new release
    Primary(hand::HandArgs),
    /// By hand: delete the copies; after `primary` this ends the rollout
    Clean(hand::HandArgs),
    /// Show how the rollout stands in each target, or how the last one ended
    Status(status::StatusArgs),
    /// Let a wave start, or a pause end; `resume`, or the run that waits, goes on
    Approve(approve::ApproveArgs),
    /// Go on with a rollout that stopped, was interrupted or was approved
    Resume(resume::ResumeArgs),
    /// Take the rollout back: every target gets the release again that it ran before
    Abort(abort::AbortArgs),
}

/// Runs the verb.
pub(crate) async fn run(args: RolloutArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    match args.command {
        RolloutCommand::Run(args) => run::run(&args, global, ui).await,
        RolloutCommand::Canary(args) => hand::canary(&args, global, ui).await,
        RolloutCommand::Primary(args) => hand::primary(&args, ui).await,
        RolloutCommand::Clean(args) => hand::clean(&args, ui).await,
        RolloutCommand::Status(args) => status::run(&args, ui).await,
        RolloutCommand::Approve(args) => approve::run(&args, ui).await,
        RolloutCommand::Resume(args) => resume::run(&args, ui).await,
        RolloutCommand::Abort(args) => abort::run(&args, ui).await,
    }
}

/// Says that no rollout is open, and how the last one ended: there is nothing to do.
async fn nothing(
    session: &Session,
    members: Vec<find::Member>,
    output: Output,
    ui: &Ui,
) -> Outcome {
    let all: Vec<see::At> = members.into_iter().map(see::At::from).collect();
    let sights = see::see(session, None, &all, false).await;
    session.settle().await;
    let report = RolloutReport::of(&sights, jiff::Timestamp::now());
    match output {
        Output::Table => {
            let last = report.id.as_ref();
            let last = last.map(|id| format!("; the last one, {id}, is over: {}", report.message));
            ui.data(&format!("no rollout is open{}\n", last.unwrap_or_default()))?;
        }
        output => see::show(&report, Shown::default(), output, ui)?,
    }
    let unreachable = report.exit_code != Exit::Ok.code();
    Ok(session.interrupted().unwrap_or(if unreachable { Exit::Unreachable } else { Exit::Ok }))
}

/// What runs the commands of `run` steps: only the application's folder has what they need.
fn commands(session: &Session, header: &Header) -> Box<dyn Commands> {
    match session.project.file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => Box::new(Local {
            id: header.id.clone(),
            folder: folder.to_owned(),
            environment: std::env::vars_os().collect(),
        }),
        _ => Box::new(NoCommands),
    }
}
