//! Why a workload does not get on: the one line that a person would look for with
//! `kubectl describe`.

use std::cmp::Reverse;

use serde_json::Value;

use super::fields::{
    condition, event_message, event_object, event_time, one_line, owned_by, reason,
};
use super::generation::behind;
use super::pod::{Rank, Trouble, trouble};
use super::{Own, Surroundings};

/// The best cause, from the pods of the workload's newest revision, from the refusal to make
/// them, or from the last warning about them. None when nothing is wrong, or nothing is known.
///
/// While the controller has not seen the live generation, all pods are of the last one, and
/// their troubles are not those of this apply.
pub fn cause(workload: &Value, around: &Surroundings<'_>) -> Option<String> {
    if behind(workload, &Own::default()).is_some() {
        return None;
    }
    let newest = newest_replica_set(workload, around);
    let pods = pods(workload, newest, around);
    let found = worst(&pods, around);
    // A pod that merely starts tells less than the refusal to make its sibling.
    match found {
        Some((Rank::Starting | Rank::NotReady, text)) => {
            Some(refused(workload, newest, around).unwrap_or(text))
        }
        Some((_, text)) => Some(text),
        None => refused(workload, newest, around),
    }
}

/// Of the ReplicaSets that the Deployment owns, the one with the greatest revision: a rollback
/// gives an old one a new number, so age says nothing.
fn newest_replica_set<'a>(workload: &Value, around: &Surroundings<'a>) -> Option<&'a Value> {
    let uid = workload["metadata"]["uid"].as_str()?;
    if workload["kind"] != "Deployment" {
        return None;
    }
    let revision = |set: &Value| {
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
            .as_str()
            .and_then(|r| r.parse::<i64>().ok())
    };
    around.replica_sets.iter().filter(|set| owned_by(set, uid)).max_by_key(|set| revision(set))
}

/// The pods to look at: of the newest revision where it is known, none that is going away.
fn pods<'a>(
    workload: &'a Value,
    newest: Option<&Value>,
    around: &Surroundings<'a>,
) -> Vec<&'a Value> {
    let Some(uid) = workload["metadata"]["uid"].as_str() else { return Vec::new() };
    let alive = || around.pods.iter().filter(|p| !p["metadata"]["deletionTimestamp"].is_string());
    if workload["kind"] == "Pod" {
        return vec![workload];
    }
    if workload["kind"] == "Deployment" {
        let set = newest.and_then(|set| set["metadata"]["uid"].as_str());
        return match set {
            Some(set) => alive().filter(|p| owned_by(p, set)).collect(),
            // Without the right to list ReplicaSets: by label, old ones with the new.
            None => alive().filter(|p| selected(p, workload)).collect(),
        };
    }
    let owned: Vec<&Value> = alive().filter(|p| owned_by(p, uid)).collect();
    let update = workload["status"]["updateRevision"].as_str();
    let newest: Vec<&Value> = owned
        .iter()
        .copied()
        .filter(|p| {
            update.is_some_and(|r| p["metadata"]["labels"]["controller-revision-hash"] == r)
        })
        .collect();
    // A StatefulSet stops at the first pod that is not ready, which may be an old one: then no
    // new pod is in trouble.
    if newest.iter().any(|p| trouble(p).is_some()) { newest } else { owned }
}

fn selected(pod: &Value, workload: &Value) -> bool {
    let Some(labels) = workload["spec"]["selector"]["matchLabels"].as_object() else {
        return false;
    };
    !labels.is_empty() && labels.iter().all(|(k, v)| pod["metadata"]["labels"][k] == *v)
}

/// The trouble that tells most, with how many pods share it.
fn worst(pods: &[&Value], around: &Surroundings<'_>) -> Option<(Rank, String)> {
    let troubled = |pod: &&&Value| trouble(pod).map(|trouble| explain(pod, trouble, around));
    let mut all: Vec<(Trouble, &str)> = pods
        .iter()
        .filter_map(|pod| Some((troubled(&pod)?, pod["metadata"]["name"].as_str()?)))
        .collect();
    all.sort_by(|(a, a_name), (b, b_name)| (a.rank, a_name).cmp(&(b.rank, b_name)));
    let (first, name) = all.first()?;
    let more = all.iter().filter(|(t, _)| t.rank == first.rank && t.kind == first.kind).count() - 1;
    let text = match more {
        0 => format!("pod {name}: {}", first.text),
        n => format!("pod {name}: {} (and {n} more)", first.text),
    };
    Some((first.rank, text))
}

/// Where the pod's own status only says that it is not there yet, its last warning says why: a
/// volume that cannot be mounted, a probe that fails.
fn explain(pod: &Value, trouble: Trouble, around: &Surroundings<'_>) -> Trouble {
    if trouble.rank < Rank::NotReady {
        return trouble;
    }
    let Some(uid) = pod["metadata"]["uid"].as_str() else { return trouble };
    let Some(event) = last_warning(uid, around) else { return trouble };
    let kind = event["reason"].as_str().unwrap_or_default();
    Trouble {
        // It is more than a start now, and ranks with what fails when pods are compared.
        rank: Rank::Restarting,
        kind: kind.to_owned(),
        text: reason(kind, event_message(event)),
    }
}

fn last_warning<'a>(uid: &str, around: &Surroundings<'a>) -> Option<&'a Value> {
    around
        .events
        .iter()
        .filter(|e| e["type"] == "Warning" && event_object(e)["uid"] == uid)
        .min_by_key(|e| Reverse(event_time(e)))
}

/// Why no pod was made: the condition of a ReplicaSet or Deployment, or, for the kinds that have
/// none, the last warning about the workload.
fn refused(workload: &Value, newest: Option<&Value>, around: &Surroundings<'_>) -> Option<String> {
    let places = || newest.into_iter().chain([workload]);
    let condition = places()
        .find_map(|place| condition(place, "ReplicaFailure").filter(|c| c.is_true()))
        .map(|c| refusal(c.reason, c.message));
    condition.or_else(|| {
        let uids = places().filter_map(|place| place["metadata"]["uid"].as_str());
        let event = uids.into_iter().find_map(|uid| last_warning(uid, around))?;
        Some(refusal(event["reason"].as_str().unwrap_or_default(), event_message(event)))
    })
}

/// The refusal of a pod, with the quota's words first where it was a quota: the generated name of
/// the pod that was not made says nothing.
pub(super) fn refusal(why: &str, message: &str) -> String {
    match message.find("exceeded quota") {
        Some(at) => format!("quota: {}", one_line(&message[at..])),
        None => reason(why, message),
    }
}
