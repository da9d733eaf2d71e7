use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::health::{Surroundings, health};

fn read(text: &str) -> Expression {
    Expression::read(text).unwrap_or_else(|(why, _)| panic!("{text}: {why}"))
}

fn object(status: Value) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Db",
        "metadata": {"name": "orders", "uid": "u-1", "generation": 2,
            "managedFields": [{"manager": "someone"}]},
        "spec": {"replicas": 3, "size": "10Gi"},
        "status": status,
    })
}

fn rule(in_progress: Option<&str>, failed: Option<&str>, current: &str) -> Rules {
    Rules::new([Rule {
        group: "example.com".into(),
        kind: "Db".into(),
        in_progress: in_progress.map(read),
        failed: failed.map(read),
        current: read(current),
        origin: "mcd.yaml:3".into(),
    }])
}

fn judge(rules: &Rules, object: &Value) -> String {
    let around = Surroundings {
        rules: Some(rules),
        ..Surroundings::at("2026-01-01T00:10:00Z".parse().expect("a time"))
    };
    crate::health::tests::show(&health(object, &Own::default(), &around))
}

#[test]
fn the_first_that_holds_decides() {
    let rules = rule(
        Some("status.phase == 'Creating'"),
        Some("status.phase == 'Broken'"),
        "status.phase == 'Ready' && status.ready >= spec.replicas",
    );
    for (status, wanted) in [
        (json!({"phase": "Creating"}), "Progressing: phase Creating"),
        (json!({"phase": "Broken"}), "Failed: phase Broken"),
        (json!({"phase": "Ready", "ready": 3}), "Healthy"),
        (json!({"phase": "Ready", "ready": 2}), "Progressing: phase Ready"),
        (json!({"phase": "Other", "ready": 3}), "Progressing: phase Other"),
        // Not there yet, as right after it was made.
        (json!({"phase": "Ready"}), "Progressing: no `ready` yet, which the rule `current` reads"),
        (json!({}), "Progressing: no `phase` yet, which the rule `inProgress` reads"),
        (Value::Null, "Unknown: the rule `inProgress` at mcd.yaml:3 cannot be evaluated"),
        // The generation wins over all of them.
        (
            json!({"phase": "Ready", "ready": 3, "observedGeneration": 1}),
            "Progressing: waiting for its controller to see generation 2: the status is of 1",
        ),
        (json!({"phase": "Ready", "ready": 3, "observedGeneration": 3}), "Healthy"),
        (
            json!({"phase": "Broken", "conditions": [
                {"type": "Synced", "status": "True", "message": "fine"},
                {"type": "Ready", "status": "False", "reason": "NoDisk", "message": "no disk left"}]}),
            "Failed: NoDisk: no disk left",
        ),
    ] {
        let line = judge(&rules, &object(status.clone()));
        assert!(line.starts_with(wanted), "{status}\n   got {line}\n  want {wanted}");
    }
}

/// What gives no boolean gives none later either: the wait ends at once, with the rule's place.
#[test]
fn a_rule_that_is_no_question() {
    let rules = rule(None, None, "status.replicas");
    assert_eq!(
        judge(&rules, &object(json!({"replicas": 3}))),
        "Failed: the rule `current` at mcd.yaml:3 gives int, not true or false"
    );
    let line = judge(&rules, &object(json!({"replicas": null})));
    assert!(line.starts_with("Unknown: "), "{line}");
    let line = judge(&rules, &object(json!({})));
    assert!(line.starts_with("Progressing: no `replicas` yet"), "{line}");
}

#[test]
fn the_expressions_that_flux_documents() {
    let ready = "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')";
    let exists = "status.conditions.exists(e, e.type == 'Ready' && e.status == 'True')";
    let guarded =
        "has(status.observedGeneration) && status.observedGeneration != metadata.generation";
    let stale = "status.conditions.filter(e, e.type == 'Ready')\
                 .all(e, e.observedGeneration == metadata.generation && e.status == 'True')";
    let conditions = |status: &str, generation: i64| {
        object(json!({"conditions": [
            {"type": "Other", "status": "False", "observedGeneration": 1},
            {"type": "Ready", "status": status, "observedGeneration": generation}]}))
    };
    for (text, status, generation, wanted) in [
        (ready, "True", 2, Outcome::True),
        (ready, "False", 2, Outcome::False),
        (exists, "True", 2, Outcome::True),
        (exists, "Unknown", 2, Outcome::False),
        (guarded, "True", 2, Outcome::False),
        (stale, "True", 2, Outcome::True),
        (stale, "True", 1, Outcome::False),
    ] {
        let outcome = read(text).holds(&conditions(status, generation));
        assert_eq!(outcome, wanted, "{text} of {status} {generation}");
    }
}

#[test]
fn functions_types_and_what_is_no_boolean() {
    let object = object(json!({"phase": "Ready", "ratio": 0.5, "big": u64::MAX, "list": [1, 2]}));
    for (text, wanted) in [
        ("status.phase.startsWith('Re') && size(status.list) == 2", Outcome::True),
        ("status.phase.matches('^R.*y$')", Outcome::True),
        ("status.phase.lowerAscii() == 'ready'", Outcome::True),
        ("spec.size.replace('Gi', '') == '10'", Outcome::True),
        ("int(spec.replicas) + 1 == 4 && status.ratio < 1", Outcome::True),
        ("status.big > 5", Outcome::True),
        ("spec.replicas - 5 < 0", Outcome::True),
        ("metadata.name in ['orders', 'bills']", Outcome::True),
        ("!has(metadata.managedFields)", Outcome::True),
        ("status.list.exists_one(n, n == 2)", Outcome::True),
        ("rules.size() > 0", Outcome::Missing("rules".into())),
        ("status.list[5] == 1", Outcome::Missing("item of a list".into())),
    ] {
        assert_eq!(read(text).holds(&object), wanted, "{text}");
    }
    for text in [
        "status.phase",
        "spec.replicas",
        "spec.replicas + 'x' == 'x'",
        "spec.replicas / 0 == 1",
        "status.phase.matches('(')",
        "status.phase > 5",
        "9223372036854775807 + spec.replicas > 0",
    ] {
        let outcome = read(text).holds(&object);
        let is_wrong = matches!(outcome, Outcome::Wrong(_) | Outcome::NoBoolean(_));
        assert!(is_wrong, "{text}: {outcome:?}");
        assert!(!format!("{outcome:?}").contains("Ready"), "values are not told: {outcome:?}");
    }
}

#[test]
fn what_is_wrong_is_found_when_it_is_read() {
    let deep = format!("{}true{}", "(".repeat(30), ")".repeat(30));
    let long = vec!["true"; 500].join("||");
    for (text, why, hint) in [
        ("", "it is empty", None),
        ("status.phase ==", "it ends too early", None),
        ("status.phase = 'x'", "column 14: ", None),
        ("a.b.\nc d", "line 2 column 3: ", None),
        ("status.phase.startWith('x')", "there is no function `startWith`", Some("`startsWith`")),
        (
            "status.conditions.exist(e, e.type == 'x')",
            "there is no function `exist`",
            Some("`exists`"),
        ),
        ("status.replicas + 1", "it gives a sum, not true or false", None),
        ("has(status.phase) ? size(status.phase) : 0", "it gives what `size` gives", None),
        ("status.phase == 'x' && 'Ready'", "it gives a text", None),
        ("status.conditions.filter(c, c.type == 'Ready')", "it gives a list", None),
        ("!'x'.trim()", "it gives what `trim` gives", None),
        ("1 + 'x' == 'x1'", "`add` of values of these types", None),
        ("'x'.matches('(')", "`matches`", None),
        ("5 / 0 == 1", "a division by zero", None),
        ("timestamp(status.time) > 1", "there is no function `timestamp`", None),
        ("stauts.phase == 'x'", "objects have no field `stauts`", Some("`status`")),
        ("metdata.name == 'x'", "objects have no field `metdata`", Some("`metadata`")),
        (&deep, "more than 24 brackets", None),
        (&long, "it is longer than 2000 bytes", None),
    ] {
        let (message, hinted) = Expression::read(text).expect_err(text);
        assert!(message.starts_with(why), "{text}: {message}");
        match hint {
            Some(hint) => assert!(hinted.unwrap_or_default().contains(hint), "{text}"),
            None => {
                assert!(hinted.is_none() || text.starts_with("timestamp"), "{text}: {hinted:?}");
            }
        }
    }
    // Names of variables that an expression binds itself may be like those of fields.
    read("status.conditions.all(state, state.status == 'True')");
}

/// The crate's parser and evaluation recurse: within the limits, both have room.
#[test]
fn the_worst_within_the_limits_has_room() {
    for text in [
        format!("{}true{}", "(".repeat(24), ")".repeat(24)),
        format!("[{}] != []", ["[[[[[[[[[[1]]]]]]]]]]"; 20].join(",")),
        format!("{}true", "!".repeat(1900)),
        format!("{} > 0", vec!["1"; 900].join("+")),
        vec!["true"; 330].join("&&"),
        format!("{}false", "true?true:".repeat(20)),
        format!("metadata{} == 1", ".a".repeat(900)),
    ] {
        match Expression::read(&text) {
            Ok(expression) => drop(expression.holds(&object(json!({})))),
            Err((why, _)) => panic!("{why}: {text}"),
        }
    }
}

#[test]
fn an_evaluation_without_end_is_left_behind_once() {
    let all = "status.list.all(a, status.list.all(b, status.list.all(c, status.list.all(d, \
               status.list.all(e, a + b + c + d + e >= 0)))))";
    let expression = read(all);
    let object = object(json!({"list": (0..60).collect::<Vec<_>>()}));
    let started = std::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(expression.holds(&object), Outcome::Wrong("it takes longer than 1s".into()));
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(3), "tried once");
}

/// A rule for a kind that mcd knows wins, also over a Job that is finished.
#[test]
fn a_rule_wins_over_what_is_built_in() {
    let rules = Rules::new([
        Rule {
            group: "batch".into(),
            kind: "Job".into(),
            in_progress: None,
            failed: None,
            current: read("false"),
            origin: String::new(),
        },
        Rule {
            group: "batch".into(),
            kind: "Job".into(),
            in_progress: None,
            failed: None,
            current: read("has(status.failed)"),
            origin: String::new(),
        },
    ]);
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]}});
    assert_eq!(judge(&rules, &job), "Healthy", "the last rule of a kind counts");
    assert_eq!(judge(&Rules::default(), &job).split(':').next(), Some("Failed"));
    // Another group, another kind.
    let other = json!({"apiVersion": "example.com/v1", "kind": "Job", "metadata": {}});
    assert_eq!(judge(&rules, &other), "Applied");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// A panic of the crate would end the program: here it would close the thread's channel.
    #[test]
    fn nothing_that_is_written_breaks_it(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "status", ".", "phase", "==", "!=", "(", ")", "[", "]", "{", "}", "'x'", "\"", "'", "1",
            "-1", "1u", "1.5", "true", "null", "&&", "||", "!", "-", "+", "/", "%", "?", ":", ",",
            " ", ".all(e,", ".exists(", "has(", "size(", "e", "in", "b'x'", "r'\\d'", "\\u12", "0x",
            "é", ".filter(x,", ".map(", ".matches(", "int(", ".format(", "'%d'", ".split(", "\n",
            "9223372036854775808", ".substring(", ".charAt(", ".?", "@", "_", "list", "//",
        ]), 0..14),
    ) {
        let text = words.concat();
        match Expression::read(&text) {
            Ok(expression) => {
                let outcome = expression.holds(&object(json!({"phase": "x", "list": [1, "é"]})));
                let told = format!("{outcome:?}");
                prop_assert!(!told.contains("closed") && !told.contains("longer"), "{text}: {told}");
            }
            Err((why, _)) => prop_assert!(!why.contains("closed"), "{text}: {why}"),
        }
    }
}
