//! The numbers of a workload, for the columns READY and UPDATED.

use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;
use serde_json::Value;

use super::Own;
use super::fields::{condition, count, replicas};
use super::generation::not_observed;

/// How many pods a workload, or all of a target, has and wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Pods that are ready, as kubectl's READY counts them: old ones too.
    pub ready: i64,
    /// Pods that are wanted now.
    pub wanted: i64,
    /// Pods of the newest revision; 0 while the controller has not seen our generation, since
    /// the number in the status is then that of the last one.
    pub updated: i64,
}

impl Add for Readiness {
    type Output = Readiness;
    fn add(self, other: Readiness) -> Readiness {
        Readiness {
            ready: self.ready.saturating_add(other.ready),
            wanted: self.wanted.saturating_add(other.wanted),
            updated: self.updated.saturating_add(other.updated),
        }
    }
}

impl Sum for Readiness {
    fn sum<I: Iterator<Item = Readiness>>(all: I) -> Readiness {
        all.fold(Readiness::default(), Add::add)
    }
}

/// The numbers of a workload that runs on; none for other kinds, and for Jobs, whose pods end.
pub fn readiness(object: &Value, own: &Own) -> Option<Readiness> {
    let api = object["apiVersion"].as_str().unwrap_or_default();
    let group = api.split_once('/').map_or("", |(group, _)| group);
    let mut numbers = match (group, object["kind"].as_str()?) {
        ("apps", "Deployment") => Readiness {
            ready: count(object, "readyReplicas"),
            wanted: replicas(object),
            updated: count(object, "updatedReplicas"),
        },
        ("apps", "StatefulSet") => {
            let status = &object["status"];
            let same = status["updateRevision"].is_string()
                && status["currentRevision"] == status["updateRevision"];
            let updated = if same { "replicas" } else { "updatedReplicas" };
            Readiness {
                ready: count(object, "readyReplicas"),
                wanted: replicas(object),
                updated: count(object, updated),
            }
        }
        ("apps", "DaemonSet") => Readiness {
            ready: count(object, "numberReady"),
            wanted: count(object, "desiredNumberScheduled"),
            updated: count(object, "updatedNumberScheduled"),
        },
        ("apps", "ReplicaSet") | ("", "ReplicationController") => Readiness {
            ready: count(object, "readyReplicas"),
            wanted: replicas(object),
            updated: count(object, "replicas"),
        },
        ("", "Pod") => {
            let ready = condition(object, "Ready").is_some_and(|c| c.is_true());
            return Some(Readiness { ready: ready.into(), wanted: 1, updated: 1 });
        }
        _ => return None,
    };
    if not_observed(object, own).is_some() {
        numbers.updated = 0;
    }
    Some(numbers)
}
