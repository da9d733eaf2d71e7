//! `mcd render`: each target's manifests, to stdout or into a folder.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::Value;

use super::Outcome;
use super::args::{ClusterArgs, GlobalArgs, ProjectArgs, RenderArgs};
use super::session::Session;
use crate::apply::Job;
use crate::config::Target;
use crate::error::{Error, Exit, Result};
use crate::manifest::{Object, check_unique, is_cluster_scoped, mask_one, to_yaml_documents};
use crate::render::{Rendered, needs_capabilities};
use crate::ui::Ui;

/// Arguments of `mcd render`.
#[derive(Args, Debug)]
pub(super) struct RenderVerbArgs {
    /// Write one file a target into this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Ask no cluster: helm gets the versions that the fleet file names
    #[arg(long)]
    offline: bool,
    /// Show the values of Secrets on stdout
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
    #[command(flatten)]
    render: RenderArgs,
}

/// Runs the verb.
pub(crate) async fn run(args: &RenderVerbArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, Some(&args.render), ui)?;
    let asks = |target: &Target| !args.offline && needs_capabilities(target);
    if session.targets.iter().any(|t| asks(t)) {
        session.check_contexts()?;
    }
    let results = session
        .each(|target| async {
            let target = target;
            let job: Option<Job> = match asks(&target) {
                true => Some(session.job(&target).await?),
                false => None,
            };
            let rendered = session.render(&target, job.as_ref().map(|j| &j.cluster)).await?;
            let objects = placed(&target, rendered)?;
            Ok::<_, Error>(objects)
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let many = results.len() > 1;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|e| {
            Error::config(format!("cannot make the folder `{}`", folder.display()))
                .because(e.to_string())
        })?;
    }
    let mut errors = Vec::new();
    for (target, result) in results {
        match result {
            Ok(objects) => show(args, &target, &objects, many, ui)?,
            Err(error) => {
                exit = exit.and(error.exit());
                errors.push(error);
            }
        }
    }
    ui.errors(&errors);
    Ok(exit)
}

/// The objects with the target's namespace where they name none. Kinds whose scope only a cluster
/// knows are left as they are.
fn placed(target: &Target, rendered: Rendered) -> Result<Vec<Object>> {
    let mut objects = rendered.objects;
    for object in &mut objects {
        if object.id.namespace.is_none() && is_cluster_scoped(&object.gvk) == Some(false) {
            object.set_namespace(Some(&target.namespace));
        }
    }
    check_unique(&objects).map_err(|e| e.in_target(&target.name))?;
    Ok(objects)
}

fn show(
    args: &RenderVerbArgs,
    target: &Arc<Target>,
    objects: &[Object],
    many: bool,
    ui: &Ui,
) -> Result<()> {
    let plain: Vec<Value> = objects.iter().map(|o| o.value.clone()).collect();
    if let Some(folder) = &args.out {
        let path = folder.join(format!("{}.yaml", target.name));
        return write_private(&path, &to_yaml_documents(&plain));
    }
    let shown: Vec<Value> = objects
        .iter()
        .zip(plain)
        .map(
            |(object, value)| {
                if object.id.is_secret() && !args.show_secrets { mask_one(&value) } else { value }
            },
        )
        .collect();
    if many {
        ui.data(&format!("# target: {}\n", target.name))?;
    }
    ui.data(&to_yaml_documents(&shown))?;
    if many {
        ui.data("---\n")?;
    }
    Ok(())
}

/// Writes a file that only its owner may read: it holds the values of Secrets.
fn write_private(path: &std::path::Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    let failed = |e: std::io::Error| {
        Error::config(format!("cannot write `{}`", path.display())).because(e.to_string())
    };
    let folder = path.parent().unwrap_or_else(|| std::path::Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}
