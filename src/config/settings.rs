//! The merged settings of one target, templates resolved → its parts, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::application::{
    HelmEntry, ImageEntry, KustomizeEntry, Operation, OperationEntry, PatchEntry, RenderEntry,
    ReplicaEntry, Settings,
};
use super::charts::Written;
use super::forms::{AutoOr, Templated, ValuesEntry};
use super::merge::{RENDERERS, renderers};
use super::names::{is_dns_label, is_helm_release, is_image_digest, is_image_tag};
use super::node::{Node, Step, path_text};
use super::paths::{Root, input};
use super::read::Files;
use super::selector::list;
use super::target::{
    ChartSource, HelmRender, Hooks, ImageOverride, KustomizeRender, ManifestPatch, PatchOperations,
    PatchTarget, Render, ReplicaOverride, ValuesSource,
};
use super::version::{is_kube_version, version_requirement};
use crate::error::Error;

/// Checks settings and finds their files; collects every error.
pub(crate) struct Checker<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) root: &'a Root,
    pub(crate) app: &'a str,
    /// The settings' tree, for the places of errors.
    pub(crate) node: &'a Node,
    pub(crate) errors: Vec<Error>,
}

/// A path into the tree. Borrowed steps keep the calls short.
pub(super) type At<'p> = &'p [&'p str];

impl Checker<'_> {
    pub(super) fn fail(&mut self, at: At<'_>, message: impl Into<String>) {
        self.errors.push(self.node.error(at, message));
    }

    pub(super) fn fail_hint(
        &mut self,
        at: At<'_>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.errors.push(self.node.error(at, message).hint(hint));
    }

    /// The namespace and the state namespace.
    pub(crate) fn namespaces(&mut self, settings: &Settings) {
        let state = settings.state_namespace.as_ref().map(|name| ("stateNamespace", name));
        for (key, name) in std::iter::once(("namespace", &settings.namespace)).chain(state) {
            if name.is_empty() {
                self.fail(&[key], format!("`{key}` is empty"));
            } else if !is_dns_label(name, 63) {
                self.fail_hint(
                    &[key],
                    format!("`{name}` is no name for a namespace"),
                    "use lower-case letters, digits and `-`, at most 63, with a letter or digit \
                     at both ends",
                );
            }
        }
    }

    /// The renderer, of which there has to be one.
    pub(crate) fn render(&mut self, entry: Option<RenderEntry>) -> Option<Render> {
        let Some(render) = self.node.get("render") else {
            self.fail_hint(
                &[],
                "there is no `render`",
                format!("add one of {} below `render`", list(RENDERERS.iter().copied())),
            );
            return None;
        };
        self.errors.extend(one_renderer(render, true));
        match entry? {
            RenderEntry { kustomize: Some(entry), helm: None, manifests: None } => {
                self.kustomize(entry)
            }
            RenderEntry { kustomize: None, helm: Some(entry), manifests: None } => self.helm(entry),
            RenderEntry { kustomize: None, helm: None, manifests: Some(paths) } => {
                self.manifests(&paths)
            }
            // More than one, or none, is reported above.
            RenderEntry { .. } => None,
        }
    }

    fn manifests(&mut self, paths: &[String]) -> Option<Render> {
        if paths.is_empty() {
            self.fail(&["render", "manifests"], "`render.manifests` is empty");
        }
        let mut found = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let index = index.to_string();
            found.extend(self.input(&["render", "manifests", &index], path, false));
        }
        (found.len() == paths.len()).then_some(Render::Manifests(found))
    }

    fn kustomize(&mut self, entry: KustomizeEntry) -> Option<Render> {
        let at = |key| ["render", "kustomize", key];
        let path = self.required(&at("path"), entry.path);
        let path = path.and_then(|path| self.input(&at("path"), &path, false));
        Some(Render::Kustomize(KustomizeRender {
            version: self.version(&at("version"), entry.version),
            path: path?,
            args: entry.args.unwrap_or_default(),
            env: entry.env.unwrap_or_default(),
        }))
    }

    fn helm(&mut self, entry: HelmEntry) -> Option<Render> {
        let at = |key| ["render", "helm", key];
        let chart = self.required(&at("chart"), entry.chart).and_then(|chart| {
            let written = Written {
                chart: &chart,
                repository: entry.repository.as_deref(),
                version: entry.version.as_deref(),
                digest: entry.digest.as_deref(),
            };
            match written.remote() {
                Some(Ok(remote)) => Some(ChartSource::Remote(Box::new(remote))),
                Some(Err(faults)) => {
                    for fault in faults {
                        let key = fault.key;
                        let error = fault.at(|message| self.node.error(&at(key), message));
                        self.errors.push(error);
                    }
                    None
                }
                None => self.input(&at("chart"), &chart, false).map(ChartSource::Local),
            }
        });
        let release = entry.release.unwrap_or_else(|| self.app.to_owned());
        if !is_helm_release(&release) {
            self.fail(&at("release"), format!("`{release}` is no name for a helm release"));
        }
        let kube_version = entry.kube_version.filter(|version| version != "auto");
        if let Some(version) = kube_version.as_deref().filter(|v| !is_kube_version(v)) {
            let message = format!("`{version}` is no version of Kubernetes, such as `1.34`");
            self.fail(&at("kubeVersion"), message);
        }
        let mut values = Vec::new();
        for (index, layer) in entry.values.unwrap_or_default().into_iter().enumerate() {
            values.extend(self.values(&index.to_string(), layer));
        }
        let mut set_file = BTreeMap::new();
        for (key, path) in entry.set_file.unwrap_or_default() {
            if let Some(path) = self.input(&["render", "helm", "setFile", &key], &path, false) {
                set_file.insert(key, path);
            }
        }
        Some(Render::Helm(HelmRender {
            helm_version: self.version(&at("helmVersion"), entry.helm_version),
            hooks: self.given(&at("hooks"), entry.hooks, Hooks::default()),
            chart: chart?,
            release,
            values,
            set: entry.set.unwrap_or_default(),
            set_string: entry.set_string.unwrap_or_default(),
            set_file,
            api_versions: match entry.api_versions {
                None | Some(AutoOr::Auto) => None,
                Some(AutoOr::Given(versions)) => Some(versions),
            },
            kube_version,
            args: entry.args.unwrap_or_default(),
            env: entry.env.unwrap_or_default(),
        }))
    }

    fn values(&mut self, index: &str, layer: ValuesEntry) -> Option<ValuesSource> {
        match layer {
            ValuesEntry::Inline(map) => {
                Some(ValuesSource::Inline(Value::Object(map.into_iter().collect())))
            }
            ValuesEntry::File { file, optional } => {
                let at = ["render", "helm", "values", index, "file"];
                let optional = self.given(
                    &["render", "helm", "values", index, "optional"],
                    Some(optional),
                    false,
                );
                let path = self.input(&at, &file, optional)?;
                Some(ValuesSource::File { path, optional })
            }
        }
    }

    /// The images, whose names are matched without tag and digest.
    pub(crate) fn images(&mut self, entries: Vec<ImageEntry>) -> Vec<ImageOverride> {
        let mut names = BTreeSet::new();
        for (index, image) in entries.iter().enumerate() {
            let index = index.to_string();
            let at = |key| ["images", index.as_str(), key];
            let tag = image.name.rsplit('/').next().is_some_and(|last| last.contains(':'));
            if image.name.is_empty() || tag || image.name.contains(['@', ' ']) {
                self.fail_hint(
                    &at("name"),
                    format!("`{}` is no image's repository", image.name),
                    "write the name as rendered, without tag and digest: `registry/web`",
                );
            }
            if !names.insert(image.name.as_str()) {
                self.fail(&at("name"), format!("a second item for the image `{}`", image.name));
            }
            let nothing =
                image.new_name.is_none() && image.new_tag.is_none() && image.digest.is_none();
            if nothing {
                self.fail_hint(
                    &at("name"),
                    format!("nothing changes for the image `{}`", image.name),
                    "add `newTag`, `newName` or `digest`",
                );
            }
            if image.new_name.as_deref() == Some("") {
                self.fail(&at("newName"), "`newName` is empty");
            }
            if let Some(tag) = image.new_tag.as_deref().filter(|tag| !is_image_tag(tag)) {
                self.fail(&at("newTag"), format!("`{tag}` is no tag of an image"));
            }
            if let Some(digest) = image.digest.as_deref().filter(|digest| !is_image_digest(digest))
            {
                self.fail_hint(
                    &at("digest"),
                    format!("`{digest}` is no digest of an image"),
                    "it looks like `sha256:` and 64 hex digits",
                );
            }
        }
        let image = |e: ImageEntry| ImageOverride {
            name: e.name,
            new_name: e.new_name,
            new_tag: e.new_tag,
            digest: e.digest,
        };
        entries.into_iter().map(image).collect()
    }

    /// The replica counts.
    pub(crate) fn replicas(&mut self, entries: Vec<ReplicaEntry>) -> Vec<ReplicaOverride> {
        let mut found: Vec<ReplicaOverride> = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let at = |key| ["replicas", index.as_str(), key];
            let count = self.required(&at("count"), entry.count);
            let count = self.given(&at("count"), count, 0);
            if entry.name.is_empty() {
                self.fail(&at("name"), "the name is empty");
            }
            if found.iter().any(|other| other.name == entry.name) {
                self.fail(&at("name"), format!("a second item for the workload `{}`", entry.name));
            }
            found.push(ReplicaOverride { name: entry.name, count });
        }
        found
    }

    /// The patches, each with exactly one kind of operations.
    pub(crate) fn patches(&mut self, entries: Vec<PatchEntry>) -> Vec<ManifestPatch> {
        let mut found = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let node = self.node.nearest(&["patches", &index]);
            let operations = match (entry.json6902, entry.merge) {
                (Some(operations), None) => {
                    self.operations(&index, &operations);
                    // As written: of `value: null` the decoded entry keeps nothing.
                    let items = node.nearest(&["json6902"]).items();
                    PatchOperations::Json6902(items.iter().map(Node::to_value).collect())
                }
                (None, Some(_)) => PatchOperations::Merge(node.nearest(&["merge"]).to_value()),
                (both, _) => {
                    let what = if both.is_some() { "both" } else { "neither" };
                    self.fail(
                        &["patches", &index],
                        format!("the patch has {what} of `json6902` and `merge`"),
                    );
                    continue;
                }
            };
            found.push(ManifestPatch {
                target: PatchTarget {
                    group: entry.target.group,
                    version: entry.target.version,
                    kind: entry.target.kind,
                    name: entry.target.name,
                    namespace: entry.target.namespace,
                },
                operations,
                origin: format!("{}:{}", node.mark.source.name, node.mark.line),
            });
        }
        found
    }

    fn operations(&mut self, patch: &str, operations: &[OperationEntry]) {
        if operations.is_empty() {
            self.fail(&["patches", patch, "json6902"], "the patch has no operations");
        }
        for (index, operation) in operations.iter().enumerate() {
            let index = index.to_string();
            let at = ["patches", patch, "json6902", index.as_str()];
            let has = |key| self.node.nearest(&at).as_map().is_some_and(|m| m.contains_key(key));
            let needs = match operation.op {
                Operation::Add | Operation::Replace | Operation::Test => "value",
                Operation::Move | Operation::Copy => "from",
                Operation::Remove => "path",
            };
            if !has(needs) {
                let message = format!("`{:?}` needs `{needs}`", operation.op).to_lowercase();
                self.fail(&at, message);
            }
            let from = operation.from.as_ref().map(|from| ("from", from));
            for (key, pointer) in std::iter::once(("path", &operation.path)).chain(from) {
                if !pointer.is_empty() && !pointer.starts_with('/') {
                    let at = ["patches", patch, "json6902", index.as_str(), key];
                    self.fail_hint(
                        &at,
                        format!("`{pointer}` is no JSON pointer"),
                        "it starts with `/`: `/spec/template/spec/containers/0/image`",
                    );
                }
            }
        }
    }

    /// A setting that templates may give.
    pub(crate) fn given<T: Copy>(
        &mut self,
        at: At<'_>,
        setting: Option<Templated<T>>,
        default: T,
    ) -> T {
        let Some(setting) = setting else { return default };
        setting.value().unwrap_or_else(|| {
            self.fail(at, "its template gives another template");
            default
        })
    }

    fn required<T>(&mut self, at: At<'_>, value: Option<T>) -> Option<T> {
        if value.is_none() {
            let (key, above) = at.split_last().unwrap_or((&"", &[]));
            let above = above.iter().map(|step| match step.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key((*step).to_owned()),
            });
            let above = path_text(&above.collect::<Vec<_>>());
            self.fail(at, format!("`{key}` is missing in `{above}`"));
        }
        value
    }

    fn version(&mut self, at: At<'_>, text: Option<String>) -> Option<String> {
        let text = text.filter(|text| !text.trim().is_empty())?;
        match version_requirement(&text) {
            Ok(_) => Some(text),
            Err(why) => {
                self.fail_hint(
                    at,
                    format!("`{text}` is no requirement on a version: {why}"),
                    "write it like `5.8.2`, `>=5.4, <6` or `~3.14`",
                );
                None
            }
        }
    }

    fn input(&mut self, at: At<'_>, path: &str, may_be_absent: bool) -> Option<PathBuf> {
        let mark = &self.node.nearest(at).mark;
        input(self.files, self.root, mark, path, may_be_absent)
            .map_err(|error| self.errors.push(error))
            .ok()
    }
}

/// The error of a `render` that names more than one renderer or, where one is `needed`, none.
pub(crate) fn one_renderer(render: &Node, needed: bool) -> Option<Error> {
    match renderers(render).as_slice() {
        [] if needed => {
            let known = list(RENDERERS.iter().copied());
            Some(
                render.mark.error("`render` names no renderer").hint(format!("add one of {known}")),
            )
        }
        [] | [_] => None,
        many => {
            let known = list(many.iter().copied());
            Some(
                render
                    .mark
                    .error(format!("`render` names {known}: an application has one renderer"))
                    .hint("an override may name another one, which replaces the whole `render`"),
            )
        }
    }
}
