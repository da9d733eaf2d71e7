//! `mcd rollout status`: how a rollout stands in each of its targets, or how the last one ended.

use clap::Args;

use super::super::Outcome;
use super::super::args::{ClusterArgs, OutputArgs};
use super::find::{FindArgs, Found, find};
use super::see::{At, see, show};
use super::watch::watch;
use crate::error::Exit;
use crate::report::rollout::{RolloutReport, Shown};
use crate::ui::Ui;

/// Arguments of `mcd rollout status`.
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// A row for each target, also where many stand alike
    #[arg(long)]
    all: bool,
    /// Go on looking every two seconds, and show what changes, until the rollout is closed or
    /// Ctrl-C (exit 130)
    #[arg(long, conflicts_with = "tree")]
    watch: bool,
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
pub(super) async fn run(args: &StatusArgs, ui: &Ui) -> Outcome {
    let Found { session, header, members } = find(&args.find, &args.clusters, ui).await?;
    let all: Vec<At> = members.into_iter().map(At::from).collect();
    let shown = Shown { all: args.all, tree: args.tree };
    if args.watch {
        return watch(&session, header.as_ref(), &all, shown, args.output.output, ui).await;
    }
    let sights = see(&session, header.as_ref(), &all, args.tree).await;
    session.settle().await;
    let mut report = RolloutReport::of(&sights, jiff::Timestamp::now());
    if let Some(interrupted) = session.interrupted() {
        report.exit_code = interrupted.code();
    }
    show(&report, shown, args.output.output, ui)?;
    Ok(match report.exit_code {
        0 => Exit::Ok,
        _ => session.interrupted().unwrap_or(Exit::Unreachable),
    })
}
