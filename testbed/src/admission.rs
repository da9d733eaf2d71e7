//! An admission webhook on this machine, for one namespace: policy that denies, warns, changes, is slow or is down.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::cluster::Cluster;
use crate::error::{Context as _, Error, Result};
use crate::progress::poll;
use crate::proxy::{runtime, server_tls};

/// What the webhook says to a write.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Yes.
    Allow,
    /// No, with this message (the API server answers 403 unless another code is given).
    Deny {
        /// The HTTP status that the client gets.
        code: u16,
        /// The reason that the client is told.
        message: String,
    },
    /// Yes, with a warning.
    Warn(String),
    /// Yes, with this JSON patch of the object (RFC 6902).
    Patch(Value),
    /// Yes, with the number of the review in this field (a JSON pointer), where the object has the
    /// map that it is in: another one each time.
    Stamp(String),
    /// Yes, after this long. The webhook's timeout is 5 seconds.
    Slow(Duration),
    /// No answer: the connection is closed. The webhook's failure policy is `Fail`.
    Down,
}

/// A webhook that sees every create, update and delete in a namespace of a cluster. Gone when it is dropped.
#[derive(Debug)]
pub struct Admission {
    cluster: Cluster,
    name: String,
    shared: Arc<Shared>,
    stop: tokio::task::AbortHandle,
}

#[derive(Debug)]
struct Shared {
    verdict: Mutex<Verdict>,
    reviews: AtomicUsize,
}

/// The API path of mutating webhooks. They may deny as well as validating ones.
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

impl Admission {
    /// Starts a webhook for a namespace, and waits until the API server asks it.
    ///
    /// # Panics
    /// If it cannot be started, or is not asked.
    pub fn start(cluster: &Cluster, namespace: &str, verdict: Verdict) -> Admission {
        Admission::start_with(cluster, namespace, verdict, "Fail", 5)
    }

    /// The same with a failure policy, `Fail` or `Ignore`, and a timeout in seconds.
    ///
    /// # Panics
    /// If it cannot be started, or is not asked.
    pub fn start_with(
        cluster: &Cluster,
        namespace: &str,
        verdict: Verdict,
        policy: &str,
        timeout: u32,
    ) -> Admission {
        match Admission::try_start(cluster, namespace, verdict, policy, timeout) {
            Ok(admission) => admission,
            Err(e) => panic!("{}: no admission webhook: {e}", cluster.name()),
        }
    }

    fn try_start(
        cluster: &Cluster,
        namespace: &str,
        verdict: Verdict,
        policy: &str,
        timeout: u32,
    ) -> Result<Admission> {
        let runtime = runtime()?;
        let acceptor = TlsAcceptor::from(Arc::new(server_tls(cluster)?));
        let socket =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing(|| "listening socket".into())?;
        socket.set_nonblocking(true).doing(|| "listening socket".into())?;
        let port = socket.local_addr().doing(|| "listening socket".into())?.port();
        // What it says first is yes: that is how the API server's asking is waited for.
        let shared =
            Arc::new(Shared { verdict: Mutex::new(Verdict::Allow), reviews: AtomicUsize::new(0) });
        let socket = {
            let _in_runtime = runtime.enter();
            tokio::net::TcpListener::from_std(socket).doing(|| "listening socket".into())?
        };
        let stop = runtime.spawn(serve(socket, acceptor, Arc::clone(&shared))).abort_handle();
        let name = format!("testbed-{namespace}-{port}");
        let admission = Admission { cluster: cluster.clone(), name, shared, stop };
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": admission.name},
            "webhooks": [{
                "name": "policy.testbed.mcd.dev",
                "clientConfig": {
                    "url": format!("https://127.0.0.1:{port}/"),
                    "caBundle": STANDARD.encode(cluster.ca()?),
                },
                "rules": [{
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "resources": ["*"],
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                    "scope": "Namespaced",
                }],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "failurePolicy": policy,
                "sideEffects": "None",
                "timeoutSeconds": timeout,
                "admissionReviewVersions": ["v1"],
            }],
        });
        let answer = cluster.call("POST", CONFIGURATIONS, Some(&configuration))?;
        if !answer.is_success() {
            return Err(Error::new(answer.text));
        }
        admission.wait_asked(namespace)?;
        admission.shared.reviews.store(0, Ordering::SeqCst);
        admission.set(verdict);
        Ok(admission)
    }

    /// The API server learns of a webhook by its own watch: dry runs until it asks.
    fn wait_asked(&self, namespace: &str) -> Result<()> {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps?dryRun=All");
        let probe = json!({"metadata": {"generateName": "probe-"}});
        let asked = poll(Duration::from_secs(30), || {
            let answer =
                self.cluster.call("POST", &path, Some(&probe)).map_err(|e| e.to_string())?;
            match self.shared.reviews.load(Ordering::SeqCst) {
                0 => Err(format!("it is not asked; a dry run: {} {}", answer.status, answer.text)),
                _ => Ok(()),
            }
        });
        asked.map_err(Error::new)
    }

    /// Says something else from now on.
    pub fn set(&self, verdict: Verdict) {
        *self.shared.verdict.lock().unwrap_or_else(PoisonError::into_inner) = verdict;
    }

    /// How often it was asked, by dry runs too.
    pub fn reviews(&self) -> usize {
        self.shared.reviews.load(Ordering::SeqCst)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        // Until the API server has learned that the webhook is gone it still asks; so the answer is yes.
        self.set(Verdict::Allow);
        let path = format!("{CONFIGURATIONS}/{}", self.name);
        self.cluster.call("DELETE", &path, None).ok();
        self.stop.abort();
    }
}

async fn serve(socket: tokio::net::TcpListener, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    // Dropped with this task, and the connections with it.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = socket.accept().await else { continue };
        let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
        connections.spawn(async move {
            let Ok(tls) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request| review(request, Arc::clone(&shared)));
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(tls), service)
                .await
                .ok();
        });
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn review(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> std::result::Result<Response<Full<Bytes>>, Failure> {
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body)?;
    let number = shared.reviews.fetch_add(1, Ordering::SeqCst);
    let verdict = shared.verdict.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Verdict::Slow(delay) = verdict {
        tokio::time::sleep(delay).await;
    }
    let response = answer(&review["request"], &verdict, number).ok_or("down, as asked for")?;
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    });
    let response = Response::builder().header("Content-Type", "application/json");
    Ok(response.body(Full::new(Bytes::from(review.to_string())))?)
}

/// The `response` of an AdmissionReview. None for no answer at all.
fn answer(request: &Value, verdict: &Verdict, number: usize) -> Option<Value> {
    let uid = &request["uid"];
    Some(match verdict {
        Verdict::Allow | Verdict::Slow(_) => json!({"uid": uid, "allowed": true}),
        Verdict::Deny { code, message } => json!({
            "uid": uid,
            "allowed": false,
            "status": {"code": code, "message": message},
        }),
        Verdict::Warn(warning) => json!({"uid": uid, "allowed": true, "warnings": [warning]}),
        Verdict::Stamp(path) => {
            // Only where there is something to put it into.
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if request["object"].pointer(parent).is_none() {
                return answer(request, &Verdict::Allow, number);
            }
            let stamp = json!([{"op": "add", "path": path, "value": format!("stamp-{number}")}]);
            return answer(request, &Verdict::Patch(stamp), number);
        }
        Verdict::Patch(patch) => json!({
            "uid": uid,
            "allowed": true,
            "patchType": "JSONPatch",
            "patch": STANDARD.encode(patch.to_string()),
        }),
        Verdict::Down => return None,
    })
}
