//! The service account of the pod that mcd runs in (`inCluster: true`): its token is read again as
//! it is renewed, its authority is the cluster's.

use std::path::Path;

use http::Uri;
use kube::config::AuthInfo;

use super::connect::{ConnectOptions, Environment};
use super::kubeconfig::{Server, bound, certificates, impersonate};
use super::proxy::proxy_for;
use crate::error::{Error, Result};

/// Where a pod finds its service account.
pub(super) const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Where the cluster's API server is, and what its client needs.
///
/// # Errors
/// Exit 3: this is no pod, or one without a service account.
pub(super) fn config(
    environment: &Environment,
    options: &ConnectOptions,
) -> Result<(kube::Config, Server)> {
    let failed = |why: String| {
        Error::config("`inCluster: true` works only in a pod with a service account").because(why)
    };
    let variable = |value: &Option<String>, name: &str| {
        value.clone().ok_or_else(|| failed(format!("{name} is not set")))
    };
    let host = variable(&environment.service_host, "KUBERNETES_SERVICE_HOST")?;
    let port = variable(&environment.service_port, "KUBERNETES_SERVICE_PORT")?;
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let uri: Uri = format!("https://{host}:{port}").parse().map_err(|_| {
        failed("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no address".to_owned())
    })?;
    let folder = environment.service_account.as_deref().unwrap_or(Path::new(FOLDER));
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|e| failed(format!("`{}`: {e}", path.display())))
    };
    let ca = certificates(&read("ca.crt")?)
        .ok_or_else(|| failed(format!("`{}/ca.crt` has no certificate", folder.display())))?;
    read("token")?;
    let server = Server::new(&uri, Some(&ca), false);
    let proxy = proxy_for(&uri, None, environment).map_err(failed)?;
    let mut config = kube::Config::new(uri);
    config.root_cert = Some(ca);
    config.proxy_url = proxy;
    config.auth_info = AuthInfo {
        token_file: Some(folder.join("token").to_string_lossy().into_owned()),
        ..AuthInfo::default()
    };
    bound(&mut config, options);
    impersonate(&mut config.auth_info, options);
    Ok((config, server))
}
