//! What a proxy does to which requests. Pure: nothing here knows connections.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

/// A request as the proxy saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// True if it may change what the cluster stores.
    pub is_write: bool,
    /// The status that the client was sent, once it was sent one.
    pub status: Option<u16>,
    /// True if a fault was played on it.
    pub faulted: bool,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Request {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            is_write: is_write(method, path),
            status: None,
            faulted: false,
        }
    }
}

/// Reads, dry runs and reviews (which are POSTed, and stored nowhere) write nothing.
fn is_write(method: &str, path: &str) -> bool {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_dry_run = query.split('&').any(|p| p == "dryRun" || p.starts_with("dryRun="));
    let is_review = ["/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/"]
        .iter()
        .any(|p| path.starts_with(p));
    !matches!(method, "GET" | "HEAD" | "OPTIONS") && !is_dry_run && !is_review
}

/// An answer that the proxy gives in the server's place.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    /// A status, with the `Status` object that an API server sends with it.
    pub fn status(status: u16) -> Reply {
        let (reason, message) = match status {
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "forbidden by the test bed"),
            404 => ("NotFound", "the server could not find the requested resource"),
            409 => (
                "Conflict",
                "the object has been modified; please apply your changes to the latest version",
            ),
            422 => ("Invalid", "refused by the test bed"),
            429 => (
                "TooManyRequests",
                "the server has received too many requests and has asked us to try again later",
            ),
            500 => ("InternalError", "an internal error of the test bed"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in the time allotted"),
            _ => ("", "an answer of the test bed"),
        };
        let body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": status,
        });
        Reply {
            status,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: body.to_string(),
        }
    }

    /// With a `Retry-After` of this many seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Reply {
        self.header("Retry-After", &seconds.to_string())
    }

    /// With this header, in place of one of the same name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another body: a message of an admission webhook, a page of a load balancer.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: &str) -> Reply {
        body.clone_into(&mut self.body);
        self.header("Content-Type", content_type)
    }
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The proxy answers; the server never sees the request.
    Answer(Reply),
    /// No answer, ever; the server never sees the request.
    Hang,
    /// The connection is reset; the server never sees the request.
    Reset,
    /// The server does what is asked, then the connection is reset: the answer is lost.
    ResetAfter,
    /// The request is forwarded after this long.
    Slow(Duration),
    /// The answer's head and this many bytes of its body, then silence: a watch that goes quiet.
    Stall(usize),
    /// The answer's head and this many bytes of its body, then a reset.
    Cut(usize),
}

impl Fault {
    /// An answer with this status, and the body that an API server sends with it.
    pub fn status(status: u16) -> Fault {
        Fault::Answer(Reply::status(status))
    }
}

type Predicate = Arc<dyn Fn(&Request) -> bool + Send + Sync>;

/// Which requests: those that all conditions hold for, after the first `skip`, at most `times`.
#[derive(Clone, Default)]
pub struct Match {
    conditions: Vec<Predicate>,
    skip: usize,
    times: Option<usize>,
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Match({} conditions, {:?} times)", self.conditions.len(), self.times)
    }
}

impl Match {
    /// Every request.
    pub fn any() -> Match {
        Match::default()
    }

    /// Requests that change what the cluster stores.
    pub fn writes() -> Match {
        Match::any().when(|r| r.is_write)
    }

    /// Only of this method.
    #[must_use]
    pub fn method(self, method: &'static str) -> Match {
        self.when(move |r| r.method == method)
    }

    /// Only those whose path and query have this text.
    #[must_use]
    pub fn path(self, part: impl Into<String>) -> Match {
        let part = part.into();
        self.when(move |r| r.path.contains(&part))
    }

    /// Only those that this holds for.
    #[must_use]
    pub fn when(mut self, condition: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Match {
        self.conditions.push(Arc::new(condition));
        self
    }

    /// Lets the first `n` of them pass.
    #[must_use]
    pub fn skip(mut self, n: usize) -> Match {
        self.skip = n;
        self
    }

    /// At most `n` of them; then it is used up.
    #[must_use]
    pub fn times(mut self, n: usize) -> Match {
        self.times = Some(n);
        self
    }

    /// True if the request is one of them; it is then counted.
    pub(crate) fn takes(&mut self, request: &Request) -> bool {
        if !self.conditions.iter().all(|c| c(request)) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.times {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_what_changes_the_store() {
        let cases = [
            ("GET", "/api/v1/pods", false),
            ("GET", "/api/v1/pods?watch=true", false),
            ("POST", "/api/v1/namespaces", true),
            ("PATCH", "/api/v1/namespaces/a/secrets/b?fieldManager=mcd&force=true", true),
            ("PATCH", "/api/v1/namespaces/a/secrets/b?dryRun=All&fieldManager=mcd", false),
            ("PATCH", "/api/v1/namespaces/a/configmaps/dryRun", true),
            ("DELETE", "/api/v1/namespaces/a/pods/b", true),
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", false),
            ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", true),
        ];
        for (method, path, expected) in cases {
            assert_eq!(Request::new(method, path).is_write, expected, "{method} {path}");
        }
    }

    #[test]
    fn a_match_skips_and_counts_only_what_it_matches() {
        let mut twice = Match::writes().method("PATCH").path("/deployments/").skip(1).times(2);
        let patch = Request::new("PATCH", "/apis/apps/v1/namespaces/a/deployments/b");
        let other = Request::new("PATCH", "/api/v1/namespaces/a/services/b");
        let taken: Vec<bool> = [&other, &patch, &other, &patch, &patch, &patch]
            .into_iter()
            .map(|r| twice.takes(r))
            .collect();
        assert_eq!(taken, [false, false, false, true, true, false]);
        assert!((0..100).all(|_| Match::any().takes(&other)));
    }

    #[test]
    fn replies_have_the_body_of_an_api_server() {
        let reply = Reply::status(429).retry_after(2).retry_after(3);
        let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!((body["kind"].as_str(), body["code"].as_u64()), (Some("Status"), Some(429)));
        let retry: Vec<_> = reply.headers.iter().filter(|(n, _)| n == "Retry-After").collect();
        assert_eq!(retry, [&("Retry-After".to_owned(), "3".to_owned())]);
        let page = Reply::status(503).body("text/html", "<h1>down</h1>");
        assert_eq!(page.headers, [("Content-Type".to_owned(), "text/html".to_owned())]);
    }
}
