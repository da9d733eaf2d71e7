//! The state of the whole, derived from what the records say (design §7).

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::gate::{Around, after, gate, pause, step, step_at};
use super::model::{
    Needed, RolloutReport, RolloutState, RolloutTarget, TargetStand, WaveReport, WaveState,
};
use super::open::FreezeReport;
use super::sights::{Open, Seen, Sights};
use super::words::{back, done};
use crate::cluster::state::{Approval, Header, Mark, RolloutId, Stand, WavePlan};
use crate::error::Exit;
use crate::report::model::PodCounts;
use crate::report::plan::{name, plural};
use crate::rollout::Step;

impl RolloutReport {
    /// The report of what was seen. Its exit code is that of looking: 9 when a record could not be
    /// read. Whoever ran the rollout puts in the run's own.
    pub fn of(sights: &Sights, now: Timestamp) -> Self {
        let unread = sights.seen.iter().any(Seen::is_unread);
        let mut report = RolloutReport {
            schema: "mcd.dev/rollout/v1".to_owned(),
            application: sights.application.clone(),
            id: None,
            state: RolloutState::None,
            message: "there is no rollout, and none was closed".to_owned(),
            by_hand: false,
            opened: None,
            closed: None,
            who: None,
            commit: None,
            on_failure: None,
            steps: Vec::new(),
            waves: Vec::new(),
            targets: Vec::new(),
            waits_for: Vec::new(),
            next: Vec::new(),
            exit_code: if unread { Exit::Unreachable.code() } else { Exit::Ok.code() },
        };
        let Some(id) = sights.id() else {
            report.targets = sights.seen.iter().filter(|s| s.is_unread()).map(unread_row).collect();
            if unread && report.targets.len() == sights.seen.len() {
                report.state = RolloutState::Unknown;
                report.message = "no record could be read".to_owned();
            }
            return report;
        };
        report.id = Some(id.to_string());
        match sights.header(&id) {
            Some(header) => Whole::new(sights, header, now).tell(&mut report),
            None => tell_closed(sights, &id, &mut report),
        }
        if sights.seen.iter().all(|seen| seen.open(&id).is_none()) {
            let ends = sights.seen.iter().filter_map(|seen| Some(seen.closed(&id)?.at));
            report.closed = ends.max().map(|at| at.to_string());
        }
        report
    }
}

/// What is left to say of a rollout when every record of it is closed and nobody kept its header.
fn tell_closed(sights: &Sights, id: &RolloutId, report: &mut RolloutReport) {
    for seen in &sights.seen {
        if seen.is_unread() {
            report.targets.push(unread_row(seen));
        } else if let Some(closed) = seen.closed(id) {
            let mut row = blank(seen, closed.stand.into());
            row.since = Some(closed.at.to_string());
            row.message = closed.message.clone().unwrap_or_default();
            row.to = closed.release;
            // Taken back: it runs what it ran before.
            row.from = seen.active.filter(|_| closed.stand == Stand::Failed);
            report.targets.push(row);
        }
    }
    let has = |stand: TargetStand| report.targets.iter().filter(move |t| t.state == stand).count();
    let (failed, undone) = (has(TargetStand::Failed), has(TargetStand::Undone));
    // How many were allowed to fail is not known any more.
    (report.state, report.message) = match (undone, failed) {
        (0, 0) => (RolloutState::Succeeded, done(report.targets.len(), 0)),
        (0, n) if n < report.targets.len() => {
            (RolloutState::Succeeded, done(report.targets.len() - n, n))
        }
        (0, n) => (RolloutState::Failed, format!("{} failed", plural(n, "target"))),
        (n, _) => (RolloutState::Undone, back(n)),
    };
}

fn blank(seen: &Seen, state: TargetStand) -> RolloutTarget {
    RolloutTarget {
        target: seen.target.to_string(),
        context: seen.context.clone(),
        namespace: seen.namespace.clone(),
        wave: None,
        state,
        step: None,
        reason: String::new(),
        from: None,
        to: None,
        active: seen.active,
        pods: seen.pods.map(|pods| PodCounts {
            wanted: pods.wanted,
            ready: pods.ready,
            updated: pods.updated,
        }),
        gate: None,
        since: None,
        message: String::new(),
        unhealthy: seen.unhealthy.clone(),
        tree: seen.tree.clone(),
        warnings: seen.warnings.clone(),
        errors: seen.errors.clone(),
    }
}

fn unread_row(seen: &Seen) -> RolloutTarget {
    blank(seen, TargetStand::Unreachable)
}

/// A rollout whose header is known.
pub(super) struct Whole<'a> {
    pub(super) sights: &'a Sights,
    pub(super) header: &'a Header,
    pub(super) now: Timestamp,
    /// From all records: they count from whichever.
    approvals: Vec<Approval>,
    /// All targets were staged, by any record that was read.
    staged: bool,
    /// Someone takes it back.
    pub(super) abort: Option<&'a Mark>,
    /// Of each wave, of each of its targets.
    pub(super) stands: Vec<Vec<TargetStand>>,
    /// Of each wave, when its soak is over.
    pub(super) soaks: Vec<Option<Timestamp>>,
    /// The first wave that is not done, from 0; their number when all are.
    pub(super) current: usize,
}

impl<'a> Whole<'a> {
    fn new(sights: &'a Sights, header: &'a Header, now: Timestamp) -> Self {
        let opens = || sights.seen.iter().filter_map(|seen| seen.open(&header.id));
        let mut approvals: Vec<Approval> = Vec::new();
        for approval in opens().flat_map(|open| &open.approvals) {
            if !approvals.contains(approval) {
                approvals.push(approval.clone());
            }
        }
        let closed = || sights.seen.iter().filter_map(|seen| seen.closed(&header.id));
        let mut whole = Whole {
            sights,
            header,
            now,
            approvals,
            staged: closed().next().is_some()
                || opens().next().is_none()
                || opens().any(|open| open.staged),
            abort: opens().find_map(|open| open.abort.as_ref()),
            stands: Vec::new(),
            soaks: Vec::new(),
            current: 0,
        };
        for wave in &header.waves {
            let stands = wave.targets.iter().map(|place| {
                let not_staged = place.not_staged.is_some();
                whole.stand(sights.get(&place.target), not_staged)
            });
            let stands = stands.collect();
            whole.stands.push(stands);
            let begun = wave
                .targets
                .iter()
                .filter_map(|place| sights.get(&place.target)?.open(&header.id)?.progress.soak);
            let until = begun.max().and_then(|begun| after(begun, wave.soak));
            whole.soaks.push(until);
        }
        whole.current = whole.current();
        whole
    }

    fn stand(&self, seen: Option<&Seen>, not_staged: bool) -> TargetStand {
        let id = &self.header.id;
        match seen {
            _ if not_staged => TargetStand::NotStaged,
            None => TargetStand::Unreachable,
            Some(seen) if seen.is_unread() => TargetStand::Unreachable,
            Some(seen) => match (seen.open(id), seen.closed(id)) {
                (Some(open), _) => match TargetStand::of(&open.progress) {
                    TargetStand::Running if seen.left => TargetStand::Interrupted,
                    stand => stand,
                },
                (None, Some(closed)) => closed.stand.into(),
                (None, None) => TargetStand::NotStaged,
            },
        }
    }

    fn current(&self) -> usize {
        let begun = |stand: &TargetStand| {
            use TargetStand::{Failed, Interrupted, Paused, Running, Succeeded, Undoing, Undone};
            matches!(stand, Running | Interrupted | Paused | Succeeded | Failed | Undoing | Undone)
        };
        let last = self.stands.iter().rposition(|wave| wave.iter().any(begun)).unwrap_or(0);
        let over = |index: &usize| {
            self.has_ended(*index) && !self.soaks(*index) && !self.has_failed(*index)
        };
        (last..self.stands.len()).find(|index| !over(index)).unwrap_or(self.stands.len())
    }

    pub(super) fn count(&self, index: usize, is: impl Fn(TargetStand) -> bool) -> usize {
        self.stands.get(index).into_iter().flatten().filter(|stand| is(**stand)).count()
    }

    pub(super) fn all(&self, is: impl Fn(TargetStand) -> bool) -> usize {
        self.stands.iter().flatten().filter(|stand| is(**stand)).count()
    }

    /// Whether all targets of a wave have ended; of one that cannot be read nobody knows better.
    fn has_ended(&self, index: usize) -> bool {
        use TargetStand::{Interrupted, Paused, Pending, Running, Undoing};
        let on_its_way =
            |stand| matches!(stand, Pending | Running | Interrupted | Paused | Undoing);
        self.count(index, on_its_way) == 0
    }

    /// Whether the targets of a wave that has ended still have to stay healthy.
    fn soaks(&self, index: usize) -> bool {
        let Some(wave) = self.header.waves.get(index) else { return false };
        let over = self.soaks.get(index).copied().flatten().is_some_and(|until| until <= self.now);
        let any = self.count(index, |stand| stand == TargetStand::Succeeded) > 0;
        let open = wave.targets.iter().any(|place| {
            self.sights.get(&place.target).is_some_and(|seen| seen.open(&self.header.id).is_some())
        });
        !wave.soak.is_zero() && any && open && !over && !self.has_failed(index)
    }

    /// Whether more of a wave failed than may.
    pub(super) fn has_failed(&self, index: usize) -> bool {
        let Some(wave) = self.header.waves.get(index) else { return false };
        // What a run that still stages has not come to has not failed.
        if !self.staged {
            return false;
        }
        let failed = self.count(index, TargetStand::is_failure);
        failed > wave.max_failures || !self.mandatory(index).is_empty()
    }

    /// Those that failed and of which none may.
    pub(super) fn mandatory(&self, index: usize) -> Vec<&'a str> {
        let wave = self.header.waves.get(index);
        let stands = self.stands.get(index).into_iter().flatten();
        let targets = wave.into_iter().flat_map(|wave| {
            wave.targets.iter().map(|place| (&place.target, wave.mandatory.contains(&place.target)))
        });
        let failed =
            targets.zip(stands).filter(|((_, mandatory), stand)| *mandatory && stand.is_failure());
        failed.map(|((target, _), _)| target.as_str()).collect()
    }

    fn around(&self, index: usize, wave: &'a WavePlan) -> Around<'_> {
        Around {
            wave,
            index,
            current: self.current,
            soak_until: self.soaks.get(index).copied().flatten(),
            approvals: &self.approvals,
        }
    }

    fn tell(&self, report: &mut RolloutReport) {
        let header = self.header;
        report.by_hand = header.by_hand;
        report.opened = Some(header.opened.to_string());
        report.who = Some(header.who.to_string());
        report.commit = header.commit.as_ref().map(ToString::to_string);
        report.on_failure = Some(header.on_failure.word().to_owned());
        report.steps = header.steps.iter().map(Step::words).collect();
        for (index, wave) in header.waves.iter().enumerate() {
            report.waves.push(self.wave(index, wave));
            let stands = self.stands.get(index).into_iter().flatten();
            for (place, stand) in wave.targets.iter().zip(stands) {
                let seen = self.sights.get(&place.target);
                if seen.is_none() && place.not_staged.is_none() {
                    // Nobody asked for it.
                    continue;
                }
                let unseen = Seen::unseen(place);
                let mut row = self.row(seen.unwrap_or(&unseen), *stand, index, wave);
                if let Some(why) = &place.not_staged {
                    row.message.clone_from(why);
                } else if *stand == TargetStand::NotStaged {
                    row.message = "the run ended before it was staged".to_owned();
                }
                report.targets.push(row);
            }
        }
        report.waits_for = self.needed();
        report.state = self.state(&report.waits_for);
        report.message = self.message(report.state, &report.waits_for);
        report.next = self.next(report.state, &report.waits_for);
    }

    fn wave(&self, index: usize, wave: &'a WavePlan) -> WaveReport {
        let around = self.around(index, wave);
        let soak_until = around.soak_until.filter(|_| !wave.soak.is_zero());
        let approved = self.approvals.iter().find(|a| a.wave == index && a.step.is_none());
        WaveReport {
            wave: index + 1,
            name: wave.name.clone(),
            state: self.wave_state(index, &around),
            targets: wave.targets.len(),
            done: self.count(index, TargetStand::is_done),
            failed: if self.staged { self.count(index, TargetStand::is_failure) } else { 0 },
            unreachable: self.count(index, |stand| stand == TargetStand::Unreachable),
            max_concurrent: wave.max_concurrent,
            max_failures: wave.max_failures,
            mandatory: wave.mandatory.iter().map(ToString::to_string).collect(),
            soak_seconds: wave.soak.as_secs(),
            soak_until: soak_until.map(|t| t.to_string()),
            progress_deadline_seconds: wave.progress_deadline.as_secs(),
            approval: wave.approval,
            approved_by: approved.map(|a| a.who.to_string()),
            approved: approved.map(|a| a.at.to_string()),
        }
    }

    fn wave_state(&self, index: usize, around: &Around<'_>) -> WaveState {
        use TargetStand::{Interrupted, Paused, Pending, Running, Undoing, Undone};
        let has = |stand: TargetStand| self.count(index, |s| s == stand) > 0;
        if !self.staged {
            WaveState::Pending
        } else if has(Undone) || (has(Undoing) && !(has(Running) || has(Paused) || has(Pending))) {
            WaveState::Undone
        } else if self.has_failed(index) {
            WaveState::Failed
        } else if has(Interrupted) && !has(Running) {
            WaveState::Interrupted
        } else if has(Running) || has(Paused) {
            WaveState::Running
        } else if index > self.current {
            WaveState::Pending
        } else if index == self.current && has(Pending) {
            let begun = self.count(index, |stand| !matches!(stand, Pending)) > 0;
            match around.needs_approval() {
                true => WaveState::Waiting,
                false if begun => WaveState::Running,
                false => WaveState::Pending,
            }
        } else if index == self.current && self.soaks(index) {
            WaveState::Soaking
        } else {
            WaveState::Done
        }
    }

    fn row(
        &self,
        seen: &Seen,
        state: TargetStand,
        index: usize,
        wave: &'a WavePlan,
    ) -> RolloutTarget {
        let mut row = blank(seen, state);
        row.wave = Some(index + 1);
        if let Some(closed) = seen.closed(&self.header.id) {
            row.since = Some(closed.at.to_string());
            row.message = closed.message.clone().unwrap_or_default();
            row.to = closed.release;
            // Taken back: it runs what it ran before.
            row.from = seen.active.filter(|_| closed.stand == Stand::Failed);
        }
        if let Some(open) = seen.open(&self.header.id) {
            let progress = &open.progress;
            row.since = Some(progress.since.to_string());
            row.reason.clone_from(&progress.reason);
            (row.from, row.to) = (progress.previous, progress.release);
            row.step = step(progress, open.steps(self.header), state);
            let around = self.around(index, wave);
            if !matches!(state, TargetStand::Unchanged | TargetStand::Interrupted) {
                row.gate = gate(open, self.header, &around, self.now);
            }
            row.message = progress.message.clone().unwrap_or_default();
        }
        if row.message.is_empty() {
            row.message = match (state, row.unhealthy.first()) {
                (TargetStand::Unchanged, _) => "no changes".to_owned(),
                (TargetStand::Interrupted, _) => "the run that was at it ended".to_owned(),
                (_, Some(worst)) => format!("{}: {}", name(&worst.object), worst.reason),
                _ => String::new(),
            };
        }
        if let Some(freeze) = seen.frozen(self.now) {
            row.warnings.push(FreezeReport::from(freeze).words());
        }
        row
    }

    /// What waits for approval now.
    fn needed(&self) -> Vec<Needed> {
        let index = self.current;
        let Some(wave) = self.header.waves.get(index) else { return Vec::new() };
        if self.has_failed(index) {
            return Vec::new();
        }
        let around = self.around(index, wave);
        let needed = |step: Option<usize>, targets: usize| Needed {
            wave: index + 1,
            name: wave.name.clone(),
            step: step.map(|step| step + 1),
            targets,
        };
        if around.needs_approval() {
            let pending = self.count(index, |stand| stand == TargetStand::Pending);
            return (pending > 0).then(|| needed(None, pending)).into_iter().collect();
        }
        let opens = wave.targets.iter();
        let opens = opens.filter_map(|p| self.sights.get(&p.target)?.open(&self.header.id));
        let waiting: Vec<usize> = opens
            .filter(|open| open.progress.stand == Stand::Paused)
            .filter(|open| pause(open, self.header).is_none_or(|pause| pause.period.is_none()))
            .filter_map(step_at)
            .filter(|step| !around.is_approved(Some(*step)))
            .collect();
        let steps: BTreeSet<usize> = waiting.iter().copied().collect();
        let count = |step: usize| waiting.iter().filter(|s| **s == step).count();
        steps.into_iter().map(|step| needed(Some(step), count(step))).collect()
    }

    /// Whether a target is at a pause that is not over. By hand each step is one.
    fn is_at_a_pause(&self) -> bool {
        let header = self.header;
        let is_over = |open: &Open, index: usize| {
            let end = pause(open, header).and_then(|pause| pause.end(open.progress.since));
            end.is_some_and(|end| end <= self.now)
                || self.approvals.iter().any(|a| a.wave == index && a.step == step_at(open))
        };
        header.waves.iter().enumerate().any(|(index, wave)| {
            let opens = wave.targets.iter();
            let mut opens = opens.filter_map(|p| self.sights.get(&p.target)?.open(&header.id));
            opens.any(|open| {
                open.progress.stand == Stand::Paused && (header.by_hand || !is_over(open, index))
            })
        })
    }

    fn state(&self, needed: &[Needed]) -> RolloutState {
        use TargetStand::{Interrupted, Running, Undoing, Undone, Unreachable};
        let has = |stand: TargetStand| self.all(|s| s == stand) > 0;
        let failed = (0..self.stands.len()).any(|index| self.has_failed(index));
        let id = &self.header.id;
        let open = self.sights.seen.iter().any(|seen| seen.open(id).is_some());
        let read = self.all(|stand| stand != Unreachable) > 0;
        if !open {
            return match (has(Undone), failed, read) {
                (_, _, false) => RolloutState::Unknown,
                (true, _, _) => RolloutState::Undone,
                (false, true, _) => RolloutState::Failed,
                (false, false, _) => RolloutState::Succeeded,
            };
        }
        let waits = self.header.waves.get(self.current).is_some_and(|_| self.soaks(self.current));
        // A target that failed inside the budget goes back alone, while the others go on.
        let alone = has(Running)
            || has(Interrupted)
            || has(TargetStand::Paused)
            || has(TargetStand::Pending);
        if self.abort.is_some() || has(Undone) || (has(Undoing) && !alone) {
            RolloutState::Undoing
        } else if !self.staged {
            RolloutState::Staging
        } else if failed {
            RolloutState::Stopped
        } else if has(Running) {
            RolloutState::Running
        } else if has(Interrupted) {
            RolloutState::Interrupted
        } else if !needed.is_empty() {
            RolloutState::Waiting
        } else if self.is_at_a_pause() {
            RolloutState::Paused
        } else if waits {
            RolloutState::Soaking
        } else if self.current >= self.stands.len() {
            // Done in every target; what is left is to say so in the records.
            RolloutState::Running
        } else {
            RolloutState::Pending
        }
    }
}
