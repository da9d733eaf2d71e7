//! `patches`: JSON patches and merge patches of rendered objects.

use globset::{GlobBuilder, GlobMatcher};
use json_patch::{PatchErrorKind, PatchOperation};
use serde_json::{Map, Value};

use crate::config::{ManifestPatch, PatchOperations, PatchTarget};
use crate::error::{Error, Location, Result};
use crate::manifest::check::{Problem, dotted, what};
use crate::manifest::{Object, read};
use crate::suggest;

/// Applies the patch to each object that it selects. `namespace` is that of objects which name
/// none.
pub(super) fn apply(objects: &mut [Object], patch: &ManifestPatch, namespace: &str) -> Result<()> {
    let error = |e: Error| match place(&patch.origin) {
        Some(place) => e.at(place),
        None => e,
    };
    let selector = Selector::new(&patch.target, namespace).map_err(error)?;
    let operations = Operations::read(&patch.operations).map_err(error)?;
    let mut is_used = false;
    for object in objects.iter_mut().filter(|o| selector.matches(o)) {
        is_used = true;
        *object = patched(object, &operations).map_err(|e| error(e.on(&object.id)))?;
    }
    if is_used { Ok(()) } else { Err(error(selects_nothing(&patch.target, objects))) }
}

/// `file:line` as a place.
fn place(origin: &str) -> Option<Location> {
    let (file, line) = origin.rsplit_once(':')?;
    Some(Location {
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: 0,
        text: String::new(),
    })
}

enum Operations<'a> {
    Json6902(Vec<PatchOperation>),
    Merge(&'a Value),
}

impl<'a> Operations<'a> {
    fn read(operations: &'a PatchOperations) -> Result<Self> {
        match operations {
            PatchOperations::Merge(patch) if patch.is_object() => Ok(Operations::Merge(patch)),
            PatchOperations::Merge(_) => Err(Error::config("a `merge` patch must be a map")),
            PatchOperations::Json6902(list) => {
                let mut read = Vec::new();
                for (i, operation) in (1..).zip(list) {
                    let wrong = |why: String| {
                        Error::config(format!("operation {i} of the patch is not one of RFC 6902"))
                            .because(why)
                    };
                    if !operation.is_object() {
                        return Err(wrong(format!("it must be a map, and is {}", what(operation))));
                    }
                    let parsed = serde_json::from_value(operation.clone());
                    read.push(parsed.map_err(|e| wrong(e.to_string()))?);
                }
                Ok(Operations::Json6902(read))
            }
        }
    }
}

fn patched(object: &Object, operations: &Operations<'_>) -> Result<Object> {
    let mut value = object.value.clone();
    match operations {
        Operations::Json6902(list) => json6902(&mut value, list, object.id.is_secret())?,
        Operations::Merge(patch) => {
            let mut path = Vec::new();
            merge(&mut value, patch, &mut path)?;
        }
    }
    let after = read::settle(value, object.origin.clone()).map_err(|p| wrong(&p))?;
    // Nothing would follow the new name: no selector, no reference.
    for (field, old, new) in [
        ("kind", &object.id.kind, &after.id.kind),
        ("metadata.name", &object.id.name, &after.id.name),
        ("the group in apiVersion", &object.id.group, &after.id.group),
    ] {
        if old != new {
            return Err(Error::config(format!("the patch changes {field} to `{new}`"))
                .hint("a patch cannot rename an object; render it under the other name"));
        }
    }
    Ok(after)
}

fn wrong(problem: &Problem) -> Error {
    let error = Error::manifest(format!("after the patch, {}", problem.text()));
    match &problem.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn json6902(value: &mut Value, list: &[PatchOperation], is_secret: bool) -> Result<()> {
    // Its contents were folded into `data` on reading; what the patch adds is folded after it.
    if is_secret && let Some(map) = value.as_object_mut() {
        map.entry("stringData").or_insert_with(|| Value::Object(Map::new()));
    }
    json_patch::patch_unsafe(value, list).map_err(|e| {
        let why = match &e.kind {
            PatchErrorKind::TestFailed => "the value there is another",
            PatchErrorKind::InvalidFromPointer => "nothing is at the path of `from`",
            PatchErrorKind::CannotMoveInsideItself => "a value cannot be moved into itself",
            _ => "nothing is at that path",
        };
        let name = match list.get(e.operation) {
            Some(PatchOperation::Add(_)) => "add",
            Some(PatchOperation::Remove(_)) => "remove",
            Some(PatchOperation::Replace(_)) => "replace",
            Some(PatchOperation::Move(_)) => "move",
            Some(PatchOperation::Copy(_)) => "copy",
            Some(PatchOperation::Test(_)) => "test",
            None => "",
        };
        let number = e.operation + 1;
        Error::config(format!("operation {number} of the patch failed: `{name} {}`", e.path))
            .because(why)
    })
}

/// RFC 7386, but a list of named things is never replaced by accident.
fn merge(value: &mut Value, patch: &Value, path: &mut Vec<String>) -> Result<()> {
    if is_named_list(value) && value != patch {
        let path = dotted(path);
        return Err(Error::config(format!("the patch would replace the whole list `{path}`"))
            .hint("change its item with `json6902`, or use kustomize, which merges by name"));
    }
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return Ok(());
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(map) = value else { return Ok(()) };
    for (key, change) in patch {
        if change.is_null() {
            map.remove(key);
            continue;
        }
        path.push(key.clone());
        merge(map.entry(key.as_str()).or_insert(Value::Null), change, path)?;
        path.pop();
    }
    Ok(())
}

fn is_named_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|i| i.get("name").is_some()))
}

/// A [`PatchTarget`] that can be asked.
struct Selector<'a> {
    target: &'a PatchTarget,
    name: Option<GlobMatcher>,
    namespace: &'a str,
}

impl<'a> Selector<'a> {
    fn new(target: &'a PatchTarget, namespace: &'a str) -> Result<Self> {
        let name = match &target.name {
            None => None,
            Some(name) => {
                let glob = GlobBuilder::new(name).build().map_err(|e| {
                    Error::config(format!("`{name}` is no pattern of names"))
                        .because(e.kind().to_string())
                })?;
                Some(glob.compile_matcher())
            }
        };
        Ok(Selector { target, name, namespace })
    }

    fn matches(&self, object: &Object) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|w| w == found);
        is(&self.target.group, &object.id.group)
            && is(&self.target.version, &object.gvk.version)
            && is(&self.target.kind, &object.id.kind)
            && is(&self.target.namespace, object.id.namespace.as_deref().unwrap_or(self.namespace))
            && self.name.as_ref().is_none_or(|n| n.is_match(&object.id.name))
    }
}

fn selects_nothing(target: &PatchTarget, objects: &[Object]) -> Error {
    let fields = [
        ("group", &target.group),
        ("version", &target.version),
        ("kind", &target.kind),
        ("name", &target.name),
        ("namespace", &target.namespace),
    ];
    let wanted: Vec<_> = fields
        .iter()
        .filter_map(|(key, value)| value.as_ref().map(|v| format!("{key} `{v}`")))
        .collect();
    let error = Error::config(format!("the patch selects no object: {}", wanted.join(", ")));
    let of_kind = |o: &&Object| target.kind.as_ref().is_none_or(|k| *k == o.id.kind);
    let hint = if let Some(kind) = &target.kind
        && !objects.iter().any(|o| of_kind(&o))
    {
        suggest::hint(kind, objects.iter().map(|o| o.id.kind.as_str()))
    } else {
        let name = target.name.as_deref().unwrap_or_default();
        let names = objects.iter().filter(of_kind).map(|o| o.id.name.as_str());
        // The name itself is there, so another field is at fault.
        suggest::hint(name, names).filter(|h| !h.contains(&format!("`{name}`")))
    };
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
