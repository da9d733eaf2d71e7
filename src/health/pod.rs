//! Pods: their health, and what troubles them.

use serde_json::Value;

use super::fields::{condition, one_line, reason};
use super::{Health, Verdict};

/// Running and ready, or succeeded. Waiting reasons are told and tolerated until the deadline: an
/// image may be pushed late, an autoscaler may bring a node, a crash may wait for a database.
/// Only what no time heals has failed.
pub(super) fn pod(object: &Value) -> Verdict {
    let status = &object["status"];
    let trouble = trouble(object);
    match status["phase"].as_str() {
        Some("Succeeded") => Verdict::healthy(),
        Some("Failed") => Verdict::failed(failure(object)),
        Some("Unknown") => {
            let why = status["message"].as_str().unwrap_or("its node does not answer");
            Verdict::new(Health::Unknown(one_line(why)))
        }
        Some("Running") if condition(object, "Ready").is_some_and(|c| c.is_true()) => {
            Verdict::healthy()
        }
        phase => match trouble {
            Some(trouble) if trouble.rank == Rank::Hopeless => Verdict::failed(trouble.text),
            Some(trouble) => Verdict::progressing(trouble.text),
            None if phase == Some("Running") => Verdict::progressing("not ready"),
            None => Verdict::progressing(phase.unwrap_or("Pending")),
        },
    }
}

/// What keeps a pod from being ready, the most telling first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) rank: Rank,
    /// The short name under which pods with the same trouble are counted together.
    pub(super) kind: String,
    pub(super) text: String,
}

/// How much a trouble tells: the least is told first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// No time heals it: an image name that is none.
    Hopeless,
    /// The pod has failed, or a container fails again and again.
    Failing,
    /// No node takes it.
    Unschedulable,
    /// A container ended and is started again.
    Restarting,
    /// It runs and is not ready.
    NotReady,
    /// It is on its way.
    Starting,
}

/// Reads the trouble off the pod's own status. None when it is ready or has succeeded.
pub(super) fn trouble(pod: &Value) -> Option<Trouble> {
    let status = &pod["status"];
    let ready = condition(pod, "Ready").is_some_and(|c| c.is_true());
    match status["phase"].as_str() {
        Some("Succeeded") => return None,
        Some("Running") if ready => return None,
        Some("Failed") => {
            let kind = status["reason"].as_str().unwrap_or("Failed").to_owned();
            return Some(Trouble { rank: Rank::Failing, kind, text: failure(pod) });
        }
        _ => {}
    }
    if let Some(scheduled) = condition(pod, "PodScheduled").filter(|c| c.is_false()) {
        return Some(Trouble {
            rank: Rank::Unschedulable,
            kind: scheduled.reason.to_owned(),
            text: scheduled.text(),
        });
    }
    let container = containers(pod).filter_map(|(c, init)| container_trouble(c, init));
    container.min_by_key(|t| t.rank).or_else(|| {
        let kind = if status["phase"] == "Running" { "not ready" } else { "Pending" };
        let rank = if status["phase"] == "Running" { Rank::NotReady } else { Rank::Starting };
        Some(Trouble { rank, kind: kind.into(), text: kind.into() })
    })
}

/// Init containers first: the others wait for them.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = (&Value, bool)> {
    let list = |key: &str| pod["status"][key].as_array().into_iter().flatten();
    list("initContainerStatuses")
        .map(|c| (c, true))
        .chain(list("containerStatuses").map(|c| (c, false)))
}

fn container_trouble(status: &Value, init: bool) -> Option<Trouble> {
    let name = status["name"].as_str().unwrap_or_default();
    let name = if init { format!("init container {name}") } else { format!("container {name}") };
    let restarts = status["restartCount"].as_i64().unwrap_or(0);
    let waiting = &status["state"]["waiting"];
    if let Some(why) = waiting["reason"].as_str() {
        let message = waiting["message"].as_str().unwrap_or_default();
        let rank = match why {
            "InvalidImageName" | "ErrImageNeverPull" => Rank::Hopeless,
            "ContainerCreating" | "PodInitializing" => Rank::Starting,
            _ => Rank::Failing,
        };
        let text = match (why, last_exit(status)) {
            ("CrashLoopBackOff", Some(exit)) => {
                format!("{name}: CrashLoopBackOff, restarts {restarts}, {exit}")
            }
            ("CrashLoopBackOff", None) => format!("{name}: CrashLoopBackOff, restarts {restarts}"),
            ("ContainerCreating" | "PodInitializing", _) => why.to_owned(),
            _ => reason(why, message),
        };
        return Some(Trouble { rank, kind: why.into(), text });
    }
    let ended = &status["state"]["terminated"];
    if ended.is_object() {
        if ended["exitCode"] == 0 {
            return None;
        }
        let text = format!("{name}: {}, restarts {restarts}", exit(ended));
        return Some(Trouble { rank: Rank::Restarting, kind: "restarting".into(), text });
    }
    let running = status["state"]["running"].is_object();
    if init || !running || status["ready"] == true {
        return None;
    }
    let text = match (restarts, last_exit(status)) {
        (0, _) => format!("{name}: not ready"),
        (n, Some(exit)) => format!("{name}: not ready, restarts {n}, {exit}"),
        (n, None) => format!("{name}: not ready, restarts {n}"),
    };
    Some(Trouble { rank: Rank::NotReady, kind: "not ready".into(), text })
}

fn last_exit(status: &Value) -> Option<String> {
    let last = &status["lastState"]["terminated"];
    last.is_object().then(|| format!("last {}", exit(last)))
}

/// `exit code 137 (OOMKilled)`. The message of a terminated container is what it wrote itself,
/// to its termination log, so it is left out: it may hold anything.
fn exit(ended: &Value) -> String {
    let code = ended["exitCode"].as_i64().unwrap_or(0);
    match ended["reason"].as_str() {
        None | Some("Error" | "") => format!("exit code {code}"),
        Some(why) => format!("exit code {code} ({why})"),
    }
}

/// Why a pod of phase Failed failed.
fn failure(pod: &Value) -> String {
    let status = &pod["status"];
    let why = status["reason"].as_str().unwrap_or_default();
    let message = status["message"].as_str().unwrap_or_default();
    if !why.is_empty() || !message.is_empty() {
        return reason(why, message);
    }
    let ended = containers(pod).find_map(|(c, _)| {
        let ended = &c["state"]["terminated"];
        let code = ended["exitCode"].as_i64().filter(|code| *code != 0)?;
        let _ = code;
        Some(format!("container {}: {}", c["name"].as_str().unwrap_or_default(), exit(ended)))
    });
    ended.unwrap_or_else(|| "Failed".into())
}
