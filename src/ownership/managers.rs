//! What another field manager is to us (design §6, "Other managers' fields"; names from A3).

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::entry::{Entry, Operation, our_entry};
use super::fields::FieldSet;
use super::path::{FieldPath, Segment};

/// What our own field managers start with: `mcd:<stateNamespace>/<app>`.
pub const OUR_PREFIX: &str = "mcd:";

/// A tool that deploys objects as a whole, and would do so again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployer {
    /// The tool, as its users call it: `helm`, `kapp`, `Argo CD`.
    pub tool: String,
    /// Its unit that holds the object, where the object says so: the release, app or discriminator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl fmt::Display for Deployer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Some(unit) => write!(f, "{} ({unit})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

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

/// Whose objects these are by a label or an annotation: (tool, where, key, unit's key).
/// `None` as the unit's key: the value of the key itself.
const MARKS: &[(&str, Place, &str)] = &[
    ("helm", Place::Annotation, "meta.helm.sh/release-name"),
    ("kapp", Place::Label, "kapp.k14s.io/app"),
    ("kluctl", Place::Label, "kluctl.io/discriminator"),
    ("kluctl", Place::Annotation, "kluctl.io/discriminator"),
    ("Flux", Place::Label, "kustomize.toolkit.fluxcd.io/name"),
    ("Flux", Place::Label, "helm.toolkit.fluxcd.io/name"),
    ("Argo CD", Place::Annotation, "argocd.argoproj.io/tracking-id"),
    ("Argo CD", Place::Label, "argocd.argoproj.io/instance"),
    ("PipeCD", Place::Annotation, "pipecd.dev/application"),
    ("PipeCD", Place::Label, "pipecd.dev/application"),
    ("werf", Place::Annotation, "project.werf.io/name"),
    ("Fleet", Place::Label, "objectset.rio.cattle.io/hash"),
    ("kubectl applyset", Place::Label, "applyset.kubernetes.io/part-of"),
];

#[derive(Clone, Copy)]
enum Place {
    Label,
    Annotation,
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

/// The deployer that the object's labels and annotations name. A mark that our own manifest sets
/// (it is in our entry) says nothing: then it was rendered, not left by the tool.
pub fn deployer_of(live: &Value, ours: &str) -> Option<Deployer> {
    let mut own: Option<Option<FieldSet>> = None;
    let mut is_ours = |path: &FieldPath| {
        own.get_or_insert_with(|| our_entry(live, ours).map(|entry| entry.fields))
            .as_ref()
            .is_some_and(|fields| fields.contains(path))
    };
    for (tool, place, key) in MARKS {
        let place = match place {
            Place::Label => "labels",
            Place::Annotation => "annotations",
        };
        let Some(value) = live["metadata"][place][*key].as_str() else { continue };
        let path = FieldPath::fields(&["metadata", place]).join(Segment::Field((*key).into()));
        if !is_ours(&path) {
            let unit = match *tool {
                "helm" => {
                    match &live["metadata"]["annotations"]["meta.helm.sh/release-namespace"] {
                        Value::String(namespace) => format!("release {namespace}/{value}"),
                        _ => format!("release {value}"),
                    }
                }
                "Argo CD" => {
                    format!("application {}", value.split(':').next().unwrap_or_default())
                }
                _ => value.to_owned(),
            };
            return Some(Deployer { tool: (*tool).into(), unit: Some(unit) });
        }
    }
    None
}
