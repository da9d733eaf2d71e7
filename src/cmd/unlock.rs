//! `mcd unlock`: removes the lock that a run left behind.

use clap::Args;

use super::Outcome;
use super::args::{ClusterArgs, ConfirmArgs, GlobalArgs, ProjectArgs};
use super::session::Session;
use crate::cluster::state::lease;
use crate::error::Exit;
use crate::report::plan::plural;
use crate::ui::Ui;

/// Arguments of `mcd unlock`.
#[derive(Args, Debug)]
pub(super) struct UnlockArgs {
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// Runs the verb. A live holder's lock stays: it is refused with exit 6.
pub(crate) async fn run(args: &UnlockArgs, _global: &GlobalArgs, ui: &Ui) -> Outcome {
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    if !args.confirm.yes {
        let targets = plural(session.targets.len(), "target");
        let question = format!("Remove the lock of {} in {targets}?", session.project.app);
        session.confirm(ui, question, "no lock was removed").await?;
    }
    let results = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            lease::unlock(&job.cluster, &job.names).await
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    for (target, result) in results {
        match result {
            Ok(Some(holder)) => {
                ui.data(&format!("{}: unlocked, was held by {holder}\n", target.name))?;
            }
            Ok(None) => ui.data(&format!("{}: was not locked\n", target.name))?,
            Err(error) => {
                exit = exit.and(error.exit());
                ui.error(&error);
            }
        }
    }
    Ok(exit)
}
