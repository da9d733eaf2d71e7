//! `mcd rollout status --watch`: how a rollout stands, again and again until it is closed or someone
//! stops looking. On a terminal one table that changes in its place; elsewhere a line, or a
//! document, a change.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::super::Outcome;
use super::super::args::Output;
use super::super::session::Session;
use super::see::{At, see};
use crate::cluster::state::Header;
use crate::error::{Error, Exit};
use crate::report::Board;
use crate::report::rollout::{RolloutReport, Shown, line, text};
use crate::ui::Ui;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(2);

/// How often the table is drawn anew, for its times.
const DRAW: Duration = Duration::from_secs(1);

/// Watches until the rollout is closed, the run is interrupted, or the reader of the output goes
/// away.
pub(super) async fn watch(
    session: &Session,
    header: Option<&Header>,
    all: &[At],
    shown: Shown,
    output: Output,
    ui: &Ui,
) -> Outcome {
    session.settle().await;
    session.mute();
    let mut screen = Screen { shown, output, ui, board: board(output, ui), told: BTreeMap::new() };
    let mut clock = tokio::time::interval(DRAW);
    let cancelled = session.interrupt.token().clone();
    let mut report = None;
    loop {
        let looks = see(session, header, all, shown.tree);
        tokio::pin!(looks);
        let sights = loop {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break None,
                sights = &mut looks => break Some(sights),
                _ = clock.tick() => screen.draw(report.as_ref()),
            }
        };
        let Some(sights) = sights else { break };
        let seen = RolloutReport::of(&sights, Timestamp::now());
        screen.change(&seen)?;
        let over = seen.state.is_over();
        report = Some(seen);
        if over || ui.is_closed() {
            break;
        }
        let pause = tokio::time::sleep(PAUSE);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break,
                () = &mut pause => break,
                _ = clock.tick() => screen.draw(report.as_ref()),
            }
        }
    }
    screen.end(report.as_ref())?;
    let interrupted = cancelled.is_cancelled();
    match (interrupted, report) {
        (true, _) => Ok(session.interrupted().unwrap_or(Exit::Interrupted)),
        (false, Some(report)) if report.exit_code != 0 => Ok(Exit::Unreachable),
        (false, _) => Ok(Exit::Ok),
    }
}

fn board(output: Output, ui: &Ui) -> Option<Board> {
    if output == Output::Table { Board::new(ui) } else { None }
}

struct Screen<'a> {
    shown: Shown,
    output: Output,
    ui: &'a Ui,
    board: Option<Board>,
    /// What was said last, of each target, and of the whole under no name.
    told: BTreeMap<String, String>,
}

impl Screen<'_> {
    /// Shows what was seen, where it is news.
    fn change(&mut self, report: &RolloutReport) -> Result<(), Error> {
        match self.output {
            Output::Table if self.board.is_some() => self.draw(Some(report)),
            Output::Table => {
                let time = Timestamp::now().strftime("%H:%M:%SZ").to_string();
                let whole = format!("{}, {}", report.state.word(), report.message);
                self.say("", &whole, |whole| format!("{time}  {whole}\n"))?;
                let width = report.targets.iter().map(|t| t.target.chars().count()).max();
                for target in &report.targets {
                    let name = format!("{:1$}", target.target, width.unwrap_or(0));
                    self.say(&target.target, &line(target), |line| {
                        format!("{time}  {name}  {line}\n")
                    })?;
                }
            }
            Output::Name => {
                for target in &report.targets {
                    let state = target.state.word();
                    let name = &target.target;
                    self.say(name, state, |state| format!("{name} {state}\n"))?;
                }
            }
            Output::Json | Output::Yaml => {
                let failed = |e: serde_json::Error| {
                    Error::config("cannot write the result").because(e.to_string())
                };
                // Times that only run on are no change.
                let mut still = report.clone();
                for target in &mut still.targets {
                    if let Some(gate) = &mut target.gate {
                        gate.seconds_left = None;
                    }
                }
                let still = serde_json::to_string(&still).map_err(failed)?;
                let value = serde_json::to_value(report).map_err(failed)?;
                let document = match self.output {
                    Output::Yaml => format!("---\n{}", crate::manifest::to_yaml(&value)),
                    Output::Json | Output::Table | Output::Name => format!("{value}\n"),
                };
                self.say("", &still, |_| document.clone())?;
            }
        }
        Ok(())
    }

    /// Writes what is said of a target, unless that was said last.
    fn say(&mut self, of: &str, what: &str, text: impl Fn(&str) -> String) -> Result<(), Error> {
        if self.told.get(of).is_some_and(|told| told == what) {
            return Ok(());
        }
        self.told.insert(of.to_owned(), what.to_owned());
        self.ui.data(&text(what))
    }

    fn draw(&self, report: Option<&RolloutReport>) {
        if let (Some(board), Some(report)) = (&self.board, report) {
            board.show(&text(report, self.shown, Timestamp::now(), self.ui.err()));
        }
    }

    /// Leaves the last table behind.
    fn end(&self, report: Option<&RolloutReport>) -> Result<(), Error> {
        let Some(board) = &self.board else { return Ok(()) };
        board.end();
        match report {
            Some(report) => {
                self.ui.data(&text(report, self.shown, Timestamp::now(), self.ui.out()))
            }
            None => Ok(()),
        }
    }
}
