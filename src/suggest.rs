//! "Did you mean": the word that the user probably meant.

/// The least Jaro similarity at which a word is worth naming; clap's own threshold.
const ENOUGH: f64 = 0.7;

/// The candidate that is most like `word`, if one is enough like it: at most a third of its
/// letters are wrong, missing or swapped (cargo's rule), or else it is similar by clap's rule,
/// which finds words that were cut short. The comparison ignores case, so that `deployment` finds
/// `Deployment`; the first of equally good candidates wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = word.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let score = likeness(&wanted, &candidate.to_lowercase());
        if score > ENOUGH && best.is_none_or(|(top, _)| score > top) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Above 1 for a typing error, else the Jaro similarity.
fn likeness(a: &str, b: &str) -> f64 {
    let length = a.chars().count().max(b.chars().count());
    let errors = strsim::osa_distance(a, b);
    if !a.is_empty() && errors <= length.max(3) / 3 {
        // Lengths of words are far below what a float holds exactly.
        #[allow(clippy::cast_precision_loss)]
        return 2.0 - errors as f64 / length as f64;
    }
    strsim::jaro(a, b)
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
            ("repl", Some("replicas")),
            ("xyz", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, keys), expected, "{word}");
        }
        assert_eq!(hint("rollot", keys).as_deref(), Some("did you mean `rollout`?"));
        assert_eq!(nearest("a", []), None);
        assert_eq!(nearest("wbe", ["db", "web"]), Some("web"));
        assert_eq!(nearest("wb", ["db", "web"]), Some("web"));
        assert_eq!(nearest("us-west", ["us-east", "eu-west"]), Some("us-east"));
    }
}
