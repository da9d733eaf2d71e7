//! A hermetic place to run the real binary in: a folder with the two files, contexts that lead to
//! a namespace of the test's own on the shared clusters, and nothing of the caller's environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use testbed::{Bed, Cluster, Context, Kubeconfig, Proxy, TestNamespace};

/// The three clusters, in the order of every fleet file here.
pub(crate) const CLUSTERS: [&str; 3] = ["us-east", "us-west", "eu-west"];

/// A test's world.
pub(crate) struct World {
    pub(crate) bed: &'static Bed,
    pub(crate) namespace: TestNamespace,
    pub(crate) kubeconfig: Kubeconfig,
    pub(crate) folder: tempfile::TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A world whose contexts have the clusters' names.
    pub(crate) fn new(prefix: &str) -> Self {
        let bed = Bed::shared();
        let contexts: Vec<Context> = bed.clusters().iter().map(Context::of).collect();
        Self::with_contexts(prefix, &contexts)
    }

    /// A world with contexts of its own, such as ones that lead through a proxy.
    pub(crate) fn with_contexts(prefix: &str, contexts: &[Context]) -> Self {
        let bed = Bed::shared();
        let folder = tempfile::tempdir().expect("a temporary folder");
        World {
            bed,
            namespace: bed.namespace(prefix),
            kubeconfig: bed.kubeconfig(contexts),
            folder,
        }
    }

    /// A world with one cluster, which is behind a proxy, and an application of plain manifests.
    pub(crate) fn behind_proxy(prefix: &str) -> (Self, Proxy) {
        let proxy = Proxy::start(Bed::shared().cluster("us-east"));
        let world = Self::with_contexts(prefix, &[proxy.context()]);
        world.plain(&["us-east"]);
        world.write("k8s/web.yaml", &web("web:1"));
        (world, proxy)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn cluster(&self, name: &str) -> &'static Cluster {
        self.bed.cluster(name)
    }

    /// Writes a file of the test, folders included. `NAMESPACE` stands for the test's own.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("make folders");
        std::fs::write(&path, text.replace("NAMESPACE", self.namespace.name())).expect("write");
        path
    }

    /// Writes a fleet of the named clusters, and an application `web` that renders `k8s/`.
    pub(crate) fn plain(&self, clusters: &[&str]) {
        self.application(clusters, "render: {manifests: [k8s/]}\n");
    }

    /// Writes a fleet of the named clusters, and an application `web` with further keys.
    pub(crate) fn application(&self, clusters: &[&str], keys: &str) {
        let list: Vec<String> =
            clusters.iter().map(|c| format!("- {{name: {c}, labels: {{env: test}}}}\n")).collect();
        self.write(
            "fleet.yaml",
            &format!("apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nclusters:\n{}", list.concat()),
        );
        self.write(
            "mcd.yaml",
            &format!(
                "apiVersion: mcd.dev/v1alpha1\nkind: Application\nmetadata: {{name: web}}\n\
                 fleet: fleet.yaml\nselect: {{labels: {{env: test}}}}\nnamespace: NAMESPACE\n{keys}"
            ),
        );
    }

    /// The binary, in this world.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcd"));
        let home = self.path().join("home");
        std::fs::create_dir_all(&home).expect("make the home folder");
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env(
                "PATH",
                std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")),
            )
            .env("HOME", home)
            .env("KUBECONFIG", self.kubeconfig.path())
            .env("MCD_TOOLS", self.bed.tools_dir())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn mcd(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("run mcd"))
    }

    /// Runs it, and panics with its output unless it ended with `code`.
    #[track_caller]
    pub(crate) fn ok(&self, code: i32, args: &[&str]) -> Run {
        let run = self.mcd(args);
        assert_eq!(run.code, code, "mcd {args:?}\n{run}");
        run
    }

    /// Starts it, with its output caught.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start mcd")
    }

    /// kubectl on a cluster, in the test's namespace; panics when it fails.
    #[track_caller]
    pub(crate) fn kubectl(&self, cluster: &str, args: &[&str]) -> String {
        let all: Vec<&str> = ["-n", self.namespace.name()].iter().chain(args).copied().collect();
        let output = self.bed.kubectl(self.cluster(cluster), &all);
        assert!(
            output.status.success(),
            "kubectl {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// `kubectl apply` of a manifest in the test's namespace, client side.
    #[track_caller]
    pub(crate) fn kubectl_apply(&self, cluster: &str, yaml: &str) -> String {
        let yaml = yaml.replace("NAMESPACE", self.namespace.name());
        self.bed.kubectl_apply(self.cluster(cluster), self.namespace.name(), &yaml)
    }

    /// The real helm of a version, in the test's namespace of the first cluster.
    pub(crate) fn helm(&self, version: &str, args: &[&str]) -> Run {
        self.helm_with(&[], version, args)
    }

    /// The same, with further environment variables.
    pub(crate) fn helm_with(&self, env: &[(&str, &str)], version: &str, args: &[&str]) -> Run {
        let binary = self.bed.tools_dir().join("helm").join(version).join("helm");
        let home = self.path().join(format!("helm-{version}"));
        let mut command = Command::new(binary);
        command.args(["--namespace", self.namespace.name(), "--kube-context", "us-east"]);
        command.args(args).env("KUBECONFIG", self.kubeconfig.path());
        for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(variable, &home);
        }
        command.envs(env.iter().copied());
        Run::of(command.output().expect("run helm"))
    }

    /// A live object of the test's namespace, by `kubectl get KIND NAME -o json`.
    #[track_caller]
    pub(crate) fn live(&self, cluster: &str, kind: &str, name: &str) -> Value {
        let text =
            self.kubectl(cluster, &["get", kind, name, "-o", "json", "--show-managed-fields"]);
        serde_json::from_str(&text).expect("JSON from kubectl")
    }

    /// The field manager of this world's application `web`.
    pub(crate) fn manager(&self) -> String {
        format!("mcd:{}/web", self.namespace.name())
    }

    /// Gives a user these rights in the test's namespace of the first cluster.
    pub(crate) fn grant(&self, user: &str, rules: &Value) {
        let path =
            format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}", self.namespace.name());
        let group = "rbac.authorization.k8s.io";
        let role = json!({"metadata": {"name": "t"}, "rules": rules});
        let binding = json!({
            "metadata": {"name": "t"},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "t"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        });
        for (plural, body) in [("roles", role), ("rolebindings", binding)] {
            let path = format!("{path}/{plural}");
            let answer = self.cluster("us-east").call("POST", &path, Some(&body)).expect("a call");
            assert!(answer.is_success(), "{}", answer.text);
        }
    }

    /// Whether an object is there.
    pub(crate) fn exists(&self, cluster: &str, kind: &str, name: &str) -> bool {
        let args =
            ["-n", self.namespace.name(), "get", kind, name, "--ignore-not-found", "-o", "name"];
        let output = self.bed.kubectl(self.cluster(cluster), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        !output.stdout.is_empty()
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        Run {
            code: output
                .status
                .code()
                .unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default()),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        }
    }

    /// stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON: {e}\n{self}"))
    }

    /// Panics unless `text` is on stdout or stderr.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text) || self.stderr.contains(text),
            "nothing says {text:?}\n{self}"
        );
        self
    }

    /// Panics if `text` is on stdout or stderr.
    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> &Self {
        assert!(
            !self.stdout.contains(text) && !self.stderr.contains(text),
            "something says {text:?}\n{self}"
        );
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n-- stdout\n{}\n-- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// A Deployment, a Service and a ConfigMap that it uses.
pub(crate) fn web(image: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: {image}
        envFrom: [{{configMapRef: {{name: web}}}}]
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web}}
data: {{greeting: hello}}
"
    )
}

/// An autoscaler of the Deployment in [`web`].
pub(crate) const HPA: &str = "---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
";
