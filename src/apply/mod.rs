//! Effects: reads clusters for a plan, runs a plan against clusters, waits, and says what
//! happens as events. Every decision is made by the pure modules.

mod admission;
mod adopt;
mod around;
mod ask;
mod assess;
mod contents;
mod delete;
mod doctor;
mod execute;
mod fleet;
mod freeze;
mod inventory;
mod job;
mod ledger;
mod namespaces;
mod observe;
mod prune;
mod recreate;
mod references;
mod relocate;
mod remove;
mod restore;
pub mod rollout;
mod settle;
mod status;
mod tree;
mod unserved;
mod wait;
mod write;

pub use contents::{Contents, contents};
pub use delete::{DeleteOptions, Deletion, delete, deletion_plan, lost_record};
pub use doctor::{AT_THE_SERVER, Check, Diagnosis, Found, examine, greet, identity};
pub use execute::{Applied, ApplyOptions, apply};
pub use fleet::{Ended, run_wave};
pub use freeze::freeze;
pub use job::{Halt, Job};
pub use observe::{Adopt, Observed, PlanOptions, observe};
pub use relocate::{MoveFrom, Moving, Whereabouts};
pub use restore::{Restoration, Restored, load, releases, restore};
pub use status::{Standing, standing, standing_closer};
pub use tree::Tree;
pub use wait::Look;
