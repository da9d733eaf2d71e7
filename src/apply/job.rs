//! A target that is being worked on: its cluster, its names, where its events go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::relocate::Whereabouts;
use crate::cluster::state::lease::{self, Acquire, Guard, Holder};
use crate::cluster::state::{APP_LABEL, StateNames, Store, who};
use crate::cluster::{CallError, Cluster, Resource};
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::event::{Events, Phase};
use crate::manifest::{ObjectId, Scrubber};

/// Everything that the work on a target needs. Cheap to clone.
#[derive(Clone)]
pub struct Job {
    /// The target.
    pub target: Arc<Target>,
    /// What its state is called.
    pub names: Arc<StateNames>,
    /// Its cluster.
    pub cluster: Cluster,
    /// Its state there.
    pub store: Store,
    /// Where its events go.
    pub events: Events,
    /// Knows every secret value of the run.
    pub scrubber: Scrubber,
    /// Cancelled when the run is to stop.
    pub cancel: CancellationToken,
    /// Where the state may be besides.
    pub whereabouts: Whereabouts,
    /// What the state was called where it comes from, until a move is done: label and field manager
    /// that are the application's own too.
    pub(super) former: Option<Arc<StateNames>>,
}

/// The run was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt;

impl Job {
    /// The work on a target, over a cluster that is connected.
    pub fn new(
        target: Arc<Target>,
        cluster: Cluster,
        events: Events,
        scrubber: Scrubber,
        cancel: CancellationToken,
    ) -> Self {
        let names = Arc::new(StateNames::of(&target));
        let store = Store::new(&cluster, &names);
        let whereabouts = Whereabouts::default();
        Job { target, names, cluster, store, events, scrubber, cancel, whereabouts, former: None }
    }

    /// The same work with what is known of where the state may be besides.
    #[must_use]
    pub fn knowing(self, whereabouts: Whereabouts) -> Self {
        Job { whereabouts, ..self }
    }

    /// The same work, while the state comes from elsewhere.
    #[must_use]
    pub(super) fn coming_from(&self, former: Option<&Arc<StateNames>>) -> Self {
        Job { former: former.cloned(), ..self.clone() }
    }

    /// The label selector of the application's members, those under its former name too.
    pub(super) fn member_selector(&self) -> String {
        match &self.former {
            None => self.names.member_selector(),
            Some(former) => {
                format!("{APP_LABEL} in ({},{})", self.names.app_label, former.app_label)
            }
        }
    }

    /// Whether a field manager is the application's.
    pub(super) fn is_own_manager(&self, manager: &str) -> bool {
        manager == self.names.manager
            || self.former.as_ref().is_some_and(|former| manager == former.manager)
    }

    /// The same work for what a cancelled run still has to write: its record, its lock.
    #[must_use]
    pub(super) fn uncancelled(&self) -> Self {
        Job { cluster: self.cluster.uncancelled(), store: self.store.uncancelled(), ..self.clone() }
    }

    /// Takes the target's lock. A holder that may live is watched for at most the lock's duration.
    ///
    /// # Errors
    /// Someone holds it (exit 6), or a call fails.
    pub(super) async fn lock(&self) -> Result<Guard, Error> {
        self.lock_within(Duration::ZERO).await
    }

    /// The same, and waits so long for a holder that lives.
    pub(super) async fn lock_within(&self, wait: Duration) -> Result<Guard, Error> {
        self.lock_of(&self.names, wait).await
    }

    /// The same for the lock of these names.
    pub(super) async fn lock_of(&self, names: &StateNames, wait: Duration) -> Result<Guard, Error> {
        self.events.phase(Phase::Locking);
        let holder = Holder::current(&who::current_user().to_string())?;
        let events = self.events.clone();
        let how = Acquire {
            holder: &holder,
            duration: lease::DURATION,
            wait,
            // Said at once: somebody else may be at work on this target.
            waiting: &move |waiting| {
                events.warn(None, waiting.to_string());
                events.waiting(waiting.to_string());
            },
        };
        lease::acquire(&self.cluster, names, how).await
    }

    /// Turns a failed call into what the user reads.
    pub fn failed(&self, error: CallError, object: Option<&ObjectId>) -> Error {
        let scrubber = &self.scrubber;
        error.into_error(&self.target.name, object).map_text(|text| scrubber.scrub(text))
    }

    /// An error that says where the run was when it was asked to stop.
    pub fn halted(&self) -> Error {
        Error::new(Exit::Interrupted, "interrupted").in_target(&self.target.name)
    }

    /// Whether the run was asked to stop.
    pub fn is_halted(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reads one object, and learns its values when it is a Secret.
    pub async fn get(&self, resource: &Resource, id: &ObjectId) -> Result<Option<Value>, Error> {
        let found = self.cluster.get(resource, id.namespace.as_deref(), &id.name).await;
        let found = found.map_err(|e| self.failed(e, Some(id)))?;
        if let Some(live) = &found
            && id.is_secret()
        {
            self.scrubber.learn(live);
        }
        Ok(found)
    }
}
