//! When an object is written: lower ranks first (design §6, "Order").

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::Object;

/// The annotation with an integer that overrides the rank. The ranks are ten apart, so that there
/// is room between them: 0 namespaces, 10 definitions, 20 accounts, rights and classes of pods,
/// 30 configuration, 40 storage, 50 services, 60 workloads, 70 autoscaling and the rest,
/// 80 admission.
pub(super) const ORDER: &str = "mcd.dev/order";

const NAMESPACES: i64 = 0;
const DEFINITIONS: i64 = 10;
const RIGHTS: i64 = 20;
const CONFIG: i64 = 30;
const STORAGE: i64 = 40;
const SERVICES: i64 = 50;
const WORKLOADS: i64 = 60;
const REST: i64 = 70;
const ADMISSION: i64 = 80;

/// The rank of an object. `defined` holds (group, kind) of what the definitions of the same set
/// bring. An override that is no integer counts as none; [`override_of`] says so.
pub fn rank(object: &Object, defined: &BTreeSet<(String, String)>) -> i64 {
    if let Ok(Some(order)) = override_of(&object.value) {
        return order;
    }
    let (group, kind) = (object.gvk.group.as_str(), object.gvk.kind.as_str());
    match (group, kind) {
        ("", "Namespace") => NAMESPACES,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => DEFINITIONS,
        ("", "ServiceAccount")
        | ("rbac.authorization.k8s.io", _)
        | ("scheduling.k8s.io" | "node.k8s.io", _) => RIGHTS,
        // Quotas, limits and network policies hold from the first pod on.
        ("", "ConfigMap" | "Secret" | "ResourceQuota" | "LimitRange")
        | ("networking.k8s.io", "NetworkPolicy") => CONFIG,
        ("", "PersistentVolume" | "PersistentVolumeClaim") | ("storage.k8s.io", _) => STORAGE,
        ("", "Service" | "Endpoints") | ("discovery.k8s.io", _) => SERVICES,
        ("", "Pod" | "ReplicationController" | "PodTemplate") | ("apps" | "batch", _) => WORKLOADS,
        // What admission refuses or changes from now on must not meet this very set, whose
        // webhook is not running yet.
        ("admissionregistration.k8s.io", _) => ADMISSION,
        _ if makes_config(group, kind) && !defined.contains(&(group.into(), kind.into())) => CONFIG,
        // Custom resources among them: a controller that comes with the set runs by then, and
        // with it the webhooks that check them.
        _ => REST,
    }
}

/// Custom resources from which a controller makes the Secrets that workloads wait for.
fn makes_config(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("external-secrets.io", _)
            | ("bitnami.com", "SealedSecret")
            | ("cert-manager.io", "Certificate" | "Issuer")
            | ("secrets-store.csi.x-k8s.io", "SecretProviderClass")
    )
}

/// The rank that the object's annotation asks for.
///
/// # Errors
/// The annotation's text, when it is no integer.
pub fn override_of(object: &Value) -> Result<Option<i64>, String> {
    match &object["metadata"]["annotations"][ORDER] {
        Value::Null => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| text.clone()),
        other => Err(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Origin;

    fn object(api_version: &str, kind: &str, order: Option<&str>) -> Object {
        let mut value = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
        if let Some(order) = order {
            value["metadata"]["annotations"] = json!({"mcd.dev/order": order});
        }
        Object::new(value, Origin::default()).expect("an object")
    }

    #[test]
    fn the_table_of_ranks() {
        let cases = [
            ("v1", "Namespace", 0),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", 10),
            ("v1", "ServiceAccount", 20),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", 20),
            ("scheduling.k8s.io/v1", "PriorityClass", 20),
            ("v1", "ConfigMap", 30),
            ("v1", "Secret", 30),
            ("v1", "ResourceQuota", 30),
            ("networking.k8s.io/v1", "NetworkPolicy", 30),
            ("external-secrets.io/v1", "ExternalSecret", 30),
            ("v1", "PersistentVolumeClaim", 40),
            ("storage.k8s.io/v1", "StorageClass", 40),
            ("v1", "Service", 50),
            ("serving.knative.dev/v1", "Service", 70),
            ("apps/v1", "Deployment", 60),
            ("batch/v1", "CronJob", 60),
            ("v1", "Pod", 60),
            ("autoscaling/v2", "HorizontalPodAutoscaler", 70),
            ("policy/v1", "PodDisruptionBudget", 70),
            ("networking.k8s.io/v1", "Ingress", 70),
            ("gateway.networking.k8s.io/v1", "HTTPRoute", 70),
            ("example.com/v1", "Thing", 70),
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", 80),
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", 80),
        ];
        for (api_version, kind, expected) in cases {
            let found = rank(&object(api_version, kind, None), &BTreeSet::new());
            assert_eq!(found, expected, "{api_version} {kind}");
        }
    }

    #[test]
    fn what_the_set_defines_comes_after_its_controller() {
        let defined = BTreeSet::from([("external-secrets.io".into(), "ExternalSecret".into())]);
        let secret = object("external-secrets.io/v1", "ExternalSecret", None);
        assert_eq!(rank(&secret, &defined), 70);
    }

    #[test]
    fn an_annotation_overrides() {
        for (text, expected, fine) in
            [("-5", -5, true), (" 65 ", 65, true), ("first", 60, false), ("1.5", 60, false)]
        {
            let object = object("apps/v1", "Deployment", Some(text));
            assert_eq!(rank(&object, &BTreeSet::new()), expected, "{text}");
            assert_eq!(override_of(&object.value).is_ok(), fine, "{text}");
        }
    }
}
