//! How a canary is kept apart from the primary (design §8, A10).

use std::collections::BTreeSet;

use serde_json::Value;

use super::choose::{Chosen, deployments};
use super::copy::relabel;
use super::labels::{Renames, expressions, rename, selects, sends_to};
use super::names::value_of;
use super::set::{Item, Set};
use crate::error::{Error, Result};
use crate::manifest::{Object, ObjectId};
use crate::rollout::{Isolation, VariantLabel, VariantSettings};

/// How the copies are kept apart, once `auto` is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apart {
    /// By nothing: what selects the primary's pods selects the canary's.
    Share,
    /// By the label of variants in the selectors of Services.
    Label,
    /// By all labels that anything selects by.
    Rename,
}

/// Decides `auto`: `label` where templates and Services carry it already, which restarts nothing.
pub(super) fn apart(settings: &VariantSettings, set: &Set, chosen: &Chosen) -> Apart {
    match settings.isolation {
        Isolation::Share => Apart::Share,
        Isolation::Label => Apart::Label,
        Isolation::Rename => Apart::Rename,
        Isolation::Auto if carries(&settings.label, set, chosen) => Apart::Label,
        Isolation::Auto => Apart::Share,
    }
}

fn carries(label: &VariantLabel, set: &Set, chosen: &Chosen) -> bool {
    chosen.copied.iter().all(|workload| {
        let labels = workload.pod_labels();
        let mut fronts = set
            .services_in(workload.id.namespace.as_deref())
            .filter(|service| sends_to(service.value(), labels));
        labels[&label.key] == *label.primary
            && fronts.all(|s| s.value()["spec"]["selector"][&label.key] == *label.primary)
    })
}

/// The labels that the pods of a copy have otherwise than those of the original.
///
/// # Errors
/// Exit 3 when they cannot be told apart so.
pub(super) fn renames(
    workload: &Item,
    apart: Apart,
    label: &VariantLabel,
    suffix: &str,
    services: &[&Item],
) -> Result<Renames> {
    let mut renames = Renames::from([(label.key.clone(), label.canary.clone())]);
    if apart != Apart::Rename {
        return Ok(renames);
    }
    let selector = &workload.value()["spec"]["selector"];
    let labels = workload.pod_labels();
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    keys.extend(selector["matchLabels"].as_object().into_iter().flatten().map(|(k, _)| k.as_str()));
    keys.extend(
        expressions(selector)
            .filter(|expression| expression["operator"] == "In")
            .filter_map(|expression| expression["key"].as_str()),
    );
    // A Service may select by labels that the workload does not select by.
    for service in services.iter().filter(|service| sends_to(service.value(), labels)) {
        let selector = service.value()["spec"]["selector"].as_object().into_iter().flatten();
        let by: Vec<&str> = selector.map(|(key, _)| key.as_str()).collect();
        if !by.iter().any(|key| keys.contains(key)) {
            keys.extend(by);
        }
    }
    for key in keys.into_iter().filter(|key| *key != label.key) {
        if let Some(value) = labels[key].as_str() {
            renames.insert(key.to_owned(), value_of(&workload.id, key, value, suffix)?);
        }
    }
    let mut own = labels.as_object().cloned().unwrap_or_default();
    rename(&mut own, &renames);
    own.insert(label.key.clone(), label.canary.as_str().into());
    if selects(selector, &Value::Object(own)) {
        return Err(Error::config("its selector would select a canary's pods too")
            .on(&workload.id)
            .because("it has no label with a value that a canary could have otherwise")
            .hint("use the isolation `share` or `label`"));
    }
    Ok(renames)
}

/// A release's objects as they are applied: with `isolation: label` the primary's pods carry the
/// label of variants, and the Services in front of them select by it. Any other isolation leaves
/// them as they are. To be asked wherever the objects of a release are applied, be it by a step,
/// by a plain apply, or to go back; asking twice changes nothing. A Service's selector
/// is written after the workloads are healthy (A10.4), which the planner sees to.
///
/// # Errors
/// Exit 3 when a workload selects by the label with another value, and when a Service selects pods
/// that do not get the label too.
pub fn labelled(
    objects: Vec<Object>,
    settings: &VariantSettings,
    namespace: &str,
) -> Result<Vec<Object>, Vec<Error>> {
    if settings.isolation != Isolation::Label {
        return Ok(objects);
    }
    let set = Set::new(&objects, namespace);
    let changed = label(&set, settings, &deployments(&set, settings))?;
    let changed = changed.templates.into_iter().chain(changed.services);
    let changed: Vec<(usize, Object)> = changed
        .filter_map(|(id, object)| Some((set.items.iter().position(|item| item.id == id)?, object)))
        .collect();
    let mut objects = objects;
    for (at, object) in changed {
        if let Some(place) = objects.get_mut(at) {
            *place = object;
        }
    }
    Ok(objects)
}

/// What the label changes, by identity; each object with the namespace that it was written with.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Workloads, with the label in their templates.
    pub(super) templates: Vec<(ObjectId, Object)>,
    /// Services, with the label in their selectors.
    pub(super) services: Vec<(ObjectId, Object)>,
}

/// Puts the label of the primary into the templates of these workloads, and into the selectors of
/// the Services in front of them.
pub(super) fn label(
    set: &Set,
    settings: &VariantSettings,
    workloads: &BTreeSet<ObjectId>,
) -> Result<Changed, Vec<Error>> {
    let VariantLabel { key, primary, .. } = &settings.label;
    let mut changed = Changed::default();
    let mut errors = Vec::new();
    for item in set.items.iter().filter(|item| workloads.contains(&item.id)) {
        let own = std::iter::once((key.clone(), primary.as_str().into()));
        let mut object = item.object.clone();
        let Some(template) = object.value.pointer_mut("/spec/template") else { continue };
        relabel(template, &Value::Null, &Renames::new(), own);
        if !selects(&item.value()["spec"]["selector"], &template["metadata"]["labels"]) {
            errors.push(selects_otherwise(item, key, primary));
        }
        if object.value != item.object.value {
            changed.templates.push((item.id.clone(), object));
        }
    }
    for service in set.of("", "Service") {
        let is_named = settings.service.as_ref().is_none_or(|name| *name == service.id.name);
        let (front, rest): (Vec<&Item>, Vec<&Item>) = set
            .items
            .iter()
            .filter(|item| item.id.namespace == service.id.namespace)
            .filter(|item| sends_to(service.value(), &labels_after(item, settings, workloads)))
            .partition(|item| workloads.contains(&item.id));
        if !is_named || front.is_empty() {
            continue;
        }
        if let Some(other) = rest.iter().find(|i| i.pod_labels()[key.as_str()] != **primary) {
            errors.push(selects_more(service, other));
            continue;
        }
        let mut object = service.object.clone();
        if let Some(selector) =
            object.value.pointer_mut("/spec/selector").and_then(Value::as_object_mut)
        {
            selector.insert(key.clone(), primary.as_str().into());
        }
        if object.value != service.object.value {
            changed.services.push((service.id.clone(), object));
        }
    }
    if errors.is_empty() { Ok(changed) } else { Err(errors) }
}

/// The labels of a workload's pods once it has the label of variants.
fn labels_after(item: &Item, settings: &VariantSettings, workloads: &BTreeSet<ObjectId>) -> Value {
    let mut labels = item.pod_labels().clone();
    if workloads.contains(&item.id)
        && let Some(map) = labels.as_object_mut()
    {
        map.insert(settings.label.key.clone(), settings.label.primary.as_str().into());
    }
    labels
}

fn selects_otherwise(item: &Item, key: &str, primary: &str) -> Error {
    Error::config(format!("its selector does not select pods with `{key}: {primary}`"))
        .on(&item.id)
        .because("with `isolation: label` its pods have that label, and a selector cannot change")
        .hint("set `rollout.variantLabel.primary` to the selector's value, or another isolation")
}

fn selects_more(service: &Item, other: &Item) -> Error {
    Error::config(format!("it selects pods of {} too, which has no canary", other.id))
        .on(&service.id)
        .because("with `isolation: label` it would select those of the canary's workloads alone")
        .hint(format!(
            "name the Service that is meant in `rollout.service`, name {} in \
             `rollout.workloads`, or use the isolation `share` or `rename`",
            other.id
        ))
}
