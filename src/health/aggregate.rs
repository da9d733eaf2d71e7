//! The verdicts of a target's objects → that of the target.

use serde::Serialize;

use super::{Health, Verdict};
use crate::manifest::ObjectId;

/// How many objects are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Judged healthy.
    pub healthy: usize,
    /// Applied, with nothing to judge by.
    pub applied: usize,
    /// On their way.
    pub progressing: usize,
    /// Failed.
    pub failed: usize,
    /// Paused.
    pub paused: usize,
    /// Not known.
    pub unknown: usize,
}

/// The health of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// That of its worst object; the reason names the first such object, and how many more there
    /// are.
    #[serde(flatten)]
    pub health: Health,
    /// How many objects are in which state.
    pub counts: Counts,
    /// The notes of all objects, each with the object's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Sums up: the worst wins, Failed before Progressing, Unknown, Paused, Healthy. No objects at
/// all are healthy: there is nothing to wait for.
pub fn aggregate<'a>(verdicts: impl IntoIterator<Item = (&'a ObjectId, &'a Verdict)>) -> Summary {
    let mut counts = Counts::default();
    let mut notes = Vec::new();
    let mut worst: Option<(&ObjectId, &Health)> = None;
    let mut alike = 0_usize;
    for (id, verdict) in verdicts {
        *match (&verdict.health, verdict.known) {
            (Health::Healthy, true) => &mut counts.healthy,
            (Health::Healthy, false) => &mut counts.applied,
            (Health::Progressing(_), _) => &mut counts.progressing,
            (Health::Failed(_), _) => &mut counts.failed,
            (Health::Paused(_), _) => &mut counts.paused,
            (Health::Unknown(_), _) => &mut counts.unknown,
        } += 1;
        notes.extend(verdict.notes.iter().map(|note| format!("{id}: {note}")));
        let weight = worst.map_or(0, |(_, health)| health.weight());
        match verdict.health.weight() {
            0 => {}
            w if w > weight => {
                worst = Some((id, &verdict.health));
                alike = 0;
            }
            w if w == weight => alike += 1,
            _ => {}
        }
    }
    let health = worst.map_or(Health::Healthy, |(id, health)| {
        let more = if alike == 0 { String::new() } else { format!(" (and {alike} more)") };
        let say = |reason: &str| format!("{id}: {reason}{more}");
        match health {
            Health::Healthy => Health::Healthy,
            Health::Progressing(reason) => Health::Progressing(say(reason)),
            Health::Failed(reason) => Health::Failed(say(reason)),
            Health::Paused(reason) => Health::Paused(say(reason)),
            Health::Unknown(reason) => Health::Unknown(say(reason)),
        }
    });
    Summary { health, counts, notes }
}
