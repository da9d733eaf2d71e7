//! Whose replicas an autoscaler decides (A5.2, A5.4): what it has set must not be reset.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::{Gvk, ObjectId};

/// The workloads that an autoscaler scales: those that a HorizontalPodAutoscaler or a KEDA
/// ScaledObject among `desired` names, or one of `live`. Of `live`, which may be items of a LIST
/// without kind (A1.7), everything that has a scale target counts.
pub fn autoscaled<'v>(
    desired: impl Iterator<Item = &'v Value>,
    live: &'v [Value],
) -> BTreeSet<ObjectId> {
    let in_set = desired.filter(|object| is_autoscaler(object));
    in_set.chain(live).filter_map(scale_target).collect()
}

fn is_autoscaler(object: &Value) -> bool {
    let (Some(api_version), Some(kind)) = (object["apiVersion"].as_str(), object["kind"].as_str())
    else {
        return false;
    };
    let gvk = Gvk::new(api_version, kind);
    matches!(
        (gvk.group.as_str(), kind),
        ("autoscaling", "HorizontalPodAutoscaler") | ("keda.sh", "ScaledObject")
    )
}

/// What `spec.scaleTargetRef` names. Without kind it is a Deployment, as KEDA has it.
fn scale_target(autoscaler: &Value) -> Option<ObjectId> {
    let target = autoscaler["spec"]["scaleTargetRef"].as_object()?;
    let text = |key: &str| target.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("kind").unwrap_or("Deployment");
    let gvk = Gvk::new(text("apiVersion").unwrap_or("apps/v1"), kind);
    Some(ObjectId {
        group: gvk.group,
        kind: gvk.kind,
        namespace: autoscaler["metadata"]["namespace"].as_str().map(str::to_owned),
        name: text("name")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn targets_of_autoscalers() {
        let hpa = |name: &str| {
            json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "h", "namespace": "shop"},
                "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name}}})
        };
        let keda = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
            "metadata": {"namespace": "shop"}, "spec": {"scaleTargetRef": {"name": "keda"}}});
        let other = json!({"apiVersion": "example.com/v1", "kind": "Scaler",
            "metadata": {"namespace": "shop"}, "spec": {"scaleTargetRef": {"name": "no"}}});
        let from_list = json!({"metadata": {"namespace": "shop"},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "live"}}});
        let odd =
            [json!(null), json!({"spec": {"scaleTargetRef": {"name": ""}}}), json!({"spec": []})];
        let desired = [hpa("set"), keda, other];
        let live: Vec<Value> = odd.into_iter().chain([from_list]).collect();
        let found: Vec<String> =
            autoscaled(desired.iter(), &live).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["Deployment shop/keda", "Deployment shop/live", "StatefulSet shop/set"]);
    }
}
