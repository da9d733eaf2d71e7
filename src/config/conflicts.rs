//! `conflicts:` of the application file, checked.

use std::collections::BTreeMap;

use super::application::ConflictsEntry;
use super::selector::matcher;
use super::settings::Checker;
use super::target::Conflicts;

impl Checker<'_> {
    /// The names of field managers: globs that can be read, each of them once.
    pub(crate) fn conflicts(&mut self, entry: ConflictsEntry) -> Conflicts {
        let ConflictsEntry { take, stop, leave } = entry;
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        for (list, names) in [("take", &take), ("stop", &stop), ("leave", &leave)] {
            for (index, name) in names.iter().enumerate() {
                let index = index.to_string();
                let at = ["conflicts", list, index.as_str()];
                if name.is_empty() {
                    self.fail_hint(
                        &at,
                        "the name of a field manager is empty",
                        "name one as `mcd plan` does, such as `kubectl-edit`, or a glob",
                    );
                    continue;
                }
                if name.starts_with("mcd:") {
                    self.fail_hint(
                        &at,
                        format!("`{name}` is an application of mcd's"),
                        "an object belongs to one application: leave it out of one of the two",
                    );
                }
                if let Err(error) = matcher(name) {
                    self.fail(&at, error.message().to_owned());
                }
                match known.insert(name.clone(), list) {
                    Some(other) if other == list => {
                        self.fail(&at, format!("`{name}` is in `conflicts.{list}` twice"));
                    }
                    Some(other) => self.fail(
                        &at,
                        format!("`{name}` is in `conflicts.{other}` and in `conflicts.{list}`"),
                    ),
                    None => {}
                }
            }
        }
        Conflicts { take, stop, leave }
    }
}
