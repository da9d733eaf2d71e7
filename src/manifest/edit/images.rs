//! `images`: other tags, digests or repositories for containers, as kustomize's.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::ImageOverride;
use crate::manifest::Object;
use crate::suggest;

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Applies the overrides, each in turn to what the one before it left. Returns a warning for
/// each that no container uses.
///
/// As kustomize does, every list called `containers`, `initContainers` or `ephemeralContainers`
/// is looked at, at any depth and in every kind, custom ones too; only definitions are not, since
/// such a list in them is a schema.
pub(super) fn apply(objects: &mut [Object], overrides: &[ImageOverride]) -> Vec<String> {
    let mut warnings = Vec::new();
    for over in overrides {
        let mut seen = BTreeSet::new();
        let mut is_used = false;
        for object in objects.iter_mut().filter(|o| o.id.kind != "CustomResourceDefinition") {
            walk(&mut object.value, &mut |image| {
                let parts = Image::parse(image);
                if parts.name == over.name {
                    is_used = true;
                    *image = parts.with(over);
                } else if !seen.contains(parts.name) {
                    seen.insert(parts.name.to_owned());
                }
            });
        }
        if !is_used {
            let hint = suggest::hint(&over.name, seen.iter().map(String::as_str));
            let hint = hint.map(|h| format!("; {h}")).unwrap_or_default();
            warnings.push(format!("no container uses the image `{}`{hint}", over.name));
        }
    }
    warnings
}

fn walk(value: &mut Value, edit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if let Value::Array(items) = &mut *value {
                    for item in items {
                        let image = match key.as_str() {
                            key if CONTAINERS.contains(&key) => item.get_mut("image"),
                            "volumes" => item.get_mut("image").and_then(|i| i.get_mut("reference")),
                            _ => None,
                        };
                        if let Some(Value::String(image)) = image {
                            edit(image);
                        }
                    }
                }
                walk(value, edit);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, edit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The parts of an image reference: `registry:5000/shop/web:1.4@sha256:…`.
#[derive(Debug, PartialEq)]
struct Image<'a> {
    name: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl<'a> Image<'a> {
    fn parse(image: &'a str) -> Self {
        let (rest, digest) = match image.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (image, None),
        };
        // A colon before the last slash is a registry's port.
        let path = rest.rfind('/').map_or(0, |i| i + 1);
        let colon = rest.get(path..).and_then(|p| p.find(':')).map(|i| path + i);
        match colon.and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?))) {
            Some((name, tag)) => Image { name, tag: Some(tag), digest },
            None => Image { name: rest, tag: None, digest },
        }
    }

    /// The reference with the override's parts. A new tag or digest replaces both old ones.
    fn with(&self, over: &ImageOverride) -> String {
        let (tag, digest) = match (over.new_tag.as_deref(), over.digest.as_deref()) {
            (None, None) => (self.tag, self.digest),
            new => new,
        };
        let mut out = over.new_name.as_deref().unwrap_or(self.name).to_owned();
        if let Some(tag) = tag {
            out = format!("{out}:{tag}");
        }
        if let Some(digest) = digest {
            out = format!("{out}@{digest}");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart_and_put_together() {
        let over = |new_name: &str, new_tag: &str, digest: &str| {
            let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
            ImageOverride {
                name: String::new(),
                new_name: some(new_name),
                new_tag: some(new_tag),
                digest: some(digest),
            }
        };
        let cases = [
            ("web", "web", over("", "2", ""), "web:2"),
            ("web:1", "web", over("", "2", ""), "web:2"),
            ("web:1@sha256:ab", "web", over("", "2", ""), "web:2"),
            ("web:1@sha256:ab", "web", over("", "", "sha256:cd"), "web@sha256:cd"),
            ("web:1@sha256:ab", "web", over("", "2", "sha256:cd"), "web:2@sha256:cd"),
            ("web:1@sha256:ab", "web", over("mirror/web", "", ""), "mirror/web:1@sha256:ab"),
            ("reg:5000/a/web", "reg:5000/a/web", over("", "2", ""), "reg:5000/a/web:2"),
            ("reg:5000/a/web:1", "reg:5000/a/web", over("w", "", ""), "w:1"),
            ("localhost/web:1", "localhost/web", over("w", "3", ""), "w:3"),
            ("web@sha256:ab", "web", over("", "2", ""), "web:2"),
        ];
        for (image, name, over, expected) in cases {
            let parts = Image::parse(image);
            assert_eq!(parts.name, name, "{image}");
            assert_eq!(parts.with(&over), expected, "{image}");
        }
    }
}
