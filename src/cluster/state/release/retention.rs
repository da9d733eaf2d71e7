//! Which releases may go. Pure.

use super::lineage::previous;
use super::{ReleaseState, ReleaseSummary, Stored};

/// How many releases a target keeps.
pub const MAX_COUNT: usize = 10;

/// How many bytes of releases a target keeps, as stored.
pub const MAX_BYTES: u64 = 20 * 1024 * 1024;

/// The numbers of the releases that are beyond what a target keeps, oldest first. The newest stay;
/// the active, the previous (what a rollback goes back to) and staged ones always stay, and count.
/// Parts without a head are what a broken off attempt left; they go too, unless they are newer
/// than every head: then they may be the start of one that is being stored.
pub fn expired(list: &[Stored], active: Option<u64>) -> Vec<u64> {
    let mut newest_first: Vec<&Stored> = list.iter().collect();
    newest_first.sort_by_key(|stored| std::cmp::Reverse(stored.number));
    let newest = newest_first.iter().find(|stored| stored.head.is_some()).map(|s| s.number);
    let state = |stored: &Stored| stored.head.as_ref().map(|head| head.summary.state);
    let summaries: Vec<&ReleaseSummary> =
        list.iter().filter_map(|stored| stored.head.as_ref()).map(|head| &head.summary).collect();
    let previous = previous(&summaries, active).map(|summary| summary.number);
    let protected = |stored: &Stored| {
        let by_state = match state(stored) {
            Some(ReleaseState::Staged | ReleaseState::Active) => true,
            Some(ReleaseState::Superseded | ReleaseState::Failed) => false,
            None => Some(stored.number) > newest,
        };
        by_state || Some(stored.number) == active || Some(stored.number) == previous
    };
    let bytes = |stored: &Stored| stored.head.as_ref().map_or(0, |head| head.summary.bytes);

    let (kept, rest): (Vec<_>, Vec<_>) = newest_first.into_iter().partition(|s| protected(s));
    let mut count = kept.len();
    let mut total: u64 = kept.iter().map(|s| bytes(s)).fold(0, u64::saturating_add);
    let mut expired = Vec::new();
    let mut full = false;
    for stored in rest {
        count += 1;
        total = total.saturating_add(bytes(stored));
        // Once one is beyond the limit, so is every older one: history has no holes.
        full |= count > MAX_COUNT || total > MAX_BYTES;
        if full || stored.head.is_none() {
            expired.push(stored.number);
        }
    }
    expired.reverse();
    expired
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::fixture::summary;
    use super::super::{Head, PartCount};
    use super::*;

    fn stored(number: u64, state: ReleaseState, mib: u64) -> Stored {
        let mut summary = summary(number, state);
        summary.bytes = mib * 1024 * 1024;
        Stored {
            number,
            head: Some(Head { summary, parts: PartCount::default() }),
            parts: Vec::new(),
        }
    }

    use ReleaseState::{Active, Failed, Staged, Superseded};

    #[test]
    fn the_newest_ten_stay() {
        let mut list: Vec<_> = (1..=12).map(|n| stored(n, Superseded, 0)).collect();
        list.push(stored(13, Active, 0));
        assert_eq!(expired(&list, Some(13)), [1, 2, 3]);
        assert_eq!(expired(&list[..3], None), [] as [u64; 0]);
    }

    #[test]
    fn active_previous_and_staged_stay_however_old_and_large() {
        let mut list = vec![stored(1, Superseded, 9), stored(2, Active, 9), stored(3, Staged, 9)];
        list.extend((4..=20).map(|n| stored(n, Failed, 1)));
        assert_eq!(expired(&list, Some(2)), (4..=20).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_count_and_history_has_no_holes() {
        let list = [
            stored(1, Superseded, 1),
            stored(2, Superseded, 15),
            stored(3, Superseded, 8),
            stored(4, Active, 1),
        ];
        assert_eq!(expired(&list, Some(4)), [1, 2]);
    }

    #[test]
    fn parts_without_a_head_go_unless_they_may_still_get_one() {
        let orphan = |number| Stored { number, head: None, parts: Vec::new() };
        let list = [orphan(1), stored(2, Active, 1), orphan(3)];
        assert_eq!(expired(&list, Some(2)), [1]);
    }

    proptest! {
        #[test]
        fn what_must_stay_stays_and_the_rest_is_within_limits(
            states in prop::collection::vec((0u8..4, 0u64..9), 0..30), active in prop::option::of(1u64..30)
        ) {
            let list: Vec<_> = states.iter().enumerate().map(|(i, (state, mib))| {
                stored(i as u64 + 1, [Staged, Active, Superseded, Failed][usize::from(*state)], *mib)
            }).collect();
            let gone = expired(&list, active);
            prop_assert!(gone.windows(2).all(|w| w[0] < w[1]));
            let state = |s: &Stored| s.head.as_ref().unwrap().summary.state;
            let previous = list.iter().rev().find(|s| state(s) == Superseded && active.is_none_or(|a| s.number < a)).map(|s| s.number);
            let must = |s: &Stored| matches!(state(s), Staged | Active) || Some(s.number) == active || Some(s.number) == previous;
            for stored in &list {
                prop_assert!(!(gone.contains(&stored.number) && must(stored)));
            }
            let left: Vec<_> = list.iter().filter(|s| !gone.contains(&s.number)).collect();
            let free = left.iter().filter(|s| !must(s)).count();
            let bytes: u64 = left.iter().map(|s| s.head.as_ref().unwrap().summary.bytes).sum();
            prop_assert!(free == 0 || (left.len() <= MAX_COUNT && bytes <= MAX_BYTES));
        }
    }
}
