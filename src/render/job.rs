//! One run of a tool as data: what makes two runs identical, and how it is carried out in a
//! private folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::copy;
use super::find::Found;
use super::options::{RenderOptions, without_ambient};
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
            Arg::Text(text) => text.to_string_lossy().into_owned(),
            Arg::Content { before, shown, .. } => format!("{before}{shown}"),
        }));
        tool::command_line(words.iter().map(String::as_str))
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
        let stderr = |bytes: &[u8]| prepared.restore(&tool::tail(bytes, TAIL));
        let error = match result {
            Ok(output) if output.status.success() => {
                let stdout = String::from_utf8(output.stdout).map_err(|_| {
                    Error::manifest(format!("`{}` printed text that is not UTF-8", self.label))
                })?;
                let stderr = prepared.restore(&tool::tail(&output.stderr, usize::MAX));
                return Ok(Printed { stdout, stderr });
            }
            Ok(output) => {
                let what = format!("`{}` {}", self.label, tool::ending(output.status));
                said(Error::manifest(what), stderr(&output.stderr))
            }
            Err(Failure::Cancelled) => {
                let what = format!("interrupted while `{}` ran", self.label);
                return Err(Error::new(Exit::Interrupted, what));
            }
            Err(Failure::TimedOut(err)) => said(
                Error::manifest(format!(
                    "`{}` did not end within {} and was stopped",
                    self.label,
                    seconds(runner.timeout())
                )),
                stderr(&err),
            ),
            Err(Failure::TooMuch(limit)) => {
                Error::manifest(format!("`{}` printed more than {} MiB", self.label, limit >> 20))
            }
            Err(Failure::Io(e)) => {
                Error::manifest(format!("`{}` could not be run", self.label)).because(e.to_string())
            }
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
        let failed = |e: io::Error| {
            Error::manifest(format!("no private folder for `{}`", self.label))
                .because(e.to_string())
        };
        let private = tempfile::Builder::new()
            .prefix("mcd-render-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(temp_dir)
            .map_err(failed)?;
        let base = private.path().canonicalize().map_err(failed)?;
        let mut args = Vec::with_capacity(self.args.len());
        for (i, arg) in self.args.iter().enumerate() {
            args.push(match arg {
                Arg::Text(text) => text.clone(),
                Arg::Content { before, content, .. } => {
                    let path = base.join(format!("{i}.input"));
                    write_private(&path, content).map_err(failed)?;
                    let mut arg = OsString::from(before);
                    arg.push(path);
                    arg
                }
            });
        }
        let mut env = without_ambient(env, self.plugins);
        env.extend(self.env.iter().map(|(k, v)| (k.into(), v.into())));
        // Last, so that nothing leads to a cluster or to files that two runs share.
        env.insert("KUBECONFIG".into(), "/dev/null".into());
        for name in ["cache", "config", "data"] {
            let folder = base.join("helm").join(name);
            env.insert(format!("HELM_{}_HOME", name.to_uppercase()).into(), folder.into());
        }
        // What a tool that is killed leaves goes with the rest.
        let temporary = base.join("tmp");
        std::fs::create_dir(&temporary).map_err(failed)?;
        env.insert("TMPDIR".into(), temporary.into());
        let mut dir = self.dir.clone();
        let mut prepared = Prepared { copy: None, left_out: 0, _private: private };
        if let Some(root) = &self.copied {
            let copy = base.join("copy");
            prepared.left_out = copy::tree(root, &copy, &self.label, cancel)?;
            dir = copy.join(self.dir.strip_prefix(root).unwrap_or(Path::new("")));
            prepared.copy = Some((copy, root.clone()));
        }
        let program = self.found.path.clone();
        Ok((Invocation { program, args, env, dir }, prepared))
    }
}

/// A job whose files are in place; they are removed when this is dropped.
struct Prepared {
    copy: Option<(PathBuf, PathBuf)>,
    left_out: usize,
    _private: TempDir,
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

fn said(error: Error, stderr: String) -> Error {
    if stderr.is_empty() { error } else { error.because(stderr) }
}

fn seconds(duration: std::time::Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{} s", duration.as_secs()),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
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
