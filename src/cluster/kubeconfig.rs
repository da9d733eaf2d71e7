//! Kubeconfigs by kubectl's rules: which files count, how they merge, what a context comes to.
//!
//! `--kubeconfig` (or the fleet's `kubeconfig:`) beats `KUBECONFIG`, a list whose missing and empty
//! entries are skipped and in which the first file wins for each name; then `~/.kube/config`.
//! Paths in a file are relative to it. The ambient current-context is never used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine;
use http::Uri;
use kube::config::{AuthInfo, Cluster as ClusterEntry, Kubeconfig, KubeconfigError};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::connect::{ConnectOptions, Environment, Inner, lock};
use super::credentials::{Credential, Plugin, Plugins};
use super::error::CallErrorKind;
use super::in_cluster;
use super::proxy::proxy_for;
use crate::config::{ClusterSpec, Contexts};
use crate::error::{Error, Location, Result};

/// An API server as a kubeconfig names it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// The address, without credentials and trailing slash.
    pub url: String,
    /// Host and port, for messages.
    pub host: String,
    /// The sha256 of the certificate authority's certificates, in hex; none: the system's.
    pub ca_digest: Option<String>,
    /// Whether the certificate is not verified.
    pub insecure: bool,
}

/// The kubeconfigs of a run: each file is read once, each credential plugin runs once. Clones
/// share both.
#[derive(Clone)]
pub struct Kubeconfigs {
    inner: Arc<Shared>,
}

struct Shared {
    explicit: Option<PathBuf>,
    environment: Environment,
    files: Mutex<HashMap<Option<PathBuf>, Result<Arc<Files>>>>,
    plugins: Plugins,
    links: Mutex<HashMap<[u8; 32], Link>>,
}

/// A connection that all entries share which come to the same.
pub(super) type Link = Arc<OnceCell<Arc<Inner>>>;

/// Merged files.
struct Files {
    config: Kubeconfig,
    read: Vec<PathBuf>,
    missing: Vec<PathBuf>,
}

impl Files {
    /// The files that were read, for messages.
    fn places(&self) -> String {
        let names = |paths: &[PathBuf]| {
            paths.iter().map(|p| format!("`{}`", p.display())).collect::<Vec<_>>().join(", ")
        };
        match (self.read.is_empty(), self.missing.is_empty()) {
            (true, true) => "no kubeconfig is set".to_owned(),
            (true, false) => format!("{} is missing", names(&self.missing)),
            (false, _) => format!("read {}", names(&self.read)),
        }
    }
}

impl Kubeconfigs {
    /// Reads nothing yet.
    pub fn new(options: &ConnectOptions) -> Self {
        let shared = Shared {
            explicit: options.kubeconfig.clone(),
            environment: options.environment.clone(),
            files: Mutex::default(),
            plugins: Plugins::new(options.credential_timeout),
            links: Mutex::default(),
        };
        Kubeconfigs { inner: Arc::new(shared) }
    }

    /// What the cluster's context names, without asking the server or running a plugin.
    ///
    /// # Errors
    /// A file is missing or wrong; the context, its cluster or its user is unknown: exit 3, with
    /// the nearest name and the list.
    pub fn check(&self, spec: &ClusterSpec) -> Result<Server> {
        self.entry(spec, &ConnectOptions::default()).map(|entry| entry.server)
    }

    /// The names of the contexts that a cluster with that `kubeconfig` can name.
    ///
    /// # Errors
    /// A file is missing or wrong: exit 3.
    pub fn contexts(&self, kubeconfig: Option<&Path>) -> Result<Vec<String>> {
        let files = self.files(kubeconfig)?;
        Ok(files.config.contexts.iter().map(|c| c.name.clone()).collect())
    }

    fn files(&self, of_cluster: Option<&Path>) -> Result<Arc<Files>> {
        let shared = &self.inner;
        let explicit = of_cluster.or(shared.explicit.as_deref()).map(Path::to_owned);
        let mut known = lock(&shared.files);
        let load = || match &explicit {
            Some(path) => read_all(std::slice::from_ref(path), true),
            None => read_all(&ambient(&shared.environment), false),
        };
        known.entry(explicit.clone()).or_insert_with(|| load().map(Arc::new)).clone()
    }

    pub(super) fn entry(&self, spec: &ClusterSpec, options: &ConnectOptions) -> Result<Entry> {
        let named = |error: Error| error.in_target(&spec.name);
        if spec.in_cluster {
            let (config, server) =
                in_cluster::config(&self.inner.environment, options).map_err(named)?;
            let key = link_key(&ClusterEntry::default(), &config.auth_info, options);
            return Ok(Entry { server, user_name: None, key, config, plugin: None });
        }
        let files = self.files(spec.kubeconfig.as_deref()).map_err(named)?;
        self.entry_in(&files, spec, options).map_err(named)
    }

    /// The connection of an entry, made or to be made.
    pub(super) fn link(&self, entry: &Entry) -> Link {
        match entry.key {
            Some(key) => lock(&self.inner.links).entry(key).or_default().clone(),
            None => Link::default(),
        }
    }

    fn entry_in(
        &self,
        files: &Files,
        spec: &ClusterSpec,
        options: &ConnectOptions,
    ) -> Result<Entry> {
        let Kubeconfig { contexts, clusters, auth_infos, .. } = &files.config;
        if spec.context.is_empty() {
            return Err(Error::config("the cluster names no kubeconfig context"));
        }
        let context = contexts
            .iter()
            .find(|c| c.name == spec.context)
            .ok_or_else(|| unknown_context(files, &spec.context))?;
        let broken = |what: String| {
            Error::config(what)
                .because(format!("context `{}`", spec.context))
                .because(files.places())
        };
        let context =
            context.context.as_ref().ok_or_else(|| broken("the context is empty".into()))?;
        let cluster = clusters
            .iter()
            .find(|c| c.name == context.cluster)
            .and_then(|c| c.cluster.as_ref())
            .ok_or_else(|| broken(format!("no cluster `{}` in the kubeconfig", context.cluster)))?;
        let user_name = context.user.clone().filter(|user| !user.is_empty());
        let user = match &user_name {
            None => AuthInfo::default(),
            Some(user) => auth_infos
                .iter()
                .find(|u| &u.name == user)
                .ok_or_else(|| broken(format!("no user `{user}` in the kubeconfig")))?
                .auth_info
                .clone()
                .unwrap_or_default(),
        };
        let config = self.client_config(cluster, options).map_err(|why| {
            broken(format!("cluster `{}` of the kubeconfig cannot be used", context.cluster))
                .because(why)
        })?;
        let (config, server) = config;
        let key = link_key(cluster, &user, options);
        let with_user = self.with_user(config, user, cluster, options).map_err(|why| {
            let user = user_name.as_deref().unwrap_or_default();
            broken(format!("user `{user}` of the kubeconfig cannot be used")).because(why)
        })?;
        let (config, plugin) = with_user;
        Ok(Entry { server, user_name, key, config, plugin })
    }

    /// What kube's client needs of the cluster. Errors are reasons.
    fn client_config(
        &self,
        cluster: &ClusterEntry,
        options: &ConnectOptions,
    ) -> Result<(kube::Config, Server), String> {
        let url = cluster.server.as_deref().unwrap_or_default();
        let uri = url
            .parse::<Uri>()
            .ok()
            .filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")))
            .filter(|uri| uri.host().is_some_and(|host| !host.is_empty()))
            .ok_or("its `server` is not an http or https URL")?;
        let ca = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
            (Some(data), _) if !data.is_empty() => {
                let data = base64::engine::general_purpose::STANDARD.decode(data);
                let data = data.map_err(|_| "its `certificate-authority-data` is not base64")?;
                Some(
                    certificates(&data)
                        .ok_or("its `certificate-authority-data` has no certificate")?,
                )
            }
            (_, Some(path)) if !path.is_empty() => {
                let data = std::fs::read(path)
                    .map_err(|e| format!("its `certificate-authority` `{path}`: {e}"))?;
                let none = || format!("its `certificate-authority` `{path}` has no certificate");
                Some(certificates(&data).ok_or_else(none)?)
            }
            _ => None,
        };
        let insecure = cluster.insecure_skip_tls_verify.unwrap_or(false);
        let proxy = proxy_for(&uri, cluster.proxy_url.as_deref(), &self.inner.environment)?;
        let server = Server::new(&uri, ca.as_deref(), insecure);
        let mut config = kube::Config::new(uri);
        config.root_cert = ca;
        config.accept_invalid_certs = insecure;
        config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
        config.proxy_url = proxy;
        config.disable_compression = cluster.disable_compression.unwrap_or(false);
        bound(&mut config, options);
        Ok((config, server))
    }

    fn with_user(
        &self,
        mut config: kube::Config,
        mut user: AuthInfo,
        cluster: &ClusterEntry,
        options: &ConnectOptions,
    ) -> Result<(kube::Config, Option<Arc<Plugin>>), String> {
        let exec = user.exec.take();
        let plugin = exec.map(|exec| self.inner.plugins.plugin(exec, cluster)).transpose()?;
        impersonate(&mut user, options);
        config.auth_info = user;
        Ok((config, plugin))
    }
}

/// Our own bounds and retries are around each call; kube's would stall silently.
pub(super) fn bound(config: &mut kube::Config, options: &ConnectOptions) {
    config.connect_timeout = Some(options.connect_timeout);
    config.write_timeout = None;
    config.default_retry = false;
}

pub(super) fn impersonate(user: &mut AuthInfo, options: &ConnectOptions) {
    if let Some(someone) = &options.impersonate {
        user.impersonate = Some(someone.user.clone());
        user.impersonate_groups = Some(someone.groups.clone());
        user.impersonate_uid = someone.uid.clone();
        user.impersonate_user_extra = None;
    }
}

/// A digest of everything that decides how a server is reached, and as whom. It is of secrets, and
/// never leaves the process.
fn link_key(cluster: &ClusterEntry, user: &AuthInfo, options: &ConnectOptions) -> Option<[u8; 32]> {
    let impersonate = options.impersonate.as_ref().map(|i| (&i.user, &i.groups, &i.uid));
    let parts = (cluster, user, impersonate, options.request_timeout, options.parallel);
    serde_json::to_vec(&parts).ok().map(|text| Sha256::digest(text).into())
}

impl Contexts for Kubeconfigs {
    fn contexts(&self, kubeconfig: Option<&Path>) -> Result<Vec<String>> {
        Kubeconfigs::contexts(self, kubeconfig)
    }
}

/// What a context comes to.
pub(super) struct Entry {
    pub(super) server: Server,
    pub(super) user_name: Option<String>,
    /// Equal for entries that differ in nothing but their names; none: like no other.
    key: Option<[u8; 32]>,
    config: kube::Config,
    plugin: Option<Arc<Plugin>>,
}

impl Entry {
    /// Whether its token is in a file, which someone renews.
    pub(super) fn has_token_file(&self) -> bool {
        self.config.auth_info.token_file.as_ref().is_some_and(|path| !path.is_empty())
    }

    /// The client's settings with credentials: those of the plugin, if there is one, other than
    /// `not`, which the server refused or which expires.
    pub(super) async fn login(
        &self,
        not: Option<&Credential>,
        cancel: &CancellationToken,
    ) -> Result<(kube::Config, Option<Credential>), CallErrorKind> {
        let mut config = self.config.clone();
        let Some(plugin) = &self.plugin else { return Ok((config, None)) };
        let credential = tokio::select! {
            credential = plugin.credential(not) => credential,
            () = cancel.cancelled() => return Err(CallErrorKind::Cancelled),
        };
        let credential = credential.map_err(|why| CallErrorKind::Credentials { why })?;
        credential.put_into(&mut config.auth_info);
        Ok((config, Some(credential)))
    }
}

impl Server {
    pub(super) fn new(uri: &Uri, ca: Option<&[Vec<u8>]>, insecure: bool) -> Self {
        let scheme = uri.scheme_str().unwrap_or("https");
        let name = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 });
        let host = format!("{name}:{port}");
        let path = uri.path().trim_end_matches('/');
        let digest = |certificates: &[Vec<u8>]| {
            let mut hash = Sha256::new();
            certificates.iter().for_each(|der| hash.update(der));
            hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
        };
        Server {
            url: format!("{scheme}://{host}{path}"),
            host,
            ca_digest: ca.map(digest),
            insecure,
        }
    }
}

/// The certificates of a PEM file; none when there are none.
pub(super) fn certificates(pem: &[u8]) -> Option<Vec<Vec<u8>>> {
    let certificates: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(pem)
        .map(|der| der.map(|der| der.to_vec()))
        .collect::<Result<_, _>>()
        .ok()?;
    (!certificates.is_empty()).then_some(certificates)
}

/// The files of `KUBECONFIG`, else `~/.kube/config`.
fn ambient(environment: &Environment) -> Vec<PathBuf> {
    let list = environment.kubeconfig.iter().flat_map(std::env::split_paths);
    let list: Vec<PathBuf> = list.filter(|path| !path.as_os_str().is_empty()).collect();
    if !list.is_empty() {
        return list;
    }
    environment.home.iter().map(|home| home.join(".kube").join("config")).collect()
}

fn read_all(paths: &[PathBuf], must_exist: bool) -> Result<Files> {
    let mut files = Files { config: Kubeconfig::default(), read: vec![], missing: vec![] };
    for path in paths {
        let shown = path.display();
        let absolute = std::path::absolute(path).map_err(|e| {
            Error::config(format!("the kubeconfig `{shown}` cannot be read")).because(e.to_string())
        })?;
        match Kubeconfig::read_from(&absolute) {
            Ok(config) => {
                let broken = |e: KubeconfigError| {
                    Error::config(format!("the kubeconfig `{shown}` does not fit the others"))
                        .because(e.to_string())
                };
                files.config = std::mem::take(&mut files.config).merge(config).map_err(broken)?;
                files.read.push(path.clone());
            }
            Err(KubeconfigError::ReadConfig(e, _)) if e.kind() == std::io::ErrorKind::NotFound => {
                if must_exist {
                    let message = format!("the kubeconfig `{shown}` is missing");
                    return Err(Error::config(message));
                }
                files.missing.push(path.clone());
            }
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
    Ok(files)
}

/// A file that cannot be read or parsed. The parser's own text may quote a token, so only the place
/// is kept.
fn unreadable(path: &Path, error: &KubeconfigError) -> Error {
    let message = format!("the kubeconfig `{}` cannot be read", path.display());
    match error {
        KubeconfigError::ReadConfig(e, _) => Error::config(message).because(e.to_string()),
        KubeconfigError::Parse(e) => {
            let error = Error::config(message)
                .because("it is not YAML of the form of a kubeconfig")
                .hint(format!("`kubectl config view --kubeconfig {}` says more", path.display()));
            match e.location() {
                Some(place) => error.at(Location {
                    file: path.display().to_string(),
                    line: usize::try_from(place.line()).unwrap_or_default(),
                    column: usize::try_from(place.column()).unwrap_or_default(),
                    text: String::new(),
                }),
                None => error,
            }
        }
        _ => Error::config(message),
    }
}

fn unknown_context(files: &Files, wanted: &str) -> Error {
    let names: Vec<&str> = files.config.contexts.iter().map(|c| c.name.as_str()).collect();
    let error =
        Error::config(format!("no context `{wanted}` in the kubeconfig")).because(files.places());
    let nearest = names
        .iter()
        .map(|name| (strsim::jaro_winkler(name, wanted), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let error = match nearest {
        Some((_, name)) => error.hint(format!("is it `{name}`?")),
        None => error,
    };
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => error
            .hint("the kubeconfig has no contexts; name a file with `--kubeconfig` or KUBECONFIG"),
        n if n > shown.len() => {
            error.hint(format!("the {n} contexts begin with {}", shown.join(", ")))
        }
        _ => error.hint(format!("the contexts are {}", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests;
