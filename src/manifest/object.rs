//! One object of a manifest: its identity, its kind and where it came from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Group, version and kind, as in `apiVersion` and `kind`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gvk {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
}

impl Gvk {
    /// Splits `apiVersion`.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// The `apiVersion` field.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// The identity of an object in a cluster. The version is no part of it: `apps/v1` and
/// `apps/v1beta1` name the same Deployment. The order is that of group, kind, namespace, name.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct ObjectId {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The namespace; none for cluster-scoped objects (and, before its scope is known, for a
    /// manifest that names none).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectId {
    /// The identity that a manifest states. None when apiVersion, kind or metadata.name is
    /// missing, empty or not a string.
    pub fn of(value: &Value) -> Option<Self> {
        let gvk = Gvk::new(text(&value["apiVersion"])?, text(&value["kind"])?);
        Some(ObjectId {
            group: gvk.group,
            kind: gvk.kind,
            namespace: text(&value["metadata"]["namespace"]).map(str::to_owned),
            name: text(&value["metadata"]["name"])?.to_owned(),
        })
    }

    /// Whether this is a core Secret, whose values are never shown.
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// As kubectl prints it in `deployment.apps/web configured`.
    pub fn short(&self) -> String {
        let kind = self.kind.to_lowercase();
        if self.group.is_empty() {
            format!("{kind}/{}", self.name)
        } else {
            format!("{kind}.{}/{}", self.group, self.name)
        }
    }
}

impl fmt::Display for ObjectId {
    /// For messages: `Deployment shop/web`, `Namespace shop`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// Where an object was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The file, or the tool whose output it is (`kustomize build overlays/prod`).
    pub source: String,
    /// The document in it, from 1.
    pub document: usize,
    /// The line on which the document's first key stands, from 1; 0 when unknown.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{} (document {})", self.source, self.document),
            line => write!(f, "{} (document {}, line {line})", self.source, self.document),
        }
    }
}

/// An object as rendered: untyped JSON that is known to have apiVersion, kind and a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its identity, in step with `value`.
    pub id: ObjectId,
    /// Its version and kind, in step with `value`.
    pub gvk: Gvk,
    /// The manifest.
    pub value: Value,
    /// Where it was written.
    pub origin: Origin,
}

impl Object {
    /// Reads the identity off `value`. None when apiVersion, kind or metadata.name is missing,
    /// empty or not a string.
    pub fn new(value: Value, origin: Origin) -> Option<Self> {
        let gvk = Gvk::new(text(&value["apiVersion"])?, text(&value["kind"])?);
        let id = ObjectId::of(&value)?;
        Some(Object { id, gvk, value, origin })
    }

    /// Puts the object into another version of its group.
    pub fn set_version(&mut self, version: &str) {
        self.gvk.version = version.to_owned();
        if let Some(value) = self.value.as_object_mut() {
            value.insert("apiVersion".into(), self.gvk.api_version().into());
        }
    }

    /// Sets or removes the namespace, in the manifest and in the identity.
    pub fn set_namespace(&mut self, namespace: Option<&str>) {
        self.id.namespace = namespace.map(str::to_owned);
        let Some(metadata) = self.value["metadata"].as_object_mut() else { return };
        match namespace {
            Some(ns) => metadata.insert("namespace".into(), ns.into()),
            None => metadata.remove("namespace"),
        };
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|s| !s.is_empty())
}
