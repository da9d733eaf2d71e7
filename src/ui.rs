//! The terminal: the only place that writes to it, or reads from it.
//!
//! Data goes to standard output, everything else to standard error. What the streams can do
//! (colour, width, a live area) is resolved once, from the options and the [`World`].

mod clean;
mod failure;
mod look;
mod world;

#[cfg(test)]
mod tests;

use std::io::{self, BufRead, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget};

pub use clean::clean;
pub(crate) use failure::snippet;
pub use look::{Look, Role};
pub use world::{ColorChoice, World};

use crate::error::{Error, Exit, Result};

/// How often the live area may be drawn, per second.
const DRAWS: u8 = 8;

/// What the user asked of the output.
#[derive(Clone, Debug, Default)]
pub struct UiOptions {
    /// `--color`.
    pub color: ColorChoice,
    /// `-q`: no status lines and no progress; warnings and errors stay.
    pub quiet: bool,
    /// `-v`: details too.
    pub verbose: bool,
    /// The width to use instead of that of the terminal; it also bounds piped output.
    pub width: Option<usize>,
}

/// The terminal. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Ui {
    inner: Arc<Inner>,
}

struct Inner {
    out: Mutex<Box<dyn Write + Send>>,
    err: Mutex<Box<dyn Write + Send>>,
    input: Mutex<Box<dyn BufRead + Send>>,
    out_look: Look,
    err_look: Look,
    world: World,
    quiet: bool,
    verbose: bool,
    bars: MultiProgress,
    closed: AtomicBool,
}

impl Ui {
    /// The terminal of this process.
    pub fn new(options: &UiOptions) -> Self {
        let world = World::of_process();
        let target = if world.draws_live(options.quiet) {
            ProgressDrawTarget::stderr_with_hz(DRAWS)
        } else {
            ProgressDrawTarget::hidden()
        };
        let streams = Streams {
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            input: Box::new(io::BufReader::new(io::stdin())),
        };
        Self::on(streams, target, world, options)
    }

    /// One that writes to memory, as for tests: no stream is a terminal.
    pub fn buffer() -> (Self, Written) {
        Self::buffer_in(World::default(), &UiOptions::default(), "")
    }

    /// One that writes to memory, in a given world, with given answers to its questions.
    pub fn buffer_in(world: World, options: &UiOptions, input: &str) -> (Self, Written) {
        let written = Written::default();
        let streams = Streams {
            out: Box::new(written.out.clone()),
            err: Box::new(written.err.clone()),
            input: Box::new(io::Cursor::new(input.to_owned().into_bytes())),
        };
        let ui = Self::on(streams, ProgressDrawTarget::hidden(), world, options);
        (ui, written)
    }

    /// One with a live area in memory.
    #[cfg(test)]
    pub(crate) fn live_in(term: &indicatif::InMemoryTerm) -> (Self, Written) {
        let written = Written::default();
        let streams = Streams {
            out: Box::new(written.out.clone()),
            err: Box::new(written.err.clone()),
            input: Box::new(io::empty()),
        };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(term.clone()), u8::MAX);
        (Self::on(streams, target, World::default(), &UiOptions::default()), written)
    }

    fn on(streams: Streams, target: ProgressDrawTarget, world: World, options: &UiOptions) -> Self {
        let look = |terminal: bool| Look {
            color: world.color(options.color, terminal),
            width: options.width.or_else(|| terminal.then(|| world.width())),
        };
        let inner = Inner {
            out: Mutex::new(streams.out),
            err: Mutex::new(streams.err),
            input: Mutex::new(streams.input),
            out_look: look(world.stdout_terminal),
            err_look: look(world.stderr_terminal),
            quiet: options.quiet,
            verbose: options.verbose,
            bars: MultiProgress::with_draw_target(target),
            closed: AtomicBool::new(false),
            world,
        };
        Ui { inner: Arc::new(inner) }
    }

    /// How standard output is written.
    pub fn out(&self) -> Look {
        self.inner.out_look
    }

    /// How standard error is written.
    pub fn err(&self) -> Look {
        self.inner.err_look
    }

    /// Whether status lines are wanted.
    pub fn is_quiet(&self) -> bool {
        self.inner.quiet
    }

    /// Whether there is a live area below the lines. Without one, progress is lines.
    pub fn is_live(&self) -> bool {
        !self.inner.bars.is_hidden()
    }

    /// The live area. Everything that this type writes makes way for it.
    pub(crate) fn bars(&self) -> &MultiProgress {
        &self.inner.bars
    }

    /// Writes a result to standard output, as it is: give lines their newline.
    ///
    /// A reader that went away (`| head`) is no error: what follows is dropped, and
    /// [`Ui::is_closed`] says so to those who go on for its sake only. So `mcd status | head`
    /// ends with the outcome's own exit code, as with ripgrep.
    ///
    /// # Errors
    /// Any other failure to write, such as a full disk behind `>`.
    pub fn data(&self, text: &str) -> Result<()> {
        if self.is_closed() {
            return Ok(());
        }
        // A file or a program gets the exact bytes; a terminal gets none that move its cursor.
        let text = if self.inner.world.stdout_terminal {
            clean::for_terminal(text, self.out().color)
        } else {
            text.into()
        };
        let done = self.inner.bars.suspend(|| {
            let mut out = lock(&self.inner.out);
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        });
        match done {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                self.inner.closed.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(e) => Err(Error::new(Exit::Failed, "could not write to standard output")
                .because(e.to_string())),
            Ok(()) => Ok(()),
        }
    }

    /// Whether the reader of standard output went away.
    pub fn is_closed(&self) -> bool {
        self.inner.closed.load(Ordering::Relaxed)
    }

    /// A line about what is going on, on standard error; dropped by `-q`.
    pub fn status(&self, line: &str) {
        if !self.inner.quiet {
            self.say(line);
        }
    }

    /// Whether more was asked for with `-v`.
    pub fn is_verbose(&self) -> bool {
        self.inner.verbose
    }

    /// A line for those who asked for more with `-v`.
    pub fn detail(&self, line: &str) {
        if self.inner.verbose {
            self.say(&self.err().paint(Role::Dim, &clean(line)));
        }
    }

    /// Something that may be wrong. Stays with `-q`.
    pub fn warning(&self, text: &str) {
        let head = self.err().paint(Role::Warn, "warning:");
        self.say(&format!("{head} {}", failure::indented(&clean(text), "  ")));
    }

    /// What the user can do next; dropped by `-q`.
    pub fn hint(&self, text: &str) {
        let head = self.err().paint(Role::Hint, "hint:");
        self.status(&format!("{head} {}", failure::indented(&clean(text), "  ")));
    }

    /// Errors, those that differ only in their targets once.
    pub fn errors(&self, errors: &[Error]) {
        for text in failure::render_all(errors, self.err()) {
            self.say(&text);
        }
    }

    /// An error with its place, its causes and its hints. Stays with `-q`.
    pub fn error(&self, error: &Error) {
        self.say(&failure::render(error, self.err()));
    }

    /// Whether [`Ui::confirm`] can ask, for those who want to know before they do long work.
    ///
    /// # Errors
    /// Exit 3 without a terminal to ask on.
    pub fn can_confirm(&self) -> Result<()> {
        let world = &self.inner.world;
        if world.stdin_terminal && world.stderr_terminal {
            return Ok(());
        }
        Err(Error::config("this needs a confirmation, and there is no terminal to ask on")
            .hint("pass `-y` to go ahead without being asked"))
    }

    /// Asks before something is written; no is the default. Blocks: in async code, call it where
    /// blocking is allowed.
    ///
    /// # Errors
    /// Exit 3 without a terminal to ask on: a job must say `-y`.
    pub fn confirm(&self, question: &str) -> Result<bool> {
        self.can_confirm()?;
        let asked = self.inner.bars.suspend(|| {
            let mut err = lock(&self.inner.err);
            let question = clean::for_terminal(question, self.err().color);
            write!(err, "{question} [y/N] ").and_then(|()| err.flush())
        });
        // Nothing is locked while the user thinks: a signal has something to say.
        let mut answer = String::new();
        let read = asked.and_then(|()| lock(&self.inner.input).read_line(&mut answer));
        if let Err(e) = read {
            return Err(Error::config("could not read the answer").because(e.to_string()));
        }
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// A line on standard error, above the live area. A standard error that cannot be written to
    /// leaves nobody to tell.
    pub(crate) fn say(&self, line: &str) {
        let terminal = self.inner.world.stderr_terminal;
        let line = if terminal { clean::for_terminal(line, self.err().color) } else { line.into() };
        self.inner.bars.suspend(|| {
            let mut err = lock(&self.inner.err);
            let _ = writeln!(err, "{line}").and_then(|()| err.flush());
        });
    }
}

struct Streams {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    input: Box<dyn BufRead + Send>,
}

/// A panic while a stream was locked leaves it no worse than a half-written line.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a [`Ui::buffer`] wrote.
#[derive(Clone, Debug, Default)]
pub struct Written {
    out: Memory,
    err: Memory,
}

impl Written {
    /// What went to standard output.
    pub fn stdout(&self) -> String {
        self.out.text()
    }
    /// What went to standard error.
    pub fn stderr(&self) -> String {
        self.err.text()
    }
}

#[derive(Clone, Debug, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).into_owned()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
