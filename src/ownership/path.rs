//! Paths of fields, spelled as the API server prints them in conflicts:
//! `.spec.template.spec.containers[name="c"].image`; but a name that is not only letters, digits, `-`
//! and `_` stands in brackets, so that it reads as one: `.metadata.labels["mcd.dev/app"]`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::json::{canonical, same};

/// A JSON value inside a path. Equal and ordered by its canonical text, so `80` and `80.0` are one.
#[derive(Clone, Debug)]
pub struct Literal {
    text: String,
    value: Value,
}

impl Literal {
    /// Takes a value.
    pub fn new(value: Value) -> Self {
        Literal { text: canonical(&value), value }
    }

    /// Reads JSON text; none when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Literal::new)
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value as canonical JSON.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
impl Eq for Literal {}
impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Literal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}
impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// One step of a path, as `fieldsV1` spells it (KEP-555, structured-merge-diff).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// `f:name`: a field of a struct or a key of a map.
    Field(String),
    /// `k:{"name":"c"}`: the item of a list whose keys have these values.
    Key(Literal),
    /// `v:"x"`: the item of a set.
    Value(Literal),
    /// `i:0`: the item at an index.
    Index(u64),
    /// A spelling that this version does not know: kept as it is, and found in no object.
    Other(String),
}

impl Segment {
    /// As the API server prints it: names bare, whatever is in them.
    pub(super) fn bare(&self) -> String {
        match self {
            Segment::Field(name) => format!(".{name}"),
            _ => self.to_string(),
        }
    }

    /// Reads a key of `fieldsV1`. Never fails: what is not understood is kept.
    pub fn parse(text: &str) -> Self {
        let known = match text.split_at_checked(2) {
            Some(("f:", name)) => Some(Segment::Field(name.into())),
            Some(("k:", json)) => {
                Literal::parse(json).filter(|l| l.value.is_object()).map(Segment::Key)
            }
            Some(("v:", json)) => Literal::parse(json).map(Segment::Value),
            Some(("i:", index)) => index.parse().ok().map(Segment::Index),
            _ => None,
        };
        known.unwrap_or_else(|| Segment::Other(text.into()))
    }

    /// The key of `fieldsV1`.
    pub fn to_key(&self) -> String {
        match self {
            Segment::Field(name) => format!("f:{name}"),
            Segment::Key(key) => format!("k:{}", key.text),
            Segment::Value(value) => format!("v:{}", value.text),
            Segment::Index(index) => format!("i:{index}"),
            Segment::Other(text) => text.clone(),
        }
    }

    /// The value that this step leads to. `lenient`: an item of a manifest may leave out keys
    /// that the server defaults (a port without `protocol`).
    fn step<'v>(&self, value: &'v Value, lenient: bool) -> Option<&'v Value> {
        match self {
            Segment::Field(name) => value.as_object()?.get(name),
            _ => value.as_array()?.get(self.position(value, lenient)?),
        }
    }

    /// Whether this names the item of a list that `other` names, perhaps by fewer of its keys.
    pub(super) fn is_part_of(&self, other: &Segment) -> bool {
        match (self, other) {
            (Segment::Key(own), Segment::Key(other)) => {
                own.value.as_object().is_some_and(|keys| has_keys(&other.value, keys, false))
            }
            _ => self == other,
        }
    }

    /// Where in a list the item of this step stands.
    pub(super) fn position(&self, value: &Value, lenient: bool) -> Option<usize> {
        let items = value.as_array()?;
        match self {
            Segment::Key(key) => {
                let keys = key.value.as_object()?;
                let exact = items.iter().position(|item| has_keys(item, keys, false));
                match exact {
                    None if lenient => items.iter().position(|item| has_keys(item, keys, true)),
                    found => found,
                }
            }
            Segment::Value(wanted) => items.iter().position(|item| same(item, &wanted.value)),
            Segment::Index(index) => {
                usize::try_from(*index).ok().filter(|index| *index < items.len())
            }
            Segment::Field(_) | Segment::Other(_) => None,
        }
    }
}

/// Whether an item of a keyed list has these key values; `lenient`: or lacks some, but not all.
pub(super) fn has_keys(item: &Value, keys: &Map<String, Value>, lenient: bool) -> bool {
    let Some(item) = item.as_object() else { return false };
    let mut found = 0;
    for (name, wanted) in keys {
        match item.get(name) {
            Some(value) if same(value, wanted) => found += 1,
            None if lenient => {}
            _ => return false,
        }
    }
    found > 0 || keys.is_empty()
}

/// Whether a name can stand behind a dot and be read back as one.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Field(name) if is_plain(name) => write!(f, ".{name}"),
            Segment::Field(name) => write!(f, "[{}]", Value::from(name.as_str())),
            Segment::Key(key) => {
                f.write_str("[")?;
                let pairs = key.value.as_object().into_iter().flatten();
                for (i, (name, value)) in pairs.enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={}", canonical(value))?;
                }
                f.write_str("]")
            }
            Segment::Value(value) => write!(f, "[={}]", value.text),
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Other(text) => write!(f, "[?{text}]"),
        }
    }
}

/// A path from the root of an object. Serialised as the API server prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Segment>);

/// Maps with free keys: the API server prints a key with dots bare
/// (`.metadata.labels.app.kubernetes.io/name`), so below these the rest is one name.
const FREE_KEYS: &[&str] = &[
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "data",
    "binaryData",
    "stringData",
    "hard",
    "limits",
    "requests",
    "capacity",
    "parameters",
];

impl FieldPath {
    /// From steps.
    pub fn new(segments: Vec<Segment>) -> Self {
        FieldPath(segments)
    }

    /// A path of field names only.
    pub fn fields(names: &[&str]) -> Self {
        FieldPath(names.iter().map(|name| Segment::Field((*name).into())).collect())
    }

    /// Reads a path as the API server prints it. A name with dots in it can be written in
    /// brackets, `.metadata.annotations["example.com/a.b"]`; bare, it is understood below maps
    /// that are known to hold such names (labels, annotations, data, …). None when the text is no
    /// path.
    pub fn parse(text: &str) -> Option<Self> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let free = matches!(segments.last(),
                    Some(Segment::Field(name)) if FREE_KEYS.contains(&name.as_str()));
                let end = after.find(if free { &['['][..] } else { &['.', '['][..] });
                let (name, tail) = after.split_at(end.unwrap_or(after.len()));
                if name.is_empty() {
                    return None;
                }
                segments.push(Segment::Field(name.into()));
                rest = tail;
            } else {
                let (inside, tail) = bracket(rest)?;
                segments.push(parse_bracket(inside)?);
                rest = tail;
            }
        }
        (!segments.is_empty()).then_some(FieldPath(segments))
    }

    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// This path and one more step.
    #[must_use]
    pub fn join(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        FieldPath(segments)
    }

    /// Whether `other` is this path or lies below it.
    pub fn is_prefix_of(&self, other: &FieldPath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The value at this path of a live object: items of keyed lists are found by their keys.
    pub fn get<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(object, |value, segment| segment.step(value, false))
    }

    /// The value at this path of a manifest, whose items may lack keys that the server defaults.
    pub fn get_in_manifest<'v>(&self, manifest: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(manifest, |value, segment| segment.step(value, true))
    }
}

/// Splits `[…]` off the start: its inside and what follows. Brackets in quotes do not count.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix('[')?;
    let (mut quoted, mut escaped, mut depth) = (false, false, 0usize);
    for (at, c) in after.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' if !quoted && depth == 0 => return Some((&after[..at], &after[at + 1..])),
            ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Reads what stands in brackets: `"name"`, `name="c",port=80`, `="x"`, `0`.
fn parse_bracket(inside: &str) -> Option<Segment> {
    if let Some(value) = inside.strip_prefix('=') {
        return Some(Segment::Value(literal(value)));
    }
    if inside.starts_with('"') {
        let name = serde_json::from_str::<String>(inside).ok()?;
        return Some(Segment::Field(name));
    }
    if let Ok(index) = inside.parse() {
        return Some(Segment::Index(index));
    }
    let mut keys = Map::new();
    for pair in split_pairs(inside) {
        let (name, value) = pair.split_once('=')?;
        if name.is_empty() {
            return None;
        }
        keys.insert(name.into(), literal(value).value);
    }
    (!keys.is_empty()).then(|| Segment::Key(Literal::new(Value::Object(keys))))
}

/// A value as the server prints it: JSON, but with Go's escapes; else the text itself.
fn literal(text: &str) -> Literal {
    Literal::parse(text)
        .unwrap_or_else(|| Literal::new(Value::String(text.trim_matches('"').to_owned())))
}

/// Splits at commas outside quotes.
fn split_pairs(text: &str) -> Vec<&str> {
    let (mut quoted, mut escaped, mut start) = (false, false, 0);
    let mut pairs = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                pairs.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pairs.push(&text[start..]);
    pairs
}

/// Removes the value at `path` of a manifest. False when there was none. A map that becomes empty
/// by it stays: whether an empty map means something is the kind's affair.
pub fn remove_path(manifest: &mut Value, path: &FieldPath) -> bool {
    let Some((last, parents)) = path.0.split_last() else { return false };
    let mut at = manifest;
    for segment in parents {
        let next = match segment {
            Segment::Field(name) => at.as_object_mut().and_then(|map| map.get_mut(name)),
            _ => segment
                .position(at, true)
                .and_then(|index| at.as_array_mut().and_then(|items| items.get_mut(index))),
        };
        let Some(next) = next else { return false };
        at = next;
    }
    remove_step(at, last, true)
}

/// Removes what one step leads to.
pub(super) fn remove_step(value: &mut Value, segment: &Segment, lenient: bool) -> bool {
    match segment {
        Segment::Field(name) => value.as_object_mut().is_some_and(|map| map.remove(name).is_some()),
        _ => match (segment.position(value, lenient), value.as_array_mut()) {
            (Some(index), Some(items)) => {
                items.remove(index);
                true
            }
            _ => false,
        },
    }
}

/// The value that one step leads to, to change it.
pub(super) fn step_mut<'v>(value: &'v mut Value, segment: &Segment) -> Option<&'v mut Value> {
    match segment {
        Segment::Field(name) => value.as_object_mut()?.get_mut(name),
        _ => {
            let index = segment.position(value, false)?;
            value.as_array_mut()?.get_mut(index)
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}

impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        FieldPath::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no field path")))
    }
}
