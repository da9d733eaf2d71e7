//! A plan for people: a table of the targets, what changes (targets with the same changes
//! together, so that 300 clusters read like one), how an apply goes from target to target, and one
//! line that sums up.

mod waves;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::diff::is_hash;
use super::elide::elided;
use super::group::{grouped, names};
use super::model::{
    ErrorReport, ObjectReference, ObjectReport, PlanReport, RetirementReport, RollbackReport,
    TargetPlanReport,
};
use super::problem::problem;
use super::wrap::wrapped;
use super::{Cell, Table};
use crate::error::Exit;
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
    let bodies = report.targets.iter().map(|t| (t.target.as_str(), body(t, verbose, look)));
    for (targets, body) in grouped(bodies) {
        let names = look.paint(Role::Bold, &names(&targets, report.targets.len()));
        let _ = write!(text, "\n{names}\n{body}");
    }
    if let Some(rollout) = report.rollout.as_ref().map(|rollout| waves::text(rollout, look))
        && !rollout.is_empty()
    {
        let _ = write!(text, "\n{rollout}");
    }
    let _ = write!(text, "\n{}\n", summary(report));
    text
}

/// The table: a row a target, without what the lists below it say.
fn table(report: &PlanReport, look: Look) -> String {
    let tools = report.targets.iter().any(|t| t.tool.is_some());
    let releases = report.targets.iter().any(|t| t.rollback.is_some());
    let mut headers = vec!["CLUSTER", "NAMESPACE"];
    headers.extend(releases.then_some("RELEASE"));
    headers.extend(tools.then_some("TOOL"));
    let recreates = report.counts.recreate > 0;
    let deletes = report.counts.delete > 0;
    headers.extend(["STATE", "CREATE", "CHANGE"]);
    headers.extend(recreates.then_some("RECREATE"));
    headers.extend(deletes.then_some("DELETE"));
    headers.push("UNCHANGED");
    let mut table = Table::new(headers);
    for target in &report.targets {
        let counts = &target.counts;
        let planned = !["failed", "orphaned"].contains(&target.state.as_str());
        let count = |n: usize| if planned { n.to_string() } else { "-".into() };
        let mut row = vec![
            Cell::styled(target.target.clone(), Role::Bold),
            Cell::from(target.namespace.clone()),
        ];
        if releases {
            row.push(Cell::from(target.rollback.map_or_else(|| "-".to_owned(), goes_back)));
        }
        if tools {
            let tool = target.tool.as_ref().map(|t| format!("{} {}", t.name, t.version));
            row.push(Cell::from(tool.unwrap_or_else(|| "-".to_owned())));
        }
        row.push(state(target));
        row.extend([counts.create, counts.change].map(|n| count(n).into()));
        row.extend(recreates.then(|| count(counts.recreate).into()));
        row.extend(deletes.then(|| count(counts.delete).into()));
        row.push(count(counts.unchanged).into());
        table.row(row);
    }
    table.render(look)
}

/// `3 → 1`.
fn goes_back(rollback: RollbackReport) -> String {
    let from = rollback.from.map_or_else(|| "none".to_owned(), |from| from.to_string());
    format!("{from} → {}", rollback.to)
}

fn state(target: &TargetPlanReport) -> Cell {
    let unreachable = Exit::Unreachable.code();
    match target.state.as_str() {
        "unchanged" if target.unfinished.is_none() => Cell::from("no changes"),
        "unchanged" => Cell::styled("unfinished", Role::Warn),
        state @ ("blocked" | "orphaned") => Cell::styled(state, Role::Warn),
        "failed" if target.errors.iter().any(|e| e.exit_code == unreachable) => {
            Cell::styled("unreachable", Role::Fail)
        }
        state @ ("failed" | "refused") => Cell::styled(state, Role::Fail),
        state => Cell::from(state),
    }
}

/// What changes in a target. Empty when nothing does and there is nothing to know.
fn body(target: &TargetPlanReport, verbose: bool, look: Look) -> String {
    let mut text = String::new();
    let mut errors: Vec<&ErrorReport> = target.errors.iter().collect();
    // What to do next stands once, however many objects of the target it is about.
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut told = |error: &ErrorReport| {
        let mut error = error.clone();
        error.hints.retain(|hint| said.insert(hint.clone()));
        problem(&error, look)
    };
    let mut unverified: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in target.changes.iter().filter_map(|o| o.not_verified.as_deref()) {
        *unverified.entry(reason).or_default() += 1;
    }
    for object in &target.changes {
        // What is said against an object stands in its place.
        if let Some(at) = errors.iter().position(|e| e.object.as_ref() == Some(&object.object)) {
            text += &told(errors.remove(at));
            details(object, look, &mut text);
            continue;
        }
        let (mark, role) = match object.action.as_str() {
            "create" => ("+", Role::Add),
            "change" => ("~", Role::Warn),
            "recreate" => ("±", Role::Warn),
            "delete" => ("-", Role::Remove),
            _ => ("!", Role::Fail),
        };
        let line = look.paint(role, &format!("  {mark} {}", name(&object.object)));
        let reason = object.not_verified.as_deref();
        let reason = reason.filter(|reason| unverified.get(reason) == Some(&1));
        let note = match (reason, object.action.as_str()) {
            (Some(reason), _) => format!("  (not verified: {reason})"),
            (None, "delete") => {
                object.reason.as_ref().map(|why| format!("  ({why})")).unwrap_or_default()
            }
            (None, _) => String::new(),
        };
        let _ = writeln!(text, "{line}{note}");
        if let Some(why) = object.reason.as_ref().filter(|_| object.action == "recreate") {
            let _ = writeln!(text, "      deleted and made anew: {why}");
        }
        details(object, look, &mut text);
    }
    for (reason, objects) in unverified.iter().filter(|(_, objects)| **objects > 1) {
        let _ = writeln!(text, "  (not verified, {objects} objects: {reason})");
    }
    for error in errors {
        text += &told(error);
    }
    for left in &target.left {
        let (object, reason) = (name(&left.object), &left.reason);
        let line = format!("  ? {object} left the manifests, and stays: {reason}");
        let _ = writeln!(text, "{}", look.paint(Role::Warn, &line));
    }
    for object in &target.untouched {
        let why = match object.apply.as_str() {
            "create-only" => "exists, and is only ever created",
            _ => "not applied",
        };
        let _ =
            writeln!(text, "  · {}: {why} (mcd.dev/apply: {})", name(&object.object), object.apply);
    }
    for hook in &target.hooks {
        let _ = writeln!(text, "  · {}: a helm hook, not applied", name(hook));
    }
    if let Some(moves) = &target.moves {
        let releases = plural(moves.releases, "release");
        let line = format!("  > state of {}: record, key and {releases} move here", moves.from);
        let _ = writeln!(text, "{}", look.paint(Role::Warn, &line));
    }
    let quiet = target.moves.is_none()
        && target.changes.is_empty()
        && target.errors.is_empty()
        && target.left.is_empty();
    if let Some(why) = &target.unfinished
        && quiet
    {
        let verb = if target.rollback.is_some() { "a rollback" } else { "an apply" };
        let _ = writeln!(text, "  * {why}: {verb} writes the record");
    }
    for release in &target.retires {
        let RetirementReport { namespace, name: release, revisions, kept } = release;
        let revisions = plural(*revisions, "revision");
        let line =
            format!("  - helm release {namespace}/{release} ({revisions}): hidden from helm");
        let _ = writeln!(text, "{}", look.paint(Role::Remove, &line));
        for object in kept {
            let line = format!("  ? {}: of that release, not in the manifests; kept", name(object));
            let _ = writeln!(text, "{}", look.paint(Role::Warn, &line));
        }
    }
    for said in &target.warnings {
        warning(&look.paint(Role::Warn, "warning:"), said, 2, look, &mut text);
    }
    if !text.is_empty() && target.counts.unchanged > 0 && verbose {
        let _ = writeln!(text, "  = {} unchanged", target.counts.unchanged);
    }
    // Which one a version, or a range of them, came to.
    if let Some(chart) = &target.chart
        && let (Some(repository), Some(digest)) = (&chart.repository, &chart.digest)
        && (verbose || !text.is_empty())
    {
        text.insert_str(0, &format!("  chart {chart} of {repository}\n        {digest}\n"));
    }
    text
}

/// A line of details, with what is said of a path below it where both have no room beside each other.
fn detail(path: &str, change: &str, look: Look, text: &mut String) {
    let line = format!("      {path}  {change}");
    match look.width {
        Some(width) if line.chars().count() > width => {
            let _ = writeln!(text, "      {path}");
            for line in wrapped(change, look.width, 8) {
                let _ = writeln!(text, "        {line}");
            }
        }
        _ => {
            let _ = writeln!(text, "{line}");
        }
    }
}

/// A warning in lines that fit.
fn warning(sign: &str, warning: &str, indent: usize, look: Look, text: &mut String) {
    // The sign is as wide as `warning: `.
    for (at, line) in wrapped(warning, look.width, indent + 9).iter().enumerate() {
        let start = if at == 0 { sign } else { "        " };
        let _ = writeln!(text, "{:indent$}{start} {line}", "");
    }
}

fn details(object: &ObjectReport, look: Look, text: &mut String) {
    if object.action != "create" {
        // An object that would be new is refused as a whole: its fields say nothing.
        for field in object.fields.iter().filter(|field| !field.path.is_empty()) {
            let change = match (&field.before, &field.after) {
                // The hash itself says nothing, and is another one in each target.
                (Some(_), Some(_)) if is_hash(&field.path) => {
                    "configuration that its pods use changed: they restart".to_owned()
                }
                (None, Some(_)) if is_hash(&field.path) => {
                    "+ a hash of the configuration that its pods use".to_owned()
                }
                (Some(before), Some(after)) if field.op != "move" => becomes(before, after),
                (None, Some(after)) => format!("+ {}", value(after)),
                (Some(before), None) => format!("- {}", value(before)),
                _ => "(other order)".to_owned(),
            };
            detail(&field.path, &change, look, text);
        }
    }
    for revert in &object.reverts {
        let when = revert.time.as_ref().map(|t| format!(", {t}")).unwrap_or_default();
        let _ =
            writeln!(text, "      reverts {}{when}: {}", revert.manager, revert.fields.join(", "));
    }
    for deployer in &object.adopts_from {
        let unit = deployer.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        let _ = writeln!(text, "      adopts from {}{unit}", deployer.tool);
    }
    // A deployer's own manager is said by that.
    let said = |manager: &&String| {
        let name = manager.trim_end_matches(" (apply)");
        !object.adopts_from.iter().any(|deployer| deployer.tool.eq_ignore_ascii_case(name))
    };
    let others: Vec<&str> = object.takes_from.iter().filter(said).map(String::as_str).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "      takes over from {}", others.join(", "));
    }
    for path in &object.keeps {
        let _ = writeln!(text, "      keeps {path}: a selector cannot change");
    }
    if !object.relinquishes.is_empty() {
        let _ = writeln!(text, "      gives up {}", object.relinquishes.join(", "));
    }
    for said in &object.warnings {
        warning("warning:", said, 6, look, text);
    }
}

/// `Deployment shop/web`.
pub(super) fn name(object: &ObjectReference) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} {namespace}/{}", object.kind, object.name),
        None => format!("{} {}", object.kind, object.name),
    }
}

/// A value that becomes another one, on one line.
fn becomes(before: &Value, after: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(s) if !s.is_empty() => s.clone(),
        other => other.to_string(),
    };
    let (old, new) = (text(before), text(after));
    if old.contains('\n') || new.contains('\n') {
        let diff = similar::TextDiff::from_lines(&old, &new);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        let (gone, added) = (count(similar::ChangeTag::Delete), count(similar::ChangeTag::Insert));
        return format!("(lines: {added} added, {gone} removed; see `mcd diff`)");
    }
    let (old, new) = elided(&old, &new, LONGEST_VALUE);
    format!("{old} → {new}")
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
        format!("{} to delete", counts.delete),
        format!("{} unchanged", counts.unchanged),
    ];
    if counts.recreate > 0 {
        parts.insert(2, format!("{} to recreate", counts.recreate));
    }
    if counts.left > 0 {
        parts.push(format!("{} left the manifests and kept", counts.left));
    }
    if counts.conflicts + counts.refused > 0 {
        parts.push(format!("{} blocked", counts.conflicts + counts.refused));
    }
    let failed = report.targets.iter().filter(|t| t.state == "failed").count();
    let orphaned = report.targets.iter().filter(|t| t.state == "orphaned").count();
    let planned = report.targets.len() - failed - orphaned;
    let sum = format!("{} in {}.", parts.join(", "), plural(planned, "target"));
    match (planned, failed) {
        (_, 0) => format!("Plan: {sum}"),
        (0, _) => format!("Plan: {} not planned.", plural(failed, "target")),
        _ => format!("Plan: {sum} {} not planned.", plural(failed, "target")),
    }
}

/// `1 target`, `2 targets`.
pub fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

#[cfg(test)]
mod tests;
