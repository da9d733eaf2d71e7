//! A rollout in words: where the whole stands, and how to go on.

use super::model::{Needed, RolloutState, TargetStand};
use super::whole::Whole;
use crate::report::age::{age, left};
use crate::report::plan::plural;
use crate::rollout::Step;

pub(super) fn done(targets: usize, failed: usize) -> String {
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!("{} done{failed}", plural(targets, "target"))
}

pub(super) fn back(targets: usize) -> String {
    let are = if targets == 1 { "is" } else { "are" };
    format!("{} {are} back at what was before", plural(targets, "target"))
}

impl<'a> Whole<'a> {
    /// `wave 2 of 3 (rest)`; nothing where there is only one.
    fn wave_words(&self, index: usize) -> Option<String> {
        let waves = &self.header.waves;
        let wave = waves.get(index).filter(|_| waves.len() > 1)?;
        Some(format!("wave {} of {} ({})", index + 1, waves.len(), wave.name))
    }

    pub(super) fn message(&self, state: RolloutState, needed: &[Needed]) -> String {
        use TargetStand::{Interrupted, Paused, Running, Undone};
        let index = self.current.min(self.stands.len().saturating_sub(1));
        let wave = self.wave_words(index);
        let total = self.stands.get(index).map_or(0, Vec::len);
        let head = |text: String| match &wave {
            Some(wave) => format!("{wave}: {text}"),
            None => text,
        };
        let all_done = self.all(TargetStand::is_done);
        let all_failed = self.all(TargetStand::is_failure);
        let done_here = self.count(index, TargetStand::is_done);
        match state {
            RolloutState::None | RolloutState::Unknown => "no record could be read".to_owned(),
            RolloutState::Pending => {
                head(format!("{done_here} of {} done, none under way", plural(total, "target")))
            }
            RolloutState::Staging => {
                let all: usize = self.stands.iter().map(Vec::len).sum();
                let opens = self.sights.seen.iter();
                let staged = opens.filter(|seen| seen.open(&self.header.id).is_some()).count();
                format!(
                    "staged in {staged} of {}; the run that stages it is at it, or ended before",
                    plural(all, "target")
                )
            }
            RolloutState::Interrupted => {
                let left = self.count(index, |stand| stand == Interrupted);
                let marks =
                    self.sights.seen.iter().filter_map(|seen| {
                        seen.open(&self.header.id)?.progress.interrupted.as_ref()
                    });
                let by = marks
                    .max_by_key(|mark| mark.at)
                    .map(|mark| format!(" by {}, {} ago", mark.who, age(self.now, mark.at)));
                let by = by.unwrap_or_else(|| ", and no run is at them".to_owned());
                head(format!(
                    "{done_here} of {} done, {left} interrupted{by}",
                    plural(total, "target")
                ))
            }
            RolloutState::Running => {
                let running = self.count(index, |stand| matches!(stand, Running | Paused));
                let under_way =
                    if running > 0 { format!(", {running} under way") } else { String::new() };
                head(format!("{done_here} of {} done{under_way}", plural(total, "target")))
            }
            RolloutState::Paused if self.header.by_hand => {
                let paused = self.count(index, |stand| stand == Paused);
                let step = self.last_by_hand().map_or("a step", Step::word);
                format!("{step} done in {}", plural(paused, "target"))
            }
            RolloutState::Paused => {
                let paused = self.count(index, |stand| stand == Paused);
                head(format!("{} at a pause", plural(paused, "target")))
            }
            RolloutState::Waiting => match needed.first() {
                Some(Needed { step: None, .. }) => {
                    format!("{} waits for approval", wave.as_deref().unwrap_or("it"))
                }
                _ => {
                    let waiting: usize = needed.iter().map(|n| n.targets).sum();
                    let wait = if waiting == 1 { "waits" } else { "wait" };
                    head(format!("{} {wait} for approval", plural(waiting, "target")))
                }
            },
            RolloutState::Soaking => {
                let until = self.soaks.get(index).copied().flatten();
                head(match until {
                    Some(until) => format!("has to stay healthy, {} left", left(self.now, until)),
                    None => "has to become healthy".to_owned(),
                })
            }
            RolloutState::Stopped | RolloutState::Failed => self.why_failed(),
            RolloutState::Undoing => {
                let undone = self.all(|stand| stand == Undone);
                let all = self.stands.iter().map(Vec::len).sum();
                let by = self.abort.map(|abort| format!(", aborted by {}", abort.who));
                let all = plural(all, "target");
                format!("{undone} of {all} back at what was before{}", by.unwrap_or_default())
            }
            RolloutState::Undone => back(self.all(|stand| stand == Undone)),
            RolloutState::Succeeded => done(all_done, all_failed),
        }
    }

    /// Which wave failed, and why that stops it.
    fn why_failed(&self) -> String {
        let Some(index) = (0..self.stands.len()).find(|index| self.has_failed(*index)) else {
            return "it failed".to_owned();
        };
        let failed = self.count(index, TargetStand::is_failure);
        let may = self.header.waves.get(index).map_or(0, |wave| wave.max_failures);
        let total = self.stands.get(index).map_or(0, Vec::len);
        let allowed = match may {
            0 => "none may".to_owned(),
            n => format!("{n} may"),
        };
        let what = match self.mandatory(index).as_slice() {
            [] => format!("{failed} of {} failed, {allowed}", plural(total, "target")),
            targets => format!("{} failed and is mandatory", targets.join(", ")),
        };
        match self.wave_words(index) {
            Some(wave) => format!("{wave}: {what}"),
            None => what,
        }
    }

    /// The last step that was done by hand, in the target that is farthest.
    fn last_by_hand(&self) -> Option<&'a Step> {
        let opens = self.sights.seen.iter().filter_map(|seen| seen.open(&self.header.id));
        let farthest = opens.max_by_key(|open| open.progress.done)?;
        farthest.progress.hand.get(farthest.progress.done.checked_sub(1)?)
    }

    /// How to go on.
    pub(super) fn next(&self, state: RolloutState, needed: &[Needed]) -> Vec<String> {
        let abort = "`mcd rollout abort` takes it back";
        if state == RolloutState::Staging {
            let abort = "if no run is at it, `mcd rollout abort` removes what is staged";
            return vec![format!("{abort}; nothing was applied yet")];
        }
        if self.header.by_hand && !state.is_over() && state != RolloutState::Undoing {
            let next = match self.last_by_hand() {
                Some(Step::Primary) => "`mcd rollout clean` removes the copies, and ends it",
                Some(Step::Canary(_) | Step::Pause(_) | Step::Run(_) | Step::Clean) | None => {
                    "`mcd rollout primary` goes on"
                }
            };
            return vec![format!("{next}; {abort}")];
        }
        match state {
            RolloutState::None
            | RolloutState::Succeeded
            | RolloutState::Failed
            | RolloutState::Undone => Vec::new(),
            RolloutState::Unknown => Vec::new(),
            RolloutState::Waiting => {
                let one = needed.len() == 1;
                let approvals = needed.iter().map(|needed| {
                    let step = needed.step.filter(|_| !one);
                    let step = step.map(|step| format!(" --step {step}")).unwrap_or_default();
                    let wave = if one { String::new() } else { format!(" --wave {}", needed.name) };
                    let what = match needed.step {
                        None => format!("wave `{}` start", needed.name),
                        Some(_) => format!("{} past the pause", plural(needed.targets, "target")),
                    };
                    format!("`mcd rollout approve{wave}{step}` lets {what}")
                });
                let go = format!("then `mcd rollout resume` goes on; {abort}");
                approvals.chain([go]).collect()
            }
            RolloutState::Undoing => {
                vec!["`mcd rollout abort` takes the rest back".to_owned()]
            }
            RolloutState::Stopped => {
                vec![format!("`mcd rollout resume` tries again; {abort}")]
            }
            RolloutState::Interrupted => {
                vec![format!("`mcd rollout resume` goes on; {abort}")]
            }
            RolloutState::Pending
            | RolloutState::Staging
            | RolloutState::Running
            | RolloutState::Paused
            | RolloutState::Soaking => {
                let resume = "`mcd rollout resume` goes on if no run is at it";
                vec![format!("{resume}; {abort}")]
            }
        }
    }
}
