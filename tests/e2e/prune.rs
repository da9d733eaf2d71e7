//! What left the manifests is deleted by the next apply, exactly, and the plan says so before.

use serde_json::{Value, json};
use testbed::{Bed, Fault, Match, Proxy};

use crate::support::{World, web};

/// ConfigMaps with these names.
fn maps(names: &[&str]) -> String {
    let map = |name: &&str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"
        )
    };
    names.iter().map(map).collect()
}

/// A world in which `before` is applied and `after` is in the manifests.
fn world(prefix: &str, before: &str, after: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", before);
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", after);
    world
}

#[track_caller]
fn there(world: &World, kind: &str, names: &[&str]) {
    let text = world.kubectl("us-east", &["get", kind, "-l", "mcd.dev/app", "-o", "name"]);
    let found: Vec<&str> = text.lines().filter_map(|line| line.split('/').nth(1)).collect();
    assert_eq!(found, names, "{kind}");
}

/// The first target of a plan.
fn plan(world: &World) -> Value {
    world.mcd(&["plan", "-o", "json"]).json()["targets"][0].clone()
}

/// Nothing is left to do, and the server agrees.
#[track_caller]
fn settled(world: &World) {
    world.ok(0, &["plan", "--detailed-exitcode"]).hides("left the manifests");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn what_left_the_manifests_goes() {
    let world = world("prune", &(web("web:1") + &maps(&["old", "stays"])), "");
    world.write("k8s/all.yaml", &(web("web:1") + &maps(&["stays"])));
    let run = world.ok(2, &["plan", "--detailed-exitcode"]);
    run.says("  - ConfigMap ").says("/old  (left the manifests)");
    run.says("Plan: 0 to create, 0 to change, 1 to delete, 4 unchanged in 1 target.");
    let report = plan(&world);
    assert_eq!(report["counts"]["delete"], 1, "{report:#}");
    assert_eq!(report["state"], "changes");
    assert_eq!(report["changes"][0]["action"], "delete");
    assert_eq!(report["changes"][0]["name"], "old");
    let diff = world.ok(1, &["diff"]);
    diff.says("-data:").says("(does not exist)");
    world.ok(0, &["plan", "-o", "name"]).says("us-east configmap/old");

    let run = world.ok(0, &["apply", "-y"]);
    run.says("configmap/old deleted").says("1 deleted, 4 unchanged").says("Healthy");
    there(&world, "configmap", &["stays", "web"]);
    settled(&world);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"][0]["message"], "0 written, 1 deleted");
    world.ok(0, &["delete", "-y"]).says("4 deleted");
}

#[test]
fn it_is_kept_when_that_is_asked_for() {
    let world = world("keep-left", &maps(&["old", "stays"]), &maps(&["stays"]));
    let keep = world.ok(0, &["plan", "--detailed-exitcode", "--prune=false"]);
    keep.says("old left the manifests, and stays: --prune=false")
        .says("1 left the manifests and kept");
    world.ok(0, &["apply", "-y", "--prune=false"]).hides("deleted");
    there(&world, "configmap", &["old", "stays"]);
    // It is not forgotten.
    world.ok(0, &["apply", "-y"]).says("configmap/old deleted");
    there(&world, "configmap", &["stays"]);
    settled(&world);
}

const CLAIM: &str = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";

#[test]
fn data_protected_and_owned_objects_stay() {
    let all = maps(&["a", "b", "c", "owned", "protected"]);
    let world = World::new("guards");
    world.plain(&["us-east"]);
    // Claims are not bound here.
    world.write("k8s/all.yaml", &(all + CLAIM));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    world.write("k8s/all.yaml", &maps(&["a", "b", "c"]));
    world.kubectl("us-east", &["annotate", "configmap", "protected", "mcd.dev/protect=true"]);
    let owner = world.live("us-east", "configmap", "a");
    let reference = json!({"metadata": {"ownerReferences": [{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner["metadata"]["uid"]}]}});
    let patch = reference.to_string();
    world.kubectl("us-east", &["patch", "configmap", "owned", "--type=merge", "-p", &patch]);

    let run = world.ok(0, &["plan", "--detailed-exitcode"]);
    run.says("protected by the annotation mcd.dev/protect")
        .says("deleted only with --with-volumes");
    run.says("it belongs to ConfigMap a, and goes with it");
    let report = plan(&world);
    let reasons: Vec<(&str, &str)> = report["left"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| (l["name"].as_str().unwrap(), l["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(reasons.len(), 3, "{report:#}");
    assert!(reasons.contains(&("data", "deleted only with --with-volumes")), "{reasons:?}");
    assert_eq!(report["state"], "unchanged");
    world.ok(0, &["apply", "-y"]).hides("deleted\n");

    world.kubectl("us-east", &["annotate", "configmap", "protected", "mcd.dev/protect-"]);
    let run = world.ok(0, &["apply", "-y", "--with-volumes"]);
    run.says("configmap/protected deleted").says("persistentvolumeclaim/data deleted");
    there(&world, "configmap", &["a", "b", "c", "owned"]);
    assert!(!world.exists("us-east", "pvc", "data"));
    // It goes with its owner, and is nobody's then.
    world.kubectl("us-east", &["delete", "configmap", "a"]);
    testbed::wait_for("the collector", std::time::Duration::from_secs(60), || {
        if world.exists("us-east", "configmap", "owned") {
            Err("owned is there".to_owned())
        } else {
            Ok(())
        }
    });
    world.ok(0, &["apply", "-y"]).says("1 created");
    settled(&world);
}

#[test]
fn an_empty_render_prunes_nothing_by_itself() {
    let world = world("empty-set", &maps(&["a", "b", "c"]), "");
    for (code, verb) in [(6, &["plan"][..]), (1, &["diff"]), (6, &["apply", "-y"])] {
        let run = world.ok(code, verb);
        run.says("3 of 3 objects would be deleted").says("the manifests are empty");
        run.says("`--allow-prune-all` deletes them, `--prune=false` keeps them");
    }
    let report = plan(&world);
    assert_eq!((&report["state"], &report["counts"]["delete"]), (&json!("blocked"), &json!(3)));
    there(&world, "configmap", &["a", "b", "c"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(
        history["targets"][0]["releases"].as_array().unwrap().len(),
        1,
        "nothing was written"
    );

    world.ok(0, &["apply", "-y", "--prune=false"]);
    there(&world, "configmap", &["a", "b", "c"]);
    world.ok(0, &["apply", "-y", "--allow-prune-all"]).says("3 deleted");
    there(&world, "configmap", &[]);
    settled(&world);
    // The application is still there, with nothing in it.
    world.ok(0, &["status"]);
    world.ok(0, &["delete", "-y"]);
}

#[test]
fn more_than_half_is_confirmed() {
    let world = world("much", &maps(&["a", "b", "c", "d", "e"]), &maps(&["a", "b"]));
    let run = world.ok(6, &["apply", "-y"]);
    run.says("3 of 5 objects would be deleted").says("nothing was written");
    there(&world, "configmap", &["a", "b", "c", "d", "e"]);
    world.write("k8s/all.yaml", &maps(&["a", "b", "c"]));
    world.ok(0, &["apply", "-y"]).says("2 deleted");
    world.write("k8s/all.yaml", &maps(&["a"]));
    world.ok(6, &["plan", "--detailed-exitcode"]);
    world.ok(0, &["apply", "-y", "--allow-prune-all"]).says("2 deleted");
    settled(&world);
}

/// An object moves to another namespace: made there, then deleted here. Others stay put (T7).
#[test]
fn an_object_that_moves_to_another_namespace() {
    let other = Bed::shared().namespace("move-to");
    let explicit = |namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: moves, namespace: {namespace}}}\n\
             ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n\
             metadata: {{name: fixed, namespace: {}}}\nrules: []\n",
            other.name()
        )
    };
    let world = world("move-obj", &(maps(&["a", "b"]) + &explicit("NAMESPACE")), "");
    let here = world.namespace.name();
    world.write("k8s/all.yaml", &(maps(&["a", "b"]) + &explicit(other.name())));
    let run = world.ok(0, &["plan"]);
    run.says(&format!("- ConfigMap {here}/moves  (left the manifests)"));
    run.says(&format!("+ ConfigMap {}/moves", other.name()));
    let run = world.ok(0, &["apply", "-y"]);
    run.says("1 created, 1 deleted, 3 unchanged");
    let at = run.stderr.find("configmap/moves created").expect("created");
    assert!(at < run.stderr.find("configmap/moves deleted").expect("deleted"), "{run}");
    there(&world, "configmap", &["a", "b"]);
    settled(&world);
}

/// A finalizer that holds what is pruned: said with its name, no success, not forgotten.
#[test]
fn a_finalizer_that_blocks_is_named() {
    let world = world("stuck", &maps(&["a", "b", "old"]), &maps(&["a", "b"]));
    let stay = r#"{"metadata":{"finalizers":["testbed.mcd.dev/stay"]}}"#;
    world.kubectl("us-east", &["patch", "configmap", "old", "--type=merge", "-p", stay]);
    let run = world.ok(1, &["apply", "-y", "--timeout=2s"]);
    run.says("not gone after 2s").says("testbed.mcd.dev/stay").says("configmap/old deleted");
    let report = plan(&world);
    assert_eq!(report["counts"]["delete"], 1, "not forgotten: {report:#}");
    let none = r#"{"metadata":{"finalizers":null}}"#;
    world.kubectl("us-east", &["patch", "configmap", "old", "--type=merge", "-p", none]);
    world.ok(0, &["apply", "-y"]);
    settled(&world);
}

/// Someone deleted it, or made another object of its name, which is theirs.
#[test]
fn what_is_gone_or_anothers() {
    let world =
        world("gone-left", &maps(&["a", "b", "c", "gone", "anew"]), &maps(&["a", "b", "c"]));
    for name in ["gone", "anew"] {
        world.kubectl("us-east", &["delete", "configmap", name]);
    }
    world.kubectl("us-east", &["create", "configmap", "anew", "--from-literal=mine=x"]);
    world.ok(0, &["plan"]).says("is in the inventory and");
    world.ok(0, &["apply", "-y"]).hides("deleted");
    assert_eq!(world.live("us-east", "configmap", "anew")["data"]["mine"], "x");
    settled(&world);
    world.ok(0, &["delete", "-y"]).says("3 deleted").hides("anew");
}

/// What does not become healthy replaces nothing: the old object may be what serves.
#[test]
fn nothing_goes_before_what_stays_is_healthy() {
    let deployment = |name: &str, more: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1{more}\n  \
             selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
             spec: {{containers: [{{name: web, image: \"web:1\"}}]}}\n"
        )
    };
    let stuck = maps(&["a"]) + &deployment("new", "\n  paused: true");
    let world = world("prune-health", &(maps(&["a"]) + &deployment("old", "")), &stuck);
    let run = world.ok(1, &["apply", "-y"]);
    run.says("Deployment ").says("paused").hides("deployment.apps/old deleted");
    run.says("/old left the manifests and will be deleted by an apply that ends healthy");
    assert!(world.exists("us-east", "deployment", "old"));
    // What was written stands, and the next apply knows what is left to do.
    let report = plan(&world);
    assert_eq!(report["changes"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(report["changes"][0]["action"], "delete", "{report:#}");
    world.ok(1, &["apply", "-y"]).hides("deployment.apps/old deleted");
    world.write("k8s/all.yaml", &(maps(&["a"]) + &deployment("new", "")));
    world.ok(0, &["apply", "-y"]).says("deployment.apps/old deleted");
    there(&world, "deployment", &["new"]);
    settled(&world);
}

#[test]
fn without_waiting_it_goes_at_once() {
    let paused = web("web:1").replace("replicas: 2", "replicas: 2\n  paused: true");
    let world = world("prune-nowait", &(web("web:1") + &maps(&["old"])), &paused);
    world.ok(0, &["apply", "-y", "--wait=false"]).says("configmap/old deleted");
    there(&world, "configmap", &["web"]);
}

/// No right to read one kind: said by name, kept in the inventory, and no success.
#[test]
fn what_may_not_be_read_is_said_and_kept() {
    let world = world("unread", &(maps(&["a", "b", "c"]) + ACCOUNT), &maps(&["a", "b"]));
    limited(&world, &["configmaps"], &["get", "list", "create", "patch", "delete"]);
    let as_jane = |code: i32, args: &[&str]| world.ok(code, &[args, &["--as=jane"]].concat());
    let run = as_jane(9, &["plan"]);
    run.says("- ConfigMap ").says("ServiceAccount ").says("it could not be read").says("jane");
    let run = as_jane(9, &["apply", "-y"]);
    run.says("configmap/c deleted").says("ServiceAccount");
    there(&world, "configmap", &["a", "b"]);
    assert!(world.exists("us-east", "serviceaccount", "runner"));
    // Not forgotten: whoever may goes on.
    world.ok(0, &["apply", "-y"]).says("serviceaccount/runner deleted");
    settled(&world);
}

const ACCOUNT: &str = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: runner}\n";

/// What `jane` may do in the namespace, besides the state.
fn limited(world: &World, resources: &[&str], verbs: &[&str]) {
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| {
        format!("- {{apiGroups: [{group:?}], resources: {resources:?}, verbs: {verbs:?}}}\n")
    };
    let all = ["get", "list", "create", "update", "delete", "patch"];
    world.kubectl_apply(
        "us-east",
        &format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: jane}}\nrules:\n{}{}{}\
             ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: jane}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: jane}}\n\
             subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}}]\n",
            rule("", &["secrets"], &all),
            rule("coordination.k8s.io", &["leases"], &all),
            rule("", resources, verbs),
        ),
    );
}

/// No right to delete: known before the first write.
#[test]
fn what_may_not_be_deleted_stops_the_apply_before_it_writes() {
    let world = world("undeletable", &maps(&["a", "b", "c"]), &maps(&["a", "b"]));
    world.write("k8s/all.yaml", &maps(&["a", "b"]).replace("a: b", "a: c"));
    limited(&world, &["configmaps"], &["get", "list", "create", "patch"]);
    let run = world.ok(0, &["plan", "--as=jane"]);
    run.says("- ConfigMap ").says("not verified").says("delete");
    let run = world.mcd(&["apply", "-y", "--as=jane"]);
    assert_eq!(run.code, 1, "{run}");
    run.says("jane").says("--prune=false").says("nothing was written");
    assert_eq!(world.live("us-east", "configmap", "a")["data"]["a"], "b");
    world.ok(0, &["apply", "-y", "--as=jane", "--prune=false"]).says("2 configured");
    there(&world, "configmap", &["a", "b", "c"]);
}

/// A definition that is gone took its objects along.
#[test]
fn a_definition_that_is_gone() {
    let definition = "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";
    let gadget = "---\napiVersion: NAMESPACE.example.com/v1\nkind: Gadget\nmetadata: {name: one}\n";
    let world = World::new("undefined");
    world.plain(&["us-east"]);
    let cluster = world.cluster("us-east");
    world.kubectl_apply("us-east", definition);
    testbed::wait_for("the kind", std::time::Duration::from_secs(30), || {
        let path = format!("/apis/{}.example.com/v1/gadgets", world.namespace.name());
        match cluster.call("GET", &path, None) {
            Ok(answer) if answer.status == 200 => Ok(()),
            answer => Err(format!("{answer:?}")),
        }
    });
    world.write("k8s/all.yaml", &(maps(&["a", "b"]) + gadget));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &maps(&["a", "b"]));
    let name = format!("gadgets.{}.example.com", world.namespace.name());
    world.kubectl("us-east", &["delete", "crd", &name]);
    let run = world.ok(0, &["plan"]);
    run.says("Gadget ").says("gone with its definition");
    world.ok(0, &["apply", "-y"]).hides("deleted");
    settled(&world);
    world.ok(0, &["delete", "-y"]).says("2 deleted");
}

/// A version that is written otherwise is the same object.
#[test]
fn another_version_of_the_kind_is_the_same_object() {
    let hpa = |version: &str| {
        let target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}";
        let metrics = match version {
            "v1" => "targetCPUUtilizationPercentage: 80",
            _ => {
                "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]"
            }
        };
        format!(
            "---\napiVersion: autoscaling/{version}\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\n\
             spec: {{{target}, minReplicas: 1, maxReplicas: 3, {metrics}}}\n"
        )
    };
    let world = world("versions", &(web("web:1") + &hpa("v1")), "");
    let before = world.live("us-east", "hpa", "web")["metadata"]["uid"].clone();
    world.write("k8s/all.yaml", &(web("web:1") + &hpa("v2")));
    world.ok(0, &["plan"]).says("0 to delete");
    world.ok(0, &["apply", "-y"]).hides("deleted");
    assert_eq!(world.live("us-east", "hpa", "web")["metadata"]["uid"], before);
    settled(&world);
}

/// A DELETE that fails is said; the rest of the apply stands, and the next one goes on.
#[test]
fn a_delete_that_fails_is_made_good_by_the_next_apply() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("prune-fails", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &maps(&["a", "b", "old"]));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &maps(&["a", "b"]).replace("a: b", "a: c"));
    proxy.inject(Match::writes().method("DELETE").path("/configmaps/"), Fault::status(403));
    let run = world.ok(1, &["apply", "-y"]);
    run.says("ConfigMap ").says("configmap/a configured").says("forbidden");
    proxy.heal();
    there(&world, "configmap", &["a", "b", "old"]);
    world.ok(2, &["plan", "--detailed-exitcode"]).says("1 to delete, 2 unchanged");
    world.ok(0, &["apply", "-y"]).says("configmap/old deleted");
    settled(&world);
}
