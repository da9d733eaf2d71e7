//! `rollout:` as written.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::selector::Selector;
use crate::duration;
use crate::rollout::{Amount, Isolation};

/// How a new release is rolled out over the targets. Without `waves` they are one wave, all at
/// once; without `steps` each target is applied as it is. Nothing here holds templates, and
/// overrides cannot change it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Rollout")]
pub(crate) struct RolloutEntry {
    /// The workloads that get copies, and whose changes go through the steps. Default: all
    /// Deployments get copies, and changes of all Deployments, StatefulSets and DaemonSets go
    /// through the steps.
    #[serde(default)]
    pub(crate) workloads: Vec<WorkloadEntry>,
    /// The Service in front of the workloads. Default: the one that selects their pods.
    pub(crate) service: Option<ServiceEntry>,
    /// The label that tells copies from the workloads themselves.
    pub(crate) variant_label: Option<VariantLabelEntry>,
    /// How a canary is kept apart from the workload that it is a copy of. Default: `auto`.
    pub(crate) isolation: Option<IsolationEntry>,
    /// Groups of targets: the next wave starts when the one before is done.
    #[serde(default)]
    pub(crate) waves: Vec<WaveEntry>,
    /// What each target goes through. Exactly one of them is `primary`; a `canary` that no `clean`
    /// follows is cleaned at the end.
    #[serde(default)]
    pub(crate) steps: Vec<StepEntry>,
    /// What happens when more targets of a wave fail than may. Default: `stop`.
    pub(crate) on_failure: Option<OnFailureEntry>,
    /// Which targets `onFailure: rollback` takes back. Default: `wave`.
    pub(crate) scope: Option<ScopeEntry>,
}

/// A workload by kind and name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "RolloutWorkload")]
pub(crate) struct WorkloadEntry {
    /// `Deployment` or `StatefulSet`.
    #[schemars(extend("enum" = ["Deployment", "StatefulSet"]))]
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
}

/// A Service by name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "RolloutService")]
pub(crate) struct ServiceEntry {
    /// Its name.
    pub(crate) name: String,
}

/// A label and its values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "VariantLabel")]
pub(crate) struct VariantLabelEntry {
    /// Its key. Default: `mcd.dev/variant`.
    pub(crate) key: Option<String>,
    /// Its value for the workloads themselves. Default: `primary`.
    pub(crate) primary: Option<String>,
    /// Its value for a canary. Default: `canary`.
    pub(crate) canary: Option<String>,
}

/// How a canary is kept apart from the workload that it is a copy of.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Isolation")]
pub(crate) enum IsolationEntry {
    /// `label` where the workload's pods and the Service carry the label already, else `share`.
    Auto,
    /// The canary has the workload's labels and its own: the Service spreads by number of pods.
    Share,
    /// The workload's pods get the label first, then the Service selects only these.
    Label,
    /// The canary's selector labels get the suffix: nothing that selects the workload's pods
    /// selects the canary's.
    Rename,
}

impl From<IsolationEntry> for Isolation {
    fn from(entry: IsolationEntry) -> Self {
        match entry {
            IsolationEntry::Auto => Isolation::Auto,
            IsolationEntry::Share => Isolation::Share,
            IsolationEntry::Label => Isolation::Label,
            IsolationEntry::Rename => Isolation::Rename,
        }
    }
}

/// A group of targets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Wave")]
pub(crate) struct WaveEntry {
    /// Its name: what tables and `--wave` say.
    pub(crate) name: String,
    /// Its targets: every target is in exactly one wave. One wave may leave it out, and has the
    /// targets that no other wave selects.
    pub(crate) select: Option<Selector>,
    /// How many of its targets may be on their way at once: a number, or a percentage, rounded
    /// down to at least 1. Default: all.
    pub(crate) max_concurrent: Option<AmountEntry>,
    /// How many of its targets may fail: a number, or a percentage, rounded down. Default: 0.
    pub(crate) max_failures: Option<AmountEntry>,
    /// Targets of it of which none may fail, whatever `maxFailures` says: names, or globs.
    #[serde(default)]
    pub(crate) mandatory: Vec<String>,
    /// How long its targets have to stay healthy before the next wave starts, such as `10m`.
    /// Default: not at all.
    pub(crate) soak: Option<Period>,
    /// How long a step of a target may take. Default: `10m`.
    pub(crate) progress_deadline: Option<Period>,
    /// Whether someone has to approve before it starts. Default: `false`.
    #[serde(default)]
    pub(crate) approval: bool,
}

/// One action in each target: exactly one of `canary`, `pause`, `run`, `primary` and `clean`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map such as `{primary: {}}`")]
#[schemars(rename = "Step")]
pub(crate) struct StepEntry {
    /// Copies of the workloads run the new release beside the old one.
    pub(crate) canary: Option<CanaryEntry>,
    /// Nothing happens: for a time, or until someone approves.
    pub(crate) pause: Option<PauseEntry>,
    /// A command runs on the machine that mcd runs on, for each target.
    pub(crate) run: Option<RunEntry>,
    /// The workloads themselves become the new release.
    pub(crate) primary: Option<Nothing>,
    /// The copies go.
    pub(crate) clean: Option<Nothing>,
    /// The targets that go through the step. Default: all. `primary` takes none.
    pub(crate) select: Option<Selector>,
}

/// A step without settings.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an empty map `{}`")]
#[schemars(inline)]
pub(crate) struct Nothing {}

/// How big a canary is, and what comes with it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Canary")]
pub(crate) struct CanaryEntry {
    /// How many replicas each copy has: a number, or a percentage of the replicas that the
    /// workload has at the time, rounded up. Default: 1.
    pub(crate) replicas: Option<AmountEntry>,
    /// Make a Service that selects only the canary. Default: `false`.
    #[serde(default)]
    pub(crate) service: bool,
    /// What is appended to names, after a dash. Default: `canary`.
    pub(crate) suffix: Option<String>,
}

/// How long nothing happens.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Pause")]
pub(crate) struct PauseEntry {
    /// The time, such as `5m`, in each target from when it came to the pause. Default: until
    /// someone approves.
    #[serde(rename = "for")]
    pub(crate) period: Option<Period>,
}

/// A command.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Run")]
pub(crate) struct RunEntry {
    /// The program and its arguments; never a shell.
    pub(crate) command: Vec<String>,
    /// How long it may take. Default: `10m`.
    pub(crate) timeout: Option<Period>,
}

/// What happens when more targets of a wave fail than may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OnFailure")]
pub(crate) enum OnFailureEntry {
    /// Nothing new starts; what was done stays until `mcd rollout resume` or `abort`.
    Stop,
    /// Targets go back to what they ran before.
    Rollback,
}

/// Which targets go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Scope")]
pub(crate) enum ScopeEntry {
    /// Those of the wave that failed.
    Wave,
    /// Those of all waves.
    All,
}

/// A number, or a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AmountEntry(pub(crate) Amount);

impl<'de> Deserialize<'de> for AmountEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl Visitor<'_> for Form {
            type Value = AmountEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number such as `2`, or a percentage such as `25%`")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                // The API's replica counts are int32.
                let count = u32::try_from(value).ok().filter(|n| *n <= i32::MAX as u32);
                let wrong = || E::invalid_value(de::Unexpected::Unsigned(value), &self);
                count.map(|n| AmountEntry(Amount::Count(n))).ok_or_else(wrong)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                match Amount::parse(text) {
                    Ok(Amount::Count(n)) => self.visit_u64(n.into()),
                    Ok(amount @ Amount::Percent(_)) => Ok(AmountEntry(amount)),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for AmountEntry {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": i32::MAX},
                {"type": "string", "pattern": "^[0-9]+%?$"}
            ]
        })
    }
}

/// A duration in whole seconds, which is as exact as a rollout is; a part of one counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period(pub(crate) Duration);

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl Visitor<'_> for Form {
            type Value = Period;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a positive duration such as `90s`, `5m` or `1h30m`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Str(text), &self);
                let period = duration::parse(text).map_err(wrong)?;
                let rest = u64::from(period.subsec_nanos() > 0);
                Ok(Period(Duration::from_secs(period.as_secs() + rest)))
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for Period {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 2, "examples": ["90s", "5m", "1h30m"]})
    }
}
