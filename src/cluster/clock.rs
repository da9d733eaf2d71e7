//! The server's clock, learned from the `Date` of its answers (A8.3). Pure: times are passed in.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// What is known of a server's clock relative to a local monotonic one.
///
/// `Date` has whole seconds, so each answer says only that the server's clock minus ours lies in a
/// window of a second and the call's length; windows of several answers are intersected. One that
/// does not fit (a clock was set, the machine slept) starts anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServerClock {
    /// The server's time at our monotonic zero: the earliest and the latest that it can be.
    window: Option<(Timestamp, Timestamp)>,
}

impl ServerClock {
    /// Takes an answer's `Date`. `sent` and `received` are on our monotonic clock.
    pub(super) fn observe(&mut self, date: Timestamp, sent: Duration, received: Duration) {
        let zero = |at: Timestamp, elapsed: Duration| {
            SignedDuration::try_from(elapsed).ok().and_then(|e| at.checked_sub(e).ok())
        };
        let next = date.checked_add(SignedDuration::from_secs(1)).unwrap_or(date);
        let (Some(low), Some(high)) = (zero(date, received), zero(next, sent)) else { return };
        self.window = match self.window {
            Some((l, h)) if low.max(l) <= high.min(h) => Some((low.max(l), high.min(h))),
            _ => Some((low, high)),
        };
    }

    /// The server's time; none: it never told.
    pub(super) fn at(&self, elapsed: Duration) -> Option<Timestamp> {
        let (low, high) = self.window?;
        let middle = low.checked_add(low.duration_until(high) / 2).ok()?;
        middle.checked_add(SignedDuration::try_from(elapsed).ok()?).ok()
    }
}

/// Reads an HTTP date, such as `Mon, 30 Nov 2026 13:13:58 GMT`.
pub(super) fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text.trim()).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn answers_narrow_the_window_and_a_jump_starts_anew() {
        let date = http_date("Mon, 30 Nov 2026 13:13:58 GMT").unwrap();
        let mut clock = ServerClock::default();
        assert_eq!(clock.at(millis(0)), None);
        // The server's real time is 58.9 at zero: an answer at 0 s shows 58, one at 0.2 s shows 59.
        clock.observe(date, millis(0), millis(0));
        clock.observe(date + millis(1000), millis(200), millis(200));
        let known = clock.at(millis(0)).unwrap();
        assert_eq!(known, date + millis(900));
        assert_eq!(clock.at(millis(5000)).unwrap(), date + millis(5900));
        let later = date + Duration::from_secs(3600);
        clock.observe(later, millis(300), millis(300));
        let off = clock.at(millis(300)).unwrap().duration_since(later);
        assert!(off.abs() <= SignedDuration::from_secs(1), "{off}");
    }

    #[test]
    fn odd_dates_are_no_dates() {
        for text in ["", "yesterday", "Mon, 99 Nov 2026 13:13:58 GMT", "\u{0}"] {
            assert_eq!(http_date(text), None);
        }
        let mut clock = ServerClock::default();
        clock.observe(Timestamp::MIN, millis(10), millis(20));
        clock.observe(Timestamp::MAX, millis(10), millis(20));
        let _ = clock.at(Duration::MAX);
    }
}
