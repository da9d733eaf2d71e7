//! The binaries to measure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testbed::{Error, Result};

/// Builds a binary as it is released; where it is.
pub(crate) fn release(name: &str) -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.parent().unwrap_or(Path::new("."));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["build", "--release", "--package", name, "--bin", name])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Error::new(format!("cargo: {e}")))?;
    if !output.status.success() {
        return Err(Error::new(format!("{name} does not build; see above")));
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let parsed = messages.lines().filter_map(|l| serde_json::from_str(l).ok());
    let mut executable = parsed.filter_map(|message: serde_json::Value| {
        (message["target"]["name"] == name).then_some(())?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.next_back().ok_or_else(|| Error::new(format!("cargo did not say where {name} is")))
}
