//! The two files → the targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, json};

use super::application::{ApplicationFile, OverrideEntry, SETTINGS, Settings, VarOverride};
use super::charts::chart_repositories;
use super::clusters::{Cluster, Fleet, clusters, listed, tools};
use super::decode::decode;
use super::fleet::FleetFile;
use super::generators::{World, generate};
use super::merge::merge_settings;
use super::names::is_dns_label;
use super::node::{Entry, Layer, Node};
use super::paths::{self, Root};
use super::project::{Project, labels_of};
use super::provenance::provenance;
use super::read::{Disk, Files, What, read};
use super::rollout;
use super::rules::Expressions;
use super::selector::{Selector, list};
use super::settings::{Checker, one_renderer};
use super::target::Render;
use super::template::Templates;
use super::vars::{self, Vars};
use super::{AppName, Contexts, NoContexts, Target, TargetName};
use crate::error::{Error, Result};
use crate::rollout::RolloutSettings;

/// Reads and resolves configuration.
#[derive(Clone, Copy)]
pub struct Resolver<'a> {
    files: &'a dyn Files,
    contexts: &'a dyn Contexts,
    places_only: bool,
}

impl Default for Resolver<'static> {
    fn default() -> Self {
        Resolver::new(&Disk)
    }
}

impl<'a> Resolver<'a> {
    /// One that reads through `files`; [`Resolver::default`] reads the disk.
    pub fn new(files: &'a dyn Files) -> Self {
        Resolver { files, contexts: &NoContexts, places_only: false }
    }

    /// For fleets that find clusters among the contexts of kubeconfigs.
    #[must_use]
    pub fn with_contexts(mut self, contexts: &'a dyn Contexts) -> Self {
        self.contexts = contexts;
        self
    }

    /// For verbs that render nothing (`status`, `history`, `delete`): resolves names, clusters
    /// and namespaces only. Required variables may be missing, inputs of rendering need not
    /// exist, and a target's `render`, `images`, `replicas` and `patches` are empty.
    #[must_use]
    pub fn places(mut self) -> Self {
        self.places_only = true;
        self
    }

    /// Reads the application file and its fleet, and resolves every target. `fleet` is what
    /// `--fleet` names, `vars` what `--var` gives, the last of a name wins. Paths are relative to
    /// the current folder.
    ///
    /// # Errors
    /// Exit 3: the first of what [`Resolver::check`] finds.
    pub fn load(
        &self,
        application: &Path,
        fleet: Option<PathBuf>,
        vars: &[(String, String)],
    ) -> Result<Project> {
        self.check(application, fleet, vars).map_err(|errors| {
            let more = errors.len().saturating_sub(1);
            let first = errors.into_iter().next();
            let first = first.unwrap_or_else(|| Error::config("the configuration is wrong"));
            match more {
                0 => first,
                1 => first.hint("there is 1 more error: `mcd validate` shows all"),
                _ => first.hint(format!("there are {more} more errors: `mcd validate` shows all")),
            }
        })
    }

    /// As [`Resolver::load`], with all errors.
    ///
    /// # Errors
    /// Exit 3: all that is wrong, as far as one error does not hide others; at least one.
    pub fn check(
        &self,
        application: &Path,
        fleet: Option<PathBuf>,
        vars: &[(String, String)],
    ) -> Result<Project, Vec<Error>> {
        let node = read(self.files, application, application, What::Application, None)
            .map_err(|e| vec![e])?;
        let file: ApplicationFile = decode(&node)?;
        let fleet = self.fleet(application, fleet, &file, &node)?;
        let folder = node.mark.source.folder.clone();
        let root = Root::of(self.files, &folder);
        let name = application.file_name().unwrap_or_default().to_owned();
        let application = Application {
            files: self.files,
            file,
            node,
            root,
            fleet,
            given: vars,
            places_only: self.places_only,
            expressions: Expressions::default(),
        };
        let (targets, rollout, warnings) = application.targets()?;
        let others = application.others();
        let Application { file, root, fleet, .. } = application;
        Ok(Project {
            app: AppName::new(file.metadata.name),
            file: folder.join(name),
            root: root.path,
            clusters: fleet.clusters.into_iter().map(|cluster| cluster.spec).collect(),
            targets,
            others,
            rollout,
            warnings,
        })
    }

    /// The fleet: that of `--fleet`, else of `fleet:`, else the clusters in the application file.
    fn fleet(
        &self,
        application: &Path,
        flag: Option<PathBuf>,
        file: &ApplicationFile,
        node: &Node,
    ) -> Result<Fleet, Vec<Error>> {
        let (path, name, named_by) = match (flag, &file.fleet, &file.clusters) {
            (Some(path), _, _) => (path.clone(), path, None),
            (None, Some(_), Some(_)) => {
                let error = node.error(&["clusters"], "both `fleet` and `clusters` are given");
                return Err(vec![error.hint("keep one: the clusters belong to the fleet file")]);
            }
            (None, Some(path), None) => {
                let mark = &node.nearest(&["fleet"]).mark;
                let found = paths::free(mark, path).map_err(|e| vec![e])?;
                // Errors name files as the user would.
                let folder = application.parent().unwrap_or(Path::new(""));
                (found, folder.join(path), Some(mark))
            }
            (None, None, Some(entries)) => {
                let (found, mut errors) = listed(entries.clone(), node.nearest(&["clusters"]));
                let (clusters, more) = clusters(found);
                errors.extend(more);
                let fleet = Fleet { clusters, ..Fleet::default() };
                return if errors.is_empty() { Ok(fleet) } else { Err(errors) };
            }
            (None, None, None) => {
                return Err(vec![
                    node.mark
                        .error("there is neither `fleet` nor `clusters`")
                        .hint("name the fleet's file by `fleet:`, `--fleet` or `MCD_FLEET`")
                        .hint("or list clusters here: `clusters: [{name: my-cluster, context: my-context}]`"),
                ]);
            }
        };
        let node = read(self.files, &path, &name, What::Fleet, named_by).map_err(|e| vec![e])?;
        let file: FleetFile = decode(&node)?;
        if file.clusters.is_none() && file.generators.is_empty() {
            return Err(vec![
                node.mark.error("there is neither `clusters` nor `generators`").hint(
                    "list clusters: `clusters: [{name: my-cluster, context: my-context}]`, or find \
                     them: `generators: [{kubeconfig: {contexts: \"prod-*\"}}]`",
                ),
            ]);
        }
        let (mut found, mut errors) = match file.clusters {
            Some(entries) => listed(entries, node.nearest(&["clusters"])),
            None => Default::default(),
        };
        let world = World { files: self.files, contexts: self.contexts };
        let (more, wrong) = generate(&file.generators, node.nearest(&["generators"]), world);
        found.extend(more);
        errors.extend(wrong);
        let (clusters, wrong) = clusters(found);
        errors.extend(wrong);
        let (tools, more) = tools(&file.tools, node.nearest(&["tools"]));
        errors.extend(more);
        let (chart_repositories, more) =
            chart_repositories(file.chart_repositories, node.nearest(&["chartRepositories"]));
        errors.extend(more);
        let allow_plugins = file.allow.plugins;
        let fleet = Fleet { clusters, tools, allow_plugins, chart_repositories };
        if errors.is_empty() { Ok(fleet) } else { Err(errors) }
    }
}

/// The settings that say where a target is.
const PLACES: [&str; 2] = ["namespace", "stateNamespace"];

/// The settings of verbs that render nothing.
const KEPT: [&str; 3] = ["namespace", "stateNamespace", "health"];

/// An application as read, with all that its targets need.
struct Application<'a> {
    files: &'a dyn Files,
    file: ApplicationFile,
    node: Node,
    root: Root,
    fleet: Fleet,
    given: &'a [(String, String)],
    places_only: bool,
    /// Shared by the targets: reading one takes longer than all else of a target.
    expressions: Expressions,
}

impl Application<'_> {
    fn targets(&self) -> Result<(Vec<Target>, RolloutSettings, Vec<Error>), Vec<Error>> {
        let mut errors = self.check();
        let selected: Vec<&Cluster> =
            self.fleet.clusters.iter().filter(|c| self.file.select.matches(*c)).collect();
        if errors.is_empty() && selected.is_empty() {
            let of = self.fleet.clusters.len();
            errors.push(
                self.node
                    .error(&["select"], format!("`select` matches none of the {of} clusters"))
                    .hint(labels_of(&self.fleet.clusters)),
            );
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let (mut targets, mut failed) = (Vec::new(), Vec::new());
        for cluster in &selected {
            match self.target(cluster, self.places_only) {
                Ok(target) => targets.push(target),
                Err(found) => {
                    failed.extend(found.into_iter().map(|error| (&cluster.spec.name, error)));
                }
            }
        }
        errors.extend(distinct(failed, selected.len()));
        errors.extend(self.same_place(&targets));
        let rollout = self.rollout(&selected).map_err(|found| errors.extend(found));
        match rollout {
            Ok(rollout) if errors.is_empty() => Ok((targets, rollout, self.warnings(&selected))),
            _ => Err(errors),
        }
    }

    /// What is wrong whatever the target.
    fn check(&self) -> Vec<Error> {
        let mut errors = Vec::new();
        let name = &self.file.metadata.name;
        if !is_dns_label(name, 40) {
            errors.push(
                self.node
                    .error(&["metadata", "name"], format!("`{name}` is no name for an application"))
                    .hint(
                        "use lower-case letters, digits and `-`, at most 40, with a letter or \
                         digit at both ends",
                    ),
            );
        }
        errors.extend(self.check_selector(&["select"], &self.file.select));
        let overrides: Vec<BTreeMap<String, VarOverride>> =
            self.file.overrides.iter().map(|o| o.vars.clone()).collect();
        errors.extend(vars::check(&self.node, &self.file.vars, &overrides, self.given));
        if let Some(render) = self.node.get("render") {
            errors.extend(one_renderer(render, false));
        }
        for (index, entry) in self.file.overrides.iter().enumerate() {
            let index = index.to_string();
            errors.extend(self.check_selector(&["overrides", &index, "select"], &entry.select));
            if let Some(render) = self.node.nearest(&["overrides", &index]).get("render") {
                errors.extend(one_renderer(render, false));
            }
        }
        errors
    }

    fn check_selector(&self, at: &[&str], selector: &Selector) -> Vec<Error> {
        selector.faults(self.node.nearest(at), &self.fleet.clusters)
    }

    /// How the targets are rolled out.
    fn rollout(&self, selected: &[&Cluster]) -> Result<RolloutSettings, Vec<Error>> {
        let Some(entry) = self.file.rollout.clone() else { return Ok(RolloutSettings::default()) };
        rollout::check(entry, self.node.nearest(&["rollout"]), &self.fleet.clusters, selected)
    }

    /// The overrides for a cluster, in order.
    fn overrides(&self, cluster: &Cluster) -> impl Iterator<Item = (usize, &OverrideEntry)> {
        self.file.overrides.iter().enumerate().filter(|(_, o)| o.select.matches(cluster))
    }

    /// The clusters that are not selected. One whose place cannot be told has none.
    fn others(&self) -> Vec<Target> {
        let others = self.fleet.clusters.iter().filter(|c| !self.file.select.matches(*c));
        others.filter_map(|cluster| self.target(cluster, true).ok()).collect()
    }

    fn target(&self, cluster: &Cluster, places_only: bool) -> Result<Target, Vec<Error>> {
        let applied: Vec<_> = self.overrides(cluster).map(|(i, o)| (i, &o.vars)).collect();
        let (vars, mut errors) = vars::resolve(&self.node, &self.file.vars, &applied, self.given);
        if !places_only {
            errors.extend(vars::missing(&self.node, &self.file.vars, &vars));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut node = self.merged(cluster);
        if places_only && let Some(map) = node.as_map_mut() {
            map.retain(|key, _| KEPT.contains(&key.as_str()));
        }
        self.resolve_templates(cluster, &vars, &mut node, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let settings: Settings = decode(&node)?;
        self.build(cluster, vars, &node, settings, places_only)
    }

    /// The file's settings with the overrides for the cluster merged over them.
    fn merged(&self, cluster: &Cluster) -> Node {
        let mut merged = pick(&self.node);
        for (index, _) in self.overrides(cluster) {
            let text = index.to_string();
            let mut over = pick(self.node.nearest(&["overrides", &text]));
            over.set_layer(Layer::Override(index));
            merge_settings(&mut merged, over);
        }
        merged
    }

    fn resolve_templates(
        &self,
        cluster: &Cluster,
        vars: &Vars,
        node: &mut Node,
        errors: &mut Vec<Error>,
    ) {
        let spec = &cluster.spec;
        let mut context = Map::new();
        context.insert("target".into(), json!({"name": spec.name, "context": spec.context}));
        context.insert("labels".into(), json!(spec.labels));
        context.insert("values".into(), spec.values.clone());
        context.insert("vars".into(), json!(vars.values));
        context.insert("app".into(), json!({"name": self.file.metadata.name}));
        let mut templates = Templates::new(context, vars.unset.clone());
        let Some(map) = node.as_map_mut() else { return };
        // The namespaces first: the rest may name them.
        for key in PLACES {
            if let Some(entry) = map.get_mut(key) {
                templates.resolve(&mut entry.value, errors);
                templates.set_target(key, entry.value.as_str().unwrap_or_default());
            }
        }
        if let Some(namespace) = map.get("namespace").and_then(|e| e.value.as_str())
            && map.get("stateNamespace").is_none_or(|e| e.value.is_null())
        {
            templates.set_target("stateNamespace", namespace);
        }
        for (key, entry) in map {
            // Braces in an expression are CEL's own.
            if !PLACES.contains(&key.as_str()) && key != "health" {
                templates.resolve(&mut entry.value, errors);
            }
        }
    }

    fn build(
        &self,
        cluster: &Cluster,
        vars: Vars,
        node: &Node,
        settings: Settings,
        places_only: bool,
    ) -> Result<Target, Vec<Error>> {
        let app = &self.file.metadata.name;
        let mut checker =
            Checker { files: self.files, root: &self.root, app, node, errors: Vec::new() };
        checker.namespaces(&settings);
        let create_namespace =
            checker.given(&["createNamespace"], settings.create_namespace, false);
        let render = match places_only {
            true => Some(Render::Manifests(Vec::new())),
            false => checker.render(settings.render),
        };
        let images = checker.images(settings.images.unwrap_or_default());
        let replicas = checker.replicas(settings.replicas.unwrap_or_default());
        let patches = checker.patches(settings.patches.unwrap_or_default());
        let conflicts = checker.conflicts(settings.conflicts.unwrap_or_default());
        let ignore = checker.ignore(settings.ignore.unwrap_or_default());
        let health = checker.health(settings.health.unwrap_or_default(), &self.expressions);
        let errors = checker.errors;
        let (Some(render), true) = (render, errors.is_empty()) else { return Err(errors) };
        let mut target = Target {
            name: cluster.spec.name.clone(),
            app: AppName::new(app.clone()),
            cluster: cluster.spec.clone(),
            state_namespace_is_set: settings.state_namespace.is_some(),
            state_namespace: settings.state_namespace.unwrap_or_else(|| settings.namespace.clone()),
            namespace: settings.namespace,
            create_namespace,
            vars: vars.values,
            render,
            images,
            replicas,
            patches,
            conflicts,
            ignore,
            health,
            root: self.root.path.clone(),
            allow_plugins: self.fleet.allow_plugins,
            tools: self.fleet.tools.clone(),
            chart_repositories: self.fleet.chart_repositories.clone(),
            provenance: BTreeMap::new(),
        };
        let app = self.node.nearest(&["metadata", "name"]);
        target.provenance = provenance(&target, app, node, &cluster.node, &vars.provenance);
        Ok(target)
    }

    /// Two targets in one place would take turns to undo each other's work.
    fn same_place(&self, targets: &[Target]) -> Vec<Error> {
        let place = |t: &Target| {
            let context =
                if t.cluster.in_cluster { String::new() } else { t.cluster.context.clone() };
            (t.cluster.in_cluster, t.cluster.kubeconfig.clone(), context, t.namespace.clone())
        };
        let mut errors = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let other = targets.iter().take(index).find(|other| place(other) == place(target));
            let Some(other) = other else { continue };
            let node = self.fleet.clusters.iter().find(|c| c.spec.name == target.name);
            let error = Error::config(format!(
                "the targets `{}` and `{}` are one place: context `{}`, namespace `{}`",
                other.name, target.name, target.cluster.context, target.namespace
            ));
            let error = match node {
                Some(cluster) => error.at(cluster.node.mark.location()),
                None => error,
            };
            errors.push(error.hint(
                "give one of them another `context` or, by an override, another `namespace`",
            ));
        }
        errors
    }

    fn warnings(&self, selected: &[&Cluster]) -> Vec<Error> {
        let mut warnings = Vec::new();
        for (index, entry) in self.file.overrides.iter().enumerate() {
            if !selected.iter().any(|cluster| entry.select.matches(*cluster)) {
                let index = index.to_string();
                warnings.push(self.node.error(
                    &["overrides", &index, "select"],
                    format!("the override selects none of the targets: {}", entry.select),
                ));
            }
        }
        warnings
    }
}

/// The settings of an application or an override.
fn pick(node: &Node) -> Node {
    let mut picked = Node::empty_map(&node.mark);
    if let (Some(map), Some(into)) = (node.as_map(), picked.as_map_mut()) {
        for key in SETTINGS {
            if let Some(entry) = map.get(*key) {
                into.insert((*key).to_owned(), Entry::clone(entry));
            }
        }
    }
    picked
}

/// Tells each error once, however many of the `all` targets have it. Only one that not all have
/// names its targets.
fn distinct(errors: Vec<(&TargetName, Error)>, all: usize) -> Vec<Error> {
    let mut groups: Vec<(Error, Vec<&TargetName>)> = Vec::new();
    for (target, error) in errors {
        match groups.iter_mut().find(|(known, _)| *known == error) {
            Some((_, targets)) => targets.push(target),
            None => groups.push((error, vec![target])),
        }
    }
    let named = |(error, targets): (Error, Vec<&TargetName>)| match targets.split_first() {
        Some((first, others)) if targets.len() < all => {
            let error = error.in_target(first);
            match others {
                [] => error,
                others => {
                    let others = list(others.iter().map(|target| target.as_str()));
                    error.hint(format!("the same in {others}"))
                }
            }
        }
        _ => error,
    };
    groups.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests;
