//! How targets stand: the tree of objects and pods, with causes, warnings and last words.

use std::time::Duration;

use serde_json::Value;
use testbed::{Bed, Fault, Match, Proxy, Reply, wait_for};

use crate::support::{World, web};

/// One cluster behind a proxy, which plays the kubelet's part: nodes of the bed have no logs.
fn proxied(prefix: &str, image: &str) -> (World, Proxy) {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts(prefix, &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web(image));
    (world, proxy)
}

/// The first node of the kind below a tree.
fn find<'v>(nodes: &'v Value, kind: &str) -> Option<&'v Value> {
    nodes
        .as_array()?
        .iter()
        .find_map(|node| if node["kind"] == kind { Some(node) } else { find(&node["parts"], kind) })
}

/// The status's tree, once a pod crashes for the second time and was warned about.
fn crashing(world: &World) -> Value {
    wait_for("a pod that crashes", Duration::from_secs(60), || {
        let status = world.ok(0, &["status", "--tree", "-o", "json"]).json();
        let tree = status["targets"][0]["tree"].clone();
        match find(&tree, "Pod") {
            Some(pod) if pod["restarts"].as_i64() > Some(0) && pod["warnings"].is_array() => {
                Ok(tree)
            }
            _ => Err(format!("{status:#}")),
        }
    })
}

const LOG: &str = "starting\n\x1b[31mpanic\x1b[0m: no such table, password is hunter2-hunter2\n";

#[test]
fn a_crash_loop_is_told_with_its_last_words() {
    let (world, proxy) = proxied("tree", "web:crash-loop");
    world.write(
        "k8s/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2-hunter2}\n",
    );
    let log = Reply::status(200).body("text/plain", LOG);
    proxy.inject(Match::any().path("/log?").path("previous=true"), Fault::Answer(log));
    let apply = world.ok(1, &["apply", "-y", "--timeout=3s"]);
    apply.says("Deployment").says("pod web-").says("CrashLoopBackOff");
    apply.says("log of web, before its last restart:").says("| starting");
    apply.says("| panic: no such table, password is ***").hides("hunter2").hides("\u{1b}[31mpanic");
    apply.says("mcd status -t us-east --tree");

    let tree = crashing(&world);
    let kinds: Vec<&str> =
        tree.as_array().unwrap().iter().map(|n| n["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ConfigMap", "Secret", "Service", "Deployment"], "{tree:#}");
    let deployment = find(&tree, "Deployment").unwrap();
    assert_eq!((&deployment["ready"], &deployment["wanted"]), (&0.into(), &2.into()), "{tree:#}");
    let set = &deployment["parts"][0];
    assert_eq!((&set["kind"], &set["wanted"]), (&"ReplicaSet".into(), &2.into()), "{tree:#}");
    let pod = &set["parts"][0];
    assert_eq!(pod["health"], "progressing", "{tree:#}");
    assert!(pod["reason"].as_str().unwrap().contains("CrashLoopBackOff"), "{tree:#}");
    assert_eq!(pod["warnings"][0]["reason"], "BackOff", "{tree:#}");
    let log = &pod["logs"][0];
    assert_eq!(log["previous"], true, "{tree:#}");
    assert_eq!(
        log["lines"],
        serde_json::json!(["starting", "panic: no such table, password is ***"]),
        "{tree:#}"
    );
    let text = world.ok(0, &["status", "--tree"]);
    text.says("  ✔ ConfigMap ").says("    ◌ ReplicaSet web-").says("      ◌ Pod web-");
    text.says("BackOff (").hides("hunter2");

    // A log that may not, or cannot, be read is said, and is no failure.
    proxy.heal();
    proxy.inject(Match::any().path("/log?"), Fault::status(403));
    world.ok(0, &["status", "--tree"]).says("not read: no right to read logs (get of pods/log)");
    proxy.heal();
    let unread = crashing(&world);
    let log = &find(&unread, "Pod").unwrap()["logs"][0];
    assert!(log["unread"].is_string(), "the nodes of the bed have no logs: {unread:#}");
}

/// Without the right to see pods there is still a status, and what is missing is named.
#[test]
fn pods_that_may_not_be_listed_are_said_to_be_so() {
    let (world, proxy) = proxied("tree-rbac", "web:1");
    world.ok(0, &["apply", "-y"]);
    for kind in ["/pods?", "/replicasets?", "/events?"] {
        proxy.inject(Match::any().path(kind), Fault::status(403));
    }
    let status = world.ok(0, &["status", "--tree"]);
    status.says("✔ Deployment").says("2/2 ready").says("pods could not be listed");
    let status = world.ok(0, &["status"]);
    status.says("Healthy").hides("could not be listed");
}

#[test]
fn a_tree_of_what_is_well() {
    let world = World::new("tree-well");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["status", "--tree"]).says("NotDeployed");
    world.ok(0, &["apply", "-y"]);
    let status = world.ok(0, &["status", "--tree", "-o", "json"]).json();
    let tree = &status["targets"][0]["tree"];
    let pods = find(tree, "ReplicaSet").unwrap()["parts"].as_array().unwrap();
    assert_eq!(pods.len(), 2, "{status:#}");
    assert!(pods.iter().all(|pod| pod["health"] == "healthy" && pod["logs"].is_null()));
    // Without the flag, and after an apply that went well, there is none.
    for args in [&["status", "-o", "json"][..], &["apply", "-y", "-o", "json"]] {
        let report = world.ok(0, args).json();
        assert!(report["targets"][0]["tree"].is_null(), "{report:#}");
    }
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dbs.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: dbs, singular: db, kind: Db}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

/// A definition, which all tests share: it goes with the test, however that ends.
struct Definition(String);

impl Drop for Definition {
    fn drop(&mut self) {
        let cluster = Bed::shared().cluster("us-east");
        Bed::shared().kubectl(cluster, &["delete", "crd", &self.0, "--ignore-not-found"]);
    }
}

/// Rules of the file judge a kind that mcd knows nothing of: `apply` waits by them, `status` tells
/// by them, and a status of an older generation counts for nothing.
#[test]
fn a_kind_is_judged_by_the_rules_of_the_file() {
    let world = World::new("health");
    let group = format!("{}.example.com", world.namespace.name());
    let plural = format!("dbs.{group}");
    let _definition = Definition(plural.clone());
    let rules = format!(
        "render: {{manifests: [k8s]}}
health:
- group: {group}
  kind: Db
  inProgress: status.phase == 'Creating'
  failed: status.phase == 'Broken'
  current: status.phase == 'Ready' && status.replicas >= spec.replicas
"
    );
    world.application(&["us-east"], &rules);
    world.write("k8s/definition.yaml", &DEFINITION.replace("GROUP", &group));
    let db = |replicas: u32| {
        world.write(
            "k8s/db.yaml",
            &format!("apiVersion: {group}/v1\nkind: Db\nmetadata: {{name: orders}}\nspec: {{replicas: {replicas}}}\n"),
        );
    };
    let patch = |status: &str| {
        let patch = format!("{{\"status\":{status}}}");
        let args =
            ["patch", &plural, "orders", "--subresource=status", "--type=merge", "-p", &patch];
        world.kubectl("us-east", &args);
    };
    let says = |code: i32, args: &[&str], text: &str| {
        world.ok(code, args).says(text);
    };
    db(3);
    let apply = world.ok(1, &["apply", "-y", "--timeout=2s"]);
    apply.says("Db ").says("no `status` yet, which the rule `inProgress` reads");
    patch(r#"{"phase":"Creating"}"#);
    says(0, &["status"], "Progressing");
    patch(
        r#"{"phase":"Broken","conditions":[{"type":"Ready","status":"False","message":"no disk"}]}"#,
    );
    says(1, &["status", "--wait", "--timeout=5s"], "Failed");
    says(0, &["status"], "no disk");
    patch(r#"{"phase":"Ready","replicas":3,"observedGeneration":1}"#);
    says(0, &["status", "--wait", "--timeout=5s"], "Healthy");
    // The status is still that of the last generation.
    db(2);
    says(1, &["apply", "-y", "--timeout=1s"], "see generation 2: the status is of 1");
    let child = world.start(&["status", "--wait", "--timeout=30s"]);
    patch(r#"{"observedGeneration":2}"#);
    let run = crate::support::Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    // A rule that is none is found before anything is contacted, with its place.
    world.application(&["us-east"], &rules.replace("phase == 'Broken'", "phase = 'Broken'"));
    let run = world.ok(3, &["status"]);
    run.says("`failed` is no rule").says("mcd.yaml:12:11");
    // So is one that never says true or false; where only the data tell, the wait ends at once.
    world.application(
        &["us-east"],
        &rules.replace("status.phase == 'Broken'", "size(status.phase)"),
    );
    let run = world.ok(3, &["status"]);
    run.says("`failed` is no rule: it gives what `size` gives").says("mcd.yaml:12:11");
    world.application(&["us-east"], &rules.replace("status.phase == 'Broken'", "status.phase"));
    let started = std::time::Instant::now();
    let run = world.ok(1, &["apply", "-y", "--timeout=60s"]);
    run.says("the rule `failed` at mcd.yaml:9 gives string, not true or false");
    assert!(started.elapsed() < std::time::Duration::from_secs(50), "nobody waits for that");
    world.application(&["us-east"], &rules);
    world.ok(0, &["delete", "-y", "--with-definitions"]);
}

/// A wait that ends without health says so by its code, and the table by its reason.
#[test]
fn a_wait_that_ends_too_early() {
    let world = World::new("status-late");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &crate::support::web("web:never-ready"));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    let run = world.ok(1, &["status", "--wait", "--timeout=2s"]);
    run.says("Progressing").says("0/2");
    let report = world.ok(1, &["status", "--wait", "--timeout=2s", "-o", "json"]).json();
    assert_eq!(report["targets"][0]["state"], "progressing", "{report:#}");
    assert_eq!(report["exitCode"], 1);
    let run = world.ok(1, &["apply", "-y", "--timeout=2s"]);
    run.says("did not become healthy within 2s");
    world.write("k8s/web.yaml", &crate::support::web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["status", "--wait", "--timeout=60s"]).says("Healthy");
}

/// A watch, with the lines that it has written so far.
struct Watch {
    child: std::process::Child,
    lines: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl Watch {
    fn start(world: &World, args: &[&str]) -> Self {
        use std::io::BufRead as _;
        let mut child = world.start(&[&["status", "--watch"], args].concat());
        let lines: std::sync::Arc<std::sync::Mutex<Vec<String>>> = std::sync::Arc::default();
        let (kept, out) = (lines.clone(), child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in std::io::BufReader::new(out).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        Watch { child, lines }
    }

    /// Waits until a line after the first `from` fits, and returns how many there are up to it.
    #[track_caller]
    fn shows(&self, from: usize, what: &str, fits: impl Fn(&str) -> bool) -> usize {
        wait_for(what, Duration::from_secs(60), || {
            let lines = self.lines.lock().unwrap().clone();
            let found = lines.iter().skip(from).position(|line| fits(line));
            found.map(|at| from + at + 1).ok_or_else(|| lines.join("\n"))
        })
    }

    #[track_caller]
    fn stops(mut self, signal: &str, code: i32) -> String {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args([signal, &id]).status().unwrap();
        let status = wait_for("the watch ends", Duration::from_secs(10), || {
            self.child.try_wait().unwrap().ok_or_else(|| "it runs".to_owned())
        });
        assert_eq!(status.code(), Some(code));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut text).unwrap();
        text
    }
}

#[test]
fn a_watch_tells_each_change_and_outlives_its_cluster() {
    let (world, proxy) = proxied("watch", "web:1");
    let watch = Watch::start(&world, &[]);
    let documents = Watch::start(&world, &["-o", "json"]);
    let is = |state: &'static str| {
        move |line: &str| {
            let document: Value = serde_json::from_str(line).unwrap();
            assert_eq!(document["schema"], "mcd.dev/watch/v1");
            assert!(document["time"].is_string() && document["target"] == "us-east");
            document["state"] == state
        }
    };
    let at = watch.shows(0, "not deployed", |l| l.contains("us-east  NotDeployed"));
    assert_eq!(at, 1, "the first line is how it stands");
    let from = documents.shows(0, "not deployed", is("not-deployed"));
    world.ok(0, &["apply", "-y"]);
    let healthy = |l: &str| l.contains("Healthy       release 1  2/2 ready");
    let at = watch.shows(at, "healthy", healthy);
    let from = documents.shows(from, "healthy", is("healthy"));
    proxy.refuse();
    let at = watch.shows(at, "gone", |l| l.contains("Unreachable") && l.contains("refused"));
    let from = documents.shows(from, "gone", is("unreachable"));
    proxy.open();
    let at = watch.shows(at, "back", healthy);
    documents.shows(from, "back", is("healthy"));
    world.kubectl("us-east", &["scale", "deployment", "web", "--replicas=3"]);
    watch.shows(at, "scaled", |l| l.contains("3/3 ready"));
    let said = watch.stops("-INT", 130);
    assert_eq!(said, "", "all of it is on stdout");
    documents.stops("-TERM", 143);
    world.ok(3, &["status", "--watch", "--wait"]).says("cannot be used with");
}

/// A server that is lost during a wait: told when that begins and when it ends, not each time.
#[test]
fn a_lost_server_is_told_once_and_so_is_its_return() {
    let (world, proxy) = proxied("lost", "web:never-ready");
    let child = world.start(&["apply", "-y", "--timeout=60s"]);
    wait_for("the wait begins", Duration::from_secs(60), || {
        world
            .exists("us-east", "deployment", "web")
            .then_some(())
            .ok_or_else(|| "no deployment".to_owned())
    });
    let waits = |n: usize| {
        let lists = proxy.requests().iter().filter(|r| r.path.contains("/pods?")).count();
        (lists >= n).then_some(()).ok_or_else(|| format!("{lists} looks"))
    };
    wait_for("looks at pods", Duration::from_secs(60), || waits(1));
    proxy.refuse();
    let lost = std::time::Instant::now();
    wait_for("six seconds without a server", Duration::from_secs(20), || {
        (lost.elapsed() > Duration::from_secs(6)).then_some(()).ok_or_else(|| "not yet".to_owned())
    });
    let before = proxy.requests().iter().filter(|r| r.path.contains("/pods?")).count();
    proxy.open();
    wait_for("looks at pods again", Duration::from_secs(30), || waits(before + 1));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let run = crate::support::Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{run}");
    assert_eq!(run.stderr.matches("trying again").count(), 1, "{run}");
    assert_eq!(run.stderr.matches("the server answers again, after ").count(), 1, "{run}");
}
