//! State that is lost, damaged or of another version.

use serde_json::json;

use crate::support::{World, web};

fn applied(prefix: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world
}

fn generation(world: &World) -> serde_json::Value {
    world.live("us-east", "deployment", "web")["metadata"]["generation"].clone()
}

/// Whoever deletes the record loses history, and nothing else.
#[test]
fn a_record_that_is_gone() {
    let world = applied("no-record");
    let before = generation(&world);
    world.kubectl("us-east", &["delete", "secret", "mcd.web"]);
    // Nothing pretends that nothing was ever there.
    for args in [&["status"][..], &["delete", "-y"]] {
        world.ok(6, args).says("the record is gone").says("mcd rollback");
    }
    assert!(world.exists("us-east", "deployment", "web"));
    world.ok(0, &["plan", "--detailed-exitcode"]).says("0 to create, 0 to change");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    assert_eq!(generation(&world), before, "nothing restarts");
    world.ok(0, &["diff"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"][0]["number"], 2, "{history:#}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
    assert_eq!(world.kubectl("us-east", &["get", "secret,lease", "-o", "name"]), "");
}

#[test]
fn a_key_that_is_gone() {
    let world = applied("no-key");
    world.kubectl("us-east", &["delete", "secret", "mcd-key.web"]);
    world.mcd(&["plan"]);
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.write("k8s/web.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff"]);
}

#[test]
fn a_record_that_is_damaged_is_named() {
    let world = applied("damaged");
    let record = world.live("us-east", "secret", "mcd.web");
    let keys: Vec<&String> = record["data"].as_object().unwrap().keys().collect();
    let data: serde_json::Map<_, _> =
        keys.iter().map(|key| ((*key).clone(), json!("bm90IGEgcmVjb3Jk"))).collect();
    let patch = json!({"data": data}).to_string();
    world.kubectl("us-east", &["patch", "secret", "mcd.web", "--type=merge", "-p", &patch]);
    for verb in [&["plan"][..], &["status"], &["history"], &["apply", "-y"], &["delete", "-y"]] {
        let run = world.mcd(verb);
        assert!(![0, 101, 2].contains(&run.code), "{verb:?} {run}");
        run.says("us-east").says("mcd.web");
    }
    assert!(world.exists("us-east", "deployment", "web"));
}

/// An inventory that a hand thinned out or a release that is gone.
#[test]
fn a_release_that_is_gone() {
    let world = applied("no-release");
    world.kubectl("us-east", &["delete", "secret", "mcd-release.web.1"]);
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/web.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["active"], 2, "{history:#}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// State in a namespace of its own, Secrets in a third, and names as long as they may be.
#[test]
fn state_elsewhere_and_long_names() {
    let world = World::new(&"long-".repeat(9));
    let state = world.bed.namespace("state");
    let third = world.bed.namespace("third");
    let name = format!("a{}z", "b".repeat(38));
    world.application(
        &["us-east"],
        &format!("render: {{manifests: [k8s/]}}\nstateNamespace: {}\n", state.name()),
    );
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write(
        "mcd.yaml",
        &file.replace("metadata: {name: web}", &format!("metadata: {{name: {name}}}")),
    );
    let secret = format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: web, namespace: {}}}\nstringData: {{a: b}}\n",
        third.name()
    );
    for image in ["web:1", "web:2"] {
        world.write("k8s/web.yaml", &(web(image) + &secret));
        world.ok(0, &["apply", "-y"]).says("Healthy");
        world.ok(0, &["diff"]);
        world.ok(0, &["diff", "--verify"]);
    }
    let status = world.ok(0, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][0]["release"], 2, "{status:#}");
    let secrets = |namespace: &str| {
        let path = format!("/api/v1/namespaces/{namespace}/secrets");
        world.cluster("us-east").get(&path)["items"].as_array().unwrap().len()
    };
    // What is secret stays in the namespace that it is for.
    assert_eq!((secrets(world.namespace.name()), secrets(third.name())), (0, 3));
    assert_eq!(secrets(state.name()), 4, "record, key, two releases");
    world.ok(0, &["delete", "-y"]).says("4 deleted");
    assert_eq!((secrets(state.name()), secrets(third.name())), (0, 0));
}

/// Ten releases and the state that they need, no more.
#[test]
fn old_releases_go() {
    let world = applied("retention");
    for n in 2..=13 {
        world.write("k8s/web.yaml", &web(&format!("web:{n}")));
        world.ok(0, &["apply", "-y", "--wait=false"]);
    }
    let secrets = world.kubectl("us-east", &["get", "secret", "-o", "name"]);
    let releases = secrets.lines().filter(|name| name.contains("mcd-release.")).count();
    assert!((10..=11).contains(&releases), "{secrets}");
    let history = world.ok(0, &["history", "-o", "json"]).json();
    let listed = history["targets"][0]["releases"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["number"]), (10, &json!(13)));
}
