//! What taking over from other deployers needs beyond the objects: releases of helm's that end by
//! it, and words about deployers that go on by themselves.

use std::collections::BTreeSet;

use serde_json::Value;

use super::job::Job;
use super::wait::core;
use crate::cluster::state::{HelmRelease, Record};
use crate::cluster::{Discovery, Resource};
use crate::error::Error;
use crate::manifest::{Object, ObjectId};
use crate::ownership::Stop;
use crate::plan::{
    Action, HelmContent, ObjectPlan, Retirement, TargetPlan, helm_content, helm_selector,
    hide_from_helm, newest_revision,
};

/// Stops an object that is not there, where nothing is to be created.
pub(super) fn refuse_new(plan: &mut ObjectPlan) {
    if matches!(plan.action, Action::Create) {
        plan.action = Action::Stopped(vec![Stop {
            manager: String::new(),
            fields: Vec::new(),
            why: "it does not exist, and `mcd adopt` only takes over what is there".to_owned(),
            how: "check its name and namespace; `mcd apply --adopt` takes over and creates"
                .to_owned(),
        }]);
    }
}

/// The helm releases that end with this plan, those of an adoption that was broken off included.
/// What the user should know goes to `warnings`.
///
/// # Errors
/// A release cannot be read: it would stay, and `helm uninstall` delete what was taken over.
pub(super) async fn retirements(
    job: &Job,
    discovery: &Discovery,
    record: Option<&Record>,
    objects: &[ObjectPlan],
    warnings: &mut Vec<String>,
) -> Result<Vec<Retirement>, Error> {
    warnings.extend(still_at_work(objects));
    let adopted = objects.iter().filter_map(|object| object.ownership.helm_release.clone());
    let mut releases: BTreeSet<HelmRelease> =
        adopted.map(|(namespace, name)| HelmRelease { namespace, name }).collect();
    releases.extend(record.into_iter().flat_map(|record| record.retire.iter().cloned()));
    let mut found = Vec::new();
    for release in releases {
        let stored: Vec<Value> =
            stored(job, &release).await?.into_iter().map(|(_, object)| object).collect();
        // Kept by another driver, or gone already.
        let Some(newest) = newest_revision(&stored) else { continue };
        let content = helm_content(newest);
        let kept = match &content {
            Some(content) => kept(job, discovery, record, objects, &release, content).await?,
            None => Vec::new(),
        };
        match content {
            None => warnings.push(format!(
                "helm's release {release} cannot be read: what of it is not in the manifests is \
                 not known"
            )),
            Some(content) if content.status.starts_with("pending") => warnings.push(format!(
                "helm's release {release} is `{}`: make sure that no helm is at work on it",
                content.status
            )),
            Some(_) => {}
        }
        let HelmRelease { namespace, name } = release;
        found.push(Retirement { namespace, name, revisions: stored.len(), kept });
    }
    Ok(found)
}

/// What of a release is in the cluster and neither in the manifests nor in the inventory.
async fn kept(
    job: &Job,
    discovery: &Discovery,
    record: Option<&Record>,
    objects: &[ObjectPlan],
    release: &HelmRelease,
    content: &HelmContent,
) -> Result<Vec<ObjectId>, Error> {
    let mut kept = Vec::new();
    for object in &content.objects {
        if object.id.is_secret() {
            job.scrubber.learn(&object.value);
        }
        let Some(resource) = discovery.resolve(&object.gvk) else { continue };
        let id = placed(object, resource, release);
        let known = objects.iter().any(|desired| desired.id == id)
            || record.is_some_and(|record| record.inventory.contains_key(&id));
        if !known && job.get(resource, &id).await?.is_some() {
            kept.push(id);
        }
    }
    Ok(kept)
}

/// The identity of a release's object, in the namespace where helm put it.
fn placed(object: &Object, resource: &Resource, release: &HelmRelease) -> ObjectId {
    let own = object.id.namespace.clone();
    ObjectId {
        namespace: resource.namespaced.then(|| own.unwrap_or_else(|| release.namespace.clone())),
        ..object.id.clone()
    }
}

/// The stored revisions of a release that helm sees, with where they are.
async fn stored(job: &Job, release: &HelmRelease) -> Result<Vec<(Resource, Value)>, Error> {
    let mut found = Vec::new();
    for (kind, plural) in [("Secret", "secrets"), ("ConfigMap", "configmaps")] {
        let resource = core("v1", kind, plural);
        let selector = helm_selector(&release.name);
        let listed =
            job.cluster.list(&resource, Some(&release.namespace), Some(&selector), None).await;
        match listed {
            Ok(items) => found.extend(items.into_iter().map(|item| (resource.clone(), item))),
            // helm keeps them in Secrets unless told otherwise.
            Err(error) if kind == "ConfigMap" && error.is_forbidden() => {}
            Err(error) => {
                let error = job.failed(error, None);
                return Err(error.because(format!(
                    "helm's release {release} has to end when its objects are taken over: `helm \
                     uninstall` would delete them"
                )));
            }
        }
    }
    Ok(found)
}

/// Puts into the record which releases are to end, before the first object is taken: whoever comes
/// after a crash ends them.
pub(super) fn intend(record: &mut Record, plan: &TargetPlan) {
    record.retire = plan
        .retires
        .iter()
        .map(|r| HelmRelease { namespace: r.namespace.clone(), name: r.name.clone() })
        .collect();
}

/// Hides the releases from helm. To be called once all objects are the application's.
pub(super) async fn retire(job: &Job, record: &mut Record) -> Result<(), Error> {
    let patch = hide_from_helm();
    for release in &record.retire {
        for (resource, revision) in stored(job, release).await? {
            let name = revision["metadata"]["name"].as_str().unwrap_or_default();
            let namespace = Some(release.namespace.as_str());
            let sent = job.cluster.merge_patch(
                &resource,
                namespace,
                name,
                &patch,
                RETIRING_MANAGER,
                false,
            );
            match sent.await {
                Ok(_) => {}
                // helm itself forgets the oldest ones.
                Err(error) if error.is_missing() => {}
                Err(error) => {
                    let error = job.failed(error, None);
                    return Err(error.because(format!("helm's release {release} is not retired")));
                }
            }
        }
    }
    record.retire.clear();
    Ok(())
}

/// The field manager of labels on releases of helm's.
const RETIRING_MANAGER: &str = "mcd";

/// What to do about deployers that would write again by themselves.
fn still_at_work(objects: &[ObjectPlan]) -> BTreeSet<String> {
    let adopted = objects.iter().flat_map(|object| &object.ownership.adopt);
    adopted
        .filter_map(|deployer| {
            let how = match deployer.tool.as_str() {
                "Flux" => "suspend its Kustomization or HelmRelease, or it applies again",
                "Argo CD" => "delete its Application with `--cascade=false`, or it applies again",
                "Fleet" => "take the objects out of its bundle, or it applies again",
                "Terraform" => "`terraform state rm` them, or it applies again",
                "Pulumi" => "`pulumi state delete` them, or it applies again",
                "kapp" => {
                    "delete its app's ConfigMap, and never `kapp delete` it: pods keep its label"
                }
                _ => return None,
            };
            Some(format!("taken over from {deployer}: {how}"))
        })
        .collect()
}
