//! Whether the process that holds a lease still lives, where that can be told.
//!
//! A holder that was killed leaves a lease that looks alive for its whole duration. On the same
//! machine there is no need to wait it out. "Same machine" must be certain: containers share host
//! names and process ids. So a process is named by the kernel's boot id, its pid namespace, its
//! pid and its start time; only Linux tells all four, and elsewhere nothing is known.

use serde::{Deserialize, Serialize};

/// A process, across machines and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// The kernel's boot id.
    pub boot: String,
    /// The pid namespace, such as `pid:[4026531836]`.
    pub namespace: String,
    /// The process id in that namespace.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It ended.
    Dead,
    /// It runs, or is stopped.
    Alive,
    /// It is, or was, on another machine or in another container.
    Unknown,
}

impl Process {
    /// This process; none where the system does not tell.
    pub fn current() -> Option<Process> {
        let pid = std::process::id();
        let Stat::Running { started } = stat(pid) else { return None };
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
        Some(Process {
            boot: boot.trim().to_owned(),
            namespace: namespace.to_string_lossy().into_owned(),
            pid,
            started,
        })
    }

    /// Whether it lives, as seen from `here`, this process.
    pub fn liveness(&self, here: Option<&Process>) -> Liveness {
        match here {
            Some(here) if here.boot == self.boot && here.namespace == self.namespace => {
                match stat(self.pid) {
                    // Another process took the number over.
                    Stat::Running { started } if started != self.started => Liveness::Dead,
                    Stat::Running { .. } => Liveness::Alive,
                    Stat::Gone => Liveness::Dead,
                    Stat::Unreadable => Liveness::Unknown,
                }
            }
            _ => Liveness::Unknown,
        }
    }
}

enum Stat {
    Running { started: u64 },
    Gone,
    Unreadable,
}

/// Reads `/proc/<pid>/stat` (proc(5)).
fn stat(pid: u32) -> Stat {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(text) => parse(&text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Stat::Gone,
        Err(_) => Stat::Unreadable,
    }
}

/// The state is field 3, the start time field 22; field 2, the name, may hold anything, and ends
/// with the last parenthesis. A zombie has ended, only its parent has not looked.
fn parse(text: &str) -> Stat {
    let Some((_, rest)) = text.rsplit_once(')') else { return Stat::Unreadable };
    let mut fields = rest.split_whitespace();
    match (fields.next(), fields.nth(18).and_then(|field| field.parse().ok())) {
        (Some("Z" | "X" | "x"), _) => Stat::Gone,
        (Some(_), Some(started)) => Stat::Running { started },
        _ => Stat::Unreadable,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_its_copies_in_other_places_are_unknown() {
        let here = Process::current().unwrap();
        assert_eq!(here.liveness(Some(&here)), Liveness::Alive);
        assert_eq!(here.liveness(None), Liveness::Unknown);
        let elsewhere = Process { boot: "another".into(), ..here.clone() };
        assert_eq!(elsewhere.liveness(Some(&here)), Liveness::Unknown);
        let container = Process { namespace: "pid:[1]".into(), ..here.clone() };
        assert_eq!(container.liveness(Some(&here)), Liveness::Unknown);
    }

    #[test]
    fn a_process_that_ended_is_dead_also_when_its_number_was_reused_or_nobody_looked() {
        let here = Process::current().unwrap();
        let reused = Process { started: here.started + 1, ..here.clone() };
        assert_eq!(reused.liveness(Some(&here)), Liveness::Dead);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        let ended = Process { pid, ..here.clone() };
        assert_eq!(ended.liveness(Some(&here)), Liveness::Dead);
        let zombie = "7 (a) b) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 99 0";
        assert!(matches!(parse(zombie), Stat::Gone));
        let sleeping = "7 (a) b) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 99 0";
        assert!(matches!(parse(sleeping), Stat::Running { started: 99 }));
        assert!(matches!(parse("7 (a"), Stat::Unreadable));
    }
}
