//! What a release says of itself: who made it, from where, of what. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::render::ChartUsed;

/// Who ran mcd, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Who {
    /// The user's name on that machine; in CI, who started the job.
    pub user: String,
    /// The machine's name.
    pub host: String,
    /// The CI run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ci: Option<CiRun>,
}

impl std::fmt::Display for Who {
    /// `alice@laptop`, `alice in GitHub Actions`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.ci {
            Some(ci) => write!(f, "{} in {}", self.user, ci.system),
            None => write!(f, "{}@{}", self.user, self.host),
        }
    }
}

/// A run of a CI system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CiRun {
    /// Its name, such as `GitHub Actions`.
    pub system: String,
    /// Where the run can be looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

/// The commit that a release was rendered from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The full hash.
    pub id: String,
    /// Whether the work tree differed from it; none: that could not be told in time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dirty: Option<bool>,
}

impl std::fmt::Display for Commit {
    /// `1a2b3c4d`, `1a2b3c4d-dirty`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = self.id.get(..8).unwrap_or(&self.id);
        write!(f, "{short}{}", if self.dirty == Some(true) { "-dirty" } else { "" })
    }
}

/// What rendered a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUsed {
    /// `kustomize` or `helm`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Where a release came from. All that is known before it is applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// When it was staged, in server time.
    pub started: Timestamp,
    /// Who made it.
    pub who: Who,
    /// The commit; none outside a git repository.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<Commit>,
    /// What rendered it; none for plain manifests.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<ToolUsed>,
    /// The chart that it was rendered from; none without helm.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chart: Option<ChartUsed>,
    /// The version of mcd.
    pub mcd: String,
    /// Resolved variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub vars: BTreeMap<String, Value>,
}

/// Where a release stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseState {
    /// Stored, not yet applied whole.
    Staged,
    /// What the target runs.
    Active,
    /// What the target ran before another became active.
    Superseded,
    /// Its apply ended with an error, or never ended.
    Failed,
}

impl ReleaseState {
    /// As in the label `mcd.dev/release-state`.
    pub fn as_str(self) -> &'static str {
        match self {
            ReleaseState::Staged => "staged",
            ReleaseState::Active => "active",
            ReleaseState::Superseded => "superseded",
            ReleaseState::Failed => "failed",
        }
    }

    /// Reads the label.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Staged, Self::Active, Self::Superseded, Self::Failed]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

impl std::fmt::Display for ReleaseState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A release without its objects: what `history` shows, what the record keeps of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseSummary {
    /// Its number, from 1.
    pub number: u64,
    /// Where it stands.
    pub state: ReleaseState,
    /// Where it came from.
    #[serde(flatten)]
    pub about: About,
    /// How many objects it has.
    pub objects: u32,
    /// Its size as stored, in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// When its apply ended, in server time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finished: Option<Timestamp>,
    /// How it ended, for a person: `12 changed, healthy`, or the reason of a failure. Never holds
    /// a value of a Secret.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The release whose objects it repeats, when it is a rollback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rollback_of: Option<u64>,
    /// Its rollout was taken back: nothing of it is left, and the one before it is as if this one
    /// had never been.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
}

impl ReleaseSummary {
    /// Makes a staged release a failed one, as an interrupted run left it. Says whether it was one.
    pub(super) fn fail_if_staged(&mut self, now: Timestamp) -> bool {
        if self.state != ReleaseState::Staged {
            return false;
        }
        self.state = ReleaseState::Failed;
        self.finished = Some(now);
        self.message = Some("interrupted".into());
        true
    }
}
