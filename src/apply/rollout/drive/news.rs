//! What the driver tells: waves, steps, gates and failures, as events.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::known::Track;
use crate::cluster::state::{Approval, Header};
use crate::config::TargetName;
use crate::error::Error;
use crate::event::{EventKind, Events, StepMark, WaveMark};
use crate::rollout::{Decision, Gate, Soak, Wave};

/// Tells what is new, and that once.
#[derive(Debug)]
pub(super) struct News<'a> {
    header: &'a Header,
    events: &'a Events,
    /// The wave that is being worked on.
    wave: Option<usize>,
    /// Whether anything of it was begun in this run.
    has_started: bool,
    gates: BTreeSet<Gate>,
    soak: Option<Soak>,
    is_stopped: bool,
}

impl<'a> News<'a> {
    pub(super) fn new(header: &'a Header, events: &'a Events) -> Self {
        News {
            header,
            events,
            wave: None,
            has_started: false,
            gates: BTreeSet::new(),
            soak: None,
            is_stopped: false,
        }
    }

    /// What a decision says that the one before did not; with `gates` what waits for approval too.
    pub(super) fn decided(&mut self, decision: &Decision, waves: &[Wave], gates: bool) {
        if self.wave != decision.wave {
            if let Some((mark, wave)) = self.wave.and_then(|index| self.wave_at(index, waves)) {
                let failed = wave.targets.iter().filter(|t| t.state.is_failure()).count();
                self.events.send(EventKind::WaveEnded { wave: mark, failed });
            }
            self.wave = decision.wave;
            self.has_started = false;
            self.soak = None;
        }
        let Some((mark, wave)) = decision.wave.and_then(|index| self.wave_at(index, waves)) else {
            return;
        };
        let nothing = decision.start.is_empty() && decision.go_on.is_empty();
        if !(self.has_started || nothing) {
            self.has_started = true;
            let targets = wave.targets.len();
            self.events.send(EventKind::WaveStarted { wave: mark.clone(), targets });
        }
        for gate in decision.waits_for.iter().filter(|_| gates) {
            if self.gates.insert(*gate) {
                let pause = gate.step.map(number);
                self.events.send(EventKind::ApprovalNeeded { wave: mark.clone(), pause });
            }
        }
        if let Some(soak) = decision.soak
            && self.soak.is_none_or(|known| is_another(known.until, soak.until))
        {
            self.soak = Some(soak);
            self.events.send(EventKind::Soak { wave: mark.clone(), until: soak.until });
        }
        if let Some(stop) = &decision.stop
            && !self.is_stopped
        {
            self.is_stopped = true;
            let reason = stop.reason.to_string();
            self.events.send(EventKind::Stopped { wave: Some(mark), reason });
        }
    }

    /// The run was told to stop.
    pub(super) fn halted(&mut self) {
        if !self.is_stopped {
            self.is_stopped = true;
            let reason = "interrupted".to_owned();
            self.events.send(EventKind::Stopped { wave: None, reason });
        }
    }

    fn wave_at<'w>(&self, index: usize, waves: &'w [Wave]) -> Option<(WaveMark, &'w Wave)> {
        let name = &self.header.waves.get(index)?.name;
        Some((WaveMark::new(index, self.header.waves.len(), name), waves.get(index)?))
    }

    fn step(&self, track: &Track) -> Option<StepMark> {
        let step = self.header.steps.get(track.next_step()?)?;
        Some(StepMark::new(track.done, track.steps.len(), step.word()))
    }

    pub(super) fn step_starts(&self, target: &TargetName, track: &Track) {
        if let Some(step) = self.step(track) {
            self.events.of(target).send(EventKind::StepStarted { step });
        }
    }

    pub(super) fn step_ended(&self, target: &TargetName, track: &Track, ok: bool) {
        if let Some(step) = self.step(track) {
            self.events.of(target).send(EventKind::StepEnded { step, ok });
        }
    }

    pub(super) fn paused(&self, target: &TargetName, track: &Track, until: Option<Timestamp>) {
        if let Some(step) = self.step(track) {
            self.events.of(target).send(EventKind::Paused { step, until });
        }
    }

    pub(super) fn failed(&self, target: &TargetName, error: &Error) {
        let mut reason = error.message().to_owned();
        for cause in error.causes() {
            reason = format!("{reason}: {cause}");
        }
        let object = error.object().cloned();
        self.events.of(target).send(EventKind::TargetFailed { object, reason });
    }

    pub(super) fn goes_back(&self, target: &TargetName, track: &Track) {
        self.events.of(target).send(EventKind::Undoing { release: track.previous });
    }

    pub(super) fn is_back(&self, target: &TargetName, track: &Track) {
        self.events.of(target).send(EventKind::Undone { release: track.previous });
    }

    pub(super) fn approved(&self, approval: &Approval) {
        if let Some(wave) = self.header.waves.get(approval.wave) {
            let wave = WaveMark::new(approval.wave, self.header.waves.len(), &wave.name);
            let pause = approval.step.map(number);
            let who = approval.who.clone();
            self.events.send(EventKind::Approved { wave, pause, who });
        }
    }

    pub(super) fn waits(&self, target: &TargetName, reason: String) {
        self.events.of(target).waiting(reason);
    }
}

/// The number of a step for people.
fn number(step: usize) -> usize {
    step.saturating_add(1)
}

/// Whether a time is another one, rather than the same told by another answer of a server's clock.
fn is_another(known: Timestamp, now: Timestamp) -> bool {
    now.duration_since(known).abs() >= SignedDuration::from_secs(2)
}
