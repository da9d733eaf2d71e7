//! The loop over all targets of a rollout: asks the scheduler what comes next, has the fleet do it,
//! and waits for the first thing to end. It keeps nothing that the records do not: whoever drives
//! next, here or on another machine, begins from what they say.

mod clock;
mod fleet;
mod known;
mod news;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, FuturesUnordered, StreamExt};
use jiff::Timestamp;

use self::clock::{Clock, Doorbell, until};
use self::known::{Track, pause_ends};
use self::news::News;
use crate::cluster::state::{Approval, Header, Stand};
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::rollout::{Decision, Gate, Member, OnFailure, Seen, State, Stop, Wave, schedule};

pub use fleet::{Ended, Fleet, How, Looked};
pub use known::Known;
pub use outcome::{End, Outcome, TargetOutcome};

#[cfg(test)]
mod simulate;
#[cfg(test)]
mod tests;

/// How long a target may be unwell that was healthy after its steps: pods move and autoscalers add
/// some, which is no reason to stop a rollout. The soak does not end meanwhile.
const DIP: Duration = Duration::from_secs(60);

/// How many records are closed at once.
const CLOSING: usize = 16;

/// Drives a rollout as far as it goes: to its end, a stop, an approval that is missing, or the end
/// of the run. What the header's `on_failure` asks for after a stop is done too, and the records of
/// what is over are closed.
pub async fn drive<F: Fleet>(
    fleet: &F,
    header: &Header,
    known: BTreeMap<TargetName, Known>,
    how: &How,
) -> Outcome {
    let mut driver = Driver::new(fleet, header, known, how);
    driver.run().await;
    if driver.done {
        driver.close_all().await;
    }
    let stopped = driver.stop.as_ref().map(|stop| stop.wave);
    if let Some(wave) = stopped
        && !driver.is_halted()
        && driver.blocked.is_none()
    {
        match header.on_failure {
            OnFailure::Stop => {}
            OnFailure::RollbackWave => {
                driver.take_back(wave).await;
                driver.close_all().await;
            }
            OnFailure::RollbackAll => driver.take_back(0).await,
        }
    }
    driver.outcome()
}

/// Takes every target of a rollout back to what was before, the last wave first, and closes its
/// record. What fails or cannot be reached keeps its record open, and keeps no other from going
/// back.
pub async fn abort<F: Fleet>(
    fleet: &F,
    header: &Header,
    known: BTreeMap<TargetName, Known>,
    how: &How,
) -> Outcome {
    let mut driver = Driver::new(fleet, header, known, how);
    driver.take_back(0).await;
    for target in driver.waves.iter().flat_map(|wave| &wave.targets) {
        if let (State::Closed, Some(track)) = (target.state, driver.tracks.get_mut(&target.name)) {
            let name = &target.name;
            track.troubles.push(
                Error::new(Exit::Failed, "it has ended there already, and is not taken back")
                    .in_target(name)
                    .hint(format!("go back with `mcd rollback -t {name}`")),
            );
        }
    }
    driver.outcome()
}

/// Something to do in a target.
#[derive(Debug)]
enum Task {
    Advance(Option<usize>),
    Look { last: bool },
    Undo { why: String },
    NoteSoak(Timestamp),
}

/// What came of it.
#[derive(Debug)]
enum Came {
    Advanced(Ended),
    Looked(Looked),
    Undone(Result<(), Error>),
    Noted(Result<(), Error>),
    Approvals(Result<Vec<Approval>, (TargetName, Error)>),
}

async fn perform<F: Fleet>(
    fleet: &F,
    target: TargetName,
    task: Task,
) -> (Option<TargetName>, Came) {
    let came = match task {
        Task::Advance(step) => Came::Advanced(fleet.advance(&target, step).await),
        Task::Look { last } => Came::Looked(fleet.look(&target, last).await),
        Task::Undo { why } => {
            let undone = fleet.undo(&target).await;
            Came::Undone(match undone {
                Ok(()) => fleet.close(&target, Stand::Failed, Some(why)).await,
                Err(error) => Err(error),
            })
        }
        Task::NoteSoak(since) => Came::Noted(fleet.note_soak(&target, since).await),
    };
    (Some(target), came)
}

async fn ask<F: Fleet>(fleet: &F, wave: usize) -> (Option<TargetName>, Came) {
    (None, Came::Approvals(fleet.approvals(wave).await))
}

struct Driver<'a, F> {
    fleet: &'a F,
    header: &'a Header,
    how: &'a How,
    clock: Clock,
    waves: Vec<Wave>,
    tracks: BTreeMap<TargetName, Track>,
    approved: BTreeSet<Gate>,
    news: News<'a>,
    stop: Option<Stop>,
    waits_for: Vec<Gate>,
    /// The target that someone else has to let go first.
    blocked: Option<TargetName>,
    done: bool,
}

impl<'a, F: Fleet> Driver<'a, F> {
    fn new(
        fleet: &'a F,
        header: &'a Header,
        known: BTreeMap<TargetName, Known>,
        how: &'a How,
    ) -> Self {
        let clock = Clock::start();
        let local = |target: &TargetName, at| clock.local(fleet.now(target), at);
        let (waves, tracks) = known::begin(header, known, how.cap, how.retry_failed, local);
        Driver {
            fleet,
            header,
            how,
            clock,
            waves,
            tracks,
            approved: BTreeSet::new(),
            news: News::new(header, &how.events),
            stop: None,
            waits_for: Vec::new(),
            blocked: None,
            done: false,
        }
    }

    fn is_halted(&self) -> bool {
        self.how.halt.is_cancelled()
    }

    /// Decides and acts until nothing can go on.
    async fn run(&mut self) {
        let fleet = self.fleet;
        let mut works = FuturesUnordered::new();
        let mut questions = FuturesUnordered::new();
        let mut doorbell = Doorbell::default();
        loop {
            let over = self.is_halted() || self.blocked.is_some();
            let decision = match over {
                true => Decision::default(),
                false => self.decide(doorbell.was_answered()),
            };
            for (target, task) in self.tasks(&decision) {
                works.push(perform(fleet, target, task));
            }
            let idle = works.is_empty();
            if self.is_halted() {
                self.news.halted();
            }
            if idle && (over || decision.done || decision.stop.is_some()) {
                return;
            }
            // An approval would let something go on, or go on sooner.
            let gated = !decision.waits_for.is_empty() || decision.pauses;
            let stuck = idle && decision.again_at.is_none();
            if stuck && (!gated || doorbell.is_in_vain(self.how.wait_approval)) {
                self.waits_for = decision.waits_for.into_iter().collect();
                return;
            }
            if gated
                && let Some(wave) = decision.wave
                && questions.is_empty()
                && doorbell.is_to_ring(idle)
            {
                questions.push(ask(fleet, wave));
            }
            let again = decision.again_at.map(|at| self.clock.instant(at));
            let ring = (gated && questions.is_empty()).then(|| doorbell.next());
            let wake = again.into_iter().chain(ring).min();
            let (target, came) = tokio::select! {
                Some(came) = works.next() => came,
                Some(came) = questions.next() => came,
                () = until(wake) => continue,
                () = self.how.halt.cancelled(), if !over => continue,
            };
            match (target, came) {
                (Some(target), came) => {
                    doorbell.moved();
                    self.take(&target, came);
                }
                (None, Came::Approvals(approvals)) => {
                    doorbell.answered(works.is_empty());
                    match approvals {
                        Ok(approvals) => self.learn(&approvals),
                        Err((target, error)) => self.is_blocked(&target, error),
                    }
                }
                (None, _) => {}
            }
        }
    }

    /// Asks the scheduler, and tells what is new; that approvals are missing only once they were
    /// asked for.
    fn decide(&mut self, was_asked: bool) -> Decision {
        let decision = schedule(&self.waves, &self.approved, self.clock.now());
        if self.stop.is_none() {
            self.stop.clone_from(&decision.stop);
        }
        self.done = decision.done;
        self.news.decided(&decision, &self.waves, was_asked);
        decision
    }

    /// What the decision comes to, each target marked as busy.
    fn tasks(&mut self, decision: &Decision) -> Vec<(TargetName, Task)> {
        let mut tasks = Vec::new();
        if let Some(soak) = decision.soak {
            tasks.extend(self.notes_of_soak(decision.wave, soak.since));
        }
        let begin = decision.start.iter().chain(&decision.go_on);
        for name in begin.chain(&decision.look).chain(&decision.undo) {
            let Some((member, track)) = at(&mut self.waves, &mut self.tracks, name) else {
                continue;
            };
            if member.busy {
                continue;
            }
            let task = match member.state {
                State::Paused { .. } => Task::Advance(track.next_step()),
                State::Pending | State::Started => {
                    self.news.step_starts(name, track);
                    member.state = State::Started;
                    Task::Advance(track.next_step())
                }
                State::Succeeded { .. } => {
                    Task::Look { last: is_too_late(self.header, member, track, self.clock.now()) }
                }
                State::Failed => {
                    self.news.goes_back(name, track);
                    Task::Undo { why: message(&track.errors) }
                }
                State::Lost | State::Missing | State::Closed => continue,
            };
            member.busy = true;
            tasks.push((name.clone(), task));
        }
        tasks
    }

    /// The targets whose records are still to be told that their wave soaks.
    fn notes_of_soak(&mut self, wave: Option<usize>, since: Timestamp) -> Vec<(TargetName, Task)> {
        let Some(wave) = wave.and_then(|index| self.waves.get_mut(index)) else {
            return Vec::new();
        };
        let mut tasks = Vec::new();
        for member in &mut wave.targets {
            let Some(track) = self.tracks.get_mut(&member.name) else { continue };
            let soaks = matches!(member.state, State::Succeeded { .. });
            if soaks && !member.busy && !track.soak_is_noted {
                track.soak_is_noted = true;
                member.busy = true;
                let since = self.clock.theirs(self.fleet.now(&member.name), since);
                tasks.push((member.name.clone(), Task::NoteSoak(since)));
            }
        }
        tasks
    }

    /// Takes note of what came of a task.
    fn take(&mut self, name: &TargetName, came: Came) {
        let now = self.clock.now();
        let theirs = self.fleet.now(name);
        let Some((member, track)) = at(&mut self.waves, &mut self.tracks, name) else { return };
        member.busy = false;
        let failed = |track: &mut Track, error: Error| {
            track.failed = true;
            track.errors.push(error.in_target(name));
        };
        match came {
            Came::Advanced(Ended::Done) => {
                self.news.step_ended(name, track, true);
                track.done = track.steps.len().min(track.done.saturating_add(1));
                member.state = match track.next_step() {
                    Some(_) => State::Started,
                    None => State::Succeeded { healthy: None, seen: None },
                };
            }
            Came::Advanced(Ended::Paused { since }) => {
                member.state = match track.next_step() {
                    Some(step) => {
                        let until = pause_ends(self.header, step, since);
                        self.news.paused(name, track, until);
                        State::Paused { step, until: until.map(|at| self.clock.local(theirs, at)) }
                    }
                    None => State::Started,
                };
            }
            Came::Advanced(Ended::Failed(error)) => {
                self.news.step_ended(name, track, false);
                self.news.failed(name, &error);
                failed(track, error);
                member.state = State::Failed;
            }
            Came::Looked(Looked::Failed(error)) => {
                self.news.failed(name, &error);
                failed(track, error);
                member.state = State::Failed;
            }
            Came::Advanced(Ended::Unreachable(error)) => {
                self.news.step_ended(name, track, false);
                self.news.failed(name, &error);
                failed(track, error);
                member.state = State::Missing;
            }
            Came::Advanced(Ended::Blocked(error)) | Came::Looked(Looked::Blocked(error)) => {
                track.troubles.push(error.in_target(name));
                self.blocked.get_or_insert_with(|| name.clone());
            }
            Came::Looked(Looked::Healthy { since }) => {
                let first = member.state.healthy();
                let healthy = first.unwrap_or_else(|| self.clock.local(theirs, since));
                let seen = Some(Seen { at: now, well: true });
                member.state = State::Succeeded { healthy: Some(healthy), seen };
                track.unwell = None;
            }
            Came::Looked(Looked::NotYet(reason)) => {
                self.news.waits(name, reason);
                unwell(member, track, now);
            }
            // One lost answer is no failure: the target may be asked again until its time is over.
            Came::Looked(Looked::Unreachable(error)) => {
                if is_too_late(self.header, member, track, now) {
                    self.news.failed(name, &error);
                    failed(track, error);
                    member.state = State::Missing;
                } else {
                    self.news.waits(name, error.message().to_owned());
                    unwell(member, track, now);
                }
            }
            Came::Undone(Ok(())) => {
                track.undone = true;
                track.open = false;
                self.news.is_back(name, track);
                member.state = State::Lost;
            }
            Came::Undone(Err(error)) if is_halt(&error) => {}
            Came::Undone(Err(error)) => {
                self.news.failed(name, &error);
                failed(track, error);
                member.state = State::Lost;
            }
            Came::Noted(Err(error)) => {
                self.how.events.of(name).warn(None, format!("the soak is not recorded: {error:#}"));
            }
            Came::Noted(Ok(()))
            | Came::Approvals(_)
            | Came::Advanced(Ended::Halted)
            | Came::Looked(Looked::Halted) => {}
        }
    }

    /// Someone else has to let go first.
    fn is_blocked(&mut self, target: &TargetName, error: Error) {
        if let Some(track) = self.tracks.get_mut(target) {
            track.troubles.push(error.in_target(target));
        }
        self.blocked.get_or_insert_with(|| target.clone());
    }

    fn learn(&mut self, approvals: &[Approval]) {
        for approval in approvals {
            let gate = Gate { wave: approval.wave, step: approval.step };
            if self.approved.insert(gate) {
                self.news.approved(approval);
            }
        }
    }

    /// Takes the targets of the waves from `first` on back, the last wave first, and closes the
    /// records of those that are back.
    async fn take_back(&mut self, first: usize) {
        for index in (first..self.waves.len()).rev() {
            let Some(wave) = self.waves.get(index) else { continue };
            let open = |name: &TargetName| self.tracks.get(name).is_some_and(|track| track.open);
            let names: Vec<TargetName> =
                wave.targets.iter().map(|t| t.name.clone()).filter(open).collect();
            let limit = wave.max_concurrent.clamp(1, names.len().max(1));
            let (fleet, halt, news, tracks) =
                (self.fleet, &self.how.halt, &self.news, &self.tracks);
            let back = stream::iter(names).map(|name| async move {
                if halt.is_cancelled() {
                    return (name, None);
                }
                let track = tracks.get(&name);
                if let Some(track) = track {
                    news.goes_back(&name, track);
                }
                let why = track.map(|track| message(&track.errors)).filter(|why| !why.is_empty());
                let result = match fleet.undo(&name).await {
                    Ok(()) => fleet.close(&name, Stand::Undone, why).await,
                    Err(error) => Err(error),
                };
                (name, Some(result))
            });
            let back: Vec<_> = back.buffer_unordered(limit).collect().await;
            for (name, result) in back {
                let Some((member, track)) = at(&mut self.waves, &mut self.tracks, &name) else {
                    continue;
                };
                match result {
                    None => {}
                    Some(Ok(())) => {
                        track.undone = true;
                        track.open = false;
                        member.state = State::Lost;
                        self.news.is_back(&name, track);
                    }
                    Some(Err(error)) if is_halt(&error) => {}
                    Some(Err(error)) => {
                        self.news.failed(&name, &error);
                        track.troubles.push(error.in_target(&name));
                    }
                }
            }
        }
    }

    /// Closes the records of all targets that have ended.
    async fn close_all(&mut self) {
        let mut ended = Vec::new();
        for member in self.waves.iter().flat_map(|wave| &wave.targets) {
            let Some(track) = self.tracks.get(&member.name).filter(|track| track.open) else {
                continue;
            };
            match member.state {
                State::Succeeded { .. } => {
                    ended.push((member.name.clone(), Stand::Succeeded, None));
                }
                State::Lost if track.undone => {
                    let why = message(&track.errors);
                    ended.push((member.name.clone(), Stand::Failed, Some(why)));
                }
                State::Pending
                | State::Started
                | State::Paused { .. }
                | State::Failed
                | State::Lost
                | State::Missing
                | State::Closed => {}
            }
        }
        let fleet = self.fleet;
        let closing = stream::iter(ended).map(|(name, stand, why)| async move {
            let result = fleet.close(&name, stand, why).await;
            (name, result)
        });
        let closed: Vec<_> = closing.buffer_unordered(CLOSING).collect().await;
        for (name, result) in closed {
            let Some(track) = self.tracks.get_mut(&name) else { continue };
            match result {
                Ok(()) => track.open = false,
                Err(error) => track.troubles.push(error.in_target(&name)),
            }
        }
    }

    fn outcome(self) -> Outcome {
        let mut outcome = Outcome {
            targets: BTreeMap::new(),
            stop: self.stop,
            waits_for: self.waits_for,
            // What ended before it could be told to stop has ended.
            halted: self.how.halt.is_cancelled() && self.tracks.values().any(|track| track.open),
            done: self.done,
        };
        let mut tracks = self.tracks;
        for member in self.waves.into_iter().flat_map(|wave| wave.targets) {
            let Some(track) = tracks.remove(&member.name) else { continue };
            let end = match member.state {
                State::Pending => End::NotStarted,
                State::Started | State::Paused { .. } => End::Unfinished,
                State::Succeeded { .. } | State::Closed => End::Succeeded,
                State::Lost if track.undone => End::Undone,
                State::Failed | State::Lost => End::Failed,
                State::Missing if track.not_staged => End::NotStaged,
                State::Missing => End::Unreachable,
            };
            let Track { wave, failed, open, errors, troubles, .. } = track;
            let target = TargetOutcome { wave, end, failed, open, errors, troubles };
            outcome.targets.insert(member.name, target);
        }
        outcome
    }
}

/// A target, for the scheduler and for the driver.
fn at<'a>(
    waves: &'a mut [Wave],
    tracks: &'a mut BTreeMap<TargetName, Track>,
    name: &TargetName,
) -> Option<(&'a mut Member, &'a mut Track)> {
    let track = tracks.get_mut(name)?;
    let member = waves.get_mut(track.wave)?.targets.get_mut(track.place)?;
    Some((member, track))
}

/// Whether the time is over in which a target that has done its steps may be unwell.
fn is_too_late(header: &Header, member: &Member, track: &Track, now: Timestamp) -> bool {
    let wave = header.waves.get(track.wave);
    let deadline = wave.map_or(Duration::ZERO, |wave| wave.progress_deadline);
    let was_healthy = member.state.healthy().is_some();
    let patience = if was_healthy { deadline.min(DIP) } else { deadline };
    track.unwell.is_some_and(|since| {
        Duration::try_from(now.duration_since(since)).is_ok_and(|unwell| unwell >= patience)
    })
}

fn unwell(member: &mut Member, track: &mut Track, now: Timestamp) {
    track.unwell.get_or_insert(now);
    if let State::Succeeded { seen, .. } = &mut member.state {
        *seen = Some(Seen { at: now, well: false });
    }
}

/// The run was told to stop before the call had done its work.
fn is_halt(error: &Error) -> bool {
    matches!(error.exit(), Exit::Interrupted | Exit::Terminated)
}

/// Why a target failed, for its record.
fn message(errors: &[Error]) -> String {
    errors.first().map(|error| format!("{error:#}")).unwrap_or_default()
}
