//! The order of writes: definitions before what they define, namespaces before their content,
//! workloads before the traffic that is led to them.

use std::time::Duration;

use testbed::{Bed, Cluster, Match, Proxy};

use crate::support::{World, web};

/// Cluster-scoped objects of a test, which go with it.
struct Gone(&'static Cluster, Vec<String>);

impl Drop for Gone {
    fn drop(&mut self) {
        for path in &self.1 {
            self.0.call("DELETE", path, None).ok();
        }
    }
}

/// A definition of a kind of this test alone, and an object of it.
fn definition(group: &str, namespace: &str) -> String {
    format!(
        "apiVersion: {group}/v1
kind: Gadget
metadata: {{name: one, namespace: {namespace}}}
spec: {{size: 3}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gadgets.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, properties: {{size: {{type: integer}}}}}}
"
    )
}

#[test]
fn definitions_namespaces_and_what_is_in_them_in_one_set() {
    let world = World::new("order");
    world.plain(&["us-east"]);
    let namespace = format!("{}-inner", world.namespace.name());
    let group = format!("{}.example.com", world.namespace.name());
    let _gone = Gone(
        world.cluster("us-east"),
        vec![
            format!("/api/v1/namespaces/{namespace}"),
            format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.{group}"),
        ],
    );
    // What comes first in the file comes last in the cluster.
    let inner = web("web:1").replace(
        "metadata: {name: web}\n",
        &format!("metadata: {{name: web, namespace: {namespace}}}\n"),
    );
    world.write(
        "k8s/all.yaml",
        &format!(
            "{}---\n{inner}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n",
            definition(&group, &namespace)
        ),
    );
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["create"], 6, "{plan:#}");
    let changes = plan["targets"][0]["changes"].as_array().unwrap();
    let kinds: Vec<&str> = changes.iter().map(|c| c["kind"].as_str().unwrap()).collect();
    let place = |kind: &str| kinds.iter().position(|k| *k == kind).unwrap();
    assert_eq!(place("Namespace"), 0, "{kinds:?}");
    assert!(place("CustomResourceDefinition") < place("Gadget"), "{kinds:?}");
    assert!(place("ConfigMap") < place("Deployment"), "{kinds:?}");
    for kind in ["Gadget", "Deployment"] {
        let reason = changes[place(kind)]["notVerified"].as_str().unwrap();
        assert!(
            reason.contains("not in the cluster yet") || reason.contains("does not exist yet"),
            "{reason}"
        );
    }

    world.ok(0, &["apply", "-y"]).says("6 created").says("Healthy");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["apply", "-y"]);
    let status = world.ok(0, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][0]["state"], "healthy", "{status:#}");

    // A changed custom resource, now that its kind is known.
    let text = std::fs::read_to_string(world.path().join("k8s/all.yaml")).unwrap();
    world.write("k8s/all.yaml", &text.replace("size: 3", "size: 4"));
    world.ok(2, &["plan", "--detailed-exitcode"]).says(".spec.size");
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &text.replace("size: 3", "size: many"));
    world.ok(4, &["plan"]).says("Gadget").says(".spec.size");

    // Neither goes without being asked for by name.
    world.ok(0, &["delete", "-y"]).says("--with-namespaces").says("--with-definitions");
    let cluster = world.cluster("us-east");
    cluster.get(&format!("/api/v1/namespaces/{namespace}"));
    cluster.get(&format!("/apis/{group}/v1"));
    world.ok(0, &["delete", "-y", "--with-namespaces", "--with-definitions"]);
    let gone = cluster.call("GET", &format!("/api/v1/namespaces/{namespace}"), None).unwrap();
    assert_eq!(gone.status, 404);
    assert_eq!(world.kubectl("us-east", &["get", "secret,lease", "-o", "name"]), "");
}

#[test]
fn a_namespace_that_is_made_and_not_owned() {
    let world = World::new("create-ns");
    let name = format!("{}-new", world.namespace.name());
    let cluster = world.cluster("us-east");
    let _gone = Gone(cluster, vec![format!("/api/v1/namespaces/{name}")]);
    world.application(&["us-east"], "render: {manifests: [k8s/]}\ncreateNamespace: true\n");
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    let own = world.namespace.name();
    world.write(
        "mcd.yaml",
        &file.replace(&format!("namespace: {own}\n"), &format!("namespace: {name}\n")),
    );
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["plan"]).says("not verified").says("3 to create");
    assert_eq!(
        cluster.call("GET", &format!("/api/v1/namespaces/{name}"), None).unwrap().status,
        404
    );
    world.ok(0, &["apply", "-y"]).says("3 created");
    world.ok(0, &["diff", "--verify"]);
    let live = cluster.get(&format!("/api/v1/namespaces/{name}"));
    assert!(live["metadata"]["labels"]["mcd.dev/app"].is_null(), "{live:#}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
    cluster.get(&format!("/api/v1/namespaces/{name}"));
    // It becomes the application's when the manifests bring it.
    let own = format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    world.write("k8s/all.yaml", &(web("web:1") + &own));
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    let live = cluster.get(&format!("/api/v1/namespaces/{name}"));
    assert_eq!(live["metadata"]["labels"]["kubernetes.io/metadata.name"], name.as_str());
    assert!(!live["metadata"]["labels"]["mcd.dev/app"].is_null(), "{live:#}");
}

/// A selector that is narrowed to what is not there yet would be an outage.
#[test]
fn traffic_follows_when_the_workloads_are_healthy() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("traffic", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    // The label comes to the pods and to the selector in one change.
    let narrowed = |image: &str| {
        web(image)
            .replace(
                "template:\n    metadata: {labels: {app: web}}",
                "template:\n    metadata: {labels: {app: web, tier: two}, annotations: {testbed.mcd.dev/ready-after: 1s}}",
            )
            .replace("spec:\n  selector: {app: web}", "spec:\n  selector: {app: web, tier: two}")
    };
    let selector = || world.live("us-east", "service", "web")["spec"]["selector"].clone();
    let before = selector();

    // Never healthy: the traffic stays where it is.
    world.write("k8s/web.yaml", &narrowed("web:never-ready"));
    let apply = world.ok(1, &["apply", "-y", "--timeout=2s"]);
    apply.says("Service").says("not changed").says("Deployment");
    assert_eq!(selector(), before);

    world.write("k8s/web.yaml", &narrowed("web:2"));
    let hold = proxy.hold(Match::writes().path("/services/web"));
    let child = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    let live = world.live("us-east", "deployment", "web");
    let status = &live["status"];
    assert_eq!(status["observedGeneration"], live["metadata"]["generation"]);
    assert_eq!((&status["updatedReplicas"], &status["availableReplicas"]), (&2.into(), &2.into()));
    assert_eq!(selector(), before);
    hold.release();
    let run = crate::support::Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(selector()["tier"], "two");
    world.ok(0, &["diff", "--verify"]);
}
