//! The names of copies.

use crate::error::{Error, Result};
use crate::manifest::ObjectId;

/// The longest name of an object, and of those that are names in DNS too.
const NAME: usize = 253;
const DNS_LABEL: usize = 63;

/// What a Deployment's ReplicaSets have behind its name: a dash and ten letters.
const REPLICA_SET: usize = 11;

/// The longest value of a label.
const LABEL: usize = 63;

/// Whether a suffix can stand behind a name and in the value of a label.
pub(super) fn check_suffix(suffix: &str) -> Result<()> {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ends = suffix.starts_with(fine) && suffix.ends_with(fine);
    if ends && suffix.chars().all(|c| fine(c) || c == '-') {
        return Ok(());
    }
    Err(Error::config(format!("`{suffix}` cannot be the suffix of a canary"))
        .hint("use lowercase letters, digits and dashes, such as `canary`"))
}

/// The identity of a copy.
///
/// # Errors
/// Exit 3 when its name would be too long.
pub(super) fn copy_of(id: &ObjectId, suffix: &str) -> Result<ObjectId> {
    let name = format!("{}-{suffix}", id.name);
    let longest = match (id.group.as_str(), id.kind.as_str()) {
        ("", "Service") => DNS_LABEL,
        ("apps", "Deployment") => NAME - REPLICA_SET,
        _ => NAME,
    };
    if name.len() > longest {
        return Err(too_long(format!("the copy's name `{name}`"), name.len(), longest).on(id));
    }
    Ok(ObjectId { name, ..id.clone() })
}

/// The value of a label of a copy.
///
/// # Errors
/// Exit 3 when it would be too long.
pub(super) fn value_of(id: &ObjectId, key: &str, value: &str, suffix: &str) -> Result<String> {
    // An empty value becomes the suffix alone: a value does not begin with a dash.
    let renamed = if value.is_empty() { suffix.to_owned() } else { format!("{value}-{suffix}") };
    if renamed.len() > LABEL {
        let what = format!("the value `{renamed}` of the copy's label `{key}`");
        return Err(too_long(what, renamed.len(), LABEL).on(id));
    }
    Ok(renamed)
}

fn too_long(what: String, length: usize, longest: usize) -> Error {
    Error::config(format!("{what} has {length} characters"))
        .because(format!("it may have {longest}"))
        .hint("use a shorter `suffix`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_have_a_length() {
        let id = |kind: &str, length: usize| ObjectId {
            group: if kind == "Deployment" { "apps".into() } else { String::new() },
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: "a".repeat(length),
        };
        let fits = |kind, length| copy_of(&id(kind, length), "canary").is_ok();
        for (kind, longest) in [("Service", 56), ("Deployment", 235), ("ConfigMap", 246)] {
            assert!(fits(kind, longest) && !fits(kind, longest + 1), "{kind}");
        }
        let error = copy_of(&id("Service", 60), "canary").unwrap_err();
        assert!(error.to_string().contains("has 67 characters: it may have 63"), "{error}");
        let web = id("Deployment", 3);
        assert_eq!(value_of(&web, "app", "web", "canary").as_deref(), Ok("web-canary"));
        assert_eq!(value_of(&web, "app", "", "canary").as_deref(), Ok("canary"));
        assert!(value_of(&web, "app", &"b".repeat(57), "canary").is_err());
    }

    #[test]
    fn suffixes_are_parts_of_names() {
        for fine in ["canary", "c", "2", "a-b"] {
            assert!(check_suffix(fine).is_ok(), "{fine}");
        }
        for wrong in ["", "-", "a-", "-a", "A", "a.b", "a_b", "é"] {
            assert!(check_suffix(wrong).is_err(), "{wrong}");
        }
    }
}
