//! How clusters are reached, against real API servers: kubeconfigs, certificates, rights, faults.

#![allow(clippy::unwrap_used)]

mod ways;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcd::cluster::{
    Applied, Apply, CallError, CallErrorKind, Cluster, ConnectOptions, Deleted, Impersonate,
    Kubeconfigs, Note, Notes, Refusal, Resource,
};
use mcd::config::{ClusterSpec, TargetName};
use mcd::error::{Error, Exit};
use mcd::manifest::{Gvk, ObjectId};
use serde_json::{Value, json};
use testbed::{Bed, Context, Fault, Flaw, Impostor, Match, Proxy, Reply, TestNamespace, User};

const MANAGER: &str = "mcd:test/web";

fn spec(context: &str) -> ClusterSpec {
    ClusterSpec {
        name: TargetName::new("us-east"),
        context: context.to_owned(),
        kubeconfig: None,
        identity: None,
        in_cluster: false,
        labels: std::collections::BTreeMap::default(),
        values: Value::Null,
        kube_version: None,
        api_versions: Vec::new(),
    }
}

#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<Note>>>);

impl Heard {
    fn notes(&self) -> Notes {
        let heard = self.0.clone();
        Arc::new(move |note| heard.lock().unwrap().push(note))
    }

    fn retries(&self) -> Vec<String> {
        let heard = self.0.lock().unwrap();
        let retries = heard.iter().filter_map(|note| match note {
            Note::Retry { why, .. } => Some(why.clone()),
            Note::Answers | Note::Warning { .. } | Note::InsecureTls => None,
        });
        retries.collect()
    }
}

fn options(kubeconfig: &Path) -> ConnectOptions {
    ConnectOptions { kubeconfig: Some(kubeconfig.to_owned()), ..ConnectOptions::default() }
}

async fn connect(options: &ConnectOptions, context: &str) -> Result<(Cluster, Heard), CallError> {
    let (kubeconfigs, spec, heard) = (Kubeconfigs::new(options), spec(context), Heard::default());
    let cluster = Cluster::connect(&spec.name, &spec, &kubeconfigs, options, heard.notes()).await?;
    Ok((cluster, heard))
}

/// A cluster through one context.
async fn through(context: Context) -> (Cluster, Heard) {
    let kubeconfig = Bed::shared().kubeconfig(&[context.named("here")]);
    connect(&options(kubeconfig.path()), "here").await.unwrap()
}

fn us_east() -> Context {
    Context::of(Bed::shared().cluster("us-east"))
}

fn namespace() -> TestNamespace {
    let bed = Bed::shared();
    TestNamespace::new("connection", std::slice::from_ref(bed.cluster("us-east")))
}

fn resource(api_version: &str, kind: &str, plural: &str) -> Resource {
    Resource::new(Gvk::new(api_version, kind), plural, true)
}

fn config_maps() -> Resource {
    resource("v1", "ConfigMap", "configmaps")
}

fn secrets() -> Resource {
    resource("v1", "Secret", "secrets")
}

fn deployments() -> Resource {
    resource("apps/v1", "Deployment", "deployments")
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"test": name}}, "data": {"a": "1"}})
}

fn deployment(app: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": app}},
        "template": {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
}

async fn apply(
    cluster: &Cluster,
    resource: &Resource,
    namespace: &str,
    body: &Value,
) -> Result<Applied, CallError> {
    let name = body["metadata"]["name"].as_str().unwrap();
    let how = Apply { manager: MANAGER, force: false, dry_run: false };
    cluster.apply(resource, Some(namespace), name, body, how).await
}

/// What the user reads, hints included.
fn read(error: CallError) -> (Exit, String) {
    let error = error.into_error(&TargetName::new("us-east"), None);
    (error.exit(), full(&error))
}

fn full(error: &Error) -> String {
    let hints: String = error.hints().iter().map(|hint| format!("\nhint: {hint}")).collect();
    format!("{error}{hints}")
}

#[tokio::test]
async fn objects_go_in_and_out() {
    let namespace = namespace();
    let (cluster, heard) = through(us_east()).await;
    let (ns, maps) = (namespace.name(), config_maps());
    assert!(cluster.version().await.unwrap().git_version.starts_with("v1."));
    let discovery = cluster.discovery().await.unwrap();
    let found = discovery.resolve(&Gvk::new("apps/v1", "Deployment")).unwrap();
    assert_eq!((found.plural.as_str(), found.namespaced), ("deployments", true));
    assert!(found.can("patch") && found.has_subresource("scale"));
    assert!(!discovery.by_kind("", "Namespace").unwrap().namespaced);
    let versions = discovery.api_versions();
    assert!(
        ["v1", "v1/Pod", "apps/v1/Deployment"].iter().all(|v| versions.contains(&(*v).to_owned()))
    );

    let how = Apply { manager: MANAGER, force: false, dry_run: true };
    let dry = cluster.apply(&maps, Some(ns), "a", &config_map("a"), how).await.unwrap();
    assert!(dry.created);
    assert_eq!(cluster.get(&maps, Some(ns), "a").await.unwrap(), None);
    assert!(apply(&cluster, &maps, ns, &config_map("a")).await.unwrap().created);
    let again = apply(&cluster, &maps, ns, &config_map("a")).await.unwrap();
    assert!(!again.created);
    assert_eq!(cluster.get(&maps, Some(ns), "a").await.unwrap().unwrap(), again.object);
    let near = cluster.now().duration_since(jiff::Timestamp::now()).abs();
    assert!(near < jiff::SignedDuration::from_secs(3), "{near}");

    let made = cluster.create(&maps, Some(ns), &config_map("b"), MANAGER).await.unwrap();
    let exists = cluster.create(&maps, Some(ns), &config_map("b"), MANAGER).await.unwrap_err();
    assert_eq!(exists.refusal(), Some(&Refusal::AlreadyExists));
    let listed = cluster.list(&maps, Some(ns), Some("test in (a,b)"), None).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|o| o["kind"] == "ConfigMap" && o["apiVersion"] == "v1"));
    let metadata = cluster.list_metadata(&maps, Some(ns), Some("test=a"), None).await.unwrap();
    assert_eq!(metadata[0]["kind"], "ConfigMap");
    assert_eq!(metadata[0]["metadata"]["name"], "a");
    assert!(metadata[0].get("data").is_none());

    let rv = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let patch = json!({"metadata": {"resourceVersion": rv(&made)}, "data": {"a": "2"}});
    cluster.merge_patch(&maps, Some(ns), "b", &patch, MANAGER, false).await.unwrap();
    let stale =
        cluster.merge_patch(&maps, Some(ns), "b", &patch, MANAGER, false).await.unwrap_err();
    assert_eq!(stale.refusal(), Some(&Refusal::Moved));
    let patch = json!([{"op": "replace", "path": "/metadata/resourceVersion", "value": rv(&made)}]);
    let stale = cluster.json_patch(&maps, Some(ns), "b", &patch, MANAGER, false).await.unwrap_err();
    assert_eq!(stale.refusal(), Some(&Refusal::Moved));
    let replaced =
        cluster.replace(&maps, Some(ns), "b", &config_map("b"), MANAGER, true).await.unwrap();
    assert_eq!(replaced["data"]["a"], "1");

    let other = cluster.delete(&maps, Some(ns), "b", Some("no-such-uid")).await.unwrap_err();
    assert_eq!(other.refusal(), Some(&Refusal::Moved));
    let uid = made["metadata"]["uid"].as_str();
    assert_eq!(cluster.delete(&maps, Some(ns), "b", uid).await.unwrap(), Deleted::Gone);
    assert_eq!(cluster.delete(&maps, Some(ns), "b", uid).await.unwrap(), Deleted::NotFound);
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["example.com/hold"]}});
    apply(&cluster, &maps, ns, &held).await.unwrap();
    assert_eq!(cluster.delete(&maps, Some(ns), "a", None).await.unwrap(), Deleted::Accepted);
    let free = json!({"metadata": {"finalizers": null}});
    cluster.merge_patch(&maps, Some(ns), "a", &free, MANAGER, false).await.unwrap();
    assert_eq!(heard.retries(), [""; 0]);
}

/// Rows of A4 from the real server.
#[tokio::test]
async fn refusals_are_told_apart_and_show_no_value() {
    let namespace = namespace();
    let (cluster, _) = through(us_east()).await;
    let ns = namespace.name();
    let refused = async |resource: Resource, body: Value| {
        let error = apply(&cluster, &resource, ns, &body).await.unwrap_err();
        let refusal = error.refusal().cloned().unwrap_or_else(|| panic!("{error:?}"));
        let (exit, text) = read(error);
        assert!(!text.contains("hunter2") && !text.contains("12345678"), "{text}");
        assert!(!format!("{refusal:?}").contains("12345678"), "{refusal:?}");
        (refusal, exit, text)
    };
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data});

    for data in [json!({"p": 12345678}), json!({"p": {"x": "hunter2"}})] {
        let (refusal, exit, _) = refused(secrets(), secret(data)).await;
        assert_eq!(refusal, Refusal::Schema { message: ".data.p".to_owned() });
        assert_eq!(exit, Exit::Manifest);
    }
    let (refusal, ..) = refused(secrets(), secret(json!({"p": "hunter2!"}))).await;
    assert_eq!(refusal, Refusal::Schema { message: "a value of `data` is not base64".to_owned() });
    let large = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"p": "x".repeat(1_048_577)}});
    let (refusal, exit, _) = refused(secrets(), large).await;
    assert!(matches!(refusal, Refusal::TooLarge { .. }), "{refusal:?}");
    assert_eq!(exit, Exit::Manifest);

    let mut odd = deployment("web");
    odd["spec"]["tepmlate"] = json!({});
    odd["spec"]["replicas"] = json!("three");
    let (refusal, exit, _) = refused(deployments(), odd).await;
    let Refusal::Schema { message } = refusal else { panic!("{refusal:?}") };
    assert!(message.contains(".spec.tepmlate: field not declared in schema"), "{message}");
    assert_eq!(exit, Exit::Manifest);

    let mut bad = deployment("web");
    bad["spec"]["template"]["spec"]["containers"][0]["name"] = json!("Bad_Name");
    let (refusal, _, text) = refused(deployments(), bad).await;
    let Refusal::Invalid { causes } = refusal else { panic!("{refusal:?}") };
    assert_eq!(causes[0].field, "spec.template.spec.containers[0].name");
    assert!(causes[0].message.contains("lowercase RFC 1123 label"), "{causes:?}");
    assert!(text.contains("the server finds the object invalid: `spec.template"), "{text}");

    apply(&cluster, &deployments(), ns, &deployment("web")).await.unwrap();
    let (refusal, exit, text) = refused(deployments(), deployment("hunter2")).await;
    assert!(
        matches!(&refusal, Refusal::Immutable { field, .. } if field == "spec.selector"),
        "{refusal:?}"
    );
    assert_eq!(exit, Exit::Manifest);
    assert!(text.contains("`spec.selector` cannot be changed once the object exists"), "{text}");

    let edit =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "other"}]}}}});
    let workloads = deployments();
    cluster.merge_patch(&workloads, Some(ns), "web", &edit, "kubectl-edit", false).await.unwrap();
    let (refusal, exit, _) = refused(deployments(), deployment("web")).await;
    let Refusal::Conflict(conflicts) = refusal else { panic!("{refusal:?}") };
    assert_eq!((conflicts[0].manager.as_str(), exit), ("kubectl-edit", Exit::Blocked));
    assert_eq!(conflicts[0].field, ".spec.template.spec.containers[name=\"c\"].image");

    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let (refusal, exit, text) =
        refused(resource("example.com/v1", "Widget", "widgets"), widget).await;
    assert_eq!((refusal, exit), (Refusal::MissingKind, Exit::Manifest));
    assert!(text.contains("the cluster has no kind `Widget` in `example.com/v1`"), "{text}");

    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"count/services": "0"}}});
    apply(&cluster, &resource("v1", "ResourceQuota", "resourcequotas"), ns, &quota).await.unwrap();
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let services = resource("v1", "Service", "services");
    testbed::wait_for("the quota counts", Duration::from_secs(30), || {
        let path = format!("/api/v1/namespaces/{ns}/resourcequotas/q");
        let status = Bed::shared().cluster("us-east").get(&path)["status"].clone();
        if status["hard"].is_object() { Ok(()) } else { Err(status.to_string()) }
    });
    let (refusal, exit, text) = refused(services, service).await;
    assert!(matches!(refusal, Refusal::Quota { .. }), "{refusal:?}");
    assert_eq!(exit, Exit::Manifest);
    assert!(text.contains("exceeded quota: q, requested: count/services=1"), "{text}");

    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"serviceAccountName": "nobody", "containers": [{"name": "c", "image": "i"}]}});
    let (refusal, ..) = refused(resource("v1", "Pod", "pods"), pod).await;
    assert!(matches!(refusal, Refusal::MissingReference { .. }), "{refusal:?}");

    let error =
        apply(&cluster, &config_maps(), "no-such-namespace", &config_map("a")).await.unwrap_err();
    let name = "no-such-namespace".to_owned();
    assert_eq!(error.refusal(), Some(&Refusal::MissingNamespace { name }));
}

#[tokio::test]
async fn a_namespace_that_is_being_deleted_says_so() {
    let namespace = namespace();
    let (cluster, _) = through(us_east()).await;
    let ns = namespace.name();
    // Something with a finalizer keeps the namespace.
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    apply(&cluster, &config_maps(), ns, &held).await.unwrap();
    let namespaces = Resource::new(Gvk::new("v1", "Namespace"), "namespaces", false);
    assert_eq!(cluster.delete(&namespaces, None, ns, None).await.unwrap(), Deleted::Accepted);
    let error = apply(&cluster, &config_maps(), ns, &config_map("a")).await.unwrap_err();
    assert_eq!(error.refusal(), Some(&Refusal::NamespaceTerminating { name: ns.to_owned() }));
    let (exit, text) = read(error);
    assert_eq!(exit, Exit::Blocked);
    assert!(
        text.contains("is being deleted\nhint: wait until it is gone, then try again"),
        "{text}"
    );
    let free = json!({"metadata": {"finalizers": null}});
    cluster.merge_patch(&config_maps(), Some(ns), "held", &free, MANAGER, false).await.unwrap();
}

#[tokio::test]
async fn a_webhook_that_is_down_is_tried_again_and_named() {
    let namespace = namespace();
    let (cluster, heard) = through(us_east()).await;
    let ns = namespace.name();
    let name = format!("{ns}-hook");
    let hooks = Resource::new(
        Gvk::new("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
        "validatingwebhookconfigurations",
        false,
    );
    let hook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "down.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"},
            "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        }],
    });
    let how = Apply { manager: MANAGER, force: true, dry_run: false };
    cluster.apply(&hooks, None, &name, &hook, how).await.unwrap();
    // The server takes a moment to hear of the webhook.
    let deadline = Instant::now() + Duration::from_secs(30);
    let error = loop {
        match apply(&cluster, &config_maps(), ns, &config_map("a")).await {
            Err(error) => break error,
            Ok(_) => assert!(Instant::now() < deadline, "the webhook is never called"),
        }
    };
    cluster.delete(&hooks, None, &name, None).await.unwrap();
    assert_eq!(heard.retries(), ["500, a webhook could not be called"; 3]);
    let (exit, text) = read(error);
    assert_eq!(exit, Exit::Failed);
    assert!(
        text.starts_with(
            "us-east: the webhook `down.example.com` could not be called: connection refused"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn rights_and_credentials() {
    let namespace = namespace();
    let ns = namespace.name();
    let (cluster, _) = through(us_east().as_user(User::named("dev"))).await;
    let error = apply(&cluster, &deployments(), ns, &deployment("web")).await.unwrap_err();
    assert!(error.is_forbidden());
    let (exit, text) = read(error);
    assert_eq!(exit, Exit::Failed);
    let expected = format!(
        "us-east: user `dev` cannot patch `deployments.apps` in namespace `{ns}`\nhint: ask for the right"
    );
    assert!(text.starts_with(&expected), "{text}");
    let error = cluster.list(&secrets(), Some(ns), None, None).await.unwrap_err();
    assert_eq!(error.exit(), Exit::Unreachable);
    assert!(!cluster.may("patch", &deployments(), Some(ns), Some("web")).await.unwrap());
    assert_eq!(cluster.whoami().await.unwrap(), "dev");
    let (admin, _) = through(us_east()).await;
    assert!(admin.may("patch", &deployments(), Some(ns), None).await.unwrap());

    let (cluster, _) = through(us_east().as_user(User::Token("hunter2".to_owned()))).await;
    let error = cluster.discovery().await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unauthorized);
    let (exit, text) = read(error);
    assert_eq!(exit, Exit::Unreachable);
    assert!(text.contains("refused the credentials of user `here` (401)"), "{text}");
    assert!(text.contains("hint: log in again") && !text.contains("hunter2"), "{text}");

    let bed = Bed::shared();
    let token = bed.cluster("us-east").service_account_token(ns, "default");
    let (cluster, _) = through(us_east().as_user(User::Token(token))).await;
    cluster.discovery().await.unwrap();

    let kubeconfig = bed.kubeconfig(&[us_east()]);
    let mut options = options(kubeconfig.path());
    options.impersonate =
        Some(Impersonate { user: "jo".to_owned(), groups: vec!["team".to_owned()], uid: None });
    let (cluster, _) = connect(&options, "us-east").await.unwrap();
    let (_, text) = read(cluster.list(&secrets(), Some(ns), None, None).await.unwrap_err());
    assert!(text.contains("user `jo` cannot list `secrets`"), "{text}");
}

/// A pod's service account: its token is read again when the server refuses the one that was read.
#[tokio::test]
async fn a_server_that_refuses_hangs_or_resets_is_named_in_time() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let kubeconfig = Bed::shared().kubeconfig(&[proxy.context().named("here")]);
    let mut options = options(kubeconfig.path());
    options.request_timeout = Duration::from_secs(2);
    options.connect_timeout = Duration::from_secs(1);
    let (cluster, _) = connect(&options, "here").await.unwrap();
    cluster.version().await.unwrap();
    let map = config_maps();
    let down = async || {
        let started = Instant::now();
        let (exit, text) = read(cluster.get(&map, Some("default"), "x").await.unwrap_err());
        assert_eq!(exit, Exit::Unreachable);
        assert!(text.contains(&format!("`{}`", proxy.address())), "{text}");
        assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
        text
    };
    proxy.refuse();
    assert!(down().await.contains("cannot be reached: connection refused\nhint: "));
    proxy.reset();
    let text = down().await;
    assert!(text.contains("cannot be reached: ") && text.contains("reset"), "{text}");
    proxy.hang();
    let text = down().await;
    assert!(
        text.contains("no connection within 1s") || text.contains("gave no answer within 2s"),
        "{text}"
    );
    proxy.open();
    assert_eq!(cluster.get(&map, Some("default"), "x").await.unwrap(), None);
}

#[tokio::test]
async fn faults_that_pass_are_told_and_leave_the_result() {
    let namespace = namespace();
    let ns = namespace.name();
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let (cluster, heard) = through(proxy.context()).await;
    let maps = config_maps();
    proxy.inject(Match::any().times(1), Fault::Answer(Reply::status(503)));
    proxy.inject(Match::any().times(1), Fault::Answer(Reply::status(429).retry_after(1)));
    // The server applies it, and the answer is lost.
    proxy.inject(Match::writes().times(1), Fault::ResetAfter);
    let applied = apply(&cluster, &maps, ns, &config_map("a")).await.unwrap();
    assert!(!applied.created);
    let retries = heard.retries();
    assert_eq!(retries[..2], ["503 Service Unavailable", "429 Too Many Requests"]);
    assert_eq!(retries.len(), 3, "{retries:?}");

    // A create is not sent twice: whether it happened is for the caller to look at.
    proxy.inject(Match::writes().times(1), Fault::ResetAfter);
    let error = cluster.create(&maps, Some(ns), &config_map("b"), MANAGER).await.unwrap_err();
    assert!(matches!(error.kind, CallErrorKind::Unreachable { .. }), "{error:?}");
    assert!(cluster.get(&maps, Some(ns), "b").await.unwrap().is_some());
    let posts = proxy.writes().into_iter().filter(|write| write.method == "POST");
    assert_eq!(posts.count(), 1);

    // Half an answer is none.
    proxy.inject(Match::any().times(1), Fault::Cut(20));
    assert!(cluster.get(&maps, Some(ns), "b").await.unwrap().is_some());

    let page = Reply::status(502).body("text/html", "<html>hunter2</html>");
    proxy.inject(Match::any(), Fault::Answer(page));
    let object = ObjectId {
        group: String::new(),
        kind: "ConfigMap".into(),
        namespace: Some(ns.into()),
        name: "b".into(),
    };
    let error = cluster.get(&maps, Some(ns), "b").await.unwrap_err();
    let error = error.into_error(&TargetName::new("us-east"), Some(&object));
    assert_eq!(error.exit(), Exit::Unreachable);
    let text = full(&error);
    assert!(text.contains("is not available") && !text.contains("hunter2"), "{text}");
    assert!(
        text.starts_with(&format!("us-east: ConfigMap {ns}/b: `{}`", proxy.address())),
        "{text}"
    );
}
