//! A world for rollouts: six targets, two in each cluster, in three waves, and an application
//! whose image is a variable.

use serde_json::Value;
use testbed::{Bed, Cluster, Context, TestNamespace};

use crate::support::{Run, World};

/// The targets, with the cluster and the wave of each: one, two, three.
pub(crate) const SIX: [(&str, &str, &str); 6] = [
    ("a1", "us-east", "one"),
    ("b1", "us-west", "two"),
    ("b2", "eu-west", "two"),
    ("c1", "us-east", "three"),
    ("c2", "us-west", "three"),
    ("c3", "eu-west", "three"),
];

/// Three waves, one after the other.
pub(crate) const WAVES: &str = "  waves:
  - {name: first, select: {labels: {wave: one}}}
  - {name: second, select: {labels: {wave: two}}}
  - {name: third, select: {labels: {wave: three}}}
";

/// A canary of one pod, then the rest.
pub(crate) const STEPS: &str = "  steps:
  - canary: {replicas: 1}
  - primary: {}
  - clean: {}
";

/// Six targets: `a1`, `b1` and `b2` in the world's namespace, `c1` to `c3` in another one.
pub(crate) struct Six {
    pub(crate) world: World,
    other: TestNamespace,
}

impl Six {
    /// A world with `rollout:` as given (its keys, indented), and version 1 of the application
    /// written, not applied.
    pub(crate) fn new(prefix: &str, rollout: &str) -> Self {
        let bed = Bed::shared();
        let contexts: Vec<Context> = SIX
            .iter()
            .map(|(name, cluster, _)| Context::of(bed.cluster(cluster)).named(*name))
            .collect();
        Self::with_contexts(prefix, &contexts, rollout)
    }

    /// The same with contexts of its own, of those names.
    pub(crate) fn with_contexts(prefix: &str, contexts: &[Context], rollout: &str) -> Self {
        let world = World::with_contexts(prefix, contexts);
        let six = Six { other: world.bed.namespace(prefix), world };
        six.files(rollout);
        six.world.write("k8s/web.yaml", &deployment("v1", 3));
        six
    }

    /// Writes the fleet and the application.
    pub(crate) fn files(&self, rollout: &str) {
        let clusters: Vec<String> = SIX
            .iter()
            .map(|(name, _, wave)| {
                format!("- {{name: {name}, labels: {{env: test, wave: {wave}}}}}\n")
            })
            .collect();
        self.world.write(
            "fleet.yaml",
            &format!("apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nclusters:\n{}", clusters.concat()),
        );
        let rollout =
            if rollout.is_empty() { String::new() } else { format!("rollout:\n{rollout}") };
        self.world.write(
            "mcd.yaml",
            &format!(
                "apiVersion: mcd.dev/v1alpha1\nkind: Application\nmetadata: {{name: web}}\n\
                 fleet: fleet.yaml\nselect: {{labels: {{env: test}}}}\nnamespace: NAMESPACE\n\
                 render: {{manifests: [k8s/]}}\n\
                 overrides:\n- {{select: {{labels: {{wave: three}}}}, namespace: {}}}\n{rollout}",
                self.other.name()
            ),
        );
    }

    /// Writes the application with another version of its image.
    pub(crate) fn version(&self, tag: &str) {
        self.world.write("k8s/web.yaml", &deployment(tag, 3));
    }

    /// The cluster of a target.
    pub(crate) fn cluster(&self, target: &str) -> &'static Cluster {
        let (_, cluster, _) = SIX.iter().find(|(name, ..)| *name == target).expect("a target");
        self.world.cluster(cluster)
    }

    /// The namespace of a target.
    pub(crate) fn namespace(&self, target: &str) -> &str {
        if target.starts_with('c') { self.other.name() } else { self.world.namespace.name() }
    }

    /// kubectl in a target; panics when it fails.
    #[track_caller]
    pub(crate) fn kubectl(&self, target: &str, args: &[&str]) -> String {
        let all: Vec<&str> = ["-n", self.namespace(target)].iter().chain(args).copied().collect();
        let output = self.world.bed.kubectl(self.cluster(target), &all);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The tag of the image that a target's workload has; none: it is not there.
    pub(crate) fn tag(&self, target: &str, deployment: &str) -> Option<String> {
        let path = "jsonpath={.spec.template.spec.containers[0].image}";
        let image = self
            .kubectl(target, &["get", "deployment", deployment, "--ignore-not-found", "-o", path]);
        image.split_once(':').map(|(_, tag)| tag.to_owned())
    }

    /// The tags in all targets, in their order.
    pub(crate) fn tags(&self) -> Vec<String> {
        SIX.iter()
            .map(|(name, ..)| self.tag(name, "web").unwrap_or_else(|| "-".to_owned()))
            .collect()
    }

    /// The live object.
    #[track_caller]
    pub(crate) fn live(&self, target: &str, kind: &str, name: &str) -> Value {
        let text = self.kubectl(target, &["get", kind, name, "-o", "json"]);
        serde_json::from_str(&text).expect("JSON from kubectl")
    }

    /// Whether any target has objects of a variant.
    #[track_caller]
    pub(crate) fn no_variants(&self) {
        for (name, ..) in SIX {
            let left = self.kubectl(name, &["get", "deployments", "-o", "name"]);
            assert!(!left.contains("canary"), "{name}: {left}");
        }
    }

    /// Runs it, and panics with its output unless it ended with `code`.
    #[track_caller]
    pub(crate) fn ok(&self, code: i32, args: &[&str]) -> Run {
        self.world.ok(code, args)
    }

    /// The rollout as `rollout status -o json` says it.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.world.mcd(&["rollout", "status", "-o", "json"]).json()
    }

    /// What runs a command in a folder without files: the arguments that find the rollout there.
    pub(crate) fn elsewhere(
        &self,
        target: &str,
        args: &[&str],
    ) -> (std::process::Command, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = ["--app", "web", "-n", self.namespace(target), "--context", target];
        let mut command = self.world.command(&[args, &place].concat());
        command.current_dir(folder.path());
        (command, folder)
    }

    /// Runs a command in a folder without files, by one of the rollout's clusters.
    #[track_caller]
    pub(crate) fn ran_elsewhere(&self, code: i32, target: &str, args: &[&str]) -> Run {
        let (mut command, _folder) = self.elsewhere(target, args);
        let run = Run::of(command.output().expect("run mcd"));
        assert_eq!(run.code, code, "mcd {args:?} elsewhere\n{run}");
        run
    }
}

/// A Deployment with a Service in front of it.
pub(crate) fn deployment(tag: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - {{name: web, image: \"registry.example/web:{tag}\"}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80}}]
"
    )
}
