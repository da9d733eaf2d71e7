//! Clusters that are found rather than listed: contexts of a kubeconfig, and files with a cluster
//! each. What is found is decoded and checked exactly as if it were listed.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::decode::decode;
use super::fleet::{ClusterEntry, GeneratorEntry, KubeconfigGenerator};
use super::node::{Entry, Layer, Mark, Node};
use super::paths;
use super::read::{Files, display, join, trees};
use super::selector::{list, matcher};
use super::template::Templates;
use crate::error::{Error, Result};

/// Where the contexts of kubeconfigs come from: only the edge of the program reads those.
pub trait Contexts {
    /// The names of the contexts in that kubeconfig; none: in the one that a cluster without
    /// `kubeconfig` uses.
    ///
    /// # Errors
    /// Exit 3: it is missing or wrong.
    fn contexts(&self, kubeconfig: Option<&Path>) -> Result<Vec<String>>;
}

/// No kubeconfig at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContexts;

impl Contexts for NoContexts {
    fn contexts(&self, _: Option<&Path>) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// What of the world generators look at.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) contexts: &'a dyn Contexts,
}

/// A cluster that was found, and its place.
pub(crate) type Found = (ClusterEntry, Node);

/// Runs the generators in order; `list` is their list in the file. Each has to find something.
pub(crate) fn generate(
    entries: &[GeneratorEntry],
    list: &Node,
    world: World<'_>,
) -> (Vec<Found>, Vec<Error>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (index, (entry, node)) in entries.iter().zip(list.items()).enumerate() {
        let nodes = match (&entry.kubeconfig, &entry.files) {
            (Some(generator), None) => from_kubeconfig(generator, node, world),
            (None, Some(pattern)) => from_files(pattern, node, world),
            (Some(_), Some(_)) => Err(vec![
                node.error(&["files"], "both `kubeconfig` and `files` are given")
                    .hint("make two generators of it: each is an item of the list"),
            ]),
            (None, None) => {
                Err(vec![node.mark.error("there is neither `kubeconfig` nor `files`").hint(
                    "such as `- kubeconfig: {contexts: \"prod-*\"}` or `- files: clusters/*.yaml`",
                )])
            }
        };
        let nodes = match nodes {
            Ok(nodes) => nodes,
            Err(more) => {
                errors.extend(more);
                continue;
            }
        };
        for mut node in nodes {
            node.set_layer(Layer::Generator(index));
            match decode::<ClusterEntry>(&node) {
                Ok(entry) => found.push((entry, node)),
                Err(more) => errors.extend(more),
            }
        }
    }
    (found, errors)
}

/// A cluster for each context that the pattern matches, by name. Every string may be a template
/// over `context`.
fn from_kubeconfig(
    generator: &KubeconfigGenerator,
    node: &Node,
    world: World<'_>,
) -> Result<Vec<Node>, Vec<Error>> {
    let one = |error: Error| vec![error];
    let node = node.nearest(&["kubeconfig"]);
    let pattern = &node.nearest(&["contexts"]).mark;
    let kubeconfig = match &generator.file {
        Some(path) => Some(paths::free(&node.nearest(&["file"]).mark, path).map_err(one)?),
        None => None,
    };
    let matcher = matcher(&generator.contexts).map_err(|e| vec![e.at(pattern.location())])?;
    let mut all = world
        .contexts
        .contexts(kubeconfig.as_deref())
        .map_err(|e| vec![e.at(pattern.location())])?;
    all.sort();
    let (matching, others): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|context| matcher.is_match(context));
    if matching.is_empty() {
        let error = pattern.error(format!("no context matches `{}`", generator.contexts));
        return Err(vec![match others.len() {
            0 => error.hint("the kubeconfig has no contexts: name one by `file`, or KUBECONFIG"),
            _ => error.hint(format!("the contexts are {}", some(&others))),
        }]);
    }
    let mut errors = Vec::new();
    let mut nodes = Vec::new();
    for context in matching {
        let mut cluster = node.clone();
        let Some(map) = cluster.as_map_mut() else { continue };
        map.remove("contexts");
        if let Some(file) = map.remove("file") {
            map.insert("kubeconfig".to_owned(), file);
        }
        let templates = Templates::new(
            Map::from_iter([("context".to_owned(), Value::from(context.as_str()))]),
            Default::default(),
        );
        templates.resolve(&mut cluster, &mut errors);
        let Some(map) = cluster.as_map_mut() else { continue };
        let found = Entry { key: pattern.clone(), value: Node::at(context.into(), pattern) };
        map.entry("name".to_owned()).or_insert_with(|| found.clone());
        map.insert("context".to_owned(), found);
        nodes.push(cluster);
    }
    // A template that is wrong is wrong for every context.
    errors.dedup();
    if errors.is_empty() { Ok(nodes) } else { Err(errors) }
}

/// A cluster for each document of the files that the pattern matches, by path.
fn from_files(pattern: &str, node: &Node, world: World<'_>) -> Result<Vec<Node>, Vec<Error>> {
    let one = |error: Error| vec![error];
    let mark = &node.nearest(&["files"]).mark;
    paths::free(mark, pattern).map_err(one)?;
    let found = glob(Path::new(pattern), world.files, mark).map_err(one)?;
    if found.is_empty() {
        return Err(vec![mark.error(format!("no file matches `{pattern}`")).hint(
            "patterns are relative to this file; `*` and `?` stand for letters within a name",
        )]);
    }
    let mut nodes = Vec::new();
    let mut errors = Vec::new();
    for path in found {
        // As the user would name it: from where the fleet file is named.
        let beside = Path::new(&mark.source.name).parent().unwrap_or(Path::new(""));
        let name = display(&beside.join(&path));
        match trees(world.files, &join(&mark.source.folder, &path), &name, mark) {
            Ok(documents) if documents.is_empty() => {
                errors
                    .push(mark.error(format!("`{name}` is empty")).hint(
                        "a file of the generator holds one cluster, such as `name: us-east`",
                    ));
            }
            Ok(documents) => nodes.extend(documents),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(nodes) } else { Err(errors) }
}

/// The files that a pattern matches, sorted, and named as it does; each part of the path is a
/// pattern of its own.
fn glob(pattern: &Path, files: &dyn Files, mark: &Mark) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let text = component.as_os_str().to_string_lossy();
        if !matches!(component, Component::Normal(_)) || !text.contains(['*', '?', '[', '{']) {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        }
        let matcher = matcher(&text).map_err(|e| e.at(mark.location()))?;
        let mut next = Vec::new();
        for folder in found {
            let names = match files.list(&join(&mark.source.folder, &folder)) {
                Ok(names) => names,
                // Not every folder that a pattern matches has the rest of it.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    continue;
                }
                Err(error) => {
                    let message = format!("`{}` cannot be listed", folder.display());
                    return Err(mark.error(message).because(error.to_string()));
                }
            };
            // As in a shell, a name that starts with a dot has to be asked for.
            let hidden = |name: &str| name.starts_with('.') && !text.starts_with('.');
            let fits = names.into_iter().filter(|n| !hidden(n) && matcher.is_match(n));
            next.extend(fits.map(|name| folder.join(name)));
        }
        found = next;
    }
    found.retain(|path| files.canonical(&join(&mark.source.folder, path)).is_ok());
    found.sort();
    Ok(found)
}

/// The first names of many.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = list(names.iter().take(SHOWN).map(String::as_str));
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
