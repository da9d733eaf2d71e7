//! `ignore:` of the application file: fields of objects that are left to others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::selector::{Expression, Operator, matcher};
use super::settings::Checker;
use crate::manifest::Object;
use crate::ownership::{FieldPath, Segment};

/// Fields that are left to others: they are sent when an object is created, and from then on
/// neither sent, nor compared, nor owned.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
#[schemars(rename = "Ignore")]
pub(crate) struct IgnoreEntry {
    /// The API group of the objects; empty for the core group. Default: any.
    pub(crate) group: Option<String>,
    /// Their kind, with `*`, `?`, `[…]` and `{a,b}` as in a shell.
    pub(crate) kind: String,
    /// Their name, with the same. Default: any.
    pub(crate) name: Option<String>,
    /// Their namespace. Default: any.
    pub(crate) namespace: Option<String>,
    /// The labels of their manifests. Default: any.
    pub(crate) select: Option<LabelSelector>,
    /// The fields, as the API server prints them in conflicts: `.spec.replicas`,
    /// `.metadata.annotations["example.com/a"]`,
    /// `.spec.template.spec.containers[name="web"].image`. All below one is ignored with it.
    pub(crate) paths: Vec<String>,
}

/// Which objects, by their labels. All that is there has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a map")]
pub struct LabelSelector {
    /// Labels that the object has.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Further conditions on labels.
    #[serde(default)]
    pub expressions: Vec<Expression>,
}

/// Fields of some objects that are left to others, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// The API group; none: any.
    pub group: Option<String>,
    /// The kind, a glob.
    pub kind: String,
    /// The name, a glob; none: any.
    pub name: Option<String>,
    /// The namespace; none: any.
    pub namespace: Option<String>,
    /// The labels; none: any.
    pub select: Option<LabelSelector>,
    /// The fields.
    pub paths: Vec<FieldPath>,
    /// `file:line` of the rule.
    pub origin: String,
}

impl Ignore {
    /// Whether the rule is about an object, whose namespace is resolved.
    pub fn matches(&self, object: &Object) -> bool {
        let id = &object.id;
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|w| w == found);
        // Globs that cannot be read were reported.
        let like = |glob: &str, text: &str| matcher(glob).is_ok_and(|m| m.is_match(text));
        is(&self.group, &id.group)
            && is(&self.namespace, id.namespace.as_deref().unwrap_or_default())
            && like(&self.kind, &id.kind)
            && self.name.as_ref().is_none_or(|name| like(name, &id.name))
            && self.select.as_ref().is_none_or(|select| {
                let labels = object.value["metadata"]["labels"].as_object().into_iter().flatten();
                let labels: BTreeMap<String, String> = labels
                    .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                    .collect();
                select.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
                    && select.expressions.iter().all(|expression| expression.matches(&labels))
            })
    }
}

impl Ignore {
    /// The fields of an object that the rule is about. Of a Secret `stringData` is folded into
    /// `data` when it is read, as the server does.
    pub fn paths_of(&self, object: &Object) -> Vec<FieldPath> {
        let folded = |path: &FieldPath| match path.segments() {
            [Segment::Field(first), rest @ ..]
                if object.id.is_secret() && first == "stringData" =>
            {
                rest.iter().fold(FieldPath::fields(&["data"]), |path, s| path.join(s.clone()))
            }
            _ => path.clone(),
        };
        self.paths.iter().map(folded).collect()
    }
}

impl Checker<'_> {
    /// The rules of `ignore:`: globs and paths that can be read, and that may be ignored.
    pub(crate) fn ignore(&mut self, entries: Vec<IgnoreEntry>) -> Vec<Ignore> {
        let mut rules = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let globs = [("kind", Some(&entry.kind)), ("name", entry.name.as_ref())];
            for (key, glob) in globs.into_iter().filter_map(|(key, glob)| Some((key, glob?))) {
                let at = ["ignore", index.as_str(), key];
                if glob.is_empty() {
                    self.fail_hint(&at, format!("`{key}` is empty"), "`*` is any");
                } else if let Err(error) = matcher(glob) {
                    self.fail(&at, error.message().to_owned());
                }
            }
            for (n, expression) in
                entry.select.iter().flat_map(|select| &select.expressions).enumerate()
            {
                let takes_values = matches!(expression.operator, Operator::In | Operator::NotIn);
                if takes_values == expression.values.is_empty() {
                    let needs =
                        if takes_values { "needs at least one value" } else { "takes no values" };
                    self.fail(
                        &["ignore", &index, "select", "expressions", &n.to_string(), "values"],
                        format!("the operator `{:?}` {needs}", expression.operator),
                    );
                }
            }
            if entry.paths.is_empty() {
                self.fail_hint(
                    &["ignore", &index, "paths"],
                    "`paths` is empty",
                    "name fields, such as `.spec.replicas`; `mcd.dev/apply: ignore` on an object ignores all of it",
                );
            }
            let mut paths = Vec::with_capacity(entry.paths.len());
            for (n, text) in entry.paths.iter().enumerate() {
                match ignorable(text) {
                    Ok(path) => paths.push(path),
                    Err((message, hint)) => {
                        self.fail_hint(&["ignore", &index, "paths", &n.to_string()], message, hint);
                    }
                }
            }
            let mark = &self.node.nearest(&["ignore", &index]).mark;
            rules.push(Ignore {
                group: entry.group,
                kind: entry.kind,
                name: entry.name,
                namespace: entry.namespace,
                select: entry.select,
                paths,
                origin: format!("{}:{}", mark.source.name, mark.line),
            });
        }
        rules
    }
}

/// Reads a path that may be ignored; else what is wrong with it, and what to write.
fn ignorable(text: &str) -> Result<FieldPath, (String, String)> {
    const FORM: &str = "write it as the API server does: `.spec.replicas`, \
                        `.metadata.annotations[\"example.com/a\"]`, \
                        `.spec.template.spec.containers[name=\"web\"].image`";
    let no_path = |hint: String| Err((format!("`{text}` is no field path"), hint));
    if let Some(pointer) = text.strip_prefix('/') {
        let steps = pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
        let steps: Vec<String> = steps
            .map(|step| match step.contains('.') {
                true => format!("[\"{step}\"]"),
                false => format!(".{step}"),
            })
            .collect();
        let meant = steps.concat();
        let listed = pointer.split('/').any(|step| step.parse::<u64>().is_ok());
        return no_path(if listed { FORM.to_owned() } else { format!("did you mean `{meant}`?") });
    }
    if !text.starts_with('.') {
        let meant = format!(".{}", text.trim_start_matches("$."));
        return no_path(match FieldPath::parse(&meant) {
            Some(_) if !text.is_empty() => format!("did you mean `{meant}`?"),
            _ => FORM.to_owned(),
        });
    }
    let Some(path) = FieldPath::parse(text) else { return no_path(FORM.to_owned()) };
    if path.segments().iter().any(|s| matches!(s, Segment::Index(_))) {
        return Err((
            format!("`{text}` names an item of a list by its place"),
            "name it by its key: `.spec.template.spec.containers[name=\"web\"].image`".to_owned(),
        ));
    }
    let names: Vec<&str> = path
        .segments()
        .iter()
        .map_while(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    match names.as_slice() {
        ["status", ..] => Err((
            format!("`{text}` is never applied"),
            "leave it out: what is in `status` is neither sent nor compared".to_owned(),
        )),
        ["metadata"] | ["metadata", "labels"] | ["metadata", "labels", "mcd.dev/app"] => Err((
            format!("`{text}` cannot be ignored"),
            "by the label `mcd.dev/app` the objects of the application are found; name the labels \
             or annotations that are meant: `.metadata.labels[\"example.com/a\"]`"
                .to_owned(),
        )),
        ["apiVersion" | "kind"] | ["metadata", "name" | "namespace"] => Err((
            format!("`{text}` cannot be ignored"),
            "it says which object it is; `mcd.dev/apply: ignore` on an object ignores all of it"
                .to_owned(),
        )),
        _ => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Origin;

    #[test]
    fn paths_as_the_server_prints_them_and_what_is_none() {
        for text in [
            ".spec.replicas",
            ".metadata.annotations[\"example.com/a.b\"]",
            ".metadata.annotations.example.com/a",
            ".metadata.labels.team",
            ".spec.template.spec.containers[name=\"web\"].image",
            ".spec.ports[port=80,protocol=\"TCP\"].nodePort",
            ".metadata.finalizers[=\"example.com/x\"]",
            ".spec",
        ] {
            assert!(ignorable(text).is_ok(), "{text}");
        }
        let cases = [
            ("spec.replicas", "no field path", "did you mean `.spec.replicas`?"),
            ("$.spec.replicas", "no field path", "did you mean `.spec.replicas`?"),
            ("/spec/replicas", "no field path", "did you mean `.spec.replicas`?"),
            (
                "/metadata/annotations/example.com~1a",
                "no field path",
                "did you mean `.metadata.annotations[\"example.com/a\"]`?",
            ),
            ("/spec/containers/0/image", "no field path", "containers[name="),
            ("", "no field path", "as the API server does"),
            (".spec..replicas", "no field path", "as the API server does"),
            (".spec.containers[*].image", "no field path", "containers[name="),
            (".spec.containers[0].image", "by its place", "containers[name="),
            (".status", "never applied", "leave it out"),
            (".status.replicas", "never applied", "leave it out"),
            (".metadata", "cannot be ignored", "mcd.dev/app"),
            (".metadata.labels", "cannot be ignored", "mcd.dev/app"),
            (".metadata.labels[\"mcd.dev/app\"]", "cannot be ignored", "mcd.dev/app"),
            (".kind", "cannot be ignored", "mcd.dev/apply: ignore"),
            (".metadata.name", "cannot be ignored", "mcd.dev/apply: ignore"),
        ];
        for (text, message, hint) in cases {
            let (said, next) = ignorable(text).unwrap_err();
            assert!(said.contains(message), "{text}: {said}");
            assert!(next.contains(hint), "{text}: {next}");
        }
    }

    #[test]
    fn which_objects_a_rule_is_about() {
        let value = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web-eu", "namespace": "shop", "labels": {"app": "web"}},
        });
        let object = Object::new(value, Origin::default()).unwrap();
        let any = Ignore {
            group: None,
            kind: "*".into(),
            name: None,
            namespace: None,
            select: None,
            paths: Vec::new(),
            origin: String::new(),
        };
        let select = |key: &str, value: &str| {
            let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            Some(LabelSelector { labels, expressions: Vec::new() })
        };
        let some = |text: &str| Some(text.to_owned());
        let rules = [
            (any.clone(), true),
            (Ignore { kind: "Deployment".into(), name: some("web-*"), ..any.clone() }, true),
            (Ignore { kind: "StatefulSet".into(), ..any.clone() }, false),
            (Ignore { kind: "{Deployment,StatefulSet}".into(), ..any.clone() }, true),
            (Ignore { group: some("apps"), namespace: some("shop"), ..any.clone() }, true),
            (Ignore { group: some(""), ..any.clone() }, false),
            (Ignore { namespace: some("other"), ..any.clone() }, false),
            (Ignore { name: some("web"), ..any.clone() }, false),
            (Ignore { select: select("app", "web"), ..any.clone() }, true),
            (Ignore { select: select("app", "db"), ..any.clone() }, false),
            (Ignore { select: select("tier", "web"), ..any }, false),
        ];
        for (rule, expected) in rules {
            assert_eq!(rule.matches(&object), expected, "{rule:?}");
        }
    }

    #[test]
    fn what_is_written_as_a_text_is_data() {
        let object = |kind: &str| {
            let value = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}});
            Object::new(value, Origin::default()).unwrap()
        };
        let rule = Ignore {
            group: None,
            kind: "*".into(),
            name: None,
            namespace: None,
            select: None,
            paths: vec![ignorable(".stringData.token").unwrap(), ignorable(".data.a").unwrap()],
            origin: String::new(),
        };
        let said = |kind: &str| {
            rule.paths_of(&object(kind)).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(said("Secret"), [".data.token", ".data.a"]);
        assert_eq!(said("ConfigMap"), [".stringData.token", ".data.a"]);
    }
}
