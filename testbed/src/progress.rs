//! What the bed is doing, on stderr. It is written to the stream itself, so that it is seen under the test harness too:
//! a first build takes minutes, and must not look like a hang.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// One line on stderr. A closed stderr is no reason to fail.
pub(crate) fn say(line: &str) {
    let mut text = String::with_capacity(line.len() + 10);
    text.push_str("testbed: ");
    text.push_str(line);
    text.push('\n');
    std::io::stderr().write_all(text.as_bytes()).ok();
}

/// Runs `work`, and says `still …` with the elapsed time every 20 seconds until it ends.
pub(crate) fn with_heartbeat<T: Send>(what: &str, work: impl FnOnce() -> T + Send) -> T {
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_secs(20)) {
                say(&format!("still {what} ({} s)", start.elapsed().as_secs()));
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Polls `condition` until it holds. Panics after `timeout` with what was last seen.
///
/// `condition` answers `Ok` with the value that was waited for, or `Err` with what it saw instead.
pub fn wait_for<T>(
    what: &str,
    timeout: Duration,
    mut condition: impl FnMut() -> std::result::Result<T, String>,
) -> T {
    match poll(timeout, &mut condition) {
        Ok(value) => value,
        Err(seen) => panic!("{what}: not within {timeout:?}; last seen: {seen}"),
    }
}

/// Polls `condition` until it holds or `timeout` has passed; then the error is what was last seen.
pub(crate) fn poll<T>(
    timeout: Duration,
    mut condition: impl FnMut() -> std::result::Result<T, String>,
) -> std::result::Result<T, String> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        match condition() {
            Ok(value) => return Ok(value),
            Err(seen) if start.elapsed() >= timeout => return Err(seen),
            Err(_) => std::thread::sleep(pause),
        }
        pause = (pause * 3 / 2).min(Duration::from_millis(200));
    }
}
