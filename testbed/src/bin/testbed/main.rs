//! The `testbed` command: `cargo testbed up|down|status|env`, and `cargo demo`.

mod demo;

use std::process::ExitCode;

use testbed::{DEFAULT_CLUSTERS, Error, Fleet, Result};

const USAGE: &str = "\
Real Kubernetes control planes on this machine, for tests and trials.

cargo testbed up [N]   start N clusters (3), building what is missing; they keep running
cargo testbed env      lines for a shell: eval \"$(cargo testbed env)\"
cargo testbed status   what runs
cargo demo             mcd plan, apply and status of examples/quickstart on three clusters
cargo testbed down     end all of it and remove the clusters' data; what was built stays

MCD_TESTBED_CACHE  where binaries are kept (~/.cache/mcd-testbed)
MCD_TESTBED_RUN    where clusters are kept (run, in the cache)
KUBEBUILDER_ASSETS where binaries are looked for before they are built
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(e) => {
            print(&mut std::io::stderr(), &format!("error: {e}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let out = &mut std::io::stdout();
    match words.as_slice() {
        ["up"] => up(DEFAULT_CLUSTERS)?,
        ["up", count] => {
            let count = count.parse().ok().filter(|n| (1..=50).contains(n));
            up(count.ok_or_else(|| Error::new("`up` takes a number of clusters from 1 to 50"))?)?;
        }
        ["env"] => print(out, &Fleet::up(DEFAULT_CLUSTERS)?.env()),
        ["status"] => print(out, &testbed::status()?),
        ["down"] => {
            let count = testbed::down()?;
            print(out, &format!("{count} clusters ended\n"));
        }
        ["demo"] => return demo::run(),
        ["help" | "-h" | "--help"] => print(out, USAGE),
        _ => {
            print(&mut std::io::stderr(), USAGE);
            return Ok(ExitCode::from(3));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn up(count: usize) -> Result<()> {
    let fleet = Fleet::up(count)?;
    let mut text = String::new();
    for cluster in fleet.clusters() {
        text.push_str(&format!("{:<10} {}\n", cluster.name(), cluster.server()));
    }
    text.push_str("\nUse them:  eval \"$(cargo testbed env)\"; kubectl --context us-east get nodes\nEnd them:  cargo testbed down\n");
    print(&mut std::io::stdout(), &text);
    Ok(())
}

/// A closed pipe is no reason to fail.
fn print(stream: &mut dyn std::io::Write, text: &str) {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok();
}
