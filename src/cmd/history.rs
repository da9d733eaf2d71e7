//! `mcd history`: the releases of each target; as a document, the audit log.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::Outcome;
use super::args::{ClusterArgs, Output, OutputArgs, ProjectArgs};
use super::plan::document;
use super::release;
use super::session::Session;
use crate::apply::lost_record;
use crate::cluster::state::ReleaseSummary;
use crate::error::{Error, Exit};
use crate::render::ChartUsed;
use crate::report::group::{grouped, names};
use crate::report::model::{ErrorReport, ToolReport};
use crate::report::plan::plural;
use crate::report::rollout::{FreezeReport, OpenReport};
use crate::report::{Cell, Table};
use crate::ui::{Role, Ui};

/// Arguments of `mcd history`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(super) struct HistoryArgs {
    #[command(subcommand)]
    command: Option<HistoryCommand>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Show one release: who made it, from what, how it ended, its objects
    Show(release::ShowArgs),
}

/// What `mcd history -o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HistoryReport {
    /// `mcd.dev/history/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// One entry a target, in the order of the fleet.
    pub targets: Vec<TargetHistory>,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// The releases of one target.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetHistory {
    /// The target.
    pub target: String,
    /// The active release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<u64>,
    /// The rollout that is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<OpenReport>,
    /// That nobody may write to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<FreezeReport>,
    /// The last releases, newest first.
    pub releases: Vec<ReleaseReport>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
}

/// A release.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReleaseReport {
    /// Its number.
    pub number: u64,
    /// `staged`, `active`, `superseded` or `failed`.
    pub state: String,
    /// When it was staged (RFC 3339).
    pub started: String,
    /// When its apply ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// Who made it, and where.
    pub who: String,
    /// The same in parts.
    pub by: ByReport,
    /// The commit that it was rendered from, `-dirty` when the work tree differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The same in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceReport>,
    /// The version of mcd that made it.
    pub mcd: String,
    /// The release whose objects it repeats, when it is a rollback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback_of: Option<u64>,
    /// What rendered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolReport>,
    /// The chart that it was rendered from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<ChartUsed>,
    /// The variables.
    pub vars: std::collections::BTreeMap<String, serde_json::Value>,
    /// How many objects it has.
    pub objects: u32,
    /// Its size as it is stored, in bytes.
    pub bytes: u64,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Who made a release, and where.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ByReport {
    /// The user; in CI, who started the run.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The CI system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<String>,
    /// Where the CI run can be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The commit of a release.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SourceReport {
    /// The full hash.
    pub commit: String,
    /// Whether the work tree differed from it; absent when that could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

impl From<&ReleaseSummary> for ReleaseReport {
    fn from(summary: &ReleaseSummary) -> Self {
        let about = &summary.about;
        ReleaseReport {
            number: summary.number,
            state: summary.state.as_str().to_owned(),
            started: about.started.to_string(),
            finished: summary.finished.map(|t| t.to_string()),
            who: about.who.to_string(),
            by: ByReport {
                user: about.who.user.clone(),
                host: about.who.host.clone(),
                ci: about.who.ci.as_ref().map(|ci| ci.system.clone()),
                url: about.who.ci.as_ref().and_then(|ci| ci.url.clone()),
            },
            commit: about.commit.as_ref().map(ToString::to_string),
            source: about
                .commit
                .as_ref()
                .map(|commit| SourceReport { commit: commit.id.clone(), dirty: commit.dirty }),
            mcd: about.mcd.clone(),
            rollback_of: summary.rollback_of,
            tool: about
                .tool
                .as_ref()
                .map(|tool| ToolReport { name: tool.name.clone(), version: tool.version.clone() }),
            chart: about.chart.clone(),
            vars: about.vars.clone(),
            objects: summary.objects,
            bytes: summary.bytes,
            message: summary.message.clone(),
        }
    }
}

/// Runs the verb.
pub(crate) async fn run(args: &HistoryArgs, ui: &Ui) -> Outcome {
    if let Some(HistoryCommand::Show(args)) = &args.command {
        return release::run(args, ui).await;
    }
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    let results = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            match job.store.record().await? {
                Some((record, _)) => Ok(Some(record)),
                None => lost_record(&job).await?.map_or(Ok(None), Err),
            }
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let targets = results
        .into_iter()
        .map(|(target, result)| {
            let target = target.name.to_string();
            match result {
                Ok(record) => {
                    let releases = record.iter().flat_map(|r| r.releases.iter().rev());
                    TargetHistory {
                        target,
                        rollout: record.as_ref().and_then(OpenReport::of),
                        freeze: record
                            .as_ref()
                            .and_then(|record| FreezeReport::of(record, jiff::Timestamp::now())),
                        active: record.as_ref().and_then(|r| r.active),
                        releases: releases.map(ReleaseReport::from).collect(),
                        error: None,
                    }
                }
                Err(error) => {
                    exit = exit.and(error.exit());
                    let error = Some(ErrorReport::from(&error));
                    TargetHistory {
                        target,
                        active: None,
                        rollout: None,
                        freeze: None,
                        releases: Vec::new(),
                        error,
                    }
                }
            }
        })
        .collect();
    let report = HistoryReport {
        schema: "mcd.dev/history/v1".to_owned(),
        application: session.project.app.to_string(),
        targets,
        exit_code: exit.code(),
    };
    show(&report, args.output.output, ui)?;
    Ok(exit)
}

fn show(report: &HistoryReport, output: Output, ui: &Ui) -> Result<(), Error> {
    if matches!(output, Output::Json | Output::Yaml) {
        return document(report, output, ui);
    }
    if output == Output::Name {
        let names = report.targets.iter().flat_map(|target| {
            target.releases.iter().map(|r| format!("{} {}\n", target.target, r.number))
        });
        ui.data(&names.collect::<String>())?;
        for target in &report.targets {
            if let Some(error) = &target.error {
                ui.warning(&format!("{}: {}", target.target, error.line()));
            }
        }
        return Ok(());
    }
    let commits = report.targets.iter().flat_map(|t| &t.releases).any(|r| r.commit.is_some());
    let mut headers = vec!["CLUSTER", "RELEASE", "STATE", "STARTED", "BY"];
    headers.extend(commits.then_some("COMMIT"));
    headers.push("MESSAGE");
    let dashes = headers.len() - 2;
    let mut table = Table::new(headers);
    for target in &report.targets {
        if let Some(error) = &target.error {
            let mut row = vec![Cell::styled(target.target.clone(), Role::Bold)];
            row.extend((0..dashes).map(|_| Cell::from("-")));
            row.push(Cell::styled(error.line(), Role::Fail));
            table.row(row);
            continue;
        }
        for release in &target.releases {
            let state = match release.state.as_str() {
                "active" => Cell::styled(release.state.clone(), Role::Ok),
                "failed" => Cell::styled(release.state.clone(), Role::Fail),
                _ => Cell::from(release.state.clone()),
            };
            // To the minute: 80 columns have no room for more, and the documents say it all.
            let started = release.started.get(..16).unwrap_or_default().replace('T', " ") + "Z";
            let message = match release.message.as_deref() {
                None | Some("") => plural(release.objects as usize, "object"),
                Some(message) => message.to_owned(),
            };
            let message = match release.rollback_of {
                Some(of) => format!("rollback to {of}: {message}"),
                None => message,
            };
            let mut row = vec![
                Cell::styled(target.target.clone(), Role::Bold),
                Cell::from(release.number.to_string()),
                state,
                Cell::from(started),
                Cell::from(release.who.clone()),
            ];
            let commit = || release.commit.clone().unwrap_or_else(|| "-".to_owned()).into();
            row.extend(commits.then(commit));
            row.push(Cell::from(message));
            table.row(row);
        }
        if target.releases.is_empty() {
            let mut row = vec![Cell::styled(target.target.clone(), Role::Bold)];
            row.extend((0..dashes).map(|_| Cell::from("-")));
            row.push(Cell::styled("no releases".to_owned(), Role::Dim));
            table.row(row);
        }
    }
    let mut text = table.render(ui.out());
    let held = report.targets.iter().map(|target| {
        let freeze = target.freeze.iter().map(FreezeReport::words);
        let notes = target.rollout.iter().map(OpenReport::words).chain(freeze);
        (target.target.as_str(), notes.map(|note| format!("  {note}\n")).collect())
    });
    for (targets, note) in grouped(held) {
        let names = ui.out().paint(Role::Bold, &names(&targets, report.targets.len()));
        text += &format!("\n{names}\n{note}");
    }
    ui.data(&text)?;
    Ok(())
}
