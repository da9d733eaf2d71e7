//! `mcd status --watch`: how the targets stand, again and again until someone stops it. On a
//! terminal one table that changes in its place; elsewhere a line, or a document, a change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;
use tokio::sync::mpsc;

use super::Outcome;
use super::args::Output;
use super::deploy::failed;
use super::session::Session;
use super::status::stands;
use crate::apply::{Job, standing};
use crate::config::Target;
use crate::error::{Error, Exit};
use crate::report::Board;
use crate::report::model::{RunReport, TargetReport};
use crate::ui::Ui;

/// Between two looks at a target: as the longest pause of a wait.
const PAUSE: Duration = Duration::from_secs(2);

/// How often the table is drawn anew, for its ages.
const DRAW: Duration = Duration::from_secs(1);

/// A change, as `-o json` and `-o yaml` print it.
#[derive(Serialize)]
struct Change<'a> {
    /// `mcd.dev/watch/v1`.
    schema: &'static str,
    /// When it was seen (RFC 3339), by the clock of this machine.
    time: String,
    /// How the target stands now.
    #[serde(flatten)]
    target: &'a TargetReport,
}

/// Watches until the run is interrupted, or the reader of the output goes away.
pub(super) async fn watch(session: &Session, output: Output, ui: &Ui) -> Outcome {
    session.settle().await;
    session.mute();
    let (sender, mut seen) = mpsc::unbounded_channel();
    let mut watchers: FuturesUnordered<_> = session
        .targets
        .iter()
        .enumerate()
        .map(|(at, target)| look_on(session, at, target, sender.clone()))
        .collect();
    let mut screen = Screen::new(session, output, ui);
    let mut clock = tokio::time::interval(DRAW);
    let cancelled = session.interrupt.token().clone();
    loop {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => break,
            Some((at, report)) = seen.recv() => screen.change(at, report)?,
            _ = clock.tick() => screen.draw(),
            Some(()) = watchers.next() => {}
        }
        if ui.is_closed() {
            return Ok(Exit::Ok);
        }
    }
    screen.end()?;
    Ok(session.interrupted().unwrap_or(Exit::Interrupted))
}

/// Looks at a target for as long as it is listened to. A cluster that goes away is a state like any
/// other, and so is its return.
async fn look_on(
    session: &Session,
    at: usize,
    target: &Arc<Target>,
    seen: mpsc::UnboundedSender<(usize, TargetReport)>,
) {
    let mut job: Option<Job> = None;
    loop {
        let report = match look(session, target, &mut job).await {
            Ok(report) => report,
            Err(error) => failed(target, std::slice::from_ref(&error)),
        };
        if seen.send((at, report)).is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn look(
    session: &Session,
    target: &Arc<Target>,
    job: &mut Option<Job>,
) -> Result<TargetReport, Error> {
    let job = match job {
        Some(job) => job,
        None => job.insert(session.job(target).await?),
    };
    Ok(stands(target, &standing(job, None).await?))
}

/// What is known, and how it is shown.
struct Screen<'a> {
    session: &'a Session,
    output: Output,
    ui: &'a Ui,
    /// By the targets' places in the fleet.
    reports: BTreeMap<usize, TargetReport>,
    /// The table that changes in its place.
    live: Option<Board>,
    width: usize,
}

impl<'a> Screen<'a> {
    fn new(session: &'a Session, output: Output, ui: &'a Ui) -> Self {
        let live = if output == Output::Table { Board::new(ui) } else { None };
        let names = session.targets.iter().map(|t| t.name.as_str().chars().count());
        let width = names.max().unwrap_or(0);
        Screen { session, output, ui, reports: BTreeMap::new(), live, width }
    }

    /// Takes what was seen of a target, and shows it where it is news.
    fn change(&mut self, at: usize, report: TargetReport) -> Result<(), Error> {
        if self.reports.get(&at).is_some_and(|known| same(known, &report)) {
            return Ok(());
        }
        self.reports.insert(at, report.clone());
        let report = &report;
        let time = jiff::Timestamp::now();
        match self.output {
            Output::Table if self.live.is_some() => self.draw(),
            Output::Table => {
                let line = line(report, self.width);
                self.ui.data(&format!("{}  {line}\n", time.strftime("%H:%M:%SZ")))?;
            }
            Output::Name => {
                self.ui.data(&format!("{} {}\n", report.target, report.state.word()))?;
            }
            Output::Json | Output::Yaml => {
                let change =
                    Change { schema: "mcd.dev/watch/v1", time: time.to_string(), target: report };
                let value = serde_json::to_value(&change)
                    .map_err(|e| Error::config("cannot write the result").because(e.to_string()))?;
                self.ui.data(&match self.output {
                    Output::Yaml => format!("---\n{}", crate::manifest::to_yaml(&value)),
                    Output::Json | Output::Table | Output::Name => format!("{value}\n"),
                })?;
            }
        }
        Ok(())
    }

    fn table(&self, look: crate::ui::Look) -> String {
        let report = RunReport {
            schema: "mcd.dev/status/v1".to_owned(),
            application: self.session.project.app.to_string(),
            targets: self.reports.values().cloned().collect(),
            exit_code: 0,
        };
        crate::report::run::text(&report, jiff::Timestamp::now(), look)
    }

    fn draw(&self) {
        if let Some(live) = self.live.as_ref().filter(|_| !self.reports.is_empty()) {
            live.show(&self.table(self.ui.err()));
        }
    }

    /// Leaves the last table behind.
    fn end(&self) -> Result<(), Error> {
        let Some(live) = &self.live else { return Ok(()) };
        live.end();
        if self.reports.is_empty() { Ok(()) } else { self.ui.data(&self.table(self.ui.out())) }
    }
}

/// Whether two looks at a target come to the same.
fn same(a: &TargetReport, b: &TargetReport) -> bool {
    serde_json::to_value(a).ok() == serde_json::to_value(b).ok()
}

/// `us-east  Progressing  release 3  1/2 ready  Deployment shop/web: …`, for a log.
fn line(report: &TargetReport, width: usize) -> String {
    let mut line = format!("{:width$}  {:<12}", report.target, report.state.word());
    if let Some(release) = report.release {
        line += &format!("  release {release}");
    }
    if let Some(pods) = &report.pods {
        line += &format!("  {}/{} ready", pods.ready, pods.wanted);
    }
    let message = match report.errors.as_slice() {
        [] => report.message.clone(),
        [error, ..] => error.line(),
    };
    if !message.is_empty() {
        line += &format!("  {}", message.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{ErrorReport, PodCounts, TargetState};

    fn report(state: TargetState, message: &str) -> TargetReport {
        TargetReport {
            target: "eu".into(),
            context: "eu".into(),
            namespace: "shop".into(),
            state,
            release: Some(3),
            pods: Some(PodCounts { wanted: 2, ready: 1, updated: 2 }),
            message: message.into(),
            ..TargetReport::default()
        }
    }

    #[test]
    fn a_change_is_a_line() {
        let waits = report(TargetState::Progressing, "Deployment shop/web:\n 1/2 ready");
        assert_eq!(
            line(&waits, 7),
            "eu       Progressing   release 3  1/2 ready  Deployment shop/web: 1/2 ready"
        );
        let gone = TargetReport {
            errors: vec![ErrorReport::from(&Error::new(Exit::Unreachable, "no route"))],
            pods: None,
            release: None,
            ..report(TargetState::Unreachable, "")
        };
        assert_eq!(line(&gone, 2), "eu  Unreachable   no route");
        assert!(same(&waits, &waits.clone()) && !same(&waits, &gone));
    }
}
