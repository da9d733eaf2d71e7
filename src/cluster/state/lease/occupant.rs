//! Who holds a lock, for those who only look.

use super::decide::{Unlock, may_unlock};
use super::hold::{liveness, look};
use super::process::Process;
use crate::cluster::Cluster;
use crate::cluster::state::StateNames;
use crate::error::Result;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Nobody.
    Nobody,
    /// Someone who died: the next run takes it over.
    Gone(String),
    /// Someone who may be at work.
    Present(String),
}

/// Reads the lease and judges its holder by one look.
///
/// # Errors
/// The call fails.
pub async fn occupant(cluster: &Cluster, names: &StateNames) -> Result<Occupant> {
    let Some(view) = look(cluster, names).await? else { return Ok(Occupant::Nobody) };
    let process = liveness(&view, Process::current().as_ref());
    let holder = view.holder.clone().unwrap_or_default();
    Ok(match may_unlock(&view, process, cluster.now()) {
        Unlock::Free => Occupant::Nobody,
        Unlock::Stale => Occupant::Gone(holder),
        Unlock::Alive | Unlock::Recent(_) => Occupant::Present(holder),
    })
}
