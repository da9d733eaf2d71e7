//! What to know about a canary: how traffic reaches it, who counts its pods, what it shares with
//! the primary and what it goes without.

use std::collections::BTreeSet;

use serde_json::Value;

use super::choose::has_canary;
use super::facts::{Copied, Facts};
use super::isolate::Apart;
use super::labels::{selects, sends_to};
use super::set::{Item, Set};
use super::size::scales;
use crate::manifest::ObjectId;
use crate::ownership::autoscaled;
use crate::plan::Handling;

/// The notes, in the order of their weight.
pub(super) fn of(facts: &Facts) -> Vec<String> {
    let mut notes = Vec::new();
    labelling(facts, &mut notes);
    sizes(facts, &mut notes);
    traffic(facts, &mut notes);
    counted(facts, &mut notes);
    shared(facts, &mut notes);
    later(facts, &mut notes);
    let mut seen = BTreeSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    notes
}

/// The restart that the label costs.
fn labelling(facts: &Facts, notes: &mut Vec<String>) {
    let label = &facts.settings.label;
    if !facts.first.templates.is_empty() {
        notes.push(format!(
            "the pods of {} restart once: with `isolation: label` they get the label `{}: {}`, and \
             then {} by it",
            names(facts.first.templates.iter().map(|o| &o.id)),
            label.key,
            label.primary,
            match facts.first.services.is_empty() {
                true => "the Services select".to_owned(),
                false => format!("{} selects", names(facts.first.services.iter().map(|o| &o.id))),
            },
        ));
    }
}

fn sizes(facts: &Facts, notes: &mut Vec<String>) {
    let suffix = &facts.canary.suffix;
    for Copied { item, size, replicas, .. } in facts.copied {
        let has = format!("its copy `{}-{suffix}` has {}", item.id.name, pods(*replicas));
        if !size.is_live {
            notes.push(format!("{} is new: {has}", item.id));
        } else if size.replicas == 0 {
            notes.push(format!("{} runs no pods: {has}", item.id));
        } else if *replicas > size.replicas {
            notes.push(format!("{} has {}: {has}", item.id, pods(size.replicas)));
        }
    }
    for partitioned in facts.partitioned {
        let (id, changed, all) =
            (&partitioned.item.id, partitioned.replicas, partitioned.size.replicas);
        notes.push(match (changed, all) {
            (0, 0) => format!("{id} runs no pods: there is nothing to be its canary"),
            (changed, all) if changed == all => {
                format!("{id}: all {} run the new release, in place", pods(all))
            }
            (changed, all) => format!(
                "{id}: of {} the {changed} of the highest ordinals run the new release, in place",
                pods(all)
            ),
        });
    }
}

/// How much of what a Service sends reaches the canary.
fn traffic(facts: &Facts, notes: &mut Vec<String>) {
    // What runs decides until the primary's turn comes.
    let running = if facts.previous.items.is_empty() { facts.set } else { facts.previous };
    let front = |workload: &Item| {
        let namespace = workload.id.namespace.as_deref();
        let services: Vec<(&Item, Value)> =
            running.services_in(namespace).map(|s| (s, as_labelled(facts, s))).collect();
        services
    };
    for copied in facts.copied {
        let services = front(copied.item);
        let before = primary_labels(facts, copied.item);
        let mut reached = false;
        for (service, value) in &services {
            if !sends_to(value, copied.pod_labels()) {
                continue;
            }
            reached = true;
            let behind = |labels: &Value| sends_to(value, labels);
            let canary: u32 =
                facts.copied.iter().filter(|c| behind(c.pod_labels())).map(|c| c.replicas).sum();
            let copies = facts.copied.iter().filter(|c| behind(&primary_labels(facts, c.item)));
            let primary: u32 = copies.map(|c| c.size.replicas).sum();
            let of = canary.saturating_add(primary);
            notes.push(format!(
                "{} spreads by number of pods: {canary} of {of} {} the canary's",
                service.id,
                if canary == 1 { "is" } else { "are" },
            ));
        }
        let had = services.iter().any(|(_, value)| sends_to(value, &before));
        if !reached && had && facts.services.is_empty() {
            notes.push(format!(
                "no Service sends anything to the canary of {}; `service: true` gives it one of \
                 its own",
                copied.item.id
            ));
        }
    }
}

/// The labels of the primary's pods while there is a canary.
fn primary_labels(facts: &Facts, workload: &Item) -> Value {
    let mut labels = workload.pod_labels().clone();
    if let (Apart::Label, Some(map)) = (facts.apart, labels.as_object_mut()) {
        let label = &facts.settings.label;
        map.insert(label.key.clone(), label.primary.as_str().into());
    }
    labels
}

/// A Service that runs, as it is once the primary has its label.
fn as_labelled(facts: &Facts, service: &Item) -> Value {
    let changed = facts.first.services.iter().find(|object| object.id == service.id);
    changed.map_or_else(|| service.value().clone(), |object| object.value.clone())
}

/// Who counts the canary's pods with the primary's, and who does not know them.
fn counted(facts: &Facts, notes: &mut Vec<String>) {
    let renamed = facts.apart == Apart::Rename;
    for copied in facts.copied {
        let id = &copied.item.id;
        for scaler in scalers(facts, id) {
            let canary = format!("the canary keeps its {}", pods(copied.replicas));
            notes.push(match renamed {
                true => format!("{scaler} does not count the canary's pods; {canary}"),
                false => format!("{scaler} counts the canary's pods in its averages; {canary}"),
            });
        }
        let both = [
            ("policy", "PodDisruptionBudget", "/spec/selector"),
            ("networking.k8s.io", "NetworkPolicy", "/spec/podSelector"),
        ];
        for (group, kind, at) in both {
            let here = facts.set.of(group, kind).filter(|p| p.id.namespace == id.namespace);
            for policy in here {
                let Some(selector) = policy.value().pointer(at) else { continue };
                let own = copied.item.pod_labels();
                match (selects(selector, own), selects(selector, copied.pod_labels())) {
                    (true, true) if kind == "PodDisruptionBudget" => {
                        notes.push(format!("{} counts the canary's pods too", policy.id));
                    }
                    (true, false) => {
                        notes
                            .push(format!("{} does not know the canary's pods of {id}", policy.id));
                    }
                    (true, true) | (false, _) => {}
                }
            }
        }
    }
}

/// The autoscalers of a workload, in the release or live.
fn scalers(facts: &Facts, workload: &ObjectId) -> BTreeSet<String> {
    let own = facts.set.items.iter().filter(|scaler| scales(scaler, workload));
    let live = facts.live.autoscalers.iter().filter(|scaler| {
        autoscaled(std::iter::empty(), std::slice::from_ref(scaler)).contains(workload)
    });
    let live = live.map(|scaler| {
        let text = |key: &str| scaler["metadata"][key].as_str().unwrap_or_default().to_owned();
        // Items of a LIST do not name their kind (A1.7).
        let keda = scaler["spec"].get("triggers").is_some();
        let kind = if keda { "ScaledObject" } else { "HorizontalPodAutoscaler" };
        format!("{kind} {}/{}", text("namespace"), text("name"))
    });
    own.map(|scaler| scaler.id.to_string()).chain(live).collect()
}

/// What canary and primary have to share, or cannot.
fn shared(facts: &Facts, notes: &mut Vec<String>) {
    for copied in facts.copied {
        let id = &copied.item.id;
        let Some(template) = copied.item.template() else { continue };
        let spec = &template["spec"];
        for volume in items(&spec["volumes"]) {
            let Some(name) = volume["persistentVolumeClaim"]["claimName"].as_str() else {
                continue;
            };
            let claim = ObjectId {
                group: String::new(),
                kind: "PersistentVolumeClaim".into(),
                namespace: id.namespace.clone(),
                name: name.to_owned(),
            };
            let modes = facts.set.get(&claim).map(|claim| &claim.value()["spec"]["accessModes"]);
            let only = |mode: &str| modes.is_some_and(|m| items(m).all(|m| m == mode));
            let what = if only("ReadWriteOncePod") {
                ", which one pod alone can use (ReadWriteOncePod): the canary waits for it"
            } else if only("ReadWriteOnce") {
                ", which one node alone can use (ReadWriteOnce): the canary's pods wait for room there"
            } else {
                ""
            };
            notes.push(format!("the canary of {id} shares {claim} with it{what}"));
        }
        let on_nodes = items(&spec["containers"])
            .flat_map(|container| items(&container["ports"]))
            .any(|port| port["hostPort"].as_u64().is_some_and(|port| port > 0));
        if on_nodes || spec["hostNetwork"] == true {
            notes.push(format!(
                "the pods of {id} use ports of their nodes: the canary's need nodes without one"
            ));
        }
        let rules =
            &spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let after = &copied.object.value["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]
            ["requiredDuringSchedulingIgnoredDuringExecution"];
        let apart = items(rules).zip(items(after)).any(|(rule, after)| {
            let own = copied.item.pod_labels();
            selects(&rule["labelSelector"], own) && selects(&after["labelSelector"], own)
        });
        if apart {
            notes.push(format!(
                "the pods of {id} keep apart from each other (required anti-affinity): the \
                 canary's need places without one"
            ));
        }
    }
}

/// What of the release comes with the primary alone.
fn later(facts: &Facts, notes: &mut Vec<String>) {
    let is_changed = |item: &Item| match facts.previous.get(&item.id) {
        Some(before) => before.value() != item.value(),
        None => true,
    };
    for item in facts.needs.others.iter().filter_map(|id| facts.set.get(id)) {
        // Of what the release that runs does not know nobody can say whether it changes.
        let known = facts.previous.get(&item.id).is_some();
        if known && !facts.live.is_new(&item.id) && is_changed(item) {
            notes
                .push(format!("{} changes with the primary: the canary uses it as it is", item.id));
        }
    }
    for item in &facts.set.items {
        let chosen = facts.copied.iter().any(|c| c.item.id == item.id)
            || facts.partitioned.iter().any(|p| p.item.id == item.id);
        let is_pod_maker = item.template().is_some() && item.handling() != Handling::Ignore;
        if !is_pod_maker || chosen || !is_changed(item) {
            continue;
        }
        let kind = &item.id.kind;
        notes.push(if !has_canary(item) {
            format!("{} changes with the primary: a {kind} has no canary", item.id)
        } else if facts.live.is_new(&item.id) && facts.previous.get(&item.id).is_none() {
            format!("{} is new, and comes with the primary", item.id)
        } else {
            format!("{} changes with the primary: `rollout.workloads` does not name it", item.id)
        });
    }
    new_services(facts.set, facts, notes);
}

fn new_services(set: &Set, facts: &Facts, notes: &mut Vec<String>) {
    if facts.previous.items.is_empty() {
        return;
    }
    for service in set.of("", "Service") {
        let reaches = |c: &&Copied| {
            c.item.id.namespace == service.id.namespace
                && sends_to(service.value(), c.item.pod_labels())
        };
        let is_new = facts.previous.get(&service.id).is_none();
        if is_new && facts.copied.iter().any(|c| reaches(&c)) {
            notes.push(format!("{} is new, and comes with the primary", service.id));
        }
    }
}

fn names<'i>(ids: impl Iterator<Item = &'i ObjectId>) -> String {
    ids.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn pods(count: u32) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
