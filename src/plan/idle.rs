//! Rules of the application file that are about nothing in the set: most often their kind is
//! misspelt, or their group is missing. Pure.

use std::collections::BTreeSet;

use crate::config::Ignore;
use crate::health::Rules;
use crate::manifest::Object;
use crate::suggest;

/// A sentence for each rule of `ignore:` and `health:` that matches no object of the set, with what
/// was meant where that can be told.
pub fn idle(set: &[&Object], ignore: &[Ignore], health: &Rules) -> Vec<String> {
    let kinds: BTreeSet<(&str, &str)> =
        set.iter().map(|o| (o.gvk.group.as_str(), o.gvk.kind.as_str())).collect();
    let unused = ignore.iter().filter(|rule| !set.iter().any(|object| rule.matches(object)));
    let ignored = unused.map(|rule| {
        let meant = match &rule.group {
            // Any group is fine, so it is the kind, or what else the rule asks for.
            None if kinds.iter().any(|(_, kind)| *kind == rule.kind) => None,
            group => meant(&kinds, group.as_deref(), &rule.kind),
        };
        format!("`ignore` at {} matches no object{}", rule.origin, told(meant))
    });
    let unused =
        health.iter().filter(|rule| !kinds.contains(&(rule.group.as_str(), rule.kind.as_str())));
    let judged = unused.map(|rule| {
        let meant = meant(&kinds, Some(&rule.group), &rule.kind);
        format!("`health` at {} is about no object{}", rule.origin, told(meant))
    });
    ignored.chain(judged).collect()
}

fn told(meant: Option<String>) -> String {
    meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
}

/// The group of a kind that is there under another one; else the nearest kind.
fn meant(kinds: &BTreeSet<(&str, &str)>, group: Option<&str>, kind: &str) -> Option<String> {
    if let Some((other, _)) = kinds.iter().find(|(_, known)| *known == kind) {
        return (Some(*other) != group).then(|| match *other {
            "" => "no `group`: it is of the core group".to_owned(),
            other => format!("`group: {other}`"),
        });
    }
    let nearest = suggest::nearest(kind, kinds.iter().map(|(_, kind)| *kind))?;
    Some(format!("`kind: {nearest}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::health::{Expression, Rule};
    use crate::manifest::Origin;

    #[test]
    fn what_was_meant_is_told() {
        let object = |api_version: &str, kind: &str| {
            let value = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
            Object::new(value, Origin::default()).unwrap()
        };
        let set = [object("apps/v1", "Deployment"), object("v1", "Service")];
        let set: Vec<&Object> = set.iter().collect();
        let ignore = |group: Option<&str>, kind: &str, name: Option<&str>| Ignore {
            group: group.map(str::to_owned),
            kind: kind.into(),
            name: name.map(str::to_owned),
            namespace: None,
            select: None,
            paths: Vec::new(),
            origin: "mcd.yaml:3".into(),
        };
        let health = |group: &str, kind: &str| Rule {
            group: group.into(),
            kind: kind.into(),
            in_progress: None,
            failed: None,
            current: Expression::read("true").unwrap(),
            origin: "mcd.yaml:9".into(),
        };
        let ignores = [
            ignore(None, "Deployment", None),
            ignore(None, "Deploymnet", None),
            ignore(Some("extensions"), "Deployment", None),
            ignore(Some("core"), "Service", None),
            ignore(None, "Deployment", Some("other")),
            ignore(None, "Unheard", None),
        ];
        let rules = Rules::new([
            health("apps", "Deployment"),
            health("", "Deployment"),
            health("", "Servcie"),
            health("example.com", "Db"),
        ]);
        assert_eq!(
            idle(&set, &ignores, &rules),
            [
                "`ignore` at mcd.yaml:3 matches no object; did you mean `kind: Deployment`?",
                "`ignore` at mcd.yaml:3 matches no object; did you mean `group: apps`?",
                "`ignore` at mcd.yaml:3 matches no object; did you mean no `group`: it is of the \
                 core group?",
                "`ignore` at mcd.yaml:3 matches no object",
                "`ignore` at mcd.yaml:3 matches no object",
                "`health` at mcd.yaml:9 is about no object; did you mean `group: apps`?",
                "`health` at mcd.yaml:9 is about no object; did you mean `kind: Service`?",
                "`health` at mcd.yaml:9 is about no object",
            ]
        );
        assert_eq!(idle(&set, &ignores[..1], &Rules::default()), [""; 0]);
    }
}
