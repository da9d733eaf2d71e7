//! Charts that are not simply there: pulled from repositories and registries, or completed with
//! their dependencies, by the target's helm, once a run, whoever asks.

mod access;
mod advice;
mod archive;
mod cache;
mod dependencies;
mod pull;
mod run;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::Found;
use super::once::Once;
use super::options::RenderOptions;
use super::private::Private;
use super::tool::Runner;
use crate::config::{ChartRepository, RemoteChart};
use crate::error::Result;
use crate::manifest::{Scrubber, yaml};

pub(super) use access::own_registry_config;

/// Which chart rendered a target, for the plan and the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartUsed {
    /// Its name, as Chart.yaml says.
    pub name: String,
    /// Its version, as Chart.yaml says.
    pub version: String,
    /// The URL of the repository, or of the registry's folder; absent for a local chart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repository: Option<String>,
    /// The digest of its archive, or in a registry of its manifest; absent for a local chart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
}

/// `web 1.2.3`.
impl fmt::Display for ChartUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// A chart as helm takes it.
#[derive(Debug)]
pub(super) struct Chart {
    /// Its folder or archive.
    pub(super) path: PathBuf,
    /// What messages call it.
    pub(super) shown: String,
    /// What it is; none when its Chart.yaml cannot be read.
    pub(super) used: Option<ChartUsed>,
    /// Where it lies, when that is a private folder.
    pub(super) private: Option<Private>,
}

/// What helm is run with.
pub(super) struct Surroundings<'a> {
    /// Settings of the run.
    pub(super) options: &'a RenderOptions,
    /// Runs it.
    pub(super) runner: &'a Runner,
    /// Learns passwords.
    pub(super) scrubber: &'a Scrubber,
    /// The fleet's `chartRepositories`.
    pub(super) repositories: &'a [ChartRepository],
}

/// The charts of a run.
#[derive(Debug, Default)]
pub(super) struct Charts {
    pulled: Once<RemoteChart, Chart>,
    /// By the folder of the chart.
    built: Once<PathBuf, Chart>,
}

impl Charts {
    /// A chart of a repository or registry. A range of versions comes to one version for all
    /// targets of a run, whichever helm pulls it.
    ///
    /// # Errors
    /// Exit 4: it cannot be had, or is not the one that is pinned. Exit 3: a variable with the
    /// login is not set.
    pub(super) async fn remote(
        &self,
        remote: &RemoteChart,
        found: &Found,
        around: &Surroundings<'_>,
    ) -> Result<Arc<Chart>> {
        self.pulled.get(remote.clone(), async || pull::pull(remote, found, around).await).await
    }

    /// A chart that lies below `root`; when its `charts/` lacks what its Chart.lock names, a
    /// private copy where helm built it.
    ///
    /// # Errors
    /// Exit 4: dependencies cannot be had, or nothing says which ones they are. Exit 3: a variable
    /// with the login is not set.
    pub(super) async fn local(
        &self,
        root: &Path,
        path: PathBuf,
        shown: String,
        found: &Found,
        around: &Surroundings<'_>,
    ) -> Result<Arc<Chart>> {
        match dependencies::lacking(&path, &shown)? {
            None => Ok(Arc::new(local(path, shown))),
            Some(locked) => {
                let work =
                    async || dependencies::build(root, &path, &shown, locked, found, around).await;
                self.built.get(path.clone(), work).await
            }
        }
    }
}

/// A chart that lies on this disk, whole.
pub(super) fn local(path: PathBuf, shown: String) -> Chart {
    let used = describe(&path);
    Chart { path, shown, used, private: None }
}

/// A chart's file, from its folder or its archive.
pub(super) fn file(chart: &Path, name: &str) -> Option<String> {
    if chart.is_dir() {
        return std::fs::read_to_string(chart.join(name)).ok();
    }
    archive::file(chart, name)
}

/// What the chart's Chart.yaml says of it.
fn describe(chart: &Path) -> Option<ChartUsed> {
    let documents = yaml::load(&file(chart, "Chart.yaml")?, "Chart.yaml").ok()?;
    let about = &documents.first()?.value;
    let text = |key: &str| about[key].as_str().map(str::to_owned);
    Some(ChartUsed {
        name: text("name")?,
        version: text("version")?,
        repository: None,
        digest: None,
    })
}
