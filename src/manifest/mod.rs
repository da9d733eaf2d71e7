//! Manifests: YAML as kubectl reads it, object identity, secrets. Pure.

mod built_in;
mod check;
mod edit;
mod emit;
mod mask;
mod nulls;
mod object;
mod read;
mod schema;
mod scrub;
pub mod secret;
pub mod yaml;

pub use built_in::is_cluster_scoped;
pub use edit::apply_edits;
pub use emit::{to_yaml, to_yaml_documents};
pub use mask::{mask_one, mask_pair};
pub use nulls::{strip_nulls, strip_nulls_except};
pub use object::{Gvk, Object, ObjectId, Origin};
pub use read::{check_unique, objects};
pub use schema::{Findings, SCHEMA_VERSION, check_built_in};
pub use scrub::{MASK, Scrubber};
