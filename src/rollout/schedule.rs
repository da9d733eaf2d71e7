//! Which targets start next: (waves, per-target progress) → decision (design §9).
//!
//! A pure function, so that every rule is a row of a table. One wave uses it too: a plain `apply`
//! is a single wave with all its targets, the whole wave at once, and no failure allowed.

use std::collections::BTreeMap;

use crate::config::TargetName;

/// A group of targets; the next wave starts when this one is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Its targets, in the order in which they start.
    pub targets: Vec<TargetName>,
    /// How many may run at once, at least 1.
    pub max_concurrent: usize,
    /// How many may fail before nothing new starts.
    pub max_failures: usize,
}

/// How far a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not started.
    Pending,
    /// Under way.
    Running,
    /// Done.
    Succeeded,
    /// Failed, or not reached: both use up the budget (peers §0, finding 4).
    Failed,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start these (possibly none: then wait for those that run).
    Start(Vec<TargetName>),
    /// Every wave is done.
    Done,
    /// The budget is exceeded: start nothing; those that run finish.
    Stop {
        /// The wave whose budget is exceeded, from 0.
        wave: usize,
    },
}

/// Decides. A target that `progress` does not name is pending.
pub fn schedule(waves: &[Wave], progress: &BTreeMap<TargetName, Progress>) -> Decision {
    let of = |t: &TargetName| progress.get(t).copied().unwrap_or(Progress::Pending);
    for (index, wave) in waves.iter().enumerate() {
        let count = |p: Progress| wave.targets.iter().filter(|t| of(t) == p).count();
        if count(Progress::Failed) > wave.max_failures {
            return Decision::Stop { wave: index };
        }
        let (running, pending) = (count(Progress::Running), count(Progress::Pending));
        if running + pending > 0 {
            let free = wave.max_concurrent.max(1).saturating_sub(running);
            let start = wave.targets.iter().filter(|t| of(t) == Progress::Pending).take(free);
            return Decision::Start(start.cloned().collect());
        }
    }
    Decision::Done
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(names: &str) -> Vec<TargetName> {
        names.split_whitespace().map(TargetName::new).collect()
    }

    fn wave(targets: &str, max_concurrent: usize, max_failures: usize) -> Wave {
        Wave { targets: names(targets), max_concurrent, max_failures }
    }

    /// `a+` succeeded, `a!` failed, `a~` running.
    fn progress(of: &str) -> BTreeMap<TargetName, Progress> {
        of.split_whitespace()
            .map(|word| {
                let (name, mark) = word.split_at(word.len() - 1);
                let progress = match mark {
                    "+" => Progress::Succeeded,
                    "!" => Progress::Failed,
                    _ => Progress::Running,
                };
                (TargetName::new(name), progress)
            })
            .collect()
    }

    #[test]
    fn table() {
        let start = |s: &str| Decision::Start(names(s));
        let two = [wave("a b c", 2, 0), wave("d e", 9, 1)];
        let rows = [
            ("", start("a b")),
            ("a~ b~", start("")),
            ("a+ b~", start("c")),
            ("a! b~", Decision::Stop { wave: 0 }),
            ("a+ b+ c~", start("")),
            ("a+ b+ c+", start("d e")),
            ("a+ b+ c+ d!", start("e")),
            ("a+ b+ c+ d! e!", Decision::Stop { wave: 1 }),
            ("a+ b+ c+ d! e+", Decision::Done),
            ("a+ b+ c+ d+ e+", Decision::Done),
        ];
        for (state, want) in rows {
            assert_eq!(schedule(&two, &progress(state)), want, "{state}");
        }
        assert_eq!(schedule(&[], &BTreeMap::new()), Decision::Done);
    }

    proptest! {
        #[test]
        fn never_over_concurrency_or_budget_and_always_ends(
            sizes in prop::collection::vec(1usize..6, 1..4),
            concurrency in 1usize..4,
            budget in 0usize..3,
            fate in prop::collection::vec(any::<bool>(), 24),
            pick in prop::collection::vec(0usize..8, 64),
        ) {
            let mut next = 0;
            let waves: Vec<Wave> = sizes.iter().map(|n| {
                let targets = (next..next + n).map(|i| TargetName::new(format!("t{i}"))).collect();
                next += n;
                Wave { targets, max_concurrent: concurrency, max_failures: budget }
            }).collect();
            let mut state: BTreeMap<TargetName, Progress> = BTreeMap::new();
            let mut stopped = false;
            for step in 0..200 {
                match schedule(&waves, &state) {
                    Decision::Done => return Ok(()),
                    Decision::Stop { wave } => {
                        let failed = waves[wave].targets.iter()
                            .filter(|t| state.get(*t) == Some(&Progress::Failed)).count();
                        prop_assert!(failed > budget);
                        stopped = true;
                    }
                    Decision::Start(targets) => {
                        prop_assert!(!stopped, "nothing starts after a stop");
                        for t in targets { state.insert(t, Progress::Running); }
                    }
                }
                let running: Vec<_> = state.iter().filter(|(_, p)| **p == Progress::Running)
                    .map(|(t, _)| t.clone()).collect();
                prop_assert!(running.len() <= concurrency);
                let waves_running: std::collections::BTreeSet<_> = running.iter()
                    .filter_map(|t| waves.iter().position(|w| w.targets.contains(t))).collect();
                prop_assert!(waves_running.len() <= 1, "never two waves at once");
                if running.is_empty() { prop_assert!(stopped); return Ok(()); }
                let t = &running[pick[step % pick.len()] % running.len()];
                let i: usize = t.as_str()[1..].parse().unwrap();
                let end = if fate[i % fate.len()] { Progress::Succeeded } else { Progress::Failed };
                state.insert(t.clone(), end);
            }
            prop_assert!(false, "does not end");
        }
    }
}
