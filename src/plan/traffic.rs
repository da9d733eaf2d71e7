//! Changes of what traffic reaches.

use serde_json::Value;

use super::pod_template;
use crate::diff::{Change, ObjectDiff};
use crate::manifest::{Gvk, ObjectId};

/// Whether a change moves traffic: of a Service's selector, or of a route's backends. Made before
/// the workloads behind it are healthy it is an outage (A10.4). A selector that only loses labels
/// moves none: it selects what it selected, and is written before pods that lack those labels.
pub fn moves_traffic(gvk: &Gvk, diff: &ObjectDiff) -> bool {
    let field = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Service") => ".spec.selector",
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute")
        | ("networking.k8s.io", "Ingress") => ".spec.rules",
        ("networking.istio.io", "VirtualService") => ".spec.http",
        _ => return false,
    };
    let widens = |change: &Change, path: &str| {
        gvk.kind == "Service" && path != field && change.after.is_none()
    };
    diff.changes.iter().any(|change| {
        let path = change.path.to_string();
        path.starts_with(field) && !widens(change, &path)
    })
}

/// Whether traffic that `front` lets in can reach the pods of a workload: for a Service by its
/// selector, for a route whatever is in its namespace, since its backends are Services that select
/// in turn.
pub fn reaches(front: (&ObjectId, &Value), workload: (&ObjectId, &Gvk, &Value)) -> bool {
    let ((front, manifest), (id, gvk, object)) = (front, workload);
    if front.namespace != id.namespace {
        return false;
    }
    let Some(template) = pod_template(gvk, object) else { return false };
    if !(front.group.is_empty() && front.kind == "Service") {
        return true;
    }
    let labels = &template["metadata"]["labels"];
    let selector = manifest["spec"]["selector"].as_object();
    selector.is_some_and(|s| !s.is_empty() && s.iter().all(|(key, value)| labels[key] == *value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diff::object_diff;

    fn id(group: &str, kind: &str, namespace: &str) -> ObjectId {
        ObjectId {
            group: group.into(),
            kind: kind.into(),
            namespace: Some(namespace.into()),
            name: "web".into(),
        }
    }

    #[test]
    fn a_selector_moves_traffic_and_a_port_does_not() {
        let service = |selector: &str, port: u16| {
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
                "spec": {"selector": {"app": selector}, "ports": [{"port": port}]}})
        };
        let gvk = Gvk::new("v1", "Service");
        let moves = |before: &Value, after: &Value| {
            let diff = object_diff(&id("", "Service", "shop"), Some(before), Some(after));
            moves_traffic(&gvk, &diff)
        };
        assert!(moves(&service("a", 80), &service("b", 80)));
        assert!(!moves(&service("a", 80), &service("a", 81)));
    }

    #[test]
    fn a_selector_that_lets_in_more_is_not_kept_waiting() {
        let service = |selector: Value| {
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
                "spec": {"selector": selector}})
        };
        let gvk = Gvk::new("v1", "Service");
        let moves = |before: Value, after: Value| {
            let (before, after) = (service(before), service(after));
            let diff = object_diff(&id("", "Service", "shop"), Some(&before), Some(&after));
            moves_traffic(&gvk, &diff)
        };
        let both = || json!({"app": "web", "mcd.dev/variant": "primary"});
        assert!(!moves(both(), json!({"app": "web"})));
        assert!(moves(json!({"app": "web"}), both()));
        assert!(moves(both(), json!({"app": "api"})));
        assert!(moves(both(), json!(null)));
    }

    #[test]
    fn a_service_reaches_the_pods_that_it_selects() {
        let service = id("", "Service", "shop");
        let selects = |labels: Value| json!({"spec": {"selector": labels}});
        let deployment =
            json!({"spec": {"template": {"metadata": {"labels": {"app": "web", "v": "2"}}}}});
        let gvk = Gvk::new("apps/v1", "Deployment");
        let workload = id("apps", "Deployment", "shop");
        let reach = |front: &Value| reaches((&service, front), (&workload, &gvk, &deployment));
        assert!(reach(&selects(json!({"app": "web"}))));
        assert!(reach(&selects(json!({"app": "web", "v": "2"}))));
        assert!(!reach(&selects(json!({"app": "web", "v": "1"}))));
        assert!(!reach(&selects(json!({}))));
        assert!(!reach(&json!({"spec": {}})));
        let elsewhere = id("", "Service", "other");
        let all = selects(json!({"app": "web"}));
        assert!(!reaches((&elsewhere, &all), (&workload, &gvk, &deployment)));
        let route = id("gateway.networking.k8s.io", "HTTPRoute", "shop");
        assert!(reaches((&route, &json!({})), (&workload, &gvk, &deployment)));
    }
}
