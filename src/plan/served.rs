//! The objects of an old release in versions that the cluster serves now: a cluster is upgraded
//! between a release and the day it is gone back to. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::manifest::{Gvk, Object};

/// What a cluster serves.
pub trait Serves {
    /// Whether it serves the kind in exactly that version, or may: what answers for it is down.
    fn may_serve(&self, gvk: &Gvk) -> bool;
    /// The versions in which it serves the kind, preferred first.
    fn versions(&self, group: &str, kind: &str) -> Vec<String>;
}

/// Puts each object into a version that the cluster serves: its own where it can, else the one that
/// the server prefers. `source` says where the objects come from. Answers a warning for each kind
/// whose version changed; whether the manifest fits the other version is the dry run's to say.
///
/// # Errors
/// Each object whose kind is not served in any version (exit 4).
pub fn to_served(
    objects: &mut [Object],
    cluster: &impl Serves,
    source: &str,
) -> Result<Vec<String>, Vec<Error>> {
    let defined = defined(objects);
    let mut errors = Vec::new();
    let mut changed: BTreeMap<(Gvk, String), usize> = BTreeMap::new();
    for object in objects {
        let gvk = object.gvk.clone();
        if cluster.may_serve(&gvk) || defined.contains(&gvk) {
            continue;
        }
        let Some(version) = cluster.versions(&gvk.group, &gvk.kind).into_iter().next() else {
            errors.push(not_served(object, source));
            continue;
        };
        object.set_version(&version);
        *changed.entry((gvk, version)).or_default() += 1;
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let told = changed.into_iter().map(|((gvk, version), count)| {
        let now = Gvk { version, ..gvk.clone() }.api_version();
        let (old, kind) = (gvk.api_version(), gvk.kind);
        let those = if count == 1 { String::new() } else { format!(" {count} times") };
        format!("{source} has {kind}{those} in {old}, which is not served any more: {now} is sent")
    });
    Ok(told.collect())
}

fn not_served(object: &Object, source: &str) -> Error {
    let Gvk { kind, .. } = &object.gvk;
    Error::manifest(format!("the cluster does not serve its kind `{kind}` any more"))
        .on(&object.id)
        .because(format!("{source} has it in `{}`", object.gvk.api_version()))
        .hint("install its definition again, or choose a release that does not need it")
}

/// The kinds that the definitions among the objects serve, by version.
fn defined(objects: &[Object]) -> BTreeSet<Gvk> {
    let mut defined = BTreeSet::new();
    for object in objects.iter().filter(|o| o.gvk.kind == "CustomResourceDefinition") {
        let spec = &object.value["spec"];
        let (Some(group), Some(kind)) = (spec["group"].as_str(), spec["names"]["kind"].as_str())
        else {
            continue;
        };
        for version in spec["versions"].as_array().into_iter().flatten() {
            if let Some(name) = version["name"].as_str().filter(|_| version["served"] == true) {
                defined.insert(Gvk {
                    group: group.into(),
                    version: name.into(),
                    kind: kind.into(),
                });
            }
        }
    }
    defined
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Origin;

    /// Serves `Db` of example.com in v1 and v2; what serves metrics does not answer.
    struct Cluster;

    impl Serves for Cluster {
        fn may_serve(&self, gvk: &Gvk) -> bool {
            gvk.group == "metrics.k8s.io"
                || self.versions(&gvk.group, &gvk.kind).contains(&gvk.version)
        }
        fn versions(&self, group: &str, kind: &str) -> Vec<String> {
            let served = (group, kind) == ("example.com", "Db");
            if served { vec!["v2".into(), "v1".into()] } else { Vec::new() }
        }
    }

    fn object(api_version: &str, kind: &str, name: &str) -> Object {
        let value = json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, "namespace": "shop"}});
        Object::new(value, Origin::default()).unwrap()
    }

    #[test]
    fn a_version_that_is_gone_becomes_the_preferred_one_and_is_said() {
        let mut objects = [
            object("example.com/v1", "Db", "a"),
            object("example.com/v1alpha1", "Db", "b"),
            object("example.com/v1alpha1", "Db", "c"),
        ];
        let warnings = to_served(&mut objects, &Cluster, "release 3").unwrap();
        let versions: Vec<&str> =
            objects.iter().map(|o| o.value["apiVersion"].as_str().unwrap()).collect();
        assert_eq!(versions, ["example.com/v1", "example.com/v2", "example.com/v2"]);
        assert!(objects[1..].iter().all(|o| o.gvk.version == "v2"));
        assert_eq!(
            warnings,
            ["release 3 has Db 2 times in example.com/v1alpha1, which is not served any more: \
              example.com/v2 is sent"]
        );
    }

    #[test]
    fn a_kind_that_is_gone_is_an_error_unless_the_set_defines_it() {
        let mut objects = [
            object("example.com/v1", "Queue", "a"),
            object("metrics.k8s.io/v1", "PodMetrics", "b"),
        ];
        let errors = to_served(&mut objects, &Cluster, "release 3").unwrap_err();
        let told: Vec<String> =
            errors.iter().map(|e| format!("{}: {e}", e.exit().code())).collect();
        assert_eq!(
            told,
            [
                "4: Queue shop/a: the cluster does not serve its kind `Queue` any more: release 3 has \
              it in `example.com/v1`"
            ]
        );
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": {"name": "queues.example.com"},
            "spec": {"group": "example.com", "names": {"kind": "Queue"}, "versions": [
                {"name": "v1", "served": true}, {"name": "v0", "served": false}]}});
        let with = |version: &str| {
            let definition = Object::new(definition.clone(), Origin::default()).unwrap();
            let mut objects = [object(&format!("example.com/{version}"), "Queue", "a"), definition];
            // The definition itself is served by every cluster.
            struct Every;
            impl Serves for Every {
                fn may_serve(&self, gvk: &Gvk) -> bool {
                    gvk.kind == "CustomResourceDefinition"
                }
                fn versions(&self, _: &str, _: &str) -> Vec<String> {
                    Vec::new()
                }
            }
            to_served(&mut objects, &Every, "release 3").is_ok()
        };
        assert!(with("v1"));
        assert!(!with("v0"), "the definition of the set does not serve it");
    }
}
