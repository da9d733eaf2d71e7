//! What is approved is what is made: live state that moves between the plan and the write.

use std::time::Duration;

use testbed::{Bed, Hold, Match, Proxy};

use crate::support::{Run, World, web};

/// An application that runs with `web:1`, and an apply of `web:2` that is held after its plan.
struct Held {
    world: World,
    child: std::process::Child,
    hold: Hold,
    proxy: Proxy,
}

impl Held {
    fn new(prefix: &str) -> Self {
        let proxy = Proxy::start(Bed::shared().cluster("us-east"));
        let world = World::with_contexts(prefix, &[proxy.context()]);
        world.plain(&["us-east"]);
        world.write("k8s/web.yaml", &web("web:1"));
        world.ok(0, &["apply", "-y"]);
        world.write("k8s/web.yaml", &web("web:2"));
        let hold = proxy.hold(Match::writes().path("/leases/"));
        let child = world.start(&["apply", "-y"]);
        hold.wait(Duration::from_secs(30));
        Held { world, child, hold, proxy }
    }

    #[track_caller]
    fn goes_on(self, code: i32) -> (World, Proxy, Run) {
        self.hold.release();
        let run = Run::of(self.child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{run}");
        (self.world, self.proxy, run)
    }
}

#[test]
fn a_change_elsewhere_in_the_object_is_none_of_the_plans() {
    let held = Held::new("moved-beside");
    held.world.kubectl("us-east", &["annotate", "deployment", "web", "note=x"]);
    let (world, _proxy, _) = held.goes_on(0);
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
    assert_eq!(live["metadata"]["annotations"]["note"], "x");
    world.ok(0, &["diff", "--verify"]);
}

#[test]
fn a_change_of_what_is_changed_stops_it() {
    let held = Held::new("moved-same");
    held.world.kubectl("us-east", &["set", "image", "deployment/web", "web=web:9"]);
    let (world, _proxy, run) = held.goes_on(6);
    run.says("us-east").says("Deployment").says("moved between plan and apply").says("mcd plan");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:9");
    // The next plan says what it would revert, and the next apply does.
    world.ok(0, &["plan"]).says("kubectl-set");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let history = world.ok(0, &["history", "-o", "json"]).json();
    let states: Vec<&str> = history["targets"][0]["releases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["active", "failed", "superseded"], "{history:#}");
}

#[test]
fn an_object_that_is_deleted_meanwhile_is_not_lost() {
    let held = Held::new("moved-gone");
    held.world.kubectl("us-east", &["delete", "deployment", "web"]);
    let (world, _proxy, run) = {
        held.hold.release();
        let run = Run::of(held.child.wait_with_output().unwrap());
        (held.world, held.proxy, run)
    };
    assert!([0, 6].contains(&run.code), "{run}");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
    world.ok(0, &["delete", "-y"]).says("3 deleted");
}

/// Another run of the same application got in between: the same changes go ahead, others stop.
#[test]
fn another_run_in_between() {
    let held = Held::new("moved-run");
    // From the same manifests, straight to the cluster.
    let direct = held.world.bed.kubeconfig(&[testbed::Context::of(held.world.cluster("us-east"))]);
    let path = direct.path().to_str().unwrap().to_owned();
    held.world.ok(0, &["apply", "-y", "--kubeconfig", &path]);
    let (world, _proxy, run) = held.goes_on(6);
    run.says("the plan no longer holds").says("us-east");
    world.ok(0, &["apply", "-y"]);
    world.ok(0, &["diff", "--verify"]);
}
