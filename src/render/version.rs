//! Versions of tools as they print them, and requirements on them. Pure.

use std::fmt;

use semver::{Version, VersionReq};

use crate::config::version_requirement;

/// Finds the version in what a tool prints: `v5.8.2`, `v3.22.0+g3e1b2c4`, `v3.22`,
/// `{Version:kustomize/v4.5.7 GitCommit:…}`. None for `(devel)` and the like.
pub(super) fn parse(printed: &str) -> Option<Version> {
    let part_of_a_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    printed.split(|c| !part_of_a_version(c)).find_map(parse_word)
}

/// Reads one word as a version, with or without `v` and patch level.
pub(super) fn parse_word(word: &str) -> Option<Version> {
    let word = word.strip_prefix('v').unwrap_or(word);
    if !word.starts_with(|c: char| c.is_ascii_digit()) || !word.contains('.') {
        return None;
    }
    if let Ok(version) = Version::parse(word) {
        return Some(version);
    }
    let end = word.find(['-', '+']).unwrap_or(word.len());
    let (numbers, rest) = word.split_at(end);
    match numbers.matches('.').count() {
        1 => Version::parse(&format!("{numbers}.0{rest}")).ok(),
        _ => None,
    }
}

/// What a target asks of its tool's version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Requirement {
    written: String,
    accepts: VersionReq,
}

impl Requirement {
    /// Reads `>=5.4, <6`, `~3.14`, `^4`. A plain version means just that one: `5.8.2` is `=5.8.2`
    /// and `5.4` is any 5.4.x (not, as in Cargo, any later 5.x: a build that is pinned has to
    /// stay pinned). None for an empty text; an error says what is wrong.
    pub(super) fn parse(written: &str) -> Result<Option<Self>, String> {
        let trimmed = written.trim();
        if trimmed.is_empty() {
            return Ok(None);
        }
        let accepts = version_requirement(trimmed)?;
        Ok(Some(Requirement { written: trimmed.to_owned(), accepts }))
    }

    /// Whether a version will do.
    pub(super) fn accepts(&self, version: &Version) -> bool {
        self.accepts.matches(version)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_tools_print_them() {
        let cases = [
            ("v5.8.2\n", Some("5.8.2")),
            ("v3.22.0+g3e1b2c4", Some("3.22.0+g3e1b2c4")),
            ("v4.3.1", Some("4.3.1")),
            ("v3.22", Some("3.22.0")),
            ("v3.22-rc.1", Some("3.22.0-rc.1")),
            ("{kustomize/v4.5.7  2022-08-02T16:35:54Z  }", Some("4.5.7")),
            (
                "{Version:kustomize/v4.5.7 GitCommit:56d82a8 BuildDate:2022-08-02T16:35:54Z GoOs:linux}",
                Some("4.5.7"),
            ),
            ("version.BuildInfo{Version:\"v3.14.0\", GoVersion:\"go1.21.5\"}", Some("3.14.0")),
            ("(devel)", None),
            ("unknown", None),
            ("go1.26.8", None),
            ("", None),
        ];
        for (printed, wanted) in cases {
            assert_eq!(parse(printed).map(|v| v.to_string()).as_deref(), wanted, "{printed}");
        }
    }

    #[test]
    fn requirements() {
        let cases = [
            ("5.8.2", "5.8.2", true),
            ("v5.8.2", "5.8.2", true),
            ("5.8.2", "5.8.3", false),
            ("5.4", "5.4.3", true),
            ("5.4", "5.8.2", false),
            ("5", "5.8.2", true),
            ("=5.4.3", "5.4.3", true),
            (">=5.4, <6", "5.8.2", true),
            (">=5.4,<6", "6.0.0", false),
            (">= v5.4, < v6", "5.4.0", true),
            (">=3.14", "3.22.0+g3e1b2c4", true),
            ("3.22.0", "3.22.0+g3e1b2c4", true),
            ("^4", "4.3.1", true),
            ("~3.14", "3.15.0", false),
            ("*", "1.2.3", true),
        ];
        for (written, version, wanted) in cases {
            let requirement = Requirement::parse(written).unwrap().unwrap();
            let version = Version::parse(version).unwrap();
            assert_eq!(requirement.accepts(&version), wanted, "{written} on {version}");
            assert_eq!(requirement.to_string(), written);
        }
        assert_eq!(Requirement::parse("  "), Ok(None));
        for wrong in ["five", ">=", "5..4"] {
            assert!(Requirement::parse(wrong).is_err(), "{wrong}");
        }
    }
}
