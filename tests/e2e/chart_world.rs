//! A world with charts to pull: packaged, in a repository and in a registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::{ChartServer, ChartServerOptions, Registry};

use crate::support::{Run, World};

pub(crate) const HELMS: [&str; 2] = ["3.22.0", "4.3.1"];
pub(crate) const PASSWORD: &str = "horse battery+staple/9";

/// A world with charts to pull.
pub(crate) struct Charts {
    pub(crate) world: World,
    /// Holds the archives and the index of the chart repository.
    pub(crate) folder: tempfile::TempDir,
}

impl Charts {
    pub(crate) fn new() -> Self {
        Charts { world: World::new("charts"), folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn helm(&self, args: &[&str]) -> String {
        let output = Command::new(self.world.bed.helm("3.22.0"))
            .args(args)
            .current_dir(self.folder.path())
            .env("HELM_CONFIG_HOME", self.folder.path().join("home"))
            .env("HELM_CACHE_HOME", self.folder.path().join("home"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success(), "helm {args:?}: {all}");
        all
    }

    /// Packages the chart `name` in a version: a ConfigMap that says which.
    pub(crate) fn package(&self, name: &str, version: &str) -> PathBuf {
        let source = self.folder.path().join("source").join(name);
        write(
            &source.join("Chart.yaml"),
            &format!("apiVersion: v2\nname: {name}\nversion: {version}\n"),
        );
        write(
            &source.join("templates/cm.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Chart.Name }}'}\n\
             data: {version: '{{ .Chart.Version }}', color: '{{ .Values.color }}'}\n",
        );
        write(&source.join("values.yaml"), "color: none\n");
        self.helm(&["package", &format!("source/{name}")]);
        self.folder.path().join(format!("{name}-{version}.tgz"))
    }

    pub(crate) fn index(&self) {
        self.helm(&["repo", "index", "."]);
    }

    /// Pushes archives; the digest of the last.
    pub(crate) fn push(&self, registry: &Registry, archives: &[&Path]) -> String {
        let to = format!("oci://{}/charts", registry.host());
        let push = |archive: &&Path| {
            let said = self.helm(&["push", &archive.display().to_string(), &to, "--plain-http"]);
            said.lines().find_map(|l| Some(l.strip_prefix("Digest: ")?.to_owned())).unwrap()
        };
        let digests: Vec<String> = archives.iter().map(push).collect();
        digests.last().unwrap().clone()
    }

    pub(crate) fn serve(&self, login: bool) -> ChartServer {
        ChartServer::start(ChartServerOptions {
            folder: self.folder.path().to_owned(),
            login: login.then(login_of),
            ..ChartServerOptions::default()
        })
    }

    /// The two files; `helm` are the keys of `render.helm`, `fleet` further keys of the fleet.
    pub(crate) fn files(&self, clusters: &[&str], helm: &str, fleet: &str) {
        self.world.application(clusters, &format!("render:\n  helm: {{{helm}}}\n"));
        let path = self.world.path().join("fleet.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text + fleet).unwrap();
    }

    /// Runs with the login in the environment.
    pub(crate) fn with_login(&self, args: &[&str]) -> Run {
        let mut command = self.world.command(args);
        let (user, password) = login_of();
        let output = command.env("CHARTS_USER", user).env("CHARTS_PASSWORD", password).output();
        Run::of(output.unwrap())
    }
}

pub(crate) fn login_of() -> (String, String) {
    ("robot".to_owned(), PASSWORD.to_owned())
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn login_for(url: &str, more: &str) -> String {
    format!(
        "chartRepositories:\n- {{url: '{url}', usernameEnv: CHARTS_USER, passwordEnv: CHARTS_PASSWORD{more}}}\n"
    )
}

pub(crate) fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    format!("sha256:{}", String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap())
}
