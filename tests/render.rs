//! Rendering with the real tools: two kustomize versions, both helm majors.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not in a `#[test]`")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcd::config::{
    AppName, ChartSource, ClusterSpec, HelmRender, Hooks, KustomizeRender, Render, Target,
    TargetName, ValuesSource,
};
use mcd::error::Exit;
use mcd::manifest::{Object, Scrubber};
use mcd::render::{Capabilities, RenderOptions, Rendered, Renderer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const HELMS: [&str; 2] = ["3.22.0", "4.3.1"];
const KUSTOMIZES: [&str; 2] = ["5.4.3", "5.8.2"];

/// A repository, and the tools of the test bed.
struct Repo {
    _dir: tempfile::TempDir,
    root: PathBuf,
    options: RenderOptions,
}

impl Repo {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let bed = testbed::Bed::shared();
        let mut options = RenderOptions {
            tools_dirs: vec![bed.tools_dir().to_owned()],
            path: Vec::new(),
            cwd: root.clone(),
            ..RenderOptions::from_env()
        };
        // A cluster that is there, and current: no render may ever find it.
        options.env.insert("KUBECONFIG".into(), bed.kubeconfig_file().into());
        options.env.insert("HELM_KUBECONTEXT".into(), "us-east".into());
        Repo { _dir: dir, root, options }
    }

    fn target(&self, render: Render) -> Target {
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
                kube_version: None,
                api_versions: Vec::new(),
            },
            namespace: "shop".into(),
            state_namespace: "shop".into(),
            state_namespace_is_set: false,
            create_namespace: false,
            vars: BTreeMap::new(),
            render,
            images: Vec::new(),
            replicas: Vec::new(),
            patches: Vec::new(),
            conflicts: Default::default(),
            ignore: Vec::new(),
            health: Default::default(),
            root: self.root.clone(),
            allow_plugins: false,
            tools: BTreeMap::new(),
            chart_repositories: Vec::new(),
            provenance: BTreeMap::new(),
        }
    }

    fn kustomize(&self, path: &str, version: &str, args: &[&str]) -> Target {
        self.target(Render::Kustomize(KustomizeRender {
            path: self.root.join(path),
            version: Some(version.to_owned()),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
        }))
    }

    fn helm(&self, version: &str, change: impl Fn(&mut HelmRender)) -> Target {
        let mut render = HelmRender {
            chart: ChartSource::Local(self.root.join("chart")),
            release: "web".into(),
            helm_version: Some(version.to_owned()),
            hooks: Hooks::Drop,
            values: Vec::new(),
            set: BTreeMap::new(),
            set_string: BTreeMap::new(),
            set_file: BTreeMap::new(),
            api_versions: None,
            kube_version: None,
            args: Vec::new(),
            env: BTreeMap::new(),
        };
        change(&mut render);
        self.target(Render::Helm(render))
    }

    fn renderer(&self) -> Renderer {
        Renderer::new(self.options.clone(), Scrubber::new(), CancellationToken::new())
    }

    async fn render(&self, target: &Target) -> mcd::error::Result<Rendered> {
        let capabilities = Capabilities {
            kube_version: "v1.36.3".into(),
            api_versions: vec!["v1".into(), "widgets.example.com/v1/Widget".into()],
        };
        self.renderer().render(target, Some(&capabilities)).await
    }

    /// All files of the repository, to show that rendering wrote none.
    fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        walk(&self.root, &mut found);
        found.sort();
        found
    }
}

fn ids(objects: &[Object]) -> Vec<String> {
    objects.iter().map(|object| object.id.to_string()).collect()
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n";

#[tokio::test]
async fn each_target_has_its_own_kustomize() {
    let repo = Repo::new(&[
        ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", CONFIG_MAP),
        (
            "overlays/prod/kustomization.yaml",
            "resources: [../../base]\nnamespace: prod\nsecretGenerator:\n- {name: s, literals: [p=hunter22]}\n",
        ),
    ]);
    let renderer = repo.renderer();
    for version in KUSTOMIZES {
        let rendered =
            renderer.render(&repo.kustomize("overlays/prod", version, &[]), None).await.unwrap();
        let mut ids = ids(&rendered.objects);
        ids.sort();
        assert_eq!(ids[0], "ConfigMap prod/web");
        assert!(ids[1].starts_with("Secret prod/s-"), "{ids:?}");
        let tool = rendered.tool.unwrap();
        assert_eq!((tool.name, tool.version.as_str()), ("kustomize", version));
        assert!(tool.path.starts_with(&repo.options.tools_dirs[0]));
        assert_eq!(rendered.objects[0].origin.source, "kustomize build overlays/prod");
    }
    let range = repo.kustomize("base", ">=5.4, <5.8", &[]);
    assert_eq!(renderer.render(&range, None).await.unwrap().tool.unwrap().version, "5.4.3");
    let highest = repo.kustomize("base", ">=5.4, <6", &[]);
    assert_eq!(renderer.render(&highest, None).await.unwrap().tool.unwrap().version, "5.8.2");

    let error = renderer.render(&repo.kustomize("base", "5.0.0", &[]), None).await.unwrap_err();
    assert_eq!(error.message(), "no kustomize in version `5.0.0` was found");
    assert!(error.causes()[0].contains("is 5.4.3") && error.causes()[0].contains("is 5.8.2"));
}

#[tokio::test]
async fn a_failing_kustomize_speaks_for_itself() {
    let repo = Repo::new(&[("base/kustomization.yaml", "resources: [gone.yaml]\n")]);
    for version in KUSTOMIZES {
        let error = repo.render(&repo.kustomize("base", version, &[])).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Manifest);
        assert_eq!(error.target().unwrap().as_str(), "us-east");
        assert_eq!(error.message(), "`kustomize build base` ended with exit code 1");
        let gone = repo.root.join("base/gone.yaml").display().to_string();
        assert!(error.causes()[0].contains(&gone), "{error}");
    }
}

#[tokio::test]
async fn a_secret_that_kustomize_quotes_is_not_shown() {
    let repo = Repo::new(&[(
        "base/kustomization.yaml",
        "secretGenerator:\n- {name: s, literals: [hunter22]}\n",
    )]);
    for version in KUSTOMIZES {
        let error = repo.render(&repo.kustomize("base", version, &[])).await.unwrap_err();
        assert!(error.causes()[0].contains("***"), "{error}");
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
}

const CHART: [(&str, &str); 7] = [
    ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n"),
    ("chart/values.yaml", "list: [{a: 1, b: 2}, {a: 3}]\nmap: {keep: 1, drop: 2}\nlayer: chart\n"),
    (
        "chart/crds/widget.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n",
    ),
    (
        "chart/templates/facts.yaml",
        r#"apiVersion: v1
kind: ConfigMap
metadata: {name: facts, namespace: "{{ .Release.Namespace }}"}
data:
  release: {{ .Release.Name | quote }}
  kube: {{ .Capabilities.KubeVersion.Version | quote }}
  widget: {{ .Capabilities.APIVersions.Has "widgets.example.com/v1/Widget" | quote }}
  lookup: {{ lookup "v1" "Namespace" "" "default" | toJson | quote }}
  values: {{ .Values | toJson | quote }}
  million: "{{ .Values.million }}"
"#,
    ),
    (
        "chart/templates/hooks.yaml",
        r#"apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
---
apiVersion: v1
kind: Pod
metadata: {name: smoke, annotations: {helm.sh/hook: test}}
"#,
    ),
    ("prod.yaml", "layer: file\nonlyFile: true\n"),
    ("motto.txt", "a, b = \\ \"c\"\n"),
];

#[tokio::test]
async fn both_helm_majors_give_the_same() {
    let repo = Repo::new(&CHART);
    let before = repo.files();
    let mut all = Vec::new();
    for version in HELMS {
        let target = repo.helm(version, |helm| {
            let missing = repo.root.join("missing.yaml");
            helm.values = vec![
                ValuesSource::File { path: repo.root.join("prod.yaml"), optional: false },
                ValuesSource::File { path: missing, optional: true },
                ValuesSource::Inline(json!({"layer": "inline", "password": "hunter22"})),
            ];
            helm.set = BTreeMap::from([
                ("million".to_owned(), json!(1_000_000)),
                ("ratio".to_owned(), json!(0.25)),
                ("text".to_owned(), json!("true, {not} a=b")),
                ("list[0].b".to_owned(), json!("changed")),
                ("fresh".to_owned(), json!([{"x.y": 1}, "two", []])),
                ("map.drop".to_owned(), json!(null)),
            ]);
            helm.set_string.insert("port".into(), "8080".into());
            helm.set_file.insert("motto".into(), repo.root.join("motto.txt"));
        });
        let rendered = repo.render(&target).await.unwrap();
        assert_eq!(rendered.tool.as_ref().unwrap().version, version);
        assert_eq!(
            ids(&rendered.objects),
            ["CustomResourceDefinition widgets.example.com", "ConfigMap shop/facts"]
        );
        let sources: Vec<_> =
            rendered.objects.iter().map(|object| object.origin.source.as_str()).collect();
        assert_eq!(
            sources,
            [
                "helm template web chart, web/crds/widget.yaml",
                "helm template web chart, web/templates/facts.yaml"
            ]
        );
        let mut hooks: Vec<_> = rendered
            .hooks
            .iter()
            .map(|h| (h.id.name.as_str(), h.applied, h.events.len()))
            .collect();
        hooks.sort_unstable();
        assert_eq!(hooks, [("migrate", false, 2), ("smoke", false, 1)]);
        assert_eq!(rendered.warnings, [""; 0]);

        let data = &rendered.objects[1].value["data"];
        assert_eq!(data["release"], "web");
        assert_eq!(data["kube"], "v1.36.3");
        assert_eq!(data["widget"], "true");
        assert_eq!(data["lookup"], "{}");
        assert_eq!(data["million"], "1000000");
        let values: Value = serde_json::from_str(data["values"].as_str().unwrap()).unwrap();
        let expected = json!({
            "layer": "inline", "onlyFile": true, "password": "hunter22",
            "million": 1_000_000, "ratio": 0.25, "text": "true, {not} a=b", "port": "8080",
            "list": [{"b": "changed"}], "fresh": [{"x.y": 1}, "two", []], "map": {"keep": 1},
            "motto": "a, b = \\ \"c\"\n",
        });
        assert_eq!(values, expected);
        all.push(rendered.objects);
    }
    let values = |objects: &[Object]| -> Vec<Value> {
        objects.iter().map(|object| object.value.clone()).collect()
    };
    assert_eq!(values(&all[0]), values(&all[1]));
    assert_eq!(repo.files(), before);
}

#[tokio::test]
async fn hooks_of_a_deploy_are_applied_when_asked() {
    let repo = Repo::new(&CHART);
    for version in HELMS {
        let target = repo.helm(version, |helm| helm.hooks = Hooks::Apply);
        let rendered = repo.render(&target).await.unwrap();
        let names: Vec<_> = rendered.objects.iter().map(|o| o.id.name.as_str()).collect();
        assert!(names.contains(&"migrate") && !names.contains(&"smoke"), "{names:?}");
    }
}

#[tokio::test]
async fn offline_helm_is_told_by_the_fleet_or_says_that_it_guessed() {
    let repo = Repo::new(&CHART);
    for version in HELMS {
        let mut target = repo.helm(version, |_| {});
        let rendered = repo.renderer().render(&target, None).await.unwrap();
        assert!(rendered.warnings[0].contains("`kubeVersion`"), "{:?}", rendered.warnings);
        target.cluster.kube_version = Some("1.34".into());
        let rendered = repo.renderer().render(&target, None).await.unwrap();
        assert_eq!(rendered.warnings, [""; 0]);
        assert_eq!(rendered.objects[1].value["data"]["kube"], "v1.34");
    }
}

#[tokio::test]
async fn a_failing_chart_speaks_for_itself() {
    let mut files = CHART.to_vec();
    files[3].1 = "{{ fail \"replicas must be odd, not with hunter22\" }}\n";
    let repo = Repo::new(&files);
    for version in HELMS {
        let target = repo.helm(version, |helm| {
            helm.set.insert("password".into(), json!("hunter22"));
        });
        let error = repo.render(&target).await.unwrap_err();
        assert_eq!(error.message(), "`helm template web chart` ended with exit code 1");
        let said = &error.causes()[0];
        assert!(said.contains("facts.yaml") && said.contains("not with ***"), "{said}");
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
}

#[tokio::test]
async fn a_template_that_gives_no_manifest_is_named() {
    let mut files = CHART.to_vec();
    files[3].1 = "kind: ConfigMap\nmetadata: {name: a}\n";
    let repo = Repo::new(&files);
    for version in HELMS {
        let error = repo.render(&repo.helm(version, |_| {})).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Manifest);
        assert!(error.to_string().contains("`apiVersion` is missing"), "{error}");
        let hint = "the template `web/templates/facts.yaml` gave it";
        assert!(error.hints().iter().any(|h| h == hint), "{error:?}");
    }
}

#[tokio::test]
async fn missing_dependencies_say_how_to_get_them() {
    let mut files = CHART.to_vec();
    files[0].1 = "apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies:\n- {name: db, version: 1.0.0, repository: \"https://charts.example.com\"}\n";
    let repo = Repo::new(&files);
    for version in HELMS {
        let error = repo.render(&repo.helm(version, |_| {})).await.unwrap_err();
        let hint = "run `helm dependency update chart` and commit Chart.lock";
        assert!(error.hints().iter().any(|h| h.starts_with(hint)), "{error:?}");
    }
}

#[tokio::test]
async fn kustomize_inflates_charts_without_writing_to_the_repository() {
    let mut files: Vec<(String, &str)> = CHART
        .iter()
        .map(|(path, text)| (path.replace("chart/", "base/charts/web/"), *text))
        .collect();
    let kustomization =
        "resources: [../shared]\nhelmCharts:\n- {name: web, releaseName: web, namespace: shop}\n";
    files.push(("base/kustomization.yaml".into(), kustomization));
    files.push(("shared/kustomization.yaml".into(), "resources: [web.yaml]\n"));
    files.push(("shared/web.yaml".into(), CONFIG_MAP));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let repo = Repo::new(&files);
    let before = repo.files();
    for version in KUSTOMIZES {
        let target = repo.kustomize("base", version, &["--enable-helm"]);
        let rendered = repo.render(&target).await.unwrap();
        let ids = ids(&rendered.objects);
        for id in ["ConfigMap web", "ConfigMap shop/facts"] {
            assert!(ids.iter().any(|found| found == id), "{version}: {ids:?}");
        }
    }
    assert_eq!(repo.files(), before);
}
