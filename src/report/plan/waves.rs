//! The part of a plan that says how an apply goes from target to target: a table of the waves, and
//! one of the targets.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::plural;
use crate::duration;
use crate::report::model::{RolloutPlanReport, TargetStrategyReport, WavePlanReport};
use crate::report::wrap::wrapped;
use crate::report::{Cell, Table};
use crate::rollout::StrategyKind;
use crate::ui::{Look, Role};

/// Up to so many targets have a row each; of more, those that go alike share one.
const ROWS: usize = 24;

/// So many targets of a row are named.
const NAMED: usize = 3;

/// The waves, the steps and how each target goes. Empty when no target changes.
pub(super) fn text(report: &RolloutPlanReport, look: Look) -> String {
    let targets = || report.waves.iter().flat_map(|wave| &wave.targets);
    if !targets().any(|t| matches!(t.strategy, Some(StrategyKind::Plain | StrategyKind::Steps))) {
        return String::new();
    }
    let mut text = String::new();
    for line in wrapped(&head(report), look.width, 0) {
        let _ = writeln!(text, "{line}");
    }
    if report.opens {
        text += &waves(report, look);
        text.push('\n');
    }
    text += &strategies(report, targets().count() > ROWS, look);
    text
}

/// What opens, or that nothing does; and the steps with their numbers.
fn head(report: &RolloutPlanReport) -> String {
    if !report.opens {
        return "No rollout: nothing goes through steps, so all targets are applied to at once."
            .to_owned();
    }
    let steps: Vec<String> = report
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| format!("{} {step}", index + 1))
        .collect();
    let steps = match (steps.len(), any_steps(report)) {
        (_, false) => String::new(),
        (_, true) => format!("; steps: {}", steps.join(", ")),
    };
    let back = match report.on_failure.as_str() {
        "rollback-wave" => "; a wave that fails is rolled back",
        "rollback-all" => "; all waves are rolled back when one fails",
        _ => "",
    };
    format!("Rollout in {}{steps}{back}.", plural(report.waves.len(), "wave"))
}

fn any_steps(report: &RolloutPlanReport) -> bool {
    let mut targets = report.waves.iter().flat_map(|wave| &wave.targets);
    targets.any(|target| target.strategy == Some(StrategyKind::Steps))
}

fn waves(report: &RolloutPlanReport, look: Look) -> String {
    let mandatory = report.waves.iter().any(|wave| !wave.mandatory.is_empty());
    let soaks = report.waves.iter().any(|wave| wave.soak_seconds > 0);
    let mut headers = vec!["WAVE", "AT ONCE", "MAY FAIL"];
    headers.extend(mandatory.then_some("MUST NOT"));
    headers.push("DEADLINE");
    headers.extend(soaks.then_some("SOAK"));
    headers.push("STARTS");
    let mut table = Table::new(headers);
    let mut before: Option<&WavePlanReport> = None;
    for wave in &report.waves {
        let time = |seconds: u64| duration::text(Duration::from_secs(seconds));
        let mut row = vec![
            Cell::styled(wave.name.clone(), Role::Bold),
            Cell::from(format!("{} of {}", wave.max_concurrent, wave.targets.len())),
            Cell::from(wave.max_failures.to_string()),
        ];
        if mandatory {
            let names: Vec<&str> = wave.mandatory.iter().map(String::as_str).collect();
            row.push(Cell::from(if names.is_empty() { "-".to_owned() } else { few(&names) }));
        }
        row.push(Cell::from(time(wave.progress_deadline_seconds)));
        if soaks {
            let soak = wave.soak_seconds;
            row.push(Cell::from(if soak == 0 { "-".to_owned() } else { time(soak) }));
        }
        row.push(Cell::from(starts(wave, before)));
        before = Some(wave);
        table.row(row);
    }
    table.render(look)
}

/// When a wave starts.
fn starts(wave: &WavePlanReport, before: Option<&WavePlanReport>) -> String {
    match (before, wave.approval) {
        (None, false) => "at once".to_owned(),
        (None, true) => "after approval".to_owned(),
        (Some(before), false) => format!("after {}", before.name),
        (Some(before), true) => format!("after {} and approval", before.name),
    }
}

/// Targets of a wave that go alike.
struct Alike<'r> {
    wave: &'r str,
    targets: Vec<&'r str>,
    how: &'r TargetStrategyReport,
}

fn strategies(report: &RolloutPlanReport, shares: bool, look: Look) -> String {
    let mut rows: Vec<Alike<'_>> = Vec::new();
    for wave in &report.waves {
        for target in &wave.targets {
            let alike = rows.iter_mut().find(|row| {
                let same = row.how.reason == target.reason && row.how.steps == target.steps;
                shares && row.wave == wave.name && same && row.how.strategy == target.strategy
            });
            match alike {
                Some(row) => row.targets.push(&target.target),
                None => rows.push(Alike {
                    wave: &wave.name,
                    targets: vec![&target.target],
                    how: target,
                }),
            }
        }
    }
    let waves = report.opens && report.waves.len() > 1;
    let steps = any_steps(report);
    let mut headers = Vec::new();
    headers.extend(waves.then_some("WAVE"));
    headers.extend(["CLUSTER", "STRATEGY"]);
    headers.extend(steps.then_some("STEPS"));
    headers.push("WHY");
    let mut table = Table::new(headers);
    let mut said = "";
    for Alike { wave, targets, how } in rows {
        let mut row = Vec::new();
        if waves {
            row.push(Cell::from(if said == wave { "" } else { wave }));
            said = wave;
        }
        row.push(Cell::styled(few(&targets), Role::Bold));
        row.push(Cell::from(how.strategy.map_or("-", StrategyKind::word)));
        if steps {
            row.push(Cell::from(ranges(&how.steps)));
        }
        row.push(Cell::from(how.reason.clone()));
        table.row(row);
    }
    table.render(look)
}

/// `a, b, c`, or `a, b, c and 9 more`.
fn few(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// `1-3, 5`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers.iter().copied().collect::<BTreeSet<_>>() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    if runs.is_empty() {
        return "-".to_owned();
    }
    let run = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
