use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{FieldSet, entries, our_entry, predict_take, relinquish, take};
use super::{entry, field_set, live, path};

const OURS: &str = "mcd:shop/web";
const NOW: &str = "2026-02-03T04:05:06Z";

fn apply_patch(live: &Value, patch: &Value) -> Value {
    let patch: json_patch::Patch = serde_json::from_value(patch.clone()).expect("a JSON patch");
    let mut after = live.clone();
    json_patch::patch(&mut after, &patch).expect("it applies");
    after
}

fn managers(live: &Value) -> Vec<(String, String)> {
    entries(live).iter().map(|e| (e.who(), e.fields.to_json().to_string())).collect()
}

#[test]
fn a_take_unites_and_drops() {
    let before = live(
        json!({"kind": "ConfigMap", "data": {"a": "1", "legacy": "2"}}),
        vec![
            entry(
                "kubectl-client-side-apply",
                "Update",
                &json!({"f:data": {".": {}, "f:a": {}, "f:legacy": {}}}),
            ),
            entry(OURS, "Apply", &json!({"f:data": {"f:a": {}}})),
            entry("kubectl-edit", "Update", &json!({"f:data": {"f:hand": {}}})),
        ],
    );
    let patch = take(&before, &[0], &[], OURS, NOW).expect("a patch");
    assert_eq!(
        patch[1],
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})
    );
    let after = apply_patch(&before, &patch);
    assert_eq!(
        managers(&after),
        [
            ("kubectl-edit".into(), json!({"f:data": {"f:hand": {}}}).to_string()),
            (
                format!("{OURS} (apply)"),
                json!({"f:data": {".": {}, "f:a": {}, "f:legacy": {}}}).to_string()
            ),
        ]
    );
    let own = our_entry(&after, OURS).expect("ours");
    assert_eq!((own.api_version.as_str(), own.time.as_deref()), ("apps/v1", Some(NOW)));
    let mut same = after;
    same["metadata"]["managedFields"] = before["metadata"]["managedFields"].clone();
    assert_eq!(same, before, "nothing else changes");
}

#[test]
fn what_a_take_leaves() {
    let mut status = entry("kubectl-create", "Update", &json!({"f:status": {}}));
    status["subresource"] = json!("status");
    let object = live(json!({}), vec![status, entry(OURS, "Apply", &json!({"f:a": {}}))]);
    assert_eq!(take(&object, &[0, 1, 5], &[], OURS, NOW), None, "subresources and our own stay");
    assert_eq!(take(&object, &[], &[], OURS, NOW), None);
    let mut unversioned = live(json!({}), vec![entry("kubectl", "Apply", &json!({"f:a": {}}))]);
    assert!(take(&unversioned, &[0], &[], OURS, NOW).is_some(), "first contact");
    unversioned["metadata"].as_object_mut().expect("map").remove("resourceVersion");
    assert_eq!(take(&unversioned, &[0], &[], OURS, NOW), None, "never without a precondition");
}

#[test]
fn our_own_updates_are_taken_too() {
    let object = live(
        json!({"a": 1}),
        vec![entry(OURS, "Update", &json!({"f:b": {}})), entry(OURS, "Apply", &json!({"f:a": {}}))],
    );
    let after = apply_patch(&object, &take(&object, &[0], &[], OURS, NOW).expect("a patch"));
    assert_eq!(
        managers(&after),
        [(format!("{OURS} (apply)"), json!({"f:a": {}, "f:b": {}}).to_string())]
    );
}

#[test]
fn string_data_counts_as_data() {
    let fields = json!({"f:stringData": {".": {}, "f:legacy": {}}, "f:data": {"f:a": {}}});
    for (kind, expected) in [
        (json!("Secret"), json!({"f:data": {".": {}, "f:a": {}, "f:legacy": {}}})),
        (json!(null), json!({"f:data": {".": {}, "f:a": {}, "f:legacy": {}}})),
        (json!("Thing"), fields.clone()),
    ] {
        let mut object = json!({"kind": kind});
        if object["kind"].is_null() {
            object = json!({});
        }
        let object = live(object, vec![entry("kubectl", "Apply", &fields)]);
        let after = apply_patch(&object, &take(&object, &[0], &[], OURS, NOW).expect("a patch"));
        assert_eq!(our_entry(&after, OURS).expect("ours").fields.to_json(), expected);
    }
}

#[test]
fn another_version_gives_what_live_has() {
    let mut old = entry(
        "kubectl-client-side-apply",
        "Update",
        &json!({"f:spec": {"f:maxReplicas": {}, "f:targetCPUUtilizationPercentage": {}}}),
    );
    old["apiVersion"] = json!("autoscaling/v1");
    let mut own = entry(OURS, "Apply", &json!({"f:spec": {"f:minReplicas": {}}}));
    own["apiVersion"] = json!("autoscaling/v2");
    let spec = json!({"spec": {"maxReplicas": 3, "minReplicas": 1, "metrics": []}});
    let object = live(spec.clone(), vec![old.clone(), own]);
    let after = apply_patch(&object, &take(&object, &[0], &[], OURS, NOW).expect("a patch"));
    let ours = our_entry(&after, OURS).expect("ours");
    assert_eq!(ours.api_version, "autoscaling/v2");
    assert_eq!(
        ours.fields.to_json(),
        json!({"f:spec": {"f:maxReplicas": {}, "f:minReplicas": {}}})
    );
    // Without an entry of ours the newest decides.
    let mut newer = entry("kubectl-create", "Update", &json!({"f:spec": {"f:metrics": {}}}));
    newer["apiVersion"] = json!("autoscaling/v2");
    newer["time"] = json!("2026-01-02T00:00:00Z");
    let object = live(spec, vec![old, newer]);
    let after = apply_patch(&object, &take(&object, &[0, 1], &[], OURS, NOW).expect("a patch"));
    let ours = our_entry(&after, OURS).expect("ours");
    assert_eq!(ours.api_version, "autoscaling/v2");
    assert_eq!(ours.fields.to_json(), json!({"f:spec": {"f:maxReplicas": {}, "f:metrics": {}}}));
}

#[test]
fn relinquishing_removes_paths_from_our_entry() {
    let object = live(
        json!({"spec": {"replicas": 3}}),
        vec![
            entry("x", "Update", &json!({"f:spec": {"f:replicas": {}}})),
            entry(OURS, "Apply", &json!({"f:spec": {"f:replicas": {}, "f:paused": {}}})),
        ],
    );
    let patch =
        relinquish(&object, &[path(".spec.replicas"), path(".spec.x")], OURS).expect("a patch");
    let after = apply_patch(&object, &patch);
    assert_eq!(
        managers(&after),
        [
            ("x".into(), json!({"f:spec": {"f:replicas": {}}}).to_string()),
            (format!("{OURS} (apply)"), json!({"f:spec": {"f:paused": {}}}).to_string()),
        ]
    );
    assert_eq!(relinquish(&after, &[path(".spec.replicas")], OURS), None);
    assert_eq!(relinquish(&object, &[path(".spec.replicas")], "mcd:other/app"), None);
}

#[test]
fn a_take_is_predicted() {
    let csa = json!({
        "f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
        "f:spec": {
            "f:replicas": {},
            "f:containers": {
                "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}, "f:livenessProbe": {"f:path": {}}},
                "k:{\"name\":\"old\"}": {".": {}, "f:name": {}}
            },
            "f:kept": {}
        }
    });
    let ours = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}}}}});
    let spec = json!({
        "replicas": 3, "kept": 1,
        "containers": [
            {"name": "c", "image": "b", "livenessProbe": {"path": "/", "period": 10}, "env": 1},
            {"name": "old", "image": "x"}
        ]
    });
    let object = json!({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "other": "o"}}, "spec": spec});
    let before = live(object.clone(), vec![entry("kubectl-client-side-apply", "Update", &csa)]);
    let dry_run = live(
        object,
        vec![
            entry("kubectl-client-side-apply", "Update", &csa),
            entry(OURS, "Apply", &ours),
            entry(
                "operator",
                "Update",
                &json!({"f:metadata": {"f:annotations": {"f:other": {}}}, "f:spec": {"f:kept": {}}}),
            ),
        ],
    );
    let predicted = predict_take(&before, &dry_run, &[0], &[], OURS, false);
    assert_eq!(
        predicted,
        json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "annotations": {"other": "o"}},
            "spec": {"kept": 1, "containers": [{"name": "c", "image": "b", "env": 1}]}
        })
    );
    let versioned = predict_take(&before, &dry_run, &[0], &[], OURS, true);
    assert_eq!(versioned["metadata"]["resourceVersion"], json!("7"));
}

/// Marks of a deployer become ours alone, so that the apply that follows removes them.
#[test]
fn marks_become_ours_and_nobody_elses() {
    let marks = [path(".metadata.annotations.meta.helm.sh/release-name")];
    let hand = json!({"f:metadata": {"f:annotations": {
        ".": {}, "f:meta.helm.sh/release-name": {}, "f:note": {}}}});
    let object = json!({"kind": "Thing", "apiVersion": "apps/v1", "metadata": {
        "annotations": {"meta.helm.sh/release-name": "web", "note": "n"}}});
    let before = live(object.clone(), vec![entry("kubectl-annotate", "Update", &hand)]);
    let after = apply_patch(&before, &take(&before, &[], &marks, OURS, NOW).expect("a patch"));
    let kept = &entries(&after)[0].fields;
    assert!(!kept.contains(&marks[0]) && kept.contains(&path(".metadata.annotations.note")));
    let own = our_entry(&after, OURS).expect("ours");
    assert_eq!((own.fields.paths(), own.api_version.as_str()), (marks.to_vec(), "apps/v1"));
    let owners = vec![
        entry("kubectl-annotate", "Update", &hand),
        entry(OURS, "Apply", &json!({"f:data": {}})),
    ];
    let predicted = predict_take(&before, &live(object, owners), &[], &marks, OURS, false);
    assert_eq!(predicted["metadata"]["annotations"], json!({"note": "n"}));
}

proptest! {
    #[test]
    fn after_a_take_ours_holds_theirs(a in field_set(), b in field_set(), own in field_set()) {
        let mut list = vec![
            entry("kubectl-client-side-apply", "Update", &a.to_json()),
            entry("kubectl-edit", "Update", &b.to_json()),
        ];
        if !own.is_empty() {
            list.push(entry(OURS, "Apply", &own.to_json()));
        }
        let before = live(json!({"kind": "Thing"}), list);
        let after = apply_patch(&before, &take(&before, &[0], &[], OURS, NOW).expect("a patch"));
        let all = entries(&after);
        prop_assert_eq!(all.len(), 2);
        prop_assert_eq!(&all[0].fields, &b, "the others keep theirs");
        prop_assert_eq!(&our_entry(&after, OURS).expect("ours").fields, &own.union(&a));
    }

    #[test]
    fn a_relinquished_path_is_no_longer_ours(own in field_set(), pick in any::<prop::sample::Index>()) {
        prop_assume!(!own.is_empty());
        let paths = own.paths();
        let path = pick.get(&paths);
        let before = live(json!({}), vec![entry(OURS, "Apply", &own.to_json())]);
        let after = apply_patch(&before, &relinquish(&before, std::slice::from_ref(path), OURS).expect("a patch"));
        let left = our_entry(&after, OURS).expect("ours").fields;
        prop_assert!(left.at(path).is_none());
        let lost: FieldSet = own.difference(&left);
        for gone in lost.paths() {
            prop_assert!(path.is_prefix_of(&gone));
        }
    }
}
