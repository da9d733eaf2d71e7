//! Where a contestant works: a namespace of its own on three clusters, and the files.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testbed::{Bed, Context, Error, Kubeconfig, Result, TestNamespace};

use crate::manifests::application;
use crate::measure::Task;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The command itself: its version.
    Start,
    /// A plan of what runs already.
    Unchanged,
    /// A plan with a new tag on every image.
    Changed,
    /// All objects into an empty namespace.
    Apply,
}

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    Mcd,
    /// kubectl with `--server-side`, which is what mcd does too, and faster; cluster after cluster.
    Loop,
    /// The same, a kubectl a cluster, all at once.
    AtOnce,
    /// kubectl without a flag, cluster after cluster.
    ClientSide,
}

impl Contestant {
    pub(crate) const ALL: [Contestant; 4] =
        [Contestant::Mcd, Contestant::Loop, Contestant::AtOnce, Contestant::ClientSide];

    /// For the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Contestant::Mcd => "mcd",
            Contestant::Loop => "kubectl --server-side, one cluster after the other",
            Contestant::AtOnce => "kubectl --server-side, all clusters at once",
            Contestant::ClientSide => "kubectl, one cluster after the other",
        }
    }
}

/// A namespace in each cluster, with the files to deploy into it.
pub(crate) struct Site {
    namespace: TestNamespace,
    folder: tempfile::TempDir,
    kubeconfig: Kubeconfig,
    contexts: Vec<String>,
    mcd: PathBuf,
    kubectl: PathBuf,
}

impl Site {
    /// A site whose contexts lead straight to the clusters.
    pub(crate) fn new(bed: &Bed, mcd: &Path) -> Result<Site> {
        let contexts: Vec<Context> = bed.clusters().iter().map(Context::of).collect();
        let site = Site {
            namespace: bed.namespace("bench"),
            folder: tempfile::tempdir().map_err(|e| Error::new(e.to_string()))?,
            kubeconfig: bed.kubeconfig(&contexts),
            contexts: bed.clusters().iter().map(|c| c.name().to_owned()).collect(),
            mcd: mcd.to_owned(),
            kubectl: bed.tools_dir().join("bin/kubectl"),
        };
        let clusters: Vec<Value> = site
            .contexts
            .iter()
            .map(|name| json!({"name": name, "labels": {"env": "bench"}}))
            .collect();
        site.write(
            "fleet.yaml",
            &json!({"apiVersion": "mcd.dev/v1alpha1", "kind": "Fleet", "clusters": clusters}),
        )?;
        for (folder, tag) in [("before", "1.0.0"), ("after", "1.1.0")] {
            let file = |n: usize| format!("{folder}/{n:03}.yaml");
            for (n, object) in application(tag).iter().enumerate() {
                site.write(&file(n), object)?;
            }
            site.write(
                &format!("{folder}.yaml"),
                &json!({
                    "apiVersion": "mcd.dev/v1alpha1", "kind": "Application",
                    "metadata": {"name": "bench"}, "fleet": "fleet.yaml",
                    "select": {"labels": {"env": "bench"}},
                    "namespace": site.namespace.name(),
                    "render": {"manifests": [format!("{folder}/")]},
                }),
            )?;
        }
        Ok(site)
    }

    /// Writes JSON, which is YAML.
    fn write(&self, name: &str, value: &Value) -> Result<()> {
        let path = self.folder.path().join(name);
        let failed = |e: std::io::Error| Error::new(format!("{}: {e}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, format!("{value:#}\n")).map_err(failed)
    }

    /// The same site, reached through other addresses.
    pub(crate) fn through(&mut self, bed: &Bed, contexts: &[Context]) {
        self.kubeconfig = bed.kubeconfig(contexts);
    }

    /// The commands that do the work: one of mcd, or one of kubectl a cluster.
    pub(crate) fn tasks(&self, who: Contestant, work: Work) -> Vec<Task> {
        match who {
            Contestant::Mcd => vec![self.mcd(work)],
            Contestant::Loop | Contestant::AtOnce => self.kubectl(work, &["--server-side"]),
            Contestant::ClientSide => self.kubectl(work, &[]),
        }
    }

    fn mcd(&self, work: Work) -> Task {
        let plan = ["plan", "--detailed-exitcode", "-f"];
        let (args, file, code): (&[&str], Option<&str>, i32) = match work {
            Work::Start => (&["version", "--client"], None, 0),
            Work::Unchanged => (&plan, Some("before.yaml"), 0),
            Work::Changed => (&plan, Some("after.yaml"), 2),
            Work::Apply => (&["apply", "-y", "--wait=false", "-f"], Some("before.yaml"), 0),
        };
        let mut command = self.command(&self.mcd, args);
        command.args(file);
        Task { command, code }
    }

    /// A kubectl a cluster; a single one for what needs none.
    fn kubectl(&self, work: Work, flags: &[&str]) -> Vec<Task> {
        let (args, code): (&[&str], i32) = match work {
            Work::Start => {
                let command = self.command(&self.kubectl, &["version", "--client"]);
                return vec![Task { command, code: 0 }];
            }
            Work::Unchanged => (&["diff", "-f", "before/"], 0),
            Work::Changed => (&["diff", "-f", "after/"], 1),
            Work::Apply => (&["apply", "-f", "before/"], 0),
        };
        let task = |context: &String| {
            let mut command = self.command(&self.kubectl, args);
            command.args(flags).args(["--context", context, "--namespace", self.namespace.name()]);
            Task { command, code }
        };
        self.contexts.iter().map(task).collect()
    }

    /// A command with nothing of the caller's environment but PATH. kubectl keeps its cache of discovery in the folder, as
    /// it does for a user who works on the same clusters again and again.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path().join("home"))
            .env("KUBECONFIG", self.kubeconfig.path());
        command
    }
}
