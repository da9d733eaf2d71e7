//! The lease: the lock on a target while it is staged or written (design §7). What is written
//! and what is decided is pure; `hold` does the calls.

mod decide;
mod hold;
mod occupant;
mod process;
mod view;

pub use decide::{Decision, Observed, Takeover, Unlock, decide, may_unlock};
pub use hold::{Acquire, Fence, Guard, Waiting, acquire, look, unlock};
pub use occupant::{Occupant, occupant};
pub use process::{Liveness, Process};
pub use view::{Holder, LeaseView};

use std::time::Duration;

/// How long a lease holds without being renewed.
pub const DURATION: Duration = Duration::from_secs(60);
