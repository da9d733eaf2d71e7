//! What happens next across targets: (waves with where their targets stand, approvals, now) → what
//! to do (design §9). Pure, and without memory: whoever asks may be another machine than before.
//!
//! A wave goes through approval, the steps of its targets and its soak; the next one begins when
//! it is over. What has failed is counted by wave: inside the budget a failed target is taken back
//! by itself and the wave goes on; beyond it nothing new is begun, whatever the wave.
//!
//! All times are on one clock: it is the caller's part to bring the times of many servers to it.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::config::TargetName;

/// How often targets are looked at while they soak: so many times a soak, within these bounds.
const LOOKS: u32 = 10;
const SHORTEST_BETWEEN: Duration = Duration::from_secs(1);
const LONGEST_BETWEEN: Duration = Duration::from_secs(30);

/// A group of targets, and how far they are; the next wave begins when this one is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Its targets, in the order in which they start.
    pub targets: Vec<Member>,
    /// How many may be on their way at once, at least 1.
    pub max_concurrent: usize,
    /// How many may fail before nothing new starts.
    pub max_failures: usize,
    /// Those of which none may fail.
    pub mandatory: BTreeSet<TargetName>,
    /// How long all must have been healthy before the wave is over.
    pub soak: Duration,
    /// Whether someone has to approve before it starts.
    pub approval: bool,
}

/// A target of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: TargetName,
    /// How far it is.
    pub state: State,
    /// Something of it is under way at this moment: a step, a look, the way back.
    pub busy: bool,
}

/// How far a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its turn has not come.
    Pending,
    /// Its steps have begun, and some are left.
    Started,
    /// At a pause.
    Paused {
        /// The step.
        step: usize,
        /// When it is over by itself; none: when it is approved.
        until: Option<Timestamp>,
    },
    /// All its steps are done.
    Succeeded {
        /// When it was first seen healthy after them.
        healthy: Option<Timestamp>,
        /// The last look at it.
        seen: Option<Seen>,
    },
    /// It failed, and nothing has been done about it. Inside the budget it is taken back.
    Failed,
    /// It failed, and no more is done about it: it is back at what was before, or could not be
    /// taken back.
    Lost,
    /// It cannot be reached, or was not staged. That counts as failed (peers §0, finding 4).
    Missing,
    /// Its record of the rollout is closed already, and it had succeeded.
    Closed,
}

/// A look at a target that has done its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// It was healthy.
    pub well: bool,
}

/// Something that is waited for until someone approves it; ordered as the rollout comes to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gate {
    /// The wave, from 0.
    pub wave: usize,
    /// The pause in its targets, as an index into the steps; none: the start of the wave.
    pub step: Option<usize>,
}

/// Why nothing new starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The wave that failed, from 0.
    pub wave: usize,
    /// Why.
    pub reason: StopReason,
}

/// Why a wave has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// More of its targets failed than may.
    Budget {
        /// How many failed.
        failed: usize,
        /// How many may.
        allowed: usize,
    },
    /// A target failed of which none may.
    Mandatory(TargetName),
}

impl fmt::Display for StopReason {
    /// What is said behind the wave's name: `2 of its targets failed, and 1 may`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Budget { failed, allowed: 0 } => {
                write!(f, "{failed} of its targets failed, and none may")
            }
            StopReason::Budget { failed, allowed } => {
                write!(f, "{failed} of its targets failed, and {allowed} may")
            }
            StopReason::Mandatory(target) => write!(f, "`{target}` is mandatory, and failed"),
        }
    }
}

/// The time in which the targets of a wave prove themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soak {
    /// Since when all its targets that did not fail have been healthy.
    pub since: Timestamp,
    /// When it is over, at the earliest.
    pub until: Timestamp,
}

/// What to do now. Everything empty and not `done`: wait for what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The wave that is being worked on, from 0; none: all are over.
    pub wave: Option<usize>,
    /// Targets whose turn has come.
    pub start: Vec<TargetName>,
    /// Targets whose next step may begin, or whose pause is over.
    pub go_on: Vec<TargetName>,
    /// Targets that have done their steps, and whose health is to be looked at.
    pub look: Vec<TargetName>,
    /// Targets that failed inside the budget, and are to be taken back.
    pub undo: Vec<TargetName>,
    /// Nothing new may begin; what is under way comes to its end.
    pub stop: Option<Stop>,
    /// What waits for someone's approval.
    pub waits_for: BTreeSet<Gate>,
    /// Targets are at pauses that end by themselves; an approval ends them sooner.
    pub pauses: bool,
    /// The wave soaks.
    pub soak: Option<Soak>,
    /// When to decide again, though nothing has ended until then.
    pub again_at: Option<Timestamp>,
    /// All waves are over.
    pub done: bool,
}

/// Decides.
pub fn schedule(waves: &[Wave], approved: &BTreeSet<Gate>, now: Timestamp) -> Decision {
    // A wave before one that has begun is over: it was approved, inside its budget and soaked then,
    // and what cannot be reached of it today cannot hold up the others.
    let newest = waves.iter().rposition(Wave::has_begun);
    for (index, wave) in waves.iter().enumerate() {
        let past = newest.is_some_and(|newest| index < newest);
        let moment = Moment { wave, index, past, approved, now };
        if let Some(decision) = moment.decide() {
            return decision;
        }
    }
    Decision { done: true, ..Decision::default() }
}

impl Wave {
    /// A wave of targets whose turn has not come: all at once, none of which may fail.
    pub fn of(targets: impl IntoIterator<Item = TargetName>) -> Self {
        let pending = |name| Member { name, state: State::Pending, busy: false };
        Wave {
            targets: targets.into_iter().map(pending).collect(),
            max_concurrent: usize::MAX,
            max_failures: 0,
            mandatory: BTreeSet::new(),
            soak: Duration::ZERO,
            approval: false,
        }
    }

    fn has_begun(&self) -> bool {
        self.targets.iter().any(|t| t.state.has_begun())
    }

    /// Why it has failed, if it has.
    fn failure(&self) -> Option<StopReason> {
        let failed = || self.targets.iter().filter(|t| t.state.is_failure());
        // Few waves have any, and none need be looked up when nothing failed.
        if let Some(one) = failed().find(|t| self.mandatory.contains(&t.name)) {
            return Some(StopReason::Mandatory(one.name.clone()));
        }
        let (failed, allowed) = (failed().count(), self.max_failures);
        (failed > allowed).then_some(StopReason::Budget { failed, allowed })
    }

    /// The time between two looks at a target that soaks.
    fn between_looks(&self) -> Duration {
        (self.soak / LOOKS).clamp(SHORTEST_BETWEEN, LONGEST_BETWEEN)
    }
}

impl State {
    /// Something was done in the target.
    fn has_begun(self) -> bool {
        match self {
            State::Pending | State::Missing => false,
            State::Started
            | State::Paused { .. }
            | State::Succeeded { .. }
            | State::Failed
            | State::Lost
            | State::Closed => true,
        }
    }

    /// When it was first seen healthy after its steps.
    pub fn healthy(self) -> Option<Timestamp> {
        match self {
            State::Succeeded { healthy, .. } => healthy,
            State::Pending
            | State::Started
            | State::Paused { .. }
            | State::Failed
            | State::Lost
            | State::Missing
            | State::Closed => None,
        }
    }

    /// It counts against the budget.
    pub fn is_failure(self) -> bool {
        match self {
            State::Failed | State::Lost | State::Missing => true,
            State::Pending
            | State::Started
            | State::Paused { .. }
            | State::Succeeded { .. }
            | State::Closed => false,
        }
    }
}

impl Member {
    /// It is on its way, there or back, and holds one of the places of its wave.
    fn holds_place(&self) -> bool {
        match self.state {
            State::Started | State::Paused { .. } => true,
            State::Failed => self.busy,
            State::Pending
            | State::Succeeded { .. }
            | State::Lost
            | State::Missing
            | State::Closed => false,
        }
    }
}

/// A wave at a time.
struct Moment<'a> {
    wave: &'a Wave,
    index: usize,
    /// A later wave has begun.
    past: bool,
    approved: &'a BTreeSet<Gate>,
    now: Timestamp,
}

impl Moment<'_> {
    /// What to do for the wave; none: it is over.
    fn decide(&self) -> Option<Decision> {
        let mut decision = Decision { wave: Some(self.index), ..Decision::default() };
        if !self.past
            && let Some(reason) = self.wave.failure()
        {
            decision.stop = Some(Stop { wave: self.index, reason });
            return Some(decision);
        }
        if self.steps(&mut decision) {
            return Some(decision);
        }
        (self.soaks() && self.soak(&mut decision)).then_some(decision)
    }

    /// Brings the targets through their steps; whether any are left that have to go through some.
    fn steps(&self, decision: &mut Decision) -> bool {
        let (mut pending, mut failed, mut held) = (0, 0, 0);
        for target in &self.wave.targets {
            held += usize::from(target.holds_place());
            match target.state {
                State::Pending => pending += 1,
                _ if target.busy => {}
                State::Started => decision.go_on.push(target.name.clone()),
                State::Failed => failed += 1,
                State::Paused { step, until } => {
                    let gate = Gate { wave: self.index, step: Some(step) };
                    if self.approved.contains(&gate) || until.is_some_and(|at| at <= self.now) {
                        decision.go_on.push(target.name.clone());
                    } else if let Some(at) = until {
                        decision.pauses = true;
                        decision.again(at);
                    } else {
                        decision.waits_for.insert(gate);
                    }
                }
                State::Succeeded { healthy: None, seen } if self.soaks() => {
                    self.look(target, seen, None, decision);
                }
                State::Succeeded { .. } | State::Lost | State::Missing | State::Closed => {}
            }
        }
        // The way back comes before a new one there.
        let free = self.wave.max_concurrent.max(1).saturating_sub(held);
        decision.undo = self.first(free, |target| target.state == State::Failed && !target.busy);
        if pending > 0 {
            let gate = Gate { wave: self.index, step: None };
            let asks = self.wave.approval && !self.past && !self.wave.has_begun();
            if asks && !self.approved.contains(&gate) {
                decision.waits_for.insert(gate);
            } else {
                let free = free.saturating_sub(failed);
                decision.start = self.first(free, |target| target.state == State::Pending);
            }
        }
        pending + failed + held > 0
    }

    /// The first so many targets of a sort.
    fn first(&self, many: usize, sort: impl Fn(&Member) -> bool) -> Vec<TargetName> {
        let those = self.wave.targets.iter().filter(|target| sort(target));
        those.take(many).map(|target| target.name.clone()).collect()
    }

    fn soaks(&self) -> bool {
        !self.past && !self.wave.soak.is_zero()
    }

    /// Lets the wave soak; whether it has to go on.
    fn soak(&self, decision: &mut Decision) -> bool {
        let soaking: Vec<_> = self.wave.targets.iter().filter_map(soaking).collect();
        let first: Option<Vec<Timestamp>> =
            soaking.iter().map(|(_, healthy, _)| *healthy).collect();
        let since = first.map(|all| all.into_iter().max());
        let soak = match since {
            // One has not been seen healthy yet.
            None => None,
            // None is left.
            Some(None) => return false,
            Some(Some(since)) => {
                let until = since.checked_add(self.wave.soak).unwrap_or(Timestamp::MAX);
                Some(Soak { since, until })
            }
        };
        let until = soak.map(|s| s.until);
        let proven = |seen: Option<Seen>| {
            seen.is_some_and(|seen| seen.well && until.is_some_and(|until| seen.at >= until))
        };
        // A look that is under way may still find something.
        if soaking.iter().all(|(target, _, seen)| proven(*seen) && !target.busy) {
            return false;
        }
        decision.soak = soak;
        // Those that wait for a first sign of health are looked at already.
        for (target, healthy, seen) in soaking {
            if healthy.is_some() && !target.busy && !proven(seen) {
                self.look(target, seen, until, decision);
            }
        }
        true
    }

    /// Looks at a target when it is time: at once, again and again, and when the soak is over.
    fn look(
        &self,
        target: &Member,
        seen: Option<Seen>,
        until: Option<Timestamp>,
        decision: &mut Decision,
    ) {
        let next = seen.map(|seen| {
            let next = seen.at.checked_add(self.wave.between_looks()).unwrap_or(Timestamp::MAX);
            match until {
                Some(until) if seen.at < until => next.min(until),
                _ => next,
            }
        });
        match next {
            Some(next) if next > self.now => decision.again(next),
            _ => decision.look.push(target.name.clone()),
        }
    }
}

impl Decision {
    fn again(&mut self, at: Timestamp) {
        self.again_at = Some(self.again_at.map_or(at, |known| known.min(at)));
    }
}

/// A target that has to prove itself, with what is known of its health.
fn soaking(target: &Member) -> Option<(&Member, Option<Timestamp>, Option<Seen>)> {
    match target.state {
        State::Succeeded { healthy, seen } => Some((target, healthy, seen)),
        State::Pending
        | State::Started
        | State::Paused { .. }
        | State::Failed
        | State::Lost
        | State::Missing
        | State::Closed => None,
    }
}

#[cfg(test)]
mod tests;
