//! Custom resources, by the conditions that most controllers write.

use serde_json::Value;

use super::fields::{Condition, condition};
use super::generation::{behind, wanted};
use super::{Own, Verdict};

/// The conventions of kstatus (`Reconciling`, `Stalled`, `Ready`), then `Available` and the
/// deadline of Deployments, which operators copy. Without any of them the object is applied, and
/// that is all that can be said.
pub(super) fn custom(object: &Value, own: &Own) -> Verdict {
    if let Some(verdict) = behind(object, own) {
        return verdict;
    }
    let current = |kind: &str| condition(object, kind).filter(|c| !is_old(c, object, own));
    if let Some(stalled) = current("Stalled").filter(|c| c.is_true()) {
        return Verdict::failed(stalled.text());
    }
    if let Some(reconciling) = current("Reconciling").filter(|c| c.is_true()) {
        return Verdict::progressing(reconciling.text());
    }
    if let Some(progress) = current("Progressing")
        && progress.is_false()
        && progress.reason == "ProgressDeadlineExceeded"
    {
        return Verdict::failed(progress.text());
    }
    for kind in ["Ready", "Available"] {
        let Some(found) = condition(object, kind) else { continue };
        return if is_old(&found, object, own) {
            Verdict::progressing(format!("{kind} is of an older generation"))
        } else if found.is_true() {
            Verdict::healthy()
        } else {
            Verdict::progressing(format!("not {}: {}", kind.to_lowercase(), found.text()))
        };
    }
    Verdict::healthy().unjudged()
}

/// Whether a condition says itself that it speaks of an older generation.
fn is_old(condition: &Condition<'_>, object: &Value, own: &Own) -> bool {
    match (condition.generation, wanted(object, own)) {
        (Some(seen), Some(wanted)) => seen < wanted,
        _ => false,
    }
}
