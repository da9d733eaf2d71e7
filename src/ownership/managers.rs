//! What another field manager is to us (design §6, "Other managers' fields"; names from A3).

use serde::Serialize;
use serde_json::Value;

use super::entry::{Entry, Operation};
use super::marks::{Deployer, deployer_of};

/// What our own field managers start with: `mcd:<stateNamespace>/<app>`.
pub const OUR_PREFIX: &str = "mcd:";

/// What an entry's manager is to us. [`super::judge`] says what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ManagerClass {
    /// Our own server-side applies.
    Ours,
    /// Our own name, but not by apply (a PUT or POST of ours, A3.9): taken into the apply entry.
    OursByUpdate,
    /// Another application of mcd, by its `<stateNamespace>/<app>`.
    OtherApplication(String),
    /// Someone's declared set (`kubectl apply`, `create`, `replace`): taken whole.
    Declared,
    /// Someone's hand: values that the manifest sets go back, other fields stay.
    Hand,
    /// `kubectl rollout`: a restart's annotation stays, since taking it restarts the pods again.
    Rollout,
    /// Another deployer: the object stops until it is adopted.
    Deployer(Deployer),
    /// A controller, a status writer, the scale subresource: left alone; a conflict stops.
    Controller,
    /// Any other server-side applier.
    OtherApply,
    /// Any other writer, most often an operator: as a controller.
    OtherUpdate,
}

/// Managers that are deployers however they write.
const DEPLOYERS: &[(&str, &str)] = &[
    ("helm", "helm"),
    ("Helm", "helm"),
    ("kapp", "kapp"),
    ("kapp-server", "kapp"),
    ("kluctl", "kluctl"),
    ("kluctl-controller", "kluctl"),
    ("nelm", "nelm"),
    ("werf", "werf"),
    ("flux", "Flux"),
    ("fleetagent", "Fleet"),
    ("fleet-agent", "Fleet"),
    ("pipecd", "PipeCD"),
    ("piped", "PipeCD"),
    ("Terraform", "Terraform"),
    ("HashiCorp", "Terraform"),
    ("timoni", "Timoni"),
    ("sveltos", "Sveltos"),
    ("application/apply-patch", "Sveltos"),
    ("work-agent", "OCM"),
];

/// Managers that deploy by apply, or objects that carry their mark; otherwise they also write
/// finalizers and the like into objects of their own kinds, as every controller does.
const DEPLOYING_CONTROLLERS: &[(&str, &str)] = &[
    ("kustomize-controller", "Flux"),
    ("helm-controller", "Flux"),
    ("argocd-controller", "Argo CD"),
    ("argocd-application-controller", "Argo CD"),
    ("argocd-server", "Argo CD"),
];

/// Managers of kubectl that write a whole object.
const DECLARED: &[&str] = &[
    "kubectl-client-side-apply",
    "kubectl-last-applied",
    "kubectl-create",
    "kubectl-replace",
    "kubectl-run",
    "kubectl-expose",
    "kubectl-autoscale",
    "before-first-apply",
];

/// Managers behind which a person sits. The rest of kubectl's commands come by their prefix.
/// `Mozilla` is what a browser leaves behind in dashboards that name no manager.
const HANDS: &[&str] = &[
    "k9s",
    "rancher",
    "Mozilla",
    "node-fetch",
    "lens",
    "Lens",
    "freelens",
    "OpenLens",
    "headlamp",
    "headlamp-server",
    "dashboard",
    "dashboard-api",
    "octant",
    "oc",
    "curl",
];

/// What the manager of `entry` is to the manager `ours`, on the object `live`.
pub fn classify(entry: &Entry, live: &Value, ours: &str) -> ManagerClass {
    classify_with(entry, ours, deployer_of(live, ours).as_ref())
}

/// [`classify`] when the object's deployer is known already.
pub(super) fn classify_with(
    entry: &Entry,
    ours: &str,
    deployer: Option<&Deployer>,
) -> ManagerClass {
    let manager = entry.manager.as_str();
    let apply = entry.operation == Operation::Apply;
    if manager == ours && entry.subresource.is_none() {
        return if apply { ManagerClass::Ours } else { ManagerClass::OursByUpdate };
    }
    if let Some(subresource) = entry.subresource.as_deref() {
        // `kubectl scale` is a person; what else scales or writes status is a controller.
        return if subresource == "scale" && is_kubectl(manager) {
            ManagerClass::Hand
        } else {
            ManagerClass::Controller
        };
    }
    if apply && let Some(application) = manager.strip_prefix(OUR_PREFIX) {
        return ManagerClass::OtherApplication(application.into());
    }
    if DECLARED.contains(&manager) || (apply && manager == "kubectl") {
        return ManagerClass::Declared;
    }
    if manager == "kubectl-rollout" {
        return ManagerClass::Rollout;
    }
    if is_kubectl(manager) || HANDS.contains(&manager) {
        return ManagerClass::Hand;
    }
    let named = |table: &[(&str, &str)]| {
        table.iter().find(|(name, _)| *name == manager).map(|(_, tool)| (*tool).to_owned())
    };
    let with_unit = |tool: String| match deployer {
        Some(known) if known.tool == tool => ManagerClass::Deployer(known.clone()),
        _ => ManagerClass::Deployer(Deployer { tool, unit: None }),
    };
    if let Some(tool) = named(DEPLOYERS) {
        return with_unit(tool);
    }
    if let Some(tool) = named(DEPLOYING_CONTROLLERS) {
        let marked = deployer.is_some_and(|known| known.tool == tool);
        return if apply || marked { with_unit(tool) } else { ManagerClass::Controller };
    }
    if manager.starts_with("pulumi-kubernetes") {
        return with_unit("Pulumi".into());
    }
    match manager {
        "kube-controller-manager"
        | "kube-scheduler"
        | "kubelet"
        | "kube-apiserver"
        | "clusterrole-aggregation-controller" => ManagerClass::Controller,
        _ if apply => ManagerClass::OtherApply,
        _ => ManagerClass::OtherUpdate,
    }
}

fn is_kubectl(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-")
}
