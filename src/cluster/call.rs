//! One request to a server: bounded, limited, retried, its answer read and classified.
//!
//! Requests go through kube's transport (TLS, proxies, credentials) but not through its own request
//! path, which logs bodies that it cannot decode.

use std::error::Error as StdError;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, DATE, RETRY_AFTER, USER_AGENT, WARNING};
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use serde_json::Value;
use tokio::time::Instant;

use super::clock::http_date;
use super::connect::Cluster;
use super::error::{CallContext, CallError, CallErrorKind, CallResult};
use super::note::Note;
use super::refusal::{About, classify, webhook_is_down};
use super::retry::{Failure, Repeat, Sent};
use super::text::clean;
use super::tls::{Distrust, distrust};

/// No answer of a Kubernetes API server is larger (bytes).
const LARGEST_ANSWER: usize = 1 << 30;

/// What `Accept` asks for, unless something else is wanted.
pub(super) const JSON: &str = "application/json";

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// Path and query, below the server's own path.
    pub(super) path: String,
    pub(super) accept: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    pub(super) about: About,
    /// For messages: `PATCH Deployment shop/web`.
    pub(super) what: String,
    pub(super) repeat: Repeat,
    /// Whether it changes something.
    pub(super) write: bool,
}

impl Call {
    /// A read.
    pub(super) fn get(path: String, what: String, about: About) -> Self {
        Call {
            method: Method::GET,
            path,
            accept: JSON,
            content_type: JSON,
            body: Vec::new(),
            about,
            what,
            repeat: Repeat::Safe,
            write: false,
        }
    }
}

/// A complete answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) warnings: Vec<String>,
    pub(super) body: Vec<u8>,
    retry_after: Option<Duration>,
}

/// An attempt without a complete answer.
struct Broken {
    kind: CallErrorKind,
    /// None: making the call again is of no use.
    failure: Option<Failure>,
}

impl Cluster {
    /// Makes a call, again where that may help, until it has an answer of 2xx.
    pub(super) async fn send(&self, call: &Call) -> CallResult<Answer> {
        let policy = &self.inner.options.retry;
        let started = Instant::now();
        let mut attempt = 0;
        let mut renewed = false;
        loop {
            attempt += 1;
            let (kind, failure) = match self.attempt(call).await {
                Ok(answer) if (200..300).contains(&answer.status) => {
                    self.note_answer();
                    return Ok(answer);
                }
                Ok(answer) => {
                    if answer.status == 401 && !std::mem::replace(&mut renewed, true) {
                        match self.renew().await {
                            Ok(true) => continue,
                            Ok(false) => {}
                            Err(kind) => return Err(self.error(call, kind)),
                        }
                    }
                    let kind =
                        classify(answer.status, &answer.content_type, &answer.body, &call.about);
                    (kind, transient(&answer))
                }
                Err(broken) => (broken.kind, broken.failure),
            };
            let again = failure.filter(|failure| call.repeat.allows(failure.sent));
            let wait = again.and_then(|failure| {
                let wait = policy.wait(attempt, started.elapsed(), &failure, random())?;
                Some((wait, failure.why))
            });
            let Some((wait, why)) = wait else { return Err(self.error(call, kind)) };
            self.note_retry(Note::Retry { call: call.what.clone(), attempt, wait, why });
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.cancel.cancelled() => {
                    // What a write met says more than that nobody waits for it any more.
                    let kind = if call.write { kind } else { CallErrorKind::Cancelled };
                    return Err(self.error(call, kind));
                }
            }
        }
    }

    /// Makes a call whose answer is a JSON object.
    pub(super) async fn send_json(&self, call: &Call) -> CallResult<(Answer, Value)> {
        let answer = self.send(call).await?;
        let value = self.json(call, &answer)?;
        Ok((answer, value))
    }

    /// Reads an answer's body as a JSON object.
    pub(super) fn json(&self, call: &Call, answer: &Answer) -> CallResult<Value> {
        let why = match serde_json::from_slice::<Value>(&answer.body) {
            Ok(value) if value.is_object() => return Ok(value),
            Ok(_) => "it is not a JSON object".to_owned(),
            Err(e) => format!("it is not JSON (line {} column {})", e.line(), e.column()),
        };
        Err(self.bad_answer(call, answer, why))
    }

    /// An answer of 2xx that cannot be used.
    pub(super) fn bad_answer(&self, call: &Call, answer: &Answer, why: String) -> CallError {
        let kind = CallErrorKind::BadAnswer {
            status: answer.status,
            content_type: clean(&answer.content_type),
            length: answer.body.len(),
            why,
        };
        self.error(call, kind)
    }

    fn error(&self, call: &Call, kind: CallErrorKind) -> CallError {
        CallError {
            call: call.what.clone(),
            kind,
            context: Box::new(CallContext {
                server: self.inner.server.host.clone(),
                user: self.caller.user.clone(),
                write: call.write,
                gvk: call.about.gvk.clone(),
            }),
        }
    }

    async fn attempt(&self, call: &Call) -> Result<Answer, Broken> {
        let end = |kind| Broken { kind, failure: None };
        let cancelled = || end(CallErrorKind::Cancelled);
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let permit = tokio::select! {
            permit = self.inner.permits.acquire() => permit,
            () = self.cancel.cancelled() => return Err(cancelled()),
        };
        let _permit = permit.map_err(|_| cancelled())?;
        let client = self.client().await.map_err(end)?;
        let request = Request::builder()
            .method(&call.method)
            .uri(&call.path)
            .header(ACCEPT, call.accept)
            .header(CONTENT_TYPE, call.content_type)
            .header(USER_AGENT, concat!("mcd/", env!("CARGO_PKG_VERSION")))
            .body(Body::from(call.body.clone()))
            .map_err(|_| {
                let error = crate::error::Error::config(format!("{} is no request", call.what));
                end(CallErrorKind::Config(error))
            })?;
        let timeout = self.inner.options.request_timeout;
        let exchange = tokio::time::timeout(timeout, exchange(&client, request));
        let sent = Instant::now();
        let exchanged = tokio::select! {
            exchanged = exchange => exchanged,
            () = self.cancel.cancelled(), if !call.write => return Err(cancelled()),
        };
        let (status, headers, body) = match exchanged {
            Err(_) => return Err(end(CallErrorKind::Timeout { after: timeout })),
            Ok(Err(error)) => return Err(self.broken(&*error)),
            Ok(Ok(parts)) => parts,
        };
        if let Some(date) = header(&headers, &DATE).and_then(http_date) {
            self.learn_time(date, sent.elapsed());
        }
        let warnings = warnings(&headers, call.about.secret());
        warnings.iter().for_each(|text| self.warn(call.about.object.as_ref(), text));
        Ok(Answer {
            status,
            content_type: header(&headers, &CONTENT_TYPE).unwrap_or_default().to_owned(),
            warnings,
            retry_after: header(&headers, &RETRY_AFTER).and_then(|text| self.retry_after(text)),
            body,
        })
    }

    /// Seconds, or a date of the server's clock.
    fn retry_after(&self, text: &str) -> Option<Duration> {
        let text = text.trim();
        text.parse().map(Duration::from_secs).ok().or_else(|| {
            let wait = http_date(text)?.duration_since(self.now());
            Some(Duration::try_from(wait).unwrap_or_default())
        })
    }

    /// The usual reasons, in the words that people look for.
    fn io_reason(&self, error: &std::io::Error) -> Option<String> {
        use std::io::ErrorKind;
        Some(match error.kind() {
            ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            ErrorKind::ConnectionReset => "connection reset".to_owned(),
            ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
            ErrorKind::TimedOut => {
                let limit = self.inner.options.connect_timeout.as_secs_f64();
                format!("no connection within {limit}s")
            }
            _ => {
                let text = error.to_string();
                text.split_once(" (os error ")?.0.to_lowercase()
            }
        })
    }

    fn broken(&self, error: &(dyn StdError + 'static)) -> Broken {
        let mut sent = Sent::Maybe;
        let mut why = String::new();
        for error in chain(error) {
            if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>()
                && error.is_connect()
            {
                sent = Sent::No;
            }
            // A certificate that is not trusted does not get better by trying again.
            if let Some(error) = error.downcast_ref() {
                let Distrust { why, next } = distrust(error);
                let kind = CallErrorKind::Distrusted { why, next };
                return Broken { kind, failure: None };
            }
            why = error.to_string();
            if let Some(reason) = error.downcast_ref().and_then(|e| self.io_reason(e)) {
                why = reason;
                break;
            }
        }
        let why = clean(&why);
        let failure = Some(Failure { sent, retry_after: None, why: why.clone() });
        Broken { kind: CallErrorKind::Unreachable { why }, failure }
    }
}

async fn exchange(
    client: &kube::Client,
    request: Request<Body>,
) -> Result<(u16, HeaderMap, Vec<u8>), Box<dyn StdError + Send + Sync>> {
    let response = client.send(request).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, LARGEST_ANSWER).collect().await?.to_bytes();
    Ok((parts.status.as_u16(), parts.headers, Vec::from(body)))
}

/// Whether an answer may be another one when asked again. Any 5xx that names a time is, as in
/// client-go; a 500 without is not, except for a webhook that could not be called.
fn transient(answer: &Answer) -> Option<Failure> {
    let webhook = webhook_is_down(answer.status, &answer.body);
    let sent = match answer.status {
        429 | 503 => Sent::Rejected,
        500 if webhook => Sent::Rejected,
        502 | 504 => Sent::Maybe,
        500.. if answer.retry_after.is_some() => Sent::Maybe,
        _ => return None,
    };
    let name = http::StatusCode::from_u16(answer.status).ok().and_then(|s| s.canonical_reason());
    let why = match (webhook, name) {
        (true, _) => "500, a webhook could not be called".to_owned(),
        (false, name) => format!("{} {}", answer.status, name.unwrap_or_default()),
    };
    Some(Failure { sent, retry_after: answer.retry_after, why: why.trim().to_owned() })
}

fn header<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The texts of `299 - "text"` headers; for Secrets only that there is one.
fn warnings(headers: &HeaderMap, secret: bool) -> Vec<String> {
    let values = headers.get_all(WARNING).iter();
    let texts = values.filter_map(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let (_, text) = value.split_once('"')?;
        let text = text.rsplit_once('"').map_or(text, |(text, _)| text);
        Some(if secret {
            "a warning of the server is not shown, because it may quote the Secret".to_owned()
        } else {
            clean(&text.replace("\\\"", "\"").replace("\\\\", "\\"))
        })
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// An error's causes from the outermost to the innermost, itself first. The source of an I/O error
/// is not the error that it wraps but that one's source, so that step is taken here.
fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn StdError + 'static)| {
        match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => (*error).source(),
        }
    })
}

/// An error's texts as one, without repeats.
pub(super) fn causes(error: &(dyn StdError + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in chain(error).map(ToString::to_string) {
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
    }
    texts.join(": ")
}

/// Uniform in 0..1; without a source of randomness the middle.
fn random() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.5,
    }
}

#[cfg(test)]
mod tests;
