//! `mcd apply`: makes each target what its manifests say, and waits until it is healthy.

use clap::Args;

use super::Outcome;
use super::args::{
    ClusterArgs, ConfirmArgs, DriveArgs, GlobalArgs, OutputArgs, ProjectArgs, RenderArgs, WaitArgs,
};
use super::deploy::{Deploys, How, Ready, deploy};
use super::plan::PlanningArgs;
use super::session::Session;
use crate::apply::PlanOptions;
use crate::ui::Ui;

/// Arguments of `mcd apply`.
#[derive(Args, Debug)]
pub(super) struct ApplyArgs {
    #[command(flatten)]
    pub(super) deploy: DeployArgs,
}

/// Arguments of every verb that renders and applies.
#[derive(Args, Debug)]
pub(super) struct DeployArgs {
    /// Go on in the other targets when one cannot be rendered, planned or reached
    #[arg(long)]
    pub(super) keep_going: bool,
    /// Show the plan and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) planning: PlanningArgs,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
    #[command(flatten)]
    pub(super) drive: DriveArgs,
    #[command(flatten)]
    pub(super) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) project: ProjectArgs,
    #[command(flatten)]
    pub(super) clusters: ClusterArgs,
    #[command(flatten)]
    pub(super) render: RenderArgs,
}

/// Runs the verb.
pub(crate) async fn run(args: &ApplyArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    apply_with(&args.deploy, args.deploy.planning.options(), global, ui).await
}

/// Plans with `options`, asks, and applies.
pub(super) async fn apply_with(
    args: &DeployArgs,
    options: PlanOptions,
    global: &GlobalArgs,
    ui: &Ui,
) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, Some(&args.render), ui)?;
    session.check_contexts()?;
    if !args.confirm.yes && !args.dry_run {
        ui.can_confirm()?;
    }
    let planned = session
        .each(|target| async {
            let (job, rendered, observed) = session.observe(target, options).await?;
            Ok(Ready { job, rendered, observed, restored: None })
        })
        .await;
    session.settle().await;
    let how = How {
        deploys: Deploys::Manifests,
        keep_going: args.keep_going,
        dry_run: args.dry_run,
        yes: args.confirm.yes,
        plan: options,
        wait: args.wait,
        output: args.output.output,
        verbose: global.verbose > 0,
        cap: args.clusters.concurrency.map(|n| n as usize),
    };
    deploy(&session, planned, &how, ui).await
}
