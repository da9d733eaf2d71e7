//! Rollouts that are broken off: while they are staged, in the middle of a step, by someone who
//! takes them back beside the run that is at it. Never does one go forward that was not staged
//! everywhere, or that someone has begun to take back.

use std::time::Duration;

use testbed::{Bed, Context, Match, Proxy, wait_for};

use crate::rollout_world::{SIX, STEPS, Six, WAVES};
use crate::support::Run;

/// A canary, a pause until someone approves, then the rest.
const PAUSED: &str =
    "  steps: [{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {clean: {}}]\n";

/// Six targets with version 1, and version 2 written; two clusters behind proxies.
struct Broken {
    six: Six,
    west: Proxy,
    europe: Proxy,
}

impl Broken {
    fn new(prefix: &str, rollout: &str) -> Self {
        let bed = Bed::shared();
        let west = Proxy::start(bed.cluster("us-west"));
        let europe = Proxy::start(bed.cluster("eu-west"));
        let contexts: Vec<Context> = SIX
            .iter()
            .map(|(name, cluster, _)| match *cluster {
                "us-west" => west.context().named(*name),
                "eu-west" => europe.context().named(*name),
                other => Context::of(bed.cluster(other)).named(*name),
            })
            .collect();
        let six = Six::with_contexts(prefix, &contexts, "");
        six.ok(0, &["apply", "-y"]);
        six.files(rollout);
        six.version("v2");
        Broken { six, west, europe }
    }

    /// Writes of that method to Secrets in a target's namespace.
    fn writes(&self, target: &str, method: &'static str, name: &str) -> Match {
        let path = format!("/namespaces/{}/secrets{name}", self.six.namespace(target));
        Match::writes().method(method).path(path)
    }

    /// Writes into the record of a target.
    fn record(&self, target: &str) -> Match {
        self.writes(target, "PUT", "/mcd.web")
    }

    fn nothing_happened(&self) {
        assert_eq!(self.six.tags(), ["v1"; 6]);
        self.six.no_variants();
    }
}

fn signal(child: &std::process::Child, signal: &str) {
    let status =
        std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until the rollout, or a target of it, stands as given.
#[track_caller]
fn stands(six: &Six, target: Option<&str>, state: &str) {
    wait_for(&format!("{target:?} is {state}"), Duration::from_secs(90), || {
        let status = six.status();
        let found = match target {
            None => status["state"].clone(),
            Some(target) => {
                let all = status["targets"].as_array().cloned().unwrap_or_default();
                all.iter().find(|t| t["target"] == target).map(|t| t["state"].clone()).into()
            }
        };
        if found == state { Ok(()) } else { Err(format!("{found} in {status:#}")) }
    });
}

/// Version 2 becomes ready after a while.
fn slow(six: &Six) {
    let file = six.world.path().join("k8s/web.yaml");
    let slow = std::fs::read_to_string(&file).unwrap().replace(
        "metadata: {labels: {app: web}}",
        "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/ready-after: 3s}}",
    );
    six.world.write("k8s/web.yaml", &slow);
}

#[test]
fn killed_while_it_is_staged() {
    let waves = WAVES.replace("{wave: three}}}", "{wave: three}}, maxFailures: 1}");
    let broken = Broken::new("ro-half", &format!("{waves}{STEPS}"));
    let six = &broken.six;
    // Before the second of six, and before the last one, which a budget would cover.
    for (proxy, target, staged) in [(&broken.west, "b1", 1), (&broken.europe, "c3", 5)] {
        let hold = proxy.hold(broken.writes(target, "POST", ""));
        let child = six.world.start(&["rollout", "run", "-y"]);
        hold.wait(Duration::from_secs(60));
        let status = six.status();
        assert_eq!(status["state"], "staging", "{status:#}");
        signal(&child, "-KILL");
        let run = Run::of(child.wait_with_output().unwrap());
        hold.release();
        assert_eq!(run.code, 137, "{run}");
        let status = six.ok(0, &["rollout", "status"]);
        status.says(&format!("staged in {staged} of 6 targets")).says("mcd rollout abort");
        status.hides("failed,").hides("resume");
        for args in [&["rollout", "resume", "-y"][..], &["rollout", "approve", "--wave", "1"]] {
            let run = six.ok(6, args);
            run.says("never staged in all its targets").says("mcd rollout abort").says(target);
        }
        six.ran_elsewhere(6, "a1", &["rollout", "resume", "-y"]);
        broken.nothing_happened();
        six.ran_elsewhere(0, "a1", &["rollout", "abort", "-y"]);
        broken.nothing_happened();
        six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
    }
    // The same by hand.
    let hold = broken.west.hold(broken.writes("b1", "POST", ""));
    let child = six.world.start(&["rollout", "canary", "-y"]);
    hold.wait(Duration::from_secs(60));
    signal(&child, "-KILL");
    Run::of(child.wait_with_output().unwrap());
    hold.release();
    six.ok(6, &["rollout", "primary", "-y"]).says("never staged in all its targets");
    six.ok(0, &["rollout", "abort", "-y"]);
    broken.nothing_happened();
    six.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(six.tags(), ["v2"; 6]);
}

#[test]
fn interrupted_while_the_last_target_is_staged() {
    let waves = WAVES.replace("{wave: three}}}", "{wave: three}}, maxFailures: 1}");
    let broken = Broken::new("ro-last", &format!("{waves}{STEPS}"));
    let six = &broken.six;
    // While its record gets the rollout, and while it is told that all are staged.
    for (skip, name, code) in [(0, "-INT", 130), (1, "-TERM", 143)] {
        let hold = broken.europe.hold(broken.record("c3").skip(skip));
        let child = six.world.start(&["rollout", "run", "-y"]);
        hold.wait(Duration::from_secs(60));
        signal(&child, name);
        hold.release();
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{run}");
        run.says("interrupted while staging").says("nothing was applied").hides("GET Secret");
        broken.nothing_happened();
        six.ok(0, &["rollout", "abort", "-y"]).says("no rollout is open");
    }
}

#[test]
fn aborted_beside_the_run_that_is_at_it() {
    let broken = Broken::new("ro-beside", &format!("{WAVES}{STEPS}"));
    let six = &broken.six;
    slow(six);
    let child = six.world.start(&["rollout", "run", "-y"]);
    stands(six, Some("a1"), "succeeded");
    stands(six, Some("b1"), "running");
    let aborted = six.ran_elsewhere(0, "a1", &["rollout", "abort", "-y"]);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 6, "{run}\n{aborted}");
    run.says("taken back");
    assert_eq!(six.tags(), ["v1"; 6], "{run}\n{aborted}");
    six.no_variants();
    assert_eq!(six.status()["state"], "undone", "{aborted}");
    six.ok(0, &["rollout", "resume", "-y"]).says("no rollout is open");
    assert_eq!(six.tags(), ["v1"; 6]);
}

#[test]
fn aborted_beside_a_run_that_waits() {
    let approval = WAVES.replace("{wave: two}}}", "{wave: two}}, approval: true}");
    let soak = WAVES.replace("{wave: one}}}", "{wave: one}}, soak: 10m}");
    for (waves, state) in [(approval, "waiting"), (soak, "soaking")] {
        let broken = Broken::new("ro-waits", &format!("{waves}{STEPS}"));
        let six = &broken.six;
        let child = six.world.start(&["rollout", "run", "-y", "--wait-approval", "10m"]);
        stands(six, None, state);
        let aborted = six.ok(0, &["rollout", "abort", "-y"]);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, 6, "{run}\n{aborted}");
        run.says("taken back");
        broken.nothing_happened();
    }
}

#[test]
fn an_abort_that_could_not_take_all_back_is_gone_on_with() {
    let broken = Broken::new("ro-partly", PAUSED);
    let six = &broken.six;
    six.ok(7, &["rollout", "run", "-y"]);
    six.ok(0, &["freeze", "--reason", "audit", "-t", "b1", "-t", "c1"]);
    six.ok(6, &["rollout", "abort", "-y"]).says("audit");
    six.ok(0, &["freeze", "--off"]);
    let status = six.status();
    assert_eq!(status["state"], "undoing", "{status:#}");
    for args in [&["rollout", "resume", "-y"][..], &["rollout", "approve", "--wave", "1"]] {
        let run = six.ok(6, args);
        run.says("aborted by").says("mcd rollout abort");
    }
    six.ok(6, &["apply", "-y"]).says("mcd rollout abort").hides("resume");
    assert_eq!(six.tags(), ["v1"; 6]);
    six.ok(0, &["rollout", "abort", "-y"]);
    broken.nothing_happened();
    assert_eq!(six.status()["state"], "undone");
}

#[test]
fn an_abort_that_is_broken_off_is_gone_on_with() {
    let broken = Broken::new("ro-abort", PAUSED);
    let six = &broken.six;
    for (name, code) in [("-INT", 130), ("-KILL", 137)] {
        six.ok(7, &["rollout", "run", "-y"]);
        // The first write says that it is taken back, the second that this target goes back.
        let hold = broken.west.hold(broken.record("c2").skip(1));
        let child = six.world.start(&["rollout", "abort", "-y"]);
        hold.wait(Duration::from_secs(60));
        signal(&child, name);
        if name == "-INT" {
            hold.release();
        }
        let run = Run::of(child.wait_with_output().unwrap());
        hold.release();
        assert_eq!(run.code, code, "{run}");
        let resumed = six.ran_elsewhere(6, "c2", &["rollout", "resume", "-y"]);
        resumed.says("mcd rollout abort");
        assert_eq!(six.status()["state"], "undoing", "{run}\n{resumed}");
        assert_eq!(six.tags(), ["v1"; 6], "{run}\n{resumed}");
        six.ran_elsewhere(0, "c2", &["rollout", "abort", "-y"]);
        broken.nothing_happened();
    }
}

#[test]
fn an_interrupted_run_is_not_running() {
    for (name, code) in [("-INT", 130), ("-KILL", 137)] {
        let broken = Broken::new("ro-left", &format!("{WAVES}{STEPS}"));
        let six = &broken.six;
        slow(six);
        let child = six.world.start(&["rollout", "run", "-y"]);
        stands(six, Some("a1"), "succeeded");
        stands(six, Some("b1"), "running");
        signal(&child, name);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{run}");
        if name == "-INT" {
            run.says("web: Interrupted, wave 2 of 3").says("interrupted by").hides("under way");
        }
        stands(six, Some("b1"), "interrupted");
        let status = six.status();
        assert_eq!(status["state"], "interrupted", "{status:#}");
        assert_eq!(status["waves"][1]["state"], "interrupted", "{status:#}");
        let b1 = status["targets"].as_array().unwrap().iter().find(|t| t["target"] == "b1");
        assert!(b1.unwrap()["gate"].is_null(), "{status:#}");
        six.ok(0, &["rollout", "status"]).says("mcd rollout resume").hides("health ");
        six.ok(0, &["rollout", "resume", "-y"]);
        assert_eq!(six.tags(), ["v2"; 6]);
        six.no_variants();
    }
}
