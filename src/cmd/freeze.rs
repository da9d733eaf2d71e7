//! `mcd freeze`: keeps everyone from writing to the targets.

use clap::Args;
use jiff::Timestamp;

use super::Outcome;
use super::args::{ClusterArgs, ProjectArgs, duration};
use super::session::Session;
use crate::apply::freeze;
use crate::cluster::state::{Freeze, who};
use crate::error::{Error, Exit};
use crate::ui::Ui;

/// Arguments of `mcd freeze`.
#[derive(Args, Debug)]
pub(super) struct FreezeArgs {
    /// Why; whoever is kept from writing reads it
    #[arg(long, value_name = "TEXT", required_unless_present = "off", value_parser = reason)]
    reason: Option<String>,
    /// Until when: a duration from now (`90m`, `12h`), or a time (`2026-12-24T18:00:00Z`); default:
    /// until it is lifted
    #[arg(long, value_name = "WHEN", value_parser = until)]
    until: Option<Until>,
    /// Lift it
    #[arg(long, conflicts_with_all = ["reason", "until"])]
    off: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    clusters: ClusterArgs,
}

/// The end of a freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// So long after its beginning.
    After(jiff::SignedDuration),
    /// Then.
    At(Timestamp),
}

/// A word to the others must be one line that says something.
fn reason(text: &str) -> Result<String, String> {
    let text: String = text.trim().chars().filter(|c| !c.is_control()).take(200).collect();
    if text.is_empty() { Err("expected a reason".to_owned()) } else { Ok(text) }
}

fn until(text: &str) -> Result<Until, String> {
    if let Ok(time) = text.trim().parse::<Timestamp>() {
        return Ok(Until::At(time));
    }
    let time: Result<jiff::Zoned, _> = text
        .trim()
        .parse::<jiff::civil::DateTime>()
        .and_then(|time| time.to_zoned(jiff::tz::TimeZone::system()));
    if let Ok(time) = time {
        return Ok(Until::At(time.timestamp()));
    }
    let wrong = "expected a duration such as 12h, or a time such as 2026-12-24T18:00:00Z";
    let after = duration(text).map_err(|_| wrong.to_owned())?;
    after.try_into().map(Until::After).map_err(|_| wrong.to_owned())
}

/// Runs the verb. It does not ask: it changes nothing but what others may do.
pub(crate) async fn run(args: &FreezeArgs, ui: &Ui) -> Outcome {
    if let Some(Until::At(end)) = args.until
        && end <= Timestamp::now()
    {
        return Err(Error::config(format!("`--until` is over already: {end}")));
    }
    let session = Session::open(&args.project, &args.clusters, None, ui)?;
    session.check_contexts()?;
    let results = session
        .each(|target| async {
            let target = target;
            let job = session.job(&target).await?;
            let now = job.cluster.now();
            let wanted = args.reason.as_ref().map(|reason| Freeze {
                who: who::current_user(),
                reason: reason.clone(),
                at: now,
                until: match args.until {
                    Some(Until::At(end)) => Some(end),
                    Some(Until::After(span)) => now.checked_add(span).ok(),
                    None => None,
                },
            });
            let before =
                freeze(&job, wanted.clone()).await.map_err(|e| e.in_target(&target.name))?;
            // One whose time was over was none any more.
            let before = before.filter(|freeze| freeze.until.is_none_or(|end| end > now));
            Ok::<_, Error>((before, wanted))
        })
        .await;
    session.settle().await;
    let mut exit = session.interrupted().unwrap_or(Exit::Ok);
    for (target, result) in results {
        match result {
            Ok((before, wanted)) => {
                ui.data(&format!("{}: {}\n", target.name, told(before.as_ref(), wanted.as_ref())))?;
            }
            Err(error) => {
                exit = exit.and(error.exit());
                ui.error(&error);
            }
        }
    }
    Ok(exit)
}

/// What happened in a target.
fn told(before: Option<&Freeze>, wanted: Option<&Freeze>) -> String {
    match (before, wanted) {
        (_, Some(freeze)) => match freeze.until {
            Some(end) => format!("frozen until {}", end.strftime("%Y-%m-%d %H:%M:%SZ")),
            None => "frozen until `mcd freeze --off`".to_owned(),
        },
        (Some(was), None) => format!("no longer frozen; was by {}: {}", was.who, was.reason),
        (None, None) => "was not frozen".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_durations_or_times() {
        assert_eq!(until("90m"), Ok(Until::After(jiff::SignedDuration::from_mins(90))));
        let end: Timestamp = "2026-12-24T18:00:00Z".parse().unwrap();
        assert_eq!(until("2026-12-24T18:00:00Z"), Ok(Until::At(end)));
        assert_eq!(until("2026-12-24T19:00:00+01:00"), Ok(Until::At(end)));
        assert!(matches!(until("2026-12-24T18:00"), Ok(Until::At(_))));
        for text in ["", "soon", "-5m", "0s", "2026-13-01T00:00:00Z"] {
            assert!(until(text).is_err(), "{text}");
        }
        assert_eq!(reason(" release\nnight "), Ok("releasenight".to_owned()));
        assert!(reason(" ").is_err());
    }
}
