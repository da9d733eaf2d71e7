//! What the driver tells: waves, steps, gates and failures, as events.

use jiff::Timestamp;

use super::known::Track;
use crate::cluster::state::{Approval, Header};
use crate::config::TargetName;
use crate::error::Error;
use crate::event::Events;
use crate::rollout::{Decision, Wave};

/// Tells what is new, once.
#[derive(Debug)]
pub(super) struct News<'a> {
    header: &'a Header,
    events: &'a Events,
}

impl<'a> News<'a> {
    pub(super) fn new(header: &'a Header, events: &'a Events) -> Self {
        News { header, events }
    }

    pub(super) fn decided(&mut self, _decision: &Decision, _waves: &[Wave]) {}

    pub(super) fn step_starts(&self, _target: &TargetName, _track: &Track) {}

    pub(super) fn step_ended(&self, _target: &TargetName, _track: &Track, _ok: bool) {}

    pub(super) fn paused(&self, _target: &TargetName, _track: &Track, _until: Option<Timestamp>) {}

    pub(super) fn failed(&self, _target: &TargetName, _error: &Error) {}

    pub(super) fn goes_back(&self, _target: &TargetName, _track: &Track) {}

    pub(super) fn is_back(&self, _target: &TargetName, _track: &Track) {}

    pub(super) fn approved(&self, _approval: &Approval) {}

    pub(super) fn waits(&self, target: &TargetName, reason: String) {
        self.events.of(target).waiting(reason);
    }
}
