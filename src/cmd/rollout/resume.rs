//! `mcd rollout resume`: goes on with a rollout that stopped, was interrupted or was approved, from
//! whichever machine.

use clap::Args;

use super::super::Outcome;
use super::super::args::{ClusterArgs, ConfirmArgs, DriveArgs, GlobalArgs, OutputArgs};
use super::find::{FindArgs, find};
use crate::error::Error;
use crate::ui::Ui;

/// Arguments of `mcd rollout resume`.
#[derive(Args, Debug)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    find: FindArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Runs the verb.
pub(super) async fn run(args: &ResumeArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let found = find(&args.find, &args.clusters, ui).await?;
    let _ = (&found.session, &found.header, &found.members);
    Err(Error::config("there are no rollouts yet"))
}
