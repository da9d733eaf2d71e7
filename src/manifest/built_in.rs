//! The scope of Kubernetes' own kinds, as known without a cluster.

use std::any::TypeId;

use k8s_openapi::api::{
    admissionregistration, apps, autoscaling, batch, coordination, core, discovery, networking,
    node, policy, rbac, scheduling, storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration;
use k8s_openapi::{ClusterResourceScope, Resource};

use super::Gvk;

/// Whether a kind is cluster-scoped. None for kinds that only a cluster knows. For offline verbs;
/// whoever talks to a cluster asks its discovery.
pub fn is_cluster_scoped(gvk: &Gvk) -> Option<bool> {
    scope(&gvk.api_version(), &gvk.kind).map(|scope| scope == TypeId::of::<ClusterResourceScope>())
}

macro_rules! scopes {
    ($api_version:ident, $kind:ident: $($type:ty),+ $(,)?) => {
        $(
            if $kind == <$type as Resource>::KIND && $api_version == <$type as Resource>::API_VERSION
            {
                return Some(TypeId::of::<<$type as Resource>::Scope>());
            }
        )+
    };
}

fn scope(api_version: &str, kind: &str) -> Option<TypeId> {
    scopes!(api_version, kind:
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
    use super::*;

    #[test]
    fn scopes() {
        let scope = |api, kind| is_cluster_scoped(&Gvk::new(api, kind));
        assert_eq!(scope("apps/v1", "Deployment"), Some(false));
        assert_eq!(scope("v1", "Namespace"), Some(true));
        assert_eq!(scope("rbac.authorization.k8s.io/v1", "ClusterRole"), Some(true));
        assert_eq!(scope("example.com/v1", "Widget"), None);
    }
}
