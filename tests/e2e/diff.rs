//! Differences as people read them: unified or field by field, targets with the same together, by
//! the user's own program.

use crate::support::{CLUSTERS, Run, World, web};

/// Three targets at the first image, and manifests with another one and a further variable.
fn changed(prefix: &str) -> World {
    let world = World::new(prefix);
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]);
    let next = web("web:2").replace("greeting: hello", "greeting: hallo");
    world.write("k8s/web.yaml", &next);
    world
}

#[test]
fn targets_with_the_same_difference_stand_together() {
    let world = changed("diff");
    let diff = world.ok(1, &["diff"]);
    // The hash of the configuration is another one in each target, by the target's own key.
    diff.says("# us-east, us-west, eu-west").says("-  greeting: hello").says("+  greeting: hallo");
    diff.says("mcd.dev/config-hash: (keyed hash, after)");
    assert_eq!(diff.stdout.matches("# us-").count(), 1, "{diff}");
    assert!(diff.stderr.contains("2 objects differ in 3 of 3 targets\n"), "{diff}");
    let hunk = "spec.template.spec.containers";
    assert!(diff.stdout.lines().any(|l| l.starts_with("@@") && l.ends_with(hunk)), "{diff}");

    let fields = world.ok(1, &["diff", "--structural"]);
    fields.says("~ ConfigMap ").says(".data.greeting  hello → hallo");
    fields.says(".spec.template.spec.containers[name=\"web\"].image  web:1 → web:2");
    assert_eq!(fields.stdout.matches("~ Deployment").count(), 1, "{fields}");

    world.ok(1, &["diff", "-o", "name", "-t", "us-west"]).says("us-west configmap/web\n");
    world.ok(1, &["diff", "-q"]).hides("objects differ");
    world.ok(0, &["apply", "-y", "-t", "us-*"]);
    let diff = world.ok(1, &["diff"]);
    diff.says("# eu-west\n").says("2 objects differ in 1 of 3 targets");
    world.ok(0, &["apply", "-y"]);
    let none = world.ok(0, &["diff"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "no differences in 3 targets\n"));
}

fn external(world: &World, program: &str, args: &[&str]) -> Run {
    let mut command = world.command(&[&["diff"], args].concat());
    Run::of(command.env("KUBECTL_EXTERNAL_DIFF", program).output().unwrap())
}

#[test]
fn the_users_own_program_compares() {
    let world = changed("diff-external");
    world.write(
        "k8s/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2-hunter2}\n",
    );
    let run = external(&world, "diff -u -N", &[]);
    assert_eq!(run.code, 1, "{run}");
    run.says("# us-east, us-west, eu-west").says("-  greeting: hello").says("+  greeting: hallo");
    let namespace = world.namespace.name();
    run.says(&format!("MERGED/apps.v1.Deployment.{namespace}.web"));
    run.says(&format!("LIVE/v1.ConfigMap.{namespace}.web"));
    run.says("password: \"***\"").hides("hunter2").says("3 objects differ");
    // A program that finds no difference decides, as with kubectl; one that fails is a failure.
    let run = external(&world, "true", &[]);
    assert_eq!(run.code, 0, "{run}");
    run.says("# us-east");
    let run = external(&world, "diff --no-such-flag", &[]);
    assert_eq!(run.code, 3, "{run}");
    run.says("`diff` of KUBECTL_EXTERNAL_DIFF ended with 2");
    let run = external(&world, "no-such-program-here -u", &[]);
    assert_eq!(run.code, 3, "{run}");
    run.says("`no-such-program-here`").says("cannot be run").says("unset the variable");
    // What is asked for by a flag, or is a document, is mcd's own.
    let run = external(&world, "false", &["--structural"]);
    assert_eq!(run.code, 1, "{run}");
    run.says(".data.greeting  hello → hallo");
    let run = external(&world, "true", &["-o", "json"]);
    assert_eq!((run.code, run.json()["counts"]["change"].as_u64()), (1, Some(6)), "{run}");
    // Nothing differs: the program is not run.
    world.ok(0, &["apply", "-y"]);
    let run = external(&world, "false", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
}

/// A target that cannot be compared: its failure wins, whatever the others show.
#[test]
fn a_target_that_cannot_be_compared_is_counted() {
    let world = World::new("diff-part");
    let other = "overrides:
- select: {clusters: [us-west]}
  render: {manifests: [broken/]}
";
    world.application(&["us-east", "us-west"], &format!("render: {{manifests: [k8s/]}}\n{other}"));
    world.write("k8s/web.yaml", &web("web:1"));
    world.write("broken/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n");
    let run = world.ok(4, &["diff"]);
    run.says("3 objects differ; 1 target not compared").says("+  name: web");
}
