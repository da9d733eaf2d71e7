//! Freezes a target, and lifts it: a word in the record that keeps everyone from writing.

use std::time::Duration;

use super::delete::lost_record;
use super::job::Job;
use crate::cluster::state::{Freeze, Record};
use crate::error::Error;

/// How long to wait for someone who writes right now.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts `freeze` into the target's record, or takes it out (none), and answers what was there
/// before. Under the lock, so that it is in force when this returns: whoever writes has ended, or
/// has lost the lock. A target that has no record yet gets one.
///
/// # Errors
/// Someone goes on writing (exit 6); a call fails.
pub async fn freeze(job: &Job, freeze: Option<Freeze>) -> Result<Option<Freeze>, Error> {
    let known = job.store.record().await?;
    if known.is_none() {
        // A record that someone removed is not to be replaced by an empty one.
        if let Some(error) = lost_record(job).await? {
            return Err(error);
        }
        if freeze.is_none() {
            return Ok(None);
        }
    }
    let guard = job.lock_within(PATIENCE).await?;
    let result = write(job, freeze).await;
    let released = guard.release().await;
    let before = result?;
    released?;
    Ok(before)
}

async fn write(job: &Job, freeze: Option<Freeze>) -> Result<Option<Freeze>, Error> {
    let (mut record, version) = match job.store.record().await? {
        Some((record, version)) => (record, Some(version)),
        None => (Record::new(&job.names, &job.target.namespace), None),
    };
    if record.freeze == freeze {
        return Ok(record.freeze);
    }
    let before = std::mem::replace(&mut record.freeze, freeze);
    job.store.write_record(&record, version.as_ref()).await?;
    Ok(before)
}
