//! The two files as text. Pure.

use std::fmt::Write as _;

use super::scan::Source;

/// A cluster of the fleet.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its name in the fleet.
    pub(super) name: String,
    /// The context.
    pub(super) context: String,
    /// The kubeconfig, when one was named.
    pub(super) kubeconfig: Option<String>,
    /// Its environment, by its name.
    pub(super) environment: Option<&'static str>,
    /// Why it is only a comment.
    pub(super) instead: Option<String>,
}

/// The fleet file.
pub(super) fn fleet(members: &[Member]) -> String {
    let mut text = "\
# The fleet: the clusters that applications can be deployed to. `mcd schema fleet` has every key.
apiVersion: mcd.dev/v1alpha1
kind: Fleet
clusters:
# `labels` are what selectors match, `values` what templates read: `{{ values.domain }}`. For example:
#   labels: {env: prod, region: us}
#   values: {domain: us.example.com, replicas: 5}
"
    .to_owned();
    for member in members {
        let mark = match &member.instead {
            Some(why) => {
                let _ = writeln!(text, "# {}", why.replace('\n', " "));
                "# "
            }
            None => "",
        };
        let _ = writeln!(text, "{mark}- name: {}", scalar(&member.name));
        if member.context != member.name {
            let _ = writeln!(text, "{mark}  context: {}", scalar(&member.context));
        }
        if let Some(path) = &member.kubeconfig {
            let _ = writeln!(text, "{mark}  kubeconfig: {}", scalar(path));
        }
        if let Some(environment) = member.environment {
            let _ = writeln!(text, "{mark}  labels: {{env: {environment}}}");
        }
    }
    text
}

/// The application file.
pub(super) fn application(
    name: &str,
    namespace: &str,
    fleet: &str,
    source: &Source,
    members: &[Member],
) -> String {
    let members: Vec<&Member> = members.iter().filter(|m| m.instead.is_none()).collect();
    format!(
        "\
# The application: what to render, where, and what differs. `mcd schema application` has every key.
apiVersion: mcd.dev/v1alpha1
kind: Application
metadata: {{name: {name}}}
fleet: {fleet}

# Which clusters of the fleet; {{}} is all. Or by labels, or by name:
#   {{labels: {{env: prod}}}}, {{clusters: [\"us-*\"]}}
select: {{}}

# For objects that name no namespace. It is created when it is not there; `mcd delete` leaves it.
namespace: {namespace}
createNamespace: true

{render}
# Variables: `mcd apply --var tag=1.2.3`.
# vars:
#   tag: {{required: true}}
# images:
# - {{name: registry.example.com/{plain}, newTag: \"{{{{ vars.tag }}}}\"}}

# What differs for some of the clusters, merged over the above.
# overrides:
# - select: {select}
#   {differs}
",
        name = scalar(name),
        plain = name,
        fleet = scalar(fleet),
        namespace = scalar(namespace),
        render = render(source, &members),
        select = match members.last() {
            Some(member) => format!("{{clusters: [{}]}}", scalar(&member.name)),
            None => "{labels: {env: prod}}".to_owned(),
        },
        differs = match other_overlay(source) {
            Some(path) => format!("render: {{kustomize: {{path: {}}}}}", scalar(&path)),
            None => format!("replicas: [{{name: {name}, count: 3}}]"),
        },
    )
}

fn render(source: &Source, members: &[&Member]) -> String {
    let mut text = "render:\n".to_owned();
    match source {
        Source::Kustomize { path, overlays } => {
            let above = Source::above(path);
            let chosen = match template(overlays, members) {
                Some(template) => format!("{above}/{template}"),
                None if overlays.is_empty() => path.clone(),
                None => format!("{above}/{}", preferred(overlays)),
            };
            let _ = writeln!(text, "  kustomize:\n    path: {}", scalar(&chosen));
            let others: Vec<String> = overlays
                .iter()
                .map(|name| format!("{above}/{name}"))
                .filter(|path| *path != chosen)
                .collect();
            if !others.is_empty() {
                let also = if chosen.contains("{{") { "There are" } else { "There are also" };
                let _ = writeln!(text, "    # {also} {}.", others.join(", "));
            }
            text += "    # The version of kustomize, exact or a range. Default: any.\n    \
                     # version: \">=5.4, <6\"\n";
        }
        Source::Helm { path, values } => {
            let _ = writeln!(text, "  helm:\n    chart: {}", scalar(path));
            let file = |name: &str| format!("{path}/values-{name}.yaml");
            match template(values, members) {
                Some(template) => {
                    let _ = writeln!(
                        text,
                        "    values:\n    - {{file: {}, optional: true}}",
                        serde_json::Value::String(file(&template))
                    );
                }
                None => {
                    let name = values.first().map_or("{{ labels.env }}", String::as_str);
                    let _ = writeln!(
                        text,
                        "    # Layers of values, later ones win:\n    # values:\n    \
                         # - {}\n    # - {{inline: {{replicaCount: 2}}}}",
                        scalar(&file(name))
                    );
                }
            }
            text += "    # The version of helm, exact or a range. Default: any.\n    \
                     # helmVersion: \">=3.14\"\n";
        }
        Source::Manifests(paths) => {
            text +=
                "  # Files, or folders: their *.yaml, *.yml and *.json, not below.\n  manifests:\n";
            for path in paths {
                let _ = writeln!(text, "  - {}", scalar(path));
            }
        }
    }
    text
}

/// An overlay beside the one that an application begins with.
fn other_overlay(source: &Source) -> Option<String> {
    let Source::Kustomize { path, overlays } = source else { return None };
    let other = overlays.iter().find(|name| *name != preferred(overlays))?;
    Some(format!("{}/{other}", Source::above(path)))
}

/// The template that gives each cluster the one of its name, or of its environment, if all of
/// them have one.
fn template(names: &[String], members: &[&Member]) -> Option<String> {
    let has = |name: &str| names.iter().any(|known| known == name);
    let all = |of: &dyn Fn(&Member) -> Option<String>| {
        !members.is_empty() && members.iter().all(|m| of(m).is_some_and(|name| has(&name)))
    };
    if all(&|member| Some(member.name.clone())) {
        Some("{{ target.name }}".to_owned())
    } else if all(&|member| member.environment.map(str::to_owned)) {
        Some("{{ labels.env }}".to_owned())
    } else {
        None
    }
}

/// The one to begin with.
fn preferred(names: &[String]) -> &str {
    let known = ["dev", "development", "test", "staging", "prod", "production"];
    let first = known.iter().find_map(|known| names.iter().find(|name| name == known));
    first.or(names.first()).map_or("", String::as_str)
}

/// A text as a YAML scalar.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c))
        && !WORDS.contains(&text.to_lowercase().as_str());
    if plain || text == "." {
        text.to_owned()
    } else {
        serde_json::Value::String(text.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn member(name: &str, context: &str, environment: Option<&'static str>) -> Member {
        let (name, context) = (name.to_owned(), context.to_owned());
        Member { name, context, kubeconfig: None, environment, instead: None }
    }

    fn members() -> Vec<Member> {
        vec![
            member("prod", "arn:aws:eks:eu-west-1:1:cluster/prod", Some("prod")),
            member("staging", "staging", Some("staging")),
            Member {
                instead: Some("the same server as staging".into()),
                ..member("again", "again", None)
            },
        ]
    }

    #[test]
    fn a_fleet() {
        assert_snapshot!(fleet(&members()));
    }

    #[test]
    fn an_application_of_each_source() {
        let of = |source: &Source| application("web", "web", "fleet.yaml", source, &members());
        let overlays = |names: &[&str]| Source::Kustomize {
            path: format!("overlays/{}", names[0]),
            overlays: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_snapshot!("overlays_of_clusters", of(&overlays(&["prod", "staging"])));
        assert_snapshot!("overlays_of_others", of(&overlays(&["eu", "us"])));
        let values = vec!["prod".to_owned(), "staging".to_owned()];
        assert_snapshot!("chart", of(&Source::Helm { path: "chart".into(), values }));
        let manifests = Source::Manifests(vec!["k8s".into(), "k8s/jobs and more".into()]);
        assert_snapshot!("manifests", of(&manifests));
    }

    #[test]
    fn scalars_are_read_back_as_they_were() {
        for text in [".", "web", "1.2", "yes", "a: b", "#x", "", "arn:aws:x", "k8s/a b", "-x", "e1"]
        {
            let yaml = format!("a: {}\n", scalar(text));
            let read = crate::manifest::yaml::load(&yaml, "x").expect("YAML");
            assert_eq!(read[0].value["a"], text, "{yaml}");
        }
    }
}
