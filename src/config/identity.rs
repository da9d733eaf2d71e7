//! Which cluster a context has to lead to: the pin of `identity:`. What of it a kubeconfig says is
//! compared before anything is contacted, the rest before anything else is read (design §2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::error::Error;

/// Which cluster this is. What is given has to hold, or nothing is read or written: a context that
/// leads elsewhere deploys to the wrong cluster. `mcd doctor` prints it, ready to paste.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub struct Identity {
    /// The address of the API server, such as `https://api.example.com:6443`. Needs no right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The digest of the kubeconfig's certificate authority: `sha256:` and 64 hex digits. Needs no
    /// right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The value of the ClusterProperty `cluster.clusterset.k8s.io` (about.k8s.io).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_property: Option<String>,
    /// The uid of the namespace `kube-system`. Needs the right to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_system: Option<String>,
}

impl Identity {
    /// Whether the server has to be asked.
    pub fn asks_the_server(&self) -> bool {
        self.cluster_property.is_some() || self.kube_system.is_some()
    }
}

/// What is wrong with a pin as written; `node` is its cluster.
pub(crate) fn check(identity: &Identity, node: &Node) -> Vec<Error> {
    let Identity { server, ca, cluster_property, kube_system } = identity;
    let mut errors = Vec::new();
    if identity == &Identity::default() {
        errors.push(node.error(&["identity"], "`identity` is empty").hint(
            "give at least one of `server`, `ca`, `clusterProperty` and `kubeSystem`; `mcd doctor` \
             prints them",
        ));
    }
    let wrong = |key: &str, message: String| node.error(&["identity", key], message);
    if let Some(server) = server.as_deref().filter(|server| !is_address(server)) {
        errors.push(
            wrong("server", format!("`{server}` is no address of an API server"))
                .hint("write it as the kubeconfig does, such as `https://api.example.com:6443`"),
        );
    }
    if let Some(ca) = ca.as_deref().filter(|ca| !is_digest(ca)) {
        errors.push(
            wrong("ca", format!("`{ca}` is no digest"))
                .hint("write `sha256:` and 64 hex digits; `mcd doctor` prints it"),
        );
    }
    for (key, value) in [("clusterProperty", cluster_property), ("kubeSystem", kube_system)] {
        if value.as_deref().is_some_and(|value| value.trim().is_empty()) {
            errors.push(wrong(key, format!("`{key}` is empty")));
        }
    }
    errors
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(' '))
}

fn is_digest(text: &str) -> bool {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    text.strip_prefix("sha256:").is_some_and(|rest| rest.len() == 64 && rest.chars().all(hex))
}
