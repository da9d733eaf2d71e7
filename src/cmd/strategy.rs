//! How what was planned reaches the targets: what `--strategy` asks for, the waves of the run, and
//! what a plan says of both.

use std::collections::BTreeMap;
use std::time::Duration;

use super::plan::Planned;
use super::session::Session;
use crate::apply::rollout::place;
use crate::cluster::state::WavePlan;
use crate::config::{Target, TargetName};
use crate::error::{Error, Result};
use crate::report::model::RolloutPlanReport;
use crate::rollout::{RolloutSettings, Strategy, StrategyChoice, opens, plan_waves, strategy};

/// Steps can only be asked for where the file has some.
///
/// # Errors
/// Exit 3: it has none.
pub(super) fn check(settings: &RolloutSettings, choice: StrategyChoice) -> Result<()> {
    match choice {
        StrategyChoice::Steps if settings.steps.is_empty() => {
            Err(Error::config("the application file has no `rollout.steps`").hint(
                "add some, such as `steps: [{canary: {replicas: 20%}}, {pause: {for: 5m}}, \
                 {primary: {}}]`; or begin by hand: `mcd rollout canary`",
            ))
        }
        StrategyChoice::Steps | StrategyChoice::Auto | StrategyChoice::Plain => Ok(()),
    }
}

/// How a run goes from target to target.
pub(super) struct Ways {
    /// Its waves.
    pub(super) waves: Vec<WavePlan>,
    /// How each target goes that was planned.
    pub(super) strategies: BTreeMap<TargetName, Strategy>,
    /// Whether the run opens a rollout.
    pub(super) opens: bool,
}

impl Ways {
    /// That of what was planned. `deadline` is how long a step may take whatever its wave says.
    ///
    /// # Errors
    /// Exit 3: a target is in no wave, or its context is not in the kubeconfig.
    pub(super) fn of(
        session: &Session,
        results: &[Planned<'_>],
        choice: StrategyChoice,
        deadline: Option<Duration>,
    ) -> Result<Self> {
        let settings = &session.project.rollout;
        let strategies = results.iter().filter_map(|(target, result)| {
            let plan = &result.ok()?.plan;
            Some((target.name.clone(), strategy(plan, settings, choice)))
        });
        let strategies: BTreeMap<TargetName, Strategy> = strategies.collect();
        let written = waves(session, settings, None)?;
        let opens = opens(settings, &written, strategies.values());
        Ok(Ways { waves: within(written, deadline), strategies, opens })
    }

    /// What a plan says of it; none: the file says nothing of waves or steps.
    pub(super) fn report(&self, session: &Session) -> Option<RolloutPlanReport> {
        let settings = &session.project.rollout;
        let steps = session.targets.iter().filter_map(|target| {
            let strategy = self.strategies.get(&target.name)?;
            let steps = strategy.steps(settings, target);
            Some((target.name.clone(), (strategy.clone(), steps)))
        });
        RolloutPlanReport::of(settings, &self.waves, self.opens, &steps.collect())
    }
}

/// The waves of the session's targets.
///
/// # Errors
/// Exit 3: a target is in no wave, or its context is not in the kubeconfig.
pub(super) fn waves(
    session: &Session,
    settings: &RolloutSettings,
    deadline: Option<Duration>,
) -> Result<Vec<WavePlan>> {
    let targets = session.targets.iter().map(|target| &**target);
    let place = |target: &Target| Ok(place(target, &session.server(target)?));
    Ok(within(plan_waves(settings, targets, place)?, deadline))
}

/// The waves with that deadline, where there is one, in place of their own.
fn within(mut waves: Vec<WavePlan>, deadline: Option<Duration>) -> Vec<WavePlan> {
    if let Some(deadline) = deadline {
        waves.iter_mut().for_each(|wave| wave.progress_deadline = deadline);
    }
    waves
}
