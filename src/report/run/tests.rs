//! Results as people see them.

use insta::assert_snapshot;

use super::*;
use crate::error::{Error, Exit};
use crate::manifest::ObjectId;

fn id(kind: &str, name: &str) -> ObjectId {
    ObjectId {
        group: "apps".into(),
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: name.into(),
    }
}

fn target(name: &str, state: TargetState, message: &str) -> TargetReport {
    TargetReport {
        target: name.into(),
        context: name.into(),
        namespace: "shop".into(),
        state,
        rollback: None,
        release: Some(3),
        pods: Some(PodCounts { wanted: 3, ready: 3, updated: 3 }),
        rollout: None,
        freeze: None,
        applied: Some("2026-01-02T03:04:05Z".into()),
        deletes: Vec::new(),
        left: Vec::new(),
        objects: Default::default(),
        unhealthy: Vec::new(),
        tree: Vec::new(),
        warnings: Vec::new(),
        message: message.into(),
        errors: Vec::new(),
    }
}

fn unhealthy(name: &str, health: &str, reason: &str) -> UnhealthyReport {
    UnhealthyReport {
        object: (&id("Deployment", name)).into(),
        health: health.into(),
        reason: reason.into(),
    }
}

fn report(command: &str, targets: Vec<TargetReport>) -> RunReport {
    RunReport {
        schema: format!("mcd.dev/{command}/v1"),
        application: "shop".into(),
        targets,
        exit_code: 0,
    }
}

fn shown(report: &RunReport, color: bool, width: Option<usize>) -> String {
    let now = "2026-01-02T05:04:05Z".parse().expect("a time");
    text(report, now, Look { color, width }).replace('\x1b', "^")
}

const PULL: &str = "1 of 3 updated: pod web-7d9f-x2x: ImagePullBackOff: Back-off pulling image \
                    \"registry.example.com/web:1.4.2\": not found";

fn status() -> RunReport {
    let mut waiting = target(
        "us-east",
        TargetState::Progressing,
        &format!("Deployment shop/web: {PULL} (and 1 more)"),
    );
    waiting.pods = Some(PodCounts { wanted: 3, ready: 3, updated: 1 });
    waiting.unhealthy =
        vec![unhealthy("web", "progressing", PULL), unhealthy("api", "progressing", "2/3 ready")];
    let mut same = target("us-west", TargetState::Progressing, "Deployment shop/web: 2/3 ready");
    same.unhealthy = waiting.unhealthy.clone();
    same.warnings = vec!["Deployment shop/web: its replicas are held by an autoscaler".into()];
    let mut away = target("ap", TargetState::NotDeployed, "not deployed; `mcd apply` does it");
    (away.release, away.pods, away.applied) = (None, None, None);
    let mut down = target("down", TargetState::Unreachable, "");
    (down.release, down.pods, down.applied) = (None, None, None);
    let error = Error::new(Exit::Unreachable, "`10.0.0.1:6443` cannot be reached");
    down.errors = vec![(&error.because("connection refused").hint("see the VPN")).into()];
    report("status", vec![target("eu", TargetState::Healthy, ""), waiting, same, away, down])
}

#[test]
fn a_status() {
    assert_snapshot!("status_80", shown(&status(), false, Some(80)));
    assert_snapshot!("status_140", shown(&status(), false, Some(140)));
    assert_snapshot!("status_piped", shown(&status(), false, None));
    assert_snapshot!("status_80_colour", shown(&status(), true, Some(80)));
}

#[test]
fn an_apply_tells_each_error_once() {
    let mut failed = target("us-east", TargetState::Failed, "1 configured");
    let late = Error::new(Exit::Failed, "did not become healthy within 600s");
    let refused = Error::manifest("the server refuses it")
        .on(&id("Deployment", "api"))
        .because("`.spec.selector` is immutable")
        .hint("delete it first");
    failed.errors =
        vec![(&late.on(&id("Deployment", "web")).because(PULL)).into(), (&refused).into()];
    failed.unhealthy = vec![
        unhealthy("web", "progressing", PULL),
        unhealthy("db", "failed", "is not in the cluster"),
    ];
    let ok = target("eu", TargetState::Healthy, "1 configured, 2 unchanged");
    let mut idle = target("us-west", TargetState::NotStarted, "");
    (idle.release, idle.pods, idle.applied) = (None, None, None);
    let apply = report("apply", vec![ok, failed, idle]);
    assert_snapshot!("apply_80", shown(&apply, false, Some(80)));
    assert_snapshot!("apply_piped", shown(&apply, false, None));
}

#[test]
fn a_delete_has_no_columns_without_content() {
    let gone = |name: &str| {
        let mut target = target(name, TargetState::Deleted, "9 deleted, 1 kept");
        (target.release, target.pods, target.applied) = (None, None, None);
        target.warnings = vec!["Namespace shop stays: not without `--with-namespaces`".into()];
        target
    };
    assert_snapshot!(shown(&report("delete", vec![gone("eu"), gone("us")]), false, Some(80)));
}
