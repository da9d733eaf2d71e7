//! Variants: copies of an application's workloads that run a new release beside the one that runs
//! (design §8, A10). Manifests in, manifests out; nothing that exists is changed by making one,
//! but what [`Variant::first`] and [`Variant::partitioned`] say.
//!
//! Whoever makes a canary reads [`to_read`], calls [`canary`], writes first `first`, then
//! `prerequisites`, then `objects` and `partitioned`. The objects of a release that are applied to
//! the primary, by whatever command, pass through [`labelled`].

mod choose;
mod copy;
mod facts;
mod isolate;
mod labels;
mod names;
mod needs;
mod notes;
mod partition;
mod references;
mod services;
mod set;
mod size;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use isolate::labelled;

use self::choose::{choose, deployments};
use self::copy::Mark;
use self::facts::{Copied, Facts, Partitioned};
use self::isolate::{Apart, apart, renames};
use self::names::{check_suffix, copy_of};
use self::needs::{Needs, needs};
use self::set::{Item, Set};
use self::size::size;
use super::{Amount, Canary, Isolation, Percent, VariantSettings};
use crate::error::{Error, Exit};
use crate::manifest::{Gvk, Object, ObjectId};
use crate::plan::Handling;

/// What runs, as far as a variant depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// The namespace of objects that name none.
    pub namespace: &'a str,
    /// What of [`to_read`] exists, as the server has it; null for what may not be read. What is
    /// not in it does not exist.
    pub objects: &'a BTreeMap<ObjectId, Value>,
    /// The HorizontalPodAutoscalers and ScaledObjects of its namespaces.
    pub autoscalers: &'a [Value],
    /// The objects of the release that runs; empty when none does.
    pub previous: &'a [Object],
    /// What this rollout has made of the new release already, or was about to: it counts as new,
    /// so that a step that is repeated does the same again.
    pub created: &'a BTreeSet<ObjectId>,
}

impl Live<'_> {
    /// Whether the release brings an object.
    fn is_new(&self, id: &ObjectId) -> bool {
        !self.objects.contains_key(id) || self.created.contains(id)
    }
}

/// A variant of an application in a target.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// What has to be changed of what runs, before anything else: with `isolation: label`, once.
    pub first: Labelling,
    /// Objects that are new in the release and that the variant needs, as the release has them and
    /// in its order. None of them exists, or this rollout has made it.
    pub prerequisites: Vec<Object>,
    /// The copies: configuration, Services, workloads. Deleting them leaves nothing of the variant
    /// but what is in `partitioned`.
    pub objects: Vec<Object>,
    /// StatefulSets of the release with a partition: their pods of the highest ordinals become the
    /// variant, in place. To be taken back, not deleted.
    pub partitioned: Vec<Object>,
    /// What the user should know: sentences without a capital and a period.
    pub notes: Vec<String>,
}

/// The primary as it runs, with the label of variants. To be written in two phases: the Services
/// once the workloads are healthy; all at once is an outage (A10.4). The planner does so when both
/// are in one set.
#[derive(Clone, Debug, Default)]
pub struct Labelling {
    /// Workloads of the release that runs, with the label in their pod templates. Their pods
    /// restart once.
    pub templates: Vec<Object>,
    /// Services of the release that runs, whose selectors have the label too.
    pub services: Vec<Object>,
}

impl Labelling {
    /// Whether the primary has the label already, or needs none.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.services.is_empty()
    }
}

/// The objects of which [`canary`] has to know whether and how they exist: the workloads, what of
/// the release their pods need, and whatever has the name of a copy already.
///
/// # Errors
/// As [`canary`] has them about the release alone.
pub fn to_read(
    set: &[Object],
    namespace: &str,
    canary: &Canary,
    settings: &VariantSettings,
) -> Result<BTreeMap<ObjectId, Gvk>, Vec<Error>> {
    let one = |error| vec![error];
    check_suffix(&canary.suffix).map_err(one)?;
    let set = Set::new(set, namespace);
    let chosen = choose(&set, settings)?;
    let Needs { configs, others } = needs(&set, chosen.all());
    let services = match canary.service {
        true => services::in_front(&set, &chosen.copied, settings).map_err(one)?,
        false => Vec::new(),
    };
    let mut wanted = BTreeMap::new();
    let mut errors = Vec::new();
    for item in set.items.iter() {
        let is_copied = configs.contains(&item.id)
            || chosen.copied.iter().chain(&services).any(|copied| copied.id == item.id);
        if is_copied {
            match copy_of(&item.id, &canary.suffix) {
                Ok(copy) => drop(wanted.insert(copy, item.gvk().clone())),
                Err(error) => errors.push(error),
            }
        }
        if is_copied || others.contains(&item.id) || chosen.all().any(|c| c.id == item.id) {
            wanted.insert(item.id.clone(), item.gvk().clone());
        }
    }
    if errors.is_empty() { Ok(wanted) } else { Err(errors) }
}

/// Makes the canary of a release. The same release, settings and state give the same canary, and
/// writing it changes nothing about that: a step can be repeated, and be repeated at another size.
///
/// # Errors
/// Exit 3 for settings that do not fit the release: a workload that it has not, or of a kind that
/// has no canary; a size of 0; a name that is too long or taken; labels that cannot tell the two
/// apart. Exit 6 when a copy's name is that of an object which is none.
pub fn canary(
    set: &[Object],
    live: &Live,
    canary: &Canary,
    settings: &VariantSettings,
) -> Result<Variant, Vec<Error>> {
    let one = |error| vec![error];
    check_size(canary.replicas).map_err(one)?;
    check_suffix(&canary.suffix).map_err(one)?;
    let set = Set::new(set, live.namespace);
    let previous = Set::new(live.previous, live.namespace);
    let chosen = choose(&set, settings)?;
    let needs = needs(&set, chosen.all());
    let apart = apart(settings, &set, &chosen);
    let mut maker =
        Maker { set: &set, previous: &previous, live, canary, settings, errors: vec![] };
    let first = maker.first(apart);
    let configs = maker.configs(&needs);
    let copied = maker.workloads(&chosen.copied, apart, &configs);
    let services = maker.services(&chosen.copied, &copied);
    let partitioned = maker.partitioned(&chosen.partitioned, &configs);
    let Maker { errors, .. } = maker;
    if !errors.is_empty() {
        return Err(errors);
    }
    let notes = notes::of(&Facts {
        set: &set,
        previous: &previous,
        live,
        canary,
        settings,
        apart,
        needs: &needs,
        copied: &copied,
        services: &services,
        partitioned: &partitioned,
        first: &first,
    });
    let mark = mark(settings);
    let is_new = |item: &&Item| {
        (needs.configs.contains(&item.id) || needs.others.contains(&item.id))
            && item.handling() != Handling::Ignore
            && live.is_new(&item.id)
    };
    let prerequisites = set.items.iter().filter(is_new).map(Item::to_object).collect();
    let config_copies =
        configs.iter().filter_map(|(id, copy)| Some(copy::config(set.get(id)?, copy, mark)));
    let objects = config_copies
        .chain(services)
        .chain(copied.into_iter().map(|copied| copied.object))
        .collect();
    let partitioned = partitioned.into_iter().map(|partitioned| partitioned.object).collect();
    Ok(Variant { first, prerequisites, objects, partitioned, notes })
}

fn mark(settings: &VariantSettings) -> Mark<'_> {
    Mark { key: &settings.label.key, value: &settings.label.canary }
}

fn check_size(amount: Amount) -> Result<(), Error> {
    match amount {
        Amount::Count(0) | Amount::Percent(Percent(0)) => {
            Err(Error::config("a canary has at least one pod")
                .because(format!("`replicas` is `{amount}`"))
                .hint("give a number, or a share such as `20%`; to have none, leave the step out"))
        }
        Amount::Count(_) | Amount::Percent(_) => Ok(()),
    }
}

/// Makes the parts of a canary, and gathers what is wrong.
struct Maker<'s, 'a> {
    set: &'s Set<'a>,
    previous: &'s Set<'a>,
    live: &'s Live<'a>,
    canary: &'s Canary,
    settings: &'s VariantSettings,
    errors: Vec<Error>,
}

impl<'s, 'a> Maker<'s, 'a> {
    /// What is changed of the primary before there is a canary.
    fn first(&mut self, apart: Apart) -> Labelling {
        // With `auto` the label is there already.
        if apart != Apart::Label || self.settings.isolation != Isolation::Label {
            return Labelling::default();
        }
        // What the release cannot have, the primary step would fail on.
        let own = deployments(self.set, self.settings);
        if let Err(errors) = isolate::label(self.set, self.settings, &own) {
            self.errors.extend(errors);
            return Labelling::default();
        }
        let running = deployments(self.previous, self.settings);
        let unknown = own.iter().find(|id| !self.live.is_new(id) && !running.contains(*id));
        if let Some(id) = unknown {
            self.errors.push(
                Error::config("what runs is of no release yet")
                    .on(id)
                    .because("`isolation: label` begins with a label for the pods that run")
                    .hint("apply once with `--strategy plain`"),
            );
        }
        let place = |set: &Set, list: Vec<(ObjectId, Object)>| -> Vec<Object> {
            let known = list.into_iter().filter_map(|(id, object)| Some((set.get(&id)?, object)));
            known
                .map(|(item, object)| Item { id: item.id.clone(), object: &object }.to_object())
                .collect()
        };
        match isolate::label(self.previous, self.settings, &running) {
            Ok(changed) => Labelling {
                templates: place(self.previous, changed.templates),
                services: place(self.previous, changed.services),
            },
            Err(errors) => {
                self.errors.extend(errors);
                Labelling::default()
            }
        }
    }

    /// The configuration that is copied: what the release changes of what its pods name.
    fn configs(&mut self, needs: &Needs) -> BTreeMap<ObjectId, ObjectId> {
        let mut copies = BTreeMap::new();
        for item in needs.configs.iter().filter_map(|id| self.set.get(id)) {
            let stays = match item.handling() {
                Handling::CreateOnly | Handling::Ignore => true,
                Handling::Shared | Handling::Replace | Handling::Recreate => false,
            };
            if stays || self.live.is_new(&item.id) || !self.differs(item) {
                continue;
            }
            if let Some(copy) = self.copy(item) {
                copies.insert(item.id.clone(), copy);
            }
        }
        copies
    }

    /// Whether a ConfigMap or Secret has other content than what runs has: than the release that
    /// runs, or, of what that does not know, than what is live.
    fn differs(&self, item: &Item) -> bool {
        const CONTENT: [&str; 3] = ["data", "binaryData", "type"];
        let wanted = item.value();
        if let Some(before) = self.previous.get(&item.id) {
            let before = before.value();
            return CONTENT.iter().any(|key| content(&wanted[*key]) != content(&before[*key]));
        }
        match self.live.objects.get(&item.id) {
            Some(found) => ["data", "binaryData"].iter().any(|key| found[*key] != wanted[*key]),
            None => true,
        }
    }

    fn workloads(
        &mut self,
        items: &[&'s Item<'a>],
        apart: Apart,
        configs: &BTreeMap<ObjectId, ObjectId>,
    ) -> Vec<Copied<'s, 'a>> {
        let mut copied = Vec::new();
        for &item in items {
            let namespace = item.id.namespace.as_deref();
            let fronts: Vec<&Item> = self
                .set
                .services_in(namespace)
                .chain(self.previous.services_in(namespace))
                .collect();
            let label = &self.settings.label;
            let renames = match renames(item, apart, label, &self.canary.suffix, &fronts) {
                Ok(renames) => renames,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            let Some(copy) = self.copy(item) else { continue };
            let size = size(item, self.live.objects, self.set);
            let replicas = self.canary.replicas.ceiling_of(size.replicas).max(1);
            let mark = mark(self.settings);
            let object = copy::workload(item, &copy, mark, &renames, configs, replicas);
            copied.push(Copied { item, object, size, replicas, renames });
        }
        copied
    }

    fn services(&mut self, items: &[&'s Item<'a>], copied: &[Copied]) -> Vec<Object> {
        if !self.canary.service {
            return Vec::new();
        }
        let fronts = match services::in_front(self.set, items, self.settings) {
            Ok(fronts) => fronts,
            Err(error) => {
                self.errors.push(error);
                return Vec::new();
            }
        };
        let mut services = Vec::new();
        for item in fronts {
            let behind = copied.iter().filter(|c| services::is_behind(item, c.item));
            let renames = behind.flat_map(|c| c.renames.clone()).collect();
            if let Some(copy) = self.copy(item) {
                services.push(copy::service(item, &copy, mark(self.settings), &renames));
            }
        }
        services
    }

    fn partitioned(
        &mut self,
        items: &[&'s Item<'a>],
        configs: &BTreeMap<ObjectId, ObjectId>,
    ) -> Vec<Partitioned<'s, 'a>> {
        let known = items.iter().filter(|item| !self.live.is_new(&item.id));
        known
            .map(|item| {
                let size = size(item, self.live.objects, self.set);
                let amount = self.canary.replicas;
                let (object, replicas) =
                    partition::partitioned(item, size.replicas, amount, configs);
                Partitioned { item, object, size, replicas }
            })
            .collect()
    }

    /// The identity of an object's copy, if that can be had.
    fn copy(&mut self, item: &Item) -> Option<ObjectId> {
        let copy = match copy_of(&item.id, &self.canary.suffix) {
            Ok(copy) => copy,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        let taken = |of: &str| {
            Error::config(format!("the name of its copy, `{}`, is taken", copy.name))
                .on(&item.id)
                .because(format!("{copy} is an object of the release {of}"))
                .hint("use another `suffix`")
        };
        let label = &self.settings.label;
        let known = self.live.objects.get(&copy).filter(|found| !found.is_null());
        let is_foreign = |found: &&Value| found["metadata"]["labels"][&label.key] != *label.canary;
        let error = if self.set.get(&copy).is_some() {
            taken("to come")
        } else if self.previous.get(&copy).is_some() {
            taken("that runs")
        } else if known.filter(is_foreign).is_some() {
            Error::new(Exit::Blocked, "exists, and is no canary")
                .on(&copy)
                .because(format!("it lacks the label `{}: {}`", label.key, label.canary))
                .because(format!("the copy of {} would have its name", item.id))
                .hint("use another `suffix`, or delete it if nobody needs it")
        } else {
            return Some(copy);
        };
        self.errors.push(error);
        None
    }
}

/// What a map holds: an absent one is an empty one.
fn content(value: &Value) -> Option<&Value> {
    Some(value).filter(|v| !v.is_null() && v.as_object().is_none_or(|map| !map.is_empty()))
}

#[cfg(test)]
mod tests;
