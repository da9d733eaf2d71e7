//! A rollout as it is seen: the state of the whole, derived from the records that can be reached
//! (design §7), as a document; and that as a table.

mod gate;
mod model;
mod sights;
mod text;
mod whole;

pub use model::{
    GateReport, Needed, RolloutReport, RolloutState, RolloutTarget, StepReport, TargetStand,
    WaveReport, WaveState,
};
pub use sights::Sights;
pub use text::{Shown, text};

use crate::cluster::state::Freeze;

/// `frozen by alice@laptop until 2026-12-24T00:00:00Z: holidays`.
pub fn frozen(freeze: &Freeze) -> String {
    let until = freeze.until.map(|until| format!(" until {until}")).unwrap_or_default();
    format!("frozen by {}{until}: {}", freeze.who, freeze.reason)
}

#[cfg(test)]
mod tests;
