//! What the driver finds when it begins: how far each target is, by its own record.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::cluster::state::{ClosedRollout, Header, Stand, TargetProgress};
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::rollout::{Member, State, Step, Wave};

/// What is known of a target when the driver begins.
#[derive(Clone, Debug)]
pub enum Known {
    /// Its record has the rollout open.
    Open(Box<TargetProgress>),
    /// Its record has the rollout closed.
    Closed(ClosedRollout),
    /// Its record cannot be read, or knows nothing of the rollout.
    Missing(Error),
}

/// What the driver remembers of a target, besides what the scheduler needs.
#[derive(Debug)]
pub(super) struct Track {
    /// Its wave, from 0.
    pub wave: usize,
    /// Its place in the wave, from 0.
    pub place: usize,
    /// The header's steps that it goes through.
    pub steps: Vec<usize>,
    /// How many of them are done.
    pub done: usize,
    /// The release that was active before.
    pub previous: Option<u64>,
    /// Its record has the rollout open.
    pub open: bool,
    /// It counted as failed, now or in an earlier run.
    pub failed: bool,
    /// It is back at what was before.
    pub undone: bool,
    /// It was never staged.
    pub not_staged: bool,
    /// The record was told that its wave soaks.
    pub soak_is_noted: bool,
    /// Since when it was not healthy, by the looks since it had done its steps.
    pub unwell: Option<Timestamp>,
    /// Why it failed.
    pub errors: Vec<Error>,
    /// What else did not work, and no budget covers.
    pub troubles: Vec<Error>,
}

impl Track {
    /// The step that comes next, as an index into the header's steps.
    pub(super) fn next_step(&self) -> Option<usize> {
        self.steps.get(self.done).copied()
    }
}

/// The waves of a rollout with where their targets are, and what else is known of these. `local`
/// brings a time of a target's server to the driver's clock.
pub(super) fn begin(
    header: &Header,
    mut known: BTreeMap<TargetName, Known>,
    cap: Option<usize>,
    retry: bool,
    local: impl Fn(&TargetName, Timestamp) -> Timestamp,
) -> (Vec<Wave>, BTreeMap<TargetName, Track>) {
    let mut tracks = BTreeMap::new();
    let mut waves = Vec::new();
    for (index, plan) in header.waves.iter().enumerate() {
        let mut targets = Vec::new();
        for (place, there) in plan.targets.iter().enumerate() {
            let name = &there.target;
            let known = match (&there.not_staged, known.remove(name)) {
                (_, Some(known)) => known,
                (Some(why), None) => Known::Missing(Error::new(Exit::Failed, why).in_target(name)),
                (None, None) => Known::Missing(
                    Error::new(Exit::Failed, "its record knows nothing of the rollout")
                        .in_target(name),
                ),
            };
            let mut track = Track {
                wave: index,
                place,
                steps: Vec::new(),
                done: 0,
                previous: None,
                open: matches!(known, Known::Open(_)),
                failed: false,
                undone: false,
                not_staged: there.not_staged.is_some(),
                soak_is_noted: false,
                unwell: None,
                errors: Vec::new(),
                troubles: Vec::new(),
            };
            let state = match known {
                Known::Open(progress) => {
                    let state = open(header, name, &progress, retry, &local);
                    if state.is_failure() {
                        let why = progress.message.as_deref().unwrap_or("failed in an earlier run");
                        track.errors.push(Error::new(Exit::Failed, why).in_target(name));
                    }
                    track.undone = progress.stand == Stand::Undone;
                    track.soak_is_noted = progress.soak.is_some();
                    track.previous = progress.previous;
                    track.done = progress.done;
                    track.steps = progress.steps;
                    state
                }
                Known::Closed(closed) => {
                    if closed.stand != Stand::Succeeded {
                        let why = closed.message.as_deref().unwrap_or("failed in an earlier run");
                        track.errors.push(Error::new(Exit::Failed, why).in_target(name));
                        track.undone = true;
                    }
                    match closed.stand {
                        Stand::Succeeded => State::Closed,
                        Stand::Pending
                        | Stand::Running
                        | Stand::Paused
                        | Stand::Failed
                        | Stand::Undoing
                        | Stand::Undone => State::Lost,
                    }
                }
                Known::Missing(error) => {
                    track.errors.push(error);
                    State::Missing
                }
            };
            track.failed = state.is_failure();
            targets.push(Member { name: name.clone(), state, busy: false });
            tracks.insert(name.clone(), track);
        }
        waves.push(Wave {
            targets,
            max_concurrent: cap.unwrap_or(usize::MAX).min(plan.max_concurrent),
            max_failures: plan.max_failures,
            mandatory: plan.mandatory.clone(),
            soak: plan.soak,
            approval: plan.approval,
        });
    }
    (waves, tracks)
}

/// How far a target is whose record has the rollout open. What was under way when the run that did
/// it ended is begun again.
fn open(
    header: &Header,
    name: &TargetName,
    progress: &TargetProgress,
    retry: bool,
    local: impl Fn(&TargetName, Timestamp) -> Timestamp,
) -> State {
    match progress.stand {
        Stand::Pending => State::Pending,
        Stand::Running => State::Started,
        Stand::Paused => match progress.steps.get(progress.done).copied() {
            Some(step) => {
                let until = pause_ends(header, step, progress.since);
                State::Paused { step, until: until.map(|at| local(name, at)) }
            }
            None => State::Started,
        },
        Stand::Succeeded => {
            let healthy = progress.healthy.map(|at| local(name, at));
            State::Succeeded { healthy, seen: None }
        }
        Stand::Failed if retry => State::Started,
        Stand::Failed | Stand::Undoing => State::Failed,
        Stand::Undone => State::Lost,
    }
}

/// When a pause that began at `since` is over by itself; both in the time of the target's server.
pub(super) fn pause_ends(header: &Header, step: usize, since: Timestamp) -> Option<Timestamp> {
    match header.steps.get(step) {
        Some(Step::Pause(pause)) => {
            let period = SignedDuration::try_from(pause.period?).unwrap_or(SignedDuration::MAX);
            Some(since.checked_add(period).unwrap_or(Timestamp::MAX))
        }
        Some(Step::Canary(_) | Step::Run(_) | Step::Primary | Step::Clean) | None => None,
    }
}
