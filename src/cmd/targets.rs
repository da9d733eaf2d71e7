//! `mcd targets`: what the two files come to. No cluster is contacted.

use clap::Args;
use serde_json::{Value, json};

use super::Outcome;
use super::args::{KubeconfigArgs, Output, OutputArgs, ProjectArgs};
use super::plan::document;
use super::session;
use crate::config::{ChartSource, Project, Render, Target};
use crate::error::Exit;
use crate::report::{Cell, Table};
use crate::rollout::wave_of;
use crate::ui::{Role, Ui};

/// Arguments of `mcd targets`.
#[derive(Args, Debug)]
pub(super) struct TargetsArgs {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    kubeconfig: KubeconfigArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &TargetsArgs, ui: &Ui) -> Outcome {
    let kubeconfigs = session::ambient_kubeconfigs(args.kubeconfig.kubeconfig.clone());
    let (project, targets) = session::project(&args.project, true, &kubeconfigs)?;
    for warning in &project.warnings {
        ui.warning(&warning.to_string());
    }
    match args.output.output {
        Output::Table => ui.data(&table(&project, &targets, ui))?,
        Output::Name => {
            for target in &targets {
                ui.data(&format!("{}\n", target.name))?;
            }
        }
        Output::Json | Output::Yaml => {
            let all: Vec<Value> = targets
                .iter()
                .map(|target| {
                    let mut value = json!({
                        "target": target.name.as_str(),
                        "settings": target.settings(),
                        "origins": target.provenance,
                    });
                    if let Some(wave) = wave(&project, target) {
                        value["wave"] = wave.into();
                    }
                    value
                })
                .collect();
            let result = json!({
                "schema": "mcd.dev/targets/v1",
                "application": project.app.as_str(),
                "targets": all,
            });
            document(&result, args.output.output, ui)?;
        }
    }
    Ok(Exit::Ok)
}

/// The name of the target's wave; none: the file has no waves.
fn wave<'p>(project: &'p Project, target: &Target) -> Option<&'p str> {
    let waves = &project.rollout.waves;
    waves.get(wave_of(waves, target)?).map(|wave| wave.name.as_str())
}

fn table(project: &Project, targets: &[Target], ui: &Ui) -> String {
    let waves = !project.rollout.waves.is_empty();
    let mut headers = vec!["CLUSTER", "CONTEXT", "NAMESPACE"];
    headers.extend(waves.then_some("WAVE"));
    headers.extend(["RENDER", "TOOL", "LABELS"]);
    let mut table = Table::new(headers);
    for target in targets {
        let (render, tool) = match &target.render {
            Render::Kustomize(k) => {
                let path = k.path.strip_prefix(&target.root).unwrap_or(&k.path);
                ("kustomize ".to_owned() + &path.display().to_string(), k.version.clone())
            }
            Render::Helm(h) => {
                let chart = match &h.chart {
                    ChartSource::Local(path) => {
                        path.strip_prefix(&target.root).unwrap_or(path).display().to_string()
                    }
                    ChartSource::Remote(chart) => format!("{} {}", chart.name, chart.version),
                };
                (format!("helm {chart}"), h.helm_version.clone())
            }
            Render::Manifests(paths) => {
                let paths: Vec<String> = paths
                    .iter()
                    .map(|p| p.strip_prefix(&target.root).unwrap_or(p).display().to_string())
                    .collect();
                ("manifests ".to_owned() + &paths.join(" "), None)
            }
        };
        let labels: Vec<String> =
            target.cluster.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let tool = match (&target.render, tool) {
            (Render::Manifests(_), _) => "-".to_owned(),
            (_, None) => "any".to_owned(),
            (_, Some(version)) => version,
        };
        let mut row = vec![
            Cell::styled(target.name.to_string(), Role::Bold),
            Cell::from(target.cluster.context.clone()),
            Cell::from(target.namespace.clone()),
        ];
        row.extend(waves.then(|| Cell::from(wave(project, target).unwrap_or("-"))));
        row.extend([Cell::from(render), Cell::from(tool), Cell::from(labels.join(","))]);
        table.row(row);
    }
    table.render(ui.out())
}
