//! managedFields entries.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::FieldSet;

/// How a manager wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Everything else.
    Update,
}

/// One managedFields entry of a live object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands in `metadata.managedFields`.
    pub index: usize,
    /// The field manager's name.
    pub manager: String,
    /// How it wrote.
    pub operation: Operation,
    /// The version in which `fields` are spelled.
    pub api_version: String,
    /// The subresource it wrote through, such as `status` or `scale`.
    pub subresource: Option<String>,
    /// When it last wrote, as the server spells it (RFC 3339).
    pub time: Option<String>,
    /// What it owns.
    pub fields: FieldSet,
}

impl Entry {
    /// Whether this is the entry of server-side applies by `manager`.
    pub fn is_apply_of(&self, manager: &str) -> bool {
        self.manager == manager && self.operation == Operation::Apply && self.subresource.is_none()
    }

    /// For people: `kubectl-edit`, `kubectl (scale)`, `argocd-controller (apply)`.
    pub fn who(&self) -> String {
        match (&self.subresource, self.operation) {
            (Some(subresource), _) => format!("{} ({subresource})", self.manager),
            (None, Operation::Apply) => format!("{} (apply)", self.manager),
            (None, Operation::Update) => self.manager.clone(),
        }
    }

    fn parse(index: usize, raw: &Value) -> Option<Self> {
        let text = |key: &str| raw[key].as_str().filter(|s| !s.is_empty()).map(str::to_owned);
        Some(Entry {
            index,
            manager: text("manager")?,
            operation: match raw["operation"].as_str()? {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            },
            api_version: text("apiVersion").unwrap_or_default(),
            subresource: text("subresource"),
            time: text("time"),
            fields: FieldSet::from_json(&raw["fieldsV1"]),
        })
    }
}

/// The entries of a live object. What is no entry (`[{}]` after managedFields were cleared) is
/// left out.
pub fn entries(live: &Value) -> Vec<Entry> {
    raw_entries(live)
        .iter()
        .enumerate()
        .filter_map(|(index, raw)| Entry::parse(index, raw))
        .collect()
}

/// The entry of server-side applies by `ours`; none when there is none, or more than one (one a
/// version), in which case nothing simple can be said.
pub fn our_entry(live: &Value, ours: &str) -> Option<Entry> {
    let mut found = raw_entries(live).iter().enumerate().filter(|(_, raw)| is_raw_apply(raw, ours));
    match (found.next(), found.next()) {
        (Some((index, raw)), None) => Entry::parse(index, raw),
        _ => None,
    }
}

/// `metadata.managedFields` as it stands.
pub(super) fn raw_entries(live: &Value) -> &[Value] {
    live["metadata"]["managedFields"].as_array().map_or(&[], Vec::as_slice)
}

/// [`Entry::is_apply_of`] on the raw entry.
pub(super) fn is_raw_apply(raw: &Value, manager: &str) -> bool {
    raw["manager"].as_str() == Some(manager)
        && raw["operation"].as_str() == Some("Apply")
        && raw["subresource"].as_str().is_none_or(str::is_empty)
}
