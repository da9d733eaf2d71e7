//! Whether a status speaks of the generation that we applied (A9).

use serde_json::Value;

use super::fields::{integer, time};
use super::{Own, Verdict};

/// The generation that a status must have seen: that of our own answer, or the live one when
/// nothing was applied. Never the live one after an apply: someone's later edit is told, not
/// awaited.
pub(super) fn wanted(object: &Value, own: &Own) -> Option<i64> {
    own.generation.or_else(|| object["metadata"]["generation"].as_i64())
}

/// For kinds whose controller always writes `observedGeneration`: an absent one means that the
/// controller has not been there yet, so that a green status of the last generation, or none,
/// does not pass for ours.
pub(super) fn not_observed(object: &Value, own: &Own) -> Option<Verdict> {
    let wanted = wanted(object, own)?;
    let observed = integer(&object["status"]["observedGeneration"]).unwrap_or(0);
    (observed < wanted).then(|| waiting(wanted, observed))
}

/// For kinds that may not write it: only one that is there and behind says something.
pub(super) fn behind(object: &Value, own: &Own) -> Option<Verdict> {
    let wanted = wanted(object, own)?;
    let observed = integer(&object["status"]["observedGeneration"])?;
    (observed < wanted).then(|| waiting(wanted, observed))
}

fn waiting(wanted: i64, observed: i64) -> Verdict {
    Verdict::progressing(if observed == 0 {
        "waiting for its controller to see it".to_owned()
    } else {
        format!(
            "waiting for its controller to see generation {wanted}: the status is of {observed}"
        )
    })
}

/// A read that is older than our own apply, as a watch or a cache may give.
pub(super) fn stale_read(object: &Value, own: &Own) -> Option<Verdict> {
    let (live, ours) = (object["metadata"]["generation"].as_i64()?, own.generation?);
    (live < ours).then(|| {
        Verdict::progressing(format!(
            "waiting for the API server to show generation {ours}: this read is of {live}"
        ))
    })
}

/// Says that the live object is ahead of our apply, and whose hand it was where that is known.
pub(super) fn changed_since(object: &Value, own: &Own) -> Option<String> {
    let (live, ours) = (object["metadata"]["generation"].as_i64()?, own.generation?);
    if live <= ours || status_bumps_generation(object) {
        return None;
    }
    let who = last_manager(object).unwrap_or_else(|| "someone".into());
    Some(format!("changed by {who} since our apply (generation {live}, ours is {ours})"))
}

fn managers(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

/// Custom resources without a status subresource: there each status write makes a generation
/// (A9.2), and "changed by someone" would be said of the controller at every look.
fn status_bumps_generation(object: &Value) -> bool {
    managers(object)
        .any(|m| m["subresource"].as_str().is_none() && m["fieldsV1"]["f:status"].is_object())
}

/// The manager that wrote last, statuses and ourselves aside.
fn last_manager(object: &Value) -> Option<String> {
    let (_, entry) = managers(object)
        .filter(|m| m["subresource"] != "status")
        .filter(|m| !m["manager"].as_str().unwrap_or_default().starts_with("mcd:"))
        .filter_map(|m| Some((time(&m["time"])?, m)))
        .max_by_key(|(when, _)| *when)?;
    let name = entry["manager"].as_str()?;
    Some(match entry["subresource"].as_str() {
        Some(subresource) => format!("{name} ({subresource})"),
        None => name.to_owned(),
    })
}
