//! What the application file changes in rendered objects: patches, then replica counts, then
//! images, the order in which kustomize does the same.

mod images;
mod patch;
mod replicas;

use crate::config::{ImageOverride, ManifestPatch, ReplicaOverride, Target};
use crate::error::Result;

use super::Object;

/// The changes of one target.
#[derive(Clone, Copy, Debug)]
struct Edits<'a> {
    /// The namespace of objects that name none.
    namespace: &'a str,
    images: &'a [ImageOverride],
    replicas: &'a [ReplicaOverride],
    patches: &'a [ManifestPatch],
}

/// Applies the target's `patches`, `replicas` and `images` to its objects. Returns them with
/// warnings: an image that no container uses is one.
///
/// Errors (exit 3, or 4 for an object that is no longer a good manifest): a patch that selects
/// nothing, does not apply, or changes what the object is; a workload that is absent or scaled by
/// an autoscaler.
pub fn apply_edits(objects: Vec<Object>, target: &Target) -> Result<(Vec<Object>, Vec<String>)> {
    let edits = Edits {
        namespace: &target.namespace,
        images: &target.images,
        replicas: &target.replicas,
        patches: &target.patches,
    };
    edits.apply(objects).map_err(|e| e.in_target(&target.name))
}

impl Edits<'_> {
    fn apply(&self, mut objects: Vec<Object>) -> Result<(Vec<Object>, Vec<String>)> {
        for patch in self.patches {
            patch::apply(&mut objects, patch, self.namespace)?;
        }
        for replicas in self.replicas {
            replicas::apply(&mut objects, replicas, self.namespace)?;
        }
        let warnings = images::apply(&mut objects, self.images);
        Ok((objects, warnings))
    }
}

#[cfg(test)]
mod tests;
