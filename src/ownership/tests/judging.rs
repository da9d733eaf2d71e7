use serde_json::{Value, json};

use super::super::{Judgement, ManagerClass, Policy, judge};
use super::{entry, live};
use crate::cluster::FieldConflict;

const OURS: &str = "mcd:shop/web";

fn conflict(manager: &str, subresource: Option<&str>, field: &str) -> FieldConflict {
    FieldConflict {
        manager_text: String::new(),
        manager: manager.into(),
        subresource: subresource.map(str::to_owned),
        api_version: Some("apps/v1".into()),
        field: field.into(),
    }
}

fn image() -> Value {
    json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}}}}})
}

fn forced() -> Policy {
    Policy { force_conflicts: true, ..Policy::default() }
}

const IMAGE: &str = ".spec.template.spec.containers[name=\"c\"].image";

/// What follows as text: `take`, `revert`, `left` and `stop` with their managers and fields.
fn told(judgement: &Judgement) -> Vec<String> {
    let join = |fields: &[super::FieldPath]| {
        fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let take = judgement.take.iter().map(|index| format!("take {index}"));
    let revert =
        judgement.revert.iter().map(|r| format!("revert {} {}", r.manager, join(&r.fields)));
    let left = judgement.left.iter().map(|l| format!("left {}", l.index));
    let adopt = judgement.adopt.iter().map(|deployer| format!("adopt {deployer}"));
    let marks = judgement.marks.iter().map(|mark| format!("mark {mark}"));
    let stop = judgement
        .stop
        .iter()
        .map(|s| format!("stop {}: {} [{}]", s.manager, s.why, join(&s.fields)));
    take.chain(revert).chain(left).chain(adopt).chain(marks).chain(stop).collect()
}

/// A case: name, the other's entry, its conflict, forced or not, what follows.
#[test]
fn the_table_of_other_managers() {
    let some = json!({"f:data": {"f:x": {}}});
    let mut scale =
        entry("kube-controller-manager", "Update", &json!({"f:spec": {"f:replicas": {}}}));
    scale["subresource"] = json!("scale");
    let mut hand_scale = scale.clone();
    hand_scale["manager"] = json!("kubectl");
    let at_scale = |manager| conflict(manager, Some("scale"), ".spec.replicas");
    let cases: Vec<(&str, Value, Option<FieldConflict>, bool, Vec<&str>)> = vec![
        (
            "kubectl apply is taken",
            entry("kubectl-client-side-apply", "Update", &some),
            None,
            false,
            vec!["take 0"],
        ),
        (
            "and its conflict ends by that",
            entry("kubectl-client-side-apply", "Update", &image()),
            Some(conflict("kubectl-client-side-apply", None, IMAGE)),
            false,
            vec!["take 0"],
        ),
        (
            "an empty set is nothing to take",
            entry("kubectl-create", "Update", &json!({})),
            None,
            false,
            vec![],
        ),
        ("our own update is taken", entry(OURS, "Update", &some), None, false, vec!["take 0"]),
        ("a hand is left", entry("kubectl-edit", "Update", &image()), None, false, vec!["left 0"]),
        (
            "unless the manifest sets what it set",
            entry("kubectl-edit", "Update", &image()),
            Some(conflict("kubectl-edit", None, IMAGE)),
            false,
            vec!["revert kubectl-edit .spec.template.spec.containers[name=\"c\"].image", "left 0"],
        ),
        (
            "kubectl scale is a hand",
            hand_scale,
            Some(at_scale("kubectl")),
            false,
            vec!["revert kubectl .spec.replicas", "left 0"],
        ),
        (
            "a restart is left",
            entry("kubectl-rollout", "Update", &some),
            None,
            false,
            vec!["left 0"],
        ),
        (
            "an undo goes back",
            entry("kubectl-rollout", "Update", &image()),
            Some(conflict("kubectl-rollout", None, IMAGE)),
            false,
            vec![
                "revert kubectl-rollout .spec.template.spec.containers[name=\"c\"].image",
                "left 0",
            ],
        ),
        ("an autoscaler is left", scale.clone(), None, false, vec!["left 0"]),
        (
            "and stops when the manifest sets replicas",
            scale.clone(),
            Some(at_scale("kube-controller-manager")),
            false,
            vec![
                "left 0",
                "stop kube-controller-manager: `kube-controller-manager (scale)` has set `.spec.replicas` [.spec.replicas]",
            ],
        ),
        (
            "unless forced",
            scale,
            Some(at_scale("kube-controller-manager")),
            true,
            vec!["revert kube-controller-manager .spec.replicas", "left 0"],
        ),
        ("an operator is left", entry("my-operator", "Update", &some), None, false, vec!["left 0"]),
        (
            "and stops on a conflict",
            entry("my-operator", "Update", &some),
            Some(conflict("my-operator", None, ".data.x")),
            false,
            vec!["left 0", "stop my-operator: `my-operator` has set `.data.x` [.data.x]"],
        ),
        (
            "another applier stops",
            entry("my-pipeline", "Apply", &some),
            Some(FieldConflict { api_version: None, ..conflict("my-pipeline", None, ".data.x") }),
            false,
            vec!["left 0", "stop my-pipeline: `my-pipeline (apply)` applies `.data.x` [.data.x]"],
        ),
        (
            "unless forced",
            entry("my-pipeline", "Apply", &some),
            Some(conflict("my-pipeline", None, ".data.x")),
            true,
            vec!["revert my-pipeline .data.x", "left 0"],
        ),
        (
            "one that shares the object without conflict does not",
            entry("my-pipeline", "Apply", &some),
            None,
            false,
            vec!["left 0"],
        ),
        (
            "another application stops, forced or not",
            entry("mcd:shop/api", "Apply", &some),
            Some(conflict("mcd:shop/api", None, ".data.x")),
            true,
            vec!["stop mcd:shop/api: it belongs to the application `shop/api` [.data.x]"],
        ),
        (
            "a deployer stops, forced or not",
            entry("helm", "Update", &some),
            None,
            true,
            vec!["stop helm: it is deployed by helm []"],
        ),
        (
            "a conflict with nobody's entry",
            entry("x", "Update", &json!({})),
            Some(conflict("before-first-apply", None, ".data.a.b")),
            false,
            vec!["revert before-first-apply .data[\"a.b\"]"],
        ),
    ];
    for (name, other, at, force, expected) in cases {
        let object = live(json!({}), vec![other, entry(OURS, "Apply", &json!({"f:a": {}}))]);
        let conflicts: Vec<FieldConflict> = at.into_iter().collect();
        let policy = Policy { force_conflicts: force, ..Policy::default() };
        assert_eq!(told(&judge(&object, OURS, &conflicts, &policy)), expected, "{name}");
    }
}

#[test]
fn marks_alone_stop() {
    let object = live(
        json!({"metadata": {"labels": {"kapp.k14s.io/app": "7"}}}),
        vec![entry("kubectl-client-side-apply", "Update", &json!({"f:a": {}}))],
    );
    let judgement = judge(&object, OURS, &[], &Policy::default());
    assert!(judgement.is_stopped());
    assert_eq!(told(&judgement), ["take 0", "stop : it is deployed by kapp (7) []"]);
}

#[test]
fn someone_s_applied_object_is_not_taken_silently() {
    let object = live(json!({}), vec![entry("my-pipeline", "Apply", &json!({"f:a": {}}))]);
    assert_eq!(
        told(&judge(&object, OURS, &[], &Policy::default())),
        ["left 0", "stop my-pipeline: `my-pipeline` applies it too []"]
    );
    assert_eq!(told(&judge(&object, OURS, &[], &forced())), ["left 0"]);
    // Where kubectl declared the object, the applier only shares it.
    let csa = entry("kubectl-client-side-apply", "Update", &json!({"f:b": {}}));
    let object = live(json!({}), vec![csa, entry("sharer", "Apply", &json!({"f:a": {}}))]);
    assert_eq!(told(&judge(&object, OURS, &[], &Policy::default())), ["take 0", "left 1"]);
}

#[test]
fn one_manager_is_told_once() {
    let fields = json!({"f:data": {"f:a": {}, "f:b": {}, "f:c": {}, "f:d": {}}});
    let object = live(
        json!({}),
        vec![
            entry("op", "Update", &fields),
            entry("kubectl-edit", "Update", &fields),
            entry(OURS, "Apply", &json!({"f:x": {}})),
        ],
    );
    let conflicts: Vec<FieldConflict> = ["op", "kubectl-edit"]
        .iter()
        .flat_map(|m| [".data.a", ".data.b", ".data.c", ".data.d"].map(|f| conflict(m, None, f)))
        .collect();
    let judgement = judge(&object, OURS, &conflicts, &Policy::default());
    assert_eq!(
        told(&judgement),
        [
            "revert kubectl-edit .data.a .data.b .data.c .data.d",
            "left 0",
            "left 1",
            "stop op: `op` has set `.data.a`, `.data.b`, `.data.c`, and 1 more [.data.a .data.b .data.c .data.d]",
        ]
    );
    assert_eq!(judgement.revert[0].time.as_deref(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(judgement.left[1].class, ManagerClass::Hand);
}

#[test]
fn conflicts_of_odd_fields_are_named_too() {
    let object = live(json!({}), vec![entry(OURS, "Apply", &json!({"f:x": {}}))]);
    for field in ["", "odd", ".spec[", ".metadata.labels.a/b.c"] {
        let judgement = judge(&object, OURS, &[conflict("op", None, field)], &Policy::default());
        assert_eq!(judgement.stop.len(), 1, "{field}");
    }
}

/// Objects of deployers, with `--adopt`.
#[test]
fn what_deployers_hold_is_taken_over() {
    let adopt = Policy { adopt: true, ..Policy::default() };
    let some = json!({"f:data": {"f:x": {}}});
    let helm = json!({"metadata": {
        "labels": {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "web-1"},
        "annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop", "note": "n"},
    }});
    let marks = [
        "mark .metadata.labels[\"app.kubernetes.io/managed-by\"]",
        "mark .metadata.annotations[\"meta.helm.sh/release-name\"]",
        "mark .metadata.annotations[\"meta.helm.sh/release-namespace\"]",
    ];
    for operation in ["Update", "Apply"] {
        let object = live(helm.clone(), vec![entry("helm", operation, &some)]);
        let mut expected = vec!["take 0", "adopt helm (release shop/web)"];
        expected.extend(marks);
        assert_eq!(told(&judge(&object, OURS, &[], &adopt)), expected, "{operation}");
        // Its conflicts end by that.
        let met = [conflict("helm", None, ".data.x")];
        assert_eq!(told(&judge(&object, OURS, &met, &adopt)), expected, "{operation}");
        let stopped = told(&judge(&object, OURS, &[], &Policy::default()));
        assert_eq!(stopped, ["stop helm: it is deployed by helm (release shop/web) []"]);
    }
    // Marks that someone put there by hand go too, and a hand's fields stay theirs.
    let object = live(helm.clone(), vec![entry("kubectl-annotate", "Update", &some)]);
    let mut expected = vec!["left 0", "adopt helm (release shop/web)"];
    expected.extend(marks);
    assert_eq!(told(&judge(&object, OURS, &[], &adopt)), expected);
    // Marks of our own manifest are no marks.
    let ours = json!({"f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}});
    let object = live(helm, vec![entry(OURS, "Apply", &ours)]);
    assert!(told(&judge(&object, OURS, &[], &adopt)).is_empty());
}

#[test]
fn two_deployers_of_one_object_are_both_named() {
    let adopt = Policy { adopt: true, ..Policy::default() };
    let some = json!({"f:data": {"f:x": {}}});
    let object = live(
        json!({"metadata": {
            "labels": {"helm.toolkit.fluxcd.io/name": "web", "argocd.argoproj.io/instance": "shop"},
            "annotations": {"meta.helm.sh/release-name": "web", "argocd.argoproj.io/sync-wave": "1"},
        }}),
        vec![
            entry("helm-controller", "Apply", &some),
            entry("pulumi-kubernetes-1", "Apply", &some),
            entry("kapp", "Update", &some),
        ],
    );
    assert_eq!(
        told(&judge(&object, OURS, &[], &adopt)),
        [
            "take 0",
            "take 1",
            "take 2",
            "adopt Flux (web)",
            "adopt Pulumi",
            "adopt kapp",
            "adopt helm (release shop/web)",
            "adopt Argo CD (application shop)",
            "mark .metadata.labels[\"argocd.argoproj.io/instance\"]",
            "mark .metadata.labels[\"helm.toolkit.fluxcd.io/name\"]",
            "mark .metadata.annotations[\"meta.helm.sh/release-name\"]",
        ]
    );
}

/// Adopting never takes from an application of mcd's, nor silently from an unknown applier.
#[test]
fn applications_and_appliers_are_not_adopted() {
    let adopt = Policy { adopt: true, ..Policy::default() };
    let some = json!({"f:data": {"f:x": {}}});
    let object = live(json!({}), vec![entry("mcd:shop/api", "Apply", &some)]);
    assert_eq!(
        told(&judge(&object, OURS, &[], &adopt)),
        ["stop mcd:shop/api: it belongs to the application `shop/api` []"]
    );
    let object = live(json!({}), vec![entry("my-pipeline", "Apply", &some)]);
    assert_eq!(
        told(&judge(&object, OURS, &[], &adopt)),
        ["left 0", "stop my-pipeline: `my-pipeline` applies it too []"]
    );
}

/// `conflicts:` comes before the table: (name, policy, the other's entry, conflict, what follows).
#[test]
fn the_users_own_table() {
    let list = |name: &str| vec![name.to_owned()];
    let take = |name: &str| Policy::new(&list(name), &[], &[]);
    let stop = |name: &str| Policy::new(&[], &list(name), &[]);
    let leave = |name: &str| Policy::new(&[], &[], &list(name));
    let force = |policy: Policy| Policy { force_conflicts: true, ..policy };
    let some = json!({"f:data": {"f:x": {}}});
    let at = |manager: &str| Some(conflict(manager, None, ".data.x"));
    let mut status = entry("my-op", "Update", &some);
    status["subresource"] = json!("status");
    let cases = [
        (
            "an editor is taken",
            take("my-*"),
            entry("my-op", "Update", &some),
            at("my-op"),
            vec!["take 0"],
        ),
        (
            "an applier is taken",
            take("my-op"),
            entry("my-op", "Apply", &some),
            None,
            vec!["take 0"],
        ),
        ("status never", take("my-op"), status, None, vec!["left 0"]),
        (
            "an application never",
            take("*"),
            entry("mcd:shop/api", "Apply", &some),
            None,
            vec!["stop mcd:shop/api: it belongs to the application `shop/api` []"],
        ),
        (
            "a hand stops",
            stop("kubectl-edit"),
            entry("kubectl-edit", "Update", &some),
            at("kubectl-edit"),
            vec!["left 0", "stop kubectl-edit: `kubectl-edit` has set `.data.x` [.data.x]"],
        ),
        (
            "and only on a conflict",
            stop("kubectl-edit"),
            entry("kubectl-edit", "Update", &some),
            None,
            vec!["left 0"],
        ),
        (
            "unless forced",
            force(stop("kubectl-edit")),
            entry("kubectl-edit", "Update", &some),
            at("kubectl-edit"),
            vec!["revert kubectl-edit .data.x", "left 0"],
        ),
        (
            "what would be taken stops",
            stop("kubectl-*"),
            entry("kubectl-create", "Update", &some),
            None,
            vec!["stop kubectl-create: `kubectl-create` has declared it []"],
        ),
        (
            "unless forced too",
            force(stop("kubectl-*")),
            entry("kubectl-create", "Update", &some),
            None,
            vec!["take 0"],
        ),
        (
            "an operator is left",
            leave("my-op"),
            entry("my-op", "Update", &some),
            None,
            vec!["left 0"],
        ),
        (
            "what kubectl declared is left",
            leave("kubectl-create"),
            entry("kubectl-create", "Update", &some),
            None,
            vec!["left 0"],
        ),
        (
            "a deployer is not left",
            leave("helm"),
            entry("helm", "Update", &some),
            None,
            vec!["stop helm: it is deployed by helm []"],
        ),
    ];
    for (name, policy, other, met, expected) in cases {
        let object = live(json!({}), vec![other, entry(OURS, "Apply", &json!({"f:a": {}}))]);
        let met: Vec<FieldConflict> = met.into_iter().collect();
        assert_eq!(told(&judge(&object, OURS, &met, &policy)), expected, "{name}");
    }
    let object = live(json!({}), vec![entry("my-op", "Apply", &some)]);
    assert_eq!(told(&judge(&object, OURS, &[], &leave("my-op"))), ["left 0"], "first contact");
}
