//! `cargo demo`: what `mcd` does, on three real clusters, from nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use testbed::{DEFAULT_CLUSTERS, Error, Fleet, Result};

use crate::print;

const STEPS: [&[&str]; 3] = [&["plan"], &["apply", "-y"], &["status"]];

/// Builds `mcd`, starts the clusters, and runs plan, apply and status of `examples/quickstart`. Ends with the code of the
/// first command that fails.
pub(crate) fn run() -> Result<ExitCode> {
    let root = repository();
    let example = root.join("examples/quickstart");
    if !example.is_dir() {
        return Err(Error::new(format!("{} is not there", example.display())));
    }
    // First what takes a minute, then what takes ten the first time.
    let mcd = build_mcd(&root)?;
    let fleet = Fleet::up(DEFAULT_CLUSTERS)?;
    let path = {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let all = std::env::split_paths(&own).chain([fleet.tools().join("bin")]);
        std::env::join_paths(all).map_err(|e| Error::new(format!("PATH: {e}")))?
    };
    say("\nThree clusters are ready. In examples/quickstart:\n");
    for step in STEPS {
        say(&format!("\n$ mcd {}\n", step.join(" ")));
        let status = Command::new(&mcd)
            .args(step)
            .current_dir(&example)
            .env("KUBECONFIG", fleet.kubeconfig_file())
            .env("MCD_TOOLS", fleet.tools())
            .env("PATH", &path)
            .stdin(Stdio::null())
            .status()
            .map_err(|e| Error::new(format!("{}: {e}", mcd.display())))?;
        if !status.success() {
            say(&format!(
                "\n`mcd {}` failed ({status}); the clusters keep running\n",
                step.join(" ")
            ));
            let code = status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1);
            return Ok(ExitCode::from(code));
        }
    }
    let folder = mcd.parent().unwrap_or(Path::new(".")).display();
    say(&format!(
        "
The clusters keep running. To go on by hand, in this shell:

    eval \"$(cargo testbed env)\"
    export PATH=\"$PATH:{folder}\"
    cd {}

    mcd diff                             # nothing: what runs is what is written
    mcd plan --var tag=1.29              # what another image would change
    mcd apply --var tag=1.29
    kubectl --context us-east -n quickstart get pods
    mcd history
    mcd delete                           # take it away again

    cargo testbed down                   # end the clusters

More: examples/README.md, docs/manual.md
",
        example.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// The checkout: cargo says where this package is, which is beside the examples.
fn repository() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or(package.clone(), Path::to_path_buf)
}

/// Builds `mcd` as cargo builds everything else here; where the binary is.
fn build_mcd(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    // What `cargo run` says of this package would make build scripts of dependencies run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    let output = command
        .args(["build", "--package", "mcd", "--bin", "mcd"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Error::new(format!("cargo: {e}")))?;
    if !output.status.success() {
        return Err(Error::new("mcd does not build; see above"));
    }
    executable(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Error::new("cargo did not say where mcd is"))
}

/// The path of the binary in cargo's messages, one JSON object a line.
fn executable(messages: &str) -> Option<PathBuf> {
    let parsed = messages.lines().filter_map(|l| serde_json::from_str(l).ok());
    let mut executables = parsed.filter_map(|message: serde_json::Value| {
        (message["target"]["name"] == "mcd").then_some(())?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back()
}

fn say(text: &str) {
    print(&mut std::io::stdout(), text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_in_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"mcd"},"executable":null}
not json
{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/other"}
{"reason":"compiler-artifact","target":{"name":"mcd"},"executable":"/t/mcd"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some(PathBuf::from("/t/mcd")));
        assert_eq!(executable(""), None);
    }
}
