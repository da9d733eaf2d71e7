//! What a run does and did, for people: tables, the live area, plain lines.

mod lines;
mod live;
mod progress;
mod table;

pub use lines::Lines;
pub use live::Live;
pub use progress::{Progress, TICK, progress};
pub use table::{Cell, Table};
