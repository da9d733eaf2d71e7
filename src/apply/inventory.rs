//! What the record says of each object: before it is written that it may be there, afterwards what
//! is known of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::observe::Observed;
use super::wait::Subject;
use super::write::{Progress, untouched};
use crate::cluster::state::{Digests, Record};
use crate::manifest::{Object, ObjectId};
use crate::plan::{Action, Handling, ObjectPlan, Prepared, is_protected_unsent};
use crate::render::Rendered;

/// Adds what is about to be written to the inventory. Whoever comes after a crash finds a record
/// that knows everything that may exist.
pub(super) fn intend(record: &mut Record, observed: &Observed) {
    let plan = &observed.plan;
    // What was there and is only made when it is absent is somebody else's.
    let theirs = |p: &&Prepared| {
        let id = &p.object.id;
        p.handling == Handling::CreateOnly
            && plan.objects.iter().any(|o| o.id == *id && o.basis.uid.is_some())
            && !record.inventory.contains_key(id)
    };
    let planned: BTreeSet<&ObjectId> = plan.objects.iter().map(|o| &o.id).collect();
    let is_planned = |p: &&Prepared| planned.contains(&p.object.id);
    let ours: Vec<&Object> = observed
        .scene
        .prepared
        .iter()
        .filter(is_planned)
        .filter(|p| !theirs(p))
        .map(|p| &p.object)
        .collect();
    record.intend(ours);
    // What is made anew has another uid than what is known: should the run die before it is known,
    // the object is still ours, by label and manager.
    let anew = |o: &&ObjectPlan| matches!(o.action, Action::Create | Action::Recreate(_));
    for object in plan.objects.iter().filter(anew) {
        if let Some(member) = record.inventory.get_mut(&object.id) {
            member.uid = None;
        }
    }
    // A workload whose configuration changes and that did not know of one: should the run die
    // between the two writes, the next one finds a hash that is not the right one.
    for (id, _) in observed.configs.iter().filter(|(_, config)| config.always) {
        if let Some(member) = record.inventory.get_mut(id) {
            member.config.get_or_insert_default();
        }
    }
}

/// Writes into the record what is known of each object now. What is only known once a Job is
/// complete is returned: it may go by its TTL at any time, and only one that did its work is done.
pub(super) fn remember(
    record: &mut Record,
    observed: &Observed,
    progress: &Progress,
) -> Vec<(ObjectId, Digests)> {
    let mut jobs = Vec::new();
    let server = &observed.plan.server_version;
    for object in &observed.plan.objects {
        if let Some(member) = record.inventory.get_mut(&object.id) {
            member.protected = is_protected_unsent(object);
        }
        let (uid, live) = match progress.written.get(&object.id) {
            Some(written) => (written.uid.clone(), written.digest),
            None => match observed.unchanged.get(&object.id) {
                Some(settled) => (object.basis.uid.clone(), settled.live),
                // Neither written nor known to be settled: its turn did not come.
                None => continue,
            },
        };
        let Some(member) = record.inventory.get_mut(&object.id) else { continue };
        member.uid = uid;
        member.config = observed.configs.get(&object.id).map(|config| config.hash.clone());
        let digests = live.map(|live| Digests {
            manifest: object.digest.to_string(),
            live: live.to_string(),
            server: server.clone(),
        });
        match digests {
            Some(digests) if is_expiring(object) => jobs.push((object.id.clone(), digests)),
            digests => member.digests = digests,
        }
    }
    jobs
}

/// Whether it is a Job that goes by itself when it is finished, well or not.
fn is_expiring(object: &ObjectPlan) -> bool {
    object.gvk.group == "batch"
        && object.gvk.kind == "Job"
        && !object.manifest["spec"]["ttlSecondsAfterFinished"].is_null()
}

/// What the health of the target is judged by: our own answers, and for the rest what the plan
/// saw.
pub(super) fn subjects(observed: &Observed, progress: &Progress) -> Vec<Subject> {
    let subjects =
        observed.plan.objects.iter().filter_map(|object| match progress.written.get(&object.id) {
            Some(written) => Some(written.subject(&object.id)),
            None => untouched(object),
        });
    subjects.collect()
}

/// The objects of the release: as rendered, in their namespaces, so that each Secret is kept in
/// the namespace that it is for.
pub(super) fn placed(rendered: &Rendered, observed: &Observed) -> Vec<Value> {
    placed_objects(rendered, observed).into_iter().map(|object| object.value).collect()
}

/// The same as objects.
pub(super) fn placed_objects(rendered: &Rendered, observed: &Observed) -> Vec<Object> {
    let namespace = |object: &Object| {
        let same = |p: &&Prepared| {
            p.object.origin == object.origin
                && (&p.object.id.group, &p.object.id.kind, &p.object.id.name)
                    == (&object.id.group, &object.id.kind, &object.id.name)
        };
        observed.scene.prepared.iter().find(same).and_then(|p| p.object.id.namespace.clone())
    };
    let mut objects = rendered.objects.clone();
    for object in &mut objects {
        if object.id.namespace.is_none()
            && let Some(namespace) = namespace(object)
        {
            object.set_namespace(Some(&namespace));
        }
    }
    objects
}
