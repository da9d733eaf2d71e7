//! `conflicts:`: whose fields are taken, stop the object, or are left alone.

use serde_json::{Value, json};

use crate::support::{World, web};

const RENDER: &str = "render: {manifests: [k8s/]}\n";

/// Sets fields of an object as a field manager that mcd does not know.
fn patch(world: &World, manager: &str, kind: &str, patch: &Value) {
    let manager = format!("--field-manager={manager}");
    let patch = patch.to_string();
    world.kubectl("us-east", &["patch", kind, "web", "--type=merge", &manager, "-p", &patch]);
}

fn replicas(world: &World) -> Value {
    world.live("us-east", "deployment", "web")["spec"]["replicas"].clone()
}

/// An operator scales what the manifest scales too: its number stays, whatever else changes.
#[test]
fn an_operators_field_is_left() {
    let world = World::new("leave");
    world.application(&["us-east"], &format!("conflicts: {{leave: [my-oper*]}}\n{RENDER}"));
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    patch(&world, "my-operator", "deployment", &json!({"spec": {"replicas": 4}}));
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.write("k8s/web.yaml", &web("web:2").replace("replicas: 2", "replicas: 3"));
    world.ok(0, &["apply", "-y", "--force-conflicts"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["replicas"], 4);
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    // Without the word the object stops, as for every operator.
    world.application(&["us-east"], RENDER);
    world.ok(6, &["plan"]).says("`my-operator` has set `.spec.replicas`").says("`conflicts`");
}

/// An editor's fields go: those that the manifest sets go back, the others are dropped.
#[test]
fn an_editors_fields_are_taken() {
    let world = World::new("take");
    world.application(&["us-east"], &format!("conflicts: {{take: [my-editor]}}\n{RENDER}"));
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    patch(
        &world,
        "my-editor",
        "deployment",
        &json!({"spec": {"replicas": 4, "minReadySeconds": 1}}),
    );
    patch(&world, "my-editor", "configmap", &json!({"data": {"added": "x"}}));
    world
        .ok(0, &["plan"])
        .says("takes over from my-editor")
        .says(".spec.minReadySeconds")
        .says(".data.added");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    assert_eq!(replicas(&world), 2);
    let live = world.live("us-east", "deployment", "web");
    assert!(live["spec"]["minReadySeconds"].is_null(), "{live:#}");
    assert_eq!(world.live("us-east", "configmap", "web")["data"], json!({"greeting": "hello"}));
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
}

/// A hand that is to be asked first.
#[test]
fn a_hand_stops_where_the_file_says_so() {
    let world = World::new("stop");
    world.application(&["us-east"], &format!("conflicts: {{stop: [kubectl-*]}}\n{RENDER}"));
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["annotate", "deployment/web", "team=shop"]);
    world.ok(0, &["diff"]);
    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:9"]);
    world
        .ok(6, &["apply", "-y"])
        .says("`kubectl-set` has set `.spec.template.spec.containers[name=\"web\"].image`")
        .says("`conflicts` of the application file says `stop`");
    world.ok(0, &["apply", "-y", "--force-conflicts"]);
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    world.ok(0, &["diff", "--verify"]);
}

/// Another applier's object is refused, until the file says what it is.
#[test]
fn an_unknown_appliers_object_is_taken_when_the_file_says_so() {
    let world = World::new("applier");
    world.application(&["us-east"], RENDER);
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n";
    world.write("k8s/web.yaml", config);
    let path = format!("/api/v1/namespaces/{}/configmaps/web", world.namespace.name());
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "b", "old": "x"}});
    world.cluster("us-east").apply_as("my-pipeline", &path, &object);
    world.ok(6, &["apply", "--adopt", "-y"]).says("`my-pipeline` applies it too");
    world.application(&["us-east"], &format!("conflicts: {{take: [my-pipeline]}}\n{RENDER}"));
    world.ok(0, &["targets", "-o", "yaml"]).says("\"conflicts.take[0]\": mcd.yaml:7");
    world.ok(0, &["apply", "-y"]);
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(live["data"], json!({"a": "b"}));
    assert_eq!(live["metadata"]["managedFields"].as_array().map(Vec::len), Some(1));
    world.ok(0, &["diff", "--verify"]);
}
