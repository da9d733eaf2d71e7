//! Two objects as unified text, as `kubectl diff` shows them.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::manifest::{ObjectId, to_yaml};

/// After this long the differ stops looking for a shorter diff. What it gives is right either way.
const TIMEOUT: Duration = Duration::from_millis(500);

/// What the first two lines say.
#[derive(Clone, Copy, Debug)]
pub struct DiffHeader<'a> {
    /// The cluster; empty where there is only one side to speak of.
    pub cluster: &'a str,
    /// `apiVersion`.
    pub api_version: &'a str,
    /// Which object.
    pub id: &'a ObjectId,
    /// What the left side is, such as `live`.
    pub before: &'a str,
    /// What the right side is, such as `desired`.
    pub after: &'a str,
}

impl<'a> DiffHeader<'a> {
    /// Live in a cluster against what an apply makes of it.
    pub fn live(cluster: &'a str, api_version: &'a str, id: &'a ObjectId) -> Self {
        DiffHeader { cluster, api_version, id, before: "live", after: "desired" }
    }
}

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

/// A line of a diff. `to_string` gives it with its mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// What it is.
    pub kind: LineKind,
    /// The line without mark and without line feed.
    pub text: String,
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.kind {
            LineKind::Header | LineKind::Hunk => "",
            LineKind::Context => " ",
            LineKind::Add => "+",
            LineKind::Remove => "-",
        };
        write!(f, "{mark}{}", self.text)
    }
}

/// The unified diff of two objects; an absent side is empty.
pub(super) fn unified(
    before: Option<&Value>,
    after: Option<&Value>,
    header: &DiffHeader<'_>,
    context: usize,
) -> Vec<DiffLine> {
    let (old, new) = (before.map(to_yaml), after.map(to_yaml));
    let width = header.before.len().max(header.after.len());
    let head = |mark: &str, side: &str, there: bool| {
        let cluster =
            if header.cluster.is_empty() { String::new() } else { format!("{}  ", header.cluster) };
        let absent = if there { "" } else { "  (does not exist)" };
        let text =
            format!("{mark} {side:width$}  {cluster}{} {}{absent}", header.api_version, header.id);
        DiffLine { kind: LineKind::Header, text }
    };
    let mut lines =
        vec![head("---", header.before, old.is_some()), head("+++", header.after, new.is_some())];
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(old.as_str(), new.as_str());
    for hunk in diff.unified_diff().context_radius(context).iter_hunks() {
        lines.push(DiffLine { kind: LineKind::Hunk, text: hunk.header().to_string() });
        for change in hunk.iter_changes() {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Context,
                ChangeTag::Insert => LineKind::Add,
                ChangeTag::Delete => LineKind::Remove,
            };
            let text = change.value().trim_end_matches(['\n', '\r']).to_owned();
            lines.push(DiffLine { kind, text });
        }
    }
    lines
}
