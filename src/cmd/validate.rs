//! `mcd validate`: files, rendering and manifests, without a cluster.

use clap::Args;
use serde::Serialize;

use super::Outcome;
use super::args::{
    ClusterArgs, GlobalArgs, KubeconfigArgs, Output, OutputArgs, ProjectArgs, RenderArgs,
};
use super::plan::document;
use super::session::{self, Session};
use crate::config::{Render, Resolver, Target};
use crate::diff::object_diff;
use crate::error::{Error, Exit};
use crate::manifest::{Object, check_unique};
use crate::plan::check_annotations;
use crate::render::Renderer;
use crate::report::model::ErrorReport;
use crate::report::{Cell, Table};
use crate::rollout::variant::to_read;
use crate::rollout::{RolloutSettings, steps_of};
use crate::ui::{Role, Ui};

/// Arguments of `mcd validate`.
#[derive(Args, Debug)]
pub(super) struct ValidateArgs {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    kubeconfig: KubeconfigArgs,
    #[command(flatten)]
    render: RenderArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Validation {
    schema: &'static str,
    application: String,
    targets: Vec<TargetValidation>,
    exit_code: u8,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetValidation {
    target: String,
    objects: usize,
    /// Kinds that are not built in: their schemas live in clusters.
    not_checked: Vec<String>,
    warnings: Vec<String>,
    errors: Vec<ErrorReport>,
}

/// Runs the verb. Each target is rendered twice: what differs between the two would be a change in
/// every plan.
pub(crate) async fn run(args: &ValidateArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let project = &args.project;
    let kubeconfigs = session::ambient_kubeconfigs(args.kubeconfig.kubeconfig.clone());
    let resolver = Resolver::default().with_contexts(&kubeconfigs);
    if let Err(mut errors) = resolver.check(&project.file, project.fleet.clone(), &project.vars)
        && let Some(last) = errors.pop()
    {
        ui.errors(&errors);
        return Err(last);
    }
    let clusters = ClusterArgs::offline(args.kubeconfig.kubeconfig.clone());
    let session = Session::open(&args.project, &clusters, Some(&args.render), ui)?;
    // Another renderer: one of its own shares identical renders.
    let again = session.renderer()?.again();
    let results = session
        .each(|target| async {
            let target = target;
            let rendered = session.render(&target, None).await.map_err(|e| vec![e])?;
            check_unique(&rendered.objects).map_err(|e| vec![e.in_target(&target.name)])?;
            let findings = crate::manifest::check_built_in(&rendered.objects);
            let unsteady = unsteady(&session, &again, &target, &rendered.objects)
                .await
                .map_err(|e| vec![e])?;
            let annotations = rendered.objects.iter().filter_map(|o| check_annotations(o).err());
            let errors: Vec<Error> = findings
                .errors
                .into_iter()
                .chain(annotations)
                .chain(unsteady)
                .chain(without_canary(&session.project.rollout, &target, &rendered.objects))
                .map(|e| e.in_target(&target.name))
                .collect();
            if !errors.is_empty() {
                return Err(errors);
            }
            Ok((rendered, findings.not_checked))
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let mut failures = Vec::new();
    let targets: Vec<TargetValidation> = results
        .into_iter()
        .map(|(target, result)| match result {
            Ok((rendered, not_checked)) => TargetValidation {
                target: target.name.to_string(),
                objects: rendered.objects.len(),
                not_checked,
                warnings: rendered.warnings,
                errors: Vec::new(),
            },
            Err(errors) => {
                exit = errors.iter().fold(exit, |exit, e| exit.and(e.exit()));
                let reports = errors.iter().map(ErrorReport::from).collect();
                failures.extend(errors);
                TargetValidation {
                    target: target.name.to_string(),
                    objects: 0,
                    not_checked: Vec::new(),
                    warnings: Vec::new(),
                    errors: reports,
                }
            }
        })
        .collect();
    if matches!(args.output.output, Output::Json | Output::Yaml) {
        let validation = Validation {
            schema: "mcd.dev/validate/v1",
            application: session.project.app.to_string(),
            targets,
            exit_code: exit.code(),
        };
        document(&validation, args.output.output, ui)?;
        return Ok(exit);
    }
    if args.output.output == Output::Name {
        let word = |t: &TargetValidation| if t.errors.is_empty() { "valid" } else { "invalid" };
        let names = targets.iter().map(|t| format!("{} {}\n", t.target, word(t)));
        ui.data(&names.collect::<String>())?;
        ui.errors(&failures);
        return Ok(exit);
    }
    let mut table = Table::new(vec!["CLUSTER", "OBJECTS", "MESSAGE"]);
    for target in &targets {
        let mut notes = target.warnings.clone();
        if !target.not_checked.is_empty() {
            notes.push(format!("not checked: {}", target.not_checked.join(", ")));
        }
        let message = match target.errors.len() {
            0 if notes.is_empty() => Cell::styled("valid", Role::Ok),
            0 => Cell::from(format!("valid; {}", notes.join("; "))),
            n => Cell::styled(crate::report::plan::plural(n, "error"), Role::Fail),
        };
        table.row(vec![
            Cell::styled(target.target.clone(), Role::Bold),
            Cell::from(target.objects.to_string()),
            message,
        ]);
    }
    ui.data(&table.render(ui.out()))?;
    ui.errors(&failures);
    Ok(exit)
}

/// Why a step `canary` could not be, whatever the cluster has.
fn without_canary(settings: &RolloutSettings, target: &Target, objects: &[Object]) -> Vec<Error> {
    let mut errors: Vec<Error> = Vec::new();
    for canary in settings.canaries(&steps_of(settings, target)) {
        let wrong = to_read(objects, &target.namespace, canary, &settings.variants).err();
        for error in wrong.into_iter().flatten() {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    errors
}

/// What a second rendering gives otherwise: it would be a change in every plan.
async fn unsteady(
    session: &Session,
    again: &Renderer,
    target: &Target,
    first: &[Object],
) -> Result<Vec<Error>, Error> {
    if matches!(target.render, Render::Manifests(_)) {
        return Ok(Vec::new());
    }
    let second = session.labelled(target, again.render(target, None).await?)?.objects;
    let other = |object: &Object| second.iter().find(|o| o.id == object.id);
    let missing = second.iter().filter(|o| !first.iter().any(|f| f.id == o.id));
    let mut errors: Vec<Error> =
        missing.map(|o| Error::manifest("is not in every rendering").on(&o.id)).collect();
    for object in first {
        let Some(other) = other(object) else {
            errors.push(Error::manifest("is not in every rendering").on(&object.id));
            continue;
        };
        let diff = object_diff(&object.id, Some(&object.value), Some(&other.value));
        let paths: Vec<String> = diff.changes.iter().map(|c| format!("`{}`", c.path)).collect();
        if !paths.is_empty() {
            let what = format!("each rendering gives another {}", paths.join(", "));
            errors.push(
                Error::manifest(what)
                    .on(&object.id)
                    .hint("give it a fixed value, or every apply changes it"),
            );
        }
    }
    Ok(errors)
}
