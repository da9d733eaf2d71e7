//! Pauses, commands and words of rollouts, in one target: what ends a pause, what a command gets and
//! what becomes of one that fails; usage.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use testbed::{Bed, Context, wait_for};

use crate::rollout_world::{STEPS, Six, WAVES};
use crate::support::Run;

/// One target, with version 1 there and version 2 written.
fn one(prefix: &str, steps: &str) -> Six {
    let six = Six::new(prefix, "");
    six.ok(0, &["apply", "-y", "-t", "a1"]);
    six.files(&format!("  steps: [{steps}]\n"));
    six.version("v2");
    six
}

const T: [&str; 2] = ["-t", "a1"];

#[test]
fn a_pause_ends_when_it_is_approved_or_over() {
    let six = one(
        "rs-pause",
        "{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {pause: {for: 2s}}, {clean: {}}",
    );
    let run = six.ok(7, &[&["rollout", "run", "-y"][..], &T].concat());
    run.says("mcd rollout approve");
    let status = six.status();
    assert_eq!(status["waitsFor"][0]["step"], 2, "{status:#}");
    let id = status["id"].as_str().unwrap().to_owned();
    six.ok(3, &["rollout", "approve", "--step", "1"]).says("not a pause").says("2, 4");
    six.ok(3, &["rollout", "approve", "--step", "9"]).says("5");
    six.ok(3, &["rollout", "status", "--id", "r-none"]).says(&id);
    six.ok(0, &["rollout", "approve", "--id", &id]).says("step 2 (pause)");
    // Twice is as good as once.
    six.ok(0, &["rollout", "approve", "--step", "2"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
    let done = six.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v2"), "{done}");
    six.no_variants();
    six.ok(3, &["rollout", "approve"]).says("no rollout is open");
}

#[test]
fn a_command_knows_its_target_and_stops_a_rollout_that_it_does_not_like() {
    let six = one(
        "rs-run",
        "{canary: {replicas: 1}}, {run: {command: [./smoke.sh, now], timeout: 1m}}, {primary: {}}, {clean: {}}",
    );
    let script = |text: &str| {
        let path = six.world.path().join("smoke.sh");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script(
        "#!/bin/sh\necho \"$1 $MCD_APP $MCD_TARGET $MCD_CONTEXT $MCD_NAMESPACE\" >> ran\n\
         echo 'p95 is 900 ms' >&2\nexit 3\n",
    );
    let run = six.ok(1, &[&["rollout", "run", "-y"][..], &T].concat());
    run.says("p95 is 900 ms").says("exit code 3");
    let ran = std::fs::read_to_string(six.world.path().join("ran")).unwrap();
    assert_eq!(ran, format!("now web a1 a1 {}\n", six.namespace("a1")));
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
    assert_eq!(six.tag("a1", "web-canary").as_deref(), Some("v2"));
    // Only the application's folder has the command.
    let elsewhere = six.ran_elsewhere(3, "a1", &["rollout", "resume", "-y"]);
    elsewhere.says("needs the application's files");
    script("#!/bin/sh\nexit 0\n");
    let resumed = six.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v2"), "{resumed}");
    six.no_variants();
}

#[test]
fn other_names_for_the_same_clusters_and_a_cluster_that_is_not_in_the_kubeconfig() {
    let six = Six::new("rs-names", "");
    six.ok(0, &["apply", "-y"]);
    let waves = WAVES.replace("{wave: two}}}", "{wave: two}}, approval: true}");
    six.files(&format!("{waves}{STEPS}"));
    six.version("v2");
    six.ok(7, &["apply", "-y"]);
    let bed = Bed::shared();
    let named = |names: &[(&str, &str)]| {
        let contexts: Vec<Context> = names
            .iter()
            .map(|(name, cluster)| Context::of(bed.cluster(cluster)).named(*name))
            .collect();
        bed.kubeconfig(&contexts)
    };
    let two = named(&[("prod-e", "us-east"), ("prod-w", "us-west")]);
    let all = named(&[("prod-e", "us-east"), ("prod-w", "us-west"), ("prod-n", "eu-west")]);
    let folder = tempfile::tempdir().unwrap();
    let place = ["--app", "web", "-n", six.namespace("c1"), "--context", "prod-e"];
    let run = |kubeconfig: &testbed::Kubeconfig, args: &[&str]| {
        let mut command = six.world.command(&[args, &place].concat());
        command.current_dir(folder.path()).env("KUBECONFIG", kubeconfig.path());
        Run::of(command.output().unwrap())
    };
    let status = run(&two, &["rollout", "status", "-o", "json"]);
    assert_eq!(status.code, 9, "{status}");
    let report = status.json();
    let states: Vec<(&str, &str)> = report["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["target"].as_str().unwrap(), t["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [
            ("a1", "succeeded"),
            ("b1", "pending"),
            ("b2", "unreachable"),
            ("c1", "pending"),
            ("c2", "pending"),
            ("c3", "unreachable")
        ],
        "{status}"
    );
    assert!(status.stdout.contains("no context leads to"), "{status}");
    // What is marked where it can be counts; what cannot be reached has failed.
    let approved = run(&two, &["rollout", "approve"]);
    assert_eq!(approved.code, 0, "{approved}");
    let resumed = run(&two, &["rollout", "resume", "-y"]);
    assert_eq!(resumed.code, 9, "{resumed}");
    assert_eq!(six.tags()[3..], ["v1", "v1", "v1"], "{resumed}");
    let aborted = run(&two, &["rollout", "abort", "-y"]);
    assert_eq!(aborted.code, 9, "{aborted}");
    let aborted = run(&all, &["rollout", "abort", "-y"]);
    assert_eq!(aborted.code, 0, "{aborted}");
    assert_eq!(six.tags(), ["v1"; 6], "{aborted}");
    six.no_variants();
}

#[test]
fn usage() {
    let six = Six::new("rs-usage", WAVES);
    six.ok(3, &["rollout", "run", "-y"]).says("no `rollout.steps`");
    six.ok(3, &["apply", "-y", "--strategy", "steps"]).says("no `rollout.steps`");
    six.ok(3, &["apply", "-y", "--wait=false"]).says("--wait=false");
    six.ok(3, &["rollout", "canary", "--replicas", "0", "-y"]).says("at least 1");
    six.ok(3, &["rollout", "canary", "--replicas", "120%", "-y"]).says("100%");
    six.ok(3, &["rollout", "primary", "-y"]).says("mcd rollout canary");
    six.ok(3, &["rollout", "clean", "-y"]).says("mcd rollout canary");
    six.ok(3, &["rollout", "approve"]).says("no rollout is open");
    six.ok(3, &["rollout", "status", "--app", "web"]).says("--context");
    six.ok(3, &["rollout", "abort"]).says("-y");
    for verb in ["resume", "abort"] {
        six.ok(0, &["rollout", verb, "-y"]).says("no rollout is open");
    }
    let status = six.ok(0, &["rollout", "status", "-o", "json"]).json();
    assert_eq!(status["state"], "none", "{status:#}");
    // A name that is mistyped is no application at rest.
    for verb in [&["status"][..], &["abort", "-y"], &["resume", "-y"], &["approve"]] {
        let nobody = ["--app", "wbe", "-n", six.namespace("a1"), "--context", "a1"];
        let run = six.ok(3, &[&["rollout"][..], verb, &nobody].concat());
        run.says("no application `wbe`").says("check `--app`");
    }
}

#[test]
fn what_a_further_canary_cannot_heed_is_refused() {
    let six = Six::new("rs-again", "");
    let file = six.world.path().join("mcd.yaml");
    let keys = std::fs::read_to_string(&file).unwrap() + "vars: {tag: {default: v1}}\n";
    std::fs::write(file, keys).unwrap();
    six.ok(0, &["apply", "-y"]);
    let canary =
        |more: &[&str]| [&["rollout", "canary", "-t", "a1", "-y"][..], more].concat().join(" ");
    let run = |code, more: &[&str]| {
        let line = canary(more);
        six.ok(code, &line.split(' ').collect::<Vec<_>>())
    };
    six.version("v2");
    run(0, &[]);
    run(3, &["--var", "tag=v3"]).says("release 2 is staged already").says("mcd rollout abort");
    run(3, &["--suffix", "other"]).says("a canary with the suffix `canary`");
    // Its size can change.
    run(0, &["--replicas", "2"]);
    assert_eq!(six.live("a1", "deployment", "web-canary")["spec"]["replicas"], 2);
    six.ok(0, &["rollout", "abort", "-y"]);
    six.no_variants();
}

#[test]
fn a_freeze_holds_an_open_rollout_too() {
    let six = one("rs-freeze", "{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {clean: {}}");
    six.ok(7, &[&["rollout", "run", "-y"][..], &T].concat());
    six.ok(0, &[&["freeze", "--reason", "audit week"][..], &T].concat());
    six.ok(0, &["rollout", "approve"]);
    six.ok(6, &["rollout", "resume", "-y"]).says("audit week").says("mcd freeze --off");
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
    assert_eq!(six.tag("a1", "web-canary").as_deref(), Some("v2"));
    six.ok(0, &["rollout", "status"]).says("audit week");
    six.ok(0, &["doctor", "-t", "a1"]).says("audit week");
    six.ok(0, &["freeze", "--off", "-t", "a1"]).says("a1: no longer frozen");
    six.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v2"));
    six.no_variants();
    // One that is over keeps nobody from anything.
    six.ok(0, &[&["freeze", "--reason", "a moment", "--until", "1s"][..], &T].concat());
    wait_for("the freeze is over", Duration::from_secs(20), || {
        let run = six.world.mcd(&["rollback", "-y", "-t", "a1"]);
        if run.code == 0 { Ok(()) } else { Err(run.to_string()) }
    });
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
}

#[test]
fn a_target_that_has_nothing_yet_can_be_frozen() {
    let six = Six::new("rs-cold", "");
    six.ok(0, &["freeze", "--reason", "not before monday", "-t", "a1"]);
    six.ok(6, &["apply", "-y", "-t", "a1"]).says("not before monday");
    assert_eq!(six.tag("a1", "web"), None);
    six.ok(0, &["status", "-t", "a1"]).says("not before monday");
    six.ok(0, &["freeze", "--off", "-t", "a1"]);
    six.ok(0, &["status", "-t", "a1"]).says("not there");
    six.ok(0, &["apply", "-y", "-t", "a1"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
}
