//! What an object has made (ReplicaSets, Jobs, pods), how each of it stands, and what was warned
//! about it: what a person would put together from `kubectl get` and `kubectl describe`.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{count, event_message, event_object, event_time, one_line, owned_by, replicas};
use super::pod::containers;
use super::{Health, Own, Surroundings, Verdict, health};
use crate::manifest::{Gvk, ObjectId};

/// How many of the last warnings about an object are kept.
const WARNINGS: usize = 3;

/// How deep is looked: CronJob, Job, pod, and one to spare.
const DEEPEST: usize = 4;

/// An object, and what it has made.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Which object.
    pub id: ObjectId,
    /// How it stands.
    pub verdict: Verdict,
    /// Of a workload the pods, of a pod the containers: how many are ready, and how many are
    /// wanted.
    pub ready: Option<(i64, i64)>,
    /// How often containers of a pod were started again.
    pub restarts: Option<i64>,
    /// When it was created; none for objects of the manifests, whose age says little.
    pub created: Option<Timestamp>,
    /// The last warnings about it, the newest first.
    pub warnings: Vec<Warning>,
    /// Containers of a pod whose last words may say what is wrong.
    pub failing: Vec<Failing>,
    /// Those words, once someone has asked for them.
    pub logs: Vec<Log>,
    /// What it has made, the worst first.
    pub parts: Vec<Node>,
}

/// An event of type Warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Such as `FailedScheduling`.
    pub reason: String,
    /// What happened, on one line.
    pub message: String,
    /// How often.
    pub count: i64,
    /// When it was last seen.
    pub last: Option<Timestamp>,
}

/// A container that does not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Its name.
    pub container: String,
    /// Whether what it wrote before its last restart says more than what it writes now.
    pub previous: bool,
}

/// The last lines that a container wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Which container.
    pub container: String,
    /// Whether it is that of the container before its last restart.
    pub previous: bool,
    /// The last lines, or why there are none.
    pub lines: Result<Vec<String>, String>,
}

impl Node {
    /// A node without surroundings.
    pub fn new(id: ObjectId, verdict: Verdict) -> Self {
        Node {
            id,
            verdict,
            ready: None,
            restarts: None,
            created: None,
            warnings: Vec::new(),
            failing: Vec::new(),
            logs: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// The node and all below it, each before its parts.
    pub fn walk(&mut self, visit: &mut impl FnMut(&mut Node)) {
        visit(self);
        self.parts.iter_mut().for_each(|part| part.walk(visit));
    }
}

/// What the object with this uid has made, by the owners that the parts name.
pub fn parts(uid: &str, around: &Surroundings<'_>) -> Vec<Node> {
    parts_of(uid, around, DEEPEST)
}

fn parts_of(uid: &str, around: &Surroundings<'_>, depth: usize) -> Vec<Node> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let all = around.replica_sets.iter().chain(around.jobs).chain(around.pods);
    let own = all.filter(|object| owned_by(object, uid));
    let mut parts: Vec<Node> = own.filter_map(|object| part(object, around, depth)).collect();
    parts.sort_by(|a, b| {
        let key = |n: &Node| (Reverse(n.verdict.health.weight()), Reverse(n.created));
        (key(a), &a.id.name).cmp(&(key(b), &b.id.name))
    });
    parts
}

fn part(object: &Value, around: &Surroundings<'_>, depth: usize) -> Option<Node> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let gvk = Gvk::new(object["apiVersion"].as_str()?, object["kind"].as_str()?);
    let metadata = &object["metadata"];
    let uid = metadata["uid"].as_str()?;
    let id = ObjectId {
        group: gvk.group,
        kind: gvk.kind,
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"])?,
    };
    let mut node = Node::new(id, health(object, &Own::default(), around));
    node.parts = parts_of(uid, around, depth);
    match node.id.kind.as_str() {
        "ReplicaSet" => {
            // Old revisions are kept for a rollback, without pods.
            if replicas(object) == 0 && node.parts.is_empty() {
                return None;
            }
            node.ready = Some((count(object, "readyReplicas"), replicas(object)));
        }
        "Pod" => {
            let all = || object["status"]["containerStatuses"].as_array().into_iter().flatten();
            let ready = all().filter(|c| c["ready"] == true).count();
            let wanted = object["spec"]["containers"].as_array().map_or(0, Vec::len);
            let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            node.ready = Some((number(ready), number(wanted)));
            let restarts = containers(object).filter_map(|(c, _)| c["restartCount"].as_i64());
            node.restarts = Some(restarts.fold(0, i64::saturating_add));
            if node.verdict.health != Health::Healthy {
                node.failing =
                    containers(object).filter_map(|(c, init)| failing(c, init)).collect();
            }
        }
        _ => {}
    }
    node.created = metadata["creationTimestamp"].as_str().and_then(|t| t.parse().ok());
    // What a pod that is well by now met on its way is history.
    if node.verdict.health != Health::Healthy {
        node.warnings = warnings(uid, around);
    }
    Some(node)
}

/// The last warnings about the object with this uid, the newest first.
pub fn warnings(uid: &str, around: &Surroundings<'_>) -> Vec<Warning> {
    let about = |e: &&Value| e["type"] == "Warning" && event_object(e)["uid"] == uid;
    let mut events: Vec<&Value> = around.events.iter().filter(about).collect();
    events.sort_by_key(|event| Reverse(event_time(event)));
    events.truncate(WARNINGS);
    let warning = |event: &Value| Warning {
        reason: one_line(event["reason"].as_str().unwrap_or_default()),
        message: one_line(event_message(event)),
        count: event["count"].as_i64().or_else(|| event["series"]["count"].as_i64()).unwrap_or(1),
        last: event_time(event),
    };
    events.into_iter().map(warning).collect()
}

/// Whether a container's log may say what is wrong, and which one. One that never ran has none.
fn failing(status: &Value, init: bool) -> Option<Failing> {
    let state = &status["state"];
    let ended = state["terminated"].is_object() && state["terminated"]["exitCode"] != 0;
    let ran = status["lastState"]["terminated"].is_object()
        || status["restartCount"].as_i64().is_some_and(|n| n > 0);
    let waits = state["waiting"].is_object() && ran;
    let runs = state["running"].is_object() && !init && status["ready"] != true;
    (ended || waits || runs).then(|| Failing {
        container: status["name"].as_str().unwrap_or_default().to_owned(),
        previous: waits,
    })
}
