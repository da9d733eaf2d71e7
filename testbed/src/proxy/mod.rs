//! A proxy in front of a cluster that makes bad days happen on request.
//!
//! It ends TLS with the cluster's own serving certificate, so that a kubeconfig needs only another address, and speaks to
//! the API server as the user whose certificate or token it was shown. HTTP/1.1; watches pass through as they come.

mod kill;
mod rule;
mod serve;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::watch;

pub use kill::{KillSwitch, When};
pub use rule::{Fault, Match, Reply, Request};
pub(crate) use serve::server_tls;

use crate::cluster::Cluster;
use crate::error::{Context as _, Error, Result};
use crate::kubeconfig::Context;
use crate::ports;
use crate::progress::poll;

/// What happens to new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// They are served.
    Open,
    /// Nothing listens.
    Refuse,
    /// They are accepted, and nothing more is heard.
    Hang,
    /// They are accepted and reset.
    Reset,
}

/// A proxy in front of a cluster. It ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    inner: Arc<Inner>,
    listener: Mutex<Option<Listener>>,
}

#[derive(Debug)]
struct Inner {
    cluster: Cluster,
    port: u16,
    state: Mutex<State>,
    serving: serve::Serving,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<(Match, Action)>,
    switches: Vec<KillSwitch>,
    log: Vec<Request>,
    connections: usize,
}

/// What a rule does with a request that it takes.
#[derive(Clone, Debug)]
enum Action {
    Fault(Fault),
    Hold { gate: Arc<Gate>, after: bool },
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the lock left nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A listening socket and its connections; all are closed when the sender is dropped.
#[derive(Debug)]
struct Listener {
    close: watch::Sender<()>,
    closed: mpsc::Receiver<()>,
}

impl Proxy {
    /// Starts a proxy in front of a cluster. It passes everything on until it is told otherwise.
    ///
    /// # Panics
    /// If no port can be listened on.
    pub fn start(cluster: &Cluster) -> Proxy {
        match Proxy::try_start(cluster) {
            Ok(proxy) => proxy,
            Err(e) => panic!("no proxy in front of {}: {e}", cluster.name()),
        }
    }

    fn try_start(cluster: &Cluster) -> Result<Proxy> {
        let serving = serve::Serving::new(cluster)?;
        let (port, socket) = bind_anywhere()?;
        let state = Mutex::new(State::default());
        let inner = Arc::new(Inner { cluster: cluster.clone(), port, state, serving });
        let listener = listen(&inner, socket, Door::Open)?;
        Ok(Proxy { inner, listener: Mutex::new(Some(listener)) })
    }

    /// Where it listens, also while it refuses.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.inner.port))
    }

    /// The `server` of a kubeconfig that goes through this proxy.
    pub fn kubeconfig_server(&self) -> String {
        format!("https://{}", self.address())
    }

    /// A context for an administrator that goes through this proxy.
    pub fn context(&self) -> Context {
        Context::of(&self.inner.cluster).at_server(self.kubeconfig_server())
    }

    /// Closes everything and listens no more: connections are refused.
    pub fn refuse(&self) {
        self.set_door(Door::Refuse);
    }

    /// Closes everything; new connections are accepted and never answered.
    pub fn hang(&self) {
        self.set_door(Door::Hang);
    }

    /// Closes everything; new connections are accepted and reset.
    pub fn reset(&self) {
        self.set_door(Door::Reset);
    }

    /// Serves again after [`refuse`](Self::refuse), [`hang`](Self::hang) or [`reset`](Self::reset), at the same address.
    /// Connections that are open are closed.
    pub fn open(&self) {
        self.set_door(Door::Open);
    }

    /// Closes all connections, and serves new ones.
    pub fn drop_connections(&self) {
        self.set_door(Door::Open);
    }

    fn set_door(&self, door: Door) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Listener { close, closed }) = listener.take() {
            drop(close);
            // Ends when the task that had the socket, and thus the socket, is gone.
            closed.recv_timeout(Duration::from_secs(10)).ok();
        }
        if door == Door::Refuse {
            return;
        }
        let address = self.address();
        let bound =
            poll(Duration::from_secs(10), || TcpListener::bind(address).map_err(|e| e.to_string()));
        let result = bound.map_err(Error::new).and_then(|s| listen(&self.inner, s, door));
        match result {
            Ok(new) => *listener = Some(new),
            Err(e) => panic!("the proxy cannot listen on {address} again: {e}"),
        }
    }

    /// Plays a fault on these requests. Of several rules the first that takes a request counts.
    pub fn inject(&self, requests: Match, fault: Fault) {
        self.inner.state().rules.push((requests, Action::Fault(fault)));
    }

    /// Forgets all faults, and switches whose turn did not come. What is held stays held.
    pub fn heal(&self) {
        let mut state = self.inner.state();
        state.rules.retain(|(_, action)| matches!(action, Action::Hold { .. }));
        state.switches.clear();
    }

    /// Holds the first of these requests before the server sees it, until it is released.
    pub fn hold(&self, requests: Match) -> Hold {
        self.add_hold(requests, false)
    }

    /// Holds the answer of the first of these requests: the server has done its work, and the client does not know yet.
    pub fn hold_answer(&self, requests: Match) -> Hold {
        self.add_hold(requests, true)
    }

    fn add_hold(&self, requests: Match, after: bool) -> Hold {
        let gate = Arc::new(Gate::default());
        let action = Action::Hold { gate: Arc::clone(&gate), after };
        self.inner.state().rules.insert(0, (requests.times(1), action));
        Hold { gate }
    }

    /// Lets this switch count the writes that go through here.
    pub fn attach(&self, switch: &KillSwitch) {
        self.inner.state().switches.push(switch.clone());
    }

    /// Ends a child before or after the n-th write from now. Start the child first; to be sure of the first write, use
    /// [`attach`](Self::attach) and tell the switch its target later.
    pub fn kill_at_write(&self, child: &std::process::Child, nth: usize, when: When) -> KillSwitch {
        let switch = KillSwitch::at_write(nth, when);
        switch.target(child);
        self.attach(&switch);
        switch
    }

    /// All requests until now, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.inner.state().log.clone()
    }

    /// The requests until now that change what the cluster stores.
    pub fn writes(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|r| r.is_write).collect()
    }

    /// How many connections were accepted until now.
    pub fn connections(&self) -> usize {
        self.inner.state().connections
    }

    /// Forgets the requests and connections until now.
    pub fn clear_log(&self) {
        let mut state = self.inner.state();
        // Requests that are still on their way find their entry gone, and leave no other.
        state.log.clear();
        state.connections = 0;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        listener.take();
    }
}

/// A request that is held, or will be.
#[derive(Debug)]
pub struct Hold {
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    arrived: watch::Sender<Option<Request>>,
    open: watch::Sender<bool>,
}

impl Gate {
    /// Says that the request is here, and waits until it may pass.
    async fn pass(&self, request: Request) {
        self.arrived.send_replace(Some(request));
        // The gate itself holds the sender: this ends by its opening alone.
        self.open.subscribe().wait_for(|open| *open).await.ok();
    }
}

impl Hold {
    /// Waits until the request is there. Panics after `timeout`.
    pub fn wait(&self, timeout: Duration) -> Request {
        crate::progress::wait_for("the request to hold arrives", timeout, || {
            self.gate.arrived.borrow().clone().ok_or_else(|| "no such request".to_owned())
        })
    }

    /// True if the request is there.
    pub fn has_arrived(&self) -> bool {
        self.gate.arrived.borrow().is_some()
    }

    /// Lets it pass.
    pub fn release(&self) {
        self.gate.open.send_replace(true);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

/// The runtime of all proxies of this process, beside whatever runtime a test has of its own.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: std::sync::OnceLock<std::io::Result<Runtime>> = std::sync::OnceLock::new();
    let built = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("testbed-proxy")
            .enable_all()
            .build()
    });
    built.as_ref().doing(|| "runtime of the proxy".into())
}

/// A port that no other process is likely to take while the proxy refuses.
fn bind_anywhere() -> Result<(u16, TcpListener)> {
    let bound = poll(Duration::from_secs(10), || {
        let [port] = ports::free(&BTreeSet::new()).map_err(|e| e.to_string())?;
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| e.to_string())?;
        Ok((port, socket))
    });
    bound.map_err(Error::new)
}

fn listen(inner: &Arc<Inner>, socket: TcpListener, door: Door) -> Result<Listener> {
    socket.set_nonblocking(true).doing(|| "listening socket".into())?;
    let runtime = runtime()?;
    let _in_runtime = runtime.enter();
    let socket = tokio::net::TcpListener::from_std(socket).doing(|| "listening socket".into())?;
    let (close, closing) = watch::channel(());
    let (done, closed) = mpsc::channel();
    runtime.spawn(serve::accept(Arc::clone(inner), socket, door, closing, done));
    Ok(Listener { close, closed })
}
