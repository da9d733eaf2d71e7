//! Gateway API: routes by what each parent says of them, gateways by their own conditions.

use serde_json::Value;

use super::fields::{Condition, condition_in};
use super::generation::wanted;
use super::{Own, Verdict};

/// Accepted and with its references resolved, in each parent that it names, for our generation.
/// The conditions of a route stand under `status.parents`, written by one controller each.
pub(super) fn route(object: &Value, own: &Own) -> Verdict {
    let wanted = wanted(object, own);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let answers = list(&object["status"]["parents"]);
    let mut verdict = Verdict::healthy();
    for parent in list(&object["spec"]["parentRefs"]) {
        let name = parent_name(&parent);
        let mut answered = false;
        for answer in answers.iter().filter(|a| same_parent(&a["parentRef"], &parent, object)) {
            answered = true;
            for kind in ["Accepted", "ResolvedRefs"] {
                if let Some(missing) = missing(&answer["conditions"], kind, wanted) {
                    return Verdict::progressing(format!("{name}: {missing}"));
                }
            }
            let partly = condition_in(&answer["conditions"], "PartiallyInvalid");
            if let Some(partly) = partly.filter(Condition::is_true) {
                verdict = verdict.note(format!("{name}: partly invalid: {}", partly.text()));
            }
        }
        if !answered {
            return Verdict::progressing(format!("{name}: no controller has answered yet"));
        }
    }
    verdict
}

/// Accepted and programmed. Like a Service's, an address that is not given is only said.
pub(super) fn gateway(object: &Value, own: &Own) -> Verdict {
    let wanted = wanted(object, own);
    let status = &object["status"];
    if let Some(missing) = missing(&status["conditions"], "Accepted", wanted) {
        return Verdict::progressing(missing);
    }
    for listener in status["listeners"].as_array().into_iter().flatten() {
        let refs = condition_in(&listener["conditions"], "ResolvedRefs");
        if let Some(refs) = refs.filter(Condition::is_false) {
            let name = listener["name"].as_str().unwrap_or_default();
            return Verdict::progressing(format!("listener `{name}`: {}", refs.text()));
        }
    }
    let programmed = condition_in(&status["conditions"], "Programmed");
    match programmed {
        Some(c) if c.is_false() && c.reason == "AddressNotAssigned" => {
            Verdict::healthy().note("no address yet")
        }
        _ => match missing(&status["conditions"], "Programmed", wanted) {
            Some(missing) => Verdict::progressing(missing),
            None => Verdict::healthy(),
        },
    }
}

/// What keeps a condition from being true for our generation.
fn missing(conditions: &Value, kind: &str, wanted: Option<i64>) -> Option<String> {
    let Some(found) = condition_in(conditions, kind) else {
        return Some(format!("{kind} is not known yet"));
    };
    if let (Some(seen), Some(wanted)) = (found.generation, wanted)
        && seen < wanted
    {
        return Some(format!("{kind} is of generation {seen}, not yet of {wanted}"));
    }
    (!found.is_true()).then(|| format!("not {kind}: {}", found.text()))
}

fn parent_name(parent: &Value) -> String {
    let kind = parent["kind"].as_str().unwrap_or("Gateway");
    let name = parent["name"].as_str().unwrap_or_default();
    match parent["sectionName"].as_str() {
        Some(section) => format!("{kind} {name}/{section}"),
        None => format!("{kind} {name}"),
    }
}

/// Whether two parent references are one, with the defaults of the API filled in.
fn same_parent(a: &Value, b: &Value, route: &Value) -> bool {
    let text = |r: &Value, key: &str, default: &str| r[key].as_str().unwrap_or(default).to_owned();
    let namespace = route["metadata"]["namespace"].as_str().unwrap_or_default();
    a["port"] == b["port"]
        && [
            ("group", "gateway.networking.k8s.io"),
            ("kind", "Gateway"),
            ("namespace", namespace),
            ("name", ""),
            ("sectionName", ""),
        ]
        .into_iter()
        .all(|(key, default)| text(a, key, default) == text(b, key, default))
}
