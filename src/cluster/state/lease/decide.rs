//! Who may take a lease, and when. Pure: what was observed goes in, the decision comes out.

use std::time::Duration;

use jiff::Timestamp;

use super::process::Liveness;
use super::view::LeaseView;

/// After how many durations without renewal, in server time, a lease is taken without watching.
const ABANDONED: i32 = 10;

/// What was seen of a lease that may be someone's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Whether its holder's process lives.
    pub process: Liveness,
    /// For how long, on our own clock, its resourceVersion was seen to stay the same.
    pub still_for: Duration,
    /// Whether its resourceVersion changed since we looked first, with the same holder.
    pub renewed: bool,
}

/// What to do about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take it.
    Take(Takeover),
    /// Watch it, for at most that long, to see whether its holder lives.
    Watch(Duration),
    /// Its holder lives.
    Held,
}

/// Why a lease may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Nobody holds it.
    Free,
    /// We hold it: an earlier write of ours arrived although its answer did not.
    Ours,
    /// The holder's process, on this machine, ended.
    HolderEnded,
    /// It was not renewed for ten durations of server time.
    Abandoned,
    /// It stood still for its duration, as we observed.
    StoodStill,
}

/// Whether `me` may take the lease (design §7, A8.3). The holder's times are trusted only when
/// they are very old, because they come from the holder's idea of server time: otherwise the lease
/// has to stand still before our eyes for its duration.
pub fn decide(lease: &LeaseView, me: &str, observed: Observed, now: Timestamp) -> Decision {
    match lease.holder.as_deref() {
        None => return Decision::Take(Takeover::Free),
        Some(holder) if holder == me => return Decision::Take(Takeover::Ours),
        Some(_) => {}
    }
    if observed.process == Liveness::Dead {
        return Decision::Take(Takeover::HolderEnded);
    }
    let silent = lease.renewed.map(|renewed| silence(renewed, now));
    if silent.is_some_and(|silent| silent >= lease.duration * ABANDONED.unsigned_abs()) {
        return Decision::Take(Takeover::Abandoned);
    }
    if observed.still_for >= lease.duration {
        return Decision::Take(Takeover::StoodStill);
    }
    if observed.renewed || observed.process == Liveness::Alive {
        return Decision::Held;
    }
    Decision::Watch(lease.duration.saturating_sub(observed.still_for))
}

/// Whether `mcd unlock` may free a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlock {
    /// Nobody holds it.
    Free,
    /// Its holder ended, or did not renew it for its duration.
    Stale,
    /// Its holder lives: its process was found.
    Alive,
    /// Its holder may live: it was renewed within its duration. After this long it need not.
    Recent(Duration),
}

/// Whether the lease may be freed by hand. It looks once, so it goes by server time.
pub fn may_unlock(lease: &LeaseView, process: Liveness, now: Timestamp) -> Unlock {
    if lease.holder.is_none() {
        return Unlock::Free;
    }
    match process {
        Liveness::Dead => Unlock::Stale,
        Liveness::Alive => Unlock::Alive,
        Liveness::Unknown => {
            // A time far ahead is nobody's server time.
            let Some(renewed) = lease.renewed else { return Unlock::Stale };
            let silent = silence(renewed, now).max(silence(now, renewed));
            match lease.duration.checked_sub(silent) {
                Some(left) if !left.is_zero() => Unlock::Recent(left),
                Some(_) | None => Unlock::Stale,
            }
        }
    }
}

/// The time from `then` to `now`; zero when `then` is ahead.
fn silence(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Decision::{Held, Take, Watch};

    const NOW: i64 = 1_800_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    /// A lease of 60 s, renewed so many seconds ago.
    fn lease(holder: Option<&str>, renewed: Option<i64>) -> LeaseView {
        LeaseView {
            resource_version: "7".into(),
            uid: None,
            holder: holder.map(str::to_owned),
            process: None,
            duration: Duration::from_secs(60),
            acquired: None,
            renewed: renewed.map(|ago| at(NOW - ago)),
            transitions: 0,
        }
    }

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn the_rules_of_taking() {
        use Liveness::{Alive, Dead, Unknown};
        let bob = Some("bob");
        // holder, renewed ago, process, still for, renewed before our eyes → decision
        let table = [
            (None, Some(0), Unknown, 0, false, Take(Takeover::Free)),
            (Some("me"), Some(0), Alive, 0, false, Take(Takeover::Ours)),
            (bob, Some(1), Unknown, 0, false, Watch(seconds(60))),
            (bob, Some(1), Unknown, 45, false, Watch(seconds(15))),
            (bob, Some(1), Unknown, 60, false, Take(Takeover::StoodStill)),
            (bob, Some(1), Unknown, 3, true, Held),
            (bob, Some(1), Dead, 0, false, Take(Takeover::HolderEnded)),
            (bob, Some(1), Alive, 0, false, Held),
            // Silent for longer than its duration: clocks may differ, so it is watched.
            (bob, Some(90), Unknown, 0, false, Watch(seconds(60))),
            (bob, Some(599), Unknown, 0, false, Watch(seconds(60))),
            (bob, Some(600), Unknown, 0, false, Take(Takeover::Abandoned)),
            (bob, Some(600), Alive, 0, false, Take(Takeover::Abandoned)),
            // A time ahead of the server's, or none, says nothing.
            (bob, Some(-7200), Unknown, 0, false, Watch(seconds(60))),
            (bob, Some(-7200), Unknown, 61, false, Take(Takeover::StoodStill)),
            (bob, None, Unknown, 0, false, Watch(seconds(60))),
            (bob, None, Unknown, 60, false, Take(Takeover::StoodStill)),
            // A stopped process still is one, until its lease stood still.
            (bob, Some(70), Alive, 30, false, Held),
            (bob, Some(70), Alive, 60, false, Take(Takeover::StoodStill)),
        ];
        for (holder, ago, process, still, renewed, expected) in table {
            let observed = Observed { process, still_for: seconds(still), renewed };
            let decision = decide(&lease(holder, ago), "me", observed, at(NOW));
            assert_eq!(decision, expected, "{holder:?} {ago:?} {observed:?}");
        }
    }

    #[test]
    fn the_rules_of_unlocking() {
        use Liveness::{Alive, Dead, Unknown};
        let bob = Some("bob");
        let table = [
            (None, Some(0), Unknown, Unlock::Free),
            (bob, Some(1), Dead, Unlock::Stale),
            (bob, Some(1000), Alive, Unlock::Alive),
            (bob, Some(20), Unknown, Unlock::Recent(seconds(40))),
            (bob, Some(60), Unknown, Unlock::Stale),
            (bob, Some(-5), Unknown, Unlock::Recent(seconds(55))),
            (bob, Some(-7200), Unknown, Unlock::Stale),
            (bob, None, Unknown, Unlock::Stale),
        ];
        for (holder, ago, process, expected) in table {
            assert_eq!(may_unlock(&lease(holder, ago), process, at(NOW)), expected, "{ago:?}");
        }
    }

    proptest! {
        #[test]
        fn a_lease_that_is_renewed_is_never_taken(ago in 0i64..60, still in 0u64..60, renewed: bool, alive: bool) {
            let process = if alive { Liveness::Alive } else { Liveness::Unknown };
            let observed = Observed { process, still_for: seconds(still), renewed };
            let decision = decide(&lease(Some("bob"), Some(ago)), "me", observed, at(NOW));
            prop_assert!(!matches!(decision, Take(_)));
        }
    }
}
