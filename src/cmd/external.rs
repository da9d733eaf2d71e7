//! `KUBECTL_EXTERNAL_DIFF`: the user's own program compares, as with kubectl.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Exit, Result};
use crate::plan::TargetPlan;
use crate::report::diff::{differences, note, sides};

/// The program with its arguments, split at blanks as kubectl does; none without the variable.
pub(super) fn program() -> Option<Vec<String>> {
    let words: Vec<String> = std::env::var("KUBECTL_EXTERNAL_DIFF")
        .ok()?
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    (!words.is_empty()).then_some(words)
}

/// The files of a target: name, before, after. An absent side has no file, as with kubectl.
pub(super) type Files = Vec<(String, String, String)>;

/// The files in which a target differs, values of Secrets masked.
pub(super) fn files(plan: &TargetPlan) -> Files {
    let named = differences(plan).map(|(id, gvk, diff)| {
        let parts = [&gvk.group, &gvk.version, &id.kind];
        let parts = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty());
        let place = id.namespace.as_deref().into_iter().chain([id.name.as_str()]);
        let name = parts.chain(place).collect::<Vec<_>>().join(".").replace('/', "-");
        let (before, after) = sides(diff);
        (name, before, after)
    });
    named.collect()
}

/// What is told of a target beside its files.
pub(super) fn notes(plan: &TargetPlan) -> String {
    let notes = plan.objects.iter().filter_map(|o| Some((&o.id, note(o)?)));
    notes.map(|(id, note)| format!("# {id}: {note}\n")).collect()
}

/// Runs the program on two folders with the files, its output going where ours goes; whether it
/// found differences (exit code 1). Blocks.
///
/// # Errors
/// Exit 3 when it cannot be run, or ends with another code.
pub(super) fn compare(program: &[String], files: &Files) -> Result<bool> {
    let [name, args @ ..] = program else { return Ok(false) };
    let failed = |e: std::io::Error| {
        Error::config("cannot write the files to compare").because(e.to_string())
    };
    // Readable for their owner alone.
    let folder = tempfile::Builder::new().prefix("mcd-diff-").tempdir().map_err(failed)?;
    let (live, merged) = (folder.path().join("LIVE"), folder.path().join("MERGED"));
    for side in [&live, &merged] {
        std::fs::create_dir(side).map_err(failed)?;
    }
    let write = |side: &Path, name: &str, text: &str| match text {
        "" => Ok(()),
        text => std::fs::write(side.join(name), text).map_err(failed),
    };
    for (name, before, after) in files {
        write(&live, name, before)?;
        write(&merged, name, after)?;
    }
    let status = Command::new(name)
        .args(args)
        .args([&live, &merged])
        .stdin(Stdio::null())
        .status()
        .map_err(|e| {
            Error::config(format!("`{name}` of KUBECTL_EXTERNAL_DIFF cannot be run"))
                .because(e.to_string())
                .hint("unset the variable for mcd's own diff")
        })?;
    match status.code() {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        Some(code) => {
            Err(Error::config(format!("`{name}` of KUBECTL_EXTERNAL_DIFF ended with {code}"))
                .hint("0 is no difference, 1 is one, everything else a failure"))
        }
        None => Err(Error::new(
            Exit::Interrupted,
            format!("`{name}` of KUBECTL_EXTERNAL_DIFF was ended by a signal"),
        )),
    }
}
