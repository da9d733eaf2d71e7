//! What a target has of its active release: as it was rendered, or as it is in the cluster. For
//! comparing targets with each other.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::delete::lost_record;
use super::job::Job;
use super::observe::PARALLEL;
use super::restore::load;
use super::unserved;
use crate::cluster::Lookup;
use crate::diff::shaped;
use crate::error::{Error, Exit};
use crate::event::Phase;
use crate::manifest::{Object, ObjectId, Origin};

/// The objects of a target.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The active release.
    pub release: u64,
    /// Its objects, in the order in which they were rendered; of live ones those that are there.
    pub objects: Vec<(ObjectId, Value)>,
}

/// Reads the objects of the active release; with `live` what the cluster has of them, of each what
/// its manifest sets.
///
/// # Errors
/// Nothing is deployed there, or no release is active (exit 1); a call fails.
pub async fn contents(job: &Job, live: bool) -> Result<Contents, Error> {
    job.events.phase(Phase::Reading);
    let nothing = |what: &str| Error::new(Exit::Failed, what).in_target(&job.target.name);
    let Some((record, _)) = job.store.record().await? else {
        return Err(lost_record(job).await?.unwrap_or_else(|| {
            nothing("the application is not deployed there").hint("`mcd apply` deploys it")
        }));
    };
    let release = record.active.ok_or_else(|| {
        nothing("no release is active there").hint("`mcd history` tells how its releases ended")
    })?;
    let rendered = load(job, release).await?.objects.into_iter();
    let objects: Vec<Object> =
        rendered.filter_map(|value| Object::new(value, Origin::default())).collect();
    let objects = match live {
        false => objects.into_iter().map(|object| (object.id, object.value)).collect(),
        true => look_up(job, objects).await?,
    };
    Ok(Contents { release, objects })
}

async fn look_up(job: &Job, objects: Vec<Object>) -> Result<Vec<(ObjectId, Value)>, Error> {
    let discovery = job.cluster.discovery().await.map_err(|e| job.failed(e, None))?;
    let found: Vec<Option<(ObjectId, Value)>> = stream::iter(objects)
        .map(|object| async {
            let object = object;
            let resource = match discovery.lookup_any(&object.gvk) {
                Lookup::Served(resource) => resource,
                Lookup::Unavailable => return Err(unserved::error(&job.target, &object.id)),
                Lookup::Unknown => return Ok(None),
            };
            let live = job.get(resource, &object.id).await?;
            Ok(live.map(|live| (object.id, shaped(&live, &object.value))))
        })
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    Ok(found.into_iter().flatten().collect())
}
