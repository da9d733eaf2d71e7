//! What goes over the wire, and what comes of answers.

use super::*;
use crate::cluster::connect::Impersonate;
use crate::cluster::fake::{Fake, Reply, Setup};
use crate::manifest::Gvk;

fn resource(api_version: &str, kind: &str, plural: &str, namespaced: bool) -> Resource {
    Resource::new(Gvk::new(api_version, kind), plural, namespaced)
}

fn deployments() -> Resource {
    resource("apps/v1", "Deployment", "deployments", true)
}

fn named(name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}})
}

#[tokio::test]
async fn verbs_are_what_the_api_calls_them() {
    let fake = Fake::serve(|seen, _| match seen.line.split(' ').next() {
        Some("POST") => Reply::json(201, &named("web")),
        Some("PATCH") if seen.line.contains("force=true") => Reply::json(201, &named("web")),
        _ => Reply::json(200, &named("web")),
    })
    .await;
    let mut setup = Setup::new(&fake.url, "");
    let groups = vec!["a".to_owned(), "b".to_owned()];
    setup.options.impersonate = Some(Impersonate { user: "jo".to_owned(), groups, uid: None });
    let cluster = setup.connect().await;
    let (kind, ns, body) = (deployments(), Some("shop"), named("web"));
    let manager = "mcd:shop/web";
    let how = |force, dry_run| Apply { manager, force, dry_run };
    assert!(!cluster.apply(&kind, ns, "web", &body, how(false, true)).await.unwrap().created);
    assert!(cluster.apply(&kind, ns, "web", &body, how(true, false)).await.unwrap().created);
    cluster.create(&kind, ns, &body, manager).await.unwrap();
    cluster.replace(&kind, ns, "web", &body, manager, true).await.unwrap();
    cluster.json_patch(&kind, ns, "web", &json!([]), manager, false).await.unwrap();
    cluster.merge_patch(&kind, ns, "web", &json!({}), manager, true).await.unwrap();
    cluster.delete(&kind, ns, "web", Some("u-1")).await.unwrap();
    cluster.get(&kind, ns, "a/../b?c").await.unwrap();
    let roles = resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false);
    cluster.get(&roles, Some("ignored"), "system:x").await.unwrap();
    let base = "/apis/apps/v1/namespaces/shop/deployments";
    let m = "fieldManager=mcd%3Ashop%2Fweb";
    let expected = [
        (
            format!("PATCH {base}/web?{m}&dryRun=All&fieldValidation=Strict"),
            "application/apply-patch+yaml",
        ),
        (
            format!("PATCH {base}/web?{m}&fieldValidation=Strict&force=true"),
            "application/apply-patch+yaml",
        ),
        (format!("POST {base}?{m}&fieldValidation=Strict"), JSON),
        (format!("PUT {base}/web?{m}&dryRun=All&fieldValidation=Strict"), JSON),
        (format!("PATCH {base}/web?{m}"), "application/json-patch+json"),
        (format!("PATCH {base}/web?{m}&dryRun=All"), "application/merge-patch+json"),
        (format!("DELETE {base}/web"), JSON),
        (format!("GET {base}/a%2F..%2Fb%3Fc"), JSON),
        ("GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax".to_owned(), JSON),
    ];
    let seen = fake.seen();
    assert_eq!(seen.len(), expected.len());
    for (seen, (line, content_type)) in seen.iter().zip(expected) {
        assert_eq!(seen.line, format!("{line} HTTP/1.1"));
        assert_eq!(seen.header("content-type"), [content_type]);
        assert_eq!(seen.header("impersonate-user"), ["jo"]);
        assert_eq!(seen.header("impersonate-group"), ["a", "b"]);
        assert!(seen.header("user-agent")[0].starts_with("mcd/"));
    }
    let options: Value = serde_json::from_str(&seen[6].body).unwrap();
    assert_eq!(options["preconditions"]["uid"], "u-1");
    assert_eq!(options["propagationPolicy"], "Background");
}

#[tokio::test]
async fn an_object_without_name_or_namespace_is_never_sent() {
    let fake = Fake::serve(|_, _| Reply::json(200, &named("web"))).await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    let error = cluster.delete(&deployments(), Some("shop"), "", None).await.unwrap_err();
    assert!(error.to_string().contains("has no name"), "{error}");
    let error = cluster.get(&deployments(), None, "web").await.unwrap_err();
    assert!(error.to_string().contains("has no namespace"), "{error}");
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn lists_are_paged_and_items_get_their_kind() {
    let fake = Fake::serve(|seen, _| {
        let page = |items: Value, next: &str| {
            Reply::json(
                200,
                &json!({"kind": "SecretList", "metadata": {"continue": next}, "items": items}),
            )
        };
        let item = |name: &str| json!({"metadata": {"name": name}});
        if seen.line.contains("continue=a%2Bb") {
            page(json!([item("c")]), "")
        } else {
            page(json!([item("a"), item("b")]), "a+b")
        }
    })
    .await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    let secrets = resource("v1", "Secret", "secrets", true);
    let found =
        cluster.list(&secrets, Some("shop"), Some("app in (a,b)"), Some("type=x")).await.unwrap();
    let names: Vec<_> = found.iter().map(|o| o["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(found.iter().all(|o| o["kind"] == "Secret" && o["apiVersion"] == "v1"));
    let lines = fake.lines();
    assert_eq!(
        lines[0],
        "GET /api/v1/namespaces/shop/secrets?labelSelector=app%20in%20%28a%2Cb%29&fieldSelector=type%3Dx&limit=500 HTTP/1.1"
    );
    assert_eq!(lines.len(), 2);
    cluster.list_metadata(&secrets, None, None, None).await.unwrap();
    let seen = fake.seen();
    assert!(seen[2].line.starts_with("GET /api/v1/secrets?"));
    assert!(seen[2].header("accept")[0].contains("as=PartialObjectMetadataList"));
}

#[tokio::test]
async fn a_list_that_expired_midway_starts_anew_in_one_piece() {
    let fake = Fake::serve(|seen, _| {
        let list = |items: Value, next: &str| {
            Reply::json(200, &json!({"kind": "L", "metadata": {"continue": next}, "items": items}))
        };
        if seen.line.contains("continue=") {
            Reply::json(410, &json!({"kind": "Status", "reason": "Expired", "code": 410}))
        } else if seen.line.contains("limit=") {
            list(json!([{"metadata": {"name": "a"}}]), "x")
        } else {
            list(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]), "")
        }
    })
    .await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    assert_eq!(cluster.list(&deployments(), Some("shop"), None, None).await.unwrap().len(), 2);
    assert_eq!(fake.seen().len(), 3);
}

#[tokio::test]
async fn lists_of_any_shape_are_survived() {
    let cases = [
        (json!({"kind": "L", "metadata": {}, "items": null}), true),
        (json!({"kind": "L", "metadata": {}}), true),
        (json!({"kind": "Status", "metadata": {}}), false),
        (json!({"items": [1]}), false),
        (json!({"items": {}}), false),
        (json!({}), false),
    ];
    for (body, fine) in cases {
        let answer = body.clone();
        let fake = Fake::serve(move |_, _| Reply::json(200, &answer)).await;
        let cluster = Setup::new(&fake.url, "").connect().await;
        let found = cluster.list(&deployments(), Some("shop"), None, None).await;
        assert_eq!(found.is_ok(), fine, "{body}: {found:?}");
    }
}

#[tokio::test]
async fn missing_is_none_for_objects_and_an_error_for_kinds() {
    let fake = Fake::serve(|seen, _| {
        let details = |kind: &str| json!({"kind": kind, "name": "web"});
        let missing = |kind: &str| {
            Reply::json(404, &json!({"kind": "Status", "reason": "NotFound", "code": 404, "details": details(kind)}))
        };
        match &seen.line {
            line if line.contains("/widgets") => Reply::Answer(404, vec![], b"404 page not found\n".into()),
            line if line.contains("/gone/") => missing("namespaces"),
            _ => missing("deployments"),
        }
    })
    .await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    for namespace in ["shop", "gone"] {
        assert_eq!(cluster.get(&deployments(), Some(namespace), "web").await.unwrap(), None);
        let deleted = cluster.delete(&deployments(), Some(namespace), "web", None).await.unwrap();
        assert_eq!(deleted, Deleted::NotFound);
    }
    let widgets = resource("example.com/v1", "Widget", "widgets", true);
    let error = cluster.get(&widgets, Some("shop"), "web").await.unwrap_err();
    assert!(error.is_missing());
    let error = error.into_error(&crate::config::TargetName::new("us-east"), None);
    assert_eq!(error.to_string(), "us-east: the cluster has no kind `Widget` in `example.com/v1`");
    assert_eq!(
        error.hints(),
        ["the definition of `Widget` must be applied first, or its version is another one"]
    );
}

#[tokio::test]
async fn deletes_say_whether_the_object_is_gone() {
    let cases = [
        (200, json!({"kind": "Status", "status": "Success"}), Deleted::Gone),
        (
            200,
            json!({"kind": "Pod", "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
            Deleted::Accepted,
        ),
        (202, json!({"kind": "Status", "status": "Success"}), Deleted::Accepted),
    ];
    for (status, body, expected) in cases {
        let fake = Fake::serve(move |_, _| Reply::json(status, &body)).await;
        let cluster = Setup::new(&fake.url, "").connect().await;
        let deleted = cluster.delete(&deployments(), Some("shop"), "web", None).await.unwrap();
        assert_eq!(deleted, expected);
    }
}

fn aggregated(seen: &str) -> Value {
    let core = json!([{"metadata": {}, "versions": [{"version": "v1", "resources": [
        {"resource": "pods", "scope": "Namespaced", "verbs": ["get"], "responseKind": {"kind": "Pod"}}]}]}]);
    let groups = json!([{"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [
        {"resource": "deployments", "scope": "Namespaced", "verbs": ["get"], "responseKind": {"kind": "Deployment"}}]}]}]);
    let items = if seen.contains("/apis") { groups } else { core };
    json!({"kind": "APIGroupDiscoveryList", "items": items})
}

#[tokio::test]
async fn discovery_takes_two_calls_and_is_kept() {
    let fake = Fake::serve(|seen, _| Reply::json(200, &aggregated(&seen.line))).await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    let discovery = cluster.discovery().await.unwrap();
    assert!(discovery.resolve(&Gvk::new("apps/v1", "Deployment")).is_some());
    assert!(discovery.resolve(&Gvk::new("v1", "Pod")).is_some());
    cluster.discovery().await.unwrap();
    assert_eq!(fake.seen().len(), 2);
    cluster.refresh_discovery().await.unwrap();
    assert_eq!(fake.seen().len(), 4);
}

#[tokio::test]
async fn an_old_server_is_asked_group_by_group_and_a_broken_group_is_noted() {
    let fake = Fake::serve(|seen, _| {
        let path = seen.line.split(' ').nth(1).unwrap_or_default();
        let resources = |name: &str, kind: &str| {
            Reply::json(200, &json!({"kind": "APIResourceList", "resources": [
                {"name": name, "kind": kind, "namespaced": true, "verbs": ["get"]}]}))
        };
        let group = |name: &str| json!({"name": name, "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}});
        match path {
            "/api" => Reply::json(200, &json!({"kind": "APIVersions", "versions": ["v1"]})),
            "/apis" => Reply::json(200, &json!({"kind": "APIGroupList", "groups": [group("apps"), group("broken.io")]})),
            "/api/v1" => resources("pods", "Pod"),
            "/apis/apps/v1" => resources("deployments", "Deployment"),
            _ => Reply::json(503, &json!({"kind": "Status", "code": 503})),
        }
    })
    .await;
    let mut setup = Setup::new(&fake.url, "");
    setup.options.retry = crate::cluster::RetryPolicy::none();
    let discovery = setup.connect().await.discovery().await.unwrap();
    assert!(discovery.resolve(&Gvk::new("apps/v1", "Deployment")).is_some());
    assert_eq!(discovery.stale_groups(), ["broken.io/v1"]);
    assert_eq!(
        discovery.api_versions(),
        ["apps/v1", "apps/v1/Deployment", "broken.io/v1", "v1", "v1/Pod"]
    );
}

#[tokio::test]
async fn the_version_is_asked_for_once() {
    let version = json!({"major": "1", "minor": "34", "gitVersion": "v1.34.2"});
    let fake = Fake::serve(move |_, _| Reply::json(200, &version)).await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    assert_eq!(cluster.version().await.unwrap().git_version, "v1.34.2");
    cluster.version().await.unwrap();
    assert_eq!(fake.seen().len(), 1);
    let fake = Fake::serve(|_, _| Reply::json(200, &json!({"major": 1}))).await;
    let cluster = Setup::new(&fake.url, "").connect().await;
    assert!(cluster.version().await.unwrap_err().to_string().contains("it is not a version"));
}
