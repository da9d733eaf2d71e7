//! `mcd rollout`: a release through steps and waves, and everything that is done about one that is
//! open: looked at, approved, gone on with, taken back.

use clap::{Args, Subcommand};

use super::Outcome;
use super::args::GlobalArgs;
use crate::ui::Ui;

mod abort;
mod approve;
mod find;
mod hand;
mod resume;
mod run;
mod status;

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
        RolloutCommand::Primary(args) => hand::primary(&args, global, ui).await,
        RolloutCommand::Clean(args) => hand::clean(&args, global, ui).await,
        RolloutCommand::Status(args) => status::run(&args, global, ui).await,
        RolloutCommand::Approve(args) => approve::run(&args, ui).await,
        RolloutCommand::Resume(args) => resume::run(&args, global, ui).await,
        RolloutCommand::Abort(args) => abort::run(&args, global, ui).await,
    }
}
