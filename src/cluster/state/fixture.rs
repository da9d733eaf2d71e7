//! Values for tests of this module.

use super::about::{About, Commit, ReleaseState, ReleaseSummary, ToolUsed, Who};
use super::names::StateNames;
use crate::config::{AppName, TargetName};

/// The names of `web` in `shop`.
pub(super) fn names() -> StateNames {
    StateNames::new(&TargetName::new("us-east"), &AppName::new("web"), "shop", None)
}

/// Where a release came from.
pub(super) fn about() -> About {
    About {
        started: "2026-01-02T03:04:05Z".parse().unwrap(),
        who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
        commit: Some(Commit { id: "1a2b3c4d5e6f".repeat(3), dirty: Some(true) }),
        tool: Some(ToolUsed { name: "kustomize".into(), version: "5.8.2".into() }),
        chart: None,
        mcd: "0.1.0".into(),
        vars: [("tag".to_owned(), "1.4.2".into())].into(),
    }
}

/// A release's summary.
pub(super) fn summary(number: u64, state: ReleaseState) -> ReleaseSummary {
    ReleaseSummary {
        number,
        state,
        about: about(),
        objects: 2,
        bytes: 1024,
        finished: None,
        message: None,
        rollback_of: None,
        undone: false,
    }
}
