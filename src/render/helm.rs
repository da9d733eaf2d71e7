//! `helm template` for a target, and the hooks in what it prints.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Capabilities;
use super::charts::{self, Chart};
use super::find::{Found, Tool};
use super::job::{Arg, Job, not_allowed, refuse, with_path};
use super::learn;
use super::options::runs_code;
use crate::config::{HelmRender, Hooks, Target};
use crate::error::{Error, Result};
use crate::manifest::{Object, ObjectId, Scrubber};

/// Flags that make helm run other programs.
const CODE: [&str; 2] = ["--post-renderer", "--post-renderer-args"];
/// Flags that make `helm template` ask a cluster. `--dry-run` is looked at with its value.
const CLUSTER: [&str; 13] = [
    "--validate",
    "--kubeconfig",
    "--kube-context",
    "--kube-apiserver",
    "--kube-token",
    "--kube-as-user",
    "--kube-as-group",
    "--kube-ca-file",
    "--kube-insecure-skip-tls-verify",
    "--kube-tls-server-name",
    "--burst-limit",
    "--qps",
    "--dry-run=server",
];
/// Flags that something else stands for, and what that is.
const KEYS: [(&str, &str); 19] = [
    ("--set", "`render.helm.set`"),
    ("--set-json", "`render.helm.set`"),
    ("--set-string", "`render.helm.setString`"),
    ("--set-literal", "`render.helm.setString`"),
    ("--set-file", "`render.helm.setFile`"),
    ("--namespace", "`namespace`"),
    ("-n", "`namespace`"),
    ("--kube-version", "`render.helm.kubeVersion`"),
    ("--api-versions", "`render.helm.apiVersions`"),
    ("-a", "`render.helm.apiVersions`"),
    ("--values", "`render.helm.values`"),
    ("-f", "`render.helm.values`"),
    ("--generate-name", "`render.helm.release`"),
    ("-g", "`render.helm.release`"),
    ("--name-template", "`render.helm.release`"),
    ("--output-dir", "`mcd render --out`"),
    ("--release-name", "`mcd render --out`"),
    ("--username", "the environment or a login file"),
    ("--password", "the environment or a login file"),
];
/// One argument may have 128 KiB on Linux.
const MAX_ARG: usize = 100_000;

/// The inputs of a helm render that were looked up on disk, canonical.
#[derive(Clone)]
pub(super) struct Inputs {
    /// The chart.
    pub(super) chart: PathBuf,
    /// Values, later ones win.
    pub(super) values: Vec<Values>,
    /// `--set-file`: key → file.
    pub(super) set_file: Vec<(String, PathBuf)>,
}

/// One layer of values.
#[derive(Clone)]
pub(super) enum Values {
    /// A file that exists.
    File(PathBuf),
    /// Values from the application file.
    Inline(Value),
}

/// The job.
pub(super) fn job(
    target: &Target,
    render: &HelmRender,
    inputs: Inputs,
    chart: &Chart,
    found: Found,
    capabilities: Option<&Capabilities>,
) -> Result<Job> {
    check_args(target, render)?;
    let mut args = vec![Arg::text("template")];
    if !render.args.iter().any(|arg| arg == "--skip-crds" || arg == "--skip-crds=true") {
        args.push(Arg::text("--include-crds"));
    }
    args.push(Arg::text(format!("--namespace={}", target.namespace)));
    if let Some(version) = kube_version(target, render, capabilities) {
        args.push(Arg::text(format!("--kube-version={version}")));
    }
    args.extend(api_versions(target, render, capabilities));
    for layer in inputs.values {
        args.push(match layer {
            Values::File(path) => values_file(&path),
            Values::Inline(value) => {
                let content = value.to_string().into_bytes();
                Arg::Content { before: "--values=".into(), content, shown: "<inline values>" }
            }
        });
    }
    for (key, value) in &render.set {
        set(key, value, &mut args);
    }
    for (key, value) in &render.set_string {
        args.push(set_text(key, value));
    }
    for (key, path) in &inputs.set_file {
        let path = path.to_string_lossy();
        let escaped = path.replace('\\', r"\\").replace(',', r"\,");
        args.push(Arg::text(format!("--set-file={key}={escaped}")));
    }
    args.extend(render.args.iter().map(Arg::text));
    args.extend([Arg::text("--"), Arg::text(&render.release), Arg::text(&inputs.chart)]);
    Ok(Job {
        found,
        args,
        env: render.env.clone(),
        dir: target.root.clone(),
        copied: None,
        renamed: chart.private.iter().map(|_| (chart.path.clone(), chart.shown.clone())).collect(),
        plugins: target.allow_plugins,
        label: format!("helm template {} {}", render.release, chart.shown),
    })
}

fn check_args(target: &Target, render: &HelmRender) -> Result<()> {
    let tool = Tool::Helm.name();
    let cluster = |flag: &str| {
        Error::config(format!("`{flag}` cannot be set: rendering contacts no cluster through helm"))
            .hint("helm gets the target's versions and APIs from mcd; `mcd plan` validates against the cluster")
    };
    refuse(tool, &render.args, &CLUSTER, cluster)?;
    let dry_run = render.args.windows(2).any(|pair| pair == ["--dry-run", "server"]);
    if dry_run || render.args.iter().any(|arg| arg == "--dry-run=server") {
        return Err(cluster("helm --dry-run=server"));
    }
    for (known, instead) in KEYS {
        refuse(tool, &render.args, &[known], |flag| {
            Error::config(format!("`{flag}` cannot be set in `args`"))
                .hint(format!("use {instead}"))
        })?;
    }
    if !target.allow_plugins {
        refuse(tool, &render.args, &CODE, not_allowed)?;
        if let Some(variable) = render.env.keys().find(|name| runs_code(name)) {
            return Err(not_allowed(&format!("env: {variable}")));
        }
    }
    Ok(())
}

/// What `--kube-version` is: the application's, else the cluster's own, else the fleet's.
pub(super) fn kube_version<'a>(
    target: &'a Target,
    render: &'a HelmRender,
    capabilities: Option<&'a Capabilities>,
) -> Option<&'a str> {
    let own = capabilities.map(|c| &c.kube_version);
    let version = render.kube_version.as_ref().or(own).or(target.cluster.kube_version.as_ref());
    version.map(String::as_str)
}

fn api_versions(
    target: &Target,
    render: &HelmRender,
    capabilities: Option<&Capabilities>,
) -> Vec<Arg> {
    let own = capabilities.map(|c| &c.api_versions);
    let mut all =
        render.api_versions.as_ref().or(own).unwrap_or(&target.cluster.api_versions).clone();
    // In one order, so that clusters that serve the same share a render.
    all.sort();
    all.dedup();
    let mut chunks: Vec<String> = Vec::new();
    for version in all {
        match chunks.last_mut() {
            Some(chunk) if chunk.len() + version.len() < MAX_ARG => {
                chunk.push(',');
                chunk.push_str(&version);
            }
            _ => chunks.push(format!("--api-versions={version}")),
        }
    }
    chunks.into_iter().map(Arg::text).collect()
}

/// `--values` is read as a line of CSV.
fn values_file(path: &Path) -> Arg {
    let text = path.to_string_lossy();
    if text.contains([',', '"', '\n']) {
        Arg::text(format!("--values=\"{}\"", text.replace('"', "\"\"")))
    } else {
        with_path("--values=", path.as_os_str())
    }
}

/// The arguments that set a typed value. Texts go through files, since they may be secret and
/// anyone on the machine can read arguments, and because `--set` would read `"true"` as a
/// boolean. Integers go through `--set` alone: from JSON, helm makes floats of them, and prints
/// a million as `1e+06`. Containers are taken apart; helm reads `--set-json` before `--set` and
/// `--set-file`, so a list is emptied first, and then filled.
fn set(key: &str, value: &Value, args: &mut Vec<Arg>) {
    let json = |value: &Value| Arg::text(format!("--set-json={key}={value}"));
    match value {
        Value::Null | Value::Bool(_) => args.push(Arg::text(format!("--set={key}={value}"))),
        Value::Number(number) if number.is_i64() => {
            args.push(Arg::text(format!("--set={key}={number}")));
        }
        Value::Number(_) => args.push(json(value)),
        Value::String(text) => args.push(set_text(key, text)),
        Value::Array(items) => {
            args.push(json(&Value::Array(Vec::new())));
            for (i, item) in items.iter().enumerate() {
                set(&format!("{key}[{i}]"), item, args);
            }
        }
        Value::Object(map) if map.is_empty() => args.push(json(value)),
        Value::Object(map) => {
            for (name, item) in map {
                set(&format!("{key}.{}", escape(name)), item, args);
            }
        }
    }
}

fn set_text(key: &str, text: &str) -> Arg {
    Arg::Content {
        before: format!("--set-file={key}="),
        content: text.as_bytes().to_vec(),
        shown: "<text>",
    }
}

/// A map's key as a part of a path of `--set`.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '.' | ',' | '=' | '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A hook of a chart, which mcd does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The object.
    pub id: ObjectId,
    /// When helm would run it: `pre-install`, `test`, …
    pub events: Vec<String>,
    /// Whether it is applied as a plain object (`hooks: apply`).
    pub applied: bool,
}

/// Takes the hooks out of what helm printed. With `hooks: apply` those that helm would run when
/// installing or upgrading stay, as plain objects; tests never do, nor what helm would run when
/// deleting or rolling back (a clean-up Job that ran with every deploy would do harm).
pub(super) fn split_hooks(objects: Vec<Object>, hooks: Hooks) -> (Vec<Object>, Vec<Hook>) {
    let mut kept = Vec::with_capacity(objects.len());
    let mut found = Vec::new();
    for object in objects {
        let Some(events) = events(&object) else {
            kept.push(object);
            continue;
        };
        let deploys = |event: &String| {
            matches!(
                event.as_str(),
                "pre-install" | "post-install" | "pre-upgrade" | "post-upgrade" | "crd-install"
            )
        };
        let applied = match hooks {
            Hooks::Apply => events.iter().any(deploys),
            Hooks::Drop => false,
        };
        found.push(Hook { id: object.id.clone(), events, applied });
        if applied {
            kept.push(object);
        }
    }
    (kept, found)
}

fn events(object: &Object) -> Option<Vec<String>> {
    let annotation = object.value["metadata"]["annotations"]["helm.sh/hook"].as_str()?;
    let events = annotation.split(',').map(|e| e.trim().to_lowercase());
    Some(events.filter(|e| !e.is_empty()).collect())
}

/// What to do about a failure of helm, where its own words do not say it.
pub(super) fn hint(error: Error, chart: &str) -> Error {
    let said = |text: &str| error.causes().iter().any(|cause| cause.contains(text));
    if said("dependency build") || said("missing in charts/ directory") {
        return error.hint(format!(
            "run `helm dependency build {chart}`, so that `charts/` holds what Chart.yaml names"
        ));
    }
    error
}

/// Names the template of each object, and of an error, by the comments that helm puts before
/// what each template gave.
pub(super) fn with_templates(
    stdout: &str,
    label: &str,
    decode: impl FnOnce() -> Result<Vec<Object>>,
) -> Result<Vec<Object>> {
    let marks: Vec<(usize, &str)> = stdout
        .lines()
        .enumerate()
        .filter_map(|(i, line)| Some((i + 1, line.strip_prefix("# Source: ")?.trim())))
        .collect();
    let template = |line: usize| {
        let before = marks.partition_point(|(at, _)| *at <= line);
        before.checked_sub(1).and_then(|i| marks.get(i)).map(|(_, path)| *path)
    };
    match decode() {
        Ok(mut objects) => {
            for object in &mut objects {
                if let Some(path) = template(object.origin.line) {
                    object.origin.source = format!("{label}, {path}");
                }
            }
            Ok(objects)
        }
        Err(error) => Err(match error.location().and_then(|at| template(at.line)) {
            Some(path) => error.hint(format!("the template `{path}` gave it")),
            None => error,
        }),
    }
}

/// Knows the values whose keys say that they are secret. Reads the values files.
pub(super) fn secrets(render: &HelmRender, inputs: &Inputs) -> Scrubber {
    let scrubber = Scrubber::new();
    learn::values_text(&charts::file(&inputs.chart, "values.yaml").unwrap_or_default(), &scrubber);
    for layer in &inputs.values {
        match layer {
            Values::Inline(value) => learn::values("", value, &scrubber),
            Values::File(path) => learn::values_file(path, &scrubber),
        }
    }
    for (key, value) in &render.set {
        learn::values(key, value, &scrubber);
    }
    for (key, value) in &render.set_string {
        learn::values(key, &Value::String(value.clone()), &scrubber);
    }
    scrubber
}

#[cfg(test)]
#[path = "helm_tests.rs"]
mod tests;
