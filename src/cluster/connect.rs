//! One client a cluster.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use kube::Client;
use kube::client::ClientBuilder;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::api::ServerVersion;
use super::clock::ServerClock;
use super::credentials::Credential;
use super::discovery::Discovery;
use super::error::{CallContext, CallError, CallErrorKind, CallResult};
use super::kubeconfig::{Entry, Kubeconfigs, Server};
use super::note::{Note, Notes};
use super::once::Once;
use super::retry::RetryPolicy;
use crate::config::{ClusterSpec, TargetName};
use crate::error::Error;
use crate::manifest::ObjectId;

/// How clusters are reached: what flags, variables and defaults come to.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// `--kubeconfig`: beats `environment.kubeconfig`; a missing file is an error.
    pub kubeconfig: Option<PathBuf>,
    /// What of the environment counts.
    pub environment: Environment,
    /// The bound on each attempt of a call, its body included (`--request-timeout`, 30 s).
    pub request_timeout: Duration,
    /// The bound on opening a connection, TLS included (5 s).
    pub connect_timeout: Duration,
    /// The bound on a credential plugin (30 s).
    pub credential_timeout: Duration,
    /// Calls at once a cluster (8).
    pub parallel: usize,
    /// What is retried, and how long.
    pub retry: RetryPolicy,
    /// Act as someone else (`--as`, `--as-group`).
    pub impersonate: Option<Impersonate>,
    /// Ends the run: reads stop at once, a write in flight is waited for, nothing new starts.
    pub cancel: CancellationToken,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        ConnectOptions {
            kubeconfig: None,
            environment: Environment::default(),
            request_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            credential_timeout: Duration::from_secs(30),
            parallel: 8,
            retry: RetryPolicy::default(),
            impersonate: None,
            cancel: CancellationToken::new(),
        }
    }
}

impl ConnectOptions {
    /// The defaults, with the process's environment.
    pub fn from_env() -> Self {
        ConnectOptions { environment: Environment::read(), ..ConnectOptions::default() }
    }
}

/// The variables that decide how clusters are reached, read once.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `KUBECONFIG`: a list of files.
    pub kubeconfig: Option<OsString>,
    /// The home folder, for `~/.kube/config`.
    pub home: Option<PathBuf>,
    /// `HTTPS_PROXY`.
    pub https_proxy: Option<String>,
    /// `HTTP_PROXY`.
    pub http_proxy: Option<String>,
    /// `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// `KUBERNETES_SERVICE_HOST`: in a pod, where its cluster's API server is.
    pub service_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`.
    pub service_port: Option<String>,
    /// The folder with the pod's service account; none: where every pod has it.
    pub service_account: Option<PathBuf>,
}

impl Environment {
    /// Reads the process's environment. The only place of this module that does.
    pub fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let either = |upper: &str| text(upper).or_else(|| text(&upper.to_lowercase()));
        Environment {
            kubeconfig: std::env::var_os("KUBECONFIG"),
            home: std::env::home_dir(),
            https_proxy: either("HTTPS_PROXY"),
            http_proxy: either("HTTP_PROXY"),
            no_proxy: either("NO_PROXY"),
            service_host: text("KUBERNETES_SERVICE_HOST"),
            service_port: text("KUBERNETES_SERVICE_PORT"),
            service_account: None,
        }
    }
}

/// Whom to act as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonate {
    /// The user.
    pub user: String,
    /// The groups.
    pub groups: Vec<String>,
    /// The uid.
    pub uid: Option<String>,
}

/// An API server, as one user. Cheap to clone; clones share connections, limits and caches.
#[derive(Clone)]
pub struct Cluster {
    pub(super) inner: Arc<Inner>,
    pub(super) caller: Arc<Caller>,
    pub(super) cancel: CancellationToken,
}

/// What all targets share that reach one server as one user: connections, the bound on calls at
/// once, and what the server said of itself.
pub(super) struct Inner {
    pub(super) server: Server,
    entry: Entry,
    client: RwLock<Connected>,
    pub(super) permits: Semaphore,
    pub(super) options: ConnectOptions,
    pub(super) discovery: Once<Arc<Discovery>>,
    pub(super) version: Once<ServerVersion>,
    pub(super) kube_system: Once<Option<String>>,
    pub(super) cluster_property: Once<Option<String>>,
    started: Instant,
    clock: Mutex<ServerClock>,
}

/// A target that reaches it.
pub(super) struct Caller {
    /// The kubeconfig's name of the user.
    pub(super) user: Option<String>,
    notes: Notes,
    told: Mutex<HashSet<(Option<ObjectId>, String)>>,
    /// Whether a call failed in passing, and none succeeded since.
    troubled: AtomicBool,
}

/// A client with the credential that it was made with.
#[derive(Clone)]
struct Connected {
    client: Client,
    credential: Option<Credential>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("server", &self.inner.server).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Makes a client for the cluster's context, or takes the one that another context made which
    /// comes to the same server and user. Reads files and runs the user's credential plugin (once
    /// for all clusters that share it), but sends nothing yet.
    ///
    /// # Errors
    /// The kubeconfig does not have the context or is wrong ([`CallErrorKind::Config`], exit 3), or
    /// the plugin fails ([`CallErrorKind::Credentials`], exit 9).
    pub async fn connect(
        target: &TargetName,
        spec: &ClusterSpec,
        kubeconfigs: &Kubeconfigs,
        options: &ConnectOptions,
        notes: Notes,
    ) -> CallResult<Cluster> {
        let what = "connect";
        let config = |error: Error| CallError::config(what, error.in_target(target));
        let entry = kubeconfigs.entry(spec, options).map_err(config)?;
        let insecure = entry.server.insecure;
        let user = entry.user_name.clone();
        let link = kubeconfigs.link(&entry);
        let connected = link.get_or_try_init(|| async {
            let server = entry.server.clone();
            let login = entry.login(None, &options.cancel).await.map_err(|kind| CallError {
                call: what.to_owned(),
                kind,
                context: Box::new(CallContext {
                    server: server.host.clone(),
                    user: user.clone(),
                    ..CallContext::default()
                }),
            });
            let (config, credential) = login?;
            let client = client(config).await.map_err(|why| {
                let message =
                    format!("context `{}` of the kubeconfig cannot be used", spec.context);
                CallError::config(what, Error::config(message).in_target(target).because(why))
            })?;
            CallResult::Ok(Arc::new(Inner {
                server,
                entry,
                client: RwLock::new(Connected { client, credential }),
                permits: Semaphore::new(options.parallel.max(1)),
                options: options.clone(),
                discovery: Once::default(),
                version: Once::default(),
                kube_system: Once::default(),
                cluster_property: Once::default(),
                started: Instant::now(),
                clock: Mutex::default(),
            }))
        });
        let inner = connected.await?.clone();
        if insecure {
            notes(Note::InsecureTls);
        }
        let caller =
            Caller { user, notes, told: Mutex::default(), troubled: AtomicBool::new(false) };
        Ok(Cluster { inner, caller: Arc::new(caller), cancel: options.cancel.clone() })
    }

    /// The server behind it.
    pub fn server(&self) -> &Server {
        &self.inner.server
    }

    /// The kubeconfig's name of the user.
    pub fn user(&self) -> Option<&str> {
        self.caller.user.as_deref()
    }

    /// The same cluster for what a cancelled run still has to do, such as giving up its lease.
    #[must_use]
    pub fn uncancelled(&self) -> Cluster {
        Cluster { cancel: CancellationToken::new(), ..self.clone() }
    }

    /// The server's time, by the `Date` of its answers; ours, until the first answer.
    pub fn now(&self) -> jiff::Timestamp {
        let clock = *lock(&self.inner.clock);
        clock.at(self.inner.started.elapsed()).unwrap_or_else(jiff::Timestamp::now)
    }

    /// Learns the server's time from an answer to a call of that length that just ended.
    pub(super) fn learn_time(&self, date: jiff::Timestamp, took: Duration) {
        let received = self.inner.started.elapsed();
        lock(&self.inner.clock).observe(date, received.saturating_sub(took), received);
    }

    pub(super) fn note(&self, note: Note) {
        (self.caller.notes)(note);
    }

    /// Says that a call failed in passing.
    pub(super) fn note_retry(&self, retry: Note) {
        self.caller.troubled.store(true, Ordering::Relaxed);
        self.note(retry);
    }

    /// Says that the server answers again, where that was in doubt.
    pub(super) fn note_answer(&self) {
        if self.caller.troubled.swap(false, Ordering::Relaxed) {
            self.note(Note::Answers);
        }
    }

    /// Passes a warning on, once for an object.
    pub(super) fn warn(&self, object: Option<&ObjectId>, text: &str) {
        let key = (object.cloned(), text.to_owned());
        if lock(&self.caller.told).insert(key) {
            self.note(Note::Warning { object: object.cloned(), text: text.to_owned() });
        }
    }

    /// The client, with a credential that has not expired.
    pub(super) async fn client(&self) -> Result<Client, CallErrorKind> {
        let connected = self.connected();
        match connected.credential {
            Some(credential) if credential.expires_soon(jiff::Timestamp::now()) => {
                self.log_in_again(Some(&credential)).await
            }
            _ => Ok(connected.client),
        }
    }

    /// After a 401: whether a new credential could be had, so that a second try makes sense.
    pub(super) async fn renew(&self) -> Result<bool, CallErrorKind> {
        match self.connected().credential {
            // A token file was renewed since it was read, or will be refused once more.
            None if self.inner.entry.has_token_file() => {
                self.log_in_again(None).await.map(|_| true)
            }
            None => Ok(false),
            Some(refused) => self.log_in_again(Some(&refused)).await.map(|_| true),
        }
    }

    fn connected(&self) -> Connected {
        self.inner.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn log_in_again(&self, not: Option<&Credential>) -> Result<Client, CallErrorKind> {
        let (config, credential) = self.inner.entry.login(not, &self.cancel).await?;
        let client = client(config).await.map_err(|why| CallErrorKind::Credentials { why })?;
        let connected = Connected { client: client.clone(), credential };
        *self.inner.client.write().unwrap_or_else(PoisonError::into_inner) = connected;
        Ok(client)
    }
}

/// Builds the client off the runtime's threads: an `auth-provider` may run a command in it.
async fn client(config: kube::Config) -> Result<Client, String> {
    // Only the first call in a process does something; without it a second TLS backend that some
    // dependency brings in would make rustls panic.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let build = || ClientBuilder::try_from(config).map(ClientBuilder::build);
    match tokio::task::spawn_blocking(build).await {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(super::text::clean(&super::call::causes(&error))),
        Err(_) => Err("its credentials could not be loaded".to_owned()),
    }
}

/// Locks; a panic of another holder does not matter for plain values.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
