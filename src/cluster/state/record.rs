//! The record: a target's parent object. What the application owns there, digests of it, what was
//! released. Pure; no manifest values.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::about::{ReleaseState, ReleaseSummary};
use super::codec::{self, Damage};
use super::names::{StateNames, StatePlace};
use super::rollout::{ClosedRollout, Freeze, OpenRollout};
use super::secret::{self, MAX_DATA, StateSecret, Unfit};
use crate::config::{AppName, TargetName};
use crate::error::{Error, Exit, Result};
use crate::manifest::{Gvk, Object, ObjectId};

/// The newest schema of the record that this mcd reads. It grows with each change that an older
/// mcd would misread; that one then refuses by name.
pub(super) const SCHEMA: u32 = 2;

/// The schema of a record that nothing keeps from being written over: what the first mcd wrote.
const PLAIN: u32 = 1;

/// How many summaries of releases the record keeps.
pub const KEPT_SUMMARIES: usize = 10;

/// The type of the Secret.
pub const RECORD_TYPE: &str = "mcd.dev/record.v1";
/// The data key.
const DATA_KEY: &str = "record";

/// A target's record (design §7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The version of this format.
    pub schema: u32,
    /// The application.
    pub app: AppName,
    /// The target's name when the record was written last. A cluster may have another name in
    /// another fleet file.
    pub target: TargetName,
    /// The application's namespace.
    pub namespace: String,
    /// The version of mcd that wrote it last.
    pub mcd: String,
    /// What the application owns in the target. Membership is this, never the label alone.
    #[serde(with = "as_list")]
    pub inventory: BTreeMap<ObjectId, Member>,
    /// The last releases, oldest first.
    pub releases: Vec<ReleaseSummary>,
    /// The release that the target runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u64>,
    /// Helm releases whose objects became the application's, and that helm still sees.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub retire: Vec<HelmRelease>,
    /// Where the state came from, until all objects are here and the state there is removed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moved_from: Option<StatePlace>,
    /// Where the state goes: this record is left, and nobody may write by it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moved_to: Option<StatePlace>,
    /// The rollout that is open: others may not write until it is closed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rollout: Option<Box<OpenRollout>>,
    /// How the last rollout ended here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub closed: Option<ClosedRollout>,
    /// Nobody may write, until then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub freeze: Option<Freeze>,
}

/// A release of helm's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HelmRelease {
    /// The namespace that helm keeps it in.
    pub namespace: String,
    /// Its name there.
    pub name: String,
}

impl std::fmt::Display for HelmRelease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// An object that the application owns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The version it was applied with; a later one may serve it too.
    pub version: String,
    /// Its uid. None: written before its object, so it is ours only if live has our label and
    /// manager (design §7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uid: Option<String>,
    /// What was applied, as keyed digests. None: not applied yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digests: Option<Digests>,
    /// The keyed hash of the configuration that a workload's pod template uses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config: Option<String>,
    /// Its manifest protects it and is never sent again (`create-only`), so that the cluster may not
    /// say so.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub protected: bool,
}

/// The digests of the fast path (design §6), keyed with the target's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Digests {
    /// Of the manifest that was sent.
    pub manifest: String,
    /// Of what the server returned for the fields that we own.
    pub live: String,
    /// The server's version at that time; another one may default differently.
    pub server: String,
}

impl Record {
    /// The record of a target that has none yet.
    pub fn new(names: &StateNames, namespace: &str) -> Self {
        Record {
            schema: PLAIN,
            app: names.app.clone(),
            target: names.target.clone(),
            namespace: namespace.into(),
            mcd: env!("CARGO_PKG_VERSION").into(),
            inventory: BTreeMap::new(),
            releases: Vec::new(),
            active: None,
            retire: Vec::new(),
            moved_from: None,
            moved_to: None,
            rollout: None,
            closed: None,
            freeze: None,
        }
    }

    /// Ends the active release without another in its place: its objects were deleted. Answers its
    /// summary as it is now.
    pub fn end_active(&mut self) -> Option<ReleaseSummary> {
        let mut summary = self.active_release()?.clone();
        summary.state = ReleaseState::Superseded;
        self.note(summary.clone());
        Some(summary)
    }

    /// Adds what a release is about to write, before it is written: the union of old and new is
    /// what makes a crash safe at every point. What is known already keeps its uid and digests.
    pub fn intend<'a>(&mut self, objects: impl IntoIterator<Item = &'a Object>) {
        for object in objects {
            self.intend_one(&object.id, &object.gvk.version);
        }
    }

    /// Adds one object that is about to be written, in that version; see [`Record::intend`].
    pub fn intend_one(&mut self, id: &ObjectId, version: &str) {
        let new = || Member {
            version: String::new(),
            uid: None,
            digests: None,
            config: None,
            protected: false,
        };
        self.inventory.entry(id.clone()).or_insert_with(new).version = version.to_owned();
    }

    /// Marks releases that are still staged as failed: with no rollout open, they belong to runs
    /// that were broken off, as whoever holds the lease knows. Says whether there were any.
    pub fn fail_staged(&mut self, now: Timestamp) -> bool {
        let mut any = false;
        for summary in &mut self.releases {
            any |= summary.fail_if_staged(now);
        }
        any
    }

    /// Group, version and kind of a member.
    pub fn gvk(id: &ObjectId, member: &Member) -> Gvk {
        Gvk { group: id.group.clone(), version: member.version.clone(), kind: id.kind.clone() }
    }

    /// The summary of a release.
    pub fn release(&self, number: u64) -> Option<&ReleaseSummary> {
        self.releases.iter().find(|summary| summary.number == number)
    }

    /// The summary of the active release.
    pub fn active_release(&self) -> Option<&ReleaseSummary> {
        self.active.and_then(|number| self.release(number))
    }

    /// The release that ran before the active one: what a rollback goes back to.
    pub fn previous(&self) -> Option<&ReleaseSummary> {
        let releases: Vec<&ReleaseSummary> = self.releases.iter().collect();
        super::release::previous(&releases, self.active)
    }

    /// Puts in a summary, in place of the one with its number, and keeps the newest
    /// [`KEPT_SUMMARIES`], with the active and the previous one among them. A release that becomes active supersedes the active
    /// one.
    pub fn note(&mut self, summary: ReleaseSummary) {
        let number = summary.number;
        match summary.state {
            ReleaseState::Active => {
                for other in &mut self.releases {
                    if other.state == ReleaseState::Active {
                        other.state = ReleaseState::Superseded;
                    }
                }
                self.active = Some(number);
            }
            ReleaseState::Staged | ReleaseState::Superseded | ReleaseState::Failed => {
                if self.active == Some(number) {
                    self.active = None;
                }
            }
        }
        match self.releases.binary_search_by_key(&number, |r| r.number) {
            Ok(at) => self.releases[at] = summary,
            Err(at) => self.releases.insert(at, summary),
        }
        while self.releases.len() > KEPT_SUMMARIES {
            let kept = [self.active, self.previous().map(|r| r.number)];
            match self.releases.iter().position(|r| !kept.contains(&Some(r.number))) {
                Some(oldest) => self.releases.remove(oldest),
                None => break,
            };
        }
    }

    /// The Secret that holds the record.
    pub fn encode(&self, names: &StateNames) -> Result<Value> {
        let failed = |why: String| {
            Error::new(Exit::Failed, "the record cannot be stored")
                .because(why)
                .in_target(&names.target)
                .on(&names.secret_id(&names.record()))
        };
        // An mcd that knows of none of them would write over a rollout, past a freeze, and into
        // what is left.
        let held = self.rollout.is_some()
            || self.freeze.is_some()
            || self.moved_from.is_some()
            || self.moved_to.is_some();
        let schema = if held { SCHEMA } else { PLAIN };
        let record = Record { schema, ..self.clone() };
        let packed = codec::pack(&record).map_err(|damage| failed(damage.to_string()))?;
        if packed.len() > MAX_DATA {
            let (count, kib) = (self.inventory.len(), packed.len() / 1024);
            return Err(failed(format!(
                "with {count} objects it is {kib} KiB compressed, over the {} KiB of a Secret",
                MAX_DATA / 1024
            ))
            .hint("split the application"));
        }
        let secret = StateSecret {
            namespace: &names.namespace,
            name: names.record(),
            secret_type: RECORD_TYPE,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            data: [(DATA_KEY, packed.as_slice())].into(),
            immutable: false,
        };
        Ok(secret.manifest(names))
    }

    /// Reads the record off its Secret. One that a newer mcd wrote and one that is damaged are
    /// errors that say so: a record is never silently taken as absent.
    pub fn decode(secret: &Value, names: &StateNames) -> Result<Record> {
        let read = || -> Result<Record, Unfit> {
            secret::check_type(secret, RECORD_TYPE)?;
            let value = codec::unpack(&secret::data(secret, DATA_KEY)?)?;
            Unfit::check_schema(&value, SCHEMA)?;
            let mut record: Record = serde_json::from_value(value)?;
            if record.app != names.app {
                let other = format!("it is that of the application `{}`", record.app);
                return Err(Damage::Other(other).into());
            }
            record.releases.sort_by_key(|r| r.number);
            Ok(record)
        };
        read().map_err(|unfit| {
            let (name, namespace) = (names.record(), &names.namespace);
            let repair = format!(
                "restore the Secret from a backup, or remove it with `kubectl -n {namespace} \
                 delete secret {name}`: the next apply then compares every object afresh, and \
                 objects that have left the manifests since are no longer known"
            );
            unfit.into_error(names, "the record", &name, &repair)
        })
    }
}

/// The inventory as a list of flat entries, in the order of identities. JSON has no other keys
/// than strings.
mod as_list {
    use super::{BTreeMap, Deserialize, Deserializer, Member, ObjectId, Serialize, Serializer};

    #[derive(Serialize)]
    struct Written<'a> {
        #[serde(flatten)]
        id: &'a ObjectId,
        #[serde(flatten)]
        member: &'a Member,
    }

    #[derive(Deserialize)]
    struct Read {
        #[serde(flatten)]
        id: ObjectId,
        #[serde(flatten)]
        member: Member,
    }

    pub(super) fn serialize<S: Serializer>(
        map: &BTreeMap<ObjectId, Member>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map.iter().map(|(id, member)| Written { id, member }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<ObjectId, Member>, D::Error> {
        let list = Vec::<Read>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|read| (read.id, read.member)).collect())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::fixture::{names, summary};
    use super::*;

    fn object(kind: &str, name: &str) -> Object {
        let value = json!({"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "shop"}});
        Object::new(value, crate::manifest::Origin::default()).unwrap()
    }

    fn sample() -> Record {
        let mut record = Record::new(&names(), "shop");
        record.intend(&[object("Deployment", "web"), object("StatefulSet", "db")]);
        let member = record.inventory.values_mut().next().unwrap();
        member.uid = Some("b1946ac9".into());
        member.digests =
            Some(Digests { manifest: "m".into(), live: "l".into(), server: "v1.36.3".into() });
        record.note(summary(3, ReleaseState::Active));
        record
    }

    #[test]
    fn a_release_that_ends_leaves_none_active() {
        let mut record = sample();
        let ended = record.end_active().unwrap();
        assert_eq!((ended.number, ended.state), (3, ReleaseState::Superseded));
        assert_eq!((record.active, record.release(3)), (None, Some(&ended)));
        assert_eq!(record.previous().map(|r| r.number), Some(3));
        assert_eq!(record.end_active(), None);
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        let record = sample();
        let secret = record.encode(&names()).unwrap();
        assert_eq!(secret["metadata"]["name"], "mcd.web");
        assert_eq!(secret["metadata"]["labels"]["mcd.dev/state"], "shop.web");
        assert_eq!(secret["metadata"]["labels"]["mcd.dev/app"], Value::Null);
        assert_eq!(Record::decode(&secret, &names()).unwrap(), record);
    }

    #[test]
    fn the_layout_is_what_older_and_newer_versions_agree_on() {
        let mut record = sample();
        record.mcd = "0.1.0".into();
        insta::assert_json_snapshot!(record, @r#"
        {
          "schema": 1,
          "app": "web",
          "target": "us-east",
          "namespace": "shop",
          "mcd": "0.1.0",
          "inventory": [
            {
              "group": "apps",
              "kind": "Deployment",
              "namespace": "shop",
              "name": "web",
              "version": "v1",
              "uid": "b1946ac9",
              "digests": {
                "manifest": "m",
                "live": "l",
                "server": "v1.36.3"
              }
            },
            {
              "group": "apps",
              "kind": "StatefulSet",
              "namespace": "shop",
              "name": "db",
              "version": "v1"
            }
          ],
          "releases": [
            {
              "number": 3,
              "state": "active",
              "started": "2026-01-02T03:04:05Z",
              "who": {
                "user": "alice",
                "host": "laptop"
              },
              "commit": {
                "id": "1a2b3c4d5e6f1a2b3c4d5e6f1a2b3c4d5e6f",
                "dirty": true
              },
              "tool": {
                "name": "kustomize",
                "version": "5.8.2"
              },
              "mcd": "0.1.0",
              "vars": {
                "tag": "1.4.2"
              },
              "objects": 2,
              "bytes": 1024
            }
          ],
          "active": 3
        }
        "#);
    }

    #[test]
    fn a_newer_schema_is_refused_by_name() {
        let mut value = serde_json::to_value(sample()).unwrap();
        value["schema"] = 3.into();
        value["inventory"] = "a shape that this version does not know".into();
        let mut secret = sample().encode(&names()).unwrap();
        secret["data"]["record"] = encode(&codec::pack(&value).unwrap());
        let error = Record::decode(&secret, &names()).unwrap_err();
        assert_eq!(error.exit(), Exit::Blocked);
        insta::assert_snapshot!(error, @"us-east: Secret shop/mcd.web: the record was written by a newer mcd (schema 3; this one knows 2)");
        assert_eq!(error.hints(), ["upgrade mcd; nothing was changed"]);
    }

    fn encode(bytes: &[u8]) -> Value {
        base64::engine::general_purpose::STANDARD.encode(bytes).into()
    }

    #[test]
    fn damage_is_an_error_that_names_the_secret() {
        let sound = sample().encode(&names()).unwrap();
        let packed = codec::pack(&sample()).unwrap();
        let mut other = sample();
        other.app = AppName::new("api");
        let cases = [
            ("no data", json!({"type": RECORD_TYPE})),
            ("no base64", with(&sound, "%%".into())),
            ("no gzip", with(&sound, encode(b"{}"))),
            ("cut", with(&sound, encode(&packed[..packed.len() / 2]))),
            ("no object", with(&sound, encode(&codec::pack(&"hunter2").unwrap()))),
            ("no schema", with(&sound, encode(&codec::pack(&json!({})).unwrap()))),
            ("no fields", with(&sound, encode(&codec::pack(&json!({"schema": 1})).unwrap()))),
            ("another's", with(&sound, encode(&codec::pack(&other).unwrap()))),
            ("a foreign Secret", json!({"type": "Opaque", "data": {"record": "eA=="}})),
            ("not an object", json!(7)),
        ];
        let mut lines = String::new();
        for (what, secret) in cases {
            let error = Record::decode(&secret, &names()).unwrap_err();
            assert_eq!(error.exit(), Exit::Failed);
            assert!(error.hints()[0].contains("delete secret mcd.web"));
            lines += &format!("{what}: {error}\n");
        }
        assert!(!lines.contains("hunter2"));
        insta::assert_snapshot!(lines, @r#"
        no data: us-east: Secret shop/mcd.web: the record is damaged: its data key `record` is missing or is not base64
        no base64: us-east: Secret shop/mcd.web: the record is damaged: its data key `record` is missing or is not base64
        no gzip: us-east: Secret shop/mcd.web: the record is damaged: its data does not decompress (unexpected end of file)
        cut: us-east: Secret shop/mcd.web: the record is damaged: its data does not decompress (unexpected end of file)
        no object: us-east: Secret shop/mcd.web: the record is damaged: it has no valid `schema`
        no schema: us-east: Secret shop/mcd.web: the record is damaged: it has no valid `schema`
        no fields: us-east: Secret shop/mcd.web: the record is damaged: its data is not what mcd writes
        another's: us-east: Secret shop/mcd.web: the record is damaged: it is that of the application `api`
        a foreign Secret: us-east: Secret shop/mcd.web: the record is damaged: its type is `Opaque`, and mcd's own is `mcd.dev/record.v1`
        not an object: us-east: Secret shop/mcd.web: the record is damaged: its type is `Opaque`, and mcd's own is `mcd.dev/record.v1`
        "#);
    }

    fn with(secret: &Value, data: Value) -> Value {
        let mut secret = secret.clone();
        secret["data"]["record"] = data;
        secret
    }

    #[test]
    fn intending_keeps_what_is_known_and_adds_what_is_new() {
        let mut record = sample();
        let before = record.clone();
        record.intend(&[object("Deployment", "web"), object("Deployment", "new")]);
        assert_eq!(record.inventory.len(), 3);
        for (id, member) in &before.inventory {
            assert_eq!(&record.inventory[id], member);
        }
        assert!(record.inventory.values().any(|m| m.uid.is_none() && m.digests.is_none()));
    }

    #[test]
    fn a_release_that_becomes_active_supersedes_the_one_before() {
        let mut record = sample();
        record.note(summary(4, ReleaseState::Staged));
        assert_eq!(record.active, Some(3));
        record.note(summary(4, ReleaseState::Failed));
        assert_eq!((record.active, record.previous()), (Some(3), None));
        record.note(summary(5, ReleaseState::Active));
        assert_eq!(record.active, Some(5));
        assert_eq!(record.previous().map(|r| r.number), Some(3));
        assert_eq!(record.release(3).unwrap().state, ReleaseState::Superseded);
    }

    #[test]
    fn what_a_broken_off_run_staged_has_failed() {
        let mut record = sample();
        let now = "2026-01-02T04:00:00Z".parse().unwrap();
        assert!(!record.fail_staged(now));
        record.note(summary(4, ReleaseState::Staged));
        assert!(record.fail_staged(now));
        let failed = record.release(4).unwrap();
        assert_eq!((failed.state, failed.finished), (ReleaseState::Failed, Some(now)));
        assert_eq!((record.active, record.release(3).unwrap().finished), (Some(3), None));
    }

    #[test]
    fn a_record_over_the_limit_is_refused_before_the_server_does() {
        let mut record = sample();
        let mut random = 1u64;
        for i in 0..40_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = ObjectId { name: format!("{random:x}{i}"), ..names().secret_id("") };
            let digests = Digests {
                manifest: format!("{random:016x}{:016x}", random.rotate_left(17)),
                live: format!("{:016x}", random.wrapping_mul(31)),
                server: "v1".into(),
            };
            let member = Member {
                version: "v1".into(),
                uid: None,
                digests: Some(digests),
                config: None,
                protected: false,
            };
            record.inventory.insert(id, member);
        }
        let error = record.encode(&names()).unwrap_err();
        assert!(error.to_string().contains("KiB compressed"), "{error}");
    }

    proptest! {
        #[test]
        fn the_last_summaries_and_the_active_one_stay(events in prop::collection::vec((1u64..30, 0u8..4), 1..60)) {
            let mut record = Record::new(&names(), "shop");
            for (number, state) in events {
                let state = [ReleaseState::Staged, ReleaseState::Active, ReleaseState::Superseded, ReleaseState::Failed][usize::from(state)];
                record.note(summary(number, state));
                prop_assert!(record.releases.len() <= KEPT_SUMMARIES);
                prop_assert!(record.releases.windows(2).all(|w| w[0].number < w[1].number));
                let active: Vec<_> = record.releases.iter().filter(|r| r.state == ReleaseState::Active).map(|r| r.number).collect();
                prop_assert_eq!(active, record.active.into_iter().collect::<Vec<_>>());
            }
            let secret = record.encode(&names()).unwrap();
            prop_assert_eq!(&Record::decode(&secret, &names()).unwrap(), &record);
        }
    }
}
