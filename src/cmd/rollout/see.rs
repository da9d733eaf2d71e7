//! What a rollout came to, or how it stands, for people and programs.

use futures::stream::{self, StreamExt};
use jiff::Timestamp;

use super::super::Outcome;
use super::super::args::Output;
use super::super::plan::document;
use super::super::session::Session;
use super::find::Member;
use crate::apply::Job;
use crate::apply::rollout::{drive, sight};
use crate::cluster::state::{Header, Place};
use crate::error::{Error, Exit};
use crate::event::EventKind;
use crate::report::rollout::{RolloutReport, Shown, Sights, text};
use crate::ui::Ui;

/// A target of a rollout, and how to get there, or why not.
pub(super) struct At {
    /// Where it is.
    pub place: Place,
    /// The work on it.
    pub job: Result<Job, Error>,
}

impl From<Member> for At {
    fn from(member: Member) -> Self {
        let unread = || Error::new(Exit::Unreachable, "was not reached");
        let job = match (member.job, member.record) {
            (Some(job), _) => Ok(job),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(unread().in_target(&member.place.target)),
        };
        At { place: member.place, job }
    }
}

/// Looks at all targets. `header` is that of the rollout that is meant.
pub(super) async fn see(
    session: &Session,
    header: Option<&Header>,
    all: &[At],
    closer: bool,
) -> Sights {
    let looks: Vec<_> = stream::iter(all)
        .map(|at| async move {
            match &at.job {
                Ok(job) => sight(job, closer).await.map_err(|e| e.in_target(&at.place.target)),
                Err(error) => Err(error.clone()),
            }
        })
        .buffered(session.concurrency)
        .collect()
        .await;
    let app = session.project.app.as_str();
    let mut sights = header.map_or_else(|| Sights::new(app), |header| Sights::of(app, header));
    for (At { place, .. }, look) in all.iter().zip(looks) {
        // Nobody expects a record there.
        if place.not_staged.is_some() {
            continue;
        }
        let record = look.as_ref().map(|sight| sight.record.as_ref());
        let context = session.target(&place.target).map(|target| &target.cluster.context);
        let context = context.unwrap_or(&place.context);
        sights.saw(&place.target, context, &place.namespace, record);
        if let Ok(sight) = &look {
            if let Some(look) = &sight.look {
                sights.looked(&place.target, look);
            }
            if sight.left {
                sights.left(&place.target);
            }
        }
    }
    sights
}

/// Tells what a run of a rollout came to.
pub(super) async fn finish(
    session: &Session,
    header: &Header,
    all: &[At],
    outcome: &drive::Outcome,
    exit: Exit,
    output: Output,
    ui: &Ui,
) -> Outcome {
    let mut sights = see(session, Some(header), all, false).await;
    for (name, target) in &outcome.targets {
        let errors: Vec<Error> = target.errors.iter().chain(&target.troubles).cloned().collect();
        sights.failed(name, &errors);
        // It does not matter when it was told to stop: it ends now.
        if session.interrupted().is_some() {
            sights.left(name);
        }
    }
    // Whoever heard the signal knows which it was.
    let exit = match session.interrupted() {
        Some(interrupted) if matches!(exit, Exit::Interrupted | Exit::Terminated) => interrupted,
        _ => exit,
    };
    let mut report = RolloutReport::of(&sights, Timestamp::now());
    report.exit_code = exit.code();
    session.events.send(EventKind::RolloutEnded {
        open: !report.state.is_over(),
        message: format!("{}, {}", report.state.word(), report.message),
    });
    session.settle().await;
    show(&report, Shown::default(), output, ui)?;
    Ok(exit)
}

/// Prints a report in the form that was asked for.
pub(super) fn show(
    report: &RolloutReport,
    shown: Shown,
    output: Output,
    ui: &Ui,
) -> Result<(), Error> {
    match output {
        Output::Table => {
            ui.data(&text(report, shown, Timestamp::now(), ui.out()))?;
            for next in &report.next {
                ui.hint(next);
            }
        }
        Output::Json | Output::Yaml => document(report, output, ui)?,
        Output::Name => {
            for target in &report.targets {
                ui.data(&format!("{} {}\n", target.target, target.state.word()))?;
            }
        }
    }
    Ok(())
}
