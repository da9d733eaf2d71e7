//! The lease as an object of `coordination.k8s.io/v1`. Pure.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::names::{STATE_LABEL, StateNames};
use super::process::Process;
use crate::error::{Error, Exit, Result};

/// The holder's process, for others on the same machine. With the token, because whoever edits
/// `holderIdentity` by hand leaves the annotation behind.
const PROCESS: &str = "mcd.dev/holder";

/// Who holds, or wants, a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// As in `alice@laptop`.
    pub who: String,
    /// The process; none where the system does not tell.
    pub process: Option<Process>,
    /// Tells apart two holders of one process.
    token: String,
}

impl Holder {
    /// This process, as `who`.
    pub fn current(who: &str) -> Result<Holder> {
        let mut token = [0; 6];
        getrandom::fill(&mut token).map_err(|e| {
            Error::new(Exit::Failed, "the system gave no random bytes").because(e.to_string())
        })?;
        let token = token.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Holder { who: who.to_owned(), process: Process::current(), token })
    }

    /// What `holderIdentity` says: `alice@laptop, pid 4242 (9f3a21c07b11)`. No two are equal.
    pub fn identity(&self) -> String {
        format!("{}, pid {} ({})", self.who, std::process::id(), self.token)
    }
}

/// A lease as read.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseView {
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// `metadata.uid`.
    pub uid: Option<String>,
    /// Who holds it; none: nobody.
    pub holder: Option<String>,
    /// The holder's process, if it told.
    pub process: Option<Process>,
    /// How long it holds without being renewed.
    pub duration: Duration,
    /// Since when it is held, in server time.
    pub acquired: Option<Timestamp>,
    /// When it was renewed last, in server time.
    pub renewed: Option<Timestamp>,
    /// How often it changed hands.
    pub transitions: i64,
}

impl LeaseView {
    /// Reads a lease. What is missing or makes no sense reads as absent, so that a lease that
    /// someone wrote by hand can still be judged.
    pub fn read(lease: &Value) -> LeaseView {
        let (metadata, spec) = (&lease["metadata"], &lease["spec"]);
        let text = |v: &Value| v.as_str().filter(|s| !s.is_empty()).map(str::to_owned);
        let time = |v: &Value| v.as_str().and_then(|s| s.parse::<Timestamp>().ok());
        let holder = text(&spec["holderIdentity"]);
        // Bounded, so that a lease written by hand cannot make anyone wait for days.
        let seconds = spec["leaseDurationSeconds"].as_u64().unwrap_or(60).clamp(1, 3600);
        let process = metadata["annotations"][PROCESS].as_str().and_then(|text| {
            let value: Value = serde_json::from_str(text).ok()?;
            let same = value["identity"].as_str() == holder.as_deref();
            if same { serde_json::from_value(value["process"].clone()).ok() } else { None }
        });
        LeaseView {
            resource_version: text(&metadata["resourceVersion"]).unwrap_or_default(),
            uid: text(&metadata["uid"]),
            holder,
            process,
            duration: Duration::from_secs(seconds),
            acquired: time(&spec["acquireTime"]),
            renewed: time(&spec["renewTime"]),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or(0),
        }
    }
}

/// The lease as `holder` writes it: to be created, or in place of `before`, whose
/// resourceVersion it carries so that the server refuses it when someone else wrote (A8.2).
pub(in crate::cluster::state) fn held(
    names: &StateNames,
    holder: &Holder,
    duration: Duration,
    before: Option<&LeaseView>,
    now: Timestamp,
) -> Value {
    let identity = holder.identity();
    let mine = before.filter(|lease| lease.holder.as_deref() == Some(&identity));
    let acquired = mine.and_then(|lease| lease.acquired).unwrap_or(now);
    let transitions = match before {
        None => 0,
        Some(lease) => lease.transitions.saturating_add(i64::from(mine.is_none())),
    };
    let process = json!({"identity": identity, "process": holder.process}).to_string();
    let mut lease = frame(names, before);
    lease["metadata"]["annotations"] = json!({PROCESS: process});
    lease["spec"] = json!({
        "holderIdentity": identity,
        "leaseDurationSeconds": duration.as_secs().max(1),
        "acquireTime": micro_time(acquired),
        "renewTime": micro_time(now),
        "leaseTransitions": transitions,
    });
    lease
}

/// The lease that nobody holds, in place of `before`.
pub(in crate::cluster::state) fn free(
    names: &StateNames,
    before: &LeaseView,
    now: Timestamp,
) -> Value {
    let mut lease = frame(names, Some(before));
    lease["spec"] = json!({
        "holderIdentity": "",
        "leaseDurationSeconds": before.duration.as_secs().max(1),
        "renewTime": micro_time(now),
        "leaseTransitions": before.transitions,
    });
    lease
}

fn frame(names: &StateNames, before: Option<&LeaseView>) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": names.lease(),
            "namespace": names.namespace,
            "labels": {STATE_LABEL: names.app_label},
            "resourceVersion": before.map(|lease| &lease.resource_version),
        },
    })
}

/// MicroTime has exactly six digits; the server refuses any other number of them (A8.1).
fn micro_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::names;
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn times_have_exactly_six_digits() {
        assert_eq!(micro_time(at("2026-01-02T03:04:05Z")), "2026-01-02T03:04:05.000000Z");
        assert_eq!(micro_time(at("2026-01-02T03:04:05.5Z")), "2026-01-02T03:04:05.500000Z");
        assert_eq!(micro_time(at("2026-01-02T03:04:05.123456789Z")), "2026-01-02T03:04:05.123456Z");
    }

    #[test]
    fn a_lease_reads_as_it_was_written() {
        let holder = Holder::current("alice@laptop").unwrap();
        let now = at("2026-01-02T03:04:05.25Z");
        let mut lease = held(&names(), &holder, Duration::from_secs(60), None, now);
        assert_eq!(lease["metadata"]["name"], "mcd.web");
        assert_eq!(lease["metadata"]["resourceVersion"], Value::Null);
        lease["metadata"]["resourceVersion"] = "7".into();
        let view = LeaseView::read(&lease);
        assert_eq!(view.holder.as_deref(), Some(holder.identity().as_str()));
        assert_eq!(view.process, holder.process);
        assert_eq!((view.acquired, view.renewed), (Some(now), Some(now)));
        assert_eq!((view.duration.as_secs(), view.transitions), (60, 0));

        let later = at("2026-01-02T03:05:05Z");
        let renewed = held(&names(), &holder, Duration::from_secs(60), Some(&view), later);
        assert_eq!(renewed["metadata"]["resourceVersion"], "7");
        let renewed = LeaseView::read(&renewed);
        assert_eq!((renewed.acquired, renewed.renewed), (Some(now), Some(later)));
        assert_eq!(renewed.transitions, 0);

        let other = Holder::current("alice@laptop").unwrap();
        assert_ne!(other.identity(), holder.identity());
        let taken =
            LeaseView::read(&held(&names(), &other, Duration::from_secs(60), Some(&view), later));
        assert_eq!((taken.acquired, taken.transitions), (Some(later), 1));

        let free = LeaseView::read(&free(&names(), &view, later));
        assert_eq!((free.holder, free.process), (None, None));
    }

    #[test]
    fn a_process_that_is_not_the_holders_is_not_taken_for_it() {
        let holder = Holder::current("alice@laptop").unwrap();
        let now = at("2026-01-02T03:04:05Z");
        let mut lease = held(&names(), &holder, Duration::from_secs(60), None, now);
        lease["spec"]["holderIdentity"] = "someone else".into();
        assert_eq!(LeaseView::read(&lease).process, None);
    }

    #[test]
    fn a_lease_written_by_hand_can_be_judged() {
        let odd =
            json!({"spec": {"holderIdentity": "", "leaseDurationSeconds": 0, "renewTime": "?"}});
        let view = LeaseView::read(&odd);
        assert_eq!((view.holder, view.renewed, view.duration.as_secs()), (None, None, 1));
        let long = json!({"spec": {"leaseDurationSeconds": 9_000_000}});
        assert_eq!(LeaseView::read(&long).duration.as_secs(), 3600);
        assert_eq!(LeaseView::read(&Value::Null).duration.as_secs(), 60);
    }
}
