//! Two targets side by side: the document of `mcd compare`, and its text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::diff::field_lines;
use super::model::{ErrorReport, ObjectReference};
use super::plan::{name, plural};
use crate::cluster::state::APP_LABEL;
use crate::diff::{ObjectDiff, object_diff};
use crate::manifest::ObjectId;
use crate::plan::CONFIG_HASH;
use crate::ui::{Look, Role};

/// What `mcd compare -o json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompareReport {
    /// `mcd.dev/compare/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// `release`: as it was rendered; `live`: as it is in the clusters.
    pub of: String,
    /// The first target.
    pub a: SideReport,
    /// The second one.
    pub b: SideReport,
    /// Each object that differs, or that only one of them has.
    pub objects: Vec<ComparedReport>,
    /// How many objects are equal.
    pub equal: usize,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// One of the two targets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SideReport {
    /// The target.
    pub target: String,
    /// The kubeconfig context.
    pub context: String,
    /// Its namespace. What is in it in one target is compared with what is in the other's.
    pub namespace: String,
    /// The active release; absent when it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<u64>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
}

/// An object that is not the same in both.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedReport {
    /// The object; without a namespace where it is in the target's own.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// `differs`, `onlyA` or `onlyB`.
    pub state: String,
    /// Field by field, where it differs; values of Secrets are masked.
    pub fields: Vec<ComparedField>,
    #[serde(skip)]
    diff: ObjectDiff,
}

/// A field that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedField {
    /// The path as the API server prints it.
    pub path: String,
    /// The value in the first target; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Value>,
    /// The value in the second target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Value>,
}

/// Compares the objects of two targets, each with its namespace: what is in it counts as the same
/// place. Answers what is not the same, and how many objects are. Pure.
pub fn compared(
    (a, of_a): (&[(ObjectId, Value)], &str),
    (b, of_b): (&[(ObjectId, Value)], &str),
) -> (Vec<ComparedReport>, usize) {
    let of_b: Vec<(ObjectId, Value)> = b.iter().map(|(id, v)| neutral(id, v, of_b)).collect();
    let mut rest: BTreeMap<&ObjectId, &Value> = of_b.iter().map(|(id, v)| (id, v)).collect();
    let mut found = Vec::new();
    let mut equal = 0;
    let report = |id: &ObjectId, state: &str, diff: ObjectDiff| {
        let both = state == "differs";
        let fields = diff.changes.iter().filter(|_| both).map(|change| ComparedField {
            path: change.path.to_string(),
            a: change.before.clone(),
            b: change.after.clone(),
        });
        ComparedReport {
            object: id.into(),
            state: state.to_owned(),
            fields: fields.collect(),
            diff,
        }
    };
    for (id, value) in a.iter().map(|(id, value)| neutral(id, value, of_a)) {
        let other = rest.remove(&id);
        let diff = object_diff(&id, Some(&value), other);
        match other {
            Some(_) if diff.is_empty() => equal += 1,
            Some(_) => found.push(report(&id, "differs", diff)),
            None => found.push(report(&id, "onlyA", diff)),
        }
    }
    for (id, value) in of_b.iter().filter(|(id, _)| rest.contains_key(id)) {
        found.push(report(id, "onlyB", object_diff(id, None, Some(value))));
    }
    (found, equal)
}

/// The object without what is another one in each target by itself: the target's own namespace, the
/// application's label, and the hash that is keyed with the target's key.
fn neutral(id: &ObjectId, value: &Value, namespace: &str) -> (ObjectId, Value) {
    let (mut id, mut value) = (id.clone(), value.clone());
    let own = id.namespace.as_deref() == Some(namespace);
    if own {
        id.namespace = None;
    }
    let mut drop = |pointer: &str, key: &str| {
        if let Some(map) = value.pointer_mut(pointer).and_then(Value::as_object_mut) {
            map.remove(key);
        }
    };
    if own {
        drop("/metadata", "namespace");
    }
    drop("/metadata/labels", APP_LABEL);
    drop("/spec/template/metadata/annotations", CONFIG_HASH);
    (id, value)
}

/// The comparison as text.
pub fn text(report: &CompareReport, look: Look) -> String {
    let mut text = String::new();
    let (a, b) = (&report.a, &report.b);
    let width = a.target.chars().count().max(b.target.chars().count());
    let release =
        |side: &SideReport| side.release.map(|n| format!("release {n}")).unwrap_or_default();
    let wide = release(a).chars().count().max(release(b).chars().count());
    for (mark, role, side) in [("---", Role::Remove, a), ("+++", Role::Add, b)] {
        let (target, release, namespace) = (&side.target, release(side), &side.namespace);
        let line = format!("{mark} {target:<width$}  {release:<wide$}  {namespace}");
        let _ = writeln!(text, "{}", look.paint(role, &line));
    }
    for object in &report.objects {
        let head = name(&object.object);
        let (mark, role, note) = match object.state.as_str() {
            "onlyA" => ("-", Role::Remove, format!("  (only in {})", a.target)),
            "onlyB" => ("+", Role::Add, format!("  (only in {})", b.target)),
            _ => ("~", Role::Warn, String::new()),
        };
        let _ = writeln!(text, "{}{note}", look.paint(role, &format!("{mark} {head}")));
        if object.state == "differs" {
            text += &field_lines(&object.diff, look);
        }
    }
    text
}

/// `2 objects differ, 5 are equal`.
pub fn summary(report: &CompareReport) -> String {
    let differ = report.objects.len();
    match (differ, report.equal) {
        (0, n) => format!("no differences in {}", plural(n, "object")),
        (1, n) => format!("1 object differs, {n} equal"),
        (m, n) => format!("{m} objects differ, {n} equal"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::{Object, Origin};

    fn objects(values: &[Value]) -> Vec<(ObjectId, Value)> {
        let object = |v: &Value| Object::new(v.clone(), Origin::default()).unwrap();
        values.iter().map(object).map(|o| (o.id, o.value)).collect()
    }

    fn map(name: &str, namespace: &str, value: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": value}, "metadata": {
            "name": name, "namespace": namespace, "labels": {"mcd.dev/app": namespace}}})
    }

    #[test]
    fn what_differs_besides_the_namespace() {
        let secret = |namespace: &str, value: &str| {
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"password": value},
                "metadata": {"name": "s", "namespace": namespace}})
        };
        let a = objects(&[
            map("same", "east", "x"),
            map("other", "east", "x"),
            map("old", "east", "x"),
            secret("east", "aHVudGVyMg=="),
            map("fixed", "kube-system", "x"),
        ]);
        let b = objects(&[
            map("new", "west", "x"),
            map("other", "west", "y"),
            secret("west", "aHVudGVyMw=="),
            map("same", "west", "x"),
            map("fixed", "kube-system", "x"),
        ]);
        let (objects, equal) = compared((&a, "east"), (&b, "west"));
        // The label of what is elsewhere is each application's own too.
        assert_eq!(equal, 2);
        let side = |target: &str, release| SideReport {
            target: target.into(),
            context: target.into(),
            namespace: target.into(),
            release: Some(release),
            error: None,
        };
        let report = CompareReport {
            schema: "mcd.dev/compare/v1".into(),
            application: "web".into(),
            of: "release".into(),
            a: side("east", 3),
            b: side("west", 12),
            objects,
            equal,
            exit_code: 1,
        };
        insta::assert_snapshot!(text(&report, Look::default()), @r"
        --- east  release 3   east
        +++ west  release 12  west
        ~ ConfigMap other
            .data.a  x → y
        - ConfigMap old  (only in east)
        ~ Secret s
            .data.password  *** (before) → *** (after)
        + ConfigMap new  (only in west)
        ");
        assert_eq!(summary(&report), "4 objects differ, 2 equal");
        let document = serde_json::to_string(&report).unwrap();
        assert!(!document.contains("aHVudGVy"), "{document}");
        assert_eq!(
            serde_json::to_value(&report.objects[0]).unwrap(),
            json!({
                "kind": "ConfigMap", "name": "other", "state": "differs",
                "fields": [{"path": ".data.a", "a": "x", "b": "y"}],
            })
        );
    }
}
