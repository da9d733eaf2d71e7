//! Bad days of waves: what fails in one, what that means for the others, and how it is told.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use testbed::{Bed, Component, Context, Proxy, TestNamespace, wait_for};

use crate::rollout_world::{SIX, STEPS, Six, deployment};
use crate::support::{Run, World};

/// Three waves as `Six` has them, each with further keys, and little patience.
fn waves(first: &str, second: &str, third: &str) -> String {
    let wave = |name: &str, label: &str, keys: &str| {
        format!(
            "  - {{name: {name}, select: {{labels: {{wave: {label}}}}}, progressDeadline: 20s{keys}}}\n"
        )
    };
    format!(
        "  waves:\n{}{}{}",
        wave("first", "one", first),
        wave("second", "two", second),
        wave("third", "three", third)
    )
}

/// With version 1 everywhere, and version 2 written.
fn deployed(prefix: &str, rollout: &str) -> Six {
    let six = Six::new(prefix, "");
    ready(&six, rollout);
    six
}

fn ready(six: &Six, rollout: &str) {
    let first = six.ok(0, &["apply", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6], "{first}");
    six.files(rollout);
    six.version("v2");
}

/// Some targets get an image that cannot be pulled.
fn broken(six: &Six, targets: &[&str]) {
    let path = six.world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let image = format!(
        "- {{select: {{clusters: [{}]}}, images: [{{name: registry.example/web, newTag: pull-error}}]}}\n",
        targets.join(", ")
    );
    std::fs::write(&path, text.replace("overrides:\n", &format!("overrides:\n{image}"))).unwrap();
}

/// What a report says of a target.
fn target<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = report["targets"].as_array().expect("targets");
    all.iter().find(|t| t["target"] == name).unwrap_or_else(|| panic!("no {name}: {report:#}"))
}

/// Waits until the rollout is as a test wants it.
#[track_caller]
fn until(six: &Six, what: &str, is: impl Fn(&Value) -> bool) {
    wait_for(what, Duration::from_secs(120), || {
        let status = six.status();
        if is(&status) { Ok(()) } else { Err(format!("{status:#}")) }
    });
}

#[test]
fn a_broken_image_in_the_first_wave_reaches_nobody_else() {
    let six = deployed("wv-broken", &format!("{}{STEPS}", waves("", "", "")));
    six.version("pull-error");
    let run = six.ok(1, &["rollout", "run", "-y"]);
    // One line has it all: which cluster, which object, why.
    let line = run.stdout.lines().find(|line| line.starts_with("a1 "));
    let line = line.unwrap_or_else(|| panic!("{run}"));
    for word in ["Failed", "Deployment", "/web-canary", "ImagePullBackOff"] {
        assert!(line.contains(word), "{word}: {line}");
    }
    assert_eq!(six.tags(), ["v1"; 6], "{run}");
    assert_eq!(six.tag("a1", "web-canary").as_deref(), Some("pull-error"));
    let status = six.status();
    assert_eq!(status["state"], "stopped", "{status:#}");
    for (name, ..) in &SIX[1..] {
        assert_eq!(target(&status, name)["state"], "pending", "{status:#}");
        assert_eq!(six.tag(name, "web-canary"), None);
    }
    // What was before is still there once it is taken back, and nobody is kept from writing.
    six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6]);
    six.no_variants();
    six.version("v1");
    six.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
    six.ok(0, &["apply", "-y", "--strategy", "plain"]);
}

#[test]
fn a_failure_inside_the_budget_is_taken_back_by_itself() {
    let six = deployed("wv-budget", &format!("{}{STEPS}", waves("", ", maxFailures: 1", "")));
    broken(&six, &["b1"]);
    let run = six.ok(8, &["rollout", "run", "-y", "-o", "json"]);
    assert_eq!(six.tags(), ["v2", "v1", "v2", "v2", "v2", "v2"], "{run}");
    six.no_variants();
    let report = run.json();
    let b1 = target(&report, "b1");
    assert!(b1["message"].as_str().unwrap().contains("ImagePullBackOff"), "{b1:#}");
    assert_eq!(report["exitCode"], 8, "{report:#}");
    // All records are closed, and the failed target's previous release is active.
    let history = six.ok(0, &["history", "-t", "b1", "-o", "json"]).json();
    let releases = history["targets"][0]["releases"].as_array().unwrap();
    let states: Vec<(u64, &str)> = releases
        .iter()
        .map(|r| (r["number"].as_u64().unwrap(), r["state"].as_str().unwrap()))
        .collect();
    assert!(states.contains(&(1, "active")) && states.contains(&(2, "failed")), "{history:#}");
    six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
    // With the budget as consent it is a success.
    six.version("v3");
    six.ok(0, &["rollout", "run", "-y", "--budget-ok"]);
    assert_eq!(six.tags(), ["v3", "v1", "v3", "v3", "v3", "v3"]);
    // Once it is mended there is nothing in the way.
    six.files(&format!("{}{STEPS}", waves("", ", maxFailures: 1", "")));
    six.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v3"; 6]);
}

#[test]
fn beyond_the_budget_nothing_new_starts() {
    let six = deployed("wv-over", &format!("{}{STEPS}", waves("", ", maxFailures: 1", "")));
    broken(&six, &["b1", "b2"]);
    let run = six.ok(1, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2", "v1", "v1", "v1", "v1", "v1"], "{run}");
    let status = six.status();
    assert_eq!(status["state"], "stopped", "{status:#}");
    assert_eq!(target(&status, "a1")["state"], "succeeded", "{status:#}");
    assert_eq!(target(&status, "c1")["state"], "pending", "{status:#}");
    six.ok(6, &["apply", "-y"]);
    six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6]);
    six.no_variants();
}

#[test]
fn of_a_mandatory_target_no_budget_covers_the_failure() {
    let second = ", maxFailures: 2, mandatory: [b1], maxConcurrent: 1";
    let six = deployed("wv-must", &format!("{}{STEPS}", waves("", second, "")));
    broken(&six, &["b1"]);
    let run = six.ok(1, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2", "v1", "v1", "v1", "v1", "v1"], "{run}");
    assert_eq!(target(&six.status(), "b2")["state"], "pending");
    six.ok(0, &["rollout", "abort", "-y"]);
}

#[test]
fn on_failure_the_wave_or_all_go_back_by_themselves() {
    for (scope, tags) in [
        ("wave", ["v2", "v1", "v1", "v1", "v1", "v1"]),
        ("all", ["v1", "v1", "v1", "v1", "v1", "v1"]),
    ] {
        // The healthy sibling of the failed target is done by then, and goes back too.
        let policy = format!("  onFailure: rollback\n  scope: {scope}\n");
        let six = deployed("wv-policy", &format!("{}{STEPS}{policy}", waves("", "", "")));
        broken(&six, &["b1"]);
        let run = six.ok(1, &["rollout", "run", "-y"]);
        assert_eq!(six.tags(), tags, "{scope}: {run}");
        six.no_variants();
        // Nothing is open any more.
        six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
        let active = six.ok(0, &["history", "-t", "b2", "-o", "json"]).json();
        let releases = active["targets"][0]["releases"].as_array().unwrap();
        let active = releases.iter().find(|r| r["state"] == "active").unwrap();
        assert_eq!(active["number"], 1, "{releases:#?}");
    }
}

/// Six targets of which `b1` is reached through a proxy.
fn proxied(prefix: &str) -> (Six, Proxy) {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    let contexts: Vec<Context> = SIX
        .iter()
        .map(|(name, cluster, _)| match *name {
            "b1" => proxy.context().named("b1"),
            name => Context::of(bed.cluster(cluster)).named(name),
        })
        .collect();
    (Six::with_contexts(prefix, &contexts, ""), proxy)
}

#[test]
fn a_cluster_that_is_down_from_the_start() {
    let (six, proxy) = proxied("wv-down");
    ready(&six, &format!("{}{STEPS}", waves("", "", "")));
    proxy.refuse();
    let run = six.ok(9, &["rollout", "run", "-y"]);
    run.says("b1").says("nothing was written");
    assert_eq!(six.tags(), ["v1"; 6], "{run}");
    // It counts in its wave: without a budget that is where the rollout ends.
    let run = six.ok(9, &["rollout", "run", "-y", "--keep-going"]);
    assert_eq!(six.tags(), ["v2", "v1", "v1", "v1", "v1", "v1"], "{run}");
    let status = six.status();
    assert_eq!(status["state"], "stopped", "{status:#}");
    six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6]);
    // With one it is left behind.
    six.files(&format!("{}{STEPS}", waves("", ", maxFailures: 1", "")));
    let run = six.ok(8, &["rollout", "run", "-y", "--keep-going", "-o", "json"]);
    assert_eq!(six.tags(), ["v2", "v1", "v2", "v2", "v2", "v2"], "{run}");
    assert_eq!(target(&run.json(), "b1")["state"], "not-staged", "{run}");
    // When it is back, it is a target as any other.
    proxy.open();
    six.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn a_cluster_that_dies_in_the_second_wave() {
    let (six, proxy) = proxied("wv-dies");
    ready(&six, &format!("{}{STEPS}", waves("", ", maxFailures: 1", "")));
    slow(&six, "3s");
    let child = six.world.start(&["rollout", "run", "-y", "-o", "json"]);
    until(&six, "b1 is under way", |status| {
        let all = status["targets"].as_array().expect("targets");
        all.iter().any(|t| t["target"] == "b1" && t["state"] == "running")
    });
    proxy.refuse();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 8, "{run}");
    let tags = six.tags();
    assert_eq!((&tags[0][..], &tags[2..]), ("v2", &["v2"; 4].map(str::to_owned)[..]), "{run}");
    assert_eq!(target(&run.json(), "b1")["state"], "unreachable", "{run}");
    // What of it was begun is ended when it is back; nothing else is touched.
    proxy.open();
    six.ok(6, &["apply", "-y", "-t", "b1"]);
    six.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6]);
    six.no_variants();
    six.ok(0, &["plan", "--detailed-exitcode"]);
}

/// Pods take their time.
fn slow(six: &Six, time: &str) {
    let pods = "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/ready-after: TIME}}";
    let text =
        deployment("v2", 3).replace("metadata: {labels: {app: web}}", &pods.replace("TIME", time));
    six.world.write("k8s/web.yaml", &text);
}

/// The events that a run wrote.
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn time(event: &Value) -> Timestamp {
    event["time"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_soak_begins_with_this_releases_health_not_with_an_old_condition() {
    let six = deployed("wv-soak", &format!("{}{STEPS}", waves(", soak: 4s", "", "")));
    // What was healthy long before the rollout says nothing about it.
    wait_for("the condition is older than the soak", Duration::from_secs(30), || {
        let live = six.live("a1", "deployment", "web");
        let conditions = live["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let available = conditions.iter().find(|c| c["type"] == "Available");
        let since = available.and_then(|c| c["lastTransitionTime"].as_str()).unwrap_or_default();
        let age = Timestamp::now().duration_since(since.parse().map_err(|_| "none".to_owned())?);
        if age.as_secs() > 4 { Ok(()) } else { Err(format!("{age}")) }
    });
    let run = six.ok(0, &["rollout", "run", "-y", "--events", "events.jsonl"]);
    let events = events(&six.world.path().join("events.jsonl"));
    let last = events.iter().rfind(|e| e["event"] == "stepEnded" && e["target"] == "a1");
    let first = events.iter().find(|e| e["event"] == "stepStarted" && e["target"] == "b1");
    let (last, first) = (time(last.unwrap()), time(first.unwrap()));
    let soaked = first.duration_since(last);
    assert!(soaked.as_millis() >= 4_000, "{soaked}: {run}");
    let soaks = events.iter().filter(|e| e["event"] == "soak").count();
    assert_eq!(soaks, 1, "only the first wave soaks: {run}");
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn what_turns_bad_while_it_soaks_has_failed() {
    let six = deployed("wv-turns", &format!("{}{STEPS}", waves(", soak: 10m", "", "")));
    let child = six.world.start(&["rollout", "run", "-y"]);
    until(&six, "the first wave soaks", |status| status["state"] == "soaking");
    // Resume keeps the start of a soak: it is in the record.
    let since = six.status()["waves"][0]["soakUntil"].clone();
    assert!(since.is_string());
    six.kubectl("a1", &["set", "image", "deployment/web", "web=registry.example/web:pull-error"]);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1, "{run}");
    run.says("ImagePullBackOff");
    assert_eq!(six.tags()[1..], ["v1"; 5], "{run}");
    assert_eq!(target(&six.status(), "a1")["state"], "failed");
    six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6]);
}

#[test]
fn the_previous_releases_green_status_lets_nothing_past() {
    let stale = Bed::private("stale");
    let bed = Bed::shared();
    let world = World {
        bed,
        namespace: TestNamespace::new("stale", &[(*stale).clone(), bed.cluster("us-east").clone()]),
        kubeconfig: bed.kubeconfig(&[
            Context::of(&stale).named("one"),
            Context::of(bed.cluster("us-east")).named("two"),
        ]),
        folder: tempfile::tempdir().unwrap(),
    };
    let rollout = "render: {manifests: [k8s/]}\nrollout:\n  waves:\n  \
         - {name: first, select: {clusters: [one]}, progressDeadline: 8s}\n  \
         - {name: second, select: {clusters: [two]}}\n";
    world.application(&["one", "two"], "render: {manifests: [k8s/]}\n");
    world.write("k8s/web.yaml", &deployment("v1", 2));
    world.ok(0, &["apply", "-y"]);
    world.application(&["one", "two"], rollout);
    world.write("k8s/web.yaml", &deployment("v2", 2));
    // Nobody rolls the new pods out, and the status stays what it was: green.
    stale.stop(Component::ControllerManager);
    let run = world.ok(1, &["apply", "-y"]);
    let image = |cluster: &testbed::Cluster| {
        let path = format!("/apis/apps/v1/namespaces/{}/deployments/web", world.namespace.name());
        let live = cluster.get(&path);
        live["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
    };
    assert_eq!(image(&stale), "registry.example/web:v2", "{run}");
    assert_eq!(image(bed.cluster("us-east")), "registry.example/web:v1", "{run}");
    run.says("waiting for its controller to see generation 2");
    stale.start(Component::ControllerManager);
    world.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(image(bed.cluster("us-east")), "registry.example/web:v2");
}
