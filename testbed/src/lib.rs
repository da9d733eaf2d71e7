//! Real Kubernetes control planes on this machine, for tests and for `cargo demo`.
//!
//! Nothing is simulated but the nodes: etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the real ones,
//! and kwok plays the kubelets' part. No container engine is needed. Everything listens on 127.0.0.1.
//!
//! ```no_run
//! use testbed::{Bed, Context};
//!
//! let bed = Bed::shared();
//! let namespace = bed.namespace("rollout");
//! let contexts: Vec<Context> =
//!     bed.clusters().iter().map(|c| Context::of(c).in_namespace(namespace.name())).collect();
//! let kubeconfig = bed.kubeconfig(&contexts);
//! # let _ = kubeconfig;
//! ```

mod admission;
mod api;
mod bed;
mod cache;
mod charts;
mod cluster;
mod component;
mod error;
mod fleet;
mod impostor;
mod kubeconfig;
mod pki;
mod ports;
mod process;
mod progress;
mod proxy;
mod registry;
mod tools;

pub use admission::{Admission, Verdict};
pub use api::{Answer, Connection};
pub use bed::{Bed, Kubeconfig, PrivateCluster, TestNamespace};
pub use charts::{Asked, ChartServer, ChartServerOptions};
pub use cluster::Cluster;
pub use component::Component;
pub use error::{Error, Result};
pub use fleet::{DEFAULT_CLUSTERS, Fleet, down, status};
pub use impostor::{Flaw, Impostor};
pub use kubeconfig::{Context, User};
pub use process::Process;
pub use progress::wait_for;
pub use proxy::{Fault, Hold, KillSwitch, Match, Proxy, Reply, Request, When};
pub use registry::Registry;
