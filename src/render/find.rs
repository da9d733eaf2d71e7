//! Finds the binary of a tool in the version that a target asks for (design §4).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use semver::Version;
use tokio::sync::OnceCell;

use super::options::{RenderOptions, without_ambient};
use super::tool::{self, Failure, Invocation, Runner};
use super::version::{self, Requirement};
use crate::error::{Error, Exit, Result};

/// A tool that renders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Tool {
    Kustomize,
    Helm,
}

impl Tool {
    /// The name of its binary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Kustomize => "kustomize",
            Tool::Helm => "helm",
        }
    }

    /// The arguments with which it prints its version. Helm 2 would ask its server; the template
    /// keeps it from that, too, since it fails on it.
    fn version_args(self) -> &'static [&'static str] {
        match self {
            Tool::Kustomize => &["version"],
            Tool::Helm => &["version", "--template", "{{.Version}}"],
        }
    }

    /// The flag that names its binary.
    fn flag(self) -> &'static str {
        match self {
            Tool::Kustomize => "--kustomize-bin",
            Tool::Helm => "--helm-bin",
        }
    }
}

/// Which binary does a target's work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Found {
    /// The tool.
    pub(super) tool: Tool,
    /// Its version without `v`; what it printed where that names none.
    pub(super) version: String,
    /// The binary.
    pub(super) path: PathBuf,
}

/// Where a candidate was found; the order is that of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Flag,
    Fleet,
    ToolsDir,
    Path,
}

#[derive(Clone, Debug, PartialEq)]
struct Candidate {
    place: Place,
    path: PathBuf,
    /// The version that its name, folder or entry in the fleet says.
    declared: Option<Version>,
}

/// What a binary answered when it was asked for its version.
#[derive(Clone, Debug)]
enum Answer {
    Version(Version),
    /// Nothing that can be read as a version, such as `(devel)`.
    Other(String),
    Failed(String),
}

/// Finds tools; asks each binary for its version once.
#[derive(Debug, Default)]
pub(super) struct Finder {
    answers: Mutex<HashMap<PathBuf, Arc<OnceCell<Answer>>>>,
}

impl Finder {
    /// The first candidate that satisfies the requirement. `fleet` is the fleet's `tools:`.
    ///
    /// Errors: exit 3 for a requirement that cannot be read or a `--…-bin` that is no such tool,
    /// exit 4 when no candidate satisfies it, with all that were found.
    pub(super) async fn find(
        &self,
        tool: Tool,
        requirement: Option<&str>,
        fleet: &BTreeMap<String, BTreeMap<String, PathBuf>>,
        options: &RenderOptions,
        runner: &Runner,
    ) -> Result<Found> {
        let requirement = Requirement::parse(requirement.unwrap_or_default()).map_err(|why| {
            Error::config(format!(
                "`{}` is not a requirement on the version of {}",
                requirement.unwrap_or_default(),
                tool.name()
            ))
            .because(why)
            .hint("write an exact version such as `5.8.2`, or a range such as `>=5.4, <6`")
        })?;
        let candidates = candidates(tool, requirement.is_some(), fleet, options);
        for candidate in &candidates {
            if candidate.place == Place::Flag && !is_executable(&candidate.path) {
                return Err(Error::config(format!(
                    "`{}` names `{}`, which is not a file that can be run",
                    tool.flag(),
                    options.shown(&candidate.path)
                )));
            }
            // A name that says another version is believed: no need to ask.
            if let (Some(wanted), Some(declared)) = (&requirement, &candidate.declared)
                && !wanted.accepts(declared)
            {
                continue;
            }
            let answer = self.ask(tool, &candidate.path, options, runner).await?;
            if let (Place::Flag, Answer::Failed(why)) = (candidate.place, &answer) {
                return Err(Error::config(format!(
                    "`{}` names `{}`, which does not say its version",
                    tool.flag(),
                    options.shown(&candidate.path)
                ))
                .because(format!("`{}` {why}", tool.version_args().join(" "))));
            }
            if let Some(version) = accepted(&answer, candidate, requirement.as_ref()) {
                return Ok(Found { tool, version, path: candidate.path.clone() });
            }
        }
        let mut error = match &requirement {
            Some(wanted) => {
                Error::manifest(format!("no {} in version `{wanted}` was found", tool.name()))
            }
            None => Error::manifest(format!("{} was not found", tool.name())),
        };
        let mut there = Vec::new();
        for candidate in &candidates {
            let answer = self.ask(tool, &candidate.path, options, runner).await?;
            let path = options.shown(&candidate.path);
            let named = match (&answer, &candidate.declared) {
                (Answer::Other(_), Some(declared)) => format!(", {declared} by its name"),
                _ => String::new(),
            };
            there.push(format!("`{path}` ({}) {answer}{named}", candidate.place));
        }
        error = error.because(if there.is_empty() {
            "nothing by that name is in the fleet's `tools:`, `$MCD_TOOLS` or PATH".to_owned()
        } else {
            there.join("; ")
        });
        let version = requirement.as_ref().map_or("VERSION".to_owned(), ToString::to_string);
        Err(error.hint(format!(
            "install it, and name it with `tools: {{{name}: {{\"{version}\": /path/to/{name}}}}}` in \
             the fleet, put it at `$MCD_TOOLS/{name}/{version}/{name}` or on PATH as \
             `{name}-{version}`, or give `{flag}`",
            name = tool.name(),
            version = if version_is_plain(&version) { &version } else { "VERSION" },
            flag = tool.flag(),
        )))
    }

    async fn ask(
        &self,
        tool: Tool,
        path: &Path,
        options: &RenderOptions,
        runner: &Runner,
    ) -> Result<Answer> {
        let cell = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(answers.entry(path.to_owned()).or_default())
        };
        let answer = cell.get_or_try_init(async || {
            let mut env = without_ambient(&options.env, false);
            env.insert("KUBECONFIG".into(), "/dev/null".into());
            let invocation = Invocation {
                program: path.to_owned(),
                args: tool.version_args().iter().map(OsString::from).collect(),
                env,
                dir: options.temp_dir.clone(),
            };
            Ok(match runner.run(invocation).await {
                Ok(output) if output.status.success() => {
                    let printed = String::from_utf8_lossy(&output.stdout);
                    match version::parse(&printed) {
                        Some(version) => Answer::Version(version),
                        None => Answer::Other(tool::tail(&output.stdout, 1)),
                    }
                }
                Ok(output) => Answer::Failed(format!(
                    "{}: {}",
                    tool::ending(output.status),
                    tool::tail(&output.stderr, 1)
                )),
                Err(Failure::Cancelled) => {
                    return Err(Error::new(Exit::Interrupted, "interrupted"));
                }
                Err(Failure::TimedOut(_)) => {
                    Answer::Failed(format!("gave no answer in {:?}", runner.timeout()))
                }
                Err(Failure::TooMuch(_)) => Answer::Failed("printed without end".into()),
                Err(Failure::Io(e)) => Answer::Failed(format!("cannot be run: {e}")),
            })
        });
        answer.await.cloned()
    }
}

/// The version of the candidate, if it will do.
fn accepted(
    answer: &Answer,
    candidate: &Candidate,
    requirement: Option<&Requirement>,
) -> Option<String> {
    let version = match answer {
        Answer::Failed(_) => return None,
        Answer::Version(version) => Some(version),
        // Built from source, the tools print `(devel)`; then where they lie says what they are.
        Answer::Other(_) => candidate.declared.as_ref(),
    };
    match (version, requirement) {
        (Some(version), Some(wanted)) => wanted.accepts(version).then(|| version.to_string()),
        (Some(version), None) => Some(version.to_string()),
        (None, Some(_)) => None,
        (None, None) => match answer {
            Answer::Other(printed) => Some(printed.clone()),
            Answer::Version(_) | Answer::Failed(_) => None,
        },
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Version(version) => write!(f, "is {version}"),
            Answer::Other(printed) => write!(f, "says only `{printed}`"),
            Answer::Failed(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Flag => "flag",
            Place::Fleet => "fleet",
            Place::ToolsDir => "MCD_TOOLS",
            Place::Path => "PATH",
        })
    }
}

/// All binaries that might do, best first.
fn candidates(
    tool: Tool,
    has_requirement: bool,
    fleet: &BTreeMap<String, BTreeMap<String, PathBuf>>,
    options: &RenderOptions,
) -> Vec<Candidate> {
    let name = tool.name();
    let bin = match tool {
        Tool::Kustomize => &options.kustomize_bin,
        Tool::Helm => &options.helm_bin,
    };
    let mut all: Vec<Candidate> = bin
        .iter()
        .map(|path| {
            let path = options.cwd.join(path);
            Candidate { place: Place::Flag, path, declared: None }
        })
        .collect();
    let listed = fleet.get(name).into_iter().flatten().map(|(version, path)| Candidate {
        place: Place::Fleet,
        path: path.clone(),
        declared: version::parse_word(version),
    });
    all.extend(highest_first(listed.collect()));
    for dir in &options.tools_dirs {
        let versions = entries(&dir.join(name)).into_iter().map(|(entry, path)| Candidate {
            place: Place::ToolsDir,
            path: path.join(name),
            declared: version::parse_word(&entry),
        });
        all.extend(highest_first(versions.collect()));
    }
    let mut plain = Vec::new();
    let mut versioned = Vec::new();
    for dir in &options.path {
        plain.push(Candidate { place: Place::Path, path: dir.join(name), declared: None });
        for (entry, path) in entries(dir) {
            let suffix = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            if let Some(declared) = suffix.and_then(version::parse_word) {
                versioned.push(Candidate { place: Place::Path, path, declared: Some(declared) });
            }
        }
    }
    let versioned = highest_first(versioned);
    // A target that asks for nothing gets what its user would get by typing the name.
    if has_requirement {
        all.extend(versioned.into_iter().chain(plain));
    } else {
        all.extend(plain.into_iter().chain(versioned));
    }
    let mut seen = HashSet::new();
    all.retain(|candidate| {
        let wanted = candidate.place <= Place::Fleet || is_executable(&candidate.path);
        let real = candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone());
        wanted && seen.insert(real)
    });
    all
}

fn highest_first(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| b.declared.cmp(&a.declared).then_with(|| a.path.cmp(&b.path)));
    candidates
}

/// The entries of a folder by name; none when it cannot be read.
fn entries(dir: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, entry.path()))
    });
    named.collect()
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Whether the text can stand in a file name as the version asked for.
fn version_is_plain(written: &str) -> bool {
    version::parse_word(written).is_some()
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
