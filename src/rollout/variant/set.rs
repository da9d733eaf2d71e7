//! A release's objects, each with the namespace that it has in the cluster.

use serde_json::Value;

use crate::manifest::{Gvk, Object, ObjectId, is_cluster_scoped};
use crate::plan::{Handling, pod_template};

/// An object of a release.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// Its identity in the cluster.
    pub(super) id: ObjectId,
    /// The object, as the release has it.
    pub(super) object: &'a Object,
}

impl<'a> Item<'a> {
    /// Its version and kind.
    pub(super) fn gvk(&self) -> &'a Gvk {
        &self.object.gvk
    }

    /// The manifest.
    pub(super) fn value(&self) -> &'a Value {
        &self.object.value
    }

    /// Whether it is of a kind.
    pub(super) fn is(&self, group: &str, kind: &str) -> bool {
        self.id.group == group && self.id.kind == kind
    }

    /// The template of the pods that it makes; none for what makes none.
    pub(super) fn template(&self) -> Option<&'a Value> {
        pod_template(&self.object.gvk, &self.object.value)
    }

    /// The labels of the pods that it makes; null for what makes none.
    pub(super) fn pod_labels(&self) -> &'a Value {
        self.template().map_or(&Value::Null, |template| &template["metadata"]["labels"])
    }

    /// How its annotation says that it is applied. One that says nonsense was reported when the
    /// release was planned.
    pub(super) fn handling(&self) -> Handling {
        Handling::of(self.object).unwrap_or_default()
    }

    /// The object, with its namespace written down.
    pub(super) fn to_object(&self) -> Object {
        let mut object = self.object.clone();
        if object.id.namespace != self.id.namespace {
            object.set_namespace(self.id.namespace.as_deref());
        }
        object
    }
}

/// The objects of a release.
#[derive(Clone, Debug)]
pub(super) struct Set<'a> {
    /// In the order of the release.
    pub(super) items: Vec<Item<'a>>,
}

impl<'a> Set<'a> {
    /// The objects, those that name no namespace in `namespace`. Of custom kinds, whose scope only
    /// a cluster knows, those that name none are taken as they are.
    pub(super) fn new(objects: &'a [Object], namespace: &str) -> Self {
        let item = |object: &'a Object| {
            let mut id = object.id.clone();
            match is_cluster_scoped(&object.gvk) {
                Some(true) => id.namespace = None,
                Some(false) if id.namespace.is_none() => id.namespace = Some(namespace.to_owned()),
                Some(false) | None => {}
            }
            Item { id, object }
        };
        Set { items: objects.iter().map(item).collect() }
    }

    /// The object of that name.
    pub(super) fn get(&self, id: &ObjectId) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.id == *id)
    }

    /// The objects of a kind.
    pub(super) fn of(&self, group: &str, kind: &str) -> impl Iterator<Item = &Item<'a>> {
        self.items.iter().filter(move |item| item.is(group, kind))
    }

    /// The Services in a namespace.
    pub(super) fn services_in(&self, namespace: Option<&str>) -> impl Iterator<Item = &Item<'a>> {
        self.of("", "Service").filter(move |item| item.id.namespace.as_deref() == namespace)
    }
}
