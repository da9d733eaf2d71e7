//! Why nobody may write to a target: a rollout is open in it, or it is frozen (design §7: the record
//! blocks, not the lease). Pure.

use jiff::Timestamp;

use crate::cluster::state::{Freeze, OpenRollout, Record, Stand};
use crate::config::TargetName;
use crate::error::{Error, Exit};

/// Why nobody may write to the target of a record now (exit 6); none: everybody may. Looked at
/// when a target is planned, and again under its lock.
pub fn blocked(record: &Record, now: Timestamp) -> Option<Error> {
    match (&record.rollout, frozen(record, now)) {
        (None, frozen) => frozen,
        (Some(open), frozen) => {
            let header = &open.header;
            let at = standing(open, &record.target);
            let what = match &open.abort {
                None => "resume or abort".to_owned(),
                Some(abort) => format!("it is taken back, aborted by {}", abort.who),
            };
            let error = Error::new(Exit::Blocked, format!("rollout {}, {at}: {what}", header.id))
                .because(format!("opened by {}, {}", header.who, minute(header.opened)));
            let error = match frozen {
                Some(frozen) => error.because(format!("{frozen:#}")),
                None => error,
            };
            Some(error.hint(match &open.abort {
                None => {
                    "`mcd rollout status` shows it, `mcd rollout resume` goes on, \
                     `mcd rollout abort` takes it back"
                }
                Some(_) => "`mcd rollout status` shows it, `mcd rollout abort` takes the rest back",
            }))
        }
    }
}

/// That a target is frozen at that time (exit 6). It keeps steps of an open rollout from writing
/// too.
pub fn frozen(record: &Record, now: Timestamp) -> Option<Error> {
    let freeze =
        record.freeze.as_ref().filter(|freeze| freeze.until.is_none_or(|end| now < end))?;
    let Freeze { who, reason, at, until } = freeze;
    let until = until.map(|end| format!(" until {}", minute(end))).unwrap_or_default();
    let since = minute(*at);
    Some(
        Error::new(Exit::Blocked, format!("frozen{until}"))
            .because(format!("by {who} on {since}: {reason}"))
            .hint("`mcd freeze --off` lifts it"),
    )
}

/// Where a target stands in its rollout, for a person: `wave 2 of 3, step 3/6, paused`.
pub fn standing(open: &OpenRollout, target: &TargetName) -> String {
    format!("{}, {}", open.place_of(target), word(open.progress.stand))
}

/// The word for where a target stands.
fn word(stand: Stand) -> &'static str {
    match stand {
        Stand::Pending => "pending",
        Stand::Running => "running or interrupted",
        Stand::Paused => "paused",
        Stand::Succeeded => "done",
        Stand::Failed => "failed",
        Stand::Undoing => "going back",
        Stand::Undone => "back at what was before",
    }
}

/// A time to the minute, in UTC.
fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests;
