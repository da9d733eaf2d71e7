//! Many small targets: a plan of sixty that changes nothing, beside the bare LISTs that it needs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Value, json};
use testbed::{Bed, Cluster, Context, Error, Kubeconfig, Proxy, Result, TestNamespace};

use crate::manifests::small;
use crate::measure::{Sample, Task};

/// Namespaces, each of them a target in every cluster.
const NAMESPACES: usize = 20;
/// Connections to a cluster: as many calls as mcd has under way at once.
const CONNECTIONS: usize = 8;

const VERSION: &str = "mcd.dev/v1alpha1";

/// The targets, deployed, and what a plan of them asks.
pub(crate) struct Targets {
    /// Keeps the namespaces until the end.
    _namespaces: Vec<TestNamespace>,
    folder: tempfile::TempDir,
    kubeconfig: Kubeconfig,
    mcd: std::path::PathBuf,
    lists: Vec<(Cluster, Vec<String>)>,
}

impl Targets {
    /// Deploys them, and listens to a plan.
    pub(crate) fn deploy(bed: &Bed, mcd: &Path) -> Result<Targets> {
        let namespaces: Vec<TestNamespace> =
            (0..NAMESPACES).map(|_| bed.namespace("bench")).collect();
        let mut targets = Targets {
            folder: tempfile::tempdir().map_err(|e| Error::new(e.to_string()))?,
            kubeconfig: bed.kubeconfig(&contexts(bed, &namespaces, Context::of)),
            _namespaces: namespaces,
            mcd: mcd.to_owned(),
            lists: Vec::new(),
        };
        targets.write_fleet(bed)?;
        targets.write("1.0.0", None)?;
        let straight = targets.kubeconfig.path().to_owned();
        crate::measure::one_by_one(vec![
            targets.task(&["apply", "-y", "--wait=false"], &straight),
        ])?;

        let proxies: BTreeMap<&str, Proxy> =
            bed.clusters().iter().map(|c| (c.name(), Proxy::start(c))).collect();
        let through = |cluster: &Cluster| match proxies.get(cluster.name()) {
            Some(proxy) => Context::of(cluster).at_server(proxy.kubeconfig_server()),
            None => Context::of(cluster),
        };
        let watched = bed.kubeconfig(&contexts(bed, &targets._namespaces, through));
        crate::measure::one_by_one(vec![targets.task(&PLAN, watched.path())])?;
        for cluster in bed.clusters() {
            let requests = proxies.get(cluster.name()).map(Proxy::requests).unwrap_or_default();
            let is_list = |path: &str| {
                let plain = path.split('?').next().unwrap_or_default();
                // One LIST is `…/namespaces/NAME/PLURAL`; whatever is longer names an object.
                plain
                    .rsplit("/namespaces/")
                    .next()
                    .is_some_and(|rest| rest.matches('/').count() == 1)
                    && plain.contains("/namespaces/")
            };
            let lists = requests.into_iter().map(|r| r.path).filter(|path| is_list(path));
            targets.lists.push((cluster.clone(), lists.collect()));
        }
        Ok(targets)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        NAMESPACES * self.lists.len()
    }

    /// What is measured, for the table.
    pub(crate) fn name(&self) -> String {
        let lists: usize = self.lists.iter().map(|(_, lists)| lists.len()).sum();
        let targets = self.count();
        format!("plan of {targets} targets with 20 objects each, nothing changed ({lists} LISTs)")
    }

    fn file(&self, name: &str, value: &Value) -> Result<()> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, format!("{value:#}\n"))
            .map_err(|e| Error::new(format!("{}: {e}", path.display())))
    }

    /// The fleet, of which the first cluster has a wave of its own.
    fn write_fleet(&self, bed: &Bed) -> Result<()> {
        let cluster = |(n, (name, namespace)): (usize, (String, String))| {
            let wave = if n == 0 { "first" } else { "rest" };
            let labels = json!({"env": "bench", "wave": wave});
            json!({"name": name, "labels": labels, "values": {"namespace": namespace}})
        };
        let clusters: Vec<Value> = self.places(bed).into_iter().enumerate().map(cluster).collect();
        self.file(
            "fleet.yaml",
            &json!({"apiVersion": VERSION, "kind": "Fleet", "clusters": clusters}),
        )
    }

    /// The application with these images, and its key `rollout`.
    fn write(&self, tag: &str, rollout: Option<&Value>) -> Result<()> {
        let mut application = json!({
            "apiVersion": VERSION, "kind": "Application", "metadata": {"name": "bench"},
            "fleet": "fleet.yaml", "select": {"labels": {"env": "bench"}},
            "namespace": "{{ values.namespace }}", "render": {"manifests": ["all.yaml"]},
        });
        if let Some(rollout) = rollout {
            application["rollout"] = rollout.clone();
        }
        self.file("mcd.yaml", &application)?;
        self.file("all.yaml", &json!({"apiVersion": "v1", "kind": "List", "items": small(tag)}))
    }

    /// Opens a rollout in all targets, of which the first is done and the others wait for approval;
    /// looks at it, and takes it back. How each of that went, in this order.
    pub(crate) fn roll(&self) -> Result<[Sample; 3]> {
        let waves = json!([
            {"name": "first", "select": {"labels": {"wave": "first"}}},
            {"name": "rest", "select": {"labels": {"wave": "rest"}}, "approval": true},
        ]);
        self.write("2.0.0", Some(&json!({"waves": waves})))?;
        let run = |args: &[&str], code: i32| {
            let task = self.task(args, self.kubeconfig.path());
            crate::measure::one_by_one(vec![Task { code, ..task }])
        };
        let samples = [
            run(&["apply", "-y"], 7)?,
            run(&["rollout", "status"], 0)?,
            run(&["rollout", "abort", "-y"], 0)?,
        ];
        self.write("1.0.0", None)?;
        Ok(samples)
    }

    /// The targets' names and namespaces.
    fn places(&self, bed: &Bed) -> Vec<(String, String)> {
        let names = self._namespaces.iter().map(|n| n.name().to_owned());
        names
            .flat_map(|ns| bed.clusters().iter().map(move |c| (name(c, &ns), ns.clone())))
            .collect()
    }

    fn task(&self, args: &[&str], kubeconfig: &Path) -> Task {
        let mut command = Command::new(&self.mcd);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("KUBECONFIG", kubeconfig);
        Task { command, code: 0 }
    }

    /// The plan.
    pub(crate) fn plan(&self) -> Task {
        self.task(&PLAN, self.kubeconfig.path())
    }

    /// The same LISTs and nothing else: answers are read, and not looked at.
    pub(crate) fn ask(&self) -> Result<Sample> {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (cluster, lists) in &self.lists {
                let queue = std::sync::Arc::new(Mutex::new(lists.iter()));
                for _ in 0..CONNECTIONS {
                    let queue = std::sync::Arc::clone(&queue);
                    threads.push(scope.spawn(move || ask(cluster, &queue)));
                }
            }
            let failed = || Err(Error::new("the thread that asks panicked"));
            threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|_| failed()))
        })?;
        Ok(Sample { time: start.elapsed(), peak: 0 })
    }
}

const PLAN: [&str; 2] = ["plan", "--detailed-exitcode"];

fn ask(cluster: &Cluster, queue: &Mutex<std::slice::Iter<'_, String>>) -> Result<()> {
    let mut connection = cluster.connect()?;
    loop {
        let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        let Some(path) = next else { return Ok(()) };
        match connection.get(path)? {
            (200, _) => {}
            (status, _) => return Err(Error::new(format!("GET {path}: {status}"))),
        }
    }
}

fn name(cluster: &Cluster, namespace: &str) -> String {
    format!("{}-{namespace}", cluster.name())
}

/// A context for each namespace of each cluster.
fn contexts(
    bed: &Bed,
    namespaces: &[TestNamespace],
    of: impl Fn(&Cluster) -> Context,
) -> Vec<Context> {
    let each = |ns: &TestNamespace| {
        let named = |c: &Cluster| of(c).named(name(c, ns.name())).in_namespace(ns.name());
        bed.clusters().iter().map(named).collect::<Vec<_>>()
    };
    namespaces.iter().flat_map(each).collect()
}
