//! Text in lines of a width.

use unicode_width::UnicodeWidthStr;

/// The least room in which text is wrapped; below it, a terminal does no worse.
const LEAST_ROOM: usize = 24;

/// The text's words in lines that fit beside an indent of so many columns; one line without a
/// width. A word that is too long has a line of its own.
pub(super) fn wrapped(text: &str, width: Option<usize>, indent: usize) -> Vec<String> {
    let Some(room) = width.map(|width| width.saturating_sub(indent).max(LEAST_ROOM)) else {
        return vec![text.to_owned()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_lines() {
        let text = "one two three four five six seven";
        assert_eq!(wrapped(text, None, 4), [text]);
        assert_eq!(wrapped(text, Some(30), 4), ["one two three four five", "six seven"]);
        assert_eq!(wrapped(text, Some(3), 40), ["one two three four five", "six seven"]);
        let long = "x".repeat(40);
        assert_eq!(wrapped(&format!("a {long} b"), Some(30), 0), ["a", &long, "b"]);
        assert_eq!(wrapped("", Some(80), 0), [""; 0]);
    }
}
