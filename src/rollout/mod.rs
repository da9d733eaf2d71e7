//! The rollout: its steps and settings, and the decisions across targets. Pure.

mod amount;
mod schedule;
mod settings;
mod step;

pub use amount::{Amount, Percent};
pub use schedule::{Decision, Progress, Wave, schedule};
pub use settings::{
    Isolation, OnFailure, RolloutSettings, STEP_DEADLINE, StepSettings, VariantLabel,
    VariantSettings, WaveSettings, Workload,
};
pub(crate) use step::whole_seconds;
pub use step::{Canary, Pause, Run, Step};
