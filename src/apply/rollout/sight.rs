//! How a target stands in the middle of a rollout: its record and its health, for whoever looks.

use jiff::{SignedDuration, Timestamp};

use super::super::job::Job;
use super::super::status::{standing, standing_closer};
use super::super::wait::Look;
use super::as_staged;
use crate::cluster::state::lease::{self, Occupant};
use crate::cluster::state::{Record, Stand};
use crate::error::Error;

/// How long nobody may hold the lock of a target whose step is under way: between two steps it is
/// given up and taken again.
const BETWEEN_STEPS: SignedDuration = SignedDuration::from_secs(10);

/// What was seen of a target.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// Its record.
    pub record: Option<Record>,
    /// Its health.
    pub look: Option<Look>,
    /// Its record says that a step is under way, and no run is at it.
    pub left: bool,
}

/// Reads a target's record, and looks once at the health of what it owns; `closer` with pods,
/// events and log lines. After the run was halted only the record is read.
///
/// # Errors
/// The cluster cannot be read.
pub async fn sight(job: &Job, closer: bool) -> Result<Sight, Error> {
    if job.is_halted() {
        let record = job.uncancelled().store.record().await?;
        return Ok(Sight { record: record.map(|(record, _)| record), ..Sight::default() });
    }
    // Without files the release knows the rules of health.
    let job = match job.target.root.as_os_str().is_empty() {
        true => &as_staged(job).await?,
        false => job,
    };
    let standing =
        if closer { standing_closer(job, None).await? } else { standing(job, None).await? };
    let open = standing.record.as_ref().and_then(|record| record.rollout.as_deref());
    let left = match open.filter(|open| open.progress.stand == Stand::Running) {
        Some(open) => is_left(job, open.progress.since).await,
        None => false,
    };
    Ok(Sight { record: standing.record, look: standing.look, left })
}

/// Whether no run is at the step that began then. Where that cannot be known one may be.
async fn is_left(job: &Job, since: Timestamp) -> bool {
    match lease::occupant(&job.cluster, &job.names).await {
        Ok(Occupant::Gone(_)) => true,
        Ok(Occupant::Nobody) => job.cluster.now().duration_since(since) > BETWEEN_STEPS,
        Ok(Occupant::Present(_)) | Err(_) => false,
    }
}
