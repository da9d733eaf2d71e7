//! From rendered objects to what is sent: scope and namespace resolved, membership label added,
//! nothing that only a server may say.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cluster::Resource;
use crate::config::Target;
use crate::error::Error;
use crate::manifest::{Gvk, Object, ObjectId, strip_nulls};

use super::handling::{Handling, check_annotations};
use super::order;

/// An object that is ready to be compared and sent.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The object, its namespace resolved.
    pub object: Object,
    /// Where the server has it; none when its kind is defined by this very set.
    pub resource: Option<Resource>,
    /// When it is written.
    pub rank: i64,
    /// How it is applied, as its annotation says.
    pub handling: Handling,
}

/// Prepares the objects of a target, in the order in which an apply writes them. `resolve` answers
/// from the server's discovery: scope is never guessed. Those that are to be ignored are among
/// them. Reports every object that cannot be sent.
pub fn prepare(
    objects: Vec<Object>,
    target: &Target,
    label: (&str, &str),
    resolve: impl Fn(&Gvk) -> Option<Resource>,
) -> Result<Vec<Prepared>, Vec<Error>> {
    let defined = Definitions::of(&objects);
    let mut errors = Vec::new();
    let mut prepared = Vec::with_capacity(objects.len());
    let mut seen: std::collections::BTreeMap<ObjectId, String> = std::collections::BTreeMap::new();
    for mut object in objects {
        let handling = match check_annotations(&object) {
            Ok(handling) => handling,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let resource = resolve(&object.gvk);
        let namespaced = match &resource {
            Some(resource) => resource.namespaced,
            None => match defined.scope(&object.gvk) {
                Some(namespaced) => namespaced,
                // It is never sent, so nothing is lost.
                None if handling == Handling::Ignore => object.id.namespace.is_some(),
                None => {
                    errors.push(unknown_kind(&object));
                    continue;
                }
            },
        };
        match (namespaced, object.id.namespace.is_some()) {
            (true, false) => object.set_namespace(Some(&target.namespace)),
            (false, true) => object.set_namespace(None),
            (true, true) | (false, false) => {}
        }
        if let Some(first) = seen.insert(object.id.clone(), object.origin.to_string()) {
            errors.push(
                Error::manifest("is in the manifests twice")
                    .on(&object.id)
                    .because(format!("first in {first}, again in {}", object.origin))
                    .hint("an application has one manifest for each object; remove or rename one"),
            );
            continue;
        }
        // A definition's `nullable` fields keep their nulls; built-in kinds have no such fields,
        // and a null there would be stored as an empty value (A1.8).
        if is_built_in(&object.gvk.group) {
            strip_nulls(&mut object.value);
        }
        set_label(&mut object.value, label);
        let rank = order::rank(&object, &defined.kinds);
        prepared.push(Prepared { object, resource, rank, handling });
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    prepared.sort_by(|a, b| (a.rank, &a.object.id).cmp(&(b.rank, &b.object.id)));
    Ok(prepared)
}

/// Whether a group belongs to Kubernetes itself.
pub fn is_built_in(group: &str) -> bool {
    !group.contains('.')
        || group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io") && {
            // Gateway API is a definition in spite of its group.
            !matches!(group, "gateway.networking.k8s.io" | "snapshot.storage.k8s.io")
        }
}

fn set_label(value: &mut Value, (key, text): (&str, &str)) {
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let labels = metadata.entry("labels").or_insert_with(|| Value::Object(Default::default()));
    if labels.is_null() {
        *labels = Value::Object(Default::default());
    }
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(key.to_owned(), text.into());
    }
}

fn unknown_kind(object: &Object) -> Error {
    Error::manifest(format!(
        "the cluster has no kind `{}` in `{}`",
        object.gvk.kind,
        object.gvk.api_version()
    ))
    .on(&object.id)
    .because(format!("written in {}", object.origin))
    .hint("check apiVersion and kind, or put its CustomResourceDefinition into the manifests")
}

/// The kinds that definitions of the set bring.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// (group, kind) of each.
    pub kinds: BTreeSet<(String, String)>,
    namespaced: BTreeSet<(String, String)>,
}

impl Definitions {
    /// Reads them off the set's CustomResourceDefinitions.
    pub fn of(objects: &[Object]) -> Self {
        let mut definitions = Definitions::default();
        for object in objects {
            if object.gvk.kind != "CustomResourceDefinition" {
                continue;
            }
            let spec = &object.value["spec"];
            let (Some(group), Some(kind)) =
                (spec["group"].as_str(), spec["names"]["kind"].as_str())
            else {
                continue;
            };
            let key = (group.to_owned(), kind.to_owned());
            if spec["scope"].as_str() != Some("Cluster") {
                definitions.namespaced.insert(key.clone());
            }
            definitions.kinds.insert(key);
        }
        definitions
    }

    /// Whether a kind that the set defines is namespaced; none when the set does not define it.
    fn scope(&self, gvk: &Gvk) -> Option<bool> {
        let key = (gvk.group.clone(), gvk.kind.clone());
        self.kinds.contains(&key).then(|| self.namespaced.contains(&key))
    }
}
