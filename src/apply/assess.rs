//! What an apply would do to one object: the digests if they say "unchanged", else the server's
//! own answer to a dry run, with the fields of other managers judged by the table of design §6.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::job::Job;
use super::observe::{PlanOptions, Settled};
use super::unserved;
use crate::cluster::state::{APP_LABEL, Record};
use crate::cluster::{CallErrorKind, FieldConflict, Refusal, Resource};
use crate::diff::{ObjectDiff, object_diff};
use crate::error::Error;
use crate::manifest::ObjectId;
use crate::ownership::{
    Digest, FieldPath, Judgement, Key, OUR_PREFIX, Policy, Stop, emptied, entries, helm_release,
    judge, keep, keep_selector, leave_out, left_to_others, live_digest, manifest_digest, omit,
    our_entry, remove_path,
};
use crate::plan::{
    Action, Basis, CONFIG_HASH, Handling, ObjectPlan, Ownership, Prepared, Unverified, anew,
    config_hash, is_built_in, moves_traffic, pod_template, referenced_configs, set_config_hash,
};

/// What all objects of a target are judged against.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) job: Job,
    pub(super) key: Key,
    pub(super) record: Option<Record>,
    /// The server's version.
    pub(super) server: String,
    /// Live objects, as far as they were read.
    pub(super) live: BTreeMap<ObjectId, Value>,
    /// Objects that were fetched by name: those of them that are not in `live` do not exist.
    pub(super) looked_up: BTreeSet<ObjectId>,
    /// Fields that are left to others: replicas that an autoscaler decides, and what `ignore:` names.
    pub(super) leaves: BTreeMap<ObjectId, Vec<FieldPath>>,
    /// Namespaces that this apply makes.
    pub(super) namespaces: BTreeSet<String>,
    /// Those of them that were made before everything else: state had to go into them.
    pub(super) made: BTreeSet<ObjectId>,
    /// Objects whose API does not answer.
    pub(super) down: BTreeSet<ObjectId>,
    pub(super) prepared: Vec<Prepared>,
    pub(super) options: PlanOptions,
    /// What is done about other managers besides the table.
    pub(super) policy: Policy,
}

/// An object's plan, and what the record will say of it.
pub(super) struct Assessed {
    pub(super) plan: ObjectPlan,
    pub(super) settled: Option<Settled>,
    pub(super) config: Option<UsedConfig>,
}

/// The configuration that a workload's pods use.
#[derive(Clone, Debug)]
pub struct UsedConfig {
    /// The keyed hash over it.
    pub hash: String,
    /// It changed, or pods are new: the pod template carries the hash whatever else changes.
    pub always: bool,
}

/// Assesses an object. An error is one of reading the cluster; what the server says against the
/// object is part of the plan.
pub(super) async fn assess(scene: &Scene, prepared: &Prepared) -> Result<Assessed, Error> {
    let id = &prepared.object.id;
    let live = scene.live.get(id);
    if scene.down.contains(id) {
        return Ok(scene.unchecked(prepared));
    }
    let Some(resource) = &prepared.resource else {
        return Ok(scene.not_served_yet(prepared));
    };
    // Whether it is there decides all, and a dry run of something else may not tell.
    let by_name = prepared.handling == Handling::CreateOnly;
    if live.is_none() && by_name && !scene.looked_up.contains(id) {
        let live = scene.job.get(resource, id).await?;
        return scene.assess_with(prepared, resource, live.as_ref()).await;
    }
    if live.is_none() && !scene.looked_up.contains(id) {
        // Never seen: the dry run says whether it exists.
        return match scene.create(prepared, resource).await? {
            Some(assessed) => Ok(assessed),
            None => {
                let live = scene.job.get(resource, id).await?;
                scene.assess_with(prepared, resource, live.as_ref()).await
            }
        };
    }
    scene.assess_with(prepared, resource, live).await
}

impl Scene {
    /// Plans an object again whose live state moved since it was planned.
    /// `resource` is where the server has it by now.
    pub(super) async fn again(
        &self,
        id: &ObjectId,
        resource: &Resource,
        live: &Value,
    ) -> Result<Assessed, Error> {
        let Some(prepared) = self.prepared.iter().find(|p| p.object.id == *id) else {
            return Err(Error::manifest("is not part of the plan").on(id));
        };
        self.against(prepared, resource, live).await
    }

    async fn assess_with(
        &self,
        prepared: &Prepared,
        resource: &Resource,
        live: Option<&Value>,
    ) -> Result<Assessed, Error> {
        let Some(live) = live else {
            if let Some(done) = self.job_that_is_done(prepared, resource) {
                return Ok(done);
            }
            return match self.create(prepared, resource).await? {
                Some(assessed) => Ok(assessed),
                // It appeared between the LIST and the dry run.
                None => {
                    let live = self.job.get(resource, &prepared.object.id).await?;
                    let live = live.unwrap_or_default();
                    Box::pin(self.against(prepared, resource, &live)).await
                }
            };
        };
        self.against(prepared, resource, live).await
    }

    /// A Job that was applied with this very manifest and is gone by its TTL has done its work:
    /// making it again would run it again.
    fn job_that_is_done(&self, prepared: &Prepared, resource: &Resource) -> Option<Assessed> {
        let object = &prepared.object;
        let is_job = object.gvk.group == "batch" && object.gvk.kind == "Job";
        if !is_job || object.value["spec"]["ttlSecondsAfterFinished"].is_null() {
            return None;
        }
        let plan = self.blank(prepared, Some(resource), object.value.clone());
        let member = self.record.as_ref()?.inventory.get(&object.id)?;
        let same = member.digests.as_ref()?.manifest == plan.digest.to_string();
        same.then_some(Assessed { plan, settled: None, config: None })
    }

    /// The plan of an object that, as far as is known, does not exist. None when it does.
    async fn create(
        &self,
        prepared: &Prepared,
        resource: &Resource,
    ) -> Result<Option<Assessed>, Error> {
        let config = self.config(prepared, None).await?;
        let mut plan = self.blank(prepared, Some(resource), whole(prepared, config.as_ref()));
        match self.dry_run(resource, &plan.id, &plan.manifest, false).await {
            Ok(answer) if !answer.created => return Ok(None),
            Ok(answer) => {
                plan.warnings.extend(answer.warnings.iter().map(|w| self.job.scrubber.scrub(w)));
                if let Some(error) = self.kept_whole(&plan, &answer.object) {
                    plan.action = Action::Refused(error);
                }
            }
            Err(error) => match &error.kind {
                // Somebody's fields conflict, or cannot be changed, so it exists.
                CallErrorKind::Refused(Refusal::Conflict(_) | Refusal::Immutable { .. }) => {
                    return Ok(None);
                }
                _ => self.refuse(&mut plan, error)?,
            },
        }
        if !matches!(plan.action, Action::Refused(_)) {
            plan.action = Action::Create;
        }
        plan.diff = self.diff(&plan.id, None, Some(&plan.manifest));
        Ok(Some(Assessed { plan, settled: None, config }))
    }

    /// The plan of an object that exists.
    async fn against(
        &self,
        prepared: &Prepared,
        resource: &Resource,
        live: &Value,
    ) -> Result<Assessed, Error> {
        if prepared.handling == Handling::CreateOnly {
            return Ok(self.as_it_exists(prepared, resource, live));
        }
        let config = self.config(prepared, Some(live)).await?;
        let always = config.as_ref().filter(|config| config.always);
        let mut manifest = whole(prepared, always);
        omit(&mut manifest, &left_to_others(live, &self.policy));
        let kept = match prepared.handling {
            // It is made anew where something cannot change.
            Handling::Recreate => Vec::new(),
            Handling::Shared | Handling::Replace | Handling::CreateOnly | Handling::Ignore => {
                keep_selector(&mut manifest, live)
            }
        };
        let mut plan = self.blank(prepared, Some(resource), manifest);
        leave_out(&mut plan.manifest, &plan.leaves, live);
        plan.ownership.kept = kept;
        plan.basis = Basis::of(Some(live));
        if let Some(error) = self.kept_whole_in(&plan, live) {
            plan.action = Action::Refused(error);
            return Ok(Assessed { plan, settled: None, config });
        }
        let judged = self.judge(live, &[], plan.handling);
        let going = live["metadata"]["deletionTimestamp"].is_string();
        let theirs = self.other_application(live).is_some() || judged.is_stopped();
        if going && plan.handling == Handling::Recreate && !theirs {
            self.anew(&mut plan, prepared, live, config.as_ref(), "it is being deleted");
            return Ok(Assessed { plan, settled: None, config });
        }
        if going {
            plan.action = Action::Terminating(finalizers(live));
            return Ok(Assessed { plan, settled: None, config });
        }
        if let Some(own) = our_entry(live, &self.job.names.manager) {
            let given_up = plan.leaves.iter().filter_map(|path| own.fields.spelled(path));
            plan.ownership.relinquish = given_up.collect();
            if !is_built_in(&plan.gvk.group) {
                plan.ownership.emptied = emptied(&plan.manifest, &own.fields);
            }
        }
        let known = self.settled_before(&plan, live, &judged);
        if let (false, Some(settled)) = (self.options.verify, known) {
            return Ok(Assessed { plan, settled: Some(settled), config });
        }
        let mut owned = self.ask(&mut plan, resource, live).await?;
        if let Action::Recreate(why) = &plan.action {
            let why = why.clone();
            let stop: Vec<Stop> =
                judged.stop.into_iter().chain(self.other_application(live)).collect();
            if stop.is_empty() {
                self.anew(&mut plan, prepared, live, config.as_ref(), &why);
            } else {
                plan.action = Action::Stopped(stop);
            }
            return Ok(Assessed { plan, settled: None, config });
        }
        let template_changes = changes_template(&plan.diff);
        if let Some(config) = config.as_ref().filter(|c| !c.always && template_changes) {
            set_config_hash(&mut plan.manifest, &config.hash);
            leave_out(&mut plan.manifest, &plan.leaves, live);
            plan.digest = self.digest(&plan.manifest, &plan.leaves);
            owned = self.ask(&mut plan, resource, live).await?;
        }
        if known.is_some() && matches!(plan.action, Action::Change) {
            self.blame(&mut plan, resource, live).await;
        }
        let settled = matches!(plan.action, Action::Unchanged).then(|| {
            let settled = self.settled(live);
            // The digests say "unchanged" only of what we own. A value that is right because
            // someone else set it can be changed by them without a trace in our set.
            Settled { live: settled.live.filter(|_| owned) }
        });
        Ok(Assessed { plan, settled, config })
    }

    /// The plan of an object that is only made, never changed. Ours is what our own run has made.
    fn as_it_exists(&self, prepared: &Prepared, resource: &Resource, live: &Value) -> Assessed {
        let mut plan = self.blank(prepared, Some(resource), prepared.object.value.clone());
        plan.basis = Basis::of(Some(live));
        if live["metadata"]["deletionTimestamp"].is_string() {
            plan.action = Action::Terminating(finalizers(live));
        }
        // A run that died before it knew the uid made it.
        let member = self.record.as_ref().and_then(|record| record.inventory.get(&plan.id));
        let ours = entries(live).iter().any(|entry| self.job.is_own_manager(&entry.manager));
        let made = member.is_some_and(|member| member.uid.is_none() && ours);
        Assessed { plan, settled: made.then_some(Settled { live: None }), config: None }
    }

    /// Fills in the plan of an object that is deleted and made anew. What is left to others starts
    /// as it is now: an autoscaler's replicas do not fall to the manifest's.
    fn anew(
        &self,
        plan: &mut ObjectPlan,
        prepared: &Prepared,
        live: &Value,
        config: Option<&UsedConfig>,
        why: &str,
    ) {
        plan.manifest = whole(prepared, config);
        plan.digest = self.digest(&plan.manifest, &plan.leaves);
        keep(&mut plan.manifest, &plan.leaves, live);
        let own = our_entry(live, &self.job.names.manager).map(|own| own.fields);
        let after = anew(live, &plan.manifest, &own.unwrap_or_default());
        plan.diff = self.diff(&plan.id, Some(live), Some(&after));
        plan.after_health = moves_traffic(&plan.gvk, &plan.diff);
        let adopt = self.judge(live, &[], plan.handling).adopt;
        plan.ownership = Ownership {
            helm_release: if adopt.is_empty() { None } else { helm_release(live) },
            adopt,
            ..Ownership::default()
        };
        plan.action = Action::Recreate(why.to_owned());
        plan.unverified = Some(Unverified {
            reason: "the server cannot check it while the object exists".to_owned(),
            blocks_apply: false,
        });
        if plan.gvk.kind == "PersistentVolumeClaim" {
            plan.warnings.push("the data of the claim goes with it".to_owned());
        }
    }

    /// What is done about the other managers of an object.
    pub(super) fn judge(
        &self,
        live: &Value,
        conflicts: &[FieldConflict],
        handling: Handling,
    ) -> Judgement {
        let manager = self.job.names.manager.as_str();
        if handling == Handling::Replace {
            let policy = Policy { force_conflicts: true, ..self.policy.clone() };
            judge(live, manager, conflicts, &policy).replacing(live)
        } else {
            judge(live, manager, conflicts, &self.policy)
        }
    }

    /// An object that says by its label, and by nothing else, that it is another application's.
    pub(super) fn other_application(&self, live: &Value) -> Option<Stop> {
        let names = &self.job.names;
        let label = live["metadata"]["labels"][APP_LABEL].as_str()?;
        let former = self.job.former.as_ref().is_some_and(|former| label == former.app_label);
        let others = label != names.app_label
            && !former
            && our_entry(live, &names.manager).is_none()
            && !entries(live).iter().any(|entry| entry.manager.starts_with(OUR_PREFIX));
        others.then(|| Stop {
            manager: String::new(),
            fields: Vec::new(),
            why: format!("its label `{APP_LABEL}` says that it belongs to `{label}`"),
            how: "an object belongs to one application: leave it out of one of the two".to_owned(),
        })
    }

    /// What is known of the object, if the digests say that nothing would change (A1.5).
    fn settled_before(
        &self,
        plan: &ObjectPlan,
        live: &Value,
        judgement: &Judgement,
    ) -> Option<Settled> {
        let digests = self
            .record
            .as_ref()
            .and_then(|record| record.inventory.get(&plan.id))
            .and_then(|member| member.digests.as_ref())?;
        let quiet = judgement.take.is_empty()
            && judgement.stop.is_empty()
            && plan.ownership.relinquish.is_empty()
            && digests.server == self.server
            && digests.manifest == plan.digest.to_string();
        let settled = quiet.then(|| self.settled(live))?;
        settled.live.is_some_and(|live| digests.live == live.to_string()).then_some(settled)
    }

    fn settled(&self, live: &Value) -> Settled {
        Settled { live: live_digest(&self.key, live, &self.job.names.manager) }
    }

    /// The plan of an object whose API does not answer: nobody can say what would become of it.
    fn unchecked(&self, prepared: &Prepared) -> Assessed {
        let mut plan = self.blank(prepared, None, prepared.object.value.clone());
        plan.action = Action::Refused(unserved::error(&self.job.target, &plan.id));
        Assessed { plan, settled: None, config: None }
    }

    /// The plan of an object whose kind is defined by this very set.
    fn not_served_yet(&self, prepared: &Prepared) -> Assessed {
        let manifest = prepared.object.value.clone();
        let mut plan = self.blank(prepared, None, manifest);
        plan.action = Action::Create;
        plan.unverified = Some(Unverified {
            reason: "its definition is in the same manifests and not in the cluster yet".to_owned(),
            blocks_apply: false,
        });
        plan.diff = self.diff(&plan.id, None, Some(&plan.manifest));
        Assessed { plan, settled: None, config: None }
    }

    fn blank(
        &self,
        prepared: &Prepared,
        resource: Option<&Resource>,
        manifest: Value,
    ) -> ObjectPlan {
        let leaves = self.leaves.get(&prepared.object.id).cloned().unwrap_or_default();
        ObjectPlan {
            id: prepared.object.id.clone(),
            gvk: prepared.object.gvk.clone(),
            origin: prepared.object.origin.clone(),
            resource: resource.cloned(),
            rank: prepared.rank,
            after_health: false,
            action: Action::Unchanged,
            diff: ObjectDiff::default(),
            digest: self.digest(&manifest, &leaves),
            manifest,
            basis: Basis::default(),
            ownership: Ownership::default(),
            handling: prepared.handling,
            leaves,
            unverified: None,
            warnings: Vec::new(),
        }
    }

    /// The digest of what of a manifest stays ours.
    fn digest(&self, manifest: &Value, leaves: &[FieldPath]) -> Digest {
        if leaves.is_empty() {
            return manifest_digest(&self.key, manifest);
        }
        let mut manifest = manifest.clone();
        for path in leaves {
            remove_path(&mut manifest, path);
        }
        manifest_digest(&self.key, &manifest)
    }

    pub(super) fn diff(
        &self,
        id: &ObjectId,
        live: Option<&Value>,
        after: Option<&Value>,
    ) -> ObjectDiff {
        object_diff(id, live, after)
    }

    /// The hash over the configuration that a workload's pods use, and whether it is written even
    /// when the template does not change otherwise (design §6, "Config hash").
    async fn config(
        &self,
        prepared: &Prepared,
        live: Option<&Value>,
    ) -> Result<Option<UsedConfig>, Error> {
        let object = &prepared.object;
        let Some(template) = pod_template(&object.gvk, &object.value) else { return Ok(None) };
        let namespace = object.id.namespace.as_deref().unwrap_or_default();
        let used = referenced_configs(template, namespace);
        if used.is_empty() {
            return Ok(None);
        }
        let is_config = |p: &&Prepared| matches!(&*p.object.id.kind, "ConfigMap" | "Secret");
        let configs = self.prepared.iter().filter(is_config);
        let contents: Vec<&Prepared> = configs.filter(|p| used.contains(&p.object.id)).collect();
        if contents.is_empty() {
            return Ok(None);
        }
        let values: Vec<(ObjectId, &Value)> =
            contents.iter().map(|p| (p.object.id.clone(), &p.object.value)).collect();
        let hash = config_hash(&self.key, &values);
        let carries = |live: &Value| {
            pod_template(&object.gvk, live).is_some_and(|template| {
                template["metadata"]["annotations"].get(CONFIG_HASH).is_some()
            })
        };
        let known = self
            .record
            .as_ref()
            .and_then(|record| record.inventory.get(&object.id))
            .and_then(|member| member.config.as_ref());
        let always = match (live, known) {
            (None, _) => true,
            (Some(live), _) if carries(live) => true,
            (Some(_), Some(known)) => *known != hash,
            (Some(_), None) => self.runs_with_other(&contents).await?,
        };
        Ok(Some(UsedConfig { hash, always }))
    }

    /// First contact: whether what runs uses other values than those that are about to be applied.
    /// What is only dropped with its former owner restarts nothing: adopting alone never does.
    async fn runs_with_other(&self, contents: &[&Prepared]) -> Result<bool, Error> {
        for config in contents {
            let (id, wanted) = (&config.object.id, &config.object.value);
            let Some(resource) = &config.resource else { return Ok(true) };
            let fetched;
            let live = match self.live.get(id) {
                Some(live) => live,
                None => match self.job.get(resource, id).await? {
                    Some(live) => {
                        fetched = live;
                        &fetched
                    }
                    None => return Ok(true),
                },
            };
            let differs = ["data", "binaryData"].into_iter().any(|field| {
                let wanted = wanted[field].as_object().into_iter().flatten();
                wanted.into_iter().any(|(key, value)| live[field].get(key) != Some(value))
            });
            if differs {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// All of a manifest, with the hash of the configuration that its pods use.
fn whole(prepared: &Prepared, config: Option<&UsedConfig>) -> Value {
    let mut manifest = prepared.object.value.clone();
    if let Some(config) = config {
        set_config_hash(&mut manifest, &config.hash);
    }
    manifest
}

fn finalizers(live: &Value) -> Vec<String> {
    let all = live["metadata"]["finalizers"].as_array().into_iter().flatten();
    all.filter_map(|f| f.as_str().map(str::to_owned)).collect()
}

fn changes_template(diff: &ObjectDiff) -> bool {
    diff.changes.iter().any(|change| change.path.to_string().starts_with(".spec.template"))
}
