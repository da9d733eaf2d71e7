//! The file's waves and steps → those of a run: which targets are in which wave, in which order,
//! with what numbers, and which steps each goes through. Pure.

use super::amount::Amount;
use super::settings::{OnFailure, RolloutSettings, STEP_DEADLINE, WaveSettings};
use super::step::Step;
use super::strategy::{Strategy, StrategyKind};
use crate::cluster::state::{Place, WavePlan};
use crate::config::{Selectable, Selector, Target};
use crate::error::{Error, Result};

/// What the only wave is called where the file has none.
pub const ONLY_WAVE: &str = "all";

/// The wave that a target is in: the one that selects it, else the one without `select`. None: no
/// wave has it.
pub(crate) fn wave_of(waves: &[WaveSettings], target: &impl Selectable) -> Option<usize> {
    let selects = |wave: &WaveSettings| wave.select.as_ref().is_some_and(|s| s.matches(target));
    let selected = waves.iter().position(selects);
    selected.or_else(|| waves.iter().position(|wave| wave.select.is_none()))
}

/// The waves of a run over `targets`, which start in their order. Targets that the command line
/// narrowed keep their waves; waves without any vanish. Shares are shares of the targets of this
/// run: at least one may be on its way, and what may fail is rounded down. `place` says where a
/// target is.
///
/// # Errors
/// What `place` says, and exit 3 for a target that is in no wave.
pub fn plan_waves<'t>(
    settings: &RolloutSettings,
    targets: impl IntoIterator<Item = &'t Target>,
    mut place: impl FnMut(&Target) -> Result<Place>,
) -> Result<Vec<WavePlan>> {
    let only = [only_wave()];
    let waves = if settings.waves.is_empty() { &only[..] } else { &settings.waves[..] };
    let mut members: Vec<(&WaveSettings, Vec<&Target>)> =
        waves.iter().map(|wave| (wave, Vec::new())).collect();
    for target in targets {
        let wave = wave_of(waves, target).and_then(|index| members.get_mut(index));
        let Some((_, members)) = wave else {
            return Err(Error::config("the target is in no wave")
                .in_target(&target.name)
                .hint("every target is in exactly one wave of `rollout.waves`"));
        };
        members.push(target);
    }
    let planned = members.into_iter().filter(|(_, targets)| !targets.is_empty());
    planned.map(|(wave, targets)| plan_wave(wave, &targets, &mut place)).collect()
}

fn plan_wave(
    wave: &WaveSettings,
    targets: &[&Target],
    place: &mut impl FnMut(&Target) -> Result<Place>,
) -> Result<WavePlan> {
    let of = |amount: Amount| {
        let whole = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        usize::try_from(amount.floor_of(whole)).unwrap_or(usize::MAX)
    };
    let mandatory = Selector { clusters: wave.mandatory.clone(), ..Selector::default() };
    let is_mandatory = |target: &&Target| !wave.mandatory.is_empty() && mandatory.matches(*target);
    Ok(WavePlan {
        name: wave.name.clone(),
        targets: targets.iter().map(|target| place(target)).collect::<Result<_>>()?,
        max_concurrent: wave.max_concurrent.map_or(targets.len(), of).clamp(1, targets.len()),
        max_failures: wave.max_failures.map_or(0, of).min(targets.len()),
        mandatory: targets.iter().copied().filter(is_mandatory).map(|t| t.name.clone()).collect(),
        soak: wave.soak,
        progress_deadline: wave.progress_deadline,
        approval: wave.approval,
    })
}

fn only_wave() -> WaveSettings {
    WaveSettings {
        name: ONLY_WAVE.to_owned(),
        select: None,
        max_concurrent: None,
        max_failures: None,
        mandatory: Vec::new(),
        soak: std::time::Duration::ZERO,
        progress_deadline: STEP_DEADLINE,
        approval: false,
    }
}

/// Whether an apply opens a rollout, rather than writing to all targets at once: something changes,
/// and it goes through steps, over several waves, or over one with rules that only a rollout keeps.
/// `waves` are as the file has them, whatever deadlines the command line gives.
pub fn opens<'s>(
    settings: &RolloutSettings,
    waves: &[WavePlan],
    strategies: impl IntoIterator<Item = &'s Strategy>,
) -> bool {
    let kinds: Vec<StrategyKind> = strategies.into_iter().map(|strategy| strategy.kind).collect();
    let has_rules = |wave: &WavePlan| {
        wave.approval
            || !wave.soak.is_zero()
            || wave.max_failures > 0
            || wave.max_concurrent < wave.targets.len()
            || wave.progress_deadline != STEP_DEADLINE
    };
    let rules = settings.on_failure != OnFailure::Stop || waves.iter().any(has_rules);
    let changes = kinds.iter().any(|kind| *kind != StrategyKind::None);
    changes && (kinds.contains(&StrategyKind::Steps) || waves.len() > 1 || rules)
}

/// The steps of a rollout, as its header has them: at least [`Step::Primary`].
pub fn steps(settings: &RolloutSettings) -> Vec<Step> {
    match settings.steps.as_slice() {
        [] => vec![Step::Primary],
        steps => steps.iter().map(|s| s.step.clone()).collect(),
    }
}

/// The indexes of [`steps`] that a target goes through with all its steps: those that select it,
/// and of the `clean`s those that come after a canary of its own.
pub fn steps_of(settings: &RolloutSettings, target: &Target) -> Vec<usize> {
    if settings.steps.is_empty() {
        return vec![0];
    }
    let mut copied = false;
    let goes = |(_, step): &(usize, &super::settings::StepSettings)| {
        let selected = step.select.as_ref().is_none_or(|select| select.matches(target));
        match step.step {
            Step::Canary(_) => {
                copied |= selected;
                selected
            }
            Step::Clean => selected && std::mem::take(&mut copied),
            Step::Pause(_) | Step::Run(_) | Step::Primary => selected,
        }
    };
    settings.steps.iter().enumerate().filter(goes).map(|(index, _)| index).collect()
}

/// The indexes of [`steps`] that a target goes through which is applied plainly: that of
/// [`Step::Primary`] alone.
pub fn plain_steps(settings: &RolloutSettings) -> Vec<usize> {
    let primary = settings.steps.iter().position(|s| s.step == Step::Primary);
    vec![primary.unwrap_or_default()]
}

#[cfg(test)]
pub(super) mod tests;
