//! What a target of an open rollout waits for, and until when.

use jiff::{SignedDuration, Timestamp};

use super::model::{GateReport, StepReport, TargetStand};
use super::sights::Open;
use crate::cluster::state::{Approval, Header, Stand, TargetProgress, WavePlan};
use crate::rollout::{Pause, Step};

/// What is known of the wave of a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    /// The wave.
    pub wave: &'a WavePlan,
    /// Its place, from 0.
    pub index: usize,
    /// The first wave that is not done, from 0.
    pub current: usize,
    /// When its soak is over.
    pub soak_until: Option<Timestamp>,
    /// All approvals that were read, from whichever record.
    pub approvals: &'a [Approval],
}

impl Around<'_> {
    /// Whether the wave may not start before someone approves.
    pub(super) fn needs_approval(&self) -> bool {
        self.wave.approval && !self.is_approved(None)
    }

    /// Whether someone has approved the wave, or a pause in it.
    pub(super) fn is_approved(&self, step: Option<usize>) -> bool {
        self.approvals.iter().any(|a| a.wave == self.index && a.step == step)
    }
}

/// The step that a target is at, or failed at; of one that is done the last one, without its word.
pub(super) fn step(
    progress: &TargetProgress,
    steps: &[Step],
    state: TargetStand,
) -> Option<StepReport> {
    use TargetStand::{Failed, Interrupted, Paused, Running, Succeeded};
    let of = progress.steps.len();
    if of == 0 {
        return None;
    }
    let word = |at: usize| Some(steps.get(*progress.steps.get(at)?)?.word().to_owned());
    match state {
        Succeeded => Some(StepReport { number: of, of, step: None }),
        Running | Interrupted | Paused | Failed => {
            // Between two steps by hand, the last one.
            let at = progress.done.min(of - 1);
            Some(StepReport { number: at + 1, of, step: word(at) })
        }
        TargetStand::Pending
        | TargetStand::Unchanged
        | TargetStand::Undoing
        | TargetStand::Undone
        | TargetStand::NotStaged
        | TargetStand::Unreachable => None,
    }
}

/// The step that a target is at, as an index into the header's steps.
pub(super) fn step_at(open: &Open) -> Option<usize> {
    open.progress.steps.get(open.progress.done).copied()
}

/// The pause that a target is at.
pub(super) fn pause(open: &Open, header: &Header) -> Option<Pause> {
    match header.steps.get(step_at(open)?)? {
        Step::Pause(pause) => Some(*pause),
        Step::Canary(_) | Step::Run(_) | Step::Primary | Step::Clean => None,
    }
}

/// What a target waits for.
pub(super) fn gate(
    open: &Open,
    header: &Header,
    around: &Around<'_>,
    now: Timestamp,
) -> Option<GateReport> {
    let progress = &open.progress;
    let until = |kind: &str, until: Timestamp| GateReport {
        kind: kind.to_owned(),
        until: Some(until.to_string()),
        seconds_left: Some(until.duration_since(now).as_secs().max(0)),
    };
    let without =
        |kind: &str| GateReport { kind: kind.to_owned(), until: None, seconds_left: None };
    match progress.stand {
        Stand::Pending if around.index > around.current => Some(without("wave")),
        Stand::Pending if around.needs_approval() => Some(without("approval")),
        Stand::Pending => Some(without("slot")),
        Stand::Running => {
            let deadline = after(progress.since, around.wave.progress_deadline);
            Some(deadline.map_or_else(|| without("health"), |t| until("health", t)))
        }
        Stand::Paused => {
            if around.is_approved(step_at(open)) {
                return None;
            }
            if header.by_hand {
                return Some(without("hand"));
            }
            match pause(open, header).and_then(|pause| pause.end(progress.since)) {
                Some(end) => Some(until("pause", end)),
                None => Some(without("approval")),
            }
        }
        Stand::Succeeded if around.index == around.current => {
            around.soak_until.map(|t| until("soak", t))
        }
        Stand::Succeeded | Stand::Failed | Stand::Undoing | Stand::Undone => None,
    }
}

/// A time so much later; none where no calendar has it.
pub(super) fn after(then: Timestamp, later: std::time::Duration) -> Option<Timestamp> {
    then.checked_add(SignedDuration::try_from(later).ok()?).ok()
}
