//! A target's settings as a release has stored them, read back: whoever goes on with a release that
//! was staged elsewhere needs no files for it (design §7).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::ignore::{Ignore, LabelSelector};
use super::target::{Conflicts, Target};
use crate::health::{Expression, Rule, Rules};
use crate::ownership::FieldPath;

/// Of [`Target::settings`] what is needed once the manifests are rendered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Stored {
    create_namespace: bool,
    vars: BTreeMap<String, Value>,
    conflicts: StoredConflicts,
    ignore: Vec<StoredIgnore>,
    health: Vec<StoredRule>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StoredConflicts {
    take: Vec<String>,
    stop: Vec<String>,
    leave: Vec<String>,
}

#[derive(Deserialize)]
struct StoredIgnore {
    group: Option<String>,
    kind: String,
    name: Option<String>,
    namespace: Option<String>,
    select: Option<LabelSelector>,
    paths: Vec<FieldPath>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRule {
    #[serde(default)]
    group: String,
    kind: String,
    in_progress: Option<String>,
    failed: Option<String>,
    current: String,
}

impl Target {
    /// The same target with what the settings of a release say of applying and of health. Where the
    /// target is, and where its state is, stays.
    ///
    /// # Errors
    /// The settings cannot be read; why, as a fragment.
    pub fn with_settings(mut self, settings: &Value) -> Result<Target, String> {
        let stored: Stored = match settings {
            Value::Null => Stored::default(),
            settings => Stored::deserialize(settings).map_err(|error| error.to_string())?,
        };
        self.create_namespace = stored.create_namespace;
        self.vars = stored.vars;
        let StoredConflicts { take, stop, leave } = stored.conflicts;
        self.conflicts = Conflicts { take, stop, leave };
        self.ignore = stored.ignore.into_iter().map(ignore).collect();
        let rules: Result<Vec<Rule>, String> = stored.health.into_iter().map(rule).collect();
        self.health = Rules::new(rules?);
        Ok(self)
    }
}

fn ignore(stored: StoredIgnore) -> Ignore {
    let StoredIgnore { group, kind, name, namespace, select, paths } = stored;
    Ignore { group, kind, name, namespace, select, paths, origin: "the release".to_owned() }
}

fn rule(stored: StoredRule) -> Result<Rule, String> {
    let read = |text: &str| Expression::read(text).map_err(|(why, _)| format!("`{text}`: {why}"));
    Ok(Rule {
        in_progress: stored.in_progress.as_deref().map(read).transpose()?,
        failed: stored.failed.as_deref().map(read).transpose()?,
        current: read(&stored.current)?,
        group: stored.group,
        kind: stored.kind,
    })
}
