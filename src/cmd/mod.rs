//! One file a verb: arguments → settings → the modules below → an outcome.

/// Runs the command line and returns its exit code.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
