//! How each target is reached, and why, as the plan says it (T10); waves, and the targets of one.

use serde_json::Value;

use crate::rollout_world::{STEPS, Six, WAVES};
use crate::support::{CLUSTERS, World, web};

/// Strategy and reason of each target, in the order of waves.
fn strategies(plan: &Value) -> Vec<(String, String, String)> {
    let waves = plan["rollout"]["waves"].as_array().expect("waves");
    let targets = waves.iter().flat_map(|wave| wave["targets"].as_array().expect("targets"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    targets.map(|t| (text(&t["target"]), text(&t["strategy"]), text(&t["reason"]))).collect()
}

fn told(plan: &Value) -> Vec<String> {
    strategies(plan).iter().map(|(target, how, why)| format!("{target} {how}: {why}")).collect()
}

const ROLLOUT: &str = "rollout:
  steps: [{canary: {replicas: 1}}, {pause: {for: 1s}}, {primary: {}}, {clean: {}}]
";

#[test]
fn each_target_is_reached_by_what_changes_in_it() {
    let world = World::new("strategy");
    let files = |keys: &str| {
        world.application(&CLUSTERS, &format!("render: {{manifests: [k8s/]}}\n{ROLLOUT}{keys}"));
    };
    files("");
    world.write("k8s/web.yaml", &web("registry.example/web:1.27"));
    let first = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(
        told(&first),
        CLUSTERS.map(|c| format!("{c} plain: first deployment: steps are skipped"))
    );
    assert_eq!(first["rollout"]["opens"], false, "one wave, and no steps: {first:#}");
    world.ok(0, &["apply", "-y"]).says("No rollout: nothing goes through steps");
    let idle = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(told(&idle), CLUSTERS.map(|c| format!("{c} none: no changes")));
    world.ok(0, &["plan"]).hides("Rollout").hides("rollout");

    // An image in one target, a count in another, nothing in the third.
    let keys = "overrides:
- select: {clusters: [eu-west]}
  images: [{name: registry.example/web, newTag: \"1.28\"}]
- select: {clusters: [us-west]}
  replicas: [{name: web, count: 3}]
";
    files(keys);
    let run = world.ok(0, &["plan", "-o", "json"]);
    let plan = run.json();
    assert_eq!(
        told(&plan),
        [
            "us-east none: no changes",
            "us-west plain: scale Deployment/web from 2 to 3",
            "eu-west steps: image web 1.27 → 1.28",
        ]
    );
    assert_eq!(plan["rollout"]["opens"], true);
    assert_eq!(
        plan["rollout"]["steps"],
        serde_json::json!(["canary 1", "pause 1s", "primary", "clean"])
    );
    let targets = &plan["rollout"]["waves"][0]["targets"];
    assert_eq!(
        [&targets[0]["steps"], &targets[1]["steps"], &targets[2]["steps"]],
        [&serde_json::json!([]), &serde_json::json!([3]), &serde_json::json!([1, 2, 3, 4])]
    );
    let schema = world.ok(0, &["schema", "plan"]).json();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(&plan).map(|e| e.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    world
        .ok(0, &["plan"])
        .says("steps: 1 canary 1, 2 pause 1s, 3 primary, 4 clean")
        .says("us-west   plain      3       scale Deployment/web from 2 to 3")
        .says("eu-west   steps      1-4     image web 1.27 → 1.28")
        .says("us-east   none       -       no changes");
    world.ok(0, &["apply", "--dry-run"]).says("eu-west   steps      1-4     image web 1.27 → 1.28");

    // What is asked for wins, but for what does not change.
    let plain = world.ok(0, &["plan", "--strategy", "plain", "-o", "json"]).json();
    assert_eq!(plain["rollout"]["opens"], false);
    assert_eq!(told(&plain)[2], "eu-west plain: asked for; image web 1.27 → 1.28");
    let steps = world.ok(0, &["plan", "--strategy", "steps", "-o", "json"]).json();
    assert_eq!(
        told(&steps)[..2],
        ["us-east none: no changes", "us-west steps: asked for; scale Deployment/web from 2 to 3"]
    );
    world.ok(0, &["apply", "-y", "--strategy", "plain"]);
    assert_eq!(world.live("us-west", "deployment", "web")["spec"]["replicas"], 3);
    world.ok(0, &["plan", "--detailed-exitcode"]);

    // Configuration that the pods use; a workload more; a Service.
    let all = |text: &str| {
        world.write("k8s/web.yaml", text);
        let plan = world.ok(0, &["plan", "-o", "json", "-t", "us-east"]).json();
        told(&plan).remove(0)
    };
    let live = web("registry.example/web:1.27");
    assert_eq!(
        all(&live.replace("hello", "good day")),
        "us-east steps: ConfigMap/web changed",
        "its pods restart"
    );
    assert_eq!(all(&live.replace("port: 80", "port: 81")), "us-east plain: changes Service/web");
    let explicit = live.replace("{name: web}\n", "{name: web, namespace: NAMESPACE}\n");
    assert_ne!(explicit, live);
    assert_eq!(all(&explicit), "us-east none: no changes", "the same objects");
    let worker = live.split("---").next().unwrap().replace("name: web\n", "name: worker\n");
    let worker = worker.replace("metadata: {name: web}", "metadata: {name: worker}");
    assert_eq!(all(&format!("{live}---\n{worker}")), "us-east steps: Deployment/worker is new");
}

#[test]
fn steps_are_asked_for_only_where_there_are_some() {
    let world = World::new("strategy-none");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("registry.example/web:1"));
    for verb in [&["plan", "--strategy", "steps"][..], &["apply", "-y", "--strategy", "steps"]] {
        world.ok(3, verb).says("no `rollout.steps`").says("canary");
    }
    world.ok(3, &["plan", "--strategy", "quick"]).says("auto, plain, steps");
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert!(plan.get("rollout").is_none(), "{plan:#}");
    world.ok(0, &["plan"]).hides("ollout").hides("STRATEGY");
    world.ok(3, &["plan", "--wave", "first"]).says("no `rollout.waves`");
}

#[test]
fn waves_are_in_the_plan_and_can_be_chosen() {
    let waves = "  waves:
  - {name: first, select: {labels: {wave: one}}, soak: 1s}
  - {name: second, select: {labels: {wave: two}}, maxConcurrent: 50%, maxFailures: 1, mandatory: [b2], progressDeadline: 90s}
  - {name: rest, maxConcurrent: 25%, approval: true}
";
    let six = Six::new("strategy-waves", &format!("{waves}{STEPS}"));
    let listed = six.ok(0, &["targets"]);
    for (name, wave) in [("a1", "first"), ("b2", "second"), ("c3", "rest")] {
        let line = listed.stdout.lines().find(|line| line.starts_with(name)).expect("a row");
        assert!(line.contains(&format!(" {wave} ")), "{listed}");
    }
    let wave = &six.ok(0, &["targets", "-o", "json"]).json()["targets"][3]["wave"];
    assert_eq!(*wave, "rest");

    let plan = six.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["rollout"]["opens"], true, "three waves, though no steps");
    let numbers: Vec<(&Value, &Value, &Value, &Value, usize)> = plan["rollout"]["waves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| {
            let targets = w["targets"].as_array().unwrap().len();
            (&w["name"], &w["maxConcurrent"], &w["maxFailures"], &w["approval"], targets)
        })
        .collect();
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    assert_eq!(
        numbers,
        [
            (&"first".into(), &1.into(), &0.into(), &no, 1),
            (&"second".into(), &1.into(), &1.into(), &no, 2),
            (&"rest".into(), &1.into(), &0.into(), &yes, 3),
        ]
    );
    six.ok(0, &["plan"])
        .says("Rollout in 3 waves.")
        .says("first    1 of 1    0          -          10m        1s     at once")
        .says("second   1 of 2    1          b2         1m30s      -      after first")
        .says(
            "rest     1 of 3    0          -          10m        -      after second and approval",
        )
        .says("first deployment: steps are skipped");

    // A wave alone, and two.
    let one = six.ok(0, &["plan", "--wave", "second", "-o", "json"]).json();
    assert_eq!(
        strategies(&one).iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(),
        ["b1", "b2"]
    );
    six.ok(0, &["status", "--wave", "first", "--wave", "rest", "-o", "name"]).hides("b1");
    six.ok(3, &["apply", "-y", "--wave", "frist"]).says("did you mean `first`?");
    six.ok(3, &["apply", "-y", "--wave", "first", "-t", "b1"]).says("is in the wave `first`");

    // Of a wave without rules of its own an apply is a plain one.
    six.files(WAVES);
    six.ok(0, &["apply", "-y", "--wave", "second"]);
    assert_eq!(six.tags(), ["-", "v1", "v1", "-", "-", "-"]);
    six.ok(0, &["history", "--wave", "second", "-o", "json"]);
    six.ok(0, &["rollout", "status"]).says("there is no rollout");
}
