//! Ctrl-C and SIGTERM: a run ends in a second, or with the write in flight, its children gone, and
//! says what it has done; the next one goes on.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use testbed::{Bed, Fault, Match, Proxy, wait_for};

use crate::support::{Run, World, web};

/// A second, on a machine that has much else to do.
const SOON: Duration = Duration::from_secs(3);

/// A run whose output goes to files, so that it can be read while it is under way.
struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    fn start(world: &World, args: &[&str]) -> Self {
        let (out, err) = (world.path().join("out.txt"), world.path().join("err.txt"));
        let child = world
            .command(args)
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Running { child, out, err }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// Waits until stderr has the text.
    #[track_caller]
    fn said(&self, text: &str) {
        wait_for(&format!("{text:?} on stderr"), Duration::from_secs(30), || {
            let all = std::fs::read_to_string(&self.err).unwrap();
            if all.contains(text) { Ok(()) } else { Err(all) }
        });
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the end, which has to come within `limit`.
    #[track_caller]
    fn ends(mut self, limit: Duration) -> Run {
        let started = Instant::now();
        let status = wait_for("the run ends", Duration::from_secs(60), || {
            self.child.try_wait().unwrap().ok_or_else(|| "it runs".to_owned())
        });
        let took = started.elapsed();
        let run = Run {
            code: status.code().unwrap_or(-1),
            stdout: std::fs::read_to_string(&self.out).unwrap(),
            stderr: std::fs::read_to_string(&self.err).unwrap(),
        };
        assert!(took < limit, "it took {took:?}\n{run}");
        run
    }
}

/// A kustomize that never ends, and has a child of its own.
fn hanging_tool(world: &World) -> String {
    world.application(&["us-east"], "render: {kustomize: {path: k}}\n");
    world.write("k/kustomization.yaml", "resources: []\n");
    let folder = world.path().display().to_string();
    let tool = world.write(
        "kustomize",
        &format!(
            "#!/bin/sh\nif [ \"$1\" = version ]; then echo v5.8.2; exit; fi\n\
             sleep 300 &\necho $! > {folder}/pid.tmp\nmv {folder}/pid.tmp {folder}/pid\nwait\n"
        ),
    );
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    tool.display().to_string()
}

/// The process whose number is in the file.
fn grandchild(world: &World) -> PathBuf {
    let file = world.path().join("pid");
    let pid = wait_for("the tool runs", Duration::from_secs(30), || {
        std::fs::read_to_string(&file).map_err(|e| e.to_string())
    });
    let process = PathBuf::from("/proc").join(pid.trim());
    assert!(process.exists());
    process
}

/// Ended, whether or not anyone has looked.
fn is_gone(process: &std::path::Path) {
    wait_for("the tool's child is gone", SOON, || {
        match std::fs::read_to_string(process.join("stat")) {
            Err(_) => Ok(()),
            Ok(stat) if stat.contains(") Z ") => Ok(()),
            Ok(stat) => Err(stat),
        }
    });
}

#[test]
fn during_rendering_the_tool_and_its_children_go_too() {
    for (signal, code, args) in [
        ("-INT", 130, &["plan"][..]),
        ("-TERM", 143, &["plan"]),
        ("-INT", 130, &["apply", "-y"]),
        ("-TERM", 143, &["validate"]),
    ] {
        let world = World::new("int-render");
        let tool = hanging_tool(&world);
        let run = Running::start(&world, &[args, &["--kustomize-bin", &tool]].concat());
        let process = grandchild(&world);
        run.signal(signal);
        let run = run.ends(SOON);
        assert_eq!(run.code, code, "{args:?} {run}");
        run.says("interrupted");
        is_gone(&process);
        if args[0] == "apply" {
            run.says("nothing was written");
        }
        assert_eq!(world.kubectl("us-east", &["get", "secret,lease", "-o", "name"]), "");
    }
}

#[test]
fn during_a_call_that_hangs() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("int-hang", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    proxy.inject(Match::any(), Fault::Hang);
    for args in [&["plan"][..], &["status"], &["apply", "-y"], &["history"], &["delete", "-y"]] {
        proxy.clear_log();
        let run = Running::start(&world, args);
        wait_for("a call", Duration::from_secs(30), || {
            if proxy.requests().is_empty() { Err(String::new()) } else { Ok(()) }
        });
        run.signal("-INT");
        let run = run.ends(SOON);
        assert_eq!(run.code, 130, "{args:?} {run}");
        run.says("interrupted");
    }
}

#[test]
fn during_the_wait_it_says_what_was_written() {
    let world = World::new("int-wait");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:never-ready"));
    let run = Running::start(&world, &["apply", "-y"]);
    run.said("deployment.apps/web created");
    run.said("waiting");
    run.signal("-INT");
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    run.says("Interrupted").says("interrupted: while waiting for health").hides("LIST");
    run.says("everything is written; `mcd status --wait` waits until it is healthy");
    for object in ["configmap/web", "service/web", "deployment.apps/web"] {
        run.says(&format!("{object} created"));
    }
    // Everything was written, so nothing is left to do but to wait.
    world.ok(0, &["diff"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    let releases = &history["targets"][0]["releases"];
    assert_eq!(releases[0]["state"], "active", "{history:#}");
    assert!(releases[0]["message"].to_string().contains("interrupted"), "{history:#}");
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
}

#[test]
fn during_a_write_it_ends_with_the_write() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("int-write", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let hold = proxy.hold(Match::writes().path("/services/"));
    let mut run = Running::start(&world, &["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    run.signal("-INT");
    run.said("stopping after the write in flight");
    assert!(run.is_running(), "it waits for its write");
    hold.release();
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    run.says("configmap/web created").says("service/web created").says("Interrupted");
    run.says("goes on where this run stopped");
    assert!(world.exists("us-east", "service", "web"));
    assert!(!world.exists("us-east", "deployment", "web"), "nothing new is started");
    let lease = world.live("us-east", "lease", "mcd.web");
    assert!(lease["spec"]["holderIdentity"].as_str().is_none_or(str::is_empty), "{lease:#}");
    let history = world.ok(0, &["history", "-o", "json"]).json();
    let release = &history["targets"][0]["releases"][0];
    assert_eq!(release["state"], "failed", "{history:#}");
    assert!(release["message"].to_string().contains("interrupted"), "{history:#}");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// A rollback too: the write in flight ends, and the next rollback goes on to where it was going.
#[test]
fn during_a_rollback() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("int-back", &[proxy.context()]);
    world.plain(&["us-east"]);
    for (image, greeting) in [("web:1", "hello"), ("web:2", "good evening")] {
        world.write("k8s/web.yaml", &web(image).replace("hello", greeting));
        world.ok(0, &["apply", "-y"]);
    }
    let hold = proxy.hold(Match::writes().path("/configmaps/"));
    let run = Running::start(&world, &["rollback", "-y"]);
    hold.wait(Duration::from_secs(30));
    run.signal("-INT");
    run.said("stopping after the write in flight");
    hold.release();
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    run.says("configmap/web configured").says("`mcd rollback` goes on where this run stopped");
    let image = || {
        let live = world.live("us-east", "deployment", "web");
        live["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    };
    assert_eq!(image(), "web:2", "nothing new is started");
    world.ok(0, &["history"]).says("rollback to 1").says("failed");
    world.ok(0, &["rollback", "-y"]).says("back to release 1").says("Healthy");
    assert_eq!(image(), "web:1");
    let data = world.live("us-east", "configmap", "web")["data"].clone();
    assert_eq!(data, serde_json::json!({"greeting": "hello"}));
}

#[test]
fn a_second_signal_leaves_at_once() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("int-twice", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let hold = proxy.hold(Match::writes().path("/services/"));
    let run = Running::start(&world, &["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    run.signal("-INT");
    run.said("stopping after the write in flight");
    run.signal("-INT");
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    hold.release();
    world.ok(0, &["apply", "-y"]).says("Healthy");
}

#[test]
fn while_waiting_for_the_lock() {
    let world = World::new("int-lock");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    // Someone on another machine, who may live.
    world.kubectl_apply(
        "us-east",
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: mcd.web}\n\
         spec: {holderIdentity: bob@elsewhere, leaseDurationSeconds: 60}\n",
    );
    let run = Running::start(&world, &["apply", "-y"]);
    run.said("bob@elsewhere");
    run.signal("-INT");
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    run.says("interrupted while waiting for the lock");
    assert!(!world.exists("us-east", "deployment", "web"));
}

#[test]
fn while_waiting_for_what_is_deleted() {
    let world = World::new("int-delete");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    let stay = r#"{"metadata":{"finalizers":["testbed.mcd.dev/stay"]}}"#;
    world.kubectl("us-east", &["patch", "service", "web", "--type=merge", "-p", stay]);
    let run = Running::start(&world, &["delete", "-y"]);
    run.said("testbed.mcd.dev/stay");
    run.signal("-INT");
    let run = run.ends(SOON);
    assert_eq!(run.code, 130, "{run}");
    run.says("Interrupted").says("deployment.apps/web deleted");
    let none = r#"{"metadata":{"finalizers":null}}"#;
    world.kubectl("us-east", &["patch", "service", "web", "--type=merge", "-p", none]);
    world.ok(0, &["delete", "-y"]);
    assert_eq!(world.kubectl("us-east", &["get", "secret,lease,svc,deploy", "-o", "name"]), "");
}
