//! What is shown while a run is on: rows that move on a terminal, lines elsewhere.

use std::time::{Duration, Instant};

use super::{Lines, Live};
use crate::config::TargetName;
use crate::ui::Ui;

/// How often [`Progress::tick`] wants to be called.
pub const TICK: Duration = Duration::from_millis(125);

/// Shows what each target is at. All methods may be called from any task, in any order.
pub trait Progress: Send + Sync {
    /// The target is at `state` ("applying"), of which `detail` says more ("deployment.apps/web").
    fn set(&self, target: &TargetName, state: &str, detail: &str);

    /// A line that stays, of a target or of the run.
    fn line(&self, target: Option<&TargetName>, text: &str);

    /// What the run as a whole is at, until the next such line.
    fn head(&self, text: &str);

    /// Nothing is under way for the target now; it may come again.
    fn rest(&self, target: &TargetName);

    /// The target has ended, and something is under way for it again.
    fn again(&self, target: &TargetName);

    /// The target has ended, well or not, with a few words. Lines stay; a row stays until
    /// [`Progress::finish`], after which the run's own table says more.
    fn done(&self, target: &TargetName, ok: bool, text: &str);

    /// Time has passed: spinners turn, and waits that grow long are said again. `now` is a
    /// parameter so that tests need not wait.
    fn tick(&self, now: Instant);

    /// The run is over: what moves goes away, what stays has been written.
    fn finish(&self);
}

/// The one that suits the terminal, for these targets.
pub fn progress(ui: &Ui, targets: &[TargetName]) -> Box<dyn Progress> {
    if ui.is_live() { Box::new(Live::new(ui, targets)) } else { Box::new(Lines::new(ui, targets)) }
}

/// `40s`, `3m20s`, `1h5m`: as kubectl prints an age, in its two greatest units.
pub(super) fn age(time: Duration) -> String {
    let s = time.as_secs();
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, 0) => format!("{m}m"),
        (0, m, s) => format!("{m}m{s}s"),
        (h, 0, _) => format!("{h}h"),
        (h, m, _) => format!("{h}h{m}m"),
    }
}
