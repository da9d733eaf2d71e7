//! Long texts, so that what matters of them is seen.

/// How much of what two texts have in common stays before the difference.
const BEFORE: usize = 30;

/// What stands for text that is left out.
const GAP: char = '…';

/// Two texts of at most so many characters each, around the first place where they differ. What
/// they have in common at the beginning is cut to its end; what is still too long is cut at its
/// end. Texts that are short enough stay as they are.
pub(super) fn elided(before: &str, after: &str, most: usize) -> (String, String) {
    let most = most.max(2 * BEFORE);
    if before.chars().count() <= most && after.chars().count() <= most {
        return (before.to_owned(), after.to_owned());
    }
    let common = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    // Indents tell where a line belongs.
    let indent = before.chars().take_while(|c| *c == ' ').count().min(common);
    let start = common.saturating_sub(BEFORE).max(indent);
    let cut = |text: &str| {
        let mut kept: String = text.chars().take(indent).collect();
        if start > indent {
            kept.push(GAP);
        }
        let room = most.saturating_sub(kept.chars().count() + 1);
        let rest: Vec<char> = text.chars().skip(start).collect();
        kept.extend(rest.iter().take(room));
        if rest.len() > room {
            kept.push(GAP);
        }
        kept
    };
    (cut(before), cut(after))
}

/// The text with its white space made visible, but for its indent.
pub(super) fn spaced(line: &str) -> String {
    let inner = line.trim_start_matches(' ');
    let mut text = line[..line.len() - inner.len()].to_owned();
    let shown = |c: char| match c {
        ' ' => '·',
        '\t' => '→',
        '\r' => '␍',
        other => other,
    };
    text.extend(inner.chars().map(shown));
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_differs_is_seen() {
        let same = "x".repeat(100);
        let (before, after) =
            elided(&format!("  {same}old{same}"), &format!("  {same}new{same}"), 60);
        assert_eq!(before, format!("  …{}old{}…", "x".repeat(30), "x".repeat(23)));
        assert_eq!(after, format!("  …{}new{}…", "x".repeat(30), "x".repeat(23)));
        assert_eq!(elided("a", "b", 60), ("a".into(), "b".into()));
        let (before, after) = elided("short", &same, 60);
        assert_eq!((before.as_str(), after.chars().count()), ("short", 60));
        assert_eq!(spaced("  a b \t"), "  a·b·→");
    }

    proptest! {
        #[test]
        fn two_that_differ_still_do(a in "[ab ]{0,200}", b in "[ab ]{0,200}", most in 0_usize..100) {
            let (x, y) = elided(&a, &b, most);
            prop_assert_eq!(a == b, x == y, "{:?} {:?}", x, y);
            let most = most.max(2 * BEFORE);
            prop_assert!(x.chars().count() <= most.max(a.chars().count()).min(most.max(BEFORE * 2)) || a.chars().count() <= most);
        }
    }
}
