//! Runs one tool as a subprocess: no shell, a process group of its own, output captured and
//! bounded, ended as a group on timeout and on cancel (design §4).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// Between SIGTERM and SIGKILL. Short, since Ctrl-C has to end everything within a second.
const GRACE: Duration = Duration::from_millis(300);
/// How long output may stay open after the tool itself ended, when a process that it left
/// behind still holds the pipe.
const LINGER: Duration = Duration::from_millis(500);
/// How long a killed process may take to be gone before it is left to the kernel.
const REAP: Duration = Duration::from_secs(1);

/// What to run: everything is explicit, nothing is inherited.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The binary, absolute.
    pub(crate) program: PathBuf,
    /// Its arguments, as a list.
    pub(crate) args: Vec<OsString>,
    /// The whole environment.
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// The working folder.
    pub(crate) dir: PathBuf,
}

/// What a tool that ended by itself left.
#[derive(Debug)]
pub(crate) struct Output {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// All of its standard output.
    pub(crate) stdout: Vec<u8>,
    /// All of its standard error.
    pub(crate) stderr: Vec<u8>,
}

/// Why a tool gave no output.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The run was cancelled.
    Cancelled,
    /// It did not end in time; with what it had written to standard error.
    TimedOut(Vec<u8>),
    /// It wrote more than the bound (bytes).
    TooMuch(usize),
    /// It could not be started or waited for.
    Io(io::Error),
}

/// Runs tools, a few at a time.
#[derive(Debug)]
pub(crate) struct Runner {
    timeout: Duration,
    max_output: usize,
    permits: Semaphore,
    cancel: CancellationToken,
}

impl Runner {
    /// `timeout` is for one run, not counting the wait for its turn; `max_output` in bytes is for
    /// each of the two streams.
    pub(crate) fn new(timeout: Duration, max_output: usize, cancel: CancellationToken) -> Self {
        let cpus = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
        Runner { timeout, max_output, permits: Semaphore::new(cpus), cancel }
    }

    /// The limit of one run.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The token that ends all runs.
    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Runs to the end. Dropping the future ends the tool, too.
    pub(crate) async fn run(&self, invocation: Invocation) -> Result<Output, Failure> {
        let _permit = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Failure::Cancelled),
            permit = self.permits.acquire() => permit.map_err(|_| Failure::Cancelled)?,
        };
        let max_output = self.max_output;
        let started = spawn_blocking(move || Running::start(&invocation, max_output)).await;
        let mut running = started.map_err(io::Error::other).flatten().map_err(Failure::Io)?;
        let handle = Arc::clone(&running.handle);
        let mut wait = spawn_blocking(move || handle.wait().map(|output| output.status));
        let overflow = Arc::clone(&running.overflow);
        let failure = tokio::select! {
            biased;
            status = &mut wait => {
                let status = status.map_err(io::Error::other).flatten().map_err(Failure::Io)?;
                let too_much = running.drain().await;
                return match too_much {
                    true => Err(Failure::TooMuch(max_output)),
                    false => Ok(Output {
                        status,
                        stdout: running.stdout.take(),
                        stderr: running.stderr.take(),
                    }),
                };
            }
            () = self.cancel.cancelled() => Failure::Cancelled,
            () = overflow.notified() => Failure::TooMuch(max_output),
            () = tokio::time::sleep(self.timeout) => Failure::TimedOut(Vec::new()),
        };
        running.stop(&mut wait).await;
        Err(match failure {
            Failure::TimedOut(_) => Failure::TimedOut(running.stderr.take()),
            other => other,
        })
    }
}

/// A started tool. Dropping it kills its process group, unless it has ended.
struct Running {
    handle: Arc<duct::Handle>,
    group: Option<Pid>,
    stdout: Capture,
    stderr: Capture,
    overflow: Arc<Notify>,
    ended: bool,
}

impl Running {
    fn start(invocation: &Invocation, max_output: usize) -> io::Result<Self> {
        let overflow = Arc::new(Notify::new());
        let (out_reader, out_writer) = io::pipe()?;
        let (err_reader, err_writer) = io::pipe()?;
        // Not `stdout_capture`: duct's wait would then last until every process that inherited
        // the pipe is gone, not only the tool.
        let expression = duct::cmd(&invocation.program, &invocation.args)
            .full_env(&invocation.env)
            .dir(&invocation.dir)
            .stdin_null()
            .stdout_file(out_writer)
            .stderr_file(err_writer)
            .unchecked()
            .before_spawn(|command| {
                std::os::unix::process::CommandExt::process_group(command, 0);
                Ok(())
            });
        let handle = start_when_free(&expression)?;
        // The expression holds the write ends; the readers would never see the end of them.
        drop(expression);
        let pid = handle.pids().first().copied().and_then(|pid| i32::try_from(pid).ok());
        Ok(Running {
            group: pid.and_then(Pid::from_raw),
            handle: Arc::new(handle),
            stdout: Capture::start(out_reader, max_output, Arc::clone(&overflow)),
            stderr: Capture::start(err_reader, max_output, Arc::clone(&overflow)),
            overflow,
            ended: false,
        })
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The only error that can be met is that nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Reads what is left in the pipes after the tool ended. Whether there was too much.
    async fn drain(&mut self) -> bool {
        if !self.closed_within(LINGER).await {
            self.signal(Signal::KILL);
            self.closed_within(LINGER).await;
        }
        self.ended = true;
        self.stdout.overflowed() || self.stderr.overflowed()
    }

    async fn closed_within(&mut self, limit: Duration) -> bool {
        let closed = async {
            self.stdout.closed().await;
            self.stderr.closed().await;
        };
        tokio::time::timeout(limit, closed).await.is_ok()
    }

    /// Asks the group to end, then makes it.
    async fn stop(&mut self, wait: &mut JoinHandle<io::Result<ExitStatus>>) {
        self.signal(Signal::TERM);
        let asked = tokio::time::timeout(GRACE, &mut *wait).await;
        // Also when the tool itself has ended: its children may have ignored the request.
        self.signal(Signal::KILL);
        if asked.is_err() {
            let _ = tokio::time::timeout(REAP, wait).await;
        }
        self.ended = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

/// Starts, and tries again for a moment while the binary is being written (`ETXTBSY`): another
/// thread that forks holds a descriptor of a file that was just installed until it execs.
fn start_when_free(expression: &duct::Expression) -> io::Result<duct::Handle> {
    let begin = Instant::now();
    loop {
        match expression.start() {
            Err(e)
                if e.kind() == io::ErrorKind::ExecutableFileBusy
                    && begin.elapsed() < Duration::from_secs(2) =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// One stream, read by a thread of its own so that the tool never blocks on it.
struct Capture {
    data: Arc<Mutex<Captured>>,
    closed: Option<oneshot::Receiver<()>>,
}

#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    overflowed: bool,
}

impl Capture {
    fn start(mut pipe: io::PipeReader, limit: usize, overflow: Arc<Notify>) -> Self {
        let data = Arc::new(Mutex::new(Captured::default()));
        let (sender, closed) = oneshot::channel::<()>();
        let shared = Arc::clone(&data);
        std::thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            loop {
                let read = match pipe.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                let mut captured = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if captured.bytes.len() + read > limit {
                    captured.overflowed = true;
                    overflow.notify_one();
                    break;
                }
                captured.bytes.extend(chunk.iter().take(read));
            }
            drop(sender);
        });
        Capture { data, closed: Some(closed) }
    }

    /// Returns when every writer has closed the stream.
    async fn closed(&mut self) {
        if let Some(closed) = &mut self.closed {
            let _ = closed.await;
            self.closed = None;
        }
    }

    fn overflowed(&self) -> bool {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).overflowed
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.data.lock().unwrap_or_else(PoisonError::into_inner).bytes)
    }
}

/// How a tool ended, for messages.
pub(crate) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The last `lines` lines that hold text, without control characters, each of bounded length.
pub(crate) fn tail(stderr: &[u8], lines: usize) -> String {
    const WIDTH: usize = 2000;
    let text = String::from_utf8_lossy(stderr);
    let kept: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = kept.len().saturating_sub(lines);
    let clean = |line: &&str| -> String {
        let mut clean: String =
            line.trim_end().chars().filter(|c| !c.is_control() || *c == '\t').take(WIDTH).collect();
        if line.chars().nth(WIDTH).is_some() {
            clean.push('…');
        }
        clean
    };
    kept.iter().skip(from).map(clean).collect::<Vec<_>>().join("\n")
}

/// The words of a command as a shell would want them, long ones cut: for messages.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const WIDTH: usize = 120;
    let quote = |word: &str| -> String {
        let mut shown: String = word.chars().take(WIDTH).collect();
        if shown.len() < word.len() {
            shown.push('…');
        }
        let plain = |c: char| c.is_alphanumeric() || "-_=./:,@+%…<>".contains(c);
        if !shown.is_empty() && shown.chars().all(plain) {
            shown
        } else {
            format!("'{}'", shown.replace('\'', r"'\''"))
        }
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
