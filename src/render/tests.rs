use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;
use crate::config::{AppName, ChartSource, ClusterSpec, Hooks, TargetName};
use crate::error::Exit;

/// A repository with fake tools on PATH.
struct Bed {
    _dir: tempfile::TempDir,
    base: PathBuf,
    cancel: CancellationToken,
    scrubber: Scrubber,
    options: RenderOptions,
}

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["repo/.git", "repo/base", "bin", "tmp"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let options = RenderOptions {
            kustomize_bin: None,
            helm_bin: None,
            tools_dirs: Vec::new(),
            path: vec![base.join("bin")],
            cwd: base.join("repo"),
            temp_dir: base.join("tmp"),
            env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            ..RenderOptions::from_env()
        };
        let (cancel, scrubber) = (CancellationToken::new(), Scrubber::new());
        Bed { _dir: dir, base, cancel, scrubber, options }
    }

    /// A tool of version 9.9.9 that runs `body`, with `$asked` a file for traces.
    fn tool(&self, name: &str, body: &str) {
        let file = self.base.join("bin").join(name);
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = version ]; then echo v9.9.9; exit; fi\nasked={}\n{body}\n",
            self.base.join("asked").display()
        );
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.base.join("asked")).unwrap_or_default()
    }

    fn renderer(&self) -> Renderer {
        Renderer::new(self.options.clone(), self.scrubber.clone(), self.cancel.clone())
    }

    fn target(&self, name: &str, render: Render) -> Target {
        Target {
            name: TargetName::new(name),
            app: AppName::new("web"),
            cluster: ClusterSpec {
                name: TargetName::new(name),
                context: name.into(),
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
            root: self.base.join("repo"),
            allow_plugins: false,
            tools: BTreeMap::new(),
            chart_repositories: Vec::new(),
            provenance: BTreeMap::new(),
        }
    }

    fn kustomize(&self, args: &[&str]) -> Render {
        Render::Kustomize(KustomizeRender {
            path: self.base.join("repo/base"),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..KustomizeRender::default()
        })
    }

    fn helm(&self) -> HelmRender {
        fs::create_dir_all(self.base.join("repo/chart")).unwrap();
        HelmRender {
            chart: ChartSource::Local(self.base.join("repo/chart")),
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
}

const CONFIG_MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";

fn is_send<T: Send>(future: T) -> T {
    future
}

#[tokio::test]
async fn identical_renders_run_once_and_others_do_not_share() {
    let bed = Bed::new();
    bed.tool("kustomize", &format!("echo \"$*\" >> $asked; echo '{CONFIG_MAP}'"));
    let renderer = bed.renderer();
    let same: Vec<_> =
        (0..10).map(|i| bed.target(&format!("t{i}"), bed.kustomize(&["--x"]))).collect();
    let other = bed.target("other", bed.kustomize(&["--y"]));
    let all = same.iter().chain([&other]).map(|target| is_send(renderer.render(target, None)));
    for rendered in futures::future::join_all(all).await {
        let rendered = rendered.unwrap();
        assert_eq!(rendered.objects.len(), 1);
        assert_eq!(rendered.objects[0].origin.source, "kustomize build base");
        let tool = rendered.tool.unwrap();
        assert_eq!((tool.name, tool.version.as_str()), ("kustomize", "9.9.9"));
    }
    let asked = bed.asked();
    let mut asked: Vec<_> = asked.lines().collect();
    asked.sort_unstable();
    assert_eq!(asked, ["build --x .", "build --y ."]);
    assert_eq!(fs::read_dir(bed.base.join("tmp")).unwrap().count(), 0, "private folders are left");
}

#[tokio::test]
async fn a_shared_error_names_each_target() {
    let bed = Bed::new();
    bed.tool("kustomize", "echo x >> $asked; seq 1 30 >&2; exit 7");
    let renderer = bed.renderer();
    for name in ["us-east", "us-west"] {
        let error = renderer.render(&bed.target(name, bed.kustomize(&[])), None).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Manifest);
        assert_eq!(error.target().unwrap().as_str(), name);
        assert_eq!(error.message(), "`kustomize build base` ended with exit code 7");
        let tail: Vec<String> = (11..=30).map(|n| n.to_string()).collect();
        assert_eq!(error.causes(), [tail.join("\n")]);
        let command = format!("{}/bin/kustomize build .", bed.base.display());
        assert_eq!(error.hints(), [format!("the command was `{command}` in `base`")]);
    }
    assert_eq!(bed.asked(), "x\n");
}

#[tokio::test]
async fn tools_see_neither_the_users_cluster_nor_each_others_folders() {
    let mut bed = Bed::new();
    for (name, value) in [("KUBECONFIG", "/home/me/.kube/config"), ("HELM_KUBECONTEXT", "prod")] {
        bed.options.env.insert(name.into(), value.into());
    }
    let body = "env | grep -E '^(KUBE|HELM|TMPDIR|OWN)' | sort >> $asked";
    bed.tool("kustomize", body);
    let mut target = bed.target("a", bed.kustomize(&[]));
    let Render::Kustomize(render) = &mut target.render else { unreachable!() };
    render.env.insert("OWN".into(), "1".into());
    let rendered = bed.renderer().render(&target, None).await.unwrap();
    assert_eq!(rendered.warnings, ["rendering gave no objects"]);
    let asked = bed.asked();
    let private = asked.split("mcd-render-").nth(1).unwrap().split('/').next().unwrap();
    let shown = asked
        .replace(&format!("mcd-render-{private}"), "PRIVATE")
        .replace(&*bed.base.to_string_lossy(), "");
    insta::assert_snapshot!(shown.trim(), @r"
    HELM_CACHE_HOME=/tmp/PRIVATE/helm/cache
    HELM_CONFIG_HOME=/tmp/PRIVATE/helm/config
    HELM_DATA_HOME=/tmp/PRIVATE/helm/data
    KUBECONFIG=/dev/null
    OWN=1
    TMPDIR=/tmp/PRIVATE/tmp
    ");
}

#[tokio::test]
async fn what_inflates_charts_runs_in_a_copy_of_the_repository() {
    let bed = Bed::new();
    fs::write(bed.base.join("repo/shared.yaml"), CONFIG_MAP).unwrap();
    bed.tool("helm", "exit 1");
    bed.tool("kustomize", "echo \"$*\" >> $asked; mkdir charts; cat ../shared.yaml");
    let target = bed.target("a", bed.kustomize(&["--enable-helm"]));
    let rendered = bed.renderer().render(&target, None).await.unwrap();
    assert_eq!(rendered.objects.len(), 1);
    assert!(!bed.base.join("repo/base/charts").exists());
    let helm = bed.base.join("bin/helm");
    assert_eq!(bed.asked(), format!("build --enable-helm --helm-command={} .\n", helm.display()));

    // Messages name the repository, not the copy.
    bed.tool("kustomize", "echo \"no such file: $PWD/x.yaml\" >&2; exit 1");
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    let said = format!("no such file: {}/repo/base/x.yaml", bed.base.display());
    assert_eq!(error.causes(), [said]);
}

#[tokio::test]
async fn only_the_fleet_allows_code_of_the_repository() {
    let bed = Bed::new();
    bed.tool("kustomize", &format!("echo '{CONFIG_MAP}'"));
    bed.tool("helm", &format!("echo '{CONFIG_MAP}'"));
    for flag in ["--enable-exec", "--enable-alpha-plugins=true", "--helm-command=./evil"] {
        let mut target = bed.target("a", bed.kustomize(&[flag]));
        let error = bed.renderer().render(&target, None).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Config);
        let name = flag.split('=').next().unwrap();
        assert!(error.message().starts_with(&format!("`kustomize {name}` runs code")), "{error}");
        assert!(error.hints()[0].contains("allow: {plugins: true}"), "{error:?}");
        target.allow_plugins = true;
        assert!(bed.renderer().render(&target, None).await.is_ok(), "{flag}");
    }
    for (flag, variable) in [(Some("--post-renderer=./evil"), None), (None, Some("LD_PRELOAD"))] {
        let mut helm = bed.helm();
        helm.args.extend(flag.map(str::to_owned));
        helm.env.extend(variable.map(|name| (name.to_owned(), "./evil.so".to_owned())));
        let target = bed.target("a", Render::Helm(helm));
        let error = bed.renderer().render(&target, None).await.unwrap_err();
        assert!(error.message().contains("runs code of the repository"), "{error}");
    }
}

#[tokio::test]
async fn secret_values_are_known_before_anything_is_said() {
    let bed = Bed::new();
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {p: hunter22}}";
    bed.tool("kustomize", &format!("echo 'using hunter22' >&2; echo '{secret}'"));
    let target = bed.target("a", bed.kustomize(&[]));
    let rendered = bed.renderer().render(&target, None).await.unwrap();
    assert_eq!(rendered.warnings, ["kustomize: using ***"]);

    // Values that a chart is given are known when helm fails, and are no arguments.
    bed.tool(
        "helm",
        "echo \"$*\" >> $asked; echo 'bad: correct-horse, battery-staple' >&2; exit 1",
    );
    let mut helm = bed.helm();
    helm.set.insert("auth".into(), json!({"password": "correct-horse"}));
    helm.values.push(ValuesSource::Inline(json!({"apiToken": "battery-staple"})));
    let target = bed.target("a", Render::Helm(helm));
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    assert_eq!(error.causes(), ["bad: ***, ***"]);
    assert!(!bed.asked().contains("correct-horse"), "{}", bed.asked());
    assert!(!format!("{error:?}").contains("correct-horse"));
}

#[tokio::test]
async fn a_tool_that_hangs_is_stopped_and_named() {
    let mut bed = Bed::new();
    bed.tool("kustomize", "echo fetching >&2; sleep 600");
    let target = bed.target("a", bed.kustomize(&[]));
    bed.options.timeout = Duration::from_secs(2);
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a: `kustomize build base` did not end within 2 s and was stopped: fetching"
    );

    bed.options.timeout = RenderOptions::TIMEOUT;
    bed.cancel.cancel();
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    assert_eq!(error.exit(), Exit::Interrupted);
}

#[tokio::test]
async fn plain_manifests_have_their_file_in_every_fault() {
    let bed = Bed::new();
    let base = bed.base.join("repo/base");
    fs::write(base.join("a.yaml"), CONFIG_MAP).unwrap();
    fs::write(base.join("b.yaml"), format!("---\n{CONFIG_MAP}\n")).unwrap();
    let mut target = bed.target("us-east", Render::Manifests(vec![base.clone()]));
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "us-east: ConfigMap a: the object is there twice: first in base/a.yaml (document 1, line \
         1), then in base/b.yaml (document 1, line 2)"
    );
    fs::write(base.join("b.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {\n").unwrap();
    let error = bed.renderer().render(&target, None).await.unwrap_err();
    assert_eq!(error.location().unwrap().file, "base/b.yaml");
    assert_eq!(error.exit(), Exit::Manifest);

    target.render = Render::Manifests(vec![base.join("a.yaml")]);
    let rendered = bed.renderer().render(&target, None).await.unwrap();
    assert_eq!(rendered.objects[0].origin.source, "base/a.yaml");
    assert!(rendered.tool.is_none());
}

#[test]
fn only_helm_asks_for_capabilities() {
    let bed = Bed::new();
    assert!(!needs_capabilities(&bed.target("a", bed.kustomize(&[]))));
    let mut helm = bed.helm();
    assert!(needs_capabilities(&bed.target("a", Render::Helm(helm.clone()))));
    helm.kube_version = Some("1.36".into());
    helm.api_versions = Some(Vec::new());
    assert!(!needs_capabilities(&bed.target("a", Render::Helm(helm))));
}

#[test]
fn warnings_are_marked_once() {
    assert_eq!(bare("# Warning: 'vars' is deprecated."), "'vars' is deprecated.");
    assert_eq!(bare("WARNING: the chart is old"), "the chart is old");
    assert_eq!(bare("coalesce.go:286: warning: x"), "coalesce.go:286: warning: x");
}
