//! Values for tests of this module.

use std::collections::BTreeMap;

use serde_json::Value;

use super::about::{About, Commit, ReleaseState, ReleaseSummary, ToolUsed, Who};
use super::names::StateNames;
use crate::config::{AppName, ClusterSpec, Render, Target, TargetName};

/// A target of `app` in `namespace`.
pub(super) fn target(app: &str, namespace: &str, state_namespace: Option<&str>) -> Target {
    let name = TargetName::new("us-east");
    Target {
        name: name.clone(),
        app: AppName::new(app),
        cluster: ClusterSpec {
            name,
            context: "us-east".into(),
            kubeconfig: None,
            in_cluster: false,
            labels: BTreeMap::new(),
            values: Value::Null,
            kube_version: None,
            api_versions: Vec::new(),
        },
        namespace: namespace.into(),
        state_namespace: state_namespace.unwrap_or(namespace).into(),
        state_namespace_is_set: state_namespace.is_some(),
        create_namespace: false,
        vars: BTreeMap::new(),
        render: Render::Manifests(Vec::new()),
        images: Vec::new(),
        replicas: Vec::new(),
        patches: Vec::new(),
        root: "/".into(),
        allow_plugins: false,
        tools: BTreeMap::new(),
        provenance: BTreeMap::new(),
    }
}

/// The names of `web` in `shop`.
pub(super) fn names() -> StateNames {
    StateNames::of(&target("web", "shop", None))
}

/// Where a release came from.
pub(super) fn about() -> About {
    About {
        started: "2026-01-02T03:04:05Z".parse().unwrap(),
        who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
        commit: Some(Commit { id: "1a2b3c4d5e6f".repeat(3), dirty: Some(true) }),
        tool: Some(ToolUsed { name: "kustomize".into(), version: "5.8.2".into() }),
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
    }
}
