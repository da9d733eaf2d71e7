//! Where pods name ConfigMaps and Secrets.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::ObjectId;

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Kinds of volumes, and where they name a ConfigMap or a Secret.
const VOLUMES: [(&str, &str); 11] = [
    ("ConfigMap", "/configMap/name"),
    ("Secret", "/secret/secretName"),
    ("Secret", "/csi/nodePublishSecretRef/name"),
    ("Secret", "/azureFile/secretName"),
    ("Secret", "/cephfs/secretRef/name"),
    ("Secret", "/cinder/secretRef/name"),
    ("Secret", "/flexVolume/secretRef/name"),
    ("Secret", "/iscsi/secretRef/name"),
    ("Secret", "/rbd/secretRef/name"),
    ("Secret", "/scaleIO/secretRef/name"),
    ("Secret", "/storageos/secretRef/name"),
];

const ENV_FROM: [(&str, &str); 2] =
    [("ConfigMap", "/configMapRef/name"), ("Secret", "/secretRef/name")];

const ENV: [(&str, &str); 2] =
    [("ConfigMap", "/valueFrom/configMapKeyRef/name"), ("Secret", "/valueFrom/secretKeyRef/name")];

const PROJECTED: [(&str, &str); 2] = [("ConfigMap", "/configMap/name"), ("Secret", "/secret/name")];

const PULL: [(&str, &str); 1] = [("Secret", "/name")];

/// Calls `act` with the kind and the name of every ConfigMap and Secret that the pods of a
/// template name: env, envFrom and volumes of all containers, projected volumes, the credentials
/// of images and volumes.
pub(super) fn each_config(template: &mut Value, act: &mut dyn FnMut(&str, &mut String)) {
    let Some(spec) = template.get_mut("spec") else { return };
    for list in CONTAINERS {
        for container in items(spec.get_mut(list)) {
            each(container.get_mut("envFrom"), &ENV_FROM, act);
            each(container.get_mut("env"), &ENV, act);
        }
    }
    for volume in items(spec.get_mut("volumes")) {
        each(volume.pointer_mut("/projected/sources"), &PROJECTED, act);
    }
    each(spec.get_mut("volumes"), &VOLUMES, act);
    each(spec.get_mut("imagePullSecrets"), &PULL, act);
}

/// The ConfigMaps and Secrets that the pods of a template name.
pub(super) fn configs(template: &Value, namespace: Option<&str>) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    each_config(&mut template.clone(), &mut |kind, name| {
        found.insert(ObjectId {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.clone(),
        });
    });
    found
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

fn each(list: Option<&mut Value>, places: &[(&str, &str)], act: &mut dyn FnMut(&str, &mut String)) {
    for item in items(list) {
        for (kind, place) in places {
            match item.pointer_mut(place) {
                Some(Value::String(name)) if !name.is_empty() => act(kind, name),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_is_read_and_rewritten() {
        let mut template = json!({"spec": {
            "imagePullSecrets": [{"name": "pull"}],
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "c1"}}, {"secretRef": {"name": "s1"}}]}],
            "containers": [{"env": [
                {"name": "plain", "value": "c1"},
                {"name": "a", "valueFrom": {"configMapKeyRef": {"name": "c2", "key": "k"}}},
                {"name": "b", "valueFrom": {"secretKeyRef": {"name": "s2", "key": "k"}}},
                {"name": "c", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]}],
            "ephemeralContainers": [{"envFrom": [{"configMapRef": {"name": "c3"}}]}],
            "volumes": [
                {"name": "v", "configMap": {"name": "c4"}},
                {"name": "v", "secret": {"secretName": "s3"}},
                {"name": "v", "projected": {"sources": [
                    {"configMap": {"name": "c5"}}, {"secret": {"name": "s4"}}, {"downwardAPI": {}}]}},
                {"name": "v", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "s5"}}},
                {"name": "v", "azureFile": {"secretName": "s6"}},
                {"name": "v", "rbd": {"secretRef": {"name": "s7"}}},
                {"name": "c1", "emptyDir": {}},
                {"name": "v", "configMap": {"name": ""}},
            ],
        }});
        let names = |template: &Value| -> Vec<String> {
            configs(template, Some("shop")).iter().map(ObjectId::short).collect()
        };
        let expected = "configmap/c1 configmap/c2 configmap/c3 configmap/c4 configmap/c5 secret/pull \
            secret/s1 secret/s2 secret/s3 secret/s4 secret/s5 secret/s6 secret/s7";
        assert_eq!(names(&template), expected.split_whitespace().collect::<Vec<_>>());
        each_config(&mut template, &mut |_, name| name.push_str("-x"));
        let renamed: Vec<String> = expected.split_whitespace().map(|n| format!("{n}-x")).collect();
        assert_eq!(names(&template), renamed);
        assert_eq!(template["spec"]["containers"][0]["env"][0]["value"], "c1");
        assert_eq!(template["spec"]["volumes"][6]["name"], "c1");
        assert!(configs(&json!({"spec": []}), None).is_empty());
    }
}
