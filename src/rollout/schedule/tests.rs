//! The scheduler as a table. The properties are beside it, in `properties`.

use super::*;

mod properties;

fn second(n: i64) -> Timestamp {
    Timestamp::from_second(n).unwrap()
}

/// Reads a target: its name, and a mark that says how far it is.
///
/// `a` pending, `a~` in a step, `a=` between steps, `a|` at a pause until it is approved, `a|9`
/// until second 9, `a+` done, `a+3` and healthy since second 3, `a+3@5` and seen so at 5, `a+3@5-`
/// and unwell then, `a+3~` being looked at, `a!` failed, `a!~` on its way back, `a#` lost,
/// `a?` missing, `a.` closed.
fn member(text: &str) -> Member {
    let end = text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
    let (name, mark) = text.split_at(end);
    let number = |text: &str| second(text.parse().unwrap());
    let (mark, busy) = match mark.strip_suffix('~') {
        Some("") => ("=", true),
        Some(mark) => (mark, true),
        None => (mark, false),
    };
    let state = match mark.split_at(mark.len().min(1)) {
        ("", _) => State::Pending,
        ("=", _) => State::Started,
        ("|", "") => State::Paused { step: 1, until: None },
        ("|", until) => State::Paused { step: 1, until: Some(number(until)) },
        ("+", "") => State::Succeeded { healthy: None, seen: None },
        ("+", health) => {
            let (healthy, seen) = health.split_once('@').unwrap_or((health, ""));
            let well = !seen.ends_with('-');
            let seen = seen.trim_end_matches('-');
            let seen = (!seen.is_empty()).then(|| Seen { at: number(seen), well });
            let healthy = (!healthy.is_empty()).then(|| number(healthy));
            State::Succeeded { healthy, seen }
        }
        ("!", _) => State::Failed,
        ("#", _) => State::Lost,
        ("?", _) => State::Missing,
        (".", _) => State::Closed,
        _ => panic!("{text}"),
    };
    Member { name: TargetName::new(name), state, busy }
}

/// Reads waves such as `a~ b; concurrent 1; failures 1; soak 10; approval; mandatory b / c d`.
fn waves(text: &str) -> Vec<Wave> {
    let wave = |text: &str| {
        let mut parts = text.split(';').map(str::trim);
        let targets = parts.next().unwrap().split_whitespace().map(member).collect();
        let mut wave = Wave { targets, ..Wave::of([]) };
        for rule in parts {
            let (key, value) = rule.split_once(' ').unwrap_or((rule, ""));
            match key {
                "concurrent" => wave.max_concurrent = value.parse().unwrap(),
                "failures" => wave.max_failures = value.parse().unwrap(),
                "soak" => wave.soak = Duration::from_secs(value.parse().unwrap()),
                "approval" => wave.approval = true,
                "mandatory" => wave.mandatory = [TargetName::new(value)].into(),
                _ => panic!("{rule}"),
            }
        }
        wave
    };
    text.split('/').map(wave).collect()
}

/// Says a decision in one line; nothing to do is an empty one.
fn said(decision: &Decision) -> String {
    let mut parts = Vec::new();
    let lists = [
        ("start", &decision.start),
        ("go on", &decision.go_on),
        ("look", &decision.look),
        ("undo", &decision.undo),
    ];
    for (word, names) in lists {
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(TargetName::as_str).collect();
            parts.push(format!("{word} {}", names.join(" ")));
        }
    }
    for gate in &decision.waits_for {
        parts.push(match gate.step {
            None => format!("approve {}", gate.wave),
            Some(step) => format!("approve {}/{step}", gate.wave),
        });
    }
    if let Some(stop) = &decision.stop {
        parts.push(match &stop.reason {
            StopReason::Budget { failed, allowed } => {
                format!("stop {}: {failed} of {allowed}", stop.wave)
            }
            StopReason::Mandatory(name) => format!("stop {}: {name}", stop.wave),
        });
    }
    if let Some(soak) = decision.soak {
        parts.push(format!("soak {} to {}", soak.since.as_second(), soak.until.as_second()));
    }
    if let Some(again) = decision.again_at {
        parts.push(format!("again {}", again.as_second()));
    }
    if decision.done {
        parts.push("done".to_owned());
    }
    parts.join(", ")
}

/// Each row: waves, what is approved (`0`, `0/1`), the second, the decision.
#[track_caller]
fn check(rows: &[(&str, &str, i64, &str)]) {
    for (text, approved, now, want) in rows {
        let approved = approved.split_whitespace().map(|gate| match gate.split_once('/') {
            None => Gate { wave: gate.parse().unwrap(), step: None },
            Some((wave, step)) => {
                Gate { wave: wave.parse().unwrap(), step: Some(step.parse().unwrap()) }
            }
        });
        let decision = schedule(&waves(text), &approved.collect(), second(*now));
        assert_eq!(said(&decision), *want, "{text} at {now}");
    }
}

#[test]
fn waves_one_after_the_other_as_many_at_once_as_may() {
    check(&[
        ("", "", 0, "done"),
        ("a b c; concurrent 2 / d e", "", 0, "start a b"),
        ("a~ b c; concurrent 2 / d e", "", 0, "start b"),
        ("a~ b~ c; concurrent 2 / d e", "", 0, ""),
        ("a+ b~ c; concurrent 2 / d e", "", 0, "start c"),
        ("a+ b+ c~; concurrent 2 / d e", "", 0, ""),
        ("a+ b+ c+; concurrent 2 / d e", "", 0, "start d e"),
        ("a+ b+ c+ / d+ e~", "", 0, ""),
        ("a+ b+ c+ / d+ e+", "", 0, "done"),
        // Nobody ever means nobody.
        ("a b; concurrent 0", "", 0, "start a"),
        // A plain apply is one wave.
        ("a b c", "", 0, "start a b c"),
        // A wave without targets is none.
        (" / a", "", 0, "start a"),
    ]);
}

#[test]
fn steps_go_on_by_themselves() {
    check(&[
        ("a= b; concurrent 1", "", 0, "go on a"),
        ("a= b= c; concurrent 3", "", 0, "start c, go on a b"),
        ("a~ b=", "", 0, "go on b"),
        // What was begun before the run died goes on, in its wave.
        ("a+ b= / c", "", 0, "go on b"),
    ]);
}

#[test]
fn a_pause_ends_by_time_or_by_approval_and_keeps_its_place() {
    check(&[
        ("a|9 b; concurrent 1", "", 5, "again 9"),
        ("a|9 b; concurrent 1", "", 9, "go on a"),
        ("a|9 b|7 c|8", "", 5, "again 7"),
        ("a|9 b|7 c|8", "", 8, "go on b c, again 9"),
        ("a|9", "0/1", 5, "go on a"),
        ("a| b; concurrent 1", "", 5, "approve 0/1"),
        ("a| b; concurrent 2", "", 5, "start b, approve 0/1"),
        ("a| b|", "", 5, "approve 0/1"),
        ("a| b|", "0/1", 5, "go on a b"),
        // An approval is for a wave and a step.
        ("a|", "0", 5, "approve 0/1"),
        ("a|", "0/2 1/1", 5, "approve 0/1"),
        ("a+ / b|", "0/1", 5, "approve 1/1"),
        ("a|~", "", 5, ""),
    ]);
    let pauses = |text| schedule(&waves(text), &BTreeSet::new(), second(0)).pauses;
    assert!(pauses("a|9 b") && !pauses("a| b~"));
}

#[test]
fn a_wave_is_approved_before_it_starts() {
    check(&[
        ("a; approval", "", 0, "approve 0"),
        ("a; approval", "0", 0, "start a"),
        ("a~ / b; approval", "", 0, ""),
        ("a+ / b; approval", "", 0, "approve 1"),
        ("a+ / b; approval", "0", 0, "approve 1"),
        ("a+ / b c; approval", "1", 0, "start b c"),
        // What has begun was approved.
        ("a+ / b~ c; approval", "", 0, "start c"),
        ("a+ / b? c; approval; failures 1", "", 0, "approve 1"),
        // Nobody has to approve that nothing happens.
        ("a?; approval; failures 1 / b", "", 0, "start b"),
        // The soak of the wave before comes first.
        ("a+2@2; soak 10 / b; approval", "", 2, "soak 2 to 12, again 3"),
    ]);
}

#[test]
fn failures_inside_the_budget_are_taken_back_and_beyond_it_nothing_starts() {
    check(&[
        ("a! b~ c", "", 0, "stop 0: 1 of 0"),
        ("a! b= c|", "0/1", 0, "stop 0: 1 of 0"),
        ("a! b c; failures 1; concurrent 2", "", 0, "start b, undo a"),
        // On its way back it has its place.
        ("a!~ b c; failures 1; concurrent 1", "", 0, ""),
        ("a# b c; failures 1; concurrent 1", "", 0, "start b"),
        ("a! b! c; failures 2; concurrent 1", "", 0, "undo a"),
        ("a! b! c d; failures 2; concurrent 3", "", 0, "start c, undo a b"),
        ("a! b~ c; failures 2; concurrent 1", "", 0, ""),
        ("a# b! c; failures 1", "", 0, "stop 0: 2 of 1"),
        ("a# b+; failures 1 / c", "", 0, "start c"),
        // Nothing more is taken back by itself after a stop.
        ("a! b!; failures 1", "", 0, "stop 0: 2 of 1"),
        // Budgets are those of each wave.
        ("a# b+; failures 1 / c# d; failures 1", "", 0, "start d"),
        ("a#; failures 1 / b!", "", 0, "stop 1: 1 of 0"),
        // The next wave waits until what failed is back.
        ("a!~; failures 1 / b", "", 0, ""),
        ("a!; failures 1 / b", "", 0, "undo a"),
        ("a#; failures 1", "", 0, "done"),
    ]);
}

#[test]
fn unreachable_and_not_staged_targets_count_and_hold_nobody_up() {
    check(&[
        ("a? b", "", 0, "stop 0: 1 of 0"),
        ("a? b; failures 1; concurrent 1", "", 0, "start b"),
        ("a? b+; failures 1 / c", "", 0, "start c"),
        ("a?; failures 1 / b?; failures 1", "", 0, "done"),
        // It fails its wave when its turn comes, not before.
        ("a / b?", "", 0, "start a"),
        ("a+ / b? c", "", 0, "stop 1: 1 of 0"),
        // A wave that is over stays so, whatever can be reached of it later.
        ("a? b+ / c~ d", "", 0, "start d"),
        ("a? b+; soak 10; approval / c= d", "", 0, "start d, go on c"),
        ("a? / b. c+", "", 0, "done"),
        // What of a later wave was never begun says nothing.
        ("a b? / c? d", "", 0, "stop 0: 1 of 0"),
    ]);
}

#[test]
fn of_mandatory_targets_none_may_fail() {
    check(&[
        ("a! b; failures 9; mandatory a", "", 0, "stop 0: a"),
        ("a? b; failures 9; mandatory a", "", 0, "stop 0: a"),
        ("a# b; failures 9; mandatory a", "", 0, "stop 0: a"),
        ("a+ b!; failures 9; mandatory a", "", 0, "undo b"),
        ("a~ b! c!; failures 1; mandatory a", "", 0, "stop 0: 2 of 1"),
    ]);
}

#[test]
fn a_soak_begins_with_the_last_sign_of_health_and_is_never_shorter() {
    check(&[
        // Each is looked at as soon as it is done, while others are on their way.
        ("a+ b~; soak 10 / c", "", 0, "look a"),
        ("a+~ b~; soak 10 / c", "", 0, ""),
        ("a+@0- b~; soak 10 / c", "", 0, "again 1"),
        ("a+@0- b~; soak 10 / c", "", 1, "look a"),
        ("a+3@3 b~; soak 10 / c", "", 9, ""),
        // All are healthy: it begins with the last of them.
        ("a+3@3 b+5@5; soak 10 / c", "", 5, "look a, soak 5 to 15, again 6"),
        ("a+3@5 b+5@5; soak 10 / c", "", 5, "soak 5 to 15, again 6"),
        ("a+3@14 b+5@14; soak 10 / c", "", 14, "soak 5 to 15, again 15"),
        // Whatever was seen before the end does not count as its end.
        ("a+3@14 b+5@14; soak 10 / c", "", 15, "look a b, soak 5 to 15"),
        ("a+3@15 b+5~; soak 10 / c", "", 15, "soak 5 to 15"),
        ("a+3@15 b+5@15-; soak 10 / c", "", 15, "soak 5 to 15, again 16"),
        ("a+3@15 b+5@15-; soak 10 / c", "", 16, "look b, soak 5 to 15"),
        ("a+3@15 b+5@16; soak 10 / c", "", 16, "start c"),
        ("a+3@16 b+5@16~; soak 10 / c", "", 16, "soak 5 to 15"),
        // One that is not healthy yet.
        ("a+3@5 b+@5-; soak 10 / c", "", 5, "again 6"),
        // Without a soak nobody looks: the last step has.
        ("a+ b~ / c", "", 0, ""),
        // What failed is no part of it.
        ("a# b+5@5; failures 1; soak 10 / c", "", 5, "soak 5 to 15, again 6"),
        ("a! b+5@5; failures 1; soak 10 / c", "", 5, "undo a"),
        ("a? b+5@15; failures 1; soak 10 / c", "", 15, "start c"),
        ("a#; failures 1; soak 10 / c", "", 0, "start c"),
        // One that failed during it is beyond the budget.
        ("a! b+5@5; soak 10 / c", "", 5, "stop 0: 1 of 0"),
        // Resume keeps its start.
        ("a+3 b+5; soak 10 / c", "", 60, "look a b, soak 5 to 15"),
        // The last wave soaks too, and once records are closed it has.
        ("a+5@5; soak 10", "", 5, "soak 5 to 15, again 6"),
        ("a+5@15; soak 10", "", 15, "done"),
        ("a. b.; soak 10", "", 0, "done"),
        ("a. b+5@20; soak 10", "", 20, "done"),
        // An old sign of health is no look.
        ("a+5; soak 10", "", 3600, "look a, soak 5 to 15"),
    ]);
}

#[test]
fn looks_are_often_enough_and_not_too_often() {
    let between = |soak: u64| {
        let wave = Wave { soak: Duration::from_secs(soak), ..Wave::of([]) };
        wave.between_looks().as_secs()
    };
    assert_eq!([3, 60, 600, 86400].map(between), [1, 6, 30, 30]);
}

#[test]
fn times_beyond_the_calendar_are_no_panic() {
    let mut one = waves("a+5@5; soak 10");
    for wave in &mut one {
        wave.soak = Duration::MAX;
    }
    let decision = schedule(&one, &BTreeSet::new(), second(5));
    assert_eq!(decision.soak.unwrap().until, Timestamp::MAX);
}
