//! Runs commands, and says how long they took and how much memory they had.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testbed::{Error, Result};

/// How often a process is asked for its peak. The kernel keeps the peak, so only what is allocated in the last moment
/// before the end can be missed.
const POLL: Duration = Duration::from_millis(5);

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Wall time, from before the first process starts until the last has ended.
    pub(crate) time: Duration,
    /// The peak of resident memory in KiB, of the largest process.
    pub(crate) peak: u64,
}

/// A command, and the exit code with which it has done what it should.
pub(crate) struct Task {
    pub(crate) command: Command,
    pub(crate) code: i32,
}

/// Runs commands one after the other.
pub(crate) fn one_by_one(tasks: Vec<Task>) -> Result<Sample> {
    let start = Instant::now();
    let mut peak = 0;
    for task in tasks {
        peak = peak.max(run(task)?);
    }
    Ok(Sample { time: start.elapsed(), peak })
}

/// Runs commands all at once.
pub(crate) fn at_once(tasks: Vec<Task>) -> Result<Sample> {
    let start = Instant::now();
    let peaks: Vec<Result<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = tasks.into_iter().map(|t| scope.spawn(|| run(t))).collect();
        let failed = || Err(Error::new("the thread that runs a command panicked"));
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| failed())).collect()
    });
    let time = start.elapsed();
    let peaks = peaks.into_iter().collect::<Result<Vec<u64>>>()?;
    Ok(Sample { time, peak: peaks.into_iter().max().unwrap_or_default() })
}

/// Runs a command to its end. Its peak of resident memory in KiB.
fn run(mut task: Task) -> Result<u64> {
    let what = || {
        let words = std::iter::once(task.command.get_program()).chain(task.command.get_args());
        words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
    };
    let what = what();
    let failed = |e: std::io::Error| Error::new(format!("{what}: {e}"));
    // A file takes any amount without a thread that reads it.
    let mut output = tempfile::tempfile().map_err(failed)?;
    let mut child = task
        .command
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output.try_clone().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let status_file = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    let (status, peak) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(high_water(&status_file).unwrap_or_default());
                std::thread::park_timeout(POLL);
            }
            peak
        });
        let status = child.wait();
        ended.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        (status, watcher.join().unwrap_or_default())
    });
    let status = status.map_err(failed)?;
    if status.code() != Some(task.code) {
        let mut text = String::new();
        std::io::Seek::rewind(&mut output).map_err(failed)?;
        output.read_to_string(&mut text).map_err(failed)?;
        let tail: Vec<&str> = text.lines().rev().take(20).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        return Err(Error::new(format!(
            "{what}\nended with {status} instead of {}:\n{}",
            task.code,
            tail.join("\n")
        )));
    }
    Ok(peak)
}

/// `VmHWM`; none when the process has no memory (any more).
fn high_water(status_file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, code: i32) -> Task {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Task { command, code }
    }

    #[test]
    fn times_add_up_and_memory_is_that_of_the_largest() {
        let sample = one_by_one(vec![shell("sleep 0.1", 0), shell("sleep 0.1; exit 1", 1)]);
        let sample = sample.expect("both end as they should");
        assert!(sample.time >= Duration::from_millis(200), "{sample:?}");
        assert!(sample.peak > 100, "{sample:?}");
        let sample = at_once(vec![shell("sleep 0.3", 0), shell("sleep 0.3", 0)]);
        assert!(sample.expect("both end as they should").time >= Duration::from_millis(300));
    }

    #[test]
    fn another_exit_code_is_an_error_with_the_last_lines() {
        let error = one_by_one(vec![shell("echo why; exit 3", 0)]).expect_err("3 is not 0");
        assert!(error.to_string().ends_with("instead of 0:\nwhy"), "{error}");
    }
}
