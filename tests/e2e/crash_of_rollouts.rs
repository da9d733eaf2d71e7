//! `kill -9` at every write of a rollout over two waves: whoever goes on with it, or takes it back,
//! from another folder without any files, comes to a clean end.

use std::time::Duration;

use serde_json::Value;
use testbed::{Bed, KillSwitch, Proxy, TestNamespace, When, wait_for};

use crate::support::{Run, World};

/// Two targets of two waves in one cluster behind a proxy, each in a namespace of its own.
struct Waves {
    world: World,
    proxy: Proxy,
    other: TestNamespace,
    /// How many points were tried.
    points: usize,
}

const STEPS: &str = "  waves:
  - {name: first, select: {labels: {wave: one}}}
  - {name: second, select: {labels: {wave: two}}}
  steps: [{canary: {replicas: 1}}, {primary: {}}, {clean: {}}]
";

/// Both targets at once, and nothing after the primary without someone's word.
const PAUSED: &str = "  steps: [{canary: {replicas: 1}}, {primary: {}}, {pause: {}}, {clean: {}}]
";

impl Waves {
    fn new(prefix: &str, rollout: &str) -> Self {
        let proxy = Proxy::start(Bed::shared().cluster("us-east"));
        let contexts = [proxy.context().named("a"), proxy.context().named("b")];
        let world = World::with_contexts(prefix, &contexts);
        let other = world.bed.namespace(prefix);
        world.write(
            "mcd.yaml",
            &format!(
                "apiVersion: mcd.dev/v1alpha1
kind: Application
metadata: {{name: web}}
clusters:
- {{name: a, labels: {{wave: one}}}}
- {{name: b, labels: {{wave: two}}}}
select: {{clusters: [\"*\"]}}
namespace: NAMESPACE
render: {{manifests: [k8s/]}}
overrides:
- {{select: {{labels: {{wave: two}}}}, namespace: {}}}
rollout:
{rollout}",
                other.name()
            ),
        );
        std::fs::create_dir_all(world.path().join("elsewhere")).unwrap();
        let waves = Waves { world, proxy, other, points: 0 };
        waves.version(0);
        waves.world.ok(0, &["apply", "-y"]);
        waves
    }

    /// Writes a version of the application: another image, and configuration that only this
    /// version has.
    fn version(&self, version: usize) {
        let yaml = format!(
            "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: registry.test/web:v{version}
        envFrom: [{{configMapRef: {{name: web-{version}}}}}, {{configMapRef: {{name: web}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web-{version}}}
data: {{a: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web}}
data: {{version: v{version}}}
"
        );
        self.world.write("k8s/all.yaml", &yaml);
    }

    /// Runs a verb of rollouts as someone who has a kubeconfig and nothing else.
    fn elsewhere(&self, verb: &[&str]) -> Run {
        let namespace = self.world.namespace.name();
        let place = ["--app", "web", "-n", namespace, "--context", "a"];
        let mut command = self.world.command(&[&["rollout"], verb, &place].concat());
        let folder = self.world.path().join("elsewhere");
        command.current_dir(&folder).env("HOME", &folder);
        Run::of(command.output().unwrap())
    }

    /// Runs a command and kills it at its n-th write. False: it ended before.
    fn is_killed(&self, args: &[&str], n: usize, when: When) -> bool {
        self.proxy.clear_log();
        let switch = KillSwitch::at_write(n, when);
        self.proxy.attach(&switch);
        let child = self.world.start(args);
        switch.target(&child);
        let run = Run::of(child.wait_with_output().unwrap());
        let writes = self.proxy.writes();
        self.proxy.heal();
        if run.code == 0 {
            assert!(writes.len() < n && !switch.fired(), "not killed at {n} of {writes:?}\n{run}");
            return false;
        }
        assert_eq!(run.code, 137, "not killed at {n} of {writes:?}\n{run}");
        wait_for("the switch", Duration::from_secs(5), || match switch.fired() {
            true => Ok(()),
            false => Err("not fired".to_owned()),
        });
        true
    }

    /// Ends what may be open in the second target when the first has nothing that is: only whoever
    /// has the files knows of both then.
    fn with_files(&self, verb: &str) {
        self.world.ok(0, &["rollout", verb, "-y"]);
    }

    fn objects(&self, namespace: &str, path: &str) -> Vec<Value> {
        let (group, plural) = path.rsplit_once('/').unwrap();
        let list =
            self.world.cluster("us-east").get(&format!("{group}/namespaces/{namespace}/{plural}"));
        list["items"].as_array().unwrap().clone()
    }

    /// That both targets have that version, whole and healthy, and nothing else of the application's.
    #[track_caller]
    fn has(&self, version: usize, what: &str) {
        for namespace in [self.world.namespace.name(), self.other.name()] {
            let names = |path: &str| -> Vec<String> {
                let own = self.objects(namespace, path);
                let own = own.iter().filter(|o| o["metadata"]["labels"]["mcd.dev/app"].is_string());
                own.map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(names("/apis/apps/v1/deployments"), ["web"], "{what}");
            assert_eq!(names("/api/v1/configmaps"), ["web".to_owned(), format!("web-{version}")]);
            let web = &self.objects(namespace, "/apis/apps/v1/deployments")[0];
            let image = &web["spec"]["template"]["spec"]["containers"][0]["image"];
            assert_eq!(*image, format!("registry.test/web:v{version}"), "{what}");
            let status = &web["status"];
            assert_eq!(
                (
                    &status["observedGeneration"],
                    &status["updatedReplicas"],
                    &status["readyReplicas"]
                ),
                (&web["metadata"]["generation"], &1.into(), &1.into()),
                "{what}: {status}"
            );
        }
        self.version(version);
        self.world.ok(0, &["diff"]);
        self.world.ok(0, &["plan", "--detailed-exitcode"]);
        let history = self.world.ok(0, &["history", "-o", "json"]).json();
        for target in history["targets"].as_array().unwrap() {
            let releases = target["releases"].as_array().unwrap();
            let active: Vec<&Value> = releases.iter().filter(|r| r["state"] == "active").collect();
            assert_eq!(active.len(), 1, "{what}: {history:#}");
            assert_eq!(active[0]["number"], target["active"], "{what}: {history:#}");
            assert!(releases.iter().all(|r| r["state"] != "staged"), "{what}: {history:#}");
        }
    }

    /// The version that the first target has.
    fn now(&self) -> usize {
        let web = &self.objects(self.world.namespace.name(), "/apis/apps/v1/deployments");
        let web = web.iter().find(|o| o["metadata"]["name"] == "web").unwrap();
        let image = web["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap();
        image.rsplit_once('v').unwrap().1.parse().unwrap()
    }
}

const RUN: [&str; 3] = ["rollout", "run", "-y"];

#[test]
fn a_rollout_that_is_killed_at_any_write_can_be_gone_on_with() {
    let mut waves = Waves::new("rc-resume", STEPS);
    let mut aborted = 0;
    for n in 1.. {
        let (old, new) = (waves.now(), n);
        waves.version(new);
        if !waves.is_killed(&RUN, n, When::After) {
            waves.has(new, "not killed");
            assert!(n > 30, "two targets, each staged, three steps, closed");
            break;
        }
        let what = format!("killed after write {n}");
        let status = waves.elsewhere(&["status"]);
        assert_eq!(status.code, 0, "{what}\n{status}");
        let resumed = waves.elsewhere(&["resume", "-y"]);
        match resumed.code {
            // It was not opened yet, or closed already.
            0 if resumed.stdout.contains("no rollout is open") => {
                waves.with_files("resume");
                waves.version(new);
                waves.world.ok(0, &["rollout", "run", "-y"]);
                waves.has(new, &what);
            }
            0 => waves.has(new, &what),
            // It was not staged everywhere, and nothing was begun.
            6 => {
                resumed.says("never staged").says("mcd rollout abort");
                let abort = waves.elsewhere(&["abort", "-y"]);
                assert_eq!(abort.code, 0, "{what}\n{abort}");
                waves.has(old, &what);
                aborted += 1;
            }
            _ => panic!("{what}\n{resumed}"),
        }
        waves.points += 1;
    }
    assert!(aborted < 12, "{aborted}");
    println!("{} points, each gone on with to a clean end", waves.points);
}

#[test]
fn a_rollout_that_is_killed_at_any_write_can_be_taken_back() {
    let mut waves = Waves::new("rc-abort", STEPS);
    let mut new = 0;
    for n in 1.. {
        let old = waves.now();
        new += 1;
        waves.version(new);
        if !waves.is_killed(&RUN, n, When::Before) {
            waves.has(new, "not killed");
            assert!(n > 30, "two targets, each staged, three steps, closed");
            break;
        }
        let what = format!("killed before write {n}");
        let abort = waves.elsewhere(&["abort", "-y"]);
        let now = waves.now();
        match abort.code {
            // One that was closed everywhere is over, and nothing is taken back.
            0 if abort.stdout.contains("no rollout is open") => {
                waves.with_files("resume");
                assert!(now == old || now == new, "{what}: {now}\n{abort}");
            }
            0 => assert_eq!(now, old, "{what}\n{abort}"),
            // One that was closed in the first target is over too, and not taken back by half.
            6 => {
                abort.says("is at its end").says("mcd rollout resume");
                let resumed = waves.elsewhere(&["resume", "-y"]);
                assert_eq!((resumed.code, now), (0, new), "{what}\n{resumed}");
            }
            _ => panic!("{what}\n{abort}"),
        }
        waves.has(now, &what);
        waves.points += 1;
    }
    println!("{} points, each taken back to a clean end", waves.points);
}

#[test]
fn going_back_that_is_killed_at_any_write_can_be_begun_again() {
    let mut waves = Waves::new("rc-undo", PAUSED);
    for n in 1.. {
        waves.version(n);
        // Both targets have the new version, and the canary still.
        waves.world.ok(7, &RUN);
        let killed = waves.is_killed(&["rollout", "abort", "-y"], n, When::After);
        let what = format!("killed after write {n} of an abort");
        if killed {
            let abort = waves.elsewhere(&["abort", "-y"]);
            assert_eq!(abort.code, 0, "{what}\n{abort}");
            if abort.stdout.contains("no rollout is open") {
                waves.with_files("abort");
            }
        }
        waves.has(0, &what);
        if !killed {
            assert!(n > 15, "two targets, each applied, cleaned, closed");
            break;
        }
        waves.points += 1;
    }
    println!("{} points, each taken back to a clean end", waves.points);
}
