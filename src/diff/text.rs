//! Two objects as unified text, as `kubectl diff` shows them.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::manifest::to_yaml;

/// After this long the differ stops looking for a shorter diff. What it gives is right either way.
const TIMEOUT: Duration = Duration::from_millis(500);

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// Which object, and which side is which.
    Header,
    /// Where in the two texts.
    Hunk,
    /// A line of both.
    Context,
    /// A line of the new text only.
    Add,
    /// A line of the old text only.
    Remove,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// What it is.
    pub kind: LineKind,
    /// The line with its mark (`+`, `-`, space), without line feed.
    pub text: String,
}

/// The unified diff of two objects with these names for its sides; an absent side is empty.
pub(super) fn unified(
    (before_name, before): (&str, Option<&Value>),
    (after_name, after): (&str, Option<&Value>),
    context: usize,
) -> Vec<DiffLine> {
    let head = |mark: &str, name: &str, side: Option<&Value>| {
        let absent = if side.is_some() { "" } else { "  (does not exist)" };
        DiffLine { kind: LineKind::Header, text: format!("{mark} {name}{absent}") }
    };
    let mut lines = vec![head("---", before_name, before), head("+++", after_name, after)];
    let yaml = |side: Option<&Value>| side.map(to_yaml).unwrap_or_default();
    let (old, new) = (yaml(before), yaml(after));
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(old.as_str(), new.as_str());
    // Of a new object, and of one that goes, there is no "where".
    let both = before.is_some() && after.is_some();
    let new_lines: Vec<&str> = new.lines().collect();
    for hunk in diff.unified_diff().context_radius(context).iter_hunks() {
        let mut text = hunk.header().to_string();
        let start = hunk.iter_changes().find_map(|change| change.new_index());
        if let Some(within) = start.filter(|_| both).and_then(|at| within(&new_lines, at)) {
            text = format!("{} {within}", text.trim_end());
        }
        lines.push(DiffLine { kind: LineKind::Hunk, text });
        for change in hunk.iter_changes() {
            let (kind, mark) = match change.tag() {
                ChangeTag::Equal => (LineKind::Context, ' '),
                ChangeTag::Insert => (LineKind::Add, '+'),
                ChangeTag::Delete => (LineKind::Remove, '-'),
            };
            let text = format!("{mark}{}", change.value().trim_end_matches(['\n', '\r']));
            lines.push(DiffLine { kind, text });
        }
    }
    lines
}

/// The keys above a line of YAML, as git shows the function that a hunk is in:
/// `spec.template.spec.containers`. None at the top.
fn within(lines: &[&str], at: usize) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut least = indent(lines.get(at)?);
    // An item of a list stands as far left as the key of the list.
    let mut is_item = lines.get(at)?.trim_start().starts_with("- ");
    let mut keys: Vec<&str> = Vec::new();
    for line in lines.get(..at)?.iter().rev() {
        let own = indent(line);
        let text = line.trim_start();
        let beside = own == least && (!is_item || text.starts_with('-'));
        if text.is_empty() || own > least || beside {
            continue;
        }
        least = own;
        is_item = text.starts_with("- ");
        let Some((key, rest)) = text.trim_start_matches("- ").split_once(':') else { continue };
        let is_key = !key.is_empty() && !key.contains([' ', '"', '\'', '{']);
        if is_key && (rest.is_empty() || rest.starts_with([' ', '|', '>'])) {
            // The first key of an item is beside what is looked for, not above it.
            if !is_item || rest.trim().is_empty() {
                keys.push(key);
            }
        }
        if least == 0 && !is_item {
            break;
        }
    }
    keys.reverse();
    (!keys.is_empty()).then(|| keys.join("."))
}
