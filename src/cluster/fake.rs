//! A small HTTP server for tests: answers as told, and keeps what it was asked.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::connect::{Cluster, ConnectOptions, lock};
use super::kubeconfig::Kubeconfigs;
use super::note::{Note, Notes};
use super::retry::RetryPolicy;
use crate::config::{ClusterSpec, TargetName};

/// What the server does with a request.
pub(super) enum Reply {
    /// An answer: status, further header lines, body.
    Answer(u16, Vec<String>, Vec<u8>),
    /// Takes the request and never answers.
    Hang,
    /// Announces a body and sends only its start; then closes, or hangs.
    Partial { hang: bool },
    /// Takes the request and closes the connection.
    Close,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec!["Content-Type: application/json".to_owned()];
        Reply::Answer(status, headers, body.to_string().into_bytes())
    }

    pub(super) fn with(mut self, header: &str) -> Self {
        if let Reply::Answer(_, headers, _) = &mut self {
            headers.push(header.to_owned());
        }
        self
    }
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }
}

/// The server, until it is dropped.
pub(super) struct Fake {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    /// Serves by a function of the request and how many came before it.
    pub(super) async fn serve(
        reply: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, reply) = (seen.clone(), Arc::new(reply));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, reply) = (kept.clone(), reply.clone());
                tokio::spawn(async move {
                    let _ = one(stream, &kept, &*reply).await;
                });
            }
        });
        Fake { url, seen, task }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }
}

async fn one(
    mut stream: TcpStream,
    kept: &Mutex<Vec<Seen>>,
    reply: &(dyn Fn(&Seen, usize) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut seen = Seen { line: lines.next().unwrap_or_default().to_owned(), ..Seen::default() };
    seen.headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let length = seen.header("content-length").first().map_or(0, |n| n.parse().unwrap());
    while bytes.len() < head + 4 + length {
        stream.read_buf(&mut bytes).await?;
    }
    seen.body = String::from_utf8_lossy(&bytes[head + 4..]).into_owned();
    let before = {
        let mut kept = lock(kept);
        kept.push(seen.clone());
        kept.len() - 1
    };
    match reply(&seen, before) {
        Reply::Answer(status, headers, body) => {
            let mut answer = format!(
                "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n",
                body.len()
            );
            headers.iter().for_each(|line| answer.extend([line, "\r\n"]));
            answer.push_str("\r\n");
            stream.write_all(answer.as_bytes()).await?;
            stream.write_all(&body).await?;
            stream.shutdown().await
        }
        Reply::Hang => std::future::pending().await,
        Reply::Partial { hang } => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{\"kind\": \"hunter2";
            stream.write_all(head.as_bytes()).await?;
            if hang { std::future::pending().await } else { stream.shutdown().await }
        }
        Reply::Close => Ok(()),
    }
}

/// A kubeconfig for one server, and a cluster made of it.
pub(super) struct Setup {
    pub(super) folder: tempfile::TempDir,
    pub(super) options: ConnectOptions,
    pub(super) notes: Arc<Mutex<Vec<Note>>>,
}

impl Setup {
    /// For a server, with the fields of a user as YAML in flow style, such as `token: abc`.
    pub(super) fn new(url: &str, user: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \"{url}\"}}}}]\n\
             users: [{{name: dev, user: {{{user}}}}}]\n\
             contexts: [{{name: one, context: {{cluster: c, user: dev}}}}, {{name: two, context: {{cluster: c, user: dev}}}}]\n"
        );
        std::fs::write(folder.path().join("config"), text).unwrap();
        let retry = RetryPolicy {
            base: std::time::Duration::from_millis(1),
            jitter: false,
            ..RetryPolicy::default()
        };
        let kubeconfig = Some(folder.path().join("config"));
        let options = ConnectOptions { kubeconfig, retry, ..ConnectOptions::default() };
        Setup { folder, options, notes: Arc::default() }
    }

    pub(super) fn collect(&self) -> Notes {
        let notes = self.notes.clone();
        Arc::new(move |note| lock(&notes).push(note))
    }

    pub(super) fn noted(&self) -> Vec<Note> {
        lock(&self.notes).clone()
    }

    /// Connects by the first context.
    pub(super) async fn connect(&self) -> Cluster {
        let kubeconfigs = Kubeconfigs::new(&self.options);
        let cluster = spec("one", None);
        Cluster::connect(&cluster.name, &cluster, &kubeconfigs, &self.options, self.collect())
            .await
            .unwrap()
    }
}

/// A cluster of the fleet.
pub(super) fn spec(context: &str, kubeconfig: Option<PathBuf>) -> ClusterSpec {
    ClusterSpec {
        name: TargetName::new("us-east"),
        context: context.to_owned(),
        kubeconfig,
        identity: None,
        in_cluster: false,
        labels: std::collections::BTreeMap::default(),
        values: Value::Null,
        kube_version: None,
        api_versions: Vec::new(),
    }
}
