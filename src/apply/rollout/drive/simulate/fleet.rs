//! A fleet that lives in memory: its records outlive the drivers, its clusters have clocks, moods
//! and bad days, and every call checks what must hold at that moment.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::*;
use super::random::Random;
use crate::cluster::state::{ClosedRollout, Place, RolloutId, TargetProgress, WavePlan, Who};
use crate::rollout::{Canary, Pause, Step};

/// What runs in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Live {
    Old,
    Mixed,
    New,
}

/// What will happen to a target.
#[derive(Clone, Debug)]
struct Fate {
    /// The step that fails, and how many times it does.
    fails: Option<(usize, u32)>,
    /// The way back fails so many times.
    fails_back: u32,
    /// Its cluster cannot be reached in this time.
    down: Option<(Timestamp, Timestamp)>,
    /// It is unwell in this time, once it is done.
    unwell: Option<(Timestamp, Timestamp)>,
    /// It fails for good from then on, once it is done.
    breaks: Option<Timestamp>,
}

#[derive(Debug)]
struct Node {
    wave: usize,
    open: Option<TargetProgress>,
    closed: Option<ClosedRollout>,
    approvals: Vec<Approval>,
    live: Live,
    /// How far its server's clock is from ours.
    skew: SignedDuration,
    fate: Fate,
    /// A call for it is under way.
    busy: bool,
}

/// What one run has seen.
#[derive(Debug, Default)]
struct View {
    halt: CancellationToken,
    /// Those that count as failed, by wave, and since when.
    failed: BTreeMap<usize, BTreeSet<TargetName>>,
    /// When a wave was found to have failed.
    stopped: Option<Timestamp>,
    /// Those that nothing is expected of any more: not reached, or not to be taken back.
    excused: BTreeSet<TargetName>,
    /// The last wave that had begun when the run began.
    newest: Option<usize>,
}

pub(super) struct Simulation {
    pub(super) header: Header,
    nodes: RefCell<BTreeMap<TargetName, Node>>,
    random: RefCell<Random>,
    epoch: Timestamp,
    started: Instant,
    view: RefCell<View>,
    stopped: Cell<bool>,
    going_back: Cell<bool>,
    pub(super) seen: RefCell<Seen>,
}

/// What has happened in a simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    counts: BTreeMap<&'static str, u64>,
}

/// What has happened in all of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rollouts: u64,
    targets: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(super) fn add(&mut self, simulation: &Simulation) {
        self.rollouts += 1;
        self.targets += simulation.nodes.borrow().len() as u64;
        for (what, n) in &simulation.seen.borrow().counts {
            *self.counts.entry(what).or_default() += n;
        }
    }

    /// A simulation in which something never happens says nothing about it.
    pub(super) fn assert_that_all_happened(&self) {
        for what in [
            "runs",
            "runs killed",
            "runs halted",
            "stops",
            "rollbacks by policy",
            "aborts",
            "rollouts done",
            "waits for approval",
            "steps",
            "steps failed",
            "pauses",
            "looks",
            "looks unwell",
            "looks failed",
            "unreachable",
            "taken back",
            "taken back in vain",
            "checked: one call a target",
            "checked: the record's next step",
            "checked: concurrency",
            "checked: one wave at a time",
            "checked: soak",
            "checked: approval",
            "checked: pause",
            "checked: nothing after a stop",
        ] {
            assert!(self.counts.contains_key(what), "no {what}: {self}");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "simulated: {} rollouts of {} targets", self.rollouts, self.targets)?;
        for (what, n) in &self.counts {
            writeln!(f, "{n:>9} {what}")?;
        }
        write!(f, "none broken")
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes.borrow();
        let open = nodes.iter().filter(|(_, node)| node.open.is_some());
        f.debug_map().entries(open.map(|(name, node)| (name.as_str(), node))).finish()
    }
}

impl Simulation {
    /// A rollout of so many targets in which anything may go wrong.
    pub(super) fn new(seed: u64, targets: usize) -> Self {
        let mut random = Random::new(seed.wrapping_mul(31).wrapping_add(targets as u64));
        let header = header(&mut random, targets, false);
        Self::of(header, random, false)
    }

    /// One in which nothing does.
    pub(super) fn quiet(targets: usize) -> Self {
        let mut random = Random::new(1);
        let header = header(&mut random, targets, true);
        Self::of(header, random, true)
    }

    fn of(header: Header, mut random: Random, quiet: bool) -> Self {
        let epoch = Timestamp::from_second(1_800_000_000).unwrap();
        let mut nodes = BTreeMap::new();
        for (wave, plan) in header.waves.iter().enumerate() {
            for place in &plan.targets {
                let mut node = node(&mut random, &header, wave, epoch, quiet);
                if place.not_staged.is_some() {
                    node.open = None;
                }
                nodes.insert(place.target.clone(), node);
            }
        }
        Simulation {
            header,
            nodes: RefCell::new(nodes),
            random: RefCell::new(random),
            epoch,
            started: Instant::now(),
            view: RefCell::default(),
            stopped: Cell::new(false),
            going_back: Cell::new(false),
            seen: RefCell::default(),
        }
    }

    fn count(&self, what: &'static str) {
        *self.seen.borrow_mut().counts.entry(what).or_default() += 1;
    }

    fn clock(&self) -> Timestamp {
        self.epoch + SignedDuration::try_from(self.started.elapsed()).unwrap()
    }

    fn with<T>(&self, target: &TargetName, act: impl FnOnce(&mut Node) -> T) -> T {
        act(self.nodes.borrow_mut().get_mut(target).unwrap())
    }

    fn is_down(&self, target: &TargetName) -> bool {
        let now = self.clock();
        self.with(target, |node| node.fate.down.is_some_and(|(from, to)| from <= now && now < to))
    }

    async fn takes(&self, most: u64) {
        let millis = self.random.borrow_mut().below(most as usize) as u64;
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    /// What whoever comes now finds.
    pub(super) fn known(&self) -> BTreeMap<TargetName, Known> {
        let names: Vec<TargetName> = self.nodes.borrow().keys().cloned().collect();
        let mut known = BTreeMap::new();
        for name in names {
            if self.with(&name, |node| node.open.is_none() && node.closed.is_none()) {
                continue;
            }
            let what = if self.is_down(&name) {
                Known::Missing(Error::new(Exit::Unreachable, "no route to host"))
            } else {
                self.with(&name, |node| match (&node.open, &node.closed) {
                    (Some(open), _) => Known::Open(Box::new(open.clone())),
                    (None, Some(closed)) => Known::Closed(closed.clone()),
                    (None, None) => unreachable!(),
                })
            };
            known.insert(name, what);
        }
        known
    }

    pub(super) fn was_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Taking everything back was begun, and is not over.
    pub(super) fn is_going_back(&self) -> bool {
        self.going_back.get()
    }

    pub(super) fn run_begins(&self, halt: CancellationToken, retry: bool) {
        self.count("runs");
        let known = self.known();
        let mut view = View { halt, ..View::default() };
        for (name, node) in self.nodes.borrow_mut().iter_mut() {
            node.busy = false;
            if let Some(Known::Open(_) | Known::Closed(_)) = known.get(name) {
                let pending =
                    node.open.as_ref().is_some_and(|progress| progress.stand == Stand::Pending);
                if !pending {
                    view.newest = view.newest.max(Some(node.wave));
                }
            }
        }
        for (name, node) in self.nodes.borrow().iter() {
            let failed = match known.get(name) {
                Some(Known::Open(progress)) => match progress.stand {
                    Stand::Failed => !retry,
                    Stand::Undoing | Stand::Undone => true,
                    Stand::Pending | Stand::Running | Stand::Paused | Stand::Succeeded => false,
                },
                Some(Known::Closed(closed)) => closed.stand != Stand::Succeeded,
                Some(Known::Missing(_)) | None => true,
            };
            let missing = matches!(known.get(name), Some(Known::Missing(_)) | None);
            if missing {
                view.excused.insert(name.clone());
            }
            if failed && !(missing && view.newest.is_some_and(|newest| node.wave < newest)) {
                view.failed.entry(node.wave).or_default().insert(name.clone());
            }
        }
        *self.view.borrow_mut() = view;
    }

    /// Takes note that a target failed in this run, and whether that is one too many.
    fn note_failure(&self, target: &TargetName) {
        let wave = self.with(target, |node| node.wave);
        let mut view = self.view.borrow_mut();
        let failed = view.failed.entry(wave).or_default();
        failed.insert(target.clone());
        let plan = &self.header.waves[wave];
        let over = failed.len() > plan.max_failures
            || failed.iter().any(|name| plan.mandatory.contains(name));
        // A wave before one that had begun is over.
        if over && view.newest.is_none_or(|newest| newest <= wave) {
            let now = self.clock();
            view.stopped.get_or_insert(now);
        }
    }

    fn excuse(&self, target: &TargetName) {
        self.view.borrow_mut().excused.insert(target.clone());
    }

    pub(super) fn run_ended(&self, outcome: Option<&Outcome>, abort: bool, seed: u64) {
        let Some(outcome) = outcome else {
            self.count("runs killed");
            if abort {
                self.going_back.set(true);
            }
            return;
        };
        let exit = outcome.exit(false);
        let open = self.nodes.borrow().values().filter(|node| node.open.is_some()).count();
        for (name, target) in &outcome.targets {
            let is_open = self.with(name, |node| node.open.is_some());
            let missing = matches!(target.end, End::Unreachable | End::NotStaged);
            assert!(missing || target.open == is_open, "seed {seed}: {name} {target:?}");
        }
        if outcome.halted {
            self.count("runs halted");
            assert_eq!(exit, Exit::Interrupted, "seed {seed}");
            if abort {
                self.going_back.set(true);
            }
            return;
        }
        if abort {
            self.count("aborts");
            let exit = outcome.exit_of_abort();
            let back =
                outcome.targets.values().all(|t| matches!(t.end, End::Undone | End::NotStaged));
            assert_eq!(exit == Exit::Ok, back, "seed {seed}: {exit:?} {outcome:?}");
            self.going_back.set(open > 0);
            return;
        }
        let stopped = outcome.stop.is_some();
        self.stopped.set(stopped);
        if let Some(stop) = &outcome.stop {
            self.count("stops");
            assert!(!outcome.done && outcome.waits_for.is_empty());
            assert!(
                !matches!(exit, Exit::Ok | Exit::Budget | Exit::Paused),
                "seed {seed}: {exit:?}"
            );
            assert!(self.view.borrow().failed.contains_key(&stop.wave), "seed {seed}");
            if self.header.on_failure != OnFailure::Stop {
                self.count("rollbacks by policy");
                // What could not be taken back is for an abort.
                self.going_back.set(open > 0);
                self.check_policy(stop.wave, seed);
            }
        } else if outcome.done {
            self.count("rollouts done");
            let ok = outcome.targets.values().all(|t| !t.failed && t.troubles.is_empty());
            assert_eq!(exit == Exit::Ok, ok, "seed {seed}: {exit:?} {outcome:?}");
        } else {
            assert!(!outcome.waits_for.is_empty(), "seed {seed}: ended for nothing: {outcome:?}");
            self.count("waits for approval");
            assert!(!matches!(exit, Exit::Ok | Exit::Budget), "seed {seed}: {exit:?} {outcome:?}");
            for gate in &outcome.waits_for {
                self.approve(*gate);
            }
        }
    }

    /// `mcd rollout approve`, as far as it gets.
    fn approve(&self, gate: Gate) {
        let names: Vec<TargetName> = self.nodes.borrow().keys().cloned().collect();
        for name in names {
            if self.is_down(&name) {
                continue;
            }
            let at = self.clock();
            self.with(&name, |node| {
                if node.wave == gate.wave && node.open.is_some() {
                    let who = Who { user: "alice".into(), host: "laptop".into(), ci: None };
                    node.approvals.push(Approval { wave: gate.wave, step: gate.step, who, at });
                }
            });
        }
    }

    fn is_approved(&self, gate: Gate) -> bool {
        let nodes = self.nodes.borrow();
        let mut all = nodes.values().flat_map(|node| &node.approvals);
        all.any(|a| a.wave == gate.wave && a.step == gate.step)
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.nodes.borrow().values().all(|node| node.open.is_none())
    }

    /// After a rollback by policy: what the policy names is back, what came before it stays.
    fn check_policy(&self, failed: usize, seed: u64) {
        let excused = self.view.borrow().excused.clone();
        for (name, node) in self.nodes.borrow().iter() {
            if excused.contains(name) || node.open.is_some() {
                continue;
            }
            let first = match self.header.on_failure {
                OnFailure::RollbackAll => 0,
                OnFailure::RollbackWave | OnFailure::Stop => failed,
            };
            let closed = node.closed.as_ref().map(|closed| closed.stand);
            if node.wave >= first && closed != Some(Stand::Succeeded) {
                assert_eq!(node.live, Live::Old, "seed {seed}: {name}");
            }
        }
    }

    /// Every record that is closed tells the truth.
    pub(super) fn check_the_end(&self, seed: u64) {
        for (name, node) in self.nodes.borrow().iter() {
            if node.open.is_some() {
                continue;
            }
            let Some(closed) = &node.closed else { continue };
            let want = match closed.stand {
                Stand::Succeeded => Live::New,
                Stand::Failed | Stand::Undone => Live::Old,
                other => panic!("seed {seed}: {name} is closed as {other:?}"),
            };
            assert_eq!(node.live, want, "seed {seed}: {name} {closed:?}");
        }
    }

    /// A call for a target begins.
    fn enter(&self, target: &TargetName) -> Busy<'_> {
        self.count("checked: one call a target");
        self.with(target, |node| {
            assert!(!node.busy, "two calls for {target} at once");
            node.busy = true;
        });
        Busy { simulation: self, target: target.clone() }
    }

    /// What must hold when a target's step begins.
    fn check_step(&self, target: &TargetName, step: Option<usize>) {
        let now = self.clock();
        let (wave, progress, skew) = self.with(target, |node| {
            (node.wave, node.open.clone().expect("an open record"), node.skew)
        });
        self.count("checked: the record's next step");
        assert_eq!(step, progress.steps.get(progress.done).copied(), "{target}");
        let plan = &self.header.waves[wave];
        let view = self.view.borrow();
        self.count("checked: nothing after a stop");
        assert!(view.stopped.is_none_or(|at| at >= now), "{target} begins after a stop");
        if progress.stand == Stand::Paused {
            self.count("checked: pause");
            let step = step.expect("a step");
            let Step::Pause(pause) = &self.header.steps[step] else { panic!("no pause") };
            let over = pause.period.is_some_and(|period| {
                now + skew >= progress.since + SignedDuration::try_from(period).unwrap()
            });
            let gate = Gate { wave, step: Some(step) };
            assert!(over || self.is_approved(gate), "{target} skips a pause");
        }
        if progress.stand != Stand::Pending {
            return;
        }
        let nodes = self.nodes.borrow();
        let held = nodes.iter().filter(|(name, node)| {
            let under_way = node.open.as_ref().is_some_and(|progress| match progress.stand {
                Stand::Running | Stand::Paused | Stand::Failed | Stand::Undoing => true,
                Stand::Pending | Stand::Succeeded | Stand::Undone => false,
            });
            node.wave == wave && under_way && *name != target && !view.excused.contains(*name)
        });
        self.count("checked: concurrency");
        let held = held.count();
        assert!(held < plan.max_concurrent, "{target} is one too many beside {held}");
        self.count("checked: one wave at a time");
        let in_waves = |range: std::ops::Range<usize>| {
            nodes.iter().filter(move |(_, node)| range.contains(&node.wave))
        };
        for (name, node) in in_waves(0..wave).filter(|(name, _)| !view.excused.contains(*name)) {
            let ended = node.open.as_ref().is_none_or(|progress| match progress.stand {
                Stand::Succeeded | Stand::Undone => true,
                Stand::Pending
                | Stand::Running
                | Stand::Paused
                | Stand::Failed
                | Stand::Undoing => false,
            });
            assert!(ended, "{target} of wave {wave} begins before {name} has ended");
        }
        let begun = in_waves(wave..usize::MAX).any(|(_, node)| {
            node.open.as_ref().is_none_or(|progress| progress.stand != Stand::Pending)
        });
        if begun {
            return;
        }
        if plan.approval {
            self.count("checked: approval");
            assert!(self.is_approved(Gate { wave, step: None }), "{target} skips an approval");
        }
        let before = wave.checked_sub(1).map(|before| (before, self.header.waves[before].soak));
        let Some((before, soak)) = before.filter(|(_, soak)| !soak.is_zero()) else { return };
        for (name, node) in in_waves(before..wave) {
            let open = node.open.as_ref().filter(|_| !view.excused.contains(name));
            if let Some(progress) = open.filter(|progress| progress.stand == Stand::Succeeded) {
                self.count("checked: soak");
                let healthy = progress.healthy.expect("a first sign of health");
                let soaked = (now + node.skew).duration_since(healthy);
                assert!(soaked >= SignedDuration::try_from(soak).unwrap(), "{name}: {soaked}");
                assert!(progress.soak.is_some(), "{name} was not told of its soak");
            }
        }
    }

    fn put(&self, target: &TargetName, stand: Stand, change: impl FnOnce(&mut TargetProgress)) {
        let now = self.clock();
        self.with(target, |node| {
            let since = now + node.skew;
            let progress = node.open.as_mut().expect("an open record");
            progress.stand = stand;
            progress.since = since;
            change(progress);
        });
    }

    /// One step further; the last one ends them.
    fn step_done(&self, target: &TargetName) {
        let left = self.with(target, |node| {
            let progress = node.open.as_ref().expect("an open record");
            progress.steps.len().saturating_sub(progress.done + 1)
        });
        let stand = if left == 0 { Stand::Succeeded } else { Stand::Running };
        self.put(target, stand, |progress| {
            progress.done = (progress.done + 1).min(progress.steps.len());
        });
        if left == 0 {
            self.with(target, |node| node.live = Live::New);
        }
    }

    fn fails_now(&self, target: &TargetName, step: usize) -> bool {
        self.with(target, |node| match &mut node.fate.fails {
            Some((at, times)) if *at == step && *times > 0 => {
                *times -= 1;
                true
            }
            _ => false,
        })
    }

    /// Waits, unless the run is told to stop.
    async fn waits(&self, most: u64) -> bool {
        let halt = self.view.borrow().halt.clone();
        tokio::select! {
            () = self.takes(most) => true,
            () = halt.cancelled() => false,
        }
    }
}

/// A call for a target is under way; also when it is dropped in the middle.
struct Busy<'a> {
    simulation: &'a Simulation,
    target: TargetName,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.simulation.with(&self.target, |node| node.busy = false);
    }
}

fn unreachable(simulation: &Simulation, target: &TargetName) -> Error {
    simulation.count("unreachable");
    Error::new(Exit::Unreachable, "no route to host").in_target(target)
}

impl Fleet for Simulation {
    async fn advance(&self, target: &TargetName, step: Option<usize>) -> Ended {
        let _busy = self.enter(target);
        self.check_step(target, step);
        self.count("steps");
        self.takes(2_000).await;
        if self.is_down(target) {
            self.note_failure(target);
            self.excuse(target);
            return Ended::Unreachable(unreachable(self, target));
        }
        let Some(index) = step else {
            self.step_done(target);
            return Ended::Done;
        };
        let stand = self.with(target, |node| node.open.as_ref().map(|progress| progress.stand));
        if let Step::Pause(_) = self.header.steps[index] {
            if stand == Some(Stand::Paused) {
                self.step_done(target);
                return Ended::Done;
            }
            self.count("pauses");
            self.put(target, Stand::Paused, |_| {});
            let since = self.with(target, |node| node.open.as_ref().map(|p| p.since)).unwrap();
            return Ended::Paused { since };
        }
        self.put(target, Stand::Running, |_| {});
        if !self.waits(5_000).await {
            return Ended::Halted;
        }
        self.with(target, |node| node.live = Live::Mixed);
        if !self.waits(60_000).await {
            return Ended::Halted;
        }
        if self.fails_now(target, index) {
            self.count("steps failed");
            self.put(target, Stand::Failed, |progress| {
                progress.message = Some("Deployment shop/web: ErrImagePull".to_owned());
            });
            self.note_failure(target);
            return Ended::Failed(Error::new(Exit::Failed, "is not healthy"));
        }
        self.step_done(target);
        Ended::Done
    }

    async fn look(&self, target: &TargetName, last: bool) -> Looked {
        let _busy = self.enter(target);
        self.count("looks");
        self.takes(500).await;
        if self.is_down(target) {
            self.count("unreachable");
            if last {
                self.note_failure(target);
                self.excuse(target);
            }
            return Looked::Unreachable(Error::new(Exit::Unreachable, "no route to host"));
        }
        let now = self.clock();
        let (unwell, broken) = self.with(target, |node| {
            let unwell = node.fate.unwell.is_some_and(|(from, to)| from <= now && now < to);
            (unwell, node.fate.breaks.is_some_and(|at| at <= now))
        });
        if broken || unwell && last {
            self.count("looks failed");
            // It does not break again.
            self.with(target, |node| (node.fate.breaks, node.fate.unwell) = (None, None));
            self.put(target, Stand::Failed, |_| {});
            self.note_failure(target);
            return Looked::Failed(Error::new(Exit::Failed, "CrashLoopBackOff"));
        }
        if unwell {
            self.count("looks unwell");
            return Looked::NotYet("1 of 2 ready".to_owned());
        }
        let since = self.with(target, |node| {
            let now = now + node.skew;
            let progress = node.open.as_mut().expect("an open record");
            *progress.healthy.get_or_insert(now)
        });
        Looked::Healthy { since }
    }

    async fn undo(&self, target: &TargetName) -> Result<(), Error> {
        let _busy = self.enter(target);
        self.takes(1_000).await;
        if self.is_down(target) {
            self.excuse(target);
            return Err(unreachable(self, target));
        }
        self.put(target, Stand::Undoing, |_| {});
        if !self.waits(20_000).await {
            return Err(Error::new(Exit::Interrupted, "interrupted"));
        }
        let fails = self.with(target, |node| {
            let fails = node.fate.fails_back > 0;
            node.fate.fails_back = node.fate.fails_back.saturating_sub(1);
            fails
        });
        if fails {
            self.count("taken back in vain");
            self.excuse(target);
            return Err(Error::new(Exit::Failed, "is not healthy"));
        }
        self.with(target, |node| node.live = Live::Old);
        self.takes(1_000).await;
        self.count("taken back");
        self.put(target, Stand::Undone, |_| {});
        Ok(())
    }

    async fn close(
        &self,
        target: &TargetName,
        stand: Stand,
        message: Option<String>,
    ) -> Result<(), Error> {
        let _busy = self.enter(target);
        self.takes(1_000).await;
        if self.is_down(target) {
            return Err(unreachable(self, target));
        }
        let at = self.clock();
        self.with(target, |node| {
            assert!(node.open.is_some(), "{target} is closed twice");
            node.open = None;
            let at = at + node.skew;
            node.closed = Some(ClosedRollout {
                id: self.header.id.clone(),
                stand,
                release: None,
                at,
                message,
                aborted: false,
            });
        });
        Ok(())
    }

    async fn note_soak(&self, target: &TargetName, since: Timestamp) -> Result<(), Error> {
        let _busy = self.enter(target);
        self.takes(500).await;
        self.with(target, |node| {
            if let Some(progress) = &mut node.open {
                progress.soak = Some(since);
            }
        });
        Ok(())
    }

    async fn approvals(&self, wave: usize) -> Result<Vec<Approval>, (TargetName, Error)> {
        self.takes(1_000).await;
        let names: Vec<TargetName> = self.nodes.borrow().keys().cloned().collect();
        let mut all = Vec::new();
        for name in names {
            if !self.is_down(&name) {
                all.extend(self.with(&name, |node| {
                    if node.wave == wave { node.approvals.clone() } else { Vec::new() }
                }));
            }
        }
        Ok(all)
    }

    fn now(&self, target: &TargetName) -> Timestamp {
        let skew = self.with(target, |node| node.skew);
        self.clock() + skew
    }
}

fn header(random: &mut Random, targets: usize, quiet: bool) -> Header {
    let mut waves = Vec::new();
    let mut next = 0;
    while next < targets {
        let size = match waves.len() {
            4 => targets - next,
            _ => (1 + random.below(targets / 3 + 1)).min(targets - next),
        };
        let place = |n: usize| Place {
            // Names are no help: they are in no order.
            target: TargetName::new(format!("t{:04}", (n * 7919) % 10_007)),
            context: String::new(),
            server: String::new(),
            ca_digest: None,
            namespace: "shop".to_owned(),
            state_namespace: "shop".to_owned(),
            state_namespace_is_set: false,
            not_staged: (!quiet && n % 41 == 40).then(|| "helm is not installed".to_owned()),
        };
        let places: Vec<Place> = (next..next + size).map(place).collect();
        let mandatory = match random.one_in(3) && !quiet {
            true => [places[0].target.clone()].into(),
            false => BTreeSet::new(),
        };
        let soak = [0, 0, 30, 600][random.below(4)];
        waves.push(WavePlan {
            name: format!("w{}", waves.len()),
            max_concurrent: 1 + random.below(size),
            max_failures: random.below(size / 2 + 2),
            mandatory,
            soak: Duration::from_secs(soak),
            progress_deadline: Duration::from_secs(120),
            approval: random.one_in(4) && !quiet,
            targets: places,
        });
        next += size;
    }
    let pause =
        |period: Option<u64>| Step::Pause(Pause { period: period.map(Duration::from_secs) });
    let canary = Step::Canary(Canary {
        replicas: crate::rollout::Amount::Count(1),
        service: false,
        suffix: "canary".to_owned(),
    });
    let second = if random.one_in(3) && !quiet { pause(None) } else { pause(Some(300)) };
    Header {
        id: RolloutId::new(Timestamp::UNIX_EPOCH, 1),
        by_hand: false,
        opened: Timestamp::UNIX_EPOCH,
        who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
        commit: None,
        waves,
        steps: vec![canary, second, Step::Primary, Step::Clean],
        variants: crate::rollout::VariantSettings::default(),
        on_failure: [OnFailure::Stop, OnFailure::RollbackWave, OnFailure::RollbackAll]
            [random.below(3)],
    }
}

fn node(random: &mut Random, header: &Header, wave: usize, epoch: Timestamp, quiet: bool) -> Node {
    let mut spell = |rarely: usize, most: usize| {
        let from = epoch + SignedDuration::from_secs(random.below(4_000) as i64);
        let to = from + SignedDuration::from_secs(random.below(most) as i64);
        (!quiet && random.one_in(rarely)).then_some((from, to))
    };
    let (down, unwell, breaks) = (spell(15, 3_000), spell(8, 200), spell(30, 1));
    let steps = match random.below(10) {
        // Nothing changes, or is applied plainly.
        0 => Vec::new(),
        1 => vec![2],
        _ => (0..header.steps.len()).collect(),
    };
    let skew = SignedDuration::from_secs(random.below(600) as i64 - 300);
    let fails =
        (!quiet && random.one_in(12)).then(|| (random.below(4), 1 + random.below(2) as u32));
    let progress = TargetProgress {
        release: Some(2),
        previous: Some(1),
        hand: Vec::new(),
        steps,
        reason: "image web 1 → 2".to_owned(),
        done: 0,
        stand: Stand::Pending,
        since: epoch + skew,
        healthy: None,
        soak: None,
        interrupted: None,
        message: None,
        variants: BTreeSet::new(),
        created: BTreeSet::new(),
    };
    Node {
        wave,
        open: Some(progress),
        closed: None,
        approvals: Vec::new(),
        live: Live::Old,
        skew,
        fate: Fate {
            fails,
            fails_back: u32::from(!quiet && random.one_in(20)),
            down,
            unwell,
            breaks: breaks.map(|(from, _)| from),
        },
        busy: false,
    }
}
