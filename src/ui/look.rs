//! Styles by their role. Colour never carries a meaning alone: the word stands beside it.

use anstyle::{AnsiColor, Style};

/// How a stream is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether it is coloured.
    pub color: bool,
    /// Its width in columns; none where lines are never wrapped, as in a file.
    pub width: Option<usize>,
}

/// What a piece of text is, from which its style follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It went well.
    Ok,
    /// It is on its way, or may be wrong.
    Warn,
    /// It went wrong.
    Fail,
    /// Beside the point.
    Dim,
    /// The point.
    Bold,
    /// Added by a change.
    Add,
    /// Removed by a change.
    Remove,
    /// The header of a table or of a block.
    Heading,
    /// What to do next.
    Hint,
}

impl Role {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Role::Ok | Role::Add => color(AnsiColor::Green),
            Role::Warn => color(AnsiColor::Yellow),
            Role::Remove => color(AnsiColor::Red),
            Role::Fail => color(AnsiColor::Red).bold(),
            Role::Dim => Style::new().dimmed(),
            Role::Bold | Role::Heading => Style::new().bold(),
            Role::Hint => color(AnsiColor::Cyan),
        }
    }
}

impl Look {
    /// The text in the style of its role; as it is without colour.
    pub fn paint(self, role: Role, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}
