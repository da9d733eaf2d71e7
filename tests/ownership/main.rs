//! Ownership against a real API server: digests never say "unchanged" when an apply would change
//! something, and what a take is predicted to do is what it does.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not in a `#[test]`")]

mod edits;

use std::collections::BTreeMap;
use std::sync::Arc;

use mcd::cluster::{
    Applied, Apply, CallError, Cluster, ConnectOptions, Discovery, FieldConflict, Kubeconfigs,
    Refusal, Resource,
};
use mcd::config::{ClusterSpec, TargetName};
use mcd::diff::{ObjectDiff, object_diff};
use mcd::manifest::{Object, objects};
use mcd::ownership::{
    FieldPath, Key, Policy, entries, judge, live_digest, our_entry, predict_take, relinquish, take,
};
use serde_json::{Value, json};
use testbed::{Bed, Context, TestNamespace};

const CLUSTER: &str = "us-east";
const OURS: &str = "mcd:shop/web";
const KEY: Key = [9; 32];
const NOW: &str = "2026-01-02T03:04:05Z";

/// A namespace of a cluster, with a client that speaks as mcd does.
struct Place {
    cluster: Cluster,
    discovery: Arc<Discovery>,
    namespace: TestNamespace,
    bed: &'static Bed,
    _kubeconfig: testbed::Kubeconfig,
}

impl Place {
    async fn new(prefix: &'static str) -> Place {
        let (bed, namespace, kubeconfig) = tokio::task::spawn_blocking(move || {
            let bed = Bed::shared();
            let server = bed.cluster(CLUSTER);
            let namespace = TestNamespace::new(prefix, std::slice::from_ref(server));
            (bed, namespace, bed.kubeconfig(&[Context::of(server)]))
        })
        .await
        .unwrap();
        let name = TargetName::new(CLUSTER);
        let spec = ClusterSpec {
            name: name.clone(),
            context: CLUSTER.into(),
            kubeconfig: Some(kubeconfig.path().to_owned()),
            identity: None,
            in_cluster: false,
            labels: BTreeMap::new(),
            values: Value::Null,
            kube_version: None,
            api_versions: Vec::new(),
        };
        let options = ConnectOptions::default();
        let files = Kubeconfigs::new(&options);
        let cluster =
            Cluster::connect(&name, &spec, &files, &options, Arc::new(|_| {})).await.unwrap();
        let discovery = cluster.discovery().await.unwrap();
        Place { cluster, discovery, namespace, bed, _kubeconfig: kubeconfig }
    }

    fn objects(&self, yaml: &str) -> Vec<Object> {
        let mut all = objects(yaml, "test").unwrap();
        all.iter_mut().for_each(|object| object.set_namespace(Some(self.namespace.name())));
        all
    }

    fn resource(&self, object: &Object) -> &Resource {
        self.discovery.resolve(&object.gvk).unwrap()
    }

    async fn apply(
        &self,
        object: &Object,
        force: bool,
        dry_run: bool,
    ) -> Result<Applied, CallError> {
        let how = Apply { manager: OURS, force, dry_run };
        let (resource, ns) = (self.resource(object), Some(self.namespace.name()));
        self.cluster.apply(resource, ns, &object.id.name, &object.value, how).await
    }

    async fn get(&self, object: &Object) -> Value {
        let (resource, ns) = (self.resource(object), Some(self.namespace.name()));
        self.cluster.get(resource, ns, &object.id.name).await.unwrap().unwrap()
    }

    async fn patch(
        &self,
        object: &Object,
        patch: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let (resource, ns) = (self.resource(object), Some(self.namespace.name()));
        self.cluster.json_patch(resource, ns, &object.id.name, patch, manager, false).await
    }

    async fn delete(&self, object: &Object) {
        let (resource, ns) = (self.resource(object), Some(self.namespace.name()));
        if let Some(live) = self.cluster.get(resource, ns, &object.id.name).await.unwrap()
            && live["metadata"]["finalizers"].is_array()
        {
            let patch = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
            self.patch(object, &patch, "hand").await.unwrap();
        }
        self.cluster.delete(resource, ns, &object.id.name, None).await.unwrap();
        while self.cluster.get(resource, ns, &object.id.name).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    }

    async fn kubectl(&self, args: &[&str], input: &str) {
        let all: Vec<String> =
            ["-n", self.namespace.name()].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
        let (bed, input) = (self.bed, input.to_owned());
        let run = move || bed.kubectl_with_input(bed.cluster(CLUSTER), &all, &input);
        let output = tokio::task::spawn_blocking(run).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn diff(object: &Object, before: &Value, after: &Value) -> ObjectDiff {
    object_diff(&object.id, Some(before), Some(after))
}

fn conflicts(error: &CallError) -> &[FieldConflict] {
    match error.refusal() {
        Some(Refusal::Conflict(found)) => found,
        other => panic!("{other:?}"),
    }
}

/// After any edit by another manager that the server accepts: the same digest means that an apply
/// would change nothing (A1.5). And it does recognise most edits that do not concern us.
#[tokio::test]
async fn the_same_digest_means_unchanged() {
    const EDITS: usize = 250;
    let place = Place::new("digest").await;
    let all = place.objects(include_str!("kinds.yaml"));
    let mut recorded = Vec::new();
    for object in &all {
        let live = place.apply(object, true, false).await.unwrap().object;
        let digest = live_digest(&KEY, &live, OURS);
        assert!(digest.is_some(), "{}", object.id);
        let again = place.apply(object, true, true).await.unwrap().object;
        assert_eq!(live_digest(&KEY, &again, OURS), digest, "{}: a no-op", object.id);
        recorded.push(digest);
    }
    let mut random = edits::Random::new(20_260_102);
    let (mut accepted, mut no_ops, mut recognised) = (0, 0, 0);
    for _ in 0..EDITS {
        let index = random.below(all.len());
        let (object, before) = (&all[index], place.get(&all[index]).await);
        let Some(patch) = edits::edit(&before, &mut random) else { continue };
        if place.patch(object, &patch, "hand").await.is_err() {
            continue;
        }
        accepted += 1;
        let live = place.get(object).await;
        let same = live_digest(&KEY, &live, OURS) == recorded[index];
        let planned = place.apply(object, true, true).await;
        let unchanged = planned.is_ok_and(|p| diff(object, &live, &p.object).is_empty());
        assert!(unchanged || !same, "{}: an apply changes something after {patch}", object.id);
        no_ops += usize::from(unchanged);
        recognised += usize::from(unchanged && same);
        // Back to where it was; a list key that was edited by hand cannot go back (A1.10).
        if place.apply(object, true, false).await.is_err() {
            place.delete(object).await;
            place.apply(object, true, false).await.unwrap();
        }
        recorded[index] = live_digest(&KEY, &place.get(object).await, OURS);
    }
    assert!(accepted > EDITS / 4, "{accepted} edits were accepted");
    assert!(no_ops > 10, "{no_ops} edits changed nothing of ours");
    assert!(recognised * 10 > no_ops * 7, "{recognised} of {no_ops} were recognised");
}

const OLD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {legacy: x}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: c
        image: nginx:1
        env: [{name: LEGACY, value: a}, {name: KEPT, value: b}]
        ports: [{containerPort: 80}, {containerPort: 81}]
        livenessProbe: {httpGet: {path: /, port: 80}}
      - {name: old, image: 'x:1'}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: a, port: 80}, {name: b, port: 81}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: '1', legacy: '2'}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {a: '1', legacy: hunter2}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, labels: {legacy: x}}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
";

const NEW: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        image: nginx:1
        env: [{name: KEPT, value: b}]
        ports: [{containerPort: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: a, port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: '1'}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
data: {a: MQ==}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
";

/// What kubectl declared and the manifest lacks goes, as predicted, and the take itself changes
/// nothing but managedFields (A3.2, A3.8). Twice: someone applies the old file again (A3.6).
#[tokio::test]
async fn a_take_does_what_it_is_predicted_to_do() {
    for way in
        [&["apply", "-f", "-"][..], &["apply", "--server-side", "--force-conflicts", "-f", "-"]]
    {
        let place = Place::new("take").await;
        let all = place.objects(NEW);
        for round in 0..2 {
            place.kubectl(way, OLD).await;
            for object in &all {
                taken_as_predicted(&place, object, &format!("{way:?}, round {round}")).await;
            }
        }
    }
}

async fn taken_as_predicted(place: &Place, object: &Object, case: &str) {
    let id = &object.id;
    // Controllers write status meanwhile, so the patch may meet a newer version.
    let (live, after_take, predicted) = loop {
        let live = place.get(object).await;
        let judgement = judge(&live, OURS, &[], &Policy::default());
        assert_eq!((judgement.take.len(), judgement.stop), (1, Vec::new()), "{id}, {case}");
        let dry_run = place.apply(object, true, true).await.unwrap().object;
        let keep = id.kind == "PodDisruptionBudget";
        let expected = predict_take(&live, &dry_run, &judgement.take, &[], OURS, keep);
        let (resource, ns) = (place.resource(object), Some(place.namespace.name()));
        let put = place.cluster.replace(resource, ns, &id.name, &expected, OURS, true).await;
        let patch = take(&live, &judgement.take, &[], OURS, NOW).unwrap();
        match (put, place.patch(object, &patch, OURS).await) {
            (Ok(predicted), Ok(after)) => break (live, after, predicted),
            (Err(error), _) | (_, Err(error)) => {
                assert_eq!(error.refusal(), Some(&Refusal::Moved), "{id}, {case}");
            }
        }
    };
    assert!(diff(object, &live, &after_take).is_empty(), "{id}: a take changes no value, {case}");
    assert_eq!(after_take["metadata"]["generation"], live["metadata"]["generation"], "{id}");
    let applied = place.apply(object, false, false).await.unwrap().object;
    let wrong = diff(object, &applied, &predicted);
    assert!(wrong.is_empty(), "{id} is not as predicted, {case}: {:?}", wrong.changes);
    assert!(!applied.to_string().contains("legacy"), "{id}, {case}");
    assert!(!applied.to_string().contains("last-applied"), "{id}, {case}");
    assert!(!diff(object, &live, &applied).is_empty(), "{id}: something went, {case}");
    assert!(judge(&applied, OURS, &[], &Policy::default()).take.is_empty(), "{id}, {case}");
}

/// What we give up keeps its value when the next apply omits it (A5.4), without a new generation.
#[tokio::test]
async fn what_is_relinquished_stays() {
    let place = Place::new("give").await;
    let mut object = place.objects(OLD).remove(0);
    place.apply(&object, true, false).await.unwrap();
    let replicas = FieldPath::fields(&["spec", "replicas"]);
    let live = loop {
        let live = place.get(&object).await;
        let patch = relinquish(&live, std::slice::from_ref(&replicas), OURS).unwrap();
        match place.patch(&object, &patch, OURS).await {
            Ok(live) => break live,
            Err(error) => assert_eq!(error.refusal(), Some(&Refusal::Moved)),
        }
    };
    assert!(!our_entry(&live, OURS).unwrap().fields.covers(&replicas));
    assert_eq!(entries(&live).iter().filter(|e| e.manager == OURS).count(), 1);
    object.value["spec"].as_object_mut().unwrap().remove("replicas");
    let after = place.apply(&object, false, false).await.unwrap().object;
    assert_eq!(after["spec"]["replicas"], 3);
    assert_eq!(after["metadata"]["generation"], live["metadata"]["generation"]);
}

/// The server's own words about conflicts lead to the entries and the fields.
#[tokio::test]
async fn conflicts_are_judged_as_the_server_words_them() {
    let place = Place::new("conflict").await;
    let object = place.objects(NEW).remove(0);
    let mut with_replicas = object.clone();
    with_replicas.value["spec"]["replicas"] = json!(1);
    place.apply(&with_replicas, true, false).await.unwrap();
    place.kubectl(&["set", "image", "deployment/web", "c=nginx:2"], "").await;
    place.kubectl(&["scale", "deployment/web", "--replicas=2"], "").await;
    let operator = json!([{"op": "add", "path": "/spec/template/spec/containers/0/env/0/value", "value": "z"}]);
    place.patch(&object, &operator, "my-operator").await.unwrap();
    let error = place.apply(&with_replicas, false, true).await.unwrap_err();
    let live = place.get(&object).await;
    let judgement = judge(&live, OURS, conflicts(&error), &Policy::default());
    let mut reverts: Vec<String> = judgement
        .revert
        .iter()
        .map(|r| format!("{} {} {}", r.manager, r.time.is_some(), r.fields[0]))
        .collect();
    reverts.sort();
    assert_eq!(
        reverts,
        [
            // The server keeps no time for what goes through the scale subresource.
            "kubectl false .spec.replicas",
            "kubectl-set true .spec.template.spec.containers[name=\"c\"].image"
        ]
    );
    assert_eq!(judgement.stop.len(), 1);
    assert_eq!(
        judgement.stop[0].why,
        "`my-operator` has set `.spec.template.spec.containers[name=\"c\"].env[name=\"KEPT\"].value`"
    );
    let force = Policy { force_conflicts: true, ..Policy::default() };
    let forced = judge(&live, OURS, conflicts(&error), &force);
    assert_eq!((forced.revert.len(), forced.stop.len()), (3, 0));
    // Another application is refused by the server itself (A3.10).
    let how = Apply { manager: "mcd:shop/other", force: false, dry_run: true };
    let mut other = object.clone();
    other.value["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = json!("q");
    let (resource, ns) = (place.resource(&object), Some(place.namespace.name()));
    place.apply(&with_replicas, true, false).await.unwrap();
    let error = place.cluster.apply(resource, ns, "web", &other.value, how).await.unwrap_err();
    let live = place.get(&object).await;
    let judgement = judge(&live, "mcd:shop/other", conflicts(&error), &force);
    assert_eq!(judgement.stop[0].why, "it belongs to the application `shop/web`");
    assert_eq!(judgement.stop[0].fields.len(), 1);
}
