//! One run of a tool as data: what makes two runs identical, and how it is carried out in a
//! private folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::copy;
use super::find::Found;
use super::options::RenderOptions;
use super::private::Private;
use super::tool::{self, Failure, Invocation, Runner};
use crate::error::{Error, Exit, Result};

/// How many lines of a failed tool's standard error are shown.
const TAIL: usize = 20;

/// One run of a tool. Equal jobs give equal output, so that they run once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Job {
    /// The binary.
    pub(super) found: Found,
    /// Its arguments.
    pub(super) args: Vec<Arg>,
    /// What the target adds to the environment.
    pub(super) env: BTreeMap<String, String>,
    /// The working folder.
    pub(super) dir: PathBuf,
    /// The folder that is copied first, since the tool writes beside its input; contains `dir`.
    pub(super) copied: Option<PathBuf>,
    /// Private paths among the arguments, and what messages call them.
    pub(super) renamed: Vec<(PathBuf, String)>,
    /// Whether plugins of the user are seen.
    pub(super) plugins: bool,
    /// The job in a few words: `kustomize build overlays/prod`.
    pub(super) label: String,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arg {
    /// As it is.
    Text(OsString),
    /// `before` and the path of a private file with this content, since anyone on the machine can
    /// read arguments. `shown` stands for the path in messages.
    Content { before: String, content: Vec<u8>, shown: &'static str },
}

impl Arg {
    /// An argument as it is.
    pub(super) fn text(text: impl Into<OsString>) -> Self {
        Arg::Text(text.into())
    }
}

/// What a job printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Printed {
    /// The manifests.
    pub(super) stdout: String,
    /// Warnings: the lines of standard error of a tool that succeeded.
    pub(super) stderr: String,
}

impl Job {
    /// The command for messages, to be run again by hand.
    fn command(&self) -> String {
        let mut words = vec![self.found.path.display().to_string()];
        words.extend(self.args.iter().map(|arg| match arg {
            Arg::Text(text) => self.rename(&text.to_string_lossy()),
            Arg::Content { before, shown, .. } => format!("{before}{shown}"),
        }));
        tool::command_line(words.iter().map(String::as_str))
    }

    fn rename(&self, text: &str) -> String {
        self.renamed.iter().fold(text.to_owned(), |text, (path, shown)| {
            text.replace(&*path.to_string_lossy(), shown)
        })
    }

    /// Runs it. Texts of errors are not scrubbed yet.
    pub(super) async fn run(&self, options: &RenderOptions, runner: &Runner) -> Result<Printed> {
        let job = self.clone();
        let (env, temp_dir) = (options.env.clone(), options.temp_dir.clone());
        let cancel = runner.cancel().clone();
        let prepared = spawn_blocking(move || job.prepare(&env, &temp_dir, &cancel)).await;
        let (invocation, prepared) =
            prepared.map_err(|e| Error::manifest(e.to_string())).flatten()?;
        let result = runner.run(invocation).await;
        // Messages name the user's files, not the copies of them.
        let restore = |text: &str| self.rename(&prepared.restore(text));
        let error = match outcome(result, &self.label, runner, restore) {
            Ok(output) if output.status.success() => {
                let stdout = String::from_utf8(output.stdout).map_err(|_| {
                    Error::manifest(format!("`{}` printed text that is not UTF-8", self.label))
                })?;
                let stderr = restore(&tool::tail(&output.stderr, usize::MAX));
                return Ok(Printed { stdout, stderr });
            }
            Ok(output) => failed(&self.label, &output, restore),
            Err(error) if error.exit() == Exit::Interrupted => return Err(error),
            Err(error) => error,
        };
        let error = match prepared.left_out {
            0 => error,
            n => error.hint(format!(
                "{n} links that lead out of `{}` are not in the private copy that the tool ran in",
                self.copied.as_deref().unwrap_or(&self.dir).display()
            )),
        };
        Err(error.hint(format!(
            "the command was `{}` in `{}`",
            self.command(),
            options.shown(&self.dir)
        )))
    }

    fn prepare(
        &self,
        env: &BTreeMap<OsString, OsString>,
        temp_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<(Invocation, Prepared)> {
        let private = Private::new(temp_dir, &self.label)?;
        let mut args = Vec::with_capacity(self.args.len());
        for (i, arg) in self.args.iter().enumerate() {
            args.push(match arg {
                Arg::Text(text) => text.clone(),
                Arg::Content { before, content, .. } => {
                    let path = private.write(&format!("{i}.input"), content)?;
                    let mut arg = OsString::from(before);
                    arg.push(path);
                    arg
                }
            });
        }
        let env = private.env(env, self.plugins, &self.env);
        let mut dir = self.dir.clone();
        let (mut copied, mut left_out) = (None, 0);
        if let Some(root) = &self.copied {
            let copy = private.path().join("copy");
            left_out = copy::tree(root, &copy, &self.label, cancel)?;
            dir = copy.join(self.dir.strip_prefix(root).unwrap_or(Path::new("")));
            copied = Some((copy, root.clone()));
        }
        let program = self.found.path.clone();
        let prepared = Prepared { copy: copied, left_out, _private: private };
        Ok((Invocation { program, args, env, dir }, prepared))
    }
}

/// A job whose files are in place; they are removed when this is dropped.
struct Prepared {
    copy: Option<(PathBuf, PathBuf)>,
    left_out: usize,
    _private: Private,
}

impl Prepared {
    /// Names the user's files in place of their copies.
    fn restore(&self, text: &str) -> String {
        match &self.copy {
            Some((copy, root)) => text.replace(&*copy.to_string_lossy(), &root.to_string_lossy()),
            None => text.to_owned(),
        }
    }
}

/// What a run that ended by itself left, or the error of one that did not.
pub(super) fn outcome(
    result: std::result::Result<tool::Output, Failure>,
    label: &str,
    runner: &Runner,
    restore: impl Fn(&str) -> String,
) -> Result<tool::Output> {
    Err(match result {
        Ok(output) => return Ok(output),
        Err(Failure::Cancelled) => {
            Error::new(Exit::Interrupted, format!("interrupted while `{label}` ran"))
        }
        Err(Failure::TimedOut(stderr)) => said(
            Error::manifest(format!(
                "`{label}` did not end within {} and was stopped",
                seconds(runner.timeout())
            )),
            restore(&tool::tail(&stderr, TAIL)),
        ),
        Err(Failure::TooMuch(limit)) => {
            Error::manifest(format!("`{label}` printed more than {} MiB", limit >> 20))
        }
        Err(Failure::Io(e)) => {
            Error::manifest(format!("`{label}` could not be run")).because(e.to_string())
        }
    })
}

/// The error of a run that ended with an exit code.
pub(super) fn failed(
    label: &str,
    output: &tool::Output,
    restore: impl Fn(&str) -> String,
) -> Error {
    let what = format!("`{label}` {}", tool::ending(output.status));
    said(Error::manifest(what), restore(&tool::tail(&output.stderr, TAIL)))
}

fn said(error: Error, stderr: String) -> Error {
    if stderr.is_empty() { error } else { error.because(stderr) }
}

fn seconds(duration: std::time::Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{} s", duration.as_secs()),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

/// Refuses flags of `args` that are in `flags`; what is said of one is `why`.
pub(super) fn refuse(
    tool: &str,
    args: &[String],
    flags: &[&str],
    why: impl Fn(&str) -> Error,
) -> Result<()> {
    for arg in args {
        let flag = arg.split('=').next().unwrap_or(arg);
        // A short flag may have its value attached: `-nshop`.
        let short = flag.get(..2).filter(|_| !flag.starts_with("--"));
        if flags.iter().any(|known| *known == flag || Some(*known) == short) {
            return Err(why(&format!("{tool} {flag}")));
        }
    }
    Ok(())
}

/// That only the fleet may allow it.
pub(super) fn not_allowed(what: &str) -> Error {
    Error::config(format!("`{what}` runs code of the repository, which the fleet does not allow"))
        .hint("set `allow: {plugins: true}` in the fleet file if you trust what it renders")
}

/// The argument for a path after `flag`, in one.
pub(super) fn with_path(flag: &str, path: &OsStr) -> Arg {
    let mut arg = OsString::from(flag);
    arg.push(path);
    Arg::Text(arg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_however_they_are_written() {
        let refused = |arg: &str| {
            refuse("helm", &[arg.to_owned()], &["--validate", "-n"], |f| Error::config(f)).is_err()
        };
        for arg in ["--validate", "--validate=true", "-n", "-nshop", "-n=shop"] {
            assert!(refused(arg), "{arg}");
        }
        for arg in ["--validated", "--no-hooks", "", "-", "n", "é"] {
            assert!(!refused(arg), "{arg}");
        }
    }
}
