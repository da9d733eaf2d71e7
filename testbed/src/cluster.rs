//! One control plane: its folder, its record, its processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Answer, Client};
use crate::cache::{self, Lock, write_atomically};
use crate::component::{Component, Ports, STAGES, arguments};
use crate::error::{Context as _, Error, Result};
use crate::kubeconfig::{self, Context};
use crate::pki::{Pair, Pki};
use crate::ports;
use crate::process::{self, Process};
use crate::progress::poll;
use crate::tools::Binaries;

/// How long a component may take until it is ready. Seconds are usual; a loaded machine needs more.
const START: Duration = Duration::from_secs(120);
const CALL: Duration = Duration::from_secs(30);
const NODES: usize = 3;

/// What is written down about a cluster, in `cluster.json` of its folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    name: String,
    ports: Ports,
    processes: BTreeMap<Component, Process>,
    /// What each process was started with, as a digest.
    #[serde(default)]
    recipes: BTreeMap<Component, String>,
    /// The process that this cluster ends with: a private one ends with its test.
    owner: Option<Process>,
}

/// A control plane on this machine.
#[derive(Clone, Debug)]
pub struct Cluster {
    name: String,
    folder: PathBuf,
    ports: Ports,
    pki: Pki,
    client: Arc<Client>,
}

impl Cluster {
    /// The cluster of this name in `run`, made if it is not there yet. Nothing is started.
    pub(crate) fn prepare(
        run: &Path,
        folder: &Path,
        name: &str,
        owner: Option<Process>,
    ) -> Result<Cluster> {
        fs::create_dir_all(folder.join("log")).at(folder)?;
        let pki = Pki::in_folder(&folder.join("pki"), name)?;
        let ports = match read_record(folder)? {
            Some(record) => record.ports,
            None => {
                // Ports are taken one cluster at a time, so that no two are given the same.
                let _lock = Lock::take(&run.join("ports.lock"), "chooses ports")?;
                let [etcd, etcd_peer, api_server, controller_manager, scheduler] =
                    ports::free(&recorded_ports(run))?;
                let ports = Ports { etcd, etcd_peer, api_server, controller_manager, scheduler };
                let record = Record {
                    name: name.to_owned(),
                    ports,
                    processes: BTreeMap::new(),
                    recipes: BTreeMap::new(),
                    owner,
                };
                write_record(folder, &record)?;
                ports
            }
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports.api_server));
        let client = Arc::new(Client::new(address, &pki.ca()?, &pki.admin()?)?);
        let cluster =
            Cluster { name: name.to_owned(), folder: folder.to_owned(), ports, pki, client };
        write_atomically(&folder.join("stages.yaml"), STAGES.as_bytes())?;
        let admin = kubeconfig::render(&[Context::of(&cluster)], &cluster.name)?;
        write_atomically(&cluster.kubeconfig_file(), admin.as_bytes())?;
        Ok(cluster)
    }

    /// The name: `us-east` and so on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of its API server, as a kubeconfig has it.
    pub fn server(&self) -> String {
        format!("https://{}", self.address())
    }

    /// The address of its API server.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.api_server))
    }

    /// A kubeconfig with one context, named as the cluster, for an administrator. Its current context is set.
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// The log of a component, of all its runs.
    pub fn log_file(&self, component: Component) -> PathBuf {
        self.folder.join("log").join(format!("{component}.log"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn ca(&self) -> Result<String> {
        self.pki.ca()
    }

    pub(crate) fn server_certificate(&self) -> Result<Pair> {
        self.pki.server()
    }

    pub(crate) fn admin(&self) -> Result<Pair> {
        self.pki.admin()
    }

    /// A new client certificate of this cluster's CA.
    pub(crate) fn user(&self, name: &str, groups: &[String]) -> Result<Pair> {
        self.pki.client(name, groups)
    }

    /// The key that goes with a client certificate (DER), if it is the administrator's or was made by this process.
    pub(crate) fn client_pair(&self, certificate: &[u8]) -> Result<Option<Pair>> {
        self.pki.client_pair(certificate)
    }

    /// One call to the API server as an administrator, without a kubectl process: milliseconds. A
    /// PATCH is a JSON patch when its body is a list, and a merge patch otherwise.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer> {
        let content_type = match (method, body) {
            ("PATCH", Some(Value::Array(_))) => "application/json-patch+json",
            ("PATCH", _) => "application/merge-patch+json",
            _ => "application/json",
        };
        let content = body.map(Value::to_string);
        self.client.call(
            method,
            path,
            content.as_deref().map(|c| (content_type, c.as_bytes())),
            CALL,
        )
    }

    /// The object at an API path. Panics if it is not there.
    pub fn get(&self, path: &str) -> Value {
        match self.call("GET", path, None) {
            Ok(answer) if answer.is_success() => answer.json,
            Ok(answer) => panic!("{}: GET {path}: {} {}", self.name, answer.status, answer.text),
            Err(e) => panic!("{}: {e}", self.name),
        }
    }

    /// A connection for many reads as an administrator.
    pub fn connect(&self) -> Result<crate::api::Connection> {
        self.client.connect(CALL)
    }

    /// A server-side apply of one object by the field manager `manager`, forced. Panics if it is refused.
    pub fn apply_as(&self, manager: &str, path: &str, object: &Value) -> Value {
        let path = format!("{path}?fieldManager={manager}&force=true");
        let body = object.to_string();
        let body = Some(("application/apply-patch+yaml", body.as_bytes()));
        match self.client.call("PATCH", &path, body, CALL) {
            Ok(answer) if answer.is_success() => answer.json,
            Ok(answer) => panic!("{}: PATCH {path}: {} {}", self.name, answer.status, answer.text),
            Err(e) => panic!("{}: {e}", self.name),
        }
    }

    /// A token of a service account, valid for an hour. Panics if there is none of that name.
    pub fn service_account_token(&self, namespace: &str, name: &str) -> String {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let request =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = self.call("POST", &path, Some(&request));
        match answer.as_ref().map(|a| a.json["status"]["token"].as_str()) {
            Ok(Some(token)) => token.to_owned(),
            _ => panic!("{}: POST {path}: {answer:?}", self.name),
        }
    }

    /// True if every process runs and the API server says that it is ready.
    pub(crate) fn is_up(&self) -> bool {
        self.stopped().is_empty() && self.is_ready().is_ok()
    }

    /// True if it was started before.
    pub(crate) fn has_data(&self) -> bool {
        self.folder.join("etcd").exists()
    }

    /// The components that do not run.
    pub(crate) fn stopped(&self) -> Vec<Component> {
        let record = read_record(&self.folder).ok().flatten();
        let runs = |c: &Component| {
            record.as_ref().and_then(|r| r.processes.get(c)).is_some_and(Process::runs)
        };
        Component::ALL.into_iter().filter(|c| !runs(c)).collect()
    }

    /// The process of a component, if it runs.
    pub fn process(&self, component: Component) -> Option<Process> {
        let record = read_record(&self.folder).ok().flatten()?;
        record.processes.get(&component).filter(|p| p.runs()).cloned()
    }

    /// Everything that decides how a component behaves, as a digest.
    fn recipe(&self, component: Component, binaries: &Binaries) -> Result<String> {
        let binary = binaries.path(component.binary())?.display().to_string();
        let arguments = arguments(component, &self.folder, &self.ports);
        let stages = if component == Component::Kwok { STAGES } else { "" };
        let parts = [binary.as_str(), stages].into_iter();
        Ok(cache::key(parts.chain(arguments.iter().map(String::as_str))))
    }

    /// Components that run, but were started by another version of the bed, in another way than this one would.
    pub(crate) fn outdated(&self, binaries: &Binaries) -> Result<Vec<Component>> {
        let Some(record) = read_record(&self.folder)? else { return Ok(Vec::new()) };
        let mut outdated = Vec::new();
        for (component, process) in &record.processes {
            let recipe = self.recipe(*component, binaries)?;
            if process.runs() && record.recipes.get(component).is_some_and(|r| *r != recipe) {
                outdated.push(*component);
            }
        }
        Ok(outdated)
    }

    fn is_ready(&self) -> std::result::Result<(), String> {
        match self.client.call("GET", "/readyz", None, Duration::from_secs(5)) {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => Err(format!("/readyz: {} {}", answer.status, answer.text)),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Starts what does not run, with the data that is there, and waits until nodes are ready.
    pub(crate) fn start_all(&self, binaries: &Binaries) -> Result<()> {
        for component in Component::ALL {
            self.start_component(component, binaries)?;
        }
        self.make_nodes()?;
        self.wait_ready(Component::Kwok, "nodes are ready", || self.nodes_are_ready())
    }

    /// Starts a component, unless it runs, and waits until it does its work.
    pub(crate) fn start_component(&self, component: Component, binaries: &Binaries) -> Result<()> {
        if self.process(component).is_none() {
            if component == Component::Kwok {
                self.forget_node_leases();
            }
            self.spawn(component, binaries)?;
        }
        match component {
            Component::Etcd => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.etcd));
                self.wait_ready(component, "it listens", || {
                    TcpStream::connect_timeout(&address, Duration::from_secs(1))
                        .map(drop)
                        .map_err(|e| e.to_string())
                })
            }
            Component::ApiServer => {
                self.wait_ready(component, "it is ready", || self.is_ready())?;
                self.revive(binaries)
            }
            // They do their work as soon as they run; what depends on it is waited for where it is needed.
            Component::ControllerManager | Component::Scheduler | Component::Kwok => Ok(()),
        }
    }

    /// Starts again what ended by itself: a controller manager gives up when it finds no API server at its start. On a real
    /// machine the kubelet starts it again. What a test has stopped stays so.
    fn revive(&self, binaries: &Binaries) -> Result<()> {
        let Some(record) = read_record(&self.folder)? else { return Ok(()) };
        for (component, process) in record.processes {
            if component > Component::ApiServer && !process.runs() {
                self.start_component(component, binaries)?;
            }
        }
        Ok(())
    }

    /// A restarted kwok would wait until the leases of its former life have run out, up to 40 seconds.
    fn forget_node_leases(&self) {
        let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
        self.call("DELETE", leases, None).ok();
    }

    fn spawn(&self, component: Component, binaries: &Binaries) -> Result<()> {
        let log = self.log_file(component);
        let file = File::options().create(true).append(true).open(&log).at(&log)?;
        let errors = file.try_clone().at(&log)?;
        let child = {
            use std::os::unix::process::CommandExt;
            Command::new(binaries.path(component.binary())?)
                .args(arguments(component, &self.folder, &self.ports))
                .current_dir(&self.folder)
                .stdin(Stdio::null())
                .stdout(file)
                .stderr(errors)
                // A group of its own: Ctrl-C in the terminal is not meant for it.
                .process_group(0)
                .spawn()
                .doing(|| format!("{}: {component}", self.name))?
        };
        let process = Process::of(&child).ok_or_else(|| {
            Error::new(format!("{}: {component} ended at once{}", self.name, tail(&log)))
        })?;
        let recipe = self.recipe(component, binaries)?;
        self.update(|record| {
            record.processes.insert(component, process);
            record.recipes.insert(component, recipe);
        })
    }

    fn wait_ready(
        &self,
        component: Component,
        what: &str,
        mut condition: impl FnMut() -> std::result::Result<(), String>,
    ) -> Result<()> {
        // What it depends on may end meanwhile, which is then the news.
        let needed = [Component::Etcd, Component::ApiServer, component];
        let needed: Vec<Component> = needed.into_iter().filter(|c| *c <= component).collect();
        let mut ended = None;
        let result = poll(START, || match condition() {
            Ok(()) => Ok(()),
            Err(seen) => {
                ended = needed.iter().copied().find(|c| self.process(*c).is_none());
                if ended.is_some() { Ok(()) } else { Err(seen) }
            }
        });
        let (problem, component) = match (result, ended) {
            (Ok(()), None) => return Ok(()),
            (Ok(()), Some(ended)) => (format!("{ended} ended"), ended),
            (Err(seen), _) => {
                (format!("not within {} s: {what}; last seen: {seen}", START.as_secs()), component)
            }
        };
        let log = tail(&self.log_file(component));
        Err(Error::new(format!("cluster {}: {problem}{log}", self.name)))
    }

    fn make_nodes(&self) -> Result<()> {
        for n in 1..=NODES {
            let node = json!({
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": format!("node-{n}"),
                    "labels": {
                        "kubernetes.io/arch": "amd64",
                        "kubernetes.io/os": "linux",
                        "kubernetes.io/hostname": format!("node-{n}"),
                        "topology.kubernetes.io/region": self.name,
                        "topology.kubernetes.io/zone": format!("{}-{n}", self.name),
                    },
                },
            });
            let answer = self.call("POST", "/api/v1/nodes", Some(&node))?;
            if !answer.is_success() && answer.status != 409 {
                return Err(Error::new(format!("cluster {}: node: {}", self.name, answer.text)));
            }
        }
        Ok(())
    }

    fn nodes_are_ready(&self) -> std::result::Result<(), String> {
        let list = self.call("GET", "/api/v1/nodes", None).map_err(|e| e.to_string())?;
        let nodes = list.json["items"].as_array().cloned().unwrap_or_default();
        let ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array();
            let ready = conditions
                .into_iter()
                .flatten()
                .any(|c| c["type"] == "Ready" && c["status"] == "True");
            ready && node["spec"]["taints"].is_null()
        };
        let ready = nodes.iter().filter(ready).count();
        if ready >= NODES { Ok(()) } else { Err(format!("{ready} of {NODES} nodes ready")) }
    }

    /// Ends one component and waits until it is gone: SIGTERM, and SIGKILL after `patience`.
    pub(crate) fn stop_component(&self, component: Component, patience: Duration) -> Result<()> {
        let process = self.process(component);
        // First, so that it is known as stopped, not as ended by itself.
        self.update(|record| {
            record.processes.remove(&component);
        })?;
        process.map_or(Ok(()), |process| process::end(&[process], patience))
    }

    /// Sends a signal to a component.
    pub(crate) fn signal(&self, component: Component, signal: Signal) -> Result<()> {
        let process = self.process(component).ok_or_else(|| {
            Error::new(format!("cluster {}: {component} does not run", self.name))
        })?;
        process.signal(signal);
        Ok(())
    }

    fn update(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut record = read_record(&self.folder)?
            .ok_or_else(|| Error::new(format!("cluster {} was taken down meanwhile", self.name)))?;
        change(&mut record);
        write_record(&self.folder, &record)
    }
}

/// Ends the cluster in this folder and removes the folder.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    if let Some(record) = read_record(folder)? {
        let processes: Vec<Process> = record.processes.into_values().collect();
        // Nothing of it is kept, so nobody has to say goodbye.
        process::end(&processes, Duration::ZERO)
            .doing(|| format!("cluster {} ({})", record.name, folder.display()))?;
    }
    if folder.exists() {
        fs::remove_dir_all(folder).at(folder)?;
    }
    Ok(())
}

/// True if the cluster in this folder belongs to a process that is gone.
pub(crate) fn is_orphan(folder: &Path) -> bool {
    let owner = read_record(folder).ok().flatten().and_then(|record| record.owner);
    owner.is_some_and(|owner| !owner.runs())
}

/// The folders of clusters in `parent`, by name.
pub(crate) fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.join("cluster.json").exists()).collect();
    folders.sort();
    folders
}

fn recorded_ports(run: &Path) -> BTreeSet<u16> {
    let all = folders(&run.join("clusters")).into_iter().chain(folders(&run.join("private")));
    let records = all.filter_map(|folder| read_record(&folder).ok().flatten());
    records.flat_map(|record| record.ports.all()).collect()
}

fn read_record(folder: &Path) -> Result<Option<Record>> {
    let path = folder.join("cluster.json");
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).at(&path),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).at(&path),
    }
}

fn write_record(folder: &Path, record: &Record) -> Result<()> {
    let text = serde_json::to_vec_pretty(record).at(folder)?;
    write_atomically(&folder.join("cluster.json"), &text)
}

/// The last lines of a log, with its path, to be put at the end of a message.
fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(15)..).unwrap_or_default();
    format!(". The end of {}:\n    {}", log.display(), last.join("\n    "))
}
