//! A rollout: the engine that takes one target through its steps, and the loop over all of them.

mod drive;
mod places;

pub use drive::{End, Ended, Fleet, How, Known, Looked, Outcome, TargetOutcome, abort, drive};
pub use places::{Route, bare, place, route, target};
