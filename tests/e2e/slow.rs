//! Servers that answer late, in part, or ask for time; users who act as someone else.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::{Bed, Component, Context, Fault, Match, Proxy, Reply, TestNamespace};

use crate::support::{Run, World, web};

/// The bound is on each call, not on the whole of a run.
#[test]
fn a_slow_server_is_waited_for_as_long_as_a_call_may_take() {
    let (world, proxy) = World::behind_proxy("slow");
    proxy.inject(Match::any().path("/configmaps"), Fault::Slow(Duration::from_secs(3)));
    let plan = world.ok(9, &["plan", "--request-timeout=1s"]);
    plan.says("gave no answer within 1s").says("ConfigMap").says("raise `--request-timeout`");
    world.ok(9, &["apply", "-y", "--request-timeout=1s"]).says("nothing was written");
    assert_eq!(proxy.writes(), []);
    world.ok(0, &["plan", "--request-timeout=20s"]).says("3 to create");
}

/// Head and a part of the body, then silence.
#[test]
fn an_answer_that_stops_in_the_middle_is_given_up_in_time() {
    let (world, proxy) = World::behind_proxy("stall");
    proxy.inject(Match::any().method("GET").path("/configmaps"), Fault::Stall(20));
    let started = Instant::now();
    world.ok(9, &["plan", "--request-timeout=2s"]).says("gave no answer within 2s");
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    proxy.heal();
    // While the health of what was written is waited for: the deadline decides.
    let waits = Match::any().method("GET").path("/deployments?").skip(1);
    proxy.inject(waits, Fault::Stall(20));
    let started = Instant::now();
    let apply = world.ok(9, &["apply", "-y", "--request-timeout=1s", "--timeout=4s"]);
    apply.says("gave no answer within 1s");
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    proxy.heal();
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn a_server_that_asks_for_more_time_than_a_call_has_is_not_waited_for() {
    let (world, proxy) = World::behind_proxy("throttled");
    proxy.inject(Match::any().method("GET"), Fault::Answer(Reply::status(429).retry_after(300)));
    let started = Instant::now();
    world.ok(9, &["plan"]).says("asks to slow down (429)").says("--concurrency");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    proxy.heal();
    // What it asks for within that is kept.
    let later = Fault::Answer(Reply::status(429).retry_after(2));
    proxy.inject(Match::any().method("GET").path("/configmaps").times(1), later);
    let started = Instant::now();
    world.ok(0, &["plan"]).says("429").says("again").says("3 to create");
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
}

/// The API server itself is restarted between two writes.
#[test]
fn an_api_server_that_restarts_in_the_middle() {
    let cluster = Bed::private("restart");
    let proxy = Proxy::start(&cluster);
    let bed = Bed::shared();
    let world = World {
        bed,
        namespace: TestNamespace::new("restart", std::slice::from_ref(&*cluster)),
        kubeconfig: bed.kubeconfig(&[proxy.context().named("us-east")]),
        folder: tempfile::tempdir().unwrap(),
    };
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let hold = proxy.hold(Match::writes().path("/deployments/"));
    let child = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(60));
    cluster.kill(Component::ApiServer);
    cluster.start(Component::ApiServer);
    hold.release();
    let run = Run::of(child.wait_with_output().unwrap());
    assert!([0, 9].contains(&run.code), "{run}");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"][0]["state"], "active", "{history:#}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// `--as`, with the rights of a group: real RBAC decides.
#[test]
fn who_acts_as_someone_else_has_their_rights() {
    let cluster = Bed::shared().cluster("us-east");
    let world = World::with_contexts("as", &[Context::of(cluster)]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let group = format!("{}-team", world.namespace.name());
    let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}", world.namespace.name());
    let role = json!({"metadata": {"name": "t"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]});
    let binding = json!({
        "metadata": {"name": "t"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "t"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}],
    });
    for (plural, body) in [("roles", &role), ("rolebindings", &binding)] {
        let made = cluster.call("POST", &format!("{path}/{plural}"), Some(body)).unwrap();
        assert!(made.is_success(), "{}", made.text);
    }
    world.ok(9, &["plan", "--as", "jo"]).says("user `jo` cannot");
    let jo = ["--as", "jo", "--as-group", &group, "--as-uid", "4711"];
    testbed::wait_for("the role counts", Duration::from_secs(30), || {
        let run = world.mcd(&[&["doctor"][..], &jo].concat());
        if run.code == 0 { Ok(()) } else { Err(run.to_string()) }
    });
    world.ok(0, &[&["doctor"][..], &jo].concat()).says("jo");
    world.ok(0, &[&["apply", "-y"][..], &jo].concat()).says("Healthy");
    world.ok(3, &["plan", "--as-uid", "4711"]).says("--as");
    world.ok(9, &["delete", "-y", "--as", "jo"]).says("user `jo` cannot");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}
