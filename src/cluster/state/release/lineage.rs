//! Which release a target ran before: rollbacks repeat older releases, so the number before is
//! not always the one to go back to. Pure.

use super::super::about::{ReleaseState, ReleaseSummary};

/// The release whose objects `number` has: itself, or, when it is a rollback, what that repeats.
pub(super) fn root(releases: &[&ReleaseSummary], number: u64) -> u64 {
    let mut root = number;
    // A rollback repeats an earlier release, so this ends; one that says otherwise is not followed.
    while let Some(of) = releases.iter().find(|r| r.number == root).and_then(|r| r.rollback_of)
        && of < root
    {
        root = of;
    }
    root
}

/// The newest release that the target ran before `active` and that nobody has rolled back from
/// since: what a rollback goes back to. After 1, 2 and a rollback to 1 (which is release 3) that is
/// what ran before 1, never 2 again. None: there is nothing before.
pub fn previous<'a>(
    releases: &[&'a ReleaseSummary],
    active: Option<u64>,
) -> Option<&'a ReleaseSummary> {
    let before = active.map_or(u64::MAX, |active| root(releases, active));
    let ran = |r: &&&ReleaseSummary| r.state == ReleaseState::Superseded && r.number < before;
    releases.iter().filter(ran).max_by_key(|r| r.number).copied()
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::summary;
    use super::*;

    /// Releases by number: those that are rollbacks with what they repeat.
    fn history(list: &[(u64, Option<u64>)]) -> Vec<ReleaseSummary> {
        let last = list.last().map(|(number, _)| *number);
        let one = |(number, of): &(u64, Option<u64>)| {
            let active = Some(*number) == last;
            let state = if active { ReleaseState::Active } else { ReleaseState::Superseded };
            ReleaseSummary { rollback_of: *of, ..summary(*number, state) }
        };
        list.iter().map(one).collect()
    }

    #[test]
    fn a_rollback_never_goes_forward_again() {
        let cases: &[(&[(u64, Option<u64>)], Option<u64>)] = &[
            (&[], None),
            (&[(1, None)], None),
            (&[(1, None), (2, None)], Some(1)),
            (&[(1, None), (2, None), (3, None)], Some(2)),
            // 2 was rolled back from: nothing is before 1.
            (&[(1, None), (2, None), (3, Some(1))], None),
            (&[(1, None), (2, None), (3, None), (4, Some(2))], Some(1)),
            // What came after a rollback goes back to that rollback …
            (&[(1, None), (2, None), (3, Some(1)), (4, None)], Some(3)),
            // … and then to what was before the release that it repeats.
            (&[(1, None), (2, None), (3, None), (4, Some(2)), (5, None), (6, Some(4))], Some(1)),
            // A release that says that it repeats a later one.
            (&[(1, None), (2, Some(5))], Some(1)),
        ];
        for (list, expected) in cases {
            let all = history(list);
            let all: Vec<&ReleaseSummary> = all.iter().collect();
            let active = all.last().map(|r| r.number);
            assert_eq!(previous(&all, active).map(|r| r.number), *expected, "{list:?}");
        }
    }

    #[test]
    fn failed_and_staged_releases_never_ran() {
        let mut all = history(&[(1, None), (2, None), (3, None), (4, None)]);
        all[1].state = ReleaseState::Failed;
        all[2].state = ReleaseState::Staged;
        let all: Vec<&ReleaseSummary> = all.iter().collect();
        assert_eq!(previous(&all, Some(4)).map(|r| r.number), Some(1));
        assert_eq!(previous(&all, None).map(|r| r.number), Some(1), "none is active");
    }
}
