//! The bed itself, on its own clusters.

#![allow(clippy::unwrap_used, reason = "functions of a test are tests too")]

use std::time::Duration;

use serde_json::{Value, json};
use testbed::{Bed, Cluster, Component, Context, User, wait_for};

const PATIENCE: Duration = Duration::from_secs(60);

/// A Deployment `web` of `replicas`, with this image and these pod annotations.
fn deployment(image: &str, replicas: u32, annotations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 5,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": annotations},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    })
}

fn create(cluster: &Cluster, namespace: &str, deployment: &Value) {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments");
    let answer = cluster.call("POST", &path, Some(deployment)).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text);
}

fn wait_ready(cluster: &Cluster, namespace: &str, replicas: u32) {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/web");
    wait_for("web is ready", PATIENCE, || {
        let status = &cluster.get(&path)["status"];
        if status["readyReplicas"] == replicas { Ok(()) } else { Err(status.to_string()) }
    });
}

/// The reasons that the pods' containers wait for.
fn waiting(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let pods = cluster.get(&format!("/api/v1/namespaces/{namespace}/pods"));
    let pods = pods["items"].as_array().unwrap();
    let reason = |p: &Value| {
        p["status"]["containerStatuses"][0]["state"]["waiting"]["reason"]
            .as_str()
            .map(str::to_owned)
    };
    pods.iter().filter_map(reason).collect()
}

#[test]
fn a_deployment_becomes_ready_on_each_of_three_clusters() {
    let bed = Bed::shared();
    let names: Vec<&str> = bed.clusters().iter().map(Cluster::name).collect();
    assert_eq!(names, ["us-east", "us-west", "eu-west"]);
    let namespace = bed.namespace("ready");
    let other = bed.namespace("ready");
    assert_ne!(namespace.name(), other.name());
    let yaml = deployment("registry/web:1", 3, &json!({})).to_string();
    for cluster in bed.clusters() {
        let said = bed.kubectl_apply(cluster, namespace.name(), &yaml);
        assert_eq!(said, "deployment.apps/web created\n");
    }
    for cluster in bed.clusters() {
        wait_ready(cluster, namespace.name(), 3);
    }
}

#[test]
fn pods_misbehave_as_their_annotation_or_their_image_says() {
    let bed = Bed::shared();
    let cluster = bed.cluster("us-east");
    let annotated = |what: &str| json!({"testbed.mcd.dev/pod": what});
    let cases = [
        ("registry/web:1", annotated("never-ready"), None),
        ("registry/web:never-ready", json!({}), None),
        ("registry/web:1", annotated("image-pull-error"), Some("ImagePullBackOff")),
        ("registry/web:pull-error", json!({}), Some("ImagePullBackOff")),
        ("registry/web:1", annotated("crash-loop"), Some("CrashLoopBackOff")),
        ("registry:5000/web:crash-loop", json!({}), Some("CrashLoopBackOff")),
    ];
    let made: Vec<_> = cases
        .into_iter()
        .map(|(image, annotations, reason)| {
            let namespace = bed.namespace("stages");
            create(cluster, namespace.name(), &deployment(image, 1, &annotations));
            (namespace, format!("{image} {annotations}"), reason)
        })
        .collect();
    for (namespace, case, reason) in made {
        let path = format!("/apis/apps/v1/namespaces/{}/deployments/web", namespace.name());
        wait_for(&format!("{case}: the deadline is exceeded"), PATIENCE, || {
            let status = &cluster.get(&path)["status"];
            let exceeded = status["conditions"]
                .as_array()
                .is_some_and(|c| c.iter().any(|c| c["reason"] == "ProgressDeadlineExceeded"));
            if exceeded { Ok(()) } else { Err(status.to_string()) }
        });
        assert_eq!(waiting(cluster, namespace.name()), Vec::from_iter(reason), "{case}");
        assert!(cluster.get(&path)["status"]["readyReplicas"].is_null(), "{case}");
    }
}

#[test]
fn a_kubeconfig_has_contexts_of_any_name_namespace_and_user() {
    let bed = Bed::shared();
    let namespace = bed.namespace("contexts");
    let east = bed.cluster("us-east");
    let mut role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [
            {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"},
            {"kind": "Group", "name": "readers", "apiGroup": "rbac.authorization.k8s.io"},
            {"kind": "ServiceAccount", "name": "default"},
        ],
    });
    let path =
        format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings", namespace.name());
    role["subjects"][2]["namespace"] = namespace.name().into();
    let answer = east.call("POST", &path, Some(&role)).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text);

    let token = east.service_account_token(namespace.name(), "default");
    let reader =
        User::Named { name: "bob".into(), groups: vec!["others".into(), "readers".into()] };
    let base = Context::of(east).in_namespace(namespace.name());
    let kubeconfig = bed.kubeconfig(&[
        base.clone().named("admin"),
        base.clone().named("jane").as_user(User::named("jane")),
        base.clone().named("bob").as_user(reader),
        base.clone().named("token").as_user(User::Token(token)),
        base.clone().named("eve").as_user(User::named("eve")),
        base.clone().named("bad-token").as_user(User::Token("nonsense".into())),
        base.clone().named("wrong-ca").trusting(bed.cluster("us-west")),
        base.clone().named("unchecked").without_verification(),
        base.named("nowhere").at_server("https://127.0.0.1:9"),
    ]);
    let get = |context: &str, what: &[&str]| {
        let mut args =
            vec!["--kubeconfig", kubeconfig.path().to_str().unwrap(), "--context", context];
        args.extend(what);
        let output = bed.kubectl(east, &args);
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    for context in ["admin", "jane", "bob", "token", "unchecked"] {
        let (success, stderr) = get(context, &["get", "pods"]);
        assert!(success, "{context}: {stderr}");
    }
    let (success, _) = get("jane", &["create", "configmap", "x"]);
    assert!(!success, "jane may only read");
    for (context, message) in [
        ("eve", "Forbidden"),
        ("bad-token", "must be logged in"),
        ("wrong-ca", "certificate"),
        ("nowhere", "refused"),
    ] {
        let (success, stderr) = get(context, &["get", "pods"]);
        assert!(!success && stderr.contains(message), "{context}: {stderr}");
    }
}

#[test]
fn tools_are_there_in_both_versions() {
    let bed = Bed::shared();
    for (tool, args) in [
        ("kustomize/5.8.2/kustomize", &["version"][..]),
        ("kustomize/5.4.3/kustomize", &["version"]),
        ("helm/3.22.0/helm", &["version", "--short"]),
        ("helm/4.3.1/helm", &["version", "--short"]),
        ("kubectl/1.36.3/kubectl", &["version", "--client"]),
    ] {
        let output = std::process::Command::new(bed.tools_dir().join(tool)).args(args).output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        let version = tool.split('/').nth(1).unwrap();
        assert!(said.contains(&format!("v{version}")), "{tool}: {said}");
    }
}

#[test]
fn a_private_cluster_can_be_broken_and_mended_and_ends_with_its_test() {
    let cluster = Bed::private("broken");
    let namespace = testbed::TestNamespace::new("private", std::slice::from_ref(&cluster));
    create(&cluster, namespace.name(), &deployment("registry/web:1", 2, &json!({})));
    wait_ready(&cluster, namespace.name(), 2);

    // Without a controller manager nothing follows a change.
    cluster.stop(Component::ControllerManager);
    assert!(cluster.process(Component::ControllerManager).is_none());
    cluster.start(Component::ControllerManager);

    cluster.kill(Component::ApiServer);
    cluster.call("GET", "/readyz", None).expect_err("the API server is gone");
    cluster.start(Component::ApiServer);
    cluster.stop(Component::ApiServer);
    cluster.start(Component::ApiServer);

    cluster.freeze(Component::Etcd);
    cluster.thaw(Component::Etcd);
    wait_ready(&cluster, namespace.name(), 2);

    // A new kwok takes up its work at once.
    cluster.stop(Component::Kwok);
    cluster.start(Component::Kwok);
    let path = format!("/apis/apps/v1/namespaces/{}/deployments/web", namespace.name());
    let answer = cluster.call("PATCH", &path, Some(&json!({"spec": {"replicas": 3}}))).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text);
    wait_ready(&cluster, namespace.name(), 3);

    let processes: Vec<_> =
        Component::ALL.into_iter().map(|c| cluster.process(c).unwrap()).collect();
    let kubeconfig = cluster.kubeconfig_file();
    assert!(kubeconfig.exists());
    drop(namespace);
    drop(cluster);
    assert!(processes.iter().all(|p| !p.runs()));
    assert!(!kubeconfig.exists());
}
