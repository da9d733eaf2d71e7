//! `mcd plan`: what an apply would do in each target.

use clap::Args;

use super::Outcome;
use super::args::{
    BesidesArgs, ClusterArgs, GlobalArgs, MoveArgs, Output, OutputArgs, ProjectArgs, RenderArgs,
    StrategyArg,
};
use super::orphans::orphans;
use super::rollout::foresee::foresee_one;
use super::session::Session;
use super::strategy::{Ways, check};
use crate::apply::{Adopt, Observed, PlanOptions};
use crate::error::{Error, Exit};
use crate::plan::{Counts, PruneOptions, TargetPlan};
use crate::report;
use crate::report::model::{PlanReport, TargetPlanReport};
use crate::report::rollout::{FreezeReport, OpenReport};
use crate::rollout::strategy;
use crate::ui::Ui;

/// Arguments of `mcd plan`.
#[derive(Args, Debug)]
pub(super) struct PlanArgs {
    /// Exit with 2 when there are changes
    #[arg(long)]
    detailed_exitcode: bool,
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
    planning: PlanningArgs,
    #[command(flatten)]
    moves: MoveArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
    #[command(flatten)]
    render: RenderArgs,
}

/// How to plan.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct PlanningArgs {
    /// Ask the server about every object, also about those whose digests say "unchanged"
    #[arg(long)]
    pub verify: bool,

    /// Win every conflict with another field manager
    #[arg(long)]
    pub force_conflicts: bool,

    /// Take over objects that helm, kapp, kluctl or another deployer holds
    #[arg(long)]
    pub adopt: bool,

    #[command(flatten)]
    pub prune: PruneArgs,
}

/// What becomes of what left the manifests.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Pruning")]
pub(super) struct PruneArgs {
    /// Delete what left the manifests (`--prune=false`: keep it, and say so)
    #[arg(long, hide_possible_values = true, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub prune: bool,

    /// Prune also when the manifests are empty, or more than half of the objects would go
    #[arg(long)]
    pub allow_prune_all: bool,

    #[command(flatten)]
    pub besides: BesidesArgs,
}

impl PruneArgs {
    /// Those of a verb that deletes nothing.
    pub(crate) fn none() -> Self {
        let besides =
            BesidesArgs { with_namespaces: false, with_definitions: false, with_volumes: false };
        PruneArgs { prune: false, allow_prune_all: false, besides }
    }
}

impl PlanningArgs {
    /// The options of the planner.
    pub(crate) fn options(self) -> PlanOptions {
        PlanOptions {
            in_rollout: false,
            verify: self.verify,
            force_conflicts: self.force_conflicts,
            adopt: if self.adopt { Adopt::Yes } else { Adopt::No },
            prune: PruneOptions {
                keep: !self.prune.prune,
                all: self.prune.allow_prune_all,
                besides: self.prune.besides.besides(),
            },
        }
    }
}

/// Runs the verb.
pub(crate) async fn run(args: &PlanArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, Some(&args.render), ui)?
        .moving(args.moves.move_from.as_ref());
    session.check_contexts()?;
    let choice = args.strategy.choice();
    check(&session.project.rollout, choice)?;
    let options = args.planning.options();
    let settings = &session.project.rollout;
    let (planned, orphans) = tokio::join!(
        session.each(|target| async {
            let (job, rendered, mut observed) = session.observe(target, options).await?;
            let own = strategy(&observed.plan, settings, choice).steps(settings, &job.target);
            let (canaries, variants) = (settings.canaries(&own), &settings.variants);
            foresee_one((&job, &rendered, &mut observed), &canaries, variants).await?;
            Ok(observed)
        }),
        orphans(&session, &args.project),
    );
    session.settle().await;
    let results: Vec<_> = planned.iter().map(|(t, r)| (t.as_ref(), r.as_ref())).collect();
    let counting = TargetPlan::problems;
    let mut report =
        report(&session, "mcd.dev/plan/v1", &results, counting, args.detailed_exitcode);
    report.rollout = Ways::of(&session, &results, choice, None)?.report(&session);
    report.targets.extend(orphans.planned());
    show(&report, args.output.output, global.verbose > 0, ui)?;
    orphans.say(ui);
    let exit = exit(&session, &results, counting, args.detailed_exitcode);
    // A tenth of a plan's own time would go into taking this apart just before the process ends.
    std::mem::forget(planned);
    Ok(exit)
}

/// A target and its plan, or why there is none.
pub(crate) type Planned<'a> =
    (&'a crate::config::Target, std::result::Result<&'a Observed, &'a Vec<Error>>);

/// What of a plan counts as an error: [`TargetPlan::problems`] for verbs that read,
/// [`TargetPlan::blockers`] for one that writes.
pub(crate) type Counting = fn(&TargetPlan) -> Vec<Error>;

/// The report of several plans.
pub(crate) fn report(
    session: &Session,
    schema: &str,
    results: &[Planned<'_>],
    counting: Counting,
    detailed: bool,
) -> PlanReport {
    let mut counts = Counts::default();
    let targets = results
        .iter()
        .map(|(target, result)| match result {
            Ok(observed) => {
                counts += observed.plan.counts();
                let problems = counting(&observed.plan);
                let mut report = TargetPlanReport::planned(
                    &observed.plan,
                    &problems,
                    &target.cluster.context,
                    &target.namespace,
                );
                if let Some((record, _)) = &observed.record {
                    report.rollout = OpenReport::of(record);
                    report.freeze = FreezeReport::of(record, jiff::Timestamp::now());
                }
                // Whoever only looks is told, and not stopped.
                let told = |held: &&Error| problems.iter().all(|p| p.message() != held.message());
                report.warnings.extend(
                    observed
                        .plan
                        .held
                        .as_ref()
                        .filter(told)
                        .map(|held| format!("nobody may write here now: {}", held.message())),
                );
                report
            }
            Err(errors) => TargetPlanReport::failed(
                target.name.as_str(),
                &target.cluster.context,
                &target.namespace,
                errors,
            ),
        })
        .collect();
    PlanReport {
        schema: schema.to_owned(),
        application: session.project.app.to_string(),
        targets,
        counts,
        rollout: None,
        exit_code: exit(session, results, counting, detailed).code(),
    }
}

/// The exit code of a plan.
pub(crate) fn exit(
    session: &Session,
    results: &[Planned<'_>],
    counting: Counting,
    detailed: bool,
) -> Exit {
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    for (_, result) in results {
        match result {
            Ok(observed) => {
                for error in counting(&observed.plan) {
                    exit = exit.and(error.exit());
                }
                if detailed && observed.plan.has_changes() {
                    exit = exit.and(Exit::Changes);
                }
            }
            Err(errors) => {
                exit = errors.iter().fold(exit, |exit, error| exit.and(error.exit()));
            }
        }
    }
    exit
}

/// Prints a plan in the form that was asked for.
pub(crate) fn show(
    report: &PlanReport,
    output: Output,
    verbose: bool,
    ui: &Ui,
) -> Result<(), Error> {
    match output {
        Output::Table => ui.data(&report::plan::text(report, verbose, ui.out()))?,
        Output::Json | Output::Yaml => document(report, output, ui)?,
        Output::Name => {
            let mut text = String::new();
            for target in &report.targets {
                for object in &target.changes {
                    text += &format!("{} {}\n", target.target, report::plan::short(&object.object));
                }
            }
            ui.data(&text)?;
        }
    }
    Ok(())
}

/// Prints a document as JSON or YAML.
pub(crate) fn document<T: serde::Serialize>(
    document: &T,
    output: Output,
    ui: &Ui,
) -> Result<(), Error> {
    let failed =
        |e: serde_json::Error| Error::config("cannot write the result").because(e.to_string());
    let value = serde_json::to_value(document).map_err(failed)?;
    let text = match output {
        Output::Yaml => crate::manifest::to_yaml(&value),
        Output::Json | Output::Table | Output::Name => {
            serde_json::to_string_pretty(document).map_err(failed)? + "\n"
        }
    };
    ui.data(&text)?;
    Ok(())
}
