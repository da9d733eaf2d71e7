//! A text of many lines that changes in its place on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use crate::ui::Ui;

/// A text that is written over again and again. indicatif keeps it inside the terminal's height: of
/// one that is longer the beginning is shown.
pub struct Board {
    ui: Ui,
    bar: ProgressBar,
}

impl Board {
    /// One below the lines; none where nothing can move.
    pub fn new(ui: &Ui) -> Option<Self> {
        let terminal = ui.is_live() && ui.out().width.is_some();
        terminal.then(|| {
            let bar = ui.bars().add(ProgressBar::new_spinner());
            bar.set_style(
                ProgressStyle::with_template("{msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            Board { ui: ui.clone(), bar }
        })
    }

    /// Shows this text in place of the last one.
    pub fn show(&self, text: &str) {
        self.bar.set_message(text.trim_end().to_owned());
        self.bar.tick();
    }

    /// Takes it away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
        self.ui.bars().remove(&self.bar);
    }
}
