//! Servers that cannot say all of what they serve: an aggregated API that is down, one that is too
//! old for aggregated discovery, one that forbids a part of it.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::{Bed, Cluster, Context, Fault, Match, Proxy, Reply, TestNamespace};

use crate::support::{World, web};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: NUMBER}\n";
const WIDGET: &str = "apiVersion: things.example.com/v1\nkind: Widget\nmetadata: {name: w}\n";
const SERVICE: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1.things.example.com";

/// Makes a definition of widgets, and waits until they are served.
fn define_widgets(cluster: &Cluster) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.things.example.com"},
        "spec": {
            "group": "things.example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = cluster.call("POST", path, Some(&definition)).unwrap();
    assert!(made.is_success(), "{}", made.text);
    available(cluster, "True");
}

/// Waits until the API of widgets is (not) available.
fn available(cluster: &Cluster, wanted: &str) {
    testbed::wait_for("the APIService", Duration::from_secs(60), || {
        let service = cluster.call("GET", SERVICE, None).map_err(|e| e.to_string())?.json;
        let conditions = service["status"]["conditions"].as_array().into_iter().flatten();
        let is = conditions.into_iter().any(|c| c["type"] == "Available" && c["status"] == wanted);
        if is { Ok(()) } else { Err(service["status"].to_string()) }
    });
}

/// Gives the API of widgets to an aggregated API server that is not there.
fn break_widgets(cluster: &Cluster) {
    let mut service = cluster.get(SERVICE);
    service["metadata"]["labels"] = json!({});
    service["spec"]["insecureSkipTLSVerify"] = true.into();
    service["spec"]["service"] = json!({"namespace": "default", "name": "nobody", "port": 443});
    let changed = cluster.call("PUT", SERVICE, Some(&service)).unwrap();
    assert!(changed.is_success(), "{}", changed.text);
    available(cluster, "False");
}

/// The server registers the API of a definition anew.
fn mend_widgets(cluster: &Cluster) {
    cluster.call("DELETE", SERVICE, None).unwrap();
    available(cluster, "True");
}

#[test]
fn an_api_that_is_down_hides_only_its_own_objects() {
    let cluster = Bed::private("aggregated");
    define_widgets(&cluster);
    let bed = Bed::shared();
    let world = World {
        bed,
        namespace: TestNamespace::new("aggregated", std::slice::from_ref(&*cluster)),
        kubeconfig: bed.kubeconfig(&[Context::of(&cluster).named("us-east")]),
        folder: tempfile::tempdir().unwrap(),
    };
    let ns = world.namespace.name();
    let widget = format!("/apis/things.example.com/v1/namespaces/{ns}/widgets/w");
    let config = format!("/api/v1/namespaces/{ns}/configmaps/web");
    let reason = "could not be checked: its API `things.example.com` is not available";
    world.plain(&["us-east"]);
    world.write("k8s/config.yaml", &CONFIG.replace("NUMBER", "\"1\""));
    world.write("k8s/widget.yaml", WIDGET);
    world.ok(0, &["apply", "-y"]).says("2 created");
    let uid = cluster.get(&widget)["metadata"]["uid"].clone();

    break_widgets(&cluster);
    world.write("k8s/config.yaml", &CONFIG.replace("NUMBER", "\"2\""));
    let plan = world.ok(9, &["plan", "-o", "json"]).json();
    let counts = &plan["targets"][0]["counts"];
    assert_eq!((&counts["change"], &counts["refused"]), (&json!(1), &json!(1)), "{plan:#}");
    assert_eq!((&counts["create"], &counts["delete"]), (&json!(0), &json!(0)), "{plan:#}");
    world.ok(9, &["plan"]).says("Widget").says(reason).says("kubectl get apiservices");
    world.ok(9, &["diff"]).says(reason).says("+  a: \"2\"");
    world.ok(9, &["apply", "-y"]).says(reason).says("nothing was written");
    assert_eq!(cluster.get(&config)["data"]["a"], "1");
    let status = world.mcd(&["status", "-o", "json"]);
    let shown = status.json()["targets"][0].clone();
    assert_eq!(shown["state"], "unknown", "{shown:#}");
    world.mcd(&["status"]).says(reason);
    world.ok(1, &["status", "--wait", "--timeout=1s"]).says(reason);
    world.ok(9, &["delete", "-y"]).says(reason);
    assert_eq!(cluster.get(&config)["data"]["a"], "1");

    // It left the manifests: nobody can say whether it is there, so it stays in the inventory.
    std::fs::remove_file(world.path().join("k8s/widget.yaml")).unwrap();
    // What can be done is done, and it is no success.
    world.ok(9, &["apply", "-y", "--wait=false"]).says("Widget").says(reason);
    assert_eq!(cluster.get(&config)["data"]["a"], "2");
    world.mcd(&["status"]).says(reason);

    // Everything of the other groups is as it should be, with and without the fast path.
    world.ok(9, &["diff", "--verify"]).says(reason).hides("+++");

    mend_widgets(&cluster);
    assert_eq!(cluster.get(&widget)["metadata"]["uid"], uid);
    world.write("k8s/widget.yaml", WIDGET);
    world.ok(0, &["apply", "-y"]);
    assert_eq!(cluster.get(&widget)["metadata"]["uid"], uid);
    world.ok(0, &["delete", "-y"]).says("2 deleted");
    assert_eq!(cluster.call("GET", &widget, None).unwrap().status, 404);
}

/// A cluster through a proxy that answers discovery as a server of before 1.26 does.
fn old_server(prefix: &str) -> (World, Proxy) {
    let cluster = Bed::shared().cluster("us-east");
    let proxy = Proxy::start(cluster);
    for path in ["/api", "/apis"] {
        let document: Value = cluster.get(path);
        assert!(["APIVersions", "APIGroupList"].contains(&document["kind"].as_str().unwrap()));
        let reply = Reply::status(200).body("application/json", &document.to_string());
        proxy.inject(Match::any().when(move |r| r.path == path), Fault::Answer(reply));
    }
    let world = World::with_contexts(prefix, &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    (world, proxy)
}

#[test]
fn a_server_without_aggregated_discovery_is_asked_group_by_group() {
    let (world, proxy) = old_server("old");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    assert!(proxy.requests().iter().any(|r| r.path == "/apis/apps/v1"));
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// One that may not be asked for a group is like one that does not answer for it.
#[test]
fn a_group_that_may_not_be_discovered_hides_only_its_own_objects() {
    let (world, proxy) = old_server("old-part");
    proxy.inject(Match::any().when(|r| r.path == "/apis/batch/v1"), Fault::status(403));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.write(
        "k8s/cron.yaml",
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: \"0 0 * * *\"}\n",
    );
    let plan = world.ok(9, &["plan", "-o", "json"]).json();
    let counts = &plan["targets"][0]["counts"];
    assert_eq!((&counts["unchanged"], &counts["refused"]), (&json!(3), &json!(1)), "{plan:#}");
    world.ok(9, &["plan"]).says("could not be checked: its API `batch` is not available");
}

/// Something in between that takes the names of types literally.
#[test]
fn a_server_that_refuses_to_aggregate_is_asked_plainly() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    proxy.inject(Match::any().when(|r| r.path == "/apis").times(1), Fault::status(406));
    let world = World::with_contexts("plain", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(2, &["plan", "--detailed-exitcode"]).says("3 to create");
}
