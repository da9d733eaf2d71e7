//! Deployments, StatefulSets, DaemonSets, ReplicaSets, and the generation that they are bound to.

use super::*;

fn deployment(spec: Value, status: Value) -> Value {
    object("apps/v1", "Deployment", spec, status)
}

fn done() -> Value {
    json!({
        "observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3,
        "availableReplicas": 3,
        "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    })
}

fn with(mut base: Value, changes: Value) -> Value {
    let (Some(map), Value::Object(changes)) = (base.as_object_mut(), changes) else {
        panic!("objects");
    };
    map.extend(changes);
    base
}

#[test]
fn deployments() {
    let deadline = json!([{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"web-7d9\" has timed out progressing."}]);
    let quota = |since: &str| {
        json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
            "lastTransitionTime": since,
            "message": "pods \"web-7d9-x\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"}])
    };
    check(vec![
        ("done", deployment(json!({"replicas": 3}), done()), "Healthy"),
        (
            "edge 1: no status yet",
            deployment(json!({"replicas": 1}), json!({})),
            "Progressing: waiting for its controller to see it",
        ),
        (
            "edge 1: no status yet, and none wanted",
            deployment(json!({"replicas": 0}), json!({})),
            "Progressing: waiting for its controller to see it",
        ),
        (
            "stale green: the status of the last generation",
            deployment(json!({"replicas": 3}), with(done(), json!({"observedGeneration": 1}))),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "edge 5: a stale failure is no failure",
            deployment(
                json!({"replicas": 3}),
                with(done(), json!({"observedGeneration": 1, "conditions": deadline})),
            ),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "edge 8: counts of 0 are absent",
            deployment(json!({"replicas": 3}), json!({"observedGeneration": 2})),
            "Progressing: 0/3 updated",
        ),
        (
            "updating",
            deployment(json!({"replicas": 3}), with(done(), json!({"updatedReplicas": 1}))),
            "Progressing: 1/3 updated",
        ),
        (
            "old pods still there",
            deployment(json!({"replicas": 3}), with(done(), json!({"replicas": 5}))),
            "Progressing: 2 old pods to go",
        ),
        (
            "one old pod still there",
            deployment(json!({"replicas": 3}), with(done(), json!({"replicas": 4}))),
            "Progressing: 1 old pod to go",
        ),
        (
            "scaling down",
            deployment(
                json!({"replicas": 2}),
                with(done(), json!({"replicas": 3, "updatedReplicas": 3})),
            ),
            "Progressing: 1 extra pod to go",
        ),
        (
            "edge 12: ready, and not yet for minReadySeconds",
            deployment(
                json!({"replicas": 3, "minReadySeconds": 30}),
                with(done(), json!({"availableReplicas": 1})),
            ),
            "Progressing: 1/3 available",
        ),
        (
            "none available",
            deployment(json!({"replicas": 3}), with(done(), json!({"availableReplicas": null}))),
            "Progressing: 0/3 available",
        ),
        (
            "deadline exceeded",
            deployment(
                json!({"replicas": 3, "progressDeadlineSeconds": 600}),
                with(done(), json!({"updatedReplicas": 1, "conditions": deadline})),
            ),
            "Failed: ProgressDeadlineExceeded: ReplicaSet \"web-7d9\" has timed out progressing.",
        ),
        (
            "edge 3: no deadline, no condition",
            deployment(
                json!({"replicas": 3, "progressDeadlineSeconds": 2_147_483_647}),
                with(done(), json!({"conditions": []})),
            ),
            "Healthy",
        ),
        (
            "a Progressing that is false for another reason",
            deployment(
                json!({"replicas": 3}),
                with(
                    done(),
                    json!({"conditions": [{"type": "Progressing", "status": "False",
                        "reason": "FailedCreate"}]}),
                ),
            ),
            "Healthy",
        ),
        (
            "paused, half way",
            deployment(
                json!({"replicas": 3, "paused": true}),
                with(
                    done(),
                    json!({"updatedReplicas": 1, "conditions": [{"type": "Progressing",
                        "status": "Unknown", "reason": "DeploymentPaused"}]}),
                ),
            ),
            "Paused: spec.paused is true; 1/3 updated",
        ),
        (
            "edge 4: paused and resumed",
            deployment(
                json!({"replicas": 3}),
                with(
                    done(),
                    json!({"updatedReplicas": 1, "conditions": [{"type": "Progressing",
                        "status": "Unknown", "reason": "DeploymentResumed"}]}),
                ),
            ),
            "Progressing: 1/3 updated",
        ),
        (
            "paused and not yet seen",
            deployment(json!({"replicas": 3, "paused": true}), json!({"observedGeneration": 1})),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "scaled to 0",
            deployment(json!({"replicas": 0}), json!({"observedGeneration": 2})),
            "Healthy",
        ),
        (
            "scaled to 0, a pod left",
            deployment(
                json!({"replicas": 0}),
                json!({"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1}),
            ),
            "Progressing: 1 extra pod to go",
        ),
        (
            "replicas default to 1",
            deployment(json!({}), json!({"observedGeneration": 2})),
            "Progressing: 0/1 updated",
        ),
        (
            "quota, just now",
            deployment(
                json!({"replicas": 3}),
                with(done(), json!({"conditions": quota("2026-01-01T00:09:30Z")})),
            ),
            "Progressing: quota: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2",
        ),
        (
            "quota, for longer than the grace",
            deployment(
                json!({"replicas": 3}),
                with(done(), json!({"conditions": quota("2026-01-01T00:09:00Z")})),
            ),
            "Failed: quota: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2",
        ),
        (
            "refused by a webhook",
            deployment(
                json!({"replicas": 3}),
                with(
                    done(),
                    json!({"conditions": [{"type": "ReplicaFailure", "status": "True",
                        "reason": "FailedCreate",
                        "message": "admission webhook \"deny.example.com\"\ndenied the request"}]}),
                ),
            ),
            "Progressing: FailedCreate: admission webhook \"deny.example.com\" denied the request",
        ),
        (
            "a refusal that is over",
            deployment(
                json!({"replicas": 3}),
                with(
                    done(),
                    json!({"conditions": [{"type": "ReplicaFailure", "status": "False"}]}),
                ),
            ),
            "Healthy",
        ),
        (
            "a status of wrong types is no panic",
            deployment(json!([]), json!("green")),
            "Progressing: waiting for its controller to see it",
        ),
    ]);
}

#[test]
fn stateful_sets() {
    let set = |spec: Value, status: Value| object("apps/v1", "StatefulSet", spec, status);
    let done = || {
        json!({"observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "currentReplicas": 3, "updatedReplicas": 3,
            "currentRevision": "web-b", "updateRevision": "web-b"})
    };
    let moving = |updated: i64| {
        with(done(), json!({"updatedReplicas": updated, "currentRevision": "web-a"}))
    };
    let rolling = |partition: i64| {
        json!({"replicas": 3, "updateStrategy": {"type": "RollingUpdate",
            "rollingUpdate": {"partition": partition}}})
    };
    let on_delete = || json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
    check(vec![
        ("done", set(rolling(0), done()), "Healthy"),
        ("no strategy given", set(json!({"replicas": 3}), done()), "Healthy"),
        (
            "not seen",
            set(rolling(0), json!({})),
            "Progressing: waiting for its controller to see it",
        ),
        (
            "stale green",
            set(rolling(0), with(done(), json!({"observedGeneration": 1}))),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        ("updating", set(rolling(0), moving(1)), "Progressing: 1/3 updated"),
        (
            "updating, a count of 0 is absent",
            set(rolling(0), with(moving(0), json!({"updatedReplicas": null}))),
            "Progressing: 0/3 updated",
        ),
        (
            "updated and not ready",
            set(rolling(0), with(moving(3), json!({"readyReplicas": 2}))),
            "Progressing: 2/3 ready",
        ),
        (
            "all updated, revisions still apart",
            set(rolling(0), moving(3)),
            "Progressing: all updated; the rollout is being closed",
        ),
        (
            "kubernetes#72212: no updatedReplicas, revisions equal",
            set(rolling(0), with(done(), json!({"updatedReplicas": null}))),
            "Healthy",
        ),
        (
            "partition reached",
            set(rolling(2), moving(1)),
            "Healthy [2 pods on the old revision, kept by partition 2]",
        ),
        ("partition not reached", set(rolling(1), moving(1)), "Progressing: 1/2 updated"),
        (
            "partition reached, one not ready",
            set(rolling(2), with(moving(1), json!({"readyReplicas": 2}))),
            "Progressing: 2/3 ready",
        ),
        (
            "partition above the replicas",
            set(rolling(7), moving(0)),
            "Healthy [3 pods on the old revision, kept by partition 7]",
        ),
        (
            "more updated than the partition asks",
            set(rolling(2), moving(2)),
            "Healthy [1 pod on the old revision, kept by partition 2]",
        ),
        (
            "OnDelete with old pods",
            set(on_delete(), moving(1)),
            "Healthy [2 pods on the old revision: OnDelete updates a pod when it is deleted]",
        ),
        (
            "OnDelete not ready",
            set(on_delete(), with(moving(1), json!({"readyReplicas": 1}))),
            "Progressing: 1/3 ready",
        ),
        (
            "OnDelete not seen",
            set(on_delete(), with(done(), json!({"observedGeneration": 1}))),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "scaling down",
            set(rolling(0), with(done(), json!({"replicas": 5, "readyReplicas": 5}))),
            "Progressing: 2 extra pods to go",
        ),
        (
            "scaled to 0 with an update",
            set(
                json!({"replicas": 0}),
                json!({"observedGeneration": 2, "currentRevision": "a", "updateRevision": "b"}),
            ),
            "Healthy",
        ),
        (
            "minReadySeconds",
            set(
                json!({"replicas": 3, "minReadySeconds": 10}),
                with(done(), json!({"availableReplicas": 1})),
            ),
            "Progressing: 1/3 available",
        ),
    ]);
}

#[test]
fn daemon_sets() {
    let set = |spec: Value, status: Value| object("apps/v1", "DaemonSet", spec, status);
    let done = || {
        json!({"observedGeneration": 2, "desiredNumberScheduled": 4, "currentNumberScheduled": 4,
            "updatedNumberScheduled": 4, "numberReady": 4, "numberAvailable": 4})
    };
    let on_delete = || json!({"updateStrategy": {"type": "OnDelete"}});
    check(vec![
        ("done", set(json!({}), done()), "Healthy"),
        (
            "not seen",
            set(json!({}), json!({})),
            "Progressing: waiting for its controller to see it",
        ),
        (
            "stale green",
            set(json!({}), with(done(), json!({"observedGeneration": 1}))),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "updating",
            set(json!({}), with(done(), json!({"updatedNumberScheduled": 1}))),
            "Progressing: 1/4 updated",
        ),
        (
            "updated and not available",
            set(json!({}), with(done(), json!({"numberAvailable": 3, "numberUnavailable": 1}))),
            "Progressing: 3/4 available",
        ),
        (
            "a node came",
            set(json!({}), with(done(), json!({"desiredNumberScheduled": 5}))),
            "Progressing: 4/5 updated",
        ),
        (
            "no node",
            set(json!({}), json!({"observedGeneration": 2, "desiredNumberScheduled": 0})),
            "Healthy [no node is selected]",
        ),
        (
            "OnDelete with old pods",
            set(on_delete(), with(done(), json!({"updatedNumberScheduled": null}))),
            "Healthy [4 pods on the old revision: OnDelete updates a pod when it is deleted]",
        ),
        (
            "OnDelete not available",
            set(on_delete(), with(done(), json!({"numberAvailable": 1}))),
            "Progressing: 1/4 available",
        ),
    ]);
}

#[test]
fn replica_sets() {
    let set = |spec: Value, status: Value| object("apps/v1", "ReplicaSet", spec, status);
    let controller =
        |spec: Value, status: Value| object("v1", "ReplicationController", spec, status);
    let done = || json!({"observedGeneration": 2, "replicas": 2, "availableReplicas": 2});
    check(vec![
        ("done", set(json!({"replicas": 2}), done()), "Healthy"),
        ("controller done", controller(json!({"replicas": 2}), done()), "Healthy"),
        (
            "not seen",
            set(json!({"replicas": 2}), json!({"replicas": 0})),
            "Progressing: waiting for its controller to see it",
        ),
        (
            "not available",
            set(json!({"replicas": 2}), with(done(), json!({"availableReplicas": 1}))),
            "Progressing: 1/2 available",
        ),
        ("scaling down", set(json!({"replicas": 1}), done()), "Progressing: 1 extra pod to go"),
        (
            "quota",
            controller(
                json!({"replicas": 2}),
                with(
                    done(),
                    json!({"conditions": [{"type": "ReplicaFailure", "status": "True",
                        "reason": "FailedCreate", "message": "no",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}),
                ),
            ),
            "Failed: FailedCreate: no",
        ),
    ]);
}

/// Judges with our own apply's answer.
fn after(own: (i64, &str), object: &Value) -> String {
    let own = Own { generation: Some(own.0), uid: Some(own.1.into()) };
    show(&health(object, &own, &Surroundings::at(now())))
}

fn at(generation: i64, observed: i64) -> Value {
    let mut object =
        deployment(json!({"replicas": 3}), with(done(), json!({"observedGeneration": observed})));
    object["metadata"]["generation"] = generation.into();
    object
}

#[test]
fn a_verdict_is_bound_to_our_own_generation() {
    let wait = |wanted: i64, seen: i64| {
        format!(
            "Progressing: waiting for its controller to see generation {wanted}: the status is of {seen}"
        )
    };
    let since = |live: i64, ours: i64| {
        format!("[changed by someone since our apply (generation {live}, ours is {ours})]")
    };
    // (live generation, observed, ours) → line.
    let rows = [
        (2, 2, 2, "Healthy".to_owned()),
        (2, 1, 2, wait(2, 1)),
        (
            1,
            1,
            2,
            "Progressing: waiting for the API server to show generation 2: this read is of 1"
                .into(),
        ),
        // Edge 2: someone's later edit is told, and not awaited.
        (3, 2, 2, format!("Healthy {}", since(3, 2))),
        (3, 3, 2, format!("Healthy {}", since(3, 2))),
        (3, 1, 2, format!("{} {}", wait(2, 1), since(3, 2))),
    ];
    for (live, observed, ours, wanted) in rows {
        let line = after((ours, "u-1"), &at(live, observed));
        assert_eq!(line, wanted, "live {live}, observed {observed}, ours {ours}");
    }
}

#[test]
fn the_hand_that_changed_it_is_named() {
    let mut object = at(3, 3);
    object["metadata"]["managedFields"] = json!([
        {"manager": "mcd:shop/web", "operation": "Apply", "time": "2026-01-01T00:05:00Z"},
        {"manager": "kubectl-edit", "operation": "Update", "time": "2026-01-01T00:03:00Z"},
        {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status",
         "time": "2026-01-01T00:06:00Z"},
    ]);
    assert_eq!(
        after((2, "u-1"), &object),
        "Healthy [changed by kubectl-edit since our apply (generation 3, ours is 2)]"
    );
    object["metadata"]["managedFields"][1] = json!({"manager": "kube-controller-manager",
        "operation": "Update", "subresource": "scale", "time": "2026-01-01T00:04:00Z"});
    assert_eq!(
        after((2, "u-1"), &object),
        "Healthy [changed by kube-controller-manager (scale) since our apply (generation 3, ours is 2)]"
    );
}

#[test]
fn another_object_of_the_name_is_not_ours() {
    assert_eq!(
        after((2, "u-0"), &at(2, 2)),
        "Failed: deleted and recreated by someone since our apply"
    );
}

#[test]
fn a_terminating_object_of_ours_does_not_become_healthy() {
    let mut object = at(2, 2);
    object["metadata"]["deletionTimestamp"] = json!(NOW);
    assert_eq!(judge(&object), "Progressing: terminating");
    assert_eq!(after((2, "u-1"), &object), "Failed: terminating");
    object["metadata"]["finalizers"] = json!(["a.example.com/x", "foregroundDeletion"]);
    assert_eq!(
        after((2, "u-1"), &object),
        "Failed: terminating; waiting for finalizers: a.example.com/x, foregroundDeletion"
    );
}

#[test]
fn own_is_read_off_the_answer() {
    assert_eq!(Own::of(&at(4, 3)), Own { generation: Some(4), uid: Some("u-1".into()) });
    assert_eq!(Own::of(&json!({"kind": "Status"})), Own::default());
}

#[test]
fn numbers_for_the_table() {
    let numbers = |object: &Value| {
        let n = readiness(object, &Own::default())?;
        Some((n.ready, n.wanted, n.updated))
    };
    let partly = with(done(), json!({"readyReplicas": 2, "updatedReplicas": 1}));
    let stateful = |current: &str, updated: i64| {
        object(
            "apps/v1",
            "StatefulSet",
            json!({"replicas": 3}),
            json!({"observedGeneration": 2, "replicas": 3, "readyReplicas": 3,
                "updatedReplicas": updated, "currentRevision": current, "updateRevision": "b"}),
        )
    };
    let daemon = json!({"observedGeneration": 2, "desiredNumberScheduled": 4, "numberReady": 3,
        "updatedNumberScheduled": 2});
    let pod = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let rows = [
        (deployment(json!({"replicas": 3}), partly), Some((2, 3, 1))),
        (deployment(json!({}), json!({})), Some((0, 1, 0))),
        // The updated pods of the last generation are not ours.
        (at(2, 1), Some((3, 3, 0))),
        (stateful("a", 1), Some((3, 3, 1))),
        (stateful("b", 0), Some((3, 3, 3))),
        (object("apps/v1", "DaemonSet", json!({}), daemon), Some((3, 4, 2))),
        (
            object(
                "apps/v1",
                "ReplicaSet",
                json!({"replicas": 2}),
                json!({"observedGeneration": 2, "replicas": 2, "readyReplicas": 1}),
            ),
            Some((1, 2, 2)),
        ),
        (object("v1", "Pod", json!({}), pod), Some((1, 1, 1))),
        (object("v1", "Pod", json!({}), json!({})), Some((0, 1, 1))),
        (object("batch/v1", "Job", json!({}), json!({})), None),
        (object("example.com/v1", "Deployment", json!({}), json!({})), None),
    ];
    for (object, wanted) in rows {
        assert_eq!(numbers(&object), wanted, "{object}");
    }
    let sum: Readiness = [
        Readiness { ready: 1, wanted: 2, updated: 0 },
        Readiness { ready: 3, wanted: 3, updated: 3 },
    ]
    .into_iter()
    .sum();
    assert_eq!(sum, Readiness { ready: 4, wanted: 5, updated: 3 });
}
