//! Listens to a run's events and shows them: rows on a terminal, lines elsewhere.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::events::EventLog;
use super::progress::{Progress, TICK, age, progress};
use crate::config::TargetName;
use crate::event::{Event, EventKind, Phase, StepMark, Verb};
use crate::report::plan::plural;
use crate::ui::Ui;

/// The display of a run.
pub struct Reporter {
    commands: mpsc::UnboundedSender<Command>,
    screen: Screen,
}

enum Command {
    /// Show what has come so far, then take the display away.
    Hide(oneshot::Sender<()>),
}

/// What is on now, if anything.
#[derive(Clone)]
struct Screen {
    ui: Ui,
    targets: Arc<Mutex<Vec<TargetName>>>,
    now: Arc<Mutex<Option<Arc<dyn Progress>>>>,
    /// Nothing is to be said any more: something else has the terminal.
    muted: Arc<AtomicBool>,
    /// Where all events go, if anywhere.
    log: EventLog,
}

/// Writes lines above the display, from anywhere.
#[derive(Clone)]
pub struct Handle(Screen);

impl Handle {
    /// A line of the run.
    pub fn line(&self, text: &str) {
        if self.0.muted.load(Ordering::Relaxed) {
            return;
        }
        match self.0.get() {
            Some(progress) => progress.line(None, text),
            None => self.0.ui.status(text),
        }
    }
}

impl Screen {
    fn get(&self) -> Option<Arc<dyn Progress>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn show(&self) {
        let targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fresh: Arc<dyn Progress> = Arc::from(progress(&self.ui, &targets));
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
    }
    fn hide(&self) {
        let last = self.now.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(progress) = last {
            progress.finish();
        }
    }
}

impl Reporter {
    /// Shows the events of `receiver` from now on.
    pub fn start(
        receiver: mpsc::UnboundedReceiver<Event>,
        ui: &Ui,
        targets: Vec<TargetName>,
    ) -> Self {
        let screen = Screen {
            ui: ui.clone(),
            targets: Arc::new(Mutex::new(targets)),
            now: Arc::default(),
            muted: Arc::default(),
            log: EventLog::default(),
        };
        screen.show();
        let (commands, inbox) = mpsc::unbounded_channel();
        tokio::spawn(run(receiver, inbox, screen.clone()));
        Reporter { commands, screen }
    }

    /// For lines that no event carries.
    pub fn handle(&self) -> Handle {
        Handle(self.screen.clone())
    }

    /// Shows everything that was sent before, then takes the display away, so that a question or
    /// a result can be printed.
    pub async fn hide(&self) {
        let (done, hidden) = oneshot::channel();
        if self.commands.send(Command::Hide(done)).is_ok() {
            let _ = hidden.await;
        }
    }

    /// The run has other targets, from the next time on that the display is brought back.
    pub fn targets(&self, targets: Vec<TargetName>) {
        *self.screen.targets.lock().unwrap_or_else(PoisonError::into_inner) = targets;
    }

    /// Writes every event to this file too, as lines of JSON.
    ///
    /// # Errors
    /// It cannot be written (exit 3).
    pub fn record(&self, path: &std::path::Path) -> crate::error::Result<()> {
        self.screen.log.open(path)
    }

    /// Says nothing from now on, for a verb that shows everything itself.
    pub fn mute(&self) {
        self.screen.muted.store(true, Ordering::Relaxed);
    }

    /// Brings the display back: at once, so that what is sent next is seen.
    pub fn show(&self) {
        self.screen.show();
    }
}

async fn run(
    mut events: mpsc::UnboundedReceiver<Event>,
    mut inbox: mpsc::UnboundedReceiver<Command>,
    screen: Screen,
) {
    let mut clock = tokio::time::interval(TICK);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut known = Known::default();
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => show(&screen, &mut known, &event),
            command = inbox.recv() => match command {
                Some(Command::Hide(done)) => {
                    while let Ok(event) = events.try_recv() {
                        show(&screen, &mut known, &event);
                    }
                    screen.hide();
                    let _ = done.send(());
                }
                None => return,
            },
            _ = clock.tick() => {
                if let Some(progress) = screen.get() {
                    progress.tick(Instant::now());
                }
            }
        }
    }
}

/// What is known from event to event.
#[derive(Default)]
struct Known {
    troubles: Troubles,
    /// The steps that targets of a rollout are at.
    steps: BTreeMap<TargetName, StepMark>,
}

impl Known {
    /// `waiting`, or in a rollout `canary 1/4: waiting`.
    fn state(&self, target: &TargetName, word: &str) -> String {
        match self.steps.get(target) {
            Some(step) => format!("{step}: {word}"),
            None => word.to_owned(),
        }
    }
}

/// How long a trouble has to last for its end to be told, and how long after its end the same one
/// is not told again: a cluster that is down, or that limits its callers, fails many calls, and
/// neither each of them nor each lull is news.
const WORTH_TELLING: Duration = Duration::from_secs(5);

/// What is the matter with the servers, by target.
#[derive(Default)]
struct Troubles(BTreeMap<Option<TargetName>, Trouble>);

/// Calls that fail, from the first on until one succeeds.
struct Trouble {
    why: String,
    /// When it began, and when it was last told or seen.
    since: Instant,
    seen: Instant,
    /// Whether no call has succeeded since.
    on: bool,
}

impl Troubles {
    /// A call failed; whether that is news.
    fn begins(&mut self, target: Option<&TargetName>, why: &str, now: Instant) -> bool {
        let fresh = Trouble { why: why.to_owned(), since: now, seen: now, on: true };
        let Some(known) = self.0.get_mut(&target.cloned()) else {
            self.0.insert(target.cloned(), fresh);
            return true;
        };
        let lately = now.saturating_duration_since(known.seen) < WORTH_TELLING;
        // While a server goes down or comes up, calls fail in several ways.
        if known.on || (lately && known.why == why) {
            known.since = if known.on { known.since } else { now };
            (known.on, known.seen) = (true, now);
            return false;
        }
        *known = fresh;
        true
    }

    /// A call succeeded; for how long none did, if that is news.
    fn ends(&mut self, target: Option<&TargetName>, now: Instant) -> Option<Duration> {
        let known = self.0.get_mut(&target.cloned()).filter(|known| known.on)?;
        (known.on, known.seen) = (false, now);
        let lasted = now.saturating_duration_since(known.since);
        (lasted >= WORTH_TELLING).then_some(lasted)
    }
}

fn show(screen: &Screen, known: &mut Known, event: &Event) {
    // What happened is the log; there is none unless someone asked for it.
    if let Ok(line) = serde_json::to_string(event) {
        tracing::info!(target: "mcd", "{line}");
    }
    if let Err(e) = screen.log.write(event, jiff::Timestamp::now()) {
        screen.ui.warning(&format!("events are not written any more: {e}"));
    }
    let Some(progress) = screen.get() else { return };
    let target = event.target.as_ref();
    match (&event.kind, target) {
        (EventKind::Phase { phase: Phase::Pending }, Some(target)) => progress.rest(target),
        (EventKind::Phase { phase }, Some(target)) => {
            progress.set(target, &known.state(target, phase.word()), "");
        }
        (EventKind::Retry { call, attempt, wait, why }, _) => {
            let news = known.troubles.begins(target, why, Instant::now());
            if screen.ui.is_verbose() {
                let wait = wait.as_secs_f64();
                let text = format!("{call}: {why}; attempt {attempt} failed, again in {wait:.1}s");
                progress.line(target, &text);
            } else if news {
                progress.line(target, &format!("{call}: {why}; trying again"));
            }
        }
        (EventKind::Answers, _) => {
            if let Some(lasted) = known.troubles.ends(target, Instant::now()) {
                progress.line(target, &format!("the server answers again, after {}", age(lasted)));
            }
        }
        (EventKind::Warning { object, text }, _) => {
            let subject = object.as_ref().map(|o| format!("{o}: ")).unwrap_or_default();
            progress.line(target, &format!("warning: {subject}{text}"));
        }
        (EventKind::Wrote { object, verb }, Some(target)) => {
            let line = format!("{} {}", object.short(), verb.word());
            let phase = match verb {
                Verb::Deleted => Phase::Deleting,
                Verb::Created | Verb::Configured | Verb::Recreated | Verb::Unchanged => {
                    Phase::Applying
                }
            };
            progress.set(target, &known.state(target, phase.word()), &line);
            if !screen.ui.is_live() {
                progress.line(Some(target), &line);
            }
        }
        (EventKind::Waiting { reason }, Some(target)) => {
            progress.set(target, &known.state(target, Phase::Waiting.word()), reason);
        }
        (EventKind::Finished { ok, message }, Some(target)) => progress.done(target, *ok, message),
        (kind, target) => rollout(screen, known, progress.as_ref(), target, kind),
    }
}

/// Shows what happens in a rollout. On a terminal the rows say which step a target is at; lines
/// are for what concerns the whole, and for what went wrong.
fn rollout(
    screen: &Screen,
    known: &mut Known,
    progress: &dyn Progress,
    target: Option<&TargetName>,
    kind: &EventKind,
) {
    let each = |text: &str| {
        if !screen.ui.is_live() {
            progress.line(target, text);
        }
    };
    match (kind, target) {
        (EventKind::RolloutOpened { id, resumed, waves, targets }, _) => {
            let goes_on = if *resumed { " goes on" } else { "" };
            let size = match waves.len() {
                1 => plural(*targets, "target"),
                n => format!("{}, {n} waves", plural(*targets, "target")),
            };
            progress.line(None, &format!("rollout {id}{goes_on}: {size}"));
        }
        (EventKind::Staged { release, reason }, target) => {
            match release {
                Some(release) => each(&format!("release {release} staged: {reason}")),
                None => each(reason),
            }
            if let Some(target) = target {
                progress.rest(target);
            }
        }
        (EventKind::WaveStarted { wave, targets }, _) => {
            progress.head(&format!("{wave}: {}", plural(*targets, "target")));
        }
        (EventKind::WaveEnded { wave, failed }, _) => {
            let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
            progress.line(None, &format!("{wave}: done{failed}"));
        }
        (EventKind::Soak { wave, until }, _) => {
            let until = until.strftime("%H:%M:%SZ");
            progress.head(&format!("{wave}: has to stay healthy until {until}"));
        }
        (EventKind::ApprovalNeeded { wave, pause }, _) => {
            let what = match pause {
                None => "waits for approval".to_owned(),
                Some(step) => format!("waits for approval at step {step}"),
            };
            progress.head(&format!("{wave}: {what}"));
        }
        (EventKind::Approved { wave, pause, who }, _) => {
            let what = pause.map(|step| format!(" at step {step}")).unwrap_or_default();
            progress.line(None, &format!("{wave}: approved{what} by {who}"));
        }
        (EventKind::StepStarted { step }, Some(target)) => {
            known.steps.insert(target.clone(), *step);
            progress.set(target, &step.to_string(), "");
        }
        (EventKind::StepEnded { step, ok }, Some(target)) => {
            known.steps.remove(target);
            match (ok, step.number == step.of) {
                (true, true) => progress.done(target, true, &format!("{step}: done")),
                (true, false) => each(&format!("{step}: done")),
                // What failed is said by the target's failure.
                (false, _) => {}
            }
        }
        (EventKind::Paused { step, until }, Some(target)) => {
            known.steps.remove(target);
            let text = match until {
                Some(until) => format!("until {}", until.strftime("%H:%M:%SZ")),
                None => "until it is approved".to_owned(),
            };
            progress.set(target, &step.to_string(), &text);
            each(&format!("{step}: {text}"));
        }
        (EventKind::TargetFailed { object, reason }, Some(target)) => {
            known.steps.remove(target);
            let subject = object.as_ref().map(|o| format!("{o}: ")).unwrap_or_default();
            progress.done(target, false, &format!("{subject}{reason}"));
        }
        (EventKind::Undoing { release }, Some(target)) => {
            known.steps.remove(target);
            progress.again(target);
            progress.line(Some(target), &format!("goes back to {}", before(*release)));
            progress.set(target, "going back", "");
        }
        (EventKind::Undone { release }, Some(target)) => {
            progress.done(target, true, &format!("back at {}", before(*release)));
        }
        (EventKind::Stopped { wave, reason }, _) => {
            let wave = wave.as_ref().map(|wave| format!("{wave}: ")).unwrap_or_default();
            progress.line(None, &format!("{wave}{reason}; nothing new starts"));
        }
        // The result says it, right after.
        (EventKind::RolloutEnded { .. }, _) => {}
        (
            EventKind::StepStarted { .. }
            | EventKind::StepEnded { .. }
            | EventKind::Paused { .. }
            | EventKind::TargetFailed { .. }
            | EventKind::Undoing { .. }
            | EventKind::Undone { .. }
            | EventKind::Phase { .. }
            | EventKind::Wrote { .. }
            | EventKind::Waiting { .. }
            | EventKind::Finished { .. },
            None,
        )
        // Shown by whoever called.
        | (
            EventKind::Phase { .. }
            | EventKind::Retry { .. }
            | EventKind::Answers
            | EventKind::Warning { .. }
            | EventKind::Wrote { .. }
            | EventKind::Waiting { .. }
            | EventKind::Finished { .. },
            _,
        ) => {}
    }
}

/// `release 41`, or what was there before the first one.
fn before(release: Option<u64>) -> String {
    release.map_or_else(|| "nothing".to_owned(), |release| format!("release {release}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_told_when_it_begins_and_when_it_ends() {
        let mut troubles = Troubles::default();
        let (east, west) = (TargetName::new("us-east"), TargetName::new("us-west"));
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let refused = "connection refused";
        assert!(troubles.begins(Some(&east), refused, at(0)));
        assert!(!troubles.begins(Some(&east), refused, at(10)), "another call, the same story");
        assert!(troubles.begins(Some(&west), refused, at(20)), "another cluster");
        assert!(!troubles.begins(Some(&east), refused, at(9_000)), "it goes on");
        assert!(!troubles.begins(Some(&east), "503", at(9_500)), "it comes up");
        assert_eq!(troubles.ends(Some(&east), at(10_000)), Some(Duration::from_secs(10)));
        assert_eq!(troubles.ends(Some(&east), at(10_010)), None, "told already");
        assert!(troubles.begins(Some(&east), refused, at(60_000)), "much later");
    }

    #[test]
    fn calls_that_fail_now_and_then_are_not_told_each_time() {
        let mut troubles = Troubles::default();
        let start = Instant::now();
        let limited = "429 Too Many Requests";
        let mut told = 0;
        for n in 0..100_u64 {
            let now = start + Duration::from_millis(n * 300);
            told += u32::from(troubles.begins(None, limited, now));
            told += u32::from(troubles.ends(None, now + Duration::from_millis(100)).is_some());
        }
        assert_eq!(told, 1);
        assert!(troubles.begins(None, "another reason", start + Duration::from_secs(31)));
    }
}
