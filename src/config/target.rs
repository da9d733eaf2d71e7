//! What the two files come to for one cluster: everything later stages know of the configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ignore::Ignore;
use super::{AppName, Identity, TargetName};
use crate::health::Rules;

/// A cluster of the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSpec {
    /// What tables show; the target's name.
    pub name: TargetName,
    /// The kubeconfig context; never empty.
    pub context: String,
    /// The kubeconfig file, absolute; none: `--kubeconfig`, `$KUBECONFIG`, `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// Which cluster it has to be.
    pub identity: Option<Identity>,
    /// Use the service account of the pod that mcd runs in; then there is no kubeconfig, and
    /// `context` is only a name.
    pub in_cluster: bool,
    /// What selectors match on.
    pub labels: BTreeMap<String, String>,
    /// What templates read.
    pub values: Value,
    /// What offline commands give helm as `--kube-version`.
    pub kube_version: Option<String>,
    /// What offline commands give helm as `--api-versions`.
    pub api_versions: Vec<String>,
}

impl ClusterSpec {
    /// A cluster of which nothing is known but its context.
    pub fn of_context(name: &str, context: &str) -> Self {
        ClusterSpec {
            name: TargetName::new(name),
            context: context.to_owned(),
            kubeconfig: None,
            in_cluster: false,
            identity: None,
            labels: BTreeMap::new(),
            values: Value::Null,
            kube_version: None,
            api_versions: Vec::new(),
        }
    }
}

/// An application on a cluster, with every default, override and template resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The target's name, which is its cluster's.
    pub name: TargetName,
    /// The application.
    pub app: AppName,
    /// The cluster.
    pub cluster: ClusterSpec,
    /// For namespaced objects that name no namespace.
    pub namespace: String,
    /// Where the record, releases and lease live.
    pub state_namespace: String,
    /// Whether `stateNamespace` was written: then state names carry the namespace too (§7).
    pub state_namespace_is_set: bool,
    /// Create `namespace` when it is missing.
    pub create_namespace: bool,
    /// Resolved variables, recorded in the release.
    pub vars: BTreeMap<String, Value>,
    /// What to render.
    pub render: Render,
    /// Image changes after rendering.
    pub images: Vec<ImageOverride>,
    /// Replica counts after rendering.
    pub replicas: Vec<ReplicaOverride>,
    /// Patches after rendering.
    pub patches: Vec<ManifestPatch>,
    /// What is done about fields of other managers.
    pub conflicts: Conflicts,
    /// Fields that are left to others.
    pub ignore: Vec<Ignore>,
    /// The user's own rules of health.
    pub health: Rules,
    /// The folder that inputs of rendering must stay inside: the git top level of the
    /// application file, else its folder. Absolute and canonical.
    pub root: PathBuf,
    /// Whether the fleet allows rendering to run code of the repository.
    pub allow_plugins: bool,
    /// The fleet's `tools:`: tool → version → path.
    pub tools: BTreeMap<String, BTreeMap<String, PathBuf>>,
    /// The fleet's `chartRepositories`.
    pub chart_repositories: Vec<ChartRepository>,
    /// Where each value of [`Target::settings`] comes from: path of the value, such as
    /// `render.kustomize.version` → `mcd.yaml:14 (overrides[0])`, `--var` or `default`.
    pub provenance: BTreeMap<String, String>,
}

/// How a target's manifests come about. Paths are absolute.
#[derive(Clone, Debug, PartialEq)]
pub enum Render {
    /// `kustomize build`.
    Kustomize(KustomizeRender),
    /// `helm template`.
    Helm(HelmRender),
    /// Plain files or folders (their *.yaml, *.yml, *.json, not below).
    Manifests(Vec<PathBuf>),
}

/// Settings of `kustomize build`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KustomizeRender {
    /// The folder with the kustomization.
    pub path: PathBuf,
    /// A version requirement, such as `>=5.4, <6` or `5.8.2`; none: any.
    pub version: Option<String>,
    /// Further arguments.
    pub args: Vec<String>,
    /// Further environment.
    pub env: BTreeMap<String, String>,
}

/// Settings of `helm template`.
#[derive(Clone, Debug, PartialEq)]
pub struct HelmRender {
    /// The chart.
    pub chart: ChartSource,
    /// The release's name; default: the application's.
    pub release: String,
    /// A requirement on helm's own version; none: any.
    pub helm_version: Option<String>,
    /// What happens to hooks.
    pub hooks: Hooks,
    /// Values, later ones win.
    pub values: Vec<ValuesSource>,
    /// `--set`.
    pub set: BTreeMap<String, Value>,
    /// `--set-string`.
    pub set_string: BTreeMap<String, String>,
    /// `--set-file`: key → absolute path.
    pub set_file: BTreeMap<String, PathBuf>,
    /// `--api-versions`; none: those of the target's discovery.
    pub api_versions: Option<Vec<String>>,
    /// `--kube-version`; none: the target's.
    pub kube_version: Option<String>,
    /// Further arguments.
    pub args: Vec<String>,
    /// Further environment.
    pub env: BTreeMap<String, String>,
}

/// Where a chart is.
#[derive(Clone, Debug, PartialEq)]
pub enum ChartSource {
    /// Its folder or archive, in the repository of the application file.
    Local(PathBuf),
    /// In a chart repository or a registry.
    Remote(Box<RemoteChart>),
}

/// A chart in a chart repository or a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteChart {
    /// The URL of the repository, or of the registry's folder (`oci://host/charts`); without a
    /// slash at its end, and without a login.
    pub repository: String,
    /// The chart's name there.
    pub name: String,
    /// Its version, or a range of versions in helm's notation.
    pub version: String,
    /// What its digest has to be; `version` is exact then.
    pub digest: Option<String>,
}

impl RemoteChart {
    /// Whether it is in a registry.
    pub fn is_oci(&self) -> bool {
        self.repository.starts_with("oci://")
    }

    /// The chart without its version: `oci://host/charts/web`.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.repository, self.name)
    }
}

/// How a chart repository or registry is reached: an entry of the fleet's `chartRepositories`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartRepository {
    /// The URL that it stands for, and all below it; without a slash at its end.
    pub url: String,
    /// The environment variables that hold user name and password.
    pub login: Option<(String, String)>,
    /// Certificates to trust, absolute.
    pub ca_file: Option<PathBuf>,
    /// Whether a registry speaks plain HTTP.
    pub plain_http: bool,
}

/// What happens to a chart's hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Hooks {
    /// Listed in the plan and not applied.
    #[default]
    Drop,
    /// Applied as plain objects.
    Apply,
}

/// One layer of helm values.
#[derive(Clone, Debug, PartialEq)]
pub enum ValuesSource {
    /// A file, absolute; an optional one may be absent.
    File {
        /// The path.
        path: PathBuf,
        /// Whether it may be absent.
        optional: bool,
    },
    /// Values written in the application file.
    Inline(Value),
}

/// As kustomize's `images`: `name` is matched without tag and digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageOverride {
    /// The image's repository, without tag.
    pub name: String,
    /// Replaces the repository.
    pub new_name: Option<String>,
    /// Replaces the tag.
    pub new_tag: Option<String>,
    /// Replaces tag and digest.
    pub digest: Option<String>,
}

/// Sets `spec.replicas` of the workloads of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaOverride {
    /// The workload's name.
    pub name: String,
    /// The count, at least 0.
    pub count: u32,
}

/// What is done about fields of other managers: globs over their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// Whose fields become the application's.
    pub take: Vec<String>,
    /// Whose fields stop the object where they would be taken or set back.
    pub stop: Vec<String>,
    /// Whose fields stay as they are.
    pub leave: Vec<String>,
}

/// A patch of the rendered objects.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestPatch {
    /// Which objects; selecting none is an error.
    pub target: PatchTarget,
    /// What changes.
    pub operations: PatchOperations,
    /// `file:line` of the patch, for errors.
    pub origin: String,
}

/// Which objects a patch is for; absent fields match all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchTarget {
    /// API group.
    pub group: Option<String>,
    /// Version.
    pub version: Option<String>,
    /// Kind.
    pub kind: Option<String>,
    /// Name, a glob.
    pub name: Option<String>,
    /// Namespace.
    pub namespace: Option<String>,
}

/// The two forms of a patch.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchOperations {
    /// RFC 6902.
    Json6902(Vec<Value>),
    /// RFC 7386, maps only: replacing a list of named maps is an error (§2).
    Merge(Value),
}
