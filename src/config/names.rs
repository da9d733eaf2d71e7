//! What names may be made of.

fn is_made_of(text: &str, max: usize, ends: impl Fn(char) -> bool, inner: &str) -> bool {
    !text.is_empty()
        && text.len() <= max
        && text.chars().all(|c| ends(c) || inner.contains(c))
        && text.starts_with(&ends)
        && text.ends_with(&ends)
}

fn lower(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn any(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// A DNS label of RFC 1123 of at most `max` characters: what namespaces are.
pub(crate) fn is_dns_label(text: &str, max: usize) -> bool {
    is_made_of(text, max, lower, "-")
}

/// A cluster's name: fit for tables, globs and the names of files.
pub(crate) fn is_cluster_name(text: &str) -> bool {
    is_made_of(text, 63, lower, "-._")
}

/// A helm release's name (helm's own rule): a DNS subdomain of at most 53 characters.
pub(crate) fn is_helm_release(text: &str) -> bool {
    text.len() <= 53 && text.split('.').all(|part| is_dns_label(part, 53))
}

/// A label's key as in Kubernetes: an optional DNS subdomain and `/`, then a name.
pub(crate) fn is_label_key(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let fine = |p: &str| p.len() <= 253 && p.split('.').all(|part| is_dns_label(part, 63));
    prefix.is_none_or(fine) && is_made_of(name, 63, any, "-_.")
}

/// A label's value as in Kubernetes; it may be empty.
pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_made_of(text, 63, any, "-_.")
}

/// A chart's name in a repository.
pub(crate) fn is_chart_name(text: &str) -> bool {
    is_made_of(text, 250, any, "-_.")
}

/// An image's tag (the grammar of distribution/reference).
pub(crate) fn is_image_tag(text: &str) -> bool {
    let word = |c: char| any(c) || c == '_';
    !text.is_empty()
        && text.len() <= 128
        && text.starts_with(word)
        && text.chars().all(|c| word(c) || matches!(c, '.' | '-'))
}

/// An image's digest, such as `sha256:` and 64 hex digits.
pub(crate) fn is_image_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    is_made_of(algorithm, 32, any, "+._-")
        && hex.len() >= 32
        && hex.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
        && (algorithm != "sha256" || hex.len() == 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_kubernetes_takes() {
        let long = "a".repeat(64);
        for (text, expected) in [
            ("web", true),
            ("web-1", true),
            ("1", true),
            ("", false),
            ("-web", false),
            ("web-", false),
            ("Web", false),
            ("we.b", false),
            ("wéb", false),
            (&long, false),
        ] {
            assert_eq!(is_dns_label(text, 63), expected, "{text}");
        }
        for (text, expected) in [
            ("us-east", true),
            ("us_east.1", true),
            ("us*", false),
            ("us/east", false),
            ("US", false),
            (".", false),
            ("..", false),
            ("", false),
            (&long, false),
        ] {
            assert_eq!(is_cluster_name(text), expected, "{text}");
        }
        for (text, expected) in [
            ("env", true),
            ("topology.kubernetes.io/zone", true),
            ("Env_1", true),
            ("/a", false),
            ("a/", false),
            ("a/b/c", false),
            ("a b", false),
            ("", false),
        ] {
            assert_eq!(is_label_key(text), expected, "{text}");
        }
        for (text, expected) in
            [("", true), ("us-east", true), ("A.b_c", true), ("a b", false), ("-a", false)]
        {
            assert_eq!(is_label_value(text), expected, "{text}");
        }
        for (text, expected) in
            [("web", true), ("web.v2", true), ("web..v2", false), ("Web", false), (&long, false)]
        {
            assert_eq!(is_helm_release(text), expected, "{text}");
        }
    }

    #[test]
    fn tags_and_digests() {
        for (text, expected) in [
            ("1.4.2", true),
            ("_x", true),
            ("v1-rc.1", true),
            ("", false),
            ("-x", false),
            ("a:b", false),
        ] {
            assert_eq!(is_image_tag(text), expected, "{text}");
        }
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (text, expected) in
            [(digest.as_str(), true), ("sha256:0a", false), ("latest", false), ("", false)]
        {
            assert_eq!(is_image_digest(text), expected, "{text}");
        }
    }
}
