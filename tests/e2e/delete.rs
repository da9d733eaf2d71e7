//! `mcd delete` takes what the application owns, exactly, and says what stays.

use serde_json::Value;

use crate::support::{World, web};

const CLAIM: &str = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";

fn world(prefix: &str, yaml: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", yaml);
    world
}

/// What is left of the application's state.
fn state(world: &World) -> String {
    world.kubectl("us-east", &["get", "secret,lease", "-o", "name"])
}

#[test]
fn data_stays_until_it_is_asked_for() {
    let world = world("keep", &(web("web:1") + CLAIM));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    let dry = world.ok(0, &["delete", "-y", "--dry-run"]);
    dry.says("Deployment").says("PersistentVolumeClaim").says("--with-volumes");
    dry.says("ToDelete").says("3 to delete, 1 kept").hides("NotStarted");
    assert!(world.exists("us-east", "deployment", "web"));
    let dry = world.ok(0, &["delete", "--dry-run", "-o", "json"]).json();
    let target = &dry["targets"][0];
    let kinds = |key: &str| -> Vec<String> {
        let objects = target[key].as_array().unwrap();
        objects.iter().map(|o| o["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds("deletes"), ["Deployment", "Service", "ConfigMap"], "{dry:#}");
    assert_eq!(kinds("left"), ["PersistentVolumeClaim"]);
    assert_eq!(target["left"][0]["reason"], "deleted only with --with-volumes");
    let run = world.ok(0, &["delete", "-y"]);
    run.says("3 deleted").says("1 kept").says("--with-volumes");
    assert!(!world.exists("us-east", "deployment", "web"));
    assert!(world.exists("us-east", "pvc", "data"));
    assert!(state(&world).contains("secret/mcd.web"), "the claim is not forgotten");
    world.ok(0, &["delete", "-y", "--with-volumes"]).says("1 deleted");
    assert!(!world.exists("us-east", "pvc", "data"));
    assert_eq!(state(&world), "");
    world.ok(0, &["delete", "-y"]).says("nothing to delete");
}

#[test]
fn a_finalizer_that_holds_it_is_named() {
    let world = world("finalizer", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    let stay = r#"{"metadata":{"finalizers":["testbed.mcd.dev/stay"]}}"#;
    world.kubectl("us-east", &["patch", "configmap", "web", "--type=merge", "-p", stay]);
    let run = world.ok(1, &["delete", "-y", "--timeout=2s"]);
    run.says("us-east").says("ConfigMap").says("testbed.mcd.dev/stay").says("not gone after 2s");
    assert!(!world.exists("us-east", "deployment", "web"));
    assert!(state(&world).contains("secret/mcd.web"), "not forgotten");
    world.ok(1, &["delete", "-y", "--timeout=1s", "-o", "json"]).says("testbed.mcd.dev/stay");
    let none = r#"{"metadata":{"finalizers":null}}"#;
    world.kubectl("us-east", &["patch", "configmap", "web", "--type=merge", "-p", none]);
    world.ok(0, &["delete", "-y"]);
    assert_eq!(state(&world), "");
}

#[test]
fn what_someone_made_anew_stays() {
    let world = world("anew", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["delete", "configmap", "web"]);
    world.kubectl("us-east", &["create", "configmap", "web", "--from-literal=mine=x"]);
    world.kubectl("us-east", &["delete", "service", "web"]);
    world.ok(0, &["delete", "-y"]).says("recreated by someone").says("1 deleted");
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(live["data"]["mine"], "x");
}

#[test]
fn what_is_protected_stays() {
    let world = world(
        "protect",
        &web("web:1").replacen(
            "kind: ConfigMap\nmetadata: {name: web}",
            "kind: ConfigMap\nmetadata: {name: web, annotations: {mcd.dev/protect: \"true\"}}",
            1,
        ),
    );
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["delete", "-y"]).says("mcd.dev/protect").says("2 deleted");
    assert!(world.exists("us-east", "configmap", "web"));
    world.kubectl("us-east", &["annotate", "configmap", "web", "mcd.dev/protect-"]);
    world.ok(0, &["delete", "-y"]).says("1 deleted");
    assert!(!world.exists("us-east", "configmap", "web"));
    assert_eq!(state(&world), "");
}

/// An application whose manifests hold the namespace that everything is in, the state too.
fn own_namespace(prefix: &str, yaml: &str) -> (World, String) {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    let name = format!("{}-own", world.namespace.name());
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    let line = format!("namespace: {}\n", world.namespace.name());
    world.write("mcd.yaml", &file.replace(&line, &format!("namespace: {name}\n")));
    let namespace = format!(
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{team: web}}}}\n"
    );
    world.write("k8s/all.yaml", &(yaml.to_owned() + &namespace));
    (world, name)
}

/// The namespace that holds everything, state included, goes last.
#[test]
fn its_own_namespace() {
    let (world, name) = own_namespace("own-ns", &web("web:1"));
    world.ok(0, &["apply", "-y"]).says("4 created").says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    let cluster = world.cluster("us-east");
    let path = format!("/api/v1/namespaces/{name}");
    assert_eq!(cluster.get(&path)["metadata"]["labels"]["team"], "web");
    world.ok(0, &["delete", "-y", "--with-namespaces"]).says("4 deleted");
    assert_eq!(cluster.call("GET", &path, None).unwrap().status, 404);
    world.ok(0, &["delete", "-y"]).says("nothing to delete");
}

const WIDGET: &str = "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: NAMESPACE.example.com/v1
kind: Widget
metadata: {name: web}
";

/// A namespace or a definition does not take along what is to stay.
#[test]
fn what_holds_something_that_stays_stays_too() {
    let (world, own) = own_namespace("holds", &(web("web:1") + WIDGET));
    world.ok(0, &["apply", "-y"]);
    let widgets = format!("widgets.{}.example.com", world.namespace.name());
    let annotate = |what: &str| {
        world.kubectl("us-east", &["annotate", "-n", &own, &widgets, "web", what]);
    };
    annotate("mcd.dev/protect=true");
    let all = ["delete", "-y", "--with-namespaces", "--with-definitions"];
    let run = world.ok(0, &all);
    run.says("3 deleted, 3 kept");
    run.says(&format!("Namespace {own} stays: Widget {own}/web would go with it"));
    world.ok(0, &["status"]).says("NotDeployed").says("3 objects stayed");
    world.kubectl("us-east", &["get", "-n", &own, &widgets, "web"]);

    annotate("mcd.dev/protect-");
    // The record would go with the namespace, so it stays for the definition's sake.
    let run = world.ok(0, &["delete", "-y", "--with-namespaces"]);
    run.says("1 deleted, 2 kept").says("the record of what stays would go with it");
    world.ok(0, &all).says("2 deleted");
    world.ok(0, &["status"]).says("NotDeployed").hides("stayed");
}

/// What was not waited for is not forgotten, and others' objects are never touched.
#[test]
fn without_waiting() {
    let world = world("nowait", &web("web:1"));
    world.kubectl("us-east", &["create", "configmap", "bystander"]);
    world.ok(0, &["apply", "-y"]);
    let run = world.ok(0, &["delete", "-y", "--wait=false", "-o", "json"]).json();
    assert_eq!(run["targets"][0]["objects"]["deleted"], 3, "{run:#}");
    world.ok(0, &["delete", "-y"]);
    assert_eq!(state(&world), "");
    assert!(world.exists("us-east", "configmap", "bystander"));
    // Applying again starts anew.
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let history: Value = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"][0]["number"], 1, "{history:#}");
}
