use insta::assert_snapshot;

use super::*;

fn node(kind: &str, name: &str, health: &str) -> NodeReport {
    NodeReport {
        object: ObjectReference {
            group: String::new(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
        },
        health: health.into(),
        reason: None,
        ready: None,
        wanted: None,
        restarts: None,
        created: None,
        warnings: Vec::new(),
        logs: Vec::new(),
        parts: Vec::new(),
    }
}

fn pod(name: &str, health: &str, reason: Option<&str>) -> NodeReport {
    NodeReport {
        reason: reason.map(str::to_owned),
        ready: Some(i64::from(reason.is_none())),
        wanted: Some(1),
        restarts: Some(0),
        created: Some("2026-01-02T05:02:05Z".into()),
        ..node("Pod", name, health)
    }
}

fn log(previous: bool, lines: &[&str]) -> LogReport {
    LogReport {
        container: "web".into(),
        previous,
        lines: lines.iter().map(|l| (*l).to_owned()).collect(),
        unread: None,
    }
}

fn tree() -> Vec<NodeReport> {
    let mut crashing = pod(
        "web-7d9f-x2x",
        "progressing",
        Some("container web: CrashLoopBackOff, restarts 5, last exit code 1"),
    );
    crashing.restarts = Some(5);
    crashing.warnings.push(WarningReport {
        reason: "BackOff".into(),
        message: "Back-off restarting failed container web in pod web-7d9f-x2x_shop(1b2c)".into(),
        count: 12,
        last: Some("2026-01-02T05:04:02Z".into()),
    });
    crashing.logs.push(log(
        true,
        &["one", "two", "three", "four", "panic: no config", "    at main (/app/main.go:12)"],
    ));
    let mut refused = pod("web-7d9f-y3y", "progressing", Some("container web: not ready"));
    refused.logs.push(LogReport {
        unread: Some("no right to read logs (get of pods/log)".into()),
        ..log(false, &[])
    });
    refused.restarts = Some(2);
    let mut set = node("ReplicaSet", "web-7d9f", "progressing");
    set.reason = Some("0 of 20 ready".into());
    (set.ready, set.wanted) = (Some(0), Some(20));
    set.parts = vec![crashing, refused];
    set.parts.extend((0..12).map(|n| pod(&format!("web-7d9f-{n}"), "healthy", None)));
    let mut web = node("Deployment", "web", "progressing");
    web.reason = Some(
        "0 of 20 updated: pod web-7d9f-x2x: container web: CrashLoopBackOff, restarts 5, last exit code 1"
            .into(),
    );
    (web.ready, web.wanted) = (Some(12), Some(20));
    web.parts = vec![set];
    vec![node("ConfigMap", "web", "healthy"), web, node("Widget", "w", "applied")]
}

fn shown(text: &str) -> String {
    text.replace('\x1b', "^")
}

fn now() -> Timestamp {
    "2026-01-02T05:04:05Z".parse().expect("a time")
}

#[test]
fn the_whole_tree() {
    let text = whole(&tree(), now(), Look { color: false, width: Some(80) });
    assert_snapshot!(shown(&text));
}

#[test]
fn the_whole_tree_in_a_pipe() {
    assert_snapshot!(shown(&whole(&tree(), now(), Look { color: false, width: None })));
}

#[test]
fn what_is_wrong_in_a_few_lines() {
    let look = Look { color: true, width: Some(140) };
    let text = short(&tree(), "`mcd status -t eu --tree`", now(), look);
    assert_snapshot!(shown(&text));
    let many: Vec<NodeReport> = (0..9).flat_map(|_| tree()).collect();
    let text = short(&many, "`mcd status -t eu --tree`", now(), look);
    assert_eq!(text.lines().count(), FEW_LINES + 1);
    assert!(text.ends_with("more lines: `mcd status -t eu --tree`\x1b[0m\n"), "{text}");
}
