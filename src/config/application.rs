//! The application file as written. The types of settings serve the file, its overrides (where
//! any key may be absent or null) and the merged result; what is required is checked on the last.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::fleet::{ApiVersion, ClusterEntry};
use super::forms::{AutoOr, Templated, ValuesEntry};
use super::ignore::IgnoreEntry;
use super::rollout::RolloutEntry;
use super::selector::Selector;
use super::target::Hooks;

/// An application: what to render, where, and what to change for some of its targets. A product
/// team owns it. Strings below `namespace`, `stateNamespace`, `createNamespace`, `render`,
/// `images`, `replicas`, `patches` and `ignore` may hold templates over `target`, `labels`, `values`,
/// `vars` and `app`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Application")]
pub(crate) struct ApplicationFile {
    /// The version of this format.
    #[serde(rename = "apiVersion")]
    pub(crate) _api_version: ApiVersion,
    /// What the file is.
    #[serde(rename = "kind")]
    pub(crate) _kind: ApplicationKind,
    /// The application's name.
    pub(crate) metadata: Metadata,
    /// The fleet file, relative to this file. `--fleet` and `MCD_FLEET` win over it.
    pub(crate) fleet: Option<String>,
    /// The clusters, in place of a fleet file.
    pub(crate) clusters: Option<Vec<ClusterEntry>>,
    /// The clusters to deploy to; `{}` is all of them. Selecting none is an error.
    pub(crate) select: Selector,
    /// Variables that templates read as `vars` and `--var name=value` sets.
    #[serde(default)]
    pub(crate) vars: BTreeMap<String, VarEntry>,
    /// The namespace of namespaced objects that name none.
    #[serde(rename = "namespace")]
    pub(crate) _namespace: String,
    /// The namespace of the record and the releases. Default: `namespace`.
    #[serde(rename = "stateNamespace")]
    pub(crate) _state_namespace: Option<String>,
    /// Create `namespace` when it does not exist. It is not owned: `mcd delete` leaves it.
    #[serde(rename = "createNamespace")]
    pub(crate) _create_namespace: Option<Templated<bool>>,
    /// What gives the manifests: exactly one of `kustomize`, `helm` and `manifests`.
    #[serde(rename = "render")]
    pub(crate) _render: Option<RenderEntry>,
    /// Image changes, made after rendering.
    #[serde(rename = "images")]
    pub(crate) _images: Option<Vec<ImageEntry>>,
    /// Replica counts, set after rendering.
    #[serde(rename = "replicas")]
    pub(crate) _replicas: Option<Vec<ReplicaEntry>>,
    /// Patches of rendered objects.
    #[serde(rename = "patches")]
    pub(crate) _patches: Option<Vec<PatchEntry>>,
    /// Whose fields are taken, stop the object, or are left alone, by the names of field managers.
    #[serde(rename = "conflicts")]
    pub(crate) _conflicts: Option<ConflictsEntry>,
    /// Fields that are left to others.
    #[serde(rename = "ignore")]
    pub(crate) _ignore: Option<Vec<IgnoreEntry>>,
    /// Rules of health for kinds that mcd knows nothing of, or for which it should judge
    /// otherwise: CEL over the object's fields.
    #[serde(rename = "health")]
    pub(crate) _health: Option<Vec<HealthEntry>>,
    /// How a new release is rolled out over the targets.
    pub(crate) rollout: Option<RolloutEntry>,
    /// Settings for some of the targets, merged in order over those above: maps merge, scalars
    /// and lists replace, null removes; `images` and `replicas` merge by name, `patches`,
    /// `ignore`, `health` and helm's `values` append; another renderer replaces the whole `render`.
    #[serde(default)]
    pub(crate) overrides: Vec<OverrideEntry>,
}

/// The kind of an application file.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum ApplicationKind {
    Application,
}

/// What names the application.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub(crate) struct Metadata {
    /// The application's name: a DNS label of at most 40 characters.
    pub(crate) name: String,
}

/// A variable.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Variable")]
pub(crate) struct VarEntry {
    /// Whether `--var` has to give it, for targets whose overrides hold no default.
    #[serde(default)]
    pub(crate) required: bool,
    /// Its value without `--var`. That of `--var` is read as the same type.
    #[serde(default)]
    pub(crate) default: Option<Value>,
    /// What it is for.
    #[serde(default)]
    pub(crate) description: Option<String>,
}

/// Settings for some of the targets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Override")]
pub(crate) struct OverrideEntry {
    /// The targets that the override is for.
    pub(crate) select: Selector,
    /// Other defaults of variables.
    #[serde(default)]
    pub(crate) vars: BTreeMap<String, VarOverride>,
    /// Another namespace.
    #[serde(rename = "namespace")]
    pub(crate) _namespace: Option<String>,
    /// Changes of `render`.
    #[serde(rename = "render")]
    pub(crate) _render: Option<RenderEntry>,
    /// Further images; those of the same name are merged.
    #[serde(rename = "images")]
    pub(crate) _images: Option<Vec<ImageEntry>>,
    /// Further replica counts; those of the same name are merged.
    #[serde(rename = "replicas")]
    pub(crate) _replicas: Option<Vec<ReplicaEntry>>,
    /// Further patches.
    #[serde(rename = "patches")]
    pub(crate) _patches: Option<Vec<PatchEntry>>,
    /// Further fields that are left to others.
    #[serde(rename = "ignore")]
    pub(crate) _ignore: Option<Vec<IgnoreEntry>>,
    /// Further rules of health; of several for a kind the last one counts.
    #[serde(rename = "health")]
    pub(crate) _health: Option<Vec<HealthEntry>>,
}

/// Another default of a variable.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "VariableOverride")]
pub(crate) struct VarOverride {
    /// The default for these targets.
    pub(crate) default: Option<Value>,
}

/// The settings of a target, merged and with their templates resolved.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub(crate) struct Settings {
    pub(crate) namespace: String,
    pub(crate) state_namespace: Option<String>,
    pub(crate) create_namespace: Option<Templated<bool>>,
    pub(crate) render: Option<RenderEntry>,
    pub(crate) images: Option<Vec<ImageEntry>>,
    pub(crate) replicas: Option<Vec<ReplicaEntry>>,
    pub(crate) patches: Option<Vec<PatchEntry>>,
    pub(crate) conflicts: Option<ConflictsEntry>,
    pub(crate) ignore: Option<Vec<IgnoreEntry>>,
    pub(crate) health: Option<Vec<HealthEntry>>,
}

/// The keys of [`Settings`]: what overrides merge and templates resolve.
pub(crate) const SETTINGS: &[&str] = &[
    "namespace",
    "stateNamespace",
    "createNamespace",
    "render",
    "images",
    "replicas",
    "patches",
    "conflicts",
    "ignore",
    "health",
];

/// What is done about fields that other managers own, by their names, with `*`, `?`, `[…]` and
/// `{a,b}` as in a shell. It comes before what mcd does by itself; a name that is written out comes
/// before a glob, and of globs `stop` before `leave` before `take`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Conflicts")]
pub(crate) struct ConflictsEntry {
    /// Their fields become the application's: values go back to the manifest's, and what the
    /// manifest lacks goes.
    #[serde(default)]
    pub(crate) take: Vec<String>,
    /// The object stops where their fields would be taken or set back.
    #[serde(default)]
    pub(crate) stop: Vec<String>,
    /// Their fields stay as they are, also those that the manifest sets.
    #[serde(default)]
    pub(crate) leave: Vec<String>,
}

/// When objects of a kind are healthy: expressions in CEL that give true or false, over the
/// object's fields `metadata`, `spec`, `status` and so on. The first that holds decides, in the
/// order `inProgress`, `failed`, `current`; when none does, the object is on its way. As Flux's
/// `healthCheckExprs`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Health")]
pub(crate) struct HealthEntry {
    /// The API group; absent for the core group.
    pub(crate) group: Option<String>,
    /// The kind.
    pub(crate) kind: String,
    /// When the object is on its way.
    pub(crate) in_progress: Option<String>,
    /// When it has failed, and will not get there by itself.
    pub(crate) failed: Option<String>,
    /// When it is healthy.
    pub(crate) current: String,
}

/// What gives the manifests: exactly one of the three.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Render")]
pub(crate) struct RenderEntry {
    /// `kustomize build`.
    pub(crate) kustomize: Option<KustomizeEntry>,
    /// `helm template`.
    pub(crate) helm: Option<HelmEntry>,
    /// Files, or folders: their *.yaml, *.yml and *.json, not below. Relative to this file.
    pub(crate) manifests: Option<Vec<String>>,
}

/// Settings of `kustomize build`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Kustomize")]
pub(crate) struct KustomizeEntry {
    /// The folder with the kustomization, relative to this file. Required.
    pub(crate) path: Option<String>,
    /// The version of kustomize to use, such as `">=5.4, <6"` or `"5.8.2"`. Default: any.
    pub(crate) version: Option<String>,
    /// Further arguments.
    pub(crate) args: Option<Vec<String>>,
    /// Further environment variables.
    pub(crate) env: Option<BTreeMap<String, String>>,
}

/// Settings of `helm template`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Helm")]
pub(crate) struct HelmEntry {
    /// The chart's folder or archive, relative to this file; with `repository` its name there; or
    /// `oci://…`. Required.
    pub(crate) chart: Option<String>,
    /// The URL of the chart repository, when the chart is not local.
    pub(crate) repository: Option<String>,
    /// The version of a chart that is not local, exact (`"1.2.3"`) or a range (`"^1.2"`). Required
    /// for these.
    pub(crate) version: Option<String>,
    /// The digest of a chart that is not local, such as `sha256:…`: of its archive in a
    /// repository, of its manifest in a registry (`oci://`). Another one is refused.
    pub(crate) digest: Option<String>,
    /// The release's name. Default: the application's.
    pub(crate) release: Option<String>,
    /// The version of helm to use, such as `">=3.14"`. Default: any.
    pub(crate) helm_version: Option<String>,
    /// What happens to the chart's hooks. Default: `drop`.
    pub(crate) hooks: Option<Templated<Hooks>>,
    /// Layers of values, later ones win.
    pub(crate) values: Option<Vec<ValuesEntry>>,
    /// As `--set`: path → value. Wins over `values`.
    pub(crate) set: Option<BTreeMap<String, Value>>,
    /// As `--set-string`: path → text.
    pub(crate) set_string: Option<BTreeMap<String, String>>,
    /// As `--set-file`: path → file, relative to this file.
    pub(crate) set_file: Option<BTreeMap<String, String>>,
    /// The API versions that the chart sees. Default: `auto`, the cluster's own.
    pub(crate) api_versions: Option<AutoOr<Vec<String>>>,
    /// The Kubernetes version that the chart sees. Default: `auto`, the cluster's own.
    pub(crate) kube_version: Option<String>,
    /// Further arguments.
    pub(crate) args: Option<Vec<String>>,
    /// Further environment variables.
    pub(crate) env: Option<BTreeMap<String, String>>,
}

/// A change of an image, as kustomize's `images`: in containers and initContainers, also those
/// of CronJobs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Image")]
pub(crate) struct ImageEntry {
    /// The image's repository as rendered, without tag and digest.
    pub(crate) name: String,
    /// Another repository.
    pub(crate) new_name: Option<String>,
    /// Another tag.
    pub(crate) new_tag: Option<String>,
    /// A digest, such as `sha256:…`, in place of a tag.
    pub(crate) digest: Option<String>,
}

/// A replica count.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Replicas")]
pub(crate) struct ReplicaEntry {
    /// The workload's name.
    pub(crate) name: String,
    /// Its replicas. Required; an override may merge it in.
    pub(crate) count: Option<Templated<u32>>,
}

/// A patch of rendered objects: exactly one of `json6902` and `merge`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Patch")]
pub(crate) struct PatchEntry {
    /// Which objects; selecting none is an error.
    pub(crate) target: PatchTargetEntry,
    /// Operations of RFC 6902.
    pub(crate) json6902: Option<Vec<OperationEntry>>,
    /// A merge patch of RFC 7386. One that would replace a list of named maps is an error.
    pub(crate) merge: Option<BTreeMap<String, Value>>,
}

/// Which objects a patch is for: what is absent matches all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "PatchTarget")]
pub(crate) struct PatchTargetEntry {
    /// The API group.
    pub(crate) group: Option<String>,
    /// The API version.
    pub(crate) version: Option<String>,
    /// The kind.
    pub(crate) kind: Option<String>,
    /// The name; `*` and `?` match as in a shell.
    pub(crate) name: Option<String>,
    /// The namespace.
    pub(crate) namespace: Option<String>,
}

/// An operation of a JSON patch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "PatchOperation")]
pub(crate) struct OperationEntry {
    /// What to do.
    pub(crate) op: Operation,
    /// Where: a JSON pointer, such as `/spec/template/spec/containers/0/image`.
    pub(crate) path: String,
    /// Where `move` and `copy` take the value from: a JSON pointer.
    pub(crate) from: Option<String>,
    /// The value of `add`, `replace` and `test`. `null` is a value.
    #[serde(rename = "value")]
    pub(crate) _value: Option<Value>,
}

/// What an operation of a JSON patch does.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(crate) enum Operation {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}
