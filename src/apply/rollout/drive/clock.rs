//! When: the one clock of the driver, and how often it asks for approvals.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// How often records are asked for approvals while something waits for one.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(5);

/// One clock for all targets. What the records keep is in the time of each target's server, and
/// servers differ; what counts is how long ago it was there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    epoch: Timestamp,
    started: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Clock { epoch: Timestamp::now(), started: Instant::now() }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.at(self.started.elapsed())
    }

    fn at(&self, elapsed: Duration) -> Timestamp {
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        self.epoch.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// A time of a server on this clock; `now` is the server's.
    pub(super) fn local(&self, now: Timestamp, at: Timestamp) -> Timestamp {
        let ago = now.duration_since(at);
        self.now().checked_sub(ago).unwrap_or(Timestamp::MIN)
    }

    /// A time of this clock in the time of a server; `now` is the server's.
    pub(super) fn theirs(&self, now: Timestamp, at: Timestamp) -> Timestamp {
        let ago = self.now().duration_since(at);
        now.checked_sub(ago).unwrap_or(Timestamp::MIN)
    }

    /// When a time of this clock comes.
    pub(super) fn instant(&self, at: Timestamp) -> Instant {
        let wait = Duration::try_from(at.duration_since(self.now())).unwrap_or(Duration::ZERO);
        // No timer takes centuries.
        Instant::now() + wait.min(Duration::from_secs(365 * 24 * 3600))
    }
}

/// Sleeps until then; for ever without a time.
pub(super) async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

/// Asks for approvals: again and again while something waits for one, and once more before the
/// driver gives up.
#[derive(Debug, Default)]
pub(super) struct Doorbell {
    /// When the last answer came.
    answered: Option<Instant>,
    /// Nothing was under way when the last answer came, and nothing has moved since.
    fresh: bool,
    /// When the driver gives up.
    deadline: Option<Instant>,
}

impl Doorbell {
    /// Something has moved: what was answered is old.
    pub(super) fn moved(&mut self) {
        self.fresh = false;
        self.deadline = None;
    }

    /// An answer came.
    pub(super) fn answered(&mut self, idle: bool) {
        self.answered = Some(Instant::now());
        self.fresh = idle;
    }

    /// Whether any answer came.
    pub(super) fn was_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// Whether it is time to ask.
    pub(super) fn is_to_ring(&self, idle: bool) -> bool {
        let due = |at: Instant| at + BETWEEN_QUESTIONS <= Instant::now();
        (idle && !self.fresh) || self.answered.is_none_or(due)
    }

    /// When it is time to ask again, or to give up.
    pub(super) fn next(&self) -> Instant {
        let next = self.answered.map_or_else(Instant::now, |at| at + BETWEEN_QUESTIONS);
        self.deadline.map_or(next, |deadline| deadline.min(next))
    }

    /// Whether the driver has waited long enough, when nothing else can move.
    pub(super) fn is_in_vain(&mut self, wait: Option<Duration>) -> bool {
        if !self.fresh {
            return false;
        }
        let Some(wait) = wait else { return true };
        let now = Instant::now();
        let most = Duration::from_secs(365 * 24 * 3600);
        *self.deadline.get_or_insert(now + wait.min(most)) <= now
    }
}
