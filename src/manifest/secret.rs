//! Secrets as the API server keeps them: `data` only, checked here, because the server's refusal
//! of a wrong type shows the value (A4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Object;
use super::check::{self, Problem};

/// Whether the manifest is a core Secret. One without apiVersion, as in a server's list, is.
pub fn is_secret(value: &Value) -> bool {
    value["kind"] == "Secret" && !value["apiVersion"].as_str().is_some_and(|v| v.contains('/'))
}

/// Moves `stringData` into `data`, as the server does on writing: its keys win. Then a key that
/// leaves the manifest leaves the cluster too, which it does not when it was sent as
/// `stringData`. Base64 that is broken into lines is joined, as the server returns it. Nothing
/// happens to other kinds. Values of a wrong type stay where they are; reading refuses them.
pub fn fold_string_data(object: &mut Object) {
    if object.id.is_secret() {
        fold(&mut object.value);
    }
}

/// [`fold_string_data`] for a Secret that is only a value.
pub(super) fn fold(secret: &mut Value) {
    let Some(map) = secret.as_object_mut() else { return };
    let plain = match map.get_mut("stringData").map(Value::take) {
        None => None,
        Some(Value::Object(plain)) => {
            map.remove("stringData");
            Some(plain)
        }
        Some(Value::Null) => {
            map.remove("stringData");
            None
        }
        Some(other) => {
            map.insert("stringData".into(), other);
            None
        }
    };
    if let Some(plain) = plain.filter(|p| !p.is_empty()) {
        let data = map.entry("data").or_insert(Value::Null);
        if data.is_null() {
            *data = Value::Object(serde_json::Map::new());
        }
        if let Some(data) = data.as_object_mut() {
            for (key, value) in plain {
                match value {
                    Value::String(text) => data.insert(key, STANDARD.encode(text).into()),
                    Value::Null => None,
                    other => data.insert(key, other),
                };
            }
        }
    }
    let data = map.get_mut("data").and_then(Value::as_object_mut);
    for value in data.into_iter().flat_map(|d| d.values_mut()) {
        if let Value::String(text) = value
            && text.contains(['\r', '\n'])
        {
            text.retain(|c| !matches!(c, '\r' | '\n'));
        }
    }
}

/// Checks the types of a Secret. Names keys, never a value.
pub(super) fn types(secret: &Value) -> Result<(), Problem> {
    for (key, value) in check::map(secret, &["stringData"])?.into_iter().flatten() {
        if !matches!(value, Value::String(_) | Value::Null) {
            let message = format!("must be a string, and is {}", check::what(value));
            return Err(Problem::new(&["stringData", key], message).hint("quote it"));
        }
    }
    for (key, value) in check::map(secret, &["data"])?.into_iter().flatten() {
        let message = match value {
            Value::Null => continue,
            Value::String(text) if decode(text).is_some() => continue,
            Value::String(_) => "is not base64".to_owned(),
            other => format!("must be a string in base64, and is {}", check::what(other)),
        };
        return Err(Problem::new(&["data", key], message)
            .hint("`data` holds base64; plain text goes into `stringData`"));
    }
    for (key, is_good) in [
        ("type", secret["type"].is_string() || secret["type"].is_null()),
        ("immutable", secret["immutable"].is_boolean() || secret["immutable"].is_null()),
    ] {
        if !is_good {
            let message = format!("has a wrong type: it is {}", check::what(&secret[key]));
            return Err(Problem::new(&[key], message));
        }
    }
    Ok(())
}

/// The bytes of a value of `data`; line breaks in it are passed over, as Go's decoder does.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\r', '\n']) {
        let joined: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        return STANDARD.decode(joined).ok();
    }
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Origin;
    use serde_json::json;

    fn secret(rest: Value) -> Value {
        let mut value = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
        let map = value.as_object_mut().unwrap();
        map.extend(rest.as_object().unwrap().clone());
        value
    }

    #[test]
    fn string_data_is_folded_as_the_server_does() {
        let cases = [
            (json!({"stringData": {"a": "x"}}), json!({"data": {"a": "eA=="}})),
            (
                json!({"stringData": {"a": "x"}, "data": {"a": "eQ==", "b": "eg=="}}),
                json!({"data": {"a": "eA==", "b": "eg=="}}),
            ),
            (json!({"stringData": {"a": null}, "data": null}), json!({"data": {}})),
            (json!({"stringData": {}}), json!({})),
            (
                json!({"stringData": null, "data": {"a": "e\nA\r\n=="}}),
                json!({"data": {"a": "eA=="}}),
            ),
            (json!({"data": {"a": "eA=="}}), json!({"data": {"a": "eA=="}})),
            (json!({"stringData": {"a": ""}}), json!({"data": {"a": ""}})),
        ];
        for (before, after) in cases {
            let mut object = Object::new(secret(before), Origin::default()).unwrap();
            fold_string_data(&mut object);
            assert_eq!(object.value, secret(after));
            let once = object.clone();
            fold_string_data(&mut object);
            assert_eq!(object, once);
        }
        let other = json!({"apiVersion": "x.io/v1", "kind": "Secret", "metadata": {"name": "s"},
            "stringData": {"a": "x"}});
        let mut object = Object::new(other.clone(), Origin::default()).unwrap();
        fold_string_data(&mut object);
        assert_eq!(object.value, other);
    }

    #[test]
    fn wrong_types_are_named_without_their_value() {
        let cases = [
            (
                json!({"stringData": {"a": 12345678}}),
                "`stringData.a` must be a string, and is a number",
            ),
            (
                json!({"stringData": {"a.b/c": {"x": "hunter2"}}}),
                "`stringData[a.b/c]` must be a string, and is a map",
            ),
            (json!({"stringData": "hunter2"}), "`stringData` must be a map, and is a string"),
            (json!({"data": ["hunter2"]}), "`data` must be a map, and is a list"),
            (json!({"data": {"a": "hunter2!"}}), "`data.a` is not base64"),
            (json!({"data": {"a": "eA"}}), "`data.a` is not base64"),
            (json!({"data": {"a": true}}), "`data.a` must be a string in base64, and is a boolean"),
            (json!({"type": 7}), "`type` has a wrong type: it is a number"),
            (json!({"immutable": "hunter2"}), "`immutable` has a wrong type: it is a string"),
        ];
        for (rest, expected) in cases {
            let problem = types(&secret(rest)).unwrap_err();
            assert_eq!(problem.text(), expected);
            let all = format!("{problem:?}");
            assert!(!all.contains("hunter2") && !all.contains("12345678"), "{all}");
        }
        let good = json!({"data": {"a": "eA==", "b": null, "c": "", "d": "e\nA=="},
            "stringData": {"x": "1", "y": null}, "type": "Opaque", "immutable": true});
        assert_eq!(types(&secret(good)), Ok(()));
    }
}
