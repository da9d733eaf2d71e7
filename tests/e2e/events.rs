//! `--events FILE`: what programs read along.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::{World, web};

/// The lines of a file of events, each of which is as the schema says.
#[track_caller]
pub(crate) fn events(world: &World, file: &str) -> Vec<Value> {
    let schema: Value = serde_json::from_str(&world.ok(0, &["schema", "event"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let text = std::fs::read_to_string(world.path().join(file)).expect("events");
    assert!(text.ends_with('\n'), "whole lines: {text:?}");
    let lines = text.lines().map(|line| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{line}: {wrong:?}");
        value
    });
    lines.collect()
}

/// The events of one kind.
pub(crate) fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn every_event_of_a_run_is_a_line_that_the_schema_knows() {
    let world = World::new("events");
    world.plain(&["us-east", "eu-west"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y", "--events", "events.jsonl"]);
    let first = events(&world, "events.jsonl");
    for event in &first {
        assert_eq!(event["schema"], "mcd.dev/event/v1");
        let time = event["time"].as_str().expect("a time");
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
    }
    let wrote = of(&first, "wrote");
    let created = |target: &str| {
        let deployment = |event: &&&Value| {
            event["target"] == target
                && event["object"]["kind"] == "Deployment"
                && event["verb"] == "created"
        };
        wrote.iter().filter(deployment).count()
    };
    assert_eq!((created("us-east"), created("eu-west")), (1, 1), "{wrote:?}");
    assert!(of(&first, "finished").iter().all(|event| event["ok"] == true));
    assert_eq!(of(&first, "finished").len(), 2);
    let mode = std::fs::metadata(world.path().join("events.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Another run goes on in the same file.
    world.ok(0, &["delete", "-y", "--events", "events.jsonl"]);
    let both = events(&world, "events.jsonl");
    assert_eq!(both[..first.len()], first);
    assert!(of(&both[first.len()..], "wrote").iter().all(|event| event["verb"] == "deleted"));
}

#[test]
fn events_that_cannot_be_written_stop_a_run_before_anything() {
    let world = World::new("events");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    for path in ["no/such/folder/events.jsonl", "-"] {
        let run = world.ok(3, &["apply", "-y", "--events", path]);
        assert!(run.stderr.contains("cannot write events to"), "{run}");
    }
    let names = world.kubectl("us-east", &["get", "deployments,secrets", "-o", "name"]);
    assert_eq!(names, "");
}
