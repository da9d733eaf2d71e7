//! What changes in a target, in a few words each. Values are those of images, counts and names:
//! nothing of a Secret.

use serde_json::Value;

use crate::diff::{Change, Op};
use crate::manifest::ObjectId;
use crate::ownership::{FieldPath, Segment};
use crate::plan::{Action, CONFIG_HASH, ObjectPlan, TargetPlan, pod_template, referenced_configs};

/// So many reasons are told; the rest is counted.
const TOLD: usize = 2;

/// How much of a digest tells images apart.
const DIGEST: usize = 12;

/// `Deployment/web`.
pub(super) fn name(id: &ObjectId) -> String {
    format!("{}/{}", id.kind, id.name)
}

/// The first reasons, each once, and how many there are besides.
pub(super) fn sum(reasons: Vec<String>) -> String {
    let mut told: Vec<String> = Vec::new();
    for reason in reasons {
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let told = told.join(", ");
    if more == 0 { told } else { format!("{told} and {more} more") }
}

/// All that an apply would do; what concerns pods comes first. Empty: nothing.
pub(super) fn others(plan: &TargetPlan) -> Vec<String> {
    let (mut pods, mut rest) = (Vec::new(), Vec::new());
    for object in &plan.objects {
        let name = name(&object.id);
        let words = match &object.action {
            Action::Unchanged => continue,
            Action::Create => format!("creates {name}"),
            Action::Recreate(_) => format!("recreates {name}"),
            Action::Change if object.diff.is_empty() => format!("takes over fields of {name}"),
            Action::Change | Action::Stopped(_) | Action::Terminating(_) | Action::Refused(_) => {
                scale(object).unwrap_or_else(|| format!("changes {name}"))
            }
        };
        let concerns_pods = pod_template(&object.gvk, &object.manifest).is_some();
        if concerns_pods { pods.push(words) } else { rest.push(words) }
    }
    pods.append(&mut rest);
    pods.extend(plan.prune.sweep.delete.iter().map(|c| format!("deletes {}", name(&c.id))));
    let retires = plan.retires.iter();
    pods.extend(retires.map(|r| format!("retires the helm release {}/{}", r.namespace, r.name)));
    pods
}

/// `scale Deployment/web from 2 to 3`, when nothing else changes.
fn scale(object: &ObjectPlan) -> Option<String> {
    let [change] = object.diff.changes.as_slice() else { return None };
    if change.path != FieldPath::fields(&["spec", "replicas"]) {
        return None;
    }
    let count = |value: &Option<Value>| match value {
        Some(value) => value.to_string(),
        None => "unset".to_owned(),
    };
    let (before, after) = (count(&change.before), count(&change.after));
    Some(format!("scale {} from {before} to {after}", name(&object.id)))
}

/// Why the change of a workload goes through the steps: it is new, or its pods change. Empty: it
/// need not.
pub(super) fn workload(object: &ObjectPlan, plan: &TargetPlan) -> Vec<String> {
    let name = name(&object.id);
    match &object.action {
        Action::Create => return vec![format!("{name} is new")],
        Action::Recreate(_) => return vec![format!("recreates {name}")],
        Action::Unchanged
        | Action::Change
        | Action::Stopped(_)
        | Action::Terminating(_)
        | Action::Refused(_) => {}
    }
    let template = FieldPath::fields(&["spec", "template"]);
    let (hash, changes): (Vec<&Change>, Vec<&Change>) = (object.diff.changes.iter())
        .filter(|change| template.is_prefix_of(&change.path))
        .partition(|change| last_field(&change.path) == Some(CONFIG_HASH));
    let mut reasons: Vec<String> = changes
        .iter()
        .map(|change| of_template(change, &name, template.segments().len()))
        .collect();
    // A hash that comes with another change says nothing of the configuration.
    let says = |change: &&Change| change.op == Op::Replace || changes.is_empty();
    if hash.iter().any(says) {
        reasons.extend(used_configuration(object, plan, &name));
    }
    reasons
}

/// A change of a pod template.
fn of_template(change: &Change, name: &str, depth: usize) -> String {
    let segments = change.path.segments();
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let (before, after) = (text(&change.before), text(&change.after));
    match (last_field(&change.path), before, after) {
        (Some("image"), Some(before), Some(after)) => image(&before, &after),
        (Some("name" | "secretName"), Some(_), Some(after)) if config(segments).is_some() => {
            format!("{name} uses {}/{after}", config(segments).unwrap_or_default())
        }
        _ => {
            let below = FieldPath::new(segments.iter().skip(depth).cloned().collect());
            format!("pod template of {name}: {below}")
        }
    }
}

/// The kind that a reference to configuration names, by its path.
fn config(path: &[Segment]) -> Option<&'static str> {
    let mut fields = path.iter().rev().filter_map(|segment| match segment {
        Segment::Field(name) => Some(name.as_str()),
        Segment::Key(_) | Segment::Value(_) | Segment::Index(_) | Segment::Other(_) => None,
    });
    match (fields.next()?, fields.next()?) {
        ("name", "configMapKeyRef" | "configMapRef" | "configMap") => Some("ConfigMap"),
        ("name", "secretKeyRef" | "secretRef" | "secret") | ("secretName", "secret") => {
            Some("Secret")
        }
        _ => None,
    }
}

/// `image web 1.27 → 1.28`; of another repository both whole.
fn image(before: &str, after: &str) -> String {
    let ((old, from), (new, to)) = (parts(before), parts(after));
    if old == new {
        let short = old.rsplit('/').next().unwrap_or(&old);
        return format!("image {short} {from} → {to}");
    }
    let whole = |repository: &str, version: &str| {
        let sign = if version.contains(':') { '@' } else { ':' };
        format!("{repository}{sign}{version}")
    };
    format!("image {} → {}", whole(&old, &from), whole(&new, &to))
}

/// The repository of an image, and its tag or digest.
fn parts(image: &str) -> (String, String) {
    if let Some((repository, digest)) = image.split_once('@') {
        let digest = match digest.split_once(':') {
            Some((algorithm, hex)) => {
                format!("{algorithm}:{}", hex.chars().take(DIGEST).collect::<String>())
            }
            None => digest.to_owned(),
        };
        // A tag beside a digest is only a comment.
        let (repository, _) = tagged(repository);
        return (repository.to_owned(), digest);
    }
    let (repository, tag) = tagged(image);
    (repository.to_owned(), tag.unwrap_or("latest").to_owned())
}

/// The colon of a port is no colon of a tag.
fn tagged(image: &str) -> (&str, Option<&str>) {
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (image, None),
    }
}

/// The configuration of a workload that changes with it, by name; where none does, it has changed
/// before, and the pods do not have it yet.
fn used_configuration(object: &ObjectPlan, plan: &TargetPlan, name: &str) -> Vec<String> {
    let namespace = object.id.namespace.as_deref().unwrap_or_default();
    let template = pod_template(&object.gvk, &object.manifest);
    let used = template.map(|t| referenced_configs(t, namespace)).unwrap_or_default();
    let changed: Vec<String> =
        configurations(plan).into_iter().filter(|(id, _)| used.contains(id)).map(|c| c.1).collect();
    match changed.as_slice() {
        [] => vec![format!("configuration of {name}")],
        _ => changed,
    }
}

/// Why an application without workloads goes through the steps. Empty: it need not.
pub(super) fn configuration(plan: &TargetPlan) -> Vec<String> {
    configurations(plan).into_iter().map(|(_, words)| words).collect()
}

/// The ConfigMaps and Secrets that change.
fn configurations(plan: &TargetPlan) -> Vec<(ObjectId, String)> {
    let is_config =
        |id: &ObjectId| id.group.is_empty() && matches!(id.kind.as_str(), "ConfigMap" | "Secret");
    let objects = plan.objects.iter().filter(|o| is_config(&o.id) && !o.diff.is_empty());
    let deleted = plan.prune.sweep.delete.iter().filter(|c| is_config(&c.id));
    objects
        .map(|object| {
            let verb = match object.action {
                Action::Create => "new",
                _ => "changed",
            };
            (object.id.clone(), format!("{} {verb}", name(&object.id)))
        })
        .chain(deleted.map(|c| (c.id.clone(), format!("{} deleted", name(&c.id)))))
        .collect()
}

fn last_field(path: &FieldPath) -> Option<&str> {
    match path.segments().last()? {
        Segment::Field(name) => Some(name),
        Segment::Key(_) | Segment::Value(_) | Segment::Index(_) | Segment::Other(_) => None,
    }
}
