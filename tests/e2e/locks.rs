//! Two runs at once on one target: one works, the other is told who does, and nothing is owned
//! twice or lost.

use std::time::Duration;

use testbed::Match;

use crate::support::{Run, World, web};

#[test]
fn the_second_is_told_who_holds_the_lock() {
    let (world, proxy) = World::behind_proxy("lock");
    let hold = proxy.hold(Match::writes().path("/services/"));
    let mut first = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    let pid = format!("pid {}", first.id());
    for verb in ["apply", "unlock"] {
        world.ok(6, &[verb, "-y"]).says("us-east").says("locked by").says(&pid);
    }
    // Whoever reads is not held up.
    world.ok(0, &["plan"]);
    world.ok(0, &["status"]);
    world.ok(0, &["history"]).says("staged");
    hold.release();
    let run = Run::of(first.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    world.ok(0, &["unlock", "-y"]).says("was not locked");

    // A holder that was killed is gone for good.
    world.write("k8s/web.yaml", &web("web:2"));
    let hold = proxy.hold(Match::writes().path("/deployments/"));
    first = world.start(&["apply", "-y"]);
    hold.wait(Duration::from_secs(30));
    first.kill().unwrap();
    first.wait().unwrap();
    world.ok(0, &["unlock", "-y"]).says("unlocked, was held by").says("pid");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn several_at_once_end_as_one() {
    let (world, proxy) = World::behind_proxy("race");
    for round in 1..=3 {
        world.write("k8s/web.yaml", &web(&format!("web:{round}")));
        proxy.clear_log();
        let children: Vec<_> = (0..4).map(|_| world.start(&["apply", "-y"])).collect();
        let runs: Vec<Run> =
            children.into_iter().map(|c| Run::of(c.wait_with_output().unwrap())).collect();
        for run in &runs {
            match run.code {
                0 => {}
                6 => {
                    run.says("us-east");
                }
                code => panic!("exit {code} {run}"),
            }
        }
        assert!(runs.iter().any(|run| run.code == 0), "somebody has to win\n{}", runs[0]);
        world.ok(0, &["diff", "--verify"]);
        let history = world.ok(0, &["history", "-o", "json"]).json();
        let releases = history["targets"][0]["releases"].as_array().unwrap();
        let active = releases.iter().filter(|r| r["state"] == "active").count();
        assert_eq!(active, 1, "{history:#}");
        let staged = releases.iter().filter(|r| r["state"] == "staged").count();
        assert_eq!(staged, 0, "{history:#}");
    }
    let live = world.live("us-east", "deployment", "web");
    let managers = live["metadata"]["managedFields"].to_string();
    assert_eq!(managers.matches("\"mcd:").count(), 1, "{managers}");
    world.ok(0, &["delete", "-y"]).says("3 deleted");
    assert_eq!(world.kubectl("us-east", &["get", "secret,lease", "-o", "name"]), "");
}

/// A lock that someone on another machine holds, and renews, is respected; one that stands still
/// for its duration is not.
#[test]
fn a_holder_elsewhere_is_watched() {
    let (world, _proxy) = World::behind_proxy("elsewhere");
    world.kubectl_apply(
        "us-east",
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: mcd.web}\n\
         spec: {holderIdentity: bob@elsewhere, leaseDurationSeconds: 2}\n",
    );
    world.ok(0, &["apply", "-y"]).says("bob@elsewhere").says("Healthy");
}

/// A holder that is gone and whose clock was an hour off: ahead, it is watched as any other; behind,
/// it was silent for so long that nobody has to wait. Either way the clocks decide nothing else.
#[test]
fn a_holder_whose_clock_is_an_hour_off() {
    let (world, _proxy) = World::behind_proxy("clock");
    for (hours, waits) in [(1, true), (-1, false)] {
        let time = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
        let time = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z");
        world.kubectl_apply(
            "us-east",
            &format!(
                "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {{name: mcd.web}}\n\
                 spec: {{holderIdentity: bob@elsewhere, leaseDurationSeconds: 2, \
                 acquireTime: \"{time}\", renewTime: \"{time}\"}}\n"
            ),
        );
        let run = world.ok(0, &["apply", "-y"]);
        run.says("Healthy");
        assert_eq!(run.stderr.contains("bob@elsewhere still holds the lock"), waits, "{run}");
        world.ok(0, &["delete", "-y"]);
    }
}

/// Different applications do not wait for each other.
#[test]
fn two_applications_at_once() {
    let (world, _proxy) = World::behind_proxy("side-by-side");
    let file = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    let other = file.replace("metadata: {name: web}", "metadata: {name: shop}");
    world.write("shop.yaml", &other.replace("k8s/", "shop/"));
    world.write(
        "shop/shop.yaml",
        &web("web:1").replace("name: web", "name: shop").replace("app: web", "app: shop"),
    );
    let children =
        [world.start(&["apply", "-y"]), world.start(&["apply", "-y", "-f", "shop.yaml"])];
    for child in children {
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, 0, "{run}");
    }
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["diff", "--verify", "-f", "shop.yaml"]);
    world.ok(0, &["delete", "-y"]);
    world.ok(0, &["diff", "-f", "shop.yaml"]);
    assert!(world.exists("us-east", "deployment", "shop"));
}
