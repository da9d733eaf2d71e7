//! A private folder for the runs of a tool, and an environment that leads the tool to it: no two
//! runs share a working folder, a cache or a configuration of helm (design §4).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::charts::own_registry_config;
use super::options::without_ambient;
use crate::error::{Error, Result};

/// The folder. It goes with the value.
#[derive(Debug)]
pub(super) struct Private {
    _dir: TempDir,
    base: PathBuf,
}

impl Private {
    /// Makes it below `temp_dir`, for `what`.
    pub(super) fn new(temp_dir: &Path, what: &str) -> Result<Self> {
        let made = || -> io::Result<Private> {
            let dir = tempfile::Builder::new()
                .prefix("mcd-render-")
                .permissions(std::fs::Permissions::from_mode(0o700))
                .tempdir_in(temp_dir)?;
            let base = dir.path().canonicalize()?;
            // What a tool that is killed leaves goes with the rest.
            std::fs::create_dir(base.join("tmp"))?;
            Ok(Private { _dir: dir, base })
        };
        made().map_err(|e| {
            Error::manifest(format!("no private folder for `{what}`")).because(e.to_string())
        })
    }

    /// Its path, canonical.
    pub(super) fn path(&self) -> &Path {
        &self.base
    }

    /// Writes a file that only its owner reads.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.base.join(name);
        let mut options = std::fs::OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o600).open(&path);
        opened
            .and_then(|mut file| file.write_all(content))
            .map_err(|e| Error::manifest("no private file").because(e.to_string()))?;
        Ok(path)
    }

    /// The environment of a tool: the user's without what leads elsewhere, and what `more` adds.
    pub(super) fn env(
        &self,
        env: &BTreeMap<OsString, OsString>,
        keep_plugins: bool,
        more: &BTreeMap<String, String>,
    ) -> BTreeMap<OsString, OsString> {
        // Logins stay where the user has them.
        let own = own_registry_config(env);
        let mut env = without_ambient(env, keep_plugins);
        if let Some(path) = own {
            env.insert("HELM_REGISTRY_CONFIG".into(), path.into());
        }
        env.extend(more.iter().map(|(k, v)| (k.into(), v.into())));
        // Last, so that nothing leads to a cluster or to files that two runs share.
        env.insert("KUBECONFIG".into(), "/dev/null".into());
        for name in ["cache", "config", "data"] {
            let folder = self.base.join("helm").join(name);
            env.insert(format!("HELM_{}_HOME", name.to_uppercase()).into(), folder.into());
        }
        env.insert("TMPDIR".into(), self.base.join("tmp").into());
        env
    }
}
