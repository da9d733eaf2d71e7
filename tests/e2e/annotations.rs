//! The annotations `mcd.dev/apply` and `mcd.dev/protect`: how an object is applied where its
//! manifest asks for something else than an apply beside other managers.

use serde_json::{Value, json};

use crate::support::{Run, World};

fn world(prefix: &str, yaml: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", yaml);
    world
}

/// A ConfigMap with an annotation `mcd.dev/apply`.
fn config(name: &str, how: &str, data: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, annotations: {{mcd.dev/apply: {how}}}}}\n\
         data: {data}\n"
    )
}

fn plain(name: &str, data: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n")
}

fn job(image: &str, annotations: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: migrate, annotations: {annotations}}}\nspec:\n  \
         template:\n    spec: {{restartPolicy: Never, containers: [{{name: a, image: \"{image}\"}}]}}\n"
    )
}

fn uid(world: &World, kind: &str, name: &str) -> String {
    world.live("us-east", kind, name)["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// No difference, by the digests and by the server's word.
#[track_caller]
fn is_settled(world: &World) {
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["plan", "--detailed-exitcode"]);
}

fn inventory(world: &World) -> Vec<String> {
    let status = world.mcd(&["delete", "--dry-run", "-o", "json"]).json();
    let objects = status["targets"][0]["deletes"].as_array().cloned().unwrap_or_default();
    objects.iter().map(|o| o["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_only_created_is_never_touched_again() {
    let yaml = |value: &str| config("seed", "create-only", &format!("{{a: {value}}}"));
    let world = world("create-only", &(yaml("first") + &plain("web", "{a: b}")));
    world.ok(0, &["apply", "-y"]).says("2 created");
    is_settled(&world);

    world.write("k8s/all.yaml", &(yaml("second") + &plain("web", "{a: c}")));
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    let target = &plan["targets"][0];
    assert_eq!(target["untouched"][0]["name"], "seed", "{plan:#}");
    assert_eq!(target["untouched"][0]["apply"], "create-only");
    assert_eq!(target["counts"]["change"], 1);
    world.ok(0, &["plan"]).says("seed: exists, and is only ever created");
    world.ok(0, &["apply", "-y"]).says("1 configured, 1 unchanged");
    assert_eq!(world.live("us-east", "configmap", "seed")["data"], json!({"a": "first"}));
    is_settled(&world);

    // What a hand makes of it stays, and who deletes it gets it anew.
    world.kubectl("us-east", &["patch", "cm", "seed", "-p", r#"{"data":{"a":"hand"}}"#]);
    world.ok(0, &["apply", "-y"]);
    assert_eq!(world.live("us-east", "configmap", "seed")["data"], json!({"a": "hand"}));
    world.kubectl("us-east", &["delete", "cm", "seed"]);
    world.ok(0, &["apply", "-y"]).says("1 created");
    assert_eq!(world.live("us-east", "configmap", "seed")["data"], json!({"a": "second"}));
    world.ok(0, &["delete", "-y"]);
    assert!(!world.exists("us-east", "configmap", "seed"), "it is ours to delete");
}

/// An object that was there before belongs to whoever made it, also when it is helm's.
#[test]
fn what_was_there_and_is_only_created_stays_somebody_elses() {
    let yaml = config("seed", "create-only", "{a: ours}") + &plain("web", "{a: b}");
    let world = world("create-only-theirs", &yaml);
    world.kubectl_apply(
        "us-east",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: seed\n  labels: {app.kubernetes.io/managed-by: Helm}\n  \
         annotations: {meta.helm.sh/release-name: shop, meta.helm.sh/release-namespace: NAMESPACE}\ndata: {a: theirs}\n",
    );
    let before = world.live("us-east", "configmap", "seed");
    world.ok(0, &["apply", "-y"]).says("1 created");
    is_settled(&world);
    assert_eq!(world.live("us-east", "configmap", "seed"), before, "not even its managers");
    world.ok(0, &["delete", "-y"]);
    assert_eq!(world.live("us-east", "configmap", "seed"), before);
    assert!(!world.exists("us-east", "configmap", "web"));
}

#[test]
fn what_is_ignored_is_not_sent_and_no_longer_ours() {
    let ignored = config("other", "ignore", "{a: b}");
    let world = world("ignored", &(ignored.clone() + &plain("web", "{a: b}")));
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["targets"][0]["untouched"][0]["apply"], "ignore", "{plan:#}");
    world.ok(0, &["apply", "-y"]).says("1 created");
    assert!(!world.exists("us-east", "configmap", "other"));
    is_settled(&world);

    // One that was applied is kept, and given up.
    world.write("k8s/all.yaml", &(plain("other", "{a: c}") + &plain("web", "{a: b}")));
    world.ok(0, &["apply", "-y"]).says("1 created");
    world.write("k8s/all.yaml", &(ignored + &plain("web", "{a: b}")));
    world.ok(0, &["plan"]).says("is ignored from now on").says("other: not applied");
    let before = world.live("us-east", "configmap", "other");
    world.ok(0, &["apply", "-y"]);
    is_settled(&world);
    assert!(!inventory(&world).contains(&"other".to_owned()));
    world.ok(0, &["delete", "-y"]);
    assert_eq!(world.live("us-east", "configmap", "other"), before);
}

/// A kind that the cluster has not is no error for an object that is never sent.
#[test]
fn what_is_ignored_may_be_of_any_kind() {
    let gadget = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, annotations: {mcd.dev/apply: ignore}}\n";
    let world = world("ignored-kind", &(gadget.to_owned() + &plain("web", "{a: b}")));
    world.ok(0, &["apply", "-y"]).says("1 created");
    is_settled(&world);
}

#[test]
fn what_is_replaced_is_the_manifest_and_nothing_else() {
    let yaml = config("web", "replace", "{a: b}") + &plain("beside", "{a: b}");
    let world = world("replace", &yaml);
    world.ok(0, &["apply", "-y"]);
    is_settled(&world);
    let path =
        |name: &str| format!("/api/v1/namespaces/{}/configmaps/{name}", world.namespace.name());
    for name in ["web", "beside"] {
        world.kubectl("us-east", &["annotate", "cm", name, "note=hand"]);
        world.kubectl(
            "us-east",
            &["patch", "cm", name, "-p", r#"{"data":{"a":"hand","x":"hand"}}"#],
        );
        let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"y": "operator"}});
        world.cluster("us-east").apply_as("some-operator", &path(name), &theirs);
    }
    let plan = world.ok(0, &["plan"]);
    plan.says(".data.x  - hand")
        .says(".data.y  - operator")
        .says("takes over from")
        .says("some-operator");
    world.ok(0, &["apply", "-y"]);
    let live = world.live("us-east", "configmap", "web");
    assert_eq!(live["data"], json!({"a": "b"}));
    assert_eq!(live["metadata"]["annotations"], json!({"mcd.dev/apply": "replace"}));
    let managers = live["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(managers.len(), 1, "{managers:#?}");
    let beside = world.live("us-east", "configmap", "beside");
    assert_eq!(beside["data"], json!({"a": "b", "x": "hand", "y": "operator"}));
    is_settled(&world);
}

/// Replacing wins over no other deployer and no other application.
#[test]
fn what_helm_deploys_is_not_replaced() {
    let world = world("replace-helm", &config("web", "replace", "{a: b}"));
    world.kubectl_apply(
        "us-east",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  labels: {app.kubernetes.io/managed-by: Helm}\n  \
         annotations: {meta.helm.sh/release-name: shop, meta.helm.sh/release-namespace: NAMESPACE}\ndata: {a: theirs}\n",
    );
    world.ok(6, &["apply", "-y"]).says("helm");
    assert_eq!(world.live("us-east", "configmap", "web")["data"], json!({"a": "theirs"}));
}

#[test]
fn a_job_is_recreated() {
    let annotated = |image: &str| job(image, "{mcd.dev/apply: recreate}");
    let world = world("recreate", &annotated("a:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    is_settled(&world);
    let first = uid(&world, "job", "migrate");

    world.write("k8s/all.yaml", &annotated("a:2"));
    let plan = world.ok(0, &["plan"]);
    plan.says("± Job")
        .says("`spec.template` cannot be changed: field is immutable")
        .says("1 to recreate");
    plan.says("a:1 → a:2").hides("Invalid value");
    let plan = world.ok(2, &["plan", "--detailed-exitcode", "-o", "json"]).json();
    let change = &plan["targets"][0]["changes"][0];
    assert_eq!(change["action"], "recreate", "{plan:#}");
    assert_eq!(change["fields"].as_array().map(Vec::len), Some(1), "only the image: {change:#}");
    assert_eq!(plan["targets"][0]["counts"]["recreate"], 1);
    assert_eq!(plan["targets"][0]["state"], "changes");
    world.ok(1, &["diff"]).says("+").says("a:2");
    let apply = world.ok(0, &["apply", "-y"]);
    apply.says("job.batch/migrate recreated").says("Healthy").says("1 recreated");
    assert_ne!(uid(&world, "job", "migrate"), first);
    let live = world.live("us-east", "job", "migrate");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "a:2");
    is_settled(&world);

    // What the server takes is an ordinary change.
    let third =
        annotated("a:2").replace("spec:\n  template", "spec:\n  suspend: false\n  template");
    world.write("k8s/all.yaml", &third);
    let second = uid(&world, "job", "migrate");
    world.ok(0, &["apply", "-y"]);
    assert_eq!(uid(&world, "job", "migrate"), second);
}

/// Without the annotation the two ways out are told.
#[test]
fn a_job_that_is_not_to_be_recreated_tells_how() {
    let world = world("recreate-not", &job("a:1", "{}"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.write("k8s/all.yaml", &job("a:2", "{}"));
    let plan = world.ok(4, &["plan"]);
    plan.says("another name").says("mcd.dev/apply: recreate").hides("Invalid value");
}

#[test]
fn what_is_protected_is_not_recreated() {
    let annotated =
        |image: &str| job(image, "{mcd.dev/apply: recreate, mcd.dev/protect: \"true\"}");
    let world = world("recreate-protected", &annotated("a:1"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let first = uid(&world, "job", "migrate");
    world.write("k8s/all.yaml", &annotated("a:2"));
    for verb in [&["plan"][..], &["apply", "-y"]] {
        world.ok(4, verb).says("spec.template").says("mcd.dev/protect");
    }
    // Protected in the cluster alone.
    world.write("k8s/all.yaml", &job("a:2", "{mcd.dev/apply: recreate}"));
    world.ok(4, &["plan"]).says("mcd.dev/protect");
    assert_eq!(uid(&world, "job", "migrate"), first);
}

/// A finalizer holds the object: the wait ends and names it, and the next run goes on.
#[test]
fn what_does_not_go_is_named_and_made_by_the_next_run() {
    let yaml = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, annotations: {{mcd.dev/apply: recreate}}}}\n\
             immutable: true\ndata: {{a: {value}}}\n"
        )
    };
    let world = world("recreate-stuck", &yaml("b"));
    world.ok(0, &["apply", "-y"]);
    let finalizers = r#"{"metadata":{"finalizers":["testbed.mcd.dev/stay"]}}"#;
    world.kubectl("us-east", &["patch", "cm", "web", "--type=merge", "-p", finalizers]);
    world.write("k8s/all.yaml", &yaml("c"));
    let run: Run = world.ok(1, &["apply", "-y", "--timeout", "2s"]);
    run.says("testbed.mcd.dev/stay").says("not made anew yet");
    world.ok(0, &["plan"]).says("± ConfigMap").says("it is being deleted");
    let none = r#"{"metadata":{"finalizers":null}}"#;
    world.kubectl("us-east", &["patch", "cm", "web", "--type=merge", "-p", none]);
    world.ok(0, &["apply", "-y"]).says("1 created");
    assert_eq!(world.live("us-east", "configmap", "web")["data"], json!({"a": "c"}));
    is_settled(&world);
}

/// An autoscaled workload that is recreated keeps the count that its autoscaler has decided.
#[test]
fn a_recreated_workload_keeps_its_replicas() {
    let yaml = |app: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, annotations: {{mcd.dev/apply: recreate}}}}\n\
             spec:\n  replicas: 1\n  selector: {{matchLabels: {{app: {app}}}}}\n  template:\n    \
             metadata: {{labels: {{app: {app}}}}}\n    spec: {{containers: [{{name: web, image: \"web:1\"}}]}}\n---\n\
             apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\nspec:\n  \
             scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}\n  minReplicas: 1\n  maxReplicas: 9\n  \
             metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 80}}}}}}]\n"
        )
    };
    let world = world("recreate-hpa", &yaml("web"));
    world.ok(0, &["apply", "-y"]);
    is_settled(&world);
    world.kubectl("us-east", &["scale", "deployment/web", "--replicas=3"]);
    world.write("k8s/all.yaml", &yaml("other"));
    let plan = world.ok(0, &["plan"]);
    plan.says("± Deployment").says("spec.selector");
    world.ok(0, &["apply", "-y"]).says("recreated");
    let live: Value = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["replicas"], 3);
    assert_eq!(live["spec"]["selector"], json!({"matchLabels": {"app": "other"}}));
    is_settled(&world);
}

/// The annotation of an object that is never sent again holds all the same: the record knows it.
#[test]
fn what_is_only_created_is_protected_too() {
    let seed = |annotations: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: seed, annotations: {{mcd.dev/apply: create-only{annotations}}}}}\n"
        )
    };
    let web = plain("web", "{a: b}") + &plain("other", "{a: b}");
    let world = world("protect-seed", &(seed("") + &web));
    world.ok(0, &["apply", "-y"]).says("3 created");
    let live = world.live("us-east", "configmap", "seed");
    world.write("k8s/all.yaml", &(seed(", mcd.dev/protect: \"true\"") + &web));
    world.ok(0, &["plan"]).says("/seed is protected from now on");
    world.ok(0, &["apply", "-y"]);
    is_settled(&world);
    assert_eq!(world.live("us-east", "configmap", "seed"), live, "not touched");

    // It left the manifests, and the application goes: it stays.
    world.write("k8s/all.yaml", &web);
    let why = "protected by the annotation mcd.dev/protect of its last manifest";
    world.ok(0, &["plan"]).says("seed left the manifests, and stays").says(why);
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["delete", "-y"]).says(why).says("2 deleted, 1 kept");
    assert!(world.exists("us-east", "configmap", "seed"));
    // Until the object itself says otherwise.
    world.kubectl("us-east", &["annotate", "cm", "seed", "mcd.dev/protect=false"]);
    world.ok(0, &["delete", "-y"]).says("1 deleted");
    assert!(!world.exists("us-east", "configmap", "seed"));

    // Taken off in the manifest, it is like any other.
    world.write("k8s/all.yaml", &(seed(", mcd.dev/protect: \"true\"") + &web));
    world.ok(0, &["apply", "-y"]).says("3 created");
    world.kubectl("us-east", &["annotate", "cm", "seed", "mcd.dev/protect-"]);
    world.write("k8s/all.yaml", &(seed("") + &web));
    world.ok(0, &["plan"]).says("/seed is not protected any more");
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &web);
    world.ok(0, &["apply", "-y"]).says("configmap/seed deleted");
}

#[test]
fn an_annotation_that_says_nothing_known() {
    let world = world("annotation", &config("web", "create_only", "{a: b}"));
    world
        .ok(4, &["plan"])
        .says("`mcd.dev/apply` is `create_only`")
        .says("did you mean `create-only`?");
    world.write(
        "k8s/all.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, annotations: {mcd.dev/protect: \"yes\"}}\n",
    );
    world.ok(4, &["apply", "-y"]).says("`mcd.dev/protect` is `yes`").says("`true` or `false`");
}
