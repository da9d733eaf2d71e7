//! The application that is deployed: 200 objects of nine kinds, as a team of ten services has them.

use serde_json::{Value, json};

/// Objects of [`application`].
pub(crate) const OBJECTS: usize = 200;
/// Those of them that run an image.
pub(crate) const IMAGES: usize = 40;

/// Its objects, with this tag on each image. Deployments run no pods: what is measured is the deploying.
pub(crate) fn application(tag: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    for n in 0..IMAGES {
        objects.push(deployment(n, tag));
        objects.push(service(n));
        objects.push(config(&format!("app-{n}"), n));
    }
    for n in 0..20 {
        objects.push(config(&format!("shared-{n}"), n));
        objects.push(secret(n));
    }
    for n in 0..10 {
        let name = format!("app-{n}");
        let pods = json!({"matchLabels": {"app": name}});
        objects.push(object("v1", "ServiceAccount", &name, "", Value::Null));
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps", "endpoints"], "verbs": ["get", "list", "watch"]}]);
        objects.push(object("rbac.authorization.k8s.io/v1", "Role", &name, "rules", rules));
        let mut binding = object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            &name,
            "roleRef",
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}),
        );
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": name}]);
        objects.push(binding);
        objects.push(match n % 2 {
            0 => object(
                "policy/v1",
                "PodDisruptionBudget",
                &name,
                "spec",
                json!({"maxUnavailable": 1, "selector": pods}),
            ),
            _ => object(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                &name,
                "spec",
                json!({
                    "podSelector": pods,
                    "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 8080, "protocol": "TCP"}]}],
                }),
            ),
        });
    }
    objects
}

/// A small application: 20 objects of the same kinds, of which each finds what it refers to.
pub(crate) fn small(tag: &str) -> Vec<Value> {
    let all = application(tag);
    let parts = [0..12, 3 * IMAGES..3 * IMAGES + 4, 3 * IMAGES + 40..3 * IMAGES + 44];
    parts.into_iter().flat_map(|part| all.get(part).unwrap_or_default().to_vec()).collect()
}

fn object(api_version: &str, kind: &str, name: &str, key: &str, value: Value) -> Value {
    let labels = json!({
        "app": name,
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": "bench",
    });
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": labels},
    });
    if !key.is_empty() {
        object[key] = value;
    }
    object
}

fn deployment(n: usize, tag: &str) -> Value {
    let name = format!("app-{n}");
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": 5});
    let spec = json!({
        "replicas": 0,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name, "app.kubernetes.io/part-of": "bench"}},
            "spec": {
                "containers": [{
                    "name": "app",
                    "image": format!("registry.example.com/team/app-{n}:{tag}"),
                    "args": ["serve", "--config=/etc/app/settings.properties"],
                    "ports": [{"name": "http", "containerPort": 8080}],
                    "env": [
                        {"name": "PORT", "value": "8080"},
                        {"name": "LOG_LEVEL", "value": "info"},
                        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    ],
                    "envFrom": [{"secretRef": {"name": format!("shared-{}", n % 20)}}],
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "128Mi"},
                        "limits": {"memory": "256Mi"},
                    },
                    "readinessProbe": probe("/ready"),
                    "livenessProbe": probe("/live"),
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
                }],
                "volumes": [{"name": "config", "configMap": {"name": name}}],
            },
        },
    });
    object("apps/v1", "Deployment", &name, "spec", spec)
}

fn service(n: usize) -> Value {
    let name = format!("app-{n}");
    let ports = json!([{"name": "http", "port": 80, "targetPort": "http"}]);
    object("v1", "Service", &name, "spec", json!({"selector": {"app": name}, "ports": ports}))
}

fn config(name: &str, n: usize) -> Value {
    let lines: String = (0..20).map(|i| format!("setting.{i} = value {i} of {n}\n")).collect();
    let data = json!({"settings.properties": lines, "mode": "production"});
    object("v1", "ConfigMap", name, "data", data)
}

fn secret(n: usize) -> Value {
    let data = json!({"TOKEN": format!("token-{n}"), "PASSWORD": format!("password-{n}")});
    object("v1", "Secret", &format!("shared-{n}"), "stringData", data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_has_as_many_objects_as_the_table_says() {
        let objects = application("1");
        assert_eq!(objects.len(), OBJECTS);
        let kinds = |objects: &[Value]| {
            let kinds: std::collections::BTreeSet<String> =
                objects.iter().map(|o| o["kind"].to_string()).collect();
            kinds.len()
        };
        assert_eq!((small("1").len(), kinds(&small("1"))), (20, 8));
        let changed = application("2");
        let differing = objects.iter().zip(&changed).filter(|(a, b)| a != b).count();
        assert_eq!(differing, IMAGES);
    }
}
