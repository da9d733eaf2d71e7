//! Deployments, StatefulSets, DaemonSets, ReplicaSets and ReplicationControllers.

use jiff::SignedDuration;
use serde_json::Value;

use super::cause::refusal;
use super::fields::{condition, count, plural, replicas};
use super::generation::not_observed;
use super::{Own, Surroundings, Verdict};

/// How long the refusal of a pod (quota, admission) may stand before it counts as failed. A
/// rolling update at the edge of a quota is refused until an old pod is gone, so not at once; the
/// deadline of a Deployment would take ten minutes to say the same.
const REFUSAL_GRACE: SignedDuration = SignedDuration::from_secs(60);

/// Updated, available, and nothing old left. Counts are compared with the live `spec.replicas`,
/// which an autoscaler may have set, not with the manifest.
pub(super) fn deployment(object: &Value, own: &Own, around: &Surroundings<'_>) -> Verdict {
    if let Some(verdict) = not_observed(object, own) {
        return verdict;
    }
    let wanted = replicas(object);
    let updated = count(object, "updatedReplicas");
    if object["spec"]["paused"] == true {
        return Verdict::paused(format!("spec.paused is true; {updated}/{wanted} updated"));
    }
    if let Some(progress) = condition(object, "Progressing")
        && progress.is_false()
        && progress.reason == "ProgressDeadlineExceeded"
    {
        return Verdict::failed(progress.text());
    }
    if let Some(verdict) = refused(object, around) {
        return verdict;
    }
    let total = count(object, "replicas");
    let available = count(object, "availableReplicas");
    if updated < wanted {
        Verdict::progressing(format!("{updated}/{wanted} updated"))
    } else if total > updated {
        Verdict::progressing(format!(
            "{} to go",
            plural(total.saturating_sub(updated), "old pod", "old pods")
        ))
    } else if total > wanted {
        Verdict::progressing(format!(
            "{} to go",
            plural(total.saturating_sub(wanted), "extra pod", "extra pods")
        ))
    } else if available < wanted {
        Verdict::progressing(format!("{available}/{wanted} available"))
    } else {
        Verdict::healthy()
    }
}

/// ReplicaSets and ReplicationControllers that stand by themselves.
pub(super) fn replica_set(object: &Value, own: &Own, around: &Surroundings<'_>) -> Verdict {
    if let Some(verdict) = not_observed(object, own).or_else(|| refused(object, around)) {
        return verdict;
    }
    let (wanted, total) = (replicas(object), count(object, "replicas"));
    let available = count(object, "availableReplicas");
    if total > wanted {
        Verdict::progressing(format!(
            "{} to go",
            plural(total.saturating_sub(wanted), "extra pod", "extra pods")
        ))
    } else if available < wanted {
        Verdict::progressing(format!("{available}/{wanted} available"))
    } else {
        Verdict::healthy()
    }
}

fn refused(object: &Value, around: &Surroundings<'_>) -> Option<Verdict> {
    let failure = condition(object, "ReplicaFailure").filter(|c| c.is_true())?;
    let reason = refusal(failure.reason, failure.message);
    let stands = failure.since.is_some_and(|t| around.now.duration_since(t) >= REFUSAL_GRACE);
    Some(if stands { Verdict::failed(reason) } else { Verdict::progressing(reason) })
}

/// With a partition, only the ordinals from it up are updated; with OnDelete, the pods are
/// someone's to delete, which kapp and kstatus wait for forever. A missing `updatedReplicas` with
/// equal revisions means that nothing was to update (kubernetes#72212, #76748).
pub(super) fn stateful_set(object: &Value, own: &Own) -> Verdict {
    if let Some(verdict) = not_observed(object, own) {
        return verdict;
    }
    let status = &object["status"];
    let strategy = &object["spec"]["updateStrategy"];
    let (wanted, total) = (replicas(object), count(object, "replicas"));
    let revisions = (status["currentRevision"].as_str(), status["updateRevision"].as_str());
    let same = matches!(revisions, (Some(current), Some(update)) if current == update)
        || status["updateRevision"].as_str().is_none();
    let updated = if same { total } else { count(object, "updatedReplicas") };
    // `readyReplicas` is written by every version; `availableReplicas` is the one that counts
    // minReadySeconds.
    let (ready, word) = if object["spec"]["minReadySeconds"].as_i64().unwrap_or(0) > 0 {
        (count(object, "availableReplicas"), "available")
    } else {
        (count(object, "readyReplicas"), "ready")
    };
    let on_delete = strategy["type"] == "OnDelete";
    let partition = strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0);
    let to_update = if on_delete { 0 } else { wanted.saturating_sub(partition).max(0) };

    if updated < to_update {
        return Verdict::progressing(format!("{updated}/{to_update} updated"));
    }
    if ready < wanted {
        return Verdict::progressing(format!("{ready}/{wanted} {word}"));
    }
    if total > wanted {
        let extra = plural(total.saturating_sub(wanted), "extra pod", "extra pods");
        return Verdict::progressing(format!("{extra} to go"));
    }
    if !on_delete && partition == 0 && !same && wanted > 0 {
        return Verdict::progressing("all updated; the rollout is being closed");
    }
    let old = total.saturating_sub(updated);
    let verdict = Verdict::healthy();
    if old <= 0 {
        verdict
    } else if on_delete {
        verdict.note(format!(
            "{} on the old revision: OnDelete updates a pod when it is deleted",
            plural(old, "pod", "pods")
        ))
    } else {
        let pods = plural(old, "pod", "pods");
        verdict.note(format!("{pods} on the old revision, kept by partition {partition}"))
    }
}

/// The wanted number is that of the nodes as they are now, read anew at each look.
pub(super) fn daemon_set(object: &Value, own: &Own) -> Verdict {
    if let Some(verdict) = not_observed(object, own) {
        return verdict;
    }
    let wanted = count(object, "desiredNumberScheduled");
    let updated = count(object, "updatedNumberScheduled");
    let available = count(object, "numberAvailable");
    let on_delete = object["spec"]["updateStrategy"]["type"] == "OnDelete";
    if !on_delete && updated < wanted {
        return Verdict::progressing(format!("{updated}/{wanted} updated"));
    }
    if available < wanted {
        return Verdict::progressing(format!("{available}/{wanted} available"));
    }
    let verdict = Verdict::healthy();
    if wanted == 0 {
        verdict.note("no node is selected")
    } else if updated < wanted {
        verdict.note(format!(
            "{} on the old revision: OnDelete updates a pod when it is deleted",
            plural(wanted.saturating_sub(updated), "pod", "pods")
        ))
    } else {
        verdict
    }
}
