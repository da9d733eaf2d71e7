use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::config::{AppName, ChartSource, ClusterSpec, Render, TargetName};
use crate::manifest;

fn helm() -> HelmRender {
    HelmRender {
        chart: ChartSource::Local("/repo/chart".into()),
        release: "web".into(),
        helm_version: None,
        hooks: Hooks::Drop,
        values: Vec::new(),
        set: BTreeMap::new(),
        set_string: BTreeMap::new(),
        set_file: BTreeMap::new(),
        api_versions: None,
        kube_version: None,
        args: Vec::new(),
        env: BTreeMap::new(),
    }
}

fn target(render: &HelmRender) -> Target {
    Target {
        name: TargetName::new("us-east"),
        app: AppName::new("web"),
        cluster: ClusterSpec {
            name: TargetName::new("us-east"),
            context: "us-east".into(),
            kubeconfig: None,
            identity: None,
            in_cluster: false,
            labels: BTreeMap::new(),
            values: json!({}),
            kube_version: Some("1.34".into()),
            api_versions: vec!["fleet.example.com/v1".into()],
        },
        namespace: "shop".into(),
        state_namespace: "shop".into(),
        state_namespace_is_set: false,
        create_namespace: false,
        vars: BTreeMap::new(),
        render: Render::Helm(render.clone()),
        images: Vec::new(),
        replicas: Vec::new(),
        patches: Vec::new(),
        conflicts: Default::default(),
        ignore: Vec::new(),
        health: Default::default(),
        root: "/repo".into(),
        allow_plugins: false,
        tools: BTreeMap::new(),
        chart_repositories: Vec::new(),
        provenance: BTreeMap::new(),
    }
}

/// The arguments as text; the content of a private file stands in braces.
fn argv(render: &HelmRender, inputs: Inputs, capabilities: Option<&Capabilities>) -> Vec<String> {
    let found = Found { tool: Tool::Helm, version: "3.22.0".into(), path: "/bin/helm".into() };
    let job = job(&target(render), render, inputs, &chart(), found, capabilities).unwrap();
    assert_eq!(job.label, "helm template web chart");
    let shown = |arg: &Arg| match arg {
        Arg::Text(text) => text.to_string_lossy().into_owned(),
        Arg::Content { before, content, .. } => {
            format!("{before}{{{}}}", String::from_utf8_lossy(content))
        }
    };
    job.args.iter().map(shown).collect()
}

fn chart() -> Chart {
    charts::local("/repo/chart".into(), "chart".into())
}

fn inputs() -> Inputs {
    Inputs { chart: "/repo/chart".into(), values: Vec::new(), set_file: Vec::new() }
}

#[test]
fn a_chart_is_told_of_its_target() {
    let capabilities = Capabilities {
        kube_version: "v1.36.3".into(),
        api_versions: ["v1", "apps/v1/Deployment", "apps/v1", "v1"].map(str::to_owned).to_vec(),
    };
    let end = ["--", "web", "/repo/chart"];
    let start = ["template", "--include-crds", "--namespace=shop"];
    let from_cluster = ["--kube-version=v1.36.3", "--api-versions=apps/v1,apps/v1/Deployment,v1"];
    let from_fleet = ["--kube-version=1.34", "--api-versions=fleet.example.com/v1"];
    let all = |middle: &[&'static str]| [&start[..], middle, &end[..]].concat();
    assert_eq!(argv(&helm(), inputs(), Some(&capabilities)), all(&from_cluster));
    assert_eq!(argv(&helm(), inputs(), None), all(&from_fleet));

    let mut written = helm();
    written.kube_version = Some("1.30.0".into());
    written.api_versions = Some(Vec::new());
    assert_eq!(argv(&written, inputs(), Some(&capabilities)), all(&["--kube-version=1.30.0"]));
    written.args = vec!["--skip-crds".into(), "--is-upgrade".into()];
    assert_eq!(
        argv(&written, inputs(), None),
        [
            "template",
            "--namespace=shop",
            "--kube-version=1.30.0",
            "--skip-crds",
            "--is-upgrade",
            "--",
            "web",
            "/repo/chart"
        ]
    );
}

#[test]
fn many_api_versions_fit_into_arguments() {
    let api_versions =
        (0..6000).map(|i| format!("group-{i:05}.example.com/v1beta1/Kind")).collect();
    let capabilities = Capabilities { kube_version: "v1.36.3".into(), api_versions };
    let all = argv(&helm(), inputs(), Some(&capabilities));
    let chunks: Vec<_> = all.iter().filter_map(|arg| arg.strip_prefix("--api-versions=")).collect();
    assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.len() < 128 * 1024));
    assert_eq!(chunks.iter().flat_map(|chunk| chunk.split(',')).count(), 6000);
}

#[test]
fn values_keep_order_type_and_privacy() {
    let mut render = helm();
    render.set = BTreeMap::from([
        ("a.count".to_owned(), json!(1_000_000)),
        ("a.flag".to_owned(), json!(true)),
        ("a.gone".to_owned(), json!(null)),
        ("a.ratio".to_owned(), json!(0.5)),
        ("a.text".to_owned(), json!("true, or {not}")),
        ("list".to_owned(), json!([{"name": "x", "key.with/dots": 1}, 2, []])),
        ("map".to_owned(), json!({"empty": {}, "a=b": "c"})),
        ("servers[0].port".to_owned(), json!(80)),
    ]);
    render.set_string.insert("a\\.b".into(), "1".into());
    let inputs = Inputs {
        chart: "/repo/chart".into(),
        values: vec![
            Values::File("/repo/values.yaml".into()),
            Values::Inline(json!({"a": {"secret": "s"}})),
            Values::File("/repo/a,\"b.yaml".into()),
        ],
        set_file: vec![("cfg".into(), "/repo/a,b\\c".into())],
    };
    let all = argv(&render, inputs, None);
    insta::assert_snapshot!(all[5..all.len() - 3].join("\n"), @r#"
    --values=/repo/values.yaml
    --values={{"a":{"secret":"s"}}}
    --values="/repo/a,""b.yaml"
    --set=a.count=1000000
    --set=a.flag=true
    --set=a.gone=null
    --set-json=a.ratio=0.5
    --set-file=a.text={true, or {not}}
    --set-json=list=[]
    --set=list[0].key\.with/dots=1
    --set-file=list[0].name={x}
    --set=list[1]=2
    --set-json=list[2]=[]
    --set-file=map.a\=b={c}
    --set-json=map.empty={}
    --set=servers[0].port=80
    --set-file=a\.b={1}
    --set-file=cfg=/repo/a\,b\\c
    "#);
}

#[test]
fn arguments_that_mcd_answers_for_are_refused() {
    let refused = |args: &[&str]| {
        let mut render = helm();
        render.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let error = check_args(&target(&render), &render).unwrap_err();
        assert_eq!(error.exit(), crate::error::Exit::Config);
        format!("{error}; {}", error.hints().join("; "))
    };
    let table = [
        &["--validate"][..],
        &["--kube-context=prod"],
        &["--dry-run=server"],
        &["--dry-run", "server"],
        &["-nother"],
        &["--values=x.yaml"],
        &["-f", "x.yaml"],
        &["--password=x"],
        &["--set=password=x"],
        &["--output-dir", "out"],
        &["--post-renderer", "./x"],
    ];
    insta::assert_snapshot!(table.map(refused).join("\n"));
    let mut render = helm();
    render.args =
        ["--dry-run=client", "--no-hooks", "--skip-tests", "--debug"].map(str::to_owned).to_vec();
    assert_eq!(check_args(&target(&render), &render), Ok(()));
}

#[test]
fn hooks_are_listed_and_only_those_of_a_deploy_are_ever_applied() {
    let one = |name: &str, events: Option<&str>| {
        let annotations = match events {
            Some(events) => format!("{{helm.sh/hook: '{events}'}}"),
            None => "{helm.sh/hook-weight: '1'}".to_owned(),
        };
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {annotations}}}\n"
        )
    };
    let text = [
        one("plain", None),
        one("migrate", Some("pre-install, Pre-Upgrade")),
        one("smoke", Some("test")),
        one("smoke-old", Some("test-success")),
        one("both", Some("post-install,test")),
        one("clean-up", Some("pre-delete,post-delete")),
        one("back", Some("post-rollback")),
    ]
    .concat();
    let objects = manifest::objects(&text, "helm").unwrap();
    let names = |objects: &[Object]| -> Vec<String> {
        objects.iter().map(|object| object.id.name.clone()).collect()
    };
    let (kept, dropped) = split_hooks(objects.clone(), Hooks::Drop);
    assert_eq!(names(&kept), ["plain"]);
    assert_eq!(dropped.len(), 6);
    assert!(dropped.iter().all(|hook| !hook.applied));
    assert_eq!(dropped[0].events, ["pre-install", "pre-upgrade"]);

    let (kept, listed) = split_hooks(objects, Hooks::Apply);
    assert_eq!(names(&kept), ["plain", "migrate", "both"]);
    let applied: Vec<_> =
        listed.iter().filter(|hook| hook.applied).map(|hook| hook.id.name.as_str()).collect();
    assert_eq!(applied, ["migrate", "both"]);
    assert_eq!(listed.len(), 6);
    let rendered = super::super::Rendered {
        objects: kept,
        hooks: listed,
        tool: None,
        chart: None,
        warnings: Vec::new(),
        took: std::time::Duration::ZERO,
    };
    let dropped = rendered.dropped_hooks();
    assert_eq!(dropped.len(), 4, "a plan tells of those that are not applied");
    assert!(dropped.iter().all(|hook| hook.id.name != "migrate" && hook.id.name != "both"));
}

#[test]
fn objects_and_faults_name_their_template() {
    let good = "---\n# Source: c/crds/x.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
                ---\n# Source: c/templates/b.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n\
                ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let read = |text: &str| with_templates(text, "helm", || manifest::objects(text, "helm"));
    let sources: Vec<_> = read(good).unwrap().into_iter().map(|o| o.origin.source).collect();
    assert_eq!(
        sources,
        ["helm, c/crds/x.yaml", "helm, c/templates/b.yaml", "helm, c/templates/b.yaml"]
    );
    let error = read(&format!("{good}---\n# Source: c/templates/d.yaml\nkind: [\n")).unwrap_err();
    assert_eq!(error.hints().last().unwrap(), "the template `c/templates/d.yaml` gave it");
}
