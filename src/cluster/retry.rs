//! When a call is made again, and how long after: pure, so that it is a table in the tests.

use std::time::Duration;

/// How often and how long transient failures are retried.
///
/// A call is made again on 429 (at the server's `Retry-After`), 502, 503, 504, connection errors
/// and 500 "failed calling webhook" (design §6); see `Sent` for what a write allows.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in all, at least 1.
    pub attempts: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub base: Duration,
    /// The longest wait, unless the server asks for more.
    pub max: Duration,
    /// Spreads waits between half and the whole of their length, so that many clients do not come
    /// back together.
    pub jitter: bool,
    /// No attempt starts later than this after the first one; a `Retry-After` beyond it fails the
    /// call at once.
    pub deadline: Duration,
    /// The same for failures to connect: a cluster that is down should not hold up the others.
    pub connect_deadline: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            attempts: 4,
            base: Duration::from_millis(200),
            max: Duration::from_secs(5),
            jitter: true,
            deadline: Duration::from_secs(30),
            connect_deadline: Duration::from_secs(4),
        }
    }
}

impl RetryPolicy {
    /// One attempt, no retry.
    pub fn none() -> Self {
        RetryPolicy { attempts: 1, ..RetryPolicy::default() }
    }

    /// How long to wait after attempt number `attempt` (from 1) failed, `elapsed` after the first
    /// one began; none: give up. `random` is uniform in 0..1.
    pub(super) fn wait(
        &self,
        attempt: u32,
        elapsed: Duration,
        failure: &Failure,
        random: f64,
    ) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let doubled = self.base.saturating_mul(1 << (attempt.saturating_sub(1)).min(16));
        let mut wait = doubled.min(self.max);
        if self.jitter {
            wait = wait.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0);
        }
        let wait = failure.retry_after.map_or(wait, |asked| asked.max(wait));
        let deadline = match failure.sent {
            Sent::No => self.connect_deadline.min(self.deadline),
            Sent::Rejected | Sent::Maybe => self.deadline,
        };
        (elapsed.saturating_add(wait) <= deadline).then_some(wait)
    }
}

/// A failure that may pass.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    /// What the server knows of the request.
    pub(super) sent: Sent,
    /// The server's `Retry-After`.
    pub(super) retry_after: Option<Duration>,
    /// In a few words, such as `connection refused` or `503 Service Unavailable`.
    pub(super) why: String,
}

/// Whether a request that failed may have had its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// No connection came about: it did not reach the server.
    No,
    /// The server said that it did not act (429, 503, a webhook that could not be called).
    Rejected,
    /// The connection broke after the request, or a gateway gave up (502, 504): it may have acted.
    Maybe,
}

/// What may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// The second time changes nothing: reads, applies, dry runs, deletes by uid.
    Safe,
    /// Only when the first one cannot have had its effect: creates, and writes that a stale
    /// resourceVersion would make look like someone else's.
    Unsent,
}

impl Repeat {
    /// Whether a call of this kind may be made again after `sent`.
    pub(super) fn allows(self, sent: Sent) -> bool {
        match (self, sent) {
            (Repeat::Safe, _) | (Repeat::Unsent, Sent::No | Sent::Rejected) => true,
            (Repeat::Unsent, Sent::Maybe) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(sent: Sent, retry_after: Option<u64>) -> Failure {
        Failure { sent, retry_after: retry_after.map(Duration::from_secs), why: String::new() }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end() {
        let policy = RetryPolicy { attempts: 8, jitter: false, ..RetryPolicy::default() };
        let transient = failure(Sent::Rejected, None);
        let waits: Vec<_> = (1..=8)
            .map(|attempt| policy.wait(attempt, Duration::ZERO, &transient, 0.0))
            .map(|wait| wait.map(|wait| wait.as_millis()))
            .collect();
        let expected = [200, 400, 800, 1600, 3200, 5000, 5000].map(Some);
        assert_eq!(waits[..7], expected);
        assert_eq!(waits[7], None);
    }

    #[test]
    fn jitter_stays_between_half_and_whole() {
        let policy = RetryPolicy::default();
        let transient = failure(Sent::Rejected, None);
        for (random, millis) in [(0.0, 100), (0.5, 150), (1.0, 200), (7.0, 200)] {
            let wait = policy.wait(1, Duration::ZERO, &transient, random).unwrap();
            assert_eq!(wait.as_millis(), millis);
        }
    }

    #[test]
    fn the_server_may_ask_for_more_but_not_beyond_the_deadline() {
        let policy = RetryPolicy { jitter: false, ..RetryPolicy::default() };
        let second = Duration::from_secs(1);
        let asked = |n, elapsed| policy.wait(1, elapsed, &failure(Sent::Rejected, Some(n)), 0.0);
        assert_eq!(asked(10, Duration::ZERO), Some(10 * second));
        assert_eq!(asked(0, Duration::ZERO), Some(policy.base));
        assert_eq!(asked(31, Duration::ZERO), None);
        assert_eq!(asked(10, 21 * second), None);
    }

    #[test]
    fn a_cluster_that_is_down_is_given_up_soon() {
        let policy = RetryPolicy { jitter: false, ..RetryPolicy::default() };
        let down = failure(Sent::No, None);
        assert!(policy.wait(1, Duration::ZERO, &down, 0.0).is_some());
        assert_eq!(policy.wait(1, Duration::from_secs(5), &down, 0.0), None);
        assert_eq!(RetryPolicy::none().wait(1, Duration::ZERO, &down, 0.0), None);
    }

    #[test]
    fn a_create_is_made_again_only_when_it_cannot_have_happened() {
        assert!(Repeat::Unsent.allows(Sent::No) && Repeat::Unsent.allows(Sent::Rejected));
        assert!(!Repeat::Unsent.allows(Sent::Maybe));
        assert!(Repeat::Safe.allows(Sent::Maybe));
    }
}
