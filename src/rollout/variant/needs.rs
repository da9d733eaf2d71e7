//! What the pods of workloads need of their release, as far as the release has it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::references::configs;
use super::set::{Item, Set};
use crate::manifest::ObjectId;

/// What pods need.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// The ConfigMaps and Secrets of the release that their templates name: copied where they
    /// change, since the names can be rewritten.
    pub(super) configs: BTreeSet<ObjectId>,
    /// Everything else, under the only name that it has.
    pub(super) others: BTreeSet<ObjectId>,
}

/// What of the release the pods of these workloads need to start and to do their work: the
/// configuration, service accounts with their rights, claims and classes, the definitions of kinds
/// that they have rights to, what makes a Secret that they name, and the namespace.
pub(super) fn needs<'s, 'a: 's>(
    set: &Set<'a>,
    workloads: impl Iterator<Item = &'s Item<'a>>,
) -> Needs {
    let mut seeker = Seeker { set, needs: Needs::default() };
    for workload in workloads {
        seeker.workload(workload);
    }
    seeker.definitions();
    seeker.needs
}

struct Seeker<'s, 'a> {
    set: &'s Set<'a>,
    needs: Needs,
}

impl Seeker<'_, '_> {
    fn workload(&mut self, workload: &Item) {
        let Some(template) = workload.template() else { return };
        let namespace = workload.id.namespace.as_deref();
        for id in configs(template, namespace) {
            if self.set.get(&id).is_some() {
                self.needs.configs.insert(id);
            } else {
                self.makers(&id);
            }
        }
        let spec = &template["spec"];
        self.add("", "Namespace", None, namespace);
        self.add("scheduling.k8s.io", "PriorityClass", None, spec["priorityClassName"].as_str());
        self.add("node.k8s.io", "RuntimeClass", None, spec["runtimeClassName"].as_str());
        for claim in items(&spec["resourceClaims"]) {
            let of = "resource.k8s.io";
            self.add(of, "ResourceClaim", namespace, claim["resourceClaimName"].as_str());
            let template = claim["resourceClaimTemplateName"].as_str();
            self.add(of, "ResourceClaimTemplate", namespace, template);
        }
        for volume in items(&spec["volumes"]) {
            self.claim(namespace, volume["persistentVolumeClaim"]["claimName"].as_str());
            let own = &volume["ephemeral"]["volumeClaimTemplate"]["spec"]["storageClassName"];
            self.add("storage.k8s.io", "StorageClass", None, own.as_str());
            let class = volume["csi"]["volumeAttributes"]["secretProviderClass"].as_str();
            self.custom("secrets-store.csi.x-k8s.io", "SecretProviderClass", namespace, class);
        }
        let account = text(&spec["serviceAccountName"]).or_else(|| text(&spec["serviceAccount"]));
        self.account(namespace, account.unwrap_or("default"));
    }

    fn claim(&mut self, namespace: Option<&str>, name: Option<&str>) {
        let Some(claim) = self.add("", "PersistentVolumeClaim", namespace, name) else { return };
        let spec = &claim["spec"];
        self.add("storage.k8s.io", "StorageClass", None, spec["storageClassName"].as_str());
        if let Some(volume) = self.add("", "PersistentVolume", None, spec["volumeName"].as_str()) {
            let class = volume["spec"]["storageClassName"].as_str();
            self.add("storage.k8s.io", "StorageClass", None, class);
        }
    }

    fn account(&mut self, namespace: Option<&str>, name: &str) {
        if let Some(account) = self.add("", "ServiceAccount", namespace, Some(name)) {
            for list in ["imagePullSecrets", "secrets"] {
                for secret in items(&account[list]) {
                    self.add("", "Secret", namespace, secret["name"].as_str());
                }
            }
        }
        let bindings: Vec<ObjectId> = ["RoleBinding", "ClusterRoleBinding"]
            .into_iter()
            .flat_map(|kind| self.set.of(RBAC, kind))
            .filter(|binding| binds(binding, namespace.unwrap_or_default(), name))
            .map(|binding| binding.id.clone())
            .collect();
        for id in bindings {
            let role = self.set.get(&id).map(|binding| binding.value()["roleRef"].clone());
            if let Some(role) = role {
                let kind = if role["kind"] == "Role" { "Role" } else { "ClusterRole" };
                let place = id.namespace.as_deref().filter(|_| kind == "Role");
                self.add(RBAC, kind, place, role["name"].as_str());
            }
            self.needs.others.insert(id);
        }
    }

    /// The definitions of kinds that are needed, or that the pods have rights to.
    fn definitions(&mut self) {
        let groups: BTreeSet<&str> = self.needs.others.iter().map(|id| id.group.as_str()).collect();
        let rules = self
            .set
            .items
            .iter()
            .filter(|item| item.id.group == RBAC && self.needs.others.contains(&item.id));
        let named: BTreeSet<&str> = rules
            .flat_map(|role| items(&role.value()["rules"]))
            .flat_map(|rule| items(&rule["apiGroups"]))
            .filter_map(Value::as_str)
            .collect();
        let wanted = |item: &&Item| {
            item.value()["spec"]["group"]
                .as_str()
                .is_some_and(|g| groups.contains(g) || named.contains(g) || named.contains("*"))
        };
        let found: Vec<ObjectId> = self
            .set
            .of("apiextensions.k8s.io", "CustomResourceDefinition")
            .filter(wanted)
            .map(|item| item.id.clone())
            .collect();
        self.needs.others.extend(found);
    }

    /// What makes a ConfigMap or Secret that is not in the release itself.
    fn makers(&mut self, made: &ObjectId) {
        let is_maker = |item: &&Item| {
            let same_place = item.id.namespace.is_none() || item.id.namespace == made.namespace;
            let spec = &item.value()["spec"];
            let named = match (item.id.group.as_str(), item.id.kind.as_str()) {
                ("external-secrets.io", "ExternalSecret") => text(&spec["target"]["name"]),
                ("bitnami.com", "SealedSecret") => text(&spec["template"]["metadata"]["name"]),
                ("cert-manager.io", "Certificate") => Some(text(&spec["secretName"]).unwrap_or("")),
                _ => return false,
            };
            same_place && made.kind == "Secret" && named.unwrap_or(&item.id.name) == made.name
        };
        let found: Vec<ObjectId> =
            self.set.items.iter().filter(is_maker).map(|item| item.id.clone()).collect();
        self.needs.others.extend(found);
    }

    /// Adds an object that the release has, and answers its manifest.
    fn add(
        &mut self,
        group: &str,
        kind: &str,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Option<Value> {
        let id = ObjectId {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name?.to_owned(),
        };
        let found = self.set.get(&id)?.value().clone();
        // A Secret whose name can be rewritten is copied where it changes.
        if !self.needs.configs.contains(&id) {
            self.needs.others.insert(id);
        }
        Some(found)
    }

    /// The same of a custom kind, whose manifest may name no namespace.
    fn custom(&mut self, group: &str, kind: &str, namespace: Option<&str>, name: Option<&str>) {
        if self.add(group, kind, namespace, name).is_none() {
            self.add(group, kind, None, name);
        }
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// Whether a binding gives rights to a service account.
fn binds(binding: &Item, namespace: &str, account: &str) -> bool {
    items(&binding.value()["subjects"]).any(|subject| {
        let name = subject["name"].as_str();
        match subject["kind"].as_str() {
            Some("ServiceAccount") => {
                let place = subject["namespace"].as_str().or(binding.id.namespace.as_deref());
                name == Some(account) && place == Some(namespace)
            }
            Some("Group") => {
                name == Some("system:serviceaccounts")
                    || name == Some(&format!("system:serviceaccounts:{namespace}"))
            }
            _ => false,
        }
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}
