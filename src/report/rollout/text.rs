//! The table of a rollout: what it is, its waves, a row a target. Of many targets those that are
//! well and those that wait make one row a wave, so that the rest is seen.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::model::{
    GateReport, RolloutReport, RolloutState, RolloutTarget, TargetStand, WaveReport, WaveState,
};
use crate::report::age::{age, left};
use crate::report::group::{grouped, names};
use crate::report::model::{NodeReport, ObjectReference, PodCounts};
use crate::report::plan::{name, plural};
use crate::report::problem::problem;
use crate::report::progress::age as lasts;
use crate::report::wrap::wrapped;
use crate::report::{Cell, Table, tree};
use crate::ui::{Look, Role};

/// With more targets than this, those that are well or wait are counted rather than listed.
const MANY: usize = 20;
/// How many of a wave it takes to count them.
const ALIKE: usize = 3;

/// What of a report is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// A row for each target, however many there are.
    pub all: bool,
    /// The whole tree of each target, where it was looked at; else what is not well, in short.
    pub tree: bool,
}

/// The report as text.
pub fn text(report: &RolloutReport, shown: Shown, now: Timestamp, look: Look) -> String {
    let mut text = head(report, now, look);
    if report.waves.len() > 1 {
        let _ = write!(text, "\n{}", waves(report, now, look));
    }
    if !report.targets.is_empty() {
        let _ = write!(text, "\n{}", targets(report, shown, now, look));
    }
    let rest = report.targets.iter().map(|t| (t.target.as_str(), rest(t, shown, now, look)));
    for (targets, rest) in grouped(rest) {
        let names = look.paint(Role::Bold, &names(&targets, report.targets.len()));
        let _ = write!(text, "\n{names}\n{rest}");
    }
    text
}

/// `web: Running, wave 2 of 3 (rest): 2 of 4 targets done`; which rollout that is, and where it comes
/// from.
fn head(report: &RolloutReport, now: Timestamp, look: Look) -> String {
    let app = look.paint(Role::Bold, &report.application);
    let Some(id) = &report.id else { return format!("{app}: {}\n", report.message) };
    let state = look.paint(role_of(report.state), report.state.word());
    let mut text = format!("{app}: {state}, {}\n", report.message);
    let ago = |time: &Option<String>| {
        time.as_ref().and_then(|t| t.parse().ok()).map(|t| format!("{} ago", age(now, t)))
    };
    let hand = if report.by_hand { " by hand" } else { "" };
    let mut from = format!("rollout {id}{hand}");
    if let Some(ago) = ago(&report.opened) {
        let _ = write!(from, ", opened {ago}");
    }
    for (word, what) in [("by", &report.who), ("from", &report.commit)] {
        if let Some(what) = what {
            let _ = write!(from, " {word} {what}");
        }
    }
    if let Some(ago) = ago(&report.closed) {
        let _ = write!(from, ", closed {ago}");
    }
    let mut dim = vec![from];
    if report.steps.len() > 1 {
        dim.push(format!("steps: {}", report.steps.join(" → ")));
    }
    dim.extend(common_reason(report).map(|reason| format!("change: {reason}")));
    for line in dim.iter().flat_map(|line| wrapped(line, look.width, 0)) {
        let _ = writeln!(text, "{}", look.paint(Role::Dim, &line));
    }
    text
}

/// Why the targets go through their steps, where that is the same for all that change.
fn common_reason(report: &RolloutReport) -> Option<&str> {
    // Of one whose record is closed it is not known any more.
    let change = |t: &&RolloutTarget| t.to.is_some() && !t.reason.is_empty();
    let mut reasons = report.targets.iter().filter(change).map(|t| t.reason.as_str());
    let first = reasons.next()?;
    reasons.all(|reason| reason == first).then_some(first)
}

fn role_of(state: RolloutState) -> Role {
    match state {
        RolloutState::Succeeded => Role::Ok,
        RolloutState::Stopped | RolloutState::Failed | RolloutState::Unknown => Role::Fail,
        RolloutState::None | RolloutState::Pending => Role::Dim,
        RolloutState::Staging
        | RolloutState::Running
        | RolloutState::Interrupted
        | RolloutState::Paused
        | RolloutState::Waiting
        | RolloutState::Soaking
        | RolloutState::Undoing
        | RolloutState::Undone => Role::Warn,
    }
}

/// Columns of a table, of which those that say nothing are left out, and of a narrow terminal
/// those that say least.
struct Columns(Vec<Column>);

struct Column {
    head: &'static str,
    /// In which order columns make way where they have no room; none: it stays.
    yields: Option<u8>,
    cells: Vec<Cell>,
}

impl Columns {
    fn new(heads: &[(&'static str, Option<u8>)]) -> Self {
        let column = |(head, yields): &(&'static str, Option<u8>)| Column {
            head,
            yields: *yields,
            cells: Vec::new(),
        };
        Columns(heads.iter().map(column).collect())
    }

    fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        for (column, cell) in self.0.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }

    /// Between two columns, as tables have it.
    const GAP: usize = 3;

    /// What all columns take, the last one its header: a long text goes below its row.
    fn width(&self) -> usize {
        let widest = |column: &Column| {
            let cells = column.cells.iter().map(Cell::width).max().unwrap_or(0);
            cells.max(column.head.len()) + Self::GAP
        };
        let last = self.0.last().map_or(0, |column| column.head.len());
        self.0.iter().rev().skip(1).map(widest).sum::<usize>() + last
    }

    fn render(mut self, look: Look) -> String {
        let says = |(at, column): (usize, &Column)| {
            at == 0 || column.cells.iter().any(|cell| !cell.is_nothing())
        };
        let keep: Vec<bool> = self.0.iter().enumerate().map(says).collect();
        let mut keep = keep.iter();
        self.0.retain(|_| keep.next().copied().unwrap_or(true));
        while let Some(width) = look.width
            && self.width() > width
            && let Some(least) = self.0.iter().filter_map(|column| column.yields).min()
        {
            self.0.retain(|column| column.yields != Some(least));
        }
        let mut table = Table::new(self.0.iter().map(|column| column.head));
        let rows = self.0.first().map_or(0, |column| column.cells.len());
        for row in 0..rows {
            table.row(self.0.iter().filter_map(|column| column.cells.get(row).cloned()));
        }
        table.render(look)
    }
}

fn dash() -> Cell {
    Cell::from("-")
}

fn or_dash(text: Option<String>) -> Cell {
    text.map_or_else(dash, Cell::from)
}

/// The waves, with their numbers.
fn waves(report: &RolloutReport, now: Timestamp, look: Look) -> String {
    let mut columns = Columns::new(&[
        ("WAVE", None),
        ("STATE", None),
        ("DONE", None),
        ("FAILED", None),
        ("AT ONCE", Some(0)),
        ("SOAK", Some(1)),
        ("APPROVAL", None),
    ]);
    for wave in &report.waves {
        let (mark, role) = wave_mark(wave.state);
        let failed = format!("{} of {}", wave.failed, plural_may(wave.max_failures));
        let failed = match wave.failed {
            0 => Cell::from(failed),
            n if n > wave.max_failures => Cell::styled(failed, Role::Fail),
            _ => Cell::styled(failed, Role::Warn),
        };
        columns.row([
            Cell::styled(format!("{} {}", wave.wave, wave.name), Role::Bold),
            Cell::styled(format!("{mark} {}", wave.state.word()), role),
            Cell::from(format!("{}/{}", wave.done, wave.targets)),
            failed,
            Cell::from(wave.max_concurrent.to_string()),
            soak(wave, now),
            approval(wave, now),
        ]);
    }
    columns.render(look)
}

/// How many may fail, after "of".
fn plural_may(budget: usize) -> String {
    match budget {
        0 => "none".to_owned(),
        n => n.to_string(),
    }
}

fn soak(wave: &WaveReport, now: Timestamp) -> Cell {
    if wave.soak_seconds == 0 {
        return dash();
    }
    let all = lasts(std::time::Duration::from_secs(wave.soak_seconds));
    match (wave.state, wave.soak_until.as_ref().and_then(|t| t.parse().ok())) {
        (WaveState::Soaking, Some(until)) => {
            Cell::styled(format!("{} of {all} left", left(now, until)), Role::Warn)
        }
        _ => Cell::from(all),
    }
}

fn approval(wave: &WaveReport, now: Timestamp) -> Cell {
    let by = wave.approved_by.as_ref().map(|who| {
        let at = wave.approved.as_ref().and_then(|t| t.parse().ok());
        let ago = at.map(|t| format!(", {} ago", age(now, t))).unwrap_or_default();
        format!("{who}{ago}")
    });
    match (by, wave.approval, wave.state) {
        (Some(by), ..) => Cell::from(by),
        (None, true, WaveState::Waiting) => Cell::styled("needed now", Role::Warn),
        (None, true, WaveState::Pending) => Cell::from("needed"),
        // Whether it had begun is not known any more.
        (None, true, WaveState::Undone) => dash(),
        // It would not have begun.
        (None, true, _) => Cell::from("given"),
        (None, false, _) => dash(),
    }
}

fn wave_mark(state: WaveState) -> (&'static str, Role) {
    match state {
        WaveState::Pending => ("·", Role::Dim),
        WaveState::Waiting | WaveState::Interrupted | WaveState::Undone => ("!", Role::Warn),
        WaveState::Running | WaveState::Soaking => ("◌", Role::Warn),
        WaveState::Done => ("✔", Role::Ok),
        WaveState::Failed => ("✖", Role::Fail),
    }
}

fn target_mark(state: TargetStand) -> (&'static str, Role) {
    match state {
        TargetStand::Pending => ("·", Role::Dim),
        TargetStand::Running | TargetStand::Undoing => ("◌", Role::Warn),
        TargetStand::Interrupted | TargetStand::Paused | TargetStand::Undone => ("!", Role::Warn),
        TargetStand::Succeeded | TargetStand::Unchanged => ("✔", Role::Ok),
        TargetStand::Failed | TargetStand::NotStaged | TargetStand::Unreachable => {
            ("✖", Role::Fail)
        }
    }
}

/// Targets that make one row.
struct Line<'a> {
    first: &'a RolloutTarget,
    others: Vec<&'a RolloutTarget>,
}

/// The rows, in order: those that need no look of their own stand together.
fn lines(report: &RolloutReport, shown: Shown) -> Vec<Line<'_>> {
    let alone = |target| Line { first: target, others: Vec::new() };
    if shown.all || report.targets.len() <= MANY {
        return report.targets.iter().map(alone).collect();
    }
    let key = |t: &RolloutTarget| (t.wave, t.state);
    let alike = |t: &RolloutTarget| {
        is_quiet(t)
            && report.targets.iter().filter(|o| is_quiet(o) && key(o) == key(t)).count() >= ALIKE
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for target in &report.targets {
        let together =
            |line: &&mut Line<'_>| key(line.first) == key(target) && is_quiet(line.first);
        match alike(target).then(|| lines.iter_mut().find(together)).flatten() {
            Some(line) => line.others.push(target),
            None => lines.push(alone(target)),
        }
    }
    lines
}

/// Whether nobody has to look at it.
fn is_quiet(target: &RolloutTarget) -> bool {
    let calm = match target.state {
        TargetStand::Pending
        | TargetStand::Succeeded
        | TargetStand::Unchanged
        | TargetStand::Undone => true,
        TargetStand::Running
        | TargetStand::Interrupted
        | TargetStand::Paused
        | TargetStand::Failed
        | TargetStand::Undoing
        | TargetStand::NotStaged
        | TargetStand::Unreachable => false,
    };
    calm && target.errors.is_empty() && target.warnings.is_empty() && target.unhealthy.is_empty()
}

fn targets(report: &RolloutReport, shown: Shown, now: Timestamp, look: Look) -> String {
    let mut columns = Columns::new(&[
        ("TARGET", None),
        ("WAVE", Some(3)),
        ("STEP", None),
        ("STATE", None),
        ("RELEASE", Some(2)),
        ("READY", None),
        ("UPDATED", Some(0)),
        ("GATE", None),
        ("AGE", Some(1)),
        ("MESSAGE", None),
    ]);
    let several = report.waves.len() > 1;
    let same_reason = common_reason(report).is_some();
    for line in lines(report, shown) {
        let target = line.first;
        let alone = line.others.is_empty();
        let all = || std::iter::once(target).chain(line.others.iter().copied());
        let common = |of: fn(&RolloutTarget) -> Option<String>| {
            let first = of(target);
            if all().all(|t| of(t) == first) { first } else { None }
        };
        let pods: Option<PodCounts> = all().filter_map(|t| t.pods).reduce(|a, b| PodCounts {
            wanted: a.wanted + b.wanted,
            ready: a.ready + b.ready,
            updated: a.updated + b.updated,
        });
        let (mark, role) = target_mark(target.state);
        let wave = target.wave.filter(|_| several);
        let since = target.since.as_ref().filter(|_| alone).and_then(|t| t.parse().ok());
        columns.row([
            match alone {
                true => Cell::styled(target.target.clone(), Role::Bold),
                false => Cell::styled(format!("({} targets)", line.others.len() + 1), Role::Dim),
            },
            or_dash(wave.map(|wave| format!("{wave}/{}", report.waves.len()))),
            or_dash(common(step)),
            Cell::styled(format!("{mark} {}", target.state.word()), role),
            or_dash(common(release)),
            or_dash(pods.map(|pods| format!("{}/{}", pods.ready, pods.wanted))),
            or_dash(pods.map(|pods| format!("{}/{}", pods.updated, pods.wanted))),
            or_dash(target.gate.as_ref().and_then(gate)),
            or_dash(since.map(|since| age(now, since))),
            Cell::from(match common(|t| Some(message(t))).unwrap_or_default() {
                // Said once above the table where it is the same for all.
                empty if empty.is_empty() && !same_reason && on_its_way(target.state) => {
                    common(|t| Some(t.reason.clone())).unwrap_or_default()
                }
                message => message,
            }),
        ]);
    }
    columns.render(look)
}

/// `Running  2/4 canary  41→42  3/6 ready  Deployment shop/web: …`, for a log.
pub fn line(target: &RolloutTarget) -> String {
    let ready = target.pods.map(|pods| format!("{}/{} ready", pods.ready, pods.wanted));
    let kind = target.gate.as_ref().map(|gate| gate.kind.clone());
    let gate = kind.filter(|kind| matches!(kind.as_str(), "pause" | "approval" | "soak"));
    let message = message(target).split_whitespace().collect::<Vec<_>>().join(" ");
    let state = format!("{:<9}", target.state.word());
    let rest = [step(target), release(target), ready, gate, Some(message)];
    let parts = std::iter::once(state).chain(rest.into_iter().flatten());
    parts.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn on_its_way(state: TargetStand) -> bool {
    matches!(state, TargetStand::Pending | TargetStand::Running | TargetStand::Paused)
}

/// `2/4 pause`.
fn step(target: &RolloutTarget) -> Option<String> {
    let step = target.step.as_ref()?;
    let word = step.step.as_ref().map(|word| format!(" {word}")).unwrap_or_default();
    Some(format!("{}/{}{word}", step.number, step.of))
}

/// `41→42` while it is on its way, and where it ended.
fn release(target: &RolloutTarget) -> Option<String> {
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    match (target.state, target.to) {
        (TargetStand::Succeeded, Some(to)) => Some(to.to_string()),
        (TargetStand::Undone, Some(_)) => Some(number(target.active.or(target.from))),
        (_, Some(to)) => Some(format!("{}→{to}", number(target.from))),
        (_, None) => target.active.map(|active| active.to_string()),
    }
}

/// `soak 3m left`.
fn gate(gate: &GateReport) -> Option<String> {
    match (gate.kind.as_str(), gate.seconds_left) {
        // The wave's own column says it.
        ("wave", _) => None,
        ("hand", _) => Some("by hand".to_owned()),
        (kind, None) => Some(kind.to_owned()),
        (kind, Some(0)) => Some(format!("{kind} over")),
        (kind, Some(seconds)) => {
            let time = std::time::Duration::from_secs(seconds.unsigned_abs());
            Some(format!("{kind} {} left", lasts(time)))
        }
    }
}

fn message(target: &RolloutTarget) -> String {
    match target.errors.as_slice() {
        [] => target.message.clone(),
        [error] => error.line(),
        [error, rest @ ..] => {
            format!("{} (and {} below)", error.line(), plural(rest.len(), "more error"))
        }
    }
}

/// What the target's row does not say.
fn rest(target: &RolloutTarget, shown: Shown, now: Timestamp, look: Look) -> String {
    let mut text = String::new();
    for error in target.errors.iter().skip(1) {
        text += &problem(error, look);
    }
    let told =
        |node: &NodeReport| target.errors.iter().any(|e| e.object.as_ref() == Some(&node.object));
    if shown.tree {
        text += &tree::whole(&target.tree, now, look);
    } else if !target.tree.is_empty() {
        let nodes: Vec<NodeReport> =
            target.tree.iter().filter(|node| node.says_more() || !told(node)).cloned().collect();
        let more = format!("`mcd rollout status -t {} --tree`", target.target);
        text += &tree::short(&nodes, &more, now, look);
    }
    // The first is the message of a row without errors.
    let first = usize::from(target.errors.is_empty());
    let in_tree = |object: &ObjectReference| target.tree.iter().any(|node| node.object == *object);
    let in_error =
        |object: &ObjectReference| target.errors.iter().any(|e| e.object.as_ref() == Some(object));
    for unhealthy in target.unhealthy.iter().skip(first) {
        if in_tree(&unhealthy.object) || in_error(&unhealthy.object) {
            continue;
        }
        let failed = unhealthy.health == "failed";
        let (mark, role) = if failed { ("!", Role::Fail) } else { ("◌", Role::Warn) };
        let subject = look.paint(role, &format!("{mark} {}", name(&unhealthy.object)));
        let _ = writeln!(text, "  {subject}: {}: {}", unhealthy.health, unhealthy.reason);
    }
    let sign = look.paint(Role::Warn, "warning:");
    for warning in &target.warnings {
        let _ = writeln!(text, "  {sign} {warning}");
    }
    text
}
