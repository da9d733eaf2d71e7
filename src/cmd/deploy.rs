//! Writing to targets, whichever verb asks for it: what was planned is shown, agreed to, carried
//! out as one wave, and told.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Outcome;
use super::args::{Output, WaitArgs};
use super::plan::{self, document};
use super::rollout::run::Roll;
use super::session::Session;
use crate::apply::{
    Applied, ApplyOptions, Ended, Job, Observed, PlanOptions, Restored, apply, run_wave,
};
use crate::cluster::state::{About, ToolUsed, who};
use crate::config::{Target, TargetName};
use crate::error::{Error, Exit};
use crate::event::EventKind;
use crate::health::Health;
use crate::plan::TargetPlan;
use crate::render::Rendered;
use crate::report::group::{grouped, names};
use crate::report::model::{
    ErrorReport, NodeReport, PlanReport, PodCounts, RollbackReport, RolloutPlanReport, RunReport,
    TargetReport, TargetState, UnhealthyReport,
};
use crate::report::plan::plural;
use crate::rollout::Wave;
use crate::ui::Ui;

/// Which verb writes: what differs in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deploys {
    /// `mcd apply`: the manifests.
    Manifests,
    /// `mcd rollback`: the objects of an earlier release.
    Release,
}

impl Deploys {
    /// The verb, as the user types it.
    fn verb(self) -> &'static str {
        match self {
            Deploys::Manifests => "apply",
            Deploys::Release => "rollback",
        }
    }

    fn schema(self) -> String {
        format!("mcd.dev/{}/v1", self.verb())
    }

    fn question(self, targets: usize) -> String {
        match self {
            Deploys::Manifests => format!("Apply to {}?", plural(targets, "target")),
            Deploys::Release => format!("Roll back {}?", plural(targets, "target")),
        }
    }
}

/// What a writing verb was told.
pub(super) struct How {
    /// Which verb.
    pub deploys: Deploys,
    /// Go on where one target cannot be.
    pub keep_going: bool,
    /// Show the plan and write nothing.
    pub dry_run: bool,
    /// Don't ask.
    pub yes: bool,
    /// How plans are made.
    pub plan: PlanOptions,
    /// Waiting for health.
    pub wait: WaitArgs,
    /// The form of the result.
    pub output: Output,
    /// Show more.
    pub verbose: bool,
    /// How many targets at once; none: as many as there are.
    pub cap: Option<usize>,
    /// The rollout that is opened; none: all targets are written to at once.
    pub roll: Option<Roll>,
    /// What the plan says of waves and steps.
    pub rollout: Option<RolloutPlanReport>,
}

/// A target that is ready to be written to.
pub(super) struct Ready {
    pub job: Job,
    pub rendered: Rendered,
    pub observed: Observed,
    /// The release that is restored; none for an apply.
    pub restored: Option<Restored>,
}

/// A target that is ready, or why it is not.
pub(super) type Planned = (Arc<Target>, Result<Ready, Vec<Error>>);

/// Shows what was planned, asks, and carries it out.
pub(super) async fn deploy(
    session: &Session,
    planned: Vec<Planned>,
    how: &How,
    ui: &Ui,
) -> Outcome {
    let results: Vec<plan::Planned<'_>> = planned
        .iter()
        .map(|(t, r)| (t.as_ref(), r.as_ref().map(|ready| &ready.observed)))
        .collect();
    // Who may only read may look at the plan, and not go on.
    let counting = if how.dry_run { TargetPlan::problems } else { TargetPlan::blockers };
    let mut report = plan::report(session, "mcd.dev/plan/v1", &results, counting, false);
    for (target, (_, result)) in report.targets.iter_mut().zip(&planned) {
        if let Some(restored) = result.as_ref().ok().and_then(|ready| ready.restored.as_ref()) {
            target.go_back(rollback(restored));
        }
    }
    report.rollout.clone_from(&how.rollout);
    let exit = plan::exit(session, &results, counting, false);
    if how.dry_run {
        plan::show(&report, how.output, how.verbose, ui)?;
        return Ok(exit);
    }
    if let Some(interrupted) = session.interrupted() {
        return Err(Error::new(interrupted, "interrupted; nothing was written"));
    }
    let blocked: usize = results.iter().filter(|(_, r)| is_blocked(r)).count();
    let by_hand = how.roll.as_ref().is_some_and(Roll::is_by_hand);
    let is_settled = |r: &Result<&Observed, &Vec<Error>>| {
        r.is_ok_and(|o| !o.plan.has_changes() && o.plan.unfinished.is_none() && !has_blockers(o))
    };
    // A step by hand is asked for whatever changes.
    let nothing_to_do = !by_hand && results.iter().all(|(_, r)| is_settled(r));
    let stops = blocked > 0 && (!how.keep_going || blocked == results.len());
    let asks = !how.yes && !stops;
    let shows = (how.output == Output::Table || asks) && !nothing_to_do;
    if !shows || (ui.is_quiet() && !asks && !stops) {
        warn(&report, ui);
    }
    if shows {
        let plan = crate::report::plan::text(&report, how.verbose, ui.err());
        // With `-q` too: the user cannot agree to a plan, or mend one, that is not shown.
        if asks || stops { ui.say(&plan) } else { ui.status(&plan) }
    }
    if stops {
        if how.output == Output::Table {
            ui.hint(match (blocked == results.len(), how.deploys) {
                (true, _) => "nothing was written",
                (false, Deploys::Manifests) => {
                    "nothing was written; `--keep-going` applies to the other targets"
                }
                (false, Deploys::Release) => {
                    "nothing was written; `--keep-going` rolls back the other targets"
                }
            });
        } else {
            let mut report = not_written(session, &planned, how);
            report.exit_code = exit.code();
            document(&report, how.output, ui)?;
        }
        return Ok(exit);
    }
    if !nothing_to_do && !how.yes {
        let targets = results.len() - blocked;
        let question = match &how.roll {
            Some(roll) => roll.question(targets),
            None => how.deploys.question(targets),
        };
        session.confirm(ui, question, "nothing was written").await?;
    }
    session.resume();
    if let Some(roll) = &how.roll {
        return super::rollout::run::carry_out(session, planned, how, roll, ui).await;
    }
    let (report, exit) = carry_out(session, planned, how, exit).await;
    session.settle().await;
    show(&report, how.output, ui)?;
    if let Some(interrupted) = session.interrupted() {
        ui.hint(&match is_written(&report) {
            true => {
                "everything is written; `mcd status --wait` waits until it is healthy".to_owned()
            }
            false => format!("`mcd {}` goes on where this run stopped", how.deploys.verb()),
        });
        return Ok(interrupted);
    }
    Ok(exit)
}

/// Says what there is to know of plans that are not shown: a warning once for all targets.
fn warn(report: &PlanReport, ui: &Ui) {
    let all = report
        .targets
        .iter()
        .flat_map(|t| t.warnings.iter().map(|warning| (t.target.as_str(), warning.clone())));
    for (targets, warning) in grouped(all) {
        ui.warning(&format!("{}: {warning}", names(&targets, report.targets.len())));
    }
}

/// Whether a run that was interrupted only waited: every target has its release, and nothing is left
/// to be deleted or to be said.
fn is_written(report: &RunReport) -> bool {
    let interrupted = [Exit::Interrupted.code(), Exit::Terminated.code()];
    report.targets.iter().all(|target| {
        target.release.is_some()
            && target
                .errors
                .iter()
                .all(|e| interrupted.contains(&e.exit_code) && e.hints.is_empty())
    })
}

fn has_blockers(observed: &Observed) -> bool {
    !observed.plan.blockers().is_empty()
}

fn is_blocked(result: &Result<&Observed, &Vec<Error>>) -> bool {
    result.map_or(true, has_blockers)
}

/// Where a release of this run comes from.
pub(super) async fn about(session: &Session) -> About {
    let folder = session.project.root.clone();
    let commit = tokio::task::spawn_blocking(move || who::current_commit(&folder));
    About {
        started: jiff::Timestamp::now(),
        who: who::current_user(),
        commit: commit.await.ok().flatten(),
        tool: None,
        chart: None,
        mcd: env!("CARGO_PKG_VERSION").to_owned(),
        vars: BTreeMap::new(),
    }
}

/// The same for the release of one target.
pub(super) fn release_about(
    run: &About,
    target: &Target,
    rendered: &Rendered,
    restored: Option<&Restored>,
) -> About {
    let about = About { vars: target.vars.clone(), ..run.clone() };
    match restored {
        None => About {
            tool: rendered
                .tool
                .as_ref()
                .map(|tool| ToolUsed { name: tool.name.to_owned(), version: tool.version.clone() }),
            chart: rendered.chart.clone(),
            ..about
        },
        // What is written now was rendered then.
        Some(restored) => About {
            commit: restored.about.commit.clone(),
            tool: restored.about.tool.clone(),
            chart: restored.about.chart.clone(),
            ..about
        },
    }
}

/// Applies to every target whose plan stands, as one wave.
async fn carry_out(
    session: &Session,
    planned: Vec<Planned>,
    how: &How,
    exit: Exit,
) -> (RunReport, Exit) {
    let about = about(session).await;
    // Each target's part is handed over when its turn comes, and freed when it is done.
    let ready: RefCell<BTreeMap<TargetName, Ready>> = RefCell::default();
    let mut reports: BTreeMap<TargetName, TargetReport> = BTreeMap::new();
    let mut rollbacks: BTreeMap<TargetName, RollbackReport> = BTreeMap::new();
    for (target, result) in planned {
        if let Some(restored) = result.as_ref().ok().and_then(|ready| ready.restored.as_ref()) {
            rollbacks.insert(target.name.clone(), rollback(restored));
        }
        let errors = match &result {
            Ok(ready) => ready.observed.plan.blockers(),
            Err(errors) => errors.clone(),
        };
        match (result, errors.is_empty()) {
            (Ok(one), true) => {
                ready.borrow_mut().insert(target.name.clone(), one);
            }
            _ => {
                reports.insert(target.name.clone(), not_staged(&target, &errors));
            }
        }
    }
    // `--keep-going` is the consent to failures; without it a target that fails keeps those from
    // starting that have not.
    let ready_ones = |t: &TargetName| ready.borrow().contains_key(t);
    let names = session.targets.iter().map(|t| t.name.clone()).filter(ready_ones);
    let max_failures = if how.keep_going { usize::MAX } else { 0 };
    let wave = Wave { max_failures, ..Wave::of(names) };
    let ended = run_wave(
        wave,
        how.cap,
        || session.interrupted().is_some(),
        |name| {
            let parts = ready.borrow_mut().remove(&name);
            let about = about.clone();
            async move {
                let Some(Ready { job, rendered, observed, restored }) = parts else {
                    return (Applied::default(), false);
                };
                let about = release_about(&about, &job.target, &rendered, restored.as_ref());
                let options = ApplyOptions {
                    wait: how.wait.wait,
                    timeout: how.wait.patience(),
                    plan: how.plan,
                    about,
                    restored,
                };
                let applied = apply(&job, &rendered, observed, &options).await;
                let ok = applied.errors.is_empty();
                let message = match applied.errors.first() {
                    Some(error) => format!("{error:#}"),
                    None if how.wait.wait => "healthy".to_owned(),
                    None => "applied".to_owned(),
                };
                job.events.send(EventKind::Finished { ok, message });
                (applied, ok)
            }
        },
    )
    .await;
    let mut exit = exit;
    for (name, ended) in ended {
        let Some(target) = session.target(&name) else { continue };
        let report = match ended {
            Ended::Ran { result, .. } => {
                for error in &result.errors {
                    exit = exit.and(error.exit());
                }
                applied_report(target, &result, how.wait.wait, rollbacks.get(&name).copied())
            }
            Ended::NotStarted => TargetReport {
                rollback: rollbacks.get(&name).copied(),
                ..base(target, TargetState::NotStarted)
            },
        };
        reports.insert(name, report);
    }
    let exit = session.interrupted().map_or(exit, |interrupted| exit.and(interrupted));
    let targets = session.targets.iter().filter_map(|t| reports.remove(&t.name)).collect();
    let report = RunReport {
        schema: how.deploys.schema(),
        application: session.project.app.to_string(),
        targets,
        exit_code: exit.code(),
    };
    (report, exit)
}

/// From which release to which.
pub(super) fn rollback(restored: &Restored) -> RollbackReport {
    RollbackReport { from: restored.from, to: restored.number }
}

/// A report with nothing in it yet.
pub(crate) fn base(target: &Target, state: TargetState) -> TargetReport {
    TargetReport {
        target: target.name.to_string(),
        context: target.cluster.context.clone(),
        namespace: target.namespace.clone(),
        state,
        release: None,
        rollback: None,
        pods: None,
        applied: None,
        rollout: None,
        freeze: None,
        objects: BTreeMap::new(),
        deletes: Vec::new(),
        left: Vec::new(),
        unhealthy: Vec::new(),
        tree: Vec::new(),
        warnings: Vec::new(),
        message: String::new(),
        errors: Vec::new(),
    }
}

/// The report of a target that errors kept from its turn.
pub(crate) fn failed(target: &Target, errors: &[Error]) -> TargetReport {
    let state = errors.first().map_or(TargetState::Failed, TargetState::of);
    TargetReport { errors: errors.iter().map(ErrorReport::from).collect(), ..base(target, state) }
}

fn not_staged(target: &Target, errors: &[Error]) -> TargetReport {
    TargetReport { message: "not applied".to_owned(), ..failed(target, errors) }
}

fn not_written(session: &Session, planned: &[Planned], how: &How) -> RunReport {
    let targets = planned
        .iter()
        .map(|(target, result)| match result {
            Ok(ready) => match ready.observed.plan.blockers().as_slice() {
                [] => TargetReport {
                    message: "nothing was written, because other targets are not ready".to_owned(),
                    ..base(target, TargetState::NotStarted)
                },
                errors => failed(target, errors),
            },
            Err(errors) => failed(target, errors),
        })
        .collect();
    RunReport {
        schema: how.deploys.schema(),
        application: session.project.app.to_string(),
        targets,
        exit_code: 0,
    }
}

fn applied_report(
    target: &Target,
    applied: &Applied,
    waited: bool,
    rollback: Option<RollbackReport>,
) -> TargetReport {
    let state = match applied.errors.first() {
        Some(error) => TargetState::of(error),
        None if waited => TargetState::Healthy,
        None => TargetState::Applied,
    };
    let mut report = base(target, state);
    report.release = applied.release.as_ref().map(|r| r.number);
    report.applied = applied.release.as_ref().and_then(|r| r.finished).map(|t| t.to_string());
    for verb in applied.written.values() {
        *report.objects.entry(verb.word().to_owned()).or_default() += 1;
    }
    if applied.unchanged > 0 {
        *report.objects.entry("unchanged".to_owned()).or_default() += applied.unchanged;
    }
    if let Some(look) = &applied.look {
        describe(&mut report, look);
    }
    let counts: Vec<String> =
        report.objects.iter().map(|(verb, n)| format!("{n} {verb}")).collect();
    report.message = match rollback {
        None => counts.join(", "),
        Some(_) if applied.written.is_empty() && !applied.is_new => {
            format!("nothing to do: {}", counts.join(", "))
        }
        Some(rollback) => format!("back to release {}: {}", rollback.to, counts.join(", ")),
    };
    report.rollback = rollback;
    report.errors = applied.errors.iter().map(ErrorReport::from).collect();
    report
}

/// Puts a look at the target's health into its report.
pub(crate) fn describe(report: &mut TargetReport, look: &crate::apply::Look) {
    report.pods = look.pods.map(|pods| PodCounts {
        wanted: pods.wanted,
        ready: pods.ready,
        updated: pods.updated,
    });
    report.unhealthy = look
        .verdicts
        .iter()
        .filter(|(_, verdict)| verdict.health != Health::Healthy)
        .map(|(id, verdict)| UnhealthyReport {
            object: id.into(),
            health: verdict.health.word().to_lowercase(),
            reason: verdict.health.reason().unwrap_or_default().to_owned(),
        })
        .collect();
    // What decides stands first.
    report.unhealthy.sort_by_key(|u| u.health != "failed");
    report.warnings.extend(look.summary.notes.iter().cloned());
    report.tree = look.tree.nodes.iter().map(NodeReport::from).collect();
    let unread = look.tree.unread.iter().map(|kind| format!("{kind} could not be listed"));
    report.warnings.extend(unread);
}

/// What to do next, once for all targets that only differ in their names.
fn hints(report: &RunReport) -> Vec<String> {
    let mut kinds: Vec<(String, String, usize)> = Vec::new();
    for target in &report.targets {
        // Those of further errors stand beside them.
        for hint in target.errors.iter().take(1).flat_map(|e| &e.hints) {
            let kind = hint.replace(&target.context, "…").replace(&target.target, "…");
            match kinds.iter_mut().find(|(known, _, _)| *known == kind) {
                Some((_, _, others)) => *others += 1,
                None => kinds.push((kind, format!("{}: {hint}", target.target), 0)),
            }
        }
    }
    let shown = kinds.into_iter().map(|(_, hint, others)| match others {
        0 => hint,
        n => format!("{hint} (and {} alike)", plural(n, "target")),
    });
    shown.collect()
}

/// Prints a run's report in the form that was asked for.
pub(crate) fn show(report: &RunReport, output: Output, ui: &Ui) -> Result<(), Error> {
    match output {
        Output::Table => {
            ui.data(&crate::report::run::text(report, jiff::Timestamp::now(), ui.out()))?;
        }
        Output::Json | Output::Yaml => document(report, output, ui)?,
        Output::Name => {
            for target in &report.targets {
                ui.data(&format!("{} {}\n", target.target, target.state.word()))?;
            }
        }
    }
    if output == Output::Table {
        for hint in hints(report) {
            ui.hint(&hint);
        }
    }
    Ok(())
}
