//! Durations as people write and read them. Pure.

use std::time::Duration;

/// Longer than any wait that ends, and short enough to be added to any time.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Reads a duration as Go writes it: `90s`, `5m`, `1h30m`. It must be positive: a deadline of
/// nothing would fail every wait, and none at all is no deadline.
///
/// # Errors
/// What was expected, as a fragment.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a positive duration such as 90s, 5m or 1h30m".to_owned();
    let parsed: jiff::SignedDuration = text.trim().parse().map_err(|_| wrong())?;
    let duration = Duration::try_from(parsed).ok().filter(|d| !d.is_zero());
    duration.map(|d| d.min(LONGEST)).ok_or_else(wrong)
}

/// Writes a duration as Go does, without units of nothing: `90s` is `1m30s`, an hour is `1h`.
/// What is below a second shows only where there is nothing else.
pub fn text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return match duration.as_millis() {
            0 => "0s".to_owned(),
            millis => format!("{millis}ms"),
        };
    }
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_as_go_writes_them() {
        for (text, seconds) in
            [("90s", 90.0), ("5m", 300.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("500ms", 0.5)]
        {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "0s", "-5m", "5", "m", "5 parsecs", "1h-30m"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn written_short() {
        for (millis, want) in [
            (0, "0s"),
            (500, "500ms"),
            (90_000, "1m30s"),
            (300_000, "5m"),
            (3_600_000, "1h"),
            (5_400_000, "1h30m"),
            (90_061_000, "25h1m1s"),
        ] {
            assert_eq!(text(Duration::from_millis(millis)), want);
        }
    }
}
