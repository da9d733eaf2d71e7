//! Canaries that fail, each for another reason, and a primary that fails after its canary passed:
//! what is said, and that everything is back afterwards. And a part of the targets that cannot be
//! rendered (T5).

use serde_json::Value;

use crate::support::{Run, World};

/// One target with an application that has steps, in version 1.
fn deployed(prefix: &str) -> World {
    let world = World::new(prefix);
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}
rollout:
  waves: [{name: all, progressDeadline: 20s}]
  steps: [{canary: {replicas: 1}}, {primary: {}}, {clean: {}}]
",
    );
    write(&world, "v1", "");
    world.ok(0, &["apply", "-y"]);
    world
}

/// Another version, with further keys of its pod template's `spec`.
fn write(world: &World, tag: &str, keys: &str) {
    world.write(
        "k8s/web.yaml",
        &format!(
            "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  progressDeadlineSeconds: 5
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: web, image: \"registry.example/web:{tag}\"}}]
{keys}"
        ),
    );
}

/// At most so many pods in the test's namespace.
fn quota(world: &World, pods: u32) {
    world.kubectl_apply(
        "us-east",
        &format!(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: few}}\nspec: {{hard: {{pods: {pods}}}}}\n"
        ),
    );
}

/// What `rollout run -o json` says of the one target.
fn target(run: &Run) -> Value {
    run.json()["targets"][0].clone()
}

/// The rollout is taken back, and the target is what it was.
#[track_caller]
fn taken_back(world: &World, why: &str) {
    world.ok(0, &["rollout", "abort", "-y"]);
    let left = world.kubectl("us-east", &["get", "deployments", "-o", "name"]);
    assert_eq!(left.trim(), "deployment.apps/web", "{why}");
    let image = &world.live("us-east", "deployment", "web")["spec"]["template"]["spec"]["containers"]
        [0]["image"];
    assert_eq!(image, "registry.example/web:v1", "{why}");
    write(world, "v1", "");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn each_reason_is_named_and_everything_is_taken_back() {
    let world = deployed("canary-fails");
    let cases = [
        ("never-ready", "", 0, "container web: not ready"),
        ("crash-loop", "", 0, "CrashLoopBackOff"),
        ("pull-error", "", 0, "ImagePullBackOff"),
        ("v2", "", 3, "exceeded quota: few"),
        ("v2", "      serviceAccountName: nobody\n", 0, "serviceaccount \"nobody\" not found"),
    ];
    for (tag, keys, pods, reason) in cases {
        if pods > 0 {
            quota(&world, pods);
        }
        write(&world, tag, keys);
        let run = world.mcd(&["rollout", "run", "-y", "-o", "json"]);
        assert_eq!(run.code, 1, "{tag}: {run}");
        let target = target(&run);
        assert_eq!(target["state"], "failed", "{target:#}");
        assert_eq!(target["step"]["step"], "canary", "{target:#}");
        let message = target["message"].as_str().unwrap_or_default();
        assert!(message.contains("web-canary") && message.contains(reason), "{tag}: {target:#}");
        let deployment = world.live("us-east", "deployment", "web");
        assert_eq!(deployment["metadata"]["generation"], 1, "{tag}: the primary was touched");
        taken_back(&world, tag);
        world.kubectl("us-east", &["delete", "resourcequota", "few", "--ignore-not-found"]);
    }
}

#[test]
fn a_primary_that_fails_after_its_canary_passed() {
    let world = deployed("primary-fails");
    // Room for the canary, and for no pod more.
    quota(&world, 4);
    write(&world, "v2", "");
    let run = world.mcd(&["rollout", "run", "-y", "-o", "json"]);
    assert_eq!(run.code, 1, "{run}");
    let failed = target(&run);
    assert_eq!(failed["step"]["step"], "primary", "{failed:#}");
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(message.contains("exceeded quota: few"), "{failed:#}");
    // Three old pods serve all the while.
    let deployment = world.live("us-east", "deployment", "web");
    assert_eq!(deployment["status"]["availableReplicas"], 3, "{deployment:#}");
    taken_back(&world, "primary");
}

/// What a rollout brings may be lost in the middle of it: then it can only be taken back.
#[test]
fn a_staged_release_that_is_lost_is_taken_back() {
    let world = World::new("lost-release");
    world.application(
        &["us-east"],
        "render: {manifests: [k8s/]}
rollout: {steps: [{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {clean: {}}]}
",
    );
    write(&world, "v1", "");
    world.ok(0, &["apply", "-y"]);
    write(&world, "v2", "");
    world.ok(7, &["rollout", "run", "-y"]);
    world.kubectl("us-east", &["delete", "secret", "mcd-release.web.2"]);
    world.ok(0, &["rollout", "approve"]);
    world.ok(1, &["rollout", "resume", "-y"]).says("release 2 is gone");
    taken_back(&world, "lost");
}

#[test]
fn the_same_version_again_is_no_rollout() {
    let world = deployed("same-again");
    write(&world, "v2", "");
    world.ok(0, &["rollout", "run", "-y"]);
    let before = world.ok(0, &["history", "-o", "json"]).json();
    world.ok(0, &["rollout", "run", "-y"]);
    let after = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(before["targets"], after["targets"]);
}

/// T5: of three targets the manifests of one cannot be read.
#[test]
fn a_target_that_cannot_be_rendered_hides_no_other() {
    let world = World::new("partly");
    world.application(
        &["us-east", "us-west", "eu-west"],
        "render: {manifests: [k8s/]}
overrides: [{select: {clusters: [us-west]}, render: {manifests: [broken/]}}]
rollout:
  waves:
  - {name: first, select: {clusters: [us-*]}, maxFailures: BUDGET}
  - {name: second, select: {clusters: [eu-*]}}
",
    );
    write(&world, "v1", "");
    world.write("broken/web.yaml", "kind: ConfigMap\n");
    let file = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let budget = |n: u32| {
        std::fs::write(&file, text.replace("BUDGET", &n.to_string())).unwrap();
    };
    let here = |cluster| world.exists(cluster, "deployment", "web");
    // Without a word of the user's nothing is written anywhere.
    budget(1);
    world.ok(4, &["apply", "-y"]).says("broken/web.yaml");
    assert!(!here("us-east") && !here("eu-west"));
    // Beyond the budget nothing starts after it.
    budget(0);
    let stopped = world.mcd(&["apply", "-y", "--keep-going", "-o", "json"]);
    assert_ne!(stopped.code, 0, "{stopped}");
    assert!(!here("eu-west"), "{stopped}");
    world.mcd(&["rollout", "abort", "-y"]);
    // Inside it the others go on, and each has a state of its own.
    budget(1);
    let partly = world.mcd(&["apply", "-y", "--keep-going", "-o", "json"]);
    assert_ne!(partly.code, 0, "{partly}");
    let report = partly.json();
    let states: Vec<(String, String)> = report["targets"]
        .as_array()
        .expect("targets")
        .iter()
        .map(|t| [&t["target"], &t["state"]].map(|v| v.as_str().unwrap_or_default().to_owned()))
        .map(|[target, state]| (target, state))
        .collect();
    assert_eq!(states.len(), 3, "{report:#}");
    for (target, state) in &states {
        match target.as_str() {
            "us-west" => assert_eq!(state, "not-staged", "{report:#}"),
            _ => assert_eq!(state, "succeeded", "{report:#}"),
        }
    }
    assert!(partly.stdout.contains("broken/web.yaml"), "{partly}");
    assert!(here("us-east") && here("eu-west"));
}
