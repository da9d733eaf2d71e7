//! Plan, apply, diff, status and delete over three clusters.

use crate::support::{CLUSTERS, World, web};

#[test]
fn from_nothing_to_healthy_and_back() {
    let world = World::new("apply");
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));

    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["create"], 9);
    assert_eq!(plan["targets"][0]["target"], "us-east");
    assert_eq!(plan["targets"][0]["changes"][0]["action"], "create");
    world.ok(2, &["plan", "--detailed-exitcode"]).says("9 to create");
    world.ok(1, &["diff"]).says("+  name: web");
    assert!(!world.exists("us-east", "deployment", "web"), "reading verbs write nothing");

    let run = world.ok(0, &["apply", "-y"]);
    run.says("Healthy").says("3 created").says("2/2");
    for cluster in CLUSTERS {
        assert!(world.exists(cluster, "deployment", "web"), "{cluster}");
    }

    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["plan", "--detailed-exitcode"]).says("0 to create, 0 to change");
    let status = world.ok(0, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][2]["state"], "healthy");
    assert_eq!(status["targets"][2]["release"], 1);
    assert_eq!(status["targets"][2]["pods"]["ready"], 2);

    // A no-op makes no release.
    world.ok(0, &["apply", "-y"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"].as_array().map(Vec::len), Some(1));

    world.write("k8s/web.yaml", &web("web:2"));
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["change"], 3);
    let field = &plan["targets"][0]["changes"][0]["fields"][0];
    assert_eq!(field["path"], r#".spec.template.spec.containers[name="web"].image"#);
    assert_eq!((&field["before"], &field["after"]), (&"web:1".into(), &"web:2".into()));
    world.ok(0, &["apply", "-y", "-t", "us-*"]);
    assert_eq!(
        world.live("us-west", "deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"],
        "web:2"
    );
    assert_eq!(
        world.live("eu-west", "deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"],
        "web:1"
    );
    world.ok(1, &["diff"]).says("eu-west").hides("us-west");

    world.ok(0, &["delete", "-y"]).says("3 deleted");
    for cluster in CLUSTERS {
        for kind in ["deployment", "service", "configmap"] {
            assert!(!world.exists(cluster, kind, "web"), "{cluster} {kind}");
        }
        let left = world.kubectl(cluster, &["get", "secret,lease", "-o", "name"]);
        assert_eq!(left, "", "the state goes with the application");
    }
    world.ok(0, &["status"]).says("NotDeployed");
    world.ok(0, &["delete", "-y"]).says("nothing to delete");
}

#[test]
fn what_left_the_manifests_is_kept_without_pruning() {
    let world = World::new("left");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.write("k8s/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n");
    world.ok(0, &["apply", "-y"]);
    std::fs::remove_file(world.path().join("k8s/extra.yaml")).unwrap();
    let plan = world.ok(0, &["plan", "--prune=false", "-o", "json"]).json();
    assert_eq!(plan["targets"][0]["left"][0]["name"], "extra");
    assert_eq!(plan["counts"]["delete"], 0);
    world.ok(0, &["plan", "--prune=false", "--detailed-exitcode"]).says("kept");
    world.ok(0, &["apply", "--prune=false", "-y"]);
    assert!(world.exists("us-east", "configmap", "extra"));
    // It is still the application's: a delete takes it.
    world.ok(0, &["delete", "-y"]);
    assert!(!world.exists("us-east", "configmap", "extra"));
}

#[test]
fn changed_configuration_restarts_pods_and_unchanged_does_not() {
    let world = World::new("config");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    let generation =
        |w: &World| w.live("us-east", "deployment", "web")["metadata"]["generation"].clone();
    let first = generation(&world);
    world.write("k8s/web.yaml", &web("web:1").replace("hello", "good evening"));
    world.ok(0, &["plan"]).says("mcd.dev/config-hash");
    world.ok(0, &["apply", "-y"]);
    let second = generation(&world);
    assert_ne!(first, second);
    world.ok(0, &["apply", "-y"]);
    assert_eq!(second, generation(&world));
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn what_is_gone_from_manifests_and_cluster_is_nobodys() {
    let world = World::new("gone");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.write("k8s/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n");
    world.ok(0, &["apply", "-y"]);
    std::fs::remove_file(world.path().join("k8s/extra.yaml")).unwrap();
    world.kubectl("us-east", &["delete", "configmap", "extra"]);
    world.ok(0, &["plan"]).says("extra");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["status", "-o", "json"]).says("\"healthy\"").hides("extra");
    world.ok(0, &["apply", "-y"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"].as_array().map(Vec::len), Some(2));
}

/// Recreated by a restore: other uids, the same labels and fields.
#[test]
fn objects_with_new_uids_are_taken_into_the_inventory() {
    let world = World::new("restored");
    world.plain(&["us-east"]);
    world.write(
        "k8s/web.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n",
    );
    world.ok(0, &["apply", "-y"]);
    let namespace = world.namespace.name();
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let mut saved = world.cluster("us-east").get(&format!("{path}/web"));
    world.kubectl("us-east", &["delete", "configmap", "web"]);
    for key in ["uid", "resourceVersion"] {
        saved["metadata"].as_object_mut().unwrap().remove(key);
    }
    let made = world.cluster("us-east").call("POST", &path, Some(&saved)).unwrap();
    assert!(made.is_success(), "{made:?}");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["status"]).says("Healthy");
    world.ok(0, &["delete", "-y"]).says("1 deleted");
}

/// Without `--keep-going` a failure keeps those from starting that have not.
#[test]
fn nothing_new_starts_after_a_failure() {
    let world = World::new("budget");
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:pull-error"));
    let args = ["apply", "-y", "--concurrency", "1", "--timeout", "2s", "-o", "json"];
    let run = world.ok(1, &args).json();
    let states: Vec<_> = run["targets"].as_array().unwrap().iter().map(|t| &t["state"]).collect();
    assert_eq!(states, ["failed", "not-started", "not-started"]);
    assert!(!world.exists("eu-west", "deployment", "web"));
}

/// A Job that failed and went by its TTL was never done; one that succeeded is.
#[test]
fn a_job_is_done_when_it_succeeded() {
    let world = World::new("job");
    world.plain(&["us-east"]);
    world.write(
        "k8s/job.yaml",
        "apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  ttlSecondsAfterFinished: 0
  template:
    metadata: {annotations: {testbed.mcd.dev/ready-after: 1s}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: 'job:1'}]
",
    );
    world.ok(0, &["apply", "-y"]);
    testbed::wait_for("the Job to go by its TTL", std::time::Duration::from_secs(60), || {
        if world.exists("us-east", "job", "once") { Err("still there".to_owned()) } else { Ok(()) }
    });
    world.ok(0, &["plan", "--detailed-exitcode"]).says("no changes");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["status"]).says("Healthy");
    assert!(!world.exists("us-east", "job", "once"), "it does not run again");
}
