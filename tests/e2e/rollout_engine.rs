//! What a rollout does in one target: the canary and what it needs, the primary, cleaning up, going
//! back; what was there before is never lost.

use std::time::Duration;

use serde_json::Value;
use testbed::wait_for;

use crate::support::{Run, World};

const STEPS: &str = "rollout:
  workloads: [{kind: Deployment, name: web}]
  steps: [{canary: {replicas: 50%, service: true}}, {primary: {}}, {clean: {}}]
";

/// A Deployment `web` of three pods with its configuration, and whatever else.
fn web(tag: &str, account: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      serviceAccountName: {account}
      containers:
      - name: web
        image: registry.test/web:{tag}
        envFrom: [{{configMapRef: {{name: web}}}}, {{secretRef: {{name: web}}}}]
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{selector: {{app: web}}, ports: [{{port: 80}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web}}
data: {{version: {tag:?}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: web}}
stringData: {{password: correct-horse}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {account}}}
{more}"
    )
}

const CLAIM: &str = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";

/// A Service, and a Deployment that has no canary.
fn extra(tag: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Service
metadata: {{name: extra}}
spec: {{selector: {{app: extra}}, ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: extra}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: extra}}}}
  template:
    metadata: {{labels: {{app: extra}}}}
    spec: {{containers: [{{name: extra, image: \"registry.test/extra:{tag}\"}}]}}
"
    )
}

struct Target(World);

impl Target {
    fn new(prefix: &str, rollout: &str) -> Self {
        let world = World::new(prefix);
        world.application(&["us-east"], &format!("render: {{manifests: [k8s/]}}\n{rollout}"));
        Target(world)
    }

    fn manifests(&self, yaml: &str) {
        self.0.write("k8s/all.yaml", yaml);
    }

    #[track_caller]
    fn ok(&self, code: i32, args: &[&str]) -> Run {
        self.0.ok(code, args)
    }

    fn live(&self, kind: &str, name: &str) -> Value {
        self.0.live("us-east", kind, name)
    }

    fn exists(&self, kind: &str, name: &str) -> bool {
        self.0.exists("us-east", kind, name)
    }

    fn tag(&self, kind: &str, name: &str) -> String {
        let live = self.live(kind, name);
        let image = live["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap();
        image.split_once(':').unwrap().1.to_owned()
    }

    /// The numbers and states of the releases, newest first.
    fn releases(&self) -> Vec<(u64, String)> {
        let history = self.ok(0, &["history", "-o", "json"]).json();
        let releases = history["targets"][0]["releases"].as_array().unwrap().clone();
        let one = |r: &Value| (r["number"].as_u64().unwrap(), r["state"].as_str().unwrap().into());
        releases.iter().map(one).collect()
    }

    /// That nothing differs from the manifests, and no variant is left.
    #[track_caller]
    fn is_clean(&self) {
        self.ok(0, &["diff", "--verify"]);
        let left = self.0.kubectl(
            "us-east",
            &[
                "get",
                "deployments,services,configmaps,secrets",
                "-l",
                "mcd.dev/variant",
                "-o",
                "name",
            ],
        );
        assert_eq!(left, "");
    }
}

/// Panics unless the texts are said in this order.
#[track_caller]
fn in_order(run: &Run, texts: &[&str]) {
    let said = format!("{}\n{}", run.stderr, run.stdout);
    let mut from = 0;
    for text in texts {
        match said.get(from..).and_then(|rest| rest.find(text)) {
            Some(at) => from += at + text.len(),
            None => panic!("{text:?} is not said after what comes before it\n{run}"),
        }
    }
}

#[test]
fn the_canary_has_what_it_needs_and_nothing_that_runs_changes() {
    let target = Target::new("re-canary", STEPS);
    target.manifests(&web("1", "web", ""));
    target.ok(0, &["apply", "-y"]);
    let generation = |kind: &str| target.live(kind, "web")["metadata"]["generation"].clone();
    let version = |kind: &str| target.live(kind, "web")["metadata"]["resourceVersion"].clone();
    let before = (generation("deployment"), version("configmap"), version("service"));

    target.manifests(&web("2", "web2", ""));
    target.ok(0, &["rollout", "canary", "--replicas", "50%", "--service", "-y"]);
    let after = (generation("deployment"), version("configmap"), version("service"));
    assert_eq!(before, after, "nothing that runs was written");
    let copy = target.live("deployment", "web-canary");
    assert_eq!(
        (&copy["spec"]["replicas"], &copy["status"]["readyReplicas"]),
        (&2.into(), &2.into())
    );
    let pod = &copy["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "web2");
    assert_eq!(pod["containers"][0]["image"], "registry.test/web:2");
    let from = &pod["containers"][0]["envFrom"];
    assert_eq!(from[0]["configMapRef"]["name"], "web-canary", "it changes, so it is copied");
    assert_eq!(from[1]["secretRef"]["name"], "web", "it does not");
    let annotations = &copy["spec"]["template"]["metadata"]["annotations"];
    assert!(annotations["mcd.dev/config-hash"].is_string(), "{annotations}");
    assert_eq!(target.live("configmap", "web-canary")["data"]["version"], "2");
    assert!(target.exists("serviceaccount", "web2") && !target.exists("secret", "web-canary"));
    assert_eq!(target.live("service", "web-canary")["spec"]["type"], "ClusterIP");

    // Bigger, in place.
    target.ok(0, &["rollout", "canary", "--replicas", "3", "--service", "-y"]);
    let copy = target.live("deployment", "web-canary");
    assert_eq!(
        (&copy["spec"]["replicas"], &copy["status"]["readyReplicas"]),
        (&3.into(), &3.into())
    );

    let primary = target.ok(0, &["rollout", "primary", "-y"]);
    assert_eq!(
        (target.tag("deployment", "web"), target.exists("serviceaccount", "web")),
        ("2".into(), false),
        "{primary}"
    );
    assert!(target.exists("deployment", "web-canary") && target.exists("configmap", "web-canary"));
    assert_eq!(target.releases()[0], (2, "active".into()));
    let clean = target.ok(0, &["rollout", "clean", "-y"]);
    in_order(
        &clean,
        &[
            "service/web-canary deleted",
            "deployment.apps/web-canary deleted",
            "configmap/web-canary deleted",
        ],
    );
    target.is_clean();
    assert_eq!(target.releases(), [(2, "active".into()), (1, "superseded".into())]);
    // It is closed: everybody may write again.
    target.ok(0, &["apply", "-y"]);
}

#[test]
fn a_failed_rollout_goes_back_and_leaves_what_was_there_before() {
    let target = Target::new("re-back", STEPS);
    target.manifests(&web("1", "web", CLAIM));
    // Nothing binds it: there is no storage class.
    target.ok(0, &["apply", "-y", "--wait=false"]);
    // The claim left the manifests once, and stays with its data.
    target.manifests(&web("2", "web", ""));
    target.ok(0, &["apply", "-y", "--strategy", "plain"]);
    let claim = target.live("pvc", "data")["metadata"]["uid"].clone();

    // The canary is well; then the primary brings something that is not.
    target.manifests(&web("3", "web3", &extra("pull-error")));
    let run = target.ok(1, &["rollout", "run", "-y", "--timeout", "8s"]);
    run.says("Deployment").says("extra").says("ImagePullBackOff");
    assert_eq!(
        (target.tag("deployment", "web"), target.exists("service", "extra")),
        ("3".into(), true)
    );
    assert_eq!(target.live("deployment", "web-canary")["status"]["readyReplicas"], 2);
    assert_eq!(target.releases()[0], (3, "staged".into()));

    let abort = target.ok(0, &["rollout", "abort", "-y"]);
    in_order(
        &abort,
        &[
            "deployment.apps/web configured",
            "service/web-canary deleted",
            "deployment.apps/web-canary deleted",
            "configmap/web-canary deleted",
            "deployment.apps/extra deleted",
        ],
    );
    for (kind, name) in [("service", "extra"), ("deployment", "extra"), ("serviceaccount", "web3")]
    {
        assert!(!target.exists(kind, name), "{kind} {name}");
    }
    assert_eq!(target.tag("deployment", "web"), "2");
    assert_eq!(target.live("deployment", "web")["status"]["readyReplicas"], 3);
    assert_eq!(target.live("configmap", "web")["data"]["version"], "2");
    assert_eq!(target.live("pvc", "data")["metadata"]["uid"], claim, "it was there before");
    let releases = target.releases();
    assert_eq!(releases[..2], [(3, "failed".into()), (2, "active".into())]);
    target.manifests(&web("2", "web", ""));
    target.is_clean();
    target.ok(0, &["plan", "--detailed-exitcode"]).hides("unfinished");
    // What never was is not what a rollback goes back from.
    let back = target.ok(0, &["rollback", "-y", "--wait=false", "-o", "json"]).json();
    assert_eq!(back["targets"][0]["rollback"], serde_json::json!({"from": 2, "to": 1}), "{back:#}");
    assert_eq!(target.tag("deployment", "web"), "1");
    assert_eq!(target.live("pvc", "data")["metadata"]["uid"], claim);
}

#[test]
fn a_first_deployment_by_hand_is_taken_back_wholly() {
    let target = Target::new("re-first", STEPS);
    target.manifests(&web("1", "web", ""));
    let run = target.ok(0, &["rollout", "canary", "--replicas", "1", "-y"]);
    assert!(
        target.exists("deployment", "web-canary") && !target.exists("deployment", "web"),
        "{run}"
    );
    target.ok(0, &["rollout", "primary", "-y"]);
    assert!(target.exists("deployment", "web") && target.exists("service", "web"));
    let abort = target.ok(0, &["rollout", "abort", "-y"]);
    let left = target.0.kubectl(
        "us-east",
        &[
            "get",
            "deployments,services,configmaps,secrets,serviceaccounts,pvc",
            "-l",
            "mcd.dev/app",
            "-o",
            "name",
        ],
    );
    assert_eq!(left, "", "{abort}");
    assert_eq!(target.releases(), [(1, "failed".into())]);
    target.ok(0, &["apply", "-y"]);
    target.is_clean();
}

#[test]
fn a_renamed_workload_serves_until_the_new_one_is_healthy() {
    let rollout = STEPS.replace("  workloads: [{kind: Deployment, name: web}]\n", "");
    let target = Target::new("re-rename", &rollout);
    target.manifests(&web("1", "web", ""));
    target.ok(0, &["apply", "-y"]);
    let renamed = web("2", "web", "").replace(
        "kind: Deployment\nmetadata: {name: web}",
        "kind: Deployment\nmetadata: {name: shop}",
    );
    target.manifests(&renamed);
    target.ok(0, &["rollout", "canary", "--replicas", "1", "-y"]);
    assert_eq!(target.tag("deployment", "web"), "1");
    assert!(target.exists("deployment", "shop-canary") && !target.exists("deployment", "shop"));
    let primary = target.ok(0, &["rollout", "primary", "-y"]);
    in_order(&primary, &["deployment.apps/shop created", "deployment.apps/web deleted"]);
    assert!(!target.exists("deployment", "web"));
    assert_eq!(target.live("deployment", "shop")["status"]["readyReplicas"], 3);
    // The other way round: what was renamed is there again.
    let abort = target.ok(0, &["rollout", "abort", "-y"]);
    assert!(target.exists("deployment", "web") && !target.exists("deployment", "shop"), "{abort}");
    assert_eq!(target.live("deployment", "web")["status"]["readyReplicas"], 3);
    target.manifests(&web("1", "web", ""));
    target.is_clean();
}

#[test]
fn the_canary_of_a_statefulset_is_its_last_pod_and_goes_back_with_the_rest() {
    let rollout = "rollout:
  workloads: [{kind: StatefulSet, name: db}]
  steps: [{canary: {replicas: 1}}, {primary: {}}, {clean: {}}]
";
    let set = |tag: &str| {
        format!(
            "apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  serviceName: db
  replicas: 3
  podManagementPolicy: Parallel
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{containers: [{{name: db, image: \"registry.test/db:{tag}\"}}]}}
"
        )
    };
    let target = Target::new("re-set", rollout);
    target.manifests(&set("1"));
    target.ok(0, &["apply", "-y"]);
    target.manifests(&set("2"));
    let images = || {
        let path = "jsonpath={range .items[*]}{.metadata.name}={.spec.containers[0].image} {end}";
        target.0.kubectl("us-east", &["get", "pods", "-l", "app=db", "-o", path])
    };
    target.ok(0, &["rollout", "canary", "--replicas", "1", "-y"]);
    let (old, new) = ("registry.test/db:1", "registry.test/db:2");
    assert_eq!(images().trim(), format!("db-0={old} db-1={old} db-2={new}"));
    target.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(images().trim(), format!("db-0={old} db-1={old} db-2={old}"));
    target.ok(0, &["rollout", "run", "-y"]);
    assert_eq!(images().trim(), format!("db-0={new} db-1={new} db-2={new}"));
    target.is_clean();
}

#[test]
fn a_leftover_canary_is_said_and_cleaned() {
    let target = Target::new("re-left", STEPS);
    target.manifests(&web("1", "web", ""));
    target.ok(0, &["apply", "-y"]);
    // As a run leaves it whose record was lost.
    let left = format!(
        "apiVersion: v1
kind: ConfigMap
metadata:
  name: old-canary
  labels: {{mcd.dev/app: {0}.web, mcd.dev/variant: canary}}
data: {{a: b}}
",
        target.0.namespace.name()
    );
    let file = target.0.write("left.yaml", &left);
    let manager = format!("--field-manager={}", target.0.manager());
    let args = ["apply", "--server-side", &manager, "-f", file.to_str().unwrap()];
    target.0.kubectl("us-east", &args);
    target.manifests(&web("2", "web", ""));
    let run = target.ok(0, &["rollout", "run", "-y"]);
    run.says("old-canary").says("left over").says("configmap/old-canary deleted");
    assert!(!target.exists("configmap", "old-canary"));
    target.is_clean();
}

#[test]
fn secrets_of_a_namespace_that_the_release_brings_are_staged_with_it() {
    let rollout = "rollout:
  workloads: [{kind: Deployment, name: web}]
  steps: [{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {clean: {}}]
";
    let target = Target::new("re-secret", rollout);
    target.manifests(&web("1", "web", ""));
    target.ok(0, &["apply", "-y"]);
    let namespace = target.0.bed.namespace("re-secret-other");
    let other = namespace.name().to_owned();
    let more = format!(
        "---
apiVersion: v1
kind: Namespace
metadata: {{name: {other}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: far, namespace: {other}}}
stringData: {{token: battery-staple}}
"
    );
    target.manifests(&web("2", "web", &more));
    target.ok(7, &["rollout", "run", "-y"]).hides("battery-staple");
    let kept = target.0.kubectl("us-east", &["-n", &other, "get", "secrets", "-o", "name"]);
    assert!(kept.contains("mcd-release."), "the part of the release with its Secret: {kept}");
    target.ok(0, &["rollout", "approve"]);
    target.ok(0, &["rollout", "resume", "-y"]).hides("battery-staple");
    let far = target.0.kubectl("us-east", &["-n", &other, "get", "secret", "far", "-o", "name"]);
    assert_eq!(far.trim(), "secret/far");
    target.is_clean();
}

#[test]
fn approved_while_a_step_is_under_way() {
    let rollout = "rollout:
  steps: [{canary: {replicas: 1}}, {pause: {}}, {primary: {}}, {clean: {}}]
";
    let target = Target::new("re-early", rollout);
    let slow = |tag: &str| {
        web(tag, "web", "").replace(
            "metadata: {labels: {app: web}}",
            "metadata: {labels: {app: web}, annotations: {testbed.mcd.dev/ready-after: 5s}}",
        )
    };
    target.manifests(&slow("1"));
    target.ok(0, &["apply", "-y"]);
    target.manifests(&slow("2"));
    let run = target.0.start(&["rollout", "run", "-y"]);
    // The run holds the lock, and its record is written under it.
    wait_for("the canary is there", Duration::from_secs(60), || {
        match target.exists("deployment", "web-canary") {
            true => Ok(()),
            false => Err("not yet".to_owned()),
        }
    });
    target.ok(0, &["rollout", "approve", "--step", "2"]);
    let run = Run::of(run.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "it never waits at the pause\n{run}");
    assert_eq!(target.tag("deployment", "web"), "2");
    target.is_clean();
}
