//! Runs the work of many targets: as many at once as the scheduler says, each on its own, none
//! hiding another's result.

use std::collections::BTreeMap;
use std::future::Future;

use futures::stream::{FuturesUnordered, StreamExt};

use crate::config::TargetName;
use crate::rollout::{Decision, Progress, Wave, schedule};

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

/// Runs `work` for the targets of the waves in the order that the scheduler decides, at most `cap`
/// at once over all. `halted` says that nothing new may start.
pub async fn run_waves<T, F>(
    waves: &[Wave],
    cap: Option<usize>,
    halted: impl Fn() -> bool,
    work: impl Fn(TargetName) -> F,
) -> BTreeMap<TargetName, Ended<T>>
where
    F: Future<Output = (T, bool)>,
{
    let mut progress: BTreeMap<TargetName, Progress> = BTreeMap::new();
    let mut ended = BTreeMap::new();
    let mut running = FuturesUnordered::new();
    loop {
        if !halted()
            && let Decision::Start(targets) = schedule(waves, &progress)
        {
            let free = cap.map_or(usize::MAX, |cap| cap.saturating_sub(running.len()));
            for target in targets.into_iter().take(free) {
                progress.insert(target.clone(), Progress::Running);
                let future = work(target.clone());
                running.push(async move { (target, future.await) });
            }
        }
        let Some((target, (result, ok))) = running.next().await else { break };
        let state = if ok { Progress::Succeeded } else { Progress::Failed };
        progress.insert(target.clone(), state);
        ended.insert(target, Ended::Ran { result, ok });
    }
    for target in waves.iter().flat_map(|wave| &wave.targets) {
        ended.entry(target.clone()).or_insert(Ended::NotStarted);
    }
    ended
}
