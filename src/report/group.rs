//! What many targets have in common is told once.

use super::plan::plural;

/// Up to how many targets are named when a text is about all of them.
const FEW: usize = 6;

/// The targets below each text, in the order in which they come; empty texts are left out.
pub fn grouped<'a>(
    texts: impl IntoIterator<Item = (&'a str, String)>,
) -> Vec<(Vec<&'a str>, String)> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (target, text) in texts {
        if text.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((targets, _)) => targets.push(target),
            None => groups.push((vec![target], text)),
        }
    }
    groups
}

/// The targets of a group, of `all` that there are: `eu, us-east`, or `all 60 targets`.
pub fn names(targets: &[&str], all: usize) -> String {
    if targets.len() == all && all > FEW {
        format!("all {}", plural(all, "target"))
    } else {
        targets.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_with_the_same_text_stand_together() {
        let texts = [("a", "x"), ("b", ""), ("c", "y"), ("d", "x")];
        let groups = grouped(texts.map(|(target, text)| (target, text.to_owned())));
        assert_eq!(groups, [(vec!["a", "d"], "x".to_owned()), (vec!["c"], "y".to_owned())]);
    }

    #[test]
    fn many_targets_are_named_only_when_they_are_not_all() {
        let many = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(names(&many, 7), "all 7 targets");
        assert_eq!(names(&many, 8), "a, b, c, d, e, f, g");
        assert_eq!(names(&many[..3], 3), "a, b, c");
    }
}
