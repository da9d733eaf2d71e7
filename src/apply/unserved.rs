//! Objects whose API nobody answers for: an aggregated API server that is down hides its kinds from
//! discovery, or answers 503 for them, while the rest of the cluster works. Such objects are
//! neither there nor gone: they are never planned as new, never dropped from an inventory, never
//! taken for deleted.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::error::API_DOWN;
use crate::cluster::state::Member;
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::manifest::{Object, ObjectId};
use crate::plan::{Handling, Prepared, rank};

/// Why the object is not judged.
pub(super) fn reason(id: &ObjectId) -> String {
    format!("could not be checked: its API `{}` is not available", id.group)
}

/// The same as an error: the cluster was not read as far as this object goes (exit 9).
pub(super) fn error(target: &Target, id: &ObjectId) -> Error {
    Error::new(Exit::Unreachable, reason(id)).in_target(&target.name).on(id).hint(API_DOWN)
}

/// A desired object of a kind that discovery does not show now. Whether the kind has namespaces is
/// then not known: the inventory says it of an object that was applied before, else the manifest's
/// word stands.
pub(super) fn prepare(
    mut object: Object,
    target: &Target,
    inventory: Option<&BTreeMap<ObjectId, Member>>,
) -> Prepared {
    let known = inventory.into_iter().flatten().map(|(id, _)| id).find(|id| {
        let written = object.id.namespace.as_deref().unwrap_or(&target.namespace);
        (&id.group, &id.kind, &id.name) == (&object.id.group, &object.id.kind, &object.id.name)
            && id.namespace.as_deref().is_none_or(|namespace| namespace == written)
    });
    if let Some(known) = known {
        object.set_namespace(known.namespace.as_deref());
    }
    let rank = rank(&object, &BTreeSet::new());
    // An annotation that is wrong is told when the object can be judged.
    let handling = Handling::of(&object).unwrap_or_default();
    Prepared { object, resource: None, rank, handling }
}
