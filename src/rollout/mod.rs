//! The rollout: its steps and settings, and the decisions across targets. Pure.

mod amount;
mod schedule;
mod settings;
mod step;
mod strategy;
mod waves;

pub mod variant;

pub use amount::{Amount, Percent};
pub use schedule::{Decision, Gate, Member, Seen, Soak, State, Stop, StopReason, Wave, schedule};
pub use settings::{
    Isolation, OnFailure, RolloutSettings, STEP_DEADLINE, StepSettings, VariantLabel,
    VariantSettings, WaveSettings, Workload,
};
pub(crate) use step::whole_seconds;
pub use step::{Canary, Pause, Run, Step};
pub use strategy::{Strategy, StrategyChoice, StrategyKind, strategy};
pub(crate) use waves::wave_of;
pub use waves::{ONLY_WAVE, opens, plain_steps, plan_waves, steps, steps_of};
