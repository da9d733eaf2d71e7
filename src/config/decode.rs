//! From the tree to our types: a serde deserializer whose errors know their place.
//!
//! Written by hand, rather than decoding a plain value and looking the path up afterwards, because
//! serde hands the pieces of an error (the unknown key and the known ones, what was expected) to
//! the error type: they are kept apart here, and become a message of ours with a suggestion.

use std::fmt;

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::node::{Entry, Kind, Mark, Node, Step, path_text};
use crate::error::Error;
use crate::suggest::nearest;

/// At most so many unknown keys of a document are reported at once.
const MAX_ERRORS: usize = 20;

/// Decodes a document. Every unknown key is reported; else the first other error.
///
/// # Errors
/// What is wrong with the document, at least one.
pub(crate) fn decode<'n, T: for<'de> Deserialize<'de>>(node: &'n Node) -> Result<T, Vec<Error>> {
    let mut errors = Vec::new();
    let mut pruned: Option<Node> = None;
    loop {
        let tree = pruned.as_ref().unwrap_or(node);
        let failure = match T::deserialize(NodeDeserializer(tree)) {
            Ok(value) if errors.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(failure) => failure,
        };
        let unknown = match &failure.problem {
            Problem::UnknownKey { key, .. } => Some((failure.path(), key.clone())),
            Problem::Missing(_)
            | Problem::UnknownValue { .. }
            | Problem::Type(_)
            | Problem::Other(_) => None,
        };
        // After an unknown key, another error may be its consequence: `nam: web` makes `name`
        // missing.
        if unknown.is_some() || errors.is_empty() {
            errors.push(failure.into_error(tree));
        }
        let Some((path, key)) = unknown.filter(|_| errors.len() < MAX_ERRORS) else { break };
        // Goes on without the key, to report the next one too.
        let mut without = tree.clone();
        let removed = descend(&mut without, &path).and_then(Node::as_map_mut);
        if removed.and_then(|map| map.remove(&key)).is_none() {
            break;
        }
        pruned = Some(without);
    }
    errors.sort_by_key(|e| e.location().map(|l| (l.line, l.column)));
    Err(errors)
}

fn descend<'n>(node: &'n mut Node, path: &[Step]) -> Option<&'n mut Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    let next = match (first, &mut node.kind) {
        (Step::Key(key), Kind::Map(map)) => map.get_mut(key).map(|entry| &mut entry.value),
        (Step::Index(index), Kind::List(items)) => items.get_mut(*index),
        _ => None,
    };
    next.and_then(|node| descend(node, rest))
}

/// Why a document could not be decoded.
#[derive(Debug)]
struct Failure {
    problem: Problem,
    /// Innermost step first.
    steps: Vec<Step>,
    mark: Option<Box<Mark>>,
    /// What stands there.
    found: Option<String>,
    /// Whether quotes would make a string of it.
    quotable: bool,
}

#[derive(Debug)]
enum Problem {
    UnknownKey { key: String, known: &'static [&'static str] },
    Missing(&'static str),
    UnknownValue { value: String, known: &'static [&'static str] },
    Type(String),
    Other(String),
}

impl Failure {
    fn new(problem: Problem) -> Self {
        Failure { problem, steps: Vec::new(), mark: None, found: None, quotable: false }
    }

    /// Names the place, unless one is named already: the innermost is the first to.
    fn at(mut self, node: &Node) -> Self {
        if self.mark.is_none() {
            self.mark = Some(Box::new(node.mark.clone()));
            self.found = Some(node.describe());
            self.quotable = matches!(node.kind, Kind::Bool(_) | Kind::Number(_));
        }
        self
    }

    fn at_key(mut self, entry: &Entry) -> Self {
        self.mark.get_or_insert_with(|| Box::new(entry.key.clone()));
        self
    }

    fn within(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn path(&self) -> Vec<Step> {
        self.steps.iter().rev().cloned().collect()
    }

    fn into_error(self, root: &Node) -> Error {
        let path = path_text(&self.path());
        let within = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
        let named = if path.is_empty() { "the document".to_owned() } else { format!("`{path}`") };
        let mark = self.mark.as_deref().unwrap_or(&root.mark);
        match self.problem {
            Problem::UnknownKey { key, known } => {
                let error = mark.error(format!("unknown key `{key}`{within}"));
                suggest(error, &key, known, "known keys here")
            }
            Problem::Missing(key) => mark.error(format!("`{key}` is missing{within}")),
            Problem::UnknownValue { value, known } => {
                let error = mark.error(format!("{named} cannot be `{value}`"));
                suggest(error, &value, known, "known values")
            }
            Problem::Type(expected) => {
                let found = self.found.unwrap_or_else(|| "something else".to_owned());
                let error = mark.error(format!("{named} is {found}, expected {expected}"));
                if self.quotable && expected == "a string" {
                    error.hint("put it in quotes to make it a string")
                } else {
                    error
                }
            }
            Problem::Other(message) => mark.error(format!("{named} {message}")),
        }
    }
}

/// Adds the nearest name, or all known ones.
fn suggest(error: Error, word: &str, known: &[&str], what: &str) -> Error {
    if let Some(near) = nearest(word, known.iter().copied()) {
        return error.hint(format!("did you mean `{near}`?"));
    }
    let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    error.hint(format!("{what}: {}", list.join(", ")))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Failure::new(Problem::Other(message.to_string()))
    }
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Failure::new(Problem::Type(plain(&expected.to_string())))
    }
    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Failure::new(Problem::Type(plain(&expected.to_string())))
    }
    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Failure::new(Problem::UnknownValue { value: variant.to_owned(), known })
    }
    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Failure::new(Problem::UnknownKey { key: field.to_owned(), known })
    }
    fn missing_field(field: &'static str) -> Self {
        Failure::new(Problem::Missing(field))
    }
}

/// serde's words for types, in those of YAML.
fn plain(expected: &str) -> String {
    match expected {
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "a map".to_owned(),
        other => other.to_owned(),
    }
}

#[derive(Clone, Copy)]
struct NodeDeserializer<'n>(&'n Node);

impl<'n> NodeDeserializer<'n> {
    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match &self.0.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(b) => visitor.visit_bool(*b),
            Kind::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
                (Some(n), _, _) => visitor.visit_u64(n),
                (_, Some(n), _) => visitor.visit_i64(n),
                (_, _, Some(n)) => visitor.visit_f64(n),
                (None, None, None) => visitor.visit_string(n.to_string()),
            },
            Kind::String(s) => visitor.visit_str(s),
            Kind::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Kind::Map(map) => {
                visitor.visit_map(Entries { entries: map.iter(), value: None, fields: &[] })
            }
        }
    }
}

impl<'de> de::Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit(visitor).map_err(|failure| failure.at(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0.kind {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self).map_err(|failure| failure.at(self.0)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self).map_err(|failure| failure.at(self.0))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        // What a template gave is taken as text where text is wanted: `"{{ values.tag }}"` with
        // a tag of 2024 means "2024".
        let text = match &self.0.kind {
            Kind::Bool(b) if self.0.template.is_some() => b.to_string(),
            Kind::Number(n) if self.0.template.is_some() => n.to_string(),
            _ => return self.deserialize_any(visitor),
        };
        visitor.visit_string(text).map_err(|failure: Failure| failure.at(self.0))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_string(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let result = match &self.0.kind {
            Kind::String(variant) => visitor.visit_enum(variant.as_str().into_deserializer()),
            _ => Err(Failure::new(Problem::Type("a string".to_owned()))),
        };
        result.map_err(|failure: Failure| failure.at(self.0))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match &self.0.kind {
            Kind::Map(map) => visitor
                .visit_map(Entries { entries: map.iter(), value: None, fields })
                .map_err(|failure| failure.at(self.0)),
            // serde would take a list for the fields in their order.
            Kind::List(_) => {
                let failure: Failure = de::Error::invalid_type(de::Unexpected::Seq, &visitor);
                Err(failure.at(self.0))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'n> {
    items: &'n [Node],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failure> {
        let Some(node) = self.items.get(self.next) else { return Ok(None) };
        let step = Step::Index(self.next);
        self.next += 1;
        seed.deserialize(NodeDeserializer(node)).map(Some).map_err(|f| f.at(node).within(step))
    }
}

struct Entries<'n> {
    entries: std::collections::btree_map::Iter<'n, String, Entry>,
    value: Option<(&'n String, &'n Node)>,
    /// The keys that count as absent when they are null: those of a struct. `overrides:` with
    /// every item commented out is no mistake.
    fields: &'static [&'static str],
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failure> {
        let fields = self.fields;
        let mut present = self
            .entries
            .by_ref()
            .filter(|(key, entry)| !entry.value.is_null() || !fields.contains(&key.as_str()));
        let Some((key, entry)) = present.next() else { return Ok(None) };
        self.value = Some((key, &entry.value));
        let key: de::value::StrDeserializer<'_, Failure> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|failure| failure.at_key(entry))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        match self.value.take() {
            Some((key, node)) => seed
                .deserialize(NodeDeserializer(node))
                .map_err(|f| f.at(node).within(Step::Key(key.clone()))),
            None => Err(de::Error::custom("has a value without a key")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::node::test_mark;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, expecting = "a map")]
    struct Example {
        name: String,
        #[serde(default)]
        items: Vec<u8>,
        inner: Option<Box<Example>>,
        #[serde(default)]
        free: std::collections::BTreeMap<String, Value>,
    }

    fn told(value: Value) -> Vec<String> {
        let errors = decode::<Example>(&Node::at(value, &test_mark())).expect_err("wrong");
        errors.iter().map(|e| format!("{}; {}", e.message(), e.hints().join("; "))).collect()
    }

    #[test]
    fn a_null_is_absent_for_keys_of_ours_and_a_value_elsewhere() {
        let value = json!({"name": "a", "items": null, "inner": null, "free": {"x": null}});
        let found: Example = decode(&Node::at(value, &test_mark())).expect("it fits");
        let free = [("x".to_owned(), Value::Null)].into();
        assert_eq!(found, Example { name: "a".into(), items: vec![], inner: None, free });
        assert_eq!(told(json!({"name": null})), ["`name` is missing; "]);
    }

    #[test]
    fn every_unknown_key_is_told_else_the_first_other_error() {
        let inner = json!({"name": "b", "itmes": [], "inner": {"name": "c", "items": [1, 300]}});
        assert_eq!(
            told(json!({"nam": 1, "free": {}, "zzz": null, "inner": {"name": "b", "itmes": []}})),
            [
                "unknown key `itmes` in `inner`; did you mean `items`?",
                "unknown key `nam`; did you mean `name`?",
                "unknown key `zzz`; known keys here: `name`, `items`, `inner`, `free`",
            ]
        );
        assert_eq!(
            told(json!({"name": "a", "inner": inner["inner"]})),
            ["`inner.items[1]` is the number `300`, expected u8; "]
        );
        assert_eq!(told(json!(["a"])), ["the document is a list, expected a map; "]);
        assert_eq!(
            told(json!({"name": "a", "inner": ["b"]})),
            ["`inner` is a list, expected a map; "]
        );
    }

    #[test]
    fn text_from_a_template_may_be_any_scalar() {
        let mut node = Node::at(json!({"name": 2024}), &test_mark());
        assert_eq!(
            told(node.to_value()),
            [
                "`name` is the number `2024`, expected a string; put it in quotes to make it a string"
            ]
        );
        node.set_template("{{ values.year }}");
        assert_eq!(decode::<Example>(&node).map(|e| e.name).ok().as_deref(), Some("2024"));
    }
}
