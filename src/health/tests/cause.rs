//! The one line that says why a workload does not get on.

use super::*;

fn meta(name: &str, uid: &str, owner: &str) -> Value {
    json!({"name": name, "uid": uid, "labels": {"app": "web"},
        "ownerReferences": [{"uid": owner, "controller": true}]})
}

fn pod(name: &str, owner: &str, status: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, name, owner),
        "status": status})
}

fn waiting(reason: &str, message: &str) -> Value {
    json!({"phase": "Pending", "containerStatuses": [
        {"name": "app", "state": {"waiting": {"reason": reason, "message": message}}}]})
}

fn not_ready() -> Value {
    json!({"phase": "Running", "containerStatuses": [
        {"name": "app", "ready": false, "state": {"running": {}}}]})
}

fn ready() -> Value {
    json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
}

fn pull() -> Value {
    waiting("ImagePullBackOff", "Back-off pulling image \"registry/x:2\"")
}

fn set(name: &str, revision: &str) -> Value {
    let mut metadata = meta(name, name, "u-1");
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": revision});
    json!({"kind": "ReplicaSet", "metadata": metadata})
}

fn warning(about: &str, reason: &str, message: &str, time: &str) -> Value {
    json!({"type": "Warning", "reason": reason, "message": message, "lastTimestamp": time,
        "involvedObject": {"uid": about}})
}

fn deployment() -> Value {
    object(
        "apps/v1",
        "Deployment",
        json!({"replicas": 3, "selector": {"matchLabels": {"app": "web"}}}),
        json!({}),
    )
}

fn why(workload: &Value, sets: &[Value], pods: &[Value], events: &[Value]) -> Option<String> {
    let around = Surroundings { replica_sets: sets, pods, events, ..Surroundings::at(now()) };
    cause(workload, &around)
}

#[test]
fn pods_of_the_newest_replica_set_decide() {
    let sets = [set("old", "9"), set("new", "10")];
    let pods = [
        pod("web-old-1", "old", waiting("CrashLoopBackOff", "")),
        pod("web-new-1", "new", ready()),
        pod("web-new-2", "new", pull()),
        pod("other-1", "other", waiting("CrashLoopBackOff", "")),
    ];
    let line = "pod web-new-2: ImagePullBackOff: Back-off pulling image \"registry/x:2\"";
    assert_eq!(why(&deployment(), &sets, &pods, &[]).as_deref(), Some(line));
    // Without ReplicaSets the labels have to do.
    let all = "pod other-1: container app: CrashLoopBackOff, restarts 0 (and 1 more)";
    assert_eq!(why(&deployment(), &[], &pods, &[]).as_deref(), Some(all));
    assert_eq!(why(&deployment(), &sets, &pods[..2], &[]), None);
}

#[test]
fn pods_that_go_away_are_not_asked() {
    let mut going = pod("web-new-1", "new", pull());
    going["metadata"]["deletionTimestamp"] = json!(NOW);
    assert_eq!(why(&deployment(), &[set("new", "1")], &[going], &[]), None);
}

#[test]
fn pods_of_the_last_generation_are_not_blamed() {
    let mut workload = deployment();
    workload["status"]["observedGeneration"] = json!(1);
    let pods = [pod("web-new-1", "new", pull())];
    assert_eq!(why(&workload, &[set("new", "1")], &pods, &[]), None);
    workload["status"]["observedGeneration"] = json!(2);
    assert!(why(&workload, &[set("new", "1")], &pods, &[]).is_some());
}

#[test]
fn the_most_telling_trouble_comes_first_with_its_number() {
    let sets = [set("new", "1")];
    let stuck = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled",
        "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]});
    let mut pods = vec![
        pod("a", "new", waiting("ContainerCreating", "")),
        pod("b", "new", not_ready()),
        pod("c", "new", stuck.clone()),
        pod("d", "new", stuck),
    ];
    assert_eq!(
        why(&deployment(), &sets, &pods, &[]).as_deref(),
        Some("pod c: Unschedulable: 0/3 nodes are available (and 1 more)")
    );
    pods.push(pod("e", "new", pull()));
    assert_eq!(
        why(&deployment(), &sets, &pods, &[]).as_deref(),
        Some("pod e: ImagePullBackOff: Back-off pulling image \"registry/x:2\"")
    );
    pods.push(pod("f", "new", waiting("InvalidImageName", "bad")));
    assert_eq!(
        why(&deployment(), &sets, &pods, &[]).as_deref(),
        Some("pod f: InvalidImageName: bad")
    );
}

#[test]
fn warnings_explain_what_a_status_does_not() {
    let sets = [set("new", "1")];
    let early = "2026-01-01T00:01:00Z";
    let late = "2026-01-01T00:02:00Z";
    let events = [
        warning("b", "Unhealthy", "Readiness probe failed: HTTP probe failed with 503", late),
        warning("b", "Unhealthy", "Readiness probe failed: connection refused", early),
        warning("c", "FailedMount", "configmap \"web\" not found", early),
    ];
    assert_eq!(
        why(&deployment(), &sets, &[pod("b", "new", not_ready())], &events).as_deref(),
        Some("pod b: Unhealthy: Readiness probe failed: HTTP probe failed with 503")
    );
    let creating = pod("c", "new", waiting("ContainerCreating", ""));
    assert_eq!(
        why(&deployment(), &sets, std::slice::from_ref(&creating), &events).as_deref(),
        Some("pod c: FailedMount: configmap \"web\" not found")
    );
    assert_eq!(
        why(&deployment(), &sets, &[creating], &[]).as_deref(),
        Some("pod c: ContainerCreating")
    );
    // events.k8s.io/v1 has other names for the same.
    let modern = [json!({"type": "Warning", "reason": "Unhealthy", "note": "probe failed",
        "eventTime": late, "regarding": {"uid": "b"}})];
    assert_eq!(
        why(&deployment(), &sets, &[pod("b", "new", not_ready())], &modern).as_deref(),
        Some("pod b: Unhealthy: probe failed")
    );
}

#[test]
fn a_refusal_to_make_pods_is_a_cause() {
    let message = "pods \"new-x\" is forbidden: exceeded quota: small, requested: pods=1";
    let mut newest = set("new", "2");
    newest["status"] = json!({"conditions": [{"type": "ReplicaFailure", "status": "True",
        "reason": "FailedCreate", "message": message}]});
    let line = Some("quota: exceeded quota: small, requested: pods=1".to_owned());
    let sets = [set("old", "1"), newest];
    assert_eq!(why(&deployment(), &sets, &[], &[]), line);
    // It says more than a sibling that merely starts, and less than one that fails.
    let starting = pod("a", "new", waiting("ContainerCreating", ""));
    assert_eq!(why(&deployment(), &sets, &[starting], &[]), line);
    assert_eq!(
        why(&deployment(), &sets, &[pod("a", "new", waiting("InvalidImageName", ""))], &[])
            .as_deref(),
        Some("pod a: InvalidImageName")
    );
    // Kinds without the condition have events.
    let stateful = object("apps/v1", "StatefulSet", json!({}), json!({}));
    let events = [warning("u-1", "FailedCreate", message, NOW)];
    assert_eq!(why(&stateful, &[], &[], &events), line);
}

#[test]
fn stateful_sets_name_the_pod_that_holds_them_up() {
    let stateful = object("apps/v1", "StatefulSet", json!({}), json!({"updateRevision": "r2"}));
    let of = |name: &str, revision: &str, status: Value| {
        let mut pod = pod(name, "u-1", status);
        pod["metadata"]["labels"]["controller-revision-hash"] = json!(revision);
        pod
    };
    let line = |pods: &[Value]| why(&stateful, &[], pods, &[]);
    assert_eq!(
        line(&[of("db-0", "r1", not_ready()), of("db-2", "r2", pull())]).as_deref(),
        Some("pod db-2: ImagePullBackOff: Back-off pulling image \"registry/x:2\"")
    );
    assert_eq!(
        line(&[of("db-0", "r1", pull()), of("db-2", "r2", ready())]).as_deref(),
        Some("pod db-0: ImagePullBackOff: Back-off pulling image \"registry/x:2\"")
    );
}

#[test]
fn a_long_message_is_one_line_and_ends() {
    let long = format!("first\n  second\t{}", "x".repeat(900));
    let line = why(
        &deployment(),
        &[set("new", "1")],
        &[pod("a", "new", waiting("RunContainerError", &long))],
        &[],
    )
    .expect("a cause");
    assert!(line.starts_with("pod a: RunContainerError: first second xxx"), "{line}");
    assert!(line.ends_with('…') && line.chars().count() < 450, "{line}");
}
