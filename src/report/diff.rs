//! The difference of a target as people read it: unified text as `kubectl diff` shows it, or
//! field by field.

use std::fmt::Write as _;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::elide::{elided, spaced};
use crate::diff::{Change, DiffLine, LineKind, ObjectDiff, Op};
use crate::manifest::{Gvk, ObjectId, to_yaml};
use crate::plan::{Action, CONFIG_HASH, ObjectPlan, TargetPlan};
use crate::ui::{Look, Role};

/// How a difference is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// How many lines around a change.
    pub context: usize,
    /// Field by field.
    pub structural: bool,
    /// What the cluster is compared with: `manifest`.
    pub wanted: &'a str,
}

/// What would change in a target, without its name, so that targets with the same stand together.
pub fn text(plan: &TargetPlan, view: View<'_>, look: Look) -> String {
    let mut text = String::new();
    for object in plan.objects.iter().filter(|o| !matches!(o.action, Action::Unchanged)) {
        text += &difference(&object.id, &object.diff, view, look);
        text += &note(object).map(|note| format!("# {}: {note}\n", object.id)).unwrap_or_default();
    }
    for condemned in &plan.prune.sweep.delete {
        text += &difference(&condemned.id, &condemned.diff, view, look);
    }
    text
}

/// The objects that differ, each with its version and kind: those that an apply writes, and those
/// that it deletes.
pub fn differences(plan: &TargetPlan) -> impl Iterator<Item = (&ObjectId, &Gvk, &ObjectDiff)> {
    let written = plan.objects.iter().filter(|o| !matches!(o.action, Action::Unchanged));
    let written = written.map(|o| (&o.id, &o.gvk, &o.diff));
    let deleted = plan.prune.sweep.delete.iter().map(|c| (&c.id, &c.resource.gvk, &c.diff));
    written.chain(deleted).filter(|(_, _, diff)| !diff.is_empty())
}

/// The difference of one object; empty when there is none.
fn difference(id: &ObjectId, diff: &ObjectDiff, view: View<'_>, look: Look) -> String {
    let mut text = String::new();
    if diff.is_empty() {
        return text;
    }
    if view.structural {
        fields(id, diff, view, look, &mut text);
    } else {
        unified(id, diff, view, look, &mut text);
    }
    text
}

/// What an apply would do to an object none of whose values change.
pub fn note(object: &ObjectPlan) -> Option<String> {
    if !object.diff.is_empty() {
        return None;
    }
    let ownership = &object.ownership;
    let mut notes = Vec::new();
    if !ownership.adopt.is_empty() {
        let from: Vec<String> = ownership.adopt.iter().map(ToString::to_string).collect();
        notes.push(format!("adopts from {}", from.join(", ")));
    } else if !ownership.take.is_empty() {
        notes.push(format!("takes over from {}", ownership.take.join(", ")));
    }
    if !ownership.relinquish.is_empty() {
        let paths: Vec<String> = ownership.relinquish.iter().map(ToString::to_string).collect();
        notes.push(format!("gives up {}", paths.join(", ")));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// `3 objects differ in 2 of 3 targets`, over the targets that could be compared.
pub fn summary<'a>(plans: impl IntoIterator<Item = &'a TargetPlan>, failed: usize) -> String {
    let mut objects = std::collections::BTreeSet::new();
    let (mut differing, mut all) = (0, 0);
    for plan in plans {
        let owned = plan.objects.iter().filter(|o| note(o).is_some()).map(|o| &o.id);
        let changed: Vec<&ObjectId> = differences(plan).map(|(id, _, _)| id).chain(owned).collect();
        all += 1;
        differing += usize::from(!changed.is_empty());
        objects.extend(changed);
    }
    let compared = super::plan::plural(all, "target");
    let text = match (objects.len(), differing) {
        _ if all == 0 => String::new(),
        (0, _) => format!("no differences in {compared}"),
        (1, _) if all == 1 => "1 object differs".to_owned(),
        (n, _) if all == 1 => format!("{n} objects differ"),
        (1, targets) => format!("1 object differs in {targets} of {compared}"),
        (n, targets) => format!("{n} objects differ in {targets} of {compared}"),
    };
    let failed = match failed {
        0 => String::new(),
        n => format!("{} not compared", super::plan::plural(n, "target")),
    };
    [text, failed].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The two texts of an object for a program that compares files, without the hash that is another
/// one in each target.
pub fn sides(diff: &ObjectDiff) -> (String, String) {
    let (before, after) = diff.sides();
    let masked = |text: &str, side: &str| {
        text.split_inclusive('\n').map(|line| without_hash(line, side)).collect::<String>()
    };
    (masked(&before, "before"), masked(&after, "after"))
}

/// The line with a word in place of the hash of the configuration: it says nothing, and is keyed
/// with each target's own key.
fn without_hash(line: &str, side: &str) -> String {
    let key = format!("{CONFIG_HASH}: ");
    match line.split_once(&key) {
        Some((start, rest)) if start.chars().all(|c| c.is_whitespace() || "+-".contains(c)) => {
            let end = if rest.ends_with('\n') { "\n" } else { "" };
            format!("{start}{key}(keyed hash, {side}){end}")
        }
        _ => line.to_owned(),
    }
}

fn unified(id: &ObjectId, diff: &ObjectDiff, view: View<'_>, look: Look, text: &mut String) {
    let wanted = view.wanted;
    let width = wanted.len().max(8);
    let mut lines = diff.unified(
        &format!("{:<width$}  {id}", "live"),
        &format!("{wanted:<width$}  {id}"),
        view.context,
    );
    for line in &mut lines {
        match line.kind {
            LineKind::Add => line.text = without_hash(&line.text, "after"),
            LineKind::Remove => line.text = without_hash(&line.text, "before"),
            LineKind::Context => line.text = without_hash(&line.text, "unchanged"),
            LineKind::Header | LineKind::Hunk => {}
        }
    }
    show_whitespace(&mut lines);
    shorten(&mut lines, look);
    for line in &lines {
        paint(line, look, text);
    }
}

/// In a run of removed lines and the added ones after it, those that stand at the same place.
fn pairs(lines: &[DiffLine]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let kind = |kind: LineKind, from: usize| {
            lines[from..].iter().take_while(|line| line.kind == kind).count()
        };
        let removed = kind(LineKind::Remove, at);
        let added = kind(LineKind::Add, at + removed);
        pairs.extend((0..removed.min(added)).map(|n| (at + n, at + removed + n)));
        at += (removed + added).max(1);
    }
    pairs
}

/// Where two lines differ in white space alone, it is made visible: nobody sees a blank at the end
/// of a line.
fn show_whitespace(lines: &mut [DiffLine]) {
    for (old, new) in pairs(lines) {
        if bare(&lines[old].text[1..]) == bare(&lines[new].text[1..]) {
            for at in [old, new] {
                let (mark, rest) = lines[at].text.split_at(1);
                lines[at].text = format!("{mark}{}", spaced(rest));
            }
        }
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// On a terminal, what two long lines have in common is left out, so that what differs is seen.
fn shorten(lines: &mut [DiffLine], look: Look) {
    let Some(width) = look.width else { return };
    let most = width.max(40);
    let is_long = |line: &DiffLine| line.text.chars().count() > most;
    for (old, new) in pairs(lines) {
        if is_long(&lines[old]) || is_long(&lines[new]) {
            let (before, after) = elided(&lines[old].text[1..], &lines[new].text[1..], most - 1);
            lines[old].text = format!("-{before}");
            lines[new].text = format!("+{after}");
        }
    }
    // What has no other side, and what only stands around: its beginning is enough to know it by.
    let far = most.saturating_mul(3);
    for line in lines.iter_mut().filter(|line| line.text.chars().count() > far) {
        let kept: String = line.text.chars().take(far).collect();
        let rest = line.text.chars().count() - far;
        line.text = format!("{kept}… ({rest} more characters)");
    }
}

fn paint(line: &DiffLine, look: Look, text: &mut String) {
    let role = match line.kind {
        LineKind::Header => Role::Bold,
        LineKind::Hunk => Role::Dim,
        LineKind::Context => return text.push_str(&format!("{}\n", line.text)),
        LineKind::Add => Role::Add,
        LineKind::Remove => Role::Remove,
    };
    let _ = writeln!(text, "{}", look.paint(role, &line.text));
}

/// Field by field: one line for a value, more where it needs them.
fn fields(id: &ObjectId, diff: &ObjectDiff, view: View<'_>, look: Look, text: &mut String) {
    let (mark, role, note) = match diff.changes.as_slice() {
        [Change { path, op: Op::Add, .. }] if path.is_empty() => ("+", Role::Add, "  (new)"),
        [Change { path, op: Op::Remove, .. }] if path.is_empty() => ("-", Role::Remove, "  (goes)"),
        _ => ("~", Role::Warn, ""),
    };
    let head = look.paint(role, &format!("{mark} {id}"));
    let _ = writeln!(text, "{head}{note}");
    for change in &diff.changes {
        field(change, view, look, text);
    }
}

/// The fields that differ between two objects, each with both values.
pub fn field_lines(diff: &ObjectDiff, look: Look) -> String {
    let view = View { context: 3, structural: true, wanted: "" };
    let mut text = String::new();
    diff.changes.iter().for_each(|change| field(change, view, look, &mut text));
    text
}

/// Whether a path is that of the hash of the configuration.
pub(super) fn is_hash(path: &str) -> bool {
    path.trim_end_matches("\"]").ends_with(CONFIG_HASH)
}

fn field(change: &Change, view: View<'_>, look: Look, text: &mut String) {
    let path = change.path.to_string();
    let mut line = |role: Role, line: &str| {
        let line = format!("    {}", look.paint(role, line));
        let _ = writeln!(text, "{}", line.trim_end());
    };
    if is_hash(&path) {
        return line(Role::Dim, &format!("{path}  (keyed hash of the configuration)"));
    }
    match (change.op, &change.before, &change.after) {
        (Op::Move, Some(before), Some(after)) => {
            line(Role::Warn, &format!("{path}  order: {} → {}", list(before), list(after)));
        }
        (_, Some(Value::String(before)), Some(Value::String(after)))
            if before.contains('\n') || after.contains('\n') =>
        {
            line(Role::Bold, &path);
            for DiffLine { kind, text } in inner(before, after, view.context) {
                match kind {
                    LineKind::Add => line(Role::Add, &text),
                    LineKind::Remove => line(Role::Remove, &text),
                    LineKind::Header | LineKind::Hunk | LineKind::Context => line(Role::Dim, &text),
                }
            }
        }
        (_, Some(before), Some(after)) => {
            let (mut before, mut after) = (scalar(before), scalar(after));
            if bare(&before) == bare(&after) {
                (before, after) = (spaced(&before), spaced(&after));
            }
            let room = look.width.map_or(usize::MAX, |width| width.max(60));
            if path.chars().count() + before.chars().count() + after.chars().count() + 9 <= room {
                return line(Role::Warn, &format!("{path}  {before} → {after}"));
            }
            let most = room.saturating_sub(8).min(usize::MAX / 2);
            let (before, after) = elided(&before, &after, most);
            line(Role::Bold, &path);
            line(Role::Remove, &format!("- {before}"));
            line(Role::Add, &format!("+ {after}"));
        }
        (_, None, Some(value)) => whole(&path, "+", Role::Add, value, &mut line),
        (_, Some(value), None) => whole(&path, "-", Role::Remove, value, &mut line),
        (_, None, None) => {}
    }
}

/// The longest map that stands on one line (characters).
const SMALL: usize = 80;

/// A value that appears, or goes: beside its path if it is small, else in lines below it.
fn whole(path: &str, mark: &str, role: Role, value: &Value, line: &mut impl FnMut(Role, &str)) {
    if let Some(small) = small(value).filter(|_| !path.is_empty()) {
        return line(role, &format!("{mark} {path}  {small}"));
    }
    if !path.is_empty() {
        line(role, &format!("{mark} {path}"));
    }
    let yaml = match value {
        Value::String(text) => text.clone(),
        value => to_yaml(value),
    };
    for text in yaml.trim_end().lines() {
        line(role, &format!("{mark}   {}", without_hash(text, "new")));
    }
}

/// A value on one line, if it is one of one line: a word, or a few of them.
fn small(value: &Value) -> Option<String> {
    let parts: Option<Vec<String>> = match value {
        Value::String(text) if text.contains('\n') => return None,
        Value::Object(map) if !map.is_empty() => {
            map.iter().map(|(key, value)| Some(format!("{key}: {}", small(value)?))).collect()
        }
        Value::Array(items) if !items.is_empty() => items.iter().map(small).collect(),
        value => return Some(scalar(value)),
    };
    let text = parts?.join(", ");
    let text = if value.is_array() { format!("[{text}]") } else { format!("{{{text}}}") };
    (text.chars().count() <= SMALL).then_some(text)
}

/// The lines of a text that differ, with those around them.
fn inner(before: &str, after: &str, context: usize) -> Vec<DiffLine> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (nth, hunk) in diff.unified_diff().context_radius(context).iter_hunks().enumerate() {
        if nth > 0 {
            lines.push(DiffLine { kind: LineKind::Hunk, text: "  …".to_owned() });
        }
        for change in hunk.iter_changes() {
            let (kind, mark) = match change.tag() {
                ChangeTag::Equal => (LineKind::Context, ' '),
                ChangeTag::Insert => (LineKind::Add, '+'),
                ChangeTag::Delete => (LineKind::Remove, '-'),
            };
            let text = format!("{mark} {}", change.value().trim_end_matches(['\n', '\r']));
            lines.push(DiffLine { kind, text });
        }
    }
    show_whitespace(&mut lines);
    lines
}

/// `a, b` of a list of names.
fn list(value: &Value) -> String {
    let items = value.as_array().into_iter().flatten();
    items.map(scalar).collect::<Vec<_>>().join(", ")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether a text cannot be taken for another value, or for nothing.
fn is_plain(text: &str) -> bool {
    let ambiguous = text.is_empty()
        || text.trim() != text
        || text.contains(char::is_control)
        || matches!(text, "true" | "false" | "null")
        || text.parse::<f64>().is_ok();
    !ambiguous
}

#[cfg(test)]
mod tests;
