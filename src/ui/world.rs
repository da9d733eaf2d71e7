//! What surrounds the process, and what follows from it.

use std::io::IsTerminal;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The streams and variables that decide about colour, width and the live area. Read once; the
/// default is a world without terminals and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Whether standard input is a terminal.
    pub stdin_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_terminal: bool,
    /// The width that the terminal tells, in columns.
    pub terminal_width: Option<usize>,
    /// `$COLUMNS`: what a shell or a test says instead of the terminal.
    pub columns: Option<String>,
    /// `$TERM`.
    pub term: Option<String>,
    /// `$NO_COLOR` (no-color.org: any value but the empty one).
    pub no_color: Option<String>,
    /// `$FORCE_COLOR`; `0` and `false` switch off.
    pub force_color: Option<String>,
    /// `$CLICOLOR_FORCE`; `0` means nothing.
    pub clicolor_force: Option<String>,
    /// `$CLICOLOR`; `0` switches off.
    pub clicolor: Option<String>,
    /// `$CI`.
    pub ci: Option<String>,
}

/// The width where the terminal tells none.
const DEFAULT_WIDTH: usize = 80;
/// Below this, lines are not worth wrapping.
const LEAST_WIDTH: usize = 20;

impl World {
    /// The world of this process.
    pub fn of_process() -> Self {
        let var = |name: &str| std::env::var(name).ok();
        let terminal_width = [width_of(std::io::stderr()), width_of(std::io::stdout())];
        World {
            stdin_terminal: std::io::stdin().is_terminal(),
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
            terminal_width: terminal_width.into_iter().flatten().next(),
            columns: var("COLUMNS"),
            term: var("TERM"),
            no_color: var("NO_COLOR"),
            force_color: var("FORCE_COLOR"),
            clicolor_force: var("CLICOLOR_FORCE"),
            clicolor: var("CLICOLOR"),
            ci: var("CI"),
        }
    }

    /// Whether to colour a stream. The flag wins, then `NO_COLOR`, `FORCE_COLOR`,
    /// `CLICOLOR_FORCE`, `CLICOLOR`, then whether it is a terminal that can.
    pub(super) fn color(&self, choice: ColorChoice, terminal: bool) -> bool {
        let set = |variable: &Option<String>| variable.clone().filter(|v| !v.is_empty());
        match choice {
            ColorChoice::Always => return true,
            ColorChoice::Never => return false,
            ColorChoice::Auto => {}
        }
        if set(&self.no_color).is_some() {
            return false;
        }
        if let Some(force) = set(&self.force_color) {
            return !matches!(force.as_str(), "0" | "false");
        }
        if set(&self.clicolor_force).is_some_and(|v| v != "0") {
            return true;
        }
        set(&self.clicolor).as_deref() != Some("0") && terminal && !self.is_dumb()
    }

    /// Whether a live area may be drawn: the cursor is moved only on a terminal that can, and
    /// never in a CI job, whose log keeps every frame.
    pub(super) fn draws_live(&self, quiet: bool) -> bool {
        let ci = self.ci.as_deref().is_some_and(|v| !matches!(v, "" | "0" | "false"));
        self.stderr_terminal && !quiet && !ci && !self.is_dumb()
    }

    /// The width of a terminal.
    pub(super) fn width(&self) -> usize {
        let columns = self.columns.as_deref().and_then(|c| c.trim().parse().ok());
        let width = columns.filter(|c| *c > 0).or(self.terminal_width).unwrap_or(DEFAULT_WIDTH);
        width.max(LEAST_WIDTH)
    }

    fn is_dumb(&self) -> bool {
        self.term.as_deref() == Some("dumb")
    }
}

#[cfg(unix)]
fn width_of(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|w| *w > 0)
}

#[cfg(not(unix))]
fn width_of<S>(_stream: S) -> Option<usize> {
    None
}
