//! Runs the work of many targets: as many at once as the scheduler says, each on its own, none
//! hiding another's result.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;

use crate::config::TargetName;
use crate::rollout::{State, Wave, schedule};

/// How a target's work ended.
#[derive(Clone, Debug)]
pub enum Ended<T> {
    /// It ran, and counts as succeeded or failed.
    Ran {
        /// What came of it.
        result: T,
        /// Whether it went well.
        ok: bool,
    },
    /// It never started: a budget was exceeded, or the run was halted.
    NotStarted,
}

/// Runs `work` for the targets of a wave in the order that the scheduler decides, at most `cap` at
/// once. `halted` says that nothing new may start.
pub async fn run_wave<T, F>(
    wave: Wave,
    cap: Option<usize>,
    halted: impl Fn() -> bool,
    work: impl Fn(TargetName) -> F,
) -> BTreeMap<TargetName, Ended<T>>
where
    F: Future<Output = (T, bool)>,
{
    let max_concurrent = cap.unwrap_or(usize::MAX).min(wave.max_concurrent);
    let mut waves = [Wave { max_concurrent, ..wave }];
    let mut ended = BTreeMap::new();
    let mut running = FuturesUnordered::new();
    loop {
        if !halted() {
            // Nothing in it is about time, as nothing soaks and nothing pauses.
            let decision = schedule(&waves, &BTreeSet::new(), Timestamp::UNIX_EPOCH);
            for target in decision.start {
                set(&mut waves, &target, State::Started);
                let future = work(target.clone());
                running.push(async move { (target, future.await) });
            }
        }
        let Some((target, (result, ok))) = running.next().await else { break };
        // Nothing takes it back.
        let state = if ok { State::Closed } else { State::Lost };
        set(&mut waves, &target, state);
        ended.insert(target, Ended::Ran { result, ok });
    }
    for target in waves.iter().flat_map(|wave| &wave.targets) {
        ended.entry(target.name.clone()).or_insert(Ended::NotStarted);
    }
    ended
}

fn set(waves: &mut [Wave], name: &TargetName, state: State) {
    let mut targets = waves.iter_mut().flat_map(|wave| &mut wave.targets);
    if let Some(target) = targets.find(|target| target.name == *name) {
        target.state = state;
        target.busy = state == State::Started;
    }
}
