//! Who owns which field of a live object: managedFields as sets, digests over what we own, and
//! the two moves of ownership, taking and relinquishing (design §6). Pure.
//!
//! - [`FieldSet`] and [`FieldPath`]: `fieldsV1` and paths as the API server prints them.
//! - [`Entry`]: one managedFields entry.
//! - [`manifest_digest`], [`live_digest`]: the fast path.
//! - [`classify`], [`deployer_of`]: what another manager is to us.
//! - [`judge`]: what a plan does about every other manager of an object, by its [`Policy`].
//! - [`left_to_others`], [`omit`], [`keep_selector`]: what of a manifest gives way to live.
//! - [`autoscaled`]: whose replicas are not ours.
//! - [`leave_out`], [`keep`]: fields that are left to others although the manifest has them.
//! - [`emptied`], [`rekeyed`]: edits that an apply cannot take as they are.
//! - [`take`], [`relinquish`], [`predict_take`]: the patches, and what a take will remove.

mod digest;
mod entry;
mod fields;
mod ignored;
mod json;
mod judge;
mod leave;
mod made_up;
mod managers;
mod marks;
mod patch;
mod path;
mod policy;
mod rekeyed;
mod replicas;
mod selector;

pub use digest::{Digest, Key, live_digest, manifest_digest};
pub use entry::{Entry, Operation, entries, our_entry};
pub use fields::FieldSet;
pub use ignored::{keep, kept_as_one, leave_out};
pub(crate) use json::same;
pub use judge::{Judgement, Left, Revert, Stop, judge};
pub use leave::{left_to_others, omit};
pub use managers::{ManagerClass, OUR_PREFIX, classify};
pub use marks::{Deployer, deployer_of, helm_release};
pub use patch::{predict_take, relinquish, take};
pub use path::{FieldPath, Literal, Segment, remove_path};
pub use policy::{Choice, Names, Policy};
pub use rekeyed::{Rekeyed, emptied, rekeyed, take_items, with_new_items, without_new_items};
pub use replicas::autoscaled;
pub use selector::keep_selector;

#[cfg(test)]
mod tests;
