//! What the canaries of a run will be, found out before anything is written.

use futures::stream::{self, StreamExt};

use super::super::deploy::Planned;
use crate::apply::rollout::foresee;
use crate::config::Target;
use crate::rollout::{Canary, VariantSettings};

/// How many targets are looked at at once.
const PARALLEL: usize = 16;

/// Looks at the canaries of each target that is ready: what there is to know about them is in its
/// plan from then on. A target in which one of them cannot be made is not ready.
pub(super) async fn foresee_all(
    planned: Vec<Planned>,
    variants: &VariantSettings,
    canaries: impl Fn(&Target) -> Vec<Canary>,
) -> Vec<Planned> {
    let looked = planned.into_iter().map(|(target, ready)| {
        let canaries = canaries(&target);
        async move {
            let ready = match ready {
                Ok(mut ready) if !canaries.is_empty() => {
                    let (job, plan) = (&ready.job, &ready.observed);
                    match foresee(job, &ready.rendered, plan, &canaries, variants).await {
                        Ok(notes) => {
                            ready.observed.plan.warnings.extend(notes);
                            Ok(ready)
                        }
                        Err(errors) => Err(errors),
                    }
                }
                other => other,
            };
            (target, ready)
        }
    });
    stream::iter(looked).buffered(PARALLEL).collect().await
}
