//! Jobs and CronJobs, and objects that are gone.

use serde_json::Value;

use super::fields::{condition, count, event_message, event_object, reason};
use super::{Own, Surroundings, Verdict};

/// Complete, or failed with its reason. `FailureTarget` is written before the pods are gone and
/// `Failed` after, so the first already decides.
pub(super) fn job(object: &Value) -> Verdict {
    let is = |kind: &str| condition(object, kind).filter(|c| c.is_true());
    if is("Complete").is_some() {
        return Verdict::healthy();
    }
    if let Some(failed) = is("Failed").or_else(|| is("FailureTarget")) {
        return Verdict::failed(failed.text());
    }
    if object["spec"]["suspend"] == true {
        return Verdict::paused("spec.suspend is true");
    }
    // A work queue has no number of completions: any one pod that succeeds ends it.
    let succeeded = count(object, "succeeded");
    let mut parts = vec![match object["spec"]["completions"].as_i64() {
        Some(wanted) => format!("{succeeded}/{wanted} succeeded"),
        None => format!("{succeeded} succeeded"),
    }];
    for (field, word) in [("active", "active"), ("failed", "failed")] {
        match count(object, field) {
            0 => {}
            n => parts.push(format!("{n} {word}")),
        }
    }
    Verdict::progressing(parts.join(", "))
}

/// Whether an object is a Job that has ended, well or not. Its pods and their template do not
/// change any more.
pub(super) fn is_finished(object: &Value) -> bool {
    let is_job = object["kind"] == "Job"
        && object["apiVersion"].as_str().is_some_and(|v| v.starts_with("batch/"));
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    is_job
        && conditions.into_iter().any(|c| {
            c["status"] == "True" && matches!(c["type"].as_str(), Some("Complete" | "Failed"))
        })
}

/// A CronJob does what it should by being there: its runs come later, and a run that failed is
/// no failure of a deploy.
pub(super) fn cron_job(object: &Value) -> Verdict {
    let verdict = Verdict::healthy();
    if object["spec"]["suspend"] == true {
        verdict.note("suspended: it starts no jobs")
    } else {
        verdict
    }
}

/// Judges an object that we applied and that is not there any more. `applied` is what our apply
/// answered (or the manifest), `last` the verdict of the last look, if there was one.
///
/// A Job with `ttlSecondsAfterFinished` goes away when it is finished, with 0 before anyone has
/// seen it complete: its events, which outlive it, say how it ended.
pub fn gone(
    applied: &Value,
    own: &Own,
    last: Option<&Verdict>,
    around: &Surroundings<'_>,
) -> Verdict {
    let is_job = applied["kind"] == "Job"
        && applied["apiVersion"].as_str().is_some_and(|v| v.starts_with("batch/"));
    if !is_job || applied["spec"]["ttlSecondsAfterFinished"].as_i64().is_none() {
        return Verdict::failed("deleted by someone since our apply");
    }
    if last.is_some_and(Verdict::is_healthy) {
        return Verdict::healthy().note("completed, and removed by its TTL");
    }
    let about = |event: &&Value| {
        let object = event_object(event);
        object["kind"] == "Job"
            && object["name"] == applied["metadata"]["name"]
            && own.uid.as_deref().is_none_or(|uid| object["uid"] == uid)
    };
    for event in around.events.iter().filter(about) {
        let (why, text) = (event["reason"].as_str().unwrap_or_default(), event_message(event));
        match why {
            "Completed" => return Verdict::healthy().note("completed, and removed by its TTL"),
            "BackoffLimitExceeded"
            | "DeadlineExceeded"
            | "PodFailurePolicy"
            | "FailedIndexes"
            | "MaxFailedIndexesExceeded" => return Verdict::failed(reason(why, text)),
            _ => {}
        }
    }
    Verdict::healthy().unjudged().note("removed by its TTL before anyone saw how it ended")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Own, Surroundings, health};

    /// The TTL controller deletes in the foreground: for a while the Job is there and terminating.
    #[test]
    fn a_finished_job_that_goes_by_its_ttl_is_what_it_came_to() {
        let job = |condition: &str| {
            json!({"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": "once", "uid": "u", "generation": 2,
                    "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]},
                "spec": {"ttlSecondsAfterFinished": 0},
                "status": {"conditions": [{"type": condition, "status": "True", "message": "m"}]}})
        };
        let own = Own { generation: Some(1), uid: Some("u".into()) };
        let now = Surroundings::at("2026-01-01T00:00:01Z".parse().unwrap());
        assert!(health(&job("Complete"), &own, &now).is_healthy());
        assert_eq!(health(&job("Failed"), &own, &now).word(), "Failed");
        assert_eq!(health(&job("Suspended"), &own, &now).word(), "Failed", "deleted by someone");
    }
}
