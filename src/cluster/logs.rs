//! The last lines that a container wrote.

use std::time::Duration;

use super::call::Call;
use super::connect::Cluster;
use super::discovery::Resource;
use super::error::{CallError, CallErrorKind, CallResult};
use super::refusal::About;
use super::retry::Repeat;
use crate::manifest::{Gvk, ObjectId};

/// The bound on an answer (bytes): lines may be of any length.
const LARGEST: usize = 64 * 1024;

/// The bound on the whole call. The server asks the node's kubelet, which may be gone, and a log is
/// never worth waiting for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which log.
#[derive(Clone, Copy, Debug)]
pub struct LogOf<'a> {
    /// The pod's namespace.
    pub namespace: &'a str,
    /// The pod.
    pub pod: &'a str,
    /// The container.
    pub container: &'a str,
    /// That of the container before its last restart.
    pub previous: bool,
    /// How many of the last lines.
    pub lines: usize,
}

impl Cluster {
    /// Reads the end of a container's log (GET of `pods/log`), within five seconds. What is no
    /// UTF-8 in it is replaced.
    ///
    /// # Errors
    /// As for every call. A container that has not run yet, or whose node does not answer, is a
    /// refusal.
    pub async fn log(&self, of: LogOf<'_>) -> CallResult<String> {
        let pods = Resource::new(Gvk::new("v1", "Pod"), "pods", true);
        let mut query = vec![
            ("container", of.container.to_owned()),
            ("tailLines", of.lines.to_string()),
            ("limitBytes", LARGEST.to_string()),
        ];
        if of.previous {
            query.push(("previous", "true".to_owned()));
        }
        let object = super::api::path(&pods, Some(of.namespace), Some(of.pod), &[]);
        let query: Vec<String> = query
            .iter()
            .map(|(key, value)| format!("{key}={}", super::api::encode(value)))
            .collect();
        let id = ObjectId {
            group: String::new(),
            kind: "Pod".to_owned(),
            namespace: Some(of.namespace.to_owned()),
            name: of.pod.to_owned(),
        };
        let call = Call {
            accept: "*/*",
            // Asked once: the server's own attempts to reach the node take long enough.
            repeat: Repeat::Unsent,
            ..Call::get(
                format!("{object}/log?{}", query.join("&")),
                format!("GET log of {id}"),
                About { object: None, gvk: Some(pods.gvk.clone()) },
            )
        };
        let Ok(sent) = tokio::time::timeout(PATIENCE, self.send(&call)).await else {
            return Err(CallError {
                call: call.what,
                kind: CallErrorKind::Timeout { after: PATIENCE },
                context: Box::default(),
            });
        };
        Ok(String::from_utf8_lossy(&sent?.body).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, Reply, Setup};
    use super::*;
    use serde_json::json;

    const OF: LogOf<'_> =
        LogOf { namespace: "shop", pod: "web-1", container: "web", previous: true, lines: 10 };

    #[tokio::test]
    async fn the_end_of_a_log() {
        let text = b"one\ntw\xffo\n".to_vec();
        let fake = Fake::serve(move |_, _| {
            Reply::Answer(200, vec!["Content-Type: text/plain".into()], text.clone())
        })
        .await;
        let cluster = Setup::new(&fake.url, "").connect().await;
        assert_eq!(cluster.log(OF).await.unwrap(), "one\ntw\u{fffd}o\n");
        assert_eq!(
            fake.lines(),
            ["GET /api/v1/namespaces/shop/pods/web-1/log?container=web&tailLines=10&\
              limitBytes=65536&previous=true HTTP/1.1"]
        );
    }

    #[tokio::test]
    async fn no_right_to_read_it() {
        let fake = Fake::serve(|_, _| {
            let message = "pods \"web-1\" is forbidden: User \"eve\" cannot get resource \
                           \"pods/log\" in API group \"\" in the namespace \"shop\"";
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
                "reason": "Forbidden", "message": message,
                "details": {"name": "web-1", "kind": "pods"},
            });
            Reply::json(403, &status)
        })
        .await;
        let error = Setup::new(&fake.url, "").connect().await.log(OF).await.unwrap_err();
        assert!(error.is_forbidden(), "{error:?}");
        assert_eq!(fake.lines().len(), 1, "asked once");
    }
}
