//! Values that may be written in more than one form.
//!
//! Decoded by hand: serde's `untagged` would say "data did not match any variant" where these say
//! what was expected.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::target::Hooks;

/// Whether a string holds a template.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// A setting that is no string and may be given by a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Templated<T> {
    /// The value itself.
    Value(T),
    /// A template, in the file as written; after resolution there is none.
    Template,
}

impl<T: Copy> Templated<T> {
    /// The value, once templates are resolved.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            Templated::Value(value) => Some(value),
            Templated::Template => None,
        }
    }
}

/// What [`Templated`] can hold.
pub(crate) trait Setting: Sized {
    /// What to say that was expected.
    const EXPECTED: &'static str;
    /// The texts that [`Setting::from_text`] takes, as a regular expression for the schema.
    const TEXT: &'static str;
    fn from_bool(_: bool) -> Option<Self> {
        None
    }
    fn from_number(_: u64) -> Option<Self> {
        None
    }
    fn from_text(_: &str) -> Option<Self> {
        None
    }
}

impl Setting for u32 {
    const EXPECTED: &'static str = "a whole number, 0 or more";
    const TEXT: &'static str = "[0-9]+";
    fn from_number(number: u64) -> Option<Self> {
        // The API's replica counts are int32.
        u32::try_from(number).ok().filter(|n| *n <= i32::MAX as u32)
    }
    fn from_text(text: &str) -> Option<Self> {
        // As `--var replicas=3` gives it.
        text.parse::<u64>().ok().and_then(Self::from_number)
    }
}

impl Setting for bool {
    const EXPECTED: &'static str = "`true` or `false`";
    const TEXT: &'static str = "true|false";
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Setting for Hooks {
    const EXPECTED: &'static str = "`drop` or `apply`";
    const TEXT: &'static str = "drop|apply";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "drop" => Some(Hooks::Drop),
            "apply" => Some(Hooks::Apply),
            _ => None,
        }
    }
}

impl<'de, T: Setting> Deserialize<'de> for Templated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form<T>(PhantomData<T>);
        impl<T: Setting> Form<T> {
            fn take<E: de::Error>(found: Option<T>) -> Result<Templated<T>, E> {
                let expected: &dyn de::Expected = &T::EXPECTED;
                found
                    .map(Templated::Value)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Other(""), expected))
            }
        }
        impl<T: Setting> Visitor<'_> for Form<T> {
            type Value = Templated<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
                Form::take(T::from_bool(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                Form::take(T::from_number(value))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if is_template(text) {
                    return Ok(Templated::Template);
                }
                Form::take(T::from_text(text))
            }
        }
        deserializer.deserialize_any(Form(PhantomData))
    }
}

impl<T: JsonSchema + Setting> JsonSchema for Templated<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Templated_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                generator.subschema_for::<T>(),
                {
                    "type": "string",
                    "pattern": format!(r"^({})$|\{{[{{%#]", T::TEXT),
                    "description": "A template, or the value in quotes."
                }
            ]
        })
    }
}

/// The target's own, or given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AutoOr<T> {
    Auto,
    Given(T),
}

impl<'de> Deserialize<'de> for AutoOr<Vec<String>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = AutoOr<Vec<String>>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`auto` or a list of strings")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "auto" => Ok(AutoOr::Auto),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(AutoOr::Given(list))
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for AutoOr<Vec<String>> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "AutoOrList".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{"const": "auto"}, {"type": "array", "items": {"type": "string"}}]
        })
    }
}

/// One layer of helm values as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValuesEntry {
    /// A file that has to exist, by its path alone; or `{file: …, optional: …}`.
    File { file: String, optional: Templated<bool> },
    /// `{inline: {…}}`.
    Inline(BTreeMap<String, Value>),
}

impl<'de> Deserialize<'de> for ValuesEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = ValuesEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, `{file: …, optional: …}` or `{inline: {…}}`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(ValuesEntry::File { file: text.to_owned(), optional: Templated::Value(false) })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut file, mut optional, mut inline) = (None, None, None);
                while let Some(Key(key)) = map.next_key()? {
                    match key {
                        "file" => file = Some(map.next_value()?),
                        "optional" => optional = Some(map.next_value()?),
                        _ => inline = Some(map.next_value()?),
                    }
                }
                match (file, inline) {
                    (Some(file), None) => {
                        let optional = optional.unwrap_or(Templated::Value(false));
                        Ok(ValuesEntry::File { file, optional })
                    }
                    (None, Some(inline)) if optional.is_none() => Ok(ValuesEntry::Inline(inline)),
                    (None, Some(_)) => {
                        Err(de::Error::custom("has `optional`, which goes with `file` only"))
                    }
                    (Some(_), Some(_)) => {
                        Err(de::Error::custom("has both `file` and `inline`: make two items of it"))
                    }
                    (None, None) => Err(de::Error::custom("needs `file` or `inline`")),
                }
            }
        }

        struct Key(&'static str);
        impl<'de> Deserialize<'de> for Key {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const KEYS: &[&str] = &["file", "inline", "optional"];
                let text = String::deserialize(deserializer)?;
                KEYS.iter()
                    .find(|key| **key == text)
                    .map(|key| Key(key))
                    .ok_or_else(|| de::Error::unknown_field(&text, KEYS))
            }
        }

        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for ValuesEntry {
    fn schema_name() -> Cow<'static, str> {
        "ValuesEntry".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One layer of helm values: a path, or one of the two maps.",
            "anyOf": [
                {"type": "string", "description": "A values file, relative to this file."},
                {
                    "type": "object",
                    "properties": {
                        "file": {
                            "type": "string",
                            "description": "A values file, relative to this file."
                        },
                        "optional": {
                            "type": ["boolean", "string"],
                            "pattern": r"^(true|false)$|\{[{%#]",
                            "description": "Whether the file may be absent.",
                            "default": false
                        }
                    },
                    "required": ["file"],
                    "additionalProperties": false
                },
                {
                    "type": "object",
                    "properties": {
                        "inline": {
                            "type": "object",
                            "description": "Values written here."
                        }
                    },
                    "required": ["inline"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
