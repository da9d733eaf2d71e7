//! Which releases can be gone back to, and which one a rollback takes. Pure.

use std::collections::BTreeMap;

use super::super::about::{ReleaseState, ReleaseSummary};
use super::super::record::Record;
use super::lineage::{previous, root};
use super::{MAX_BYTES, MAX_COUNT, Stored};
use crate::error::{Error, Exit};

/// How many numbers of releases are listed in an error.
const LISTED: usize = 12;

/// The releases of a target, as the record and the stored Secrets together say.
#[derive(Clone, Debug)]
pub struct Releases {
    /// By number: the summary, and whether it is stored whole.
    all: BTreeMap<u64, Known>,
    active: Option<u64>,
}

#[derive(Clone, Debug)]
struct Known {
    summary: ReleaseSummary,
    stored: Storage,
}

/// What is there of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Whole,
    /// Parts of it are missing.
    Part,
    /// Only the record knows of it.
    Gone,
}

/// What a rollback does to a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The release that is active; none: none is.
    pub from: Option<u64>,
    /// The release that is restored.
    pub to: ReleaseSummary,
    /// The active release has the very objects of `to`.
    pub is_active: bool,
}

impl Releases {
    /// Puts together what the record and the list of the stored releases say. The record has the
    /// last word on where a release stands.
    pub fn new(record: Option<&Record>, listed: &[Stored]) -> Self {
        let mut all = BTreeMap::new();
        for stored in listed {
            let Some(head) = &stored.head else { continue };
            let whole = stored.parts.len() >= head.parts.here as usize;
            let stored = if whole { Storage::Whole } else { Storage::Part };
            all.insert(head.summary.number, Known { summary: head.summary.clone(), stored });
        }
        for summary in record.into_iter().flat_map(|record| &record.releases) {
            let stored = all.get(&summary.number).map_or(Storage::Gone, |known| known.stored);
            all.insert(summary.number, Known { summary: summary.clone(), stored });
        }
        Releases { all, active: record.and_then(|record| record.active) }
    }

    /// The summary of a release that is stored whole, however it ended.
    ///
    /// # Errors
    /// It is not there (exit 3), with the numbers of those that are.
    pub fn find(&self, number: u64) -> Result<&ReleaseSummary, Error> {
        self.stored(number).map_err(|why| {
            let whole = self.all.values().filter(|known| known.stored == Storage::Whole);
            let others: Vec<u64> = whole.map(|known| known.summary.number).collect();
            Error::config(why).hint(those_that_are(&others))
        })
    }

    /// What a rollback goes back to: `to`, or without it the release before the active one. A
    /// failed or interrupted release is undone: the active one is restored. A rollback that did not
    /// end is taken up again.
    ///
    /// # Errors
    /// `to` is not there or never ran (exit 3); there is no release before, or it is gone (exit 1).
    pub fn choose(&self, to: Option<u64>) -> Result<Choice, Error> {
        let asked = to.is_some();
        let number = match to {
            Some(number) => number,
            None => self.before().ok_or_else(|| self.nothing_before())?,
        };
        let found = self.stored(number).and_then(|summary| match summary.state {
            ReleaseState::Active | ReleaseState::Superseded => Ok(summary),
            ReleaseState::Failed => {
                Err(format!("release {number} failed, and may never have been applied whole"))
            }
            ReleaseState::Staged => Err(format!("release {number} was not applied yet")),
        });
        let to = found.map_err(|why| {
            let others: Vec<u64> = self.ran().collect();
            // A number that nobody gave is no fault of the command.
            let exit = if asked { Exit::Config } else { Exit::Failed };
            Error::new(exit, why).hint(those_that_are(&others))
        })?;
        let all = self.summaries();
        let is_active = self.active.is_some_and(|active| root(&all, active) == root(&all, number))
            // What a later run may have left half-done is another matter.
            && self.newest_ran();
        Ok(Choice { from: self.active, to: to.clone(), is_active })
    }

    /// The summary of a release that is stored whole, or why there is none.
    fn stored(&self, number: u64) -> Result<&ReleaseSummary, String> {
        match self.all.get(&number) {
            Some(Known { summary, stored: Storage::Whole }) => Ok(summary),
            Some(Known { stored: Storage::Part, .. }) => {
                Err(format!("release {number} is incomplete: parts of it were deleted"))
            }
            Some(Known { stored: Storage::Gone, .. }) if self.is_within_limits(number) => {
                Err(format!("release {number} is gone: its Secret was deleted"))
            }
            _ if number == 0 => Err("releases are counted from 1".to_owned()),
            Some(Known { stored: Storage::Gone, .. }) => Err(retired(number)),
            None if self.oldest() > Some(number) => Err(retired(number)),
            None => Err(format!("there is no release {number}")),
        }
    }

    /// Whether retention would have kept the release: then it did not go by that.
    fn is_within_limits(&self, number: u64) -> bool {
        let since: Vec<u64> = self.all.range(number..).map(|(_, k)| k.summary.bytes).collect();
        since.len() <= MAX_COUNT
            && since.iter().fold(0, |a: u64, b| a.saturating_add(*b)) <= MAX_BYTES
    }

    fn summaries(&self) -> Vec<&ReleaseSummary> {
        self.all.values().map(|known| &known.summary).collect()
    }

    fn oldest(&self) -> Option<u64> {
        self.all.values().find(|k| k.stored != Storage::Gone).map(|known| known.summary.number)
    }

    /// The newest release that was not taken back.
    fn newest(&self) -> Option<&ReleaseSummary> {
        self.all.values().map(|known| &known.summary).rfind(|summary| !summary.undone)
    }

    /// Whether the newest release is the one that the target runs.
    fn newest_ran(&self) -> bool {
        self.newest().map(|newest| newest.number) == self.active
    }

    fn before(&self) -> Option<u64> {
        let newest = self.newest()?;
        let unfinished = matches!(newest.state, ReleaseState::Failed | ReleaseState::Staged);
        if unfinished && Some(newest.number) > self.active {
            let resumed = newest.rollback_of.filter(|of| self.stored(*of).is_ok());
            if let Some(number) = resumed.or(self.active) {
                return Some(number);
            }
        }
        previous(&self.summaries(), self.active).map(|summary| summary.number)
    }

    fn nothing_before(&self) -> Error {
        let all = self.summaries();
        let error = match self.active {
            _ if all.is_empty() => {
                return Error::new(Exit::Failed, "there is no release to go back to")
                    .hint("`mcd apply` makes the first one");
            }
            None => Error::new(Exit::Failed, "there is no release to go back to")
                .because("none was applied whole"),
            Some(active) => {
                let error = Error::new(
                    Exit::Failed,
                    format!("there is no release before release {active}"),
                );
                match root(&all, active) {
                    same if same == active => error,
                    of => error
                        .because(format!("it repeats release {of}, and there is none before that")),
                }
            }
        };
        let others: Vec<u64> = self.ran().filter(|n| Some(*n) != self.active).collect();
        match others.as_slice() {
            [] => error.hint(
                "`mcd delete` removes what one apply made; `--keep-going` leaves the target out",
            ),
            others => error.hint(format!("`--to N` goes to any of {}", numbers(others))),
        }
    }

    fn ran(&self) -> impl Iterator<Item = u64> {
        let ran = |known: &&Known| {
            known.stored == Storage::Whole
                && matches!(known.summary.state, ReleaseState::Active | ReleaseState::Superseded)
        };
        self.all.values().filter(ran).map(|known| known.summary.number)
    }
}

/// Which releases there are, for a hint.
fn those_that_are(list: &[u64]) -> String {
    match list {
        [] => "there are none: `mcd apply` makes one".to_owned(),
        [one] => format!("there is release {one}; `mcd history` says more"),
        several => format!("there are {}; `mcd history` says more", numbers(several)),
    }
}

fn retired(number: u64) -> String {
    let mib = MAX_BYTES / 1024 / 1024;
    format!("release {number} is no longer kept: the last {MAX_COUNT} are, up to {mib} MiB")
}

/// `1, 2, 5`; of many the newest.
fn numbers(list: &[u64]) -> String {
    let skipped = list.len().saturating_sub(LISTED);
    let shown: Vec<String> = list.iter().skip(skipped).map(u64::to_string).collect();
    let more = if skipped > 0 { "…, " } else { "" };
    format!("{more}{}", shown.join(", "))
}

#[cfg(test)]
mod tests;
