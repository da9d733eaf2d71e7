//! What stands below a target: its objects, what they have made, warnings and last words; as a
//! document, and as text.

use std::fmt::Write as _;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::model::ObjectReference;
use super::plan::name;
use super::wrap::wrapped;
use crate::health::{Log, Node, Warning};
use crate::ui::{Look, Role};

/// An object, and what it has made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// `healthy`, `progressing`, `failed`, `paused` or `unknown`; `applied` where there is nothing
    /// to judge by.
    pub health: String,
    /// Why it is not healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of a workload the pods that are ready, of a pod the containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<i64>,
    /// How many of them are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<i64>,
    /// How often containers of a pod were started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<i64>,
    /// When it was created (RFC 3339), of what workloads make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The last warnings about it, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningReport>,
    /// The last lines of containers that fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<LogReport>,
    /// What it has made, the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<NodeReport>,
}

/// An event of type Warning.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarningReport {
    /// Such as `FailedScheduling`.
    pub reason: String,
    /// What happened.
    pub message: String,
    /// How often.
    pub count: i64,
    /// When it was last seen (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// The last lines that a container wrote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogReport {
    /// The container.
    pub container: String,
    /// Whether they are from before its last restart.
    pub previous: bool,
    /// The lines.
    pub lines: Vec<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl From<&Node> for NodeReport {
    fn from(node: &Node) -> Self {
        NodeReport {
            object: (&node.id).into(),
            health: node.verdict.word().to_lowercase(),
            reason: node.verdict.health.reason().map(str::to_owned),
            ready: node.ready.map(|(ready, _)| ready),
            wanted: node.ready.map(|(_, wanted)| wanted),
            restarts: node.restarts,
            created: node.created.map(|t| t.to_string()),
            warnings: node.warnings.iter().map(WarningReport::from).collect(),
            logs: node.logs.iter().map(LogReport::from).collect(),
            parts: node.parts.iter().map(NodeReport::from).collect(),
        }
    }
}

impl NodeReport {
    /// Whether it says more than that and why it is not healthy.
    pub(super) fn says_more(&self) -> bool {
        !(self.warnings.is_empty() && self.logs.is_empty() && self.parts.is_empty())
    }
}

impl From<&Warning> for WarningReport {
    fn from(warning: &Warning) -> Self {
        WarningReport {
            reason: warning.reason.clone(),
            message: warning.message.clone(),
            count: warning.count,
            last: warning.last.map(|t| t.to_string()),
        }
    }
}

impl From<&Log> for LogReport {
    fn from(log: &Log) -> Self {
        LogReport {
            container: log.container.clone(),
            previous: log.previous,
            lines: log.lines.clone().unwrap_or_default(),
            unread: log.lines.clone().err(),
        }
    }
}

/// How many parts of an object are shown one by one: the worst stand first.
const MOST_PARTS: usize = 10;

/// The same below an `apply` that failed, and how many lines of a log there.
const FEW_PARTS: usize = 1;
const FEW_WORDS: usize = 5;

/// How many lines an `apply` that failed shows of a target.
const FEW_LINES: usize = 15;

/// The whole tree of a target.
pub(super) fn whole(nodes: &[NodeReport], now: Timestamp, look: Look) -> String {
    let mut writer =
        Writer { now, look, parts: MOST_PARTS, words: usize::MAX, text: String::new() };
    nodes.iter().for_each(|node| writer.node(node, 0, &name(&node.object)));
    writer.text
}

/// What is wrong, in a few lines; `more` says where the rest is.
pub(super) fn short(nodes: &[NodeReport], more: &str, now: Timestamp, look: Look) -> String {
    let mut writer = Writer { now, look, parts: FEW_PARTS, words: FEW_WORDS, text: String::new() };
    for node in nodes.iter().filter(|node| !is_well(node)) {
        writer.node(node, 0, &name(&node.object));
    }
    let lines = writer.text.lines().count();
    if lines <= FEW_LINES {
        return writer.text;
    }
    let mut text: String = writer.text.split_inclusive('\n').take(FEW_LINES).collect();
    let rest = format!("  … {} more lines: {more}", lines - FEW_LINES);
    let _ = writeln!(text, "{}", look.paint(Role::Dim, &rest));
    text
}

fn is_well(node: &NodeReport) -> bool {
    matches!(node.health.as_str(), "healthy" | "applied")
}

/// Why a node is not healthy, without what its parts say themselves.
fn reason(node: &NodeReport) -> &str {
    let reason = node.reason.as_deref().unwrap_or_default();
    match node.parts.is_empty() {
        true => reason,
        // Its numbers say it.
        false if node.object.kind == "ReplicaSet" => "",
        false => reason.split_once(": pod ").map_or(reason, |(own, _)| own),
    }
}

struct Writer {
    now: Timestamp,
    look: Look,
    parts: usize,
    words: usize,
    text: String,
}

impl Writer {
    fn line(&mut self, indent: usize, head: &str, role: Option<Role>, rest: &str) {
        let head = role.map_or_else(|| head.to_owned(), |role| self.look.paint(role, head));
        let _ = writeln!(self.text, "{:indent$}{head}{rest}", "");
    }

    fn node(&mut self, node: &NodeReport, depth: usize, title: &str) {
        let (mark, role) = match node.health.as_str() {
            "healthy" | "applied" => ("✔", Role::Ok),
            "failed" => ("✖", Role::Fail),
            "progressing" => ("◌", Role::Warn),
            _ => ("!", Role::Warn),
        };
        let indent = 2 + 2 * depth;
        let mut facts = Vec::new();
        if let (Some(ready), Some(wanted)) = (node.ready, node.wanted) {
            facts.push(format!("{ready}/{wanted} ready"));
        }
        let reason = reason(node);
        if let Some(restarts) = node.restarts.filter(|n| *n > 0)
            && !reason.contains("restarts")
        {
            facts.push(format!("restarts {restarts}"));
        }
        if let Some(created) = node.created.as_ref().and_then(|t| t.parse().ok()) {
            facts.push(super::age::age(self.now, created));
        }
        let facts = match facts.as_slice() {
            [] => String::new(),
            facts => format!("  {}", facts.join(", ")),
        };
        let head = format!("{mark} {title}");
        let taken = indent + head.width() + facts.width() + ": ".len() + reason.width();
        let facts = self.look.paint(Role::Dim, &facts);
        if reason.is_empty() {
            self.line(indent, &head, Some(role), &facts);
        } else if self.look.width.is_none_or(|width| taken <= width) {
            self.line(indent, &head, Some(role), &format!("{facts}: {reason}"));
        } else {
            self.line(indent, &head, Some(role), &format!("{facts}:"));
            for line in wrapped(reason, self.look.width, indent + 4) {
                self.line(indent + 4, &line, None, "");
            }
        }
        for warning in &node.warnings {
            self.warning(warning, indent + 4);
        }
        for log in &node.logs {
            self.log(log, indent + 4);
        }
        let shown = node.parts.len().min(self.parts);
        let (first, rest) = node.parts.split_at(shown);
        for part in first {
            let title = format!("{} {}", part.object.kind, part.object.name);
            self.node(part, depth + 1, &title);
        }
        self.rest(rest, indent + 2);
    }

    /// `… 40 more: 38 healthy, 2 progressing`.
    fn rest(&mut self, parts: &[NodeReport], indent: usize) {
        if parts.is_empty() {
            return;
        }
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for part in parts {
            match counts.iter_mut().find(|(health, _)| *health == part.health) {
                Some((_, n)) => *n += 1,
                None => counts.push((&part.health, 1)),
            }
        }
        let counts: Vec<String> =
            counts.iter().map(|(health, n)| format!("{n} {health}")).collect();
        let text = format!("… {} more: {}", parts.len(), counts.join(", "));
        self.line(indent, &text, Some(Role::Dim), "");
    }

    fn warning(&mut self, warning: &WarningReport, indent: usize) {
        let mut facts = Vec::new();
        if warning.count > 1 {
            facts.push(format!("{} times", warning.count));
        }
        if let Some(last) = warning.last.as_ref().and_then(|t| t.parse().ok()) {
            facts.push(format!("{} ago", super::age::age(self.now, last)));
        }
        let facts = match facts.as_slice() {
            [] => String::new(),
            facts => format!(" ({})", facts.join(", ")),
        };
        let text = format!("{}{facts}: {}", warning.reason, warning.message);
        for (at, line) in wrapped(&text, self.look.width, indent + 2).iter().enumerate() {
            let by = if at == 0 { 0 } else { 2 };
            self.line(indent + by, line, Some(Role::Warn), "");
        }
    }

    fn log(&mut self, log: &LogReport, indent: usize) {
        let when = if log.previous { ", before its last restart" } else { "" };
        let head = format!("log of {}{when}:", log.container);
        match (&log.unread, log.lines.as_slice()) {
            (Some(why), _) => {
                for (at, line) in
                    wrapped(&format!("{head} not read: {why}"), self.look.width, indent + 2)
                        .iter()
                        .enumerate()
                {
                    let by = if at == 0 { 0 } else { 2 };
                    self.line(indent + by, line, Some(Role::Dim), "");
                }
            }
            (None, []) => self.line(indent, &format!("{head} empty"), Some(Role::Dim), ""),
            (None, lines) => {
                self.line(indent, &head, Some(Role::Dim), "");
                let from = lines.len().saturating_sub(self.words);
                for line in lines.iter().skip(from) {
                    let bar = self.look.paint(Role::Dim, "|");
                    let _ = writeln!(self.text, "{:indent$}{bar} {line}", "");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
