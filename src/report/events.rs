//! `--events FILE`: every event of a run as a line of JSON, for whoever follows it by program.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::state::RolloutId;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind};

/// The schema of a line.
const SCHEMA: &str = "mcd.dev/event/v1";

/// A line of the file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventLine<'a> {
    /// `mcd.dev/event/v1`.
    pub schema: &'static str,
    /// When it happened (RFC 3339), by the clock of this machine.
    pub time: String,
    /// The rollout that the run is about, from `rolloutOpened` on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub rollout: Option<&'a RolloutId>,
    /// What happened.
    #[serde(flatten)]
    pub event: &'a Event,
}

/// The file. Each line is written at once and whole, so that whoever reads along, or after the
/// run was killed, finds lines that parse. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog(Arc<Mutex<Option<Open>>>);

#[derive(Debug)]
struct Open {
    file: File,
    rollout: Option<RolloutId>,
}

impl EventLog {
    /// Writes to this file from now on, after what it holds: a run that goes on where another
    /// stopped may go on in its file.
    ///
    /// # Errors
    /// It cannot be written (exit 3).
    pub(super) fn open(&self, path: &Path) -> Result<()> {
        let failed = |why: String| {
            Error::config(format!("cannot write events to `{}`", path.display())).because(why)
        };
        if path.as_os_str() == "-" {
            return Err(failed("standard output is for the result".to_owned())
                .hint("name a file, or `/dev/stdout` to mix both"));
        }
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(path).map_err(|e| failed(e.to_string()))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Open { file, rollout: None });
        Ok(())
    }

    /// Writes an event, where there is a file.
    ///
    /// # Errors
    /// It could not be written; nothing more will be.
    pub(super) fn write(&self, event: &Event, now: Timestamp) -> Result<(), std::io::Error> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = log.as_mut() else { return Ok(()) };
        if let EventKind::RolloutOpened { id, .. } = &event.kind {
            open.rollout = Some(id.clone());
        }
        let line = EventLine {
            schema: SCHEMA,
            time: now.to_string(),
            rollout: open.rollout.as_ref(),
            event,
        };
        let done = serde_json::to_vec(&line).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            open.file.write_all(&line)
        });
        if done.is_err() {
            *log = None;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TargetName;
    use crate::event::{Phase, StepMark, WaveMark};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn lines_carry_the_rollout_and_parse() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let log = EventLog::default();
        let run = |kind| Event { target: None, kind };
        log.write(&run(EventKind::Answers), at(0)).unwrap();
        log.open(&path).unwrap();
        let of = |kind| Event { target: Some(TargetName::new("eu")), kind };
        let id = RolloutId::new(at(0), 7);
        let names = vec!["first".to_owned(), "rest".to_owned()];
        let events = [
            of(EventKind::Phase { phase: Phase::Rendering }),
            run(EventKind::RolloutOpened { id, resumed: false, waves: names, targets: 3 }),
            run(EventKind::WaveStarted { wave: WaveMark::new(0, 2, "first"), targets: 1 }),
            of(EventKind::StepStarted { step: StepMark::new(0, 2, "canary") }),
            of(EventKind::Paused { step: StepMark::new(1, 2, "pause"), until: Some(at(60)) }),
            run(EventKind::Stopped { wave: None, reason: "interrupted".into() }),
        ];
        for (second, event) in events.iter().enumerate() {
            log.write(event, at(second as i64)).unwrap();
        }
        insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap());
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_of_usage() {
        for path in ["-", "/dev/null/events"] {
            let error = EventLog::default().open(Path::new(path)).unwrap_err();
            assert_eq!(error.exit(), crate::error::Exit::Config, "{path}");
        }
    }
}
