//! A target's settings as a release has stored them, read back: whoever goes on with a release that
//! was staged elsewhere needs no files for it (design §7).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::ignore::{Ignore, LabelSelector};
use super::target::{Conflicts, Target};
use crate::health::{self, Rule, Rules};
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
    let read =
        |text: &str| health::Expression::read(text).map_err(|(why, _)| format!("`{text}`: {why}"));
    Ok(Rule {
        in_progress: stored.in_progress.as_deref().map(read).transpose()?,
        failed: stored.failed.as_deref().map(read).transpose()?,
        current: read(&stored.current)?,
        group: stored.group,
        kind: stored.kind,
        origin: "the release".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::target::{ClusterSpec, Render};
    use super::super::{AppName, Expression, Operator};
    use super::*;

    fn target() -> Target {
        Target {
            name: super::super::TargetName::new("us-east"),
            app: AppName::new("web"),
            cluster: ClusterSpec::of_context("us-east", "prod-us"),
            namespace: "shop".into(),
            state_namespace: "shop".into(),
            state_namespace_is_set: false,
            create_namespace: false,
            vars: BTreeMap::new(),
            render: Render::Manifests(Vec::new()),
            images: Vec::new(),
            replicas: Vec::new(),
            patches: Vec::new(),
            conflicts: Conflicts::default(),
            ignore: Vec::new(),
            health: Rules::default(),
            root: "/".into(),
            allow_plugins: false,
            tools: BTreeMap::new(),
            chart_repositories: Vec::new(),
            provenance: BTreeMap::new(),
        }
    }

    #[test]
    fn what_a_release_stores_is_read_back() {
        let path = |text| FieldPath::parse(text).unwrap();
        let expression = |text| health::Expression::read(text).unwrap();
        let select = LabelSelector {
            labels: [("tier".to_owned(), "web".to_owned())].into(),
            expressions: vec![
                Expression { key: "a".into(), operator: Operator::In, values: vec!["b".into()] },
                Expression { key: "c".into(), operator: Operator::Exists, values: vec![] },
            ],
        };
        let full = Target {
            create_namespace: true,
            vars: [("tag".to_owned(), json!("1.2")), ("n".to_owned(), json!(3))].into(),
            conflicts: Conflicts {
                take: vec!["mine*".into()],
                stop: vec!["theirs".into()],
                leave: vec!["op-*".into()],
            },
            ignore: vec![
                Ignore {
                    group: Some("apps".into()),
                    kind: "Deployment".into(),
                    name: Some("web-*".into()),
                    namespace: Some("shop".into()),
                    select: Some(select),
                    paths: vec![
                        path(".spec.replicas"),
                        path(".spec.template.spec.containers[name=\"web\"].image"),
                        path(".metadata.annotations[\"example.com/a.b\"]"),
                    ],
                    origin: "the release".into(),
                },
                Ignore {
                    group: None,
                    kind: "*".into(),
                    name: None,
                    namespace: None,
                    select: None,
                    paths: vec![path(".metadata.labels.team")],
                    origin: "the release".into(),
                },
            ],
            health: Rules::new([
                Rule {
                    group: "example.com".into(),
                    kind: "Db".into(),
                    in_progress: Some(expression("status.phase == 'Creating'")),
                    failed: Some(expression("status.phase == 'Broken'")),
                    current: expression("status.phase == 'Ready'"),
                    origin: "the release".into(),
                },
                Rule {
                    group: String::new(),
                    kind: "Thing".into(),
                    in_progress: None,
                    failed: None,
                    current: expression("true"),
                    origin: "the release".into(),
                },
            ]),
            ..target()
        };
        for settings in [full.settings(), target().settings()] {
            let read = target().with_settings(&settings).unwrap();
            assert_eq!(read.settings(), settings);
        }
        let mut read = target().with_settings(&full.settings()).unwrap();
        assert_eq!(read.settings(), full.settings());
        read.provenance.clear();
        assert_eq!(read, full);
        // Releases of the first mcd, and of a target whose release is from another file.
        assert_eq!(target().with_settings(&Value::Null).unwrap(), target());
        let moved = json!({"namespace": "elsewhere", "name": "eu", "unknown": {"to": "this"}});
        assert_eq!(target().with_settings(&moved).unwrap(), target());
        assert!(target().with_settings(&json!({"ignore": "x"})).is_err());
    }
}
