//! What a server refuses, and what stops an object: each names cluster, object and field, says
//! what to do, and nothing is written, in no target.

use serde_json::{Value, json};

use crate::support::{CLUSTERS, Run, World, web};

/// A world of one cluster with these manifests.
fn world(prefix: &str, yaml: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", yaml);
    world
}

/// Plan, diff and apply all end with `code`, name the object, and write nothing. Returns the plan.
#[track_caller]
fn is_refused(world: &World, code: i32, object: &str, words: &[&str]) -> Value {
    let namespace = world.namespace.name();
    let before = state(world);
    let plan = world.ok(code, &["plan"]);
    let diff = world.ok(code, &["diff"]);
    let apply = world.ok(code, &["apply", "-y"]);
    for run in [&plan, &diff, &apply] {
        run.says("us-east").says(&object.replace("NAMESPACE", namespace));
        for word in words {
            run.says(word);
        }
    }
    apply.says("nothing was written");
    assert_eq!(state(world), before, "an apply that is refused changes nothing");
    let plan = world.ok(code, &["plan", "-o", "json"]).json();
    assert_eq!(plan["exitCode"], code);
    let error = &plan["targets"][0]["errors"][0];
    assert_eq!(error["exitCode"], code, "{plan:#}");
    assert_eq!(error["object"]["name"], object.rsplit(['/', ' ']).next().unwrap(), "{plan:#}");
    plan
}

/// Names and versions of all that a test may write.
fn state(world: &World) -> String {
    world.kubectl(
        "us-east",
        &[
            "get",
            "deploy,svc,cm,secret,lease,job,pvc",
            "-o",
            "jsonpath={range .items[*]}{.kind}/{.metadata.name}:{.metadata.generation} {end}",
        ],
    )
}

fn config(rest: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\n{rest}\n")
}

#[test]
fn an_invalid_object() {
    let world = world(
        "invalid",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: Mirror, ports: [{port: 99999}]}\n",
    );
    is_refused(
        &world,
        4,
        "Service NAMESPACE/web",
        &["invalid", "spec.ports[0].port", "between 1 and 65535", "spec.type", "ClusterIP"],
    );
}

#[test]
fn an_immutable_selector() {
    let world = world("immutable", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &web("web:1").replace("app: web", "app: other"));
    is_refused(
        &world,
        4,
        "Deployment NAMESPACE/web",
        &["spec.selector", "cannot be changed", "another name"],
    );
}

#[test]
fn an_immutable_config_map() {
    let world = world("immutable-cm", &config("immutable: true\ndata: {a: b}"));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &config("immutable: true\ndata: {a: c}"));
    is_refused(&world, 4, "ConfigMap NAMESPACE/web", &["data", "cannot be changed"]);
}

#[test]
fn a_changed_job() {
    let job = |image: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: migrate}}\nspec:\n  template:\n    \
             spec: {{restartPolicy: Never, containers: [{{name: a, image: \"{image}\"}}]}}\n"
        )
    };
    let world = world("job", &job("a:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.write("k8s/all.yaml", &job("a:2"));
    is_refused(
        &world,
        4,
        "Job NAMESPACE/migrate",
        &["spec.template", "cannot be changed", "another name"],
    );
}

#[test]
fn a_quota() {
    let world = world("quota", &config("data: {a: b}"));
    world.kubectl_apply(
        "us-east",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {configmaps: 1}}\n",
    );
    // The namespace has kube-root-ca.crt already; the quota counts once its controller has seen it.
    testbed::wait_for("the quota counts", std::time::Duration::from_secs(30), || {
        let quota = world.live("us-east", "resourcequota", "small");
        match quota["status"]["used"]["configmaps"].as_str() {
            Some("1") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    is_refused(
        &world,
        4,
        "ConfigMap NAMESPACE/web",
        &["exceeded quota: small", "requested: configmaps=1", "raise the quota"],
    );
}

#[test]
fn a_kind_that_is_not_there() {
    let world = world(
        "kind",
        "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: web}\nspec: {a: b}\n",
    );
    is_refused(
        &world,
        4,
        "Gadget web",
        &["no kind `Gadget` in `example.com/v1`", "all.yaml", "CustomResourceDefinition"],
    );
}

#[test]
fn a_namespace_that_is_not_there() {
    let world = World::new("no-namespace");
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &config("data: {a: b}"));
    let absent = format!("{}-absent", world.namespace.name());
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    let text = file.replace(
        &format!("namespace: {}", world.namespace.name()),
        &format!("namespace: {absent}"),
    );
    world.write("mcd.yaml", &text);
    for verb in [&["plan"][..], &["diff"], &["apply", "-y"]] {
        world.ok(4, verb).says("us-east").says(&absent).says("createNamespace: true");
    }
    let status = world.ok(0, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][0]["state"], "not-deployed");
}

#[test]
fn fields_that_the_schema_has_not() {
    let world = world("schema", &web("web:1").replace("  replicas: 2", "  replica: 2"));
    is_refused(
        &world,
        4,
        "Deployment NAMESPACE/web",
        &["does not fit", ".spec.replica", "field not declared in schema"],
    );
    world.write("k8s/all.yaml", &web("web:1").replace("replicas: 2", "replicas: two"));
    is_refused(
        &world,
        4,
        "Deployment NAMESPACE/web",
        &["does not fit", ".spec.replicas", "expected numeric"],
    );
}

#[test]
fn an_object_that_is_too_large() {
    let world = world("large", &config(&format!("data: {{a: {}}}", "x".repeat(1_100_000))));
    is_refused(&world, 4, "ConfigMap NAMESPACE/web", &["too large", "1048576"]);
    world.write("k8s/all.yaml", &config(&format!("data: {{a: {}}}", "x".repeat(3_200_000))));
    is_refused(&world, 4, "ConfigMap NAMESPACE/web", &["too large"]);
}

#[test]
fn an_admission_webhook() {
    use testbed::{Admission, Verdict};
    let world = world("admission", &config("data: {a: b}"));
    let deny = Verdict::Deny { code: 403, message: "images must be signed".to_owned() };
    let _policy = Admission::start(world.cluster("us-east"), world.namespace.name(), deny);
    is_refused(
        &world,
        5,
        "ConfigMap NAMESPACE/web",
        &["policy.testbed.mcd.dev", "images must be signed"],
    );
}

/// One refusal in one target keeps every other from being written.
#[test]
fn one_refused_target_stops_the_others() {
    let world = World::new("one-refused");
    world.application(
        &CLUSTERS,
        "render: {manifests: [k8s/]}\noverrides:\n\
         - {select: {clusters: [us-west]}, patches: [{target: {kind: Service, name: web}, merge: {spec: {type: Mirror}}}]}\n",
    );
    world.write("k8s/all.yaml", &web("web:1"));
    let plan = world.ok(4, &["plan", "-o", "json"]).json();
    assert_eq!(plan["targets"][0]["state"], "changes");
    assert_eq!(plan["targets"][1]["state"], "refused");
    world.ok(4, &["apply", "-y"]).says("us-west").says("nothing was written");
    for cluster in CLUSTERS {
        assert!(!world.exists(cluster, "deployment", "web"), "{cluster}");
    }
    let apply = world.ok(4, &["apply", "-y", "--keep-going", "-o", "json"]).json();
    let states: Vec<&Value> =
        apply["targets"].as_array().unwrap().iter().map(|t| &t["state"]).collect();
    assert_eq!(states, ["healthy", "failed", "healthy"]);
    assert!(!world.exists("us-west", "configmap", "web"));
}

/// An object that another tool applies.
#[test]
fn an_object_of_another_applier() {
    let world = world("applier", &config("data: {a: b}"));
    let path = format!("/api/v1/namespaces/{}/configmaps/web", world.namespace.name());
    let theirs = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web"},
        "data": {"a": "theirs", "other": "x"},
    });
    world.cluster("us-east").apply_as("platform-team", &path, &theirs);
    let plan =
        is_refused(&world, 6, "ConfigMap NAMESPACE/web", &["platform-team", "--force-conflicts"]);
    assert_eq!(plan["targets"][0]["state"], "blocked");
    assert_eq!(plan["targets"][0]["counts"]["conflicts"], 1);
    world.ok(0, &["apply", "-y", "--force-conflicts"]);
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(live["data"], json!({"a": "b", "other": "x"}), "theirs stays theirs");
    world.ok(0, &["diff"]);
}

/// Two applications, one object: the second is stopped, also with force.
#[test]
fn an_object_of_another_application() {
    let world = world("two", &config("data: {a: b}"));
    world.ok(0, &["apply", "-y"]);
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write("mcd.yaml", &file.replace("metadata: {name: web}", "metadata: {name: shop}"));
    let owner = format!("{}/web", world.namespace.name());
    is_refused(&world, 6, "ConfigMap NAMESPACE/web", &[&owner, "one application"]);
    world.ok(6, &["apply", "-y", "--force-conflicts"]).says(&owner);
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(
        live["metadata"]["labels"]["mcd.dev/app"],
        format!("{}.web", world.namespace.name())
    );
}

/// What helm made stops, whether helm wrote it as 3 or as 4 does.
#[test]
fn an_object_of_helm() {
    let world = world("helm-made", &config("data: {a: b}"));
    let path = format!("/api/v1/namespaces/{}/configmaps/web", world.namespace.name());
    let theirs = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "web",
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": world.namespace.name()},
        },
        "data": {"a": "theirs"},
    });
    world.cluster("us-east").apply_as("helm", &path, &theirs);
    let plan = is_refused(&world, 6, "ConfigMap NAMESPACE/web", &["helm", "shop"]);
    assert_eq!(plan["targets"][0]["counts"]["conflicts"], 1);
    world.kubectl("us-east", &["delete", "configmap", "web"]);
    let answer = world.cluster("us-east").call(
        "POST",
        &format!("/api/v1/namespaces/{}/configmaps?fieldManager=helm", world.namespace.name()),
        Some(&theirs),
    );
    assert!(answer.unwrap().is_success());
    is_refused(&world, 6, "ConfigMap NAMESPACE/web", &["helm", "shop"]);
}

/// A conflict with a controller's field: another's status, a scale.
#[test]
fn a_field_of_a_controller() {
    let world = world("controller", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    // As an autoscaler that is not in the cluster any more.
    let path = format!(
        "/apis/apps/v1/namespaces/{}/deployments/web/scale?fieldManager=kube-controller-manager",
        world.namespace.name()
    );
    let scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web", "namespace": world.namespace.name()},
        "spec": {"replicas": 5},
    });
    let answer = world.cluster("us-east").call("PUT", &path, Some(&scale)).unwrap();
    assert!(answer.is_success(), "{}", answer.text);
    is_refused(
        &world,
        6,
        "Deployment NAMESPACE/web",
        &[".spec.replicas", "kube-controller-manager", "--force-conflicts"],
    );
    let run: Run = world.ok(0, &["apply", "-y", "--force-conflicts"]);
    run.says("Healthy");
    assert_eq!(world.live("us-east", "deployment", "web")["spec"]["replicas"], 2);
}

/// An object that is on its way out.
#[test]
fn an_object_that_is_being_deleted() {
    let world = world("going", &config("data: {a: b}"));
    world.ok(0, &["apply", "-y"]);
    let finalizers = r#"{"metadata":{"finalizers":["testbed.mcd.dev/stay"]}}"#;
    world.kubectl("us-east", &["patch", "configmap", "web", "--type=merge", "-p", finalizers]);
    world.kubectl("us-east", &["delete", "configmap", "web", "--wait=false"]);
    world.write("k8s/all.yaml", &config("data: {a: c}"));
    is_refused(&world, 6, "ConfigMap NAMESPACE/web", &["is being deleted", "testbed.mcd.dev/stay"]);
    let none = r#"{"metadata":{"finalizers":null}}"#;
    world.kubectl("us-east", &["patch", "configmap", "web", "--type=merge", "-p", none]);
    world.ok(0, &["apply", "-y"]).says("1 created");
    world.ok(0, &["diff", "--verify"]);
}
