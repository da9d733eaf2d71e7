//! `ignore:` of the application file: fields that are left to others stay as others have them, and
//! are in no plan.

use serde_json::{Value, json};

use testbed::{Bed, Proxy};

use crate::support::{World, web};

/// A world of one cluster that ignores these fields of Deployments.
fn world(prefix: &str, paths: &str) -> World {
    let world = World::new(prefix);
    ignoring(&world, paths);
    world.write("k8s/web.yaml", &web("web:1"));
    world
}

fn ignoring(world: &World, paths: &str) {
    world.application(
        &["us-east"],
        &format!(
            "render: {{manifests: [k8s/]}}\nignore: [{{kind: Deployment, name: \"w*\", paths: [{paths}]}}]\n"
        ),
    );
}

fn image(live: &Value) -> &Value {
    &live["spec"]["template"]["spec"]["containers"][0]["image"]
}

#[track_caller]
fn is_settled(world: &World) {
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
}

const IMAGE: &str = r#"'.spec.template.spec.containers[name="web"].image'"#;

/// What a hand sets stays through applies that change other fields, and shows nowhere.
#[test]
fn an_ignored_field_is_the_hands() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("ignore", &[proxy.context()]);
    ignoring(
        &world,
        &format!("'.spec.replicas', {IMAGE}, '.metadata.annotations[\"example.com/a.b\"]'"),
    );
    let annotated = |image: &str| {
        web(image).replacen(
            "metadata: {name: web}",
            "metadata: {name: web, annotations: {example.com/a.b: ours, other: x}}",
            1,
        )
    };
    world.write("k8s/web.yaml", &annotated("web:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(
        (image(&live), &live["spec"]["replicas"]),
        (&json!("web:1"), &json!(2)),
        "sent once"
    );
    assert_eq!(live["metadata"]["annotations"]["example.com/a.b"], "ours");
    is_settled(&world);

    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:9"]);
    world.kubectl("us-east", &["scale", "deployment/web", "--replicas=3"]);
    world
        .kubectl("us-east", &["annotate", "deployment/web", "--overwrite", "example.com/a.b=hand"]);
    for round in 0..2 {
        is_settled(&world);
        let next = annotated(&format!("web:{}", round + 2))
            .replace("other: x", &format!("other: y{round}"));
        world.write("k8s/web.yaml", &next);
        let plan = world.ok(0, &["plan"]);
        plan.says(".metadata.annotations.other").hides("replicas").hides("image").hides("a.b");
        world.ok(0, &["apply", "-y"]).says("Healthy");
        let live = world.live("us-east", "deployment", "web");
        assert_eq!(
            (image(&live), &live["spec"]["replicas"]),
            (&json!("web:9"), &json!(3)),
            "{round}"
        );
        assert_eq!(live["metadata"]["annotations"]["example.com/a.b"], "hand");
        assert_eq!(live["metadata"]["annotations"]["other"], format!("y{round}"));
    }
    is_settled(&world);
    // A field that a hand removed stays removed.
    world.kubectl("us-east", &["annotate", "deployment/web", "example.com/a.b-"]);
    is_settled(&world);
    proxy.clear_log();
    world.ok(0, &["plan"]);
    let requests = proxy.requests();
    let asked = requests.iter().filter(|r| r.path.contains("dryRun"));
    assert_eq!(asked.count(), 0, "the digests are enough: {requests:#?}");
    proxy.clear_log();
    world.ok(0, &["plan", "--verify"]);
    assert!(proxy.requests().iter().any(|r| r.path.contains("dryRun")));
}

/// What was ours keeps its value when it is ignored from now on, and comes back when it is not.
#[test]
fn a_field_is_given_up_and_taken_back() {
    let world = world("ignore-later", "'.spec.paused'");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let pods = |world: &World| {
        world.kubectl("us-east", &["get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"])
    };
    let before = pods(&world);
    ignoring(&world, &format!("'.spec.replicas', {IMAGE}"));
    world.write("k8s/web.yaml", &web("web:2").replace("replicas: 2", "replicas: 1"));
    let plan = world.ok(2, &["plan", "--detailed-exitcode"]);
    plan.says("gives up").says(".spec.replicas").hides("web:2");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!((image(&live), &live["spec"]["replicas"]), (&json!("web:1"), &json!(2)));
    assert_eq!(pods(&world), before, "nothing restarts");
    is_settled(&world);

    world.kubectl("us-east", &["scale", "deployment/web", "--replicas=3"]);
    ignoring(&world, "'.spec.paused'");
    let plan = world.ok(0, &["plan"]);
    plan.says("web:1 → web:2").says(".spec.replicas  3 → 1");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!((image(&live), &live["spec"]["replicas"]), (&json!("web:2"), &json!(1)));
    is_settled(&world);
}

/// Fields that kubectl applied are taken over but for those that are ignored.
#[test]
fn an_ignored_field_is_not_taken_from_kubectl() {
    let world = world("ignore-csa", &format!("'.spec.replicas', {IMAGE}"));
    world.kubectl_apply("us-east", &web("web:7").replace("replicas: 2", "replicas: 3"));
    world.ok(0, &["plan"]).says("takes over from kubectl-client-side-apply").says("gives up");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!((image(&live), &live["spec"]["replicas"]), (&json!("web:7"), &json!(3)));
    is_settled(&world);
}

/// The item of a list is new: of it all is sent, and then what is ignored is given up.
#[test]
fn an_ignored_field_of_a_new_item_is_sent_once() {
    let sidecar = r#"'.spec.template.spec.containers[name="log"].image'"#;
    let world = world("ignore-item", sidecar);
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let with = |image: &str| {
        web("web:1").replace(
            "        envFrom:",
            &format!("      - name: log\n        image: {image}\n        env: [{{name: A, value: b}}]\n      - name: last\n        image: last:1\n        envFrom:"),
        )
    };
    world.write("k8s/web.yaml", &with("log:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let image = |world: &World| {
        world.live("us-east", "deployment", "web")["spec"]["template"]["spec"]["containers"]
            .as_array()
            .and_then(|all| all.iter().find(|c| c["name"] == "log").cloned())
            .unwrap_or_default()["image"]
            .clone()
    };
    assert_eq!(image(&world), "log:1");
    is_settled(&world);
    world.kubectl("us-east", &["set", "image", "deployment/web", "log=log:9"]);
    world.write("k8s/web.yaml", &with("log:2"));
    is_settled(&world);
    assert_eq!(image(&world), "log:9");
}

/// Of a value that the server keeps as one nothing can be left out; that is said, with the value.
#[test]
fn a_part_of_a_whole_cannot_be_ignored() {
    let world = World::new("ignore-whole");
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nignore: [{kind: Service, paths: ['.spec.selector.tier']}]\n",
    );
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web, tier: a}, ports: [{port: 80}]}\n";
    world.write("k8s/web.yaml", service);
    for verb in [&["plan"][..], &["apply", "-y"]] {
        world
            .ok(3, verb)
            .says("`.spec.selector.tier` cannot be ignored alone")
            .says("ignore `.spec.selector`");
    }
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write("mcd.yaml", &file.replace(".spec.selector.tier", ".spec.selector"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl(
        "us-east",
        &["patch", "svc", "web", "-p", r#"{"spec":{"selector":{"app":"hand"}}}"#],
    );
    is_settled(&world);
    world.write("k8s/web.yaml", &service.replace("port: 80", "port: 81"));
    world.ok(0, &["apply", "-y"]);
    let live = world.live("us-east", "service", "web");
    assert_eq!(live["spec"]["selector"], json!({"app": "hand", "tier": "a"}));
    assert_eq!(live["spec"]["ports"][0]["port"], 81);
}

/// A key of a list item that the server fills in may be left out of the path.
#[test]
fn keys_that_the_server_fills_in() {
    let world = World::new("ignore-keys");
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nignore: [{kind: Service, paths: ['.spec.ports[port=80].name']}]\n",
    );
    world.write(
        "k8s/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, name: http}]}\n",
    );
    world.ok(0, &["apply", "-y"]);
    is_settled(&world);
    world.kubectl(
        "us-east",
        &["patch", "svc", "web", "-p", r#"{"spec":{"ports":[{"port":80,"name":"hand"}]}}"#],
    );
    is_settled(&world);
    world.ok(0, &["apply", "-y"]);
    assert_eq!(world.live("us-east", "service", "web")["spec"]["ports"][0]["name"], "hand");
}

#[test]
fn a_rule_for_nothing_is_said() {
    let world = World::new("ignore-none");
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nignore: [{kind: Deploymnet, paths: ['.spec.replicas']}]\n",
    );
    world.write("k8s/web.yaml", &web("web:1"));
    world
        .ok(0, &["plan"])
        .says("`ignore` at mcd.yaml:8 matches no object; did you mean `kind: Deployment`?");
    // A rule of health has to name the group; the core group is what it means without.
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nhealth: [{kind: Deployment, current: 'true'}]\n",
    );
    world
        .ok(0, &["plan"])
        .says("`health` at mcd.yaml:8 is about no object; did you mean `group: apps`?");
}

/// Of a Secret `stringData` is what the server makes `data` of.
#[test]
fn a_text_of_a_secret() {
    let world = World::new("ignore-text");
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\nignore: [{kind: Secret, paths: [.stringData.token]}]\n",
    );
    let secret = |other: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: web}}\n\
             stringData: {{token: first, other: {other}}}\n"
        )
    };
    world.write("k8s/secret.yaml", &secret("a"));
    world.ok(0, &["apply", "-y"]);
    let patch = r#"{"stringData":{"token":"rotated"}}"#;
    world.kubectl("us-east", &["patch", "secret", "web", "--type=merge", "-p", patch]);
    is_settled(&world);
    world.write("k8s/secret.yaml", &secret("b"));
    world.ok(0, &["apply", "-y"]).says("1 configured");
    let data = world.live("us-east", "secret", "web")["data"].clone();
    assert_eq!(data, serde_json::json!({"token": "cm90YXRlZA==", "other": "Yg=="}));
    is_settled(&world);
}

/// Of a map that the server keeps as one, the only key cannot be left out either: what is sent then
/// is an empty map, and a dry run shows nothing of it.
#[test]
fn the_only_key_of_a_value_that_is_kept_as_one() {
    let world = World::new("ignore-only");
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n\
                   spec: {selector: {app: web}, ports: [{port: 80}]}\n";
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", service);
    world.ok(0, &["apply", "-y"]);
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\n\
         ignore: [{kind: Service, name: web, paths: [.spec.selector.app]}]\n",
    );
    world.write("k8s/web.yaml", &service.replace("port: 80", "port: 81"));
    for args in [&["plan"][..], &["apply", "-y"]] {
        world
            .ok(3, args)
            .says("`.spec.selector.app` cannot be ignored alone")
            .says("the server keeps `.spec.selector` as one value");
    }
    let selector = || world.live("us-east", "service", "web")["spec"]["selector"]["app"].clone();
    assert_eq!(selector(), "web");
    // As a whole it can be.
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}\n\
         ignore: [{kind: Service, name: web, paths: [.spec.selector]}]\n",
    );
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["diff", "--verify"]);
    assert_eq!(selector(), "web");
}
