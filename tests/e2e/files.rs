//! Mistakes in the files and on the command line: exit 3, the place, what was probably meant, and
//! no cluster is contacted.

use testbed::{Bed, Context, Proxy};

use crate::support::{World, web};

/// A world whose every request would be seen.
fn watched(prefix: &str) -> (World, Proxy) {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts(prefix, &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", &web("web:1"));
    (world, proxy)
}

/// Every verb that would contact a cluster ends with 3, says the words, and contacts none.
#[track_caller]
fn is_wrong(world: &World, proxy: &Proxy, args: &[&str], words: &[&str]) {
    for verb in [&["plan"][..], &["diff"], &["apply", "-y"]] {
        let run = world.ok(3, &[verb, args].concat());
        for word in words {
            run.says(word);
        }
        assert_eq!(run.stdout, "", "{verb:?} {args:?} {run}");
    }
    assert_eq!(proxy.connections(), 0, "{args:?}");
}

#[test]
fn nothing_is_contacted_and_the_nearest_name_is_told() {
    let (world, proxy) = watched("files");
    let application = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    let fleet = std::fs::read_to_string(world.path().join("fleet.yaml")).unwrap();
    let mut cases: Vec<(&str, String, &[&str])> = Vec::new();
    let with = |from: &str, to: &str| {
        assert!(application.contains(from), "{from}");
        application.replace(from, to)
    };
    cases.push((
        "mcd.yaml",
        with("namespace:", "namepsace:"),
        &["mcd.yaml:6:1", "namepsace", "`namespace`"],
    ));
    cases.push(("mcd.yaml", with("manifests:", "manifest:"), &["mcd.yaml:7", "`manifests`"]));
    cases.push((
        "mcd.yaml",
        with("kind: Application", "kind: Applicaton"),
        &["mcd.yaml:2", "Application"],
    ));
    cases.push(("mcd.yaml", with("v1alpha1", "v1"), &["mcd.yaml:1", "v1alpha1"]));
    cases.push(("mcd.yaml", with("env: test", "env: tset"), &["mcd.yaml:5", "tset"]));
    cases.push(("mcd.yaml", with("labels: {env", "lables: {env"), &["mcd.yaml:5", "`labels`"]));
    cases.push(("mcd.yaml", with("fleet.yaml", "flete.yaml"), &["flete.yaml"]));
    cases.push(("mcd.yaml", with("name: web", "name: Web_1"), &["mcd.yaml:3", "Web_1"]));
    cases.push((
        "mcd.yaml",
        application.clone()
            + "images: [{name: web, newTag: \"{{ vars.tga }}\"}]\nvars: {tag: {default: 1}}\n",
        &["mcd.yaml:8", "tga", "tag"],
    ));
    cases.push((
        "mcd.yaml",
        application.clone() + "vars: {tag: {required: true}}\n",
        &["tag", "--var"],
    ));
    cases.push((
        "mcd.yaml",
        application.clone() + "overrides:\n- select: {clusters: [us-esat]}\n  namespace: x\n",
        &["us-esat"],
    ));
    cases.push(("mcd.yaml", application.clone() + "namespace: again\n", &["mcd.yaml:8", "twice"]));
    cases.push(("mcd.yaml", application.clone() + "  a: [\n", &["mcd.yaml:"]));
    cases.push((
        "fleet.yaml",
        fleet.replace("clusters:", "clustres:"),
        &["fleet.yaml:3:1", "`clusters`"],
    ));
    cases.push((
        "fleet.yaml",
        fleet.replace("name: us-east", "name: us-east, contxt: x"),
        &["fleet.yaml:4", "`context`"],
    ));
    cases.push((
        "fleet.yaml",
        fleet.replace("name: us-east", "name: us-east, context: us-esat"),
        &["us-esat", "us-east"],
    ));
    cases.push((
        "fleet.yaml",
        format!("{fleet}- {{name: us-east}}\n"),
        &["fleet.yaml:5", "us-east"],
    ));
    for (file, text, words) in cases {
        world.write("mcd.yaml", &application);
        world.write("fleet.yaml", &fleet);
        world.write(file, &text);
        is_wrong(&world, &proxy, &[], words);
    }
    world.write("mcd.yaml", &application);
    world.write("fleet.yaml", &fleet);
    for (args, words) in [
        (&["-t", "us-esat"][..], &["us-esat", "us-east"][..]),
        (&["-l", "env=tset"], &["env=tset"]),
        (&["-l", "env in ("], &["env in ("]),
        (&["--var", "tag=1"], &["tag"]),
        (&["-f", "mdc.yaml"], &["mdc.yaml", "--file"]),
        (&["--fleet", "absent.yaml"], &["absent.yaml"]),
        (&["--kubeconfig", "absent"], &["absent"]),
    ] {
        is_wrong(&world, &proxy, args, words);
    }
    // And all is well without the mistakes.
    world.ok(0, &["plan"]);
    assert!(proxy.connections() > 0);
}

/// An empty context, and the ambient one, are never what is meant.
#[test]
fn the_current_context_is_never_used() {
    let (world, proxy) = watched("context");
    let kubeconfig = std::fs::read_to_string(world.kubeconfig.path()).unwrap();
    let current =
        kubeconfig.replace("\"current-context\": \"\"", "\"current-context\": \"us-east\"");
    assert_ne!(current, kubeconfig);
    let path = world.write("config", &current);
    let kubeconfig = ["--kubeconfig", path.to_str().unwrap()];
    let fleet = std::fs::read_to_string(world.path().join("fleet.yaml")).unwrap();
    for context in ["other", "\"\""] {
        world.write(
            "fleet.yaml",
            &fleet.replace("us-east,", &format!("us-east, context: {context},")),
        );
        is_wrong(&world, &proxy, &kubeconfig, &["context"]);
    }
}

/// Two targets that are one would overwrite each other.
#[test]
fn two_names_for_one_place() {
    let cluster = Bed::shared().cluster("us-east");
    let contexts = ["east", "also-east"].map(|name| Context::of(cluster).named(name));
    let world = World::with_contexts("same", &contexts);
    world.plain(&["east", "also-east"]);
    world.write("k8s/all.yaml", &web("web:1"));
    for verb in [&["plan"][..], &["apply", "-y"]] {
        world.ok(3, verb).says("east").says("also-east").says("same");
    }
    assert!(!world.exists("us-east", "deployment", "web"));
}

/// What is wrong in a manifest is told with its file, document and line, in that target's row.
#[test]
fn what_is_wrong_in_a_manifest_has_a_place() {
    let (world, proxy) = watched("places");
    let good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    for (yaml, words) in [
        ("apiVersion: v1\nmetadata: {name: a}\n", &["k8s/all.yaml", "kind"][..]),
        ("kind: ConfigMap\nmetadata: {name: a}\n", &["k8s/all.yaml", "apiVersion"]),
        ("apiVersion: v1\nkind: ConfigMap\n", &["k8s/all.yaml", "name"]),
        ("a: b\n c: d\n", &["k8s/all.yaml:2"]),
        ("a: 1\na: 2\n", &["k8s/all.yaml:2", "a"]),
        ("just text\n", &["k8s/all.yaml"]),
    ] {
        world.write("k8s/all.yaml", yaml);
        for verb in [&["plan"][..], &["diff"], &["apply", "-y"], &["validate"], &["render"]] {
            let run = world.ok(4, verb);
            run.says("us-east");
            for word in words {
                run.says(word);
            }
        }
        world.write("k8s/all.yaml", &format!("{good}---\n{yaml}"));
        world.ok(4, &["plan"]).says("k8s/all.yaml");
    }
    world.write("k8s/all.yaml", &format!("{good}---\n{good}"));
    world.ok(4, &["plan"]).says("twice").says("document 1").says("document 2");
    let requests = proxy.requests();
    assert!(requests.iter().all(|r| !r.is_write), "{requests:?}");
}

/// A render that fails in one target leaves the others to the verbs that read.
#[test]
fn one_target_that_cannot_be_rendered() {
    let world = World::new("one-render");
    world.application(
        &["us-east", "us-west", "eu-west"],
        "render: {kustomize: {path: good}}\noverrides:\n\
         - {select: {clusters: [us-west]}, render: {kustomize: {path: bad}}}\n",
    );
    world.write("good/kustomization.yaml", "resources: [a.yaml]\n");
    world.write("good/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    world.write("bad/kustomization.yaml", "resources: [absent.yaml]\n");
    let plan = world.ok(4, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["create"], 2, "{plan:#}");
    assert_eq!(plan["targets"][1]["state"], "failed");
    // In the tool's own words.
    assert!(plan["targets"][1]["errors"].to_string().contains("absent.yaml"), "{plan:#}");
    world.ok(4, &["diff"]).says("absent.yaml").says("+  name: a");
    world.ok(4, &["render"]).says("name: a").says("absent.yaml");
    world.ok(4, &["apply", "-y"]).says("us-west").says("nothing was written");
    assert!(!world.exists("us-east", "configmap", "a"));
    let apply = world.ok(4, &["apply", "-y", "--keep-going", "-o", "json"]).json();
    assert_eq!(apply["targets"][0]["state"], "healthy", "{apply:#}");
    assert_eq!(apply["targets"][1]["state"], "failed");
    assert!(!world.exists("us-west", "configmap", "a"));
}
