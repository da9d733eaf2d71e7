//! `mcd rollout approve`: lets a wave start, or a pause end. It only marks; whoever drives the rollout
//! goes on.

use clap::Args;

use super::super::Outcome;
use super::super::args::{ClusterArgs, OutputArgs};
use super::find::{FindArgs, find};
use crate::error::Error;
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

/// Runs the verb.
pub(super) async fn run(args: &ApproveArgs, ui: &Ui) -> Outcome {
    let found = find(&args.find, &args.clusters, ui).await?;
    let _ = (&found.session, &found.header, &found.members);
    Err(Error::config("there are no rollouts yet"))
}
