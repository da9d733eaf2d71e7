//! Services, Ingresses, autoscalers and disruption budgets: what stands around workloads.

use serde_json::Value;

use super::fields::{condition, count};
use super::generation::behind;
use super::{Own, Verdict};

/// An address of a load balancer is no condition: clusters without a cloud never give one, and
/// what it takes is not the application's. It is said.
pub(super) fn service(object: &Value) -> Verdict {
    let spec = &object["spec"];
    let filled = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    match spec["type"].as_str() {
        Some("ExternalName") => Verdict::healthy(),
        _ if spec["clusterIP"].as_str().unwrap_or_default().is_empty() => {
            Verdict::progressing("no cluster IP yet")
        }
        Some("LoadBalancer")
            if !filled(&object["status"]["loadBalancer"]["ingress"])
                && !filled(&spec["externalIPs"]) =>
        {
            Verdict::healthy().note("no load balancer address yet")
        }
        _ => Verdict::healthy(),
    }
}

/// Not every controller publishes an address, so none is no reason to wait.
pub(super) fn ingress(object: &Value) -> Verdict {
    let addresses = object["status"]["loadBalancer"]["ingress"].as_array();
    if addresses.is_some_and(|list| !list.is_empty()) {
        Verdict::healthy()
    } else {
        Verdict::healthy().note("no address yet (not every controller publishes one)")
    }
}

/// An autoscaler without metrics keeps the number of pods: worth a note, no reason to wait.
pub(super) fn autoscaler(object: &Value) -> Verdict {
    let mut verdict = Verdict::healthy();
    for kind in ["AbleToScale", "ScalingActive"] {
        if let Some(off) = condition(object, kind).filter(|c| c.is_false())
            // A target at 0 replicas switches scaling off; that is how it is asked for.
            && off.reason != "ScalingDisabled"
        {
            verdict = verdict.note(format!("{kind} is false: {}", off.text()));
        }
    }
    verdict
}

/// A budget that allows nothing holds up evictions, not this deploy.
pub(super) fn disruption_budget(object: &Value, own: &Own) -> Verdict {
    let counted = behind(object, own).is_none() && count(object, "expectedPods") > 0;
    if counted && count(object, "disruptionsAllowed") == 0 {
        Verdict::healthy().note("it allows no disruption now: evictions wait")
    } else {
        Verdict::healthy()
    }
}
