//! Objects that others made and change: kubectl, hands, autoscalers.

use serde_json::Value;

use crate::support::{HPA, World, web};

fn image(live: &Value) -> &Value {
    &live["spec"]["template"]["spec"]["containers"][0]["image"]
}

fn uids(world: &World) -> String {
    world.kubectl(
        "us-east",
        &["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.uid}"],
    )
}

fn rolled_out(world: &World) {
    world.kubectl("us-east", &["rollout", "status", "deployment/web", "--timeout=60s"]);
}

/// What kubectl applied and the manifest lacks goes, without a restart; and again after someone
/// applies the old file.
#[test]
fn what_kubectl_applied_is_taken_whole() {
    let old = web("web:1")
        .replace("data: {greeting: hello}", "data: {greeting: hello, legacy: x}")
        .replace("ports: [{port: 80}]", "ports: [{name: a, port: 80}, {name: b, port: 81}]");
    let new = web("web:1").replace("ports: [{port: 80}]", "ports: [{name: a, port: 80}]");
    let world = World::new("csa");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &new);
    world.kubectl_apply("us-east", &old);
    rolled_out(&world);
    let pods = uids(&world);

    for round in 0..2 {
        let plan = world.ok(0, &["plan", "-o", "json"]);
        plan.says("kubectl-client-side-apply").says(".data.legacy");
        world.ok(0, &["apply", "-y"]);
        let config = world.live("us-east", "configmap", "web");
        assert_eq!(config["data"], serde_json::json!({"greeting": "hello"}), "round {round}");
        let annotations = &config["metadata"]["annotations"];
        assert!(annotations["kubectl.kubernetes.io/last-applied-configuration"].is_null());
        let ports = &world.live("us-east", "service", "web")["spec"]["ports"];
        assert_eq!(ports.as_array().map(Vec::len), Some(1), "round {round}");
        assert_eq!(uids(&world), pods, "no pod restarts, round {round}");
        world.ok(0, &["diff"]);
        world.ok(0, &["diff", "--verify"]);
        if round == 0 {
            world.kubectl_apply("us-east", &old);
            world.ok(1, &["diff"]).says("legacy");
        }
    }
}

#[test]
fn a_hands_change_goes_back_and_is_named() {
    let world = World::new("hand");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:9"]);
    world.ok(0, &["plan"]).says("reverts kubectl-set").says("web:9 → web:1");
    world.ok(0, &["apply", "-y"]);
    assert_eq!(image(&world.live("us-east", "deployment", "web")), "web:1");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn a_restart_and_an_annotation_by_hand_stay() {
    let world = World::new("restart");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["rollout", "restart", "deployment/web"]);
    world.kubectl("us-east", &["annotate", "deployment/web", "team=shop"]);
    rolled_out(&world);
    let restarted = |w: &World| {
        w.live("us-east", "deployment", "web")["spec"]["template"]["metadata"]["annotations"]
            ["kubectl.kubernetes.io/restartedAt"]
            .clone()
    };
    let (when, pods) = (restarted(&world), uids(&world));
    assert!(when.is_string());
    world.ok(0, &["diff"]);
    // Something else of the same object changes, outside its template.
    world.write(
        "k8s/web.yaml",
        &web("web:1").replace("replicas: 2", "replicas: 2\n  minReadySeconds: 1"),
    );
    world.ok(0, &["apply", "-y"]);
    assert_eq!(restarted(&world), when);
    assert_eq!(uids(&world), pods, "nothing restarts again");
    assert_eq!(
        world.live("us-east", "deployment", "web")["metadata"]["annotations"]["team"],
        "shop"
    );
}

/// Replicas that an autoscaler set stay when an image changes, to another number or to the same.
#[test]
fn an_autoscalers_replicas_stay() {
    for count in ["5", "2"] {
        let world = World::new("hpa");
        world.plain(&["us-east"]);
        world.write("k8s/web.yaml", &web("web:1"));
        world.ok(0, &["apply", "-y"]);
        // The autoscaler comes after the first apply, which owns replicas by then.
        world.write("k8s/web.yaml", &(web("web:2") + HPA));
        world.kubectl("us-east", &["scale", "deployment/web", &format!("--replicas={count}")]);
        world.ok(0, &["apply", "-y"]);
        let live = world.live("us-east", "deployment", "web");
        assert_eq!(live["spec"]["replicas"].to_string(), count);
        assert_eq!(image(&live), "web:2");
        world.ok(0, &["diff"]);
        world.ok(0, &["diff", "--verify"]);
        world.write("k8s/web.yaml", &(web("web:3") + HPA));
        world.ok(0, &["apply", "-y"]);
        let live = world.live("us-east", "deployment", "web");
        assert_eq!(live["spec"]["replicas"].to_string(), count);
    }
}

/// An autoscaled workload that kubectl applied with its replicas keeps what the autoscaler made.
#[test]
fn replicas_are_not_taken_with_the_rest() {
    let world = World::new("hpa-csa");
    world.plain(&["us-east"]);
    let all = web("web:1") + HPA;
    world.kubectl_apply("us-east", &all);
    world.write("k8s/web.yaml", &all);
    world.ok(0, &["apply", "-y"]);
    assert_eq!(world.live("us-east", "deployment", "web")["spec"]["replicas"], 2);
    world.ok(0, &["diff", "--verify"]);
}

/// A value that is right because a hand set it is not called ours, nor unchanged for good.
#[test]
fn a_value_that_a_hand_set_first_is_still_watched() {
    let world = World::new("hand-first");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:2"]);
    world.write("k8s/web.yaml", &web("web:2").replace("hello", "good evening"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:3"]);
    world.ok(1, &["diff"]).says("web:3");
    world.ok(0, &["apply", "-y"]);
    assert_eq!(image(&world.live("us-east", "deployment", "web")), "web:2");
}

/// An autoscaler of somebody else's, and a manifest that says nothing of replicas any more.
#[test]
fn replicas_that_the_manifest_drops_for_an_autoscaler_stay() {
    let world = World::new("hpa-drop");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1").replace("replicas: 2", "replicas: 3"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl_apply("us-east", HPA.trim_start_matches("---\n"));
    world.write("k8s/web.yaml", &web("web:1").replace("  replicas: 2\n", ""));
    world.ok(0, &["apply", "-y"]);
    assert_eq!(world.live("us-east", "deployment", "web")["spec"]["replicas"], 3);
    world.ok(0, &["diff", "--verify"]);
}

/// At first contact, pods restart when their configuration really changes.
#[test]
fn configuration_that_changes_at_first_contact_restarts_pods() {
    let world = World::new("config-csa");
    world.plain(&["us-east"]);
    world.kubectl_apply("us-east", &web("web:1"));
    rolled_out(&world);
    let pods = uids(&world);
    world.write("k8s/web.yaml", &web("web:1").replace("hello", "good evening"));
    world.ok(0, &["apply", "-y"]);
    assert_ne!(uids(&world), pods);
    world.ok(0, &["diff", "--verify"]);
}

/// A port that a hand has renumbered is put back: the manifest's own beside it would be a duplicate.
#[test]
fn a_key_that_a_hand_changed_goes_back() {
    let world = World::new("rekeyed");
    world.plain(&["us-east"]);
    let service = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec:\n  selector: {{app: web}}\n  \
             ports: [{{name: {name}, port: 53}}, {{name: other, port: 80}}]\n"
        )
    };
    world.write("k8s/web.yaml", &service("t"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl(
        "us-east",
        &["annotate", "service/web", "note=hand", "--field-manager=kubectl-edit"],
    );
    let port = r#"[{"op":"replace","path":"/spec/ports/0/port","value":54}]"#;
    world.kubectl(
        "us-east",
        &["patch", "service/web", "--type=json", "-p", port, "--field-manager=kubectl-edit"],
    );
    let plan = world.ok(0, &["plan"]);
    plan.says("reverts kubectl-edit").says("port=54").hides("Duplicate");
    world.ok(0, &["apply", "-y"]);
    let live = world.live("us-east", "service", "web");
    let ports: Vec<&Value> =
        live["spec"]["ports"].as_array().unwrap().iter().map(|p| &p["port"]).collect();
    assert_eq!(ports.len(), 2, "{ports:?}");
    assert!(ports.contains(&&serde_json::json!(53)) && ports.contains(&&serde_json::json!(80)));
    assert_eq!(live["metadata"]["annotations"]["note"], "hand", "the hand's other fields stay");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
}

/// A map of a custom resource that becomes empty is empty, not refused.
#[test]
fn a_map_that_becomes_empty() {
    let world = World::new("emptied");
    world.plain(&["us-east"]);
    let group = format!("{}.example.com", world.namespace.name());
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: boxes.{group}}}\n\
         spec:\n  group: {group}\n  scope: Namespaced\n  names: {{plural: boxes, singular: box, kind: Box, listKind: BoxList}}\n  \
         versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
         properties:\n          spec:\n            type: object\n            properties:\n              \
         m: {{type: object, additionalProperties: {{type: string}}}}\n              other: {{type: string}}\n"
    );
    world.kubectl_apply("us-east", &definition);
    let crd = format!("crd/boxes.{group}");
    world.kubectl("us-east", &["wait", "--for=condition=Established", &crd, "--timeout=30s"]);
    let object = |m: &str| {
        format!(
            "apiVersion: {group}/v1\nkind: Box\nmetadata: {{name: web}}\nspec: {{other: a, m: {m}}}\n"
        )
    };
    world.write("k8s/web.yaml", &object("{k: v, l: w}"));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/web.yaml", &object("{}"));
    let plan = world.ok(0, &["plan"]);
    plan.says(".spec.m").hides("must be of type");
    world.ok(0, &["apply", "-y"]).says("1 configured");
    let path = format!("/apis/{group}/v1/namespaces/{}/boxes/web", world.namespace.name());
    let live = world.cluster("us-east").get(&path);
    assert_eq!(live["spec"], serde_json::json!({"other": "a", "m": {}}));
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.kubectl("us-east", &["delete", &crd]);
}
