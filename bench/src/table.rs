//! What was measured, as Markdown.

use std::time::Duration;

use crate::measure::Sample;

/// What mcd must reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// So many times faster than kubectl, cluster after cluster.
    Ratio(f64),
    /// No longer than this.
    Time(Duration),
}

/// The runs of one kind of work, one list for each contestant.
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) mcd: Vec<Sample>,
    pub(crate) kubectl: Vec<Sample>,
    /// Empty where it is the same as one by one.
    pub(crate) at_once: Vec<Sample>,
    pub(crate) goal: Goal,
}

/// The most memory that mcd may have (KiB).
const MEMORY: u64 = 80 * 1024;

/// The table of times and memory.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| work | mcd | kubectl, one by one | ratio | kubectl, all at once | ratio | goal | |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let mcd = Times::of(&row.mcd);
        let one = Times::of(&row.kubectl);
        let ratio = one.over(&mcd);
        let (at_once, at_once_ratio) = match row.at_once.as_slice() {
            [] => (String::new(), String::new()),
            samples => {
                let times = Times::of(samples);
                (times.to_string(), format!("{:.1}×", times.over(&mcd)))
            }
        };
        let (goal, met) = match row.goal {
            Goal::Ratio(least) => (format!("≥ {least}×"), ratio >= least),
            Goal::Time(most) => (format!("≤ {}", duration(most)), mcd.median <= most),
        };
        text += &format!(
            "| {} | {mcd} | {one} | {ratio:.1}× | {at_once} | {at_once_ratio} | {goal} | {} |\n",
            row.work,
            verdict(met)
        );
    }
    let peak = |samples: &[Sample]| samples.iter().map(|s| s.peak).max().unwrap_or_default();
    let mcd = rows.iter().map(|row| peak(&row.mcd)).max().unwrap_or_default();
    let kubectl = rows.iter().map(|row| peak(&row.kubectl)).max().unwrap_or_default();
    text += &format!(
        "| memory at its peak | {} MiB | {} MiB | | | | ≤ {} MiB | {} |\n",
        mcd / 1024,
        kubectl / 1024,
        MEMORY / 1024,
        verdict(mcd <= MEMORY)
    );
    text
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

/// The times of some runs.
struct Times {
    median: Duration,
    least: Duration,
    most: Duration,
}

impl Times {
    fn of(samples: &[Sample]) -> Times {
        let mut times: Vec<Duration> = samples.iter().map(|s| s.time).collect();
        times.sort();
        let at = |n: usize| times.get(n).copied().unwrap_or_default();
        let (middle, last) = (times.len() / 2, times.len().saturating_sub(1));
        let median = if times.len().is_multiple_of(2) {
            (at(middle) + at(middle.saturating_sub(1))) / 2
        } else {
            at(middle)
        };
        Times { median, least: at(0), most: at(last) }
    }

    /// How many times as long as `other` it takes.
    fn over(&self, other: &Times) -> f64 {
        self.median.as_secs_f64() / other.median.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (least, most) = (duration(self.least), duration(self.most));
        write!(f, "{} ({least} to {most})", duration(self.median))
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.1 => format!("{:.1} ms", seconds * 1000.0),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(millis: &[u64]) -> Vec<Sample> {
        millis.iter().map(|n| Sample { time: Duration::from_millis(*n), peak: 2048 }).collect()
    }

    #[test]
    fn medians_ratios_and_verdicts() {
        let row = |goal| Row {
            work: "w".to_owned(),
            mcd: samples(&[300, 100, 200]),
            kubectl: samples(&[1000, 3000]),
            at_once: Vec::new(),
            goal,
        };
        let rows = [
            row(Goal::Ratio(10.0)),
            row(Goal::Ratio(10.1)),
            row(Goal::Time(Duration::from_millis(10))),
        ];
        let text = table(&rows);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let both = "| w | 0.20 s (0.10 s to 0.30 s) | 2.00 s (1.00 s to 3.00 s) | 10.0× |  |  |";
        assert_eq!(
            lines,
            [
                format!("{both} ≥ 10× | met |"),
                format!("{both} ≥ 10.1× | **missed** |"),
                format!("{both} ≤ 10.0 ms | **missed** |"),
                "| memory at its peak | 2 MiB | 2 MiB | | | | ≤ 80 MiB | met |".to_owned(),
            ]
        );
    }
}
