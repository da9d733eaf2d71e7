//! The admission webhook of the bed.

#![allow(clippy::unwrap_used, reason = "functions of a test are tests too")]

use std::time::Duration;

use serde_json::json;
use testbed::{Admission, Bed, TestNamespace, Verdict};

#[test]
fn a_webhook_denies_warns_changes_and_fails_in_its_namespace_alone() {
    let bed = Bed::shared();
    let cluster = bed.cluster("eu-west");
    let of = std::slice::from_ref(cluster);
    let (namespace, other) = (TestNamespace::new("policy", of), TestNamespace::new("policy", of));
    let verdict = Verdict::Deny { code: 403, message: "images need a digest".into() };
    let admission = Admission::start(cluster, namespace.name(), verdict);
    let create = |namespace: &TestNamespace, name: &str| {
        let path = format!("/api/v1/namespaces/{}/configmaps", namespace.name());
        cluster.call("POST", &path, Some(&json!({"metadata": {"name": name}}))).unwrap()
    };
    let denied = create(&namespace, "a");
    assert_eq!(denied.status, 403, "{}", denied.text);
    let message = denied.json["message"].as_str().unwrap();
    assert_eq!(
        message,
        "admission webhook \"policy.testbed.mcd.dev\" denied the request: images need a digest"
    );
    assert_eq!(create(&other, "a").status, 201);
    assert!(admission.reviews() >= 1);

    admission
        .set(Verdict::Patch(json!([{"op": "add", "path": "/data", "value": {"by": "policy"}}])));
    assert_eq!(create(&namespace, "b").json["data"]["by"], "policy");

    admission.set(Verdict::Down);
    let down = create(&namespace, "c");
    assert_eq!(down.status, 500, "{}", down.text);
    assert!(down.text.contains("failed calling webhook"), "{}", down.text);

    admission.set(Verdict::Slow(Duration::from_millis(300)));
    assert_eq!(create(&namespace, "c").status, 201);

    let yaml = "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}";
    admission.set(Verdict::Warn("think again".into()));
    let args = ["--namespace", namespace.name(), "create", "-f", "-"];
    let output = bed.kubectl_with_input(cluster, &args, yaml);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "Warning: think again\n");
    assert!(output.status.success());
}
