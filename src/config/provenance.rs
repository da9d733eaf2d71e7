//! A target's settings as a document, and where each value of it comes from: what
//! `mcd targets -o yaml` prints.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Target;
use super::ignore::Ignore;
use super::node::{Node, Step, path_text};
use super::target::{
    ChartSource, ImageOverride, ManifestPatch, PatchOperations, PatchTarget, RemoteChart, Render,
    ValuesSource,
};
use crate::health::{Expression, Rule};

impl Target {
    /// The resolved settings as a document, laid out as the files are. Absent settings are left
    /// out; [`Target::provenance`] tells where the others come from.
    pub fn settings(&self) -> Value {
        let cluster = &self.cluster;
        object([
            ("name", json!(self.name)),
            ("app", json!(self.app)),
            (
                "cluster",
                object([
                    ("context", json!(cluster.context)),
                    ("kubeconfig", json!(cluster.kubeconfig)),
                    ("identity", json!(cluster.identity)),
                    ("inCluster", if cluster.in_cluster { json!(true) } else { Value::Null }),
                    ("labels", json!(cluster.labels)),
                    ("values", cluster.values.clone()),
                    ("kubeVersion", json!(cluster.kube_version)),
                    ("apiVersions", filled(json!(cluster.api_versions))),
                ]),
            ),
            ("namespace", json!(self.namespace)),
            ("stateNamespace", json!(self.state_namespace)),
            ("createNamespace", json!(self.create_namespace)),
            ("vars", filled(json!(self.vars))),
            ("render", render(&self.render)),
            ("images", filled(self.images.iter().map(image).collect())),
            (
                "replicas",
                filled(
                    self.replicas
                        .iter()
                        .map(|r| json!({"name": r.name, "count": r.count}))
                        .collect(),
                ),
            ),
            ("patches", filled(self.patches.iter().map(patch).collect())),
            (
                "conflicts",
                filled(object([
                    ("take", filled(json!(self.conflicts.take))),
                    ("stop", filled(json!(self.conflicts.stop))),
                    ("leave", filled(json!(self.conflicts.leave))),
                ])),
            ),
            ("ignore", filled(self.ignore.iter().map(ignore).collect())),
            ("health", filled(self.health.iter().map(health).collect())),
        ])
    }
}

fn ignore(rule: &Ignore) -> Value {
    let select = rule.select.as_ref().map(|select| {
        let expressions = select.expressions.iter().map(|e| {
            object([
                ("key", json!(e.key)),
                ("operator", json!(e.operator)),
                ("values", filled(json!(e.values))),
            ])
        });
        object([
            ("labels", filled(json!(select.labels))),
            ("expressions", filled(expressions.collect())),
        ])
    });
    object([
        ("group", json!(rule.group)),
        ("kind", json!(rule.kind)),
        ("name", json!(rule.name)),
        ("namespace", json!(rule.namespace)),
        ("select", json!(select)),
        ("paths", json!(rule.paths)),
    ])
}

fn render(render: &Render) -> Value {
    match render {
        Render::Kustomize(k) => object([(
            "kustomize",
            object([
                ("path", json!(k.path)),
                ("version", json!(k.version)),
                ("args", filled(json!(k.args))),
                ("env", filled(json!(k.env))),
            ]),
        )]),
        Render::Helm(h) => object([(
            "helm",
            object([
                ("chart", chart(&h.chart)),
                ("repository", remote(&h.chart, |c| (!c.is_oci()).then(|| c.repository.clone()))),
                ("version", remote(&h.chart, |c| Some(c.version.clone()))),
                ("digest", remote(&h.chart, |c| c.digest.clone())),
                ("release", json!(h.release)),
                ("helmVersion", json!(h.helm_version)),
                ("hooks", json!(h.hooks)),
                ("values", filled(h.values.iter().map(values).collect())),
                ("set", filled(json!(h.set))),
                ("setString", filled(json!(h.set_string))),
                ("setFile", filled(json!(h.set_file))),
                ("apiVersions", h.api_versions.as_ref().map_or(json!("auto"), |v| json!(v))),
                ("kubeVersion", h.kube_version.as_ref().map_or(json!("auto"), |v| json!(v))),
                ("args", filled(json!(h.args))),
                ("env", filled(json!(h.env))),
            ]),
        )]),
        Render::Manifests(paths) => json!({"manifests": paths}),
    }
}

fn chart(source: &ChartSource) -> Value {
    match source {
        ChartSource::Local(path) => json!(path),
        ChartSource::Remote(chart) if chart.is_oci() => json!(chart.reference()),
        ChartSource::Remote(chart) => json!(chart.name),
    }
}

fn remote(source: &ChartSource, of: impl Fn(&RemoteChart) -> Option<String>) -> Value {
    match source {
        ChartSource::Local(_) => Value::Null,
        ChartSource::Remote(chart) => json!(of(chart)),
    }
}

fn values(layer: &ValuesSource) -> Value {
    match layer {
        ValuesSource::File { path, optional: false } => json!({"file": path}),
        ValuesSource::File { path, optional: true } => json!({"file": path, "optional": true}),
        ValuesSource::Inline(values) => json!({"inline": values}),
    }
}

fn image(image: &ImageOverride) -> Value {
    object([
        ("name", json!(image.name)),
        ("newName", json!(image.new_name)),
        ("newTag", json!(image.new_tag)),
        ("digest", json!(image.digest)),
    ])
}

fn patch(patch: &ManifestPatch) -> Value {
    let PatchTarget { group, version, kind, name, namespace } = &patch.target;
    let target = object([
        ("group", json!(group)),
        ("version", json!(version)),
        ("kind", json!(kind)),
        ("name", json!(name)),
        ("namespace", json!(namespace)),
    ]);
    match &patch.operations {
        PatchOperations::Json6902(operations) => json!({"target": target, "json6902": operations}),
        PatchOperations::Merge(merge) => json!({"target": target, "merge": merge}),
    }
}

fn health(rule: &Rule) -> Value {
    let text = |e: &Expression| json!(e.to_string());
    object([
        ("group", filled_text(&rule.group)),
        ("kind", json!(rule.kind)),
        ("inProgress", rule.in_progress.as_ref().map_or(Value::Null, text)),
        ("failed", rule.failed.as_ref().map_or(Value::Null, text)),
        ("current", text(&rule.current)),
    ])
}

fn filled_text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

/// A map without what is absent.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let there = entries.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(there.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

/// Nothing in place of an empty list or map.
fn filled(value: Value) -> Value {
    match &value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Object(map) if map.is_empty() => Value::Null,
        _ => value,
    }
}

/// Where each value of the target's settings comes from. `app`, `settings` and `cluster` are the
/// trees of the files; `vars` tells of variables.
pub(crate) fn provenance(
    target: &Target,
    app: &Node,
    settings: &Node,
    cluster: &Node,
    vars: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    settings.leaves(&mut |path, node| {
        places.insert(path_text(path), node.provenance());
    });
    cluster.leaves(&mut |path, node| {
        let steps: Vec<Step> =
            std::iter::once(Step::Key("cluster".into())).chain(path.iter().cloned()).collect();
        places.insert(path_text(&steps), node.provenance());
    });
    places.insert("name".into(), cluster.nearest(&["name"]).provenance());
    places.insert("app".into(), app.provenance());
    for (name, place) in vars {
        places
            .insert(path_text(&[Step::Key("vars".into()), Step::Key(name.clone())]), place.clone());
    }

    let mut found = BTreeMap::new();
    Node::at(target.settings(), &app.mark).leaves(&mut |path, _| {
        // A shorter form (`values: [a.yaml]`) has its place one level up.
        let place = (1..=path.len())
            .rev()
            .find_map(|length| places.get(&path_text(path.get(..length).unwrap_or_default())));
        let place = place.map_or("default", String::as_str);
        found.insert(path_text(path), place.to_owned());
    });
    found
}
