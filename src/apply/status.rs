//! How an application stands in a target: its record, and the health of what it owns.

use std::time::Duration;

use super::delete::lost_record;
use super::job::Job;
use super::tree::{Which, tree};
use super::wait::{Look, Subject, look, wait};
use crate::cluster::Lookup;
use crate::cluster::state::{Record, ReleaseSummary};
use crate::error::Error;
use crate::event::Phase;
use crate::health::Own;

/// How a target stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The record; none when the application is not there.
    pub record: Option<Record>,
    /// The health of the inventory.
    pub look: Option<Look>,
}

impl Standing {
    /// The active release.
    pub fn release(&self) -> Option<&ReleaseSummary> {
        self.record.as_ref()?.active_release()
    }
}

/// Reads a target's record and looks at what it owns: once, or until all of it is healthy or the
/// time is over. Nothing is rendered.
pub async fn standing(job: &Job, patience: Option<Duration>) -> Result<Standing, Error> {
    job.events.phase(Phase::Reading);
    let Some((record, _)) = job.store.record().await? else {
        return match lost_record(job).await? {
            Some(error) => Err(error),
            None => Ok(Standing { record: None, look: None }),
        };
    };
    let subjects = subjects(job, &record).await?;
    let look = match patience {
        None => look(job, &subjects).await?,
        // How it stands is the answer, also when the time was over.
        Some(timeout) => match wait(job, &subjects, timeout).await {
            Ok(look) | Err((_, Some(look))) => look,
            Err((error, None)) => return Err(error),
        },
    };
    Ok(Standing { record: Some(record), look: Some(look) })
}

/// As [`standing`], with a closer look at each object: what it has made, the last warnings, and
/// the last lines of containers that fail.
pub async fn standing_closer(job: &Job, patience: Option<Duration>) -> Result<Standing, Error> {
    let mut standing = standing(job, patience).await?;
    if let Standing { record: Some(record), look: Some(look) } = &mut standing {
        let subjects = subjects(job, record).await?;
        look.tree = tree(job, &subjects, look, Which::All).await;
    }
    Ok(standing)
}

/// What a record owns, as subjects of health. Objects whose kind the cluster no longer serves are
/// gone with it; those whose API does not answer are not.
pub(super) async fn subjects(job: &Job, record: &Record) -> Result<Vec<Subject>, Error> {
    let discovery = job.cluster.discovery().await.map_err(|e| job.failed(e, None))?;
    let subjects = record.inventory.iter().filter_map(|(id, member)| {
        let resource = match discovery.lookup_any(&Record::gvk(id, member)) {
            Lookup::Served(resource) => Some(resource.clone()),
            Lookup::Unavailable => None,
            Lookup::Unknown => return None,
        };
        Some(Subject {
            id: id.clone(),
            resource,
            own: Own { generation: None, uid: member.uid.clone() },
            applied: serde_json::Value::Null,
        })
    });
    Ok(subjects.collect())
}
