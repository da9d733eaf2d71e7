//! `mcd init`: what it finds, what it writes, and that the result works at once.

use std::fs;

use testbed::Context;

use crate::chart_world::Charts;
use crate::support::{Run, World, web};

/// A world without the two files.
fn empty() -> World {
    let world = World::new("init");
    // What a test writes is in the folder that `init` looks into.
    world.write("k8s/web.yaml", &web("nginx:1.27"));
    world
}

#[test]
fn what_init_writes_is_valid_and_can_be_applied() {
    let world = empty();
    let namespace = world.namespace.name();
    let run = world.ok(0, &["init", "--name", "web", "-n", namespace]);
    run.says("wrote fleet.yaml: 3 clusters (us-east, us-west, eu-west)");
    run.says("wrote mcd.yaml: `web`, rendered from the manifests `k8s`");
    run.says("next: `mcd validate`");
    world.ok(0, &["validate"]);
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["targets"].as_array().map(Vec::len), Some(3));
    assert_eq!(plan["targets"][0]["counts"]["create"], 3, "{plan}");
    world.ok(0, &["apply", "-y", "-t", "us-east"]);
    assert_eq!(world.live("us-east", "deployment", "web")["spec"]["replicas"], 2);

    // Never over what is there.
    let before = fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write(
        "fleet.yaml",
        &(fs::read_to_string(world.path().join("fleet.yaml")).unwrap() + "# mine\n"),
    );
    world.ok(3, &["init"]).says("`mcd.yaml` is there already").says("--force");
    assert_eq!(fs::read_to_string(world.path().join("mcd.yaml")).unwrap(), before);
    fs::remove_file(world.path().join("mcd.yaml")).unwrap();
    world.ok(3, &["init", "--context", "us-*"]).says("with its own clusters");
    world.ok(0, &["init"]).says("fleet.yaml is there already, and is used as it is");
    assert!(fs::read_to_string(world.path().join("fleet.yaml")).unwrap().ends_with("# mine\n"));
    world.ok(0, &["validate"]);
    world.ok(0, &["init", "--force", "--context", "us-*"]).says("2 clusters (us-east, us-west)");
    assert!(!fs::read_to_string(world.path().join("fleet.yaml")).unwrap().contains("# mine"));
}

#[test]
fn each_kind_of_source_is_found() {
    let charts = Charts::new();
    let world = &charts.world;
    world.write("kustomization.yaml", "resources: [k8s/web.yaml]\n");
    world.write("k8s/web.yaml", &web("nginx:1.27"));
    world.ok(0, &["init", "--context", "us-east"]).says("the kustomization `.`");
    world.ok(0, &["validate"]);

    // Overlays that are called as the clusters: each gets its own.
    fs::remove_file(world.path().join("kustomization.yaml")).unwrap();
    fs::remove_dir_all(world.path().join("k8s")).unwrap();
    for (name, image) in [("us-east", "nginx:1.28"), ("us-west", "nginx:1.29")] {
        world.write(
            &format!("deploy/overlays/{name}/kustomization.yaml"),
            &format!(
                "resources: [../../base]\nimages: [{{name: nginx, newTag: '{}'}}]\n",
                &image[6..]
            ),
        );
    }
    world.write("deploy/base/kustomization.yaml", "resources: [web.yaml]\n");
    world.write("deploy/base/web.yaml", &web("nginx:1.27"));
    world.ok(0, &["init", "--force", "--context", "us-*"]).says("deploy/overlays/us-east");
    world.ok(0, &["validate"]);
    for (cluster, image) in [("us-east", "nginx:1.28"), ("us-west", "nginx:1.29")] {
        world.ok(0, &["render", "--offline", "-t", cluster]).says(image);
    }

    // A chart, by its path; its templates are no manifests.
    charts.package("shop", "1.0.0");
    let source = charts.folder.path().join("source/shop");
    for file in ["Chart.yaml", "values.yaml", "templates/cm.yaml"] {
        world.write(&format!("chart/{file}"), &fs::read_to_string(source.join(file)).unwrap());
    }
    world.write("chart/values-prod.yaml", "color: red\n");
    let run = world.ok(0, &["init", "--force", "chart", "--context", "us-east"]);
    run.says("the chart `chart`");
    world.ok(0, &["validate"]);
    world.ok(0, &["render", "--offline"]).says("color: none");
}

#[test]
fn contexts_become_clusters_once_a_server() {
    let bed = testbed::Bed::shared();
    let contexts = [
        Context::of(bed.cluster("us-east")).named("arn:aws:eks:us-east-1:1:cluster/prod-us"),
        Context::of(bed.cluster("us-east")).named("admin@prod-us"),
        Context::of(bed.cluster("us-west")).named("staging"),
    ];
    let world = World::with_contexts("init", &contexts);
    world.write("k8s/web.yaml", &web("nginx:1.27"));
    world.ok(0, &["init"]).says("2 clusters (prod-us, staging)");
    let fleet = fs::read_to_string(world.path().join("fleet.yaml")).unwrap();
    assert!(fleet.contains("# the same server as prod-us\n# - name: admin-prod-us\n"), "{fleet}");
    let targets = world.ok(0, &["targets", "-o", "json"]).json();
    let cluster = &targets["targets"][0]["settings"]["cluster"];
    assert_eq!(cluster["context"], "arn:aws:eks:us-east-1:1:cluster/prod-us");
    assert_eq!(cluster["labels"]["env"], "prod");
    world.ok(0, &["plan"]);

    fs::remove_file(world.path().join("mcd.yaml")).unwrap();
    fs::remove_file(world.path().join("fleet.yaml")).unwrap();
    let run = world.ok(3, &["init", "--name", "My Shop"]);
    run.says("`My Shop` is no name for an application").says("nothing was written");
    world.ok(3, &["init", "--fleet", "no/such/folder/fleet.yaml"]);
    assert!(!world.path().join("mcd.yaml").exists());
    world.ok(3, &["init", "--context", "stagign"]).says("did you mean `staging`?");
    let none = world.command(&["init"]).env("KUBECONFIG", "/nowhere").output().unwrap();
    let run = Run::of(none);
    assert_eq!(run.code, 3, "{run}");
    run.says("has no contexts").says("--kubeconfig");
    assert!(!world.path().join("fleet.yaml").exists());
    fs::remove_dir_all(world.path().join("k8s")).unwrap();
    let run = world.ok(3, &["init"]);
    run.says("nothing to render was found").says("mcd init PATH");
    assert!(!world.path().join("fleet.yaml").exists());
}
