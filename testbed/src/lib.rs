//! Real Kubernetes control planes on this machine, for tests and for `cargo demo`.
