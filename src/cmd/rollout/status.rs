//! `mcd rollout status`: how a rollout stands in each of its targets, or how the last one ended.

use clap::Args;

use super::super::Outcome;
use super::super::args::{ClusterArgs, GlobalArgs, OutputArgs};
use super::find::{FindArgs, find};
use crate::error::Exit;
use crate::ui::Ui;

/// Arguments of `mcd rollout status`.
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// Show each object with what it has made: pods, the last warnings, the last log lines of
    /// containers that fail
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    find: FindArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Runs the verb.
pub(super) async fn run(args: &StatusArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let found = find(&args.find, &args.clusters, ui).await?;
    let Some(header) = &found.header else {
        ui.data("no rollout is open\n")?;
        return Ok(found.session.interrupted().unwrap_or(Exit::Ok));
    };
    let mut exit = found.session.interrupted().unwrap_or(Exit::Ok);
    for member in &found.members {
        let stand = match (member.open(&header.id), member.closed(&header.id), &member.record) {
            (Some(open), ..) => format!("{:?}", open.progress.stand),
            (None, Some(closed), _) => format!("{:?}", closed.stand),
            (None, None, Ok(_)) => "not staged".to_owned(),
            (None, None, Err(error)) => {
                exit = exit.and(error.exit());
                error.to_string()
            }
        };
        let reached = if member.job.is_some() { "" } else { " (not reached)" };
        ui.data(&format!("{}: {stand}{reached}\n", member.place.target))?;
    }
    Ok(exit)
}
