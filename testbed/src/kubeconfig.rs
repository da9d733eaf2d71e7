//! Kubeconfig files with any number of contexts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::error::Result;
use crate::pki::Pair;

/// Who a context is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// May do everything (`system:masters`).
    Admin,
    /// A user with a client certificate that the cluster's CA signed. May do only what a test grants by RBAC.
    Named {
        /// The user's name.
        name: String,
        /// The user's groups: two at most.
        groups: Vec<String>,
    },
    /// A bearer token: of a service account, or one that the server refuses (401).
    Token(String),
    /// No credentials: the server takes it for `system:anonymous`, kubectl asks for a name.
    Anonymous,
}

impl User {
    /// A user without groups.
    pub fn named(name: &str) -> User {
        User::Named { name: name.to_owned(), groups: Vec::new() }
    }
}

/// A context of a kubeconfig: a cluster, a user, a default namespace.
#[derive(Clone, Debug)]
pub struct Context {
    name: String,
    server: String,
    ca: CertificateAuthority,
    cluster: Cluster,
    namespace: Option<String>,
    user: User,
}

#[derive(Clone, Debug)]
enum CertificateAuthority {
    OfTheCluster,
    Other(String),
    Unchecked,
}

impl Context {
    /// A context named as the cluster, for an administrator, without a default namespace.
    pub fn of(cluster: &Cluster) -> Context {
        Context {
            name: cluster.name().to_owned(),
            server: cluster.server(),
            ca: CertificateAuthority::OfTheCluster,
            cluster: cluster.clone(),
            namespace: None,
            user: User::Admin,
        }
    }

    /// With another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Context {
        self.name = name.into();
        self
    }

    /// With a default namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Context {
        self.namespace = Some(namespace.into());
        self
    }

    /// For another user.
    #[must_use]
    pub fn as_user(mut self, user: User) -> Context {
        self.user = user;
        self
    }

    /// With another server address: a proxy's, or one where nothing listens.
    #[must_use]
    pub fn at_server(mut self, server: impl Into<String>) -> Context {
        self.server = server.into();
        self
    }

    /// Trusting another cluster's CA: the server's certificate will not verify.
    #[must_use]
    pub fn trusting(mut self, other: &Cluster) -> Context {
        self.ca = match other.ca() {
            Ok(pem) => CertificateAuthority::Other(pem),
            Err(e) => panic!("{e}"),
        };
        self
    }

    /// Trusting this authority (PEM).
    #[must_use]
    pub fn trusting_ca(mut self, pem: impl Into<String>) -> Context {
        self.ca = CertificateAuthority::Other(pem.into());
        self
    }

    /// With `insecure-skip-tls-verify`.
    #[must_use]
    pub fn without_verification(mut self) -> Context {
        self.ca = CertificateAuthority::Unchecked;
        self
    }
}

/// The text of a kubeconfig with these contexts. `current` may be empty: then no context is current.
pub(crate) fn render(contexts: &[Context], current: &str) -> Result<String> {
    let mut clusters = Vec::new();
    let mut users = Vec::new();
    let mut named = Vec::new();
    for context in contexts {
        let mut cluster = json!({"server": context.server});
        match &context.ca {
            CertificateAuthority::OfTheCluster => {
                cluster["certificate-authority-data"] = encoded(&context.cluster.ca()?);
            }
            CertificateAuthority::Other(pem) => {
                cluster["certificate-authority-data"] = encoded(pem);
            }
            CertificateAuthority::Unchecked => cluster["insecure-skip-tls-verify"] = true.into(),
        }
        clusters.push(json!({"name": context.name, "cluster": cluster}));
        let user = match &context.user {
            User::Admin => certificate(&context.cluster.admin()?),
            User::Named { name, groups } => certificate(&context.cluster.user(name, groups)?),
            User::Token(token) => json!({"token": token}),
            User::Anonymous => json!({}),
        };
        users.push(json!({"name": context.name, "user": user}));
        let mut entry = json!({"cluster": context.name, "user": context.name});
        if let Some(namespace) = &context.namespace {
            entry["namespace"] = namespace.as_str().into();
        }
        named.push(json!({"name": context.name, "context": entry}));
    }
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "users": users,
        "contexts": named,
        "current-context": current,
    });
    // JSON is YAML.
    Ok(format!("{config:#}\n"))
}

fn certificate(pair: &Pair) -> Value {
    json!({
        "client-certificate-data": encoded(&pair.certificate),
        "client-key-data": encoded(&pair.key),
    })
}

fn encoded(text: &str) -> Value {
    STANDARD.encode(text).into()
}
