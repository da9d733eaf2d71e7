//! What is seen of a rollout: by whoever runs it, whoever watches it, and in the other verbs.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testbed::wait_for;

use crate::events::{events, of};
use crate::rollout_world::{STEPS, Six, WAVES};
use crate::support::Run;

/// The targets of events of a kind, in order of names.
fn targets(events: &[Value], kind: &str) -> Vec<String> {
    let mut names: Vec<String> =
        of(events, kind).iter().map(|e| e["target"].as_str().unwrap_or("-").to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_events_of_a_rollout_tell_all_of_it() {
    let six = Six::new("seen-events", &format!("{WAVES}{STEPS}"));
    six.ok(0, &["apply", "-y"]);
    six.version("v2");
    let run = six.ok(0, &["rollout", "run", "-y", "--events", "events.jsonl"]);
    let all = events(&six.world, "events.jsonl");
    let opened = of(&all, "rolloutOpened");
    assert_eq!(opened.len(), 1, "{run}");
    assert_eq!(opened[0]["waves"], json!(["first", "second", "third"]));
    let id = &opened[0]["id"];
    let from = all.iter().position(|e| e["event"] == "rolloutOpened").unwrap();
    assert!(all[from..].iter().all(|e| e["rollout"] == *id), "each says which rollout it is");
    let six_names = ["a1", "b1", "b2", "c1", "c2", "c3"];
    for kind in ["staged", "stepStarted", "stepEnded", "wrote"] {
        assert_eq!(targets(&all, kind), six_names, "{kind}");
    }
    let waves = |kind: &str| -> Vec<Value> {
        of(&all, kind).iter().map(|e| json!([e["wave"], e["of"], e["name"]])).collect()
    };
    let three = [json!([1, 3, "first"]), json!([2, 3, "second"]), json!([3, 3, "third"])];
    assert_eq!((waves("waveStarted"), waves("waveEnded")), (three.to_vec(), three.to_vec()));
    let steps: Vec<Value> = of(&all, "stepEnded")
        .iter()
        .filter(|e| e["target"] == "c2")
        .map(|e| json!([e["number"], e["of"], e["step"], e["ok"]]))
        .collect();
    let want = [
        json!([1, 3, "canary", true]),
        json!([2, 3, "primary", true]),
        json!([3, 3, "clean", true]),
    ];
    assert_eq!(steps, want);
    let last = all.last().unwrap();
    assert_eq!((&last["event"], &last["open"]), (&json!("rolloutEnded"), &json!(false)));

    // The log of the run is in order, says each thing once, and says what each target is at.
    let line = |text: &str| run.stderr.matches(text).count();
    assert_eq!(line("wave 2 of 3 (second): 2 targets"), 1, "{run}");
    assert_eq!(line("c1  3/3 clean: done"), 1, "{run}");
    assert!(run.stdout.contains("web: Succeeded, 6 targets done"), "{run}");
}

#[test]
fn a_rollout_is_watched_until_it_is_closed() {
    let steps = STEPS.replace("  - primary: {}\n", "  - pause: {}\n  - primary: {}\n");
    let six = Six::new("seen-watch", &format!("{WAVES}{steps}"));
    six.ok(0, &["apply", "-y"]);
    six.version("v2");
    six.ok(7, &["rollout", "run", "-y"]);
    let watch = |args: &[&str], file: &str| {
        let path = six.world.path().join(file);
        let mut command = six.world.command(args);
        let child = command.stdout(File::create(&path).unwrap()).stderr(Stdio::piped()).spawn();
        wait_for("the first look", Duration::from_secs(60), || {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.is_empty() { Err("nothing is shown".to_owned()) } else { Ok(()) }
        });
        (child.unwrap(), path)
    };
    let documents = watch(&["rollout", "status", "--watch", "-o", "json"], "documents");
    let lines = watch(&["rollout", "status", "--watch"], "lines");
    let end = |(child, path): (Child, PathBuf)| {
        let run = Run::of(child.wait_with_output().unwrap());
        Run { stdout: std::fs::read_to_string(path).unwrap(), ..run }
    };
    for _ in 0..3 {
        six.ok(0, &["rollout", "approve"]);
        six.world.mcd(&["rollout", "resume", "-y"]);
    }
    let watched = end(documents);
    assert_eq!(watched.code, 0, "{watched}");
    let schema: Value = serde_json::from_str(&six.ok(0, &["schema", "rollout"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let states: Vec<String> = watched
        .stdout
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{wrong:?}");
            value["state"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(states.first().map(String::as_str), Some("waiting"), "{states:?}");
    assert_eq!(states.last().map(String::as_str), Some("succeeded"), "{states:?}");
    let lines = end(lines);
    assert_eq!(lines.code, 0, "{lines}");
    let of_one: Vec<&str> = lines.stdout.lines().filter(|l| l.contains(" c3 ")).collect();
    assert!(of_one.first().is_some_and(|line| line.contains("Pending")), "{lines}");
    assert!(of_one.last().is_some_and(|line| line.contains("Succeeded")), "{lines}");
    let mut said = of_one.clone();
    said.dedup_by_key(|line| line.split_once("  ").map(|(_, rest)| rest));
    assert_eq!(said, of_one, "nothing is said twice");
}

#[test]
fn other_verbs_say_that_a_rollout_is_open() {
    let steps = STEPS.replace("  - primary: {}\n", "  - pause: {}\n  - primary: {}\n");
    let six = Six::new("seen-open", &format!("{WAVES}{steps}"));
    six.ok(0, &["apply", "-y"]);
    six.version("v2");
    six.ok(7, &["rollout", "run", "-y"]);
    let id = six.status()["id"].as_str().unwrap().to_owned();
    let words = format!("rollout {id} is open: wave 1 of 3, step 2/4 pause, paused");
    for verb in ["status", "history"] {
        let run = six.ok(0, &[verb]);
        assert!(run.stdout.contains(&words), "{verb}: {run}");
        let report = six.ok(0, &[verb, "-o", "json"]).json();
        let open = &report["targets"][0]["rollout"];
        assert_eq!(open["id"], json!(id), "{verb}: {report:#}");
        assert_eq!(open["step"], json!({"number": 2, "of": 4, "step": "pause"}), "{verb}");
        assert_eq!((&open["wave"], &open["waves"]), (&json!(1), &json!(3)), "{verb}");
        assert_eq!(report["targets"][5]["rollout"]["state"], "pending", "{verb}");
    }
    let plan = six.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["targets"][0]["rollout"]["id"], json!(id), "{plan:#}");
    assert!(six.ok(0, &["plan"]).stdout.contains(&id));
    six.ok(0, &["freeze", "--reason", "holidays", "-t", "c1"]);
    let run = six.ok(0, &["status", "-t", "c1"]);
    assert!(run.stdout.contains(": holidays"), "{run}");
    let report = six.ok(0, &["status", "-o", "json", "-t", "c1"]).json();
    assert_eq!(report["targets"][0]["freeze"]["reason"], "holidays");
}
