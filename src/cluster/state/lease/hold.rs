//! Taking, keeping and giving up the lease: the calls.
//!
//! A lease is renewed every third of its duration. A holder that could not renew it for two thirds
//! counts it as lost and starts no further write, while others may take it only after they saw it
//! stand still for the whole of it; so a write in flight has the last third to end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::super::{CallError, Cluster, Refusal, Resource};
use super::super::kinds::{leases, may_have_arrived};
use super::super::names::StateNames;
use super::decide::{Decision, Observed, Unlock, decide, may_unlock};
use super::process::{Liveness, Process};
use super::view::{Holder, LeaseView, free, held};
use crate::error::{Error, Exit, Result};

/// How often a lease that is taken under our nose is tried again before it counts as held.
const RACES: usize = 20;

/// How long giving a lease up may take: whoever interrupts a run does not want to wait.
const GIVING_UP: Duration = Duration::from_secs(5);

/// How a lease is to be taken.
pub struct Acquire<'a> {
    /// Who takes it.
    pub holder: &'a Holder,
    /// How long it holds without being renewed; see [`super::DURATION`].
    pub duration: Duration,
    /// How long to wait for a holder that lives; zero: not at all.
    pub wait: Duration,
    /// Told once, when it has to wait.
    pub waiting: &'a (dyn Fn(&Waiting) + Send + Sync),
}

/// What a run waits for before it may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Who holds the lease.
    pub holder: String,
    /// When it was renewed last, by its own word.
    pub renewed: Option<Timestamp>,
    /// How long this may take: by then it is known whether the holder lives, or the patience ends.
    pub at_most: Duration,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "waiting up to {} s to see whether {} still holds the lock",
            self.at_most.as_secs().max(1),
            self.holder
        )
    }
}

/// Takes the lease. A holder whose process on this machine ended is taken over at once; one that
/// may live is watched for at most its duration (design §7); see [`decide`].
///
/// # Errors
/// Someone else holds it (exit 6); the run is cancelled; a call fails.
pub async fn acquire(cluster: &Cluster, names: &StateNames, how: Acquire<'_>) -> Result<Guard> {
    let api = Api::new(cluster, names);
    let here = Process::current();
    let me = how.holder.identity();
    let started = Instant::now();
    let mut seen: Option<Seen> = None;
    let mut told = false;
    let mut races = 0;
    // Whether a write whose answer was lost has been looked after already.
    let mut looked = false;
    loop {
        let asked = Instant::now();
        let Some(view) = api.get().await? else {
            let lease = held(names, how.holder, how.duration, None, cluster.now());
            match api.create(&lease).await {
                Ok(lease) => {
                    return Ok(Guard::start(&api, how.holder, how.duration, &lease, asked));
                }
                Err(error) => {
                    races += 1;
                    let taken = matches!(error.refusal(), Some(Refusal::AlreadyExists));
                    let lost = may_have_arrived(&error) && !std::mem::replace(&mut looked, true);
                    if !(lost || taken && races <= RACES) {
                        return Err(api.error(error));
                    }
                    continue;
                }
            }
        };
        let observed = Seen::update(&mut seen, &view, here.as_ref());
        let now = cluster.now();
        let decision = decide(&view, &me, observed, now);
        let patience = how.wait.saturating_sub(started.elapsed());
        let at_most = match decision {
            Decision::Take(_) => {
                let lease = held(names, how.holder, how.duration, Some(&view), now);
                match api.replace(&lease).await {
                    Ok(lease) => {
                        return Ok(Guard::start(&api, how.holder, how.duration, &lease, asked));
                    }
                    Err(error) if is_moved(&error) && races < RACES => {
                        races += 1;
                        continue;
                    }
                    Err(error) if is_moved(&error) => return Err(held_by(names, &view, now)),
                    Err(error) if may_have_arrived(&error) && !looked => {
                        looked = true;
                        continue;
                    }
                    Err(error) => return Err(api.error(error)),
                }
            }
            Decision::Held if patience.is_zero() => return Err(held_by(names, &view, now)),
            Decision::Held => patience,
            Decision::Watch(left) => left,
        };
        if !std::mem::replace(&mut told, true) {
            let holder = view.holder.clone().unwrap_or_default();
            (how.waiting)(&Waiting { holder, renewed: view.renewed, at_most });
        }
        let pause = (view.duration / 20)
            .clamp(Duration::from_millis(50), Duration::from_secs(2))
            .min(at_most.max(Duration::from_millis(1)));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cluster.cancel.cancelled() => {
                return Err(Error::new(Exit::Interrupted, "interrupted while waiting for the lock")
                    .in_target(&names.target)
                    .on(&names.lease_id()));
            }
        }
    }
}

/// Reads the lease; none: there is none.
pub async fn look(cluster: &Cluster, names: &StateNames) -> Result<Option<LeaseView>> {
    Api::new(cluster, names).get().await
}

/// Frees a lease whose holder is gone, and answers who that was; none: nobody holds it.
///
/// # Errors
/// Its holder lives, or was alive less than the lease's duration ago (exit 6); a call fails.
pub async fn unlock(cluster: &Cluster, names: &StateNames) -> Result<Option<String>> {
    let api = Api::new(cluster, names);
    let Some(view) = api.get().await? else { return Ok(None) };
    let process = liveness(&view, Process::current().as_ref());
    let now = cluster.now();
    match may_unlock(&view, process, now) {
        Unlock::Free => Ok(None),
        Unlock::Stale => match api.replace(&free(names, &view, now)).await {
            Ok(_) => Ok(view.holder),
            Err(error) if is_moved(&error) => Err(held_by(names, &view, now)),
            Err(error) => Err(api.error(error)),
        },
        Unlock::Alive => {
            let hint = "stop that process, which is on this machine, or wait until it is done";
            Err(locked(names, &view, now).hint(hint))
        }
        Unlock::Recent(left) => {
            let seconds = left.as_secs() + 1;
            let hint = format!(
                "stop that run; if it is dead already, the lock can be freed in {seconds} s"
            );
            Err(locked(names, &view, now).hint(hint))
        }
    }
}

/// A lease that is held, and renewed in the background until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Guard {
    fence: Fence,
    end: Option<oneshot::Sender<End>>,
    task: JoinHandle<Result<()>>,
}

/// What a holder asks before each write.
#[derive(Clone, Debug)]
pub struct Fence {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    names: StateNames,
    /// How long after a renewal the lease counts as held.
    tolerance: Duration,
    lost: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the last renewal that arrived was sent: on the monotonic clock, which stands still
    /// while a machine sleeps, and on the wall clock, which someone may set. Both have to agree
    /// that it is recent.
    renewed: (Instant, SystemTime),
    why: Option<String>,
}

/// How a lease is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Release,
    Remove,
}

impl Guard {
    fn start(api: &Api, holder: &Holder, duration: Duration, lease: &Value, sent: Instant) -> Self {
        let ago = sent.elapsed();
        let wall = SystemTime::now();
        let shared = Arc::new(Shared {
            names: api.names.clone(),
            tolerance: duration * 2 / 3,
            lost: CancellationToken::new(),
            state: Mutex::new(State {
                renewed: (sent, wall.checked_sub(ago).unwrap_or(wall)),
                why: None,
            }),
        });
        let (end, ended) = oneshot::channel();
        let keeper = Keeper {
            api: api.uncancelled(),
            holder: holder.clone(),
            duration,
            view: LeaseView::read(lease),
            shared: shared.clone(),
        };
        let task = tokio::spawn(keeper.keep(ended));
        Guard { fence: Fence { shared }, end: Some(end), task }
    }

    /// What to ask before each write.
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }

    /// Gives the lease up: the next run takes it at once.
    ///
    /// # Errors
    /// A call fails; then the lease ends by itself after its duration.
    pub async fn release(self) -> Result<()> {
        self.finish(End::Release).await
    }

    /// Gives the lease up and deletes it, when no state is left that it would guard.
    pub async fn remove(self) -> Result<()> {
        self.finish(End::Remove).await
    }

    async fn finish(mut self, end: End) -> Result<()> {
        if let Some(sender) = self.end.take() {
            // The task is gone only when the lease is lost; then its result says so.
            sender.send(end).ok();
        }
        match (&mut self.task).await {
            Ok(result) => result,
            // The runtime is shutting down: the lease ends by itself.
            Err(_) => Ok(()),
        }
    }
}

impl Fence {
    /// Ends when the lease is lost: what waits to write can wait on it.
    pub fn lost(&self) -> &CancellationToken {
        &self.shared.lost
    }

    /// Whether the lease is still held.
    ///
    /// # Errors
    /// It is lost (exit 6): no further write may start.
    pub fn check(&self) -> Result<()> {
        let shared = &self.shared;
        let (monotonic, wall) = shared.state().renewed;
        // A wall clock that was set back says nothing.
        let slept = wall.elapsed().unwrap_or(Duration::ZERO);
        if monotonic.elapsed().max(slept) > shared.tolerance {
            shared.lose("it could not be renewed in time");
        }
        if !shared.lost.is_cancelled() {
            return Ok(());
        }
        Err(shared.lost_error())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, why: &str) {
        self.state().why.get_or_insert_with(|| why.to_owned());
        self.lost.cancel();
    }

    fn lost_error(&self) -> Error {
        let why = self.state().why.clone().unwrap_or_default();
        Error::new(Exit::Blocked, "the lock was lost, so nothing more was written")
            .because(why)
            .in_target(&self.names.target)
            .on(&self.names.lease_id())
            .hint("run the command again: it goes on where this run stopped")
    }
}

/// Keeps a lease.
struct Keeper {
    api: Api,
    holder: Holder,
    duration: Duration,
    view: LeaseView,
    shared: Arc<Shared>,
}

impl Keeper {
    /// Renews until the guard ends or is dropped, then gives the lease up.
    async fn keep(mut self, mut ended: oneshot::Receiver<End>) -> Result<()> {
        let lost = self.shared.lost.clone();
        let end = tokio::select! {
            // A guard that was dropped releases.
            end = &mut ended => end.unwrap_or(End::Release),
            () = lost.cancelled() => return Err(self.shared.lost_error()),
            // A renewal that is cut off here may still arrive: giving up takes that into account.
            () = self.renew_on_and_on() => return Err(self.shared.lost_error()),
        };
        let given_up = tokio::time::timeout(GIVING_UP, self.give_up(end)).await;
        given_up.unwrap_or_else(|_| {
            let (seconds, api) = (self.duration.as_secs(), &self.api);
            Err(Error::new(Exit::Unreachable, "the lock could not be given up in time")
                .in_target(&api.names.target)
                .on(&api.names.lease_id())
                .hint(format!("it ends by itself, {seconds} s after its last renewal")))
        })
    }

    /// Renews until the lease is lost.
    async fn renew_on_and_on(&mut self) {
        while !self.shared.lost.is_cancelled() {
            tokio::time::sleep(self.duration / 3).await;
            self.renew().await;
        }
    }

    /// Renews once, however often that takes, or loses the lease.
    async fn renew(&mut self) {
        loop {
            let sent = (Instant::now(), SystemTime::now());
            let last = self.shared.state().renewed.0;
            let left = self.shared.tolerance.saturating_sub(last.elapsed());
            if left.is_zero() {
                return self.shared.lose("it could not be renewed in time");
            }
            match tokio::time::timeout(left, self.write()).await {
                Ok(Ok(lease)) => {
                    self.view = LeaseView::read(&lease);
                    self.shared.state().renewed = sent;
                    return;
                }
                Ok(Err(error)) if is_moved(&error) => match self.api.get().await {
                    Ok(Some(view)) if view.holder.as_deref() == Some(&self.holder.identity()) => {
                        self.view = view;
                        continue;
                    }
                    Ok(Some(view)) => {
                        let by = view.holder.unwrap_or_else(|| "nobody".into());
                        return self.shared.lose(&format!("it is held by {by} now"));
                    }
                    Ok(None) => return self.shared.lose("someone deleted it"),
                    Err(_) => {}
                },
                Ok(Err(_)) | Err(_) => {}
            }
            tokio::time::sleep((self.duration / 30).min(left)).await;
        }
    }

    async fn write(&self) -> Result<Value, CallError> {
        let now = self.api.cluster.now();
        let lease = held(&self.api.names, &self.holder, self.duration, Some(&self.view), now);
        self.api.replace(&lease).await
    }

    async fn give_up(&mut self, end: End) -> Result<()> {
        for _ in 0..RACES {
            let lease = free(&self.api.names, &self.view, self.api.cluster.now());
            match self.api.replace(&lease).await {
                Ok(_) => break,
                // Ours still: a renewal arrived although its answer did not, or someone annotated.
                Err(error) if is_moved(&error) => match self.api.get().await? {
                    Some(view) if view.holder.as_deref() == Some(&self.holder.identity()) => {
                        self.view = view;
                    }
                    Some(_) | None => return Ok(()),
                },
                Err(error) => return Err(self.api.error(error)),
            }
        }
        match end {
            End::Release => Ok(()),
            End::Remove => self.api.delete(self.view.uid.as_deref()).await,
        }
    }
}

/// What was seen of a lease since we looked first.
struct Seen {
    version: String,
    holder: Option<String>,
    since: Instant,
    renewed: bool,
}

impl Seen {
    fn update(seen: &mut Option<Seen>, view: &LeaseView, here: Option<&Process>) -> Observed {
        let now = Instant::now();
        let next = match seen.take() {
            Some(seen) if seen.version == view.resource_version => seen,
            before => Seen {
                version: view.resource_version.clone(),
                renewed: before.is_some_and(|b| b.holder == view.holder),
                holder: view.holder.clone(),
                since: now,
            },
        };
        let observed = Observed {
            process: liveness(view, here),
            still_for: now.duration_since(next.since),
            renewed: next.renewed,
        };
        *seen = Some(next);
        observed
    }
}

pub(super) fn liveness(view: &LeaseView, here: Option<&Process>) -> Liveness {
    view.process.as_ref().map_or(Liveness::Unknown, |process| process.liveness(here))
}

/// Whether someone else wrote or deleted the lease since it was read.
fn is_moved(error: &CallError) -> bool {
    matches!(error.refusal(), Some(Refusal::Moved | Refusal::NotFound))
}

fn held_by(names: &StateNames, view: &LeaseView, now: Timestamp) -> Error {
    locked(names, view, now)
        .hint("wait until that run is done; `mcd unlock` frees a lock whose holder is gone")
}

/// The error that names the holder, since when it holds the lease and when it renewed it.
fn locked(names: &StateNames, view: &LeaseView, now: Timestamp) -> Error {
    let holder = view.holder.as_deref().unwrap_or("someone else");
    let mut message = format!("locked by {holder}");
    if let Some(acquired) = view.acquired {
        message += &format!(" since {}", acquired.strftime("%Y-%m-%dT%H:%M:%SZ"));
    }
    let error = Error::new(Exit::Blocked, message).in_target(&names.target).on(&names.lease_id());
    match view.renewed {
        Some(renewed) => {
            let ago = now.duration_since(renewed).as_secs().max(0);
            error.because(format!("its holder renewed it {ago} s ago"))
        }
        None => error,
    }
}

/// The calls on one lease.
#[derive(Clone, Debug)]
struct Api {
    cluster: Cluster,
    names: StateNames,
    resource: Resource,
}

impl Api {
    fn new(cluster: &Cluster, names: &StateNames) -> Self {
        Api { cluster: cluster.clone(), names: names.clone(), resource: leases() }
    }

    fn uncancelled(&self) -> Self {
        Api { cluster: self.cluster.uncancelled(), ..self.clone() }
    }

    async fn get(&self) -> Result<Option<LeaseView>> {
        let namespace = Some(self.names.namespace.as_str());
        let lease = self.cluster.get(&self.resource, namespace, &self.names.lease()).await;
        Ok(lease.map_err(|error| self.error(error))?.map(|lease| LeaseView::read(&lease)))
    }

    async fn create(&self, lease: &Value) -> Result<Value, CallError> {
        let namespace = Some(self.names.namespace.as_str());
        self.cluster.create(&self.resource, namespace, lease, &self.names.manager).await
    }

    async fn replace(&self, lease: &Value) -> Result<Value, CallError> {
        let namespace = Some(self.names.namespace.as_str());
        let (name, manager) = (self.names.lease(), &self.names.manager);
        self.cluster.replace(&self.resource, namespace, &name, lease, manager, false).await
    }

    async fn delete(&self, uid: Option<&str>) -> Result<()> {
        let namespace = Some(self.names.namespace.as_str());
        let deleted =
            self.cluster.delete(&self.resource, namespace, &self.names.lease(), uid).await;
        match deleted {
            Ok(_) => Ok(()),
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(self.error(error)),
        }
    }

    fn error(&self, error: CallError) -> Error {
        error.into_error(&self.names.target, Some(&self.names.lease_id()))
    }
}
