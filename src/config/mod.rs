//! Fleet and Application as written → resolved targets. Pure; spans are kept for errors.

mod name;
mod target;

pub use name::{AppName, TargetName};
pub use target::{
    ClusterSpec, HelmRender, Hooks, ImageOverride, KustomizeRender, ManifestPatch, PatchOperations,
    PatchTarget, Render, ReplicaOverride, Target, ValuesSource,
};
