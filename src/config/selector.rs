//! The one way to say which clusters: in files as a map, on the command line in kubectl's syntax.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use globset::{Glob, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::error::{Error, Result};
use crate::suggest;

/// Which clusters. What is absent matches all; all that is there has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub struct Selector {
    /// Names of clusters, with `*`, `?`, `[…]` and `{a,b}` as in a shell: any of them.
    #[serde(default)]
    pub clusters: Vec<String>,
    /// Labels that the cluster has.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Further conditions on labels.
    #[serde(default)]
    pub expressions: Vec<Expression>,
}

/// A condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub struct Expression {
    /// The label's key.
    pub key: String,
    /// How it is compared.
    pub operator: Operator,
    /// The values of `In` and `NotIn`: at least one. The other operators take none.
    #[serde(default)]
    pub values: Vec<String>,
}

/// How a label is compared: Kubernetes' own operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub enum Operator {
    /// The label is there with one of the values.
    In,
    /// The label is absent, or has another value.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

/// What a selector is about: a name and its labels.
pub(crate) trait Selectable {
    fn name(&self) -> &str;
    fn labels(&self) -> &BTreeMap<String, String>;
}

/// Where a part of a selector is wrong: `["labels", "env"]`.
pub(crate) type Part = Vec<String>;

impl Expression {
    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|v| self.values.contains(v)),
            Operator::NotIn => value.is_none_or(|v| !self.values.contains(v)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl Selector {
    /// Reads kubectl's syntax: `env=prod,tier!=canary,region in (us, eu),zone notin (a),gpu,!spot`.
    ///
    /// # Errors
    /// Exit 3, with the part that cannot be read.
    pub fn parse(text: &str) -> Result<Selector> {
        let mut expressions = Vec::new();
        for part in split(text) {
            let bad = |why: &str| {
                Error::config(format!("the selector `{text}` cannot be read: {why}")).hint(
                    "write it as kubectl does: `env=prod,tier!=canary,region in (us, eu),!spot`",
                )
            };
            let part = part.trim();
            if part.is_empty() {
                return Err(bad("a condition is empty"));
            }
            let expression = requirement(part).ok_or_else(|| bad(&format!("`{part}`")))?;
            expressions.push(expression);
        }
        Ok(Selector { expressions, ..Selector::default() })
    }

    /// Whether labels and name of `one` match. Globs that cannot be read match nothing; `check`
    /// has reported them.
    pub(crate) fn matches(&self, one: &impl Selectable) -> bool {
        let named = self.clusters.is_empty()
            || self.clusters.iter().any(|glob| matcher(glob).is_ok_and(|m| m.is_match(one.name())));
        named
            && self.labels.iter().all(|(key, value)| one.labels().get(key) == Some(value))
            && self.expressions.iter().all(|expression| expression.matches(one.labels()))
    }

    /// What is surely wrong in view of all there are: a name or glob that matches none, a label
    /// key that none has, an expression that cannot be.
    pub(crate) fn check(&self, all: &[impl Selectable]) -> Vec<(Part, Error)> {
        let mut errors = Vec::new();
        for (index, glob) in self.clusters.iter().enumerate() {
            let part = vec!["clusters".to_owned(), index.to_string()];
            match matcher(glob) {
                Err(error) => errors.push((part, error)),
                Ok(matcher) if all.iter().any(|one| matcher.is_match(one.name())) => {}
                Ok(_) => errors.push((part, unknown_name("cluster", glob, all))),
            }
        }
        for key in self.labels.keys() {
            if let Some(error) = unknown_label(key, all) {
                errors.push((vec!["labels".to_owned(), key.clone()], error));
            }
        }
        for (index, expression) in self.expressions.iter().enumerate() {
            let part =
                |key: &str| vec!["expressions".to_owned(), index.to_string(), key.to_owned()];
            if let Some(error) = unknown_label(&expression.key, all) {
                errors.push((part("key"), error));
            }
            let takes_values = matches!(expression.operator, Operator::In | Operator::NotIn);
            if takes_values == expression.values.is_empty() {
                let operator = expression.operator;
                let needs =
                    if takes_values { "needs at least one value" } else { "takes no values" };
                errors.push((
                    part("values"),
                    Error::config(format!("the operator `{operator:?}` {needs}")),
                ));
            }
        }
        errors
    }

    /// What [`Selector::check`] finds, at its places in `node`, the selector's own tree.
    pub(crate) fn faults(&self, node: &Node, all: &[impl Selectable]) -> Vec<Error> {
        let place = |part: &[String]| match part
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            ["labels", key] => node.nearest(&["labels"]).key_mark(key).location(),
            part => node.nearest(part).mark.location(),
        };
        self.check(all).into_iter().map(|(part, error)| error.at(place(&part))).collect()
    }
}

impl fmt::Display for Selector {
    /// In kubectl's syntax, names first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match self.clusters.as_slice() {
            [] => {}
            [one] => parts.push(format!("cluster {one}")),
            many => parts.push(format!("cluster in ({})", many.join(", "))),
        }
        parts.extend(self.labels.iter().map(|(key, value)| format!("{key}={value}")));
        for Expression { key, operator, values } in &self.expressions {
            let list = values.join(", ");
            parts.push(match (operator, values.as_slice()) {
                (Operator::In, [one]) => format!("{key}={one}"),
                (Operator::NotIn, [one]) => format!("{key}!={one}"),
                (Operator::In, _) => format!("{key} in ({list})"),
                (Operator::NotIn, _) => format!("{key} notin ({list})"),
                (Operator::Exists, _) => key.clone(),
                (Operator::DoesNotExist, _) => format!("!{key}"),
            });
        }
        if parts.is_empty() { f.write_str("all clusters") } else { f.write_str(&parts.join(",")) }
    }
}

/// A glob over names.
pub(crate) fn matcher(glob: &str) -> Result<GlobMatcher> {
    match Glob::new(glob) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => {
            Err(Error::config(format!("the pattern `{glob}` cannot be read: {}", error.kind())))
        }
    }
}

/// The error for a name or glob that matches none.
pub(crate) fn unknown_name(what: &str, glob: &str, all: &[impl Selectable]) -> Error {
    let names: Vec<&str> = all.iter().map(Selectable::name).collect();
    let is_glob = glob.contains(['*', '?', '[', '{']);
    let error = if is_glob {
        Error::config(format!("no {what} matches `{glob}`"))
    } else {
        Error::config(format!("there is no {what} `{glob}`"))
    };
    match suggest::hint(glob, names.iter().copied()) {
        Some(hint) if !is_glob => error.hint(hint),
        _ if names.is_empty() => error.hint(format!("there are no {what}s")),
        _ => error.hint(format!("the {what}s are {}", list(names))),
    }
}

fn unknown_label(key: &str, all: &[impl Selectable]) -> Option<Error> {
    let keys: BTreeSet<&str> =
        all.iter().flat_map(|one| one.labels().keys().map(String::as_str)).collect();
    if keys.contains(key) {
        return None;
    }
    let error = Error::config(format!("no cluster has a label `{key}`"));
    Some(match suggest::hint(key, keys.iter().copied()) {
        Some(hint) => error.hint(hint),
        None if keys.is_empty() => error.hint("no cluster of the fleet has labels"),
        None => error.hint(format!("the labels of the fleet are {}", list(keys))),
    })
}

/// `a`, `b` and `c`; long ones are cut.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        return format!("{shown} and {} more", names.len() - SHOWN);
    }
    match names.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Splits at commas that are not in parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn requirement(part: &str) -> Option<Expression> {
    let one = |key: &str, operator, value: &str| {
        let (key, value) = (key.trim(), value.trim());
        (is_key(key) && is_value(value)).then(|| Expression {
            key: key.to_owned(),
            operator,
            values: vec![value.to_owned()],
        })
    };
    if let Some((key, value)) = part.split_once("!=") {
        return one(key, Operator::NotIn, value);
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return one(key, Operator::In, value);
    }
    if let Some(key) = part.strip_prefix('!') {
        let key = key.trim();
        return is_key(key).then(|| Expression {
            key: key.to_owned(),
            operator: Operator::DoesNotExist,
            values: Vec::new(),
        });
    }
    if let Some((head, rest)) = part.split_once('(') {
        let mut words = head.split_whitespace();
        let (key, operator) = (words.next()?, words.next()?);
        let operator = match operator {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return None,
        };
        let values: Vec<String> =
            rest.strip_suffix(')')?.split(',').map(|v| v.trim().to_owned()).collect();
        let fine = words.next().is_none() && is_key(key) && values.iter().all(|v| is_value(v));
        return fine.then(|| Expression { key: key.to_owned(), operator, values });
    }
    is_key(part).then(|| Expression {
        key: part.to_owned(),
        operator: Operator::Exists,
        values: Vec::new(),
    })
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

fn is_value(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(&'static str, BTreeMap<String, String>);
    impl Selectable for One {
        fn name(&self) -> &str {
            self.0
        }
        fn labels(&self) -> &BTreeMap<String, String> {
            &self.1
        }
    }

    fn fleet() -> Vec<One> {
        let labels = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        vec![
            One("us-east", labels(&[("env", "prod"), ("region", "us"), ("tier", "canary")])),
            One("us-west", labels(&[("env", "prod"), ("region", "us")])),
            One("eu-west", labels(&[("env", "prod"), ("region", "eu")])),
            One("dev", labels(&[("env", "dev")])),
        ]
    }

    fn names(selector: &Selector) -> Vec<&'static str> {
        fleet().iter().filter(|one| selector.matches(*one)).map(|one| one.0).collect()
    }

    #[test]
    fn kubectls_syntax_selects_what_kubectl_selects() {
        let cases: &[(&str, &[&str])] = &[
            ("env=prod", &["us-east", "us-west", "eu-west"]),
            ("env==dev", &["dev"]),
            ("env = prod , region = eu", &["eu-west"]),
            ("tier!=canary", &["us-west", "eu-west", "dev"]),
            ("region in (us, eu)", &["us-east", "us-west", "eu-west"]),
            ("region in (eu),env=prod", &["eu-west"]),
            ("region notin (us)", &["eu-west", "dev"]),
            ("tier", &["us-east"]),
            ("!tier", &["us-west", "eu-west", "dev"]),
            ("! region", &["dev"]),
            ("tier=", &[]),
        ];
        for (text, expected) in cases {
            let selector = Selector::parse(text).expect(text);
            assert_eq!(names(&selector), *expected, "{text}");
            let again = Selector::parse(&selector.to_string()).expect("what is shown can be read");
            assert_eq!(again, selector, "{text}");
        }
    }

    #[test]
    fn what_kubectl_refuses_is_refused() {
        for text in
            ["", ",", "a=b,", "=b", "a in", "a in (b", "a is (b)", "a b", "a=b=c", "!", "a in b"]
        {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_labels_and_expressions_all_have_to_match() {
        let selector = Selector {
            clusters: vec!["us-*".into(), "dev".into()],
            labels: [("env".to_owned(), "prod".to_owned())].into(),
            expressions: vec![Expression {
                key: "tier".into(),
                operator: Operator::DoesNotExist,
                values: vec![],
            }],
        };
        assert_eq!(names(&selector), ["us-west"]);
        assert_eq!(names(&Selector::default()).len(), 4);
        assert!(selector.check(&fleet()).is_empty());
    }

    #[test]
    fn mistyped_names_and_keys_are_told_with_what_was_meant() {
        let selector = Selector {
            clusters: vec!["us-eats".into(), "asia-*".into(), "[".into()],
            labels: [("regoin".to_owned(), "us".to_owned())].into(),
            expressions: vec![
                Expression { key: "gpu".into(), operator: Operator::Exists, values: vec![] },
                Expression { key: "env".into(), operator: Operator::In, values: vec![] },
                Expression {
                    key: "env".into(),
                    operator: Operator::Exists,
                    values: vec!["x".into()],
                },
            ],
        };
        let text: Vec<String> = selector
            .check(&fleet())
            .into_iter()
            .map(|(part, e)| format!("{}: {e}; {}", part.join("."), e.hints().join("; ")))
            .collect();
        insta::assert_snapshot!("mistyped_selectors", text.join("\n"));
    }
}
