//! What tests use: shared clusters, namespaces of their own, kubeconfigs, private clusters.

use std::ffi::OsStr;
use std::io::Write as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::cache;
use crate::cluster::{self, Cluster};
use crate::component::Component;
use crate::error::Result;
use crate::fleet::{DEFAULT_CLUSTERS, Fleet};
use crate::kubeconfig::{self, Context};
use crate::process::Process;
use crate::progress::wait_for;
use crate::registry::Registry;
use crate::tools::{Binaries, path_with};

/// The label of namespaces that tests made.
const TEST_LABEL: &str = "testbed.mcd.dev/test";
/// The annotation that says which process made it, as `pid start`.
const OWNER: &str = "testbed.mcd.dev/owner";

/// How long a component may take to end after SIGTERM.
const STOP: Duration = Duration::from_secs(5);

/// Counts what this process makes, so that every name is given once.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The test bed: three clusters that all tests share, and the tools.
#[derive(Debug)]
pub struct Bed {
    fleet: Fleet,
}

impl Bed {
    /// The bed that all tests share. The first call makes sure that its clusters run; on a fresh machine that builds them,
    /// which takes minutes and is shown on stderr. They are left running for the next test; `cargo testbed down` ends them.
    ///
    /// # Panics
    /// With what went wrong, where and what to do, if there is no bed to be had.
    pub fn shared() -> &'static Bed {
        static BED: OnceLock<Result<Bed>> = OnceLock::new();
        let bed = BED.get_or_init(|| {
            let bed = Bed { fleet: Fleet::up(DEFAULT_CLUSTERS)? };
            bed.remove_left_namespaces();
            Ok(bed)
        });
        match bed {
            Ok(bed) => bed,
            Err(e) => panic!("no test bed: {e}"),
        }
    }

    /// The clusters: `us-east`, `us-west`, `eu-west`.
    pub fn clusters(&self) -> &[Cluster] {
        let clusters = self.fleet.clusters();
        clusters.get(..DEFAULT_CLUSTERS).unwrap_or(clusters)
    }

    /// The cluster of this name. Panics if there is none.
    pub fn cluster(&self, name: &str) -> &Cluster {
        match self.clusters().iter().find(|c| c.name() == name) {
            Some(cluster) => cluster,
            None => panic!("the test bed has no cluster `{name}`"),
        }
    }

    /// A kubeconfig with the contexts `us-east`, `us-west`, `eu-west` for an administrator, shared: don't write to it.
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.fleet.kubeconfig_file()
    }

    /// A kubeconfig with these contexts, and none of them current. The file goes when the value is dropped.
    ///
    /// # Panics
    /// If the file cannot be written, or a user's certificate cannot be made.
    pub fn kubeconfig(&self, contexts: &[Context]) -> Kubeconfig {
        Kubeconfig::of(contexts)
    }

    /// A namespace of a new name in every cluster.
    pub fn namespace(&self, prefix: &str) -> TestNamespace {
        TestNamespace::new(prefix, self.clusters())
    }

    /// The value of `MCD_TOOLS`: `<tool>/<version>/<tool>` with kustomize 5.8.2 and 5.4.3, helm 3.22.0 and 4.3.1, kubectl.
    pub fn tools_dir(&self) -> &Path {
        self.fleet.tools()
    }

    /// The bed's helm of this version, `3.22.0` or `4.3.1`.
    pub fn helm(&self, version: &str) -> PathBuf {
        self.tools_dir().join("helm").join(version).join("helm")
    }

    /// An empty registry for images and charts, of the test's own. It ends when it is dropped.
    ///
    /// # Panics
    /// If it does not start.
    pub fn registry(&self) -> Registry {
        let started = self.fleet.binaries.path("registry").and_then(Registry::start);
        started.unwrap_or_else(|e| panic!("no registry: {e}"))
    }

    /// PATH with the bed's `kubectl` first.
    pub fn path(&self) -> std::ffi::OsString {
        path_with(self.tools_dir())
    }

    /// Runs `kubectl` against a cluster, as an administrator.
    pub fn kubectl<S: AsRef<OsStr>>(&self, cluster: &Cluster, args: &[S]) -> Output {
        self.kubectl_with_input(cluster, args, "")
    }

    /// Runs `kubectl` against a cluster, as an administrator, with this on its stdin.
    pub fn kubectl_with_input<S: AsRef<OsStr>>(
        &self,
        cluster: &Cluster,
        args: &[S],
        input: &str,
    ) -> Output {
        kubectl(&self.fleet.binaries, cluster, args, input)
    }

    /// Runs `kubectl apply -f -`; its stdout. Panics with its stderr if it fails.
    pub fn kubectl_apply(&self, cluster: &Cluster, namespace: &str, yaml: &str) -> String {
        let args = ["--namespace", namespace, "apply", "-f", "-"];
        let output = self.kubectl_with_input(cluster, &args, yaml);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: kubectl apply: {stderr}", cluster.name());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A cluster of its own, for a test that breaks or changes it as a whole. It takes seconds to start and half a gigabyte
    /// of memory, and ends when it is dropped.
    ///
    /// # Panics
    /// If it does not start.
    pub fn private(name: &str) -> PrivateCluster {
        match PrivateCluster::start_new(name) {
            Ok(cluster) => cluster,
            Err(e) => panic!("no private cluster: {e}"),
        }
    }

    /// Namespaces of tests that were killed before they could remove them.
    fn remove_left_namespaces(&self) {
        for cluster in self.clusters() {
            let list = cluster.call(
                "GET",
                &format!("/api/v1/namespaces?labelSelector={TEST_LABEL}"),
                None,
            );
            let Ok(list) = list else { continue };
            for namespace in list.json["items"].as_array().into_iter().flatten() {
                let owner = namespace["metadata"]["annotations"][OWNER].as_str();
                let owner = owner.and_then(|o| o.split_once(' ')).and_then(|(pid, started)| {
                    Some(Process { pid: pid.parse().ok()?, started: started.to_owned() })
                });
                if let (Some(owner), Some(name)) = (owner, namespace["metadata"]["name"].as_str())
                    && !owner.runs()
                    && namespace["metadata"]["deletionTimestamp"].is_null()
                {
                    cluster.call("DELETE", &format!("/api/v1/namespaces/{name}"), None).ok();
                }
            }
        }
    }
}

fn kubectl<S: AsRef<OsStr>>(
    binaries: &Binaries,
    cluster: &Cluster,
    args: &[S],
    input: &str,
) -> Output {
    let run = || -> std::result::Result<Output, String> {
        let mut child = Command::new(binaries.path("kubectl").map_err(|e| e.to_string())?)
            .env("KUBECONFIG", cluster.kubeconfig_file())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            // kubectl may end without reading all of it; then its own message says why.
            stdin.write_all(input.as_bytes()).ok();
        }
        child.wait_with_output().map_err(|e| e.to_string())
    };
    match run() {
        Ok(output) => output,
        Err(e) => panic!("{}: kubectl cannot be run: {e}", cluster.name()),
    }
}

/// A kubeconfig file that goes when this is dropped.
#[derive(Debug)]
pub struct Kubeconfig {
    file: tempfile::NamedTempFile,
}

impl Kubeconfig {
    /// A file with these contexts, and none of them current.
    ///
    /// # Panics
    /// If the file cannot be written, or a user's certificate cannot be made.
    pub fn of(contexts: &[Context]) -> Kubeconfig {
        let make = || -> std::result::Result<_, String> {
            let text = kubeconfig::render(contexts, "").map_err(|e| e.to_string())?;
            let mut file = tempfile::Builder::new()
                .prefix("kubeconfig-")
                .tempfile()
                .map_err(|e| e.to_string())?;
            file.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
            Ok(Kubeconfig { file })
        };
        match make() {
            Ok(kubeconfig) => kubeconfig,
            Err(e) => panic!("kubeconfig: {e}"),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl AsRef<OsStr> for Kubeconfig {
    fn as_ref(&self) -> &OsStr {
        self.path().as_os_str()
    }
}

/// A namespace of one name in some clusters. It is deleted, without waiting, when this is dropped.
#[derive(Debug)]
pub struct TestNamespace {
    name: String,
    clusters: Vec<Cluster>,
}

impl TestNamespace {
    /// A namespace of a new name in these clusters.
    ///
    /// # Panics
    /// If a cluster does not make it.
    pub fn new(prefix: &str, clusters: &[Cluster]) -> TestNamespace {
        let own = Process::own();
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{:x}-{n}", own.pid);
        let namespace = TestNamespace { name, clusters: clusters.to_vec() };
        let object = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": namespace.name,
                "labels": {TEST_LABEL: "true"},
                "annotations": {OWNER: format!("{} {}", own.pid, own.started)},
            },
        });
        for cluster in clusters {
            // A process of the same number may have left one of this name, which is on its way out.
            wait_for(
                &format!("{}: namespace {}", cluster.name(), namespace.name),
                Duration::from_secs(60),
                || match cluster.call("POST", "/api/v1/namespaces", Some(&object)) {
                    Ok(answer) if answer.is_success() => Ok(()),
                    Ok(answer) => Err(answer.text),
                    Err(e) => Err(e.to_string()),
                },
            );
        }
        // Without its default service account a namespace takes no pods.
        let path = format!("/api/v1/namespaces/{}/serviceaccounts/default", namespace.name);
        for cluster in clusters {
            wait_for(&format!("{}: {path}", cluster.name()), Duration::from_secs(60), || {
                match cluster.call("GET", &path, None) {
                    Ok(answer) if answer.is_success() => Ok(()),
                    Ok(answer) => Err(answer.text),
                    Err(e) => Err(e.to_string()),
                }
            });
        }
        namespace
    }

    /// Its name, the same in every cluster.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for TestNamespace {
    fn drop(&mut self) {
        for cluster in &self.clusters {
            let path = format!("/api/v1/namespaces/{}", self.name);
            // A private cluster may be gone, or broken on purpose.
            cluster.call("DELETE", &path, None).ok();
        }
    }
}

/// A cluster of one test. Ends, with all its data, when it is dropped.
#[derive(Debug)]
pub struct PrivateCluster {
    cluster: Cluster,
    binaries: Binaries,
}

impl PrivateCluster {
    fn start_new(name: &str) -> Result<PrivateCluster> {
        let binaries = Binaries::ensure()?;
        let run = cache::run_folder()?;
        let own = Process::own();
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = run.join("private").join(format!("{name}-{:x}-{n}", own.pid));
        cluster::remove(&folder)?;
        let cluster = Cluster::prepare(&run, &folder, name, Some(own))?;
        // Ends what was started, should the rest fail.
        let private = PrivateCluster { cluster, binaries };
        private.cluster.start_all(&private.binaries)?;
        Ok(private)
    }

    /// Ends a component and waits until it is gone. Its data stays.
    pub fn stop(&self, component: Component) {
        check(self.cluster.stop_component(component, STOP));
    }

    /// Ends a component at once, as a crash would.
    pub fn kill(&self, component: Component) {
        check(self.cluster.stop_component(component, Duration::ZERO));
    }

    /// Starts a component again, on the same ports and data, and waits until it is ready.
    pub fn start(&self, component: Component) {
        let start = || self.cluster.start_component(component, &self.binaries);
        // While it was down its port was free, and whoever looks for a free one may be trying that
        // one in this moment. It is given back at once.
        let taken = |result: &Result<()>| {
            result.as_ref().is_err_and(|e| e.to_string().contains("address already in use"))
        };
        let mut started = start();
        for _ in 0..3 {
            if taken(&started) {
                started = start();
            }
        }
        check(started);
    }

    /// Stops a component in its tracks: it accepts connections and answers nothing.
    pub fn freeze(&self, component: Component) {
        check(self.cluster.signal(component, Signal::STOP));
    }

    /// Lets a frozen component go on.
    pub fn thaw(&self, component: Component) {
        check(self.cluster.signal(component, Signal::CONT));
    }

    /// Runs `kubectl` against it.
    pub fn kubectl<S: AsRef<OsStr>>(&self, args: &[S], input: &str) -> Output {
        kubectl(&self.binaries, &self.cluster, args, input)
    }
}

fn check<T>(result: Result<T>) {
    if let Err(e) = result {
        panic!("{e}");
    }
}

impl Deref for PrivateCluster {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for PrivateCluster {
    fn drop(&mut self) {
        if let Err(e) = cluster::remove(self.cluster.folder()) {
            crate::progress::say(&e.to_string());
        }
    }
}
