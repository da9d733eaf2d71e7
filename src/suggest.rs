//! "Did you mean": the word that the user probably meant.

/// The least Jaro similarity at which a word is worth naming; clap's own threshold.
const ENOUGH: f64 = 0.7;

/// The candidate that is most like `word`, if one is enough like it. The comparison ignores
/// case, so that `deployment` finds `Deployment`; the first of equally good candidates wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = word.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let score = strsim::jaro(&wanted, &candidate.to_lowercase());
        if score > ENOUGH && best.is_none_or(|(top, _)| score > top) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// [`nearest`] as the text of a hint: ``did you mean `replicas`?``
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|found| format!("did you mean `{found}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let keys = ["replicas", "render", "rollout", "namespace", "Deployment"];
        let cases = [
            ("replica", Some("replicas")),
            ("repilcas", Some("replicas")),
            ("namespaces", Some("namespace")),
            ("nameSpace", Some("namespace")),
            ("deployment", Some("Deployment")),
            ("roll-out", Some("rollout")),
            ("xyz", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, keys), expected, "{word}");
        }
        assert_eq!(hint("rollot", keys).as_deref(), Some("did you mean `rollout`?"));
        assert_eq!(nearest("a", []), None);
    }
}
