//! A plan for people: a table of the targets, what changes (targets with the same changes
//! together, so that 300 clusters read like one), and one line that sums up.

use std::fmt::Write as _;

use serde_json::Value;

use super::model::{ObjectReference, ObjectReport, PlanReport, TargetPlanReport};
use super::{Cell, Table};
use crate::ui::{Look, Role};

/// The kubectl name of an object: `deployment.apps/web`.
pub fn short(object: &ObjectReference) -> String {
    let kind = object.kind.to_lowercase();
    match object.group.as_str() {
        "" => format!("{kind}/{}", object.name),
        group => format!("{kind}.{group}/{}", object.name),
    }
}

/// The longest value that is shown whole.
const LONGEST_VALUE: usize = 80;

/// The plan as text.
pub fn text(report: &PlanReport, verbose: bool, look: Look) -> String {
    let mut text = table(report, look);
    for (targets, body) in grouped(report, verbose, look) {
        let _ = write!(text, "\n{}\n{body}", look.paint(Role::Bold, &targets.join(", ")));
    }
    let _ = write!(text, "\n{}\n", summary(report));
    text
}

/// The table: a row a target.
fn table(report: &PlanReport, look: Look) -> String {
    let conflicts = report.counts.conflicts + report.counts.refused > 0;
    let left = report.counts.left > 0;
    let mut headers = vec!["CLUSTER", "NAMESPACE", "TOOL", "CREATE", "CHANGE", "UNCHANGED"];
    headers.extend(left.then_some("LEFT"));
    headers.extend(conflicts.then_some("BLOCKED"));
    headers.push("MESSAGE");
    let mut table = Table::new(headers);
    for target in &report.targets {
        let failed = target.state == "failed";
        let count = |n: usize| if failed { "-".to_owned() } else { n.to_string() };
        let tool =
            target.tool.as_ref().map_or("-".to_owned(), |t| format!("{} {}", t.name, t.version));
        let text = message(target);
        let message = match target.state.as_str() {
            "failed" | "refused" => Cell::styled(text, Role::Fail),
            "blocked" => Cell::styled(text, Role::Warn),
            _ => Cell::from(text),
        };
        let mut row = vec![
            Cell::styled(target.target.clone(), Role::Bold),
            Cell::from(target.namespace.clone()),
            Cell::from(tool),
            Cell::from(count(target.counts.create)),
            Cell::from(count(target.counts.change)),
            Cell::from(count(target.counts.unchanged)),
        ];
        if left {
            row.push(Cell::from(count(target.counts.left)));
        }
        if conflicts {
            row.push(Cell::from(count(target.counts.conflicts + target.counts.refused)));
        }
        row.push(message);
        table.row(row);
    }
    table.render(look)
}

fn message(target: &TargetPlanReport) -> String {
    match target.errors.as_slice() {
        [] if target.state == "unchanged" => "no changes".to_owned(),
        [] => String::new(),
        [error] => error.line(),
        [error, rest @ ..] => format!("{} (and {} more)", error.line(), rest.len()),
    }
}

/// Targets with the same text below them, in the order of the fleet.
fn grouped(report: &PlanReport, verbose: bool, look: Look) -> Vec<(Vec<String>, String)> {
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for target in &report.targets {
        let body = body(target, verbose, look);
        if body.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(_, text)| *text == body) {
            Some((names, _)) => names.push(target.target.clone()),
            None => groups.push((vec![target.target.clone()], body)),
        }
    }
    groups
}

/// What changes in a target. Empty when nothing does and there is nothing to know.
fn body(target: &TargetPlanReport, verbose: bool, look: Look) -> String {
    let mut text = String::new();
    for object in &target.changes {
        let (mark, role) = match object.action.as_str() {
            "create" => ("+", Role::Add),
            "change" => ("~", Role::Warn),
            _ => ("!", Role::Fail),
        };
        let line = format!("  {mark} {}", name(&object.object));
        let unverified = match &object.not_verified {
            Some(reason) => format!("  (not verified: {reason})"),
            None => String::new(),
        };
        let _ = writeln!(text, "{}{unverified}", look.paint(role, &line));
        details(object, &mut text);
    }
    for error in &target.errors {
        if target.state == "failed" {
            let _ = writeln!(text, "  {}", look.paint(Role::Fail, &format!("! {}", error.line())));
        } else {
            let subject = error.object.as_ref().map(name).unwrap_or_default();
            let why = [vec![error.message.clone()], error.causes.clone()].concat().join(": ");
            let _ = writeln!(text, "  {}", look.paint(Role::Fail, &format!("! {subject}: {why}")));
        }
        for hint in &error.hints {
            let _ = writeln!(text, "      hint: {hint}");
        }
    }
    for left in &target.left {
        let _ = writeln!(
            text,
            "  {}",
            look.paint(
                Role::Warn,
                &format!("? {}: not in the manifests any more; kept", name(left))
            )
        );
    }
    for hook in &target.hooks {
        let _ = writeln!(text, "  · {}: a helm hook, not applied", name(hook));
    }
    for warning in &target.warnings {
        let _ = writeln!(text, "  {}", look.paint(Role::Warn, &format!("warning: {warning}")));
    }
    if !text.is_empty() && target.counts.unchanged > 0 && verbose {
        let _ = writeln!(text, "  = {} unchanged", target.counts.unchanged);
    }
    text
}

fn details(object: &ObjectReport, text: &mut String) {
    if object.action != "create" {
        for field in &object.fields {
            let change = match (&field.before, &field.after) {
                (Some(before), Some(after)) if field.op != "move" => {
                    format!("{} → {}", value(before), value(after))
                }
                (None, Some(after)) => format!("+ {}", value(after)),
                (Some(before), None) => format!("- {}", value(before)),
                _ => "(other order)".to_owned(),
            };
            let _ = writeln!(text, "      {}  {change}", field.path);
        }
    }
    for revert in &object.reverts {
        let when = revert.time.as_ref().map(|t| format!(", {t}")).unwrap_or_default();
        let _ =
            writeln!(text, "      reverts {}{when}: {}", revert.manager, revert.fields.join(", "));
    }
    if !object.takes_from.is_empty() {
        let _ = writeln!(text, "      takes over from {}", object.takes_from.join(", "));
    }
    if !object.relinquishes.is_empty() {
        let _ = writeln!(text, "      gives up {}", object.relinquishes.join(", "));
    }
    for warning in &object.warnings {
        let _ = writeln!(text, "      warning: {warning}");
    }
}

/// `Deployment shop/web`, with the group where the kind is not Kubernetes' own.
pub(super) fn name(object: &ObjectReference) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} {namespace}/{}", object.kind, object.name),
        None => format!("{} {}", object.kind, object.name),
    }
}

/// A value on one line.
fn value(value: &Value) -> String {
    let text = match value {
        Value::String(s) if s.contains('\n') => format!("({} lines)", s.lines().count()),
        Value::String(s) if !s.is_empty() => s.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// `Plan: 4 to create, 1 to change, 3 unchanged in 3 targets.`
fn summary(report: &PlanReport) -> String {
    let counts = &report.counts;
    let mut parts = vec![
        format!("{} to create", counts.create),
        format!("{} to change", counts.change),
        format!("{} unchanged", counts.unchanged),
    ];
    if counts.left > 0 {
        parts.push(format!("{} left the manifests", counts.left));
    }
    if counts.conflicts + counts.refused > 0 {
        parts.push(format!("{} blocked", counts.conflicts + counts.refused));
    }
    let targets = report.targets.len();
    let failed = report.targets.iter().filter(|t| t.state == "failed").count();
    let mut line = format!("Plan: {} in {}.", parts.join(", "), plural(targets, "target"));
    if failed > 0 {
        let _ = write!(line, " {} not planned.", plural(failed, "target"));
    }
    line
}

/// `1 target`, `2 targets`.
pub fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
