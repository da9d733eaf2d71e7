//! Exit codes of rollouts as a table.

use super::*;
use crate::rollout::StopReason;

/// How a target ended: wave, end, whether it failed, its errors, its troubles.
type Row = (usize, End, bool, &'static [Exit], &'static [Exit]);

#[test]
fn exit_codes() {
    use End::{Failed, NotStaged, NotStarted, Succeeded, Undone, Unfinished, Unreachable};
    let ok: Row = (0, Succeeded, false, &[], &[]);
    let gate = Gate { wave: 1, step: None };
    // Targets, the wave that stopped it, what waits, interrupted; without and with `--budget-ok`.
    type Case<'a> = (&'a [Row], Option<usize>, bool, bool, Exit, Exit);
    let cases: &[Case<'_>] = &[
        (&[], None, false, false, Exit::Ok, Exit::Ok),
        (&[ok], None, false, false, Exit::Ok, Exit::Ok),
        // Inside the budget, whatever it was.
        (
            &[ok, (0, Undone, true, &[Exit::Failed], &[])],
            None,
            false,
            false,
            Exit::Budget,
            Exit::Ok,
        ),
        (&[(0, Undone, true, &[Exit::Manifest], &[])], None, false, false, Exit::Budget, Exit::Ok),
        (
            &[(0, Unreachable, true, &[Exit::Unreachable], &[])],
            None,
            false,
            false,
            Exit::Budget,
            Exit::Ok,
        ),
        (
            &[(0, NotStaged, true, &[Exit::Manifest], &[])],
            None,
            false,
            false,
            Exit::Budget,
            Exit::Ok,
        ),
        // Beyond it: why.
        (
            &[(0, Failed, true, &[Exit::Failed], &[])],
            Some(0),
            false,
            false,
            Exit::Failed,
            Exit::Failed,
        ),
        (
            &[(0, Unreachable, true, &[Exit::Unreachable], &[])],
            Some(0),
            false,
            false,
            Exit::Unreachable,
            Exit::Unreachable,
        ),
        (
            &[
                (0, Unreachable, true, &[Exit::Unreachable], &[]),
                (0, Undone, true, &[Exit::Failed], &[]),
            ],
            Some(0),
            false,
            false,
            Exit::Failed,
            Exit::Failed,
        ),
        (&[(0, Failed, true, &[], &[])], Some(0), false, false, Exit::Failed, Exit::Failed),
        (
            &[(0, Failed, true, &[Exit::Manifest, Exit::Failed], &[])],
            Some(0),
            false,
            false,
            Exit::Manifest,
            Exit::Manifest,
        ),
        // An earlier wave's failure inside its budget is not why the later one stopped.
        (
            &[
                (0, Undone, true, &[Exit::Manifest], &[]),
                (1, Unreachable, true, &[Exit::Unreachable], &[]),
                (1, NotStarted, false, &[], &[]),
            ],
            Some(1),
            false,
            false,
            Exit::Unreachable,
            Exit::Unreachable,
        ),
        // What could not be taken back is no success.
        (
            &[ok, (0, Failed, true, &[Exit::Failed], &[])],
            None,
            false,
            false,
            Exit::Failed,
            Exit::Failed,
        ),
        (
            &[(0, Failed, true, &[Exit::Failed, Exit::Unreachable], &[])],
            None,
            false,
            false,
            Exit::Failed,
            Exit::Failed,
        ),
        // Blocked; a record that could not be closed.
        (
            &[ok, (0, Unfinished, false, &[], &[Exit::Blocked])],
            None,
            false,
            false,
            Exit::Blocked,
            Exit::Blocked,
        ),
        (
            &[(0, Succeeded, false, &[], &[Exit::Unreachable])],
            None,
            false,
            false,
            Exit::Unreachable,
            Exit::Unreachable,
        ),
        // Waits, with and without failures inside the budget.
        (&[ok, (1, NotStarted, false, &[], &[])], None, true, false, Exit::Paused, Exit::Paused),
        (
            &[(0, Undone, true, &[Exit::Failed], &[]), (1, NotStarted, false, &[], &[])],
            None,
            true,
            false,
            Exit::Paused,
            Exit::Paused,
        ),
        // Interrupted wins.
        (
            &[(0, Failed, true, &[Exit::Failed], &[])],
            Some(0),
            false,
            true,
            Exit::Interrupted,
            Exit::Interrupted,
        ),
    ];
    for (n, (rows, stop, waits, halted, exit, with_budget)) in cases.iter().enumerate() {
        let errors = |exits: &[Exit]| exits.iter().map(|exit| Error::new(*exit, "e")).collect();
        let target = |(i, row): (usize, &Row)| {
            let (wave, end, failed, of_failure, troubles) = *row;
            let (errors, troubles) = (errors(of_failure), errors(troubles));
            let target = TargetOutcome { wave, end, failed, open: true, errors, troubles };
            (TargetName::new(format!("t{i}")), target)
        };
        let outcome = Outcome {
            targets: rows.iter().enumerate().map(target).collect(),
            stop: stop
                .map(|wave| Stop { wave, reason: StopReason::Budget { failed: 1, allowed: 0 } }),
            waits_for: if *waits { vec![gate] } else { Vec::new() },
            halted: *halted,
            done: false,
        };
        assert_eq!((outcome.exit(false), outcome.exit(true)), (*exit, *with_budget), "case {n}");
    }
}
