//! `mcd compare`: what one target has and another has otherwise.

use std::sync::Arc;

use clap::Args;

use super::Outcome;
use super::args::{ClusterArgs, Output, OutputArgs, ProjectArgs};
use super::plan::document;
use super::session::Session;
use crate::apply::{Contents, contents};
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::report::compare::{CompareReport, SideReport, compared, summary, text};
use crate::report::model::ErrorReport;
use crate::report::plan::short;
use crate::ui::Ui;

/// Arguments of `mcd compare`.
#[derive(Args, Debug)]
pub(super) struct CompareArgs {
    /// A target
    #[arg(value_name = "A")]
    a: String,
    /// The target that it is compared with
    #[arg(value_name = "B")]
    b: String,
    /// Compare what the clusters have, of each object what its manifest sets, and not what was
    /// rendered for the active releases
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

type Side = (Arc<Target>, Result<Contents, Error>);

/// Runs the verb.
pub(crate) async fn run(args: CompareArgs, ui: &Ui) -> Outcome {
    if !args.project.targets.is_empty() || args.project.selector.is_some() {
        return Err(Error::config("`mcd compare` takes its two targets as arguments")
            .hint("leave `-t` and `-l` out: `mcd compare us-east eu-west`"));
    }
    if args.a == args.b {
        return Err(Error::config(format!("`{}` is compared with itself", args.a)));
    }
    let project = ProjectArgs { targets: vec![args.a.clone(), args.b.clone()], ..args.project };
    let session = Session::open(&project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    let mut sides = session
        .each(|target| async {
            let target = target;
            contents(&session.job(&target).await?, args.live).await
        })
        .await;
    session.settle().await;
    let (Some(a), Some(b)) = (take(&mut sides, &args.a), take(&mut sides, &args.b)) else {
        return Err(Error::config("A and B are whole names of two targets")
            .hint("`mcd targets` lists them"));
    };
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    let (objects, equal) = match (&a.1, &b.1) {
        (Ok(x), Ok(y)) => compared((&x.objects, &a.0.namespace), (&y.objects, &b.0.namespace)),
        _ => (Vec::new(), 0),
    };
    let errors: Vec<Error> =
        [&a, &b].into_iter().filter_map(|(_, result)| result.as_ref().err().cloned()).collect();
    for error in &errors {
        exit = exit.and_when_comparing(error.exit());
    }
    if !objects.is_empty() {
        exit = exit.and_when_comparing(Exit::Failed);
    }
    let report = CompareReport {
        schema: "mcd.dev/compare/v1".to_owned(),
        application: session.project.app.to_string(),
        of: if args.live { "live" } else { "release" }.to_owned(),
        a: told(&a),
        b: told(&b),
        objects,
        equal,
        exit_code: exit.code(),
    };
    match args.output.output {
        Output::Json | Output::Yaml => document(&report, args.output.output, ui)?,
        Output::Table if errors.is_empty() => {
            ui.data(&text(&report, ui.out()))?;
            ui.status(&summary(&report));
        }
        Output::Table => {}
        Output::Name => {
            let names = report.objects.iter().map(|o| short(&o.object) + "\n");
            ui.data(&names.collect::<String>())?;
        }
    }
    if !matches!(args.output.output, Output::Json | Output::Yaml) {
        ui.errors(&errors);
    }
    Ok(exit)
}

fn take(sides: &mut Vec<Side>, name: &str) -> Option<Side> {
    let at = sides.iter().position(|(target, _)| target.name.as_str() == name)?;
    Some(sides.swap_remove(at))
}

fn told((target, result): &Side) -> SideReport {
    SideReport {
        target: target.name.to_string(),
        context: target.cluster.context.clone(),
        namespace: target.namespace.clone(),
        release: result.as_ref().ok().map(|contents| contents.release),
        error: result.as_ref().err().map(ErrorReport::from),
    }
}
