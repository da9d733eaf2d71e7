//! One form for each manifest: without nulls, and as bytes that a digest can be taken of.

use serde_json::Value;

/// Removes the entries of maps that are null. The API server would keep them as owned, empty
/// fields (`data: {b: null}` becomes `b: ""`, A1.8). `keep` is asked with the JSON pointer of
/// each and answers whether null is a value there, as it is for a field that its definition calls
/// `nullable`. Nulls in lists stay: without them the items would move.
pub fn strip_nulls(value: &mut Value, keep: &dyn Fn(&str) -> bool) {
    strip(value, &Path { parent: None, step: Step::Index(0) }, keep);
}

fn strip(value: &mut Value, path: &Path<'_>, keep: &dyn Fn(&str) -> bool) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let path = Path { parent: Some(path), step: Step::Key(key) };
            if value.is_null() {
                return keep(&path.pointer());
            }
            strip(value, &path, keep);
            true
        }),
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                strip(item, &Path { parent: Some(path), step: Step::Index(i) }, keep);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where the walk is. It lives on the stack, since most manifests have no null to name.
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Path<'_> {
    fn pointer(&self) -> String {
        let Some(parent) = self.parent else { return String::new() };
        let mut out = parent.pointer();
        out.push('/');
        match self.step {
            Step::Key(key) => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Step::Index(i) => out.push_str(&i.to_string()),
        }
        out
    }
}

/// The value as compact JSON with sorted keys: equal values give equal bytes.
pub fn canonical(value: &Value) -> Vec<u8> {
    // serde_json's map is sorted as long as its feature `preserve_order` is off; a test says so.
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nulls_go_unless_they_are_values() {
        let mut value = json!({
            "a": null, "b": {"c": null, "d": {"e": null}, "f/g": {"h": null}},
            "l": [null, {"m": null, "n": 1}], "s": "x",
        });
        strip_nulls(&mut value, &|p| p == "/b/f~1g/h");
        let expected = json!({
            "b": {"d": {}, "f/g": {"h": null}}, "l": [null, {"n": 1}], "s": "x",
        });
        assert_eq!(value, expected);
        let mut value = json!({"l": [{"m": null}]});
        strip_nulls(&mut value, &|p| p == "/l/0/m");
        assert_eq!(value, json!({"l": [{"m": null}]}));
    }

    #[test]
    fn equal_values_give_equal_bytes() {
        let a: Value = serde_json::from_str(r#"{"b": 1, "a": {"d": [1, 2], "c": null}}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"a": {"c": null, "d": [1,2]}, "b": 1}"#).unwrap();
        assert_eq!(canonical(&a), canonical(&b));
        assert_eq!(canonical(&a), br#"{"a":{"c":null,"d":[1,2]},"b":1}"#);
    }
}
