//! What happens during a run, as it happens: the one contract between the modules that act and
//! the reporters that show. Nothing else below [`crate::report`] and [`crate::ui`] shows anything.

use std::time::Duration;

use serde::Serialize;

use crate::config::TargetName;
use crate::manifest::ObjectId;

/// Something that happened, and in which target (none: to the run as a whole).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetName>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// The phases of a target's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
