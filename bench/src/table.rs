//! What was measured, as Markdown.

use std::time::Duration;

use crate::measure::Sample;

/// What mcd must reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// So many times faster than what it is held against.
    Ratio(f64),
    /// At most so many times as long as what it is held against.
    Within(f64),
    /// No longer than this.
    Time(Duration),
    /// Nobody has more memory than this (KiB).
    Memory(u64),
}

/// The runs of one kind of work.
pub(crate) struct Row {
    pub(crate) work: String,
    /// Who ran, and the runs: mcd, what it is held against, and others.
    pub(crate) runs: Vec<(&'static str, Vec<Sample>)>,
    pub(crate) goal: Goal,
}

/// The most memory that mcd may have (KiB).
const MEMORY: u64 = 80 * 1024;

/// The table of times and memory.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| work | by | median | least to most | peak memory | times mcd's (of the least) | goal |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let of = |n: usize| row.runs.get(n).map(|(_, samples)| Times::of(samples));
        let (mcd, held) = (of(0), of(1));
        let goal = match (row.goal, &mcd, &held) {
            (Goal::Ratio(least), Some(mcd), Some(held)) => {
                format!("≥ {least}×: {}", verdict(held.over(mcd) >= least))
            }
            (Goal::Within(most), Some(mcd), Some(held)) => {
                format!(
                    "mcd ≤ {most}×, is {:.1}×: {}",
                    mcd.over(held),
                    verdict(mcd.over(held) <= most)
                )
            }
            (Goal::Time(most), Some(mcd), _) => {
                format!("≤ {}: {}", duration(most), verdict(mcd.median <= most))
            }
            (Goal::Memory(most), _, _) => {
                let samples = row.runs.iter().flat_map(|(_, samples)| samples);
                let peak = samples.map(|s| s.peak).max().unwrap_or_default();
                format!("memory ≤ {} MiB: {}", most / 1024, verdict(peak <= most))
            }
            (Goal::Ratio(_) | Goal::Within(_) | Goal::Time(_), _, _) => String::new(),
        };
        let carries = match row.goal {
            Goal::Ratio(_) | Goal::Within(_) => 1,
            Goal::Time(_) | Goal::Memory(_) => 0,
        };
        for (n, (who, samples)) in row.runs.iter().enumerate() {
            let times = Times::of(samples);
            let ratios = match (n, &mcd) {
                (0, _) | (_, None) => String::new(),
                // They do different work.
                _ if matches!(row.goal, Goal::Memory(_)) => String::new(),
                (_, Some(mcd)) => {
                    format!("{:.1}× ({:.1}×)", times.over(mcd), ratio(times.least, mcd.least))
                }
            };
            let peak = samples.iter().map(|s| s.peak).max().unwrap_or_default();
            let peak = match peak {
                // It ends before it can be asked.
                _ if matches!(row.goal, Goal::Time(_)) => String::new(),
                0 => String::new(),
                peak if n == 0 && peak > MEMORY && !matches!(row.goal, Goal::Memory(_)) => {
                    format!("{} MiB: {}", peak / 1024, verdict(false))
                }
                peak => format!("{} MiB", peak / 1024),
            };
            text += &format!(
                "| {} | {} | {} | {} to {} | {peak} | {ratios} | {} |\n",
                if n == 0 { row.work.as_str() } else { "" },
                who,
                duration(times.median),
                duration(times.least),
                duration(times.most),
                if n == carries { goal.as_str() } else { "" },
            );
        }
    }
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
        ratio(self.median, other.median)
    }
}

fn ratio(time: Duration, other: Duration) -> f64 {
    time.as_secs_f64() / other.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.001 => format!("{:.0} µs", seconds * 1e6),
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
            runs: vec![("mcd", samples(&[300, 100, 200])), ("kubectl", samples(&[1000, 3000]))],
            goal,
        };
        let rows = [
            row(Goal::Ratio(10.0)),
            row(Goal::Ratio(10.1)),
            row(Goal::Time(Duration::from_millis(10))),
            row(Goal::Within(0.1)),
            row(Goal::Memory(1024)),
        ];
        let text = table(&rows);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let other = "|  | kubectl | 2.00 s | 1.00 s to 3.00 s";
        assert_eq!(
            lines,
            [
                "| w | mcd | 0.20 s | 0.10 s to 0.30 s | 2 MiB |  |  |".to_owned(),
                format!("{other} | 2 MiB | 10.0× (10.0×) | ≥ 10×: met |"),
                "| w | mcd | 0.20 s | 0.10 s to 0.30 s | 2 MiB |  |  |".to_owned(),
                format!("{other} | 2 MiB | 10.0× (10.0×) | ≥ 10.1×: **missed** |"),
                "| w | mcd | 0.20 s | 0.10 s to 0.30 s |  |  | ≤ 10.0 ms: **missed** |".to_owned(),
                format!("{other} |  | 10.0× (10.0×) |  |"),
                "| w | mcd | 0.20 s | 0.10 s to 0.30 s | 2 MiB |  |  |".to_owned(),
                format!("{other} | 2 MiB | 10.0× (10.0×) | mcd ≤ 0.1×, is 0.1×: met |"),
                "| w | mcd | 0.20 s | 0.10 s to 0.30 s | 2 MiB |  | memory ≤ 1 MiB: **missed** |"
                    .to_owned(),
                format!("{other} | 2 MiB |  |  |"),
            ]
        );
    }

    #[test]
    fn too_much_memory_is_said() {
        let large = vec![Sample { time: Duration::from_secs(1), peak: MEMORY + 1024 }];
        let runs = vec![("mcd", large)];
        let text = table(&[Row { work: "w".to_owned(), runs, goal: Goal::Ratio(1.0) }]);
        assert!(text.contains("| 81 MiB: **missed** |"), "{text}");
    }
}
