//! What a pod template refers to by name.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::{Gvk, ObjectId};

/// The pod template of a workload (or a Pod itself); none for other kinds.
pub fn pod_template<'v>(gvk: &Gvk, object: &'v Value) -> Option<&'v Value> {
    let template = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => &object["spec"]["template"],
        ("batch", "CronJob") => &object["spec"]["jobTemplate"]["spec"]["template"],
        ("", "Pod") => object,
        _ => return None,
    };
    template.is_object().then_some(template)
}

/// What the pods of a workload cannot start without, and the server does not check: the service
/// account (but `default`, which a controller makes), the priority class, ConfigMaps and Secrets
/// that are not optional.
pub fn references(gvk: &Gvk, object: &Value, namespace: &str) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    let Some(template) = pod_template(gvk, object) else { return found };
    let spec = &template["spec"];
    let mut add = |group: &str, kind: &str, namespaced: bool, name: &Value| {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            found.insert(ObjectId {
                group: group.to_owned(),
                kind: kind.to_owned(),
                namespace: namespaced.then(|| namespace.to_owned()),
                name: name.to_owned(),
            });
        }
    };
    if spec["serviceAccountName"] != "default" {
        add("", "ServiceAccount", true, &spec["serviceAccountName"]);
    }
    // Kubernetes' own classes always exist.
    if !spec["priorityClassName"].as_str().is_some_and(|name| name.starts_with("system-")) {
        add("scheduling.k8s.io", "PriorityClass", false, &spec["priorityClassName"]);
    }
    let each = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let needed = |reference: &Value| reference["optional"] != true;
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in each(&spec[list]) {
            for from in each(&container["envFrom"]) {
                for (key, kind) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
                    if needed(&from[key]) {
                        add("", kind, true, &from[key]["name"]);
                    }
                }
            }
            for env in each(&container["env"]) {
                let from = &env["valueFrom"];
                for (key, kind) in [("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")] {
                    if needed(&from[key]) {
                        add("", kind, true, &from[key]["name"]);
                    }
                }
            }
        }
    }
    for volume in each(&spec["volumes"]) {
        if needed(&volume["configMap"]) {
            add("", "ConfigMap", true, &volume["configMap"]["name"]);
        }
        if needed(&volume["secret"]) {
            add("", "Secret", true, &volume["secret"]["secretName"]);
        }
        for source in each(&volume["projected"]["sources"]) {
            for (key, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
                if needed(&source[key]) {
                    add("", kind, true, &source[key]["name"]);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_pods_need() {
        let object = json!({"spec": {"template": {"spec": {
            "serviceAccountName": "runner", "priorityClassName": "high",
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "init"}}]}],
            "containers": [{"env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "tokens", "key": "a"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "maybe", "key": "b", "optional": true}}},
            ]}],
            "volumes": [
                {"name": "v", "configMap": {"name": "files"}},
                {"name": "w", "secret": {"secretName": "tls"}},
                {"name": "p", "projected": {"sources": [{"secret": {"name": "deep"}}, {"downwardAPI": {}}]}},
                {"name": "e", "emptyDir": {}},
            ],
        }}}});
        let gvk = Gvk::new("apps/v1", "Deployment");
        let found: Vec<String> =
            references(&gvk, &object, "shop").iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "ConfigMap shop/files",
                "ConfigMap shop/init",
                "Secret shop/deep",
                "Secret shop/tls",
                "Secret shop/tokens",
                "ServiceAccount shop/runner",
                "PriorityClass high",
            ]
        );
    }

    #[test]
    fn what_always_exists_is_not_asked_for() {
        let object = json!({"spec": {"serviceAccountName": "default", "priorityClassName": "system-node-critical"}});
        assert!(references(&Gvk::new("v1", "Pod"), &object, "shop").is_empty());
        assert!(references(&Gvk::new("v1", "ConfigMap"), &object, "shop").is_empty());
    }
}
