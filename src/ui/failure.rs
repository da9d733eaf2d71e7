//! An error as a person reads it.
//!
//! ```text
//! error: us-east: Deployment shop/web: unknown key `contxt`
//!   --> mcd.yaml:14:3
//!    |
//! 14 |   contxt: us
//!    |   ^^^^^^
//!   caused by: …
//! hint: did you mean `context`?
//! ```

use unicode_width::UnicodeWidthChar;

use super::{Look, Role, clean};
use crate::error::{Error, Location};

/// The error in lines, without a final newline.
pub(super) fn render(error: &Error, look: Look) -> String {
    let target = error.target().map(ToString::to_string);
    render_of(error, target.as_deref(), look)
}

/// The errors in the order in which they come, those that differ only in their targets once.
pub(super) fn render_all(errors: &[Error], look: Look) -> Vec<String> {
    let mut groups: Vec<(String, &Error, Vec<String>)> = Vec::new();
    for error in errors {
        let text = render_of(error, None, look);
        let target = error.target().map(ToString::to_string);
        match groups.iter_mut().find(|(known, _, _)| *known == text) {
            Some((_, _, targets)) => targets.extend(target),
            None => groups.push((text, error, target.into_iter().collect())),
        }
    }
    let told = groups.iter().map(|(text, error, targets)| match targets.as_slice() {
        [] => text.clone(),
        targets => render_of(error, Some(&named(targets)), look),
    });
    told.collect()
}

/// Up to how many targets are named.
const FEW: usize = 6;

fn named(targets: &[String]) -> String {
    match targets.split_at_checked(FEW) {
        Some((few, rest)) if !rest.is_empty() => {
            format!("{} and {} more", few.join(", "), rest.len())
        }
        _ => targets.join(", "),
    }
}

fn render_of(error: &Error, target: Option<&str>, look: Look) -> String {
    let mut head = String::new();
    if let Some(target) = target {
        head += &format!("{target}: ");
    }
    if let Some(object) = error.object() {
        head += &format!("{object}: ");
    }
    let message = indented(&clean(&format!("{head}{}", error.message())), "  ");
    let mut lines = vec![format!("{} {message}", look.paint(Role::Fail, "error:"))];
    if let Some(location) = error.location() {
        lines.extend(snippet(location, look));
    }
    for cause in error.causes() {
        let cause = indented(&clean(cause), "    ");
        lines.push(format!("  {} {cause}", look.paint(Role::Dim, "caused by:")));
    }
    for hint in error.hints() {
        let hint = indented(&clean(hint), "  ");
        lines.push(format!("{} {hint}", look.paint(Role::Hint, "hint:")));
    }
    lines.join("\n")
}

/// The lines after the first set in, so that a tool's own words stay together.
pub(super) fn indented(text: &str, by: &str) -> String {
    text.trim_end().lines().collect::<Vec<_>>().join(&format!("\n{by}"))
}

/// The place, and the line with a mark below the word where it stands.
pub(crate) fn snippet(location: &Location, look: Look) -> Vec<String> {
    let dim = |text: &str| look.paint(Role::Dim, text);
    let place = clean(&location.to_string()).into_owned();
    let number = location.line.to_string();
    let margin = " ".repeat(number.len());
    let arrow = dim("-->");
    let mut lines = vec![format!("{margin}{arrow} {place}")];
    let text = clean(location.text.trim_end());
    if text.is_empty() {
        return vec![format!("  {arrow} {place}")];
    }
    let bar = dim("|");
    lines.push(format!("{margin} {bar}"));
    let room = look.width.map_or(usize::MAX, |w| w.saturating_sub(number.len() + 3).max(10));
    let (shown, column) = window(&text, location.column, room);
    lines.push(format!("{} {bar} {shown}", dim(&number)));
    if column > 0 {
        lines.push(format!("{margin} {bar} {}", look.paint(Role::Fail, &caret(&shown, column))));
    }
    lines
}

/// Cuts a line that is longer than `room` so that the column is in view. Gives the text and the
/// column in it.
fn window(text: &str, column: usize, room: usize) -> (String, usize) {
    let length = text.chars().count();
    if length <= room {
        return (text.to_owned(), column);
    }
    let first = column.saturating_sub(room / 2).min(length.saturating_sub(room.saturating_sub(2)));
    let last = first + room.saturating_sub(2);
    let mut shown: String = text.chars().skip(first).take(last - first).collect();
    let mut column = column.saturating_sub(first);
    if first > 0 {
        shown.insert(0, '…');
        column += 1;
    }
    if last < length {
        shown.push('…');
    }
    (shown, column)
}

/// Marks below the word that starts at `column`, with the tabs of the line before it.
fn caret(text: &str, column: usize) -> String {
    let before: String = text.chars().take(column - 1).map(blank).collect();
    let is_word = |c: &char| c.is_alphanumeric() || "-_./@".contains(*c);
    let word = text.chars().skip(column - 1).take_while(is_word).count();
    format!("{before}{}", "^".repeat(word.max(1)))
}

/// What takes the room of a character: a tab for a tab.
fn blank(c: char) -> String {
    if c == '\t' { "\t".into() } else { " ".repeat(c.width().unwrap_or(0)) }
}
