use serde_json::{Value, json};

use super::*;
use crate::config::{PatchOperations, PatchTarget};
use crate::manifest::objects;

const SET: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  template:
    spec:
      initContainers: [{name: init, image: 'reg:5000/init:1'}]
      containers: [{name: web, image: 'shop/web:1'}, {name: side, image: side@sha256:ab}]
      volumes: [{name: v, image: {reference: 'shop/web:0'}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: job}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: shop/web}]}}}}}
---
apiVersion: example.com/v1
kind: Rollout
metadata: {name: web}
spec: {template: {spec: {containers: [{name: c, image: 'shop/web:7'}, {name: d}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db-scaler, namespace: data}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {a: x}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.example.com}
spec: {example: {containers: [{image: 'shop/web:1'}]}}
";

fn image(name: &str, new_name: &str, new_tag: &str) -> ImageOverride {
    let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    ImageOverride {
        name: name.into(),
        new_name: some(new_name),
        new_tag: some(new_tag),
        digest: None,
    }
}

fn patch(kind: &str, name: &str, operations: PatchOperations) -> ManifestPatch {
    let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    ManifestPatch {
        target: PatchTarget { kind: some(kind), name: some(name), ..Default::default() },
        operations,
        origin: "mcd.yaml:7".into(),
    }
}

fn merge(kind: &str, name: &str, value: Value) -> ManifestPatch {
    patch(kind, name, PatchOperations::Merge(value))
}

fn json6902(kind: &str, name: &str, list: Value) -> ManifestPatch {
    patch(kind, name, PatchOperations::Json6902(list.as_array().unwrap().clone()))
}

fn run(
    images: &[ImageOverride],
    replicas: &[ReplicaOverride],
    patches: &[ManifestPatch],
) -> Result<(Vec<Object>, Vec<String>)> {
    let edits = Edits { namespace: "shop", images, replicas, patches };
    edits.apply(objects(SET, "set.yaml").unwrap())
}

fn images_of(objects: &[Object]) -> Vec<String> {
    let text: String = objects.iter().map(|o| o.value.to_string()).collect();
    let fields = text.split("\"image\":\"").skip(1);
    fields.map(|f| f.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn images_change_wherever_pods_are_made() {
    let over = [image("shop/web", "mirror/web", "2"), image("reg:5000/init", "", "9")];
    let (objects, warnings) = run(&over, &[], &[]).unwrap();
    assert_eq!(
        images_of(&objects),
        [
            "mirror/web:2",
            "side@sha256:ab",
            "reg:5000/init:9",
            "mirror/web:2",
            "mirror/web:2",
            "shop/web:1",
        ]
    );
    let volume = &objects[0].value["spec"]["template"]["spec"]["volumes"][0]["image"];
    assert_eq!(volume["reference"], "mirror/web:2");
    assert!(warnings.is_empty());
}

#[test]
fn an_image_that_no_container_uses_is_a_warning() {
    let over = [image("shop/wbe", "", "2"), image("zzz", "", "1"), image("shop", "", "1")];
    let (objects, warnings) = run(&over, &[], &[]).unwrap();
    assert_eq!(objects, super::super::objects(SET, "set.yaml").unwrap());
    assert_eq!(
        warnings,
        [
            "no container uses the image `shop/wbe`; did you mean `shop/web`?",
            "no container uses the image `zzz`",
            "no container uses the image `shop`; did you mean `shop/web`?",
        ]
    );
}

#[test]
fn replicas_are_set_and_faults_are_named() {
    let over = |name: &str, count| ReplicaOverride { name: name.into(), count };
    let (objects, _) = run(&[], &[over("web", 5)], &[]).unwrap();
    assert_eq!(objects[0].value["spec"]["replicas"], 5);
    assert_eq!(objects[2].value["spec"].get("replicas"), None, "not of a custom kind");
    let errors: Vec<_> = ["wbe", "zzz", "db", "agent", "job"]
        .into_iter()
        .map(|name| {
            let error = run(&[], &[over(name, 2)], &[]).unwrap_err();
            assert_eq!(error.exit(), crate::error::Exit::Config);
            format!("{error} ({})", error.hints().join("; "))
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
    // In another namespace, the same name is another workload.
    let hpa = json6902(
        "HorizontalPodAutoscaler",
        "*",
        json!([
        {"op": "replace", "path": "/metadata/namespace", "value": "other"}]),
    );
    let (objects, _) = run(&[], &[over("db", 2)], &[hpa]).unwrap();
    assert_eq!(objects[3].value["spec"], json!({"replicas": 2}));
    assert_eq!(objects[5].id.namespace.as_deref(), Some("other"));
}

#[test]
fn patches_change_what_they_select() {
    let patches = [
        merge(
            "Deployment",
            "web",
            json!({"metadata": {"labels": {"a": "b"}},
            "spec": {"replicas": null, "strategy": {"type": "Recreate"}}}),
        ),
        json6902(
            "",
            "web",
            json!([{"op": "add", "path": "/metadata/annotations", "value": {"n": "1"}}]),
        ),
        json6902("Secret", "s", json!([{"op": "add", "path": "/stringData/b", "value": "y"}])),
        merge("Secret", "s", json!({"stringData": {"c": "z"}, "data": {"a": null}})),
        json6902(
            "StatefulSet",
            "d?",
            json!([{"op": "test", "path": "/kind", "value": "StatefulSet"}]),
        ),
    ];
    let (objects, _) = run(&[], &[], &patches).unwrap();
    let web = &objects[0].value;
    assert_eq!(
        web["metadata"],
        json!({"name": "web", "labels": {"a": "b"}, "annotations": {"n": "1"}})
    );
    assert_eq!(web["spec"].get("replicas"), None);
    assert_eq!(web["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_eq!(objects[2].value["metadata"]["annotations"], json!({"n": "1"}));
    let secret = &objects[6].value;
    assert_eq!(secret["data"], json!({"b": "eQ==", "c": "eg=="}));
    assert_eq!(secret.get("stringData"), None);
}

#[test]
fn a_target_selects_by_every_field() {
    let some = |s: &str| Some(s.to_owned());
    let cases = [
        (PatchTarget { namespace: some("data"), ..Default::default() }, 2),
        (PatchTarget { namespace: some("shop"), kind: some("Secret"), ..Default::default() }, 1),
        (PatchTarget { group: some(""), ..Default::default() }, 1),
        (PatchTarget { group: some("apps"), version: some("v1"), ..Default::default() }, 3),
        (PatchTarget { name: some("{web,db}"), ..Default::default() }, 3),
        (PatchTarget::default(), 8),
    ];
    for (target, expected) in cases {
        let mut patch = merge("", "", json!({"metadata": {"labels": {"hit": "1"}}}));
        patch.target = target.clone();
        let (objects, _) = run(&[], &[], &[patch]).unwrap();
        let hit = objects.iter().filter(|o| o.value["metadata"]["labels"]["hit"] == "1").count();
        assert_eq!(hit, expected, "{target:?}");
    }
}

#[test]
fn a_patch_that_cannot_be_meant_is_refused() {
    let patches = [
        merge("Deployment", "wbe", json!({})),
        merge("Deploment", "web", json!({})),
        merge("Deployment", "[", json!({})),
        merge("Deployment", "web", json!([])),
        merge(
            "Deployment",
            "web",
            json!({"spec": {"template": {"spec": {"containers": [{"name": "web"}]}}}}),
        ),
        merge(
            "Deployment",
            "web",
            json!({"spec": {"template": {"spec": {"containers": {"name": "web"}}}}}),
        ),
        merge("Deployment", "web", json!({"metadata": {"name": "other"}})),
        merge("Deployment", "web", json!({"kind": "StatefulSet"})),
        merge("Deployment", "web", json!({"apiVersion": "x.io/v1"})),
        merge("Deployment", "web", json!({"metadata": {"name": null}})),
        merge("Deployment", "web", json!({"metadata": {"labels": {"a": 1}}})),
        merge("Deployment", "web", json!({"metadata": {"uid": "x"}})),
        merge("Secret", "s", json!({"data": {"a": "hunter2"}})),
        json6902(
            "Deployment",
            "web",
            json!([{"op": "replace", "path": "/spec/none/x", "value": 1}]),
        ),
        json6902(
            "Deployment",
            "web",
            json!([{"op": "add", "path": "/spec/x", "value": 1},
            {"op": "test", "path": "/spec/replicas", "value": 2}]),
        ),
        json6902("Deployment", "web", json!([{"op": "remove", "path": ""}])),
        json6902("Deployment", "web", json!([{"op": "replace", "path": "", "value": 3}])),
        json6902("Deployment", "web", json!([{"op": "move", "from": "/spec", "path": "/spec/x"}])),
        json6902("Deployment", "web", json!([{"op": "copy", "from": "/none", "path": "/x"}])),
        json6902("Deployment", "web", json!([{"op": "set", "path": "/spec"}])),
        json6902("Deployment", "web", json!([{"op": "remove", "path": "spec"}])),
        json6902("Deployment", "web", json!(["x"])),
    ];
    let errors: Vec<_> = patches
        .into_iter()
        .map(|patch| {
            let error = run(&[], &[], &[patch]).unwrap_err();
            assert!(!format!("{error:?}").contains("hunter2"));
            format!("[{}] {error} ({})", error.exit().code(), error.hints().join("; "))
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_list_of_named_maps_may_stay_or_go_whole() {
    let same = json!([{"name": "init", "image": "reg:5000/init:1"}]);
    let patch = json!({"spec": {"template": {"spec": {"initContainers": same, "volumes": null}}}});
    let (objects, _) = run(&[], &[], &[merge("Deployment", "web", patch)]).unwrap();
    let spec = &objects[0].value["spec"]["template"]["spec"];
    assert_eq!(spec["initContainers"].as_array().unwrap().len(), 1);
    assert_eq!(spec.get("volumes"), None);
}
