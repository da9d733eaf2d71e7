use serde_json::{Value, json};

use super::*;

fn id(kind: &str) -> ObjectId {
    ObjectId {
        group: if kind == "Deployment" { "apps".into() } else { String::new() },
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: "web".into(),
    }
}

/// The changes as text: `op path before → after`.
fn told(before: &Value, after: &Value) -> Vec<String> {
    let show = |v: &Option<Value>| v.as_ref().map(|v| v.to_string()).unwrap_or_default();
    changes(Some(before), Some(after))
        .iter()
        .map(|c| format!("{} {} {} → {}", c.op.word(), c.path, show(&c.before), show(&c.after)))
        .collect()
}

#[test]
fn the_table_of_changes() {
    let cases = [
        ("equal", json!({"a": 1, "b": [1]}), json!({"b": [1.0], "a": 1.0}), vec![]),
        ("a leaf", json!({"a": 1}), json!({"a": 2}), vec!["replace .a 1 → 2"]),
        ("a type", json!({"a": 1}), json!({"a": "1"}), vec!["replace .a 1 → \"1\""]),
        (
            "a subtree appears",
            json!({}),
            json!({"a": {"b": {"c": 1}}}),
            vec!["add .a  → {\"b\":{\"c\":1}}"],
        ),
        ("a subtree goes", json!({"a": {"b": 1}}), json!({}), vec!["remove .a {\"b\":1} → "]),
        ("a map becomes a list", json!({"a": {}}), json!({"a": []}), vec!["replace .a {} → []"]),
        ("null is a value", json!({"a": null}), json!({}), vec!["remove .a null → "]),
        (
            "a container's image",
            json!({"containers": [{"name": "c", "image": "a"}, {"name": "d", "image": "x"}]}),
            json!({"containers": [{"name": "c", "image": "b"}, {"name": "d", "image": "x"}]}),
            vec!["replace .containers[name=\"c\"].image \"a\" → \"b\""],
        ),
        (
            "an item in between",
            json!({"env": [{"name": "A"}, {"name": "B"}]}),
            json!({"env": [{"name": "A"}, {"name": "X", "value": "1"}, {"name": "B"}]}),
            vec!["add .env[name=\"X\"]  → {\"name\":\"X\",\"value\":\"1\"}"],
        ),
        (
            "another order",
            json!({"env": [{"name": "B", "value": "1"}, {"name": "A"}, {"name": "gone"}]}),
            json!({"env": [{"name": "A"}, {"name": "B", "value": "2"}]}),
            vec![
                "move .env [\"B\",\"A\"] → [\"A\",\"B\"]",
                "replace .env[name=\"B\"].value \"1\" → \"2\"",
                "remove .env[name=\"gone\"] {\"name\":\"gone\"} → ",
            ],
        ),
        (
            "ports of a container",
            json!({"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP", "name": "u"}]}),
            json!({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP", "name": "v"}]}),
            vec![
                "remove .ports[containerPort=80,protocol=\"TCP\"].protocol \"TCP\" → ",
                "replace .ports[containerPort=80,protocol=\"UDP\"].name \"u\" → \"v\"",
            ],
        ),
        (
            "ports of a service",
            json!({"ports": [{"port": 80, "protocol": "TCP", "targetPort": 1}]}),
            json!({"ports": [{"port": 80, "protocol": "TCP", "targetPort": 2}, {"port": 81, "protocol": "TCP"}]}),
            vec![
                "replace .ports[port=80,protocol=\"TCP\"].targetPort 1 → 2",
                "add .ports[port=81,protocol=\"TCP\"]  → {\"port\":81,\"protocol\":\"TCP\"}",
            ],
        ),
        (
            "mounts",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]}),
            json!({"volumeMounts": [{"name": "v", "mountPath": "/b"}]}),
            vec!["remove .volumeMounts[mountPath=\"/a\"] {\"mountPath\":\"/a\",\"name\":\"v\"} → "],
        ),
        (
            "names twice fall back to positions",
            json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
            json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]}),
            vec!["replace .env[1].value \"2\" → \"3\""],
        ),
        (
            "a command",
            json!({"args": ["a", "b", "c"]}),
            json!({"args": ["a", "x", "c"]}),
            vec!["replace .args[1] \"b\" → \"x\""],
        ),
        (
            "an argument more",
            json!({"args": ["a", "c"]}),
            json!({"args": ["a", "b", "c"]}),
            vec!["add .args[1]  → \"b\""],
        ),
        (
            "an argument less",
            json!({"args": ["a", "b", "c"]}),
            json!({"args": ["b", "c"]}),
            vec!["remove .args[0] \"a\" → "],
        ),
        (
            "an empty list filled",
            json!({"rules": []}),
            json!({"rules": [{"host": "x"}]}),
            vec!["add .rules[0]  → {\"host\":\"x\"}"],
        ),
        (
            "finalizers are a set",
            json!({"finalizers": ["a/b", "c/d"]}),
            json!({"finalizers": ["c/d", "e/f"]}),
            vec!["remove .finalizers[=\"a/b\"] \"a/b\" → ", "add .finalizers[=\"e/f\"]  → \"e/f\""],
        ),
        (
            "rules by position",
            json!({"rules": [{"host": "a", "x": 1}, {"host": "b", "x": 1}]}),
            json!({"rules": [{"host": "a", "x": 2}, {"host": "b", "x": 1}]}),
            vec!["replace .rules[0].x 1 → 2"],
        ),
    ];
    for (name, before, after, expected) in cases {
        assert_eq!(told(&before, &after), expected, "{name}");
    }
}

#[test]
fn an_object_that_appears_or_goes_is_one_change() {
    let object = json!({"a": 1});
    let created = changes(None, Some(&object));
    assert_eq!(
        (created.len(), created[0].op, created[0].path.to_string()),
        (1, Op::Add, String::new())
    );
    assert_eq!(changes(Some(&object), None)[0].op, Op::Remove);
    assert!(changes(None, None).is_empty());
}

fn deployment(image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"mcd.dev/app": "shop.web"}},
        "spec": {"replicas": 2, "template": {
            "metadata": {"creationTimestamp": null, "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": image}]}
        }}
    })
}

#[test]
fn what_the_server_writes_is_never_shown() {
    let mut live = deployment("a:1");
    live["status"] = json!({"replicas": 2});
    live["metadata"].as_object_mut().expect("map").extend(
        json!({"uid": "u", "resourceVersion": "1", "generation": 3, "creationTimestamp": "t",
            "selfLink": "/x", "managedFields": [{}],
            "annotations": {"deployment.kubernetes.io/revision": "4",
                "kubectl.kubernetes.io/last-applied-configuration": "{}"}})
        .as_object()
        .cloned()
        .expect("map"),
    );
    assert!(object_diff(&id("Deployment"), Some(&live), Some(&deployment("a:1"))).is_empty());
    // Items of a LIST have no kind.
    live.as_object_mut().expect("map").remove("kind");
    live.as_object_mut().expect("map").remove("apiVersion");
    let diff = object_diff(&id("Deployment"), Some(&live), Some(&deployment("a:1")));
    assert_eq!(diff, ObjectDiff::default());
    assert!(normalize(&json!("x")) == json!("x"));
}

fn text(diff: &ObjectDiff, context: usize) -> String {
    let lines = diff.unified("live     us-east  Deployment shop/web", "desired  us-east", context);
    lines
        .iter()
        .map(|line| {
            format!(
                "{}
",
                line.text
            )
        })
        .collect()
}

#[test]
fn the_text_is_kubectl_s() {
    let id = id("Deployment");
    let diff = object_diff(&id, Some(&deployment("a:1")), Some(&deployment("a:2")));
    insta::assert_snapshot!(text(&diff, 3), @r"
    --- live     us-east  Deployment shop/web
    +++ desired  us-east
    @@ -13,5 +13,5 @@ spec.template.metadata.labels
             app: web
         spec:
           containers:
    -      - image: a:1
    +      - image: a:2
             name: c
    ");
    insta::assert_snapshot!(text(&diff, 0), @r"
    --- live     us-east  Deployment shop/web
    +++ desired  us-east
    @@ -16 +16 @@ spec.template.spec.containers
    -      - image: a:1
    +      - image: a:2
    ");
    assert_eq!(text(&ObjectDiff::default(), 3), "");
    let created = object_diff(&id, None, Some(&deployment("a:1")));
    insta::assert_snapshot!(text(&created, 3), @r"
    --- live     us-east  Deployment shop/web  (does not exist)
    +++ desired  us-east
    @@ -0,0 +1,17 @@
    +apiVersion: apps/v1
    +kind: Deployment
    +metadata:
    +  labels:
    +    mcd.dev/app: shop.web
    +  name: web
    +  namespace: shop
    +spec:
    +  replicas: 2
    +  template:
    +    metadata:
    +      labels:
    +        app: web
    +    spec:
    +      containers:
    +      - image: a:1
    +        name: c
    ");
    let (before, after) = created.sides();
    assert!(before.is_empty() && after.starts_with("apiVersion: apps/v1\n"), "{after}");
}

#[test]
fn secrets_are_masked_whatever_they_look_like() {
    let secret = |value: &str| json!({"metadata": {"name": "web", "annotations": {"note": value}}, "data": {"same": "c2FtZQ==", "p": value}});
    let id = id("Secret");
    // Neither side names its kind.
    let diff = object_diff(&id, Some(&secret("aHVudGVyMQ==")), Some(&secret("aHVudGVyMg==")));
    let shown =
        text(&diff, 99) + &serde_json::to_string(&diff).expect("serialises") + &format!("{diff:?}");
    for value in ["aHVudGVy", "hunter", "c2FtZQ"] {
        assert!(!shown.contains(value), "{value} in {shown}");
    }
    let paths: Vec<String> = diff.changes.iter().map(|c| c.path.to_string()).collect();
    assert_eq!(paths, [".data.p", ".metadata.annotations.note"]);
    assert!(object_diff(&id, Some(&secret("eA==")), Some(&secret("eA=="))).is_empty());
    let created = object_diff(&id, None, Some(&secret("aHVudGVyMQ==")));
    assert!(!format!("{created:?}{}", text(&created, 3)).contains("aHVudGVy"));
}
