//! Requirements on versions of tools, and versions of Kubernetes.

use semver::VersionReq;

/// Reads a requirement such as `>=5.4, <6`, `5.8.2` (exactly that), `5.8` (any 5.8), `v3.14.0`,
/// `~5.4` or `3.x`. Conditions stand apart by a comma or a space; all have to hold.
///
/// A version alone means that version, as in every lock file of a tool chain; cargo's reading of
/// it as "compatible with" would take 5.9 for `5.8.2`.
///
/// # Errors
/// Why it cannot be read.
pub fn version_requirement(text: &str) -> Result<VersionReq, String> {
    let spaced = text.replace(',', " ");
    let mut conditions: Vec<String> = Vec::new();
    let mut operator = String::new();
    for word in spaced.split_whitespace() {
        let at = word.find(|c: char| !"<>=~^".contains(c)).unwrap_or(word.len());
        let (signs, version) = word.split_at(at);
        operator.push_str(signs);
        if version.is_empty() {
            continue;
        }
        let version = version.strip_prefix('v').unwrap_or(version);
        let wild = version.contains(['*', 'x', 'X']) && !version.contains('-');
        if operator.is_empty() && !wild {
            operator.push('=');
        }
        conditions.push(format!("{operator}{version}"));
        operator.clear();
    }
    if !operator.is_empty() {
        return Err(format!("`{operator}` names no version"));
    }
    if conditions.is_empty() {
        return Err("it is empty".to_owned());
    }
    VersionReq::parse(&conditions.join(", ")).map_err(|error| error.to_string())
}

/// Whether `text` is a version of Kubernetes as helm's `--kube-version` takes it: `1.34`,
/// `v1.34.2`, `1.34.2-gke.100`.
pub(crate) fn is_kube_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, rest) = match text.find(['-', '+']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let parts: Vec<&str> = numbers.split('.').collect();
    let numeric = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(numeric) && rest.len() != 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_takes_what_its_words_say() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("5.8.2", &["5.8.2"], &["5.8.3", "5.9.0", "5.8.1"]),
            ("v5.8.2", &["5.8.2"], &["5.8.3"]),
            ("=5.8.2", &["5.8.2"], &["5.8.3"]),
            ("5.8", &["5.8.0", "5.8.9"], &["5.9.0"]),
            (">=5.4, <6", &["5.4.0", "5.8.2"], &["5.3.9", "6.0.0"]),
            (">=5.4 <6", &["5.4.0", "5.8.2"], &["5.3.9", "6.0.0"]),
            (">= v5.4, < 6", &["5.4.0", "5.8.2"], &["5.3.9", "6.0.0"]),
            ("~5.4", &["5.4.3"], &["5.5.0"]),
            ("^3.14", &["3.14.0", "3.19.1"], &["4.0.0", "3.13.0"]),
            ("3.x", &["3.0.0", "3.19.1"], &["4.0.0"]),
            ("*", &["1.0.0"], &[]),
        ];
        for (text, taken, refused) in cases {
            let requirement = version_requirement(text).expect(text);
            for version in *taken {
                assert!(requirement.matches(&version.parse().expect(version)), "{text} {version}");
            }
            for version in *refused {
                assert!(!requirement.matches(&version.parse().expect(version)), "{text} {version}");
            }
        }
    }

    #[test]
    fn what_is_no_requirement_is_refused() {
        for text in ["", " ", "latest", ">=", ">=5.4 <", "5.4.3.2", "=>5"] {
            assert!(version_requirement(text).is_err(), "{text}");
        }
    }

    #[test]
    fn versions_of_kubernetes() {
        for text in ["1.34", "v1.34", "1.34.2", "v1.34.2-gke.100", "1.34.2+k3s1"] {
            assert!(is_kube_version(text), "{text}");
        }
        for text in ["", "1", "latest", "1.34.", "1.34.2.1", "v", "1.x", "1.34-"] {
            assert!(!is_kube_version(text), "{text}");
        }
    }
}
