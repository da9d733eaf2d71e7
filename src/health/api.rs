//! Definitions, API services and namespaces: what the API itself is made of.

use serde_json::Value;

use super::Verdict;
use super::fields::{condition, condition_in};

/// Established with its names accepted. Discovery lags behind even then; the caller refreshes it
/// until the kind is listed.
pub(super) fn definition(object: &Value) -> Verdict {
    if let Some(names) = condition(object, "NamesAccepted").filter(|c| c.is_false()) {
        return Verdict::failed(format!("its names are not accepted: {}", names.text()));
    }
    let is = |kind: &str| condition(object, kind).is_some_and(|c| c.is_true());
    if !is("Established") || !is("NamesAccepted") {
        return Verdict::progressing("not established yet");
    }
    match condition(object, "NonStructuralSchema").filter(|c| c.is_true()) {
        Some(schema) => Verdict::healthy().note(schema.text()),
        None => Verdict::healthy(),
    }
}

/// Available. This judges an APIService of the application; others' broken ones are no concern of
/// a run.
pub(super) fn api_service(object: &Value) -> Verdict {
    match condition(object, "Available") {
        Some(available) if available.is_true() => Verdict::healthy(),
        Some(available) => Verdict::progressing(available.text()),
        None => Verdict::progressing("not available yet"),
    }
}

/// Active. A terminating namespace takes no new objects, so nothing gets better by waiting.
pub(super) fn namespace(object: &Value) -> Verdict {
    match object["status"]["phase"].as_str() {
        Some("Terminating") => terminating_namespace(object, "terminating"),
        _ => Verdict::healthy(),
    }
}

/// Says what keeps a terminating namespace, which its conditions know better than its finalizer.
pub(super) fn terminating_namespace(object: &Value, reason: &str) -> Verdict {
    let kept = [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ]
    .into_iter()
    .filter_map(|kind| condition_in(&object["status"]["conditions"], kind))
    .find(|c| c.is_true());
    Verdict::failed(match kept {
        Some(kept) => format!("the namespace is terminating: {}", kept.text()),
        None => format!("the namespace is {reason}"),
    })
}
