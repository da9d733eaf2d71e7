use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::diff::object_diff;

fn id(kind: &str) -> ObjectId {
    ObjectId {
        group: if kind == "Deployment" { "apps".into() } else { String::new() },
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: "web".into(),
    }
}

fn look(color: bool, width: Option<usize>) -> Look {
    Look { color, width }
}

fn shown(
    kind: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    structural: bool,
    look: Look,
) -> String {
    let view = View { context: 2, structural, wanted: "manifest" };
    let diff = object_diff(&id(kind), before, after);
    difference(&id(kind), &diff, view, look).replace('\x1b', "^")
}

fn deployment(tag: &str, env: &[(&str, &str)], hash: &str) -> Value {
    let env: Vec<Value> = env.iter().map(|(n, v)| json!({"name": n, "value": v})).collect();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 3,
            "template": {
                "metadata": {"annotations": {CONFIG_HASH: hash}},
                "spec": {"containers": [
                    {"name": "proxy", "image": "proxy:1"},
                    {"name": "web", "image": format!("registry.example.com/web:{tag}"), "env": env,
                     "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                ]},
            },
        },
    })
}

fn both() -> (Value, Value) {
    let before = deployment("1.4.1", &[("MODE", "prod"), ("LEVEL", "info")], "aaaa");
    let after = deployment("1.4.2", &[("FIRST", "1"), ("MODE", "prod"), ("LEVEL", "info")], "bbbb");
    (before, after)
}

/// Issue K33: by position, a first variable would change all after it.
#[test]
fn a_first_variable_is_one_line() {
    let (before, after) = both();
    assert_snapshot!(shown("Deployment", Some(&before), Some(&after), true, look(false, None)));
}

#[test]
fn unified_says_where() {
    let (before, after) = both();
    assert_snapshot!(shown("Deployment", Some(&before), Some(&after), false, look(false, None)));
}

#[test]
fn unified_in_colour() {
    let (before, after) = both();
    let text = shown("Deployment", Some(&before), Some(&after), false, look(true, Some(80)));
    assert!(text.contains("^[31m-"), "{text}");
    assert!(text.contains("^[32m+        - name: FIRST^[0m"), "{text}");
    assert!(!text.contains("aaaa") && !text.contains("bbbb"), "keyed hashes are not shown: {text}");
}

/// Targets have keys of their own: what differs in the hash alone is one group.
#[test]
fn targets_that_differ_in_the_hash_alone_read_the_same() {
    let (before, _) = both();
    for structural in [false, true] {
        let to = |hash: &str| {
            let after = deployment("1.4.1", &[("MODE", "prod"), ("LEVEL", "info")], hash);
            shown("Deployment", Some(&before), Some(&after), structural, look(false, None))
        };
        assert_eq!(to("bbbb"), to("cccc"));
        assert!(to("bbbb").contains("keyed hash"));
    }
}

fn config(file: &str, extra: Value) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "shop"},
        "data": {"app.conf": file},
    });
    for (key, value) in extra.as_object().into_iter().flatten() {
        object["data"][key] = value.clone();
    }
    object
}

/// Nobody sees a blank at the end of a line, in neither view.
#[test]
fn a_blank_at_the_end_of_a_line_is_seen() {
    let (before, after) = (config("a\nb\n", json!({})), config("a\nb \n", json!({})));
    for structural in [false, true] {
        let text = shown("ConfigMap", Some(&before), Some(&after), structural, look(false, None));
        assert!(text.contains("b·"), "{text}");
    }
}

fn files() -> (Value, Value) {
    let lines = |changed: &str| -> String {
        (1..40)
            .map(|n| if n == 20 { format!("{changed}\n") } else { format!("line {n}\n") })
            .collect()
    };
    let long =
        |middle: &str| format!("{{\"a\": \"{}{middle}{}\"}}", "x".repeat(300), "y".repeat(300));
    let before = config(
        &lines("level = info"),
        json!({"dashboard.json": long("old"), "port": "80", "blank": "a b", "gone": "one\ntwo\n"}),
    );
    let after = config(
        &lines("level = debug\nformat = json"),
        json!({"dashboard.json": long("new"), "port": "8080", "blank": "a  b", "note": "yes"}),
    );
    (before, after)
}

#[test]
fn files_are_compared_line_by_line_and_long_values_are_elided() {
    let (before, after) = files();
    assert_snapshot!(shown("ConfigMap", Some(&before), Some(&after), true, look(false, Some(80))));
}

#[test]
fn files_in_unified_text() {
    let (before, after) = files();
    assert_snapshot!(shown("ConfigMap", Some(&before), Some(&after), false, look(false, Some(80))));
    // A pipe gets all of it.
    let text = shown("ConfigMap", Some(&before), Some(&after), false, look(false, None));
    assert!(text.contains(&format!("{}new{}", "x".repeat(300), "y".repeat(300))));
}

#[test]
fn new_and_gone_and_reordered() {
    let object = config("a\nb\n", json!({"n": "1"}));
    assert_snapshot!(shown("ConfigMap", None, Some(&object), true, look(false, None)));
    assert_snapshot!(shown("ConfigMap", Some(&object), None, true, look(false, None)));
    let before = deployment("1", &[("A", "1"), ("B", "2")], "h");
    let after = deployment("1", &[("B", "2"), ("A", "1")], "h");
    assert_snapshot!(shown("Deployment", Some(&before), Some(&after), true, look(false, None)));
    // Nothing of a hunk's place where there is one side.
    let text = shown("ConfigMap", None, Some(&object), false, look(false, None));
    assert!(text.contains("@@ -0,0 +1,10 @@\n"), "{text}");
}

#[test]
fn a_secret_shows_that_it_changes_and_not_what() {
    let secret = |password: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web", "namespace": "shop"},
            "data": {"password": password, "same": "c2FtZQ=="}})
    };
    let (before, after) = (secret("aHVudGVyMg=="), secret("aHVudGVyMw=="));
    let text = shown("Secret", Some(&before), Some(&after), true, look(false, None));
    assert_eq!(text, "~ Secret shop/web\n    .data.password  *** (before) → *** (after)\n");
}

#[test]
fn values_that_could_be_taken_for_others_are_quoted() {
    for (value, wanted) in [
        (json!("1"), "\"1\""),
        (json!(1), "1"),
        (json!("true"), "\"true\""),
        (json!(true), "true"),
        (json!(""), "\"\""),
        (json!(" a"), "\" a\""),
        (json!("a\tb"), "\"a\\tb\""),
        (json!("web:1.2"), "web:1.2"),
        (json!({"a": 1}), "{\"a\":1}"),
        (json!(null), "null"),
    ] {
        assert_eq!(scalar(&value), wanted);
    }
}
