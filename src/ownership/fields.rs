//! Sets of fields, as managedFields' `fieldsV1` holds them: a tree whose nodes are members or not.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::path::{FieldPath, Segment};

/// A set of field paths. A node without children is a member; a node with children is one when
/// `fieldsV1` has `"."` in it (maps and list items that the manager owns as such).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    member: bool,
    children: BTreeMap<Segment, FieldSet>,
}

impl FieldSet {
    /// Reads `fieldsV1`. Never fails: a spelling that is not understood is kept as it is, and
    /// anything but an object counts as no field.
    pub fn from_json(fields: &Value) -> Self {
        let mut set = FieldSet::default();
        for (key, below) in fields.as_object().into_iter().flatten() {
            if key == "." {
                set.member = true;
                continue;
            }
            let mut child = FieldSet::from_json(below);
            child.member |= child.children.is_empty();
            set.children.insert(Segment::parse(key), child);
        }
        set
    }

    /// The `fieldsV1` of this set.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".into(), Value::Object(Map::new()));
        }
        for (segment, child) in &self.children {
            map.insert(segment.to_key(), child.to_json());
        }
        Value::Object(map)
    }

    /// Whether it has no field at all.
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// Whether this node itself is a member.
    pub fn is_member(&self) -> bool {
        self.member
    }

    /// The steps below this node, in order.
    pub fn children(&self) -> impl Iterator<Item = (&Segment, &FieldSet)> {
        self.children.iter()
    }

    /// What lies below one step.
    pub fn child(&self, segment: &Segment) -> Option<&FieldSet> {
        self.children.get(segment)
    }

    /// Adds a path.
    pub fn insert(&mut self, path: &FieldPath) {
        let mut node = self;
        for segment in path.segments() {
            node = node.children.entry(segment.clone()).or_default();
        }
        node.member = true;
    }

    /// The node at `path`: what is owned at or below it.
    pub fn at(&self, path: &FieldPath) -> Option<&FieldSet> {
        path.segments().iter().try_fold(self, |node, segment| node.children.get(segment))
    }

    /// Whether exactly this path is a member.
    pub fn contains(&self, path: &FieldPath) -> bool {
        self.at(path).is_some_and(|node| node.member)
    }

    /// Whether the field at `path` is owned, by itself or as a part of a value that is owned whole
    /// (an atomic list or map).
    pub fn covers(&self, path: &FieldPath) -> bool {
        let mut node = self;
        for segment in path.segments() {
            match node.children.get(segment) {
                Some(next) => node = next,
                None => return node.member && node.children.is_empty(),
            }
        }
        node.member
    }

    /// All members, in order.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut out = Vec::new();
        self.collect(&FieldPath::default(), false, &mut out);
        out
    }

    /// The members without members below them: the values that are owned.
    pub fn leaves(&self) -> Vec<FieldPath> {
        let mut out = Vec::new();
        self.collect(&FieldPath::default(), true, &mut out);
        out
    }

    fn collect(&self, at: &FieldPath, leaves_only: bool, out: &mut Vec<FieldPath>) {
        if self.member && (!leaves_only || self.children.is_empty()) && !at.is_empty() {
            out.push(at.clone());
        }
        for (segment, child) in &self.children {
            child.collect(&at.join(segment.clone()), leaves_only, out);
        }
    }

    /// The member that the API server prints as `text`. Unlike [`FieldPath::parse`] this is exact
    /// for names with dots in them.
    pub fn find(&self, text: &str) -> Option<FieldPath> {
        self.find_below(&FieldPath::default(), text)
    }

    fn find_below(&self, at: &FieldPath, text: &str) -> Option<FieldPath> {
        if text.is_empty() {
            return self.member.then(|| at.clone());
        }
        self.children.iter().find_map(|(segment, child)| {
            // As the server prints it, or as we do.
            let rest = |printed: String| {
                child.find_below(&at.join(segment.clone()), text.strip_prefix(&printed)?)
            };
            rest(segment.bare()).or_else(|| rest(segment.to_string()))
        })
    }

    /// Everything in either.
    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut set = self.clone();
        set.add(other);
        set
    }

    /// Adds everything of `other`.
    pub fn add(&mut self, other: &FieldSet) {
        self.member |= other.member;
        for (segment, child) in &other.children {
            match self.children.get_mut(segment) {
                Some(ours) => ours.add(child),
                None => {
                    self.children.insert(segment.clone(), child.clone());
                }
            }
        }
    }

    /// The members that `other` has not.
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let mut set =
            FieldSet { member: self.member && !other.member, children: BTreeMap::default() };
        for (segment, child) in &self.children {
            let left = match other.children.get(segment) {
                Some(theirs) => child.difference(theirs),
                None => child.clone(),
            };
            if !left.is_empty() {
                set.children.insert(segment.clone(), left);
            }
        }
        set
    }

    /// The members that both have.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        self.difference(&self.difference(other))
    }

    /// Removes `path` and all below it. False when nothing was there. A parent that is left
    /// without children goes too, unless it is a member by itself.
    pub fn remove(&mut self, path: &FieldPath) -> bool {
        self.remove_below(path.segments())
    }

    fn remove_below(&mut self, segments: &[Segment]) -> bool {
        let Some((first, rest)) = segments.split_first() else { return false };
        if rest.is_empty() {
            return self.children.remove(first).is_some();
        }
        let Some(child) = self.children.get_mut(first) else { return false };
        let removed = child.remove_below(rest);
        if child.is_empty() {
            self.children.remove(first);
        }
        removed
    }

    /// Moves what lies below the top-level field `from` to the top-level field `to`.
    pub fn rename_top(&mut self, from: &str, to: &str) {
        if let Some(moved) = self.children.remove(&Segment::Field(from.into())) {
            self.children.entry(Segment::Field(to.into())).or_default().add(&moved);
        }
    }

    /// Only those members that lead to a value of `object`.
    #[must_use]
    pub fn found_in(&self, object: &Value) -> FieldSet {
        let mut set = FieldSet::default();
        for path in self.paths().iter().filter(|path| path.get(object).is_some()) {
            set.insert(path);
        }
        set
    }
}

impl FromIterator<FieldPath> for FieldSet {
    fn from_iter<I: IntoIterator<Item = FieldPath>>(paths: I) -> Self {
        let mut set = FieldSet::default();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}
