//! Changes of what traffic reaches.

use crate::diff::ObjectDiff;
use crate::manifest::Gvk;

/// Whether a change moves traffic: of a Service's selector, or of a route's backends. Made before
/// the workloads behind it are healthy it is an outage (A10.4).
pub fn moves_traffic(gvk: &Gvk, diff: &ObjectDiff) -> bool {
    let field = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Service") => ".spec.selector",
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute")
        | ("networking.k8s.io", "Ingress") => ".spec.rules",
        ("networking.istio.io", "VirtualService") => ".spec.http",
        _ => return false,
    };
    diff.changes.iter().any(|change| change.path.to_string().starts_with(field))
}
