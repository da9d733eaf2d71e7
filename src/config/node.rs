//! A document of ours as a tree that knows where each value was written.
//!
//! Decoding, merging and templates all work on this tree, so that an error found at any of these
//! stages, and the provenance that `mcd targets -o yaml` prints, name the file and the line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use crate::error::{Error, Location};

/// A file of ours as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The file as the user would name it.
    pub(crate) name: String,
    /// The folder that relative paths in the file start from: absolute and canonical.
    pub(crate) folder: PathBuf,
    /// The text, for snippets; empty when its lines may not be shown (it patches a Secret).
    pub(crate) text: String,
}

/// Which layer of the settings a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The file itself.
    #[default]
    Base,
    /// The override of that index, from 0.
    Override(usize),
    /// What the generator of that index found, from 0.
    Generator(usize),
}

/// The place where a value or a key was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) source: Arc<Source>,
    /// From 1.
    pub(crate) line: usize,
    /// From 1; 0 when unknown.
    pub(crate) column: usize,
    pub(crate) layer: Layer,
}

impl Mark {
    /// The start of a file.
    pub(crate) fn start(source: &Arc<Source>) -> Self {
        Mark { source: Arc::clone(source), line: 1, column: 0, layer: Layer::Base }
    }

    /// The place for an error, with the line's text.
    pub(crate) fn location(&self) -> Location {
        let text = self.source.text.lines().nth(self.line.saturating_sub(1)).unwrap_or_default();
        Location {
            file: self.source.name.clone(),
            line: self.line,
            column: self.column,
            text: text.to_owned(),
        }
    }

    /// `mcd.yaml:14` or `mcd.yaml:14 (overrides[0])`.
    pub(crate) fn provenance(&self) -> String {
        let place = format!("{}:{}", self.source.name, self.line);
        match self.layer {
            Layer::Base => place,
            Layer::Override(index) => format!("{place} (overrides[{index}])"),
            Layer::Generator(index) => format!("{place} (generators[{index}])"),
        }
    }

    /// An error of configuration at this place.
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::config(message).at(self.location())
    }
}

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// `render.helm.values[1].file`; keys that are not plain words stand in brackets and quotes.
pub(crate) fn path_text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => {
                let _ = write!(text, "[{index}]");
            }
            Step::Key(key) if is_word(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Step::Key(key) => {
                let _ = write!(text, "[{key:?}]");
            }
        }
    }
    text
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// A key's place and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Mark,
    pub(crate) value: Node,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) mark: Mark,
    /// The template that gave the value.
    pub(crate) template: Option<String>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Node>),
    Map(BTreeMap<String, Entry>),
}

impl Node {
    /// A tree of `value`; `place` says where the key and the value of a path were written.
    pub(crate) fn build(value: Value, place: &dyn Fn(&[Step]) -> (Mark, Mark)) -> Self {
        fn walk(
            value: Value,
            path: &mut Vec<Step>,
            mark: Mark,
            place: &dyn Fn(&[Step]) -> (Mark, Mark),
        ) -> Node {
            let kind = match value {
                Value::Null => Kind::Null,
                Value::Bool(b) => Kind::Bool(b),
                Value::Number(n) => Kind::Number(n),
                Value::String(s) => Kind::String(s),
                Value::Array(items) => Kind::List(
                    items
                        .into_iter()
                        .enumerate()
                        .map(|(index, item)| {
                            path.push(Step::Index(index));
                            let (_, mark) = place(path);
                            let node = walk(item, path, mark, place);
                            path.pop();
                            node
                        })
                        .collect(),
                ),
                Value::Object(map) => Kind::Map(
                    map.into_iter()
                        .map(|(name, item)| {
                            path.push(Step::Key(name.clone()));
                            let (key, mark) = place(path);
                            let value = walk(item, path, mark, place);
                            path.pop();
                            (name, Entry { key, value })
                        })
                        .collect(),
                ),
            };
            Node { kind, mark, template: None }
        }
        let (_, mark) = place(&[]);
        walk(value, &mut Vec::new(), mark, place)
    }

    /// A tree whose every part has the same place, as a template's result does.
    pub(crate) fn at(value: Value, mark: &Mark) -> Self {
        Node::build(value, &|_| (mark.clone(), mark.clone()))
    }

    /// An empty map.
    pub(crate) fn empty_map(mark: &Mark) -> Self {
        Node { kind: Kind::Map(BTreeMap::new()), mark: mark.clone(), template: None }
    }

    /// The plain value.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Number(n) => Value::Number(n.clone()),
            Kind::String(s) => Value::String(s.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Map(map) => Value::Object(
                map.iter().map(|(k, e)| (k.clone(), e.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    pub(crate) fn as_map(&self) -> Option<&BTreeMap<String, Entry>> {
        match &self.kind {
            Kind::Map(map) => Some(map),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::List(_) => None,
        }
    }

    pub(crate) fn as_map_mut(&mut self) -> Option<&mut BTreeMap<String, Entry>> {
        match &mut self.kind {
            Kind::Map(map) => Some(map),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::List(_) => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Map(_) => &[],
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// The value of a key, unless it is null or this is no map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.as_map().and_then(|map| map.get(key)).map(|e| &e.value).filter(|n| !n.is_null())
    }

    /// The value at a path such as `["render", "helm", "values", "1"]`, or where it ends: the
    /// place to show for an error about it.
    pub(crate) fn nearest(&self, path: &[&str]) -> &Node {
        let Some((first, rest)) = path.split_first() else { return self };
        let next = match &self.kind {
            Kind::Map(map) => map.get(*first).map(|entry| &entry.value),
            Kind::List(items) => first.parse::<usize>().ok().and_then(|index| items.get(index)),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => None,
        };
        next.map_or(self, |node| node.nearest(rest))
    }

    /// Where a key of this map stands; the map itself, if it has no such key.
    pub(crate) fn key_mark(&self, key: &str) -> &Mark {
        self.as_map().and_then(|map| map.get(key)).map_or(&self.mark, |entry| &entry.key)
    }

    /// An error about the value at a path.
    pub(crate) fn error(&self, path: &[&str], message: impl Into<String>) -> Error {
        self.nearest(path).mark.error(message)
    }

    /// Says that the whole tree belongs to `layer`.
    pub(crate) fn set_layer(&mut self, layer: Layer) {
        self.mark.layer = layer;
        match &mut self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {}
            Kind::List(items) => items.iter_mut().for_each(|item| item.set_layer(layer)),
            Kind::Map(map) => {
                for entry in map.values_mut() {
                    entry.key.layer = layer;
                    entry.value.set_layer(layer);
                }
            }
        }
    }

    /// Says that a template gave the whole tree.
    pub(crate) fn set_template(&mut self, text: &str) {
        self.template = Some(text.to_owned());
        match &mut self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {}
            Kind::List(items) => items.iter_mut().for_each(|item| item.set_template(text)),
            Kind::Map(map) => map.values_mut().for_each(|entry| entry.value.set_template(text)),
        }
    }

    /// Where the value comes from, for `mcd targets -o yaml`.
    pub(crate) fn provenance(&self) -> String {
        let place = self.mark.provenance();
        match &self.template {
            Some(text) if text.lines().count() == 1 => format!("{place}, from `{text}`"),
            Some(_) => format!("{place}, from its template"),
            None => place,
        }
    }

    /// Calls `visit` with the path and the node of every scalar and every empty list and map.
    pub(crate) fn leaves(&self, visit: &mut dyn FnMut(&[Step], &Node)) {
        fn walk(node: &Node, path: &mut Vec<Step>, visit: &mut dyn FnMut(&[Step], &Node)) {
            match &node.kind {
                Kind::List(items) if !items.is_empty() => {
                    for (index, item) in items.iter().enumerate() {
                        path.push(Step::Index(index));
                        walk(item, path, visit);
                        path.pop();
                    }
                }
                Kind::Map(map) if !map.is_empty() => {
                    for (key, entry) in map {
                        path.push(Step::Key(key.clone()));
                        walk(&entry.value, path, visit);
                        path.pop();
                    }
                }
                Kind::Null
                | Kind::Bool(_)
                | Kind::Number(_)
                | Kind::String(_)
                | Kind::List(_)
                | Kind::Map(_) => visit(path, node),
            }
        }
        walk(self, &mut Vec::new(), visit);
    }

    /// `the string `abc``, `the number 3`, `a list`: what was found where another thing was
    /// expected.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "empty (null)".to_owned(),
            Kind::Bool(b) => format!("the boolean `{b}`"),
            Kind::Number(n) => format!("the number `{n}`"),
            Kind::String(s) if s.chars().count() > 40 || s.contains('\n') => "a string".to_owned(),
            Kind::String(s) => format!("the string `{s}`"),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}

/// A place for tests.
#[cfg(test)]
pub(crate) fn test_mark() -> Mark {
    let source = Source { name: "mcd.yaml".into(), folder: "/app".into(), text: String::new() };
    Mark::start(&Arc::new(source))
}
