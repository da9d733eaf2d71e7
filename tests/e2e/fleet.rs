//! Many targets: what they share is done once, and what they say is read as one.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use testbed::{Bed, Context, Proxy};

use crate::support::World;

const KUSTOMIZATION: &str = "apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [config.yaml]
";

const CONFIG: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {greeting: hello}
";

/// Counts what it is asked, and does it.
const COUNTING: &str = "#!/bin/sh
echo \"$*\" >> \"$(dirname \"$0\")/asked\"
exec KUSTOMIZE \"$@\"
";

#[test]
fn a_hundred_targets_with_one_overlay_run_kustomize_once() {
    let names: Vec<String> = (0..100).map(|n| format!("c{n:03}")).collect();
    let contexts: Vec<Context> =
        names.iter().map(|n| Context::of(Bed::shared().cluster("us-east")).named(n)).collect();
    let world = World::with_contexts("fleet", &contexts);
    let clusters: Vec<&str> = names.iter().map(String::as_str).collect();
    world.application(&clusters, "render: {kustomize: {path: overlay, version: 5.8.2}}\n");
    world.write("overlay/kustomization.yaml", KUSTOMIZATION);
    world.write("overlay/config.yaml", CONFIG);
    let real = world.bed.tools_dir().join("kustomize/5.8.2/kustomize");
    let tool = world.write("bin/kustomize", &COUNTING.replace("KUSTOMIZE", real.to_str().unwrap()));
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();

    let run = world.ok(0, &["render", "--kustomize-bin", tool.to_str().unwrap()]);
    assert_eq!(run.stdout.matches("greeting: hello").count(), 100, "{run}");
    let asked = std::fs::read_to_string(world.path().join("bin/asked")).unwrap();
    let builds = asked.lines().filter(|line| line.starts_with("build")).count();
    assert_eq!((builds, asked.lines().count()), (1, 2), "one build, one question for the version");
}

#[test]
fn targets_of_one_server_ask_it_once_what_it_serves() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let names = ["a", "b", "c", "d"];
    let contexts: Vec<Context> = names.iter().map(|n| proxy.context().named(*n)).collect();
    let world = World::with_contexts("fleet-one", &contexts);
    let others: Vec<_> = names.iter().map(|_| world.bed.namespace("fleet-one")).collect();
    let overrides: String = names
        .iter()
        .zip(&others)
        .map(|(name, ns)| {
            format!("- {{select: {{clusters: [{name}]}}, namespace: {}}}\n", ns.name())
        })
        .collect();
    world.application(&names, &format!("render: {{manifests: [k8s/]}}\noverrides:\n{overrides}"));
    world.write("k8s/config.yaml", CONFIG);
    world.ok(0, &["apply", "-y"]);
    proxy.clear_log();
    let plan = world.ok(0, &["plan", "--detailed-exitcode", "-o", "json"]).json();
    assert_eq!(plan["targets"].as_array().unwrap().len(), 4);
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for request in proxy.requests() {
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        *asked.entry(path).or_default() += 1;
    }
    for path in ["/version", "/api", "/apis"] {
        assert_eq!(asked.get(path), Some(&1), "{path} of {asked:#?}");
    }
    // Record, key, and the LIST.
    assert_eq!(asked.values().sum::<usize>(), 3 + 4 * 3, "{asked:#?}");
}
