//! Desired, live and record → what an apply would do. Pure.

mod anew;
mod config_hash;
mod handling;
mod helm_release;
mod idle;
mod order;
mod prepare;
mod prune;
mod references;
mod served;
mod traffic;
mod types;

pub mod rights;

pub use anew::anew;
pub use config_hash::{CONFIG_HASH, config_hash, referenced_configs, set_config_hash};
pub use handling::{APPLY, Handling, PROTECT, check_annotations, is_protected};
pub use helm_release::{
    HelmContent, RETIRED, helm_content, helm_selector, hide_from_helm, newest_revision,
};
pub use idle::idle;
pub use order::{override_of, rank};
pub use prepare::{Definitions, Prepared, is_built_in, prepare};
pub use prune::{
    Besides, Candidate, Condemned, Found, Objection, Prune, PruneOptions, Rules, Sweep, namespace,
    prune, successor, sweep,
};
pub use references::{pod_template, references};
pub use served::{Serves, to_served};
pub use traffic::{moves_traffic, reaches};
pub use types::{
    Action, Basis, Counts, ObjectPlan, Ownership, Retirement, StateMove, TargetPlan, Unverified,
    is_protected_unsent,
};
