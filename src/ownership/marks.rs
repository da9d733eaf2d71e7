//! The marks by which deployers know their objects: labels and annotations (A3).

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::entry::our_entry;
use super::fields::FieldSet;
use super::path::{FieldPath, Segment};

/// A tool that deploys objects as a whole, and would do so again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
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

#[derive(Clone, Copy)]
enum Place {
    Label,
    Annotation,
}

impl Place {
    fn field(self) -> &'static str {
        match self {
            Place::Label => "labels",
            Place::Annotation => "annotations",
        }
    }
}

/// Whose objects these are by a label or an annotation: (tool, where, key).
const MARKS: &[(&str, Place, &str)] = &[
    ("helm", Place::Annotation, HELM_RELEASE),
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

const HELM_RELEASE: &str = "meta.helm.sh/release-name";
const HELM_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// What else a deployer writes into metadata for itself: (tool, what keys start with). Where a
/// manifest may hold keys of the tool too (`argocd.argoproj.io/sync-wave`), whole keys.
const OWN_KEYS: &[(&str, &str)] = &[
    ("helm", "meta.helm.sh/"),
    ("kapp", "kapp.k14s.io/"),
    ("kluctl", "kluctl.io/"),
    ("Flux", "kustomize.toolkit.fluxcd.io/"),
    ("Flux", "helm.toolkit.fluxcd.io/"),
    ("Argo CD", "argocd.argoproj.io/tracking-id"),
    ("Argo CD", "argocd.argoproj.io/instance"),
    ("PipeCD", "pipecd.dev/"),
    ("werf", "project.werf.io/"),
    ("werf", "werf.io/"),
    ("Fleet", "objectset.rio.cattle.io/"),
    ("kubectl applyset", "applyset.kubernetes.io/part-of"),
];

/// The label that says "Helm" on what helm 3 and 4 install.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The deployer that the object's labels and annotations name first. A mark that our own manifest
/// sets (it is in our entry) says nothing: then it was rendered, not left by the tool.
pub fn deployer_of(live: &Value, ours: &str) -> Option<Deployer> {
    Marked::new(live, ours).deployers().next()
}

/// All deployers that they name, each with its unit once.
pub(super) fn deployers_of(live: &Value, ours: &str) -> Vec<Deployer> {
    let mut found: Vec<Deployer> = Vec::new();
    for deployer in Marked::new(live, ours).deployers() {
        if !found.contains(&deployer) {
            found.push(deployer);
        }
    }
    found
}

/// Every label and annotation that `deployers` wrote for themselves, but for those that our own
/// manifest sets. Whoever owns them: a mark that someone put there by hand works too.
pub(super) fn marks_of(live: &Value, ours: &str, deployers: &[Deployer]) -> Vec<FieldPath> {
    if deployers.is_empty() {
        return Vec::new();
    }
    let marked = Marked::new(live, ours);
    let is_of = |tool: &str| deployers.iter().any(|deployer| deployer.tool == tool);
    let mut found = Vec::new();
    for place in [Place::Label, Place::Annotation] {
        let all = live["metadata"][place.field()].as_object().into_iter().flatten();
        for (key, value) in all {
            let own = OWN_KEYS.iter().any(|(tool, start)| is_of(tool) && key.starts_with(start))
                || key == MANAGED_BY && value == "Helm" && is_of("helm");
            let path = path(place, key);
            if own && !marked.is_ours(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Namespace and name of the helm release that an object says it belongs to.
pub fn helm_release(live: &Value) -> Option<(String, String)> {
    let annotations = &live["metadata"]["annotations"];
    let name = annotations[HELM_RELEASE].as_str()?;
    let own = live["metadata"]["namespace"].as_str();
    let namespace = annotations[HELM_NAMESPACE].as_str().or(own)?;
    Some((namespace.to_owned(), name.to_owned()))
}

/// An object's metadata beside what of it is ours.
struct Marked<'a> {
    live: &'a Value,
    own: Option<FieldSet>,
}

impl<'a> Marked<'a> {
    fn new(live: &'a Value, ours: &str) -> Self {
        // Most objects have no mark at all: then nobody asks what is ours.
        let has = |(_, place, key): &(&str, Place, &str)| {
            live["metadata"][place.field()].get(*key).is_some()
        };
        let own = MARKS.iter().any(has).then(|| our_entry(live, ours)).flatten();
        Marked { live, own: own.map(|entry| entry.fields) }
    }

    fn is_ours(&self, path: &FieldPath) -> bool {
        self.own.as_ref().is_some_and(|fields| fields.contains(path))
    }

    fn deployers(&self) -> impl Iterator<Item = Deployer> {
        MARKS.iter().filter_map(|(tool, place, key)| {
            let value = self.live["metadata"][place.field()][*key].as_str()?;
            (!self.is_ours(&path(*place, key)))
                .then(|| Deployer { tool: (*tool).to_owned(), unit: Some(self.unit(tool, value)) })
        })
    }

    fn unit(&self, tool: &str, value: &str) -> String {
        match tool {
            "helm" => match helm_release(self.live) {
                Some((namespace, name)) => format!("release {namespace}/{name}"),
                None => format!("release {value}"),
            },
            "Argo CD" => format!("application {}", value.split(':').next().unwrap_or_default()),
            _ => value.to_owned(),
        }
    }
}

fn path(place: Place, key: &str) -> FieldPath {
    FieldPath::fields(&["metadata", place.field()]).join(Segment::Field(key.to_owned()))
}
