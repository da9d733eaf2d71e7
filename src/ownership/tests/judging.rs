use serde_json::{Value, json};

use super::super::{Judgement, ManagerClass, judge};
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
    let stop = judgement
        .stop
        .iter()
        .map(|s| format!("stop {}: {} [{}]", s.manager, s.why, join(&s.fields)));
    take.chain(revert).chain(left).chain(stop).collect()
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
            vec!["revert before-first-apply .data.a.b"],
        ),
    ];
    for (name, other, at, force, expected) in cases {
        let object = live(json!({}), vec![other, entry(OURS, "Apply", &json!({"f:a": {}}))]);
        let conflicts: Vec<FieldConflict> = at.into_iter().collect();
        assert_eq!(told(&judge(&object, OURS, &conflicts, force)), expected, "{name}");
    }
}

#[test]
fn marks_alone_stop() {
    let object = live(
        json!({"metadata": {"labels": {"kapp.k14s.io/app": "7"}}}),
        vec![entry("kubectl-client-side-apply", "Update", &json!({"f:a": {}}))],
    );
    let judgement = judge(&object, OURS, &[], false);
    assert!(judgement.is_stopped());
    assert_eq!(told(&judgement), ["take 0", "stop : it is deployed by kapp (7) []"]);
}

#[test]
fn someone_s_applied_object_is_not_taken_silently() {
    let object = live(json!({}), vec![entry("my-pipeline", "Apply", &json!({"f:a": {}}))]);
    assert_eq!(
        told(&judge(&object, OURS, &[], false)),
        ["left 0", "stop my-pipeline: `my-pipeline` applies it too []"]
    );
    assert_eq!(told(&judge(&object, OURS, &[], true)), ["left 0"]);
    // Where kubectl declared the object, the applier only shares it.
    let csa = entry("kubectl-client-side-apply", "Update", &json!({"f:b": {}}));
    let object = live(json!({}), vec![csa, entry("sharer", "Apply", &json!({"f:a": {}}))]);
    assert_eq!(told(&judge(&object, OURS, &[], false)), ["take 0", "left 1"]);
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
    let judgement = judge(&object, OURS, &conflicts, false);
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
        let judgement = judge(&object, OURS, &[conflict("op", None, field)], false);
        assert_eq!(judgement.stop.len(), 1, "{field}");
    }
}
