//! Steps by hand: `mcd rollout canary`, `primary` and `clean`, with the code of a rollout that runs
//! by itself (design §8). The first one stages a release and opens a rollout; later ones act on that
//! release, and render nothing.

use clap::Args;

use super::super::Outcome;
use super::super::apply::DeployArgs;
use super::super::args::{ClusterArgs, ConfirmArgs, GlobalArgs, OutputArgs, ProjectArgs, WaitArgs};
use crate::error::Error;
use crate::rollout::Amount;
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
    #[arg(long, value_name = "TEXT", default_value = "canary")]
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

/// Runs `mcd rollout canary`.
pub(super) async fn canary(_args: &CanaryArgs, _global: &GlobalArgs, _ui: &Ui) -> Outcome {
    Err(Error::config("there are no rollouts yet"))
}

/// Runs `mcd rollout primary`.
pub(super) async fn primary(_args: &HandArgs, _global: &GlobalArgs, _ui: &Ui) -> Outcome {
    Err(Error::config("there are no rollouts yet"))
}

/// Runs `mcd rollout clean`.
pub(super) async fn clean(_args: &HandArgs, _global: &GlobalArgs, _ui: &Ui) -> Outcome {
    Err(Error::config("there are no rollouts yet"))
}
