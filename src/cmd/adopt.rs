//! `mcd adopt`: `mcd apply --adopt` that creates nothing. A manifest whose object is not there has
//! most often a name or a namespace that the other deployer does not use.

use clap::Args;

use super::Outcome;
use super::apply::{DeployArgs, apply_with};
use super::args::{
    ClusterArgs, ConfirmArgs, DriveArgs, EventsArgs, GlobalArgs, OutputArgs, ProjectArgs,
    RenderArgs, WaitArgs,
};
use super::plan::{PlanningArgs, PruneArgs};
use crate::apply::{Adopt, PlanOptions};
use crate::ui::Ui;

/// Arguments of `mcd adopt`.
#[derive(Args, Debug)]
pub(super) struct AdoptArgs {
    /// Go on in the other targets when one cannot be rendered, planned or reached
    #[arg(long)]
    keep_going: bool,
    /// Show what would be taken over, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Win every conflict with another field manager
    #[arg(long)]
    force_conflicts: bool,
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
    #[command(flatten)]
    render: RenderArgs,
}

/// Runs the verb.
pub(crate) async fn run(args: AdoptArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let planning = PlanningArgs {
        verify: false,
        force_conflicts: args.force_conflicts,
        adopt: true,
        prune: PruneArgs::none(),
    };
    let options = PlanOptions { adopt: Adopt::Only, ..planning.options() };
    let args = DeployArgs {
        keep_going: args.keep_going,
        dry_run: args.dry_run,
        planning,
        wait: args.wait,
        drive: DriveArgs::default(),
        confirm: args.confirm,
        events: args.events,
        output: args.output,
        project: args.project,
        clusters: args.clusters,
        render: args.render,
    };
    apply_with(&args, options, None, None, global, ui).await
}
