//! A rollout: the engine that takes one target through its steps, and the loop over all of them.
//!
//! The engine stages a rollout in a target, does its steps, takes it back, closes it (design §7 to
//! §10). All state is in the target's record; each function reads it there, under the target's lock
//! where it writes objects, so it makes no difference whether a rollout is run or gone on with after
//! a crash, here or elsewhere. What is about to be written is in the record before it is written,
//! and every step may be done again.

mod blocked;
mod canary;
mod clean;
mod close;
mod commands;
pub mod drive;
mod foresee;
mod jobs;
mod look;
mod places;
mod preflight;
mod primary;
mod set;
mod sight;
mod stage;
mod step;
mod undo;
mod work;

pub use blocked::{blocked, frozen, standing};
pub use close::{aborted, approve, close, mark_abort, mark_staged, note_soak, open};
pub use commands::Local;
pub use foresee::foresee;
pub use jobs::Jobs;
pub use look::{Looked, as_staged, look};
pub use places::{Route, bare, place, route, target};
pub use preflight::preflight;
pub use sight::{Sight, sight};
pub use stage::{Staging, stage, unstage};
pub use step::{Commands, NoCommands, StepEnd, Stepped, hand_step, step};
pub use undo::undo;
