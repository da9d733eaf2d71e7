//! The clusters that are shared by tests, the demo and people: they outlive the process that started them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cache::{self, Lock, write_atomically};
use crate::cluster::{self, Cluster};
use crate::error::{Error, Result};
use crate::kubeconfig::{self, Context};
use crate::progress::say;
use crate::tools::Binaries;

/// How many clusters the bed has when nothing else is asked for.
pub const DEFAULT_CLUSTERS: usize = 3;

const NAMES: [&str; 6] = ["us-east", "us-west", "eu-west", "ap-south", "sa-east", "af-south"];

/// The name of the n-th cluster, from 0.
fn name(n: usize) -> String {
    NAMES.get(n).map_or_else(|| format!("c{}", n + 1), |name| (*name).to_owned())
}

/// Clusters that run, and the tools to go with them.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) binaries: Binaries,
    run: PathBuf,
}

impl Fleet {
    /// Makes sure that at least `count` clusters run. Builds what is missing, starts what does not run, and returns at once
    /// when there is nothing to do.
    pub fn up(count: usize) -> Result<Fleet> {
        let binaries = Binaries::ensure()?;
        let run = cache::run_folder()?;
        remove_orphans(&run);
        if let Some(fleet) = Fleet::running(&run, count, &binaries)? {
            return Ok(fleet);
        }
        let _lock = Lock::take(&run.join("lock"), "starts or stops the test bed's clusters")?;
        // Whoever had the lock may have done it all.
        if let Some(fleet) = Fleet::running(&run, count, &binaries)? {
            return Ok(fleet);
        }
        for name in (0..count).map(name) {
            Cluster::prepare(&run, &run.join("clusters").join(&name), &name, None)?;
        }
        // Also those that were asked for earlier.
        let prepared = existing(&run)?;
        let down: Vec<&Cluster> = prepared.iter().filter(|c| !c.is_up()).collect();
        if !down.is_empty() {
            let names: Vec<&str> = down.iter().map(|c| c.name()).collect();
            say(&format!("starting {}…", names.join(", ")));
            let start = Instant::now();
            let problems = start_each(&down, &run, &binaries);
            if !problems.is_empty() {
                return Err(Error::new(problems.join("\n")));
            }
            say(&format!(
                "{} ready after {:.1} s",
                names.join(", "),
                start.elapsed().as_secs_f64()
            ));
        }
        let clusters = existing(&run)?;
        let contexts: Vec<Context> = clusters.iter().map(Context::of).collect();
        let merged = kubeconfig::render(&contexts, "")?;
        write_atomically(&run.join("kubeconfig"), merged.as_bytes())?;
        Ok(Fleet { clusters, binaries, run })
    }

    /// The fleet if at least `count` clusters run: nothing is changed.
    fn running(run: &Path, count: usize, binaries: &Binaries) -> Result<Option<Fleet>> {
        if !run.join("kubeconfig").exists() {
            return Ok(None);
        }
        let clusters = existing(run)?;
        let wanted = (0..count).all(|n| clusters.iter().any(|c| c.name() == name(n)));
        if !wanted || !clusters.iter().all(Cluster::is_up) {
            return Ok(None);
        }
        for cluster in &clusters {
            let outdated = cluster.outdated(binaries)?;
            if !outdated.is_empty() {
                let names: Vec<&str> = outdated.iter().map(|c| c.binary()).collect();
                say(&format!(
                    "{}: {} started by another version of the bed; `cargo testbed down` makes room for this one",
                    cluster.name(),
                    names.join(", ")
                ));
            }
        }
        Ok(Some(Fleet { clusters, binaries: binaries.clone(), run: run.to_owned() }))
    }

    /// The clusters, in the order of their names' list.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// A kubeconfig with one context for each cluster.
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.run.join("kubeconfig")
    }

    /// The folder with `<tool>/<version>/<tool>`.
    pub fn tools(&self) -> &Path {
        self.binaries.tools()
    }

    /// Lines for a shell: `eval "$(cargo testbed env)"`.
    pub fn env(&self) -> String {
        let quoted = |p: &Path| format!("'{}'", p.display().to_string().replace('\'', r"'\''"));
        format!(
            "export KUBECONFIG={}\nexport MCD_TOOLS={}\nexport PATH=\"$PATH\":{}\n",
            quoted(&self.kubeconfig_file()),
            quoted(self.tools()),
            quoted(&self.tools().join("bin")),
        )
    }
}

/// Starts clusters, all at once; what went wrong. One that does not start with the data that it has is made afresh: a
/// machine that lost power can leave data behind that no etcd reads.
fn start_each(clusters: &[&Cluster], run: &Path, binaries: &Binaries) -> Vec<String> {
    let start = |cluster: &Cluster| -> Result<()> {
        let has_data = cluster.has_data();
        let Err(e) = cluster.start_all(binaries) else { return Ok(()) };
        if !has_data {
            return Err(e);
        }
        let name = cluster.name();
        say(&format!("{name} does not start with its earlier data; making it afresh. It was: {e}"));
        cluster::remove(cluster.folder())?;
        Cluster::prepare(run, cluster.folder(), name, None)?.start_all(binaries)
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = clusters.iter().map(|c| scope.spawn(|| start(c))).collect();
        let failed = || Err(Error::new("the thread that starts a cluster panicked"));
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| failed())).collect()
    });
    results.into_iter().filter_map(|r| Some(r.err()?.to_string())).collect()
}

/// The clusters that were made, whether they run or not, in the order of the list of names.
fn existing(run: &Path) -> Result<Vec<Cluster>> {
    let parent = run.join("clusters");
    let mut clusters = Vec::new();
    for folder in cluster::folders(&parent) {
        if let Some(name) = folder.file_name().and_then(|n| n.to_str()) {
            clusters.push(Cluster::prepare(run, &folder, name, None)?);
        }
    }
    clusters.sort_by_key(|c| {
        let place = (0..NAMES.len()).find(|n| name(*n) == c.name());
        (place.unwrap_or(NAMES.len()), c.name().len(), c.name().to_owned())
    });
    Ok(clusters)
}

/// Ends and removes all clusters, private ones too. Returns how many there were.
pub fn down() -> Result<usize> {
    let run = cache::run_folder()?;
    let _lock = Lock::take(&run.join("lock"), "starts or stops the test bed's clusters")?;
    let mut folders = cluster::folders(&run.join("clusters"));
    folders.extend(cluster::folders(&run.join("private")));
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = folders.iter().map(|f| scope.spawn(|| cluster::remove(f))).collect();
        let failed = || Err(Error::new("the thread that ends a cluster panicked"));
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| failed())).collect()
    });
    std::fs::remove_file(run.join("kubeconfig")).ok();
    results.into_iter().collect::<Result<Vec<()>>>()?;
    Ok(folders.len())
}

/// One line about each cluster, private ones too.
pub fn status() -> Result<String> {
    let run = cache::run_folder()?;
    let mut text = String::new();
    for cluster in existing(&run)? {
        let stopped = cluster.stopped();
        let state = if !stopped.is_empty() {
            let names: Vec<&str> = stopped.iter().map(|c| c.binary()).collect();
            format!("down: {} not running", names.join(", "))
        } else if cluster.is_up() {
            "ready".to_owned()
        } else {
            "not ready".to_owned()
        };
        text.push_str(&format!("{:<10} {}  {state}\n", cluster.name(), cluster.server()));
    }
    for folder in cluster::folders(&run.join("private")) {
        text.push_str(&format!("private    {}\n", folder.display()));
    }
    if text.is_empty() {
        text.push_str("no clusters; `cargo testbed up` starts them\n");
    }
    Ok(text)
}

/// Ends private clusters whose test was killed before it could end them itself.
fn remove_orphans(run: &Path) {
    for folder in cluster::folders(&run.join("private")) {
        if cluster::is_orphan(&folder)
            && let Err(e) = cluster::remove(&folder)
        {
            say(&format!("left from an earlier test: {e}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_end() {
        let names: Vec<String> = (0..8).map(name).collect();
        assert_eq!(
            names,
            ["us-east", "us-west", "eu-west", "ap-south", "sa-east", "af-south", "c7", "c8"]
        );
    }
}
