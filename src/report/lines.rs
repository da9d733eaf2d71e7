//! Progress without a terminal: a line when something changes, and a sign of life on long waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::progress::{Progress, age};
use crate::config::TargetName;
use crate::ui::{Look, Role, Ui, clean};

/// How long a target may be silent at first (a CI system ends a job that is, and its reader
/// wonders). Each time it is said again, the next time is twice as far, up to [`RARELY`].
const HEARTBEAT: Duration = Duration::from_secs(10);
const RARELY: Duration = Duration::from_secs(80);

/// How long a state has to last for a line: the quick ones only make noise in a log.
const WORTH_A_LINE: Duration = Duration::from_secs(2);

/// Up to how many targets have lines of their own when they are at the same.
const FEW: usize = 6;

/// Plain lines on standard error: `us-east  applying`, `us-east  still waiting (40s): …`.
/// A detail that changes often is told by the next heartbeat, not each time.
pub struct Lines {
    ui: Ui,
    width: usize,
    rows: Mutex<BTreeMap<TargetName, Row>>,
}

#[derive(Default)]
struct Row {
    state: String,
    detail: String,
    /// When the state was entered, and when the target last had a line; set by the first tick
    /// after it.
    since: Option<Instant>,
    said: Option<Instant>,
    /// Whether the state has had its line.
    told: bool,
    /// How often it was said since that it lasts.
    beats: u32,
}

impl Row {
    fn silence(&self) -> Duration {
        HEARTBEAT.saturating_mul(2_u32.saturating_pow(self.beats)).min(RARELY)
    }
}

impl Lines {
    /// Lines for these targets, whose names are padded to one width.
    pub fn new(ui: &Ui, targets: &[TargetName]) -> Self {
        Lines { ui: ui.clone(), width: name_width(targets), rows: Mutex::default() }
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<TargetName, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, target: &TargetName, text: &str) {
        self.ui.status(&prefixed(Some(target), self.width, text, self.ui.err()));
    }
}

impl Progress for Lines {
    fn set(&self, target: &TargetName, state: &str, detail: &str) {
        let mut rows = self.rows();
        let row = rows.entry(target.clone()).or_default();
        if row.state == state {
            row.detail = detail.to_owned();
        } else {
            *row = Row { state: state.to_owned(), detail: detail.to_owned(), ..Row::default() };
        }
    }

    fn line(&self, target: Option<&TargetName>, text: &str) {
        // A line is a sign of life too.
        if let Some(target) = target
            && let Some(row) = self.rows().get_mut(target)
        {
            row.said = None;
        }
        self.ui.status(&prefixed(target, self.width, text, self.ui.err()));
    }

    fn head(&self, text: &str) {
        self.ui.status(&clean(text));
    }

    fn done(&self, target: &TargetName, ok: bool, text: &str) {
        self.rows().remove(target);
        let role = if ok { Role::Ok } else { Role::Fail };
        self.say(target, &self.ui.err().paint(role, &clean(text)));
    }

    fn rest(&self, target: &TargetName) {
        self.rows().remove(target);
    }

    fn again(&self, target: &TargetName) {
        self.rest(target);
    }

    fn tick(&self, now: Instant) {
        let mut rows = self.rows();
        let passed = |then: Instant| now.saturating_duration_since(then);
        for row in rows.values_mut() {
            row.since.get_or_insert(now);
            row.said.get_or_insert(now);
        }
        let silent = |row: &Row| row.said.map(passed).unwrap_or_default();
        // Once one has been silent for too long, those that soon will be speak along with it.
        let due = rows.values().any(|row| silent(row) >= row.silence());
        let mut told = Told::new();
        for (target, row) in rows.iter_mut() {
            let time = row.since.map(passed).unwrap_or_default();
            let (state, time) = if !row.told && time >= WORTH_A_LINE {
                row.told = true;
                (row.state.clone(), None)
            } else if due && silent(row) >= row.silence() / 2 {
                row.beats = row.beats.saturating_add(1);
                (format!("still {}", row.state), Some(time))
            } else {
                continue;
            };
            row.said = Some(now);
            told.entry(state).or_default().push((time, target.clone(), row.detail.clone()));
        }
        for (state, rows) in &told {
            if rows.len() > FEW
                && let Some((time, first, detail)) =
                    rows.iter().min_by_key(|(time, _, _)| Reverse(*time))
            {
                let head = format!("{} targets {state}, such as {first}", rows.len());
                self.ui.status(&sentence(&head, *time, detail));
                continue;
            }
            for (time, target, detail) in rows {
                self.say(target, &sentence(state, *time, detail));
            }
        }
    }

    fn finish(&self) {
        self.rows().clear();
    }
}

/// By what they are at: for how long (when it is said again), which target, and its detail.
type Told = BTreeMap<String, Vec<(Option<Duration>, TargetName, String)>>;

/// `still waiting (40s): Deployment shop/web: 1/3 ready`.
pub(super) fn sentence(head: &str, time: Option<Duration>, detail: &str) -> String {
    let time = time.map(|time| format!(" ({})", age(time))).unwrap_or_default();
    let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
    format!("{head}{time}{detail}")
}

/// The widest name, so that texts stand below each other.
pub(super) fn name_width(targets: &[TargetName]) -> usize {
    targets.iter().map(|t| t.as_str().chars().count()).max().unwrap_or(0)
}

/// `us-east  text`, each line of it with the name.
pub(super) fn prefixed(
    target: Option<&TargetName>,
    width: usize,
    text: &str,
    look: Look,
) -> String {
    let Some(target) = target else { return text.to_owned() };
    let name = look.paint(Role::Bold, &format!("{target:width$}"));
    text.lines().map(|line| format!("{name}  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn a_run_in_lines() {
        let (ui, written) = Ui::buffer();
        let (east, eu) = (TargetName::new("us-east"), TargetName::new("eu"));
        let lines = Lines::new(&ui, &[east.clone(), eu.clone()]);
        let start = Instant::now();
        let at = |seconds: u64| lines.tick(start + Duration::from_secs(seconds));

        lines.set(&east, "applying", "");
        lines.set(&eu, "connecting", "");
        at(0);
        at(2);
        lines.line(Some(&east), "deployment.apps/web configured");
        lines.set(&east, "waiting", "Deployment shop/web: 0/3 ready");
        at(3);
        lines.set(&east, "waiting", "Deployment shop/web: 1/3 ready");
        at(9);
        at(10);
        at(11);
        lines.line(None, "wave rest starts");
        at(20);
        at(41);
        lines.done(&east, true, "healthy, 3/3 ready");
        lines.done(&eu, false, "unreachable:\nno route");
        at(90);
        lines.finish();
        assert_snapshot!(written.stderr(), @"
        us-east  applying
        eu       connecting
        us-east  deployment.apps/web configured
        us-east  waiting: Deployment shop/web: 1/3 ready
        wave rest starts
        eu       still connecting (20s)
        us-east  still waiting (17s): Deployment shop/web: 1/3 ready
        eu       still connecting (41s)
        us-east  still waiting (38s): Deployment shop/web: 1/3 ready
        us-east  healthy, 3/3 ready
        eu       unreachable:
        eu       no route
        ");
        assert_eq!(written.stdout(), "");
    }

    #[test]
    fn a_line_counts_as_a_sign_of_life() {
        let (ui, written) = Ui::buffer();
        let east = TargetName::new("us-east");
        let lines = Lines::new(&ui, std::slice::from_ref(&east));
        let start = Instant::now();
        lines.set(&east, "applying", "");
        lines.tick(start);
        lines.tick(start + Duration::from_secs(8));
        lines.line(Some(&east), "configmap/web created");
        lines.tick(start + Duration::from_secs(9));
        lines.tick(start + Duration::from_secs(12));
        assert_eq!(written.stderr(), "us-east  applying\nus-east  configmap/web created\n");
        lines.tick(start + Duration::from_secs(19));
        assert!(written.stderr().ends_with("us-east  still applying (19s)\n"));
    }

    #[test]
    fn many_targets_at_the_same_make_one_line_and_ever_fewer() {
        let (ui, written) = Ui::buffer();
        let targets: Vec<TargetName> =
            (0..9).map(|n| TargetName::new(format!("edge-{n}"))).collect();
        let lines = Lines::new(&ui, &targets);
        let start = Instant::now();
        for (seconds, target) in targets.iter().enumerate() {
            lines.set(target, "waiting", "Deployment shop/web: 1/3 ready");
            lines.tick(start + Duration::from_millis(seconds as u64 * 100));
        }
        for seconds in 1..200 {
            lines.tick(start + Duration::from_secs(seconds));
        }
        lines.rest(&targets[0]);
        lines.tick(start + Duration::from_secs(1000));
        assert_snapshot!(written.stderr(), @"
        edge-0  waiting: Deployment shop/web: 1/3 ready
        8 targets waiting, such as edge-1: Deployment shop/web: 1/3 ready
        9 targets still waiting, such as edge-0 (12s): Deployment shop/web: 1/3 ready
        9 targets still waiting, such as edge-0 (32s): Deployment shop/web: 1/3 ready
        9 targets still waiting, such as edge-0 (1m12s): Deployment shop/web: 1/3 ready
        9 targets still waiting, such as edge-0 (2m32s): Deployment shop/web: 1/3 ready
        8 targets still waiting, such as edge-1 (16m39s): Deployment shop/web: 1/3 ready
        ");
    }

    #[test]
    fn quiet_is_quiet() {
        let options = crate::ui::UiOptions { quiet: true, ..Default::default() };
        let (ui, written) = Ui::buffer_in(crate::ui::World::default(), &options, "");
        let east = TargetName::new("us-east");
        let lines = Lines::new(&ui, std::slice::from_ref(&east));
        lines.set(&east, "applying", "");
        lines.done(&east, true, "healthy");
        assert_eq!(written.stderr(), "");
    }
}
