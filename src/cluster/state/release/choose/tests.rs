use ReleaseState::{Active, Failed, Staged, Superseded};

use super::super::super::fixture::{names, summary};
use super::super::{Head, PartCount};
use super::*;

/// A release's number, state, and what it repeats.
type Line = (u64, ReleaseState, Option<u64>);

/// A target with these releases, all of them stored.
fn target(list: &[Line]) -> (Record, Vec<Stored>) {
    let mut record = Record::new(&names(), "shop");
    let summaries = list
        .iter()
        .map(|(number, state, of)| ReleaseSummary { rollback_of: *of, ..summary(*number, *state) });
    record.releases = summaries.collect();
    record.active = record.releases.iter().find(|r| r.state == Active).map(|r| r.number);
    let listed = record.releases.iter().map(|summary| Stored {
        number: summary.number,
        head: Some(Head {
            summary: summary.clone(),
            parts: PartCount { here: 1, elsewhere: BTreeMap::new() },
        }),
        parts: vec!["mcd-release.web".to_owned()],
    });
    let listed = listed.collect();
    (record, listed)
}

fn chosen(list: &[Line], to: Option<u64>) -> Result<Choice, Error> {
    let (record, listed) = target(list);
    Releases::new(Some(&record), &listed).choose(to)
}

fn told(error: &Error) -> String {
    format!("{}: {error} | {}", error.exit().code(), error.hints().join(" | "))
}

#[test]
fn without_a_number_it_is_the_release_before() {
    let cases: &[(&[Line], (Option<u64>, u64, bool))] = &[
        (&[(1, Superseded, None), (2, Active, None)], (Some(2), 1, false)),
        // What failed is undone, and so is what never ended.
        (&[(1, Superseded, None), (2, Active, None), (3, Failed, None)], (Some(2), 2, false)),
        (&[(1, Active, None), (2, Staged, None)], (Some(1), 1, false)),
        // An old failure is over.
        (&[(1, Superseded, None), (2, Failed, None), (3, Active, None)], (Some(3), 1, false)),
        // A rollback that did not end is taken up again.
        (&[(1, Superseded, None), (2, Active, None), (3, Staged, Some(1))], (Some(2), 1, false)),
        (&[(1, Superseded, None), (2, Active, None), (3, Failed, Some(1))], (Some(2), 1, false)),
        // Its objects were deleted.
        (&[(1, Superseded, None), (2, Superseded, None)], (None, 2, false)),
    ];
    for (list, expected) in cases {
        let choice = chosen(list, None).unwrap();
        assert_eq!((choice.from, choice.to.number, choice.is_active), *expected, "{list:?}");
    }
}

#[test]
fn the_active_release_is_known_also_as_what_it_repeats() {
    let list = [(1, Superseded, None), (2, Superseded, None), (3, Active, Some(1))];
    assert!(chosen(&list, Some(3)).unwrap().is_active);
    assert!(chosen(&list, Some(1)).unwrap().is_active);
    assert!(!chosen(&list, Some(2)).unwrap().is_active);
    // A later run may have changed anything.
    let broken = [(1, Active, None), (2, Failed, None)];
    assert!(!chosen(&broken, Some(1)).unwrap().is_active);
}

#[test]
fn what_cannot_be_gone_back_to_is_said_with_what_can() {
    let list = [
        (4, Superseded, None),
        (5, Failed, None),
        (6, Superseded, None),
        (7, Active, None),
        (8, Staged, None),
    ];
    let says = |to| told(&chosen(&list, to).unwrap_err());
    insta::assert_snapshot!(says(Some(3)), @"3: release 3 is no longer kept: the last 10 are, up to 20 MiB | there are 4, 6, 7; `mcd history` says more");
    insta::assert_snapshot!(says(Some(9)), @"3: there is no release 9 | there are 4, 6, 7; `mcd history` says more");
    insta::assert_snapshot!(says(Some(0)), @"3: releases are counted from 1 | there are 4, 6, 7; `mcd history` says more");
    insta::assert_snapshot!(says(Some(5)), @"3: release 5 failed, and may never have been applied whole | there are 4, 6, 7; `mcd history` says more");
    insta::assert_snapshot!(says(Some(8)), @"3: release 8 was not applied yet | there are 4, 6, 7; `mcd history` says more");

    let (record, mut listed) = target(&list);
    listed[2].head.as_mut().unwrap().parts.here = 3;
    listed.remove(0);
    let releases = Releases::new(Some(&record), &listed);
    insta::assert_snapshot!(told(&releases.choose(Some(6)).unwrap_err()), @"3: release 6 is incomplete: parts of it were deleted | there is release 7; `mcd history` says more");
    let mut large = record.clone();
    large.releases[0].bytes = 2 * MAX_BYTES;
    let gone = Releases::new(Some(&large), &listed).choose(Some(4)).unwrap_err();
    assert!(gone.message().contains("no longer kept"), "{gone}");
    insta::assert_snapshot!(told(&releases.choose(Some(4)).unwrap_err()), @"3: release 4 is gone: its Secret was deleted | there is release 7; `mcd history` says more");
}

#[test]
fn nothing_before_is_a_failure_of_the_target() {
    let says = |list| told(&chosen(list, None).unwrap_err());
    insta::assert_snapshot!(says(&[(1, Active, None)]), @"1: there is no release before release 1 | `mcd delete` removes what one apply made; `--keep-going` leaves the target out");
    insta::assert_snapshot!(says(&[(1, Superseded, None), (2, Superseded, None), (3, Active, Some(1))]), @"1: there is no release before release 3: it repeats release 1, and there is none before that | `--to N` goes to any of 1, 2");
    insta::assert_snapshot!(says(&[(1, Failed, None)]), @"1: there is no release to go back to: none was applied whole | `mcd delete` removes what one apply made; `--keep-going` leaves the target out");
    let none = Releases::new(None, &[]).choose(None).unwrap_err();
    insta::assert_snapshot!(told(&none), @"1: there is no release to go back to | `mcd apply` makes the first one");
}

#[test]
fn the_record_has_the_last_word_and_releases_older_than_it_count() {
    let (mut record, listed) =
        target(&[(1, Superseded, None), (2, Superseded, None), (3, Active, None)]);
    // Marked late, and no longer summed up in the record.
    let mut lagging = listed.clone();
    lagging[2].head.as_mut().unwrap().summary.state = Staged;
    record.releases.drain(..2);
    let choice = Releases::new(Some(&record), &lagging).choose(None).unwrap();
    assert_eq!((choice.from, choice.to.number), (Some(3), 2));
}

#[test]
fn of_many_releases_the_newest_are_named() {
    assert_eq!(numbers(&[1, 2]), "1, 2");
    let many: Vec<u64> = (1..=20).collect();
    assert_eq!(numbers(&many), "…, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20");
}
