//! The step `run`: a command on this machine, for one target (design §8). Never a shell; with the
//! environment of mcd, and the target in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

use super::super::job::Job;
use super::step::Commands;
use crate::cluster::state::RolloutId;
use crate::error::{Error, Exit};
use crate::render::tool::{self, Failure, Invocation, Runner};
use crate::rollout::Run;

/// What a command may write, in bytes: more is no smoke test.
const MAX_OUTPUT: usize = 16 << 20;

/// How many of its last lines are told when it fails.
const TAIL: usize = 10;

/// Runs commands in the folder of the application's file.
#[derive(Clone, Debug)]
pub struct Local {
    /// The rollout.
    pub id: RolloutId,
    /// The folder.
    pub folder: PathBuf,
    /// The environment that they get, besides the target.
    pub environment: BTreeMap<OsString, OsString>,
}

impl Commands for Local {
    fn run<'a>(&'a self, job: &'a Job, run: &'a Run) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move { self.one(job, run).await })
    }
}

impl Local {
    async fn one(&self, job: &Job, run: &Run) -> Result<(), Error> {
        let shown = tool::command_line(run.command.iter().map(String::as_str));
        let Some((program, args)) = run.command.split_first() else { return Ok(()) };
        let invocation = Invocation {
            program: located(program, &self.folder),
            args: args.iter().map(OsString::from).collect(),
            env: self.with_target(job),
            dir: self.folder.clone(),
        };
        job.events.waiting(format!("`{shown}`"));
        let runner = Runner::new(run.timeout, MAX_OUTPUT, job.cancel.clone());
        let failed = |what: String, said: &[u8]| {
            let error = Error::new(Exit::Failed, what).in_target(&job.target.name);
            let said = job.scrubber.scrub(&tool::tail(said, TAIL));
            if said.is_empty() { error } else { error.because(said) }
        };
        match runner.run(invocation).await {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
                Err(failed(format!("`{shown}` {}", tool::ending(output.status)), said))
            }
            Err(Failure::Cancelled) => Err(job.halted()),
            Err(Failure::TimedOut(stderr)) => {
                let seconds = run.timeout.as_secs();
                Err(failed(format!("`{shown}` did not end within {seconds} s"), &stderr))
            }
            Err(Failure::TooMuch(bytes)) => {
                Err(failed(format!("`{shown}` wrote more than {} MiB", bytes >> 20), &[]))
            }
            Err(Failure::Io(e)) => {
                let error = failed(format!("`{shown}` cannot be run"), &[]);
                Err(error.because(e.to_string()).hint("the step `run` needs it on this machine"))
            }
        }
    }

    /// The environment of a command for a target.
    fn with_target(&self, job: &Job) -> BTreeMap<OsString, OsString> {
        let target = &job.target;
        let mut environment = self.environment.clone();
        let mut set = |name: &str, value: &std::ffi::OsStr| {
            environment.insert(name.into(), value.to_owned());
        };
        set("MCD_ROLLOUT", self.id.as_str().as_ref());
        set("MCD_APP", target.app.as_str().as_ref());
        set("MCD_TARGET", target.name.as_str().as_ref());
        set("MCD_CONTEXT", target.cluster.context.as_ref());
        set("MCD_NAMESPACE", target.namespace.as_ref());
        if let Some(kubeconfig) = &target.cluster.kubeconfig {
            set("KUBECONFIG", kubeconfig.as_os_str());
        }
        environment
    }
}

/// A program with a folder in its name is relative to the application's file; others are on PATH.
fn located(program: &str, folder: &Path) -> PathBuf {
    if program.contains('/') { folder.join(program) } else { PathBuf::from(program) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_relative_to_the_file_or_on_path() {
        let folder = Path::new("/srv/app");
        for (program, want) in [
            ("kubectl", "kubectl"),
            ("./smoke.sh", "/srv/app/./smoke.sh"),
            ("/bin/true", "/bin/true"),
        ] {
            assert_eq!(located(program, folder), Path::new(want), "{program}");
        }
    }
}
