//! The rollout across targets. Pure.

mod schedule;

pub use schedule::{Decision, Progress, Wave, schedule};
