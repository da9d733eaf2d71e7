//! Progress on a terminal: a row for each target below the lines, with a spinner and the time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::lines::{name_width, prefixed, sentence};
use super::progress::Progress;
use crate::config::TargetName;
use crate::ui::{Role, Ui, clean};

/// From when on the time of a state is shown: shorter ones only flicker.
const SHOW_TIME: Duration = Duration::from_secs(3);
/// With more targets than this, one that has ended gives its row away: its last line stays above.
const MOST_ROWS: usize = 12;

/// A live area of one row a target.
pub struct Live {
    ui: Ui,
    width: usize,
    keep: bool,
    /// How many targets there are.
    all: usize,
    /// The row that counts, when there are too many to look at each.
    sum: ProgressBar,
    /// What the run as a whole is at.
    head: Mutex<Option<ProgressBar>>,
    rows: Mutex<BTreeMap<TargetName, Row>>,
}

struct Row {
    bar: ProgressBar,
    state: String,
    detail: String,
    /// When the state was entered; set by the first tick after it.
    since: Option<Instant>,
    ended: Option<bool>,
}

impl Live {
    /// A live area for these targets; their rows appear as they are set.
    pub fn new(ui: &Ui, targets: &[TargetName]) -> Self {
        Live {
            ui: ui.clone(),
            width: name_width(targets),
            keep: targets.len() <= MOST_ROWS,
            all: targets.len(),
            sum: ProgressBar::hidden(),
            head: Mutex::default(),
            rows: Mutex::default(),
        }
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<TargetName, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new row, in the order of names.
    fn row(&self, rows: &BTreeMap<TargetName, Row>, target: &TargetName) -> Row {
        let bar = ProgressBar::hidden();
        let bars = self.ui.bars();
        let shown = |row: &Row| self.keep || row.ended.is_none();
        let next = rows.range(target.clone()..).find(|(_, row)| shown(row));
        let bar = match next {
            Some((_, row)) => bars.insert_before(&row.bar, bar),
            None => bars.add(bar),
        };
        bar.set_style(style("{spinner} {prefix}  {wide_msg}"));
        let name = format!("{target:width$}", width = self.width);
        bar.set_prefix(self.ui.err().paint(Role::Bold, &name));
        Row { bar, state: String::new(), detail: String::new(), since: None, ended: None }
    }
}

impl Live {
    /// `12 of 60 done, 1 failed`, above the rows.
    fn count(&self, rows: &BTreeMap<TargetName, Row>) {
        let ended = rows.values().filter_map(|row| row.ended);
        let (done, failed) =
            ended.fold((0, 0), |(done, failed), ok| (done + 1, failed + usize::from(!ok)));
        if done == 1 {
            let head = self.head.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            self.ui.bars().insert(usize::from(head), self.sum.clone());
            self.sum.set_style(style("{wide_msg}"));
        }
        let failed = match failed {
            0 => String::new(),
            n => self.ui.err().paint(Role::Fail, &format!(", {n} failed")),
        };
        self.sum.set_message(format!("{done} of {} done{failed}", self.all));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .tick_strings(&["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", " "])
}

impl Progress for Live {
    fn set(&self, target: &TargetName, state: &str, detail: &str) {
        let mut rows = self.rows();
        if !rows.contains_key(target) {
            let row = self.row(&rows, target);
            rows.insert(target.clone(), row);
        }
        let Some(row) = rows.get_mut(target) else { return };
        if row.state != state {
            row.since = None;
            row.state = state.to_owned();
        }
        row.detail = clean(detail).replace('\n', " ");
        row.bar.set_message(sentence(&row.state, None, &row.detail));
    }

    fn line(&self, target: Option<&TargetName>, text: &str) {
        self.ui.status(&prefixed(target, self.width, text, self.ui.err()));
    }

    fn head(&self, text: &str) {
        let text = clean(text).replace('\n', " ");
        let text = self.ui.err().paint(Role::Bold, &text);
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = head.get_or_insert_with(|| {
            let bar = self.ui.bars().insert(0, ProgressBar::hidden());
            bar.set_style(style("{wide_msg}"));
            bar
        });
        bar.set_message(text);
        bar.tick();
    }

    fn done(&self, target: &TargetName, ok: bool, text: &str) {
        let look = self.ui.err();
        let (sign, role) = if ok { ("✔", Role::Ok) } else { ("✖", Role::Fail) };
        let text = clean(text);
        let mut rows = self.rows();
        // One may end before it began: a cluster that is not in the kubeconfig.
        if !rows.contains_key(target) {
            let row = self.row(&rows, target);
            rows.insert(target.clone(), row);
        }
        let Some(row) = rows.get_mut(target) else { return };
        row.ended = Some(ok);
        if self.keep {
            row.bar
                .set_style(style(&format!("{} {{prefix}}  {{wide_msg}}", look.paint(role, sign))));
            row.bar.abandon_with_message(text.replace('\n', " "));
        } else {
            row.bar.finish_and_clear();
            self.ui.bars().remove(&row.bar);
            let line = format!("{} {text}", look.paint(role, sign));
            self.ui.status(&prefixed(Some(target), self.width, &line, look));
            self.count(&rows);
        }
    }

    fn rest(&self, target: &TargetName) {
        let mut rows = self.rows();
        if rows.get(target).is_some_and(|row| row.ended.is_none())
            && let Some(row) = rows.remove(target)
        {
            row.bar.finish_and_clear();
            self.ui.bars().remove(&row.bar);
        }
    }

    fn again(&self, target: &TargetName) {
        if let Some(row) = self.rows().remove(target) {
            row.bar.finish_and_clear();
            self.ui.bars().remove(&row.bar);
        }
    }

    fn tick(&self, now: Instant) {
        for row in self.rows().values_mut().filter(|row| row.ended.is_none()) {
            let since = *row.since.get_or_insert(now);
            let time = now.saturating_duration_since(since);
            if time >= SHOW_TIME {
                row.bar.set_message(sentence(&row.state, Some(time), &row.detail));
            }
            row.bar.tick();
        }
        // What is drawn too soon after the last time is not drawn: these change without a spinner.
        if let Some(head) = &*self.head.lock().unwrap_or_else(PoisonError::into_inner) {
            head.tick();
        }
        if !self.sum.message().is_empty() {
            self.sum.tick();
        }
    }

    fn finish(&self) {
        let mut rows = self.rows();
        for row in rows.values() {
            row.bar.finish_and_clear();
        }
        rows.clear();
        self.sum.finish_and_clear();
        if let Some(head) = self.head.lock().unwrap_or_else(PoisonError::into_inner).take() {
            head.finish_and_clear();
        }
        // A terminal that cannot be cleared any more has nobody in front of it.
        let _ = self.ui.bars().clear();
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;
    use insta::assert_snapshot;

    use super::*;

    fn names(names: &[&str]) -> Vec<TargetName> {
        names.iter().map(|n| TargetName::new(*n)).collect()
    }

    #[test]
    fn rows_stand_in_the_order_of_names_with_their_time() {
        let term = InMemoryTerm::new(20, 60);
        let (ui, written) = Ui::live_in(&term);
        assert!(ui.is_live());
        let targets = names(&["eu", "us-east", "us-west"]);
        let live = Live::new(&ui, &targets);
        let start = Instant::now();
        live.set(&targets[2], "connecting", "");
        live.set(&targets[0], "applying", "deployment.apps/web");
        live.tick(start);
        assert_snapshot!(term.contents(), @"
        ⠙ eu       applying: deployment.apps/web
        ⠙ us-west  connecting
        ");

        live.set(
            &targets[1],
            "waiting",
            "Deployment shop/web: pod web-7d9: ImagePullBackOff: Back-off",
        );
        live.line(Some(&targets[0]), "deployment.apps/web configured");
        live.done(&targets[2], false, "unreachable: no route to host");
        live.tick(start);
        live.tick(start + Duration::from_secs(75));
        assert_snapshot!(term.contents(), @"
        ⠸ eu       applying (1m15s): deployment.apps/web
        ⠹ us-east  waiting (1m15s): Deployment shop/web: pod web-7d9
        ✖ us-west  unreachable: no route to host
        ");
        assert_eq!(written.stderr(), "eu       deployment.apps/web configured\n");

        live.finish();
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn what_is_shown_stays_within_the_terminal_and_says_first_what_the_run_is_at() {
        let term = InMemoryTerm::new(6, 60);
        let (ui, _) = Ui::live_in(&term);
        let targets: Vec<TargetName> =
            (0..40).map(|n| TargetName::new(format!("c{n:02}"))).collect();
        let live = Live::new(&ui, &targets);
        live.head("wave 1 of 2 (first): 40 targets");
        targets.iter().for_each(|target| live.set(target, "1/3 canary: applying", ""));
        live.done(&targets[7], true, "3/3 clean: done");
        live.head("wave 2 of 2 (rest): 40 targets");
        // No two draws come too soon after each other; the next tick makes good for it.
        let first = "wave 2 of 2 (rest): 40 targets\n1 of 40 done\n";
        let end = Instant::now() + Duration::from_secs(30);
        while !term.contents().starts_with(first) {
            assert!(Instant::now() < end, "{}", term.contents());
            live.tick(Instant::now());
            std::thread::yield_now();
        }
        assert!(term.contents().lines().count() <= 6, "{}", term.contents());
        live.again(&targets[7]);
        live.set(&targets[7], "going back", "");
        live.finish();
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn of_many_targets_those_that_ended_give_their_rows_away() {
        let term = InMemoryTerm::new(20, 60);
        let (ui, written) = Ui::live_in(&term);
        let targets: Vec<TargetName> =
            (0..20).map(|n| TargetName::new(format!("c{n:02}"))).collect();
        let live = Live::new(&ui, &targets);
        live.set(&targets[1], "applying", "");
        live.set(&targets[2], "applying", "");
        live.done(&targets[2], true, "healthy");
        live.set(&targets[0], "applying", "");
        live.done(&targets[3], false, "no such context");
        live.tick(Instant::now());
        assert_snapshot!(term.contents(), @"
        2 of 20 done, 1 failed
        ⠙ c00  applying
        ⠙ c01  applying
        ");
        live.rest(&targets[1]);
        live.rest(&targets[2]);
        assert_snapshot!(term.contents(), @"
        2 of 20 done, 1 failed
        ⠙ c00  applying
        ");
        live.finish();
        assert_eq!(term.contents(), "");
        assert_eq!(written.stderr(), "c02  ✔ healthy\nc03  ✖ no such context\n");
    }
}
