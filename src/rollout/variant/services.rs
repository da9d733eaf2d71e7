//! The Services in front of workloads.

use super::labels::sends_to;
use super::set::{Item, Set};
use crate::error::{Error, Result};
use crate::rollout::VariantSettings;
use crate::suggest;

/// Whether a workload is behind a Service.
pub(super) fn is_behind(service: &Item, workload: &Item) -> bool {
    service.id.namespace == workload.id.namespace
        && sends_to(service.value(), workload.pod_labels())
}

/// The Services that send to the workloads: the one that the settings name, or else all.
///
/// # Errors
/// Exit 3 when there is none.
pub(super) fn in_front<'s, 'a>(
    set: &'s Set<'a>,
    workloads: &[&Item],
    settings: &VariantSettings,
) -> Result<Vec<&'s Item<'a>>> {
    let all = || set.of("", "Service");
    let reaches = |service: &&Item| workloads.iter().any(|w| is_behind(service, w));
    let is_named =
        |service: &&Item| settings.service.as_ref().is_none_or(|n| *n == service.id.name);
    let found: Vec<&Item> = all().filter(is_named).filter(reaches).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let Some(name) = &settings.service else {
        return Err(Error::config("no Service sends to the workloads that have a canary")
            .because("the step `canary` asks for a Service of its own")
            .hint("remove `service: true`, or name the workloads in `rollout.workloads`"));
    };
    if let Some(named) = all().find(is_named) {
        return Err(Error::config("sends to none of the workloads that have a canary")
            .on(&named.id)
            .because("`rollout.service` names it")
            .hint("its selector has to match the labels of their pods"));
    }
    let error = Error::config(format!("`rollout.service` names `{name}`"))
        .because("no Service of that name is in the manifests");
    let names = all().map(|service| service.id.name.as_str());
    Err(match suggest::hint(name, names) {
        Some(meant) => error.hint(meant),
        None => error,
    })
}
