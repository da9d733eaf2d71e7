//! Connections of a proxy, and the way of a request through it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::SendRequest;
use hyper::header::CONNECTION;
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify, watch};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::rule::{Fault, Reply, Request};
use super::{Action, Door, Gate, Inner, KillSwitch, When};
use crate::api::{certificate_der, key_der, tls_client};
use crate::cluster::Cluster;
use crate::error::{Context, Error, Result};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type AnyBody = BoxBody<Bytes, Failure>;

/// How long a client may take for its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// TLS as the cluster itself would have it.
pub(super) struct Serving {
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Serving")
    }
}

impl Serving {
    pub(super) fn new(cluster: &Cluster) -> Result<Serving> {
        let mut config = server_tls(cluster)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Serving { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

/// A server with the cluster's own certificate, that lets clients show one of the cluster's CA, or none.
pub(crate) fn server_tls(cluster: &Cluster) -> Result<ServerConfig> {
    let pair = cluster.server_certificate()?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    let ca = crate::pki::Pair { certificate: cluster.ca()?, key: String::new() };
    roots.add(certificate_der(&ca)?).doing(|| "CA certificate".into())?;
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .doing(|| "client certificates".into())?;
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .doing(|| "TLS".into())?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate_der(&pair)?], key_der(&pair)?)
        .doing(|| "serving certificate".into())
}

/// Accepts connections until `closing` is closed; then drops the socket, says so by dropping `_done`, and all connections
/// end by themselves.
pub(super) async fn accept(
    inner: Arc<Inner>,
    socket: TcpListener,
    door: Door,
    mut closing: watch::Receiver<()>,
    _done: mpsc::Sender<()>,
) {
    loop {
        let accepted = tokio::select! {
            _ = closing.changed() => break,
            accepted = socket.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else { continue };
        inner.state().connections += 1;
        let (inner, mut closing) = (Arc::clone(&inner), closing.clone());
        match door {
            Door::Open => drop(tokio::spawn(connection(inner, stream, closing))),
            Door::Hang => drop(tokio::spawn(async move {
                closing.changed().await.ok();
                drop(stream);
            })),
            Door::Reset | Door::Refuse => {
                stream.set_zero_linger().ok();
            }
        }
    }
    drop(socket);
}

/// One connection of a client.
async fn connection(inner: Arc<Inner>, stream: TcpStream, mut closing: watch::Receiver<()>) {
    stream.set_nodelay(true).ok();
    let handshake = tokio::time::timeout(HANDSHAKE, inner.serving.acceptor.accept(stream));
    let tls = tokio::select! {
        _ = closing.changed() => return,
        tls = handshake => match tls {
            Ok(Ok(tls)) => tls,
            _ => return,
        },
    };
    let certificate =
        tls.get_ref().1.peer_certificates().and_then(|c| c.first()).map(|c| c.to_vec());
    let session = Arc::new(Session {
        inner,
        certificate,
        upstream: Mutex::new(None),
        reset: Arc::new(Notify::new()),
    });
    let service = service_fn({
        let session = Arc::clone(&session);
        move |request| {
            let session = Arc::clone(&session);
            async move { Ok::<_, Infallible>(session.handle(request).await) }
        }
    });
    let mut connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(tls), service);
    let reset = tokio::select! {
        // The client is gone, or has done something that HTTP does not allow: nothing is left to do.
        _ = &mut connection => return,
        _ = closing.changed() => false,
        () = session.reset.notified() => true,
    };
    let io: TlsStream<TcpStream> = connection.into_parts().io.into_inner();
    if reset {
        io.get_ref().0.set_zero_linger().ok();
    }
}

/// What belongs to one connection of a client.
struct Session {
    inner: Arc<Inner>,
    /// The client's certificate.
    certificate: Option<Vec<u8>>,
    /// The connection to the API server, kept between requests.
    upstream: Mutex<Option<SendRequest<Incoming>>>,
    /// Asks for a reset of this connection.
    reset: Arc<Notify>,
}

/// What is to happen around the forwarding of a request.
#[derive(Default)]
struct Orders {
    fault: Option<Fault>,
    hold: Option<(Arc<Gate>, bool)>,
    kill: Option<(KillSwitch, When)>,
}

impl Session {
    async fn handle(&self, request: HttpRequest<Incoming>) -> Response<AnyBody> {
        let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
        let seen = Request::new(request.method().as_str(), path);
        let (entry, orders) = self.note(&seen);
        let response = match self.play(request, seen, orders).await {
            Ok(response) => response,
            // The server is gone, or hung up: so does the proxy.
            Err(_) => self.reset_connection().await,
        };
        if let Some(logged) = self.inner.state().log.get_mut(entry) {
            logged.status = Some(response.status().as_u16());
        }
        response
    }

    /// Writes the request down, and finds what is to happen to it.
    fn note(&self, request: &Request) -> (usize, Orders) {
        let mut state = self.inner.state();
        let mut orders = Orders::default();
        let action =
            state.rules.iter_mut().find_map(|(m, action)| m.takes(request).then(|| action.clone()));
        match action {
            Some(Action::Fault(fault)) => orders.fault = Some(fault),
            Some(Action::Hold { gate, after }) => orders.hold = Some((gate, after)),
            None => {}
        }
        if request.is_write {
            for switch in &state.switches {
                if let Some(when) = switch.count() {
                    orders.kill = Some((switch.clone(), when));
                }
            }
        }
        let faulted = orders.fault.is_some() || orders.kill.is_some();
        state.log.push(Request { faulted, ..request.clone() });
        (state.log.len() - 1, orders)
    }

    async fn play(
        &self,
        request: HttpRequest<Incoming>,
        seen: Request,
        orders: Orders,
    ) -> std::result::Result<Response<AnyBody>, Failure> {
        if let Some((gate, false)) = &orders.hold {
            gate.pass(seen.clone()).await;
        }
        if let Some((switch, When::Before)) = &orders.kill {
            fire(switch.clone()).await;
            return Ok(self.reset_connection().await);
        }
        match &orders.fault {
            Some(Fault::Answer(reply)) => return answer(reply),
            Some(Fault::Hang) => std::future::pending::<()>().await,
            Some(Fault::Reset) => return Ok(self.reset_connection().await),
            Some(Fault::Slow(delay)) => tokio::time::sleep(*delay).await,
            Some(Fault::ResetAfter | Fault::Stall(_) | Fault::Cut(_)) | None => {}
        }
        let response = self.forward(request).await?;
        if let Some((switch, When::After)) = orders.kill {
            response.into_body().collect().await?;
            fire(switch).await;
            return Ok(self.reset_connection().await);
        }
        if let Some((gate, true)) = orders.hold {
            gate.pass(seen).await;
        }
        match orders.fault {
            Some(Fault::ResetAfter) => {
                response.into_body().collect().await?;
                Ok(self.reset_connection().await)
            }
            Some(Fault::Stall(bytes)) => Ok(self.cut(response, bytes, false)),
            Some(Fault::Cut(bytes)) => Ok(self.cut(response, bytes, true)),
            Some(Fault::Answer(_) | Fault::Hang | Fault::Reset | Fault::Slow(_)) | None => {
                Ok(response.map(|body| body.map_err(Failure::from).boxed()))
            }
        }
    }

    /// Asks for a reset, and waits for it: the connection, and with it this future, ends.
    async fn reset_connection(&self) -> Response<AnyBody> {
        self.reset.notify_one();
        std::future::pending().await
    }

    fn cut(&self, response: Response<Incoming>, left: usize, reset: bool) -> Response<AnyBody> {
        let reset = reset.then(|| Arc::clone(&self.reset));
        response.map(|body| Cut { body, left, reset }.boxed())
    }

    async fn forward(
        &self,
        request: HttpRequest<Incoming>,
    ) -> std::result::Result<Response<Incoming>, Failure> {
        let mut upstream = self.upstream.lock().await;
        let usable = match upstream.as_mut() {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !usable {
            *upstream = Some(self.connect().await?);
        }
        let (mut head, body) = request.into_parts();
        head.headers.remove(CONNECTION);
        head.version = hyper::Version::HTTP_11;
        let sender = upstream.as_mut().ok_or("no connection")?;
        let mut response = sender.send_request(HttpRequest::from_parts(head, body)).await?;
        response.headers_mut().remove(CONNECTION);
        Ok(response)
    }

    /// A connection to the API server as the user that this connection is of. A token is in the requests themselves.
    async fn connect(&self) -> std::result::Result<SendRequest<Incoming>, Failure> {
        let cluster = &self.inner.cluster;
        let user = match &self.certificate {
            Some(certificate) => Some(cluster.client_pair(certificate)?.ok_or_else(|| {
                Error::new("a client certificate that this process did not make")
            })?),
            None => None,
        };
        let config = tls_client(&cluster.ca()?, user.as_ref())?;
        let stream = TcpStream::connect(cluster.address()).await?;
        stream.set_nodelay(true).ok();
        let name = ServerName::from(cluster.address().ip());
        let tls = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tls)).await?;
        tokio::spawn(async move {
            // Its errors are seen by whoever waits for an answer.
            connection.await.ok();
        });
        Ok(sender)
    }
}

/// In a task of its own: the end of the process ends its connection, and with it whatever runs on behalf of it.
async fn fire(switch: KillSwitch) {
    tokio::spawn(async move { switch.fire().await }).await.ok();
}

fn answer(reply: &Reply) -> std::result::Result<Response<AnyBody>, Failure> {
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status)?);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let body = Full::new(Bytes::from(reply.body.clone())).map_err(|never| match never {});
    Ok(response.body(body.boxed())?)
}

/// A body of which only a part comes, then silence or a reset.
struct Cut {
    body: Incoming,
    left: usize,
    reset: Option<Arc<Notify>>,
}

impl Body for Cut {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 {
            if let Some(reset) = &self.reset {
                reset.notify_one();
            }
            return Poll::Pending;
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(match frame {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(mut data) => {
                    data.truncate(self.left);
                    self.left -= data.len();
                    // The head and this part have to be sent before the silence: whoever polls comes back for more.
                    Some(Ok(Frame::data(data)))
                }
                Err(frame) => Some(Ok(frame)),
            },
            Some(Err(e)) => Some(Err(e.into())),
            None => None,
        })
    }

    /// As the whole body would have it: a client must notice what is missing.
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
