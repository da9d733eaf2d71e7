//! Texts of others (tools' output, refusals of API servers) without the secret values of the run.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;

use super::secret::{decode, is_secret};
use crate::error::Error;

/// What stands in place of a secret value.
pub const MASK: &str = "***";

/// The shortest value that is replaced, in bytes. Shorter ones (`1`, `no`) are in every text by
/// chance, and a text without them says nothing any more.
const SHORTEST: usize = 4;

/// The shortest line of a value of several lines that is replaced by itself.
const SHORTEST_LINE: usize = 8;

/// How much of a long value's beginning is enough to replace it: messages are cut off anywhere.
const PREFIX: usize = 24;

/// Values that are words of every message and no secrets.
const COMMON: [&str; 7] = ["true", "false", "null", "none", "default", "enabled", "disabled"];

/// Whose annotations say nothing secret, even on a Secret: what they hold (a namespace, a
/// release's name) is in every message.
const PUBLIC: [&str; 8] = [
    "kubernetes.io",
    "k8s.io",
    "helm.sh",
    "mcd.dev",
    "argoproj.io",
    "fluxcd.io",
    "kluctl.io",
    "openshift.io",
];

/// Knows the secret values of a run and takes them out of texts. Clones share what they know.
///
/// A value is found as it is, in base64 (standard and URL alphabet, with and without padding), as
/// JSON and URLs escape it, and, when it has several lines, line by line. Values shorter than
/// four bytes and words such as `true` are left: of refusals that concern a Secret, nothing but
/// the path is shown anyway.
#[derive(Clone, Debug, Default)]
pub struct Scrubber {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    /// By their first bytes, so that a text is read once however many there are.
    patterns: HashMap<[u8; SHORTEST], Vec<Box<str>>>,
    /// Values that were learned already.
    seen: HashSet<Box<str>>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values", self.seen.len())
    }
}

impl Scrubber {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns the values of a manifest or a live object if it is a Secret; other kinds hold
    /// nothing to learn. A Secret of a wrong form is learned too: the server's refusal of it
    /// holds its values.
    pub fn learn(&self, object: &Value) {
        if !is_secret(object) {
            return;
        }
        self.learn_data(&object["data"]);
        // And what stands where a Secret has no field: `stringdata`.
        for (key, value) in object.as_object().into_iter().flatten() {
            if !["apiVersion", "kind", "metadata", "type", "immutable", "data"]
                .contains(&key.as_str())
            {
                self.learn_all(value);
            }
        }
        for (key, value) in object["metadata"]["annotations"].as_object().into_iter().flatten() {
            let Some(text) = value.as_str() else {
                self.learn_all(value);
                continue;
            };
            // kubectl, kapp and others keep the whole object in an annotation.
            if let Ok(copy @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
                self.learn_data(&copy["data"]);
                self.learn_all(&copy["stringData"]);
                continue;
            }
            let domain = key.split_once('/').map_or("", |(domain, _)| domain);
            let is_public =
                PUBLIC.iter().any(|p| domain == *p || domain.ends_with(&format!(".{p}")));
            if !is_public && text.len() >= SHORTEST_LINE {
                self.learn_value(text);
            }
        }
    }

    fn learn_data(&self, data: &Value) {
        let Value::Object(map) = data else { return self.learn_all(data) };
        for value in map.values() {
            match value.as_str() {
                Some(text) => {
                    self.learn_value(text);
                    if let Some(Ok(plain)) = decode(text).map(String::from_utf8) {
                        self.learn_value(&plain);
                    }
                }
                None => self.learn_all(value),
            }
        }
    }

    /// Learns every scalar of a value: a Secret that was given numbers, booleans or maps is
    /// refused with them in the message (A4).
    fn learn_all(&self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(n) => self.learn_value(&n.to_string()),
            Value::String(text) => self.learn_value(text),
            Value::Array(items) => items.iter().for_each(|v| self.learn_all(v)),
            Value::Object(map) => map.values().for_each(|v| self.learn_all(v)),
        }
    }

    /// Learns one secret text: a value of a Secret, a password from the environment, a token.
    pub fn learn_value(&self, value: &str) {
        if value.trim().len() < SHORTEST || COMMON.contains(&value.to_ascii_lowercase().as_str()) {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if !known.seen.insert(value.into()) {
            return;
        }
        for form in forms(value) {
            known.add(form);
        }
    }

    /// The text with every known value replaced by `***`.
    pub fn scrub(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::with_capacity(text.len());
        let mut shown = 0;
        for (start, end) in known.found(text) {
            out.push_str(text.get(shown..start).unwrap_or_default());
            out.push_str(MASK);
            shown = end;
        }
        out.push_str(text.get(shown..).unwrap_or_default());
        out
    }

    /// The error with every known value replaced in its texts.
    #[must_use]
    pub fn scrub_error(&self, error: Error) -> Error {
        error.map_text(|text| self.scrub(text))
    }
}

impl Known {
    fn add(&mut self, form: String) {
        let Some(key) = form.as_bytes().first_chunk::<SHORTEST>() else { return };
        let bucket = self.patterns.entry(*key).or_default();
        if !bucket.iter().any(|p| **p == *form) {
            bucket.push(form.into());
        }
    }

    /// The ranges of the text to replace, in order and apart from each other. Values may overlap
    /// and adjoin in the text: what any of them covers goes.
    fn found(&self, text: &str) -> Vec<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (start, window) in bytes.windows(SHORTEST).enumerate() {
            let Some(bucket) = window.first_chunk().and_then(|key| self.patterns.get(key)) else {
                continue;
            };
            let rest = bytes.get(start..).unwrap_or_default();
            let longest = bucket.iter().filter_map(|p| covered(rest, p.as_bytes())).max();
            let Some(length) = longest else { continue };
            let (mut start, mut end) = (start, start + length);
            // Never half a character.
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            while !text.is_char_boundary(end) {
                end += 1;
            }
            match ranges.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => ranges.push((start, end)),
            }
        }
        ranges
    }
}

/// How much of the text is the pattern: all of it, or enough of its beginning.
fn covered(text: &[u8], pattern: &[u8]) -> Option<usize> {
    let same = text.iter().zip(pattern).take_while(|(a, b)| a == b).count();
    (same == pattern.len() || same >= PREFIX).then_some(same)
}

/// The forms in which a value turns up in texts.
fn forms(value: &str) -> Vec<String> {
    let mut forms = encoded(value);
    if value.contains('\n') {
        for line in value.lines().map(str::trim) {
            let is_pem_frame = line.starts_with("-----") && line.ends_with("-----");
            if line.len() >= SHORTEST_LINE && !is_pem_frame {
                forms.extend(encoded(line));
            }
        }
        // A trailing line feed is seldom printed.
        let trimmed = value.trim_end();
        if trimmed.len() >= SHORTEST {
            forms.extend(encoded(trimmed));
        }
    }
    forms.retain(|f| f.len() >= SHORTEST);
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn encoded(value: &str) -> Vec<String> {
    let quoted = serde_json::to_string(value).unwrap_or_default();
    let json = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    // Go's encoder escapes these too, as HTML.
    let go = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let url = percent(value);
    let query = url.replace("%20", "+");
    let mut forms = vec![value.to_owned(), json, go, query, url];
    for engine in [STANDARD, URL_SAFE] {
        let padded = engine.encode(value);
        forms.push(padded.trim_end_matches('=').to_owned());
        forms.push(padded);
    }
    forms
}

/// As Go's and JavaScript's URL encoders write it: all but unreserved characters escaped.
fn percent(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn knowing(values: &[&str]) -> Scrubber {
        let scrubber = Scrubber::new();
        values.iter().for_each(|v| scrubber.learn_value(v));
        scrubber
    }

    #[test]
    fn values_go_in_every_form() {
        let value = "p&ss \"w\" <é>\\?";
        let scrubber = knowing(&[value]);
        let forms = [
            value.to_owned(),
            serde_json::to_string(value).unwrap(),
            STANDARD.encode(value),
            URL_SAFE.encode(value),
            STANDARD.encode(value).trim_end_matches('=').to_owned(),
            "p%26ss%20%22w%22%20%3C%C3%A9%3E%5C%3F".into(),
            "p%26ss+%22w%22+%3C%C3%A9%3E%5C%3F".into(),
            "p\\u0026ss \\\"w\\\" \\u003cé\\u003e\\\\?".into(),
        ];
        for form in forms {
            let text = format!("before {form} after {form}");
            let found = scrubber.scrub(&text).replace("\"***\"", "***");
            assert_eq!(found, "before *** after ***", "{form}");
        }
    }

    #[test]
    fn overlapping_and_adjoining_values_leave_nothing() {
        let scrubber = knowing(&["abcd", "cdef", "abcdefgh", "wxyz"]);
        for (text, expected) in [
            ("abcdef", "***"),
            ("-abcdefgh-", "-***-"),
            ("abcdwxyz", "***"),
            ("abcabcd", "abc***"),
            ("abc", "abc"),
            ("", ""),
            ("é abcd é", "é *** é"),
        ] {
            assert_eq!(scrubber.scrub(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_and_cut_off_values_are_found() {
        let key =
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n}\n";
        let scrubber = knowing(&[key, "a-very-long-token-of-somebody-0123456789"]);
        let text = "  AQEFAASCBKcwggSjAgEAAoIB\n-----BEGIN PRIVATE KEY-----\n}";
        assert_eq!(scrubber.scrub(text), "  ***\n***}");
        assert_eq!(scrubber.scrub("token a-very-long-token-of-somebo"), "token ***");
        assert_eq!(scrubber.scrub("a-very-long-thing"), "a-very-long-thing");
        let encoded = STANDARD.encode(key);
        assert_eq!(scrubber.scrub(&encoded), MASK);
        assert_eq!(scrubber.scrub(encoded.get(..40).unwrap()), MASK);
    }

    #[test]
    fn secrets_are_learned_from_all_their_places() {
        let scrubber = Scrubber::new();
        let copy = json!({"kind": "Secret", "data": {"c": STANDARD.encode("from-copy")}});
        scrubber.learn(&json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "name-stays", "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": copy.to_string(),
                "meta.helm.sh/release-namespace": "namespace-stays",
                "token": "annotated-token",
            }},
            "data": {"a": STANDARD.encode("hunter2"), "b": "not base64!", "x": {"y": ["inner-text"]},
                "bin": STANDARD.encode([0xff, 0xfe, 0xfd, 0xfc])},
            "stringData": {"n": 12345678, "t": true, "s": "plain text"},
        }));
        scrubber
            .learn(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "stays too"}}));
        let gone = [
            "hunter2",
            "not base64!",
            "inner-text",
            "12345678",
            "plain text",
            "from-copy",
            "annotated-token",
            "//79/A==",
        ];
        for text in gone {
            assert_eq!(scrubber.scrub(&format!("<{text}>")), "<***>");
        }
        for text in ["name-stays", "namespace-stays", "true", "stays too"] {
            assert_eq!(scrubber.scrub(text), text);
        }
        let debug = format!("{scrubber:?}");
        assert!(!debug.contains("hunter2"), "{debug}");
    }

    #[test]
    fn short_and_common_values_are_left() {
        let scrubber = knowing(&["", "1", "abc", "     ", "true", "False", "default"]);
        let text = "1 abc      true False default";
        assert_eq!(scrubber.scrub(text), text);
    }

    #[test]
    fn clones_share_and_errors_are_scrubbed() {
        let one = Scrubber::new();
        one.clone().learn_value("hunter2");
        let error = Error::manifest("bad `hunter2`").because("hunter2").hint("not hunter2");
        let text = format!("{:?}", one.scrub_error(error));
        assert!(!text.contains("hunter2") && text.contains(MASK));
    }

    proptest! {
        #[test]
        fn no_value_survives(
            values in prop::collection::vec("[a-cé][a-cé\\n \"]{2,10}[a-cé]", 1..8),
            parts in prop::collection::vec("[a-cé\\n \"x]{0,6}", 1..8),
        ) {
            let scrubber = Scrubber::new();
            values.iter().for_each(|v| scrubber.learn_value(v));
            let mut text = String::new();
            for (part, value) in parts.iter().zip(values.iter().cycle()) {
                text.push_str(part);
                text.push_str(value);
            }
            let clean = scrubber.scrub(&text);
            for value in &values {
                prop_assert!(!clean.contains(value.as_str()), "{value:?} in {clean:?}");
            }
        }
    }
}
