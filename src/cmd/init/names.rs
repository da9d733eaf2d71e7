//! Names for clusters and applications, from names of contexts and folders. Pure.

/// Words in a context's name that say which environment it is.
const ENVIRONMENTS: [(&str, &str); 11] = [
    ("prod", "prod"),
    ("production", "prod"),
    ("prd", "prod"),
    ("staging", "staging"),
    ("stage", "staging"),
    ("stg", "staging"),
    ("dev", "dev"),
    ("development", "dev"),
    ("test", "test"),
    ("testing", "test"),
    ("qa", "qa"),
];

/// An application's name from a folder's: a DNS label of at most 40 characters.
pub(super) fn application(folder: &str) -> String {
    let name = plain(&folder.replace(['.', '_'], "-"), 40);
    if name.is_empty() { "app".to_owned() } else { name }
}

/// A cluster's name for a context, other than those that are taken: the last part of a cloud's
/// long name (`arn:aws:eks:…:cluster/prod`, `gke_project_zone_prod`), else all of it.
pub(super) fn cluster(context: &str, taken: &[String]) -> String {
    let last = context.rsplit('/').next().unwrap_or(context);
    let short = match context.starts_with("gke_") {
        true => last.rsplit('_').next().unwrap_or(last),
        false => last,
    };
    let is_free = |name: &String| !name.is_empty() && !taken.contains(name);
    let candidates = [plain(short, 63), plain(context, 63)];
    let numbered = (2..).map(|n| format!("{}-{n}", plain(context, 58)));
    let numbered =
        numbered.map(|name| if name.starts_with('-') { format!("cluster{name}") } else { name });
    candidates.into_iter().chain(numbered).find(is_free).unwrap_or_default()
}

/// The environment that a context's name tells.
pub(super) fn environment(context: &str) -> Option<&'static str> {
    let lower = context.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| ENVIRONMENTS.iter().find(|(known, _)| *known == word).map(|(_, e)| *e))
}

/// Lower-case letters, digits, `-`, `.` and `_`, with a letter or digit at both ends.
fn plain(text: &str, longest: usize) -> String {
    let mut name = String::new();
    for c in text.to_lowercase().chars() {
        let kept = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        // What was several strange characters is one dash.
        if kept != '-' || !name.ends_with('-') {
            name.push(kept);
        }
    }
    let ends = ['-', '.', '_'];
    let cut: String = name.trim_start_matches(ends).chars().take(longest).collect();
    cut.trim_end_matches(ends).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_named_after_contexts() {
        for (context, name) in [
            ("us-east", "us-east"),
            ("arn:aws:eks:eu-west-1:123456789012:cluster/prod", "prod"),
            ("gke_my-project_europe-west1_prod-1", "prod-1"),
            ("admin@Prod", "admin-prod"),
            ("default/api-ocp-example-com:6443/kube:admin", "kube-admin"),
            ("***", "cluster-2"),
        ] {
            assert_eq!(cluster(context, &[]), name, "{context}");
        }
        let taken = ["prod".to_owned()];
        assert_eq!(cluster("arn:aws:eks:x:1:cluster/prod", &taken), "arn-aws-eks-x-1-cluster-prod");
        assert_eq!(cluster("prod", &taken), "prod-2");
    }

    #[test]
    fn environments_are_words() {
        assert_eq!(environment("prod-us"), Some("prod"));
        assert_eq!(environment("gke_x_y_Staging"), Some("staging"));
        assert_eq!(environment("product-catalog"), None);
    }

    #[test]
    fn applications_are_named_after_folders() {
        for (folder, name) in
            [("web", "web"), ("My_App.v2", "my-app-v2"), ("", "app"), ("---", "app")]
        {
            assert_eq!(application(folder), name, "{folder}");
        }
        assert_eq!(application(&"x".repeat(80)).len(), 40);
    }
}
