//! The two moves of ownership as JSON patches on managedFields, and what a take will remove.
//!
//! Each patch replaces `metadata.resourceVersion` too, which makes a stale one a proper 409 (a
//! failing `test` is a 422 that nothing tells from a bad patch, A2.4). Nothing else changes: no
//! new generation, no restart (A3.2).

use serde_json::{Value, json};

use super::entry::{Entry, entries, our_entry, raw_entries};
use super::fields::FieldSet;
use super::made_up::{MADE_UP, declared};
use super::path::{FieldPath, Segment, remove_step, step_mut};

/// The JSON patch that unites the entries at `indexes` of `metadata.managedFields` into the apply
/// entry of `ours` and drops them (A3.2). None when there is nothing to take. `now` is RFC 3339 in
/// whole seconds.
///
/// Sets are united in one version: that of our entry, else that of the newest one taken. Of an
/// entry in another version, whose paths may be spelled differently, those are taken that lead to a
/// value of the live object; the rest is owned by nobody afterwards. Entries of subresources are
/// never taken. `f:stringData` counts as `f:data` (A3.4).
///
/// `marks` become ours too, and nobody else's: an apply that lacks them removes them, whoever set
/// them.
pub fn take(
    live: &Value,
    indexes: &[usize],
    marks: &[FieldPath],
    ours: &str,
    now: &str,
) -> Option<Value> {
    let all = entries(live);
    let taken: Vec<&Entry> =
        all.iter().filter(|e| indexes.contains(&e.index) && is_takeable(e, ours)).collect();
    if taken.is_empty() && marks.is_empty() {
        return None;
    }
    let own = our_entry(live, ours);
    let version = match &own {
        Some(own) => own.api_version.clone(),
        None => match taken.iter().max_by(|a, b| a.time.cmp(&b.time)) {
            Some(newest) => newest.api_version.clone(),
            None => live["apiVersion"].as_str()?.to_owned(),
        },
    };
    let mut fields = own.as_ref().map(|own| own.fields.clone()).unwrap_or_default();
    for entry in &taken {
        fields.add(&taken_fields(entry, &version, live));
    }
    marks.iter().for_each(|mark| fields.insert(mark));
    let united = json!({
        "manager": ours, "operation": "Apply", "apiVersion": version, "time": now,
        "fieldsType": "FieldsV1", "fieldsV1": fields.to_json(),
    });
    let mut rest: Vec<Value> = raw_entries(live)
        .iter()
        .enumerate()
        .filter(|(index, _)| {
            !taken.iter().any(|entry| entry.index == *index)
                && own.as_ref().is_none_or(|own| own.index != *index)
        })
        .map(|(_, raw)| without(raw, marks))
        .collect();
    rest.push(united);
    patch(live, &rest)
}

/// An entry that no longer owns `marks`.
fn without(raw: &Value, marks: &[FieldPath]) -> Value {
    let mut raw = raw.clone();
    let mut fields = FieldSet::from_json(&raw["fieldsV1"]);
    // As it stands, unless there is something to remove: it is the server's own spelling.
    if marks.iter().filter(|mark| fields.remove(mark)).count() > 0 {
        raw["fieldsV1"] = fields.to_json();
    }
    raw
}

/// What [`take`] would add to our set from one entry, for [`predict_take`].
pub(super) fn taken_fields(entry: &Entry, version: &str, live: &Value) -> FieldSet {
    let mut fields = entry.fields.clone();
    // Items of a LIST of Secrets have no kind (A1.7); no other kind without one has the field.
    if matches!(live["kind"].as_str(), None | Some("Secret")) {
        fields.rename_top("stringData", "data");
    }
    if entry.manager == MADE_UP {
        fields = declared(fields, live);
    }
    if entry.api_version == version { fields } else { fields.found_in(live) }
}

fn is_takeable(entry: &Entry, ours: &str) -> bool {
    entry.subresource.is_none() && !entry.is_apply_of(ours)
}

/// The JSON patch that removes `paths`, and all below them, from our apply entry: the next apply
/// may leave them out without resetting them (A5.4). None when we own none of them.
pub fn relinquish(live: &Value, paths: &[FieldPath], ours: &str) -> Option<Value> {
    let own = our_entry(live, ours)?;
    let mut fields = own.fields;
    let removed = paths.iter().filter(|path| fields.remove(path)).count();
    if removed == 0 {
        return None;
    }
    let mut all = raw_entries(live).to_vec();
    let raw = all.get_mut(own.index)?.as_object_mut()?;
    raw.insert("fieldsV1".into(), fields.to_json());
    patch(live, &all)
}

pub(super) fn patch(live: &Value, managed_fields: &[Value]) -> Option<Value> {
    let version = live["metadata"]["resourceVersion"].as_str()?;
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": managed_fields},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
    ]))
}

/// What the object will be after a take and an apply, from the answer of a dry-run apply without
/// the take (A3.8): the fields of the entries at `indexes` that afterwards nobody owns are removed,
/// as the server will. The result is to be sent as `PUT ?dryRun=All`, which shows defaults and
/// admission. `live` is the object before, whose entries the indexes mean. `marks` as for [`take`].
///
/// `keep_resource_version`: for the kinds that refuse a PUT without it (disruption budgets, custom
/// resources and their definitions); elsewhere it only makes needless conflicts with controllers.
pub fn predict_take(
    live: &Value,
    dry_run: &Value,
    indexes: &[usize],
    marks: &[FieldPath],
    ours: &str,
    keep_resource_version: bool,
) -> Value {
    let mut taken: FieldSet = marks.iter().cloned().collect();
    let mut gone: Vec<Entry> = Vec::new();
    for entry in entries(live) {
        if indexes.contains(&entry.index) && is_takeable(&entry, ours) {
            let version = our_entry(dry_run, ours).map(|own| own.api_version);
            taken.add(&taken_fields(&entry, version.as_deref().unwrap_or_default(), live));
            gone.push(entry);
        }
    }
    let mut keep = FieldSet::default();
    for entry in entries(dry_run) {
        let is_gone = gone.iter().any(|g| {
            (&g.manager, g.operation, &g.subresource)
                == (&entry.manager, entry.operation, &entry.subresource)
        });
        if entry.is_apply_of(ours) {
            keep.add(&entry.fields);
        } else if !is_gone {
            let mut fields = entry.fields;
            for mark in marks {
                fields.remove(mark);
            }
            keep.add(&fields);
        }
    }
    let mut result = dry_run.clone();
    drop_unowned(&mut result, &taken, &keep, true);
    if let Some(metadata) = result["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        if !keep_resource_version {
            metadata.remove("resourceVersion");
        }
    }
    result
}

/// Removes from `value` what `taken` has and `keep` has not. A step below which nobody owns
/// anything goes as a whole, with what the server defaulted in it: a probe that is no longer
/// declared does not leave its periods behind (structured-merge-diff removes named fields so).
fn drop_unowned(value: &mut Value, taken: &FieldSet, keep: &FieldSet, top: bool) {
    let nothing = FieldSet::default();
    for (segment, below) in taken.children() {
        // Nobody owns an object's name, so its metadata never goes as a whole.
        let is_metadata = top && matches!(segment, Segment::Field(name) if name == "metadata");
        match keep.child(segment).or(is_metadata.then_some(&nothing)) {
            Some(kept) => {
                if let Some(next) = step_mut(value, segment) {
                    drop_unowned(next, below, kept, false);
                }
            }
            None => {
                remove_step(value, segment, false);
            }
        }
    }
}
