//! `mcd version`: of mcd, and of each cluster.

use clap::Args;
use serde::Serialize;

use super::Outcome;
use super::args::{ClusterArgs, GlobalArgs, Output, OutputArgs, ProjectArgs};
use super::plan::document;
use super::session::Session;
use crate::error::{Error, Exit};
use crate::report::{Cell, Table};
use crate::ui::{Role, Ui};

/// Arguments of `mcd version`.
#[derive(Args, Debug)]
pub(super) struct VersionArgs {
    /// Only mcd's own version: no file is read, no cluster asked
    #[arg(long)]
    pub client: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clusters: Vec<ClusterVersion>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClusterVersion {
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

const CLIENT: &str = env!("CARGO_PKG_VERSION");

/// Prints mcd's own version.
pub(crate) fn client(args: &VersionArgs, ui: &Ui) -> Outcome {
    show(&Versions { client: CLIENT, clusters: Vec::new() }, args.output.output, ui)?;
    Ok(Exit::Ok)
}

/// Runs the verb.
pub(crate) async fn run(args: &VersionArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    let results = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            let version = job.cluster.version().await;
            version.map(|v| v.git_version).map_err(|e| job.failed(e, None))
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let clusters = results
        .into_iter()
        .map(|(target, result)| {
            let (server, error) = match result {
                Ok(version) => (Some(version), None),
                Err(error) => {
                    exit = exit.and(error.exit());
                    (None, Some(format!("{error:#}")))
                }
            };
            ClusterVersion { target: target.name.to_string(), server, error }
        })
        .collect();
    show(&Versions { client: CLIENT, clusters }, args.output.output, ui)?;
    Ok(exit)
}

fn show(versions: &Versions, output: Output, ui: &Ui) -> Result<(), Error> {
    if matches!(output, Output::Json | Output::Yaml) {
        return document(versions, output, ui);
    }
    let mut text = format!("mcd {}\n", versions.client);
    if output == Output::Name {
        for cluster in &versions.clusters {
            match (&cluster.server, &cluster.error) {
                (Some(server), _) => text += &format!("{} {server}\n", cluster.target),
                (None, error) => ui.warning(&format!(
                    "{}: {}",
                    cluster.target,
                    error.as_deref().unwrap_or_default()
                )),
            }
        }
        return ui.data(&text);
    }
    if !versions.clusters.is_empty() {
        let mut table = Table::new(vec!["CLUSTER", "SERVER", "MESSAGE"]);
        for cluster in &versions.clusters {
            table.row(vec![
                Cell::styled(cluster.target.clone(), Role::Bold),
                Cell::from(cluster.server.clone().unwrap_or_else(|| "-".to_owned())),
                Cell::styled(cluster.error.clone().unwrap_or_default(), Role::Fail),
            ]);
        }
        text += &table.render(ui.out());
    }
    ui.data(&text)?;
    Ok(())
}
