//! A plan as a preview of a change to several targets, each with its own overlay: what changes
//! with both values, secrets masked but told apart, a broken overlay beside the others.

use serde_json::{Value, json};

use crate::support::{CLUSTERS, World};

const BASE: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.example.com/web:v0.1.0}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
data: {a: b}
";

const SECRETS: &str = "apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {password: first-password, same: stays-the-same}
---
apiVersion: v1
kind: Secret
metadata: {name: encoded}
data: {token: Zmlyc3QtdG9rZW4=}
";

fn overlay(world: &World, name: &str, resources: &str, tag: &str) {
    world.write(
        &format!("overlays/{name}/kustomization.yaml"),
        &format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
             resources: [{resources}]\nimages: [{{name: registry.example.com/web, newTag: {tag}}}]\n"
        ),
    );
}

/// The changes of a target: action, kind and name, and the fields.
fn changes(plan: &Value, target: usize) -> Vec<(String, Vec<Value>)> {
    let changes = plan["targets"][target]["changes"].as_array().unwrap();
    let name = |c: &Value| {
        let part = |key: &str| c[key].as_str().or(c["object"][key].as_str()).unwrap().to_owned();
        format!("{} {} {}", part("action"), part("kind"), part("name"))
    };
    changes.iter().map(|c| (name(c), c["fields"].as_array().unwrap().clone())).collect()
}

#[test]
fn a_change_to_several_targets() {
    let world = World::new("preview");
    world.application(
        &CLUSTERS,
        "render: {kustomize: {path: \"overlays/{{ target.name }}\"}}\n\
         overrides:\n- select: {clusters: [us-west]}\n  \
         render: {kustomize: {args: [--load-restrictor=LoadRestrictionsNone]}}\n",
    );
    world.write("base/kustomization.yaml", "resources: [all.yaml]\n");
    world.write("base/all.yaml", BASE);
    world.write("shared.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n");
    world.write("overlays/us-east/secrets.yaml", SECRETS);
    overlay(&world, "us-east", "../../base, secrets.yaml", "v0.1.0");
    // Only with this target's own option.
    overlay(&world, "us-west", "../../base, ../../shared.yaml", "v0.1.0");
    overlay(&world, "eu-west", "../../base", "v0.1.0");
    world.ok(0, &["apply", "-y", "--wait=false"]);
    world.ok(0, &["plan", "--detailed-exitcode"]);

    overlay(&world, "us-east", "../../base, secrets.yaml, added.yaml", "v0.2.0");
    world.write(
        "overlays/us-east/secrets.yaml",
        &SECRETS.replace("first-password", "other-password").replace("Zmlyc3Qt", "b3RoZXIt"),
    );
    world.write(
        "overlays/us-east/added.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: added}\nstringData: {key: third-secret}\n",
    );
    overlay(&world, "eu-west", "../../base, missing.yaml", "v0.2.0");

    let run = world.ok(4, &["plan", "-o", "json"]);
    let hidden = [
        "first-password",
        "other-password",
        "stays-the-same",
        "third-secret",
        "Zmlyc3Qt",
        "b3RoZXIt",
        "Zmlyc3QtcGFzc3dvcmQ",
        "dGhpcmQtc2VjcmV0",
    ];
    for text in hidden {
        run.hides(text);
    }
    let plan = run.json();
    let east = changes(&plan, 0);
    let names: Vec<&str> = east.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "create Secret added",
        "change Secret encoded",
        "change Secret plain",
        "change Deployment web",
    ];
    assert_eq!(names, expected, "in a stable order");
    let image = &east[3].1;
    assert_eq!(image.len(), 1, "{image:#?}");
    assert_eq!(image[0]["path"], r#".spec.template.spec.containers[name="web"].image"#);
    assert_eq!(image[0]["before"], "registry.example.com/web:v0.1.0");
    assert_eq!(image[0]["after"], "registry.example.com/web:v0.2.0");
    // What is masked still says what differs: the value that stays is not among the fields.
    for (object, path) in [(1, ".data.token"), (2, ".data.password")] {
        let fields = &east[object].1;
        assert_eq!(fields.len(), 1, "{fields:#?}");
        assert_eq!(fields[0]["path"], path);
        assert_ne!(fields[0]["before"], fields[0]["after"], "{fields:#?}");
    }
    let counts = json!({
        "create": 1, "change": 3, "delete": 0, "unchanged": 1, "conflicts": 0, "refused": 0, "left": 0
    });
    for (key, count) in counts.as_object().unwrap() {
        assert_eq!(&plan["targets"][0]["counts"][key], count, "{key} of {plan:#}");
    }
    assert_eq!(plan["targets"][1]["state"], "unchanged");
    assert_eq!(changes(&plan, 1), []);
    let broken = &plan["targets"][2];
    assert_eq!((&broken["state"], &broken["errors"][0]["exitCode"]), (&json!("failed"), &json!(4)));
    assert!(broken["errors"].to_string().contains("missing.yaml"), "{broken:#}");

    let text = world.ok(4, &["plan"]);
    for part in hidden {
        text.hides(part);
    }
    text.says("registry.example.com/web:v0.1.0 → registry.example.com/web:v0.2.0")
        .says("no changes")
        .says("missing.yaml");
    // And a writing command writes nowhere.
    world.ok(4, &["apply", "-y"]).says("nothing was written");
    assert!(!world.exists("us-east", "secret", "added"));
}
