//! Manifests: YAML as kubectl reads it, object identity, secrets. Pure.

mod object;
pub mod yaml;

pub use object::{Gvk, Object, ObjectId, Origin};
