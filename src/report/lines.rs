//! Progress without a terminal: a line when something changes, and a sign of life on long waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::progress::{Progress, age};
use crate::config::TargetName;
use crate::ui::{Look, Role, Ui, clean};

/// How long a target may be silent (a CI system ends a job that is, and its reader wonders).
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How long a state has to last for a line: the quick ones only make noise in a log.
const WORTH_A_LINE: Duration = Duration::from_secs(1);

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

    fn done(&self, target: &TargetName, ok: bool, text: &str) {
        self.rows().remove(target);
        let role = if ok { Role::Ok } else { Role::Fail };
        self.say(target, &self.ui.err().paint(role, &clean(text)));
    }

    fn tick(&self, now: Instant) {
        for (target, row) in self.rows().iter_mut() {
            let since = *row.since.get_or_insert(now);
            let said = *row.said.get_or_insert(now);
            if !row.told && now.saturating_duration_since(since) >= WORTH_A_LINE {
                (row.told, row.said) = (true, Some(now));
                self.say(target, &joined(&row.state, &row.detail));
            } else if now.saturating_duration_since(said) >= HEARTBEAT {
                row.said = Some(now);
                let time = age(now.saturating_duration_since(since));
                let text = match row.detail.as_str() {
                    "" => format!("still {} ({time})", row.state),
                    detail => format!("still {} ({time}): {detail}", row.state),
                };
                self.say(target, &text);
            }
        }
    }

    fn finish(&self) {
        self.rows().clear();
    }
}

/// `applying deployment.apps/web`, or the state alone.
pub(super) fn joined(state: &str, detail: &str) -> String {
    if detail.is_empty() { state.to_owned() } else { format!("{state} {detail}") }
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
        lines.line(Some(&east), "deployment.apps/web configured");
        lines.set(&east, "waiting", "Deployment shop/web: 0/3 ready");
        at(1);
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
        us-east  deployment.apps/web configured
        eu       connecting
        us-east  waiting Deployment shop/web: 1/3 ready
        eu       still connecting (11s)
        wave rest starts
        us-east  still waiting (19s): Deployment shop/web: 1/3 ready
        eu       still connecting (41s)
        us-east  still waiting (40s): Deployment shop/web: 1/3 ready
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
