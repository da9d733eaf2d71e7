//! What went wrong in the bed, as one readable text.

use std::fmt;
use std::path::Path;

/// An error of the test bed: a text for a person, with what to do where that is known.
#[derive(Debug, Clone)]
pub struct Error(String);

/// A result of the test bed.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Error(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Says which file or action an I/O error belongs to.
pub(crate) trait Context<T> {
    /// The error, preceded by what was being done.
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
    /// The error, preceded by the path it is about.
    fn at(self, path: &Path) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|e| Error(format!("{}: {e}", what())))
    }

    fn at(self, path: &Path) -> Result<T> {
        self.doing(|| path.display().to_string())
    }
}
