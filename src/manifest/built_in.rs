//! Kinds of Kubernetes itself, as known without a cluster: their scope and their fields.

use std::any::TypeId;
use std::collections::BTreeSet;

use k8s_openapi::api::{
    admissionregistration, apps, autoscaling, batch, coordination, core, discovery, networking,
    node, policy, rbac, scheduling, storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration;
use k8s_openapi::{ClusterResourceScope, Resource};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Gvk, Object};
use crate::error::Error;

/// What a check without a cluster came to.
#[derive(Debug, Default)]
pub struct Findings {
    /// What a server would refuse.
    pub errors: Vec<Error>,
    /// Kinds whose fields are not known here, such as custom resources.
    pub not_checked: Vec<String>,
}

/// What is known of a kind.
struct Known {
    cluster_scoped: bool,
    check: fn(&Value) -> Vec<(String, String)>,
}

/// The kind's scope: whether it is cluster-scoped. None for kinds that only a cluster knows.
pub fn is_cluster_scoped(gvk: &Gvk) -> Option<bool> {
    known(gvk).map(|known| known.cluster_scoped)
}

/// Checks the fields of built-in kinds: unknown ones, and values of the wrong type. What is missing
/// is left to the server.
pub fn check_built_in(objects: &[Object]) -> Findings {
    let mut findings = Findings::default();
    let mut not_checked = BTreeSet::new();
    for object in objects {
        let Some(known) = known(&object.gvk) else {
            not_checked.insert(format!("{} {}", object.gvk.api_version(), object.gvk.kind));
            continue;
        };
        for (path, message) in (known.check)(&object.value) {
            // The value of a wrong field of a Secret must not be shown.
            let message =
                if object.id.is_secret() { "is not what the field takes".into() } else { message };
            findings.errors.push(
                Error::manifest(format!("`{path}`: {message}"))
                    .on(&object.id)
                    .because(format!("written in {}", object.origin)),
            );
        }
    }
    findings.not_checked = not_checked.into_iter().collect();
    findings
}

fn of<T: Resource + DeserializeOwned>() -> Known
where
    T::Scope: 'static,
{
    Known {
        cluster_scoped: TypeId::of::<T::Scope>() == TypeId::of::<ClusterResourceScope>(),
        check: check::<T>,
    }
}

/// Decodes into the typed object, which finds unknown fields and wrong types by their paths.
fn check<T: DeserializeOwned>(value: &Value) -> Vec<(String, String)> {
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let decoded: Result<T, _> = {
        let mut note = |path: serde_ignored::Path<'_>| unknown.push(path.to_string());
        let typed = serde_path_to_error::Deserializer::new(value, &mut track);
        T::deserialize(serde_ignored::Deserializer::new(typed, &mut note))
    };
    let mut faults: Vec<(String, String)> = unknown
        .into_iter()
        // The server says what these are; whoever writes them finds out elsewhere.
        .filter(|path| !path.starts_with("status"))
        .map(|path| (path, "unknown field".to_owned()))
        .collect();
    if let Err(error) = decoded {
        faults.push((track.path().to_string(), error.to_string()));
    }
    faults
}

macro_rules! table {
    ($gvk:ident: $($kind:ty),+ $(,)?) => {
        $(
            if $gvk.kind == <$kind as Resource>::KIND
                && $gvk.api_version() == <$kind as Resource>::API_VERSION
            {
                return Some(of::<$kind>());
            }
        )+
    };
}

fn known(gvk: &Gvk) -> Option<Known> {
    table!(gvk:
        core::v1::ConfigMap, core::v1::Endpoints, core::v1::LimitRange, core::v1::Namespace,
        core::v1::PersistentVolume, core::v1::PersistentVolumeClaim, core::v1::Pod,
        core::v1::ReplicationController, core::v1::ResourceQuota, core::v1::Secret,
        core::v1::Service, core::v1::ServiceAccount,
        apps::v1::DaemonSet, apps::v1::Deployment, apps::v1::ReplicaSet, apps::v1::StatefulSet,
        batch::v1::CronJob, batch::v1::Job,
        autoscaling::v1::HorizontalPodAutoscaler, autoscaling::v2::HorizontalPodAutoscaler,
        policy::v1::PodDisruptionBudget,
        networking::v1::Ingress, networking::v1::IngressClass, networking::v1::NetworkPolicy,
        rbac::v1::ClusterRole, rbac::v1::ClusterRoleBinding, rbac::v1::Role,
        rbac::v1::RoleBinding,
        storage::v1::CSIDriver, storage::v1::StorageClass, storage::v1::VolumeAttachment,
        scheduling::v1::PriorityClass, node::v1::RuntimeClass, coordination::v1::Lease,
        discovery::v1::EndpointSlice,
        admissionregistration::v1::MutatingWebhookConfiguration,
        admissionregistration::v1::ValidatingAdmissionPolicy,
        admissionregistration::v1::ValidatingAdmissionPolicyBinding,
        admissionregistration::v1::ValidatingWebhookConfiguration,
        apiextensions::v1::CustomResourceDefinition, apiregistration::v1::APIService,
    );
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Origin;

    fn findings(value: Value) -> Vec<String> {
        let object = Object::new(value, Origin::default()).unwrap();
        check_built_in(&[object]).errors.iter().map(|e| e.message().to_owned()).collect()
    }

    #[test]
    fn scopes() {
        let scope = |api, kind| is_cluster_scoped(&Gvk::new(api, kind));
        assert_eq!(scope("apps/v1", "Deployment"), Some(false));
        assert_eq!(scope("v1", "Namespace"), Some(true));
        assert_eq!(scope("rbac.authorization.k8s.io/v1", "ClusterRole"), Some(true));
        assert_eq!(scope("example.com/v1", "Widget"), None);
    }

    #[test]
    fn unknown_fields_and_wrong_types_are_named_by_path() {
        let deployment = |container: Value| {
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"},
                "spec": {"replicas": 2, "selector": {},
                    "template": {"spec": {"containers": [container]}}}})
        };
        assert_eq!(findings(deployment(json!({"name": "c", "image": "x"}))), [""; 0]);
        assert_eq!(
            findings(deployment(json!({"name": "c", "imge": "x"}))),
            ["`spec.template.spec.containers.0.imge`: unknown field"]
        );
        let wrong =
            findings(deployment(json!({"name": "c", "env": [{"name": "A", "value": true}]})));
        assert!(
            wrong[0].starts_with("`spec.template.spec.containers[0].env[0].value`"),
            "{wrong:?}"
        );
    }

    #[test]
    fn the_value_of_a_secret_is_not_shown() {
        let wrong =
            findings(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "data": {"password": 12_345_678}}));
        assert_eq!(wrong, ["`data.password`: is not what the field takes"]);
    }
}
