//! What has to hold before the first write of a rollout anywhere: rights, APIs, a free lock, no
//! other rollout, no freeze (design §9). That the cluster is reached, is the right one, and takes
//! the manifests is what the plan has found out already.

use super::super::doctor::{Diagnosis, Found, examine};
use super::super::job::Job;
use crate::cluster::state::Record;
use crate::error::{Error, Exit};
use crate::render::Rendered;

/// The checks of `mcd doctor` whose failure would stop a rollout half-way.
const DECISIVE: [&str; 4] = ["apis", "apply", "delete", "lock"];

/// What keeps a rollout from beginning in a target; nothing, when nothing does.
pub async fn preflight(job: &Job, rendered: &Rendered, record: Option<&Record>) -> Vec<Error> {
    if let Some(error) = record.and_then(|record| super::blocked(record, job.cluster.now())) {
        return vec![error.in_target(&job.target.name)];
    }
    let mut diagnosis = Diagnosis::default();
    examine(job, Ok(rendered), &mut diagnosis).await;
    let decisive = diagnosis.checks.into_iter().filter(|check| DECISIVE.contains(&check.name));
    let failed = decisive.filter_map(|check| match check.found {
        Found::Fail(error) => Some((check.name, error)),
        Found::Ok(_) | Found::Warn(..) | Found::Skipped(_) => None,
    });
    failed
        .map(|(name, error)| {
            // Whoever holds the lock is in the way, and nothing is wrong.
            let error = if name == "lock" && error.exit() == Exit::Failed {
                let blocked = Error::new(Exit::Blocked, format!("the lock is {}", error.message()));
                error.hints().iter().fold(blocked, |error, hint| error.hint(hint))
            } else {
                error
            };
            error.in_target(&job.target.name)
        })
        .collect()
}
