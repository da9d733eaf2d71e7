//! Each exit code with a case, and which wins when several apply. A document says the code that the
//! process ends with.

use testbed::{Admission, Bed, Context, Proxy, Verdict};

use crate::support::{CLUSTERS, Run, World, web};

/// Runs it, also as JSON, whose `exitCode` is the process's. Returns the run for people.
#[track_caller]
fn ends(world: &World, code: i32, args: &[&str]) -> Run {
    let json = world.ok(code, &[args, &["-o", "json"]].concat()).json();
    assert_eq!(json["exitCode"], code, "{json:#}");
    world.ok(code, args)
}

fn single(prefix: &str, yaml: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", yaml);
    world
}

#[test]
fn nothing_wrong_changes_and_differences() {
    let world = single("code-0", &web("web:1"));
    ends(&world, 0, &["plan"]);
    ends(&world, 2, &["plan", "--detailed-exitcode"]);
    ends(&world, 1, &["diff"]);
    ends(&world, 0, &["status"]);
    ends(&world, 0, &["history"]);
    ends(&world, 0, &["validate"]);
    ends(&world, 0, &["apply", "-y"]);
    ends(&world, 0, &["plan", "--detailed-exitcode"]);
    ends(&world, 0, &["diff"]);
    ends(&world, 0, &["status", "--wait", "--timeout=20s"]);
    for args in [&["--help"][..], &["--version"], &["version", "--client"], &["plan", "--help"]] {
        world.ok(0, args);
    }
    let help = world.ok(0, &["--help"]);
    help.says("Exit codes").says("a cluster could not be reached");
}

#[test]
fn a_target_that_failed() {
    let world = single("code-1", &web("web:never-ready"));
    ends(&world, 1, &["apply", "-y", "--timeout=1s"]);
    ends(&world, 0, &["status"]);
    ends(&world, 1, &["status", "--wait", "--timeout=1s"]);
}

#[test]
fn usage_and_configuration() {
    let world = single("code-3", &web("web:1"));
    for args in [
        &["plan", "--nonsense"][..],
        &["nonsense"],
        &["plan", "-o", "nonsense"],
        &["plan", "--var", "novalue"],
        &["apply", "--timeout", "never"],
        &["plan", "-f", "absent.yaml"],
        &["plan", "-t", "absent"],
        &[],
    ] {
        let run = world.ok(3, args);
        assert_eq!(run.stdout, "", "{args:?} {run}");
    }
    // Nobody is there to be asked.
    for args in [&["apply"][..], &["delete"], &["unlock"]] {
        world.ok(3, args).says("-y");
    }
    assert!(!world.exists("us-east", "deployment", "web"));
    world.ok(0, &["apply", "-y"]);
    world.ok(3, &["delete"]).says("-y");
    assert!(world.exists("us-east", "deployment", "web"));
    world.write("mcd.yaml", "kind: Application\n");
    for verb in ["plan", "diff", "status", "history", "targets", "render", "validate"] {
        world.ok(3, &[verb]).says("mcd.yaml");
    }
}

#[test]
fn rendering_and_refusals() {
    let world = single("code-4", "kind: ConfigMap\n");
    for args in [&["plan"][..], &["diff"], &["apply", "-y"], &["validate"]] {
        ends(&world, 4, args);
    }
    world.ok(4, &["render"]);
    world.write("k8s/all.yaml", &web("web:1").replace("port: 80", "port: 80000"));
    for args in [&["plan"][..], &["diff"], &["apply", "-y"]] {
        ends(&world, 4, args);
    }
}

#[test]
fn admission_that_denies() {
    let world = single("code-5", &web("web:1"));
    let deny = Verdict::Deny { code: 403, message: "not on a Friday".to_owned() };
    let _policy = Admission::start(world.cluster("us-east"), world.namespace.name(), deny);
    for args in [&["plan"][..], &["diff"], &["apply", "-y"]] {
        ends(&world, 5, args).says("not on a Friday");
    }
}

/// Three clusters in different trouble: the documented order decides.
#[test]
fn the_first_of_the_order_wins() {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    let contexts = CLUSTERS.map(|name| match name {
        "us-west" => proxy.context(),
        name => Context::of(bed.cluster(name)),
    });
    let world = World::with_contexts("code-order", &contexts);
    let service = |value: &str| {
        format!(
            "overrides:\n- {{select: {{clusters: [us-east]}}, patches: [{{target: {{kind: Service, \
             name: web}}, merge: {{spec: {{type: {value}}}}}}}]}}\n"
        )
    };
    let application = |keys: &str| {
        world.application(&CLUSTERS, &format!("render: {{manifests: [k8s/]}}\n{keys}"));
    };
    application("");
    world.write("k8s/all.yaml", &web("web:1"));
    proxy.refuse();

    // 9 over 2, and for diff over 1.
    ends(&world, 9, &["plan", "--detailed-exitcode"]);
    ends(&world, 9, &["diff"]);
    // 4 over 9, and over diff's 1.
    application(&service("Mirror"));
    ends(&world, 4, &["plan", "--detailed-exitcode"]);
    ends(&world, 4, &["diff"]);
    ends(&world, 4, &["apply", "-y", "--keep-going"]);
    // 1 over 9: not healthy in one, not reached in another.
    application(&service("ClusterIP"));
    world.write("k8s/all.yaml", &web("web:never-ready"));
    ends(&world, 1, &["apply", "-y", "--keep-going", "--timeout=1s"]);
    // 9 over 6: someone else's object in one, not reached in another.
    let path = format!("/api/v1/namespaces/{}/configmaps/other", world.namespace.name());
    let theirs = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}, "data": {"a": "x"},
    });
    world.cluster("eu-west").apply_as("platform-team", &path, &theirs);
    let other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n";
    world.write("k8s/all.yaml", &(web("web:never-ready") + other));
    ends(&world, 9, &["plan"]).says("platform-team").says("connection refused");
    ends(&world, 9, &["diff"]);
    proxy.open();
    // 6 over 2, and over diff's 1? A conflict keeps it from being compared, as the differences do
    // not: the first of the order wins, and 1 stands before 6.
    ends(&world, 6, &["plan", "--detailed-exitcode"]);
    ends(&world, 1, &["diff"]);
    // 5 over 9 and 6.
    proxy.refuse();
    let deny = Verdict::Deny { code: 403, message: "no".to_owned() };
    let _policy = Admission::start(world.cluster("us-east"), world.namespace.name(), deny);
    ends(&world, 5, &["plan"]).says("platform-team");
}
