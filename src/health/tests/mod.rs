//! Tables: one row a rule or an edge case. The kind of each row is real; the status is what the
//! controllers of Kubernetes 1.36 write.
#![expect(clippy::needless_pass_by_value, reason = "a row reads best with its `json!` in it")]

mod any;
mod cause;
mod others;
mod tree;
mod workloads;

use serde_json::{Value, json};

use super::*;

/// The time of all tables.
pub(super) const NOW: &str = "2026-01-01T00:10:00Z";

pub(super) fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// The verdict in one line: `Healthy`, `Progressing: reason`, each with `[note; note]`.
pub(super) fn show(verdict: &Verdict) -> String {
    let mut line = verdict.word().to_owned();
    if let Some(reason) = verdict.health.reason() {
        line += &format!(": {reason}");
    }
    if !verdict.notes.is_empty() {
        line += &format!(" [{}]", verdict.notes.join("; "));
    }
    line
}

/// Judges with nothing applied and nothing around.
pub(super) fn judge(object: &Value) -> String {
    show(&health(object, &Own::default(), &Surroundings::at(now())))
}

/// An object of generation 2.
pub(super) fn object(api_version: &str, kind: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop", "uid": "u-1", "generation": 2},
        "spec": spec,
        "status": status,
    })
}

/// Runs a table of `(what, object, wanted line)`.
pub(super) fn check(rows: Vec<(&str, Value, &str)>) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(what, object, wanted)| {
            let line = judge(object);
            (line != *wanted).then(|| format!("{what}\n   got {line}\n  want {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
