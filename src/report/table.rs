//! Tables as kubectl prints them: upper-case headers, three spaces between columns, no lines.
//!
//! The last column takes what room is left and wraps below its own start; where too little is
//! left, it goes below its row instead. Without a width (a file, a pipe) nothing is wrapped, and
//! nothing is ever cut: a row is then one line for `grep` and `awk`.

use unicode_width::UnicodeWidthStr;

use crate::ui::{Look, Role, clean};

/// Between two columns.
const GAP: usize = 3;
/// The least room in which a wrapped last column reads well.
const LEAST_ROOM: usize = 24;
/// How far a last column that went below its row is set in.
const INDENT: usize = 4;

/// One cell: a text and, where it has one, its role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    role: Option<Role>,
}

impl Cell {
    /// A cell in the style of its role.
    pub fn styled(text: impl Into<String>, role: Role) -> Self {
        Cell { text: text.into(), role: Some(role) }
    }
}

impl<S: Into<String>> From<S> for Cell {
    fn from(text: S) -> Self {
        Cell { text: text.into(), role: None }
    }
}

/// A table with a header.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headers: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these columns. Their names are written in capitals as they are given.
    pub fn new<S: Into<String>>(headers: impl IntoIterator<Item = S>) -> Self {
        let headers = headers.into_iter().map(|h| Cell::styled(h, Role::Heading)).collect();
        Table { headers, rows: Vec::new() }
    }

    /// Adds a row. Cells that are missing are empty; cells that are too many are shown without a
    /// header.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table's text, each line with its newline.
    pub fn render(&self, look: Look) -> String {
        let mut lines: Vec<Vec<Cell>> =
            std::iter::once(&self.headers).chain(&self.rows).map(|row| tidy(row)).collect();
        let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
        let Some(last) = columns.checked_sub(1) else { return String::new() };
        let widths: Vec<usize> = (0..last)
            .map(|column| lines.iter().filter_map(|row| row.get(column)).map(width).max())
            .map(Option::unwrap_or_default)
            .collect();
        let start: usize = widths.iter().map(|w| w + GAP).sum();
        // A header that does not fit is left out: it never goes below, as a message does.
        let room = look.width.map_or(usize::MAX, |all| all.saturating_sub(start));
        if let Some(header) = lines.first_mut().and_then(|row| row.get_mut(last))
            && width(header) > room
        {
            header.text.clear();
        }
        let mut text = String::new();
        for row in &lines {
            text += &render_row(row, &widths, start, look);
        }
        text
    }
}

/// One line each, and nothing in it that a terminal would obey.
fn tidy(row: &[Cell]) -> Vec<Cell> {
    let line = |text: &str| clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    row.iter().map(|cell| Cell { text: line(&cell.text), role: cell.role }).collect()
}

fn width(cell: &Cell) -> usize {
    cell.text.width()
}

fn paint(cell: &Cell, text: &str, look: Look) -> String {
    cell.role.map_or_else(|| text.to_owned(), |role| look.paint(role, text))
}

/// The row's lines. `start` is where the last column begins.
fn render_row(row: &[Cell], widths: &[usize], start: usize, look: Look) -> String {
    // Spaces are written only before something, so that no line ends in one.
    let mut line = String::new();
    let mut owed = 0;
    for (column, width_of_column) in widths.iter().enumerate() {
        let Some(cell) = row.get(column) else { break };
        if !cell.text.is_empty() {
            line += &" ".repeat(std::mem::take(&mut owed));
            line += &paint(cell, &cell.text, look);
        }
        owed += width_of_column - width(cell) + GAP;
    }
    let last = row.get(widths.len()).filter(|cell| !cell.text.is_empty());
    let Some(last) = last else { return line + "\n" };

    let room = look.width.map_or(usize::MAX, |all| all.saturating_sub(start));
    let below = room < LEAST_ROOM && width(last) > room && !line.is_empty();
    let (indent, pieces) = if below {
        let all = look.width.unwrap_or(usize::MAX);
        (INDENT, wrap(&last.text, all.saturating_sub(INDENT).max(LEAST_ROOM)))
    } else {
        (start, wrap(&last.text, room.max(1)))
    };
    for (at, piece) in pieces.iter().enumerate() {
        if at == 0 && !below {
            line += &" ".repeat(owed);
        } else {
            line += "\n";
            line += &" ".repeat(indent);
        }
        line += &paint(last, piece, look);
    }
    line + "\n"
}

/// Breaks a line at its spaces, and a word that is longer than a line anywhere.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word;
        let joined = if line.is_empty() { 0 } else { line.width() + 1 };
        if joined > 0 && joined + word.width() > room {
            lines.push(std::mem::take(&mut line));
        }
        while word.width() > room {
            let (head, tail) = word.split_at(fitting(word, room));
            lines.push(head.to_owned());
            word = tail;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines
}

/// How many bytes of a word fit into `room` columns; at least one character.
fn fitting(word: &str, room: usize) -> usize {
    let mut end = 0;
    for (at, c) in word.char_indices() {
        let next = at + c.len_utf8();
        if end > 0 && word[..next].width() > room {
            break;
        }
        end = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn look(width: Option<usize>) -> Look {
        Look { color: false, width }
    }

    fn status() -> Table {
        let mut table =
            Table::new(["CLUSTER", "WAVE", "STATE", "REV", "READY", "UPDATED", "AGE", "MESSAGE"]);
        table
            .row(["eu-1", "1/3", "✔ Healthy", "42", "6/6", "6/6", "9m", ""])
            .row([
                "eu-2",
                "2/3",
                "◌ Waiting",
                "41→42",
                "4/6",
                "2/6",
                "1m",
                "Deployment shop/web: pod web-7d9: ImagePullBackOff: Back-off pulling image \"registry.example.com/team/web:2.0.1\"",
            ])
            .row(["us-1", "2/3", "✖ Unreachable", "41", "-", "-", "1m", "dial tcp 10.0.0.1:443: i/o timeout"]);
        table
    }

    #[test]
    fn a_pipe_gets_one_line_a_row() {
        assert_snapshot!(status().render(look(None)), @r#"
        CLUSTER   WAVE   STATE           REV     READY   UPDATED   AGE   MESSAGE
        eu-1      1/3    ✔ Healthy       42      6/6     6/6       9m
        eu-2      2/3    ◌ Waiting       41→42   4/6     2/6       1m    Deployment shop/web: pod web-7d9: ImagePullBackOff: Back-off pulling image "registry.example.com/team/web:2.0.1"
        us-1      2/3    ✖ Unreachable   41      -       -         1m    dial tcp 10.0.0.1:443: i/o timeout
        "#);
    }

    #[test]
    fn a_wide_terminal_wraps_the_message_below_its_start() {
        assert_snapshot!(status().render(look(Some(140))), @r#"
        CLUSTER   WAVE   STATE           REV     READY   UPDATED   AGE   MESSAGE
        eu-1      1/3    ✔ Healthy       42      6/6     6/6       9m
        eu-2      2/3    ◌ Waiting       41→42   4/6     2/6       1m    Deployment shop/web: pod web-7d9: ImagePullBackOff: Back-off pulling image
                                                                         "registry.example.com/team/web:2.0.1"
        us-1      2/3    ✖ Unreachable   41      -       -         1m    dial tcp 10.0.0.1:443: i/o timeout
        "#);
    }

    #[test]
    fn a_narrow_terminal_puts_the_message_below_the_row() {
        assert_snapshot!(status().render(look(Some(80))), @r#"
        CLUSTER   WAVE   STATE           REV     READY   UPDATED   AGE   MESSAGE
        eu-1      1/3    ✔ Healthy       42      6/6     6/6       9m
        eu-2      2/3    ◌ Waiting       41→42   4/6     2/6       1m
            Deployment shop/web: pod web-7d9: ImagePullBackOff: Back-off pulling image
            "registry.example.com/team/web:2.0.1"
        us-1      2/3    ✖ Unreachable   41      -       -         1m
            dial tcp 10.0.0.1:443: i/o timeout
        "#);
    }

    #[test]
    fn styles_do_not_move_columns() {
        let mut table = Table::new(["CLUSTER", "STATE", "MESSAGE"]);
        table.row([Cell::from("us-east"), Cell::styled("Healthy", Role::Ok), Cell::from("")]).row(
            [
                Cell::from("eu"),
                Cell::styled("Failed", Role::Fail),
                Cell::styled("a message of more words than fit here", Role::Dim),
            ],
        );
        let plain = table.render(look(Some(45)));
        let color = table.render(Look { color: true, width: Some(45) });
        assert_snapshot!(color.replace('\x1b', "^"), @"
                ^[1mCLUSTER^[0m   ^[1mSTATE^[0m     ^[1mMESSAGE^[0m
                us-east   ^[32mHealthy^[0m
                eu        ^[1m^[31mFailed^[0m    ^[2ma message of more words^[0m
                                    ^[2mthan fit here^[0m
                ");
        let mut stripped = color;
        while let Some(at) = stripped.find('\x1b') {
            let end = stripped[at..].find('m').expect("a style ends");
            stripped.replace_range(at..=at + end, "");
        }
        assert_eq!(stripped, plain);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(["NAME", "STATE"]);
        table.row(["東京", "ok"]).row(["eu", "ok"]);
        assert_snapshot!(table.render(look(None)), @"
        NAME   STATE
        東京   ok
        eu     ok
        ");
    }

    #[test]
    fn cells_are_one_harmless_line() {
        let mut table = Table::new(["NAME", "MESSAGE"]);
        table.row(["a", "first\n  second\u{1b}[2Jthird"]);
        assert_snapshot!(table.render(look(None)), @"
        NAME   MESSAGE
        a      first second␛[2Jthird
        ");
    }

    #[test]
    fn rows_may_be_short_or_long_or_none() {
        let mut table = Table::new(["A", "B"]);
        assert!(table.is_empty());
        assert_eq!(table.render(look(None)), "A   B\n");
        table.row(["1"]).row(["1", "2", "3"]).row(["", "2"]);
        assert_eq!(table.render(look(None)), "A   B\n1\n1   2   3\n    2\n");
        assert_eq!(Table::default().render(look(None)), "");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(
            words in proptest::collection::vec("[a-zé東]{1,40}", 0..30),
            width in 20_usize..200,
        ) {
            let mut table = Table::new(["CLUSTER", "STATE", "MESSAGE"]);
            table.row(["us-east".to_owned(), "Progressing".into(), words.join(" ")]);
            let text = table.render(look(Some(width)));
            let body: Vec<&str> = text.lines().skip(1).collect();
            let squeezed = |s: &str| s.split_whitespace().collect::<String>();
            prop_assert_eq!(squeezed(&body.concat()), format!("us-eastProgressing{}", words.concat()));
            for line in body {
                prop_assert!(line.width() <= width.max(LEAST_ROOM + INDENT), "{line:?}");
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }
}
