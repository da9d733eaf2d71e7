//! Admission that changes what is settled: an object whose manifest and whose live values are as the
//! last apply left them, and that the server would change all the same (A9.4). A plan of it is never
//! empty, so the webhook is named rather than the user blamed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::assess::Scene;
use super::job::Job;
use super::wait::core;
use crate::cluster::Resource;
use crate::config::Expression;
use crate::manifest::ObjectId;
use crate::plan::ObjectPlan;

/// How many paths are named.
const SHOWN: usize = 3;

impl Scene {
    /// Says of a change that nobody made who makes it. Asked once more, a webhook that writes another
    /// value each time gives itself away.
    pub(super) async fn blame(&self, plan: &mut ObjectPlan, resource: &Resource, live: &Value) {
        let again = self.dry_run(resource, &plan.id, &plan.manifest, plan.ownership.force).await;
        let Ok(again) = again else { return };
        let second = self.diff(&plan.id, Some(live), Some(&again.object));
        let unsteady = plan.diff.changes.iter().filter(|c| !second.changes.contains(c));
        let unsteady: Vec<String> = unsteady.map(|c| format!("`{}`", c.path)).collect();
        let all: Vec<String> = plan.diff.changes.iter().map(|c| format!("`{}`", c.path)).collect();
        let webhooks = webhooks(&self.job, resource, &plan.id, live).await;
        let who = match webhooks.is_empty() {
            true => "admission".to_owned(),
            false => {
                let names: Vec<String> = webhooks.iter().map(|name| format!("`{name}`")).collect();
                format!("admission by {}", names.join(" or "))
            }
        };
        plan.warnings.push(match unsteady.is_empty() {
            false => format!(
                "{who} writes another {} each time: no plan with `--verify` is empty until it \
                 stops, or `ignore` names the field",
                some(&unsteady)
            ),
            true => format!(
                "nobody has changed the object since it was applied: {who}, or the server's own \
                 rules, would change {} now",
                some(&all)
            ),
        });
    }
}

fn some(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(SHOWN);
    let shown = paths.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// The webhooks that may change an object, by name. What may not be read is not known.
async fn webhooks(job: &Job, resource: &Resource, id: &ObjectId, live: &Value) -> BTreeSet<String> {
    let mut configurations = core(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
    );
    configurations.namespaced = false;
    let Ok(all) = job.cluster.list(&configurations, None, None, None).await else {
        return BTreeSet::new();
    };
    let namespace = match &id.namespace {
        None => None,
        Some(name) => Some(namespace_labels(job, name).await),
    };
    let own = labels_of(live);
    let hooks = all.iter().flat_map(|c| c["webhooks"].as_array().into_iter().flatten());
    let called = hooks.filter(|hook| {
        let in_namespace =
            namespace.as_ref().is_none_or(|labels| selects(&hook["namespaceSelector"], labels));
        let rules = hook["rules"].as_array().into_iter().flatten();
        in_namespace
            && selects(&hook["objectSelector"], &own)
            && rules.into_iter().any(|rule| concerns(rule, resource))
    });
    called.filter_map(|hook| hook["name"].as_str().map(str::to_owned)).collect()
}

/// The labels of a namespace; at least the one that every namespace has.
async fn namespace_labels(job: &Job, name: &str) -> BTreeMap<String, String> {
    let mut namespaces = core("v1", "Namespace", "namespaces");
    namespaces.namespaced = false;
    let found = job.cluster.get(&namespaces, None, name).await.ok().flatten();
    let mut labels = found.as_ref().map(labels_of).unwrap_or_default();
    labels.insert("kubernetes.io/metadata.name".to_owned(), name.to_owned());
    labels
}

fn labels_of(object: &Value) -> BTreeMap<String, String> {
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// Whether a selector of Kubernetes' own form selects something with these labels. What is not
/// understood selects all.
fn selects(selector: &Value, labels: &BTreeMap<String, String>) -> bool {
    let all = selector["matchLabels"].as_object().into_iter().flatten();
    let equal =
        |(key, value): (&String, &Value)| labels.get(key).map(String::as_str) == value.as_str();
    let expressions = selector["matchExpressions"].clone();
    let expressions: Vec<Expression> = serde_json::from_value(expressions).unwrap_or_default();
    all.into_iter().all(equal) && expressions.iter().all(|e| e.matches(labels))
}

/// Whether a webhook's rule is about updates of a resource.
fn concerns(rule: &Value, resource: &Resource) -> bool {
    let has = |key: &str, wanted: &[&str]| {
        let listed = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        listed.into_iter().any(|one| wanted.contains(&one))
    };
    has("operations", &["*", "UPDATE"])
        && has("apiGroups", &["*", &resource.gvk.group])
        && has("apiVersions", &["*", &resource.gvk.version])
        && has("resources", &["*", "*/*", &resource.plural])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Gvk;

    #[test]
    fn which_webhooks_an_update_calls() {
        let resource = Resource::new(Gvk::new("apps/v1", "Deployment"), "deployments", true);
        let rule = |operation: &str, group: &str, plural: &str| {
            json!({"operations": ["CREATE", operation], "apiGroups": [group],
                "apiVersions": ["*"], "resources": [plural]})
        };
        for (rule, expected) in [
            (rule("UPDATE", "apps", "deployments"), true),
            (rule("*", "*", "*"), true),
            (rule("DELETE", "apps", "deployments"), false),
            (rule("UPDATE", "", "deployments"), false),
            (rule("UPDATE", "apps", "deployments/status"), false),
            (json!({}), false),
        ] {
            assert_eq!(concerns(&rule, &resource), expected, "{rule}");
        }
        let labels = BTreeMap::from([("team".to_owned(), "shop".to_owned())]);
        for (selector, expected) in [
            (json!(null), true),
            (json!({}), true),
            (json!({"matchLabels": {"team": "shop"}}), true),
            (json!({"matchLabels": {"team": "other"}}), false),
            (
                json!({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["shop"]}]}),
                false,
            ),
            (json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}), true),
        ] {
            assert_eq!(selects(&selector, &labels), expected, "{selector}");
        }
    }
}
