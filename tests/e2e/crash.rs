//! `kill -9` at every write of an apply: the next apply, from another folder and another home, goes
//! on and ends clean.

use std::time::Duration;

use serde_json::Value;
use testbed::{Bed, Fault, KillSwitch, Match, Proxy, When, wait_for};

use crate::support::{HPA, Run, World, web};

const SECRET: &str = "---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: correct-horse}
";

const BOTH: [When; 2] = [When::Before, When::After];

/// An application on one cluster behind a proxy, in two folders.
struct Place {
    world: World,
    proxy: Proxy,
    /// How many points were tried.
    points: usize,
    /// The command that is killed, and that the next run is.
    args: &'static [&'static str],
}

impl Place {
    fn new(prefix: &str) -> Self {
        let proxy = Proxy::start(Bed::shared().cluster("us-east"));
        let world = World::with_contexts(prefix, &[proxy.context()]);
        world.plain(&["us-east"]);
        for name in ["fleet.yaml", "mcd.yaml"] {
            let text = std::fs::read_to_string(world.path().join(name)).unwrap();
            world.write(&format!("elsewhere/{name}"), &text);
        }
        Place { world, proxy, points: 0, args: &["apply", "-y"] }
    }

    /// The manifests of both folders.
    fn manifests(&self, yaml: &str) {
        self.world.write("k8s/all.yaml", yaml);
        self.world.write("elsewhere/k8s/all.yaml", yaml);
    }

    #[track_caller]
    fn elsewhere(&self, code: i32, args: &[&str]) -> Run {
        let mut command = self.world.command(args);
        let folder = self.world.path().join("elsewhere");
        command.current_dir(&folder).env("HOME", &folder);
        let run = Run::of(command.output().unwrap());
        assert_eq!(run.code, code, "mcd {args:?}\n{run}");
        run
    }

    /// Runs an apply that is killed at every write in turn, before and after it. `prepare` makes
    /// the state that the apply meets, `check` says what must be true after the second apply.
    fn at_every_write(&mut self, whens: &[When], prepare: impl Fn(&Self), check: impl Fn(&Self)) {
        prepare(self);
        self.world.ok(0, self.args);
        self.is_clean(When::After, true);
        check(self);
        for &when in whens {
            // How many writes there are is not the same each time: a controller that writes to an
            // object between a read and a write of ours makes us write again. So each run goes one
            // further, until one ends before its turn came.
            for n in 1.. {
                prepare(self);
                if !self.is_killed(n, when) {
                    assert!(n > 6, "lease, key or record, release, objects");
                    self.is_clean(When::After, true);
                    check(self);
                    break;
                }
                self.elsewhere(0, self.args).says("Healthy");
                self.is_clean(when, false);
                check(self);
                self.points += 1;
            }
        }
    }

    /// The same for a command that leaves nothing: `check` says what must be true after the
    /// second run.
    fn until_nothing_is_left(&mut self, prepare: impl Fn(&Self), check: impl Fn(&Self)) {
        for when in BOTH {
            for n in 1.. {
                prepare(self);
                let killed = self.is_killed(n, when);
                if !killed {
                    assert!(n > 6, "lease, objects, release, key, record");
                    check(self);
                    break;
                }
                self.elsewhere(0, self.args);
                check(self);
                self.points += 1;
            }
        }
    }

    /// Runs the command and kills it at its n-th write. False: it ended before.
    fn is_killed(&self, n: usize, when: When) -> bool {
        self.proxy.clear_log();
        let switch = KillSwitch::at_write(n, when);
        self.proxy.attach(&switch);
        let child = self.world.start(self.args);
        switch.target(&child);
        let run = Run::of(child.wait_with_output().unwrap());
        let writes = self.proxy.writes();
        let told = format!("{when:?} write {n} of {writes:?}");
        self.proxy.heal();
        if run.code == 0 {
            assert!(writes.len() < n && !switch.fired(), "not killed {told}\n{run}");
            return false;
        }
        assert_eq!(run.code, 137, "not killed {told}\n{run}");
        wait_for(&told, Duration::from_secs(5), || {
            if switch.fired() { Ok(()) } else { Err("not fired".to_owned()) }
        });
        true
    }

    /// What must hold whatever was applied and whenever it was killed.
    #[track_caller]
    fn is_clean(&self, when: When, strict: bool) {
        self.elsewhere(0, &["diff"]);
        // Asking the server about every object takes time, and what a run that was killed before a
        // write left is what the one after the last write left.
        if strict || when == When::After {
            self.elsewhere(0, &["diff", "--verify"]);
        }
        let history = self.elsewhere(0, &["history", "-o", "json"]).json();
        let target = &history["targets"][0];
        let releases = target["releases"].as_array().unwrap();
        let numbers: Vec<u64> = releases.iter().map(|r| r["number"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a > b), "newest first: {history:#}");
        let states: Vec<&str> = releases.iter().map(|r| r["state"].as_str().unwrap()).collect();
        assert_eq!(states[0], "active", "{history:#}");
        assert!(states[1..].iter().all(|s| ["superseded", "failed"].contains(s)), "{history:#}");
        assert_eq!(target["active"], releases[0]["number"], "{history:#}");

        // The stored releases say the same, and no other of them is left behind. A run that is killed
        // between the record and the marks leaves those to the next one that writes.
        let secrets = self.state("/api/v1", "secrets");
        for secret in secrets.iter().filter(|s| s["type"] == "mcd.dev/release.v1") {
            let name = secret["metadata"]["name"].as_str().unwrap();
            let state = secret["metadata"]["labels"]["mcd.dev/release-state"].as_str();
            let number: u64 = name.rsplit('.').next().unwrap().parse().unwrap();
            let known = releases.iter().find(|r| r["number"] == number);
            match known {
                Some(release) => {
                    let states = (release["state"].as_str(), state);
                    let lags =
                        [(Some("active"), Some("staged")), (Some("superseded"), Some("active"))];
                    assert!(
                        states.0 == states.1 || !strict && lags.contains(&states),
                        "{name}: {states:?}"
                    );
                }
                // The last ten are in the history; what a rollback goes back to may be older.
                None => assert!([Some("failed"), Some("superseded")].contains(&state), "{name}"),
            }
        }
        let leases = self.state("/apis/coordination.k8s.io/v1", "leases");
        assert_eq!(leases.len(), 1);
        let holder = leases[0]["spec"]["holderIdentity"].as_str();
        if holder.is_some_and(|holder| !holder.is_empty()) {
            assert!(!strict, "held by {holder:?}");
            // By the run that was killed, after which nothing had to be written.
            self.elsewhere(0, &["unlock", "-y"]).says("unlocked, was held by");
        }
    }

    /// The items of a kind in the test's namespace.
    fn state(&self, api: &str, plural: &str) -> Vec<Value> {
        let path = format!("{api}/namespaces/{}/{plural}", self.world.namespace.name());
        let list = self.world.cluster("us-east").get(&path);
        list["items"].as_array().unwrap().clone()
    }

    fn object(&self, api: &str, plural: &str, name: &str) -> Value {
        let path = format!("{api}/namespaces/{}/{plural}/{name}", self.world.namespace.name());
        self.world.cluster("us-east").get(&path)
    }

    /// An object that has one owner besides controllers.
    #[track_caller]
    fn owned(&self, api: &str, plural: &str, name: &str) -> Value {
        let live = self.object(api, plural, name);
        let owners: Vec<(&str, &str)> = live["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["subresource"].is_null())
            .map(|e| (e["manager"].as_str().unwrap(), e["operation"].as_str().unwrap()))
            .filter(|(manager, _)| *manager != "kube-controller-manager")
            .collect();
        let manager = format!("mcd:{}/web", self.world.namespace.name());
        assert_eq!(owners, [(manager.as_str(), "Apply")], "{plural}/{name}");
        live
    }

    fn delete(&self) {
        self.elsewhere(0, &["delete", "-y"]);
        for (api, plural) in
            [("/apis/apps/v1", "deployments"), ("/apis/coordination.k8s.io/v1", "leases")]
        {
            assert_eq!(self.state(api, plural), Vec::<Value>::new(), "{plural}");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        eprintln!("{}: killed at {} points", self.world.namespace.name(), self.points);
    }
}

#[test]
fn a_first_apply_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-first");
    place.manifests(&(web("web:1") + SECRET + HPA));
    place.at_every_write(&BOTH, Place::delete, |place| {
        let live = place.owned("/apis/apps/v1", "deployments", "web");
        // Its autoscaler's to decide from the beginning: neither owned nor reset to 1.
        assert_eq!(live["spec"]["replicas"], 2);
        let ours = live["metadata"]["managedFields"].as_array().unwrap();
        let ours = ours.iter().find(|entry| entry["operation"] == "Apply").unwrap();
        assert!(ours["fieldsV1"]["f:spec"]["f:replicas"].is_null(), "{ours:#}");
        place.owned("/api/v1", "services", "web");
        place.owned("/api/v1", "configmaps", "web");
        assert_eq!(
            place.owned("/api/v1", "secrets", "web")["data"]["password"],
            "Y29ycmVjdC1ob3JzZQ=="
        );
    });
}

#[test]
fn an_update_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-update");
    let old = web("web:1") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n";
    let new = web("web:2").replace("hello", "good evening")
        + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\ndata: {a: b}\n";
    let prepare = |place: &Place| {
        place.manifests(&old);
        place.elsewhere(0, &["apply", "-y"]);
        place.manifests(&new);
    };
    place.at_every_write(&BOTH, prepare, |place| {
        let live = place.owned("/apis/apps/v1", "deployments", "web");
        assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
        let config = place.owned("/api/v1", "configmaps", "web");
        assert_eq!(config["data"]["greeting"], "good evening");
        place.owned("/api/v1", "configmaps", "new");
        // What left the manifests is gone, and forgotten.
        let maps = place.state("/api/v1", "configmaps");
        let maps: Vec<&str> = maps.iter().filter_map(|c| c["metadata"]["name"].as_str()).collect();
        assert_eq!(maps, ["kube-root-ca.crt", "new", "web"]);
        let plan = place.elsewhere(0, &["plan", "-o", "json"]).json();
        let target = &plan["targets"][0];
        assert_eq!(
            (&target["left"], &target["unfinished"]),
            (&serde_json::json!([]), &Value::Null)
        );
    });
    place.delete();
    let left: Vec<Value> = place.state("/api/v1", "configmaps");
    let left: Vec<&str> = left.iter().filter_map(|c| c["metadata"]["name"].as_str()).collect();
    assert_eq!(left, ["kube-root-ca.crt"], "nothing was lost from the inventory");
}

#[test]
fn a_takeover_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-take");
    let old = web("web:1").replace("data: {greeting", "data: {legacy: x, greeting");
    place.manifests(&(web("web:2") + HPA));
    let prepare = |place: &Place| {
        place.delete();
        place.world.kubectl_apply("us-east", &(old.clone() + HPA));
    };
    place.at_every_write(&[When::After], prepare, |place| {
        let live = place.owned("/apis/apps/v1", "deployments", "web");
        assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
        assert_eq!(live["spec"]["replicas"], 2, "the autoscaler's");
        let config = place.owned("/api/v1", "configmaps", "web");
        assert_eq!(config["data"], serde_json::json!({"greeting": "hello"}));
        assert!(config["metadata"]["annotations"].is_null());
    });
}

/// Of an adoption from helm: its objects become the application's, and its release ends, once.
#[test]
fn an_adoption_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-adopt");
    place.args = &["apply", "--adopt", "-y"];
    let old = web("web:1").replace("data: {greeting", "data: {legacy: x, greeting");
    place.world.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    place.world.write("chart/templates/web.yaml", &old);
    place.manifests(&web("web:2"));
    let chart = place.world.path().join("chart").display().to_string();
    let prepare = |place: &Place| {
        place.delete();
        place.world.kubectl("us-east", &["delete", "secret", "-l", "name=web"]);
        let helm = place.world.helm("3.22.0", &["install", "web", &chart]);
        assert_eq!(helm.code, 0, "{helm}");
    };
    place.at_every_write(&BOTH, prepare, |place| {
        let live = place.owned("/apis/apps/v1", "deployments", "web");
        assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
        place.owned("/api/v1", "services", "web");
        let config = place.owned("/api/v1", "configmaps", "web");
        assert_eq!(config["data"], serde_json::json!({"greeting": "hello"}));
        assert!(config["metadata"]["annotations"].is_null());
        let owner = |secret: &Value| secret["metadata"]["labels"]["owner"].clone();
        let releases = place.state("/api/v1", "secrets");
        let releases: Vec<Value> =
            releases.iter().filter(|s| s["type"] == "helm.sh/release.v1").map(owner).collect();
        assert_eq!(releases, ["retired-by-mcd"]);
    });
}

/// An adoption whose last step fails says so, and any later apply makes it good.
#[test]
fn a_release_that_could_not_be_hidden_is_hidden_by_the_next_run() {
    let place = Place::new("crash-retire");
    place.world.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    place.world.write("chart/templates/web.yaml", &web("web:1"));
    place.manifests(&web("web:1"));
    let chart = place.world.path().join("chart").display().to_string();
    assert_eq!(place.world.helm("4.3.1", &["install", "web", &chart]).code, 0);
    place.proxy.inject(Match::writes().path("/secrets/sh.helm.release.v1.web"), Fault::status(403));
    let name = place.world.namespace.name().to_owned();
    let not = format!("helm's release {name}/web is not retired");
    place.world.ok(1, &["apply", "--adopt", "-y"]).says(&not);
    place.proxy.heal();
    place.elsewhere(0, &["plan"]).says(&not).says(&format!("helm release {name}/web (1 revision)"));
    place.elsewhere(0, &["apply", "-y"]).says("Healthy");
    let gone = place.world.helm("4.3.1", &["uninstall", "web"]);
    assert_ne!(gone.code, 0, "{gone}");
    gone.says("not found");
    place.is_clean(When::After, true);
    place.owned("/apis/apps/v1", "deployments", "web");
}

/// Of a rollback: what it writes, deletes and makes again is finished by the next one, and what it
/// had half restored is never taken for what it should go back to.
#[test]
fn a_rollback_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-back");
    place.args = &["rollback", "--to", "1", "-y"];
    let map = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"
        )
    };
    let old = web("web:1") + SECRET + &map("old");
    let new = web("web:2").replace("hello", "good evening") + &map("new");
    let prepare = |place: &Place| {
        place.delete();
        for manifests in [&old, &new] {
            place.manifests(manifests);
            place.elsewhere(0, &["apply", "-y"]);
        }
        // A rollback reads no manifests; they are there for what comes after it.
        place.manifests(&old);
    };
    place.at_every_write(&BOTH, prepare, |place| {
        let live = place.owned("/apis/apps/v1", "deployments", "web");
        assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
        let config = place.owned("/api/v1", "configmaps", "web");
        assert_eq!(config["data"]["greeting"], "hello");
        place.owned("/api/v1", "configmaps", "old");
        place.owned("/api/v1", "secrets", "web");
        let maps = place.state("/api/v1", "configmaps");
        assert!(!maps.iter().any(|map| map["metadata"]["name"] == "new"), "{maps:#?}");
    });
}

/// Without a number, too: a rollback that was killed is taken up again, and does not go back to what
/// it came from.
#[test]
fn a_rollback_that_was_killed_is_taken_up_again() {
    let place = Place::new("crash-resume");
    for image in ["web:1", "web:2", "web:3"] {
        place.manifests(&web(image));
        place.elsewhere(0, &["apply", "-y"]);
    }
    // The lease, the release, the record, the Deployment.
    let switch = KillSwitch::at_write(4, When::After);
    place.proxy.attach(&switch);
    let child = place.world.start(&["rollback", "--to", "1", "-y"]);
    switch.target(&child);
    assert_eq!(Run::of(child.wait_with_output().unwrap()).code, 137);
    place.proxy.heal();
    place.elsewhere(0, &["history"]).says("staged").says("rollback to 1");
    place.elsewhere(0, &["rollback", "--dry-run"]).says("3 → 1");
    place.elsewhere(0, &["rollback", "-y"]).says("back to release 1").says("Healthy");
    place.manifests(&web("web:1"));
    place.is_clean(When::After, true);
    let live = place.owned("/apis/apps/v1", "deployments", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
}

#[test]
fn a_prune_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-prune");
    let map = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"
        )
    };
    let old = web("web:1") + SECRET + &map("old-a") + &map("old-b");
    let prepare = |place: &Place| {
        place.manifests(&old);
        place.elsewhere(0, &["apply", "-y"]);
        place.manifests(&web("web:1"));
    };
    place.world.kubectl("us-east", &["create", "configmap", "bystander"]);
    place.at_every_write(&BOTH, prepare, |place| {
        let maps = place.state("/api/v1", "configmaps");
        let maps: Vec<&str> = maps.iter().filter_map(|c| c["metadata"]["name"].as_str()).collect();
        assert_eq!(maps, ["bystander", "kube-root-ca.crt", "web"]);
        assert!(!place.world.exists("us-east", "secret", "web"));
        place.owned("/apis/apps/v1", "deployments", "web");
        let plan = place.elsewhere(0, &["plan", "-o", "json"]).json();
        let target = &plan["targets"][0];
        assert_eq!(
            (&target["left"], &target["unfinished"]),
            (&serde_json::json!([]), &Value::Null)
        );
    });
    place.delete();
}

/// Between the delete and the create there is nothing: the next apply makes it.
#[test]
fn a_recreation_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-anew");
    let yaml = |value: &str| {
        web("web:1")
            + &format!(
                "---\napiVersion: v1\nkind: ConfigMap\n\
                 metadata: {{name: fixed, annotations: {{mcd.dev/apply: recreate}}}}\n\
                 immutable: true\ndata: {{a: {value}}}\n"
            )
    };
    let prepare = |place: &Place| {
        place.manifests(&yaml("first"));
        place.elsewhere(0, &["apply", "-y"]);
        place.manifests(&yaml("second"));
    };
    place.at_every_write(&BOTH, prepare, |place| {
        let live = place.owned("/api/v1", "configmaps", "fixed");
        assert_eq!(live["data"], serde_json::json!({"a": "second"}));
        place.owned("/apis/apps/v1", "deployments", "web");
    });
    place.delete();
}

#[test]
fn a_delete_killed_at_every_write_is_finished_by_the_next() {
    let mut place = Place::new("crash-delete");
    place.args = &["delete", "-y"];
    place.manifests(&(web("web:1") + SECRET));
    place.world.kubectl("us-east", &["create", "configmap", "bystander"]);
    let prepare = |place: &Place| {
        place.elsewhere(0, &["apply", "-y"]);
    };
    place.until_nothing_is_left(prepare, |place| {
        let names = |api: &str, plural: &str| -> Vec<String> {
            let items = place.state(api, plural);
            items.iter().map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names("/apis/apps/v1", "deployments"), [""; 0]);
        assert_eq!(names("/api/v1", "services"), [""; 0]);
        assert_eq!(names("/api/v1", "secrets"), [""; 0], "no state is left");
        assert_eq!(names("/apis/coordination.k8s.io/v1", "leases"), [""; 0]);
        assert_eq!(names("/api/v1", "configmaps"), ["bystander", "kube-root-ca.crt"]);
    });
}
