//! What rendering takes from outside the two files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of a whole run, read once at the edge.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// `--kustomize-bin`.
    pub kustomize_bin: Option<PathBuf>,
    /// `--helm-bin`.
    pub helm_bin: Option<PathBuf>,
    /// `$MCD_TOOLS`: folders that hold `<tool>/<version>/<tool>`.
    pub tools_dirs: Vec<PathBuf>,
    /// The folders of `$PATH`.
    pub path: Vec<PathBuf>,
    /// The user's environment, from which the tools' is made.
    pub env: BTreeMap<OsString, OsString>,
    /// The working folder, to which paths in messages are relative.
    pub cwd: PathBuf,
    /// Where private folders are made.
    pub temp_dir: PathBuf,
    /// How long one run of a tool may take; default 2 minutes (design §3).
    pub timeout: Duration,
    /// How much a tool may print, and how large plain manifests may be together; bytes.
    pub max_bytes: usize,
}

impl RenderOptions {
    /// How long one run of a tool may take, unless it is set.
    pub const TIMEOUT: Duration = Duration::from_secs(120);
    /// Far beyond any real set of manifests, and far below what hurts a machine.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Reads this process's environment.
    pub fn from_env() -> Self {
        let list = |name: &str| -> Vec<PathBuf> {
            std::env::var_os(name)
                .map(|value| {
                    std::env::split_paths(&value).filter(|p| !p.as_os_str().is_empty()).collect()
                })
                .unwrap_or_default()
        };
        RenderOptions {
            kustomize_bin: None,
            helm_bin: None,
            tools_dirs: list("MCD_TOOLS"),
            path: list("PATH"),
            env: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            temp_dir: std::env::temp_dir(),
            timeout: Self::TIMEOUT,
            max_bytes: Self::MAX_BYTES,
        }
    }

    /// A path as the user would name it: relative to the working folder where it lies below it.
    pub(super) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// The user's environment without what would lead a tool to a cluster or to files that other
/// runs share: rendering has to give the same result on every machine, and never to touch the
/// ambient current-context.
pub(super) fn without_ambient(
    env: &BTreeMap<OsString, OsString>,
    keep_plugins: bool,
) -> BTreeMap<OsString, OsString> {
    const DROPPED: [&str; 11] = [
        "KUBECONFIG",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
        "HELM_NAMESPACE",
        "HELM_DEBUG",
        "HELM_CACHE_HOME",
        "HELM_CONFIG_HOME",
        "HELM_DATA_HOME",
        "HELM_CONTENT_CACHE",
        "HELM_REPOSITORY_CACHE",
        "HELM_REPOSITORY_CONFIG",
    ];
    let dropped = |name: &str| {
        DROPPED.contains(&name)
            || name.starts_with("HELM_KUBE")
            || (!keep_plugins && PLUGIN_FOLDERS.contains(&name))
    };
    env.iter()
        .filter(|(name, _)| !name.to_str().is_some_and(dropped))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Where the tools look for plugins.
const PLUGIN_FOLDERS: [&str; 2] = ["HELM_PLUGINS", "KUSTOMIZE_PLUGIN_HOME"];

/// Whether a variable of an application's `env` makes a tool run, or load, other programs: it
/// is then for the fleet to allow.
pub(super) fn runs_code(variable: &str) -> bool {
    ["PATH", "HOME", "XDG_CONFIG_HOME"].contains(&variable)
        || variable.starts_with("LD_")
        || variable.starts_with("DYLD_")
        || variable.starts_with("GIT_")
        || PLUGIN_FOLDERS.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(names: &[&str]) -> BTreeMap<OsString, OsString> {
        names.iter().map(|n| (OsString::from(n), OsString::from("x"))).collect()
    }

    #[test]
    fn nothing_that_leads_to_a_cluster_is_passed_on() {
        let all = env(&[
            "HOME",
            "PATH",
            "KUBECONFIG",
            "HELM_KUBECONTEXT",
            "HELM_KUBETOKEN",
            "HELM_NAMESPACE",
            "HELM_CACHE_HOME",
            "HELM_PLUGINS",
            "KUBERNETES_SERVICE_HOST",
            "HTTPS_PROXY",
            "HELM_REGISTRY_CONFIG",
        ]);
        let kept = env(&["HOME", "PATH", "HTTPS_PROXY", "HELM_REGISTRY_CONFIG"]);
        assert_eq!(without_ambient(&all, false), kept);
        assert!(without_ambient(&all, true).contains_key(&OsString::from("HELM_PLUGINS")));
    }

    #[test]
    fn paths_are_shown_from_the_working_folder() {
        let options = RenderOptions { cwd: "/repo".into(), ..RenderOptions::from_env() };
        assert_eq!(options.shown(Path::new("/repo/k8s/a.yaml")), "k8s/a.yaml");
        assert_eq!(options.shown(Path::new("/repo")), ".");
        assert_eq!(options.shown(Path::new("/repository/a.yaml")), "/repository/a.yaml");
    }
}
