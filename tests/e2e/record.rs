//! Bad days of a record and of what it knows: nothing is pruned by a record that is not whole, and
//! no two applications own one object.

use std::fmt::Write as _;

use serde_json::json;
use testbed::{Bed, Context};

use crate::support::{World, web};

fn maps(names: &[&str]) -> String {
    let map = |name: &&str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"
        )
    };
    names.iter().map(map).collect()
}

/// A world in which `a`, `b` and `old` are applied, and `old` has left the manifests.
fn world(prefix: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &maps(&["a", "b", "old"]));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &maps(&["a", "b"]));
    world
}

fn patch(world: &World, secret: &str, patch: &serde_json::Value) {
    let patch = patch.to_string();
    world.kubectl("us-east", &["patch", "secret", secret, "--type=merge", "-p", &patch]);
}

/// Nothing but a record that reads as it was written prunes.
#[test]
fn a_record_that_someone_edited_prunes_nothing() {
    let world = world("edited");
    let record = world.live("us-east", "secret", "mcd.web");
    let cases = [
        (json!({"data": {"record": "bm90IGEgcmVjb3Jk"}}), "damaged"),
        (json!({"data": {"record": ""}}), "damaged"),
        (json!({"data": {"record": null}}), "damaged"),
    ];
    for (damage, word) in cases {
        patch(&world, "mcd.web", &damage);
        for verb in [&["plan"][..], &["apply", "-y"], &["delete", "-y"], &["status"]] {
            let run = world.ok(1, verb);
            run.says("Secret ").says("mcd.web").says(word).says("kubectl -n");
        }
        assert!(world.exists("us-east", "configmap", "old"));
    }
    patch(&world, "mcd.web", &json!({"data": record["data"]}));
    world.ok(0, &["apply", "-y"]).says("configmap/old deleted");
}

/// Without its record the application knows of nothing that left: it says what it sees.
#[test]
fn a_record_that_is_gone_prunes_nothing() {
    let world = world("lost");
    world.kubectl("us-east", &["delete", "secret", "mcd.web"]);
    world.ok(0, &["apply", "-y"]).hides("deleted");
    assert!(world.exists("us-east", "configmap", "old"));
    world.ok(0, &["plan", "--detailed-exitcode"]).says("0 to delete");
}

#[test]
fn a_key_that_is_damaged_is_named() {
    let world = world("bad-key");
    world.kubectl("us-east", &["delete", "secret", "mcd-key.web"]);
    world.kubectl(
        "us-east",
        &["create", "secret", "generic", "mcd-key.web", "--from-literal=key=short"],
    );
    for verb in [&["plan"][..], &["apply", "-y"]] {
        world.ok(1, verb).says("mcd-key.web").says("damaged").says("delete secret mcd-key.web");
    }
    assert!(world.exists("us-east", "configmap", "old"));
    world.kubectl("us-east", &["delete", "secret", "mcd-key.web"]);
    world.ok(0, &["apply", "-y"]).says("configmap/old deleted");
}

/// A renamed application is another one: the objects are the old one's until it is deleted.
#[test]
fn an_application_that_was_renamed() {
    let world = world("renamed");
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write("new.yaml", &file.replace("metadata: {name: web}", "metadata: {name: shop}"));
    let new = |code: i32, args: &[&str]| world.ok(code, &[args, &["-f", "new.yaml"]].concat());
    let run = new(6, &["plan"]);
    run.says(&format!("it belongs to the application `{}/web`", world.namespace.name()));
    new(6, &["apply", "-y"]).says("nothing was written");
    new(6, &["apply", "-y", "--force-conflicts"]).says("nothing was written");
    // The old one still knows all that is its own.
    world.ok(0, &["delete", "-y"]).says("3 deleted");
    new(0, &["apply", "-y"]).says("2 created");
    new(0, &["delete", "-y"]).says("2 deleted");
}

/// Two applications with one object: the second is refused, and neither prunes the other's.
#[test]
fn two_applications_with_one_object() {
    let world = World::new("two-apps");
    world.plain(&["us-east"]);
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write(
        "other.yaml",
        &file.replace("{name: web}", "{name: other}").replace("[k8s/]", "[other/]"),
    );
    world.write("k8s/all.yaml", &maps(&["shared", "a", "b"]));
    world.write("other/all.yaml", &maps(&["c", "d"]));
    let other = |code: i32, args: &[&str]| world.ok(code, &[args, &["-f", "other.yaml"]].concat());
    world.ok(0, &["apply", "-y"]);
    other(0, &["apply", "-y"]);
    world.write("other/all.yaml", &maps(&["c", "d", "shared"]));
    other(6, &["apply", "-y"]).says("shared").says(&format!("`{}/web`", world.namespace.name()));
    // It was never the other's, so what left its manifests is not pruned from the first.
    world.write("other/all.yaml", &maps(&["c", "d"]));
    other(0, &["apply", "-y"]).hides("deleted");
    other(0, &["delete", "-y"]).says("2 deleted");
    let live = world.live("us-east", "configmap", "shared");
    assert_eq!(live["data"]["a"], "b");
    world.ok(0, &["diff", "--verify"]);
}

/// What is handed over: out of the one's manifests first, then into the other's.
#[test]
fn an_object_that_goes_from_one_application_to_another() {
    let world = World::new("hand-over");
    world.plain(&["us-east"]);
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write(
        "other.yaml",
        &file.replace("{name: web}", "{name: other}").replace("[k8s/]", "[other/]"),
    );
    world.write("k8s/all.yaml", &maps(&["moves", "a", "b"]));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/all.yaml", &maps(&["a", "b"]));
    world.write("other/all.yaml", &maps(&["moves"]));
    world.ok(0, &["apply", "-y"]).says("configmap/moves deleted");
    world.ok(0, &["apply", "-y", "-f", "other.yaml"]).says("configmap/moves created");
    world.ok(0, &["plan", "--detailed-exitcode"]);
    world.ok(0, &["diff", "--verify", "-f", "other.yaml"]);
}

/// Many objects, and a release in parts: applied, planned without a change, pruned, deleted.
#[test]
fn two_thousand_objects_of_four_megabytes() {
    let world = World::new("many");
    world.plain(&["us-east"]);
    let mut random = 7u64;
    // Text that does not compress well: the release is over 3 MiB then, in several parts.
    let mut text = || {
        let mut line = String::new();
        for _ in 0..150 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let _ = write!(line, "{random:016x}");
        }
        line
    };
    let mut all = |count: usize| -> Vec<String> {
        (0..count)
            .map(|n| {
                format!(
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{n:04}}}\ndata: {{a: \"{}\"}}\n",
                    text()
                )
            })
            .collect()
    };
    let yaml = all(2000);
    world.write("k8s/all.yaml", &yaml.concat());
    world.ok(0, &["apply", "-y", "-o", "json"]);
    let secrets = world.kubectl("us-east", &["get", "secret", "-o", "name"]);
    let parts = secrets.lines().filter(|name| name.contains("mcd-release.web.1")).count();
    assert!(parts > 3, "{parts} parts\n{secrets}");
    let plan = world.ok(0, &["plan", "--detailed-exitcode", "-o", "json"]).json();
    assert_eq!(plan["counts"]["unchanged"], 2000);
    world.write("k8s/all.yaml", &yaml[..1500].concat());
    let run = world.ok(0, &["apply", "-y", "-o", "json"]).json();
    assert_eq!(run["targets"][0]["objects"], json!({"deleted": 500, "unchanged": 1500}));
    world.ok(0, &["plan", "--detailed-exitcode", "-o", "json"]);
    // Back to all that it had, from the parts.
    let run = world.ok(0, &["rollback", "-y", "-o", "json"]).json();
    assert_eq!(run["targets"][0]["objects"], json!({"created": 500, "unchanged": 1500}));
    let last = world.live("us-east", "configmap", "m1999")["data"]["a"].clone();
    assert!(yaml[1999].contains(last.as_str().unwrap()), "{last}");
    let run = world.ok(0, &["delete", "-y", "-o", "json"]).json();
    assert_eq!(run["targets"][0]["objects"]["deleted"], 2000);
    assert_eq!(world.kubectl("us-east", &["get", "secret,lease", "-o", "name"]), "");
}

/// The kubeconfig's own namespace has no say: what names none goes where the application says, and
/// stays there (T7).
#[test]
fn the_namespace_of_the_context_prunes_nothing() {
    let bed = Bed::shared();
    let elsewhere = bed.namespace("ctx-ns");
    let context = Context::of(bed.cluster("us-east")).in_namespace(elsewhere.name());
    let world = World::with_contexts("t7", &[context]);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &web("web:1"));
    for _ in 0..2 {
        world.ok(0, &["apply", "-y"]).hides("deleted").says("Healthy");
        assert!(world.exists("us-east", "deployment", "web"));
    }
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", elsewhere.name());
    assert_eq!(world.cluster("us-east").get(&path)["items"], json!([]));
}

/// Copies of the label on what controllers make, and others' objects, are never candidates (T12).
#[test]
fn what_only_carries_the_label_is_nobodys_to_prune() {
    let world = World::new("t12");
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &(web("web:1") + &maps(&["old"])));
    world.ok(0, &["apply", "-y"]);
    let label = format!("mcd.dev/app={}.web", world.namespace.name());
    world.kubectl("us-east", &["create", "configmap", "stranger"]);
    world.kubectl("us-east", &["label", "configmap", "stranger", &label]);
    world.write("k8s/all.yaml", &web("web:1"));
    world.ok(0, &["apply", "-y"]).says("1 deleted");
    assert!(world.exists("us-east", "configmap", "stranger"));
    let slices = world.kubectl("us-east", &["get", "endpointslices", "-o", "name"]);
    assert_eq!(slices.lines().count(), 1, "{slices}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
    assert!(world.exists("us-east", "configmap", "stranger"));
}
