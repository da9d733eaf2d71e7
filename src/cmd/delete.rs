//! `mcd delete`: deletes the application from the targets, exactly what it owns there.

use std::sync::Arc;

use clap::Args;
use futures::stream::{self, StreamExt};

use super::Outcome;
use super::args::{
    BesidesArgs, ClusterArgs, ConfirmArgs, EventsArgs, GlobalArgs, Output, OutputArgs, ProjectArgs,
    WaitArgs,
};
use super::deploy::{base, failed, show};
use super::session::Session;
use crate::apply::{DeleteOptions, Deletion, Job, delete, deletion_plan};
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::event::EventKind;
use crate::report::group::{grouped, names};
use crate::report::model::{ErrorReport, LeftReport, RunReport, TargetReport, TargetState};
use crate::report::plan::plural;
use crate::ui::Ui;

/// Arguments of `mcd delete`.
#[derive(Args, Debug)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    besides: BesidesArgs,
    /// Go on in the other targets when one cannot be reached
    #[arg(long)]
    keep_going: bool,
    /// Show what would be deleted and delete nothing
    #[arg(long)]
    dry_run: bool,
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

type Planned = (Arc<Target>, Result<(Job, Deletion), Error>);

/// Runs the verb.
pub(crate) async fn run(args: &DeleteArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.record(&args.events)?;
    session.check_contexts()?;
    if !args.confirm.yes && !args.dry_run {
        ui.can_confirm()?;
    }
    let options = DeleteOptions {
        besides: args.besides.besides(),
        wait: args.wait.wait.then_some(args.wait.patience()),
    };
    let planned: Vec<Planned> = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            let deletion = deletion_plan(&job, &options).await?;
            Ok((job, deletion))
        })
        .await;
    session.settle().await;
    let exit = planned.iter().fold(Exit::Ok, |exit, (_, result)| match result {
        Ok(_) => exit,
        Err(error) => exit.and(error.exit()),
    });
    if args.output.output == Output::Table {
        let preview = preview(&planned);
        if !preview.is_empty() {
            ui.status(&preview);
        }
    }
    let unreadable = planned.iter().filter(|(_, r)| r.is_err()).count();
    if args.dry_run || (unreadable > 0 && !args.keep_going) {
        let state = if args.dry_run { TargetState::ToDelete } else { TargetState::NotStarted };
        let targets = planned.iter().map(|(t, r)| would(t, r, state)).collect();
        let report = report(&session, targets, exit);
        show(&report, args.output.output, ui)?;
        if !args.dry_run {
            ui.hint("nothing was deleted; `--keep-going` deletes from the other targets");
        }
        return Ok(exit);
    }
    let doomed: usize =
        planned.iter().filter_map(|(_, r)| r.as_ref().ok()).map(|(_, d)| d.delete.len()).sum();
    if doomed > 0 && !args.confirm.yes {
        let question = format!("Delete {} of {}?", plural(doomed, "object"), session.project.app);
        session.confirm(ui, question, "nothing was deleted").await?;
    }
    session.resume();
    let reports: Vec<(TargetReport, Exit)> = stream::iter(&planned)
        .map(|(target, result)| carry_out(target, result, &options))
        .buffered(session.concurrency)
        .collect()
        .await;
    session.settle().await;
    let exit = reports.iter().fold(exit, |all, (_, one)| all.and(*one));
    let exit = session.interrupted().map_or(exit, |interrupted| exit.and(interrupted));
    let targets = reports.into_iter().map(|(report, _)| report).collect();
    show(&report(&session, targets, exit), args.output.output, ui)?;
    Ok(exit)
}

fn report(session: &Session, targets: Vec<TargetReport>, exit: Exit) -> RunReport {
    RunReport {
        schema: "mcd.dev/delete/v1".to_owned(),
        application: session.project.app.to_string(),
        targets,
        exit_code: exit.code(),
    }
}

/// What would go, targets with the same together.
fn preview(planned: &[Planned]) -> String {
    let bodies = planned.iter().filter_map(|(target, result)| {
        let (_, deletion) = result.as_ref().ok()?;
        let gone = deletion.delete.iter().map(|c| format!("  - {}\n", c.id));
        let kept = deletion.kept.iter().map(|(id, why)| format!("  = {id} stays: {why}\n"));
        Some((target.name.as_str(), gone.chain(kept).collect::<String>()))
    });
    let groups = grouped(bodies).into_iter();
    let texts = groups.map(|(targets, body)| format!("{}\n{body}", names(&targets, planned.len())));
    texts.collect::<Vec<_>>().join("\n")
}

/// The report of a target whose deletion is only shown (`ToDelete`), or kept from beginning by
/// other targets (`NotStarted`).
fn would(
    target: &Target,
    result: &Result<(Job, Deletion), Error>,
    state: TargetState,
) -> TargetReport {
    match result {
        Ok((_, deletion)) if deletion.record.is_none() => nothing(target),
        Ok((_, deletion)) => TargetReport {
            release: deletion.record.as_ref().and_then(|(r, _)| r.active),
            message: with_kept(
                &format!("{} to delete", deletion.delete.len()),
                deletion.kept.len(),
            ),
            deletes: deletion.delete.iter().map(|c| (&c.id).into()).collect(),
            left: left(deletion),
            ..base(target, state)
        },
        Err(error) => failed(target, std::slice::from_ref(error)),
    }
}

/// What stays, and why.
fn left(deletion: &Deletion) -> Vec<LeftReport> {
    let kept = deletion.kept.iter();
    kept.map(|(id, why)| LeftReport { object: id.into(), reason: why.clone() }).collect()
}

/// `9 deleted`, `9 deleted, 1 kept`.
fn with_kept(gone: &str, kept: usize) -> String {
    if kept == 0 { gone.to_owned() } else { format!("{gone}, {kept} kept") }
}

fn nothing(target: &Target) -> TargetReport {
    TargetReport {
        message: "nothing to delete".to_owned(),
        ..base(target, TargetState::NotDeployed)
    }
}

async fn carry_out(
    target: &Target,
    result: &Result<(Job, Deletion), Error>,
    options: &DeleteOptions,
) -> (TargetReport, Exit) {
    let (job, deletion) = match result {
        Ok(parts) => parts,
        Err(error) => return (failed(target, std::slice::from_ref(error)), error.exit()),
    };
    let (done, result) = delete(job, deletion, options).await;
    if deletion.record.is_none() && result.is_ok() {
        return (nothing(target), Exit::Ok);
    }
    let ok = result.is_ok();
    let message = match &result {
        Ok(()) => "deleted".to_owned(),
        Err(error) => format!("{error:#}"),
    };
    job.events.send(EventKind::Finished { ok, message });
    let mut report = base(target, TargetState::Deleted);
    if !done.is_empty() {
        report.objects.insert("deleted".to_owned(), done.len());
    }
    report.message = with_kept(&format!("{} deleted", done.len()), deletion.kept.len());
    report.left = left(deletion);
    report.warnings = deletion.kept.iter().map(|(id, why)| format!("{id} stays: {why}")).collect();
    let exit = match &result {
        Ok(()) => Exit::Ok,
        Err(error) => {
            report.state = TargetState::of(error);
            report.errors.push(ErrorReport::from(error));
            error.exit()
        }
    };
    (report, exit)
}
