//! `mcd diff`: what would change, as `kubectl diff` shows it.

use std::fmt::Write as _;

use clap::Args;

use super::Outcome;
use super::args::{ClusterArgs, GlobalArgs, Output, OutputArgs, ProjectArgs, RenderArgs};
use super::plan::{self, PlanningArgs};
use super::session::Session;
use crate::diff::{DiffLine, LineKind};
use crate::error::Exit;
use crate::plan::{Action, ObjectPlan, TargetPlan};
use crate::report::group::{grouped, names};
use crate::ui::{Role, Ui};

/// Arguments of `mcd diff`.
#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// How many lines to show around a change
    #[arg(long, value_name = "N", default_value_t = 3)]
    context_lines: usize,
    #[command(flatten)]
    planning: PlanningArgs,
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
    let session = Session::open(&args.project, &args.clusters, Some(&args.render), ui)?;
    session.check_contexts()?;
    let options = args.planning.options();
    let planned = session
        .each(|target| async { session.observe(target, options).await.map(|(_, _, o)| o) })
        .await;
    session.settle().await;
    let results: Vec<_> = planned.iter().map(|(t, r)| (t.as_ref(), r.as_ref())).collect();
    let exit = exit(&session, &results);
    if args.output.output == Output::Table {
        let planned = results.iter().filter_map(|(_, result)| result.ok());
        let diffs = planned.map(|observed| {
            (observed.plan.target.as_str(), target_diff(&observed.plan, args.context_lines, ui))
        });
        for (targets, diff) in grouped(diffs) {
            // Several targets, one diff: it is that of each of them.
            let names = names(&targets, results.len());
            ui.data(&format!("{}\n{diff}", ui.out().paint(Role::Bold, &format!("# {names}"))))?;
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

/// What would change in a target, without its name, so that targets with the same stand together.
fn target_diff(plan: &TargetPlan, context: usize, ui: &Ui) -> String {
    let mut text = String::new();
    for object in &plan.objects {
        if matches!(object.action, Action::Unchanged) {
            continue;
        }
        let lines = object.diff.unified(
            &format!("live      {}", object.id),
            &format!("manifest  {}", object.id),
            context,
        );
        for line in &lines {
            paint(line, ui, &mut text);
        }
        if lines.is_empty()
            && let Some(note) = ownership_only(object)
        {
            let _ = writeln!(text, "# {}: {note}", object.id);
        }
    }
    for condemned in &plan.prune.sweep.delete {
        let id = &condemned.id;
        let names = (format!("live      {id}"), format!("manifest  {id}"));
        for line in &condemned.diff.unified(&names.0, &names.1, context) {
            paint(line, ui, &mut text);
        }
    }
    text
}

/// What an apply would do to an object none of whose values change.
fn ownership_only(object: &ObjectPlan) -> Option<String> {
    let ownership = &object.ownership;
    let mut notes = Vec::new();
    if !ownership.adopt.is_empty() {
        let from: Vec<String> = ownership.adopt.iter().map(ToString::to_string).collect();
        notes.push(format!("adopts from {}", from.join(", ")));
    } else if !ownership.take.is_empty() {
        notes.push(format!("takes over from {}", ownership.take.join(", ")));
    }
    if !ownership.relinquish.is_empty() {
        let paths: Vec<String> = ownership.relinquish.iter().map(ToString::to_string).collect();
        notes.push(format!("gives up {}", paths.join(", ")));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn paint(line: &DiffLine, ui: &Ui, text: &mut String) {
    let role = match line.kind {
        LineKind::Header => Role::Bold,
        LineKind::Hunk => Role::Dim,
        LineKind::Context => return text.push_str(&format!("{}\n", line.text)),
        LineKind::Add => Role::Add,
        LineKind::Remove => Role::Remove,
    };
    let _ = writeln!(text, "{}", ui.out().paint(role, &line.text));
}
