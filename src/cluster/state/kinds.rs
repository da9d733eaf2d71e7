//! The two kinds that state is kept in. Every server has them, so discovery is not asked.

use super::super::Resource;
use crate::manifest::Gvk;

/// Core Secrets.
pub(super) fn secrets() -> Resource {
    Resource::new(Gvk::new("v1", "Secret"), "secrets", true)
}

/// Leases.
pub(super) fn leases() -> Resource {
    Resource::new(Gvk::new("coordination.k8s.io/v1", "Lease"), "leases", true)
}
