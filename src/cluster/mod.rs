//! The one way to an API server: kubeconfigs, credentials, bounded calls with visible retries,
//! discovery, and a classification of what a server refuses.
//!
//! [`Kubeconfigs`] is made once a run, [`Cluster::connect`] once a target; a [`Cluster`] is cheap
//! to clone. Objects go in and out as untyped JSON. A call that fails is a [`CallError`], which
//! [`CallError::into_error`] turns into what the user reads.

mod api;
mod call;
mod clock;
mod connect;
mod credentials;
mod discovery;
pub(crate) mod error;
#[cfg(test)]
mod fake;
mod identity;
mod in_cluster;
mod kubeconfig;
mod logs;
mod note;
mod once;
mod proxy;
mod refusal;
mod retry;
pub mod state;
mod text;
mod tls;

pub use api::{Applied, Apply, Deleted, ServerVersion};
pub use connect::{Cluster, ConnectOptions, Environment, Impersonate};
pub use discovery::{Discovery, Lookup, Resource};
pub use error::{CallContext, CallError, CallErrorKind};
pub use kubeconfig::{Kubeconfigs, Server};
pub use logs::LogOf;
pub use note::{Note, Notes};
pub use refusal::{Cause, FieldConflict, Refusal};
pub use retry::RetryPolicy;
