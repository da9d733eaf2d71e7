//! Credential plugins through the command line: run once for all targets of a user, and again when
//! what they gave expires.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testbed::{Bed, Context};

use crate::support::{World, web};

/// A kubeconfig in which a plugin gives a token that is due for renewal after `seconds`, and the file
/// in which it counts its runs.
fn with_plugin(world: &World, token: &str, seconds: u64) -> (String, std::path::PathBuf) {
    let runs = world.path().join("runs.txt");
    // What is due within half a minute is renewed.
    let script = format!(
        "#!/bin/sh\necho run >> {}\n\
         expires=$(date -u -d '+{} seconds' +%Y-%m-%dT%H:%M:%SZ)\n\
         printf '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\
         \"status\":{{\"token\":\"%s\",\"expirationTimestamp\":\"%s\"}}}}' '{token}' \"$expires\"\n",
        runs.display(),
        30 + seconds
    );
    let plugin = world.write("plugin", &script);
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut config: Value =
        serde_json::from_slice(&std::fs::read(world.kubeconfig.path()).unwrap()).unwrap();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"] = json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": plugin,
            "interactiveMode": "Never",
        }});
    }
    let path = world.write("kubeconfig.json", &config.to_string());
    (path.display().to_string(), runs)
}

#[test]
fn what_expires_in_a_long_wait_is_renewed() {
    let bed = Bed::shared();
    // Two targets of one user.
    let east = || Context::of(bed.cluster("us-east"));
    let world = World::with_contexts("plugin", &[east(), east().named("us-west")]);
    let other = bed.namespace("plugin-other");
    world.application(
        &["us-east", "us-west"],
        &format!(
            "render: {{manifests: [k8s/]}}\noverrides: [{{select: {{clusters: [us-west]}}, namespace: {}}}]\n",
            other.name()
        ),
    );
    world.write("k8s/web.yaml", &web("web:never-ready"));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    let namespace = world.namespace.name();
    let account = format!("--serviceaccount={namespace}:default");
    let bind = ["create", "rolebinding", "plugin", "--clusterrole=cluster-admin", &account];
    for namespace in [namespace, other.name()] {
        let args: Vec<&str> = ["-n", namespace].into_iter().chain(bind).collect();
        let output = bed.kubectl(bed.cluster("us-east"), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let token = bed.cluster("us-east").service_account_token(namespace, "default");
    let (kubeconfig, runs) = with_plugin(&world, &token, 600);
    let count = || std::fs::read_to_string(&runs).unwrap().lines().count();
    world.ok(0, &["status", "--kubeconfig", &kubeconfig]).says("Progressing").hides(&token);
    let first = count();
    assert!((1..=2).contains(&first), "once a user, not once a call: {first}");

    // Due again after two seconds: the wait goes on with another one.
    std::fs::remove_file(&runs).unwrap();
    let (kubeconfig, runs) = with_plugin(&world, &token, 2);
    let wait = ["status", "--wait", "--timeout=8s", "--kubeconfig", &kubeconfig];
    world.ok(1, &wait).says("Progressing").hides("401").hides(&token);
    let count = std::fs::read_to_string(&runs).unwrap().lines().count();
    assert!((2..=12).contains(&count), "{count} runs");
}
