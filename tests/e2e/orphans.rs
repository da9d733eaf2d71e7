//! Targets that left the selection: seen, and removed when that is asked for (T6).

use testbed::{Bed, Context, Proxy};

use crate::support::{World, web};

const OTHERS: &str = "metadata: {name: web}";

/// A fleet of three, of which the application selects those with `tier: TIER`.
fn fleet(world: &World, tiers: [&str; 3]) {
    let list: Vec<String> = ["us-east", "us-west", "eu-west"]
        .iter()
        .zip(tiers)
        .map(|(name, tier)| format!("- {{name: {name}, labels: {{tier: {tier}}}}}\n"))
        .collect();
    world.write(
        "fleet.yaml",
        &format!("apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nclusters:\n{}", list.concat()),
    );
    world.write(
        "mcd.yaml",
        &format!(
            "apiVersion: mcd.dev/v1alpha1\nkind: Application\n{OTHERS}\nfleet: fleet.yaml\n\
             select: {{labels: {{tier: in}}}}\nnamespace: NAMESPACE\nvars: {{tag: {{required: true}}}}\n\
             render: {{manifests: [k8s/]}}\nimages: [{{name: web, newTag: \"{{{{ vars.tag }}}}\"}}]\n"
        ),
    );
    world.write("k8s/all.yaml", &web("web:1"));
}

const TAG: &str = "--var=tag=1";

#[test]
fn a_target_that_left_the_selection_is_reported_and_removed_by_name() {
    let world = World::new("orphan");
    fleet(&world, ["in", "in", "out"]);
    world.ok(0, &["apply", "-y", TAG]);
    fleet(&world, ["in", "out", "out"]);
    let run = world.ok(0, &["plan", "--detailed-exitcode", TAG]);
    run.says("orphaned").says("not selected any more; 3 objects stayed");
    run.says("`mcd delete -t us-west` removes what is left").hides("eu-west");
    run.says("Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged in 1 target.");
    let plan = world.ok(0, &["plan", "-o", "json", TAG]).json();
    let states: Vec<&str> =
        plan["targets"].as_array().unwrap().iter().map(|t| t["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["unchanged", "orphaned"], "{plan:#}");
    let status = world.ok(0, &["status"]);
    status.says("Orphaned").says("mcd delete -t us-west");
    world.ok(0, &["status", "-t", "us-west"]).says("Healthy");
    // Only what is looked for is looked at.
    world.ok(0, &["plan", "-t", "us-east", TAG]).hides("us-west");
    // An apply leaves it, and does not deploy to it by name.
    world.ok(0, &["apply", "-y", TAG]);
    world.ok(3, &["apply", "-y", "-t", "us-west", TAG]).says("mcd delete -t us-west");
    assert!(world.exists("us-west", "deployment", "web"));
    // A glob chooses among what is selected.
    world.ok(0, &["delete", "--dry-run", "-t", "us-*"]).hides("us-west");

    world.ok(0, &["delete", "-y", "-t", "us-west"]).says("3 deleted");
    assert!(!world.exists("us-west", "deployment", "web"));
    assert!(world.exists("us-east", "deployment", "web"));
    world.ok(0, &["plan", TAG]).hides("orphaned");
    world.ok(0, &["status"]).hides("Orphaned");
    world.ok(0, &["delete", "-y", "-t", "eu-west"]).says("nothing to delete");
}

/// A cluster that nobody asked for fails nothing.
#[test]
fn one_that_cannot_be_looked_at_is_said_softly() {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    let contexts = [Context::of(bed.cluster("us-east")), proxy.context()];
    let world = World::with_contexts("orphan-down", &contexts);
    fleet(&world, ["in", "out", "out"]);
    proxy.refuse();
    let run = world.ok(0, &["apply", "-y", TAG]);
    run.hides("eu-west");
    let run = world.ok(0, &["plan", "--detailed-exitcode", TAG]);
    // The one is down, of the other the kubeconfig has no context.
    run.says("not looked at for what an earlier selection left there: us-west, eu-west");
    world.ok(0, &["status"]).says("us-west, eu-west");
}
