//! State on real control planes: locks, records, keys and releases.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not in a `#[test]`")]

mod locks;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcd::cluster::state::lease::{self, Acquire, Guard, Holder, acquire, look, unlock};
use mcd::cluster::state::release::{self, Stored};
use mcd::cluster::state::{
    About, Key, Member, Record, Release, ReleaseState, ReleaseSummary, StateNames, Store, Who,
};
use mcd::cluster::{Cluster, ConnectOptions, Kubeconfigs, Resource};
use mcd::config::{AppName, ClusterSpec, TargetName};
use mcd::error::{Error, Exit};
use mcd::manifest::{Gvk, ObjectId};
use serde_json::{Value, json};
use testbed::{Bed, Context, Fault, Match, Proxy, TestNamespace};
use tokio_util::sync::CancellationToken;

const CLUSTER: &str = "us-east";

/// A namespace on one cluster, with the application `web` in it.
struct Place {
    cluster: Cluster,
    names: StateNames,
    namespace: TestNamespace,
    /// Told when a lock is waited for.
    waiting: tokio::sync::Notify,
    /// Ends the run.
    cancel: CancellationToken,
    server: &'static testbed::Cluster,
    /// Kept for as long as the kubeconfig is used.
    _kubeconfig: testbed::Kubeconfig,
}

impl Place {
    async fn new(prefix: &str) -> Place {
        Place::through(prefix, |server| (Context::of(server), ())).await.0
    }

    /// Reached through a proxy that can do wrong.
    async fn behind_proxy(prefix: &str) -> (Place, Proxy) {
        Place::through(prefix, |server| {
            let proxy = Proxy::start(server);
            (proxy.context(), proxy)
        })
        .await
    }

    async fn through<T: Send + 'static>(
        prefix: &str,
        context: impl FnOnce(&testbed::Cluster) -> (Context, T) + Send + 'static,
    ) -> (Place, T) {
        let prefix = prefix.to_owned();
        let made = tokio::task::spawn_blocking(move || {
            let bed = Bed::shared();
            let server = bed.cluster(CLUSTER);
            let namespace = TestNamespace::new(&prefix, std::slice::from_ref(server));
            let (context, proxy) = context(server);
            (server, namespace, bed.kubeconfig(&[context]), proxy)
        });
        let (server, namespace, kubeconfig, proxy) = made.await.unwrap();
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
        let names = StateNames::new(&name, &AppName::new("web"), namespace.name(), None);
        let place = Place {
            cluster,
            names,
            namespace,
            waiting: tokio::sync::Notify::new(),
            cancel: options.cancel.clone(),
            server,
            _kubeconfig: kubeconfig,
        };
        (place, proxy)
    }

    fn store(&self) -> Store {
        Store::new(&self.cluster, &self.names)
    }

    fn path(&self, kind: &str, name: &str) -> String {
        let group = if kind == "leases" { "apis/coordination.k8s.io/v1" } else { "api/v1" };
        format!("/{group}/namespaces/{}/{kind}/{name}", self.namespace.name())
    }

    /// A call of someone who is not mcd.
    async fn call(&self, method: &'static str, path: String, body: Option<Value>) -> (u16, String) {
        let server = self.server;
        let call = move || server.call(method, &path, body.as_ref());
        let answer = tokio::task::spawn_blocking(call).await.unwrap().unwrap();
        (answer.status, answer.text)
    }

    async fn get(&self, kind: &str, name: &str) -> Value {
        let (status, text) = self.call("GET", self.path(kind, name), None).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Puts a lease there that someone on another machine holds.
    async fn foreign_lease(&self, seconds: u64, renewed_ago: i64) {
        let renewed = self.cluster.now() - jiff::SignedDuration::from_secs(renewed_ago);
        let renewed = renewed.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.names.lease()},
            "spec": {"holderIdentity": "bob@ci", "leaseDurationSeconds": seconds,
                "acquireTime": renewed, "renewTime": renewed, "leaseTransitions": 3},
        });
        let (status, text) = self.call("POST", self.path("leases", ""), Some(lease)).await;
        assert_eq!(status, 201, "{text}");
    }

    /// Changes the lease as someone else would.
    async fn patch_lease(&self, patch: Value) {
        let leases = Resource::new(Gvk::new("coordination.k8s.io/v1", "Lease"), "leases", true);
        let (namespace, name) = (Some(self.namespace.name()), self.names.lease());
        let patched = self.cluster.merge_patch(&leases, namespace, &name, &patch, "bob", false);
        patched.await.unwrap();
    }

    async fn lock(&self, seconds: u64) -> Result<(Guard, Holder, Vec<String>), Error> {
        let holder = Holder::current("alice@laptop").unwrap();
        let told = Mutex::new(Vec::new());
        let waiting = |w: &lease::Waiting| {
            told.lock().unwrap().push(w.to_string());
            self.waiting.notify_one();
        };
        let how = Acquire {
            holder: &holder,
            duration: Duration::from_secs(seconds),
            wait: Duration::ZERO,
            waiting: &waiting,
        };
        let guard = acquire(&self.cluster, &self.names, how).await?;
        Ok((guard, holder, told.into_inner().unwrap()))
    }

    async fn holder(&self) -> Option<String> {
        look(&self.cluster, &self.names).await.unwrap().and_then(|view| view.holder)
    }
}

fn about() -> About {
    About {
        started: "2026-01-02T03:04:05Z".parse().unwrap(),
        who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
        commit: None,
        tool: None,
        chart: None,
        mcd: "0.1.0".into(),
        vars: BTreeMap::new(),
    }
}

fn draft(place: &Place, objects: Vec<Value>) -> Release {
    Release {
        schema: release::SCHEMA,
        number: 0,
        app: AppName::new("web"),
        target: TargetName::new(CLUSTER),
        namespace: place.namespace.name().into(),
        about: about(),
        rollback_of: None,
        settings: json!({"namespace": place.namespace.name()}),
        objects,
    }
}

fn config_map(name: &str, text: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}})
}

/// Text that does not compress.
fn noise(length: usize) -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b' ' + u8::try_from(state % 94).unwrap_or(0))
    };
    (0..length).map(|_| next()).collect()
}

fn summary(number: u64, state: ReleaseState) -> ReleaseSummary {
    ReleaseSummary {
        number,
        state,
        about: about(),
        objects: 0,
        bytes: 0,
        finished: None,
        message: None,
        rollback_of: None,
        undone: false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_written_over_what_was_read_and_nothing_else() {
    let place = Place::new("record").await;
    let store = place.store();
    assert!(store.record().await.unwrap().is_none());
    let mut record = Record::new(&place.names, place.namespace.name());
    let id = ObjectId {
        group: "apps".into(),
        kind: "Deployment".into(),
        namespace: Some(place.namespace.name().into()),
        name: "web".into(),
    };
    let member = Member {
        version: "v1".into(),
        uid: Some("u".into()),
        digests: None,
        config: None,
        protected: false,
    };
    record.inventory.insert(id, member);
    record.note(summary(1, ReleaseState::Active));
    let first = store.write_record(&record, None).await.unwrap();
    let (read, version) = store.record().await.unwrap().unwrap();
    assert_eq!((&read, &version), (&record, &first));
    // Two write over the same version: one of them is told.
    let second = store.write_record(&record, Some(&first)).await.unwrap();
    record.note(summary(2, ReleaseState::Staged));
    let third = store.write_record(&record, Some(&second)).await.unwrap();
    assert_ne!(second, third);
    for over in [Some(&second), None] {
        let error = store.write_record(&record, over).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Blocked, "{error}");
        assert!(error.message().contains("someone else wrote the record"), "{error}");
    }
    assert_eq!(store.record().await.unwrap().unwrap().0, record);
    // Six say something of a release at once; nothing is lost.
    let message = |record: &mut Record, text: &str| {
        let summary = &mut record.releases[0];
        summary.message = Some(summary.message.take().unwrap_or_default() + text);
    };
    let texts = ["a", "b", "c", "d", "e", "f"];
    let amends = texts.map(|text| store.amend(move |record| message(record, text)));
    for amended in futures::future::join_all(amends).await {
        amended.unwrap();
    }
    let said = store.record().await.unwrap().unwrap().0.releases[0].message.clone().unwrap();
    assert!(said.len() == 6 && texts.iter().all(|text| said.contains(text)), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_whose_answer_is_lost_is_written_and_one_that_never_arrived_is_written_again() {
    let (place, proxy) = Place::behind_proxy("record").await;
    let store = place.store();
    let mut record = Record::new(&place.names, place.namespace.name());
    let mut version = None;
    for (number, fault) in (1..).zip([Fault::ResetAfter, Fault::ResetAfter, Fault::Reset]) {
        record.note(summary(number, ReleaseState::Active));
        proxy.inject(Match::writes().path("/secrets").times(1), fault);
        version = Some(store.write_record(&record, version.as_ref()).await.unwrap());
        assert_eq!(store.record().await.unwrap(), version.clone().map(|v| (record.clone(), v)));
    }
    assert_eq!(proxy.writes().iter().filter(|w| w.faulted).count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_a_newer_mcd_and_a_damaged_one_are_errors_and_stay_as_they_are() {
    let place = Place::new("record").await;
    let secret = |secret_type: &str, data: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mcd.web"},
            "type": secret_type, "data": {"record": data}})
    };
    let cases = [
        ("mcd.dev/record.v2", "e30=", Exit::Blocked, "newer mcd (schema 2; this one knows 1)"),
        ("mcd.dev/record.v1", "e30=", Exit::Failed, "the record is damaged"),
        ("mcd.dev/record.v1", "H4sIAAAAAAAA", Exit::Failed, "the record is damaged"),
    ];
    for (secret_type, data, exit, message) in cases {
        let manifest = secret(secret_type, data);
        assert_eq!(place.call("POST", place.path("secrets", ""), Some(manifest)).await.0, 201);
        let error = place.store().record().await.unwrap_err();
        assert_eq!(error.exit(), exit, "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains("/mcd.web"), "{error}");
        let path = place.path("secrets", "mcd.web");
        assert_eq!(place.get("secrets", "mcd.web").await["data"]["record"], data);
        assert_eq!(place.call("DELETE", path, None).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_make_the_key_at_once_get_the_same_one() {
    let place = Place::new("key").await;
    let store = place.store();
    assert!(store.key().await.unwrap().is_none());
    let keys =
        futures::future::join_all((0..6).map(|_| store.ensure_key(Key::random().unwrap()))).await;
    let keys: Vec<_> = keys.into_iter().map(Result::unwrap).collect();
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(store.key().await.unwrap().as_ref(), keys.first());
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_that_are_staged_at_once_get_different_numbers() {
    let place = Place::new("release").await;
    let store = place.store();
    let staged = futures::future::join_all((0..6).map(|i| {
        let release = draft(&place, vec![config_map("a", &i.to_string())]);
        store.stage(release, None, &[])
    }))
    .await;
    let mut numbers: Vec<u64> = staged.into_iter().map(|s| s.unwrap().summary.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    for number in numbers {
        assert_eq!(store.release(number).await.unwrap().unwrap().number, number);
    }
    assert!(store.release(7).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_whose_answer_is_lost_is_stored_once_and_one_that_fails_leaves_nothing() {
    let (place, proxy) = Place::behind_proxy("release").await;
    let store = place.store();
    let creates = || Match::any().method("POST").path("/secrets");
    proxy.inject(creates().times(1), Fault::ResetAfter);
    let release = draft(&place, vec![config_map("a", &noise(1_200_000))]);
    assert_eq!(store.stage(release.clone(), None, &[]).await.unwrap().summary.number, 1);
    assert_eq!(store.releases().await.unwrap().len(), 1);
    proxy.inject(creates().skip(1).times(1), Fault::status(403));
    let listed = store.releases().await.unwrap();
    let error = store.stage(release, None, &listed).await.unwrap_err();
    assert!(error.to_string().contains("Secret"), "{error}");
    assert_eq!(store.releases().await.unwrap(), listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_over_a_mebibyte_is_split_and_comes_back_whole() {
    let place = Place::new("release").await;
    let store = place.store();
    let objects = vec![config_map("a", &noise(900_000)), config_map("b", &noise(800_000))];
    let release = draft(&place, objects);
    let staged = store.stage(release.clone(), None, &[]).await.unwrap();
    assert!(staged.summary.bytes > 1024 * 1024, "{}", staged.summary.bytes);
    let listed = store.releases().await.unwrap();
    assert_eq!(listed[0].parts, ["mcd-release.web.1", "mcd-release.web.1.2"]);
    let loaded = store.release(1).await.unwrap().unwrap();
    assert_eq!(loaded, Release { number: 1, ..release });

    let path = place.path("secrets", "mcd-release.web.1.2");
    assert_eq!(place.call("DELETE", path, None).await.0, 200);
    let error = store.release(1).await.unwrap_err();
    assert!(error.to_string().contains("mcd-release.web.1.2: a part of release 1 is gone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_release_holds_cannot_be_changed_and_where_it_stands_can() {
    let place = Place::new("release").await;
    let store = place.store();
    let staged = store.stage(draft(&place, vec![config_map("a", "b")]), None, &[]).await.unwrap();
    let mut secret = place.get("secrets", "mcd-release.web.1").await;
    assert_eq!(secret["type"], "mcd.dev/release.v1");
    secret["data"]["release"] = "e30=".into();
    let path = place.path("secrets", "mcd-release.web.1");
    let (status, text) = place.call("PUT", path, Some(secret)).await;
    assert_eq!(status, 422, "{text}");
    let mut summary = staged.summary;
    summary.state = ReleaseState::Active;
    summary.message = Some("1 created, healthy".into());
    store.mark(&summary).await.unwrap();
    let head = store.releases().await.unwrap().remove(0).head.unwrap();
    assert_eq!(head.summary.state, ReleaseState::Active);
    assert_eq!(head.summary.message, summary.message);
    assert!(store.release(1).await.unwrap().is_some());
    summary.number = 9;
    store.mark(&summary).await.unwrap(); // one that is gone is no error
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_another_namespace_are_kept_there_also_when_it_is_made_later() {
    let place = Place::new("release").await;
    let store = place.store();
    let other = format!("{}-other", place.namespace.name());
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "s", "namespace": other}, "data": {"password": "aHVudGVyMg=="}});
    let release = draft(&place, vec![config_map("a", "b"), secret.clone(), config_map("c", "d")]);
    let mut staged = store.stage(release.clone(), None, &[]).await.unwrap();
    let error = store.release(1).await.unwrap_err();
    assert!(error.to_string().contains("a part of release 1 is gone"), "{error}");
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}});
    assert_eq!(place.call("POST", "/api/v1/namespaces".into(), Some(object)).await.0, 201);
    store.complete(&mut staged).await.unwrap();
    store.complete(&mut staged).await.unwrap();
    assert_eq!(store.release(1).await.unwrap().unwrap().objects, release.objects);
    let name = format!("mcd-release.{}.web.1.1", place.namespace.name());
    let path = format!("/api/v1/namespaces/{other}/secrets/{name}");
    assert_eq!(place.call("GET", path.clone(), None).await.0, 200);
    store.remove().await.unwrap();
    assert_eq!(place.call("GET", path, None).await.0, 404);
    assert_eq!(store.releases().await.unwrap(), [] as [Stored; 0]);
    assert_eq!(place.call("DELETE", format!("/api/v1/namespaces/{other}"), None).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_releases_go_and_broken_off_ones_are_marked() {
    let place = Place::new("release").await;
    let store = place.store();
    let mut record = Record::new(&place.names, place.namespace.name());
    for _ in 0..13 {
        let listed = store.releases().await.unwrap();
        let release = draft(&place, vec![config_map("a", "b")]);
        let mut summary = store.stage(release, Some(&record), &listed).await.unwrap().summary;
        summary.state = ReleaseState::Active;
        record.note(summary);
    }
    let listed = store.releases().await.unwrap();
    assert_eq!(listed.len(), 13);
    // None was marked: the record knows ten of them, and the others were never noted.
    let repaired = store.repair(Some(&record), &listed).await.unwrap();
    assert_eq!(repaired.len(), 13);
    let listed = store.releases().await.unwrap();
    assert_eq!(store.repair(Some(&record), &listed).await.unwrap(), []);
    let states: Vec<_> =
        (listed.iter()).map(|stored| stored.head.as_ref().unwrap().summary.state).collect();
    use ReleaseState::{Active, Failed, Superseded};
    assert_eq!(states[..3], [Failed; 3]);
    assert_eq!(states[3..12], [Superseded; 9]);
    assert_eq!(states[12], Active);
    assert_eq!(store.prune_releases(record.active).await.unwrap(), [1, 2, 3]);
    let left: Vec<u64> = store.releases().await.unwrap().iter().map(|s| s.number).collect();
    assert_eq!(left, (4..=13).collect::<Vec<_>>());
}
