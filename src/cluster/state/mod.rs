//! The application's state in a target: names, record, key, releases and lease (design §7).
//! Whatever turns values into Secrets and back is pure; `store` and `lock` do the calls.

mod about;
mod amend;
mod codec;
mod key;
mod kinds;
pub mod lease;
mod names;
mod record;
pub mod release;
mod rollout;
mod secret;
mod store;
pub mod who;

#[cfg(test)]
mod fixture;

pub use about::{About, CiRun, Commit, ReleaseState, ReleaseSummary, ToolUsed, Who};
pub use codec::Damage;
pub use key::Key;
pub use names::{APP_LABEL, STATE_LABEL, StateNames, StatePlace};
pub use record::{Digests, HelmRelease, KEPT_SUMMARIES, Member, RECORD_TYPE, Record};
pub use release::{Choice, Release, Releases};
pub use rollout::{
    Approval, ClosedRollout, Freeze, Header, Mark, OpenRollout, Place, RolloutId, Stand,
    TargetProgress, WavePlan,
};
pub use secret::Unfit;
pub use store::{ResourceVersion, Staged, Store};
