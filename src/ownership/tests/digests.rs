use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Digest, live_digest, manifest_digest};
use super::{entry, live};

const KEY: [u8; 32] = [7; 32];
const OURS: &str = "mcd:shop/web";

fn service() -> Value {
    let fields = json!({"f:spec": {
        "f:ports": {
            "k:{\"port\":53,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}, "f:name": {}},
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}
        },
        "f:selector": {},
        "f:set": {"v:\"a\"": {}, "v:\"b\"": {}},
        "f:gone": {}
    }});
    live(
        json!({"spec": {
            "ports": [
                {"port": 53, "protocol": "UDP", "name": "u", "nodePort": 1},
                {"port": 80, "protocol": "TCP", "name": "defaulted"}
            ],
            "selector": {"app": "web"}, "set": ["a", "z", "b"], "clusterIP": "10.0.0.1"
        }}),
        vec![
            entry(OURS, "Apply", &fields),
            entry("kubectl-edit", "Update", &json!({"f:spec": {"f:x": {}}})),
        ],
    )
}

fn digest(live: &Value) -> Option<Digest> {
    live_digest(&KEY, live, OURS)
}

/// What an edit does to the digest: (name, pointer, new value or removal, changes it).
#[test]
fn only_what_we_own_counts() {
    let before = digest(&service());
    assert!(before.is_some());
    let cases = [
        ("our item's value", "/spec/ports/0/name", Some(json!("x")), true),
        ("another's value in our item", "/spec/ports/0/nodePort", Some(json!(2)), false),
        ("a defaulted value", "/spec/ports/1/name", None, false),
        ("a value of an atomic map", "/spec/selector/app", Some(json!("y")), true),
        ("an item of our set", "/spec/set/0", Some(json!("q")), true),
        ("another's item of our set", "/spec/set/1", Some(json!("q")), false),
        ("a field of others", "/spec/clusterIP", None, false),
        ("an owned field that was absent", "/spec/gone", Some(json!(null)), true),
        ("a list that became a string", "/spec/ports", Some(json!("x")), true),
        ("the uid", "/metadata/uid", Some(json!("u2")), true),
        ("terminating", "/metadata/deletionTimestamp", Some(json!("t")), true),
        ("the version", "/metadata/resourceVersion", Some(json!("8")), false),
        ("our entry's version", "/metadata/managedFields/0/apiVersion", Some(json!("v2")), true),
        ("our entry's time", "/metadata/managedFields/0/time", Some(json!("x")), false),
        ("our set", "/metadata/managedFields/0/fieldsV1/f:more", Some(json!({})), true),
        ("another's set", "/metadata/managedFields/1/fieldsV1", None, false),
        ("kind and apiVersion", "/kind", Some(json!("Service")), false),
    ];
    for (name, pointer, value, changes) in cases {
        let mut after = service();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = after.pointer_mut(parent).expect("a parent");
        match (parent, value) {
            (Value::Array(items), Some(value)) => items[key.parse::<usize>().expect("n")] = value,
            (Value::Object(map), Some(value)) => {
                map.insert(key.into(), value);
            }
            (Value::Object(map), None) => {
                map.remove(key);
            }
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(digest(&after) != before, changes, "{name}");
    }
}

#[test]
fn the_order_of_our_items_counts_and_where_others_stand_does_not() {
    let before = digest(&service());
    let mut swapped = service();
    swapped["spec"]["ports"].as_array_mut().expect("ports").swap(0, 1);
    assert_ne!(digest(&swapped), before);
    let mut between = service();
    between["spec"]["ports"]
        .as_array_mut()
        .expect("ports")
        .insert(1, json!({"port": 1, "protocol": "TCP"}));
    assert_eq!(digest(&between), before);
    let mut twice = service();
    let item = twice["spec"]["ports"][0].clone();
    twice["spec"]["ports"].as_array_mut().expect("ports").push(item);
    assert_ne!(digest(&twice), before);
    let mut less = service();
    less["spec"]["ports"].as_array_mut().expect("ports").remove(1);
    assert_ne!(digest(&less), before);
    let mut set = service();
    set["spec"]["set"].as_array_mut().expect("set").swap(0, 2);
    assert_ne!(digest(&set), before);
}

#[test]
fn without_exactly_one_entry_there_is_no_digest() {
    let one = entry(OURS, "Apply", &json!({"f:a": {}}));
    let mut scale = one.clone();
    scale["subresource"] = json!("scale");
    for (entries, some) in [
        (vec![], false),
        (vec![one.clone()], true),
        (vec![one.clone(), scale.clone()], true),
        (vec![scale], false),
        (vec![one.clone(), one], false),
        (vec![entry(OURS, "Update", &json!({}))], false),
        (vec![json!({}), json!(1)], false),
    ] {
        assert_eq!(digest(&live(json!({"a": 1}), entries.clone())).is_some(), some, "{entries:?}");
    }
    assert_eq!(digest(&json!(null)), None);
}

#[test]
fn manifests_differ_by_value_not_by_spelling() {
    let a = serde_json::from_str::<Value>("{\"b\": 1.0, \"a\": [1, 2]}").expect("json");
    let b = serde_json::from_str::<Value>("{\"a\": [1, 2], \"b\": 1}").expect("json");
    assert_eq!(manifest_digest(&KEY, &a), manifest_digest(&KEY, &b));
    let c = json!({"a": [2, 1], "b": 1});
    assert_ne!(manifest_digest(&KEY, &a), manifest_digest(&KEY, &c));
    assert_ne!(manifest_digest(&KEY, &a), manifest_digest(&[8; 32], &a));
}

#[test]
fn digests_are_written_as_hexadecimal() {
    let digest = manifest_digest(&KEY, &json!({}));
    let text = serde_json::to_string(&digest).expect("serialises");
    assert_eq!(text.len(), 34);
    assert_eq!(serde_json::from_str::<Digest>(&text).expect("reads"), digest);
    for wrong in ["", "00", "zz000000000000000000000000000000", "é0000000000000000000000000000000"]
    {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
    // HMAC-SHA256 under 32 bytes of 7, over "manifest", a zero byte and "{}", its first half.
    assert_eq!(digest.to_string(), "eb0d9c3c51a66949238a309338043e97");
}

proptest! {
    /// No spelling of values or sets panics, and equal input gives equal digests.
    #[test]
    fn any_set_over_any_value(set in super::field_set(), other in super::field_set()) {
        let fields = set.to_json();
        let object = live(json!({"a": other.to_json(), "b": ["a", 1, {"name": "a", "port": 1}]}),
            vec![entry(OURS, "Apply", &fields)]);
        prop_assert_eq!(digest(&object), digest(&object));
        prop_assert!(digest(&object).is_some());
    }
}
