//! What was read of the targets of a rollout. The header is kept once: it is the same in all
//! records, and of hundreds of targets it has hundreds of places.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::apply::Look;
use crate::cluster::state::{
    Approval, ClosedRollout, Freeze, Header, Mark, Place, Record, RolloutId, TargetProgress,
};
use crate::config::TargetName;
use crate::error::Error;
use crate::health::{Health, Readiness};
use crate::report::model::{ErrorReport, NodeReport, UnhealthyReport};
use crate::rollout::Step;

/// What was read of the targets of a rollout, one by one; [`super::RolloutReport::of`] makes the
/// report of it.
#[derive(Clone, Debug)]
pub struct Sights {
    pub(super) application: String,
    /// The rollout that is meant; none: the one that is open, or was closed last.
    pub(super) meant: Option<RolloutId>,
    pub(super) headers: Vec<Arc<Header>>,
    /// In the order in which they were seen.
    pub(super) seen: Vec<Seen>,
    index: BTreeMap<TargetName, usize>,
}

/// What was read of one target.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub target: TargetName,
    pub context: String,
    pub namespace: String,
    /// What its record says; none: nobody looked.
    pub found: Option<Found>,
    pub active: Option<u64>,
    pub closed: Option<ClosedRollout>,
    pub freeze: Option<Freeze>,
    /// No run is at the step that its record says is under way.
    pub left: bool,
    pub pods: Option<Readiness>,
    pub unhealthy: Vec<UnhealthyReport>,
    pub tree: Vec<NodeReport>,
    pub warnings: Vec<String>,
    pub errors: Vec<ErrorReport>,
}

/// What a record says of rollouts.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// One is open.
    Open(Box<Open>),
    /// None is; one may have been closed.
    Closed,
    /// The record could not be read.
    Unread,
}

/// An open rollout, without what all its records say alike.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub id: RolloutId,
    pub progress: TargetProgress,
    pub approvals: Vec<Approval>,
    /// All targets were staged, by this record.
    pub staged: bool,
    /// Someone takes the rollout back.
    pub abort: Option<Mark>,
}

impl Open {
    /// The steps that [`TargetProgress::steps`] names.
    pub(super) fn steps<'a>(&'a self, header: &'a Header) -> &'a [Step] {
        if header.by_hand { &self.progress.hand } else { &header.steps }
    }
}

impl Sights {
    /// Nothing yet. The report will be about the rollout that is open, or else that was closed
    /// last.
    pub fn new(application: impl Into<String>) -> Self {
        Sights {
            application: application.into(),
            meant: None,
            headers: Vec::new(),
            seen: Vec::new(),
            index: BTreeMap::new(),
        }
    }

    /// Nothing yet, of this rollout: for whoever has just run it, when its records may be closed.
    pub fn of(application: impl Into<String>, header: &Header) -> Self {
        let mut sights = Self::new(application);
        sights.meant = Some(header.id.clone());
        sights.headers.push(Arc::new(header.clone()));
        sights
    }

    /// Takes in what a target's record says; an error is that the record could not be read.
    pub fn saw(
        &mut self,
        target: &TargetName,
        context: &str,
        namespace: &str,
        record: Result<Option<&Record>, &Error>,
    ) {
        if let Ok(Some(open)) = record.map(|r| r.and_then(|r| r.rollout.as_deref()))
            && !self.headers.iter().any(|known| known.id == open.header.id)
        {
            self.headers.push(Arc::new(open.header.clone()));
        }
        let seen = self.at(target);
        (seen.context, seen.namespace) = (context.to_owned(), namespace.to_owned());
        match record {
            Err(error) => {
                seen.found = Some(Found::Unread);
                seen.errors.push(error.into());
            }
            Ok(None) => seen.found = Some(Found::Closed),
            Ok(Some(record)) => {
                seen.found = Some(match &record.rollout {
                    Some(open) => Found::Open(Box::new(Open {
                        id: open.header.id.clone(),
                        progress: open.progress.clone(),
                        approvals: open.approvals.clone(),
                        staged: open.is_staged_everywhere(),
                        abort: open.abort.clone(),
                    })),
                    None => Found::Closed,
                });
                seen.active = record.active;
                seen.closed = record.closed.clone();
                seen.freeze = record.freeze.clone();
            }
        }
    }

    /// Takes in how healthy a target is.
    pub fn looked(&mut self, target: &TargetName, look: &Look) {
        let seen = self.at(target);
        seen.pods = look.pods;
        seen.unhealthy = unhealthy(look);
        seen.tree = look.tree.nodes.iter().map(NodeReport::from).collect();
        seen.warnings.extend(look.summary.notes.iter().cloned());
        let unread = look.tree.unread.iter().map(|kind| format!("{kind} could not be listed"));
        seen.warnings.extend(unread);
    }

    /// Takes in that no run is at work in a target any more, whatever its record says.
    pub fn left(&mut self, target: &TargetName) {
        self.at(target).left = true;
    }

    /// Takes in what went wrong in a target, as this run saw it: that says more than its record.
    pub fn failed(&mut self, target: &TargetName, errors: &[Error]) {
        let seen = self.at(target);
        for error in errors.iter().map(ErrorReport::from) {
            if !seen.errors.iter().any(|known| known.line() == error.line()) {
                seen.errors.push(error);
            }
        }
    }

    fn at(&mut self, target: &TargetName) -> &mut Seen {
        let next = self.seen.len();
        let at = *self.index.entry(target.clone()).or_insert(next);
        if at == next {
            self.seen.push(Seen::new(target.clone()));
        }
        &mut self.seen[at]
    }

    /// What was seen of a target.
    pub(super) fn get(&self, target: &TargetName) -> Option<&Seen> {
        self.index.get(target).and_then(|at| self.seen.get(*at))
    }

    /// The rollout that the report is about: the one that is meant, or the newest that is open, or
    /// the one that was closed last.
    pub(super) fn id(&self) -> Option<RolloutId> {
        let open = || {
            let opened = |header: &&Arc<Header>| (header.opened, header.id.clone());
            self.headers.iter().max_by_key(opened).map(|header| header.id.clone())
        };
        let closed = || {
            let all = self.seen.iter().filter_map(|seen| seen.closed.as_ref());
            all.max_by_key(|closed| closed.at).map(|closed| closed.id.clone())
        };
        self.meant.clone().or_else(open).or_else(closed)
    }

    /// What is known of a rollout besides its targets.
    pub(super) fn header(&self, id: &RolloutId) -> Option<&Arc<Header>> {
        self.headers.iter().find(|header| header.id == *id)
    }
}

impl Seen {
    pub(super) fn new(target: TargetName) -> Self {
        Seen {
            target,
            context: String::new(),
            namespace: String::new(),
            found: None,
            active: None,
            closed: None,
            freeze: None,
            left: false,
            pods: None,
            unhealthy: Vec::new(),
            tree: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// One of which nothing is known but its place.
    pub(super) fn unseen(place: &Place) -> Self {
        Seen {
            context: place.context.clone(),
            namespace: place.namespace.clone(),
            ..Self::new(place.target.clone())
        }
    }

    /// Its part of a rollout, while that is open.
    pub(super) fn open(&self, id: &RolloutId) -> Option<&Open> {
        match &self.found {
            Some(Found::Open(open)) if open.id == *id => Some(open),
            Some(Found::Open(_) | Found::Closed | Found::Unread) | None => None,
        }
    }

    /// How a rollout ended in it.
    pub(super) fn closed(&self, id: &RolloutId) -> Option<&ClosedRollout> {
        self.closed.as_ref().filter(|closed| closed.id == *id && self.open(id).is_none())
    }

    /// Whether its record could not be read.
    pub(super) fn is_unread(&self) -> bool {
        matches!(self.found, Some(Found::Unread))
    }

    /// Whether nobody may write to it now.
    pub(super) fn frozen(&self, now: Timestamp) -> Option<&Freeze> {
        self.freeze.as_ref().filter(|freeze| freeze.until.is_none_or(|until| until > now))
    }
}

/// Each object that is not healthy, those that failed first.
fn unhealthy(look: &Look) -> Vec<UnhealthyReport> {
    let bad = look.verdicts.iter().filter(|(_, verdict)| verdict.health != Health::Healthy);
    let mut bad: Vec<UnhealthyReport> = bad
        .map(|(id, verdict)| UnhealthyReport {
            object: id.into(),
            health: verdict.health.word().to_lowercase(),
            reason: verdict.health.reason().unwrap_or_default().to_owned(),
        })
        .collect();
    bad.sort_by_key(|u| u.health != "failed");
    bad
}
