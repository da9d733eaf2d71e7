//! The user's own rules of health for a kind (`health:` of the application file), with the names
//! and the order of Flux's `healthCheckExprs` (its RFC 0009): `inProgress`, `failed`, `current`; the
//! first that holds decides, and when none does the object is on its way.

mod expression;

pub use expression::Expression;
use expression::Outcome;
use serde_json::Value;

use super::fields::{Condition, one_line};
use super::generation::behind;
use super::{Health, Own, Verdict};

/// Rules by kind. Empty for most applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(Vec<Rule>);

/// The rule of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// When it is on its way.
    pub in_progress: Option<Expression>,
    /// When it has failed.
    pub failed: Option<Expression>,
    /// When it is healthy.
    pub current: Expression,
    /// `file:line` of the rule.
    pub origin: String,
}

impl Rules {
    /// Of several rules for a kind the last one counts.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Rules(rules.into_iter().collect())
    }

    /// All rules, in the order of the files.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter()
    }

    pub(super) fn get(&self, group: &str, kind: &str) -> Option<&Rule> {
        self.0.iter().rev().find(|rule| rule.group == group && rule.kind == kind)
    }
}

impl Rule {
    /// Judges an object. An expression that reads a field which is not there yet decides nothing,
    /// and nothing after it does: the object is on its way.
    pub(super) fn judge(&self, object: &Value, own: &Own) -> Verdict {
        if let Some(verdict) = behind(object, own) {
            return verdict;
        }
        let in_progress = self.in_progress.as_ref().map(|e| ("inProgress", e));
        let failed = self.failed.as_ref().map(|e| ("failed", e));
        let all = in_progress.into_iter().chain(failed).chain([("current", &self.current)]);
        for (key, expression) in all {
            match expression.holds(object) {
                Outcome::False => {}
                Outcome::True => {
                    return match key {
                        "inProgress" => Verdict::progressing(why(object, key)),
                        "failed" => Verdict::failed(why(object, key)),
                        _ => Verdict::healthy(),
                    };
                }
                Outcome::Missing(what) => {
                    let text = format!("no `{what}` yet, which the rule `{key}` reads");
                    return Verdict::progressing(text);
                }
                // It will not be one later either: nobody waits for that.
                Outcome::NoBoolean(what) => {
                    let at = &self.origin;
                    let text = format!("the rule `{key}` at {at} gives {what}, not true or false");
                    return Verdict::failed(one_line(&text));
                }
                Outcome::Wrong(what) => {
                    let at = &self.origin;
                    let text = format!("the rule `{key}` at {at} cannot be evaluated: {what}");
                    return Verdict::new(Health::Unknown(one_line(&text)));
                }
            }
        }
        Verdict::progressing(why(object, "current"))
    }
}

/// What the object itself says, as its conditions do; else which rule decided.
fn why(object: &Value, key: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let told = |c: &&Value| c["message"].as_str().is_some_and(|m| !m.is_empty());
    let bad = conditions.clone().filter(told).find(|c| c["status"] != "True");
    // `Stalled: True` is bad news too.
    let stalled = conditions.clone().filter(told).find(|c| c["type"] == "Stalled");
    if let Some(condition) = stalled.or(bad) {
        return Condition::read(condition).text();
    }
    for field in ["phase", "state", "message"] {
        if let Some(text) = object["status"][field].as_str().filter(|text| !text.is_empty()) {
            return one_line(&format!("{field} {text}"));
        }
    }
    match key {
        "current" => "its rule `current` does not hold yet".to_owned(),
        key => format!("its rule `{key}` holds"),
    }
}

#[cfg(test)]
mod tests;
