//! Whether a context leads to the cluster that the fleet means: the pin of `identity:` against what
//! the kubeconfig says, and against what the server says of itself (design §2).

use http::Uri;

use super::connect::Cluster;
use super::discovery::Resource;
use super::error::{CallError, CallResult};
use super::kubeconfig::Server;
use crate::config::{ClusterSpec, Identity, TargetName};
use crate::error::{Error, Exit, Result};
use crate::manifest::Gvk;

/// The versions of the ClusterProperty API, newest first, and the names that identify a cluster in
/// them: `id.k8s.io` is the name of the first drafts.
const PROPERTY: [(&str, &str); 3] = [
    ("about.k8s.io/v1beta1", "cluster.clusterset.k8s.io"),
    ("about.k8s.io/v1alpha1", "cluster.clusterset.k8s.io"),
    ("about.k8s.io/v1alpha1", "id.k8s.io"),
];

impl Server {
    /// What the kubeconfig says of the cluster, as a pin.
    pub fn identity(&self) -> Identity {
        Identity {
            server: Some(self.url.clone()),
            ca: self.ca_digest.as_ref().map(|digest| format!("sha256:{digest}")),
            ..Identity::default()
        }
    }

    /// Compares the part of the cluster's pin that needs no call.
    ///
    /// # Errors
    /// Exit 3: the kubeconfig's context names another server or authority.
    pub fn check_identity(&self, cluster: &ClusterSpec) -> Result<()> {
        let Some(pin) = &cluster.identity else { return Ok(()) };
        let known = self.identity();
        if let Some(server) = &pin.server {
            let wanted = server.parse::<Uri>().ok().map(|uri| Server::new(&uri, None, false).url);
            let same = wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(&self.url));
            if !same {
                return Err(another(cluster, "server", Some(&self.url), server));
            }
        }
        match &pin.ca {
            Some(ca) if known.ca.as_ref() != Some(ca) => {
                Err(another(cluster, "ca", known.ca.as_deref(), ca))
            }
            _ => Ok(()),
        }
    }
}

impl Cluster {
    /// Compares the part of the cluster's pin that only the server can tell. Nothing else may be
    /// read or written before.
    ///
    /// # Errors
    /// It is another cluster (exit 3), or that cannot be found out (exit 9): a pin that cannot be
    /// read is never taken to hold.
    pub async fn check_identity(&self, cluster: &ClusterSpec) -> Result<()> {
        let Some(pin) = &cluster.identity else { return Ok(()) };
        if let Some(wanted) = &pin.kube_system {
            let found = self.kube_system().await.map_err(|e| unreadable(e, &cluster.name))?;
            if found.as_ref() != Some(wanted) {
                return Err(another(cluster, "kubeSystem", found.as_deref(), wanted));
            }
        }
        if let Some(wanted) = &pin.cluster_property {
            let found = self.cluster_property().await.map_err(|e| unreadable(e, &cluster.name))?;
            if found.as_ref() != Some(wanted) {
                return Err(another(cluster, "clusterProperty", found.as_deref(), wanted));
            }
        }
        Ok(())
    }

    /// The uid of the namespace `kube-system`: as good as an id of the cluster. Asked for once.
    pub async fn kube_system(&self) -> CallResult<Option<String>> {
        let ask = || async {
            let namespaces = Resource::new(Gvk::new("v1", "Namespace"), "namespaces", false);
            let found = self.get(&namespaces, None, "kube-system").await?;
            Ok(found.and_then(|object| object["metadata"]["uid"].as_str().map(str::to_owned)))
        };
        self.inner.kube_system.get(ask).await
    }

    /// The cluster's own id in its cluster set (a ClusterProperty of about.k8s.io); none when it has
    /// none. Asked for once.
    pub async fn cluster_property(&self) -> CallResult<Option<String>> {
        let ask = || async {
            for (version, name) in PROPERTY {
                let gvk = Gvk::new(version, "ClusterProperty");
                let properties = Resource::new(gvk, "clusterproperties", false);
                match self.get(&properties, None, name).await {
                    Ok(Some(object)) => {
                        return Ok(object["spec"]["value"].as_str().map(str::to_owned));
                    }
                    Ok(None) => {}
                    Err(error) if error.is_missing() => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(None)
        };
        self.inner.cluster_property.get(ask).await
    }
}

fn another(cluster: &ClusterSpec, key: &str, found: Option<&str>, wanted: &str) -> Error {
    let found = found.map_or_else(|| "is not there".to_owned(), |found| format!("is `{found}`"));
    let context = match cluster.in_cluster {
        true => "the pod's service account".to_owned(),
        false => format!("context `{}`", cluster.context),
    };
    Error::config(format!("{context} leads to another cluster than `identity` says"))
        .in_target(&cluster.name)
        .because(format!("`{key}` {found}, and should be `{wanted}`"))
        .hint(format!(
            "correct the context; or, when the cluster was built anew, the pin: `mcd doctor -t {}` prints it",
            cluster.name
        ))
}

fn unreadable(error: CallError, target: &TargetName) -> Error {
    let exit = error.exit();
    let error = error.into_error(target, None);
    if !matches!(exit, Exit::Unreachable) || error.message().contains("cannot be reached") {
        return error;
    }
    let mut told = Error::new(exit, "the identity of the cluster cannot be read")
        .in_target(target)
        .because(error.message());
    for cause in error.causes() {
        told = told.because(cause);
    }
    told.hint("pin `server` and `ca`, which need no right, or let the user read what is pinned")
}
