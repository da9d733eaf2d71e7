//! `mcd history show`: one release of each target, with its objects.

use std::fmt::Write as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Outcome;
use super::args::{ClusterArgs, Output, OutputArgs, ProjectArgs, release_number};
use super::history::ReleaseReport;
use super::plan::document;
use super::session::Session;
use crate::apply::{load, releases};
use crate::cluster::state::{Release, ReleaseSummary};
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::manifest::{Object, Origin, mask_one, to_yaml_documents};
use crate::report::model::{ErrorReport, ObjectReference};
use crate::report::plan::{plural, short};
use crate::report::{Cell, Table};
use crate::ui::{Look, Role, Ui};

/// Arguments of `mcd history show`.
#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// The release's number
    #[arg(value_name = "N", value_parser = release_number, allow_negative_numbers = true)]
    number: u64,
    /// Show its manifests; values of Secrets are masked
    #[arg(long)]
    manifests: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// What `mcd history show -o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShowReport {
    /// `mcd.dev/release/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// One entry a target, in the order of the fleet.
    pub targets: Vec<TargetRelease>,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// The release of one target.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetRelease {
    /// The target.
    pub target: String,
    /// The release; absent when it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseReport>,
    /// Its objects, in the order in which they were rendered.
    pub contents: Vec<ContentReport>,
    /// Their manifests, with values of Secrets masked; only with `--manifests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Vec<Value>>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
}

/// An object of a release.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContentReport {
    /// `apiVersion` of the manifest.
    pub api_version: String,
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
}

/// Runs the verb.
pub(super) async fn run(args: &ShowArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    let results = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            let releases = releases(&job).await?;
            let summary = releases.find(args.number).map_err(|e| e.in_target(&target.name))?;
            Ok::<_, Error>((summary.clone(), load(&job, args.number).await?))
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let mut errors = Vec::new();
    let mut targets = Vec::new();
    for (target, result) in results {
        targets.push(match result {
            Ok((summary, release)) => told(&target.name, summary, &release, args.manifests),
            Err(error) => {
                exit = exit.and(error.exit());
                let report = Some(ErrorReport::from(&error));
                errors.push(error);
                TargetRelease {
                    target: target.name.to_string(),
                    release: None,
                    contents: Vec::new(),
                    manifests: None,
                    error: report,
                }
            }
        });
    }
    let report = ShowReport {
        schema: "mcd.dev/release/v1".to_owned(),
        application: session.project.app.to_string(),
        targets,
        exit_code: exit.code(),
    };
    match args.output.output {
        Output::Json | Output::Yaml => document(&report, args.output.output, ui)?,
        Output::Name => {
            ui.data(&names(&report))?;
            ui.errors(&errors);
        }
        Output::Table => {
            let shown = if args.manifests { manifests(&report) } else { text(&report, ui.out()) };
            ui.data(&shown)?;
            ui.errors(&errors);
        }
    }
    Ok(exit)
}

/// The entry of a target. The release itself is immutable; how it ended is known to its summary,
/// and only the release has the variables.
fn told(
    target: &TargetName,
    summary: ReleaseSummary,
    release: &Release,
    manifests: bool,
) -> TargetRelease {
    let summary = ReleaseSummary { about: release.about.clone(), ..summary };
    let objects = release.objects.iter();
    let objects = objects.filter_map(|value| Object::new(value.clone(), Origin::default()));
    TargetRelease {
        target: target.to_string(),
        release: Some(ReleaseReport::from(&summary)),
        contents: objects
            .map(|object| ContentReport {
                api_version: object.gvk.api_version(),
                object: ObjectReference::from(&object.id),
            })
            .collect(),
        manifests: manifests.then(|| release.objects.iter().map(mask_one).collect()),
        error: None,
    }
}

fn names(report: &ShowReport) -> String {
    let mut text = String::new();
    for target in &report.targets {
        for content in &target.contents {
            let _ = writeln!(text, "{} {}", target.target, short(&content.object));
        }
    }
    text
}

/// The manifests as YAML documents, as `mcd render` prints them.
fn manifests(report: &ShowReport) -> String {
    let many = report.targets.len() > 1;
    let mut text = String::new();
    for target in &report.targets {
        let Some(manifests) = &target.manifests else { continue };
        if many {
            let _ = writeln!(text, "# target: {}", target.target);
        }
        text += &to_yaml_documents(manifests);
        if many {
            text += "---\n";
        }
    }
    text
}

/// For people: what is known of the release, then its objects.
fn text(report: &ShowReport, look: Look) -> String {
    let told = report.targets.iter().filter_map(|target| {
        let release = target.release.as_ref()?;
        let mut text = format!("{}\n", look.paint(Role::Bold, &target.target));
        for (what, value) in facts(release) {
            let _ = writeln!(text, "  {what:<9} {value}");
        }
        let mut table = Table::new(["KIND", "NAMESPACE", "NAME", "VERSION"]);
        for ContentReport { api_version, object } in &target.contents {
            let namespace = object.namespace.as_deref().unwrap_or("-");
            table.row([
                Cell::from(object.kind.as_str()),
                Cell::from(namespace),
                Cell::from(object.name.as_str()),
                Cell::from(api_version.as_str()),
            ]);
        }
        Some(format!("{text}\n{}", table.render(look)))
    });
    told.collect::<Vec<_>>().join("\n")
}

/// What is known of a release, line by line.
fn facts(release: &ReleaseReport) -> Vec<(&'static str, String)> {
    let mut facts = vec![("release", format!("{}, {}", release.number, release.state))];
    if let Some(of) = release.rollback_of {
        facts.push(("rollback", format!("to release {of}")));
    }
    facts.push(("staged", second(&release.started)));
    facts.extend(release.finished.iter().map(|finished| ("finished", second(finished))));
    let ci = release.by.ci.as_ref().map(|ci| format!(", {ci}")).unwrap_or_default();
    facts.push(("by", format!("{} on {}{ci}", release.by.user, release.by.host)));
    facts.extend(release.by.url.iter().map(|url| ("run", url.clone())));
    facts.extend(release.source.iter().map(|source| {
        let tree = match source.dirty {
            Some(true) => " with changes that are not committed",
            Some(false) => "",
            None => " (whether the work tree differed is not known)",
        };
        ("commit", format!("{}{tree}", source.commit))
    }));
    facts.extend(release.tool.iter().map(|t| ("tool", format!("{} {}", t.name, t.version))));
    facts.extend(release.chart.iter().map(|chart| ("chart", chart.to_string())));
    facts.push(("mcd", release.mcd.clone()));
    for (name, value) in &release.vars {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        facts.push(("var", format!("{name}={value}")));
    }
    let kib = release.bytes.div_ceil(1024);
    facts.push(("size", format!("{}, {kib} KiB", plural(release.objects as usize, "object"))));
    facts.extend(release.message.iter().map(|message| ("result", message.clone())));
    facts
}

/// A time to the second: `2026-11-30 14:28:39Z`.
fn second(time: &str) -> String {
    time.get(..19).map_or_else(|| time.to_owned(), |time| time.replace('T', " ") + "Z")
}
