//! `mcd status`: how the application stands in each target. Nothing is rendered.

use clap::Args;

use super::Outcome;
use super::args::{ClusterArgs, GlobalArgs, OutputArgs, ProjectArgs, duration};
use super::deploy::{base, describe, failed, show};
use super::orphans::orphans;
use super::session::Session;
use super::watch::watch;
use crate::apply::{Standing, standing, standing_closer};
use crate::config::Target;
use crate::error::Exit;
use crate::health::Health;
use crate::report::model::{RunReport, TargetReport, TargetState};
use crate::report::plan::plural;
use crate::report::rollout::{FreezeReport, OpenReport};
use crate::ui::Ui;

/// Arguments of `mcd status`.
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// Wait until all targets are healthy; exit 1 when they are not in time
    #[arg(long)]
    wait: bool,
    /// Go on looking every two seconds, and show what changes, until Ctrl-C (exit 130)
    #[arg(long, conflicts_with_all = ["wait", "tree"])]
    watch: bool,
    /// Show each object with what it has made: pods, the last warnings, the last log lines of
    /// containers that fail
    #[arg(long)]
    tree: bool,
    /// How long `--wait` waits for a target
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, env = "MCD_TIMEOUT", hide_env = true)]
    timeout: std::time::Duration,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Runs the verb.
pub(crate) async fn run(args: &StatusArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    let patience = args.wait.then_some(args.timeout);
    session.check_contexts()?;
    if args.watch {
        return watch(&session, args.output.output, ui).await;
    }
    let looks = session.each(|target| async {
        let target = target;
        let job = session.job(&target).await?;
        if args.tree {
            standing_closer(&job, patience).await
        } else {
            standing(&job, patience).await
        }
    });
    let (results, orphans) = tokio::join!(looks, orphans(&session, &args.project));
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let targets: Vec<TargetReport> = results
        .iter()
        .map(|(target, result)| match result {
            Ok(standing) => stands(target, standing),
            Err(error) => {
                exit = exit.and(error.exit());
                failed(target, std::slice::from_ref(error))
            }
        })
        .collect();
    if args.wait && targets.iter().any(|t| t.state != TargetState::Healthy && t.errors.is_empty()) {
        exit = exit.and(Exit::Failed);
    }
    let report = RunReport {
        schema: "mcd.dev/status/v1".to_owned(),
        application: session.project.app.to_string(),
        targets: targets.into_iter().chain(orphans.standing()).collect(),
        exit_code: exit.code(),
    };
    show(&report, args.output.output, ui)?;
    orphans.say(ui);
    Ok(exit)
}

pub(super) fn stands(target: &Target, standing: &Standing) -> TargetReport {
    const ABSENT: &str = "the application is not there; `mcd apply` deploys it";
    let (Some(record), Some(look)) = (&standing.record, &standing.look) else {
        let mut report = base(target, TargetState::NotDeployed);
        report.message = ABSENT.to_owned();
        return report;
    };
    let held = |mut report: TargetReport| {
        report.rollout = OpenReport::of(record);
        report.freeze = FreezeReport::of(record, jiff::Timestamp::now());
        let freeze = report.freeze.iter().map(FreezeReport::words);
        let mut notes: Vec<String> =
            report.rollout.iter().map(OpenReport::words).chain(freeze).collect();
        if report.message.is_empty() && !notes.is_empty() {
            report.message = notes.remove(0);
        }
        if report.message.is_empty() && report.state == TargetState::NotDeployed {
            report.message = ABSENT.to_owned();
        }
        report.warnings.extend(notes);
        report
    };
    let nothing = record.active.is_none() && record.inventory.is_empty();
    if let Some(message) = deleted(record).or_else(|| nothing.then(String::new)) {
        let mut report = base(target, TargetState::NotDeployed);
        report.message = message;
        return held(report);
    }
    let state = match &look.summary.health {
        Health::Healthy => TargetState::Healthy,
        Health::Progressing(_) => TargetState::Progressing,
        Health::Failed(_) => TargetState::Failed,
        Health::Paused(_) => TargetState::Paused,
        Health::Unknown(_) => TargetState::Unknown,
    };
    let mut report = base(target, state);
    report.release = record.active;
    report.applied = standing.release().and_then(|r| r.finished).map(|t| t.to_string());
    describe(&mut report, look);
    report.message = match look.summary.health.reason() {
        Some(reason) => reason.to_owned(),
        None => unfinished(record).unwrap_or_default(),
    };
    held(report)
}

/// What to say of an application that was deleted, but for some objects.
fn deleted(record: &crate::cluster::state::Record) -> Option<String> {
    use crate::cluster::state::ReleaseState;
    let superseded = record.releases.last()?.state == ReleaseState::Superseded;
    (superseded && record.active.is_none()).then(|| {
        let rest = plural(record.inventory.len(), "object");
        format!("it was deleted; {rest} stayed: `mcd delete --dry-run` says which")
    })
}

/// What the last release says when it is not the active one.
fn unfinished(record: &crate::cluster::state::Record) -> Option<String> {
    use crate::cluster::state::ReleaseState;
    // The rollout that is open says more of its release.
    let staged = record.rollout.as_ref().and_then(|open| open.progress.release);
    let last = record.releases.iter().rfind(|release| !release.undone);
    let last = last.filter(|last| staged != Some(last.number))?;
    match last.state {
        ReleaseState::Staged => {
            Some(format!("release {} is under way or was interrupted", last.number))
        }
        ReleaseState::Failed => Some(format!(
            "release {} failed: {}",
            last.number,
            last.message.as_deref().unwrap_or("no reason recorded")
        )),
        ReleaseState::Active | ReleaseState::Superseded => None,
    }
}
