//! Values → YAML that kubectl reads back as the same values.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use serde_saphyr::DoubleQuoted;

/// The keys that come first in an object, as people write it; the others are in alphabetical
/// order.
const FIRST: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The value as YAML, with a line feed at its end. What YAML 1.1 would read as something else
/// (`yes`, `1_000`, `<<`) is quoted; texts of more than one line are block scalars where that
/// keeps every character.
pub fn to_yaml(value: &Value) -> String {
    let options = serde_saphyr::ser_options! {
        prefer_block_scalars: true,
        // A folded text reads worse, and differs on more lines than it changes on.
        folded_wrap_chars: usize::MAX,
    };
    let mut out = String::new();
    let node = Node { value, top: true };
    match serde_saphyr::to_fmt_writer_with_options(&mut out, &node, options) {
        Ok(()) if out.ends_with('\n') => out,
        Ok(()) => out + "\n",
        // The serializer refuses nothing that JSON holds; if it did, JSON is YAML too.
        Err(_) => format!("{value}\n"),
    }
}

/// The values as the documents of one YAML text, with `---` between them.
pub fn to_yaml_documents<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let documents: Vec<_> = values.into_iter().map(to_yaml).collect();
    documents.join("---\n")
}

struct Node<'a> {
    value: &'a Value,
    /// Whether this is the document itself.
    top: bool,
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::String(text) => Text(text).serialize(serializer),
            Value::Array(items) => {
                let mut out = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    out.serialize_element(&Node { value, top: false })?;
                }
                out.end()
            }
            Value::Object(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                let first = FIRST.iter().filter(|_| self.top);
                for key in first.clone() {
                    if let Some(value) = map.get(*key) {
                        out.serialize_entry(key, &Node { value, top: false })?;
                    }
                }
                for (key, value) in map {
                    if !first.clone().any(|f| f == key) {
                        out.serialize_entry(&Text(key), &Node { value, top: false })?;
                    }
                }
                out.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if needs_escapes(self.0) {
            DoubleQuoted(self.0).serialize(serializer)
        } else {
            self.0.serialize(serializer)
        }
    }
}

/// Whether only a double-quoted scalar keeps the text: it has characters that YAML 1.1 takes for
/// line breaks or does not print, or a line that begins with a tab, which a block scalar cannot
/// tell from indentation.
fn needs_escapes(text: &str) -> bool {
    let special = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(
                c,
                '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            )
    };
    text.contains(special) || text.starts_with('\t') || text.contains("\n\t")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::yaml;
    use crate::manifest::yaml::tests::json_value;
    use proptest::prelude::*;
    use serde_json::json;

    fn back(value: &Value) -> Value {
        let text = to_yaml(value);
        let documents = yaml::load(&text, "f").unwrap_or_else(|e| panic!("{e}\n{text}"));
        documents.into_iter().next().map_or(Value::Null, |d| d.value)
    }

    #[test]
    fn nasty_strings_come_back() {
        let texts = [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "Y",
            "N",
            "True",
            "NULL",
            "~",
            "null",
            "",
            "1_000",
            "0644",
            "0o644",
            "0x1",
            "0b1",
            "1e3",
            ".5",
            "5.",
            "+1",
            "-0",
            "<<",
            "=",
            "!x",
            "&x",
            "*x",
            "@x",
            "`x`",
            "%x",
            "|",
            ">",
            "?",
            "? x",
            "-",
            "- x",
            "--- x",
            "---",
            "...",
            ":",
            ": x",
            "x: y",
            "x:",
            "#x",
            "x #y",
            " lead",
            "trail ",
            " ",
            "\n",
            "\n\n",
            "a\n",
            "a\nb",
            "a\nb\n\n",
            "\na",
            " a\nb",
            "a\n b",
            "a \nb",
            "\ta",
            "a\n\tb",
            "a\tb",
            "a\r\nb",
            "a\rb",
            "\u{7}",
            "\u{85}",
            "a\u{85}b\nc",
            "\u{2028}",
            "x\u{2029}y",
            "\u{feff}x",
            "x\u{feff}",
            "\u{a0}",
            "é 😀",
            "'",
            "\"",
            "''",
            "a'b\"c",
            "\\",
            "a\\nb",
            "{}",
            "[]",
            "{a: b}",
            "[a",
            ",",
            "a, b",
            "2001-12-14",
            "190:20:30",
            ".inf",
            ".nan",
            "1.10",
            "12345678901234567890123",
            "\u{1b}[31m",
            "a\n---\nb",
            "a\n...\nb",
            "---\n---\n",
            "# x\ny",
            "\u{7f}",
            "\u{0}",
            "key: |\n  x",
        ];
        for text in texts {
            for value in [
                json!(text),
                json!({"k": text}),
                json!([text]),
                json!({text: 1}),
                json!({"a": {"b": [{"c": text, "d": [text]}]}}),
                json!({text: {text: text}}),
            ] {
                if value.is_null() {
                    continue;
                }
                assert_eq!(back(&value), value, "{text:?}\n{}", to_yaml(&value));
            }
        }
    }

    #[test]
    fn what_yaml_1_1_breaks_lines_at_is_escaped() {
        for c in ['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}', '\r', '\u{0}', '\u{1b}'] {
            let text = to_yaml(&json!({"k": format!("a{c}b"), format!("x{c}"): 1}));
            assert!(!text.contains(c), "{text:?}");
        }
    }

    #[test]
    fn reads_like_what_people_write() {
        let object = json!({
            "spec": {"containers": [{"name": "c", "args": ["--on", "yes"], "env": []}], "n": 1e-7},
            "metadata": {"name": "web", "annotations": {"note": "one\ntwo\n", "kind": "a"}},
            "kind": "Pod",
            "apiVersion": "v1",
            "data": {"long": "word ".repeat(40), "apiVersion": "v1", "script": "#!/bin/sh\n\techo"},
        });
        insta::assert_snapshot!(to_yaml_documents([&object, &json!({"a": null, "b": {}})]));
    }

    proptest! {
        #[test]
        fn any_value_comes_back(value in json_value()) {
            prop_assert_eq!(back(&value), value);
        }

        #[test]
        fn any_text_comes_back(text in "[-a-z0-9:{}\\[\\]&*!|>'\"%@`#,?_ \\n\\t\\r\u{feff}\u{85}\u{2028}é\u{0}.<~=\\\\]{0,30}") {
            let value = json!({"k": &text, "l": [&text, {"m": &text}]});
            prop_assert_eq!(back(&value), value);
        }
    }
}
