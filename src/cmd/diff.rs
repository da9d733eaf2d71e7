//! `mcd diff`: what would change, as `kubectl diff` shows it.

use clap::Args;

use super::Outcome;
use super::args::{
    ClusterArgs, GlobalArgs, MoveArgs, Output, OutputArgs, ProjectArgs, RenderArgs, release_number,
};
use super::external;
use super::plan::{self, PlanningArgs};
use super::session::Session;
use crate::error::{Error, Exit};
use crate::plan::TargetPlan;
use crate::report;
use crate::report::diff::View;
use crate::report::group::{grouped, names};
use crate::ui::{Role, Ui};

/// Arguments of `mcd diff`.
#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// How many lines to show around a change
    #[arg(long, value_name = "N", default_value_t = 3)]
    context_lines: usize,
    /// Show field by field, list items by their keys, in place of lines of YAML
    #[arg(long)]
    structural: bool,
    /// Compare with the objects of this release instead of the manifests: what a rollback to it
    /// would change
    #[arg(long, value_name = "N", value_parser = release_number, allow_negative_numbers = true)]
    release: Option<u64>,
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

/// Runs the verb.
pub(crate) async fn run(args: &DiffArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let renders = args.release.is_none().then_some(&args.render);
    let session = Session::open(&args.project, &args.clusters, renders, ui)?
        .moving(args.moves.move_from.as_ref());
    session.check_contexts()?;
    let options = args.planning.options();
    let planned = session
        .each(|target| async {
            match args.release {
                None => session.observe(target, options).await.map(|(_, _, o)| o),
                Some(number) => {
                    let release = session.observe_release(target, Some(number), options).await;
                    release.map(|restoration| restoration.observed)
                }
            }
        })
        .await;
    session.settle().await;
    let results: Vec<_> = planned.iter().map(|(t, r)| (t.as_ref(), r.as_ref())).collect();
    let mut exit = exit(&session, &results);
    if args.output.output == Output::Table {
        let differs = show_all(args, &results, ui).await?;
        // What the user's own program does not count as a difference is none.
        if exit == Exit::Failed && !differs {
            exit = Exit::Ok;
        }
        let mut errors = Vec::new();
        for (target, result) in &results {
            match result {
                Ok(observed) => {
                    errors.extend(observed.plan.problems());
                    for warning in &observed.plan.warnings {
                        ui.warning(&format!("{}: {warning}", target.name));
                    }
                }
                Err(more) => errors.extend(more.iter().cloned()),
            }
        }
        ui.errors(&errors);
        let failed = results.iter().filter(|(_, result)| result.is_err()).count();
        let plans = results.iter().filter_map(|(_, result)| Some(&result.ok()?.plan));
        ui.status(&report::diff::summary(plans, failed));
    } else {
        let mut report =
            plan::report(&session, "mcd.dev/plan/v1", &results, TargetPlan::problems, false);
        report.exit_code = exit.code();
        plan::show(&report, args.output.output, global.verbose > 0, ui)?;
    }
    // As in `plan`: the process is about to end.
    std::mem::forget(planned);
    Ok(exit)
}

/// 1 for differences, and whatever kept a target from being compared wins over it.
fn exit(session: &Session, results: &[plan::Planned<'_>]) -> Exit {
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    for (_, result) in results {
        match result {
            Ok(observed) => {
                for error in observed.plan.problems() {
                    exit = exit.and_when_comparing(error.exit());
                }
                if observed.plan.has_changes() {
                    exit = exit.and_when_comparing(Exit::Failed);
                }
            }
            Err(errors) => {
                for error in *errors {
                    exit = exit.and_when_comparing(error.exit());
                }
            }
        }
    }
    exit
}

/// Shows the differences, those that several targets share once; whether there are any.
async fn show_all(args: &DiffArgs, results: &[plan::Planned<'_>], ui: &Ui) -> Result<bool, Error> {
    let plans = || results.iter().filter_map(|(_, result)| Some(&result.ok()?.plan));
    let head = |targets: &[&str]| {
        ui.out().paint(Role::Bold, &format!("# {}", names(targets, results.len())))
    };
    let Some(program) = external::program().filter(|_| !args.structural) else {
        let release = args.release.map(|number| format!("release {number}"));
        let wanted = release.as_deref().unwrap_or("manifest");
        let view = View { context: args.context_lines, structural: args.structural, wanted };
        let texts =
            plans().map(|plan| (plan.target.as_str(), report::diff::text(plan, view, ui.out())));
        for (targets, text) in grouped(texts) {
            // Several targets, one diff: it is that of each of them.
            ui.data(&format!("{}\n{text}", head(&targets)))?;
        }
        return Ok(true);
    };
    let mut differs = false;
    let mut groups: Vec<(Vec<&str>, external::Files, String)> = Vec::new();
    for plan in plans() {
        let (files, notes) = (external::files(plan), external::notes(plan));
        let target = plan.target.as_str();
        match groups.iter_mut().find(|(_, known, said)| *known == files && *said == notes) {
            Some((targets, _, _)) => targets.push(target),
            None => groups.push((vec![target], files, notes)),
        }
    }
    for (targets, files, notes) in groups {
        if files.is_empty() && notes.is_empty() {
            continue;
        }
        ui.data(&format!("{}\n{notes}", head(&targets)))?;
        differs |= !notes.is_empty();
        if !files.is_empty() {
            let program = program.clone();
            let run = tokio::task::spawn_blocking(move || external::compare(&program, &files));
            differs |= run.await.unwrap_or(Ok(true))?;
        }
    }
    Ok(differs)
}
