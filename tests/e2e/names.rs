//! `-o name` and `-o json` where a table is the least of it: every verb that takes them means them.

use serde_json::json;

use crate::support::{World, web};

#[test]
fn one_name_a_line() {
    let world = World::new("names");
    world.plain(&["us-east", "us-west"]);
    world.write("k8s/all.yaml", &web("web:1"));
    assert_eq!(world.ok(0, &["history", "-o", "name"]).stdout, "");
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y", "-t", "us-west"]);
    let lines = |args: &[&str]| world.ok(0, args).stdout;
    assert_eq!(lines(&["history", "-o", "name"]), "us-east 1\nus-west 2\nus-west 1\n");
    assert_eq!(lines(&["validate", "-o", "name"]), "us-east valid\nus-west valid\n");
    assert_eq!(lines(&["doctor", "-o", "name"]), "", "nothing fails");
    let own = format!("mcd {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines(&["version", "--client", "-o", "name"]), own);
    let versions = lines(&["version", "-o", "name"]);
    let rest = versions.strip_prefix(&own).expect("mcd's own first");
    let names: Vec<&str> = rest.lines().map(|line| line.split(" v1.").next().unwrap()).collect();
    assert_eq!(names, ["us-east", "us-west"], "{versions}");

    world.write(
        "k8s/all.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {porst: []}\n",
    );
    let run = world.mcd(&["validate", "-o", "name"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, "us-east invalid\nus-west invalid\n"), "{run}");
    run.says("porst");
}

#[test]
fn roles_as_a_document() {
    let world = World::new("role-names");
    world.plain(&["us-east", "us-west"]);
    world.write("k8s/all.yaml", &web("web:1"));
    let report = world.ok(0, &["doctor", "--role", "-o", "json"]).json();
    assert_eq!((&report["schema"], &report["exitCode"]), (&json!("mcd.dev/roles/v1"), &json!(0)));
    let sets = report["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 1, "both need the same: {report:#}");
    assert_eq!(sets[0]["targets"], json!(["us-east", "us-west"]));
    let kinds: Vec<&str> =
        sets[0]["roles"].as_array().unwrap().iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"Role") && kinds.contains(&"RoleBinding"), "{kinds:?}");
    let names = world.ok(0, &["doctor", "--role", "-o", "name"]).stdout;
    assert!(names.contains("us-west rolebinding/"), "{names}");
    // Without it they are as they can be applied.
    world.ok(0, &["doctor", "--role"]).says("# us-east, us-west\n---\napiVersion:");
}

/// A record that someone removed: no verb takes the target for one where nothing was deployed.
#[test]
fn a_lost_record_is_told_by_history_and_doctor() {
    let world = World::new("lost-told");
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl("us-east", &["delete", "secret", "mcd.web"]);
    for (code, args) in
        [(6, &["status"][..]), (6, &["history"]), (6, &["history", "-o", "name"]), (1, &["doctor"])]
    {
        world.ok(code, args).says("the record is gone").says("release 1 was applied here");
    }
    let report = world.ok(6, &["history", "-o", "json"]).json();
    assert_eq!(report["targets"][0]["error"]["message"], "the record is gone", "{report:#}");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["history"]).says("active");
    world.ok(0, &["doctor"]);
}
