//! T2: what a canary is, whole.

use super::*;

fn settings() -> VariantSettings {
    let mut settings = VariantSettings::default();
    settings.label.key = "variant".into();
    settings
}

/// The release, with the content of ConfigMap `cfg`.
fn release(tag: &str, cfg: &str) -> Vec<Value> {
    vec![
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg", "namespace": "shop"},
            "immutable": true, "data": {"mode": cfg}}),
        json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": "tls"}, "data": {"tls.crt": "YQ==", "tls.key": cfg}}),
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {
                "external-dns.alpha.kubernetes.io/hostname": "web.example.com"}},
            "spec": {"type": "NodePort", "externalTrafficPolicy": "Local", "clusterIP": "10.0.0.9",
                "clusterIPs": ["10.0.0.9"], "healthCheckNodePort": 30999,
                "loadBalancerClass": "x", "selector": {"app": "web"},
                "ports": [{"name": "http", "port": 80, "targetPort": "http", "nodePort": 30080}]}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {
                "note": "kept", "deployment.kubernetes.io/revision": "4",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "mcd.dev/protect": "true", "mcd.dev/order": "65"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                "futureField": {"kept": 1},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                    "containers": [{"name": "web", "image": format!("web:{tag}"),
                        "envFrom": [{"configMapRef": {"name": "cfg"}}]}],
                    "volumes": [{"name": "v", "projected": {"sources": [
                        {"configMap": {"name": "cfg"}}]}}]}}}}),
    ]
}

#[test]
fn a_canary_with_a_service() {
    let mut world = World::running(release("1", "a")).to(release("2", "b"));
    world.settings = settings();
    let before = world.set.clone();
    let variant = world.made(&with_service("50%"));
    assert_eq!(world.set, before);
    assert_eq!(
        shorts(&variant.objects),
        ["configmap/cfg-canary", "service/web-canary", "deployment.apps/web-canary"]
    );
    assert!(variant.prerequisites.is_empty() && variant.partitioned.is_empty());
    assert!(variant.first.is_empty());
    assert_eq!(
        *find(&variant.objects, "deployment.apps/web-canary"),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web-canary", "namespace": "shop",
                "labels": {"app": "web", "variant": "canary"},
                "annotations": {"note": "kept", "mcd.dev/order": "65", "mcd.dev/apply": "recreate"}},
            "spec": {"replicas": 2,
                "selector": {"matchLabels": {"app": "web", "variant": "canary"}},
                "futureField": {"kept": 1},
                "template": {"metadata": {"labels": {"app": "web", "variant": "canary"}}, "spec": {
                    "containers": [{"name": "web", "image": "web:2",
                        "envFrom": [{"configMapRef": {"name": "cfg-canary"}}]}],
                    "volumes": [{"name": "v", "projected": {"sources": [
                        {"configMap": {"name": "cfg-canary"}}]}}]}}}})
    );
    assert_eq!(
        *find(&variant.objects, "service/web-canary"),
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web-canary", "namespace": "shop",
                "labels": {"app": "web", "variant": "canary"},
                "annotations": {"mcd.dev/apply": "recreate"}},
            "spec": {"type": "ClusterIP", "selector": {"app": "web", "variant": "canary"},
                "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}})
    );
    assert_eq!(
        *find(&variant.objects, "configmap/cfg-canary"),
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "cfg-canary", "namespace": "shop", "labels": {"variant": "canary"},
                "annotations": {"mcd.dev/apply": "recreate"}},
            "immutable": true, "data": {"mode": "b"}})
    );
    assert_eq!(
        variant.notes,
        ["Service shop/web spreads by number of pods: 2 of 5 are the canary's"]
    );
}

/// The canary's replicas of a Deployment with `spec` in the manifest, of which `live` pods run.
fn replicas(amount: &str, spec: Value, live: u32) -> u64 {
    let mut release = release("2", "a");
    release[3]["spec"]["replicas"] = spec;
    if release[3]["spec"]["replicas"].is_null() {
        release[3]["spec"].as_object_mut().unwrap().remove("replicas");
    }
    let mut world = World::running(release);
    let web = id("apps", "Deployment", "web");
    world.live.get_mut(&web).unwrap()["spec"]["replicas"] = live.into();
    let variant = world.made(&sized(amount));
    find(&variant.objects, "deployment.apps/web-canary")["spec"]["replicas"].as_u64().unwrap()
}

#[test]
fn the_size_is_of_what_is_live() {
    for (amount, spec, live, expected) in [
        ("50%", json!(3), 3, 2),
        ("5", json!(null), 1, 5),
        // An autoscaler has set it.
        ("20%", json!(null), 10, 2),
        ("20%", json!(3), 11, 3),
        ("1%", json!(3), 3, 1),
        ("100%", json!(3), 4, 4),
        ("20%", json!(0), 0, 1),
    ] {
        assert_eq!(replicas(amount, spec.clone(), live), expected, "{amount} of {live}, {spec}");
    }
    for none in ["0%", "0"] {
        let world = World::running(release("1", "a"));
        let expected = format!("3 a canary has at least one pod: `replicas` is `{none}`; ");
        assert!(world.refused(&sized(none)).starts_with(&expected), "{none}");
    }
}
