//! Listens to a run's events and shows them: rows on a terminal, lines elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::progress::{Progress, TICK, progress};
use crate::config::TargetName;
use crate::event::{Event, EventKind, Phase, Verb};
use crate::ui::Ui;

/// The display of a run.
pub struct Reporter {
    commands: mpsc::UnboundedSender<Command>,
    screen: Screen,
}

enum Command {
    /// Show what has come so far, then take the display away.
    Hide(oneshot::Sender<()>),
    /// Bring the display back.
    Show,
}

/// What is on now, if anything.
#[derive(Clone)]
struct Screen {
    ui: Ui,
    targets: Arc<Vec<TargetName>>,
    now: Arc<Mutex<Option<Arc<dyn Progress>>>>,
}

/// Writes lines above the display, from anywhere.
#[derive(Clone)]
pub struct Handle(Screen);

impl Handle {
    /// A line of the run.
    pub fn line(&self, text: &str) {
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
        let fresh: Arc<dyn Progress> = Arc::from(progress(&self.ui, &self.targets));
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
        let screen = Screen { ui: ui.clone(), targets: Arc::new(targets), now: Arc::default() };
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

    /// Brings the display back.
    pub fn show(&self) {
        let _ = self.commands.send(Command::Show);
    }
}

async fn run(
    mut events: mpsc::UnboundedReceiver<Event>,
    mut inbox: mpsc::UnboundedReceiver<Command>,
    screen: Screen,
) {
    let mut clock = tokio::time::interval(TICK);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut retries = Retries::default();
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => show(&screen, &mut retries, &event),
            command = inbox.recv() => match command {
                Some(Command::Hide(done)) => {
                    while let Ok(event) = events.try_recv() {
                        show(&screen, &mut retries, &event);
                    }
                    screen.hide();
                    let _ = done.send(());
                }
                Some(Command::Show) => screen.show(),
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

/// How long a line about a failed attempt stands for the other calls that fail alike: a cluster
/// that is down fails all that were under way.
const SAME: Duration = Duration::from_secs(5);

/// What was said about attempts that failed, by target: why, the last attempt, and when.
#[derive(Default)]
struct Retries(BTreeMap<Option<TargetName>, (String, u32, Instant)>);

impl Retries {
    /// Whether the attempt says nothing new.
    fn is_known(
        &mut self,
        target: Option<&TargetName>,
        why: &str,
        attempt: u32,
        now: Instant,
    ) -> bool {
        let said = self.0.get(&target.cloned());
        let known = said.is_some_and(|(reason, last, at)| {
            reason == why && attempt <= *last && now.saturating_duration_since(*at) < SAME
        });
        if !known {
            self.0.insert(target.cloned(), (why.to_owned(), attempt, now));
        }
        known
    }
}

fn show(screen: &Screen, retries: &mut Retries, event: &Event) {
    // What happened is the log; there is none unless someone asked for it.
    if let Ok(line) = serde_json::to_string(event) {
        tracing::info!(target: "mcd", "{line}");
    }
    let Some(progress) = screen.get() else { return };
    let target = event.target.as_ref();
    match (&event.kind, target) {
        (EventKind::Phase { phase: Phase::Pending }, Some(target)) => progress.rest(target),
        (EventKind::Phase { phase }, Some(target)) => progress.set(target, phase.word(), ""),
        (EventKind::Retry { call, attempt, wait, why }, _) => {
            let text = format!("{call}: {why}; again in {:.1}s", wait.as_secs_f64());
            if !retries.is_known(target, why, *attempt, Instant::now()) || screen.ui.is_verbose() {
                progress.line(target, &text);
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
                Verb::Created | Verb::Configured | Verb::Unchanged => Phase::Applying,
            };
            progress.set(target, phase.word(), &line);
            if !screen.ui.is_live() {
                progress.line(Some(target), &line);
            }
        }
        (EventKind::Waiting { reason }, Some(target)) => {
            progress.set(target, Phase::Waiting.word(), reason);
        }
        (EventKind::Finished { ok, message }, Some(target)) => progress.done(target, *ok, message),
        (
            EventKind::Phase { .. }
            | EventKind::Wrote { .. }
            | EventKind::Waiting { .. }
            | EventKind::Finished { .. },
            None,
        ) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_fail_alike_are_told_once_an_attempt() {
        let mut retries = Retries::default();
        let (east, west) = (TargetName::new("us-east"), TargetName::new("us-west"));
        let start = Instant::now();
        let refused = "connection refused";
        let mut known = |target: &TargetName, why: &str, attempt: u32, ms: u64| {
            retries.is_known(Some(target), why, attempt, start + Duration::from_millis(ms))
        };
        assert!(!known(&east, refused, 1, 0));
        assert!(known(&east, refused, 1, 10), "another call, the same story");
        assert!(!known(&west, refused, 1, 20), "another cluster");
        assert!(!known(&east, refused, 2, 100), "it goes on");
        assert!(known(&east, refused, 1, 110));
        assert!(!known(&east, "503", 1, 120), "another reason");
        assert!(!known(&east, "503", 1, 6000), "much later");
    }
}
