//! What the canaries of a run will be, found out before anything is written.

use std::result::Result;

use futures::stream::{self, StreamExt};

use super::super::deploy::Planned;
use crate::apply::rollout::foresee;
use crate::apply::{Job, Observed};
use crate::config::Target;
use crate::error::Error;
use crate::render::Rendered;
use crate::rollout::{Canary, VariantSettings};

/// How many targets are looked at at once.
const PARALLEL: usize = 16;

/// Looks at the canaries of a target: what there is to know about them is in its plan from then
/// on.
///
/// # Errors
/// One of them cannot be made, or a call fails.
pub(in super::super) async fn foresee_one(
    (job, rendered, observed): (&Job, &Rendered, &mut Observed),
    canaries: &[&Canary],
    variants: &VariantSettings,
) -> Result<(), Vec<Error>> {
    if !canaries.is_empty() {
        let notes = foresee(job, rendered, observed, canaries, variants).await?;
        observed.plan.warnings.extend(notes);
    }
    Ok(())
}

/// The same of each target that is ready. One in which a canary cannot be made is not ready.
pub(super) async fn foresee_all<'c>(
    planned: Vec<Planned>,
    variants: &VariantSettings,
    canaries: impl Fn(&Target) -> Vec<&'c Canary>,
) -> Vec<Planned> {
    let looked = planned.into_iter().map(|(target, ready)| {
        let canaries = canaries(&target);
        async move {
            let ready = match ready {
                Ok(mut ready) => {
                    let all = (&ready.job, &ready.rendered, &mut ready.observed);
                    foresee_one(all, &canaries, variants).await.map(|()| ready)
                }
                Err(errors) => Err(errors),
            };
            (target, ready)
        }
    });
    stream::iter(looked).buffered(PARALLEL).collect().await
}
