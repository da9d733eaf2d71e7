//! A text of manifests → objects.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::check::{self, Problem, what};
use super::yaml::{self, Document};
use super::{Object, ObjectId, Origin, secret};
use crate::error::{Error, Result};

/// The objects of a text: a file, or the output of a tool, which `source` names.
///
/// Lists (`kind: List`, `ConfigMapList`, …) are expanded, empty documents dropped, `stringData`
/// of Secrets is folded into `data`. What only a server sets and no manifest should hold is
/// dropped where it means nothing (`creationTimestamp`, `generation`, `selfLink`, `status` of
/// Kubernetes' own kinds) and an error where the server would take it at its word
/// (`managedFields`, `resourceVersion`, `uid`; A1.8). An object without apiVersion, kind or name
/// is an error. Errors end with exit 4 and tell the place.
///
/// The same identity may come twice: namespaces are not settled yet. See [`check_unique`].
pub fn objects(text: &str, source: &str) -> Result<Vec<Object>> {
    let documents = yaml::load(text, source)?;
    let many = documents.len() > 1;
    let mut found = Vec::new();
    for mut document in documents {
        let value = document.value.take();
        expand(value, "", &mut |value, pointer| {
            let origin = Origin {
                source: source.to_owned(),
                document: document.index,
                line: document.spans.line(pointer),
            };
            let id = ObjectId::of(&value);
            let object = settle(value, origin)
                .map_err(|problem| error(&problem, &document, pointer, many, id.as_ref()))?;
            found.push(object);
            Ok(())
        })?;
    }
    Ok(found)
}

/// Refuses two objects of one identity. To be asked once the namespaces are settled.
pub fn check_unique(objects: &[Object]) -> Result<()> {
    let mut seen: HashMap<&ObjectId, &Object> = HashMap::new();
    for object in objects {
        if let Some(first) = seen.insert(&object.id, object) {
            return Err(Error::manifest("the object is there twice")
                .on(&object.id)
                .because(format!("first in {}, then in {}", first.origin, object.origin)));
        }
    }
    Ok(())
}

/// Hands each object of a document to `take`, with its JSON pointer in the document.
fn expand(
    value: Value,
    pointer: &str,
    take: &mut dyn FnMut(Value, &str) -> Result<()>,
) -> Result<()> {
    let kind = value["kind"].as_str().unwrap_or_default();
    let is_list = kind.strip_suffix("List").is_some_and(|item| {
        value["items"].is_array() || (item.is_empty() && value["items"].is_null())
    });
    if !is_list {
        return take(value, pointer);
    }
    // The items of a typed list need not say what they are (A1.7).
    let item_kind = kind.strip_suffix("List").filter(|k| !k.is_empty()).map(str::to_owned);
    let mut list = value;
    let api_version = list["apiVersion"].take();
    let Value::Array(items) = list["items"].take() else { return Ok(()) };
    for (i, mut item) in items.into_iter().enumerate() {
        if let (Some(kind), Some(map)) = (&item_kind, item.as_object_mut())
            && !map.contains_key("kind")
        {
            map.insert("kind".into(), kind.as_str().into());
            map.entry("apiVersion").or_insert_with(|| api_version.clone());
        }
        expand(item, &format!("{pointer}/items/{i}"), take)?;
    }
    Ok(())
}

/// Makes one object of a manifest: cleans and checks it. Also for one that was edited since it
/// was read.
pub(super) fn settle(mut value: Value, origin: Origin) -> Result<Object, Problem> {
    let Some(map) = value.as_object_mut() else {
        return Err(Problem::new(
            &[],
            format!("a manifest must be a map, and this is {}", what(&value)),
        ));
    };
    required(map, "apiVersion")?;
    required(map, "kind")?;
    if !map.get("metadata").is_some_and(|m| m.is_object()) {
        return Err(match map.get("metadata") {
            None | Some(Value::Null) => Problem::new(&[], "`metadata.name` is missing"),
            Some(other) => {
                Problem::new(&["metadata"], format!("must be a map, and is {}", what(other)))
            }
        });
    }
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        clean(metadata)?;
    }
    let mut object = Object::new(value, origin)
        .ok_or_else(|| Problem::new(&[], "the manifest names no object"))?;
    not_ours(&object)?;
    if check::is_builtin(&object.gvk.group)
        && let Some(map) = object.value.as_object_mut()
    {
        map.remove("status");
    }
    check::types(&object.value, &object.gvk)?;
    if object.id.is_secret() {
        secret::types(&object.value)?;
        secret::fold_string_data(&mut object);
    }
    Ok(object)
}

fn required(map: &Map<String, Value>, key: &str) -> Result<(), Problem> {
    match map.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        None | Some(Value::Null | Value::String(_)) => {
            let problem = Problem::new(&[], format!("`{key}` is missing"));
            let like = map.keys().find(|k| k.eq_ignore_ascii_case(key));
            Err(match like {
                Some(like) if like != key => problem.hint(format!("`{like}` must be `{key}`")),
                _ if map.contains_key("kind") || map.contains_key("metadata") => problem,
                _ => problem.hint(
                    "values of helm and kustomizations are no manifests; `render.helm` and \
                     `render.kustomize` read those",
                ),
            })
        }
        Some(other) => {
            Err(Problem::new(&[key], format!("must be a string, and is {}", what(other))))
        }
    }
}

/// Checks and cleans `metadata`.
fn clean(metadata: &mut Map<String, Value>) -> Result<(), Problem> {
    for key in ["managedFields", "resourceVersion", "uid", "deletionTimestamp"] {
        let is_empty = match metadata.get(key) {
            None => continue,
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            Some(_) => false,
        };
        if !is_empty {
            return Err(Problem::new(&["metadata", key], "is set by the server")
                .hint("remove it: it is a trace of an object that was read from a cluster"));
        }
        metadata.remove(key);
    }
    for key in ["creationTimestamp", "generation", "selfLink", "deletionGracePeriodSeconds"] {
        metadata.remove(key);
    }
    name(metadata)?;
    namespace(metadata)
}

fn name(metadata: &Map<String, Value>) -> Result<(), Problem> {
    const PATH: [&str; 2] = ["metadata", "name"];
    match metadata.get("name") {
        // What the server's own path check refuses; the rest depends on the kind.
        Some(Value::String(name)) if name == "." || name == ".." || name.contains(['/', '%']) => {
            Err(Problem::new(&PATH, "may not be `.` or `..`, nor hold `/` or `%`"))
        }
        Some(Value::String(name)) if !name.is_empty() => Ok(()),
        None | Some(Value::Null | Value::String(_)) if metadata.contains_key("generateName") => {
            Err(Problem::new(
                &["metadata", "generateName"],
                "would give the object a new name on every apply",
            )
            .hint("give it a `name`; one that ends in a digest of its contents serves as well"))
        }
        None | Some(Value::Null | Value::String(_)) => {
            Err(Problem::new(&[], "`metadata.name` is missing"))
        }
        Some(other) => {
            Err(Problem::new(&PATH, format!("must be a string, and is {}", what(other)))
                .hint("quote it"))
        }
    }
}

fn namespace(metadata: &mut Map<String, Value>) -> Result<(), Problem> {
    const PATH: [&str; 2] = ["metadata", "namespace"];
    match metadata.get("namespace") {
        None => {}
        Some(Value::Null) => {
            metadata.remove("namespace");
        }
        Some(Value::String(text)) if text.is_empty() => {
            metadata.remove("namespace");
        }
        Some(Value::String(text)) if is_label(text) => {}
        Some(Value::String(_)) => {
            return Err(Problem::new(
                &PATH,
                "must be a DNS label: at most 63 lower-case letters, digits and `-`",
            ));
        }
        Some(other) => {
            let message = format!("must be a string, and is {}", what(other));
            return Err(Problem::new(&PATH, message).hint("quote it"));
        }
    }
    Ok(())
}

/// A DNS label of RFC 1123.
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Refuses files of mcd and kustomize that stand among the manifests.
fn not_ours(object: &Object) -> Result<(), Problem> {
    let hint = match object.gvk.group.as_str() {
        "mcd.dev" => "`render.manifests` names a folder with a file of mcd; put it beside",
        "kustomize.config.k8s.io" => "use `render.kustomize` for the folder",
        _ => return Ok(()),
    };
    let message = format!("a {} is no manifest of a cluster", object.gvk.kind);
    Err(Problem::new(&[], message).hint(hint))
}

fn error(
    problem: &Problem,
    document: &Document,
    pointer: &str,
    many: bool,
    id: Option<&ObjectId>,
) -> Error {
    let text = if many {
        format!("document {}: {}", document.index, problem.text())
    } else {
        problem.text()
    };
    let place = document.spans.key(&format!("{pointer}{}", problem.pointer()));
    let error = Error::manifest(text).at(place);
    let error = match &problem.hint {
        Some(hint) => error.hint(hint),
        None => error,
    };
    match id {
        Some(id) => error.on(id),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ids(text: &str) -> Vec<String> {
        objects(text, "f.yaml").unwrap().iter().map(|o| o.id.to_string()).collect()
    }

    #[test]
    fn lists_are_expanded_and_empty_documents_dropped() {
        let text = "---\n# nothing\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, \
                    metadata: {name: a, namespace: shop}}\n- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: ConfigMap\n    \
                    metadata: {name: b}\n---\napiVersion: apps/v1\nkind: DeploymentList\nmetadata: {resourceVersion: '1'}\nitems:\n- metadata: {name: d}\n\
                    ---\napiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\n---\n{apiVersion: x.io/v1, kind: AllowList, metadata: {name: l}}\n";
        let found = objects(text, "f.yaml").unwrap();
        let table: Vec<_> = found
            .iter()
            .map(|o| (o.id.to_string(), o.gvk.api_version(), o.origin.document, o.origin.line))
            .collect();
        let row = |id: &str, v: &str, d, l| (id.to_owned(), v.to_owned(), d, l);
        assert_eq!(
            table,
            [
                row("ConfigMap shop/a", "v1", 1, 7),
                row("ConfigMap b", "v1", 1, 11),
                row("Deployment d", "apps/v1", 2, 19),
                row("AllowList l", "x.io/v1", 5, 28),
            ]
        );
        assert!(ids("").is_empty());
    }

    #[test]
    fn traces_of_a_server_that_mean_nothing_are_dropped() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: ''\n  creationTimestamp: null\n  \
                    generation: 3\n  managedFields: []\n  uid: ''\n  deletionTimestamp: null\nspec: {}\nstatus: {replicas: 3}\n";
        let found = objects(text, "f").unwrap();
        let expected = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web"}, "spec": {}});
        assert_eq!(found[0].value, expected);
        assert_eq!(found[0].id.namespace, None);
        // A custom resource without the subresource may hold a status of its own.
        let text = "{apiVersion: x.io/v1, kind: A, metadata: {name: a}, status: {b: 1}}";
        assert_eq!(objects(text, "f").unwrap()[0].value["status"], json!({"b": 1}));
        let text = "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {b: x}}";
        assert_eq!(objects(text, "f").unwrap()[0].value["data"], json!({"b": "eA=="}));
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let head = "apiVersion: v1\nkind: ConfigMap\n";
        let texts = [
            "a: 1\n".to_owned(),
            "- a\n".into(),
            "x\n".into(),
            "kind: ConfigMap\nmetadata: {name: a}\n".into(),
            "apiversion: v1\nkind: ConfigMap\nmetadata: {name: a}\n".into(),
            "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n".into(),
            "apiVersion: v1\nmetadata: {name: a}\n".into(),
            head.into(),
            format!("{head}metadata: []\n"),
            format!("{head}metadata: {{}}\n"),
            format!("{head}metadata:\n  generateName: a-\n"),
            format!("{head}metadata:\n  name: 12\n"),
            format!("{head}metadata:\n  name: a/b\n"),
            format!("{head}metadata:\n  name: a\n  namespace: A_b\n"),
            format!("{head}metadata:\n  name: a\n  namespace: 1\n"),
            format!("{head}metadata:\n  name: a\n  managedFields:\n  - manager: x\n"),
            format!("{head}metadata:\n  name: a\n  resourceVersion: '12'\n"),
            format!("{head}metadata:\n  name: a\n  uid: 0a1b\n"),
            format!("{head}metadata:\n  name: a\n  labels:\n    tier: true\n    x: y\n"),
            format!("{head}metadata:\n  name: a\n  labels:\n    app.kubernetes.io/version: 1.10\n"),
            format!("{head}metadata:\n  name: a\n  annotations: [x]\n"),
            format!("{head}metadata: {{name: a}}\ndata:\n  port: 8080\n"),
            format!("{head}metadata: {{name: ok}}\n---\n{head}metadata: {{name: a}}\ndata:\n  k: {{x: 1}}\n"),
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: {a: 1234}\n".into(),
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: 1234\n".into(),
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    metadata:\n      labels: {v: 1}\n".into(),
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [\n  {name: c, env: [\n    {name: A, value: yes}]}]}}}}}\n".into(),
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - env:\n    - {name: A, value: '1'}\n    - {name: B}\n    - {name: A, value: '2'}\n".into(),
            "apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\n".into(),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: f}\n".into(),
            "apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n".into(),
        ];
        let all: Vec<_> = texts
            .iter()
            .map(|text| {
                let error = objects(text, "f.yaml").unwrap_err();
                assert_eq!(error.exit(), crate::error::Exit::Manifest);
                let line = &error.location().unwrap().text;
                if text.contains("Secret") {
                    assert!(!format!("{error:?}").contains("1234"));
                }
                format!("{error}\n  | {line}\n  hint: {}", error.hints().join("; "))
            })
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn two_of_one_identity_are_refused() {
        let one = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}}\n";
        let other =
            "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a, namespace: shop}}\n";
        let mut all = objects(one, "a.yaml").unwrap();
        all.extend(objects(&format!("---\n{other}"), "b.yaml").unwrap());
        insta::assert_snapshot!(check_unique(&all).unwrap_err(), @"Deployment shop/a: the object is there twice: first in a.yaml (document 1, line 1), then in b.yaml (document 1, line 2)");
        all[1].set_namespace(Some("m"));
        assert!(check_unique(&all).is_ok());
    }
}
