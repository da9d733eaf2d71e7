//! Whatever a server answers, there is a verdict: no field is taken for granted.

use proptest::prelude::*;

use super::*;

/// Every field that a rule reads, so that junk lands where it is read.
const KEYS: [&str; 40] = [
    "apiVersion",
    "annotations",
    "availableReplicas",
    "clusterIP",
    "completions",
    "conditions",
    "containerStatuses",
    "currentRevision",
    "deletionTimestamp",
    "desiredNumberScheduled",
    "finalizers",
    "generation",
    "initContainerStatuses",
    "involvedObject",
    "kind",
    "labels",
    "lastTransitionTime",
    "listeners",
    "loadBalancer",
    "managedFields",
    "message",
    "metadata",
    "name",
    "observedGeneration",
    "ownerReferences",
    "parentRef",
    "parentRefs",
    "parents",
    "partition",
    "phase",
    "reason",
    "replicas",
    "rollingUpdate",
    "selector",
    "spec",
    "state",
    "status",
    "uid",
    "updateStrategy",
    "updatedReplicas",
];

const KINDS: [(&str, &str); 22] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "ReplicationController"),
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("v1", "Service"),
    ("networking.k8s.io/v1", "Ingress"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("v1", "Namespace"),
    ("gateway.networking.k8s.io/v1", "Gateway"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("example.com/v1", "Db"),
    ("v1", "ConfigMap"),
    ("", ""),
];

fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2_i64..5).prop_map(Value::from),
        prop_oneof![
            Just("True"),
            Just("False"),
            Just("Ready"),
            Just("Available"),
            Just("Progressing"),
            Just("Running"),
            Just("LoadBalancer"),
            Just("OnDelete"),
            Just("u-1"),
            Just("2026-01-01T00:00:00Z"),
            Just("-1"),
        ]
        .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(proptest::sample::select(&KEYS[..]), inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn there_is_a_verdict(
        kind in proptest::sample::select(&KINDS[..]),
        metadata in junk(),
        spec in junk(),
        status in junk(),
        around in proptest::collection::vec(junk(), 0..3),
        generation in proptest::option::of(any::<i64>()),
    ) {
        let object = json!({"apiVersion": kind.0, "kind": kind.1, "metadata": metadata,
            "spec": spec, "status": status});
        let own = Own { generation, uid: None };
        let around = Surroundings {
            now: now(),
            storage_classes: &around,
            replica_sets: &around,
            jobs: &around,
            pods: &around,
            events: &around,
            rules: None,
        };
        let verdict = health(&object, &own, &around);
        // One line each, for a table.
        for text in verdict.health.reason().into_iter().chain(verdict.notes.iter().map(String::as_str)) {
            prop_assert!(!text.is_empty());
        }
        let _ = (readiness(&object, &own), cause(&object, &around));
        let _ = gone(&object, &own, Some(&verdict), &around);
    }
}
