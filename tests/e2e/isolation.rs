//! Canaries beside what runs: how they are kept apart, what they bring with them, what they share,
//! and that what runs keeps running.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::World;

const CLUSTER: &str = "us-east";

/// An application with these keys under `rollout:`.
fn application(world: &World, rollout: &str) {
    let keys = format!("render: {{manifests: [k8s/]}}\nrollout:\n{rollout}");
    world.application(&[CLUSTER], &keys);
}

/// Steps with a pause behind the canary.
const PAUSED: &str =
    "  steps: [{canary: {replicas: 50%}}, {pause: {}}, {primary: {}}, {clean: {}}]\n";

/// A Deployment whose pods are ready after three seconds, with its Service.
fn slow_web(tag: &str, replicas: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata:
      labels: {{app: web}}
      annotations: {{testbed.mcd.dev/ready-after: 3s}}
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

fn image(object: &Value) -> &str {
    object["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
}

/// Every change of the EndpointSlices of a Service, as the server tells them.
struct Endpoints {
    watch: Child,
    service: String,
}

/// What a Service had behind it over a time.
struct Seen {
    /// The ready addresses after each change, the first one being what was there.
    ready: Vec<usize>,
    /// The pods that were ever behind it.
    pods: Vec<String>,
}

impl Endpoints {
    fn watch(world: &World, service: &str) -> Self {
        let label = format!("kubernetes.io/service-name={service}");
        let watch = Command::new("kubectl")
            .env("PATH", world.bed.path())
            .env("KUBECONFIG", world.cluster(CLUSTER).kubeconfig_file())
            .args(["-n", world.namespace.name(), "get", "endpointslices", "-l", &label])
            .args(["-w", "-o", "json", "--output-watch-events"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("start kubectl");
        Endpoints { watch, service: service.to_owned() }
    }

    /// Ends the watch once it has told the last state, which has so many ready addresses.
    fn end(mut self, world: &World) -> Seen {
        let stdout = self.watch.stdout.take().expect("its output");
        // The last word of the watch is a change of our own.
        let slices = world.kubectl(
            CLUSTER,
            &[
                "get",
                "endpointslices",
                "-l",
                &format!("kubernetes.io/service-name={}", self.service),
                "-o",
                "name",
            ],
        );
        let slice = slices.lines().next().expect("an EndpointSlice");
        world.kubectl(CLUSTER, &["annotate", slice, "end=yes"]);
        let mut slices: BTreeMap<String, usize> = BTreeMap::new();
        let mut seen = Seen { ready: Vec::new(), pods: Vec::new() };
        for event in serde_json::Deserializer::from_reader(stdout).into_iter::<Value>() {
            let event = event.expect("an event of the watch");
            let object = &event["object"];
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            let mut ready = 0;
            for endpoint in object["endpoints"].as_array().into_iter().flatten() {
                ready += usize::from(endpoint["conditions"]["ready"] == true);
                seen.pods.push(endpoint["targetRef"]["name"].as_str().unwrap_or_default().into());
            }
            match event["type"].as_str() {
                Some("DELETED") => drop(slices.remove(&name)),
                _ => drop(slices.insert(name, ready)),
            }
            seen.ready.push(slices.values().sum());
            if object["metadata"]["annotations"]["end"] == "yes" {
                break;
            }
        }
        self.watch.kill().expect("end kubectl");
        self.watch.wait().expect("kubectl has ended");
        seen
    }
}

#[test]
fn with_the_label_a_service_loses_no_more_than_one_pod() {
    let world = World::new("iso-label");
    application(&world, "  isolation: share\n");
    world.write("k8s/web.yaml", &slow_web("v1", "replicas: 4"));
    world.ok(0, &["apply", "-y"]);
    application(&world, &format!("  isolation: label\n{PAUSED}"));
    world.write("k8s/web.yaml", &slow_web("v2", "replicas: 4"));
    let plan = world.ok(0, &["apply", "--dry-run", "--strategy", "steps"]);
    plan.says("the pods of Deployment").says("restart once");

    let endpoints = Endpoints::watch(&world, "web");
    world.ok(7, &["rollout", "run", "-y"]);
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!(image(&web), "registry.example/web:v1");
    let labels = &web["spec"]["template"]["metadata"]["labels"];
    assert_eq!(labels["mcd.dev/variant"], "primary");
    assert_eq!(web["spec"]["selector"]["matchLabels"], serde_json::json!({"app": "web"}));
    let selector = &world.live(CLUSTER, "service", "web")["spec"]["selector"];
    assert_eq!(selector["mcd.dev/variant"], "primary");
    let canary = world.live(CLUSTER, "deployment", "web-canary");
    assert_eq!(
        (image(&canary), &canary["spec"]["replicas"]),
        ("registry.example/web:v2", &2.into())
    );
    world.ok(0, &["rollout", "approve"]);
    world.ok(0, &["rollout", "resume", "-y"]);
    let seen = endpoints.end(&world);

    let (before, least) = (seen.ready[0], seen.ready.iter().min().copied().unwrap_or_default());
    eprintln!(
        "ready endpoints through a canary with isolation `label`: {before} before, {least} at \
         least, over {} changes",
        seen.ready.len()
    );
    assert_eq!(before, 4);
    assert!(least >= before - 1, "{:?}", seen.ready);
    assert!(seen.ready.len() > 8, "both restarts are in it: {:?}", seen.ready);
    let canaries: Vec<&String> = seen.pods.iter().filter(|p| p.contains("canary")).collect();
    assert!(canaries.is_empty(), "{canaries:?}");
    assert_eq!(image(&world.live(CLUSTER, "deployment", "web")), "registry.example/web:v2");
    assert!(!world.exists(CLUSTER, "deployment", "web-canary"));

    // The label is what the application is from now on, and the next canary restarts nothing.
    world.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
    world.write("k8s/web.yaml", &slow_web("v3", "replicas: 4"));
    let generation = world.live(CLUSTER, "deployment", "web")["metadata"]["generation"].clone();
    world.ok(7, &["rollout", "run", "-y"]).hides("restart once");
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!(web["metadata"]["generation"], generation);
    world.ok(0, &["rollout", "abort", "-y"]);
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!(
        (image(&web), &web["metadata"]["generation"]),
        ("registry.example/web:v2", &generation)
    );
    assert!(!world.exists(CLUSTER, "deployment", "web-canary"));

    // And it can be taken off again without an outage.
    application(&world, "  isolation: share\n");
    world.write("k8s/web.yaml", &slow_web("v2", "replicas: 4"));
    let endpoints = Endpoints::watch(&world, "web");
    world.ok(0, &["apply", "-y"]);
    let seen = endpoints.end(&world);
    assert!(seen.ready.iter().all(|ready| *ready >= 3), "{:?}", seen.ready);
    let selector = &world.live(CLUSTER, "service", "web")["spec"]["selector"];
    assert_eq!(*selector, serde_json::json!({"app": "web"}));
}

#[test]
fn growth_during_a_canary_is_nobodys_loss() {
    let world = World::new("iso-hpa");
    application(&world, PAUSED);
    let scaler = "---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 2
  maxReplicas: 10
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
";
    let release = |tag: &str| slow_web(tag, "minReadySeconds: 0") + scaler;
    world.write("k8s/web.yaml", &release("v1"));
    world.ok(0, &["apply", "-y"]);
    world.kubectl(CLUSTER, &["scale", "deployment", "web", "--replicas=3"]);
    world.write("k8s/web.yaml", &release("v2"));
    let run = world.ok(7, &["rollout", "run", "-y"]);
    run.says("counts the canary's pods in its averages");
    let sizes = || {
        let of = |name| world.live(CLUSTER, "deployment", name)["spec"]["replicas"].clone();
        (of("web"), of("web-canary"))
    };
    assert_eq!(sizes(), (3.into(), 2.into()), "half of what was live, rounded up");
    world.kubectl(CLUSTER, &["scale", "deployment", "web", "--replicas=7"]);
    world.ok(0, &["rollout", "approve"]);
    assert_eq!(sizes(), (7.into(), 2.into()));
    world.ok(0, &["rollout", "resume", "-y"]);
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!((image(&web), &web["spec"]["replicas"]), ("registry.example/web:v2", &7.into()));
    assert!(!world.exists(CLUSTER, "deployment", "web-canary"));
    world.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
}

#[test]
fn renamed_labels_keep_traffic_away_but_from_a_service_of_its_own() {
    let world = World::new("iso-rename");
    let steps = PAUSED.replace("replicas: 50%", "replicas: 50%, service: true");
    application(&world, &format!("  isolation: rename\n{steps}"));
    world.write("k8s/web.yaml", &slow_web("v1", "replicas: 2"));
    world.ok(0, &["apply", "-y"]);
    let before = world.live(CLUSTER, "deployment", "web")["metadata"]["generation"].clone();
    world.write("k8s/web.yaml", &slow_web("v2", "replicas: 2"));
    let endpoints = Endpoints::watch(&world, "web");
    world.ok(7, &["rollout", "run", "-y"]);
    let own = Endpoints::watch(&world, "web-canary").end(&world);
    assert_eq!(own.ready.last(), Some(&1), "{:?}", own.pods);
    assert!(own.pods.iter().all(|pod| pod.starts_with("web-canary-")), "{:?}", own.pods);
    let seen = endpoints.end(&world);
    assert!(seen.ready.iter().all(|ready| *ready == 2), "{:?}", seen.ready);
    assert!(seen.pods.iter().all(|pod| !pod.contains("canary")), "{:?}", seen.pods);
    let aborted = world.ok(0, &["rollout", "abort", "-y"]);
    for (kind, name) in [("deployment", "web-canary"), ("service", "web-canary")] {
        assert!(!world.exists(CLUSTER, kind, name), "{kind} {name}\n{aborted}");
    }
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!((image(&web), &web["metadata"]["generation"]), ("registry.example/web:v1", &before));
}

/// A Deployment with a ConfigMap, a Secret that stays, and an account.
fn configured(tag: &str, mode: &str, account: bool) -> String {
    let (name, extra) = match account {
        true => (
            "serviceAccountName: runner",
            "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: runner}\n",
        ),
        false => ("enableServiceLinks: true", ""),
    };
    format!(
        "apiVersion: v1
kind: ConfigMap
metadata: {{name: settings}}
data: {{mode: {mode}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: token}}
stringData: {{token: same}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {{mcd.dev/protect: \"true\"}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      {name}
      containers:
      - name: web
        image: registry.example/web:{tag}
        envFrom: [{{configMapRef: {{name: settings}}}}, {{secretRef: {{name: token}}}}]
      volumes:
      - {{name: all, projected: {{sources: [{{configMap: {{name: settings}}}}]}}}}
{extra}"
    )
}

#[test]
fn a_canary_brings_its_own_configuration_and_what_is_new() {
    let world = World::new("iso-config");
    application(&world, PAUSED);
    world.write("k8s/web.yaml", &configured("v1", "old", false));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/web.yaml", &configured("v2", "new", true));
    world.ok(7, &["rollout", "run", "-y"]);
    let live = |kind: &str, name: &str| world.live(CLUSTER, kind, name);
    assert_eq!(live("configmap", "settings")["data"]["mode"], "old");
    assert_eq!(live("configmap", "settings-canary")["data"]["mode"], "new");
    assert!(!world.exists(CLUSTER, "secret", "token-canary"), "it does not change");
    assert!(world.exists(CLUSTER, "serviceaccount", "runner"), "the canary needs it");
    let canary = live("deployment", "web-canary");
    let template = &canary["spec"]["template"];
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["envFrom"][0]["configMapRef"]["name"], "settings-canary");
    assert_eq!(container["envFrom"][1]["secretRef"]["name"], "token");
    let source = &template["spec"]["volumes"][0]["projected"]["sources"][0]["configMap"];
    assert_eq!(source["name"], "settings-canary");
    let hash = &template["metadata"]["annotations"]["mcd.dev/config-hash"];
    assert!(hash.as_str().is_some_and(|hash| hash.len() == 16), "{hash}");
    assert_eq!(canary["metadata"]["annotations"]["mcd.dev/protect"], Value::Null);
    world.ok(0, &["rollout", "abort", "-y"]);
    for (kind, name) in [
        ("configmap", "settings-canary"),
        ("deployment", "web-canary"),
        ("serviceaccount", "runner"),
    ] {
        assert!(!world.exists(CLUSTER, kind, name), "{kind} {name}");
    }
    assert_eq!(live("configmap", "settings")["data"]["mode"], "old");
    // To the end this time.
    world.ok(7, &["rollout", "run", "-y"]);
    world.ok(0, &["rollout", "approve"]);
    world.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(live("configmap", "settings")["data"]["mode"], "new");
    assert_eq!(image(&live("deployment", "web")), "registry.example/web:v2");
    assert!(world.exists(CLUSTER, "serviceaccount", "runner"));
    for (kind, name) in [("configmap", "settings-canary"), ("deployment", "web-canary")] {
        assert!(!world.exists(CLUSTER, kind, name), "{kind} {name}");
    }
    world.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
}

fn database(tag: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  replicas: 3
  serviceName: db
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec:
      containers:
      - {{name: db, image: \"registry.example/db:{tag}\"}}
"
    )
}

#[test]
fn a_stateful_set_begins_with_its_highest_ordinals() {
    let world = World::new("iso-sts");
    application(
        &world,
        "  workloads: [{kind: StatefulSet, name: db}]
  steps: [{canary: {replicas: 20%}}, {pause: {}}, {primary: {}}, {clean: {}}]\n",
    );
    world.write("k8s/db.yaml", &database("v1"));
    world.ok(0, &["apply", "-y"]);
    let images = || {
        let path = "jsonpath={.spec.containers[0].image}";
        ["db-0", "db-1", "db-2"].map(|pod| world.kubectl(CLUSTER, &["get", "pod", pod, "-o", path]))
    };
    let [v1, v2] = ["registry.example/db:v1", "registry.example/db:v2"];
    assert_eq!(images(), [v1, v1, v1]);
    world.write("k8s/db.yaml", &database("v2"));
    let run = world.ok(7, &["rollout", "run", "-y"]);
    run.says("of 3 pods the 1 of the highest ordinals");
    assert_eq!(images(), [v1, v1, v2], "{run}");
    world.ok(0, &["rollout", "abort", "-y"]);
    assert_eq!(images(), [v1, v1, v1]);
    world.ok(7, &["rollout", "run", "-y"]);
    assert_eq!(images(), [v1, v1, v2]);
    world.ok(0, &["rollout", "approve"]);
    world.ok(0, &["rollout", "resume", "-y"]);
    assert_eq!(images(), [v2, v2, v2]);
    world.ok(0, &["plan", "--detailed-exitcode", "--verify"]);
}

#[test]
fn what_cannot_have_a_canary_is_said_before_anything_is_written() {
    let world = World::new("iso-say");
    application(&world, PAUSED);
    world.write("k8s/web.yaml", &slow_web("v1", "replicas: 2"));
    world.ok(0, &["apply", "-y"]);
    world.write("k8s/web.yaml", &slow_web("v2", "replicas: 2"));
    application(&world, &format!("  workloads: [{{kind: Deployment, name: wbe}}]\n{PAUSED}"));
    world.ok(3, &["rollout", "run", "-y"]).says("`wbe`").says("did you mean `web`?");
    assert!(!world.exists(CLUSTER, "deployment", "web-canary"));
    world.ok(0, &["rollout", "status"]).says("there is no rollout");
    world.ok(3, &["validate"]).says("did you mean `web`?");
    // Somebody else's Deployment has the copy's name.
    let other = slow_web("other", "replicas: 1").replace("name: web}", "name: web-canary}");
    world.kubectl_apply(CLUSTER, other.split("---").next().unwrap());
    application(&world, PAUSED);
    let run = world.ok(6, &["rollout", "run", "-y"]);
    run.says("exists, and is no canary").says("use another `suffix`");
    assert_eq!(
        image(&world.live(CLUSTER, "deployment", "web-canary")),
        "registry.example/web:other"
    );
    assert_eq!(image(&world.live(CLUSTER, "deployment", "web")), "registry.example/web:v1");
}

#[test]
fn a_canary_is_taken_back_although_what_runs_is_not_healthy() {
    let world = World::new("iso-sick");
    application(&world, PAUSED);
    let sick = slow_web("v1", "replicas: 2")
        .replace("testbed.mcd.dev/ready-after: 3s", "testbed.mcd.dev/pod: never-ready");
    world.write("k8s/web.yaml", &sick);
    world.ok(0, &["apply", "-y", "--wait=false"]);
    let before = world.live(CLUSTER, "deployment", "web")["metadata"]["generation"].clone();
    world.write("k8s/web.yaml", &slow_web("v2", "replicas: 2"));
    world.ok(7, &["rollout", "run", "-y"]);
    let aborted = world.ok(0, &["rollout", "abort", "-y"]);
    assert!(!world.exists(CLUSTER, "deployment", "web-canary"), "{aborted}");
    let web = world.live(CLUSTER, "deployment", "web");
    assert_eq!((image(&web), &web["metadata"]["generation"]), ("registry.example/web:v1", &before));
    world.ok(0, &["apply", "-y", "--strategy", "plain"]);
    assert_eq!(image(&world.live(CLUSTER, "deployment", "web")), "registry.example/web:v2");
}
