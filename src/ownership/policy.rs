//! What the user has decided about other managers: flags of the run, and `conflicts:` of the
//! application file, whose names come before the table of design §6.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::managers::OUR_PREFIX;

/// Whose wishes count besides the table's.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Take over what other deployers hold.
    pub adopt: bool,
    /// Win against controllers, other appliers, and managers that `conflicts.stop` names. It never
    /// wins over another deployer or another application, which would only write again.
    pub force_conflicts: bool,
    /// Managers whose fields become ours.
    pub take: Names,
    /// Managers whose fields stop the object where they would be taken or set back.
    pub stop: Names,
    /// Managers whose fields stay as they are.
    pub leave: Names,
    /// Our own manager as it was called before the state moved: its fields become ours.
    pub former: Option<String>,
}

/// What `conflicts:` says of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Its fields become ours whole: what the manifest lacks goes.
    Take,
    /// The object stops where its fields would be taken or set back.
    Stop,
    /// Its fields stay as they are, also those that the manifest sets.
    Leave,
}

impl Policy {
    /// The policy of these globs over names of field managers. Those that cannot be read match
    /// nothing: reading the file has reported them.
    pub fn new(take: &[String], stop: &[String], leave: &[String]) -> Self {
        Policy {
            take: Names::new(take),
            stop: Names::new(stop),
            leave: Names::new(leave),
            ..Policy::default()
        }
    }

    /// What the file says of a manager: a name that is written out comes before a glob, and of two
    /// globs the more careful one wins. mcd's own managers are beyond it: an object belongs to one
    /// application.
    pub fn choice(&self, manager: &str) -> Option<Choice> {
        if manager.starts_with(OUR_PREFIX) {
            return None;
        }
        let lists =
            [(&self.stop, Choice::Stop), (&self.leave, Choice::Leave), (&self.take, Choice::Take)];
        let exact = lists.iter().find(|(names, _)| names.names.iter().any(|n| n == manager));
        let found = exact.or_else(|| lists.iter().find(|(names, _)| names.globs.is_match(manager)));
        found.map(|(_, choice)| *choice)
    }
}

/// Globs over names, also as they are written.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    globs: GlobSet,
}

impl Names {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn new(names: &[String]) -> Self {
        let mut globs = GlobSetBuilder::new();
        for glob in names.iter().filter_map(|name| Glob::new(name).ok()) {
            globs.add(glob);
        }
        Names { names: names.to_vec(), globs: globs.build().unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_come_before_globs_and_care_before_taking() {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let policy = Policy::new(
            &list(&["my-*", "Go-http-client", "[bad"]),
            &list(&["my-db-*", "kubectl-edit"]),
            &list(&["my-db-operator", "*-sidecar", "*"]),
        );
        for (manager, expected) in [
            ("Go-http-client", Some(Choice::Take)),
            ("my-db-operator", Some(Choice::Leave)),
            ("my-db-backup", Some(Choice::Stop)),
            ("kubectl-edit", Some(Choice::Stop)),
            ("a/b-sidecar", Some(Choice::Leave)),
            ("my-editor", Some(Choice::Leave)),
            ("mcd:shop/api", None),
        ] {
            assert_eq!(policy.choice(manager), expected, "{manager}");
        }
        assert_eq!(Policy::default().choice("x"), None);
    }
}
