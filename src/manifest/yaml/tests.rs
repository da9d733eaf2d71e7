use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::error::Location;

fn values(text: &str) -> Vec<Value> {
    load(text, "f.yaml").unwrap().into_iter().map(|d| d.value).collect()
}

fn error(text: &str) -> String {
    let error = load(text, "f.yaml").unwrap_err();
    format!("{error}\n{}", error.location().map(|l| l.text.clone()).unwrap_or_default())
}

/// Where we differ from kubectl on purpose: the case, our answer (none: an error), the reason.
const DIFFERENCES: &[(&str, Option<&str>, &str)] = &[
    ("bool_key", None, "`on` and `yes` are both the key `true`: a key set twice"),
    ("dup_nested", None, "a key set twice; kubectl lets the last win"),
    ("dup_numstr", None, "`1` and `'1'` are one key; kubectl's choice is random"),
    ("deep", None, "150 levels; what nests so deep could not be read back from a server"),
    (
        "emoji",
        Some(r#"{"a":"😀","b":"😀","c":"😀"}"#),
        "JSON escapes of surrogate pairs are read, as kubectl reads them in JSON files",
    ),
    ("slash_esc", Some(r#"{"a":"a/b"}"#), "an escape of JSON, as kubectl reads it in JSON files"),
];

#[test]
fn manifests_mean_what_they_mean_to_kubectl() {
    let cases: Vec<(String, String)> =
        serde_json::from_str(include_str!("testdata/cases.json")).unwrap();
    let answers: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(include_str!("testdata/kubectl-answers.json")).unwrap();
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for (name, text) in &cases {
        let kubectl = &answers[name]["kubectl"];
        let expected = match DIFFERENCES.iter().find(|(case, ..)| case == name) {
            Some((_, ours, _)) => ours.map(str::to_owned),
            None => (!kubectl.starts_with("ERR")).then(|| kubectl.clone()),
        };
        let expected: Option<Vec<Value>> = expected
            .map(|docs| docs.split(" | ").filter(|d| !d.is_empty()).map(go_numbers).collect());
        let ours = load(text, name);
        let found = ours.as_ref().ok().map(|d| d.iter().map(|d| d.value.clone()).collect());
        if found != expected {
            wrong.push(format!("{name}: {found:?} ({:?}), expected {expected:?}", ours.err()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads Go's JSON as the API machinery does: a number that fits an integer is one.
fn go_numbers(json: &str) -> Value {
    fn fix(value: Value) -> Value {
        match value {
            Value::Number(n) if n.as_f64() == Some(0.0) => json!(0),
            Value::Array(items) => items.into_iter().map(fix).collect(),
            Value::Object(map) => map.into_iter().map(|(k, v)| (k, fix(v))).collect(),
            other => other,
        }
    }
    fix(serde_json::from_str(json).unwrap())
}

#[test]
fn integral_floats_are_integers_and_big_integers_exact() {
    let text = "a: 1e3\nb: 1.0\nc: 18446744073709551615\nd: -9223372036854775808\ne: 1e18\n\
                f: 12345678901234567890123\ng: 1.2345678901234567e18\nh: -0.0\n";
    assert_eq!(
        values(text)[0].to_string(),
        r#"{"a":1000,"b":1,"c":18446744073709551615,"d":-9223372036854775808,"e":1000000000000000000,"f":1.2345678901234568e+22,"g":1234567890123456800,"h":0}"#
    );
}

#[test]
fn merge_keys_follow_the_specification() {
    let text = "a: &a {k: 1, l: 1}\nb: &b {k: 2, m: 2}\nc:\n  k: 3\n  <<: [*a, *b]\nd:\n  <<: *b\n  \
                <<: *a\n";
    let value = &values(text)[0];
    assert_eq!(value["c"], json!({"k": 3, "l": 1, "m": 2}));
    assert_eq!(value["d"], json!({"k": 2, "l": 1, "m": 2}));
    assert!(error("a:\n  <<: 1\n").contains("f.yaml:2:7: `<<` takes a map or a list of maps"));
}

#[test]
fn documents_are_split_and_counted_as_users_do() {
    let text = "# head\n---\na: 1\n---\n\n--- # note\nb: 2\n---\n";
    let documents = load(text, "f.yaml").unwrap();
    let places: Vec<_> = documents.iter().map(|d| (d.index, d.line, d.value.clone())).collect();
    assert_eq!(places, [(1, 3, json!({"a": 1})), (2, 7, json!({"b": 2}))]);
    assert!(values("").is_empty());
    assert!(values("---\n---\n# x\n").is_empty());
    assert_eq!(
        values("\u{feff}---\r\na: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n"),
        [json!({"a": 1}), json!({"b": "x\ny\n"})]
    );
    assert_eq!(values("\u{feff}a: 1\n"), [json!({"a": 1})]);
    assert!(error("a: 1\n--- b\n").starts_with("f.yaml:2:1: a line that starts with `---`"));
    // Anchors do not reach over documents.
    assert!(error("a: &x 1\n---\nb: *x\n").starts_with("f.yaml:3:4: "));
}

#[test]
fn json_is_read_too() {
    assert_eq!(
        values("{\"a\": \"\\ud83d\\ude00 \\/\", \"b\": 1e2}"),
        [json!({"a": "😀 /", "b": 100})]
    );
    let documents = load("{\"a\": 1}\n{\"b\":\n 2}\n{\"c\": }", "f.json").map(|_| ()).unwrap_err();
    assert!(documents.to_string().starts_with("f.json:2:1"), "{documents}");
    let documents = load("{\"a\": 1}\n{\"b\":\n 2}\n", "f.json").unwrap();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1].value, json!({"b": 2}));
    assert_eq!(documents[1].spans.value("/b").line, 3);
}

#[test]
fn every_node_has_a_place() {
    let text =
        "---\nname: x\nwaves:\n- {name: a, m: 1}\n- name: b\n  a/b~c: &k\n    z: 1\nalias: *k\n";
    let document = load(text, "dir/f.yaml").unwrap().remove(0);
    let spans = &document.spans;
    let at = |l: Location| (l.line, l.column, l.text);
    assert_eq!(at(spans.value("")), (2, 1, "name: x".into()));
    assert_eq!(at(spans.key("/name")), (2, 1, "name: x".into()));
    assert_eq!(at(spans.value("/name")), (2, 7, "name: x".into()));
    assert_eq!(at(spans.value("/waves/0/m")), (4, 16, "- {name: a, m: 1}".into()));
    assert_eq!(at(spans.key("/waves/1/name")), (5, 3, "- name: b".into()));
    let path = pointer(["waves", "1", "a/b~c", "z"]);
    assert_eq!(at(spans.value(&path)), (7, 8, "    z: 1".into()));
    // What does not exist, or an alias brought in, is where its nearest ancestor is.
    assert_eq!(spans.value("/waves/1/none/none").line, 5);
    assert_eq!(at(spans.key("/alias/z")), (8, 1, "alias: *k".into()));
    assert_eq!(spans.key("/waves/9").line, 3);
    assert_eq!(spans.key("").to_string(), "dir/f.yaml:2:1");
}

#[test]
fn errors_say_where_and_show_the_line() {
    let texts = [
        "a: 1\nb: [1\nc: 2\n",
        "a:\n\tb: 1\n",
        "a: 1\n  b: 2\n",
        "a: 'x\n",
        "a: *x\n",
        "a: &x [*x]\n",
        "m:\n  a: 1\n  a: 2\n",
        "a: .inf\n",
        "a: !!int x\n",
        "a: {{ .Values.x }}\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: @x\n",
        "a: \u{0}\n",
    ];
    let all: Vec<_> = texts.iter().map(|t| format!("{:?}\n{}", t, error(t))).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn lines_of_a_secret_are_not_shown() {
    for text in [
        "kind: Secret\nstringData:\n  a: hunter2: x\n",
        "{\"kind\": \"Secret\", \"stringData\": {\"a\": hunter2\"}, ]",
        "stringData:\n  a: !!int hunter2\nkind: 'Secret'\n",
        "apiVersion: v1\nkind: SecretList\nitems: [hunter2",
    ] {
        let error = load(text, "f.yaml").unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        assert!(error.location().is_some());
    }
    let spans = load("kind: Secret\na: hunter2\n", "f").unwrap().remove(0).spans;
    assert_eq!(spans.value("/a").text, "");
    for text in ["kind: SecretStore\na: 'x\n", "kind: ExternalSecret\na: 'x\n"] {
        assert!(!load(text, "f").unwrap_err().location().unwrap().text.is_empty());
    }
}

#[test]
fn nesting_is_bounded_for_good() {
    let deep = |n: usize| format!("a: {}{}", "[".repeat(n), "]".repeat(n));
    assert_eq!(values(&deep(118)).len(), 1);
    for n in [120, 1000, 100_000] {
        assert!(error(&deep(n)).contains("120 levels"), "{}", error(&deep(n)));
    }
    let block: String = (0..2000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert!(load(&block, "f").is_err());
    assert!(load(&"- ".repeat(100_000), "f").is_err());
    // Aliases cannot stack what each anchor alone may nest.
    let mut chain = String::from("a0: &a0 [1]\n");
    for i in 1..1000 {
        chain.push_str(&format!("a{i}: &a{i} [[[[*a{}]]]]\n", i - 1));
    }
    assert!(error(&chain).contains("120 levels"));
    // What is read can be read back, in the frame that a server's LIST puts around it.
    let json = format!("{{\"items\":[{}]}}", values(&deep(118))[0]);
    assert!(serde_json::from_str::<Value>(&json).is_ok());
}

#[test]
fn aliases_are_bounded() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for i in 1..12 {
        let list = vec![format!("*a{}", i - 1); 9].join(", ");
        laughs.push_str(&format!("a{i}: &a{i} [{list}]\n"));
    }
    assert!(error(&laughs).contains("anchors and aliases expand to more than 16 MiB"));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 1000].join(", "));
    assert!(error(&long).contains("16 MiB"));
    // A thousand uses of a small anchor are usual.
    let usual = format!("a: &a {{x: 1, y: 2}}\nb: [{}]\n", vec!["*a"; 1000].join(", "));
    assert_eq!(values(&usual).len(), 1);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[-a-z0-9:{}\\[\\]&*!|>'\"%@`#,? \\n\\t\u{feff}é\\x00\\r.<~]{0,80}") {
        let _ = load(&text, "f");
    }

    #[test]
    fn json_reads_as_serde_json_reads_it(value in json_value()) {
        let found = load(&value.to_string(), "f").unwrap();
        if value.is_null() {
            proptest::prop_assert!(found.is_empty());
        } else {
            proptest::prop_assert_eq!(&found[0].value, &value);
        }
    }
}

/// Any JSON whose numbers are integers or have a fraction, and whose strings are any text.
pub(in crate::manifest) fn json_value() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1_000_000i32..1_000_000).prop_map(|n| Value::from(f64::from(n) + 0.5)),
        any::<String>().prop_map(Value::from),
        "[ -~\\n\\t]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-z./~]{0,8}|\\PC{0,8}", inner, 0..6)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}
