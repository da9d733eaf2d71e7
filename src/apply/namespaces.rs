//! The namespaces that objects and state go into, which have to be there before anything else.

use std::collections::BTreeSet;

use serde_json::json;

use super::job::Job;
use super::observe::Observed;
use super::wait::core;
use crate::cluster::{Apply, CallErrorKind, Refusal};
use crate::error::{Error, Exit};
use crate::manifest::ObjectId;
use crate::plan::{ObjectPlan, namespace};

/// The field manager of namespaces that are made on the way.
const NAMESPACE_MANAGER: &str = "mcd";

/// Makes the namespaces that objects and state go into: as the set says, when it brings them, and
/// bare when the application says so. `more` are namespaces of the set that have to be there before
/// their turn. Returns those it made.
pub(super) async fn ensure_namespaces(
    job: &Job,
    observed: &Observed,
    more: &BTreeSet<String>,
) -> Result<BTreeSet<ObjectId>, Error> {
    let target = &job.target;
    let mut made = BTreeSet::new();
    let mut wanted = vec![target.state_namespace.clone()];
    if target.namespace != target.state_namespace {
        wanted.push(target.namespace.clone());
    }
    wanted.extend(more.iter().filter(|name| !wanted.contains(name)).cloned().collect::<Vec<_>>());
    for name in wanted {
        let id = namespace(&name);
        let creates = target.create_namespace && name == target.namespace;
        let mut namespaces = core("v1", "Namespace", "namespaces");
        namespaces.namespaced = false;
        match job.get(&namespaces, &id).await {
            Ok(Some(live)) if live["metadata"]["deletionTimestamp"].is_null() => continue,
            Ok(Some(_)) => {
                return Err(Error::new(Exit::Blocked, "is being deleted")
                    .in_target(&target.name)
                    .on(&id)
                    .hint("run the command again when it is gone"));
            }
            Ok(None) => {}
            // Whoever may not read namespaces may still write into one, and the dry runs say
            // whether it is there.
            Err(error) if error.exit() == Exit::Unreachable => {
                if !creates || is_there(observed, &name) {
                    continue;
                }
            }
            Err(error) => return Err(error),
        }
        let manager = job.names.manager.as_str();
        let sent = match observed.plan.objects.iter().find(|o| o.id == id) {
            Some(own) => {
                let how = Apply { manager, force: false, dry_run: false };
                let applied = job.cluster.apply(&namespaces, None, &name, &own.manifest, how).await;
                applied.map(|_| ())
            }
            None if creates => {
                // Not as the application: the labels that the server adds would count as its own.
                let body = json!({
                    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}
                });
                let sent = job.cluster.create(&namespaces, None, &body, NAMESPACE_MANAGER).await;
                sent.map(|_| ())
            }
            None => {
                let error =
                    Error::new(Exit::Manifest, "does not exist").in_target(&target.name).on(&id);
                return Err(if name == target.namespace {
                    error.hint("set `createNamespace: true`, or create it first")
                } else {
                    error.hint("create it first: mcd keeps its records there")
                });
            }
        };
        match sent {
            Ok(()) => {
                made.insert(id);
            }
            Err(error) if matches!(error.kind, CallErrorKind::Refused(Refusal::AlreadyExists)) => {}
            Err(error) => return Err(job.failed(error, Some(&id))),
        }
    }
    Ok(made)
}

/// Whether the server took a dry run in the namespace.
fn is_there(observed: &Observed, namespace: &str) -> bool {
    let inside = |o: &&ObjectPlan| o.id.namespace.as_deref() == Some(namespace);
    observed.plan.objects.iter().filter(inside).any(|o| o.unverified.is_none())
}
