//! Releases: numbered, immutable snapshots of a target, stored as Secrets. Pure.

mod choose;
mod lineage;
mod parts;
mod retention;

pub use choose::{Choice, Releases};
pub use lineage::previous;
pub(super) use parts::mark_patch;
pub use parts::{Head, NUMBER_LABEL, PartCount, Stored, StoredPart};
pub use retention::{MAX_BYTES, MAX_COUNT, expired};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::about::{About, ReleaseState, ReleaseSummary};
use super::record::Record;
use crate::config::{AppName, TargetName};

/// The schema of a release that this mcd reads and writes.
pub const SCHEMA: u32 = 1;

/// A release with its objects: all that a rollback needs. Immutable once stored; where it stands
/// is kept beside it, in [`ReleaseSummary`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Its number, from 1.
    pub number: u64,
    /// The application.
    pub app: AppName,
    /// The target.
    pub target: TargetName,
    /// The application's namespace.
    pub namespace: String,
    /// Where it came from.
    #[serde(flatten)]
    pub about: About,
    /// The release whose objects it repeats, when it is a rollback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rollback_of: Option<u64>,
    /// The target's resolved settings.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub settings: Value,
    /// The objects, as rendered, in the order of the rendering.
    pub objects: Vec<Value>,
}

impl Release {
    /// Its summary, of `bytes` as stored.
    pub fn summary(&self, state: ReleaseState, bytes: u64) -> ReleaseSummary {
        ReleaseSummary {
            number: self.number,
            state,
            about: self.about.clone(),
            objects: u32::try_from(self.objects.len()).unwrap_or(u32::MAX),
            bytes,
            finished: None,
            message: None,
            rollback_of: self.rollback_of,
            undone: false,
        }
    }
}

/// The number of the next release: the greater of record and listed, plus one (design §7).
pub fn next_number(record: Option<&Record>, listed: &[Stored]) -> u64 {
    let recorded =
        record.into_iter().flat_map(|r| r.releases.iter().map(|s| s.number).chain(r.active));
    let listed = listed.iter().map(|stored| stored.number);
    recorded.chain(listed).max().unwrap_or(0).saturating_add(1)
}

/// What is to be marked so that the releases' metadata says what the record says, after a run that
/// was broken off. The record has the last word. A release that it does not know, or knows as
/// staged, was never applied whole: with no rollout open, it has failed.
pub fn repairs(record: Option<&Record>, listed: &[Stored], now: Timestamp) -> Vec<ReleaseSummary> {
    let heads = listed.iter().filter_map(|stored| stored.head.as_ref()).map(|head| &head.summary);
    heads
        .filter_map(|listed| {
            let recorded = record.and_then(|record| record.release(listed.number));
            let mut right = recorded.unwrap_or(listed).clone();
            right.fail_if_staged(now);
            (right.state != listed.state).then_some(right)
        })
        .collect()
}

/// The namespace of a Secret, which decides in which namespace its values may be kept; none for
/// every other object.
fn secret_namespace(object: &Value) -> Option<&str> {
    let is_secret = object["apiVersion"] == "v1" && object["kind"] == "Secret";
    if is_secret { object["metadata"]["namespace"].as_str() } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{names, summary};
    use super::*;

    #[test]
    fn the_next_number_is_above_record_and_listed() {
        assert_eq!(next_number(None, &[]), 1);
        let mut record = Record::new(&names(), "shop");
        assert_eq!(next_number(Some(&record), &[]), 1);
        record.note(summary(4, ReleaseState::Failed));
        assert_eq!(next_number(Some(&record), &[]), 5);
        let listed = |number| Stored { number, head: None, parts: Vec::new() };
        assert_eq!(next_number(Some(&record), &[listed(2)]), 5);
        assert_eq!(next_number(Some(&record), &[listed(9), listed(2)]), 10);
        assert_eq!(next_number(None, &[listed(9)]), 10);
        record.active = Some(20);
        assert_eq!(next_number(Some(&record), &[listed(9)]), 21);
    }

    #[test]
    fn releases_of_a_broken_off_run_are_marked_as_the_record_says() {
        use ReleaseState::{Active, Failed, Staged, Superseded};
        let stored = |number, state| Stored {
            number,
            head: Some(Head { summary: summary(number, state), parts: PartCount::default() }),
            parts: Vec::new(),
        };
        let now = "2026-01-02T04:00:00Z".parse().unwrap();
        let marks = |record: Option<&Record>, listed: &[Stored]| -> Vec<_> {
            repairs(record, listed, now).into_iter().map(|s| (s.number, s.state)).collect()
        };
        let mut record = Record::new(&names(), "shop");
        record.note(summary(3, Active));
        record.note(summary(4, Active));
        record.note(summary(5, Staged));
        let listed = [
            stored(1, Superseded), // no longer in the record
            stored(2, Staged),     // a run that ended before it wrote the record
            stored(3, Active),     // a run that ended before it marked the previous release
            stored(4, Staged),     // … and the one that it applied
            stored(5, Staged),     // a run that ended while it applied
            Stored { number: 6, head: None, parts: Vec::new() },
        ];
        let expected = [(2, Failed), (3, Superseded), (4, Active), (5, Failed)];
        assert_eq!(marks(Some(&record), &listed), expected);
        assert_eq!(marks(None, &listed), [(2, Failed), (4, Failed), (5, Failed)]);
        let failed = &repairs(Some(&record), &listed[1..2], now)[0];
        assert_eq!(failed.message.as_deref(), Some("interrupted"));
        assert_eq!(failed.finished, Some(now));
        record.note(summary(5, Failed));
        assert_eq!(marks(Some(&record), &[stored(4, Active), stored(5, Failed)]), []);
    }
}
