//! Ages as kubectl prints them.

use jiff::Timestamp;

/// `5s`, `5m12s`, `3h10m`, `3d`: the two greatest units where the first is small, as kubectl does.
/// A time in the future, which a clock that is off gives, is `0s`.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |n: i64, unit: char, rest: i64, small: char| match rest {
        0 => format!("{n}{unit}"),
        rest => format!("{n}{unit}{rest}{small}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, 'd', hours % 24, 'h'),
        () if days < 730 => format!("{days}d"),
        () => format!("{}y", days / 365),
    }
}

/// How long it is until `then`, in the same words.
pub fn left(now: Timestamp, then: Timestamp) -> String {
    age(then, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_kubectl_prints_them() {
        let then = Timestamp::from_second(1_000_000_000).unwrap();
        for (seconds, want) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (312, "5m12s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_400, "3h10m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
        ] {
            let now = Timestamp::from_second(1_000_000_000 + seconds).unwrap();
            assert_eq!(age(now, then), want, "{seconds}");
        }
    }
}
