//! `mcd rollout run`: `mcd apply` through steps and waves.

use clap::Args;

use super::super::Outcome;
use super::super::apply::DeployArgs;
use super::super::args::GlobalArgs;
use crate::error::Error;
use crate::ui::Ui;

/// Arguments of `mcd rollout run`.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    deploy: DeployArgs,
}

/// Runs the verb.
pub(super) async fn run(_args: &RunArgs, _global: &GlobalArgs, _ui: &Ui) -> Outcome {
    Err(Error::config("there are no rollouts yet"))
}
