//! The annotation that restarts pods when the configuration they use changes (design §6,
//! "Config hash").

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::manifest::ObjectId;
use crate::ownership::{Digest, Key};

/// The annotation on pod templates.
pub const CONFIG_HASH: &str = "mcd.dev/config-hash";

/// The ConfigMaps and Secrets whose content a pod template uses: env, envFrom, volumes and
/// projected volumes, of all its containers; optional ones too. Not those that only the kubelet
/// uses to pull images.
pub fn referenced_configs(pod_template: &Value, namespace: &str) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    let mut add = |kind: &str, name: &Value| {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            found.insert(ObjectId {
                group: String::new(),
                kind: kind.to_owned(),
                namespace: Some(namespace.to_owned()),
                name: name.to_owned(),
            });
        }
    };
    let spec = &pod_template["spec"];
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in items(&spec[list]) {
            for from in items(&container["envFrom"]) {
                add("ConfigMap", &from["configMapRef"]["name"]);
                add("Secret", &from["secretRef"]["name"]);
            }
            for env in items(&container["env"]) {
                add("ConfigMap", &env["valueFrom"]["configMapKeyRef"]["name"]);
                add("Secret", &env["valueFrom"]["secretKeyRef"]["name"]);
            }
        }
    }
    for volume in items(&spec["volumes"]) {
        add("ConfigMap", &volume["configMap"]["name"]);
        add("Secret", &volume["secret"]["secretName"]);
        for source in items(&volume["projected"]["sources"]) {
            add("ConfigMap", &source["configMap"]["name"]);
            add("Secret", &source["secret"]["name"]);
        }
    }
    found
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The keyed hash over the content (`data`, `binaryData`) of these objects: 16 hexadecimal digits.
/// Their order, labels and versions are no part of it, so that manifest and live object of the
/// same content give the same. Keyed, because a plain hash of a Secret's value can be guessed.
pub fn config_hash(key: &Key, contents: &[(ObjectId, &Value)]) -> String {
    let mut sorted: Vec<&(ObjectId, &Value)> = contents.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let content = |object: &Value, field: &str| match &object[field] {
        Value::Null => Value::Object(Map::new()),
        data => data.clone(),
    };
    let list: Vec<Value> = sorted
        .into_iter()
        .map(|(id, object)| {
            json!([
                id.kind,
                id.namespace,
                id.name,
                content(object, "data"),
                content(object, "binaryData"),
            ])
        })
        .collect();
    let mut hash = Digest::of_json(key, "config", &Value::Array(list)).to_string();
    hash.truncate(16);
    hash
}

/// Puts the hash on the pod template of a Deployment, StatefulSet or DaemonSet. Other kinds stay
/// as they are: a Job's template is immutable, and a bare Pod is never restarted by it.
pub fn set_config_hash(manifest: &mut Value, hash: &str) {
    let is_workload = manifest["apiVersion"].as_str().is_some_and(|v| v.starts_with("apps/"))
        && matches!(manifest["kind"].as_str(), Some("Deployment" | "StatefulSet" | "DaemonSet"));
    if !is_workload {
        return;
    }
    let template = manifest.get_mut("spec").and_then(|spec| spec.get_mut("template"));
    let Some(template) = template.and_then(Value::as_object_mut) else { return };
    let metadata = template.entry("metadata").or_insert_with(|| json!({}));
    if metadata.is_null() {
        *metadata = json!({});
    }
    let Some(metadata) = metadata.as_object_mut() else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(CONFIG_HASH.to_owned(), hash.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [1; 32];

    fn id(kind: &str, name: &str) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
        }
    }

    #[test]
    fn what_a_template_uses() {
        let template = json!({"spec": {
            "imagePullSecrets": [{"name": "pull"}],
            "containers": [{"envFrom": [{"configMapRef": {"name": "a"}}, {"secretRef": {"name": "b", "optional": true}}]}],
            "initContainers": [{"env": [
                {"name": "x", "value": "1"},
                {"name": "y", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
                {"name": "z", "valueFrom": {"secretKeyRef": {"name": "d", "key": "k"}}}
            ]}],
            "volumes": [
                {"name": "1", "configMap": {"name": "e"}}, {"name": "2", "secret": {"secretName": "f"}},
                {"name": "3", "projected": {"sources": [{"configMap": {"name": "g"}}, {"secret": {"name": "h"}}]}},
                {"name": "4", "emptyDir": {}}, {"name": "5", "configMap": {"name": ""}}
            ]
        }});
        let found: Vec<String> =
            referenced_configs(&template, "shop").iter().map(ObjectId::short).collect();
        assert_eq!(
            found,
            [
                "configmap/a",
                "configmap/c",
                "configmap/e",
                "configmap/g",
                "secret/b",
                "secret/d",
                "secret/f",
                "secret/h"
            ]
        );
        assert!(referenced_configs(&json!({"spec": "x"}), "shop").is_empty());
    }

    #[test]
    fn content_alone_counts() {
        let manifest =
            json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v", "j": "w"}});
        let live = json!({"metadata": {"name": "a", "uid": "u"}, "data": {"j": "w", "k": "v"}, "binaryData": null});
        let secret = json!({"data": {"p": "eA=="}});
        let hash =
            config_hash(&KEY, &[(id("ConfigMap", "a"), &manifest), (id("Secret", "s"), &secret)]);
        assert_eq!(hash.len(), 16);
        assert_eq!(
            hash,
            config_hash(&KEY, &[(id("Secret", "s"), &secret), (id("ConfigMap", "a"), &live)])
        );
        let other = json!({"data": {"k": "v2", "j": "w"}});
        assert_ne!(
            hash,
            config_hash(&KEY, &[(id("ConfigMap", "a"), &other), (id("Secret", "s"), &secret)])
        );
        assert_ne!(
            hash,
            config_hash(&KEY, &[(id("ConfigMap", "b"), &manifest), (id("Secret", "s"), &secret)])
        );
        assert_ne!(
            hash,
            config_hash(
                &[2; 32],
                &[(id("ConfigMap", "a"), &manifest), (id("Secret", "s"), &secret)]
            )
        );
    }

    #[test]
    fn only_templates_of_restartable_workloads_get_it() {
        for (api_version, kind, gets) in [
            ("apps/v1", "Deployment", true),
            ("apps/v1", "StatefulSet", true),
            ("apps/v1", "DaemonSet", true),
            ("apps/v1", "ReplicaSet", false),
            ("batch/v1", "Job", false),
            ("v1", "Pod", false),
        ] {
            for metadata in [
                json!(null),
                json!({}),
                json!({"annotations": null}),
                json!({"annotations": {"a": "b"}}),
            ] {
                let mut manifest = json!({"apiVersion": api_version, "kind": kind,
                    "spec": {"template": {"metadata": metadata}}});
                set_config_hash(&mut manifest, "h");
                let found = &manifest["spec"]["template"]["metadata"]["annotations"][CONFIG_HASH];
                assert_eq!(found.as_str(), gets.then_some("h"), "{kind}");
            }
        }
        let mut odd = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": []});
        set_config_hash(&mut odd, "h");
        assert_eq!(odd["spec"], json!([]));
    }
}
