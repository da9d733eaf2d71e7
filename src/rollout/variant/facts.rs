//! What is known of a canary once its objects are made.

use serde_json::Value;

use super::isolate::Apart;
use super::labels::Renames;
use super::needs::Needs;
use super::set::{Item, Set};
use super::size::Size;
use super::{Labelling, Live};
use crate::manifest::Object;
use crate::rollout::{Canary, VariantSettings};

/// All that can be said about a canary.
pub(super) struct Facts<'s, 'a> {
    pub(super) set: &'s Set<'a>,
    pub(super) previous: &'s Set<'a>,
    pub(super) live: &'s Live<'a>,
    pub(super) canary: &'s Canary,
    pub(super) settings: &'s VariantSettings,
    pub(super) apart: Apart,
    pub(super) needs: &'s Needs,
    pub(super) copied: &'s [Copied<'s, 'a>],
    pub(super) services: &'s [Object],
    pub(super) partitioned: &'s [Partitioned<'s, 'a>],
    pub(super) first: &'s Labelling,
}

/// A workload and its copy.
#[derive(Debug)]
pub(super) struct Copied<'s, 'a> {
    /// The original, as the release has it.
    pub(super) item: &'s Item<'a>,
    /// The copy.
    pub(super) object: Object,
    /// How many pods the original has.
    pub(super) size: Size,
    /// How many the copy has.
    pub(super) replicas: u32,
    /// The labels that its pods have otherwise.
    pub(super) renames: Renames,
}

impl Copied<'_, '_> {
    /// The labels of the copy's pods.
    pub(super) fn pod_labels(&self) -> &Value {
        &self.object.value["spec"]["template"]["metadata"]["labels"]
    }
}

/// A StatefulSet, and how many of its pods become the canary.
#[derive(Debug)]
pub(super) struct Partitioned<'s, 'a> {
    pub(super) item: &'s Item<'a>,
    pub(super) object: Object,
    pub(super) size: Size,
    pub(super) replicas: u32,
}
