//! `before-first-apply`: the owner that the server makes up for an object without managedFields. It
//! holds all that was there, so also what the server itself and controllers wrote. Of that nothing
//! is taken: a claim would lose its volume, and a Job the selector that it cannot be given again.

use serde_json::Value;

use super::fields::FieldSet;
use super::path::{FieldPath, Segment};

/// The manager's name.
pub(super) const MADE_UP: &str = "before-first-apply";

/// What labels and annotations of controllers start with.
const CONTROLLERS: &[&str] = &[
    "autoscaling.alpha.kubernetes.io/",
    "batch.kubernetes.io/",
    "controller-uid",
    "deployment.kubernetes.io/",
    "deprecated.daemonset.template.generation",
    "endpoints.kubernetes.io/",
    "job-name",
    "kubernetes.io/metadata.name",
    "pv.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "volume.kubernetes.io/",
];

/// Kinds whose spec cannot change but for a few fields, of which the server wrote some.
const FIXED: &[&str] = &["Job", "PersistentVolume", "PersistentVolumeClaim", "Pod"];

/// What of the made-up owner's fields someone may have declared.
pub(super) fn declared(mut fields: FieldSet, live: &Value) -> FieldSet {
    for key in ["finalizers", "ownerReferences"] {
        fields.remove(&FieldPath::fields(&["metadata", key]));
    }
    for place in ["labels", "annotations"] {
        let path = FieldPath::fields(&["metadata", place]);
        let below = fields.at(&path).into_iter().flat_map(FieldSet::children);
        let own = |segment: &Segment| match segment {
            Segment::Field(key) => CONTROLLERS.iter().any(|start| key.starts_with(start)),
            Segment::Key(_) | Segment::Value(_) | Segment::Index(_) | Segment::Other(_) => false,
        };
        let controllers: Vec<FieldPath> = below
            .filter(|(segment, _)| own(segment))
            .map(|(segment, _)| path.join(segment.clone()))
            .collect();
        for path in &controllers {
            fields.remove(path);
        }
    }
    if live["kind"].as_str().is_some_and(|kind| FIXED.contains(&kind)) {
        fields.remove(&FieldPath::fields(&["spec"]));
    }
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_wrote_is_not_taken() {
        let all = json!({
            "f:metadata": {
                "f:annotations": {".": {}, "f:note": {}, "f:pv.kubernetes.io/bind-completed": {}},
                "f:labels": {"f:app.kubernetes.io/name": {}, "f:batch.kubernetes.io/job-name": {}},
                "f:finalizers": {"v:\"kubernetes.io/pvc-protection\"": {}},
                "f:ownerReferences": {"k:{\"uid\":\"1\"}": {}},
            },
            "f:spec": {"f:volumeName": {}},
        });
        let told = |kind: &str| {
            let set = declared(FieldSet::from_json(&all), &json!({"kind": kind}));
            set.leaves().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let metadata =
            [".metadata.annotations.note", ".metadata.labels[\"app.kubernetes.io/name\"]"];
        assert_eq!(told("PersistentVolumeClaim"), metadata);
        assert_eq!(told("Widget"), [metadata[0], metadata[1], ".spec.volumeName"]);
    }
}
