//! Texts of a server: values cut out, facts read off, made safe for a terminal. Pure.

/// Whether the reason is that the field can only be set at creation.
pub(super) fn is_immutable(message: &str) -> bool {
    let first = first_line(message);
    [
        "immutable",
        "may not change once set",
        "may not be changed",
        "cannot be changed",
        "cannot change roleRef",
        "fields other than",
        "can not be less than",
        "can not be decreased",
        "field can not be",
    ]
    .iter()
    .any(|text| first.contains(text))
}

/// A field error's message without the value in it.
pub(super) fn without_value(message: &str) -> String {
    let message = first_line(message).trim();
    if let Some((before, value)) = message.split_once("Invalid value:") {
        // A second "Invalid value:" or text before the first is of no form that is known.
        let detail = if before.is_empty() { detail_after_value(value) } else { None };
        return detail.map_or_else(|| "the value is not accepted".to_owned(), |d| clean(&d));
    }
    if let Some(rest) = message.strip_prefix("Unsupported value:") {
        let supported = rest.split_once("supported values: ").map(|(_, values)| clean(values));
        return supported
            .map_or_else(|| "unsupported value".to_owned(), |v| format!("must be one of {v}"));
    }
    let text = message.strip_prefix("Forbidden: ").unwrap_or(message);
    let mut chars = text.chars();
    // Only the first word of the server's own kinds of error starts with a capital for no reason.
    let known = ["Required", "Duplicate", "Not found", "Too ", "Internal"];
    match chars.next() {
        Some(first) if known.iter().any(|k| text.starts_with(k)) => {
            clean(&format!("{}{}", first.to_lowercase(), chars.as_str()))
        }
        _ => clean(text),
    }
}

/// What follows the value in `"a value": must be shorter` or `v1.Go{…}: field is immutable`.
/// None when that cannot be told from the value.
fn detail_after_value(text: &str) -> Option<String> {
    let text = text.trim();
    let detail = match quoted(text, '"') {
        Some((_, rest)) => rest.strip_prefix(':')?.trim(),
        None => text.rsplit_once(": ")?.1.trim(),
    };
    // `must be of type object: "null"`: what follows is again a value, or its type.
    let detail = match detail.rsplit_once(": ") {
        Some((before, last)) if last.starts_with('"') => before,
        _ => detail,
    };
    let like_a_value = |c: char| matches!(c, '"' | '`' | '{' | '}');
    (!detail.is_empty() && !detail.contains(like_a_value) && !detail.contains("Invalid value"))
        .then(|| detail.to_owned())
}

/// Webhook and reason of `failed calling webhook "x": … : connection refused`.
pub(super) fn webhook_down(message: &str) -> Option<(String, String)> {
    let (webhook, rest) = if let Some((_, rest)) = message.split_once("failed calling webhook ") {
        let (webhook, rest) = quoted(rest, '"')?;
        (webhook, rest.to_owned())
    } else {
        let (_, rest) = message.split_once("conversion webhook for ")?;
        let (kind, rest) = rest.split_once(" failed: ")?;
        (format!("conversion of {kind}"), format!(": {rest}"))
    };
    let why = rest.rsplit_once(": ").map_or("", |(_, why)| why);
    Some((clean(&webhook), clean(first_line(why))))
}

/// `User "u" cannot patch resource "deployments" in API group "apps" in the namespace "shop"` in
/// our words. None: another text.
pub(super) fn missing_right(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("User ")?;
    let (user, rest) = quoted(rest, '"')?;
    let rest = rest.trim_start().strip_prefix("cannot ")?;
    let (verb, rest) = rest.split_once(' ')?;
    if let Some(rest) = rest.strip_prefix("path ") {
        let (path, _) = quoted(rest, '"')?;
        return Some(clean(&format!("user `{user}` cannot {verb} `{path}`")));
    }
    let (resource, rest) = quoted(rest.strip_prefix("resource ")?, '"')?;
    let group = rest.split_once("in API group ").and_then(|(_, r)| quoted(r, '"'));
    let group = group.map(|(group, _)| group).unwrap_or_default();
    let namespace = rest.split_once("in the namespace ").and_then(|(_, r)| quoted(r, '"'));
    let dot = if group.is_empty() { "" } else { "." };
    let place = match namespace {
        Some((namespace, _)) => format!(" in namespace `{namespace}`"),
        None => " in the whole cluster".to_owned(),
    };
    Some(clean(&format!("user `{user}` cannot {verb} `{resource}{dot}{group}`{place}")))
}

/// Text that the server made of names and numbers. Anything else in it ends it.
pub(super) fn server_numbers(text: &str) -> String {
    let of_numbers = |c: &char| c.is_ascii_alphanumeric() || " .,:=/-_()".contains(*c);
    clean(&first_line(text).chars().take_while(of_numbers).collect::<String>())
}

/// Splits a Go-quoted text off the start: `"a\"b" rest` → (`a"b`, ` rest`).
pub(super) fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let text = text.trim_start();
    let inner = text.strip_prefix(quote)?;
    let mut out = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            c if c == quote => return Some((out, &inner[at + c.len_utf8()..])),
            c => out.push(c),
        }
    }
    None
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A server's text made safe for a terminal: no escape sequences, control or direction characters,
/// runs of white space as one, at most 600 characters.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(600));
    let mut chars = text.chars().peekable();
    let mut length = 0;
    let mut space = false;
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('\x40'..='\x7e').contains(&c)) {},
                Some(']') => {
                    while chars.next().is_some_and(|c| !matches!(c, '\x07' | '\u{1b}' | '\u{9c}')) {
                    }
                    chars.next_if_eq(&'\\');
                }
                _ => {}
            }
            continue;
        }
        if matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        {
            continue;
        }
        if c.is_whitespace() || c.is_control() {
            space = !out.is_empty();
            continue;
        }
        if length >= 600 {
            out.push('…');
            break;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
            length += 1;
        }
        out.push(c);
        length += 1;
    }
    out
}
