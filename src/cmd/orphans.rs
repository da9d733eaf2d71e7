//! Clusters of the fleet that the application does not select and that still have it: each has a
//! record there, which one GET finds. What cannot be looked at is said, and fails nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};

use super::args::ProjectArgs;
use super::deploy::base;
use super::session::Session;
use crate::cluster::state::Record;
use crate::config::{Target, TargetName};
use crate::report::model::{TargetPlanReport, TargetReport, TargetState};
use crate::report::plan::plural;
use crate::ui::Ui;

/// How many clusters are looked at at once.
const PARALLEL: usize = 16;

/// How long a look may take: nobody waits for a cluster that was not asked for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was found on clusters that are not selected.
#[derive(Default)]
pub(super) struct Orphans {
    found: Vec<(Arc<Target>, Record)>,
    unseen: Vec<TargetName>,
}

/// Looks for orphans, unless `-t` or `-l` says which targets matter.
pub(super) async fn orphans(session: &Session, args: &ProjectArgs) -> Orphans {
    if !args.targets.is_empty() || args.selector.is_some() {
        return Orphans::default();
    }
    let place =
        |target: &Target| Some((session.server(target).ok()?.url, target.namespace.clone()));
    let own: BTreeSet<(String, String)> =
        session.project.targets.iter().filter_map(place).collect();
    // Another name of a place that is selected is no orphan.
    let others = session
        .project
        .others
        .iter()
        .filter(|target| place(target).is_none_or(|place| !own.contains(&place)));
    let looks: Vec<(Arc<Target>, Option<Option<Record>>)> = stream::iter(others.cloned())
        .map(|target| async move {
            let target = Arc::new(target);
            let look = async {
                let job = session.quiet_job(&target).await.ok()?;
                let record = job.store.record().await.ok()?;
                Some(record.map(|(record, _)| record))
            };
            let record = tokio::time::timeout(PATIENCE, look).await.ok().flatten();
            (target, record)
        })
        .buffered(PARALLEL)
        .collect()
        .await;
    let mut orphans = Orphans::default();
    for (target, look) in looks {
        match look {
            Some(Some(record)) => orphans.found.push((target, record)),
            Some(None) => {}
            None => orphans.unseen.push(target.name.clone()),
        }
    }
    orphans
}

impl Orphans {
    /// Rows of a plan.
    pub(super) fn planned(&self) -> impl Iterator<Item = TargetPlanReport> {
        self.found.iter().map(|(target, record)| TargetPlanReport {
            state: "orphaned".to_owned(),
            warnings: vec![message(target, record)],
            ..TargetPlanReport::failed(
                target.name.as_str(),
                &target.cluster.context,
                &target.namespace,
                &[],
            )
        })
    }

    /// Rows of a status.
    pub(super) fn standing(&self) -> impl Iterator<Item = TargetReport> {
        self.found.iter().map(|(target, record)| TargetReport {
            release: record.active,
            message: message(target, record),
            ..base(target, TargetState::Orphaned)
        })
    }

    /// Says which clusters could not be looked at.
    pub(super) fn say(&self, ui: &Ui) {
        const SHOWN: usize = 5;
        if self.unseen.is_empty() {
            return;
        }
        let names: Vec<&str> = self.unseen.iter().take(SHOWN).map(TargetName::as_str).collect();
        let more = self.unseen.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        ui.hint(&format!(
            "not selected, and not looked at for what an earlier selection left there: {}{more}",
            names.join(", ")
        ));
    }
}

fn message(target: &Target, record: &Record) -> String {
    format!(
        "not selected any more; {} stayed: `mcd delete -t {}` removes what is left",
        plural(record.inventory.len(), "object"),
        target.name
    )
}
