//! The two kinds that state is kept in. Every server has them, so discovery is not asked.

use super::super::{CallError, CallErrorKind, Resource};
use crate::manifest::Gvk;

/// Core Secrets.
pub(super) fn secrets() -> Resource {
    Resource::new(Gvk::new("v1", "Secret"), "secrets", true)
}

/// Leases.
pub(super) fn leases() -> Resource {
    Resource::new(Gvk::new("coordination.k8s.io/v1", "Lease"), "leases", true)
}

/// Whether a call that failed may have had its effect all the same: its answer was lost. Creates
/// and writes over a version are not repeated blindly, so whoever makes them looks first.
pub(super) fn may_have_arrived(error: &CallError) -> bool {
    matches!(error.kind, CallErrorKind::Unreachable { .. } | CallErrorKind::Timeout { .. })
}
