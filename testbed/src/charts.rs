//! A chart repository over plain HTTP: a folder with `index.yaml` and archives, and a registry behind the same login.
//! It records what it was asked, and can be slow.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;

use crate::error::{Context as _, Result};
use crate::proxy::runtime;

/// What a [`ChartServer`] serves, and to whom.
#[derive(Clone, Debug, Default)]
pub struct ChartServerOptions {
    /// The folder whose files it serves.
    pub folder: PathBuf,
    /// The registry (`host:port`) that answers below `/v2/`; none: nothing is there.
    pub registry: Option<String>,
    /// The user and the password that it wants (basic authentication); none: everyone may read.
    pub login: Option<(String, String)>,
    /// How long each answer takes.
    pub delay: Duration,
}

/// A request that a [`ChartServer`] was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The path, with what follows it.
    pub path: String,
    /// User and password, as `user:password`; none when it came without.
    pub login: Option<String>,
    /// The status of the answer.
    pub status: u16,
}

/// A chart repository on this machine. Gone when it is dropped.
#[derive(Debug)]
pub struct ChartServer {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: tokio::task::AbortHandle,
}

impl ChartServer {
    /// Starts it.
    ///
    /// # Panics
    /// If it cannot listen.
    pub fn start(options: ChartServerOptions) -> ChartServer {
        ChartServer::try_start(options).unwrap_or_else(|e| panic!("no chart repository: {e}"))
    }

    fn try_start(options: ChartServerOptions) -> Result<ChartServer> {
        let runtime = runtime()?;
        let listening = || "listening socket".to_owned();
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing(listening)?;
        socket.set_nonblocking(true).doing(listening)?;
        let port = socket.local_addr().doing(listening)?.port();
        let socket = {
            let _in_runtime = runtime.enter();
            tokio::net::TcpListener::from_std(socket).doing(listening)?
        };
        let asked = Arc::default();
        let stop = runtime.spawn(serve(socket, Arc::new(options), Arc::clone(&asked)));
        Ok(ChartServer { port, asked, stop: stop.abort_handle() })
    }

    /// Where it listens: `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of the repository.
    pub fn url(&self) -> String {
        format!("http://{}", self.host())
    }

    /// All requests so far, in the order of their answers.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ChartServer {
    fn drop(&mut self) {
        self.stop.abort();
    }
}

async fn serve(
    socket: tokio::net::TcpListener,
    options: Arc<ChartServerOptions>,
    asked: Arc<Mutex<Vec<Asked>>>,
) {
    // Dropped with this task, and the connections with it.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = socket.accept().await else { continue };
        let (options, asked) = (Arc::clone(&options), Arc::clone(&asked));
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let (options, asked) = (Arc::clone(&options), Arc::clone(&asked));
                async move {
                    let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
                    let (path, login) = (path.to_owned(), login(&request));
                    tokio::time::sleep(options.delay).await;
                    let answer = answer(&options, request, login.as_deref()).await;
                    let status = answer.as_ref().map_or(502, |answer| answer.status().as_u16());
                    let asked_now = Asked { path, login, status };
                    asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked_now);
                    answer
                }
            });
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await
                .ok();
        });
    }
}

type Answer = std::io::Result<Response<Full<Bytes>>>;

fn other<T>(
    result: std::result::Result<T, impl Into<Box<dyn std::error::Error + Send + Sync>>>,
) -> std::io::Result<T> {
    result.map_err(std::io::Error::other)
}

fn login(request: &Request<Incoming>) -> Option<String> {
    let header = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let decoded = STANDARD.decode(header.strip_prefix("Basic ")?).ok()?;
    String::from_utf8(decoded).ok()
}

async fn answer(
    options: &ChartServerOptions,
    request: Request<Incoming>,
    login: Option<&str>,
) -> Answer {
    let status = |status: StatusCode| Response::builder().status(status);
    if let Some((user, password)) = &options.login
        && login != Some(format!("{user}:{password}").as_str())
    {
        let challenge = (header::WWW_AUTHENTICATE, "Basic realm=\"charts\"");
        let refused = status(StatusCode::UNAUTHORIZED).header(challenge.0, challenge.1);
        return other(refused.body(Full::new("who are you?".into())));
    }
    if let Some(registry) = &options.registry
        && request.uri().path().starts_with("/v2/")
    {
        return forward(registry, request).await;
    }
    let path = request.uri().path().trim_start_matches('/');
    let inside = !path.split('/').any(|part| part == "..");
    match std::fs::read(options.folder.join(path)) {
        Ok(content) if inside => other(status(StatusCode::OK).body(Full::new(content.into()))),
        _ => other(status(StatusCode::NOT_FOUND).body(Full::new("not found".into()))),
    }
}

/// Passes a request on to the registry, without the login.
async fn forward(registry: &str, mut request: Request<Incoming>) -> Answer {
    request.headers_mut().remove(header::AUTHORIZATION);
    let head = request.method() == Method::HEAD;
    let stream = tokio::net::TcpStream::connect(registry).await?;
    let (mut sender, connection) =
        other(hyper::client::conn::http1::handshake(TokioIo::new(stream)).await)?;
    let connection = tokio::spawn(connection);
    let (mut parts, body) = other(sender.send_request(request).await)?.into_parts();
    let body = other(body.collect().await)?.to_bytes();
    connection.abort();
    if !head {
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    parts.headers.remove(header::TRANSFER_ENCODING);
    Ok(Response::from_parts(parts, Full::new(body)))
}
