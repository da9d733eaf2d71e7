//! What configuration comes to: the targets of an application, and the choice among them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::selector::{Selectable, Selector, list, matcher, unknown_name};
use super::{AppName, ClusterSpec, Target};
use crate::error::{Error, Result};
use crate::rollout::{RolloutSettings, wave_of};
use crate::suggest;

/// An application with its fleet, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The application.
    pub app: AppName,
    /// Its file: absolute, in a canonical folder.
    pub file: PathBuf,
    /// The folder that inputs of rendering stay inside; see [`Target::root`].
    pub root: PathBuf,
    /// All clusters of the fleet, in its order.
    pub clusters: Vec<ClusterSpec>,
    /// The targets that `select` selects, in the order of the fleet; at least one.
    pub targets: Vec<Target>,
    /// The clusters that it does not select, as far as their places can be told: what an earlier
    /// selection left may be there. They have no settings of rendering.
    pub others: Vec<Target>,
    /// How they are rolled out.
    pub rollout: RolloutSettings,
    /// What is probably wrong.
    pub warnings: Vec<Error>,
}

impl Selectable for Target {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn labels(&self) -> &BTreeMap<String, String> {
        &self.cluster.labels
    }
}

impl Selectable for ClusterSpec {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }
}

impl Project {
    /// An application of which only the name is known: its state in a cluster says the rest.
    pub fn without_files(app: AppName) -> Self {
        Project {
            app,
            file: PathBuf::new(),
            root: PathBuf::new(),
            clusters: Vec::new(),
            targets: Vec::new(),
            others: Vec::new(),
            rollout: RolloutSettings::default(),
            warnings: Vec::new(),
        }
    }

    /// The targets that `-t` (names or globs, any of them), `-l` (all of it) and `--wave` (any of
    /// them) choose, in the order of the fleet. None of these: all.
    ///
    /// # Errors
    /// Exit 3: a name, a glob or the selector chooses none, there is no such wave, or nothing is
    /// chosen by all of them.
    pub fn narrow(
        &self,
        names: &[String],
        selector: Option<&Selector>,
        waves: &[String],
    ) -> Result<Vec<Target>> {
        let unknown = |name: &&String| !self.rollout.waves.iter().any(|wave| wave.name == **name);
        if let Some(name) = waves.iter().find(unknown) {
            return Err(self.no_wave(name));
        }
        let in_waves = |target: &Target| {
            let wave = wave_of(&self.rollout.waves, target);
            let wave = wave.and_then(|index| self.rollout.waves.get(index));
            wave.is_some_and(|wave| waves.contains(&wave.name))
        };
        let mut chosen = vec![names.is_empty(); self.targets.len()];
        for name in names {
            let matcher = matcher(name)?;
            let mut any = false;
            for (target, chosen) in self.targets.iter().zip(&mut chosen) {
                if matcher.is_match(target.name.as_str()) {
                    (*chosen, any) = (true, true);
                }
            }
            if !any {
                return Err(self.no_target(name));
            }
        }
        if let Some(selector) = selector {
            if let Some((_, error)) = selector.check(&self.clusters).into_iter().next() {
                return Err(error);
            }
            for (target, chosen) in self.targets.iter().zip(&mut chosen) {
                *chosen &= selector.matches(target);
            }
        }
        let mut targets: Vec<Target> = self
            .targets
            .iter()
            .zip(chosen)
            .filter(|(_, chosen)| *chosen)
            .map(|(target, _)| target.clone())
            .collect();
        if let Some(selector) = selector
            && targets.is_empty()
        {
            let of = if names.is_empty() { "targets" } else { "targets that `-t` names" };
            return Err(Error::config(format!("`{selector}` selects none of the {of}"))
                .hint(labels_of(&self.targets)));
        }
        if !waves.is_empty() {
            targets.retain(in_waves);
            if targets.is_empty() {
                let (of, waves) = (
                    if waves.len() == 1 { "the wave" } else { "the waves" },
                    list(waves.iter().map(String::as_str)),
                );
                return Err(Error::config(format!("none of these targets is in {of} {waves}"))
                    .hint("`mcd targets` shows the wave of each target"));
            }
        }
        Ok(targets)
    }

    /// As [`Project::narrow`], and a cluster that `-t` names is chosen also when it is not selected
    /// any more: what was applied to it is found by its state. Globs choose only what is selected.
    ///
    /// # Errors
    /// Exit 3, as there.
    pub fn narrow_to_state(
        &self,
        names: &[String],
        selector: Option<&Selector>,
        waves: &[String],
    ) -> Result<Vec<Target>> {
        let other = |name: &String| self.others.iter().find(|o| o.name.as_str() == name);
        let (left, selected): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|name| other(name).is_some());
        // Those that are not selected are in no wave, which is said there.
        if left.is_empty() || !waves.is_empty() {
            return self.narrow(names, selector, waves);
        }
        let mut targets: Vec<Target> = self
            .others
            .iter()
            .filter(|o| left.iter().any(|name| o.name.as_str() == name))
            .filter(|o| selector.is_none_or(|selector| selector.matches(*o)))
            .cloned()
            .collect();
        if !selected.is_empty() {
            targets.extend(self.narrow(&selected, selector, waves)?);
        }
        let place = |target: &Target| self.clusters.iter().position(|c| c.name == target.name);
        targets.sort_by_key(place);
        Ok(targets)
    }

    fn no_wave(&self, name: &str) -> Error {
        let names = || self.rollout.waves.iter().map(|wave| wave.name.as_str());
        let error = Error::config(format!("there is no wave `{name}`"));
        match suggest::hint(name, names()) {
            Some(hint) => error.hint(hint),
            None if self.rollout.waves.is_empty() => {
                error.hint("the application has no `rollout.waves`")
            }
            None => error.hint(format!("the waves are {}", list(names()))),
        }
    }

    fn no_target(&self, name: &str) -> Error {
        let excluded = self.clusters.iter().any(|cluster| cluster.name.as_str() == name);
        if excluded {
            return Error::config(format!("the cluster `{name}` is no target of `{}`", self.app))
                .hint("the `select` of the application does not select it")
                .hint(format!("`mcd delete -t {name}` removes what was applied there before"));
        }
        unknown_name("target", name, &self.targets)
    }
}

/// What can be selected, for the hint of a selector that selects nothing.
pub(crate) fn labels_of(all: &[impl Selectable]) -> String {
    const SHOWN: usize = 10;
    let mut lines: Vec<String> = all
        .iter()
        .take(SHOWN)
        .map(|one| {
            let labels: Vec<String> =
                one.labels().iter().map(|(key, value)| format!("{key}={value}")).collect();
            let labels = if labels.is_empty() { "no labels".to_owned() } else { labels.join(",") };
            format!("{}: {labels}", one.name())
        })
        .collect();
    if all.len() > SHOWN {
        lines.push(format!("and {} more", all.len() - SHOWN));
    }
    format!("there are:\n{}", lines.join("\n"))
}
