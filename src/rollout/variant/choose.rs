//! Which workloads of a release have a canary.

use std::collections::BTreeSet;

use super::set::{Item, Set};
use crate::error::{Error, Result};
use crate::manifest::ObjectId;
use crate::plan::{APPLY, Handling};
use crate::rollout::{VariantSettings, Workload};
use crate::suggest;

/// The workloads of a release that have a canary.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen<'s, 'a> {
    /// Those that are copied: Deployments.
    pub(super) copied: Vec<&'s Item<'a>>,
    /// Those whose highest ordinals become the canary: StatefulSets.
    pub(super) partitioned: Vec<&'s Item<'a>>,
}

impl<'s, 'a> Chosen<'s, 'a> {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &'s Item<'a>> {
        self.copied.iter().chain(&self.partitioned).copied()
    }

    fn add(&mut self, item: &'s Item<'a>) {
        let list =
            if item.is("apps", "Deployment") { &mut self.copied } else { &mut self.partitioned };
        if !list.iter().any(|known| known.id == item.id) {
            list.push(item);
        }
    }
}

/// The workloads that the settings name, or else all Deployments.
///
/// # Errors
/// Exit 3 for each name that is no workload of the release, or none that has a canary; and when
/// there is none at all.
pub(super) fn choose<'s, 'a>(
    set: &'s Set<'a>,
    settings: &VariantSettings,
) -> Result<Chosen<'s, 'a>, Vec<Error>> {
    let mut chosen = Chosen::default();
    let mut errors = Vec::new();
    if settings.workloads.is_empty() {
        set.of("apps", "Deployment").filter(|item| is_applied(item)).for_each(|i| chosen.add(i));
        if chosen.copied.is_empty() {
            errors.push(nothing(set));
        }
    }
    for wanted in &settings.workloads {
        let mut found = false;
        let named = |item: &&Item| item.id.kind == wanted.kind && item.id.name == wanted.name;
        for item in set.items.iter().filter(named) {
            found = true;
            match refusal(item) {
                Some(error) => errors.push(error),
                None => chosen.add(item),
            }
        }
        if !found {
            errors.push(absent(set, &wanted.kind, &wanted.name));
        }
    }
    if errors.is_empty() { Ok(chosen) } else { Err(errors) }
}

/// The Deployments that the settings mean, as far as the release has them.
pub(super) fn deployments(set: &Set, settings: &VariantSettings) -> BTreeSet<ObjectId> {
    let is_meant = |item: &&Item| {
        let named = |w: &Workload| w.kind == item.id.kind && w.name == item.id.name;
        settings.workloads.is_empty() || settings.workloads.iter().any(named)
    };
    let all = set.of("apps", "Deployment").filter(|item| is_applied(item)).filter(is_meant);
    all.map(|item| item.id.clone()).collect()
}

/// Whether a canary of this kind can be made.
pub(super) fn has_canary(item: &Item) -> bool {
    item.is("apps", "Deployment") || item.is("apps", "StatefulSet")
}

fn is_applied(item: &Item) -> bool {
    match item.handling() {
        Handling::Shared | Handling::Replace | Handling::Recreate => true,
        Handling::CreateOnly | Handling::Ignore => false,
    }
}

fn refusal(item: &Item) -> Option<Error> {
    if !has_canary(item) {
        let error = Error::config(format!("a {} has no canary", item.id.kind)).on(&item.id);
        let hint = "leave it out of `rollout.workloads`: it changes with the primary";
        return Some(error.because("`rollout.workloads` names it").hint(hint));
    }
    if !is_applied(item) {
        let word = item.handling().word();
        let error = Error::config("is never changed, so it has no canary").on(&item.id);
        return Some(
            error
                .because(format!("its annotation `{APPLY}` is `{word}`"))
                .hint("leave it out of `rollout.workloads`"),
        );
    }
    if item.is("apps", "StatefulSet")
        && item.value()["spec"]["updateStrategy"]["type"] == "OnDelete"
    {
        let error = Error::config("has no canary").on(&item.id);
        return Some(
            error
                .because("its pods change when they are deleted (`updateStrategy: OnDelete`)")
                .hint("leave it out of `rollout.workloads`, or let it update by `RollingUpdate`"),
        );
    }
    None
}

fn absent(set: &Set, kind: &str, name: &str) -> Error {
    let text = format!("`rollout.workloads` names {kind} `{name}`, which is not in the manifests");
    let error = Error::config(text);
    let of_kind = set.items.iter().filter(|item| item.id.kind == kind);
    if let Some(meant) = suggest::hint(name, of_kind.map(|item| item.id.name.as_str())) {
        return error.hint(meant);
    }
    let with_name = |item: &&Item| item.id.name == name && item.template().is_some();
    if let Some(other) = set.items.iter().find(with_name) {
        return error.hint(format!("there is {}", other.id));
    }
    let names: Vec<String> = set
        .items
        .iter()
        .filter(|item| has_canary(item))
        .map(|item| format!("{} `{}`", item.id.kind, item.id.name))
        .collect();
    match names.as_slice() {
        [] => error.hint("there is no workload that could have a canary"),
        names => error.hint(format!("there are {}", names.join(", "))),
    }
}

fn nothing(set: &Set) -> Error {
    let error = Error::config("there is no Deployment that could have a canary");
    match set.of("apps", "StatefulSet").next() {
        Some(item) => error.hint(format!(
            "name {} in `rollout.workloads`: a StatefulSet has a canary when it is named",
            item.id
        )),
        None => error.hint("remove the step `canary`, or apply with `--strategy plain`"),
    }
}
