//! What is wrong with a manifest that the API server would refuse in words no one understands
//! (500 "expected string, got &value.valueUnstructured{…}"), or with the value in them.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Gvk;
use super::yaml;

/// What is wrong, and where in the manifest. Names no value of a Secret.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// Keys and indices, from the manifest's root.
    pub(super) path: Vec<String>,
    /// What is wrong, without the path.
    pub(super) message: String,
    /// What to do.
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn new(path: &[&str], message: impl Into<String>) -> Self {
        let path = path.iter().map(|s| (*s).to_owned()).collect();
        Problem { path, message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The JSON pointer of the place.
    pub(super) fn pointer(&self) -> String {
        yaml::pointer(&self.path)
    }

    /// ``` `metadata.labels.tier` must be a string, and is a number```
    pub(super) fn text(&self) -> String {
        if self.path.is_empty() {
            return self.message.clone();
        }
        format!("`{}` {}", dotted(&self.path), self.message)
    }
}

/// A path as people write it: `spec.containers[0].env`, `metadata.labels[example.com/tier]`.
pub(super) fn dotted(path: &[String]) -> String {
    let mut out = String::new();
    for part in path {
        let plain = part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let index = part.bytes().all(|b| b.is_ascii_digit());
        if out.is_empty() {
            out.push_str(part);
        } else if plain && !index {
            let _ = write!(out, ".{part}");
        } else {
            let _ = write!(out, "[{part}]");
        }
    }
    out
}

/// What kind of value it is, for messages.
pub(super) fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Whether the group is one of Kubernetes' own, whose types are known.
pub(super) fn is_builtin(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// Checks the types that people get wrong: labels, annotations, data of ConfigMaps, environment.
pub(super) fn types(value: &Value, gvk: &Gvk) -> Result<(), Problem> {
    labels(value, &[])?;
    if !is_builtin(&gvk.group) {
        return Ok(());
    }
    const TEMPLATES: [&[&str]; 3] = [
        &["spec", "template"],
        &["spec", "jobTemplate"],
        &["spec", "jobTemplate", "spec", "template"],
    ];
    for path in TEMPLATES {
        labels(value, path)?;
    }
    if gvk.group.is_empty() && gvk.kind == "ConfigMap" {
        string_map(value, &["data"])?;
        string_map(value, &["binaryData"])?;
    }
    const POD_SPECS: [&[&str]; 3] = [
        &["spec"],
        &["spec", "template", "spec"],
        &["spec", "jobTemplate", "spec", "template", "spec"],
    ];
    for path in POD_SPECS {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let path: Vec<&str> = path.iter().copied().chain([list]).collect();
            let containers = at(value, &path).as_array().into_iter().flatten();
            for (i, container) in containers.enumerate() {
                environment(container, &path, i)?;
            }
        }
    }
    Ok(())
}

fn labels(value: &Value, prefix: &[&str]) -> Result<(), Problem> {
    for map in ["labels", "annotations"] {
        let path: Vec<&str> = prefix.iter().copied().chain(["metadata", map]).collect();
        string_map(value, &path)?;
    }
    Ok(())
}

/// Null values are no fault: they are stripped before anything is sent.
fn string_map(value: &Value, path: &[&str]) -> Result<(), Problem> {
    for (key, value) in map(value, path)?.into_iter().flatten() {
        let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
        string(value, &path)?;
    }
    Ok(())
}

/// The map at the path; none when it is absent or null.
pub(super) fn map<'a>(
    value: &'a Value,
    path: &[&str],
) -> Result<Option<&'a Map<String, Value>>, Problem> {
    match at(value, path) {
        Value::Null => Ok(None),
        Value::Object(map) => Ok(Some(map)),
        other => Err(Problem::new(path, format!("must be a map, and is {}", what(other)))),
    }
}

fn string(value: &Value, path: &[&str]) -> Result<(), Problem> {
    let problem = Problem::new(path, format!("must be a string, and is {}", what(value)));
    match value {
        Value::String(_) | Value::Null => Ok(()),
        Value::Bool(_) | Value::Number(_) => Err(problem.hint("quote it")),
        Value::Array(_) | Value::Object(_) => Err(problem),
    }
}

fn environment(container: &Value, list: &[&str], index: usize) -> Result<(), Problem> {
    let index = index.to_string();
    let mut seen = HashMap::new();
    for (i, variable) in container["env"].as_array().into_iter().flatten().enumerate() {
        let i = i.to_string();
        let path = |key: &'static str| -> Vec<String> {
            let own = [index.as_str(), "env", i.as_str(), key];
            list.iter().copied().chain(own).map(str::to_owned).collect()
        };
        let value_path = path("value");
        let value_path: Vec<&str> = value_path.iter().map(String::as_str).collect();
        string(&variable["value"], &value_path)?;
        let Some(name) = variable["name"].as_str() else { continue };
        if let Some(first) = seen.insert(name, i.clone()) {
            let message = format!("sets `{name}` again, which `env[{first}]` sets");
            return Err(Problem { path: path("name"), message, hint: None }
                .hint("server-side apply takes each variable once; the last would have won"));
        }
    }
    Ok(())
}

/// The value at a path of keys; null when there is none.
fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(value, |value, key| &value[*key])
}
