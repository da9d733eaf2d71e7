//! `mcd doctor`: whether everything is there that a plan, an apply and a delete need. Changes
//! nothing.

use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::Outcome;
use super::args::{ClusterArgs, GlobalArgs, Output, OutputArgs, ProjectArgs, RenderArgs};
use super::plan::document;
use super::session::Session;
use crate::apply::{AT_THE_SERVER, Diagnosis, Found, Job, examine, greet, identity};
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::manifest::to_yaml;
use crate::render::{Rendered, needs_capabilities};
use crate::report::doctor::{DoctorReport, TargetDoctor, exit, text};
use crate::ui::Ui;

/// Arguments of `mcd doctor`.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Print the Roles that grant the user what is needed, instead of the checks
    #[arg(long)]
    role: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
    #[command(flatten)]
    render: RenderArgs,
}

/// Runs the verb. What is wrong with one target never hides another.
pub(crate) async fn run(args: &DoctorArgs, global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, Some(&args.render), ui)?;
    let results = session
        .each(|target| {
            let session = &session;
            async move { diagnose(session, &target).await }
        })
        .await;
    session.settle().await;
    let mut code = session.interrupted().unwrap_or(Exit::Ok);
    for (_, diagnosis) in &results {
        code = code.and(exit(diagnosis));
    }
    if args.role {
        return roles(&session, &results, code, args.output.output, ui);
    }
    let report = DoctorReport {
        schema: "mcd.dev/doctor/v1".to_owned(),
        application: session.project.app.to_string(),
        targets: results.iter().map(|(t, d)| TargetDoctor::new(t, d)).collect(),
        exit_code: code.code(),
    };
    match args.output.output {
        Output::Table => ui.data(&text(&report, global.verbose > 0, ui.out()))?,
        Output::Json | Output::Yaml => document(&report, args.output.output, ui)?,
        Output::Name => {
            for (target, diagnosis) in results.iter().filter(|(_, d)| exit(d) != Exit::Ok) {
                for check in &diagnosis.checks {
                    if matches!(check.found, Found::Fail(_)) {
                        ui.data(&format!("{} {}\n", target.name, check.name))?;
                    }
                }
            }
        }
    }
    Ok(code)
}

async fn diagnose(session: &Session, target: &Arc<Target>) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    let why = "the cluster was not reached";
    match session.server(target) {
        Ok(server) => {
            diagnosis.add("context", Found::Ok(format!("`{}`", target.cluster.context)));
            diagnosis.identity = Some(server.identity());
        }
        Err(error) => {
            diagnosis.add("context", Found::Fail(error));
            diagnosis.skip(&AT_THE_SERVER, why);
            return diagnosis;
        }
    }
    let job = match session.connect(target).await {
        Ok(job) => job,
        Err(error) => {
            diagnosis.add("reachable", Found::Fail(error));
            diagnosis.skip(&AT_THE_SERVER, why);
            return diagnosis;
        }
    };
    if !greet(&job, &mut diagnosis).await {
        diagnosis.skip(&AT_THE_SERVER, why);
        return diagnosis;
    }
    if !identity(&job, &mut diagnosis).await {
        // Nothing of another cluster is anybody's business here.
        let rest: Vec<&'static str> =
            AT_THE_SERVER.into_iter().skip_while(|name| *name != "user").collect();
        diagnosis.skip(&rest, "it is not known to be the right cluster");
        return diagnosis;
    }
    let rendered = rendered(session, &job).await;
    examine(&job, rendered.as_ref(), &mut diagnosis).await;
    diagnosis
}

async fn rendered(session: &Session, job: &Job) -> Result<Rendered, Error> {
    let cluster = needs_capabilities(&job.target).then_some(&job.cluster);
    session.render(&job.target, cluster).await
}

/// What `mcd doctor --role -o json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RolesReport<'a> {
    schema: &'static str,
    application: String,
    /// Each distinct set of roles once.
    sets: Vec<RoleSet<'a>>,
    exit_code: u8,
}

#[derive(Serialize)]
struct RoleSet<'a> {
    /// The targets that need it.
    targets: Vec<&'a str>,
    roles: &'a [Value],
}

/// Each distinct set of roles once, with the targets that need it.
fn roles(
    session: &Session,
    results: &[(Arc<Target>, Diagnosis)],
    code: Exit,
    output: Output,
    ui: &Ui,
) -> Outcome {
    let mut sets: Vec<RoleSet<'_>> = Vec::new();
    for (target, diagnosis) in results {
        if diagnosis.roles.is_empty() {
            let failed = diagnosis.checks.iter().find_map(|check| match &check.found {
                Found::Fail(error) => Some(error),
                Found::Ok(_) | Found::Warn(..) | Found::Skipped(_) => None,
            });
            if let Some(error) = failed {
                ui.error(&error.clone().in_target(&target.name));
            }
            continue;
        }
        let (name, roles) = (target.name.as_str(), diagnosis.roles.as_slice());
        match sets.iter_mut().find(|set| set.roles == roles) {
            Some(set) => set.targets.push(name),
            None => sets.push(RoleSet { targets: vec![name], roles }),
        }
    }
    // What is missing is why someone asks; only what could not be told is a failure.
    let told = results.iter().all(|(_, diagnosis)| !diagnosis.roles.is_empty());
    let exit = if told { Exit::Ok } else { code };
    match output {
        Output::Json | Output::Yaml => {
            let report = RolesReport {
                schema: "mcd.dev/roles/v1",
                application: session.project.app.to_string(),
                sets,
                exit_code: exit.code(),
            };
            document(&report, output, ui)?;
        }
        Output::Table => {
            for RoleSet { targets, roles } in &sets {
                let text: String = roles.iter().map(|r| format!("---\n{}", to_yaml(r))).collect();
                ui.data(&format!("# {}\n{text}", targets.join(", ")))?;
            }
        }
        Output::Name => {
            for RoleSet { targets, roles } in &sets {
                for (target, role) in targets.iter().flat_map(|t| roles.iter().map(move |r| (t, r)))
                {
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let kind = text(&role["kind"]).to_lowercase();
                    ui.data(&format!("{target} {kind}/{}\n", text(&role["metadata"]["name"])))?;
                }
            }
        }
    }
    Ok(exit)
}
