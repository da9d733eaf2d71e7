//! `mcd rollback`: the whole object set of an earlier release, target by target.

use clap::Args;

use super::Outcome;
use super::args::{
    ClusterArgs, ConfirmArgs, EventsArgs, GlobalArgs, OutputArgs, ProjectArgs, WaitArgs,
    release_number,
};
use super::deploy::{Deploys, How, Ready, deploy};
use super::plan::PlanningArgs;
use super::session::Session;
use crate::apply::Restoration;
use crate::ui::Ui;

/// Arguments of `mcd rollback`.
#[derive(Args, Debug)]
pub(super) struct RollbackArgs {
    /// The release to go back to; default: in each target the one before the active one
    #[arg(long, value_name = "N", value_parser = release_number, allow_negative_numbers = true)]
    to: Option<u64>,
    /// Go on in the other targets when one cannot go back or be reached
    #[arg(long)]
    keep_going: bool,
    /// Show the plan and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    planning: PlanningArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    events: EventsArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Runs the verb.
pub(crate) async fn run(args: &RollbackArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.record(&args.events)?;
    session.check_contexts()?;
    if !args.confirm.yes && !args.dry_run {
        ui.can_confirm()?;
    }
    let options = args.planning.options();
    let planned = session
        .each(|target| async {
            let restoration = session.observe_release(target, args.to, options).await?;
            let Restoration { job, rendered, observed, restored } = restoration;
            Ok(Ready { job, rendered, observed, restored: Some(restored) })
        })
        .await;
    session.settle().await;
    let how = How {
        deploys: Deploys::Release,
        keep_going: args.keep_going,
        dry_run: args.dry_run,
        yes: args.confirm.yes,
        plan: options,
        wait: args.wait,
        output: args.output.output,
        verbose: global.verbose > 0,
        cap: args.clusters.concurrency.map(|n| n as usize),
        roll: None,
        rollout: None,
    };
    deploy(&session, planned, &how, ui).await
}
