//! Going back: the whole object set of an earlier release, without tools and without the repository
//! it came from; itself a release.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::{Bed, Match, Proxy, wait_for};

use crate::support::{HPA, Run, World, web};

const SECRET: &str = "---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: PASSWORD}
";

/// Two releases that differ in all that a rollback has to bring back.
fn two(prefix: &str, clusters: &[&str]) -> World {
    let world = World::new(prefix);
    world.plain(clusters);
    world.write("k8s/all.yaml", &(web("web:1") + &SECRET.replace("PASSWORD", "first-horse")));
    world.ok(0, &["apply", "-y"]);
    let second = web("web:2").replace("hello", "good evening").replace("port: 80", "port: 81");
    world.write("k8s/all.yaml", &(second + &SECRET.replace("PASSWORD", "second-horse")));
    world.ok(0, &["apply", "-y"]);
    world
}

fn is_first(world: &World, cluster: &str) {
    let live = |kind: &str| world.live(cluster, kind, "web");
    assert_eq!(image(world, cluster), "web:1");
    assert_eq!(live("configmap")["data"], json!({"greeting": "hello"}));
    assert_eq!(live("secret")["data"]["password"], "Zmlyc3QtaG9yc2U=");
    assert_eq!(live("service")["spec"]["ports"][0]["port"], 80);
}

fn image(world: &World, cluster: &str) -> Value {
    let live = world.live(cluster, "deployment", "web");
    live["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

fn releases(world: &World) -> Vec<Value> {
    let history = world.ok(0, &["history", "-o", "json"]).json();
    history["targets"][0]["releases"].as_array().unwrap().clone()
}

/// From another folder, with nothing of the repository but the two files: the manifests are gone,
/// and there is no tool on PATH.
#[test]
fn everything_comes_back_without_the_repository() {
    let world = two("back", &["us-east", "us-west"]);
    std::fs::remove_dir_all(world.path().join("k8s")).unwrap();

    let dry = world.ok(0, &["rollback", "--dry-run"]);
    dry.says("2 → 1").says("~ Deployment").says("greeting").says("*** (before) → *** (after)");
    dry.hides("horse")
        .says("Plan: 0 to create, 8 to change, 0 to delete, 0 unchanged in 2 targets.");
    assert_eq!(image(&world, "us-east"), "web:2");

    let plan = world.ok(0, &["rollback", "--dry-run", "-o", "json"]).json();
    assert_eq!(plan["schema"], "mcd.dev/plan/v1");
    assert_eq!(plan["targets"][1]["rollback"], json!({"from": 2, "to": 1}));

    let run = world.ok(0, &["rollback", "-y", "-o", "json"]);
    run.hides("horse");
    let report = run.json();
    assert_eq!(report["schema"], "mcd.dev/rollback/v1");
    assert_eq!(report["exitCode"], 0);
    for target in report["targets"].as_array().unwrap() {
        assert_eq!(target["state"], "healthy", "{report:#}");
        assert_eq!(target["release"], 3);
        assert_eq!(target["rollback"], json!({"from": 2, "to": 1}));
        assert_eq!(target["objects"], json!({"configured": 4}));
    }
    is_first(&world, "us-east");
    is_first(&world, "us-west");
    world.ok(0, &["status"]).says("Healthy").says("3");
    world.ok(0, &["history"]).says("rollback to 1: 4 written");

    // What runs is release 1 again: nothing to do, however often it is asked for.
    let again = world.ok(0, &["rollback", "--to", "1", "-y"]);
    again.says("nothing to do: 4 unchanged");
    assert_eq!(releases(&world).len(), 3);
}

/// The pods of release 1 come back by the ReplicaSet that they had: nothing else restarts.
#[test]
fn the_old_replica_set_is_used_again() {
    let world = two("replicasets", &["us-east"]);
    let sets = || {
        let text = world.kubectl("us-east", &["get", "rs", "-o", "json"]);
        let list: Value = serde_json::from_str(&text).unwrap();
        list["items"].as_array().unwrap().len()
    };
    assert_eq!(sets(), 2);
    world.ok(0, &["rollback", "-y"]).says("back to release 1: 4 configured");
    assert_eq!(sets(), 2);
}

/// A rollback never goes forward again, and says what else there is.
#[test]
fn rolling_back_twice_goes_further_back() {
    let world = World::new("twice");
    world.plain(&["us-east"]);
    for image in ["web:1", "web:2", "web:3"] {
        world.write("k8s/all.yaml", &web(image));
        world.ok(0, &["apply", "-y"]);
    }
    world.ok(0, &["rollback", "-y"]).says("back to release 2");
    world.ok(0, &["rollback", "-y"]).says("back to release 1");
    assert_eq!(image(&world, "us-east"), "web:1");
    let end = world.ok(1, &["rollback", "-y"]);
    end.says("there is no release before release 5").says("it repeats release 1");
    end.says("`--to N` goes to any of 1, 2, 3, 4").says("nothing was written");
    world.ok(0, &["rollback", "--to", "3", "-y"]).says("back to release 3");
    assert_eq!(image(&world, "us-east"), "web:3");
    let of: Vec<Value> = releases(&world).iter().map(|r| r["rollbackOf"].clone()).collect();
    assert_eq!(of, [json!(3), json!(1), json!(2), Value::Null, Value::Null, Value::Null]);
}

#[test]
fn numbers_that_cannot_be_gone_back_to() {
    let world = two("numbers", &["us-east"]);
    let negative = world.ok(3, &["rollback", "--to", "-1", "-y"]);
    negative.says("releases are counted from 1; `mcd history` lists them");
    for (verb, number) in [("rollback", "--to=7"), ("diff", "--release=7")] {
        let yes: &[&str] = if verb == "rollback" { &["-y"] } else { &[] };
        let run = world.ok(3, &[&[verb, number], yes].concat());
        run.says("us-east").says("there is no release 7").says("there are 1, 2");
    }
    world.ok(3, &["rollback", "--to", "0", "-y"]).says("counted from 1");
    world.ok(3, &["rollback", "--to", "x", "-y"]).says("invalid value 'x'");
    world.ok(3, &["rollback", "--to", "-1", "-y"]);
    // Without a terminal nothing can be asked.
    world.ok(3, &["rollback"]).says("-y");

    // One whose Secret somebody deleted. Nobody asked for its number, so it is the target's failure.
    world.kubectl("us-east", &["delete", "secret", "mcd-release.web.1"]);
    let run = world.ok(1, &["rollback", "-y"]);
    run.says("release 1 is gone: its Secret was deleted").says("there is release 2");
    world.ok(3, &["rollback", "--to", "1", "-y"]);
    assert_eq!(image(&world, "us-east"), "web:2");
}

/// A target that has no earlier release is named; the others go on only when that is asked for.
#[test]
fn a_target_without_an_earlier_release() {
    let world = two("new-target", &["us-east"]);
    world.plain(&["us-east", "eu-west"]);
    world.ok(0, &["apply", "-y", "-t", "eu-west"]);
    let run = world.ok(1, &["rollback", "-y"]);
    run.says("eu-west").says("there is no release before release 1").says("nothing was written");
    assert_eq!(image(&world, "us-east"), "web:2");
    let run = world.ok(1, &["rollback", "-y", "--keep-going", "-o", "json"]).json();
    assert_eq!(run["targets"][0]["release"], 3, "{run:#}");
    assert_eq!(run["targets"][1]["state"], "failed", "{run:#}");
    assert_eq!(image(&world, "us-east"), "web:1");
    assert_eq!(image(&world, "eu-west"), "web:2");
    // Not deployed at all.
    world.plain(&["us-east", "us-west"]);
    world.ok(1, &["rollback", "--dry-run"]).says("us-west").says("`mcd apply` makes the first one");
}

/// Autoscaled replicas are the autoscaler's, in either direction.
#[test]
fn autoscaled_replicas_stay() {
    let world = World::new("back-hpa");
    world.plain(&["us-east"]);
    for image in ["web:1", "web:2"] {
        world.write("k8s/all.yaml", &(web(image) + HPA));
        world.ok(0, &["apply", "-y"]);
    }
    world.kubectl("us-east", &["scale", "deployment/web", "--replicas=5"]);
    world.ok(0, &["rollback", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!((image(&world, "us-east"), &live["spec"]["replicas"]), (json!("web:1"), &json!(5)));
}

/// What only later releases made goes, what they pruned comes back, what nobody released stays.
#[test]
fn what_came_later_goes_and_what_was_pruned_comes_back() {
    let world = World::new("back-prune");
    world.plain(&["us-east"]);
    let map = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {name}}}\n"
        )
    };
    world.write("k8s/all.yaml", &(web("web:1") + &map("old") + HPA));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &(web("web:1") + &map("new") + &map("kept")));
    world.ok(0, &["apply", "-y"]).says("configmap/old deleted");
    world.kubectl("us-east", &["create", "configmap", "foreign"]);
    world.kubectl("us-east", &["annotate", "configmap", "kept", "mcd.dev/protect=true"]);

    let dry = world.ok(0, &["rollback", "--dry-run"]);
    dry.says("+ ConfigMap").says("/old").says("- ConfigMap").says("/new").says("+ HorizontalPod");
    world.ok(1, &["diff", "--release", "1"]).says("-  name: new").says("+  name: old");
    let report = world.ok(0, &["rollback", "-y", "-o", "json"]).json();
    let objects = &report["targets"][0]["objects"];
    assert_eq!((&objects["created"], &objects["deleted"]), (&json!(2), &json!(1)), "{report:#}");
    for (name, there) in [("old", true), ("new", false), ("kept", true), ("foreign", true)] {
        assert_eq!(world.exists("us-east", "configmap", name), there, "{name}");
    }
    assert!(world.exists("us-east", "hpa", "web"));
    world.ok(0, &["diff", "--release", "1"]);
    world.ok(0, &["diff", "--release", "1", "--verify"]);

    // What stays is asked for once more, and the flag keeps it.
    world.ok(0, &["rollback", "--to", "2", "--prune=false", "-y"]);
    assert!(world.exists("us-east", "configmap", "old") && world.exists("us-east", "hpa", "web"));
    assert!(world.exists("us-east", "configmap", "new"));
}

/// What somebody deleted, and made again, is judged as in an apply.
#[test]
fn objects_made_again_by_hand() {
    let world = two("by-hand", &["us-east"]);
    world.kubectl("us-east", &["delete", "configmap", "web"]);
    world.kubectl("us-east", &["create", "configmap", "web", "--from-literal=extra=1"]);
    world.kubectl("us-east", &["delete", "service", "web"]);
    let run = world.ok(0, &["rollback", "-y"]);
    run.says("takes over from kubectl-create").says("+ Service");
    is_first(&world, "us-east");
    world.ok(0, &["diff", "--release", "1"]);
}

/// A release that failed halfway is undone by going back to the one that is active.
#[test]
fn a_failed_release_is_undone() {
    let world = two("failed", &["us-east"]);
    let third = web("web:3").replace("port: 80", "port: 81");
    // A Service whose address is taken is refused only when it is written; configuration came first.
    let taken = world.live("us-east", "service", "web")["spec"]["clusterIP"].clone();
    let other = format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: other}}\nspec:\n  clusterIP: {}\n  \
         selector: {{app: web}}\n  ports: [{{port: 80}}]\n",
        taken.as_str().unwrap()
    );
    world.write("k8s/all.yaml", &(third.replace("hello", "half a release") + &other));
    world.ok(4, &["apply", "-y"]);
    let last = &releases(&world)[0];
    assert_eq!((&last["number"], &last["state"]), (&json!(3), &json!("failed")));
    let greeting = || world.live("us-east", "configmap", "web")["data"]["greeting"].clone();
    assert_eq!(greeting(), "half a release");

    world.ok(3, &["rollback", "--to", "3", "-y"]).says("release 3 failed").says("there are 1, 2");
    world.ok(0, &["rollback", "-y"]).says("2 → 2").says("back to release 2: 1 configured");
    assert_eq!(greeting(), "good evening");
    assert_eq!(image(&world, "us-east"), "web:2");
    // What was undone does not count: the next one goes to the first release.
    world.ok(0, &["rollback", "-y"]).says("4 → 1");
    is_first(&world, "us-east");
}

/// `diff --release` is what a rollback would change, and needs no manifests.
#[test]
fn a_diff_against_a_release() {
    let world = two("diff", &["us-east"]);
    std::fs::remove_dir_all(world.path().join("k8s")).unwrap();
    let run = world.ok(1, &["diff", "--release", "1"]);
    run.says("+++ release 1").says("-        image: web:2").says("+        image: web:1");
    run.hides("horse").hides("Zmlyc3Q").says("*** (after)");
    world.ok(0, &["diff", "--release", "2"]);
    let json = world.ok(1, &["diff", "--release", "1", "-o", "json"]).json();
    assert_eq!(json["targets"][0]["counts"]["change"], 4, "{json:#}");
}

/// The audit log: who, from where, from what, how it ended.
#[test]
fn the_history_as_an_audit_log() {
    let world = World::new("audit");
    world.application(
        &["us-east"],
        "vars: {tag: {default: \"1\"}}\nrender: {manifests: [k8s/]}\n\
         images: [{name: web, newTag: \"{{ vars.tag }}\"}]\n",
    );
    world.write("k8s/all.yaml", &(web("web:0") + &SECRET.replace("PASSWORD", "first-horse")));
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let all: Vec<&str> = identity.iter().chain(args).copied().collect();
        let ran = std::process::Command::new("git").args(all).current_dir(world.path()).output();
        assert!(ran.unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    let mut command = world.command(&["apply", "-y", "--var", "tag=7"]);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_ACTOR", "alice");
    assert!(command.output().unwrap().status.success());
    world.write("k8s/all.yaml", &web("web:0"));
    let mut command = world.command(&["apply", "-y"]);
    command.env("USER", "bob");
    assert!(command.output().unwrap().status.success());
    let mut command = world.command(&["rollback", "-y"]);
    command.env("USER", "carol");
    assert!(command.output().unwrap().status.success());

    let log = releases(&world);
    let of = |number: usize, key: &str| log[3 - number][key].clone();
    assert_eq!(of(1, "by")["user"], "alice", "{log:#?}");
    assert_eq!(of(1, "by")["ci"], "GitHub Actions");
    assert_eq!(of(1, "source")["commit"].as_str().unwrap().len(), 40);
    assert_eq!(
        (of(1, "source")["dirty"].clone(), of(2, "source")["dirty"].clone()),
        (json!(false), json!(true))
    );
    assert_eq!(of(1, "vars"), json!({"tag": "7"}));
    assert_eq!(of(2, "by")["user"], "bob");
    assert_eq!(of(2, "state"), "superseded");
    // Who went back, and what was rendered then.
    assert_eq!(of(3, "by")["user"], "carol");
    assert_eq!(of(3, "source"), of(1, "source"));
    assert_eq!(of(3, "vars"), json!({"tag": "7"}));
    assert_eq!((of(3, "rollbackOf"), of(3, "state")), (json!(1), json!("active")));
    let time = |key: &str| of(3, key).as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(time("started") <= time("finished"));
    assert_eq!(of(3, "mcd"), env!("CARGO_PKG_VERSION"));

    let show = world.ok(0, &["history", "show", "1"]);
    show.says("alice on ")
        .says("GitHub Actions")
        .says("tag=7")
        .says("Secret")
        .says("1, superseded");
    show.hides("horse");
    let yaml = world.ok(0, &["history", "show", "1", "--manifests"]);
    yaml.says("image: web:7").says("password: \"***\"").hides("horse").hides("Zmlyc3Q");
    let json = world.ok(0, &["history", "show", "3", "-o", "json"]).json();
    assert_eq!(json["schema"], "mcd.dev/release/v1");
    let target = &json["targets"][0];
    assert_eq!(target["release"]["rollbackOf"], 1);
    assert_eq!(target["contents"][0]["apiVersion"], "apps/v1");
    assert_eq!(target["contents"].as_array().unwrap().len(), 4);
    assert!(target["manifests"].is_null());
    let names = world.ok(0, &["history", "show", "1", "-o", "name", "-t", "us-east"]);
    names.says("us-east deployment.apps/web");
    world.ok(3, &["history", "show", "9"]).says("there is no release 9");
    world.ok(3, &["history", "show"]).says("<N>");
}

/// A cluster that no longer serves a version is sent another one; one that does not serve the kind
/// at all is said before anything is written.
#[test]
fn versions_and_kinds_that_are_gone() {
    let world = World::new("versions");
    let group = format!("{}.example.com", world.namespace.name());
    let definition = |served: &[&str]| {
        let versions: Vec<Value> = ["v1alpha1", "v1"]
            .iter()
            .map(|v| {
                json!({"name": v, "served": served.contains(v), "storage": *v == "v1",
                "schema": {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}})
            })
            .collect();
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("dbs.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "versions": versions,
                "names": {"kind": "Db", "listKind": "DbList", "plural": "dbs", "singular": "db"}}})
        .to_string()
    };
    let crd = format!("crd/dbs.{group}");
    let apply = |served: &[&str]| {
        world.kubectl_apply("us-east", &definition(served));
        world.kubectl("us-east", &["wait", "--for=condition=Established", &crd]);
        wait_for("the versions are served", Duration::from_secs(30), || {
            let output = world
                .bed
                .kubectl(world.cluster("us-east"), &["get", "--raw", &format!("/apis/{group}")]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let all = ["v1alpha1", "v1"];
            let right = all
                .iter()
                .all(|v| text.contains(&format!("\"version\":\"{v}\"")) == served.contains(v));
            if right { Ok(()) } else { Err(text) }
        });
    };
    apply(&["v1alpha1", "v1"]);
    world.plain(&["us-east"]);
    let db = |version: &str, size: u32| {
        format!(
            "---\napiVersion: {group}/{version}\nkind: Db\nmetadata: {{name: db}}\nspec: {{size: {size}}}\n"
        )
    };
    world.write("k8s/all.yaml", &(web("web:1") + &db("v1alpha1", 1)));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &(web("web:2") + &db("v1", 2)));
    world.ok(0, &["apply", "-y"]);

    apply(&["v1"]);
    let run = world.ok(0, &["rollback", "-y"]);
    run.says(&format!("release 1 has Db in {group}/v1alpha1"));
    run.says(&format!("{group}/v1 is sent"));
    let live = world.live("us-east", &format!("dbs.{group}"), "db");
    assert_eq!(live["spec"]["size"], 1);
    assert_eq!(image(&world, "us-east"), "web:1");

    world.kubectl("us-east", &["delete", &crd]);
    let before = world.live("us-east", "deployment", "web")["metadata"]["generation"].clone();
    let run = world.ok(4, &["rollback", "--to", "2", "-y"]);
    run.says("Db ").says("/db").says("does not serve its kind `Db` any more");
    let after = world.live("us-east", "deployment", "web")["metadata"]["generation"].clone();
    assert_eq!(before, after, "nothing was written");
}

/// Two at once on one target: one goes back, the other is told who does; nothing goes back twice.
#[test]
fn two_at_once_and_during_an_apply() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("back-race", &[proxy.context()]);
    world.plain(&["us-east"]);
    for image in ["web:1", "web:2", "web:3"] {
        world.write("k8s/all.yaml", &web(image));
        world.ok(0, &["apply", "-y"]);
    }
    let hold = proxy.hold(Match::writes().path("/deployments/"));
    let first = world.start(&["rollback", "-y"]);
    hold.wait(Duration::from_secs(30));
    for verb in ["rollback", "apply"] {
        world.ok(6, &[verb, "-y"]).says("us-east").says("locked by");
    }
    hold.release();
    let run = Run::of(first.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(image(&world, "us-east"), "web:2");

    world.write("k8s/all.yaml", &web("web:5"));
    let hold = proxy.hold(Match::writes().path("/deployments/"));
    let apply = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    world.ok(6, &["rollback", "-y"]).says("locked by");
    hold.release();
    assert_eq!(Run::of(apply.wait_with_output().unwrap()).code, 0);

    // Four that start together end as one or two: each sees what the one before has done.
    let runs: Vec<Run> = (0..4)
        .map(|_| world.start(&["rollback", "--to", "1", "-y"]))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|child| Run::of(child.wait_with_output().unwrap()))
        .collect();
    assert!(runs.iter().all(|run| [0, 6].contains(&run.code)), "{}", runs[0]);
    assert!(runs.iter().any(|run| run.code == 0), "{}", runs[0]);
    assert_eq!(image(&world, "us-east"), "web:1");
    let again = releases(&world).iter().filter(|r| r["rollbackOf"] == 1).count();
    assert_eq!(again, 1, "the others found nothing to do, or a plan that no longer holds");
}
