//! Fleet and Application as written → resolved targets. Pure but for [`Disk`], the one edge where
//! files are read and paths made canonical.
//!
//! A file becomes a tree that knows the place of each value (`read`, `node`). The tree is decoded
//! to the types of the format (`application`, `fleet`, `forms`), which finds unknown keys and
//! wrong types; then, for each selected cluster, overrides are merged (`merge`), templates
//! resolved (`template`), and the result decoded again and checked (`settings`). All errors end
//! with exit 3 and name file, line and column.
//!
//! To add a setting: a field in `application` with a doc comment (that is the schema's text), its
//! check in `settings`, its place in [`Target`] and in `provenance`; then write the schemas anew
//! and add a sample to `tests/config`.

mod application;
mod charts;
mod clusters;
mod conflicts;
mod decode;
mod fleet;
mod forms;
mod generators;
mod identity;
mod ignore;
mod merge;
mod name;
mod names;
mod node;
mod paths;
mod project;
mod provenance;
mod read;
mod resolve;
mod rollout;
mod rules;
#[cfg(test)]
mod samples;
mod schema;
mod selector;
mod settings;
mod stored;
mod target;
mod template;
mod vars;
mod version;

pub use generators::{Contexts, NoContexts};
pub use identity::Identity;
pub use ignore::{Ignore, LabelSelector};
pub use name::{AppName, TargetName};
pub(crate) use names::is_dns_label;
pub use project::Project;
pub use read::{Disk, Files, Memory};
pub use resolve::Resolver;
pub use schema::{SchemaKind, schema};
pub(crate) use selector::Selectable;
pub use selector::{Expression, Operator, Selector};
pub use target::{
    ChartRepository, ChartSource, ClusterSpec, Conflicts, HelmRender, Hooks, ImageOverride,
    KustomizeRender, ManifestPatch, PatchOperations, PatchTarget, RemoteChart, Render,
    ReplicaOverride, Target, ValuesSource,
};
pub use version::version_requirement;

/// The version of the format of both files.
pub const API_VERSION: &str = "mcd.dev/v1alpha1";
