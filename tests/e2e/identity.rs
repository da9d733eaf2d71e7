//! The pin of a cluster: a context that leads elsewhere is refused before anything is read or
//! written; clusters that are found rather than listed.

use serde_json::{Value, json};
use testbed::{Bed, Context, Fault, Match, Proxy, Reply, User};

use crate::support::{World, web};

/// One cluster behind a proxy, with `pin` as its identity.
fn pinned(prefix: &str, user: User, pin: &Value) -> (World, Proxy) {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts(prefix, &[proxy.context().as_user(user)]);
    world.plain(&["us-east"]);
    pin_to(&world, pin);
    world.write("k8s/web.yaml", &web("web:1"));
    (world, proxy)
}

fn pin_to(world: &World, pin: &Value) {
    let header = "apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nclusters:\n";
    let cluster = json!({"name": "us-east", "labels": {"env": "test"}, "identity": pin});
    world.write("fleet.yaml", &format!("{header}- {cluster}\n"));
}

/// What doctor says could be pinned.
fn known(world: &World) -> Value {
    world.mcd(&["doctor", "-o", "json"]).json()["targets"][0]["identity"].clone()
}

/// No verb reads or writes anything; each says why.
fn is_refused(world: &World, proxy: &Proxy, asked: &[&str], words: &[&str]) {
    for args in [
        &["plan"][..],
        &["diff"],
        &["apply", "-y"],
        &["apply", "-y", "--keep-going"],
        &["status"],
        &["history"],
        &["delete", "-y"],
        &["unlock", "-y"],
        &["version"],
    ] {
        proxy.clear_log();
        let run = world.ok(3, args);
        run.says("leads to another cluster than `identity` says");
        for words in words {
            run.says(words);
        }
        let requests: Vec<String> = proxy.requests().into_iter().map(|r| r.path).collect();
        assert!(
            requests.iter().all(|path| asked.contains(&path.as_str())),
            "{args:?}: {requests:?}"
        );
    }
}

#[test]
fn what_the_kubeconfig_says_is_compared_before_anything_is_contacted() {
    let (world, proxy) = pinned("pin-local", User::Admin, &json!(null));
    let known = known(&world);
    let (server, ca) = (known["server"].clone(), known["ca"].clone());
    assert!(ca.as_str().unwrap().starts_with("sha256:"), "{known:#}");
    pin_to(&world, &json!({"server": server, "ca": ca}));
    world.ok(0, &["plan"]).says("3 to create");
    // With a slash at its end, as many kubeconfigs have it.
    pin_to(&world, &json!({"server": format!("{}/", server.as_str().unwrap())}));
    world.ok(0, &["plan"]);

    pin_to(&world, &json!({"server": "https://127.0.0.1:1", "ca": ca}));
    is_refused(&world, &proxy, &[], &["`server` is `https://127.0.0.1:", "`https://127.0.0.1:1`"]);
    let other = format!("sha256:{}", "0".repeat(64));
    pin_to(&world, &json!({"server": server, "ca": other}));
    is_refused(&world, &proxy, &[], &["`ca` is `sha256:", "mcd doctor -t us-east"]);
}

#[test]
fn what_only_the_server_knows_is_compared_before_anything_else_is_read() {
    let (world, proxy) = pinned("pin-server", User::Admin, &json!(null));
    let uid = known(&world)["kubeSystem"].clone();
    let live = world.cluster("us-east").get("/api/v1/namespaces/kube-system");
    assert_eq!(live["metadata"]["uid"], uid);
    pin_to(&world, &json!({"kubeSystem": uid}));
    world.ok(0, &["plan"]).says("3 to create");
    pin_to(&world, &json!({"kubeSystem": "not-this-one"}));
    let asked = ["/api/v1/namespaces/kube-system"];
    is_refused(&world, &proxy, &asked, &["`kubeSystem` is `", "`not-this-one`"]);
    let doctor = world.ok(1, &["doctor", "-o", "json"]).json();
    let checks = doctor["targets"][0]["checks"].as_array().unwrap();
    let state = |name: &str| checks.iter().find(|c| c["check"] == name).unwrap()["state"].clone();
    assert_eq!((state("identity"), state("plan")), (json!("fail"), json!("skipped")));

    // The cluster's id in its cluster set. Where there is none, it is not the cluster.
    pin_to(&world, &json!({"clusterProperty": "blue"}));
    world.ok(3, &["plan"]).says("`clusterProperty` is not there, and should be `blue`");
    let property = json!({"kind": "ClusterProperty", "apiVersion": "about.k8s.io/v1beta1", "spec": {"value": "blue"}});
    let reply = Reply::status(200).body("application/json", &property.to_string());
    let path = "/apis/about.k8s.io/v1beta1/clusterproperties/cluster.clusterset.k8s.io";
    proxy.inject(Match::any().path(path), Fault::Answer(reply));
    world.ok(0, &["plan"]).says("3 to create");
    pin_to(&world, &json!({"clusterProperty": "green"}));
    world.ok(3, &["apply", "-y"]).says("`clusterProperty` is `blue`, and should be `green`");
}

/// A pin that may not be read is never taken to hold.
#[test]
fn a_pin_that_may_not_be_read_is_said_to_be_so() {
    let (world, proxy) =
        pinned("pin-reader", User::named("pin-reader"), &json!({"kubeSystem": "x"}));
    for args in [&["plan"][..], &["apply", "-y"], &["status"]] {
        let run = world.ok(9, args);
        run.says("the identity of the cluster cannot be read").says("`pin-reader` cannot get");
        run.says("pin `server` and `ca`, which need no right");
    }
    assert_eq!(proxy.writes(), []);
    proxy.refuse();
    world.ok(9, &["plan"]).says("cannot be reached: connection refused");
}

#[test]
fn clusters_are_found_in_kubeconfigs_and_files() {
    let bed = Bed::shared();
    let contexts = ["us-east", "us-west", "eu-west"]
        .map(|name| Context::of(bed.cluster(name)).named(format!("test-{name}")));
    let world = World::with_contexts("found", &contexts);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.write(
        "fleet.yaml",
        "apiVersion: mcd.dev/v1alpha1\nkind: Fleet\ngenerators:\n\
         - kubeconfig: {contexts: \"test-us-*\", name: \"{{ context | replace('test-', '') }}\", labels: {env: test}}\n\
         - files: clusters/*.yaml\n",
    );
    world.write("clusters/eu.yaml", "name: eu\ncontext: test-eu-west\nlabels: {env: test}\n");
    let targets = world.ok(0, &["targets", "-o", "json"]).json();
    let origins = &targets["targets"][2]["origins"];
    assert_eq!(origins["cluster.context"], "clusters/eu.yaml:2 (generators[1])", "{targets:#}");
    assert_eq!(world.ok(0, &["targets", "-o", "name"]).stdout, "us-east\nus-west\neu\n");
    world.ok(0, &["apply", "-y"]).says("3 targets");
    assert!(world.exists("eu-west", "deployment", "web"));
    world.ok(0, &["validate"]);
    // What `--kubeconfig` names is where contexts are looked for.
    let none = world.write("none.yaml", "apiVersion: v1\nkind: Config\n");
    let none = none.to_str().unwrap();
    for verb in ["plan", "targets", "validate", "render"] {
        world.ok(3, &[verb, "--kubeconfig", none]).says("no context matches `test-us-*`");
    }
}

/// Two contexts may lead to one server.
#[test]
fn two_targets_of_one_server_and_namespace_are_an_error() {
    let bed = Bed::shared();
    let context = Context::of(bed.cluster("us-east"));
    let world = World::with_contexts("twice", &[context.clone().named("a"), context.named("b")]);
    world.plain(&["a", "b"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let run = world.ok(3, &["plan"]);
    run.says("the targets `a` and `b` are one").says("the contexts `a` and `b`");
}
