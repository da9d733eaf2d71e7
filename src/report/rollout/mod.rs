//! A rollout as it is seen: the state of the whole, derived from the records that can be reached
//! (design §7), as a document; and that as a table.

mod gate;
mod model;
mod open;
mod sights;
mod text;
mod whole;
mod words;

pub use model::{
    GateReport, Needed, RolloutReport, RolloutState, RolloutTarget, StepReport, TargetStand,
    WaveReport, WaveState,
};
pub use open::{FreezeReport, OpenReport};
pub use sights::Sights;
pub use text::{Shown, line, text};

#[cfg(test)]
mod tests;
