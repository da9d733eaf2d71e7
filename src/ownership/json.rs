//! JSON values in one spelling, and equality as the API server sees it.

use std::fmt::Write;

use serde_json::{Number, Value};

/// Writes `value` in its one canonical spelling: sorted keys, no spaces, whole floats as integers.
pub(crate) fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => write_number(n, out),
        Value::String(s) => write_string(s, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            // Sorted here too: a crate of the tree may switch serde_json's maps to written order.
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, item)) in pairs.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_canonical(item, out);
            }
            out.push('}');
        }
    }
}

/// [`write_canonical`] into a new string.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

/// Writes `text` as a JSON string.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_number(number: &Number, out: &mut String) {
    let _ = match whole(number) {
        Some(whole) => write!(out, "{whole}"),
        None => write!(out, "{number}"),
    };
}

/// The number as an integer, where it is one.
fn whole(number: &Number) -> Option<i128> {
    /// Every whole float up to this is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(n) = number.as_i64() {
        return Some(n.into());
    }
    if let Some(n) = number.as_u64() {
        return Some(n.into());
    }
    let float = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation)]
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i128)
}

/// Equality of JSON values where `1` and `1.0` are one number.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (whole(x), whole(y)) {
            (Some(x), Some(y)) => x == y,
            (None, None) => x == y,
            _ => false,
        },
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter().all(|(key, v)| y.get(key).is_some_and(|other| same(v, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_spelling() {
        let value = json!({"b": [1.0, 2.5, -0.0], "a": {"z": null, "y": "q\"\\\n\u{1}é"}});
        assert_eq!(
            canonical(&value),
            "{\"a\":{\"y\":\"q\\\"\\\\\\n\\u0001é\",\"z\":null},\"b\":[1,2.5,0]}"
        );
        assert_eq!(canonical(&json!(u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(same(&json!({"a": [1]}), &json!({"a": [1.0]})));
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(&json!(1), &json!(true)));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!same(&json!([1]), &json!([1, 1])));
        assert!(!same(&json!(1.5), &json!(1)));
    }
}
