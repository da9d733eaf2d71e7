use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{FieldPath, FieldSet, Literal, Segment, remove_path};
use super::{field_set, path};

/// What a 1.36 API server wrote for a Deployment, an Ingress-like list, a set and an odd step.
fn from_server() -> Value {
    json!({
        "f:metadata": {
            "f:annotations": {".": {}, "f:example.com/a.b": {}},
            "f:finalizers": {".": {}, "v:\"x/y\"": {}},
            "f:labels": {}
        },
        "f:spec": {
            "f:replicas": {},
            "f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"c\"}": {
                    ".": {}, "f:name": {}, "f:image": {},
                    "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}
                }
            }}}
        },
        "f:x": {"i:0": {}, "q:new": {"f:a": {}}}
    })
}

#[test]
fn fields_v1_comes_back_as_it_was() {
    let set = FieldSet::from_json(&from_server());
    assert_eq!(set.to_json(), from_server());
    let text: Vec<String> = set.leaves().iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            ".metadata.annotations[\"example.com/a.b\"]",
            ".metadata.finalizers[=\"x/y\"]",
            ".metadata.labels",
            ".spec.replicas",
            ".spec.template.spec.containers[name=\"c\"].image",
            ".spec.template.spec.containers[name=\"c\"].name",
            ".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"].containerPort",
            ".x[0]",
            ".x[?q:new].a",
        ]
    );
    assert_eq!(set.paths().len(), 13);
}

#[test]
fn garbage_is_no_field() {
    for garbage in [json!(null), json!("x"), json!([1]), json!({}), json!(7)] {
        assert!(FieldSet::from_json(&garbage).is_empty(), "{garbage}");
    }
    // A key list that is no JSON is kept, not lost.
    let odd = json!({"k:{": {}, "v:": {}, "f": {}, "é": {}});
    assert_eq!(FieldSet::from_json(&odd).to_json(), odd);
}

#[test]
fn sets_know_what_they_hold() {
    let set = FieldSet::from_json(&from_server());
    let image = path(".spec.template.spec.containers[name=\"c\"].image");
    assert!(set.contains(&image) && set.covers(&image));
    assert!(set.contains(&path(".spec.template.spec.containers[name=\"c\"]")));
    assert!(!set.contains(&path(".spec.template")), "a struct is no member");
    assert!(!set.contains(&path(".spec.template.spec.containers[name=\"d\"].image")));
    // `labels: {}` is owned whole.
    assert!(set.covers(&path(".metadata.labels.app")));
    assert!(!set.contains(&path(".metadata.labels.app")));
    assert!(!set.covers(&path(".metadata.annotations.other")));
    // Exact for names with dots, which parsing can only guess.
    let odd = FieldSet::from_json(&json!({"f:spec": {"f:weird": {"f:a.b/c": {}}}}));
    let found = odd.find(".spec.weird.a.b/c").expect("it is there");
    assert!(odd.contains(&found));
    assert_eq!(found.segments().len(), 3);
    assert_eq!(odd.find(".spec.weird"), None);
    assert_eq!(odd.find(".spec.weird.a"), None);
}

#[test]
fn paths_are_read_as_the_server_prints_them() {
    for text in [
        ".spec.replicas",
        ".spec.template.spec.containers[name=\"c\"].image",
        ".spec.ports[port=53,protocol=\"UDP\"].targetPort",
        ".metadata.finalizers[=\"a.b/c\"]",
        ".spec.list[3].x",
        ".metadata.labels[\"app.kubernetes.io/name\"]",
        ".data[\"key.with.dots\"]",
        ".spec.containers[name=\"we\\\"ird]\"].image",
    ] {
        assert_eq!(path(text).to_string(), text);
    }
    // Bare names with dots, as the server prints them, are read and written one way.
    let bare = path(".metadata.labels.app.kubernetes.io/name");
    assert_eq!(bare.segments().len(), 3);
    assert_eq!(bare.to_string(), ".metadata.labels[\"app.kubernetes.io/name\"]");
    assert_eq!(
        path(".metadata.annotations[\"a.b/c\"]"),
        FieldPath::fields(&["metadata", "annotations", "a.b/c"])
    );
    assert_eq!(path("[0]").segments(), [Segment::Index(0)]);
    for wrong in
        ["", "spec", ".", "..", ".spec.", ".spec[", ".spec[]", ".spec[name]", ".a[=\"x\"", "[\"a]"]
    {
        assert_eq!(FieldPath::parse(wrong), None, "{wrong}");
    }
    let json = serde_json::to_string(&path(".spec.replicas")).expect("serialises");
    assert_eq!(json, "\".spec.replicas\"");
    assert_eq!(serde_json::from_str::<FieldPath>(&json).expect("reads"), path(".spec.replicas"));
    assert!(serde_json::from_str::<FieldPath>("\"spec\"").is_err());
}

#[test]
fn values_are_found_by_keys() {
    let mut object = json!({"spec": {
        "ports": [{"port": 53, "protocol": "UDP", "n": 1}, {"port": 53.0, "protocol": "TCP", "n": 2}],
        "set": ["a", "b"], "list": [[1], [2]]
    }});
    let got = |object: &Value, text: &str| path(text).get(object).cloned();
    assert_eq!(got(&object, ".spec.ports[port=53,protocol=\"TCP\"].n"), Some(json!(2)));
    assert_eq!(got(&object, ".spec.ports[port=53,protocol=\"SCTP\"]"), None);
    assert_eq!(got(&object, ".spec.set[=\"b\"]"), Some(json!("b")));
    assert_eq!(got(&object, ".spec.set[=\"c\"]"), None);
    assert_eq!(got(&object, ".spec.list[1][0]"), Some(json!(2)));
    assert_eq!(got(&object, ".spec.list[9]"), None);
    assert_eq!(got(&object, ".spec.ports.port"), None);
    assert_eq!(got(&json!(null), ".spec"), None);

    assert!(remove_path(&mut object, &path(".spec.ports[port=53,protocol=\"UDP\"]")));
    assert!(remove_path(&mut object, &path(".spec.set[=\"a\"]")));
    assert!(!remove_path(&mut object, &path(".spec.nothing.below")));
    assert_eq!(
        object,
        json!({"spec": {"ports": [{"port": 53.0, "protocol": "TCP", "n": 2}], "set": ["b"],
            "list": [[1], [2]]}})
    );
}

#[test]
fn items_of_a_manifest_may_lack_defaulted_keys() {
    let manifest = json!({"ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 80, "protocol": "UDP", "name": "b"}]});
    let name = |p: &str| path(p).get_in_manifest(&manifest).cloned();
    assert_eq!(name(".ports[containerPort=80,protocol=\"TCP\"].name"), Some(json!("a")));
    assert_eq!(name(".ports[containerPort=80,protocol=\"UDP\"].name"), Some(json!("b")));
    assert_eq!(name(".ports[containerPort=81,protocol=\"TCP\"].name"), None);
    assert_eq!(path(".ports[containerPort=80,protocol=\"TCP\"]").get(&manifest), None);
}

#[test]
fn literals_are_equal_by_value() {
    assert_eq!(Literal::parse("{\"b\": 1.0, \"a\": 2}"), Literal::parse("{\"a\":2,\"b\":1}"));
    assert_ne!(Literal::parse("1"), Literal::parse("\"1\""));
    assert_eq!(Literal::parse("{"), None);
}

#[test]
fn removing_takes_what_lies_below() {
    let mut set = FieldSet::from_json(&from_server());
    assert!(set.remove(&path(".spec.replicas")));
    assert!(!set.remove(&path(".spec.replicas")));
    assert!(set.remove(&path(".spec.template")));
    assert!(set.at(&path(".spec")).is_none(), "an empty struct goes");
    assert!(set.remove(&path(".metadata.annotations[\"example.com/a.b\"]")));
    assert!(set.contains(&path(".metadata.annotations")), "a map that is owned stays");
}

proptest! {
    #[test]
    fn round_trip(set in field_set()) {
        prop_assert_eq!(FieldSet::from_json(&set.to_json()), set);
    }

    #[test]
    fn laws(a in field_set(), b in field_set()) {
        let union = a.union(&b);
        prop_assert_eq!(&union, &b.union(&a));
        prop_assert_eq!(&union.union(&a), &union);
        for path in a.paths().iter().chain(&b.paths()) {
            prop_assert!(union.contains(path));
        }
        for path in union.paths() {
            let (in_a, in_b) = (a.contains(&path), b.contains(&path));
            prop_assert!(in_a || in_b);
            prop_assert_eq!(a.difference(&b).contains(&path), in_a && !in_b);
            prop_assert_eq!(a.intersection(&b).contains(&path), in_a && in_b);
        }
        prop_assert!(a.difference(&a).is_empty());
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a);
    }

    #[test]
    fn members_are_found_by_their_text(a in field_set()) {
        for path in a.paths() {
            // Two members may print alike (a name with a dot); both print as the text.
            let found = a.find(&path.to_string());
            prop_assert_eq!(found.map(|p| p.to_string()), Some(path.to_string()));
        }
        prop_assert_eq!(FieldSet::from_iter(a.paths()), a);
    }

    #[test]
    fn any_text_is_a_path_or_none(text in "[.a\\[\\]\"=,{}0\\\\é]{0,12}") {
        if let Some(path) = FieldPath::parse(&text) {
            prop_assert!(!path.is_empty());
            let _ = path.get(&json!({"a": [{"a": 0}]}));
        }
    }
}
