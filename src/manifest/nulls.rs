//! Manifests without the nulls that the API server would take for values.

use serde_json::Value;

/// Removes the entries of maps that are null. The API server would keep them as owned, empty
/// fields (`data: {b: null}` becomes `b: ""`, A1.8). Nulls in lists stay: without them the items
/// would move.
pub fn strip_nulls(value: &mut Value) {
    strip_nulls_except(value, &|_| false);
}

/// As [`strip_nulls`], but `keep` is asked with the JSON pointer of each and answers whether null
/// is a value there, as it is for a field that its definition calls `nullable`.
pub fn strip_nulls_except(value: &mut Value, keep: &dyn Fn(&str) -> bool) {
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
        strip_nulls_except(&mut value, &|p| p == "/b/f~1g/h");
        let expected = json!({
            "b": {"d": {}, "f/g": {"h": null}}, "l": [null, {"n": 1}], "s": "x",
        });
        assert_eq!(value, expected);
        strip_nulls(&mut value);
        assert_eq!(value["b"], json!({"d": {}, "f/g": {}}));
        let mut value = json!({"l": [{"m": null}]});
        strip_nulls_except(&mut value, &|p| p == "/l/0/m");
        assert_eq!(value, json!({"l": [{"m": null}]}));
    }
}
