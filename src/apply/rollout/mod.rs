//! A rollout: the engine that takes one target through its steps, and the loop over all of them.

mod places;

pub use places::{Route, bare, place, route, target};
