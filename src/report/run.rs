//! The per-cluster table of `apply`, `delete` and `status`.

use super::model::{RunReport, TargetReport, TargetState};
use super::plan::{name, plural};
use super::{Cell, Table};
use crate::ui::{Look, Role};

/// The table, and below it each further object that is not healthy.
pub fn text(report: &RunReport, now: jiff::Timestamp, look: Look) -> String {
    let pods = report.targets.iter().any(|t| t.pods.is_some());
    let mut headers = vec!["CLUSTER", "STATE", "RELEASE"];
    if pods {
        headers.extend(["READY", "UPDATED"]);
    }
    headers.extend(["AGE", "MESSAGE"]);
    let mut table = Table::new(headers);
    for target in &report.targets {
        let (mark, role) = mark(target.state);
        let dash = || "-".to_owned();
        let mut row = vec![
            Cell::styled(target.target.clone(), Role::Bold),
            Cell::styled(format!("{mark} {}", target.state.word()), role),
            Cell::from(target.release.map_or_else(dash, |n| n.to_string())),
        ];
        if pods {
            let counts = |n: fn(&super::model::PodCounts) -> i64| {
                target.pods.as_ref().map_or_else(dash, |p| format!("{}/{}", n(p), p.wanted))
            };
            row.push(Cell::from(counts(|p| p.ready)));
            row.push(Cell::from(counts(|p| p.updated)));
        }
        let age = target.applied.as_ref().and_then(|t| t.parse().ok());
        row.push(Cell::from(age.map_or_else(dash, |t| super::age::age(now, t))));
        row.push(Cell::styled(message(target), role));
        table.row(row);
    }
    let mut text = table.render(look);
    for target in &report.targets {
        let rest = target.unhealthy.get(1..).unwrap_or_default();
        for object in rest {
            text += &format!(
                "  {}: {} is {}: {}\n",
                look.paint(Role::Bold, &target.target),
                name(&object.object),
                object.health,
                object.reason
            );
        }
    }
    text
}

fn mark(state: TargetState) -> (&'static str, Role) {
    match state {
        TargetState::Healthy | TargetState::Applied | TargetState::Deleted => ("✔", Role::Ok),
        TargetState::Progressing => ("◌", Role::Warn),
        TargetState::Paused | TargetState::Blocked | TargetState::Unknown => ("!", Role::Warn),
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
            format!("{} (and {} more)", error.line(), plural(rest.len(), "error"))
        }
    }
}
