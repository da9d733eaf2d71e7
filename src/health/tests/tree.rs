//! What objects have made.

use super::*;

fn made(api: &str, kind: &str, name: &str, owner: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": api, "kind": kind, "spec": spec, "status": status,
        "metadata": {
            "name": name, "namespace": "shop", "uid": name,
            "creationTimestamp": "2026-01-01T00:08:00Z",
            "ownerReferences": [{"uid": owner, "controller": true}],
        },
    })
}

fn set(name: &str, replicas: i64, ready: i64) -> Value {
    let status = json!({
        "readyReplicas": ready, "availableReplicas": ready, "replicas": replicas,
        "fullyLabeledReplicas": replicas, "observedGeneration": 1,
    });
    made("apps/v1", "ReplicaSet", name, "u-1", json!({"replicas": replicas}), status)
}

fn pod(name: &str, owner: &str, container: Value) -> Value {
    let ready = container["ready"] == true;
    let conditions = json!([{"type": "Ready", "status": if ready { "True" } else { "False" }}]);
    let status = json!({
        "phase": "Running", "conditions": conditions, "containerStatuses": [container],
    });
    made("v1", "Pod", name, owner, json!({"containers": [{"name": "app"}]}), status)
}

fn running(ready: bool) -> Value {
    json!({"name": "app", "ready": ready, "restartCount": 0, "state": {"running": {}}})
}

fn crashing() -> Value {
    json!({
        "name": "app", "ready": false, "restartCount": 5,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1}},
    })
}

fn pulling() -> Value {
    json!({"name": "app", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff"}}})
}

/// Each node on a line, indented by its depth.
fn drawn(nodes: &[Node], depth: usize, lines: &mut Vec<String>) {
    for node in nodes {
        let ready = node.ready.map(|(r, w)| format!(" {r}/{w}")).unwrap_or_default();
        let logs: Vec<String> =
            node.failing.iter().map(|f| format!(" log:{}:{}", f.container, f.previous)).collect();
        let indent = "  ".repeat(depth);
        lines.push(format!(
            "{indent}{} {} {}{ready}{}",
            node.id.kind,
            node.id.name,
            node.verdict.word(),
            logs.concat()
        ));
        drawn(&node.parts, depth + 1, lines);
    }
}

fn tree(around: &Surroundings<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    drawn(&parts("u-1", around), 0, &mut lines);
    lines
}

#[test]
fn a_deployment_has_sets_with_pods_and_the_worst_stand_first() {
    let sets = [set("old", 0, 0), set("current", 2, 2), set("next", 3, 0)];
    let pods = [
        pod("c1", "current", running(true)),
        pod("n1", "next", pulling()),
        pod("n2", "next", running(false)),
        pod("n3", "next", crashing()),
        pod("other", "someone", running(true)),
    ];
    let around = Surroundings { replica_sets: &sets, pods: &pods, ..Surroundings::at(now()) };
    assert_eq!(
        tree(&around),
        [
            "ReplicaSet next Progressing 0/3",
            "  Pod n1 Progressing 0/1",
            "  Pod n2 Progressing 0/1 log:app:false",
            "  Pod n3 Progressing 0/1 log:app:true",
            "ReplicaSet current Healthy 2/2",
            "  Pod c1 Healthy 1/1",
        ]
    );
}

#[test]
fn a_cron_job_has_jobs_with_pods() {
    let failed =
        json!({"conditions": [{"type": "Failed", "status": "True", "reason": "Deadline"}]});
    let done = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    let jobs = [
        made("batch/v1", "Job", "j1", "u-1", json!({}), done),
        made("batch/v1", "Job", "j2", "u-1", json!({}), failed),
    ];
    let mut pod = pod(
        "p",
        "j2",
        json!({"name": "app", "ready": false, "restartCount": 0,
        "state": {"terminated": {"exitCode": 3}}}),
    );
    pod["status"]["phase"] = json!("Failed");
    let pods = [pod];
    let around = Surroundings { jobs: &jobs, pods: &pods, ..Surroundings::at(now()) };
    assert_eq!(
        tree(&around),
        ["Job j2 Failed", "  Pod p Failed 0/1 log:app:false", "Job j1 Healthy"]
    );
}

#[test]
fn the_last_warnings_are_kept() {
    let event = |about: &str, reason: &str, minute: u32, kind: &str| {
        json!({"type": kind, "reason": reason, "message": "a\n b", "count": minute,
            "lastTimestamp": format!("2026-01-01T00:0{minute}:00Z"),
            "involvedObject": {"uid": about}})
    };
    let events = [
        event("u-1", "First", 1, "Warning"),
        event("u-1", "Fourth", 4, "Warning"),
        event("u-2", "Other", 5, "Warning"),
        event("u-1", "Normal", 6, "Normal"),
        event("u-1", "Third", 3, "Warning"),
        event("u-1", "Second", 2, "Warning"),
    ];
    let around = Surroundings { events: &events, ..Surroundings::at(now()) };
    let found = warnings("u-1", &around);
    let reasons: Vec<&str> = found.iter().map(|w| w.reason.as_str()).collect();
    assert_eq!(reasons, ["Fourth", "Third", "Second"]);
    assert_eq!((found[0].message.as_str(), found[0].count), ("a b", 4));
}

/// Owners that own each other, as only a broken controller writes them.
#[test]
fn a_circle_ends() {
    let sets = [set("u-1", 1, 0)];
    let around = Surroundings { replica_sets: &sets, ..Surroundings::at(now()) };
    assert_eq!(tree(&around).len(), 4);
}
