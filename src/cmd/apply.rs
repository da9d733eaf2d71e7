//! `mcd apply`: makes each target what its manifests say, and waits until it is healthy.

use clap::Args;

use super::Outcome;
use super::args::{
    ClusterArgs, ConfirmArgs, DriveArgs, EventsArgs, GlobalArgs, MoveArgs, OutputArgs, ProjectArgs,
    RenderArgs, StrategyArg, WaitArgs,
};
use super::deploy::{Deploys, How, Planned, Ready, deploy};
use super::plan::PlanningArgs;
use super::rollout::run::{Roll, check};
use super::session::Session;
use super::strategy::{self, Ways};
use crate::apply::{MoveFrom, Observed, PlanOptions};
use crate::error::Error;
use crate::report::model::RolloutPlanReport;
use crate::rollout::StrategyChoice;
use crate::ui::Ui;

/// Arguments of `mcd apply`.
#[derive(Args, Debug)]
pub(super) struct ApplyArgs {
    /// How a release reaches each target: auto (by what changes), plain (at once), steps (through
    /// the steps of the application file)
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "STRATEGY",
        env = "MCD_STRATEGY",
        hide_env = true
    )]
    strategy: StrategyArg,
    #[command(flatten)]
    moves: MoveArgs,
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
    pub(super) events: EventsArgs,
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
    let options = args.deploy.planning.options();
    let (choice, from) = (Some(args.strategy.choice()), args.moves.move_from.as_ref());
    apply_with(&args.deploy, options, choice, from, global, ui).await
}

/// Plans with `options`, asks, and applies: with a strategy through the steps and waves of the
/// file, where that is due, else to all targets at once. `from`: where state is to come from.
pub(super) async fn apply_with(
    args: &DeployArgs,
    options: PlanOptions,
    choice: Option<StrategyChoice>,
    from: Option<&MoveFrom>,
    global: &GlobalArgs,
    ui: &Ui,
) -> Outcome {
    let session =
        Session::open(&args.project, &args.clusters, Some(&args.render), ui)?.moving(from);
    session.record(&args.events)?;
    session.check_contexts()?;
    if !args.confirm.yes && !args.dry_run {
        ui.can_confirm()?;
    }
    if let Some(choice) = choice {
        strategy::check(&session.project.rollout, choice)?;
    }
    let planned = observe_all(&session, options).await;
    // A move of the state restarts nothing, and is one step of its own.
    let moves =
        |(_, result): &Planned| result.as_ref().is_ok_and(|ready| ready.observed.moving.is_some());
    let choice = choice.filter(|_| !planned.iter().any(moves));
    let ways = |choice| {
        let results: Vec<_> = planned.iter().map(|(t, r)| (t.as_ref(), ready(r))).collect();
        Ways::of(&session, &results, choice, args.wait.timeout)
    };
    let ways = choice.map(ways).transpose()?;
    let rollout = ways.as_ref().and_then(|ways| ways.report(&session));
    let roll = ways.map(|ways| Roll::of(ways, args)).transpose()?.flatten();
    let planned = match &roll {
        Some(roll) => {
            let planned = roll.foresee(&session, planned).await;
            if args.dry_run { planned } else { check(planned).await }
        }
        None => planned,
    };
    deploy_planned(&session, planned, args, options, (roll, rollout), global, ui).await
}

fn ready(result: &Result<Ready, Vec<Error>>) -> Result<&Observed, &Vec<Error>> {
    result.as_ref().map(|ready| &ready.observed)
}

/// Connects, renders and plans every target.
pub(super) async fn observe_all(session: &Session, options: PlanOptions) -> Vec<Planned> {
    session
        .each(|target| async {
            let (job, rendered, observed) = session.observe(target, options).await?;
            Ok(Ready { job, rendered, observed, restored: None })
        })
        .await
}

/// Shows what was planned, asks, and carries it out: as a rollout, where there is one, with what the
/// plan says of it.
pub(super) async fn deploy_planned(
    session: &Session,
    planned: Vec<Planned>,
    args: &DeployArgs,
    options: PlanOptions,
    (roll, rollout): (Option<Roll>, Option<RolloutPlanReport>),
    global: &GlobalArgs,
    ui: &Ui,
) -> Outcome {
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
        roll,
        rollout,
    };
    deploy(session, planned, &how, ui).await
}
