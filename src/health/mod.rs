//! One object → its health, bound to the generation of our own apply. Pure.
//!
//! [`health`] judges one object by the rules of its kind; [`gone`] judges one that is not there
//! any more; [`cause`] finds the one line that says why a workload does not get on; [`aggregate`]
//! sums verdicts up to that of a target; [`parts`] gives what an object has made, with warnings.

mod aggregate;
mod api;
mod cause;
mod counts;
mod custom;
mod fields;
mod gateway;
mod generation;
mod job;
mod network;
mod pod;
mod rules;
mod storage;
mod tree;
mod workload;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

pub use aggregate::{Counts, Summary, aggregate};
pub use cause::cause;
pub use counts::{Readiness, readiness};
pub use job::gone;
pub use rules::{Expression, Rule, Rules};
pub use tree::{Failing, Log, Node, Warning, parts, warnings};

use crate::manifest::Gvk;

/// What is known of an object's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "reason", rename_all = "camelCase")]
pub enum Health {
    /// It does what its manifest asks.
    Healthy,
    /// On its way; the reason names what is missing.
    Progressing(String),
    /// It will not get there by itself.
    Failed(String),
    /// Paused by its manifest or by someone.
    Paused(String),
    /// Not known, with why.
    Unknown(String),
}

impl Health {
    /// The one word for a table.
    pub fn word(&self) -> &'static str {
        match self {
            Health::Healthy => "Healthy",
            Health::Progressing(_) => "Progressing",
            Health::Failed(_) => "Failed",
            Health::Paused(_) => "Paused",
            Health::Unknown(_) => "Unknown",
        }
    }

    /// Why it is not healthy.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Health::Healthy => None,
            Health::Progressing(reason)
            | Health::Failed(reason)
            | Health::Paused(reason)
            | Health::Unknown(reason) => Some(reason),
        }
    }

    /// The order in which one bad object decides for its target: the greatest wins.
    fn weight(&self) -> u8 {
        match self {
            Health::Healthy => 0,
            Health::Paused(_) => 1,
            Health::Unknown(_) => 2,
            Health::Progressing(_) => 3,
            Health::Failed(_) => 4,
        }
    }
}

/// The health of one object, with what else a reader should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The health.
    #[serde(flatten)]
    pub health: Health,
    /// Whether there was something to judge by. False for a custom resource without conditions,
    /// which is [`Health::Healthy`] so that nothing waits for it: tables show "Applied".
    pub known: bool,
    /// Things that do not decide, such as "changed by kubectl-edit since" or "no load balancer
    /// address yet". Each one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Verdict {
    fn new(health: Health) -> Self {
        Verdict { health, known: true, notes: Vec::new() }
    }
    fn healthy() -> Self {
        Self::new(Health::Healthy)
    }
    fn progressing(reason: impl Into<String>) -> Self {
        Self::new(Health::Progressing(reason.into()))
    }
    fn failed(reason: impl Into<String>) -> Self {
        Self::new(Health::Failed(reason.into()))
    }
    fn paused(reason: impl Into<String>) -> Self {
        Self::new(Health::Paused(reason.into()))
    }
    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
    fn unjudged(mut self) -> Self {
        self.known = false;
        self
    }

    /// The one word for a table: that of the health, or "Applied" where there was nothing to
    /// judge by.
    pub fn word(&self) -> &'static str {
        match (&self.health, self.known) {
            (Health::Healthy, false) => "Applied",
            (health, _) => health.word(),
        }
    }

    /// Whether a wait for this object is over in success.
    pub fn is_healthy(&self) -> bool {
        self.health == Health::Healthy
    }
}

/// What our own apply answered: the anchor of every judgement (design §10). Empty when nothing
/// was applied, as for `status`: then the live generation is the anchor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// `metadata.generation` of the answer; kinds such as Service have none.
    pub generation: Option<i64>,
    /// `metadata.uid` of the answer.
    pub uid: Option<String>,
}

impl Own {
    /// Reads both off the answer to our own PATCH.
    pub fn of(answer: &Value) -> Self {
        Own {
            generation: answer["metadata"]["generation"].as_i64(),
            uid: answer["metadata"]["uid"].as_str().map(str::to_owned),
        }
    }
}

/// What stands around an object. All lists may be empty, or hold more than is needed: each rule
/// picks what belongs to its object.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The time, by the server's clock where it is known.
    pub now: Timestamp,
    /// StorageClasses, for claims that wait for their first pod.
    pub storage_classes: &'a [Value],
    /// ReplicaSets of the namespace, to find the newest of a Deployment.
    pub replica_sets: &'a [Value],
    /// Jobs of the namespace, to find those of a CronJob.
    pub jobs: &'a [Value],
    /// Pods of the namespace.
    pub pods: &'a [Value],
    /// Events of the namespace (core/v1 or events.k8s.io/v1).
    pub events: &'a [Value],
    /// The user's own rules, which win over those of this module.
    pub rules: Option<&'a Rules>,
}

impl Surroundings<'_> {
    /// Nothing around.
    pub fn at(now: Timestamp) -> Self {
        Surroundings {
            now,
            storage_classes: &[],
            replica_sets: &[],
            jobs: &[],
            pods: &[],
            events: &[],
            rules: None,
        }
    }
}

/// Judges one live object by the rules of its kind (research of kstatus, Argo CD, Helm, kapp and
/// kubedog; where they differ, the rule says why). The order is that of kstatus: another object
/// of this name, terminating, not yet seen by its controller, then the kind.
pub fn health(object: &Value, own: &Own, around: &Surroundings<'_>) -> Verdict {
    let uid = object["metadata"]["uid"].as_str();
    if let (Some(ours), Some(live)) = (own.uid.as_deref(), uid)
        && ours != live
    {
        return Verdict::failed("deleted and recreated by someone since our apply");
    }
    // What a finished Job came to stands, also while it goes by its TTL.
    let own_rule = around.rules.and_then(|rules| rules.get(&group_of(object), kind_of(object)));
    if own_rule.is_none() && job::is_finished(object) {
        return job::job(object);
    }
    let mut verdict = if object["metadata"]["deletionTimestamp"].is_string() {
        terminating(object, own)
    } else if let Some(stale) = generation::stale_read(object, own) {
        stale
    } else if let Some(rule) = own_rule {
        rule.judge(object, own)
    } else {
        by_kind(object, own, around)
    };
    verdict.notes.extend(generation::changed_since(object, own));
    verdict
}

fn kind_of(object: &Value) -> &str {
    object["kind"].as_str().unwrap_or_default()
}

fn group_of(object: &Value) -> String {
    Gvk::new(object["apiVersion"].as_str().unwrap_or_default(), kind_of(object)).group
}

fn by_kind(object: &Value, own: &Own, around: &Surroundings<'_>) -> Verdict {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let gvk = Gvk::new(text("apiVersion"), text("kind"));
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "Deployment") => workload::deployment(object, own, around),
        ("apps", "StatefulSet") => workload::stateful_set(object, own),
        ("apps", "DaemonSet") => workload::daemon_set(object, own),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => {
            workload::replica_set(object, own, around)
        }
        ("", "Pod") => pod::pod(object),
        ("batch", "Job") => job::job(object),
        ("batch", "CronJob") => job::cron_job(object),
        ("", "PersistentVolumeClaim") => storage::claim(object, around),
        ("", "PersistentVolume") => storage::volume(object),
        ("", "Service") => network::service(object),
        ("networking.k8s.io", "Ingress") => network::ingress(object),
        ("autoscaling", "HorizontalPodAutoscaler") => network::autoscaler(object),
        ("policy", "PodDisruptionBudget") => network::disruption_budget(object, own),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => api::definition(object),
        ("apiregistration.k8s.io", "APIService") => api::api_service(object),
        ("", "Namespace") => api::namespace(object),
        ("gateway.networking.k8s.io", "Gateway") => gateway::gateway(object, own),
        (
            "gateway.networking.k8s.io",
            "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute" | "UDPRoute",
        ) => gateway::route(object, own),
        (group, _) if built_in(group) => Verdict::healthy(),
        _ => custom::custom(object, own),
    }
}

/// An object of ours that is being deleted vanishes even when an apply on it answered 200
/// (design §6): waiting for it cannot succeed. One that nobody waits for is on its way.
fn terminating(object: &Value, own: &Own) -> Verdict {
    let finalizers: Vec<&str> = object["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let reason = if finalizers.is_empty() {
        "terminating".to_owned()
    } else {
        format!("terminating; waiting for finalizers: {}", finalizers.join(", "))
    };
    let namespace = object["kind"] == "Namespace" && object["apiVersion"] == "v1";
    if namespace {
        api::terminating_namespace(object, &reason)
    } else if *own == Own::default() {
        Verdict::progressing(reason)
    } else {
        Verdict::failed(reason)
    }
}

/// Whether the group is served by the API server itself, so that a kind without a rule has no
/// status that could say more (ConfigMap, Role, NetworkPolicy).
fn built_in(group: &str) -> bool {
    const GROUPS: [&str; 22] = [
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    ];
    GROUPS.contains(&group)
}
