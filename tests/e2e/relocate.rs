//! An application that moves: its state to another namespace, its objects to another namespace, or
//! itself to another name. `--move-from` brings along what was there.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::{Bed, KillSwitch, Proxy, TestNamespace, When, wait_for};

use crate::support::{Run, World, web};

const SECRET: &str = "---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: correct-horse}
";

/// Writes the files of an application: its name, and further keys.
fn files(world: &World, app: &str, keys: &str) {
    world.application(&["us-east"], keys);
    let path = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, text.replace("{name: web}", &format!("{{name: {app}}}"))).unwrap();
}

const MANIFESTS: &str = "render: {manifests: [k8s/]}\n";

fn state_in(namespace: &str) -> String {
    format!("stateNamespace: {namespace}\n{MANIFESTS}")
}

/// Names of objects of some kinds in a namespace, by their label.
fn names(world: &World, namespace: &str, kinds: &str, label: &str) -> Vec<String> {
    let args = ["-n", namespace, "get", kinds, "-l", label, "-o", "name"];
    let output = world.bed.kubectl(world.cluster("us-east"), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The objects of an application's state in a namespace. Parts of releases that hold Secrets of
/// another namespace than the state's are in that one, and belong to the state all the same.
fn state(world: &World, namespace: &str) -> Vec<String> {
    let mut all = names(world, namespace, "secrets", "mcd.dev/state");
    all.extend(names(world, namespace, "leases", "mcd.dev/state"));
    all.retain(|name| !name.contains("mcd-release.") || name.split('.').count() < 5);
    all
}

/// Who applies an object of the test's namespace.
fn appliers(world: &World, kind: &str) -> Vec<String> {
    let live = world.live("us-east", kind, "web");
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let applies = entries.iter().filter(|e| e["operation"] == "Apply");
    applies.map(|e| e["manager"].as_str().unwrap().to_owned()).collect()
}

/// Two releases with state beside the objects; then the files say another namespace for it.
fn two_releases(prefix: &str) -> (World, TestNamespace) {
    let world = World::new(prefix);
    let to = world.bed.namespace(&format!("{prefix}-state"));
    files(&world, prefix, MANIFESTS);
    for image in ["web:1", "web:2"] {
        world.write("k8s/all.yaml", &(web(image) + SECRET));
        world.ok(0, &["apply", "-y"]);
    }
    files(&world, prefix, &state_in(to.name()));
    (world, to)
}

#[test]
fn the_state_moves_with_its_releases_and_nothing_restarts() {
    let (world, to) = two_releases("roam");
    let (old, new) = (world.namespace.name().to_owned(), to.name().to_owned());
    let from = format!("{old}/roam");

    // Without the flag it is somebody else's, and both what is there and the way out are said.
    let run = world.ok(6, &["plan"]);
    run.says(&format!("it belongs to the application `{from}`"));
    run.says(&format!("bring it here with `--move-from {from}`"));
    run.says(&format!("`roam` has one in `{old}` (`--move-from {from}`)"));
    world.ok(6, &["apply", "-y"]).says("nothing was written");
    world.ok(3, &["plan", "--move-from", "a/b/c"]).says("NAMESPACE");

    let plan = world.ok(2, &["plan", "--move-from", &old, "--detailed-exitcode"]);
    plan.says(&format!("> state of {from}: record, key and 2 releases move here"));
    plan.says(&format!("{old}.roam → {new}.{old}.roam"));
    plan.says("Plan: 0 to create, 4 to change, 0 to delete, 0 unchanged in 1 target.");
    let plan = world.ok(0, &["plan", "--move-from", &from, "-o", "json"]).json();
    assert_eq!(plan["targets"][0]["moves"], json!({"from": from, "releases": 2}), "{plan:#}");
    assert!(!state(&world, &old).is_empty() && state(&world, &new).is_empty());

    let before = world.live("us-east", "deployment", "web");
    world.ok(0, &["apply", "--move-from", &old, "-y"]).says("Healthy").hides("correct-horse");
    let after = world.live("us-east", "deployment", "web");
    assert_eq!(before["metadata"]["generation"], after["metadata"]["generation"], "no restart");
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(after["metadata"]["labels"]["mcd.dev/app"], format!("{new}.{old}.roam"));
    for kind in ["deployment", "service", "configmap", "secret"] {
        assert_eq!(appliers(&world, kind), [format!("mcd:{new}/{old}.roam")], "{kind}");
    }
    assert_eq!(state(&world, &old), [""; 0], "the old state is gone");
    let secret = |name: &str| format!("secret/{name}.{old}.roam");
    let mut expected: Vec<String> =
        (1..=3).map(|n| format!("{}.{n}", secret("mcd-release"))).collect();
    expected.extend([secret("mcd"), secret("mcd-key")]);
    expected.push(format!("lease.coordination.k8s.io/mcd.{old}.roam"));
    let mut found = state(&world, &new);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);

    // Nothing is left to do, with the flag or without, and history goes on.
    world.ok(0, &["plan", "--detailed-exitcode"]);
    world.ok(0, &["plan", "--detailed-exitcode", "--move-from", &old]);
    world.ok(0, &["diff", "--verify"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    let releases = history["targets"][0]["releases"].as_array().unwrap();
    let states: Vec<(u64, &str)> = releases
        .iter()
        .map(|r| (r["number"].as_u64().unwrap(), r["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [(3, "active"), (2, "superseded"), (1, "superseded")]);
    world.ok(0, &["rollback", "--to", "1", "-y"]).says("back to release 1").says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    world.ok(0, &["delete", "-y"]).says("4 deleted");
    assert_eq!(state(&world, &new), [""; 0]);
}

/// `namespace` changes and the state stays: what was there is shown, and goes when what is here is
/// healthy (T7).
#[test]
fn objects_of_another_namespace_follow() {
    let world = World::new("follow");
    let to = world.bed.namespace("follow-to");
    let (old, new) = (world.namespace.name().to_owned(), to.name().to_owned());
    let keys = format!("{}createNamespace: false\n", state_in(&old));
    files(&world, "follow", &keys);
    let elsewhere =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed, namespace: NAMESPACE}\n";
    world.write("k8s/all.yaml", &(web("web:1") + elsewhere));
    world.ok(0, &["apply", "-y"]);
    let path = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace(&format!("\nnamespace: {old}"), &format!("\nnamespace: {new}")),
    )
    .unwrap();
    // The name of the record has the namespace in it, so it is looked for in the same place.
    let plan = world.ok(2, &["plan", "--move-from", &old, "--detailed-exitcode"]);
    plan.says(&format!("> state of {old}/{old}.follow: record, key and 1 release move here"));
    for kind in ["Deployment", "Service", "ConfigMap"] {
        plan.says(&format!("  - {kind} {old}/web  (left the manifests)"));
        plan.says(&format!("  + {kind} {new}/web"));
    }
    plan.says("Plan: 3 to create, 1 to change, 3 to delete, 0 unchanged in 1 target.");

    // While the new pods are not ready nothing of the old ones goes.
    let slow = web("web:1").replace(
        "metadata: {labels: {app: web}}",
        "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/pod: never-ready}}",
    );
    world.write("k8s/all.yaml", &(slow + elsewhere));
    let run = world.ok(1, &["apply", "--move-from", &old, "-y", "--timeout", "2s"]);
    run.says("left the manifests and will be deleted by an apply that ends healthy");
    assert!(world.exists("us-east", "deployment", "web"), "the old one serves");
    world.write("k8s/all.yaml", &(web("web:1") + elsewhere));
    world.ok(0, &["plan"]).says(&format!("- Deployment {old}/web"));
    world.ok(0, &["apply", "-y"]).says("Healthy").says("deployment.apps/web deleted");
    assert!(!world.exists("us-east", "deployment", "web"));
    assert!(world.exists("us-east", "configmap", "fixed"), "it names its own namespace");
    assert_eq!(names(&world, &new, "deployments,services,configmaps", "mcd.dev/app").len(), 3);
    assert_eq!(
        names(&world, &old, "secrets", "mcd.dev/state"),
        [
            format!("secret/mcd-key.{new}.follow"),
            format!("secret/mcd-release.{new}.follow.1"),
            format!("secret/mcd-release.{new}.follow.2"),
            format!("secret/mcd-release.{new}.follow.3"),
            format!("secret/mcd.{new}.follow"),
        ]
    );
    world.ok(0, &["plan", "--detailed-exitcode"]);
    world.ok(0, &["diff", "--verify"]);
}

/// An object whose manifest names another namespace than before is another object.
#[test]
fn an_object_that_names_another_namespace() {
    let world = World::new("step");
    let to = world.bed.namespace("step-to");
    let (old, new) = (world.namespace.name().to_owned(), to.name().to_owned());
    world.plain(&["us-east"]);
    let map = |namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map, namespace: {namespace}}}\n"
        )
    };
    world.write("k8s/all.yaml", &(web("web:1") + &map(&old)));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &(web("web:1") + &map(&new)));
    let plan = world.ok(0, &["plan"]);
    plan.says(&format!("- ConfigMap {old}/map  (left the manifests)"));
    plan.says(&format!("+ ConfigMap {new}/map"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    assert!(!world.exists("us-east", "configmap", "map"));
    assert_eq!(names(&world, &new, "configmaps", "mcd.dev/app"), ["configmap/map"]);
    world.ok(0, &["plan", "--detailed-exitcode"]);
}

/// Under another name it is another application; the refusal says which one it was.
#[test]
fn an_application_that_was_renamed() {
    let world = World::new("renamed");
    let namespace = world.namespace.name().to_owned();
    files(&world, "before", MANIFESTS);
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    files(&world, "after", MANIFESTS);
    let run = world.ok(6, &["apply", "-y"]);
    run.says(&format!("it belongs to the application `{namespace}/before`"));
    run.says(&format!("where `{namespace}/before` is what this one was called"));
    let from = format!("{namespace}/before");
    run.says(&format!("`--move-from {from}`"));
    world.ok(0, &["apply", "--move-from", &from, "-y"]).says("Healthy");
    assert_eq!(appliers(&world, "deployment"), [format!("mcd:{namespace}/after")]);
    assert!(state(&world, &namespace).iter().all(|name| name.contains("after")));
    world.ok(0, &["history"]).says("superseded");
    world.ok(0, &["diff", "--verify"]);
    // Nothing of it is there under the old name.
    files(&world, "before", MANIFESTS);
    world.ok(0, &["status"]).says("NotDeployed");
}

/// A flag that finds nothing moves nothing, and two records are never made one.
#[test]
fn what_cannot_be_moved() {
    let (world, to) = two_releases("stuck");
    let (old, new) = (world.namespace.name().to_owned(), to.name().to_owned());
    let nothing = world.ok(6, &["plan", "--move-from", "kube-public"]);
    nothing.says("nothing to move here: no record was found");
    // Another deployment of the name, with a record of its own.
    world.write("k8s/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    world.ok(0, &["apply", "-y"]);
    let two = world.ok(6, &["apply", "--move-from", &old, "-y"]);
    two.says("the application has a record already").says(&format!("`{old}/stuck` has one too"));
    assert_eq!(state(&world, &old).len(), 5, "record, key, two releases, lock");
    assert_eq!(state(&world, &new).len(), 4);
}

/// Whoever still has the old files while a move is under way neither writes nor deletes.
#[test]
fn a_move_killed_at_every_write_is_finished_by_the_next() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("roam-crash", &[proxy.context()]);
    let to = world.bed.namespace("roam-crash-state");
    let (old, new) = (world.namespace.name().to_owned(), to.name().to_owned());
    world.write("k8s/all.yaml", &(web("web:1") + SECRET));
    let before = || files(&world, "roam", MANIFESTS);
    let after = || files(&world, "roam", &state_in(&new));
    let args = ["apply", "--move-from", &old, "-y"];
    let mut points = 0;
    for n in 1.. {
        before();
        world.ok(0, &["apply", "-y"]);
        after();
        proxy.clear_log();
        let switch = KillSwitch::at_write(n, When::After);
        proxy.attach(&switch);
        let child = world.start(&args);
        switch.target(&child);
        let run = Run::of(child.wait_with_output().unwrap());
        let writes = proxy.writes();
        proxy.heal();
        let killed = run.code != 0;
        if killed {
            assert_eq!(run.code, 137, "write {n} of {writes:?}\n{run}");
            wait_for("the switch", Duration::from_secs(5), || {
                if switch.fired() { Ok(()) } else { Err("not fired".to_owned()) }
            });
            // The old files: as if nothing had happened, or a refusal that says what is under way.
            before();
            let stale = world.mcd(&["delete", "--dry-run"]);
            assert!([0, 6].contains(&stale.code), "after {writes:?}\n{stale}");
            if stale.code == 6 {
                stale.says(&format!("its state is being moved to `{new}/{old}.roam`"));
                world.ok(6, &["apply", "-y"]).says("its state is being moved to");
            }
            after();
            world.ok(0, &args).says("Healthy");
            points += 1;
        } else {
            assert!(n > 15, "locks, records, key, releases, objects: {writes:?}");
        }
        assert_eq!(state(&world, &old), [""; 0], "after {writes:?}");
        for kind in ["deployment", "service", "configmap", "secret"] {
            assert_eq!(appliers(&world, kind), [format!("mcd:{new}/{old}.roam")], "{kind}");
        }
        world.ok(0, &["plan", "--detailed-exitcode"]);
        world.ok(0, &["diff", "--verify"]);
        let history = world.ok(0, &["history", "-o", "json"]).json();
        let releases = history["targets"][0]["releases"].as_array().unwrap();
        assert_eq!(releases[0]["state"], "active", "{history:#}");
        assert_eq!(releases.last().unwrap()["number"], json!(1), "{history:#}");
        let active: Vec<&Value> = releases.iter().filter(|r| r["state"] == "active").collect();
        assert_eq!(active.len(), 1, "{history:#}");
        world.ok(0, &["delete", "-y"]);
        assert_eq!(state(&world, &new), [""; 0]);
        if !killed {
            break;
        }
    }
    eprintln!("{old}: a move killed at {points} points");
}
