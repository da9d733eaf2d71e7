//! The set of targets changes, and objects that look like the application's and are not: what is
//! taken for ours, and what is not (T6, T12).

use serde_json::{Value, json};
use testbed::{Bed, Match, Proxy};

use crate::support::{Run, World, web};

/// A target that is new fails beside one that ran: the old one goes back, and of the new one only what
/// this run made goes (T6).
#[test]
fn a_rollback_over_a_set_of_targets_that_grew() {
    let world = World::new("grown");
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.plain(&["us-east", "us-west"]);
    world.kubectl("us-west", &["create", "configmap", "bystander"]);
    world.write("k8s/all.yaml", &web("web:pull-error"));
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    let counts = |n: usize| &plan["targets"][n]["counts"];
    assert_eq!((&counts(0)["change"], &counts(0)["create"]), (&json!(1), &json!(0)), "{plan:#}");
    assert_eq!((&counts(1)["change"], &counts(1)["create"]), (&json!(0), &json!(3)), "{plan:#}");
    world.ok(1, &["apply", "-y", "--keep-going", "--timeout=3s"]).says("did not become healthy");

    // Where there is nothing to go back to it is said, and nothing is written anywhere.
    let run = world.ok(1, &["rollback", "-y"]);
    run.says("us-west").says("there is no release before release 1").says("nothing was written");
    let image = |cluster: &str| {
        let live = world.live(cluster, "deployment", "web");
        live["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    };
    assert_eq!(image("us-east"), "web:pull-error");
    let run = world.ok(1, &["rollback", "-y", "--keep-going"]);
    run.says("back to release 1").says("us-west");
    assert_eq!((image("us-east"), image("us-west")), (json!("web:1"), json!("web:pull-error")));
    world.ok(0, &["delete", "-y", "-t", "us-west"]).says("3 deleted");
    assert!(world.exists("us-west", "configmap", "bystander"));
    assert!(!world.exists("us-west", "deployment", "web"));

    // It leaves the selection with what it has: seen, and deleted by name alone.
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    let file = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        text.replace("select: {labels: {env: test}}", "select: {clusters: [us-east]}"),
    )
    .unwrap();
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["targets"][1]["state"], "orphaned", "{plan:#}");
    world.ok(0, &["apply", "-y"]);
    assert!(world.exists("us-west", "deployment", "web"), "nothing goes unasked");
    world.ok(3, &["apply", "-y", "-t", "us-eats"]).says("us-east");
}

/// Only what the inventory has is a candidate, whatever else carries the label (T12).
#[test]
fn what_only_looks_like_ours() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("lookalike", &[proxy.context()]);
    world.plain(&["us-east"]);
    let group = format!("{}.example.com", world.namespace.name());
    let space = format!("{}-owned", world.namespace.name());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("services.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Service", "listKind": "ServiceList", "plural": "services", "singular": "service"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    });
    world.kubectl_apply("us-east", &definition.to_string());
    let crd = format!("crd/services.{group}");
    world.kubectl("us-east", &["wait", "--for=condition=Established", &crd]);
    let old = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: old}\nstringData: {a: b}\n";
    let other = format!("---\napiVersion: {group}/v1\nkind: Service\nmetadata: {{name: web}}\n");
    let namespace = format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}}}\n");
    world.write("k8s/all.yaml", &(web("web:1") + old + &other + &namespace));
    world.ok(0, &["apply", "-y"]);

    // What a controller or a person made, with our label.
    let label = format!("mcd.dev/app={}.web", world.namespace.name());
    for object in [["configmap", "beside"], ["service", "web-mirror"]] {
        match object[0] {
            "service" => {
                world.kubectl("us-east", &["create", "service", "clusterip", object[1], "--tcp=80"])
            }
            _ => world.kubectl("us-east", &["create", "configmap", object[1]]),
        };
        world.kubectl("us-east", &["label", object[0], object[1], &label]);
    }
    world.kubectl("us-east", &["create", "secret", "generic", "unmanaged"]);
    world.kubectl("us-east", &["label", "secret", "unmanaged", &label]);
    world.kubectl("us-east", &["label", "replicaset", "-l", "app=web", &label]);

    world.write("k8s/all.yaml", &web("web:1"));
    let report = world.ok(0, &["plan", "-o", "json"]).json();
    let target = &report["targets"][0];
    let named = |key: &str, action: &str| -> Vec<(Value, Value, Value)> {
        let all = target[key].as_array().unwrap().iter();
        let all = all.filter(|o| action.is_empty() || o["action"] == action);
        all.map(|o| (o["group"].clone(), o["kind"].clone(), o["name"].clone())).collect()
    };
    assert_eq!(
        named("changes", "delete"),
        [
            (json!(group), json!("Service"), json!("web")),
            (Value::Null, json!("Secret"), json!("old")),
        ],
        "{report:#}"
    );
    assert_eq!(named("left", ""), [(Value::Null, json!("Namespace"), json!(space))], "{report:#}");
    assert_eq!(target["left"][0]["reason"], "deleted only with --with-namespaces");
    assert_eq!(target["counts"]["unchanged"], 3);

    // Between the look and the DELETE someone makes it anew: the uid keeps it from being deleted.
    let hold = proxy.hold(Match::writes().method("DELETE").path("/secrets/old"));
    let child = world.start(&["apply", "-y"]);
    hold.wait(std::time::Duration::from_secs(60));
    world.kubectl("us-east", &["delete", "secret", "old"]);
    world.kubectl("us-east", &["create", "secret", "generic", "old"]);
    hold.release();
    let run = Run::of(child.wait_with_output().unwrap());
    assert!(world.exists("us-east", "secret", "old"), "another object by now\n{run}");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["plan", "--detailed-exitcode"]).hides("/old");
    assert!(world.exists("us-east", "secret", "old"));
    assert!(world.exists("us-east", "service", "web"), "the core Service of that name");
    assert!(!world.exists("us-east", &format!("services.{group}"), "web"));
    for (kind, name) in
        [("configmap", "beside"), ("service", "web-mirror"), ("secret", "unmanaged")]
    {
        assert!(world.exists("us-east", kind, name), "{kind}/{name}");
    }
    world.ok(0, &["delete", "-y", "--with-namespaces"]);
    for (kind, name) in
        [("configmap", "beside"), ("service", "web-mirror"), ("secret", "unmanaged")]
    {
        assert!(world.exists("us-east", kind, name), "{kind}/{name}");
    }
    world.kubectl("us-east", &["delete", &crd]);
}
