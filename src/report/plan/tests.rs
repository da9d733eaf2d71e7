//! Plans as people see them.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::error::{Error, Location};
use crate::manifest::ObjectId;
use crate::plan::CONFIG_HASH;
use crate::plan::Counts;
use crate::render::ChartUsed;
use crate::report::model::{DeployerReport, FieldReport, LeftReport, RevertReport, ToolReport};

fn id(kind: &str, name: &str) -> ObjectId {
    let group = if kind == "Deployment" { "apps" } else { "" };
    ObjectId {
        group: group.into(),
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: name.into(),
    }
}

fn object(action: &str, kind: &str, name: &str) -> ObjectReport {
    ObjectReport {
        object: (&id(kind, name)).into(),
        api_version: if kind == "Deployment" { "apps/v1".into() } else { "v1".into() },
        action: action.into(),
        reason: None,
        fields: Vec::new(),
        adopts_from: Vec::new(),
        takes_from: Vec::new(),
        reverts: Vec::new(),
        relinquishes: Vec::new(),
        keeps: Vec::new(),
        not_verified: None,
        warnings: Vec::new(),
    }
}

fn image() -> ObjectReport {
    let field = FieldReport {
        path: r#".spec.template.spec.containers[name="web"].image"#.into(),
        op: "replace".into(),
        before: Some(json!("registry.example.com/web:1.4.1")),
        after: Some(json!("registry.example.com/web:1.4.2")),
    };
    ObjectReport { fields: vec![field], ..object("change", "Deployment", "web") }
}

fn target(name: &str, state: &str, changes: Vec<ObjectReport>) -> TargetPlanReport {
    let count = |action: &str| changes.iter().filter(|c| c.action == action).count();
    let counts = Counts {
        create: count("create"),
        change: count("change"),
        conflicts: count("conflict"),
        refused: count("refused"),
        unchanged: 2,
        ..Counts::default()
    };
    TargetPlanReport {
        state: state.into(),
        rollback: None,
        server_version: Some("v1.36.3".into()),
        counts,
        changes,
        ..TargetPlanReport::failed(name, name, "shop", &[])
    }
}

fn report(targets: Vec<TargetPlanReport>) -> PlanReport {
    let mut counts = Counts::default();
    targets.iter().for_each(|t| counts += t.counts);
    PlanReport {
        schema: "mcd.dev/plan/v1".into(),
        application: "shop".into(),
        targets,
        counts,
        rollout: None,
        exit_code: 0,
    }
}

fn shown(report: &PlanReport, width: Option<usize>) -> String {
    text(report, false, Look { color: false, width })
}

/// One of each.
fn mixed() -> PlanReport {
    let place = Location {
        file: "k8s/web.yaml".into(),
        line: 14,
        column: 9,
        text: "        replcas: 3".into(),
    };
    let down = Error::new(Exit::Unreachable, "`10.0.0.1:6443` cannot be reached")
        .because("connection refused")
        .hint("see whether the server runs, and whether it is reached from here (VPN, proxy)");
    let broken =
        Error::manifest("unknown field `replcas`").at(place).hint("did you mean `replicas`?");
    let tool = Error::manifest("helm failed with exit code 1")
        .because("Error: execution error at (shop/templates/web.yaml:3:4):\nset `domain`");
    let undecided = Error::new(Exit::Blocked, "someone has to decide")
        .on(&id("Service", "web"))
        .because("`.spec.ports` is also set by `shop-operator`")
        .hint("leave it to the operator, or pass `--force-conflicts`");
    let mut conflict = target("eu", "blocked", vec![object("conflict", "Service", "web"), image()]);
    conflict.errors = vec![(&undecided).into()];
    conflict.left = vec![LeftReport {
        object: (&id("ConfigMap", "old")).into(),
        reason: "--prune=false".into(),
    }];
    conflict.counts.left = 1;
    let mut older = object("delete", "Secret", "older");
    older.reason = Some("left the manifests".into());
    conflict.changes.push(older);
    conflict.counts.delete = 1;
    conflict.hooks = vec![(&id("Job", "migrate")).into()];
    conflict.warnings =
        vec!["Deployment shop/web uses Secret shop/tls, which does not exist".into()];
    let mut helm = target("us-east", "changes", vec![image()]);
    helm.tool = Some(ToolReport { name: "helm".into(), version: "3.22.0".into() });
    report(vec![
        helm,
        target("us-west", "changes", vec![image()]),
        target("ap", "unchanged", Vec::new()),
        conflict,
        TargetPlanReport::failed("down", "down", "shop", &[down]),
        TargetPlanReport::failed("dev", "dev", "shop", &[broken, tool]),
    ])
}

#[test]
fn all_that_can_be_said() {
    assert_snapshot!(shown(&mixed(), Some(80)));
    // What has no room beside its path stands below it; nothing is cut, and nothing elsewhere is
    // wrapped.
    assert_eq!(shown(&mixed(), Some(140)), shown(&mixed(), None));
    let words = |width| {
        let text = shown(&mixed(), width);
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(Some(60)), words(None));
}

#[test]
fn in_sixty_columns() {
    let mut one = target("eu", "changes", vec![image()]);
    one.changes[0].warnings = vec![
        "admission by `policy.example.com` writes another \
        `.metadata.annotations.stamp` each time"
            .into(),
    ];
    one.warnings =
        vec!["`ignore` at mcd.yaml:8 matches no object; did you mean `kind: Deployment`?".into()];
    let text = shown(&report(vec![one]), Some(60));
    let at = text.find("\neu\n").unwrap();
    assert_snapshot!(text[at..].trim_start(), @r#"
    eu
      ~ Deployment shop/web
          .spec.template.spec.containers[name="web"].image
            registry.example.com/web:1.4.1 →
            registry.example.com/web:1.4.2
          warning: admission by `policy.example.com` writes
                   another `.metadata.annotations.stamp` each
                   time
      warning: `ignore` at mcd.yaml:8 matches no object; did you
               mean `kind: Deployment`?

    Plan: 0 to create, 1 to change, 0 to delete, 2 unchanged in 1 target.
    "#);
}

/// What is taken over, and the release that ends by it.
#[test]
fn an_adoption() {
    let deployer = |tool: &str, unit: Option<&str>| DeployerReport {
        tool: tool.into(),
        unit: unit.map(str::to_owned),
    };
    let helm = ObjectReport {
        adopts_from: vec![deployer("helm", Some("release shop/web"))],
        takes_from: vec!["helm (apply)".into(), "kubectl-client-side-apply".into()],
        ..object("change", "Service", "web")
    };
    let kapp = ObjectReport {
        adopts_from: vec![deployer("kapp", None)],
        takes_from: vec!["kapp".into()],
        keeps: vec![".spec.selector.matchLabels.kapp.k14s.io/app".into()],
        ..image()
    };
    let mut one = target("us-east", "changes", vec![kapp, helm]);
    one.retires = vec![RetirementReport {
        namespace: "shop".into(),
        name: "web".into(),
        revisions: 3,
        kept: vec![(&id("ConfigMap", "old")).into()],
    }];
    assert_snapshot!(shown(&report(vec![one]), Some(80)));
}

#[test]
fn a_chart_that_was_pulled() {
    let mut pulled = target("us-east", "changes", vec![image()]);
    pulled.chart = Some(ChartUsed {
        name: "web".into(),
        version: "1.2.3".into(),
        repository: Some("https://charts.example.com".into()),
        digest: Some(format!("sha256:{}", "0a".repeat(32))),
    });
    assert_snapshot!(shown(&report(vec![pulled]), Some(80)));
}

/// What to do next stands once for all objects that it is about.
#[test]
fn a_hint_is_not_repeated() {
    let stopped = |name: &str| {
        Error::new(Exit::Blocked, "someone has to decide")
            .on(&id("Service", name))
            .hint("run again with `--adopt`")
    };
    let names = ["a", "b", "c"];
    let mut one = target(
        "us-east",
        "blocked",
        names.iter().map(|name| object("conflict", "Service", name)).collect(),
    );
    one.errors = names.iter().map(|name| (&stopped(name)).into()).collect();
    let text = shown(&report(vec![one]), Some(80));
    assert_eq!(text.matches("run again with `--adopt`").count(), 1, "{text}");
    assert_eq!(text.matches("someone has to decide").count(), 3, "{text}");
}

#[test]
fn in_colour() {
    let plan =
        report(vec![target("eu", "changes", vec![object("create", "Service", "web"), image()])]);
    let text = text(&plan, false, Look { color: true, width: Some(80) });
    assert_snapshot!(text.replace('\x1b', "^"));
}

#[test]
fn sixty_clusters_read_like_one() {
    let mut new: Vec<ObjectReport> =
        ["a", "b", "c"].map(|name| object("create", "ConfigMap", name)).into();
    for object in &mut new {
        object.not_verified = Some("its namespace does not exist yet".into());
    }
    let targets = (0..60).map(|n| target(&format!("edge-{n:02}"), "changes", new.clone()));
    let text = shown(&report(targets.collect()), Some(80));
    let below: Vec<&str> = text.lines().skip(61).collect();
    assert_snapshot!(below.join("\n"));
}

#[test]
fn changes_by_hand_and_values_of_all_kinds() {
    let field = |path: &str, op: &str, before: Option<Value>, after: Option<Value>| FieldReport {
        path: path.into(),
        op: op.into(),
        before,
        after,
    };
    let long = "x".repeat(100);
    let mut object = object("change", "ConfigMap", "web");
    object.fields = vec![
        field(".data.a", "add", None, Some(json!("one\ntwo"))),
        field(".data.b", "remove", Some(json!("")), None),
        field(
            ".data.c",
            "replace",
            Some(json!(format!("{long}1"))),
            Some(json!(format!("{long}2"))),
        ),
        field(".data.d", "replace", Some(json!("short")), Some(json!(long))),
        field(".spec.list", "move", Some(json!([1, 2])), Some(json!([2, 1]))),
    ];
    object.reverts = vec![RevertReport {
        manager: "kubectl-edit".into(),
        time: Some("2026-01-02T03:04:05Z".into()),
        fields: vec![".data.a".into()],
    }];
    object.takes_from = vec!["helm".into()];
    object.relinquishes = vec![".spec.replicas".into()];
    object.warnings = vec!["deprecated".into()];
    assert_snapshot!(shown(&report(vec![target("eu", "changes", vec![object])]), None));
}

#[test]
fn nothing_to_do_and_nothing_planned() {
    let mut unfinished = target("us", "unchanged", Vec::new());
    unfinished.unfinished = Some("release 4 was interrupted".into());
    assert_snapshot!(shown(&report(vec![target("eu", "unchanged", Vec::new()), unfinished]), None));
    let error = Error::new(Exit::Unreachable, "`10.0.0.1:6443` cannot be reached");
    let down = TargetPlanReport::failed("eu", "eu", "shop", &[error]);
    assert_snapshot!("nothing_planned", shown(&report(vec![down]), None));
}

#[test]
fn targets_that_differ_in_the_hash_of_their_configuration_are_shown_together() {
    let hashed = |target_name: &str, hash: &str| {
        let field = FieldReport {
            path: format!(".spec.template.metadata.annotations[\"{CONFIG_HASH}\"]"),
            op: "replace".into(),
            before: Some(json!("0")),
            after: Some(json!(hash)),
        };
        let object = ObjectReport { fields: vec![field], ..object("change", "Deployment", "web") };
        target(target_name, "changes", vec![object])
    };
    let text = shown(&report(vec![hashed("eu", "1"), hashed("us", "2")]), None);
    assert!(text.contains("\neu, us\n"), "{text}");
    assert!(text.contains("configuration that its pods use changed: they restart"), "{text}");
}
