//! The rules of health as written → as they are evaluated.

use std::cell::RefCell;
use std::collections::HashMap;

use super::application::HealthEntry;
use super::settings::Checker;
use crate::health::{Expression, Rule, Rules};

/// An expression, or why it is none and what may have been meant.
type Reading = Result<Expression, (String, Option<String>)>;

/// Expressions that were read, by their texts.
#[derive(Default)]
pub(crate) struct Expressions(RefCell<HashMap<String, Reading>>);

impl Expressions {
    fn read(&self, text: &str) -> Reading {
        let mut known = self.0.borrow_mut();
        known.entry(text.to_owned()).or_insert_with(|| Expression::read(text)).clone()
    }
}

impl Checker<'_> {
    /// The rules of health, every expression of them checked.
    pub(crate) fn health(&mut self, entries: Vec<HealthEntry>, expressions: &Expressions) -> Rules {
        let mut rules = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let at = |key| ["health", index.as_str(), key];
            if entry.kind.is_empty() {
                self.fail(&at("kind"), "the kind is empty");
            }
            if let Some(group) = entry.group.as_deref().filter(|group| group.contains('/')) {
                self.fail_hint(
                    &at("group"),
                    format!("`{group}` is no API group"),
                    "leave out the version: rules are for a kind in all its versions",
                );
            }
            let mut read = |key, text: Option<String>| {
                let text = text?;
                match expressions.read(&text) {
                    Ok(expression) => Some(expression),
                    Err((why, hint)) => {
                        let mut error =
                            self.node.error(&at(key), format!("`{key}` is no rule: {why}"));
                        if let Some(hint) = hint {
                            error = error.hint(hint);
                        }
                        self.errors.push(error);
                        None
                    }
                }
            };
            let in_progress = read("inProgress", entry.in_progress);
            let failed = read("failed", entry.failed);
            let current = read("current", Some(entry.current));
            let group = entry.group.unwrap_or_default();
            let mark = &self.node.nearest(&["health", &index]).mark;
            let origin = format!("{}:{}", mark.source.name, mark.line);
            rules.extend(current.map(|current| Rule {
                group,
                kind: entry.kind,
                in_progress,
                failed,
                current,
                origin,
            }));
        }
        Rules::new(rules)
    }
}
