//! Admission: who denies is named and with what words, what is down is tried again, visibly, and
//! nothing of a Secret is ever quoted (A4). And objects that admission changes (A9.4).

use std::time::Duration;

use serde_json::json;
use testbed::{Admission, Bed, Match, Proxy, Verdict};

use crate::support::{Run, World, web};

fn config(name: &str, value: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {value}}}\n"
    )
}

/// One cluster behind a proxy, which knows how often it was asked.
fn proxied(prefix: &str) -> (World, Proxy) {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts(prefix, &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &config("web", "b"));
    (world, proxy)
}

/// How often an object was asked to be written, by dry runs too.
fn patches(proxy: &Proxy) -> usize {
    proxy
        .requests()
        .iter()
        .filter(|r| r.method == "PATCH" && r.path.contains("/configmaps/"))
        .count()
}

#[test]
fn a_denial_names_the_webhook_and_its_reason() {
    let (world, proxy) = proxied("adm-deny");
    let deny = |code| Verdict::Deny { code, message: "images must be signed".to_owned() };
    let policy = Admission::start(world.cluster("us-east"), world.namespace.name(), deny(403));
    // Webhooks choose their codes.
    for code in [403, 400, 422, 500] {
        policy.set(deny(code));
        proxy.clear_log();
        let plan = world.ok(5, &["plan"]);
        plan.says("admission by `policy.testbed.mcd.dev` denies the object");
        plan.says("images must be signed").says("ConfigMap");
        assert_eq!(patches(&proxy), 1, "{code}: a denial is not tried again");
    }
    world.ok(5, &["apply", "-y"]).says("nothing was written");
    assert!(!world.exists("us-east", "configmap", "web"));
}

/// A webhook that agrees to the plan, and denies when it is carried out.
#[test]
fn a_denial_after_the_plan() {
    let (world, proxy) = proxied("adm-late");
    let namespace = world.namespace.name();
    let policy = Admission::start(world.cluster("us-east"), namespace, Verdict::Allow);
    let hold = proxy.hold(Match::writes().path("/configmaps/web"));
    let child = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(60));
    policy.set(Verdict::Deny { code: 403, message: "frozen since today".to_owned() });
    hold.release();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 5, "{run}");
    run.says("policy.testbed.mcd.dev").says("frozen since today").says("ConfigMap");
    policy.set(Verdict::Allow);
    world.ok(0, &["apply", "-y"]).says("1 created");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn a_webhook_that_is_down_is_tried_again_and_named() {
    let (world, proxy) = proxied("adm-down");
    let policy = Admission::start(world.cluster("us-east"), world.namespace.name(), Verdict::Down);
    let plan = world.ok(1, &["plan"]);
    plan.says("the webhook `policy.testbed.mcd.dev` could not be called");
    plan.says("see whether the pods behind the webhook run");
    assert_eq!(patches(&proxy), 4, "the attempts");
    world.ok(1, &["-v", "plan"]).says("again in");
    // One that comes back in between is only waited for.
    policy.set(Verdict::Allow);
    world.ok(0, &["apply", "-y"]);
    assert!(world.exists("us-east", "configmap", "web"));
}

#[test]
fn a_webhook_that_is_slow_is_named() {
    let (world, _proxy) = proxied("adm-slow");
    let slow = Verdict::Slow(Duration::from_secs(3));
    let namespace = world.namespace.name();
    let _policy = Admission::start_with(world.cluster("us-east"), namespace, slow, "Fail", 1);
    let plan = world.ok(1, &["plan"]);
    plan.says("the webhook `policy.testbed.mcd.dev` could not be called").says("deadline exceeded");
}

/// A webhook that may be skipped holds up nobody.
#[test]
fn a_webhook_that_may_be_ignored() {
    let (world, proxy) = proxied("adm-ignore");
    let namespace = world.namespace.name();
    let _policy =
        Admission::start_with(world.cluster("us-east"), namespace, Verdict::Down, "Ignore", 1);
    world.ok(0, &["apply", "-y"]).says("1 created");
    world.ok(0, &["diff", "--verify"]);
    assert!(proxy.requests().iter().all(|r| r.status != Some(500)));
}

/// A policy of the API server's own, which answers 422 without a field.
#[test]
fn a_validating_admission_policy() {
    let (world, _proxy) = proxied("adm-vap");
    let name = format!("{}-vap", world.namespace.name());
    let group = "/apis/admissionregistration.k8s.io/v1";
    let cluster = world.cluster("us-east");
    let post = |plural: &str, body: &serde_json::Value| {
        let answer = cluster.call("POST", &format!("{group}/{plural}"), Some(body)).unwrap();
        assert!(answer.is_success(), "{}", answer.text);
    };
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": world.namespace.name()}});
    post(
        "validatingadmissionpolicies",
        &json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "namespaceSelector": selector,
                    "resourceRules": [{
                        "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                        "operations": ["CREATE", "UPDATE"],
                    }],
                },
                "validations": [{
                    "expression": "object.metadata.name != 'web' || object.data.a != 'b'",
                    "message": "a must not be b",
                }],
            },
        }),
    );
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    });
    post("validatingadmissionpolicybindings", &binding);
    let path = format!("/api/v1/namespaces/{}/configmaps?dryRun=All", world.namespace.name());
    testbed::wait_for("the policy is enforced", Duration::from_secs(60), || {
        let probe = json!({"metadata": {"name": "web"}, "data": {"a": "b"}});
        let answer = cluster.call("POST", &path, Some(&probe)).map_err(|e| e.to_string())?;
        if answer.status == 422 {
            Ok(())
        } else {
            Err(format!("{} {}", answer.status, answer.text))
        }
    });
    let plan = world.ok(5, &["plan"]);
    plan.says(&format!("admission by `{name}` denies the object")).says("a must not be b");
    world.ok(5, &["apply", "-y"]).says("nothing was written");
    for plural in ["validatingadmissionpolicybindings", "validatingadmissionpolicies"] {
        cluster.call("DELETE", &format!("{group}/{plural}/{name}"), None).unwrap();
    }
}

/// PodSecurity denies pods, and warns about workloads whose pods it would deny.
#[test]
fn pod_security() {
    let world = World::new("adm-pss");
    world.plain(&["us-east"]);
    world.kubectl(
        "us-east",
        &[
            "label",
            "namespace",
            world.namespace.name(),
            "pod-security.kubernetes.io/enforce=restricted",
            "pod-security.kubernetes.io/warn=restricted",
        ],
    );
    world.write(
        "k8s/all.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: a}]}\n",
    );
    let plan = world.ok(5, &["plan"]);
    plan.says("PodSecurity restricted").says("allowPrivilegeEscalation").says("Pod ");
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["plan"]).says("would violate PodSecurity");
    let apply = world.ok(1, &["apply", "-y", "--timeout", "5s"]);
    apply.says("Deployment").says("violates PodSecurity");
}

/// What a webhook adds is no difference, on the fast path and with `--verify`.
#[test]
fn what_admission_adds_is_settled() {
    let world = World::new("adm-mutate");
    world.plain(&["us-east"]);
    let add = json!([
        {"op": "add", "path": "/metadata/annotations", "value": {"injected": "yes"}},
    ]);
    let namespace = world.namespace.name();
    let _policy = Admission::start(world.cluster("us-east"), namespace, Verdict::Patch(add));
    world.write("k8s/all.yaml", &config("web", "b"));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(live["metadata"]["annotations"]["injected"], "yes");
    for verb in [&["diff"][..], &["diff", "--verify"], &["plan", "--detailed-exitcode", "--verify"]]
    {
        world.ok(0, verb);
    }
    world.ok(0, &["apply", "-y", "--verify", "--wait=false"]).says("1 unchanged");
}

/// A webhook that writes another value each time makes every plan with `--verify` a change: it is
/// named, and not taken for somebody's hand (A9.4).
#[test]
fn what_admission_writes_each_time_is_laid_at_its_door() {
    let world = World::new("adm-stamp");
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &config("web", "b").replace("web}", "web, annotations: {a: b}}"));
    let namespace = world.namespace.name();
    let stamp = Verdict::Stamp("/metadata/annotations/stamp".to_owned());
    let policy = Admission::start(world.cluster("us-east"), namespace, stamp);
    world.ok(0, &["apply", "-y"]);
    // By the digests nothing would change.
    world.ok(0, &["plan", "--detailed-exitcode"]);
    let run = world.ok(2, &["plan", "--verify", "--detailed-exitcode"]);
    run.says("admission by `policy.testbed.mcd.dev` writes another `.metadata.annotations.stamp` each time");
    run.hides("reverts");
    let report = world.ok(0, &["plan", "--verify", "-o", "json"]).json();
    let warnings = report["targets"][0]["changes"][0]["warnings"].to_string();
    assert!(warnings.contains("policy.testbed.mcd.dev"), "{report:#}");
    // What it says to do is enough.
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nignore: [{kind: ConfigMap, paths: [.metadata.annotations.stamp]}]\n",
    );
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["plan", "--verify", "--detailed-exitcode"]);
    drop(policy);

    // One that is new since the apply changes once, and is named too.
    world.plain(&["us-east"]);
    world.ok(0, &["apply", "-y"]);
    let once = json!([{"op": "add", "path": "/data/injected", "value": "yes"}]);
    let _policy = Admission::start(world.cluster("us-east"), namespace, Verdict::Patch(once));
    let run = world.ok(0, &["plan", "--verify"]);
    run.says(
        "nobody has changed the object since it was applied: admission by `policy.testbed.mcd.dev`",
    );
    run.says("would change `.data.injected` now").hides("each time");
}
