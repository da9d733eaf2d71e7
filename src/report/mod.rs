//! What a run does and did, for people: tables, the live area, plain lines.

pub mod age;
mod board;
pub mod compare;
pub mod diff;
pub mod doctor;
mod elide;
mod events;
pub mod group;
mod lines;
mod live;
pub mod model;
pub mod plan;
mod problem;
mod progress;
pub mod reporter;
pub mod rollout;
pub mod run;
mod table;
pub mod tree;
mod wrap;

pub use board::Board;
pub use events::EventLine;
pub use lines::Lines;
pub use live::Live;
pub use progress::{Progress, TICK, progress};
pub use table::{Cell, Table};
