//! How a target stands after its last step, for the soak of its wave (design §9).

use std::time::Duration;

use jiff::Timestamp;

use super::super::job::Job;
use super::super::restore::load;
use super::super::status::subjects;
use super::super::wait::{Look, look as look_once};
use super::close::{aborted, change};
use super::set::with_settings;
use super::work::{closed, taken_back};
use crate::cluster::state::{OpenRollout, Record, RolloutId, Stand};
use crate::error::{Error, Exit};
use crate::health::Health;

/// How a target stands.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The health of all that the application owns there, variants too. Of each object it is that
    /// of its newest generation: what a controller has not seen yet is not healthy.
    pub look: Look,
    /// When it was first seen healthy after its last step; none: it is not healthy now.
    pub healthy: Option<Timestamp>,
    /// Why it has failed; the record says so.
    pub failed: Option<Error>,
}

/// Looks once. The first time that all is healthy is kept in the record. What has failed for good
/// has failed; with `last` what is not healthy has too. A failure is kept in the record.
///
/// # Errors
/// The rollout is not open here, or someone takes it back (exit 6), or a call fails.
pub async fn look(job: &Job, id: &RolloutId, last: bool) -> Result<Looked, Error> {
    let (record, open) = read(job, id).await?;
    let look = look_once(job, &subjects(job, &record).await?).await?;
    let known = open.progress.healthy;
    if look.is_healthy() {
        let healthy = known.unwrap_or_else(|| job.cluster.now());
        if known.is_none() {
            let say = |open: &mut OpenRollout| {
                if is_past_its_steps(open) {
                    open.progress.healthy.get_or_insert(healthy);
                }
            };
            change(job, id, say).await?;
        }
        return Ok(Looked { look, healthy: Some(healthy), failed: None });
    }
    let failed = match &look.summary.health {
        Health::Failed(_) | Health::Paused(_) => Some("is not healthy"),
        _ if last && known.is_some() => Some("is not healthy any more"),
        _ if last => Some("is not healthy in time"),
        _ => None,
    };
    let failed = failed.map(|what| error(job, &look, what));
    if let Some(error) = &failed {
        let text = job.scrubber.scrub(&format!("{error:#}"));
        let now = job.cluster.now();
        let say = |open: &mut OpenRollout| {
            if is_past_its_steps(open) {
                let progress = &mut open.progress;
                (progress.stand, progress.since) = (Stand::Failed, now);
                progress.message = Some(text.clone());
            }
        };
        change(job, id, say).await?;
    }
    Ok(Looked { look, healthy: None, failed })
}

/// Whether what is seen of the target now is the rollout's work: it may be taken back meanwhile, or
/// tried again.
fn is_past_its_steps(open: &OpenRollout) -> bool {
    matches!(open.progress.stand, Stand::Succeeded | Stand::Failed)
}

fn error(job: &Job, look: &Look, what: &str) -> Error {
    let error = Error::new(Exit::Failed, what).in_target(&job.target.name);
    let worst = look.verdicts.iter().find(|(_, verdict)| match &verdict.health {
        health if health.word() != look.summary.health.word() => false,
        Health::Healthy => false,
        Health::Failed(_) | Health::Paused(_) | Health::Progressing(_) | Health::Unknown(_) => true,
    });
    let error = match worst {
        Some((id, verdict)) => {
            error.on(id).because(verdict.health.reason().unwrap_or_default().to_owned())
        }
        None => error.because(look.summary.health.reason().unwrap_or_default().to_owned()),
    };
    error
        .hint(format!("look closer with `mcd status -t {} --tree`", job.target.name))
        .map_text(|text| job.scrubber.scrub(text))
}

async fn read(job: &Job, id: &RolloutId) -> Result<(Record, OpenRollout), Error> {
    let record = job.store.record().await?.map(|(record, _)| record);
    let open = record.as_ref().and_then(|record| record.rollout.as_deref()).cloned();
    match (record, open) {
        (Some(record), Some(open)) if open.header.id == *id => match &open.abort {
            None => Ok((record, open)),
            Some(abort) => Err(aborted(id, abort).in_target(&job.target.name)),
        },
        (Some(record), _) => match &record.closed {
            Some(ended) if ended.id == *id && ended.aborted => Err(taken_back(job, ended)),
            _ => Err(closed(job)),
        },
        (None, _) => Err(closed(job)),
    }
}

/// The work on a target with the settings of the release that its open rollout brings, for whoever
/// has no files: rules of health, ignored fields, managers. As it is where none is open, or
/// nothing changes.
///
/// # Errors
/// The record or the release cannot be read.
pub async fn as_staged(job: &Job) -> Result<Job, Error> {
    let record = job.store.record().await?.map(|(record, _)| record);
    let open = record.as_ref().and_then(|record| record.rollout.as_deref());
    let active = record.as_ref().and_then(|record| record.active);
    match open.and_then(|open| open.progress.release).or(active) {
        Some(number) => with_settings(job, &load(job, number).await?),
        None => Ok(job.clone()),
    }
}

/// Waits until all that the application owns in a target is healthy.
pub(super) async fn settled(
    job: &Job,
    record: &Record,
    time: Duration,
) -> Result<Look, (Error, Option<Look>)> {
    let subjects = subjects(job, record).await.map_err(|error| (error, None))?;
    super::super::wait::wait_closely(job, &subjects, time).await
}
