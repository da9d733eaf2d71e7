//! Helm in a private folder: own cache, own configuration, own login files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Surroundings;
use super::access::{self, Access};
use crate::error::{Error, Result};
use crate::render::find::Found;
use crate::render::job::outcome;
use crate::render::private::Private;
use crate::render::tool::{self, Invocation};

/// A helm that knows some repositories and registries, and the way to them.
pub(super) struct Helm<'a> {
    found: &'a Found,
    around: &'a Surroundings<'a>,
    private: &'a Private,
    env: BTreeMap<OsString, OsString>,
    flags: Vec<OsString>,
}

impl<'a> Helm<'a> {
    /// `repositories` are name, URL and access; `registries` URL and access.
    pub(super) fn new(
        found: &'a Found,
        around: &'a Surroundings<'a>,
        private: &'a Private,
        repositories: &[(String, String, Access)],
        registries: &[(String, Access)],
    ) -> Result<Self> {
        let own = &around.options.env;
        let mut env = private.env(own, false, &BTreeMap::new());
        if !repositories.is_empty() {
            let config = access::repositories(repositories, own);
            let path = private.write("repositories.yaml", &config)?;
            env.insert("HELM_REPOSITORY_CONFIG".into(), path.into());
            env.insert("HELM_REPOSITORY_CACHE".into(), folder(&index(private))?.into());
        }
        let logins = registries.iter().map(|(url, access)| (url.as_str(), access));
        if let Some(config) = access::registry_config(logins, own) {
            let path = private.write("registry.json", &config)?;
            env.insert("HELM_REGISTRY_CONFIG".into(), path.into());
        }
        let mut flags = Vec::new();
        if registries.iter().any(|(_, access)| access.plain_http) {
            flags.push("--plain-http".into());
        }
        if let Some(path) = registries.iter().find_map(|(_, access)| access.ca_file.as_ref()) {
            let mut flag = OsString::from("--ca-file=");
            flag.push(path);
            flags.push(flag);
        }
        Ok(Helm { found, around, private, env, flags })
    }

    /// Flags with which it reaches the registries.
    pub(super) fn flags(&self) -> impl Iterator<Item = OsString> {
        self.flags.iter().cloned()
    }

    /// Runs it to its end, well or not.
    pub(super) async fn run(
        &self,
        args: Vec<OsString>,
        dir: &Path,
        label: &str,
    ) -> Result<tool::Output> {
        let invocation = Invocation {
            program: self.found.path.clone(),
            args,
            env: self.env.clone(),
            dir: dir.to_owned(),
        };
        let result = self.around.runner.run(invocation).await;
        outcome(result, label, self.around.runner, |text| self.restore(text))
    }

    fn restore(&self, text: &str) -> String {
        text.replace(&*self.private.path().to_string_lossy(), "<private>")
    }

    /// What helm said, without its small talk.
    pub(super) fn said(&self, output: &tool::Output) -> String {
        const SMALL_TALK: [&str; 4] =
            ["Hang tight", "Update Complete", "...Successfully", "Saving "];
        let both = [&output.stdout[..], &output.stderr[..]].map(|text| tool::tail(text, 20));
        let lines: Vec<&str> = both
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| !SMALL_TALK.iter().any(|talk| line.starts_with(talk)))
            .map(str::trim)
            .collect();
        self.restore(&lines.join("\n"))
    }

    /// The error of a run that ended with an exit code.
    pub(super) fn failed(&self, output: &tool::Output, label: &str) -> Error {
        let error = Error::manifest(format!("`{label}` {}", tool::ending(output.status)));
        match self.said(output) {
            said if said.is_empty() => error,
            said => error.because(said),
        }
    }
}

/// The folder of repositories' indexes.
pub(super) fn index(private: &Private) -> PathBuf {
    private.path().join("index")
}

/// Makes a folder.
pub(super) fn folder(path: &Path) -> Result<PathBuf> {
    std::fs::create_dir(path)
        .map_err(|e| Error::manifest("no private folder").because(e.to_string()))?;
    Ok(path.to_owned())
}
