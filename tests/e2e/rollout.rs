//! Rollouts over six targets in three waves: to the end, stopped, interrupted, approved, gone on
//! with and taken back, from wherever.

use std::time::Duration;

use testbed::{Bed, Context, Match, Proxy, wait_for};

use crate::rollout_world::{SIX, STEPS, Six, WAVES};
use crate::support::Run;

/// With version 1 everywhere, and version 2 written.
fn deployed(prefix: &str, rollout: &str) -> Six {
    let six = Six::new(prefix, "");
    let first = six.ok(0, &["apply", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6], "{first}");
    six.files(rollout);
    six.version("v2");
    six
}

/// Signals a child.
fn signal(child: &std::process::Child, signal: &str) {
    let status =
        std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until a rollout's target stands as given.
#[track_caller]
fn stands(six: &Six, target: &str, state: &str) {
    wait_for(&format!("{target} is {state}"), Duration::from_secs(90), || {
        let status = six.status();
        let all = status["targets"].as_array().cloned().unwrap_or_default();
        let found = all.iter().find(|t| t["target"] == target).map(|t| t["state"].clone());
        if found.as_ref().is_some_and(|found| found == state) {
            Ok(())
        } else {
            Err(format!("{found:?} in {status:#}"))
        }
    });
}

#[test]
fn a_good_rollout_goes_wave_by_wave_and_closes_itself() {
    let six = deployed("ro-good", &format!("{WAVES}{STEPS}"));
    let run = six.ok(0, &["rollout", "run", "-y", "-o", "json"]);
    assert_eq!(six.tags(), ["v2"; 6], "{run}");
    six.no_variants();
    let report = run.json();
    assert_eq!((&report["state"], &report["exitCode"]), (&"succeeded".into(), &0.into()), "{run}");
    let states: Vec<&str> = report["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["succeeded"; 6], "{run}");
    // It is over: the next plan is empty, and others may write.
    six.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
    let status = six.status();
    assert_eq!((&status["id"], &status["state"]), (&report["id"], &"succeeded".into()));
    let again = six.ok(0, &["rollout", "run", "-y"]);
    again.hides("canary");
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn apply_goes_through_the_waves_too_and_a_first_deployment_skips_the_steps() {
    let six = Six::new("ro-first", &format!("{WAVES}{STEPS}"));
    let run = six.ok(0, &["apply", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6]);
    run.hides("web-canary");
    let history = six.ok(0, &["history", "-o", "json"]).json();
    for target in history["targets"].as_array().unwrap() {
        assert_eq!(target["releases"].as_array().unwrap().len(), 1, "{history:#}");
    }
}

#[test]
fn an_open_rollout_blocks_every_other_writer() {
    let six = deployed(
        "ro-block",
        &format!(
            "{WAVES}  steps: [{{canary: {{replicas: 1}}}}, {{pause: {{}}}}, {{primary: {{}}}}, {{clean: {{}}}}]\n"
        ),
    );
    let run = six.ok(7, &["rollout", "run", "-y"]);
    run.says("mcd rollout approve");
    assert_eq!(six.tag("a1", "web-canary").as_deref(), Some("v2"), "{run}");
    assert_eq!(six.tags(), ["v1"; 6]);
    let id = six.status()["id"].as_str().unwrap().to_owned();
    for args in [
        &["apply", "-y"][..],
        &["apply", "-y", "--strategy", "plain"],
        &["rollback", "-y"],
        &["delete", "-y"],
        &["rollout", "run", "-y"],
        &["rollout", "canary", "-y"],
    ] {
        let run = six.ok(6, args);
        run.says(&id);
        run.says("resume");
    }
    assert_eq!(six.tags(), ["v1"; 6]);
    six.ok(0, &["plan"]).says(&id);
    let aborted = six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6], "{aborted}");
    six.no_variants();
    six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
    six.ok(0, &["apply", "-y", "--strategy", "plain"]);
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn approved_from_another_folder_without_files() {
    let waves = WAVES.replace("{wave: three}}}", "{wave: three}}, approval: true}");
    let six = deployed("ro-approve", &format!("{waves}{STEPS}"));
    let run = six.ok(7, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2", "v2", "v2", "v1", "v1", "v1"], "{run}");
    run.says("third");
    // Nobody has approved: nothing moves.
    six.ran_elsewhere(7, "a1", &["rollout", "resume", "-y"]);
    assert_eq!(six.tags()[3..], ["v1", "v1", "v1"]);
    six.ran_elsewhere(3, "a1", &["rollout", "approve", "--wave", "thrid"]).says("third");
    six.ran_elsewhere(0, "c2", &["rollout", "approve"]).says("third");
    assert_eq!(six.tags()[3..], ["v1", "v1", "v1"], "it only marks");
    let done = six.ran_elsewhere(0, "b1", &["rollout", "resume", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6], "{done}");
    six.no_variants();
}

#[test]
fn a_run_that_waits_goes_on_when_someone_approves() {
    let waves = WAVES.replace("{wave: two}}}", "{wave: two}}, approval: true}");
    let six = deployed("ro-wait", &format!("{waves}{STEPS}"));
    let child = six.world.start(&["rollout", "run", "-y", "--wait-approval", "5m"]);
    wait_for("the second wave waits", Duration::from_secs(90), || {
        let status = six.status();
        if status["state"] == "waiting" { Ok(()) } else { Err(format!("{status:#}")) }
    });
    six.ok(0, &["rollout", "approve", "--wave", "second"]);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(six.tags(), ["v2"; 6], "{run}");
}

#[test]
fn interrupted_in_the_second_wave_and_resumed_from_another_folder() {
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-KILL", 137)] {
        let six = deployed("ro-int", &format!("{WAVES}{STEPS}"));
        // The second wave takes its time.
        let slow = std::fs::read_to_string(six.world.path().join("k8s/web.yaml")).unwrap().replace(
            "metadata: {labels: {app: web}}",
            "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/ready-after: 3s}}",
        );
        six.world.write("k8s/web.yaml", &slow);
        let child = six.world.start(&["rollout", "run", "-y"]);
        stands(&six, "a1", "succeeded");
        stands(&six, "b1", "running");
        signal(&child, name);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{run}");
        if name != "-KILL" {
            run.says("mcd rollout resume");
        }
        assert_eq!(six.tags()[3..], ["v1", "v1", "v1"], "{run}");
        let status = six.ran_elsewhere(0, "b2", &["rollout", "status", "-o", "json"]).json();
        assert_eq!(status["targets"].as_array().unwrap().len(), 6, "{status:#}");
        six.ok(6, &["apply", "-y"]);
        let resumed = six.ran_elsewhere(0, "c3", &["rollout", "resume", "-y"]);
        assert_eq!(six.tags(), ["v2"; 6], "{resumed}");
        six.no_variants();
    }
}

#[test]
fn killed_and_aborted_from_another_folder() {
    let six = deployed("ro-kill", &format!("{WAVES}{STEPS}"));
    let slow = std::fs::read_to_string(six.world.path().join("k8s/web.yaml")).unwrap().replace(
        "metadata: {labels: {app: web}}",
        "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/ready-after: 3s}}",
    );
    six.world.write("k8s/web.yaml", &slow);
    let child = six.world.start(&["rollout", "run", "-y"]);
    stands(&six, "b1", "running");
    signal(&child, "-KILL");
    Run::of(child.wait_with_output().unwrap());
    let aborted = six.ran_elsewhere(0, "a1", &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v1"; 6], "{aborted}");
    six.no_variants();
    let status = six.status();
    assert_eq!(status["state"], "undone", "{status:#}");
    let history = six.ok(0, &["history", "-o", "json"]).json();
    for target in history["targets"].as_array().unwrap() {
        let releases = target["releases"].as_array().unwrap();
        let active: Vec<_> = releases.iter().filter(|r| r["state"] == "active").collect();
        assert_eq!((active.len(), &active[0]["number"]), (1, &1.into()), "{history:#}");
    }
}

#[test]
fn by_hand() {
    let six = deployed("ro-hand", "");
    let t = ["-t", "a1"];
    six.ok(3, &[&["rollout", "primary", "-y"][..], &t].concat()).says("mcd rollout canary");
    six.ok(0, &[&["rollout", "canary", "--replicas", "50%", "-y"][..], &t].concat());
    assert_eq!(six.tag("a1", "web-canary").as_deref(), Some("v2"));
    assert_eq!(six.live("a1", "deployment", "web-canary")["spec"]["replicas"], 2);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v1"));
    // What is rendered now is none of its business.
    six.version("v3");
    six.ok(6, &[&["apply", "-y"][..], &t].concat());
    six.ok(0, &["rollout", "status"]).says("a1");
    six.ok(0, &["rollout", "primary", "-y"]);
    assert_eq!(six.tag("a1", "web").as_deref(), Some("v2"));
    six.ok(0, &["rollout", "clean", "-y"]);
    assert_eq!(six.tags(), ["v2", "v1", "v1", "v1", "v1", "v1"]);
    six.no_variants();
    six.ok(3, &["rollout", "clean", "-y"]);
    // And another one is taken back.
    six.ok(0, &["rollout", "canary", "-y", "-t", "b1"]);
    six.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(six.tags(), ["v2", "v1", "v1", "v1", "v1", "v1"]);
    six.no_variants();
    six.ok(0, &["apply", "-y"]);
    assert_eq!(six.tags(), ["v3"; 6]);
}

#[test]
fn of_two_rollouts_at_once_one_is_carried_out() {
    let six = deployed("ro-two", &format!("{WAVES}{STEPS}"));
    let two: Vec<_> = (0..2).map(|_| six.world.start(&["rollout", "run", "-y"])).collect();
    let mut runs: Vec<Run> =
        two.into_iter().map(|child| Run::of(child.wait_with_output().unwrap())).collect();
    runs.sort_by_key(|run| run.code);
    assert_eq!((runs[0].code, runs[1].code), (0, 6), "{}\n{}", runs[0], runs[1]);
    assert_eq!(six.tags(), ["v2"; 6]);
    six.no_variants();
    six.ok(0, &["plan", "--detailed-exitcode"]);
}

#[test]
fn a_freeze_keeps_everyone_from_writing() {
    let six = deployed("ro-freeze", &format!("{WAVES}{STEPS}"));
    six.ok(3, &["freeze"]).says("--reason");
    let run = six.ok(0, &["freeze", "--reason", "audit week", "--until", "2h", "-t", "b1"]);
    run.says("b1: frozen until ");
    for args in [
        &["apply", "-y"][..],
        &["rollout", "run", "-y"],
        &["delete", "-y"],
        &["rollout", "canary", "-y"],
    ] {
        let run = six.ok(6, args);
        run.says("audit week").says("b1");
    }
    assert_eq!(six.tags(), ["v1"; 6]);
    six.ok(0, &["status"]).says("audit week");
    six.ok(0, &["freeze", "--off"]).says("b1: no longer frozen").says("a1: was not frozen");
    six.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn ended_while_staging() {
    let west = Proxy::start(Bed::shared().cluster("us-west"));
    let contexts: Vec<Context> = SIX
        .iter()
        .map(|(name, cluster, _)| match *cluster {
            "us-west" => west.context().named(*name),
            other => Context::of(Bed::shared().cluster(other)).named(*name),
        })
        .collect();
    let six = Six::with_contexts("ro-stage", &contexts, "");
    six.ok(0, &["apply", "-y"]);
    six.files(&format!("{WAVES}{STEPS}"));
    six.version("v2");
    for name in ["-INT", "-KILL"] {
        // The second target is about to get its release.
        let hold = west.hold(Match::writes().method("POST").path("/secrets"));
        let child = six.world.start(&["rollout", "run", "-y"]);
        hold.wait(Duration::from_secs(60));
        signal(&child, name);
        if name == "-KILL" {
            let run = Run::of(child.wait_with_output().unwrap());
            hold.release();
            assert_eq!(run.code, 137, "{run}");
            let resumed = six.ok(6, &["rollout", "resume", "-y"]);
            resumed.says("never staged in all its targets").says("mcd rollout abort");
            six.ok(6, &["apply", "-y"]);
            let aborted = six.ok(0, &["rollout", "abort", "-y"]);
            aborted.says("a1");
        } else {
            hold.release();
            let run = Run::of(child.wait_with_output().unwrap());
            assert_eq!(run.code, 130, "{run}");
            run.says("interrupted while staging").says("nothing was applied");
        }
        assert_eq!(six.tags(), ["v1"; 6]);
        six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
    }
    six.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6]);
    six.no_variants();
}
