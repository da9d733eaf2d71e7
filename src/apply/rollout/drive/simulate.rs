//! Whole rollouts over a fleet that misbehaves: random failures, delays, clocks that are apart,
//! clusters that go away, drivers that die at any moment and others that go on from the records.
//! The time is virtual, so that hours of soak take milliseconds.

mod fleet;
mod random;

use std::collections::BTreeMap;
use std::time::Duration;

use fleet::{Simulation, Tally};
use random::Random;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::event::Events;

/// How many runs, and of how many targets.
const RUNS: [(u64, usize); 3] = [(200, 12), (20, 80), (2, 1000)];

/// The most times that a rollout is gone on with.
const ROUNDS: usize = 60;

#[tokio::test(start_paused = true)]
async fn rollouts_keep_their_rules_whatever_happens() {
    let mut tally = Tally::default();
    for (runs, targets) in RUNS {
        for seed in 0..runs {
            let simulation = Simulation::new(seed, targets);
            until_it_is_over(&simulation, seed).await;
            simulation.check_the_end(seed);
            tally.add(&simulation);
        }
    }
    println!("{tally}");
    tally.assert_that_all_happened();
}

/// Drives, dies, goes on, approves, retries, takes back, until no record is open.
async fn until_it_is_over(simulation: &Simulation, seed: u64) {
    let mut random = Random::new(seed ^ 0x5eed);
    for round in 0..ROUNDS {
        let halt = CancellationToken::new();
        // Later rounds are left alone, so that each rollout ends.
        let calm = round > 20;
        let retry_failed = simulation.was_stopped() && (calm || random.one_in(2));
        simulation.run_begins(halt.clone(), retry_failed);
        let how = How {
            cap: random.one_in(4).then(|| 1 + random.below(20)),
            wait_approval: random.one_in(3).then_some(Duration::from_secs(30)),
            retry_failed,
            halt: halt.clone(),
            events: Events::channel().0,
        };
        let known = simulation.known();
        let goes_back = simulation.was_stopped() && !retry_failed || simulation.is_going_back();
        let work = async {
            match goes_back {
                true => abort(simulation, &simulation.header, known, &how).await,
                false => drive(simulation, &simulation.header, known, &how).await,
            }
        };
        let life = Duration::from_millis(random.below(400_000) as u64);
        let outcome = match random.below(if calm { 1 } else { 4 }) {
            // The process is killed.
            1 => tokio::select! {
                outcome = work => Some(outcome),
                () = tokio::time::sleep(life) => None,
            },
            // It is told to stop.
            2 => {
                let signal = async {
                    tokio::time::sleep(life).await;
                    halt.cancel();
                };
                Some(tokio::join!(work, signal).0)
            }
            _ => Some(work.await),
        };
        simulation.run_ended(outcome.as_ref(), goes_back, seed);
        if simulation.is_over() {
            return;
        }
        // Someone comes by later.
        tokio::time::sleep(Duration::from_secs(random.below(600) as u64)).await;
    }
    panic!("seed {seed}: not over after {ROUNDS} rounds: {simulation:?}");
}

/// The whole of a rollout of a thousand targets in which nothing goes wrong: how much is asked.
#[tokio::test(start_paused = true)]
async fn a_thousand_quiet_targets() {
    let simulation = Simulation::quiet(1000);
    let halt = CancellationToken::new();
    simulation.run_begins(halt.clone(), false);
    let how = How {
        cap: None,
        wait_approval: None,
        retry_failed: false,
        halt,
        events: Events::channel().0,
    };
    let outcome = drive(&simulation, &simulation.header, simulation.known(), &how).await;
    assert_eq!((outcome.exit(false), outcome.done, outcome.halted), (Exit::Ok, true, false));
    let ends: BTreeMap<End, usize> =
        outcome.targets.values().fold(BTreeMap::new(), |mut all, t| {
            *all.entry(t.end).or_default() += 1;
            all
        });
    assert_eq!(ends, BTreeMap::from([(End::Succeeded, 1000)]));
    simulation.check_the_end(0);
}
