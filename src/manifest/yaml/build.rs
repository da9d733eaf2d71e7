//! Parser events → a value and the places of its nodes.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Map, Value};

use super::scalar::{self, Kind};
use super::spans::{Children, Node, Pos};

/// How deep a document may nest. The answers of API servers, our releases and every other JSON
/// are read with serde_json's limit of 128, and a LIST wraps an object in two more levels, its
/// managed fields in four: what nests deeper could be sent but never read again. (kubectl's own
/// limit is 10,000.)
pub(super) const DEPTH_LIMIT: usize = 120;

/// How much anchors and aliases of a text may add to it, in bytes of memory, roughly. A small
/// text can otherwise expand to any size ("billion laughs").
const EXPANSION_LIMIT: usize = 16 << 20;

/// What a node costs besides its text.
const NODE_COST: usize = 32;

/// What is wrong, where (line and column from 1), and what to do.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) pos: Pos,
    pub(super) hint: Option<&'static str>,
}

fn fault<T>(message: impl Into<String>, span: &Span) -> Result<T, Fault> {
    Err(Fault { message: message.into(), pos: start(span), hint: None })
}

fn start(span: &Span) -> Pos {
    pos(span.start.line(), span.start.col())
}

fn pos(line: usize, col: usize) -> Pos {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Pos { line: narrow(line.max(1)), column: narrow(col.saturating_add(1)) }
}

/// Reads the documents of a text that has no `---` lines: one, or none.
pub(super) fn documents(text: &str) -> Result<Vec<(Value, Node)>, Fault> {
    let options = granit_parser::options! {
        disallow_directives: true,
        block_scalar_eof_without_line_feed: false,
        emit_comments: false,
        flow_nesting_limit: DEPTH_LIMIT + 1,
        block_nesting_limit: DEPTH_LIMIT + 1,
    };
    let mut builder = Builder {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        depth: 0,
        expansion: 0,
    };
    let mut found = Vec::new();
    loop {
        let (event, span) = builder.next()?;
        match event {
            Event::StreamEnd => return Ok(found),
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => {
                let built = builder.node(event, &span)?;
                found.push((built.value, built.node));
            }
        }
    }
}

struct Built {
    value: Value,
    node: Node,
    /// The levels of the value: 1 for a scalar.
    height: usize,
    /// Whether this is a plain `<<`.
    is_merge: bool,
}

struct Anchor {
    value: Value,
    height: usize,
    cost: usize,
    is_merge: bool,
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// None while the anchor's own node is being read.
    anchors: HashMap<usize, Option<Anchor>>,
    depth: usize,
    expansion: usize,
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.parser.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(e)) => Err(Fault {
                message: match e.kind() {
                    ErrorKind::RecursionLimitExceeded => deep_message(),
                    _ => e.info(),
                },
                pos: pos(e.marker().line(), e.marker().col()),
                hint: None,
            }),
            None => {
                Err(Fault { message: "the text ends too early".into(), pos: pos(1, 0), hint: None })
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<Built, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return too_deep(span);
        }
        let built = match event {
            Event::Alias(id) => self.alias(id, span)?,
            Event::Scalar(text, style, anchor, tag) => {
                let built = scalar_node(&text, style, tag.as_deref(), span)?;
                self.remember(anchor, &built, span)?;
                built
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(anchor);
                let built = self.sequence(span)?;
                self.remember(anchor, &built, span)?;
                built
            }
            Event::MappingStart(_, anchor, _) => {
                self.open(anchor);
                let built = self.mapping(span)?;
                self.remember(anchor, &built, span)?;
                built
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return fault("a value is missing", span),
            // Comments, anchor metadata: not asked for.
            _ => return fault("an unexpected element", span),
        };
        self.depth -= 1;
        Ok(built)
    }

    fn open(&mut self, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, None);
        }
    }

    fn remember(&mut self, anchor: usize, built: &Built, span: &Span) -> Result<(), Fault> {
        if anchor == 0 {
            return Ok(());
        }
        let cost = cost(&built.value);
        self.spend(cost, span)?;
        let kept = Anchor {
            value: built.value.clone(),
            height: built.height,
            cost,
            is_merge: built.is_merge,
        };
        self.anchors.insert(anchor, Some(kept));
        Ok(())
    }

    fn alias(&mut self, id: usize, span: &Span) -> Result<Built, Fault> {
        let (cost, height) = match self.anchors.get(&id) {
            Some(Some(anchor)) => (anchor.cost, anchor.height),
            Some(None) => return fault("an anchor contains itself", span),
            None => return fault("an alias of an anchor that does not exist", span),
        };
        if self.depth + height - 1 > DEPTH_LIMIT {
            return too_deep(span);
        }
        self.spend(cost, span)?;
        match self.anchors.get(&id) {
            Some(Some(anchor)) => Ok(Built {
                value: anchor.value.clone(),
                node: leaf(span),
                height,
                is_merge: anchor.is_merge,
            }),
            _ => fault("an alias of an anchor that does not exist", span),
        }
    }

    fn spend(&mut self, cost: usize, span: &Span) -> Result<(), Fault> {
        self.expansion = self.expansion.saturating_add(cost);
        if self.expansion > EXPANSION_LIMIT {
            return fault(
                format!("anchors and aliases expand to more than {} MiB", EXPANSION_LIMIT >> 20),
                span,
            );
        }
        Ok(())
    }

    fn sequence(&mut self, span: &Span) -> Result<Built, Fault> {
        let (mut items, mut nodes, mut height) = (Vec::new(), Vec::new(), 0);
        loop {
            let (event, at) = self.next()?;
            if event == Event::SequenceEnd {
                break;
            }
            let item = self.node(event, &at)?;
            height = height.max(item.height);
            items.push(item.value);
            nodes.push(item.node);
        }
        Ok(Built {
            value: Value::Array(items),
            node: Node { key: None, value: start(span), children: Children::List(nodes) },
            height: height + 1,
            is_merge: false,
        })
    }

    fn mapping(&mut self, span: &Span) -> Result<Built, Fault> {
        let (mut map, mut nodes, mut height) = (Map::new(), Vec::new(), 0);
        let mut merges = Vec::new();
        loop {
            let (event, key_span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, &key_span)?;
            let (event, value_span) = self.next()?;
            let mut item = self.node(event, &value_span)?;
            if key.is_merge {
                height = height.max(item.height.saturating_sub(1));
                merges.push((item.value, value_span));
                continue;
            }
            height = height.max(item.height);
            let name = key_text(key.value, &key_span)?;
            if map.contains_key(&name) {
                return fault(format!("the key `{name}` is set twice"), &key_span);
            }
            item.node.key = Some(start(&key_span));
            nodes.push((name.clone(), item.node));
            map.insert(name, item.value);
        }
        // What the map says itself wins, then the earlier of the merged maps.
        for (merged, at) in merges {
            for (key, value) in merged_entries(merged, &at)? {
                if !map.contains_key(&key) {
                    nodes.push((key.clone(), leaf(&at)));
                    map.insert(key, value);
                }
            }
        }
        Ok(Built {
            value: Value::Object(map),
            node: Node { key: None, value: start(span), children: Children::Map(nodes) },
            height: height + 1,
            is_merge: false,
        })
    }
}

fn too_deep<T>(span: &Span) -> Result<T, Fault> {
    fault(deep_message(), span)
}

fn deep_message() -> String {
    format!("the document nests deeper than {DEPTH_LIMIT} levels")
}

fn leaf(span: &Span) -> Node {
    Node { key: None, value: start(span), children: Children::None }
}

fn scalar_node(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<Built, Fault> {
    let core = tag.and_then(|t| t.suffix_in_namespace("tag:yaml.org,2002:"));
    let read = match (core, tag) {
        (Some(core), _) => scalar::tagged(&core, text),
        // A tag of someone else's (`!Ref`, `!`) makes it a string, as it does for kubectl.
        (None, Some(_)) => Ok((Kind::Str, text.into())),
        (None, None) if style == ScalarStyle::Plain => scalar::plain(text).map_err(str::to_owned),
        (None, None) => Ok((Kind::Str, text.into())),
    };
    match read {
        Ok((kind, value)) => {
            Ok(Built { value, node: leaf(span), height: 1, is_merge: kind == Kind::Merge })
        }
        Err(message) => fault(message, span),
    }
}

fn key_text(key: Value, span: &Span) -> Result<String, Fault> {
    let what = match key {
        Value::String(s) => return Ok(s),
        Value::Bool(b) => return Ok(b.to_string()),
        Value::Number(n) => return Ok(n.to_string()),
        Value::Null => "null",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    };
    Err(Fault {
        message: format!("a key must be a string, and this one is {what}"),
        pos: start(span),
        hint: (what == "a map").then_some("a value that starts with `{{` has to be quoted"),
    })
}

fn merged_entries(merged: Value, span: &Span) -> Result<Vec<(String, Value)>, Fault> {
    let maps = match merged {
        Value::Array(items) => items,
        one => vec![one],
    };
    let mut entries = Vec::new();
    for map in maps {
        match map {
            Value::Object(map) => entries.extend(map),
            _ => return fault("`<<` takes a map or a list of maps", span),
        }
    }
    Ok(entries)
}

/// Roughly the memory that a copy of the value takes.
fn cost(value: &Value) -> usize {
    NODE_COST
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(s) => s.len(),
            Value::Array(items) => items.iter().map(cost).sum(),
            Value::Object(map) => map.iter().map(|(k, v)| NODE_COST + k.len() + cost(v)).sum(),
        }
}
