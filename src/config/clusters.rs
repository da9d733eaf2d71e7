//! Entries of a fleet → clusters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::fleet::{ClusterEntry, ToolsEntry};
use super::generators::Found;
use super::identity;
use super::names::{is_cluster_name, is_label_key, is_label_value};
use super::node::{Layer, Node};
use super::paths;
use super::selector::Selectable;
use super::version::is_kube_version;
use super::{ChartRepository, ClusterSpec, TargetName};
use crate::error::Error;

/// The clusters that an application can choose from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) tools: BTreeMap<String, BTreeMap<String, PathBuf>>,
    pub(crate) allow_plugins: bool,
    pub(crate) chart_repositories: Vec<ChartRepository>,
}

/// A cluster, and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) spec: ClusterSpec,
    pub(crate) node: Node,
}

impl Selectable for Cluster {
    fn name(&self) -> &str {
        self.spec.name.as_str()
    }
    fn labels(&self) -> &BTreeMap<String, String> {
        &self.spec.labels
    }
}

/// Pairs the listed clusters with their places; `list` is their list in the file. An empty list is
/// an error.
pub(crate) fn listed(entries: Vec<ClusterEntry>, list: &Node) -> (Vec<Found>, Vec<Error>) {
    let mut errors = Vec::new();
    if entries.is_empty() {
        errors.push(list.mark.error("`clusters` is empty").hint(
            "add one: `- {name: my-cluster, context: my-context}`; `kubectl config get-contexts` \
             lists contexts",
        ));
    }
    (entries.into_iter().zip(list.items().iter().cloned()).collect(), errors)
}

/// Checks and completes the clusters, listed and found.
pub(crate) fn clusters(found: Vec<Found>) -> (Vec<Cluster>, Vec<Error>) {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut errors = Vec::new();
    for (entry, node) in found {
        errors.extend(check(&entry, &node));
        if let Some(first) = clusters.iter().find(|c| c.spec.name.as_str() == entry.name) {
            let (first, second) =
                (&first.node.nearest(&["name"]).mark, &node.nearest(&["name"]).mark);
            let place = if first.source.name == second.source.name {
                format!("in line {}", first.line)
            } else {
                format!("in {}", first.provenance())
            };
            errors.push(
                second
                    .error(format!("a second cluster `{}`", entry.name))
                    .hint(format!("the first is {place}; names are unique in a fleet")),
            );
        }
        let kubeconfig = entry.kubeconfig.as_deref().and_then(|path| {
            paths::free(&node.nearest(&["kubeconfig"]).mark, path)
                .map_err(|error| errors.push(error))
                .ok()
        });
        let spec = ClusterSpec {
            context: entry.context.unwrap_or_else(|| entry.name.clone()),
            name: TargetName::new(entry.name),
            kubeconfig,
            identity: entry.identity.map(|mut identity| {
                identity.server = identity.server.map(|s| s.trim_end_matches('/').to_owned());
                identity
            }),
            in_cluster: entry.in_cluster,
            labels: entry.labels,
            values: Value::Object(entry.values.into_iter().collect()),
            kube_version: entry.kube_version,
            api_versions: entry.api_versions,
        };
        clusters.push(Cluster { spec, node });
    }
    (clusters, errors)
}

fn check(entry: &ClusterEntry, node: &Node) -> Vec<Error> {
    let mut errors = Vec::new();
    if entry.name.is_empty() {
        errors.push(node.error(&["name"], "`name` is empty"));
    } else if !is_cluster_name(&entry.name) {
        let error = node.error(&["name"], format!("`{}` is no name for a cluster", entry.name));
        let error = error.hint(
            "use lower-case letters, digits, `-`, `.` and `_`, at most 63, with a letter or digit \
             at both ends; `context` takes any name of a context",
        );
        errors.push(match node.nearest(&["name"]).mark.layer {
            Layer::Base | Layer::Override(_) => error,
            Layer::Generator(_) => error.hint(
                "a generator names its clusters by a template: \
                 `name: '{{ context | replace(\"prod-\", \"\") }}'`",
            ),
        });
    }
    if entry.context.as_deref() == Some("") {
        errors.push(node.error(&["context"], "`context` is empty").hint(
            "name a context of the kubeconfig, or leave the key out to use the cluster's name; \
             the current context is never used",
        ));
    }
    if entry.in_cluster {
        for (key, set) in
            [("context", entry.context.is_some()), ("kubeconfig", entry.kubeconfig.is_some())]
        {
            if set {
                let message = format!("`{key}` and `inCluster: true` exclude each other");
                errors.push(node.error(&[key], message));
            }
        }
    }
    if let Some(pin) = &entry.identity {
        errors.extend(identity::check(pin, node));
    }
    for (key, value) in &entry.labels {
        if !is_label_key(key) {
            let mark = node.nearest(&["labels"]).key_mark(key);
            errors.push(mark.error(format!("`{key}` is no key for a label")));
        }
        if !is_label_value(value) {
            let message = format!("`{value}` is no value for a label");
            errors.push(
                node.error(&["labels", key], message)
                    .hint("as in Kubernetes: letters, digits, `-`, `_` and `.`, at most 63"),
            );
        }
    }
    if let Some(version) = entry.kube_version.as_deref().filter(|v| !is_kube_version(v)) {
        let message = format!("`{version}` is no version of Kubernetes, such as `1.34`");
        errors.push(node.error(&["kubeVersion"], message));
    }
    errors
}

/// The fleet's tools: tool → version → path.
pub(crate) fn tools(
    entry: &ToolsEntry,
    node: &Node,
) -> (BTreeMap<String, BTreeMap<String, PathBuf>>, Vec<Error>) {
    let mut tools = BTreeMap::new();
    let mut errors = Vec::new();
    for (tool, versions) in [("kustomize", &entry.kustomize), ("helm", &entry.helm)] {
        let mut paths = BTreeMap::new();
        for (version, path) in versions {
            let place = node.nearest(&[tool, version]);
            let plain = version.strip_prefix('v').unwrap_or(version);
            if semver::Version::parse(plain).is_err() {
                let mark = node.nearest(&[tool]).key_mark(version);
                errors.push(
                    mark.error(format!("`{version}` is no version of {tool}"))
                        .hint("write all of it, such as `5.8.2`"),
                );
            }
            match paths::free(&place.mark, path) {
                Ok(path) => drop(paths.insert(plain.to_owned(), path)),
                Err(error) => errors.push(error),
            }
        }
        if !paths.is_empty() {
            tools.insert(tool.to_owned(), paths);
        }
    }
    (tools, errors)
}
