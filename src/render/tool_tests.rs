use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

fn script(dir: &Path, body: &str) -> Invocation {
    let program = dir.join("tool");
    fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    Invocation {
        program,
        args: vec!["one two".into(), "$HOME".into()],
        env: BTreeMap::from([("PATH".into(), path), ("OWN".into(), "yes".into())]),
        dir: dir.to_owned(),
    }
}

fn runner(timeout: Duration) -> (Runner, CancellationToken) {
    let cancel = CancellationToken::new();
    (Runner::new(timeout, 1 << 20, cancel.clone()), cancel)
}

/// Whether the process is gone, or a zombie that only waits for its parent.
fn is_gone(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z')),
        Err(_) => true,
    }
}

async fn wait_until(mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn arguments_and_environment_are_exactly_those_given() {
    let dir = tempfile::tempdir().unwrap();
    let body =
        r#"printf '%s|' "$@"; echo; env | grep -v '^_\|^PWD\|^SHLVL\|^PATH'; cat; pwd >&2; exit 3"#;
    let (runner, _) = runner(LONG);
    let output = runner.run(script(dir.path(), body)).await.unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "one two|$HOME|\nOWN=yes\n");
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap().trim(), real.to_str().unwrap());
    assert_eq!(ending(output.status), "ended with exit code 3");
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group_and_keeps_what_was_said() {
    let dir = tempfile::tempdir().unwrap();
    // The grandchild ignores the request to end, and holds the pipes.
    let body = "echo working >&2\n(trap '' TERM; sh -c 'echo $PPID' > pid; while :; do sleep 600; done) &\nwait";
    let (runner, _) = runner(Duration::from_secs(2));
    let begin = Instant::now();
    let failure = runner.run(script(dir.path(), body)).await.unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let Failure::TimedOut(stderr) = failure else { panic!("{failure:?}") };
    assert_eq!(tail(&stderr, 20), "working");
    let pid = fs::read_to_string(dir.path().join("pid")).unwrap();
    wait_until(|| is_gone(pid.trim())).await;
}

#[tokio::test]
async fn cancelling_ends_a_tool_and_one_that_waits_for_its_turn() {
    let dir = tempfile::tempdir().unwrap();
    let invocation = script(dir.path(), "echo $$ > pid.new; mv pid.new pid; sleep 600");
    let (mut runner, cancel) = runner(LONG);
    runner.permits = Semaphore::new(1);
    let running = runner.run(invocation.clone());
    let waiting = runner.run(invocation);
    let pid = dir.path().join("pid");
    let canceller = async {
        wait_until(|| pid.exists()).await;
        cancel.cancel();
        Instant::now()
    };
    let (a, b, cancelled) = tokio::join!(running, waiting, canceller);
    assert!(cancelled.elapsed() < Duration::from_secs(3), "{:?}", cancelled.elapsed());
    assert!(matches!(a, Err(Failure::Cancelled)), "{a:?}");
    assert!(matches!(b, Err(Failure::Cancelled)), "{b:?}");
    let pid = fs::read_to_string(pid).unwrap();
    wait_until(|| is_gone(pid.trim())).await;
}

#[tokio::test]
async fn dropping_the_run_ends_the_tool() {
    let dir = tempfile::tempdir().unwrap();
    let invocation = script(dir.path(), "echo $$ > pid.new; mv pid.new pid; sleep 600");
    let (runner, _) = runner(LONG);
    let pid = dir.path().join("pid");
    tokio::select! {
        output = runner.run(invocation) => panic!("{output:?}"),
        () = wait_until(|| pid.exists()) => {}
    }
    let pid = fs::read_to_string(pid).unwrap();
    wait_until(|| is_gone(pid.trim())).await;
}

#[tokio::test]
async fn a_process_left_behind_does_not_hold_up_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, _) = runner(LONG);
    let begin = Instant::now();
    let body = "sleep 600 & echo $! > pid; echo done";
    let output = runner.run(script(dir.path(), body)).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(output.stdout, b"done\n");
    let pid = fs::read_to_string(dir.path().join("pid")).unwrap();
    wait_until(|| is_gone(pid.trim())).await;
}

#[tokio::test]
async fn output_is_read_while_the_tool_runs_and_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, _) = runner(LONG);
    let body = "head -c 900000 /dev/zero >&2; head -c 900000 /dev/zero";
    let output = runner.run(script(dir.path(), body)).await.unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len()), (900_000, 900_000));
    let failure = runner.run(script(dir.path(), "cat /dev/zero")).await.unwrap_err();
    assert!(matches!(failure, Failure::TooMuch(limit) if limit == 1 << 20), "{failure:?}");
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, _) = runner(LONG);
    let mut invocation = script(dir.path(), "");
    invocation.program = dir.path().join("gone");
    let failure = runner.run(invocation).await.unwrap_err();
    assert!(
        matches!(&failure, Failure::Io(e) if e.kind() == io::ErrorKind::NotFound),
        "{failure:?}"
    );
}

#[test]
fn the_tail_is_short_and_clean() {
    assert_eq!(tail(b"a\n\nb\r\n\x1b[31mc\x1b[0m\n", 2), "b\n[31mc[0m");
    assert_eq!(tail(b"", 2), "");
    let long = "x".repeat(5000);
    assert_eq!(tail(long.as_bytes(), 1).chars().count(), 2001);
}

#[test]
fn command_lines_can_be_pasted() {
    let long = format!("--api-versions={}", "v1,".repeat(100));
    let line = command_line(["/bin/helm", "a b", "it's", "", "--set=a=1", &long]);
    assert!(
        line.starts_with(r"/bin/helm 'a b' 'it'\''s' '' --set=a=1 --api-versions=v1,v1"),
        "{line}"
    );
    assert!(line.ends_with('…'), "{line}");
}
