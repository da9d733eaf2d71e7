//! Each example of `examples/` does what its README says: from nothing to healthy, nothing left to
//! change right after, each target with the tool that it asks for, and gone again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{CLUSTERS, Run, World};

/// An example, with its namespace and its API group replaced by the test's own.
fn example(name: &str) -> World {
    let world = World::new(name);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let namespace = match name {
        "quickstart" => "quickstart".to_owned(),
        other => format!("{other}-example"),
    };
    for file in files(&from) {
        let text = std::fs::read_to_string(&file).expect("read the example");
        let text = text
            .replace(&format!("namespace: {namespace}\n"), "namespace: NAMESPACE\n")
            .replace("examples.mcd.dev", "NAMESPACE.mcd.dev");
        let path = file.strip_prefix(&from).expect("a file of the example");
        world.write(path.to_str().expect("a UTF-8 path"), &text);
    }
    if name == "canary" {
        shorten(&world);
    }
    let application = std::fs::read_to_string(world.path().join("mcd.yaml")).expect("read");
    assert!(application.contains(world.namespace.name()), "the namespace is the test's own");
    world
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("list the example") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Each target's tool and version in a plan; plain manifests have none.
fn tools(plan: &Value) -> Vec<String> {
    let targets = plan["targets"].as_array().expect("targets");
    targets
        .iter()
        .map(|target| {
            let (name, version) = (&target["tool"]["name"], &target["tool"]["version"]);
            let tool = name.as_str().zip(version.as_str());
            tool.map_or_else(|| "-".to_owned(), |(name, version)| format!("{name} {version}"))
        })
        .collect()
}

/// Whether a document is what its schema says.
fn fits(world: &World, schema: &str, document: &Value) {
    let schema = world.ok(0, &["schema", schema]).json();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

/// Applies the example, checks that nothing is left to do, and returns the plan before it.
fn runs(world: &World, objects: usize) -> Value {
    let listed = world.ok(0, &["targets", "-o", "name"]);
    assert_eq!(listed.stdout.lines().collect::<Vec<_>>(), CLUSTERS);
    world.ok(0, &["validate"]).says("valid");
    let rendered = world.ok(0, &["render", "--offline"]);
    assert_eq!(rendered.stdout.matches("# target: ").count(), CLUSTERS.len(), "{rendered}");

    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["create"], objects);
    fits(world, "plan", &plan);
    world.ok(2, &["plan", "--detailed-exitcode"]).says(&format!("{objects} to create"));
    let applied = world.ok(0, &["apply", "-y"]);
    assert_eq!(applied.stdout.matches("Healthy").count(), CLUSTERS.len(), "{applied}");

    for verify in [&[][..], &["--verify"]] {
        let diff = world.ok(0, &[&["diff"], verify].concat());
        assert_eq!(diff.stdout, "", "{diff}");
        world.ok(0, &[&["plan", "--detailed-exitcode"], verify].concat()).says("no changes");
    }
    fits(world, "run", &world.ok(0, &["apply", "-y", "-o", "json"]).json());
    fits(world, "history", &world.ok(0, &["history", "-o", "json"]).json());
    let status = world.ok(0, &["status", "-o", "json"]).json();
    fits(world, "run", &status);
    for target in status["targets"].as_array().expect("targets") {
        assert_eq!(target["state"], "healthy", "{target:#}");
        assert_eq!(target["release"], 1, "{target:#}");
        assert_eq!(target["pods"]["ready"], target["pods"]["wanted"], "{target:#}");
    }
    plan
}

/// Deletes the example and checks that its workload is gone.
fn goes(world: &World, workload: &str, flags: &[&str]) -> Run {
    let run = world.ok(0, &[&["delete", "-y"], flags].concat());
    for cluster in CLUSTERS {
        assert!(!world.exists(cluster, "deployment", workload), "{cluster}");
    }
    world.ok(0, &["status"]).says("NotDeployed");
    run
}

#[test]
fn quickstart() {
    let world = example("quickstart");
    let plan = runs(&world, 12);
    assert_eq!(tools(&plan), ["-", "-", "-"]);

    // Values of the cluster, and the override of one region.
    let replicas =
        |cluster| world.live(cluster, "deployment", "storefront")["spec"]["replicas"].clone();
    assert_eq!(CLUSTERS.map(replicas), [3, 2, 2]);
    let data = |cluster| world.live(cluster, "configmap", "storefront")["data"].clone();
    assert_eq!(data("us-west")["DOMAIN"], "us-west.example.com");
    assert_eq!(
        (&data("us-west")["CONSENT_BANNER"], &data("eu-west")["CONSENT_BANNER"]),
        (&"false".into(), &"true".into())
    );

    // The variable, on some clusters first.
    let tag = ["--var", "tag=1.28.1"];
    let path = r#".spec.template.spec.containers[name="web"].image"#;
    world.ok(0, &[&["plan"], &tag[..]].concat()).says(path).says("nginx:1.28 → nginx:1.28.1");
    world.ok(0, &[&["apply", "-y", "-l", "region=us"], &tag[..]].concat()).hides("eu-west");
    world.ok(1, &[&["diff"], &tag[..]].concat()).says("eu-west").hides("us-west");

    // What one run did not wait for, another can.
    world.ok(0, &["apply", "-y", "--wait=false"]).says("Applied");
    world.ok(0, &["status", "--wait"]).says("Healthy");
    world.ok(0, &["apply", "-y", "--wait=false", "-t", "us-east", "--var", "tag=pull-error"]);
    let late = world.ok(1, &["status", "--wait", "--timeout", "2s"]);
    assert_eq!(late.stdout.matches("Healthy").count(), 2, "{late}");
    late.says("ImagePullBackOff");

    // The Secret's value is in no output.
    let outputs: [&[&str]; 5] = [
        &["render"],
        &["plan", "-o", "yaml"],
        &["diff", "--var", "tag=2"],
        &["apply", "-y", "-o", "json"],
        &["history", "-o", "json"],
    ];
    for args in outputs {
        let run = world.mcd(args);
        run.hides("only-for-the-example").hides("b25seS1mb3ItdGhlLWV4YW1wbGU");
    }
    goes(&world, "storefront", &[]).says("4 deleted");
}

#[test]
fn kustomize() {
    let world = example("kustomize");
    let plan = runs(&world, 9);
    assert_eq!(tools(&plan), ["kustomize 5.8.2", "kustomize 5.8.2", "kustomize 5.4.3"]);
    let replicas =
        |cluster| world.live(cluster, "deployment", "catalog")["spec"]["replicas"].clone();
    assert_eq!(CLUSTERS.map(replicas), [3, 3, 2]);
    let data = world.live("eu-west", "configmap", "catalog")["data"].clone();
    assert_eq!(data["CURRENCY"], "EUR");
    assert!(data["imprint.txt"].as_str().is_some_and(|text| text.contains("Exampleton")), "{data}");

    // Without its option, and with another version, the overlay of one region does not render:
    // that target says so, and nothing is written anywhere.
    let file = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replace("args: [--load-restrictor=LoadRestrictionsNone]", ""))
        .expect("write");
    world.ok(4, &["apply", "-y"]).says("imprint.txt").says("nothing was written");
    std::fs::write(&file, text.replace("5.4.3", "5.3.0")).expect("write");
    world.ok(4, &["plan"]).says("5.3.0").says("5.4.3").says("5.8.2");
    std::fs::write(&file, text).expect("write");
    goes(&world, "catalog", &[]).says("3 deleted");
}

#[test]
fn helm() {
    let world = example("helm");
    let plan = runs(&world, 13);
    assert_eq!(tools(&plan), ["helm 4.3.1", "helm 3.22.0", "helm 4.3.1"]);
    for target in plan["targets"].as_array().expect("targets") {
        assert_eq!(target["hooks"][0]["name"], "orders-migrate", "{target:#}");
    }
    assert!(!world.exists("us-east", "job", "orders-migrate"), "hooks are dropped");

    // The layers: chart, environment, cluster, inline.
    let replicas =
        |cluster| world.live(cluster, "deployment", "orders")["spec"]["replicas"].clone();
    assert_eq!(CLUSTERS.map(replicas), [3, 1, 2]);
    let data = |cluster| world.live(cluster, "configmap", "orders")["data"].clone();
    assert_eq!(data("us-west")["LOG_LEVEL"], "debug");
    assert_eq!(data("eu-west")["HOST"], "orders.eu-west.example.com");
    let server = plan["targets"][0]["serverVersion"].clone();
    assert_eq!(data("eu-west")["KUBERNETES"], server, "the chart sees the cluster's version");
    let banner =
        world.live("eu-west", &format!("banner.{}.mcd.dev", world.namespace.name()), "orders");
    assert_eq!(banner["spec"]["text"], "Orders are shipped from Exampleton.");

    // What each rendering gives otherwise is found without a cluster, and its values are not told.
    let file = world.write(
        "chart/templates/pw.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\nstringData: {p: {{ randAlphaNum 9 }}}\n",
    );
    world.ok(4, &["validate"]).says("Secret pw: each rendering gives another `.data.p`");
    std::fs::remove_file(file).expect("remove");

    // A definition stays unless it is asked for: others may have objects of it.
    goes_but_for_the_definition(&world);
}

fn goes_but_for_the_definition(world: &World) {
    let definition = format!("banners.{}.mcd.dev", world.namespace.name());
    world.ok(0, &["delete", "-y"]).says("--with-definitions");
    assert!(world.exists("us-east", "customresourcedefinition", &definition));
    goes(world, "orders", &["--with-definitions"]).says("1 deleted");
    assert!(!world.exists("us-east", "customresourcedefinition", &definition));
}

/// Times of a person's pace, in those of a test.
fn shorten(world: &World) {
    let path = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&path).expect("read");
    let short =
        text.replace("pause: {for: 1m}", "pause: {for: 1s}").replace("soak: 10m", "soak: 1s");
    assert_ne!(text, short);
    std::fs::write(path, short).expect("write");
}

const SIX: [(&str, &str); 6] = [
    ("us-canary", "us-east"),
    ("us-east", "us-east"),
    ("us-west", "us-west"),
    ("us-south", "us-west"),
    ("eu-west", "eu-west"),
    ("eu-north", "eu-west"),
];

#[test]
fn canary() {
    let world = example("canary");
    let second = world.bed.namespace("canary-2");
    let path = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replace("canary-example-2", second.name())).expect("write");
    let images = || {
        SIX.map(|(target, cluster)| {
            let first = ["us-canary", "us-west", "eu-west"].contains(&target);
            let namespace = if first { world.namespace.name() } else { second.name() };
            let path = "jsonpath={.items[*].spec.template.spec.containers[0].image}";
            world.kubectl(cluster, &["-n", namespace, "get", "deployments", "-o", path])
        })
    };
    world.ok(0, &["validate"]).says("valid");
    let listed = world.ok(0, &["targets", "-o", "json"]).json();
    let wave = |index: usize| listed["targets"][index]["wave"].clone();
    assert_eq!([0, 1, 2, 3, 4, 5].map(wave), ["canary", "us", "us", "us", "rest", "rest"]);

    // The first time: waves, and no steps.
    world.ok(7, &["apply", "-y"]).says("first deployment: steps are skipped").says("approve");
    assert_eq!(images()[4..], ["", ""], "the third wave waits");
    world.ok(0, &["rollout", "approve"]);
    world.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(images(), ["nginx:1.28"; 6]);
    world.ok(0, &["plan", "--detailed-exitcode"]).says("no changes");

    // A new version.
    let tag = ["--var", "tag=1.29"];
    let plan = world.ok(0, &[&["plan"], &tag[..]].concat());
    plan.says("steps: 1 canary 20%, 2 pause 1s, 3 primary, 4 clean")
        .says("image nginx 1.28 → 1.29")
        .says("2 of 3    1          us-east")
        .says("after us and approval");
    world.ok(7, &[&["rollout", "run", "-y"], &tag[..]].concat());
    let all = images();
    assert_eq!(all[..4], ["nginx:1.29"; 4], "one Deployment each: the copies are gone");
    assert_eq!(all[4..], ["nginx:1.28"; 2]);
    let namespace = world.namespace.name().to_owned();
    let elsewhere =
        ["rollout", "status", "--app", "checkout", "-n", &namespace, "--context", "us-east"];
    world.mcd(&elsewhere).says("eu-north").says("approv");
    world.ok(0, &["rollout", "approve"]);
    world.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(images(), ["nginx:1.29"; 6]);

    // One that does not start stops at the first target, and goes back.
    let bad = ["rollout", "run", "-y", "--var", "tag=pull-error", "--timeout", "20s"];
    world.ok(1, &bad).says("us-canary").says("ImagePullBackOff");
    assert_eq!(images()[1..], ["nginx:1.29"; 5]);
    world.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(images(), ["nginx:1.29"; 6]);
    world.ok(0, &[&["plan", "--detailed-exitcode"], &tag[..]].concat()).says("no changes");
    world.ok(0, &["delete", "-y"]);
    assert_eq!(images(), [""; 6]);
}

/// What RUNBOOK.md says, in its order.
#[test]
fn active_passive() {
    let world = example("active-passive");
    let replicas =
        || CLUSTERS.map(|c| world.live(c, "deployment", "ledger")["spec"]["replicas"].clone());
    world.ok(0, &["validate"]).says("valid");
    world.ok(0, &["apply", "-y"]);
    assert_eq!(replicas(), [3, 3, 0]);
    let status = world.ok(0, &["status", "-o", "json"]).json();
    let standby = &status["targets"][2];
    assert_eq!((&standby["state"], &standby["target"]), (&"healthy".into(), &"eu-west".into()));

    // It is brought up by one number, and no one else is asked.
    let up = ["-t", "eu-west", "--var", "standby=3"];
    let plan = world.ok(0, &["plan", "--var", "standby=3", "-o", "json"]).json();
    assert_eq!(plan["counts"]["change"], 1, "{plan:#}");
    let reason = &plan["rollout"]["waves"][0]["targets"][0]["reason"];
    assert_eq!(reason, "scale Deployment/ledger from 0 to 3");
    world.ok(0, &[&["apply", "-y"], &up[..]].concat()).hides("us-east");
    assert_eq!(replicas(), [3, 3, 3]);
    let ready = world.ok(0, &["status", "-t", "eu-west", "-o", "json"]).json();
    assert_eq!(ready["targets"][0]["pods"]["ready"], 3);

    // Until it is written down, nobody applies there.
    world.ok(0, &["freeze", "-t", "eu-west", "--reason", "serves", "--until", "24h"]);
    world.ok(6, &["apply", "-y", "-t", "eu-west"]).says("serves");
    assert_eq!(replicas(), [3, 3, 3]);
    world.ok(0, &["freeze", "--off", "-t", "eu-west"]);

    // Back.
    world.ok(0, &["apply", "-y", "-t", "us-east"]);
    world.ok(0, &["apply", "-y", "-t", "eu-west"]);
    assert_eq!(replicas(), [3, 3, 0]);
    world.ok(0, &["plan", "--detailed-exitcode"]).says("no changes");
    world.ok(0, &["delete", "-y"]);
}
