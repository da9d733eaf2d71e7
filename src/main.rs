//! The `mcd` command.

fn main() -> std::process::ExitCode {
    mcd::cmd::main()
}
