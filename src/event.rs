//! What happens during a run, as it happens: the one contract between the modules that act and
//! the reporters that show. Nothing else below [`crate::report`] and [`crate::ui`] shows anything.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::state::{RolloutId, Who};
use crate::config::TargetName;
use crate::manifest::ObjectId;

/// Something that happened, and in which target (none: to the run as a whole).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<TargetName>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// The target's work enters another phase.
    Phase {
        /// Which.
        phase: Phase,
    },
    /// A call is tried again.
    Retry {
        /// The call, such as `PATCH Deployment shop/web`.
        call: String,
        /// Which attempt failed, from 1.
        attempt: u32,
        /// How long until the next.
        #[serde(skip)]
        wait: Duration,
        /// Why it failed.
        why: String,
    },
    /// The server answers again, after calls that had to be tried again.
    Answers,
    /// Something the user should know: a server's warning, a reference to nothing.
    Warning {
        /// The object it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<ObjectId>,
        /// What to know.
        text: String,
    },
    /// A rollout begins, or goes on.
    RolloutOpened {
        /// Which.
        #[schemars(with = "String")]
        id: RolloutId,
        /// Whether it goes on where another run stopped.
        resumed: bool,
        /// The names of its waves, in order.
        waves: Vec<String>,
        /// How many targets it has.
        targets: usize,
    },
    /// The target has its release and its part of the rollout in its record; nothing else is
    /// written yet.
    Staged {
        /// The release; none: nothing changes in this target.
        #[serde(skip_serializing_if = "Option::is_none")]
        release: Option<u64>,
        /// Which way it goes, and why.
        reason: String,
    },
    /// A wave starts.
    WaveStarted {
        /// Which.
        #[serde(flatten)]
        wave: WaveMark,
        /// How many targets it has.
        targets: usize,
    },
    /// All targets of a wave have ended, and its soak is over.
    WaveEnded {
        /// Which.
        #[serde(flatten)]
        wave: WaveMark,
        /// How many of its targets failed.
        failed: usize,
    },
    /// All targets of a wave that did not fail are healthy, and have to stay so.
    Soak {
        /// Which.
        #[serde(flatten)]
        wave: WaveMark,
        /// Until when, in server time (RFC 3339).
        #[schemars(with = "String")]
        until: Timestamp,
    },
    /// Nothing can go on before someone approves.
    ApprovalNeeded {
        /// The wave that waits to start, or whose targets wait.
        #[serde(flatten)]
        wave: WaveMark,
        /// The pause at which its targets wait, as `rollout approve --step` takes it (from 1);
        /// none: the wave itself waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pause: Option<usize>,
    },
    /// Someone has approved.
    Approved {
        /// The wave that may start, or whose targets may go on.
        #[serde(flatten)]
        wave: WaveMark,
        /// The pause that is over, as in `approvalNeeded`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pause: Option<usize>,
        /// Who, as `alice@laptop`.
        #[serde(serialize_with = "in_words")]
        #[schemars(with = "String")]
        who: Who,
    },
    /// The target begins a step.
    StepStarted {
        /// Which.
        #[serde(flatten)]
        step: StepMark,
    },
    /// The target's step is over.
    StepEnded {
        /// Which.
        #[serde(flatten)]
        step: StepMark,
        /// Whether it went well.
        ok: bool,
    },
    /// The target is at a pause.
    Paused {
        /// Which step that is.
        #[serde(flatten)]
        step: StepMark,
        /// When it is over, in server time (RFC 3339); none: when someone approves.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        until: Option<Timestamp>,
    },
    /// The target has failed: a step of it, or its health during the soak.
    TargetFailed {
        /// The object that it failed at.
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<ObjectId>,
        /// Why.
        reason: String,
    },
    /// The target goes back to what it ran before.
    Undoing {
        /// The release that becomes active again; none: there was none.
        #[serde(skip_serializing_if = "Option::is_none")]
        release: Option<u64>,
    },
    /// The target is back.
    Undone {
        /// The release that is active again; none: there was none.
        #[serde(skip_serializing_if = "Option::is_none")]
        release: Option<u64>,
    },
    /// Nothing new starts any more.
    Stopped {
        /// The wave that it stopped at; none: the run was told to stop.
        #[serde(flatten)]
        wave: Option<WaveMark>,
        /// Why.
        reason: String,
    },
    /// The run of the rollout is over, and with it the rollout or not.
    RolloutEnded {
        /// Whether it is still open, so that someone has to resume or abort it.
        open: bool,
        /// A few words.
        message: String,
    },
    /// An object was written, or deleted.
    Wrote {
        /// Which object.
        object: ObjectId,
        /// What was done.
        verb: Verb,
    },
    /// The target waits, and for what.
    Waiting {
        /// Such as `Deployment shop/web: 1 of 3 updated`.
        reason: String,
    },
    /// The target is done, one way or the other.
    Finished {
        /// Whether it went well.
        ok: bool,
        /// A few words.
        message: String,
    },
}

/// A wave of a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaveMark {
    /// Its number, from 1.
    pub wave: usize,
    /// How many waves there are.
    pub of: usize,
    /// Its name.
    pub name: String,
}

impl WaveMark {
    /// The wave at `index` (from 0) of `waves`.
    pub fn new(index: usize, waves: usize, name: impl Into<String>) -> Self {
        WaveMark { wave: index.saturating_add(1), of: waves, name: name.into() }
    }
}

impl std::fmt::Display for WaveMark {
    /// `wave 2 of 3 (rest)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "wave {} of {} ({})", self.wave, self.of, self.name)
    }
}

/// A step of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepMark {
    /// Its number among the target's own steps, from 1.
    pub number: usize,
    /// How many steps the target has.
    pub of: usize,
    /// Its word: `canary`, `pause`, `run`, `primary` or `clean`.
    pub step: &'static str,
}

impl StepMark {
    /// The step after `done` of `steps` are done.
    pub fn new(done: usize, steps: usize, step: &'static str) -> Self {
        StepMark { number: done.saturating_add(1), of: steps, step }
    }
}

impl std::fmt::Display for StepMark {
    /// `2/4 canary`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{} {}", self.number, self.of, self.step)
    }
}

fn in_words<S: serde::Serializer>(who: &Who, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(who)
}

/// The phases of a target's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Waits for its turn.
    Pending,
    /// Reaches the cluster.
    Connecting,
    /// Runs the tool.
    Rendering,
    /// Reads live state.
    Reading,
    /// Asks the server what would change.
    Planning,
    /// Takes the lock.
    Locking,
    /// Writes.
    Applying,
    /// Deletes.
    Deleting,
    /// Waits for health.
    Waiting,
}

impl Phase {
    /// The word for tables and lines.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Pending => "pending",
            Phase::Connecting => "connecting",
            Phase::Rendering => "rendering",
            Phase::Reading => "reading",
            Phase::Planning => "planning",
            Phase::Locking => "locking",
            Phase::Applying => "applying",
            Phase::Deleting => "deleting",
            Phase::Waiting => "waiting",
        }
    }
}

/// What was done to an object, in kubectl's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// It was not there before.
    Created,
    /// It was changed.
    Configured,
    /// It was deleted and made anew.
    Recreated,
    /// Nothing had to be written.
    Unchanged,
    /// It is gone, or on its way.
    Deleted,
}

impl Verb {
    /// kubectl's word.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Created => "created",
            Verb::Configured => "configured",
            Verb::Recreated => "recreated",
            Verb::Unchanged => "unchanged",
            Verb::Deleted => "deleted",
        }
    }
}

/// Where events go. Cheap to clone; sending never blocks and never fails: when no reporter
/// listens any more, nobody wants to know.
#[derive(Clone, Debug)]
pub struct Events {
    sender: tokio::sync::mpsc::UnboundedSender<Event>,
    target: Option<TargetName>,
}

impl Events {
    /// A sender and its receiver.
    pub fn channel() -> (Self, tokio::sync::mpsc::UnboundedReceiver<Event>) {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        (Events { sender, target: None }, receiver)
    }

    /// The same, for the events of one target.
    #[must_use]
    pub fn of(&self, target: &TargetName) -> Self {
        Events { sender: self.sender.clone(), target: Some(target.clone()) }
    }

    /// Sends.
    pub fn send(&self, kind: EventKind) {
        let _ = self.sender.send(Event { target: self.target.clone(), kind });
    }

    /// Sends a change of phase.
    pub fn phase(&self, phase: Phase) {
        self.send(EventKind::Phase { phase });
    }

    /// Sends a warning.
    pub fn warn(&self, object: Option<&ObjectId>, text: impl Into<String>) {
        self.send(EventKind::Warning { object: object.cloned(), text: text.into() });
    }

    /// Sends what is waited for.
    pub fn waiting(&self, reason: impl Into<String>) {
        self.send(EventKind::Waiting { reason: reason.into() });
    }
}
