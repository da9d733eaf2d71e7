//! Tables as kubectl prints them: upper-case headers, three spaces between columns, no lines.
//!
//! The last column takes what room is left and wraps below its own start; where too little is
//! left for its text, that goes below its row instead. Without a width (a file, a pipe) nothing is wrapped, and
//! nothing is ever cut: a row is then one line for `grep` and `awk`.
//!
//! comfy-table lays out the plain text; the styles of the cells are put in afterwards, so that all
//! colour of the program comes from one place.

use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, Table as Layout, Width};
use unicode_width::UnicodeWidthStr;

use crate::ui::{Look, Role, clean};

/// Between two columns.
const GAP: u16 = 3;
/// The least room in which a wrapped last column reads well.
const LEAST_ROOM: usize = 24;
/// In how many lines a wrapped last column reads well.
const MOST_LINES: usize = 3;
/// A cell up to this width is a number or a word, not a text to wrap: it stays in its row.
const WORD: usize = 12;
/// How far a last column that went below its row is set in.
const INDENT: u16 = 4;

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

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        self.text.width()
    }

    /// Whether it says that there is nothing to say.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.text.as_str(), "" | "-")
    }

    fn paint(&self, text: &str, look: Look) -> String {
        self.role.map_or_else(|| text.to_owned(), |role| look.paint(role, text))
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
        let mut rows: Vec<Vec<Cell>> =
            std::iter::once(&self.headers).chain(&self.rows).map(|row| tidy(row)).collect();
        let Some(last) = rows.iter().map(Vec::len).max().and_then(|n| n.checked_sub(1)) else {
            return String::new();
        };
        let start: usize = layout(&rows)
            .column_max_content_widths()
            .iter()
            .take(last)
            .map(|width| usize::from(width.saturating_add(GAP)))
            .sum();
        let room = look.width.map_or(usize::MAX, |all| all.saturating_sub(start));
        let below = take_wide(&mut rows, last, room);

        let mut table = layout(&rows);
        if let Some(column) = table.column_mut(last) {
            column.set_padding((0, 0));
            column.set_constraint(ColumnConstraint::UpperBoundary(fixed(room.max(WORD))));
        }
        let mut lines = table.lines();
        let mut text = String::new();
        for (at, row) in rows.iter().enumerate() {
            paint(row, last, &mut lines, look, &mut text);
            if let Some(Some(cell)) = below.get(at) {
                let width = look.width.unwrap_or_default().max(LEAST_ROOM + usize::from(INDENT));
                let mut table = layout(&[vec![cell.clone()]]);
                if let Some(column) = table.column_mut(0) {
                    column.set_padding((INDENT, 0));
                    column.set_constraint(ColumnConstraint::Absolute(fixed(width)));
                }
                paint(std::slice::from_ref(cell), 0, &mut table.lines(), look, &mut text);
            }
        }
        text
    }
}

/// One line each, and nothing in it that a terminal would obey.
fn tidy(row: &[Cell]) -> Vec<Cell> {
    let line = |text: &str| clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    row.iter().map(|cell| Cell { text: line(&cell.text), role: cell.role }).collect()
}

/// Takes the texts of the last column that read better below their rows out of them.
fn take_wide(rows: &mut [Vec<Cell>], last: usize, room: usize) -> Vec<Option<Cell>> {
    let most = if room < LEAST_ROOM { room.max(WORD) } else { room.saturating_mul(MOST_LINES) };
    let wide = |cell: &&mut Cell| cell.text.width() > most;
    rows.iter_mut().map(|row| row.get_mut(last).filter(wide).map(std::mem::take)).collect()
}

/// The rows in columns as wide as their widest cell.
fn layout(rows: &[Vec<Cell>]) -> Layout {
    let mut table = Layout::new();
    table.load_style(NOTHING);
    table.add_rows(rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str())));
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, GAP)));
    table
}

fn fixed(width: usize) -> Width {
    Width::Fixed(u16::try_from(width).unwrap_or(u16::MAX))
}

/// Writes the lines that belong to a row, each of its cells in its style, and no space at the end
/// of a line.
fn paint(
    row: &[Cell],
    last: usize,
    lines: &mut impl Iterator<Item = String>,
    look: Look,
    text: &mut String,
) {
    let mut line = lines.next().unwrap_or_default();
    let mut rest = line.trim_end();
    for cell in row.iter().take(last) {
        let Some(at) = rest.find(&cell.text) else { continue };
        let (space, from) = rest.split_at(at);
        let (own, after) = from.split_at(cell.text.len());
        *text += space;
        *text += &cell.paint(own, look);
        rest = after;
    }
    let cell = row.get(last).cloned().unwrap_or_default();
    let mut owed = cell.text.as_str();
    loop {
        let piece = rest.trim_start();
        *text += &rest[..rest.len() - piece.len()];
        *text += &cell.paint(piece, look);
        text.push('\n');
        owed = owed.strip_prefix(piece).unwrap_or_default().trim_start();
        if owed.is_empty() {
            return;
        }
        let Some(next) = lines.next() else { return };
        line = next;
        rest = line.trim_end();
    }
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
                let start = "us-east   Progressing   ".len();
                prop_assert!(line.width() <= width.max(start + WORD), "{line:?}");
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }
}
