//! The fleet file as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::API_VERSION;
use super::identity::Identity;

/// A fleet: the clusters that applications can be deployed to. A platform team owns it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Fleet")]
pub(crate) struct FleetFile {
    /// The version of this format.
    #[serde(rename = "apiVersion")]
    pub(crate) _api_version: ApiVersion,
    /// What the file is.
    #[serde(rename = "kind")]
    pub(crate) _kind: FleetKind,
    /// The clusters, in the order in which tables show them. At least one, or one of `generators`.
    pub(crate) clusters: Option<Vec<ClusterEntry>>,
    /// Clusters that are found rather than listed. They come after the listed ones, and each
    /// generator has to find one.
    #[serde(default)]
    pub(crate) generators: Vec<GeneratorEntry>,
    /// Where versions of the rendering tools are, when they are not on PATH.
    #[serde(default)]
    pub(crate) tools: ToolsEntry,
    /// What applications may do.
    #[serde(default)]
    pub(crate) allow: AllowEntry,
    /// How chart repositories and registries are reached, where helm's own files do not say it.
    #[serde(default)]
    pub(crate) chart_repositories: Vec<ChartRepositoryEntry>,
}

/// The version of the format.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum ApiVersion {
    #[serde(rename = "mcd.dev/v1alpha1")]
    V1Alpha1,
}

// The one constant of design §2; serde's attributes take literals only.
const _: () = assert!(matches!(API_VERSION.as_bytes(), b"mcd.dev/v1alpha1"));

/// The kind of a fleet file.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum FleetKind {
    Fleet,
}

/// A cluster: one API server, reached through a context of a kubeconfig.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Cluster")]
pub(crate) struct ClusterEntry {
    /// The cluster's name in tables, selectors and `-t`: unique in the fleet; lower-case letters,
    /// digits, `-`, `.` and `_`, at most 63.
    pub(crate) name: String,
    /// The kubeconfig's context. Default: the name. The kubeconfig's current context is never
    /// used.
    pub(crate) context: Option<String>,
    /// The kubeconfig file, relative to this file. Default: `--kubeconfig`, then `$KUBECONFIG`
    /// (a list, merged as kubectl does), then `~/.kube/config`.
    pub(crate) kubeconfig: Option<String>,
    /// Which cluster this is: a pin that has to hold before anything is read or written.
    pub(crate) identity: Option<Identity>,
    /// Use the service account of the pod that mcd runs in, and no kubeconfig.
    #[serde(default)]
    pub(crate) in_cluster: bool,
    /// What selectors match on.
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// What templates read as `values`.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Value>,
    /// The Kubernetes version that offline commands give helm, such as `"1.34"`.
    pub(crate) kube_version: Option<String>,
    /// The API versions that offline commands give helm, such as `monitoring.coreos.com/v1`.
    #[serde(default)]
    pub(crate) api_versions: Vec<String>,
}

/// Where to find clusters: exactly one of the two.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Generator")]
pub(crate) struct GeneratorEntry {
    /// Contexts of a kubeconfig, in the order of their names.
    pub(crate) kubeconfig: Option<KubeconfigGenerator>,
    /// Files with a cluster each, written as in `clusters` (several: as documents), relative to
    /// this file. `*` and `?` work in each part of the path.
    pub(crate) files: Option<String>,
}

/// A cluster for each context of a kubeconfig whose name matches. Strings may be templates over
/// `context`, the context's name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "KubeconfigGenerator")]
pub(crate) struct KubeconfigGenerator {
    /// Which contexts: a pattern such as `prod-*`.
    pub(crate) contexts: String,
    /// The kubeconfig file, relative to this file. Default: as for a cluster without `kubeconfig`.
    pub(crate) file: Option<String>,
    /// The cluster's name, such as `{{ context | replace("prod-", "") }}`. Default: the context's.
    #[serde(rename = "name")]
    pub(crate) _name: Option<String>,
    /// Labels of each.
    #[serde(default, rename = "labels")]
    pub(crate) _labels: BTreeMap<String, String>,
    /// What templates read as `values`, of each.
    #[serde(default, rename = "values")]
    pub(crate) _values: BTreeMap<String, Value>,
    /// The Kubernetes version that offline commands give helm.
    #[serde(rename = "kubeVersion")]
    pub(crate) _kube_version: Option<String>,
}

/// Where versions of the rendering tools are: version → path of the binary, relative to this
/// file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Tools")]
pub(crate) struct ToolsEntry {
    /// Versions of kustomize.
    #[serde(default)]
    pub(crate) kustomize: BTreeMap<String, String>,
    /// Versions of helm.
    #[serde(default)]
    pub(crate) helm: BTreeMap<String, String>,
}

/// What applications may do.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Allow")]
pub(crate) struct AllowEntry {
    /// Let rendering run code of the repository: kustomize's exec functions and alpha plugins,
    /// helm's post-renderers.
    #[serde(default)]
    pub(crate) plugins: bool,
}

/// How a chart repository or registry is reached.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "ChartRepository")]
pub(crate) struct ChartRepositoryEntry {
    /// The URL, `https://…` or `oci://…`. It stands for everything below it; the longest that
    /// fits is used.
    pub(crate) url: String,
    /// The environment variable that holds the user's name.
    pub(crate) username_env: Option<String>,
    /// The environment variable that holds the password.
    pub(crate) password_env: Option<String>,
    /// The certificates to trust, in PEM, relative to this file. Default: the system's.
    pub(crate) ca_file: Option<String>,
    /// Talk to a registry (`oci://`) over plain HTTP.
    #[serde(default)]
    pub(crate) plain_http: bool,
}
