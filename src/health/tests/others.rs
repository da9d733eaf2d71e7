//! All other kinds, objects that are gone, and the sum of a target.

use super::*;
use crate::manifest::ObjectId;

fn conditions(list: &[(&str, &str, &str, &str)]) -> Value {
    let list: Vec<Value> = list
        .iter()
        .map(|(kind, status, reason, message)| {
            json!({"type": kind, "status": status, "reason": reason, "message": message})
        })
        .collect();
    json!(list)
}

#[test]
fn pods() {
    let pod = |status: Value| object("v1", "Pod", json!({}), status);
    let waiting = |reason: &str, message: &str| {
        pod(json!({"phase": "Pending", "containerStatuses": [
            {"name": "app", "state": {"waiting": {"reason": reason, "message": message}}}]}))
    };
    check(vec![
        (
            "ready",
            pod(
                json!({"phase": "Running", "conditions": conditions(&[("Ready", "True", "", "")])}),
            ),
            "Healthy",
        ),
        ("succeeded", pod(json!({"phase": "Succeeded"})), "Healthy"),
        (
            "evicted",
            pod(json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"})),
            "Failed: Evicted: low on memory",
        ),
        (
            "failed by a container",
            pod(json!({"phase": "Failed", "containerStatuses": [
                {"name": "app", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}]})),
            "Failed: container app: exit code 3",
        ),
        ("failed without a word", pod(json!({"phase": "Failed"})), "Failed: Failed"),
        ("lost", pod(json!({"phase": "Unknown"})), "Unknown: its node does not answer"),
        (
            "unschedulable is tolerated: an autoscaler may come",
            pod(json!({"phase": "Pending", "conditions": conditions(
                &[("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")])})),
            "Progressing: Unschedulable: 0/3 nodes are available",
        ),
        (
            "held by a gate",
            pod(json!({"phase": "Pending", "conditions": conditions(
                &[("PodScheduled", "False", "SchedulingGated", "Scheduling is blocked")])})),
            "Progressing: SchedulingGated: Scheduling is blocked",
        ),
        (
            "image pull is tolerated: it may be pushed late",
            waiting("ImagePullBackOff", "Back-off pulling image \"registry/x:2\""),
            "Progressing: ImagePullBackOff: Back-off pulling image \"registry/x:2\"",
        ),
        (
            "an image name that is none",
            waiting("InvalidImageName", "couldn't parse image name"),
            "Failed: InvalidImageName: couldn't parse image name",
        ),
        (
            "a ConfigMap is missing",
            waiting("CreateContainerConfigError", "configmap \"web\" not found"),
            "Progressing: CreateContainerConfigError: configmap \"web\" not found",
        ),
        ("creating", waiting("ContainerCreating", ""), "Progressing: ContainerCreating"),
        ("new", pod(json!({"phase": "Pending"})), "Progressing: Pending"),
        ("no status", pod(json!({})), "Progressing: Pending"),
        (
            "crash loop",
            pod(json!({"phase": "Running", "containerStatuses": [{"name": "app",
                "restartCount": 4,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
                    "message": "password=hunter2"}}}]})),
            "Progressing: container app: CrashLoopBackOff, restarts 4, last exit code 137 (OOMKilled)",
        ),
        (
            "init container fails",
            pod(json!({"phase": "Pending",
                "initContainerStatuses": [{"name": "migrate", "restartCount": 2,
                    "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}],
                "containerStatuses": [{"name": "app",
                    "state": {"waiting": {"reason": "PodInitializing"}}}]})),
            "Progressing: init container migrate: exit code 1, restarts 2",
        ),
        (
            "running, not ready",
            pod(json!({"phase": "Running", "containerStatuses": [
                {"name": "side", "ready": true, "state": {"running": {}}},
                {"name": "app", "ready": false, "restartCount": 0, "state": {"running": {}}}]})),
            "Progressing: container app: not ready",
        ),
        (
            "running, not ready after restarts",
            pod(json!({"phase": "Running", "containerStatuses": [{"name": "app", "ready": false,
                "restartCount": 1, "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": 2}}}]})),
            "Progressing: container app: not ready, restarts 1, last exit code 2",
        ),
        (
            "running, held by a readiness gate",
            pod(json!({"phase": "Running", "containerStatuses": [
                {"name": "app", "ready": true, "state": {"running": {}}}]})),
            "Progressing: not ready",
        ),
    ]);
}

#[test]
fn jobs() {
    let job = |spec: Value, status: Value| object("batch/v1", "Job", spec, status);
    let with =
        |list: &[(&str, &str, &str, &str)]| job(json!({}), json!({"conditions": conditions(list)}));
    check(vec![
        ("complete", with(&[("Complete", "True", "", "")]), "Healthy"),
        (
            "failed",
            with(&[("Failed", "True", "BackoffLimitExceeded", "Job has reached the limit")]),
            "Failed: BackoffLimitExceeded: Job has reached the limit",
        ),
        (
            "about to fail",
            with(&[("FailureTarget", "True", "DeadlineExceeded", "too long")]),
            "Failed: DeadlineExceeded: too long",
        ),
        (
            "a failed condition that is false",
            with(&[("Failed", "False", "", "")]),
            "Progressing: 0 succeeded",
        ),
        (
            "success criteria met, pods still there",
            with(&[("SuccessCriteriaMet", "True", "", "")]),
            "Progressing: 0 succeeded",
        ),
        (
            "running",
            job(json!({"completions": 3}), json!({"succeeded": 1, "active": 2, "failed": 1})),
            "Progressing: 1/3 succeeded, 2 active, 1 failed",
        ),
        ("new", job(json!({"completions": 1}), json!({})), "Progressing: 0/1 succeeded"),
        ("suspended", job(json!({"suspend": true}), json!({})), "Paused: spec.suspend is true"),
        (
            "complete before it was suspended",
            job(
                json!({"suspend": true}),
                json!({"conditions": conditions(
                &[("Complete", "True", "", "")])}),
            ),
            "Healthy",
        ),
        ("cron", object("batch/v1", "CronJob", json!({}), json!({})), "Healthy"),
        (
            "cron, suspended",
            object("batch/v1", "CronJob", json!({"suspend": true}), json!({})),
            "Healthy [suspended: it starts no jobs]",
        ),
    ]);
}

#[test]
fn objects_that_are_gone() {
    let job = object("batch/v1", "Job", json!({"ttlSecondsAfterFinished": 0}), json!({}));
    let forever = object("batch/v1", "Job", json!({}), json!({}));
    let config = object("v1", "ConfigMap", json!({}), json!({}));
    let event = |reason: &str, uid: &str| {
        json!({"type": "Normal", "reason": reason, "message": "Job said so",
            "involvedObject": {"kind": "Job", "name": "web", "uid": uid}})
    };
    let own = Own { generation: Some(1), uid: Some("u-1".into()) };
    let judge = |applied: &Value, last: Option<&Verdict>, events: &[Value]| {
        let around = Surroundings { events, ..Surroundings::at(now()) };
        show(&gone(applied, &own, last, &around))
    };
    let running = Verdict::progressing("0/1 succeeded");
    let complete = Verdict::healthy();
    let unseen = "Applied [removed by its TTL before anyone saw how it ended]";
    assert_eq!(judge(&config, None, &[]), "Failed: deleted by someone since our apply");
    assert_eq!(judge(&forever, None, &[]), "Failed: deleted by someone since our apply");
    // Edge 9.
    assert_eq!(judge(&job, Some(&complete), &[]), "Healthy [completed, and removed by its TTL]");
    assert_eq!(judge(&job, Some(&running), &[]), unseen);
    assert_eq!(
        judge(&job, Some(&running), &[event("SuccessfulCreate", "u-1"), event("Completed", "u-1")]),
        "Healthy [completed, and removed by its TTL]"
    );
    assert_eq!(
        judge(&job, None, &[event("BackoffLimitExceeded", "u-1")]),
        "Failed: BackoffLimitExceeded: Job said so"
    );
    // The events of an earlier Job of the name.
    assert_eq!(judge(&job, None, &[event("Completed", "u-0")]), unseen);
}

#[test]
fn storage() {
    let claim = |spec: Value, phase: &str| {
        object("v1", "PersistentVolumeClaim", spec, json!({"phase": phase}))
    };
    let volume = |status: Value| object("v1", "PersistentVolume", json!({}), status);
    check(vec![
        ("bound", claim(json!({}), "Bound"), "Healthy"),
        ("lost", claim(json!({}), "Lost"), "Failed: Lost: the volume that it was bound to is gone"),
        ("pending", claim(json!({}), "Pending"), "Progressing: Pending: not bound yet"),
        ("volume bound", volume(json!({"phase": "Bound"})), "Healthy"),
        (
            "volume released",
            volume(json!({"phase": "Released"})),
            "Healthy [Released: its claim is gone]",
        ),
        (
            "volume failed",
            volume(json!({"phase": "Failed", "message": "no deleter"})),
            "Failed: Failed: no deleter",
        ),
        ("volume pending", volume(json!({"phase": "Pending"})), "Progressing: Pending"),
    ]);
    let class =
        |name: &str, mode: &str| json!({"metadata": {"name": name}, "volumeBindingMode": mode});
    let classes = [class("late", "WaitForFirstConsumer"), class("now", "Immediate")];
    let event = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "reason": reason, "message": message,
            "lastTimestamp": "2026-01-01T00:09:00Z", "involvedObject": {"uid": "u-1"}})
    };
    let waits = [event("Normal", "WaitForFirstConsumer", "waiting for first consumer")];
    let fails = [event("Warning", "ProvisioningFailed", "storageclass \"x\" not found")];
    let none = [event("Normal", "FailedBinding", "no persistent volumes available")];
    let judge = |class: &str, chosen: bool, classes: &[Value], events: &[Value]| {
        let mut object = claim(json!({"storageClassName": class}), "Pending");
        if chosen {
            object["metadata"]["annotations"] =
                json!({"volume.kubernetes.io/selected-node": "node-1"});
        }
        let around = Surroundings { storage_classes: classes, events, ..Surroundings::at(now()) };
        show(&health(&object, &Own::default(), &around))
    };
    let late = "Healthy [Pending: it is bound when a pod uses it]";
    assert_eq!(judge("late", false, &classes, &[]), late);
    assert_eq!(judge("unread", false, &[], &waits), late);
    assert_eq!(judge("now", false, &classes, &[]), "Progressing: Pending: not bound yet");
    // Its pod is there: from now on it is awaited.
    assert_eq!(judge("late", true, &classes, &waits), "Progressing: Pending: not bound yet");
    assert_eq!(
        judge("x", false, &classes, &fails),
        "Progressing: Pending: ProvisioningFailed: storageclass \"x\" not found"
    );
    assert_eq!(
        judge("", false, &classes, &none),
        "Progressing: Pending: FailedBinding: no persistent volumes available"
    );
}

#[test]
fn services_and_what_stands_around_workloads() {
    let service = |spec: Value, status: Value| object("v1", "Service", spec, status);
    let hpa = |list: &[(&str, &str, &str, &str)]| {
        object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({}),
            json!({"conditions": conditions(list)}),
        )
    };
    let pdb = |status: Value| object("policy/v1", "PodDisruptionBudget", json!({}), status);
    let ingress = |status: Value| object("networking.k8s.io/v1", "Ingress", json!({}), status);
    check(vec![
        ("cluster IP", service(json!({"clusterIP": "10.0.0.1"}), json!({})), "Healthy"),
        ("headless", service(json!({"clusterIP": "None"}), json!({})), "Healthy"),
        (
            "external name",
            service(json!({"type": "ExternalName", "externalName": "a.example"}), json!({})),
            "Healthy",
        ),
        ("no cluster IP", service(json!({}), json!({})), "Progressing: no cluster IP yet"),
        (
            "load balancer without address",
            service(json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}), json!({})),
            "Healthy [no load balancer address yet]",
        ),
        (
            "load balancer with address",
            service(
                json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
                json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}),
            ),
            "Healthy",
        ),
        (
            "load balancer with external IPs",
            service(
                json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1",
                    "externalIPs": ["192.0.2.1"]}),
                json!({}),
            ),
            "Healthy",
        ),
        (
            "ingress without address",
            ingress(json!({"loadBalancer": {}})),
            "Healthy [no address yet (not every controller publishes one)]",
        ),
        (
            "ingress with address",
            ingress(json!({"loadBalancer": {"ingress": [{"hostname": "a.example"}]}})),
            "Healthy",
        ),
        (
            "autoscaler",
            hpa(&[("AbleToScale", "True", "", ""), ("ScalingActive", "True", "", "")]),
            "Healthy",
        ),
        ("autoscaler, new", hpa(&[]), "Healthy"),
        (
            "autoscaler without metrics",
            hpa(&[("ScalingActive", "False", "FailedGetResourceMetric", "no metrics")]),
            "Healthy [ScalingActive is false: FailedGetResourceMetric: no metrics]",
        ),
        (
            "autoscaler switched off by 0 replicas",
            hpa(&[("ScalingActive", "False", "ScalingDisabled", "replicas is 0")]),
            "Healthy",
        ),
        (
            "budget",
            pdb(json!({"observedGeneration": 2, "expectedPods": 3, "disruptionsAllowed": 1})),
            "Healthy",
        ),
        (
            "budget that allows nothing",
            pdb(json!({"observedGeneration": 2, "expectedPods": 3})),
            "Healthy [it allows no disruption now: evictions wait]",
        ),
        ("budget, stale", pdb(json!({"observedGeneration": 1, "expectedPods": 3})), "Healthy"),
        ("budget without pods", pdb(json!({"observedGeneration": 2})), "Healthy"),
    ]);
}

#[test]
fn the_api_itself() {
    let crd = |list: &[(&str, &str, &str, &str)]| {
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({}),
            json!({"conditions": conditions(list)}),
        )
    };
    let api = |list: &[(&str, &str, &str, &str)]| {
        object(
            "apiregistration.k8s.io/v1",
            "APIService",
            json!({}),
            json!({"conditions": conditions(list)}),
        )
    };
    let namespace = |status: Value| object("v1", "Namespace", json!({}), status);
    let mut deleted = namespace(json!({"phase": "Terminating"}));
    deleted["metadata"]["deletionTimestamp"] = json!(NOW);
    let mut kept = namespace(json!({"phase": "Terminating", "conditions": conditions(&[
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "all discovered"),
        ("NamespaceContentRemaining", "True", "SomeResourcesRemain", "pods. has 1 instance")])}));
    kept["metadata"]["deletionTimestamp"] = json!(NOW);
    check(vec![
        (
            "established",
            crd(&[("NamesAccepted", "True", "", ""), ("Established", "True", "", "")]),
            "Healthy",
        ),
        ("definition, new", crd(&[]), "Progressing: not established yet"),
        (
            "installing",
            crd(&[
                ("NamesAccepted", "True", "", ""),
                ("Established", "False", "Installing", "the initial names have been accepted"),
            ]),
            "Progressing: not established yet",
        ),
        (
            "names taken",
            crd(&[("NamesAccepted", "False", "PluralConflict", "\"dbs\" is already in use")]),
            "Failed: its names are not accepted: PluralConflict: \"dbs\" is already in use",
        ),
        (
            "not structural",
            crd(&[
                ("NamesAccepted", "True", "", ""),
                ("Established", "True", "", ""),
                ("NonStructuralSchema", "True", "Violations", "spec: must not be empty"),
            ]),
            "Healthy [Violations: spec: must not be empty]",
        ),
        ("api service", api(&[("Available", "True", "Passed", "")]), "Healthy"),
        (
            "api service down",
            api(&[("Available", "False", "MissingEndpoints", "no endpoints")]),
            "Progressing: MissingEndpoints: no endpoints",
        ),
        ("api service, new", api(&[]), "Progressing: not available yet"),
        ("namespace", namespace(json!({"phase": "Active"})), "Healthy"),
        ("namespace, new", namespace(json!({})), "Healthy"),
        ("namespace going", deleted, "Failed: the namespace is terminating"),
        (
            "namespace kept",
            kept,
            "Failed: the namespace is terminating: SomeResourcesRemain: pods. has 1 instance",
        ),
        ("no status at all", object("v1", "ConfigMap", json!({}), json!({})), "Healthy"),
        (
            "a built-in kind without a rule",
            object("rbac.authorization.k8s.io/v1", "Role", json!({}), json!({})),
            "Healthy",
        ),
    ]);
}

#[test]
fn routes_and_gateways() {
    let parent = |accepted: &str, resolved: &str, seen: i64| {
        json!({"parentRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway",
                "name": "edge", "namespace": "shop"},
            "conditions": [
                {"type": "Accepted", "status": accepted, "reason": "R", "observedGeneration": seen},
                {"type": "ResolvedRefs", "status": resolved, "reason": "BackendNotFound",
                    "message": "service \"x\" not found", "observedGeneration": seen}]})
    };
    let route = |kind: &str, parents: Value| {
        object(
            "gateway.networking.k8s.io/v1",
            kind,
            json!({"parentRefs": [{"name": "edge"}]}),
            json!({"parents": parents}),
        )
    };
    let gateway = |programmed: (&str, &str), listeners: Value| {
        object(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            json!({}),
            json!({"listeners": listeners, "conditions": [
                {"type": "Accepted", "status": "True", "observedGeneration": 2},
                {"type": "Programmed", "status": programmed.0, "reason": programmed.1,
                    "observedGeneration": 2}]}),
        )
    };
    let mut partly = parent("True", "True", 2);
    if let Some(list) = partly["conditions"].as_array_mut() {
        list.push(
            json!({"type": "PartiallyInvalid", "status": "True", "reason": "UnsupportedValue"}),
        );
    }
    let mut other = parent("True", "True", 2);
    other["parentRef"]["name"] = json!("inner");
    let refs = json!([{"name": "https", "conditions": [{"type": "ResolvedRefs", "status": "False",
        "reason": "InvalidCertificateRef"}]}]);
    check(vec![
        ("accepted", route("HTTPRoute", json!([parent("True", "True", 2)])), "Healthy"),
        ("grpc", route("GRPCRoute", json!([parent("True", "True", 2)])), "Healthy"),
        (
            "no answer",
            route("HTTPRoute", json!([])),
            "Progressing: Gateway edge: no controller has answered yet",
        ),
        (
            "answered by another gateway only",
            route("HTTPRoute", json!([other])),
            "Progressing: Gateway edge: no controller has answered yet",
        ),
        (
            "stale",
            route("HTTPRoute", json!([parent("True", "True", 1)])),
            "Progressing: Gateway edge: Accepted is of generation 1, not yet of 2",
        ),
        (
            "not accepted",
            route("HTTPRoute", json!([parent("False", "True", 2)])),
            "Progressing: Gateway edge: not Accepted: R",
        ),
        (
            "backend missing",
            route("HTTPRoute", json!([parent("True", "False", 2)])),
            "Progressing: Gateway edge: not ResolvedRefs: BackendNotFound: service \"x\" not found",
        ),
        (
            "one of two controllers disagrees",
            route("HTTPRoute", json!([parent("True", "True", 2), parent("True", "False", 2)])),
            "Progressing: Gateway edge: not ResolvedRefs: BackendNotFound: service \"x\" not found",
        ),
        (
            "partly invalid",
            route("HTTPRoute", json!([partly])),
            "Healthy [Gateway edge: partly invalid: UnsupportedValue]",
        ),
        (
            "no parents asked",
            object("gateway.networking.k8s.io/v1", "HTTPRoute", json!({}), json!({})),
            "Healthy",
        ),
        ("gateway", gateway(("True", "Programmed"), json!([])), "Healthy"),
        (
            "gateway without address",
            gateway(("False", "AddressNotAssigned"), json!([])),
            "Healthy [no address yet]",
        ),
        (
            "gateway not programmed",
            gateway(("False", "Invalid"), json!([])),
            "Progressing: not Programmed: Invalid",
        ),
        (
            "listener without certificate",
            gateway(("True", ""), refs),
            "Progressing: listener `https`: InvalidCertificateRef",
        ),
        (
            "gateway, new",
            object("gateway.networking.k8s.io/v1", "Gateway", json!({}), json!({})),
            "Progressing: Accepted is not known yet",
        ),
    ]);
}

#[test]
fn custom_resources() {
    let custom = |status: Value| object("example.com/v1", "Db", json!({}), status);
    let by = |list: &[(&str, &str, &str, &str)]| custom(json!({"conditions": conditions(list)}));
    check(vec![
        ("ready", by(&[("Ready", "True", "", "")]), "Healthy"),
        (
            "not ready",
            by(&[("Ready", "False", "Creating", "2 of 3")]),
            "Progressing: not ready: Creating: 2 of 3",
        ),
        (
            "not known",
            by(&[("Ready", "Unknown", "", "")]),
            "Progressing: not ready: no reason given",
        ),
        ("available", by(&[("Available", "True", "", "")]), "Healthy"),
        (
            "not available",
            by(&[("Available", "False", "Down", "")]),
            "Progressing: not available: Down",
        ),
        (
            "ready decides before available",
            by(&[("Available", "False", "Down", ""), ("Ready", "True", "", "")]),
            "Healthy",
        ),
        (
            "stalled",
            by(&[("Stalled", "True", "BadSpec", "no"), ("Ready", "False", "x", "")]),
            "Failed: BadSpec: no",
        ),
        (
            "reconciling",
            by(&[("Reconciling", "True", "Busy", ""), ("Ready", "True", "", "")]),
            "Progressing: Busy",
        ),
        (
            "deadline, as operators copy it",
            by(&[("Progressing", "False", "ProgressDeadlineExceeded", "late")]),
            "Failed: ProgressDeadlineExceeded: late",
        ),
        ("no conditions", custom(json!({})), "Applied"),
        ("no status", custom(Value::Null), "Applied"),
        ("other conditions", by(&[("Synced", "False", "", "")]), "Applied"),
        (
            "stale",
            custom(json!({"observedGeneration": 1, "conditions": conditions(
                &[("Ready", "True", "", "")])})),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "a generation as a string, as Argo Rollouts writes it",
            custom(json!({"observedGeneration": "1", "conditions": conditions(
                &[("Available", "True", "", "")])})),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (
            "a generation as a string, seen",
            custom(json!({"observedGeneration": "2", "conditions": conditions(
                &[("Available", "True", "", "")])})),
            "Healthy",
        ),
        (
            "a generation that is no number",
            custom(json!({"observedGeneration": "5d4c8b", "conditions": conditions(
                &[("Ready", "True", "", "")])})),
            "Healthy",
        ),
        (
            "a condition of an older generation",
            custom(json!({"conditions": [
                {"type": "Ready", "status": "True", "observedGeneration": 1}]})),
            "Progressing: Ready is of an older generation",
        ),
        (
            "a stall of an older generation",
            custom(json!({"conditions": [
                {"type": "Stalled", "status": "True", "observedGeneration": 1},
                {"type": "Ready", "status": "True", "observedGeneration": 2}]})),
            "Healthy",
        ),
    ]);
}

#[test]
fn without_a_status_subresource_generations_run_ahead_unremarked() {
    let mut object = object(
        "example.com/v1",
        "Db",
        json!({}),
        json!({"observedGeneration": 5, "conditions": conditions(&[("Ready", "True", "", "")])}),
    );
    object["metadata"]["generation"] = json!(7);
    let own = Own { generation: Some(2), uid: None };
    let line = |object: &Value| show(&health(object, &own, &Surroundings::at(now())));
    assert_eq!(
        line(&object),
        "Healthy [changed by someone since our apply (generation 7, ours is 2)]"
    );
    object["metadata"]["managedFields"] =
        json!([{"manager": "operator", "fieldsV1": {"f:status": {"f:conditions": {}}}}]);
    assert_eq!(line(&object), "Healthy");
}

#[test]
fn the_worst_object_decides_for_its_target() {
    let id = |kind: &str, name: &str| ObjectId {
        group: String::new(),
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: name.into(),
    };
    let (a, b, c) = (id("Deployment", "a"), id("Deployment", "b"), id("Db", "c"));
    let unknown = Verdict::new(Health::Unknown("?".into()));
    let line = |list: &[(&ObjectId, &Verdict)]| {
        let sum = aggregate(list.iter().copied());
        match sum.health.reason() {
            Some(reason) => format!("{}: {reason}", sum.health.word()),
            None => sum.health.word().to_owned(),
        }
    };
    let (healthy, progressing) = (Verdict::healthy(), Verdict::progressing("1/3 available"));
    let (failed, paused) = (Verdict::failed("no"), Verdict::paused("spec.paused is true"));
    assert_eq!(line(&[]), "Healthy");
    assert_eq!(line(&[(&a, &healthy), (&c, &healthy.clone().unjudged())]), "Healthy");
    assert_eq!(
        line(&[(&a, &healthy), (&b, &progressing), (&c, &progressing)]),
        "Progressing: Deployment shop/b: 1/3 available (and 1 more)"
    );
    assert_eq!(line(&[(&a, &progressing), (&b, &failed)]), "Failed: Deployment shop/b: no");
    assert_eq!(line(&[(&b, &failed), (&a, &progressing)]), "Failed: Deployment shop/b: no");
    assert_eq!(line(&[(&b, &unknown), (&a, &paused)]), "Unknown: Deployment shop/b: ?");
    assert_eq!(
        line(&[(&b, &unknown), (&a, &progressing)]),
        "Progressing: Deployment shop/a: 1/3 available"
    );
    assert_eq!(
        line(&[(&b, &healthy), (&a, &paused)]),
        "Paused: Deployment shop/a: spec.paused is true"
    );
    let noted = healthy.clone().note("no node is selected");
    let sum = aggregate([(&a, &noted), (&b, &failed), (&c, &healthy.unjudged())]);
    assert_eq!(sum.notes, ["Deployment shop/a: no node is selected"]);
    assert_eq!(sum.counts, Counts { healthy: 1, applied: 1, failed: 1, ..Counts::default() });
    assert_eq!(
        serde_json::to_value(&sum).expect("JSON"),
        json!({"state": "failed", "reason": "Deployment shop/b: no",
            "counts": {"healthy": 1, "applied": 1, "progressing": 0, "failed": 1, "paused": 0,
                "unknown": 0},
            "notes": ["Deployment shop/a: no node is selected"]})
    );
}
