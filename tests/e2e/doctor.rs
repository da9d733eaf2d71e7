//! `mcd doctor`: what it finds is what a run would meet.

use serde_json::{Value, json};
use testbed::{Bed, Context, Proxy, User};

use crate::support::{CLUSTERS, Run, World, web};

/// State and message of a check.
#[track_caller]
fn check(report: &Value, target: &str, name: &str) -> (String, String) {
    let targets = report["targets"].as_array().unwrap();
    let target = targets.iter().find(|t| t["target"] == target).unwrap();
    let checks = target["checks"].as_array().unwrap();
    let found = checks.iter().find(|c| c["check"] == name).unwrap_or_else(|| panic!("{report:#}"));
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("state"), text("message"))
}

/// One cluster, as another user, with the rights of the test's namespace that `verbs` say.
fn as_user(prefix: &str, user: &str) -> World {
    let context = Context::of(Bed::shared().cluster("us-east")).as_user(User::named(user));
    let world = World::with_contexts(prefix, &[context]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world
}

fn doctor(world: &World, code: i32) -> Value {
    world.ok(code, &["doctor", "-o", "json"]).json()
}

#[test]
fn a_healthy_fleet_and_what_it_was_asked() {
    let world = World::new("doctor");
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));
    let run = world.ok(0, &["doctor"]);
    run.says("Nothing would fail in 3 targets.").says("not deployed yet").hides("FAIL");
    assert_eq!(run.stderr, "", "{run}");
    assert_eq!(run.stdout.lines().count(), 6, "a line a target: {run}");
    world.ok(0, &["doctor", "-v"]).says("verified by the kubeconfig's authority");
    let report = doctor(&world, 0);
    for (name, words) in [
        ("context", "`us-west`"),
        ("reachable", "v1."),
        ("tls", "verified by the kubeconfig's authority"),
        ("user", "testbed-admin"),
        ("render", "3 objects by plain manifests"),
        ("apis", "all 3 kinds are served"),
        ("plan", "all 7 rights"),
        ("lock", "free"),
    ] {
        let (state, message) = check(&report, "us-west", name);
        assert_eq!(state, "ok", "{name}: {message}");
        assert!(message.contains(words), "{name}: {message}");
    }
    assert!(report["targets"][0]["identity"]["kubeSystem"].is_string(), "{report:#}");
    world.ok(0, &["apply", "-y"]);
    assert_eq!(check(&doctor(&world, 0), "eu-west", "state").1, "release 1 is active");
    assert_eq!(world.ok(0, &["doctor", "-o", "name"]).stdout, "");
}

/// It changes nothing.
#[test]
fn it_writes_nothing() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("doctor-reads", &[proxy.context()]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["doctor"]);
    assert_eq!(proxy.writes(), []);
}

/// What is wrong with one target never hides another.
#[test]
fn each_target_is_looked_at_for_itself() {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    proxy.refuse();
    let world = World::with_contexts(
        "doctor-each",
        &[
            Context::of(bed.cluster("us-east")).without_verification(),
            proxy.context(),
            Context::of(bed.cluster("eu-west")).as_user(User::Token("stale".into())),
        ],
    );
    world.plain(&["us-east", "us-west", "eu-west", "nowhere"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let report = doctor(&world, 1);
    assert_eq!(check(&report, "us-east", "tls").0, "warn");
    assert_eq!(check(&report, "us-east", "apply").0, "ok");
    assert_eq!(check(&report, "us-west", "reachable").0, "fail");
    assert_eq!(check(&report, "us-west", "apply").0, "skipped");
    let (state, message) = check(&report, "eu-west", "reachable");
    assert_eq!(state, "fail");
    assert!(message.contains("(401)"), "{message}");
    assert!(check(&report, "nowhere", "context").1.contains("no context `nowhere`"), "{report:#}");
    let run = world.ok(1, &["doctor"]);
    run.says("connection refused").says("Something would fail in 3 of 4 targets.").hides("stale");
    // Only out of reach: 9.
    world.ok(9, &["doctor", "-t", "us-west"]);
    world.ok(0, &["doctor", "-t", "us-east"]).says("remove `insecure-skip-tls-verify`");
}

/// The Role that it prints is enough for everything, and the checks agree with what a run meets.
#[test]
fn the_role_that_it_prints_is_enough() {
    let user = "doctor-deployer";
    let world = as_user("doctor-role", user);
    let report = doctor(&world, 1);
    assert_eq!(check(&report, "us-east", "user"), ("ok".to_owned(), user.to_owned()));
    let (state, message) = check(&report, "us-east", "apply");
    assert_eq!(state, "fail");
    let namespace = world.namespace.name();
    let words =
        format!("user `{user}` cannot create/patch `configmaps`, `services`, `deployments.apps`; ");
    assert!(message.starts_with(&words), "{message}");
    assert!(message.contains("list/create/update/patch/delete `secrets`"), "{message}");
    assert!(message.ends_with(&format!("in namespace `{namespace}`")), "{message}");
    assert_eq!(check(&report, "us-east", "namespace").0, "skipped");
    world.ok(9, &["plan"]);
    assert!(world.ok(1, &["doctor"]).stdout.contains("--role"));

    let role = world.ok(0, &["doctor", "--role"]).stdout;
    assert!(role.starts_with("# us-east\n---\n") && role.contains("kind: RoleBinding"), "{role}");
    world.kubectl_apply("us-east", &role);
    // The authorizer learns of it by its own watch.
    testbed::wait_for("the role counts", std::time::Duration::from_secs(30), || {
        let run = world.mcd(&["doctor"]);
        if run.code == 0 { Ok(()) } else { Err(run.to_string()) }
    });
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.write("k8s/web.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// Who may only read is told that a plan would work and an apply would not.
#[test]
fn rights_are_told_by_what_needs_them() {
    let user = "doctor-reader";
    let world = as_user("doctor-reader", user);
    let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}", world.namespace.name());
    let rules = json!([
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["mcd.web", "mcd-key.web"], "verbs": ["get"]},
        {"apiGroups": ["", "apps"], "resources": ["configmaps", "services", "deployments"], "verbs": ["get", "list"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]},
    ]);
    let bind = json!({
        "metadata": {"name": "t"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "t"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    let cluster = world.cluster("us-east");
    let role = json!({"metadata": {"name": "t"}, "rules": rules});
    for (plural, body) in [("roles", &role), ("rolebindings", &bind)] {
        let made = cluster.call("POST", &format!("{path}/{plural}"), Some(body)).unwrap();
        assert!(made.is_success(), "{}", made.text);
    }
    testbed::wait_for("the role counts", std::time::Duration::from_secs(30), || {
        let report = world.mcd(&["doctor", "-o", "json"]).json();
        let (state, message) = check(&report, "us-east", "plan");
        if state == "ok" { Ok(()) } else { Err(message) }
    });
    let report = doctor(&world, 1);
    assert_eq!(check(&report, "us-east", "apply").0, "fail");
    assert_eq!(check(&report, "us-east", "causes").0, "warn");
    assert_eq!(check(&report, "us-east", "lock"), ("ok".to_owned(), "free".to_owned()));
    world.ok(0, &["plan"]).says("not verified");
}

/// Everything else that a run would trip over.
#[test]
fn what_a_run_would_trip_over() {
    let world = World::new("doctor-trip");
    world.application(
        &["us-east"],
        "stateNamespace: NAMESPACE\nrender: {kustomize: {path: k8s, version: \">=99\"}}\n",
    );
    let kustomization = world.write("k8s/kustomization.yaml", "resources: []\n");
    let report = doctor(&world, 1);
    let (state, message) = check(&report, "us-east", "render");
    assert!(state == "fail" && message.contains("no kustomize in version"), "{message}");
    // The rest is looked at all the same.
    assert_eq!(check(&report, "us-east", "plan").0, "ok");
    assert_eq!(check(&report, "us-east", "apis").0, "skipped");
    std::fs::remove_file(kustomization).unwrap();

    world.plain(&["us-east"]);
    let mcd = world.path().join("mcd.yaml");
    let text = std::fs::read_to_string(&mcd).unwrap();
    std::fs::write(
        &mcd,
        text.replace(
            &format!("namespace: {}", world.namespace.name()),
            "namespace: doctor-nowhere",
        ),
    )
    .unwrap();
    world.write("k8s/odd.yaml", "apiVersion: apps/v1beta9\nkind: Deployment\nmetadata: {name: d}\n---\napiVersion: no.example.com/v1\nkind: Thing\nmetadata: {name: t}\n");
    let fleet = world.path().join("fleet.yaml");
    let text = std::fs::read_to_string(&fleet).unwrap();
    std::fs::write(&fleet, text.replace("labels:", "kubeVersion: \"1.19\", labels:")).unwrap();
    let run: Run = world.ok(1, &["doctor"]);
    run.says("the cluster has no kind `Thing` in `no.example.com/v1`");
    run.says("the cluster has no kind `Deployment` in `apps/v1beta9`")
        .says("it serves it in version `v1`");
    run.says("the namespace `doctor-nowhere` is not there").says("createNamespace");
    run.says("`kubeVersion` of the fleet is 1.19");
}

/// A lock that someone holds.
#[test]
fn a_lock_that_is_held() {
    let world = World::new("doctor-lock");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let lease = json!({"metadata": {"name": "mcd.web"}, "spec": {
        "holderIdentity": "jo@elsewhere", "leaseDurationSeconds": 60,
        "renewTime": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string(),
    }});
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", world.namespace.name());
    let made = world.cluster("us-east").call("POST", &path, Some(&lease)).unwrap();
    assert!(made.is_success(), "{}", made.text);
    let (state, message) = check(&doctor(&world, 1), "us-east", "lock");
    assert_eq!((state.as_str(), message.as_str()), ("fail", "held by jo@elsewhere"));
}
