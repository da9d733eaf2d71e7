//! Two targets side by side: what was released to each, and what the clusters have of it.

use serde_json::json;
use testbed::{Bed, Context, Proxy};

use crate::support::{World, web};

const SECRET: &str = "---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: PASSWORD, same: both-know-it}
";

/// Two targets in two namespaces, whose files say different things.
fn two() -> (World, testbed::TestNamespace, Proxy) {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    let contexts = [Context::of(bed.cluster("us-east")), proxy.context().named("us-west")];
    let world = World::with_contexts("compare", &contexts);
    let west = bed.namespace("compare-west");
    world.application(
        &["us-east", "us-west"],
        &format!(
            "render: {{manifests: [k8s/, east/]}}
overrides:
- select: {{clusters: [us-west]}}
  namespace: {}
  render: {{manifests: [k8s/, west/]}}
  replicas: [{{name: web, count: 3}}]
",
            west.name()
        ),
    );
    world.write("k8s/all.yaml", &web("web:1"));
    world.write("east/secret.yaml", &SECRET.replace("PASSWORD", "east-horse"));
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: only-west}\n";
    world.write("west/secret.yaml", &(SECRET.replace("PASSWORD", "west-horse") + map));
    (world, west, proxy)
}

#[test]
fn what_two_targets_do_not_have_in_common() {
    let (world, west, proxy) = two();
    world.ok(1, &["compare", "us-east", "us-west"]).says("the application is not deployed there");
    world.ok(0, &["apply", "-y"]);
    let run = world.ok(1, &["compare", "us-east", "us-west"]);
    run.says("--- us-east  release 1").says("+++ us-west  release 1").says(west.name());
    run.says("~ Deployment web\n    .spec.replicas  2 → 3\n");
    run.says("~ Secret web\n    .data.password  *** (before) → *** (after)\n");
    run.says("+ ConfigMap only-west  (only in us-west)").says("3 objects differ, 2 equal");
    run.hides("horse").hides("both-know-it").hides("same").hides("mcd.dev/app");
    let back = world.ok(1, &["compare", "us-west", "us-east", "-o", "json"]);
    back.hides("horse").hides("aG9yc2U");
    let report = back.json();
    assert_eq!(report["schema"], "mcd.dev/compare/v1");
    assert_eq!((&report["equal"], &report["exitCode"]), (&json!(2), &json!(1)), "{report:#}");
    assert_eq!((&report["a"]["target"], &report["a"]["release"]), (&json!("us-west"), &json!(1)));
    let states: Vec<(&str, &str)> = report["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (o["name"].as_str().unwrap(), o["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("web", "differs"), ("web", "differs"), ("only-west", "onlyA")]);
    assert_eq!(
        report["objects"][0]["fields"],
        json!([{"path": ".spec.replicas", "a": 3, "b": 2}]),
        "{report:#}"
    );
    let names = world.ok(1, &["compare", "us-east", "us-west", "-o", "name"]);
    assert_eq!(names.stdout, "deployment.apps/web\nsecret/web\nconfigmap/only-west\n");

    // A change by hand is in the cluster, and in no release.
    let live = world.ok(1, &["compare", "us-east", "us-west", "--live", "-o", "json"]).json();
    assert_eq!((&live["of"], &live["equal"]), (&json!("live"), &json!(2)), "{live:#}");
    world.kubectl("us-east", &["scale", "deployment", "web", "--replicas=3"]);
    world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:9"]);
    let live = world.ok(1, &["compare", "us-east", "us-west", "--live"]);
    live.says("image  web:9 → web:1").hides(".spec.replicas").hides("resourceVersion");
    world.ok(1, &["compare", "us-east", "us-west"]).says(".spec.replicas  2 → 3").hides("web:9");

    // What cannot be read wins over what differs.
    proxy.refuse();
    let run = world.ok(9, &["compare", "us-east", "us-west"]);
    run.says("us-west").says("refused").hides("---");
    let report = world.ok(9, &["compare", "us-east", "us-west", "-o", "json"]).json();
    assert_eq!(report["exitCode"], 9);
    assert_eq!(report["b"]["error"]["exitCode"], 9, "{report:#}");
    assert!(report["a"]["error"].is_null() && report["a"]["release"] == 1, "{report:#}");
}

#[test]
fn what_is_the_same_and_what_cannot_be_asked_for() {
    let world = World::new("compare-same");
    world.plain(&["us-east", "us-west"]);
    world.write("k8s/all.yaml", &(web("web:1") + SECRET));
    world.ok(0, &["apply", "-y"]);
    for args in
        [&["compare", "us-east", "us-west"][..], &["compare", "us-east", "us-west", "--live"]]
    {
        world.ok(0, args).says("no differences in 4 objects");
    }
    world.ok(3, &["compare", "us-east", "us-weste"]).says("us-west");
    world.ok(3, &["compare", "us-east", "us-east"]).says("compared with itself");
    world.ok(3, &["compare", "us-*", "us-west"]).says("whole names");
    world.ok(3, &["compare", "us-east", "us-west", "-t", "us-east"]).says("as arguments");
    world.ok(3, &["compare", "us-east"]);
}
