//! How a target stands in the middle of a rollout: its record and its health, for whoever looks.

use super::super::job::Job;
use super::super::status::{standing, standing_closer};
use super::super::wait::Look;
use super::as_staged;
use crate::cluster::state::Record;
use crate::error::Error;

/// Reads a target's record, and looks once at the health of what it owns; `closer` with pods,
/// events and log lines. After the run was halted only the record is read.
///
/// # Errors
/// The cluster cannot be read.
pub async fn sight(job: &Job, closer: bool) -> Result<(Option<Record>, Option<Look>), Error> {
    if job.is_halted() {
        let record = job.uncancelled().store.record().await?;
        return Ok((record.map(|(record, _)| record), None));
    }
    // Without files the release knows the rules of health.
    let job = match job.target.root.as_os_str().is_empty() {
        true => &as_staged(job).await?,
        false => job,
    };
    let standing =
        if closer { standing_closer(job, None).await? } else { standing(job, None).await? };
    Ok((standing.record, standing.look))
}
