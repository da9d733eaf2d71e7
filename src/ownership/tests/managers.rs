use serde_json::{Value, json};

use super::super::{Deployer, ManagerClass, classify, deployer_of, entries};
use super::{entry, live};

const OURS: &str = "mcd:shop/web";

fn class(manager: &str, operation: &str, subresource: &str, metadata: Value) -> ManagerClass {
    let mut raw = entry(manager, operation, &json!({"f:spec": {}}));
    raw["subresource"] = json!(subresource);
    let object = live(json!({"metadata": metadata}), vec![raw]);
    let all = entries(&object);
    classify(&all[0], &object, OURS)
}

fn deployer(tool: &str, unit: Option<&str>) -> ManagerClass {
    ManagerClass::Deployer(Deployer { tool: tool.into(), unit: unit.map(str::to_owned) })
}

#[test]
fn the_table_of_managers() {
    use ManagerClass as C;
    let cases = [
        (OURS, "Apply", "", C::Ours),
        (OURS, "Update", "", C::OursByUpdate),
        (OURS, "Update", "status", C::Controller),
        ("mcd:shop/api", "Apply", "", C::OtherApplication("shop/api".into())),
        ("kubectl-client-side-apply", "Update", "", C::Declared),
        ("kubectl", "Apply", "", C::Declared),
        ("kubectl-create", "Update", "", C::Declared),
        ("kubectl-replace", "Update", "", C::Declared),
        ("before-first-apply", "Update", "", C::Declared),
        ("kubectl-edit", "Update", "", C::Hand),
        ("kubectl-patch", "Update", "", C::Hand),
        ("kubectl-set", "Update", "", C::Hand),
        ("kubectl-label", "Update", "", C::Hand),
        ("kubectl-annotate", "Update", "", C::Hand),
        ("kubectl", "Update", "scale", C::Hand),
        ("kubectl-edit", "Update", "status", C::Controller),
        ("k9s", "Update", "", C::Hand),
        ("rancher", "Update", "", C::Hand),
        ("kubectl-rollout", "Update", "", C::Rollout),
        ("helm", "Update", "", deployer("helm", None)),
        ("helm", "Apply", "", deployer("helm", None)),
        ("kapp", "Update", "", deployer("kapp", None)),
        ("kluctl", "Apply", "", deployer("kluctl", None)),
        ("kustomize-controller", "Apply", "", deployer("Flux", None)),
        ("kustomize-controller", "Update", "", C::Controller),
        ("argocd-controller", "Apply", "", deployer("Argo CD", None)),
        ("pulumi-kubernetes-1a2b", "Apply", "", deployer("Pulumi", None)),
        ("kube-controller-manager", "Update", "", C::Controller),
        ("kube-controller-manager", "Update", "scale", C::Controller),
        ("keda", "Update", "scale", C::Controller),
        ("kubelet", "Update", "status", C::Controller),
        ("istiod", "Update", "", C::OtherUpdate),
        ("my-pipeline", "Apply", "", C::OtherApply),
    ];
    for (manager, operation, subresource, expected) in cases {
        let found = class(manager, operation, subresource, json!({}));
        assert_eq!(found, expected, "{manager} {operation} {subresource}");
    }
}

#[test]
fn deployers_are_known_by_their_marks() {
    let cases = [
        (
            json!({"annotations": {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"}}),
            Some("helm (release n/r)"),
        ),
        (json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}}), None),
        (json!({"labels": {"kapp.k14s.io/app": "17"}}), Some("kapp (17)")),
        (json!({"labels": {"kluctl.io/discriminator": "d"}}), Some("kluctl (d)")),
        (json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "k"}}), Some("Flux (k)")),
        (json!({"labels": {"helm.toolkit.fluxcd.io/name": "h"}}), Some("Flux (h)")),
        (
            json!({"annotations": {"argocd.argoproj.io/tracking-id": "web:apps/Deployment:shop/web"}}),
            Some("Argo CD (application web)"),
        ),
        (json!({"labels": {"app.kubernetes.io/instance": "web"}}), None),
        (json!({}), None),
    ];
    for (metadata, expected) in cases {
        let object = json!({"metadata": metadata});
        let found = deployer_of(&object, OURS).map(|d| d.to_string());
        assert_eq!(found.as_deref(), expected, "{object}");
    }
}

#[test]
fn a_mark_that_our_manifest_sets_says_nothing() {
    let fields = json!({"f:metadata": {"f:labels": {"f:kapp.k14s.io/app": {}}}});
    let labels = json!({"metadata": {"labels": {"kapp.k14s.io/app": "1"}}});
    let ours = live(labels.clone(), vec![entry(OURS, "Apply", &fields)]);
    assert_eq!(deployer_of(&ours, OURS), None);
    let theirs = live(labels, vec![entry("kapp", "Update", &fields)]);
    assert!(deployer_of(&theirs, OURS).is_some());
}

#[test]
fn controllers_that_deploy_are_known_by_their_marks() {
    let marked = json!({"annotations": {"argocd.argoproj.io/tracking-id": "web:x"}});
    assert_eq!(
        class("argocd-controller", "Update", "", marked.clone()),
        deployer("Argo CD", Some("application web"))
    );
    assert_eq!(class("kustomize-controller", "Update", "", marked), ManagerClass::Controller);
}

#[test]
fn entries_tolerate_garbage() {
    let object = live(
        json!({}),
        vec![
            json!({}),
            json!("x"),
            json!({"manager": "a", "operation": "Delete"}),
            json!({"manager": "", "operation": "Apply"}),
            json!({"manager": "b", "operation": "Update", "fieldsV1": 3, "subresource": ""}),
        ],
    );
    let all = entries(&object);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].index, all[0].manager.as_str(), &all[0].subresource), (4, "b", &None));
    assert!(all[0].fields.is_empty());
    assert!(entries(&json!({"metadata": {"managedFields": {}}})).is_empty());
    assert!(entries(&json!(null)).is_empty());
}
