//! The per-cluster table of `apply`, `delete` and `status`.

use super::group::{grouped, names};
use super::model::{NodeReport, PodCounts, RunReport, TargetReport, TargetState, UnhealthyReport};
use super::plan::{name, plural};
use super::problem::problem;
use super::{Cell, Table};
use crate::ui::{Look, Role};

/// The table, and below it what its rows have no room for: further errors, further objects that
/// are not healthy, warnings.
pub fn text(report: &RunReport, now: jiff::Timestamp, look: Look) -> String {
    let any = |has: fn(&TargetReport) -> bool| report.targets.iter().any(has);
    let releases = any(|t| t.release.is_some());
    let pods = any(|t| t.pods.is_some());
    // Right after an apply, an age says nothing.
    let ages = report.command() == "status" && any(|t| t.applied.is_some());
    let mut headers = vec!["CLUSTER", "STATE"];
    headers.extend(releases.then_some("RELEASE"));
    if pods {
        headers.extend(["READY", "UPDATED"]);
    }
    headers.extend(ages.then_some("AGE"));
    headers.push("MESSAGE");
    let mut table = Table::new(headers);
    for target in &report.targets {
        let (mark, role) = mark(target.state);
        let or_dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".to_owned()));
        let mut row = vec![
            Cell::styled(target.target.clone(), Role::Bold),
            Cell::styled(format!("{mark} {}", target.state.word()), role),
        ];
        row.extend(releases.then(|| or_dash(target.release.map(|n| n.to_string()))));
        if pods {
            let pods = |n: fn(&PodCounts) -> i64| {
                or_dash(target.pods.as_ref().map(|p| format!("{}/{}", n(p), p.wanted)))
            };
            row.extend([pods(|p| p.ready), pods(|p| p.updated)]);
        }
        if ages {
            let applied = target.applied.as_ref().and_then(|t| t.parse().ok());
            row.push(or_dash(applied.map(|t| super::age::age(now, t))));
        }
        row.push(Cell::from(message(target)));
        table.row(row);
    }
    let mut text = table.render(look);
    let rest = report.targets.iter().map(|t| (t.target.as_str(), rest(t, report, now, look)));
    for (targets, rest) in grouped(rest) {
        let names = look.paint(Role::Bold, &names(&targets, report.targets.len()));
        text += &format!("\n{names}\n{rest}");
    }
    text
}

/// What the target's message does not say.
fn rest(target: &TargetReport, report: &RunReport, now: jiff::Timestamp, look: Look) -> String {
    let mut text = String::new();
    for error in target.errors.iter().skip(1) {
        text += &problem(error, look);
    }
    let mut unhealthy: Vec<&UnhealthyReport> = target.unhealthy.iter().collect();
    match target.errors.as_slice() {
        // The message is the reason of the first.
        [] => drop(unhealthy.drain(..unhealthy.len().min(1))),
        errors => unhealthy.retain(|u| errors.iter().all(|e| e.object.as_ref() != Some(&u.object))),
    }
    // The tree says the same of its objects, and more.
    unhealthy.retain(|u| target.tree.iter().all(|node| node.object != u.object));
    text += &match (target.tree.as_slice(), report.command()) {
        ([], _) => String::new(),
        (nodes, "status") => super::tree::whole(nodes, now, look),
        (nodes, _) => {
            // What the message says already is not said again.
            let told = |node: &NodeReport| {
                target.errors.iter().any(|e| e.object.as_ref() == Some(&node.object))
            };
            let nodes: Vec<NodeReport> =
                nodes.iter().filter(|node| node.says_more() || !told(node)).cloned().collect();
            let more = format!("`mcd status -t {} --tree`", target.target);
            super::tree::short(&nodes, &more, now, look)
        }
    };
    for UnhealthyReport { object, health, reason } in unhealthy {
        let (mark, role) = if health == "failed" { ("!", Role::Fail) } else { ("◌", Role::Warn) };
        let subject = look.paint(role, &format!("{mark} {}", name(object)));
        text += &format!("  {subject}: {health}: {reason}\n");
    }
    // What a delete keeps was said before it was asked for.
    if report.command() != "delete" {
        let sign = look.paint(Role::Warn, "warning:");
        target.warnings.iter().for_each(|w| text += &format!("  {sign} {w}\n"));
    }
    text
}

fn mark(state: TargetState) -> (&'static str, Role) {
    match state {
        TargetState::Healthy | TargetState::Applied | TargetState::Deleted => ("✔", Role::Ok),
        TargetState::Progressing => ("◌", Role::Warn),
        TargetState::Paused
        | TargetState::Blocked
        | TargetState::Orphaned
        | TargetState::Unknown
        | TargetState::ToDelete => ("!", Role::Warn),
        TargetState::Failed | TargetState::Unreachable | TargetState::Interrupted => {
            ("✖", Role::Fail)
        }
        TargetState::NotStarted | TargetState::NotDeployed => ("·", Role::Dim),
    }
}

fn message(target: &TargetReport) -> String {
    match target.errors.as_slice() {
        [] => target.message.clone(),
        [error] => error.line(),
        [error, rest @ ..] => {
            format!("{} (and {} below)", error.line(), plural(rest.len(), "more error"))
        }
    }
}

#[cfg(test)]
mod tests;
