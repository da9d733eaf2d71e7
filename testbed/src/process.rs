//! Processes by their number and the time they started, so that a number that was given to another process since is
//! never taken for ours, and never ended.

use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::progress::poll;

/// A process that the bed started, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The process number.
    pub pid: u32,
    /// When it started, in the words of the system: `/proc`'s clock ticks, elsewhere `ps`'s text.
    pub started: String,
}

impl Process {
    /// This process itself.
    pub(crate) fn own() -> Process {
        let pid = std::process::id();
        Process { pid, started: start_of(pid).unwrap_or_default() }
    }

    /// Records a child that was just started. None if it ended already.
    pub(crate) fn of(child: &Child) -> Option<Process> {
        start_of(child.id()).map(|started| Process { pid: child.id(), started })
    }

    /// True while this very process runs. A zombie does not run.
    pub fn runs(&self) -> bool {
        start_of(self.pid).is_some_and(|started| started == self.started)
    }

    /// Sends a signal, if this very process still runs.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.runs()
            && let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw)
        {
            // It may have ended since: then there is nothing to do.
            kill_process(pid, signal).ok();
        }
    }
}

/// Ends processes and waits until they are gone: SIGTERM, and SIGKILL for those that do not go within `patience`.
pub(crate) fn end(processes: &[Process], patience: Duration) -> Result<()> {
    // Without patience there is no goodbye either.
    let first = if patience.is_zero() { Signal::KILL } else { Signal::TERM };
    for process in processes {
        process.signal(first);
        // One that was stopped by a test acts on nothing until it continues.
        process.signal(Signal::CONT);
    }
    let all_gone = |timeout| {
        poll(timeout, || match processes.iter().find(|p| p.runs()) {
            Some(p) => Err(p.pid.to_string()),
            None => Ok(()),
        })
    };
    if all_gone(patience).is_ok() {
        return Ok(());
    }
    for process in processes {
        process.signal(Signal::KILL);
    }
    all_gone(Duration::from_secs(10))
        .map_err(|pid| Error::new(format!("process {pid} does not end, even by SIGKILL")))
}

/// When the process with this number started. None if there is none, or only a zombie.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    start_in_stat(&stat)
}

/// Field 22 of `/proc/PID/stat`. The second field, the name, is in parentheses and may hold anything.
#[cfg(target_os = "linux")]
fn start_in_stat(stat: &str) -> Option<String> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

/// When the process with this number started. None if there is none, or only a zombie.
#[cfg(not(target_os = "linux"))]
fn start_of(pid: u32) -> Option<String> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (state, started) = text.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| started.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_start_time_is_read_after_any_process_name() {
        let tail = "1 5 5 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1000 10";
        assert_eq!(start_in_stat(&format!("7 (kube) S {tail}")).as_deref(), Some("4242"));
        assert_eq!(start_in_stat(&format!("7 (a) b) (c) S {tail}")).as_deref(), Some("4242"));
        assert_eq!(start_in_stat(&format!("7 (gone) Z {tail}")), None);
        assert_eq!(start_in_stat("nonsense"), None);
    }

    #[test]
    fn a_process_is_known_by_number_and_start() {
        let own = Process::own();
        assert!(own.runs());
        let recycled = Process { started: "0".into(), ..own };
        assert!(!recycled.runs());
        // Would end this test, were the number alone enough.
        recycled.signal(Signal::KILL);
    }

    #[test]
    fn an_ended_child_is_gone_even_before_it_is_reaped() {
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let process = Process::of(&child).unwrap();
        assert!(process.runs());
        end(std::slice::from_ref(&process), Duration::from_secs(5)).unwrap();
        assert!(!process.runs());
        child.wait().unwrap();
    }
}
