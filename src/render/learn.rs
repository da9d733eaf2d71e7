//! Secrets in the inputs of a tool, so that what it says of them can be scrubbed: a tool that
//! fails prints no Secret to learn from, and may quote one (`invalid literal source hunter2`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::manifest::{Scrubber, yaml};

/// Most kustomizations, and files, that are looked at.
const MAX_FILES: usize = 2000;
/// Longest file that is read; bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Learns the Secrets that a kustomization and those below it read or generate. Does what it can:
/// what cannot be read is for the tool to complain about.
pub(super) fn kustomization(folder: &Path, root: &Path, scrubber: &Scrubber) {
    let mut walk = Walk { root, scrubber, seen: HashSet::new() };
    walk.path(folder);
}

struct Walk<'a> {
    root: &'a Path,
    scrubber: &'a Scrubber,
    seen: HashSet<PathBuf>,
}

impl Walk<'_> {
    /// A folder with a kustomization, or a file of manifests.
    fn path(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        let is_new = real.starts_with(self.root)
            && self.seen.len() < MAX_FILES
            && self.seen.insert(real.clone());
        if !is_new {
            return;
        }
        if real.is_dir() {
            let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
            for file in names.map(|name| real.join(name)) {
                for document in documents(&file) {
                    self.kustomization(&real, &document);
                }
            }
        } else {
            for document in documents(&real) {
                self.scrubber.learn(&document);
            }
        }
    }

    fn kustomization(&mut self, folder: &Path, value: &Value) {
        for key in ["resources", "bases", "components", "patchesStrategicMerge", "crds"] {
            for entry in texts(&value[key]) {
                self.inline_or_path(folder, entry);
            }
        }
        for patch in value["patches"].as_array().into_iter().flatten() {
            for entry in [&patch["path"], &patch["patch"]].into_iter().filter_map(Value::as_str) {
                self.inline_or_path(folder, entry);
            }
        }
        for secret in value["secretGenerator"].as_array().into_iter().flatten() {
            for literal in texts(&secret["literals"]) {
                let value = literal.split_once('=').map_or(literal, |(_, value)| value);
                self.scrubber.learn_value(value.trim_matches(['"', '\'']));
                self.scrubber.learn_value(value);
            }
            for entry in texts(&secret["files"]) {
                let path = entry.split_once('=').map_or(entry, |(_, path)| path);
                if let Some(content) = content(&folder.join(path)) {
                    self.scrubber.learn_value(&content);
                    self.scrubber.learn_value(content.trim_end());
                }
            }
            for path in texts(&secret["envs"]).chain(secret["env"].as_str()) {
                let content = content(&folder.join(path)).unwrap_or_default();
                for line in content.lines() {
                    let value = line.split_once('=').map_or(line, |(_, value)| value);
                    self.scrubber.learn_value(value.trim());
                }
            }
        }
    }

    fn inline_or_path(&mut self, folder: &Path, entry: &str) {
        if entry.contains('\n') {
            for document in yaml::load(entry, "patch").unwrap_or_default() {
                self.scrubber.learn(&document.value);
            }
        } else {
            self.path(&folder.join(entry));
        }
    }
}

/// Learns the values of a file of helm values whose keys say that they are secret.
pub(super) fn values_file(path: &Path, scrubber: &Scrubber) {
    for document in documents(path) {
        values("", &document, scrubber);
    }
}

/// The same for the text of such a file.
pub(super) fn values_text(text: &str, scrubber: &Scrubber) {
    for document in yaml::load(text, "").unwrap_or_default() {
        values("", &document.value, scrubber);
    }
}

/// Learns the texts below a key that says that they are secret: helm's errors and warnings may
/// quote them.
pub(super) fn values(key: &str, value: &Value, scrubber: &Scrubber) {
    match value {
        Value::String(text) if is_secret_key(key) => scrubber.learn_value(text),
        Value::Array(items) => items.iter().for_each(|item| values(key, item, scrubber)),
        Value::Object(map) => {
            for (name, item) in map {
                let key = if is_secret_key(key) { key } else { name };
                values(key, item, scrubber);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_secret_key(key: &str) -> bool {
    const WORDS: [&str; 7] =
        ["password", "passwd", "secret", "token", "apikey", "privatekey", "credential"];
    let key: String =
        key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    // These name a Secret, or a key of one.
    let is_name = key.ends_with("name")
        || key.ends_with("ref")
        || key.contains("pullsecret")
        || key.contains("existingsecret")
        || key.contains("secretkeys");
    WORDS.iter().any(|word| key.contains(word)) && !is_name
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn documents(path: &Path) -> Vec<Value> {
    let text = content(path).unwrap_or_default();
    let documents = yaml::load(&text, "").unwrap_or_default();
    documents.into_iter().map(|document| document.value).collect()
}

fn content(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_of_a_kustomization_are_known_wherever_they_stand() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let files = [
            (
                "overlay/kustomization.yaml",
                "resources: [../base]\nsecretGenerator:\n- {name: a, literals: [p=from-literal, \
                 without-key], files: [k=file.txt], envs: [s.env]}\npatches:\n- patch: |-\n    \
                 kind: Secret\n    apiVersion: v1\n    metadata: {name: a}\n    stringData: {a: from-patch}\n",
            ),
            ("overlay/file.txt", "from-file\n"),
            ("overlay/s.env", "# none\nA=from-env\n"),
            ("base/kustomization.yml", "resources: [s.yaml, ../overlay, ../../outside]\n"),
            (
                "base/s.yaml",
                "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: ZnJvbS1iYXNl}}\n",
            ),
        ];
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let scrubber = Scrubber::new();
        kustomization(&root.join("overlay"), &root, &scrubber);
        for value in
            ["from-literal", "without-key", "from-file", "from-env", "from-patch", "from-base"]
        {
            assert_eq!(scrubber.scrub(value), "***", "{value}");
        }
        assert_eq!(scrubber.scrub("kustomization.yaml"), "kustomization.yaml");
    }

    #[test]
    fn values_are_secret_by_their_key() {
        let scrubber = Scrubber::new();
        let layer = json!({
            "db": {"adminPassword": "horse-1", "host": "db.example.com"},
            "auth": {"tokens": ["horse-2"], "secret": {"inner": "horse-3"}},
            "existingSecretName": "web-secret",
        });
        values("", &layer, &scrubber);
        let text = "horse-1 horse-2 horse-3 db.example.com web-secret";
        assert_eq!(scrubber.scrub(text), "*** *** *** db.example.com web-secret");
    }

    #[test]
    fn keys_that_name_secrets() {
        for key in ["password", "db.adminPassword", "api_token", "clientSecret", "PRIVATE-KEY"] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in [
            "replicas",
            "secretName",
            "image.tag",
            "",
            "existingSecret",
            "imagePullSecrets",
            "secretKeyRef",
        ] {
            assert!(!is_secret_key(key), "{key}");
        }
    }
}
