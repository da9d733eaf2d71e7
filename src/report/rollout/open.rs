//! What other documents say of a rollout that is open in a target, and of a freeze.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::gate::step;
use super::model::{StepReport, TargetStand};
use crate::cluster::state::{Freeze, OpenRollout, Record};

/// A rollout that is open in a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenReport {
    /// Its name.
    pub id: String,
    /// When it was opened (RFC 3339).
    pub opened: String,
    /// Who opened it, as `alice@laptop`.
    pub who: String,
    /// Whether it is made step by step with commands.
    pub by_hand: bool,
    /// The number of the target's wave, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<usize>,
    /// How many waves there are.
    pub waves: usize,
    /// Where the target stands in it.
    pub state: TargetStand,
    /// The step that it is at, or failed at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepReport>,
    /// The release that the rollout brings; absent when nothing changes here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<u64>,
    /// Since when it stands there (RFC 3339).
    pub since: String,
}

/// That nobody may write to a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FreezeReport {
    /// Who froze it, as `alice@laptop`.
    pub who: String,
    /// Why.
    pub reason: String,
    /// Since when (RFC 3339).
    pub since: String,
    /// Until when; absent: until someone lifts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl OpenReport {
    /// The rollout that a record has open.
    pub fn of(record: &Record) -> Option<Self> {
        record.rollout.as_deref().map(|open| Self::new(open, record))
    }

    fn new(open: &OpenRollout, record: &Record) -> Self {
        let OpenRollout { header, progress, .. } = open;
        let state = TargetStand::of(progress);
        OpenReport {
            id: header.id.to_string(),
            opened: header.opened.to_string(),
            who: header.who.to_string(),
            by_hand: header.by_hand,
            wave: open.wave_of(&record.target).map(|wave| wave + 1),
            waves: header.waves.len(),
            state,
            step: step(progress, open.steps(), state),
            release: progress.release,
            since: progress.since.to_string(),
        }
    }

    /// `rollout r-… is open: wave 2 of 3, step 2/4 pause, paused`.
    pub fn words(&self) -> String {
        let wave = self.wave.filter(|_| self.waves > 1);
        let wave = wave.map(|wave| format!("wave {wave} of {}", self.waves));
        let step = self.step.as_ref().and_then(|step| {
            let word = step.step.as_ref()?;
            Some(match self.by_hand {
                true => format!("step {} {word} by hand", step.number),
                false => format!("step {}/{} {word}", step.number, step.of),
            })
        });
        let state = Some(self.state.words().to_owned());
        let parts: Vec<String> = [wave, step, state].into_iter().flatten().collect();
        format!("rollout {} is open: {}", self.id, parts.join(", "))
    }
}

impl FreezeReport {
    /// The freeze of a record that has not run out.
    pub fn of(record: &Record, now: Timestamp) -> Option<Self> {
        let freeze = record.freeze.as_ref();
        let freeze = freeze.filter(|freeze| freeze.until.is_none_or(|end| now < end))?;
        Some(Self::from(freeze))
    }

    /// `frozen by alice@laptop until 2026-12-24 08:00 UTC: holidays`.
    pub fn words(&self) -> String {
        let until = self.until.as_ref().and_then(|t| t.parse::<Timestamp>().ok());
        let until = until.map(|t| t.strftime(" until %Y-%m-%d %H:%M UTC").to_string());
        format!("frozen by {}{}: {}", self.who, until.unwrap_or_default(), self.reason)
    }
}

impl From<&Freeze> for FreezeReport {
    fn from(freeze: &Freeze) -> Self {
        FreezeReport {
            who: freeze.who.to_string(),
            reason: freeze.reason.clone(),
            since: freeze.at.to_string(),
            until: freeze.until.map(|until| until.to_string()),
        }
    }
}
