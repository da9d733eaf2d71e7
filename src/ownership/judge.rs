//! What a plan does about every other manager of an object: the table of design §6, "Other
//! managers' fields".

use serde::Serialize;
use serde_json::Value;

use super::entry::{Entry, Operation, entries};
use super::managers::{ManagerClass, classify_with};
use super::marks::{Deployer, deployers_of, marks_of};
use super::path::FieldPath;
use super::policy::{Choice, Policy};
use crate::cluster::FieldConflict;

/// What is done about the other managers of one object. `take` first, then the apply, with force
/// when there were conflicts; with a stop none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Indexes in `metadata.managedFields` of the entries that become ours.
    pub take: Vec<usize>,
    /// Values that go back to the manifest's.
    pub revert: Vec<Revert>,
    /// Entries whose fields stay as they are, but for those that a revert names.
    pub left: Vec<Left>,
    /// Why the object must not be applied as things stand.
    pub stop: Vec<Stop>,
    /// The deployers that the object is taken over from.
    pub adopt: Vec<Deployer>,
    /// Their labels and annotations, which go whoever owns them.
    pub marks: Vec<FieldPath>,
}

/// Values of one manager that an apply sets back to the manifest's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Revert {
    /// The manager.
    pub manager: String,
    /// When it last wrote (RFC 3339), where the server knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// What goes back.
    pub fields: Vec<FieldPath>,
}

/// An entry that is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where it stands in `metadata.managedFields`.
    pub index: usize,
    /// What its manager is to us.
    pub class: ManagerClass,
}

/// A reason to leave an object alone until someone has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The manager; empty when only labels and annotations speak of another deployer.
    pub manager: String,
    /// The fields in conflict; empty when it is about the object as a whole.
    pub fields: Vec<FieldPath>,
    /// Why, as a fragment.
    pub why: String,
    /// What to do, as a fragment.
    pub how: String,
}

/// Judges the other managers of a live object for the manager `ours`. `conflicts` are those of an
/// apply without force; none were asked for or met: an empty list.
pub fn judge(live: &Value, ours: &str, conflicts: &[FieldConflict], policy: &Policy) -> Judgement {
    let all = entries(live);
    let marked = deployers_of(live, ours);
    let first_contact = !all.iter().any(|entry| entry.is_apply_of(ours));
    let case = Case { all: &all, ours, deployer: marked.first(), policy };
    let mut judgement = Judgement::default();
    for entry in all.iter().filter(|entry| !entry.fields.is_empty()) {
        judgement.entry(entry, &case);
    }
    // An object that only another applier has declared so far is not taken silently. Where there is
    // something to take, the applier is a controller that shares it (as of aggregated roles).
    if first_contact && judgement.take.is_empty() && !policy.force_conflicts {
        let appliers = judgement.left.iter().filter(|l| l.class == ManagerClass::OtherApply);
        let names: Vec<String> = appliers
            .filter_map(|left| all.iter().find(|entry| entry.index == left.index))
            .map(|entry| entry.manager.clone())
            .filter(|manager| policy.choice(manager) != Some(Choice::Leave))
            .collect();
        for name in names {
            judgement.stop_by(&name, &format!("`{name}` applies it too"), OTHER_APPLIER);
        }
    }
    for found in marked.iter() {
        if policy.adopt {
            judgement.adopt(found);
        } else if judgement.stop.is_empty() {
            judgement.stop_by("", &deployed_by(found), &other_deployer(found));
        }
    }
    judgement.marks = marks_of(live, ours, &judgement.adopt);
    for conflict in conflicts {
        judgement.decide(conflict, &case);
    }
    judgement
}

/// What the entries of one object are judged by.
struct Case<'a> {
    all: &'a [Entry],
    ours: &'a str,
    deployer: Option<&'a Deployer>,
    policy: &'a Policy,
}

impl Case<'_> {
    fn class(&self, entry: &Entry) -> ManagerClass {
        classify_with(entry, self.ours, self.deployer)
    }
}

const OTHER_APPLIER: &str = "leave it out of these manifests, or run again with \
                             `--force-conflicts` to apply it from here";
const NOT_OURS: &str = "leave the field out of the manifest, say in `conflicts` whose it is, or \
                        run again with `--force-conflicts` to set it anyway";
const NAMED: &str = "`conflicts` of the application file says `stop`: settle it with whoever set \
                     it, or run again with `--force-conflicts`";
const LEFT: &str = "`conflicts` of the application file says `leave`: leave the field out of the \
                    manifest";

fn other_application(app: &str) -> String {
    format!(
        "an object belongs to one application: leave it out of one of the two, or, where `{app}` is \
         what this one was called or where it was before, bring it here with `--move-from {app}`"
    )
}

fn deployed_by(deployer: &Deployer) -> String {
    format!("it is deployed by {deployer}")
}

fn other_deployer(deployer: &Deployer) -> String {
    format!(
        "run again with `--adopt` to take it over from {}, or leave it out of these manifests: two \
         deployers of one object undo each other",
        deployer.tool
    )
}

impl Judgement {
    /// Whether somebody has to decide first.
    pub fn is_stopped(&self) -> bool {
        !self.stop.is_empty()
    }

    /// What is done about an entry, whether or not it is in conflict.
    fn entry(&mut self, entry: &Entry, case: &Case<'_>) {
        let whole = entry.subresource.is_none();
        let class = case.class(entry);
        if whole && case.policy.former.as_ref() == Some(&entry.manager) {
            return self.take.push(entry.index);
        }
        let taken_by_table = matches!(class, ManagerClass::Declared);
        match case.policy.choice(&entry.manager) {
            Some(Choice::Take) if whole => return self.take.push(entry.index),
            Some(Choice::Stop) if taken_by_table && !case.policy.force_conflicts => {
                let why = format!("`{}` has declared it", entry.who());
                return self.stop_by(&entry.manager, &why, NAMED);
            }
            Some(Choice::Leave) if !matches!(class, ManagerClass::Deployer(_)) => {
                return self.left.push(Left { index: entry.index, class });
            }
            Some(Choice::Take | Choice::Stop | Choice::Leave) | None => {}
        }
        match class {
            ManagerClass::Ours => {}
            ManagerClass::OursByUpdate | ManagerClass::Declared => self.take.push(entry.index),
            ManagerClass::Deployer(found) if case.policy.adopt => {
                self.take.push(entry.index);
                self.adopt(&found);
            }
            ManagerClass::Deployer(found) => {
                self.stop_by(&entry.manager, &deployed_by(&found), &other_deployer(&found));
            }
            ManagerClass::OtherApplication(app) => {
                let why = format!("it belongs to the application `{app}`");
                self.stop_by(&entry.manager, &why, &other_application(&app));
            }
            class @ (ManagerClass::Hand
            | ManagerClass::Rollout
            | ManagerClass::Controller
            | ManagerClass::OtherApply
            | ManagerClass::OtherUpdate) => self.left.push(Left { index: entry.index, class }),
        }
    }

    /// Files a deployer to take over from. Its marks name the unit; a manager alone does not.
    fn adopt(&mut self, deployer: &Deployer) {
        let same = |known: &Deployer| known.tool == deployer.tool;
        match self.adopt.iter().position(|known| same(known) && known.unit.is_none()) {
            Some(at) if deployer.unit.is_some() => self.adopt[at] = deployer.clone(),
            _ if deployer.unit.is_none() && self.adopt.iter().any(same) => {}
            _ if self.adopt.contains(deployer) => {}
            _ => self.adopt.push(deployer.clone()),
        }
    }

    /// For an object that is to be the manifest and nothing else: what people and tools have set is
    /// taken too, so that it goes. What controllers hold stays, finalizers among it: they would
    /// write it again.
    #[must_use]
    pub fn replacing(mut self, live: &Value) -> Self {
        let all = entries(live);
        let (theirs, left) = std::mem::take(&mut self.left).into_iter().partition(|left: &Left| {
            let main = all.iter().any(|e| e.index == left.index && e.subresource.is_none());
            main && match left.class {
                ManagerClass::Hand
                | ManagerClass::Rollout
                | ManagerClass::OtherApply
                | ManagerClass::OtherUpdate => true,
                ManagerClass::Ours
                | ManagerClass::OursByUpdate
                | ManagerClass::OtherApplication(_)
                | ManagerClass::Declared
                | ManagerClass::Deployer(_)
                | ManagerClass::Controller => false,
            }
        });
        self.left = left;
        self.take.extend(theirs.iter().map(|left| left.index));
        self.take.sort_unstable();
        // What is taken goes; there is nothing of it to bring back.
        let taken = |revert: &Revert| {
            let same = |e: &&Entry| e.manager == revert.manager && e.time == revert.time;
            all.iter().filter(same).any(|e| self.take.contains(&e.index))
        };
        self.revert.retain(|revert| !taken(revert));
        self
    }

    fn stop_by(&mut self, manager: &str, why: &str, how: &str) {
        // Two entries of one manager (one a version) are one reason.
        if !self.stop.iter().any(|stop| stop.manager == manager && stop.why == why) {
            self.stop.push(Stop {
                manager: manager.to_owned(),
                fields: Vec::new(),
                why: why.to_owned(),
                how: how.to_owned(),
            });
        }
    }

    fn decide(&mut self, conflict: &FieldConflict, case: &Case<'_>) {
        let (entry, path) = subject(conflict, case.all);
        let class = case.class(&entry);
        let force = case.policy.force_conflicts;
        // A take ends the conflict. `before-first-apply` has no entry to take yet: the server
        // makes it up on the first apply to an object without managedFields.
        if class == ManagerClass::Ours || self.take.contains(&entry.index) {
            return;
        }
        let by_tool =
            matches!(class, ManagerClass::Deployer(_) | ManagerClass::OtherApplication(_));
        match case.policy.choice(&entry.manager) {
            Some(Choice::Take) => return self.revert(&entry, path),
            Some(Choice::Leave) if !by_tool => {
                return self.stop_on_field(&entry, path, "has set", LEFT);
            }
            Some(Choice::Stop) if !by_tool && !force => {
                return self.stop_on_field(&entry, path, "has set", NAMED);
            }
            Some(Choice::Leave | Choice::Stop) | None => {}
        }
        match class {
            ManagerClass::Ours => {}
            ManagerClass::OursByUpdate
            | ManagerClass::Declared
            | ManagerClass::Hand
            | ManagerClass::Rollout => self.revert(&entry, path),
            ManagerClass::Deployer(_) if case.policy.adopt => self.revert(&entry, path),
            ManagerClass::Deployer(found) => {
                self.stop_by(&entry.manager, &deployed_by(&found), &other_deployer(&found));
                self.name_field(&entry.manager, path);
            }
            ManagerClass::OtherApplication(app) => {
                let why = format!("it belongs to the application `{app}`");
                self.stop_by(&entry.manager, &why, &other_application(&app));
                self.name_field(&entry.manager, path);
            }
            ManagerClass::Controller | ManagerClass::OtherApply | ManagerClass::OtherUpdate
                if force =>
            {
                self.revert(&entry, path);
            }
            ManagerClass::Controller | ManagerClass::OtherUpdate => {
                self.stop_on_field(&entry, path, "has set", NOT_OURS);
            }
            ManagerClass::OtherApply => self.stop_on_field(&entry, path, "applies", NOT_OURS),
        }
    }

    fn revert(&mut self, entry: &Entry, path: FieldPath) {
        let known = self
            .revert
            .iter_mut()
            .find(|revert| revert.manager == entry.manager && revert.time == entry.time);
        match known {
            Some(revert) => revert.fields.push(path),
            None => self.revert.push(Revert {
                manager: entry.manager.clone(),
                time: entry.time.clone(),
                fields: vec![path],
            }),
        }
    }

    fn name_field(&mut self, manager: &str, path: FieldPath) {
        if let Some(stop) = self.stop.iter_mut().find(|stop| stop.manager == manager) {
            stop.fields.push(path);
        }
    }

    fn stop_on_field(&mut self, entry: &Entry, path: FieldPath, verb: &str, how: &str) {
        let manager = entry.manager.as_str();
        let known = self
            .stop
            .iter_mut()
            .find(|stop| stop.manager == manager && !stop.fields.is_empty() && stop.how == how);
        let stop = match known {
            Some(stop) => stop,
            None => {
                self.stop.push(Stop {
                    manager: manager.to_owned(),
                    fields: Vec::new(),
                    why: String::new(),
                    how: how.to_owned(),
                });
                let Some(stop) = self.stop.last_mut() else { return };
                stop
            }
        };
        stop.fields.push(path);
        stop.why = format!("`{}` {verb} {}", entry.who(), some(&stop.fields));
    }
}

/// A few paths, and how many more there are.
fn some(fields: &[FieldPath]) -> String {
    const SHOWN: usize = 3;
    let mut text: Vec<String> = fields.iter().take(SHOWN).map(|f| format!("`{f}`")).collect();
    if fields.len() > SHOWN {
        text.push(format!("and {} more", fields.len() - SHOWN));
    }
    text.join(", ")
}

/// The entry that a conflict is about and the field. Without an entry (a manager that the server
/// made up, or live that moved) what the server says of it stands in.
fn subject(conflict: &FieldConflict, all: &[Entry]) -> (Entry, FieldPath) {
    let candidates = || {
        all.iter().filter(|entry| {
            entry.manager == conflict.manager && entry.subresource == conflict.subresource
        })
    };
    let owner = candidates().find_map(|entry| Some((entry, entry.fields.find(&conflict.field)?)));
    if let Some((entry, path)) = owner {
        return (entry.clone(), path);
    }
    let path = FieldPath::parse(&conflict.field)
        .unwrap_or_else(|| FieldPath::fields(&[conflict.field.trim_start_matches('.')]));
    let stand_in = || Entry {
        index: usize::MAX,
        manager: conflict.manager.clone(),
        // The server leaves the version out when the other is an apply (A5.1).
        operation: match conflict.api_version {
            Some(_) => Operation::Update,
            None => Operation::Apply,
        },
        api_version: conflict.api_version.clone().unwrap_or_default(),
        subresource: conflict.subresource.clone(),
        time: None,
        fields: Default::default(),
    };
    (candidates().next().cloned().unwrap_or_else(stand_in), path)
}
