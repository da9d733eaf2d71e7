//! YAML and JSON as kubectl reads them, with the place of every node.
//!
//! kubectl reads with go-yaml v2: YAML 1.1 booleans (`yes`, `on`, `n`), octals by a leading zero,
//! underscores in numbers. It splits a text at its `---` lines before it parses. Both are kept
//! here, since a manifest must mean the same in both tools; the table of cases in `testdata`
//! holds kubectl's own answers. Three things are stricter, because what they guard against is
//! never meant: a key set twice is an error, merge keys follow YAML's specification (what the map
//! says itself wins, wherever it stands), and nesting and aliases are bounded.

mod build;
mod scalar;
mod spans;

#[cfg(test)]
pub(in crate::manifest) mod tests;

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, Exit, Result};

use build::Fault;
use spans::{Pos, Source, locate};
pub use spans::{Spans, pointer};

/// One document of a text. Empty ones are dropped.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it says.
    pub value: Value,
    /// Where each node stands.
    pub spans: Spans,
    /// The line of the document's first node, from 1.
    pub line: usize,
    /// The document's number in the text, from 1; empty ones are not counted.
    pub index: usize,
}

/// Reads the documents of a manifest. `source` is the file's name, or the tool whose output it
/// is, for errors; those end with exit 4 and carry file, line and column.
pub fn load(text: &str, source: &str) -> Result<Vec<Document>> {
    load_with(text, source, Exit::Manifest)
}

/// As [`load`], for a file whose faults end with another exit code.
pub fn load_with(text: &str, source: &str, exit: Exit) -> Result<Vec<Document>> {
    let source = Arc::new(Source { name: source.into(), text: text.into() });
    let error = |fault: Fault, shown: bool| {
        let error = Error::new(exit, fault.message).at(locate(&source, fault.pos, shown));
        match fault.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    };
    let mut documents = Vec::new();
    let parts = split(&source.text).map_err(|fault| error(fault, true))?;
    let many = parts.iter().filter(|p| !p.text.trim().is_empty()).count() > 1;
    for part in parts {
        let shown = !holds_secret(part.text);
        let read = build::documents(part.text).map_err(|mut fault| {
            if many {
                fault.message = format!("document {}: {}", documents.len() + 1, fault.message);
            }
            error(fault.moved(part.line), shown)
        });
        for (value, root) in read? {
            if value.is_null() {
                continue;
            }
            let root = root.moved(part.line);
            documents.push(Document {
                value,
                line: root.value.line as usize,
                index: documents.len() + 1,
                spans: Spans { source: Arc::clone(&source), root: Arc::new(root), shown },
            });
        }
    }
    Ok(documents)
}

/// A piece of the text and the number of lines before it.
struct Part<'a> {
    text: &'a str,
    line: u32,
}

/// Splits at lines that start with `---`, as kubectl does before it parses: a `---` at the
/// start of a line ends the document even inside a block scalar, and nothing but a comment may
/// follow on that line. Several JSON values one after the other are documents too.
fn split(text: &str) -> Result<Vec<Part<'_>>, Fault> {
    let mut parts = Vec::new();
    let (mut from, mut from_line, mut at) = (0, 0, 0);
    for (number, line) in (0u32..).zip(text.split_inclusive('\n')) {
        let end = at + line.len();
        let bare = line.strip_prefix('\u{feff}').unwrap_or(line);
        if let Some(rest) = bare.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(Fault {
                    message: "a line that starts with `---` separates documents, and nothing may \
                              follow on it"
                        .into(),
                    pos: Pos { line: number + 1, column: 1 },
                    hint: None,
                });
            }
            push(&mut parts, &text[from..at], from_line);
            (from, from_line) = (end, number + 1);
        }
        at = end;
    }
    push(&mut parts, &text[from..], from_line);
    Ok(parts)
}

/// Adds a piece, or each value of a piece that is a run of JSON values.
fn push<'a>(parts: &mut Vec<Part<'a>>, piece: &'a str, line: u32) {
    let piece = piece.strip_prefix('\u{feff}').unwrap_or(piece);
    let ends = json_ends(piece);
    let mut from = 0;
    for end in ends {
        let before = piece[..from].bytes().filter(|&b| b == b'\n').count();
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        parts.push(Part { text: &piece[from..end], line: line.saturating_add(before) });
        from = end;
    }
    if from == 0 {
        parts.push(Part { text: piece, line });
    }
}

/// Where each JSON value of the piece ends, if it is two or more and nothing else.
fn json_ends(piece: &str) -> Vec<usize> {
    if !piece.trim_start().starts_with('{') {
        return Vec::new();
    }
    let mut values = serde_json::Deserializer::from_str(piece).into_iter::<serde::de::IgnoredAny>();
    let mut ends = Vec::new();
    while let Some(value) = values.next() {
        if value.is_err() {
            return Vec::new();
        }
        ends.push(values.byte_offset());
    }
    if ends.len() > 1 { ends } else { Vec::new() }
}

/// Whether the text looks like one with a Secret in it; then its lines are never shown. Asked of
/// texts that may not parse, so it errs on the side of yes.
fn holds_secret(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("kind") {
        rest = after;
        let value = after.trim_start_matches(['"', '\'', ':', ' ', '\t', '\r', '\n']);
        if let Some(tail) = value.strip_prefix("Secret")
            && (tail.starts_with("List") || !tail.starts_with(|c: char| c.is_alphanumeric()))
        {
            return true;
        }
    }
    false
}

impl Fault {
    /// The same fault in a text that has `lines` lines more before it.
    fn moved(mut self, lines: u32) -> Self {
        self.pos.line = self.pos.line.saturating_add(lines);
        self
    }
}

impl spans::Node {
    /// The same places in a text that has `lines` lines more before it.
    fn moved(mut self, lines: u32) -> Self {
        if lines > 0 {
            self.shift(lines);
        }
        self
    }

    fn shift(&mut self, lines: u32) {
        self.value.line = self.value.line.saturating_add(lines);
        if let Some(key) = &mut self.key {
            key.line = key.line.saturating_add(lines);
        }
        match &mut self.children {
            spans::Children::None => {}
            spans::Children::List(items) => items.iter_mut().for_each(|n| n.shift(lines)),
            spans::Children::Map(items) => items.iter_mut().for_each(|(_, n)| n.shift(lines)),
        }
    }
}
