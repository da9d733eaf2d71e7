//! `rollout:` as written → checked settings: what cannot be meant is an error when the file is
//! read, not in the middle of a rollout.

mod entry;

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::Cluster;
use super::names::{is_cluster_name, is_dns_label, is_label_key, is_label_value};
use super::node::Node;
use super::selector::{Selectable, Selector, list, matcher, unknown_name};
use crate::error::Error;
use crate::rollout::{
    Amount, Canary, OnFailure, Pause, Percent, RolloutSettings, Run, STEP_DEADLINE, Step,
    StepSettings, VariantLabel, VariantSettings, WaveSettings, Workload, wave_of,
};
use crate::suggest;
use entry::{
    AmountEntry, CanaryEntry, OnFailureEntry, ScopeEntry, StepEntry, VariantLabelEntry, WaveEntry,
    WorkloadEntry,
};

pub(crate) use entry::RolloutEntry;

/// The label of members (design §7): a variant label of that key would lose the objects.
const MEMBERS: &str = "mcd.dev/app";

/// The kinds of workloads that can have a canary.
const WITH_CANARY: [&str; 2] = ["Deployment", "StatefulSet"];

/// The longest suffix: what is left of a name should still tell what it is.
const LONGEST_SUFFIX: usize = 20;

/// What a step can be, for hints.
const ACTIONS: &str = "a step is one of `canary`, `pause`, `run`, `primary` and `clean`, such as \
                       `{primary: {}}`";

/// Checks the settings against the fleet's clusters and those of them that are targets. `node` is
/// the tree of the key's value.
///
/// # Errors
/// All that is wrong; at least one.
pub(crate) fn check(
    entry: RolloutEntry,
    node: &Node,
    clusters: &[Cluster],
    targets: &[&Cluster],
) -> Result<RolloutSettings, Vec<Error>> {
    let mut check = Check { node, clusters, targets, errors: Vec::new() };
    let variants = VariantSettings {
        workloads: check.workloads(entry.workloads),
        service: entry.service.map(|service| {
            if service.name.is_empty() {
                check.fail(&["service", "name"], "the name is empty");
            }
            service.name
        }),
        label: check.label(entry.variant_label),
        isolation: entry.isolation.map(Into::into).unwrap_or_default(),
    };
    let waves = check.waves(entry.waves);
    let steps = check.steps(entry.steps);
    let on_failure = check.on_failure(entry.on_failure, entry.scope);
    let settings = RolloutSettings { variants, waves, steps, on_failure };
    // What selects nothing because it is mistyped is told once.
    if check.errors.is_empty() {
        check.membership(&settings.waves);
        check.cleaned(&settings.steps);
    }
    if check.errors.is_empty() { Ok(with_clean(settings)) } else { Err(check.errors) }
}

/// A canary that nothing cleans would stay for ever.
fn with_clean(mut settings: RolloutSettings) -> RolloutSettings {
    let has = |word: &str| settings.steps.iter().any(|s| s.step.word() == word);
    if has("canary") && !has("clean") {
        settings.steps.push(StepSettings { step: Step::Clean, select: None });
    }
    settings
}

/// A path into the tree.
type At<'p> = &'p [&'p str];

struct Check<'a> {
    node: &'a Node,
    clusters: &'a [Cluster],
    targets: &'a [&'a Cluster],
    errors: Vec<Error>,
}

impl Check<'_> {
    fn fail(&mut self, at: At<'_>, message: impl Into<String>) {
        self.errors.push(self.node.error(at, message));
    }

    fn fail_hint(&mut self, at: At<'_>, message: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(self.node.error(at, message).hint(hint));
    }

    fn workloads(&mut self, entries: Vec<WorkloadEntry>) -> Vec<Workload> {
        let mut seen: BTreeSet<Workload> = BTreeSet::new();
        let mut found = Vec::new();
        for (index, WorkloadEntry { kind, name }) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let at = |key| ["workloads", index.as_str(), key];
            match kind.as_str() {
                kind if WITH_CANARY.contains(&kind) => {}
                "DaemonSet" | "ReplicaSet" | "Job" | "CronJob" | "Pod" => self.fail_hint(
                    &at("kind"),
                    format!("a {kind} has no canary"),
                    "name Deployments and StatefulSets; all other objects become the new release \
                     at the step `primary`",
                ),
                other => {
                    let error = self.node.error(
                        &at("kind"),
                        format!("`{other}` is no kind of workload that can have a canary"),
                    );
                    self.errors.push(match suggest::hint(other, WITH_CANARY) {
                        Some(hint) => error.hint(hint),
                        None => error.hint("known kinds: `Deployment`, `StatefulSet`"),
                    });
                }
            }
            if name.is_empty() {
                self.fail(&at("name"), "the name is empty");
            }
            let workload = Workload { kind, name };
            if !seen.insert(workload.clone()) {
                let Workload { kind, name } = &workload;
                self.fail(&["workloads", &index], format!("{kind}/{name} is named twice"));
            }
            found.push(workload);
        }
        found
    }

    fn label(&mut self, entry: Option<VariantLabelEntry>) -> VariantLabel {
        let mut label = VariantLabel::default();
        let Some(entry) = entry else { return label };
        let at = |key| ["variantLabel", key];
        if let Some(key) = entry.key {
            if !is_label_key(&key) {
                self.fail(&at("key"), format!("`{key}` is no key of a label"));
            } else if key == MEMBERS {
                self.fail_hint(
                    &at("key"),
                    format!("`{key}` is the label of all objects of an application"),
                    "choose another one, such as `mcd.dev/variant`",
                );
            }
            label.key = key;
        }
        for (key, given, value) in [
            ("primary", entry.primary, &mut label.primary),
            ("canary", entry.canary, &mut label.canary),
        ] {
            let Some(given) = given else { continue };
            if given.is_empty() {
                self.fail(&at(key), format!("`{key}` is empty"));
            } else if !is_label_value(&given) {
                self.fail(&at(key), format!("`{given}` is no value of a label"));
            }
            *value = given;
        }
        if label.primary == label.canary {
            self.fail(
                &["variantLabel"],
                format!("`primary` and `canary` have one value: `{}`", label.canary),
            );
        }
        label
    }

    fn waves(&mut self, entries: Vec<WaveEntry>) -> Vec<WaveSettings> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut rest: Option<String> = None;
        let mut found = Vec::new();
        for (index, wave) in entries.into_iter().enumerate() {
            let index = index.to_string();
            let at = |key| ["waves", index.as_str(), key];
            if !is_cluster_name(&wave.name) {
                self.fail_hint(
                    &at("name"),
                    format!("`{}` is no name for a wave", wave.name),
                    "use lower-case letters, digits, `-`, `.` and `_`, at most 63, with a letter \
                     or digit at both ends",
                );
            }
            if !names.insert(wave.name.clone()) {
                self.fail(&at("name"), format!("a second wave `{}`", wave.name));
            }
            match (&wave.select, &rest) {
                (Some(select), _) => self.selector(&at("select"), select),
                (None, None) => rest = Some(wave.name.clone()),
                (None, Some(other)) => self.fail_hint(
                    &["waves", &index],
                    format!("the waves `{other}` and `{}` both have no `select`", wave.name),
                    "one wave may have none: it has the targets that no other wave selects",
                ),
            }
            let max_concurrent = self.amount(&at("maxConcurrent"), wave.max_concurrent);
            if max_concurrent.is_some_and(is_nothing) {
                self.fail_hint(
                    &at("maxConcurrent"),
                    "`maxConcurrent` is 0: nothing would ever start",
                    "leave it out for all of the wave at once",
                );
            }
            for (item, glob) in wave.mandatory.iter().enumerate() {
                let item = item.to_string();
                let at = ["waves", index.as_str(), "mandatory", item.as_str()];
                let error = match matcher(glob) {
                    Err(error) => Some(error),
                    Ok(matcher) => (!self.clusters.iter().any(|c| matcher.is_match(c.name())))
                        .then(|| unknown_name("cluster", glob, self.clusters)),
                };
                let place = self.node.nearest(&at).mark.location();
                self.errors.extend(error.map(|error| error.at(place)));
            }
            found.push(WaveSettings {
                name: wave.name,
                select: wave.select,
                max_concurrent,
                max_failures: self.amount(&at("maxFailures"), wave.max_failures),
                mandatory: wave.mandatory,
                soak: wave.soak.map(|period| period.0).unwrap_or_default(),
                progress_deadline: wave.progress_deadline.map_or(STEP_DEADLINE, |p| p.0),
                approval: wave.approval,
            });
        }
        found
    }

    /// A share of the whole is not more than the whole.
    fn amount(&mut self, at: At<'_>, entry: Option<AmountEntry>) -> Option<Amount> {
        let amount = entry?.0;
        if let Amount::Percent(Percent(share)) = amount
            && share > 100
        {
            let key = at.last().copied().unwrap_or_default();
            self.fail(at, format!("`{key}` is {share}%: there is no more than 100%"));
        }
        Some(amount)
    }

    fn selector(&mut self, at: At<'_>, selector: &Selector) {
        self.errors.extend(selector.faults(self.node.nearest(at), self.clusters));
    }

    /// Every target is in exactly one wave, no wave has none, and what is mandatory is in its wave.
    fn membership(&mut self, waves: &[WaveSettings]) {
        if waves.is_empty() {
            return;
        }
        let mut members: Vec<Vec<&Cluster>> = waves.iter().map(|_| Vec::new()).collect();
        let mut twice: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
        let mut nowhere: Vec<&str> = Vec::new();
        for target in self.targets.iter().copied() {
            let mut selecting = (0..).zip(waves).filter_map(|(index, wave)| {
                wave.select.as_ref().is_some_and(|s| s.matches(target)).then_some(index)
            });
            if let (Some(first), Some(second)) = (selecting.next(), selecting.next()) {
                twice.entry((first, second)).or_default().push(target.name());
            }
            match wave_of(waves, target) {
                Some(index) => members.get_mut(index).into_iter().for_each(|m| m.push(target)),
                None => nowhere.push(target.name()),
            }
        }
        let overlap = !twice.is_empty();
        let name = |index: usize| waves.get(index).map_or("", |wave| wave.name.as_str());
        for ((first, second), targets) in twice {
            let at = second.to_string();
            self.fail_hint(
                &["waves", &at, "select"],
                format!("{} in the waves `{}` and `{}`", are(&targets), name(first), name(second)),
                "every target is in exactly one wave; a wave without `select` has those that no \
                 other selects",
            );
        }
        if !nowhere.is_empty() {
            self.fail_hint(
                &["waves"],
                format!("{} in no wave", are(&nowhere)),
                "add a wave without `select`, such as `{name: rest}`: it has the targets that no \
                 other wave selects",
            );
        }
        for (index, (wave, members)) in waves.iter().zip(&members).enumerate() {
            let index = index.to_string();
            // One without `select` takes what is left, which may be nothing yet.
            if members.is_empty() && wave.select.is_some() && !overlap {
                let message = format!("the wave `{}` has none of the targets", wave.name);
                let targets = list(self.targets.iter().map(|target| target.name()));
                self.fail_hint(
                    &["waves", &index, "select"],
                    message,
                    format!("the targets are {targets}"),
                );
                continue;
            }
            for (item, glob) in wave.mandatory.iter().enumerate() {
                let item = item.to_string();
                let matches = |one: &Cluster| matcher(glob).is_ok_and(|m| m.is_match(one.name()));
                if members.iter().any(|one| matches(one)) {
                    continue;
                }
                let target = self.targets.iter().find(|one| matches(one));
                let hint = match target.and_then(|target| wave_of(waves, *target)) {
                    Some(other) => format!("it is in the wave `{}`", name(other)),
                    None => "the `select` of the application does not select it".to_owned(),
                };
                self.fail_hint(
                    &["waves", &index, "mandatory", &item],
                    format!("`{glob}` is not in the wave `{}`", wave.name),
                    hint,
                );
            }
        }
    }

    fn steps(&mut self, entries: Vec<StepEntry>) -> Vec<StepSettings> {
        let mut found: Vec<StepSettings> = Vec::new();
        let mut suffix: Option<String> = None;
        let given = !entries.is_empty();
        for (index, entry) in entries.into_iter().enumerate() {
            let text = index.to_string();
            let at = ["steps", text.as_str()];
            let select = entry.select.clone();
            let Some(step) = self.step(&at, entry) else { continue };
            if let Some(select) = &select {
                let before = self.errors.len();
                self.selector(&["steps", &text, "select"], select);
                let none = !self.targets.iter().any(|target| select.matches(*target));
                if before == self.errors.len() && none {
                    let message = format!("the step `{step}` selects none of the targets");
                    self.fail(&["steps", &text, "select"], message);
                }
            }
            let earlier = |word: &str| found.iter().any(|s| s.step.word() == word);
            match &step {
                Step::Canary(canary) => {
                    if earlier("primary") {
                        self.fail_hint(
                            &at,
                            "the `canary` comes after `primary`",
                            "by then the workloads run the new release: put it before `primary`",
                        );
                    }
                    let first = suffix.get_or_insert_with(|| canary.suffix.clone());
                    if *first != canary.suffix {
                        let message = format!(
                            "two canaries have the suffixes `{first}` and `{}`",
                            canary.suffix
                        );
                        self.fail_hint(
                            &["steps", &text, "canary", "suffix"],
                            message,
                            "of one suffix the later one changes the size of the earlier one",
                        );
                    }
                }
                Step::Primary => {
                    if earlier("primary") {
                        self.fail(&at, "a second step `primary`");
                    }
                    if select.is_some() {
                        self.fail_hint(
                            &["steps", &text, "select"],
                            "`primary` takes no `select`",
                            "every target of a rollout gets the release",
                        );
                    }
                }
                Step::Clean if !earlier("canary") => {
                    self.fail(&at, "there is nothing to clean: no `canary` comes before");
                }
                Step::Clean | Step::Pause(_) | Step::Run(_) => {}
            }
            found.push(StepSettings { step, select });
        }
        if given && self.errors.is_empty() && !found.iter().any(|s| s.step == Step::Primary) {
            self.fail_hint(
                &["steps"],
                "there is no step `primary`",
                "add `{primary: {}}`: with it the workloads themselves become the new release",
            );
        }
        found
    }

    fn step(&mut self, at: &[&str; 2], entry: StepEntry) -> Option<Step> {
        let [steps, index] = *at;
        let StepEntry { canary, pause, run, primary, clean, select: _ } = entry;
        let mut found: Vec<Step> = Vec::new();
        if let Some(canary) = canary {
            found.push(Step::Canary(self.canary(&[steps, index, "canary"], canary)));
        }
        if let Some(pause) = pause {
            found.push(Step::Pause(Pause { period: pause.period.map(|period| period.0) }));
        }
        if let Some(run) = run {
            let at = [steps, index, "run", "command"];
            match run.command.first() {
                None => self.fail_hint(
                    &at,
                    "the command is empty",
                    "it is a list: the program and its arguments",
                ),
                Some(program) if program.trim().is_empty() => {
                    self.fail(&at, "the program of the command is empty");
                }
                Some(_) => {}
            }
            let timeout = run.timeout.map_or(STEP_DEADLINE, |period| period.0);
            found.push(Step::Run(Run { command: run.command, timeout }));
        }
        found.extend(primary.map(|_| Step::Primary));
        found.extend(clean.map(|_| Step::Clean));
        match found.len() {
            0 => self.fail_hint(at, "the step does nothing", ACTIONS),
            1 => {}
            _ => {
                let words = list(found.iter().map(Step::word));
                self.fail_hint(at, format!("the step is {words} at once"), "make a step of each");
                return None;
            }
        }
        found.pop()
    }

    fn canary(&mut self, at: &[&str; 3], entry: CanaryEntry) -> Canary {
        let [steps, index, canary] = *at;
        let at = |key| [steps, index, canary, key];
        let replicas = self.amount(&at("replicas"), entry.replicas).unwrap_or(Amount::Count(1));
        if is_nothing(replicas) {
            self.fail_hint(
                &at("replicas"),
                "a canary of 0 replicas",
                "a share is rounded up to at least 1; without a canary leave the step out",
            );
        }
        let suffix = entry.suffix.unwrap_or_else(|| "canary".to_owned());
        if !is_dns_label(&suffix, LONGEST_SUFFIX) {
            self.fail_hint(
                &at("suffix"),
                format!("`{suffix}` is no suffix for names"),
                format!(
                    "use lower-case letters, digits and `-`, at most {LONGEST_SUFFIX}, with a \
                     letter or digit at both ends"
                ),
            );
        }
        Canary { replicas, service: entry.service, suffix }
    }

    /// Wherever there is a canary, a step `clean` takes it away, if there is one at all.
    fn cleaned(&mut self, steps: &[StepSettings]) {
        let goes = |step: &StepSettings, target: &Cluster| {
            step.select.as_ref().is_none_or(|select| select.matches(target))
        };
        if !steps.iter().any(|s| s.step == Step::Clean) {
            return;
        }
        let mut left: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for target in self.targets.iter().copied() {
            let mut canary = None;
            for (index, step) in steps.iter().enumerate().filter(|(_, s)| goes(s, target)) {
                match step.step {
                    Step::Canary(_) => canary = Some(index),
                    Step::Clean => canary = None,
                    Step::Pause(_) | Step::Run(_) | Step::Primary => {}
                }
            }
            if let Some(index) = canary {
                left.entry(index).or_default().push(target.name());
            }
        }
        for (index, targets) in left {
            let index = index.to_string();
            let message = format!("no `clean` takes this canary away in {}", list(targets));
            self.fail_hint(
                &["steps", &index],
                message,
                "a `clean` without `select` cleans wherever there is a canary",
            );
        }
    }

    fn on_failure(&mut self, on: Option<OnFailureEntry>, scope: Option<ScopeEntry>) -> OnFailure {
        match (on.unwrap_or(OnFailureEntry::Stop), scope) {
            (OnFailureEntry::Stop, None) => OnFailure::Stop,
            (OnFailureEntry::Stop, Some(_)) => {
                self.fail_hint(
                    &["scope"],
                    "`scope` goes with `onFailure: rollback`",
                    "with `stop` no target is taken back",
                );
                OnFailure::Stop
            }
            (OnFailureEntry::Rollback, None | Some(ScopeEntry::Wave)) => OnFailure::RollbackWave,
            (OnFailureEntry::Rollback, Some(ScopeEntry::All)) => OnFailure::RollbackAll,
        }
    }
}

fn is_nothing(amount: Amount) -> bool {
    matches!(amount, Amount::Count(0) | Amount::Percent(Percent(0)))
}

/// "the target `a` is", "the targets `a` and `b` are".
fn are(targets: &[&str]) -> String {
    match targets {
        [one] => format!("the target `{one}` is"),
        many => format!("the targets {} are", list(many.iter().copied())),
    }
}
