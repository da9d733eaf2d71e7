//! How long a decision across 1,000 targets takes: a whole rollout in ten waves, in memory, with a failure in each wave and
//! a soak after it. Prints the nanoseconds of each decision, one a line.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use mcd::config::TargetName;
use mcd::rollout::{Decision, Member, Seen, State, Wave, schedule};

const WAVES: usize = 10;
const TARGETS: usize = 100;

fn main() -> std::io::Result<()> {
    let mut waves: Vec<Wave> = (0..WAVES).map(wave).collect();
    let mut now = Timestamp::UNIX_EPOCH;
    let mut out = std::io::stdout().lock();
    loop {
        let start = Instant::now();
        let decision = schedule(&waves, &BTreeSet::new(), now);
        writeln!(out, "{}", start.elapsed().as_nanos())?;
        if decision.done || decision.stop.is_some() {
            return out.flush();
        }
        now += SignedDuration::from_secs(1);
        go_on(&mut waves, &decision, now);
    }
}

fn wave(index: usize) -> Wave {
    let targets = (0..TARGETS).map(|n| TargetName::new(format!("cluster-{index}-{n:03}")));
    Wave {
        max_concurrent: TARGETS / 4,
        max_failures: 1,
        soak: Duration::from_secs(10),
        ..Wave::of(targets)
    }
}

/// Does what was decided, and ends what was under way: of each wave one target fails.
fn go_on(waves: &mut [Wave], decision: &Decision, now: Timestamp) {
    let Some(wave) = decision.wave.and_then(|index| waves.get_mut(index)) else { return };
    let acts = |target: &Member| {
        let lists = [&decision.start, &decision.go_on, &decision.look, &decision.undo];
        lists.iter().any(|list| list.contains(&target.name))
    };
    let fails = wave.targets.first().map(|target| target.name.clone());
    for target in &mut wave.targets {
        let failed = Some(&target.name) == fails.as_ref();
        let ends = std::mem::take(&mut target.busy);
        target.state = match target.state {
            State::Started if ends && failed => State::Failed,
            State::Started if ends => State::Succeeded { healthy: None, seen: None },
            State::Succeeded { healthy, .. } if ends => State::Succeeded {
                healthy: Some(healthy.unwrap_or(now)),
                seen: Some(Seen { at: now, well: true }),
            },
            State::Failed if ends => State::Lost,
            state => state,
        };
        if acts(target) {
            target.busy = true;
            if target.state == State::Pending {
                target.state = State::Started;
            }
        }
    }
}
