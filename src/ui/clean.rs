//! What comes from a server, a tool or a file may hold characters that move the cursor, recolour
//! the screen or reorder what is read. They are shown as marks.

use std::borrow::Cow;

/// Text from elsewhere, made harmless: control characters but newline and tab become visible
/// marks, and so do the characters that reorder text.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_harmful(c) { mark(c) } else { c }).collect())
}

/// The last guard before a terminal: as [`clean`], but our own styles pass when there is colour.
pub(super) fn for_terminal(text: &str, color: bool) -> Cow<'_, str> {
    if !color {
        return clean(text);
    }
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = style_length(rest).unwrap_or_default();
        if length > 0 {
            safe.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            safe.push(if is_harmful(c) { mark(c) } else { c });
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(safe)
}

/// The length of a style sequence (`ESC [ digits and ; m`) at the start of the text.
fn style_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(2 + end + 1)
}

fn is_harmful(c: char) -> bool {
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || reorders
}

/// The picture of a control character, or the sign for one that has none.
fn mark(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        _ => '\u{fffd}',
    }
}
