//! The steps of a rollout in a target, as the file or the command line asks for them (design §8).
//! Pure. Stored in the records of an open rollout, so that any machine can go on.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::amount::Amount;
use crate::duration;

/// One action of a rollout in a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// Copies of the workloads run the new release beside the old one.
    Canary(Canary),
    /// Nothing happens for a time, or until someone approves.
    Pause(Pause),
    /// A command runs on this machine for each target.
    Run(Run),
    /// The workloads themselves become the new release.
    Primary,
    /// The copies go.
    Clean,
}

/// How big the canary is, and what comes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Canary {
    /// How many replicas each copy has: a number, or a share of the live count of the workload
    /// that it is a copy of, rounded up; at least 1.
    pub replicas: Amount,
    /// Make a Service that selects only the canary.
    #[serde(default)]
    pub service: bool,
    /// What is appended to names, after a dash.
    pub suffix: String,
}

/// How long a pause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// The time that it lasts in each target, from when the target came to it. None: until it is
    /// approved.
    #[serde(rename = "for", with = "seconds", default)]
    pub period: Option<Duration>,
}

/// A command that runs on this machine, at least once for each target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The program and its arguments; never a shell.
    pub command: Vec<String>,
    /// How long it may take.
    #[serde(with = "whole_seconds")]
    pub timeout: Duration,
}

impl Pause {
    /// When a pause that began then is over; none: when it is approved.
    pub fn end(self, since: Timestamp) -> Option<Timestamp> {
        let period = SignedDuration::try_from(self.period?).unwrap_or(SignedDuration::MAX);
        Some(since.saturating_add(period).unwrap_or(Timestamp::MAX))
    }
}

impl Step {
    /// The word for tables, events and hints.
    pub fn word(&self) -> &'static str {
        match self {
            Step::Canary(_) => "canary",
            Step::Pause(_) => "pause",
            Step::Run(_) => "run",
            Step::Primary => "primary",
            Step::Clean => "clean",
        }
    }

    /// The step in a few words: `canary 20%`, `pause 5m`, `run ./smoke.sh`.
    pub fn words(&self) -> String {
        match self {
            Step::Canary(canary) => format!("canary {}", canary.replicas),
            Step::Pause(Pause { period: Some(period) }) => {
                format!("pause {}", duration::text(*period))
            }
            Step::Pause(Pause { period: None }) => "pause until approved".to_owned(),
            Step::Run(run) => format!("run {}", run.command.first().map_or("", String::as_str)),
            Step::Primary | Step::Clean => self.word().to_owned(),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Durations as whole seconds, which is as exact as a rollout is.
pub(crate) mod whole_seconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(value.as_secs())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }
}

/// The same for a duration that may be absent.
pub(crate) mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(|d| d.as_secs()).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_secs))
    }
}
