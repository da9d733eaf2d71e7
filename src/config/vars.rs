//! Variables: declared in the application file, given by `--var`, recorded in the release.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};

use super::application::{VarEntry, VarOverride};
use super::node::{Layer, Node};
use super::selector::list;
use crate::error::Error;
use crate::suggest;

/// The variables of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vars {
    pub(crate) values: BTreeMap<String, Value>,
    /// Where each value comes from.
    pub(crate) provenance: BTreeMap<String, String>,
    /// Those without a value.
    pub(crate) unset: BTreeSet<String>,
}

/// What is wrong with the declarations and with the names that `--var` gives: of all targets.
pub(crate) fn check(
    root: &Node,
    declared: &BTreeMap<String, VarEntry>,
    overrides: &[BTreeMap<String, VarOverride>],
    given: &[(String, String)],
) -> Vec<Error> {
    let mut errors = Vec::new();
    let names = || declared.keys().map(String::as_str);
    let hint = |error: Error, name: &str| match suggest::hint(name, names()) {
        Some(hint) => error.hint(hint),
        None if declared.is_empty() => error.hint("the application declares no `vars`"),
        None => error.hint(format!("the variables are {}", list(names()))),
    };
    for (name, entry) in declared {
        let key = root.nearest(&["vars"]).key_mark(name);
        if !is_identifier(name) {
            errors.push(
                key.error(format!("`{name}` is no name for a variable"))
                    .hint("use letters, digits and `_`: templates read it as `vars.<name>`"),
            );
        }
        if entry.required && entry.default.as_ref().is_some_and(|d| !d.is_null()) {
            errors.push(key.error(format!("the variable `{name}` is required and has a default")));
        }
    }
    for (index, vars) in overrides.iter().enumerate() {
        let index = index.to_string();
        for name in vars.keys().filter(|name| !declared.contains_key(*name)) {
            let node = root.nearest(&["overrides", &index, "vars"]);
            let error = node.key_mark(name).error(format!("there is no variable `{name}`"));
            errors.push(hint(error, name));
        }
    }
    for (name, _) in given.iter().filter(|(name, _)| !declared.contains_key(name)) {
        errors.push(hint(Error::config(format!("`--var`: there is no variable `{name}`")), name));
    }
    errors
}

/// The variables of a target: `--var`, else the default of the last override that is for it,
/// else its own default. `applied` holds the overrides that are for the target.
pub(crate) fn resolve(
    root: &Node,
    declared: &BTreeMap<String, VarEntry>,
    applied: &[(usize, &BTreeMap<String, VarOverride>)],
    given: &[(String, String)],
) -> (Vars, Vec<Error>) {
    let mut vars = Vars::default();
    let mut errors = Vec::new();
    for (name, entry) in declared {
        let own = entry.default.as_ref().filter(|default| !default.is_null());
        let own = own.map(|d| (d, root.nearest(&["vars", name, "default"]).mark.clone()));
        let layered = applied.iter().rev().find_map(|(index, vars)| {
            let text = index.to_string();
            let mut mark =
                root.nearest(&["overrides", &text, "vars", name, "default"]).mark.clone();
            mark.layer = Layer::Override(*index);
            vars.get(name).and_then(|entry| entry.default.as_ref()).map(|default| (default, mark))
        });
        let default = layered.or(own);
        let text = given.iter().rev().find(|(given, _)| given == name).map(|(_, text)| text);
        match (text, default) {
            (Some(text), default) => match read(text, default.map(|(value, _)| value)) {
                Ok(value) => {
                    vars.values.insert(name.clone(), value);
                    vars.provenance.insert(name.clone(), "--var".to_owned());
                }
                Err(expected) => errors.push(Error::config(format!(
                    "`--var {name}={text}`: expected {expected}, as its default is"
                ))),
            },
            (None, Some((value, mark))) => {
                vars.values.insert(name.clone(), value.clone());
                vars.provenance.insert(name.clone(), mark.provenance());
            }
            (None, None) => {
                vars.unset.insert(name.clone());
            }
        }
    }
    (vars, errors)
}

/// The required variables that have no value.
pub(crate) fn missing(
    root: &Node,
    declared: &BTreeMap<String, VarEntry>,
    vars: &Vars,
) -> Vec<Error> {
    let missing = declared.iter().filter(|(name, e)| e.required && vars.unset.contains(*name));
    missing
        .map(|(name, entry)| {
            let mark = root.nearest(&["vars"]).key_mark(name);
            let what = entry.description.as_deref().map(|text| format!(": {text}"));
            mark.error(format!("the variable `{name}` has no value"))
                .hint(format!("pass `--var {name}=…`{}", what.unwrap_or_default()))
        })
        .collect()
}

/// The text of `--var` as the type of the default.
fn read(text: &str, default: Option<&Value>) -> Result<Value, &'static str> {
    match default {
        None | Some(Value::Null | Value::String(_)) => Ok(Value::from(text)),
        Some(Value::Bool(_)) => text.parse().map(Value::Bool).map_err(|_| "`true` or `false`"),
        Some(Value::Number(_)) => number(text).map(Value::Number).ok_or("a number"),
        Some(Value::Array(_)) => match serde_json::from_str(text) {
            Ok(value @ Value::Array(_)) => Ok(value),
            _ => Err("a list in JSON"),
        },
        Some(Value::Object(_)) => match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            _ => Err("a map in JSON"),
        },
    }
}

fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().map(Number::from).ok();
    let whole = whole.or_else(|| text.parse::<u64>().map(Number::from).ok());
    whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_of_the_command_line_takes_the_type_of_the_default() {
        let cases = [
            ("1.4", None, Ok(json!("1.4"))),
            ("true", Some(json!("x")), Ok(json!("true"))),
            ("true", Some(json!(false)), Ok(json!(true))),
            ("yes", Some(json!(false)), Err("`true` or `false`")),
            ("7", Some(json!(3)), Ok(json!(7))),
            ("-1", Some(json!(3)), Ok(json!(-1))),
            ("0.5", Some(json!(3)), Ok(json!(0.5))),
            ("18446744073709551615", Some(json!(3)), Ok(json!(18_446_744_073_709_551_615_u64))),
            ("many", Some(json!(3)), Err("a number")),
            ("NaN", Some(json!(3)), Err("a number")),
            ("[1]", Some(json!([])), Ok(json!([1]))),
            ("1", Some(json!([])), Err("a list in JSON")),
            ("{\"a\": 1}", Some(json!({})), Ok(json!({"a": 1}))),
            ("a=1", Some(json!({})), Err("a map in JSON")),
        ];
        for (text, default, expected) in cases {
            assert_eq!(read(text, default.as_ref()), expected, "{text} {default:?}");
        }
    }
}
