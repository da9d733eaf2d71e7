//! What went wrong, where, why and what to do next; and the exit code that says so.

use std::fmt;

use serde::Serialize;

use crate::config::TargetName;
use crate::manifest::ObjectId;

/// An exit code of `mcd`. The numbers are part of the interface (docs/exit-codes.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// Done, or nothing to do.
    Ok,
    /// A target failed and no budget covers it; `diff`: differences; `status --wait`: not healthy.
    Failed,
    /// Changes are present (only with `--detailed-exitcode`).
    Changes,
    /// Usage or configuration, or a confirmation without a terminal.
    Config,
    /// Rendering failed, or the server refuses a manifest (invalid, immutable, quota).
    Manifest,
    /// Policy, or admission denied.
    Policy,
    /// Locked, a conflict to decide, a plan that no longer holds, declined.
    Blocked,
    /// Paused, waiting for approval.
    Paused,
    /// Done, with failures inside the budget.
    Budget,
    /// A cluster could not be reached, or not read (401, 403).
    Unreachable,
    /// Interrupted by SIGINT.
    Interrupted,
    /// Ended by SIGTERM.
    Terminated,
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Changes => 2,
            Exit::Config => 3,
            Exit::Manifest => 4,
            Exit::Policy => 5,
            Exit::Blocked => 6,
            Exit::Paused => 7,
            Exit::Budget => 8,
            Exit::Unreachable => 9,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }

    /// Where the code stands when several apply: the lowest rank wins (design §3). What a signal
    /// cut short says `Interrupted`, whichever it was; who heard it knows better.
    fn rank(self) -> u8 {
        match self {
            Exit::Terminated => 0,
            Exit::Interrupted => 1,
            Exit::Config => 2,
            Exit::Manifest => 3,
            Exit::Policy => 4,
            Exit::Failed => 5,
            Exit::Unreachable => 6,
            Exit::Blocked => 7,
            Exit::Paused => 8,
            Exit::Budget => 9,
            Exit::Changes => 10,
            Exit::Ok => 11,
        }
    }

    /// The code that wins when both apply.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        if self.rank() <= other.rank() { self } else { other }
    }

    /// The code of a command that compares (`diff`): there an unreachable cluster wins over
    /// differences, since a difference that was not looked for is not the absence of one.
    #[must_use]
    pub fn and_when_comparing(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Failed, Exit::Unreachable) | (Exit::Unreachable, Exit::Failed) => {
                Exit::Unreachable
            }
            _ => self.and(other),
        }
    }
}

/// A place in a file that the user wrote. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The file as the user would name it (relative to the working directory where possible).
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; 0 when unknown.
    pub column: usize,
    /// The line's text, for a snippet; empty when unknown. Never a line of a Secret.
    #[serde(skip)]
    pub text: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", self.file, self.line),
            column => write!(f, "{}:{}:{}", self.file, self.line, column),
        }
    }
}

/// One error: what happened, where, why, what to do next. Messages are lowercase fragments
/// without a final period; literals of the user stand in backticks. Never holds a secret value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    #[serde(flatten)]
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Inner {
    exit: Exit,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

/// The result of an operation of ours.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error that ends with `exit` when it decides the outcome.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        let inner = Inner {
            exit,
            message: message.into(),
            target: None,
            object: None,
            location: None,
            causes: Vec::new(),
            hints: Vec::new(),
        };
        Error { inner: Box::new(inner) }
    }

    /// Usage or configuration (exit 3).
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(Exit::Config, message)
    }

    /// Rendering, or a manifest that is wrong (exit 4).
    pub fn manifest(message: impl Into<String>) -> Self {
        Self::new(Exit::Manifest, message)
    }

    /// Names the place in a file.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.inner.location = Some(location);
        self
    }

    /// Names the target, unless one is named already.
    #[must_use]
    pub fn in_target(mut self, target: &TargetName) -> Self {
        self.inner.target.get_or_insert_with(|| target.clone());
        self
    }

    /// Names the object, unless one is named already.
    #[must_use]
    pub fn on(mut self, object: &ObjectId) -> Self {
        self.inner.object.get_or_insert_with(|| object.clone());
        self
    }

    /// Adds why it happened, from the outermost cause to the innermost.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.inner.causes.push(cause.into());
        self
    }

    /// Adds what the user can do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.inner.hints.push(hint.into());
        self
    }

    /// Changes each text of the error, as a scrubber of secret values does.
    #[must_use]
    pub fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        let texts = std::iter::once(&mut self.inner.message)
            .chain(&mut self.inner.causes)
            .chain(&mut self.inner.hints)
            .chain(self.inner.location.as_mut().map(|l| &mut l.text));
        for text in texts {
            *text = change(text);
        }
        self
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.inner.exit
    }
    /// What happened.
    pub fn message(&self) -> &str {
        &self.inner.message
    }
    /// In which target.
    pub fn target(&self) -> Option<&TargetName> {
        self.inner.target.as_ref()
    }
    /// On which object.
    pub fn object(&self) -> Option<&ObjectId> {
        self.inner.object.as_ref()
    }
    /// Where in a file.
    pub fn location(&self) -> Option<&Location> {
        self.inner.location.as_ref()
    }
    /// Why, outermost first.
    pub fn causes(&self) -> &[String] {
        &self.inner.causes
    }
    /// What to do next.
    pub fn hints(&self) -> &[String] {
        &self.inner.hints
    }
}

impl fmt::Display for Error {
    /// One line: place, target, object, what happened, causes. Hints are left to the terminal.
    /// `{:#}` leaves out the target, for where it is said already.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = self.location() {
            write!(f, "{location}: ")?;
        }
        if let Some(target) = self.target().filter(|_| !f.alternate()) {
            write!(f, "{target}: ")?;
        }
        if let Some(object) = self.object() {
            write!(f, "{object}: ")?;
        }
        f.write_str(self.message())?;
        for cause in self.causes() {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_documented_order_wins() {
        let order = [
            Exit::Terminated,
            Exit::Interrupted,
            Exit::Config,
            Exit::Manifest,
            Exit::Policy,
            Exit::Failed,
            Exit::Unreachable,
            Exit::Blocked,
            Exit::Paused,
            Exit::Budget,
            Exit::Changes,
            Exit::Ok,
        ];
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                assert_eq!(a.and(*b), order[i.min(j)]);
            }
        }
        assert_eq!(Exit::Failed.and_when_comparing(Exit::Unreachable), Exit::Unreachable);
        assert_eq!(Exit::Config.and_when_comparing(Exit::Unreachable), Exit::Config);
    }
}
