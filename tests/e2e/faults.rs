//! Bad days of a cluster: down, hanging, resetting, refusing, deleting. Each is a row with its
//! reason, never the end of the others; nothing is lost or half reported.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::{Bed, Context, Fault, Match, Proxy, Reply, User};

use crate::support::{CLUSTERS, Run, World, web};

/// Three clusters, the second of which is behind a proxy.
fn proxied(prefix: &str) -> (World, Proxy) {
    let bed = Bed::shared();
    let proxy = Proxy::start(bed.cluster("us-west"));
    let contexts = CLUSTERS.map(|name| match name {
        "us-west" => proxy.context(),
        name => Context::of(bed.cluster(name)),
    });
    let world = World::with_contexts(prefix, &contexts);
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));
    (world, proxy)
}

/// One cluster, as another user.
fn as_user(prefix: &str, user: User) -> World {
    let context = Context::of(Bed::shared().cluster("us-east")).as_user(user);
    let world = World::with_contexts(prefix, &[context]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world
}

/// Rules that allow these verbs for everything.
fn anything(verbs: &[&str]) -> Value {
    json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}])
}

/// Panics if mcd has left anything in these clusters.
#[track_caller]
fn nothing_in(world: &World, clusters: &[&str]) {
    for cluster in clusters {
        let left = world.kubectl(cluster, &["get", "deploy,svc,secret,lease", "-o", "name"]);
        assert_eq!(left, "", "{cluster}");
    }
}

/// The target's part of a report.
fn target<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["targets"].as_array().unwrap().iter().find(|t| t["target"] == name).unwrap()
}

/// What every verb does about a cluster that is out of reach for `reason`.
fn is_left_out(world: &World, reason: &str, flags: &[&str]) {
    let run = |code: i32, verb: &[&str]| world.ok(code, &[verb, flags].concat());
    let plan = run(9, &["plan", "-o", "json"]).json();
    assert_eq!(plan["exitCode"], 9);
    for name in ["us-east", "eu-west"] {
        assert_eq!(target(&plan, name)["counts"]["create"], 3, "{plan:#}");
    }
    let failed = target(&plan, "us-west");
    assert_eq!(failed["state"], "failed");
    assert!(failed["errors"].to_string().contains(reason), "{failed:#}");
    run(9, &["plan"]).says("us-west").says(reason).says("6 to create").says("1 target not planned");
    run(9, &["diff"]).says("us-west").says(reason).says("+  name: web");

    let apply = run(9, &["apply", "-y"]);
    apply.says(reason).says("nothing was written").says("--keep-going");
    nothing_in(world, &["us-east", "eu-west"]);
    let apply = run(9, &["apply", "-y", "-o", "json"]).json();
    assert_eq!(target(&apply, "us-east")["state"], "not-started");
    assert_eq!(target(&apply, "us-west")["state"], "unreachable");
    nothing_in(world, &["us-east", "eu-west"]);

    let apply = run(9, &["apply", "-y", "--keep-going", "-o", "json"]).json();
    for name in ["us-east", "eu-west"] {
        assert_eq!(target(&apply, name)["state"], "healthy", "{apply:#}");
        assert!(world.exists(name, "deployment", "web"));
    }
    assert_eq!(target(&apply, "us-west")["state"], "unreachable");
    let status = run(9, &["status", "-o", "json"]).json();
    assert_eq!(target(&status, "us-east")["state"], "healthy");
    assert_eq!(target(&status, "us-west")["state"], "unreachable");
    run(9, &["history"]).says(reason);
    run(9, &["delete", "-y"]).says(reason);
    assert!(world.exists("us-east", "deployment", "web"), "delete writes nowhere either");
}

/// And when it is back.
fn is_caught_up(world: &World) {
    nothing_in(world, &["us-west"]);
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff"]);
}

#[test]
fn a_cluster_that_is_down_is_left_out() {
    let (world, proxy) = proxied("down");
    proxy.refuse();
    is_left_out(&world, "connection refused", &[]);
    proxy.open();
    is_caught_up(&world);
}

#[test]
fn a_cluster_that_hangs_is_left_out_in_time() {
    let (world, proxy) = proxied("hang");
    proxy.hang();
    let started = Instant::now();
    world.ok(9, &["plan", "--request-timeout=3s"]).says("within 3s").says("6 to create");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    world.ok(9, &["apply", "-y", "--request-timeout=3s"]).says("nothing was written");
    nothing_in(&world, &["us-east", "eu-west"]);
    proxy.open();
    is_caught_up(&world);
}

#[test]
fn a_server_that_accepts_and_never_answers_is_left_out_in_time() {
    let (world, proxy) = proxied("silent");
    proxy.inject(Match::any(), Fault::Hang);
    let started = Instant::now();
    let plan = world.ok(9, &["plan", "--request-timeout=3s"]);
    plan.says("gave no answer within 3s").says("--request-timeout").says("6 to create");
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
}

#[test]
fn a_cluster_that_resets_is_left_out() {
    let (world, proxy) = proxied("reset");
    proxy.reset();
    is_left_out(&world, "connection reset", &[]);
    proxy.open();
    is_caught_up(&world);
}

#[test]
fn a_busy_server_is_asked_again_and_that_is_said() {
    let (world, proxy) = World::behind_proxy("busy");
    proxy.inject(Match::any().method("GET").times(2), Fault::status(503));
    world.ok(0, &["plan"]).says("503").says("again");
    proxy.inject(Match::writes().path("/deployments/").times(1), Fault::status(503));
    proxy.inject(
        Match::writes().path("/services/").times(1),
        Fault::Answer(Reply::status(429).retry_after(1)),
    );
    world.ok(0, &["apply", "-y"]).says("503").says("429").says("Healthy");
    // It is a note, not an error.
    world.ok(0, &["diff"]);
    proxy.inject(Match::any(), Fault::status(503));
    world.ok(9, &["plan"]).says("503").says("us-east");
}

#[test]
fn credentials_that_are_refused_are_named() {
    let bed = Bed::shared();
    let contexts = CLUSTERS.map(|name| match name {
        "us-west" => Context::of(bed.cluster(name)).as_user(User::Token("stale".into())),
        name => Context::of(bed.cluster(name)),
    });
    let world = World::with_contexts("unauthorized", &contexts);
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));
    is_left_out(&world, "(401)", &[]);
    world.ok(9, &["plan"]).says("log in again").hides("stale");
}

#[test]
fn who_may_not_read_is_told() {
    let world = as_user("forbidden", User::named("nobody"));
    let plan = world.ok(9, &["plan"]);
    plan.says("us-east").says("nobody").says("cannot");
    let status = world.ok(9, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][0]["state"], "unreachable", "{status:#}");
    world.ok(9, &["apply", "-y"]).says("nothing was written");
    nothing_in(&world, &["us-east"]);
}

/// Who may only read still gets a plan; what the server could not check is said to be so.
#[test]
fn who_may_only_read_gets_a_plan_that_is_not_verified() {
    let world = as_user("reader", User::named("reader"));
    world.grant("reader", &anything(&["get", "list", "watch"]));
    let plan = world.ok(0, &["plan", "-o", "json"]).json();
    assert_eq!(plan["counts"]["create"], 3, "{plan:#}");
    let change = &plan["targets"][0]["changes"][0];
    assert!(change["notVerified"].as_str().unwrap().contains("cannot patch"), "{change:#}");
    world.ok(2, &["plan", "--detailed-exitcode"]).says("not verified").says("reader");
    world.ok(1, &["diff"]).says("+  name: web");
    let apply = world.ok(1, &["apply", "-y"]);
    apply.says("us-east").says("cannot patch").says("nothing was written");
    nothing_in(&world, &["us-east"]);
}

/// A right that is missing in the middle: what was written is said, and is not lost.
#[test]
fn a_write_that_is_forbidden_is_named_and_the_rest_is_remembered() {
    let (world, proxy) = World::behind_proxy("forbidden-write");
    proxy.inject(Match::writes().path("/deployments/"), Fault::status(403));
    let apply = world.ok(1, &["apply", "-y", "-o", "json"]).json();
    let target = &apply["targets"][0];
    assert_eq!(target["state"], "failed", "{apply:#}");
    assert_eq!(target["errors"][0]["object"]["kind"], "Deployment", "{apply:#}");
    assert_eq!(target["objects"]["created"], 2, "{apply:#}");
    assert!(world.exists("us-east", "configmap", "web"));
    let history = world.ok(0, &["history", "-o", "json"]).json();
    assert_eq!(history["targets"][0]["releases"][0]["state"], "failed", "{history:#}");
    proxy.heal();
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

#[test]
fn a_namespace_that_is_being_deleted_is_named() {
    let world = World::new("terminating");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    let namespace = world.namespace.name();
    world.kubectl_apply(
        "us-east",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stays, finalizers: [testbed.mcd.dev/stay]}\n",
    );
    world.kubectl("us-east", &["delete", "namespace", namespace, "--wait=false"]);
    let gone = || {
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        world.kubectl("us-east", &["patch", "configmap", "stays", "--type=merge", "-p", patch]);
    };
    let plan = world.mcd(&["plan"]);
    let apply = world.mcd(&["apply", "-y"]);
    gone();
    for run in [plan, apply] {
        assert_eq!(run.code, 6, "{run}");
        run.says("us-east").says(namespace).says("is being deleted");
    }
}

#[test]
fn a_deadline_that_passes_names_cluster_object_and_reason() {
    let world = World::new("deadline");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:never-ready"));
    let apply = world.ok(1, &["apply", "-y", "--timeout=2s"]);
    apply
        .says("us-east")
        .says("Deployment")
        .says("0/2 available")
        .says("did not become healthy within");
    apply.says("kubectl --context us-east");
    let apply = world.ok(1, &["apply", "-y", "--timeout=1s", "-o", "json"]).json();
    let target = &apply["targets"][0];
    assert_eq!(target["errors"][0]["object"]["name"], "web", "{apply:#}");
    assert_eq!((&target["pods"]["ready"], &target["pods"]["wanted"]), (&json!(0), &json!(2)));
    // It was written: nothing is left to do but to wait.
    world.ok(0, &["diff"]);
    let status = world.ok(0, &["status", "-o", "json"]).json();
    assert_eq!(status["targets"][0]["state"], "progressing");
    world.write("k8s/web.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
}

#[test]
fn an_image_that_cannot_be_pulled_is_the_reason() {
    let world = World::new("pull");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:pull-error"));
    let apply = world.ok(1, &["apply", "-y", "--timeout=3s"]);
    apply.says("us-east").says("web:pull-error").says("ImagePullBackOff");
    let status = world.mcd(&["status"]);
    status.says("ImagePullBackOff");
}

/// A cluster that goes away in the middle: what was written is said, the others go on, and the next
/// run finishes it.
#[test]
fn a_cluster_that_goes_away_in_the_middle() {
    let (world, proxy) = proxied("middle");
    let hold = proxy.hold(Match::writes().path("/deployments/"));
    let child = world.start(&["apply", "-y", "-o", "json", "--request-timeout=5s"]);
    hold.wait(Duration::from_secs(30));
    let started = Instant::now();
    proxy.refuse();
    let run = Run::of(child.wait_with_output().unwrap());
    hold.release();
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}\n{run}", started.elapsed());
    assert_eq!(run.code, 9, "{run}");
    let report = run.json();
    let failed = target(&report, "us-west");
    assert_eq!(failed["state"], "unreachable", "{report:#}");
    assert_eq!(failed["objects"]["created"], 2, "{report:#}");
    assert!(failed["errors"].to_string().contains("connection refused"), "{report:#}");
    for name in ["us-east", "eu-west"] {
        assert_eq!(target(&report, name)["state"], "healthy", "{report:#}");
    }
    proxy.open();
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// Every write refused once, for the moment: each is made again, and said so.
#[test]
fn a_server_that_is_busy_at_every_write() {
    let (world, proxy) = World::behind_proxy("busy-write");
    let seen = std::sync::Mutex::new(std::collections::HashSet::new());
    let first =
        move |r: &testbed::Request| seen.lock().unwrap().insert(format!("{} {}", r.method, r.path));
    proxy.inject(Match::writes().when(first), Fault::status(503));
    let apply = world.ok(0, &["apply", "-y", "-v"]);
    apply.says("PATCH Deployment").says("POST Secret").says("503").says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// Not every answer is one of an API server.
#[test]
fn a_page_instead_of_an_answer() {
    let (world, proxy) = World::behind_proxy("page");
    let page = Reply::status(200).body("text/html", "<h1>Please log in as hunter2</h1>");
    proxy.inject(Match::any(), Fault::Answer(page));
    for args in [&["plan"][..], &["status"], &["apply", "-y"], &["delete", "-y"]] {
        let run = world.ok(9, args);
        run.says("us-east").says("cannot be used").says("text/html").hides("hunter2");
    }
    proxy.heal();
    // Half an answer is asked for again.
    proxy.inject(Match::any().method("GET").path("/api/v1/").times(3), Fault::Cut(20));
    world.ok(0, &["plan"]).says("again");
}

#[test]
fn a_certificate_of_someone_else() {
    let bed = Bed::shared();
    let context = Context::of(bed.cluster("us-east")).trusting(bed.cluster("eu-west"));
    let world = World::with_contexts("ca", &[context]);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(9, &["plan"]).says("us-east").says("certificate").says("certificate-authority-data");
}

/// Rights in one namespace are enough for everything.
#[test]
fn who_may_do_everything_in_the_namespace_needs_no_more() {
    let world = as_user("least", User::named("deployer"));
    let verbs = ["get", "list", "watch", "create", "patch", "update", "delete"];
    world.grant("deployer", &anything(&verbs));
    world.ok(2, &["plan", "--detailed-exitcode"]).says("3 to create").hides("not verified");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["status", "--wait", "--timeout=20s"]).says("Healthy");
    world.write("k8s/web.yaml", &web("web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["history"]);
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// An answer that is lost leaves the run in doubt; the next one finds out.
#[test]
fn a_lost_answer_to_any_write_is_found_out() {
    let (world, proxy) = World::behind_proxy("lost");
    world.ok(0, &["apply", "-y"]);
    let writes = proxy.writes().len();
    for n in 0..writes {
        world.ok(0, &["delete", "-y"]);
        proxy.inject(Match::writes().skip(n).times(1), Fault::ResetAfter);
        let apply = world.mcd(&["apply", "-y"]);
        proxy.heal();
        assert!([0, 9].contains(&apply.code), "write {n}: {apply}");
        world.ok(0, &["apply", "-y"]).says("Healthy");
        world.ok(0, &["diff", "--verify"]);
        let history = world.ok(0, &["history", "-o", "json"]).json();
        assert_eq!(history["targets"][0]["releases"][0]["state"], "active", "write {n}");
    }
    // The writes that take an object over from kubectl.
    let old = web("web:1").replace("data: {greeting", "data: {legacy: x, greeting");
    for kind in ["/configmaps/", "/deployments/", "/services/"] {
        for n in 0..2 {
            world.ok(0, &["delete", "-y"]);
            world.kubectl_apply("us-east", &old);
            proxy.inject(Match::writes().path(kind).skip(n).times(1), Fault::ResetAfter);
            let apply = world.mcd(&["apply", "-y"]);
            proxy.heal();
            assert!([0, 9].contains(&apply.code), "{kind} {n}: {apply}");
            world.ok(0, &["apply", "-y"]).says("Healthy");
            world.ok(0, &["diff", "--verify"]);
            let live = world.live("us-east", "configmap", "web");
            assert_eq!(live["data"], json!({"greeting": "hello"}));
        }
    }
}
