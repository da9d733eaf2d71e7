//! What holds for every rollout, whatever happens in it.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;

/// What happens to a target when it is worked on.
#[derive(Clone, Debug)]
struct Fate {
    /// Its steps; every second one may be a pause.
    steps: u8,
    /// The step at which it fails; beyond the last: none.
    fails_at: u8,
    /// It cannot be reached then.
    is_lost: bool,
    /// Pauses wait for approval.
    approved: bool,
    /// It was never staged.
    missing: bool,
    /// It is unwell at that look, counted from its first.
    unwell_at: u8,
    /// It fails at that look.
    fails_look: u8,
}

#[derive(Clone, Debug)]
struct Rules {
    sizes: Vec<usize>,
    concurrent: usize,
    failures: usize,
    soak: u64,
    approvals: Vec<bool>,
    mandatory: bool,
}

fn fate() -> impl Strategy<Value = Fate> {
    let rare = || prop_oneof![3 => Just(99u8), 1 => 0u8..4];
    (1u8..5, rare(), any::<bool>(), any::<bool>(), 0u8..20, rare(), rare()).prop_map(
        |(steps, fails_at, is_lost, approved, missing, unwell_at, fails_look)| Fate {
            steps,
            fails_at,
            is_lost,
            approved,
            missing: missing == 0,
            unwell_at,
            fails_look,
        },
    )
}

fn rules() -> impl Strategy<Value = Rules> {
    (
        prop::collection::vec(1usize..6, 1..4),
        1usize..4,
        0usize..3,
        prop_oneof![Just(0u64), 1u64..40],
        prop::collection::vec(any::<bool>(), 4),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(sizes, concurrent, failures, soak, approvals, mandatory)| Rules {
            sizes,
            concurrent,
            failures,
            soak,
            approvals,
            mandatory,
        })
}

fn begin(rules: &Rules, fates: &[Fate], name: impl Fn(usize) -> String) -> Vec<Wave> {
    let mut next = 0;
    let mut waves = Vec::new();
    for (index, size) in rules.sizes.iter().enumerate() {
        let targets: Vec<Member> = (next..next + size)
            .map(|n| {
                let state =
                    if fates[n % fates.len()].missing { State::Missing } else { State::Pending };
                Member { name: TargetName::new(name(n)), state, busy: false }
            })
            .collect();
        waves.push(Wave {
            mandatory: if rules.mandatory {
                [TargetName::new(name(next))].into()
            } else {
                [].into()
            },
            targets,
            max_concurrent: rules.concurrent,
            max_failures: rules.failures,
            soak: Duration::from_secs(rules.soak),
            approval: rules.approvals[index % rules.approvals.len()],
        });
        next += size;
    }
    waves
}

/// A run by hand: what is decided is done, in an order that `pick` chooses.
struct Run {
    waves: Vec<Wave>,
    fates: Vec<Fate>,
    approved: BTreeSet<Gate>,
    now: i64,
    /// How many steps and looks each target has had, in the order of places.
    had: BTreeMap<(usize, usize), (u8, u8)>,
    stopped: bool,
}

impl Run {
    fn place(&self, name: &TargetName) -> (usize, usize) {
        let mut all = self.waves.iter().enumerate();
        all.find_map(|(w, wave)| Some((w, wave.targets.iter().position(|t| t.name == *name)?)))
            .unwrap()
    }

    fn fate(&self, (wave, place): (usize, usize)) -> Fate {
        let before: usize = self.waves[..wave].iter().map(|w| w.targets.len()).sum();
        self.fates[(before + place) % self.fates.len()].clone()
    }

    /// Begins what is decided.
    fn begin(&mut self, decision: &Decision) -> Result<(), TestCaseError> {
        let begun = || decision.start.iter().chain(&decision.go_on);
        if self.stopped {
            prop_assert!(begun().chain(&decision.undo).next().is_none(), "starts after a stop");
        }
        self.stopped |= decision.stop.is_some();
        for name in begun().chain(&decision.look).chain(&decision.undo) {
            let (wave, place) = self.place(name);
            prop_assert_eq!(Some(wave), decision.wave, "works on another wave");
            let member = &self.waves[wave].targets[place];
            prop_assert!(!member.busy, "{} is under way already", name);
            if let State::Paused { step, until } = member.state {
                let gate = Gate { wave, step: Some(step) };
                let over = until.is_some_and(|at| at <= second(self.now));
                prop_assert!(over || self.approved.contains(&gate), "skips an approval");
            }
            if member.state == State::Pending {
                let gate = Gate { wave, step: None };
                let asks = self.waves[wave].approval;
                let first = !self.waves[wave].has_begun();
                prop_assert!(!asks || !first || self.approved.contains(&gate), "skips an approval");
                for before in &self.waves[..wave] {
                    let open = before.targets.iter().any(|t| {
                        t.busy
                            || matches!(t.state, State::Pending | State::Failed)
                            || t.holds_place()
                    });
                    prop_assert!(!open, "two waves at once");
                    if before.soak.is_zero() {
                        continue;
                    }
                    for (target, healthy, _) in before.targets.iter().filter_map(soaking) {
                        let healthy = healthy.expect("a first sign of health");
                        let soaked = second(self.now).duration_since(healthy);
                        let soak = SignedDuration::try_from(before.soak).unwrap();
                        prop_assert!(soaked >= soak, "{} soaked {}", target.name, soaked);
                    }
                }
            }
            let member = &mut self.waves[wave].targets[place];
            member.busy = true;
            if member.state == State::Pending {
                member.state = State::Started;
            }
        }
        for wave in &self.waves {
            let held = wave.targets.iter().filter(|t| t.holds_place()).count();
            prop_assert!(held <= wave.max_concurrent, "{held} at once");
        }
        Ok(())
    }

    /// Ends one thing that is under way.
    fn end(&mut self, (wave, place): (usize, usize)) {
        let fate = self.fate((wave, place));
        let (steps, looks) = self.had.entry((wave, place)).or_default();
        let now = second(self.now);
        let member = &mut self.waves[wave].targets[place];
        member.busy = false;
        member.state = match member.state {
            State::Started if *steps == fate.fails_at && fate.is_lost => State::Missing,
            State::Started if *steps == fate.fails_at => State::Failed,
            State::Started if *steps % 2 == 1 && *steps + 1 < fate.steps => State::Paused {
                step: usize::from(*steps),
                until: (!fate.approved).then(|| second(self.now + 7)),
            },
            State::Started | State::Paused { .. } => {
                *steps += 1;
                if *steps < fate.steps {
                    State::Started
                } else {
                    State::Succeeded { healthy: None, seen: None }
                }
            }
            State::Succeeded { healthy, .. } => {
                *looks += 1;
                if *looks == fate.fails_look.saturating_add(1) {
                    State::Failed
                } else if *looks == fate.unwell_at.saturating_add(1) {
                    State::Succeeded { healthy, seen: Some(Seen { at: now, well: false }) }
                } else {
                    let healthy = healthy.or(Some(now));
                    State::Succeeded { healthy, seen: Some(Seen { at: now, well: true }) }
                }
            }
            State::Failed => State::Lost,
            other => panic!("nothing of {other:?} was under way"),
        };
    }

    /// Runs to the end, or until only a stop is left.
    fn run(mut self, pick: &[usize]) -> Result<Vec<Vec<State>>, TestCaseError> {
        for round in 0..3000 {
            let decision = schedule(&self.waves, &self.approved, second(self.now));
            self.begin(&decision)?;
            let busy: Vec<(usize, usize)> = self
                .waves
                .iter()
                .enumerate()
                .flat_map(|(w, wave)| {
                    let busy = wave.targets.iter().enumerate().filter(|(_, t)| t.busy);
                    busy.map(move |(place, _)| (w, place))
                })
                .collect();
            if let Some(first) = busy.first() {
                // Nothing is put off for ever.
                let nth = (pick[round % pick.len()] + round) % busy.len();
                let which = busy.get(nth).unwrap_or(first);
                self.end(*which);
                self.now += i64::from(round % 3 == 0);
                continue;
            }
            if decision.done || decision.stop.is_some() {
                for wave in &self.waves {
                    let failed = wave.targets.iter().filter(|t| t.state.is_failure()).count();
                    let stopped = decision.stop.is_some();
                    prop_assert!(stopped || failed <= wave.max_failures, "over the budget");
                    let open = wave.targets.iter().any(|t| t.state == State::Pending);
                    prop_assert!(stopped || !open, "done, and something never started");
                }
                let states = self.waves.iter().map(|w| w.targets.iter().map(|t| t.state).collect());
                return Ok(states.collect());
            }
            if let Some(at) = decision.again_at {
                prop_assert!(at > second(self.now), "looks back");
                self.now = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
                continue;
            }
            prop_assert!(!decision.waits_for.is_empty(), "nothing goes on: {:?}", self.waves);
            self.approved.extend(decision.waits_for);
        }
        Err(TestCaseError::fail("does not end"))
    }
}

fn run(waves: Vec<Wave>, fates: &[Fate]) -> Run {
    Run {
        waves,
        fates: fates.to_vec(),
        approved: BTreeSet::new(),
        now: 0,
        had: BTreeMap::new(),
        stopped: false,
    }
}

proptest! {
    /// Never over concurrency or budget, never two waves at once, nothing starts after a stop, no
    /// soak is too short, no approval is skipped, and it ends.
    #[test]
    fn every_rollout_keeps_its_rules_and_ends(
        rules in rules(),
        fates in prop::collection::vec(fate(), 1..18),
        pick in prop::collection::vec(0usize..8, 1..64),
    ) {
        run(begin(&rules, &fates, |n| format!("t{n:02}")), &fates).run(&pick)?;
    }

    /// What targets are called makes no difference.
    #[test]
    fn names_are_irrelevant(
        rules in rules(),
        fates in prop::collection::vec(fate(), 1..18),
        pick in prop::collection::vec(0usize..8, 1..64),
    ) {
        let forwards = run(begin(&rules, &fates, |n| format!("t{n:02}")), &fates).run(&pick)?;
        let backwards = run(begin(&rules, &fates, |n| format!("t{:02}", 99 - n)), &fates).run(&pick)?;
        prop_assert_eq!(forwards, backwards);
    }

    /// To ask twice gives the same answer, and what is decided depends on nothing else.
    #[test]
    fn a_decision_has_no_memory(
        rules in rules(),
        fates in prop::collection::vec(fate(), 1..18),
        now in 0i64..100,
    ) {
        let waves = begin(&rules, &fates, |n| format!("t{n:02}"));
        let decide = || schedule(&waves, &BTreeSet::new(), second(now));
        prop_assert_eq!(decide(), decide());
    }
}
