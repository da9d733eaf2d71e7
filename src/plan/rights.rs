//! What a user has to be allowed for a set of objects: what `mcd doctor` asks the server about, and
//! the Role that grants it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::handling::Handling;

/// A kind of objects in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    /// The namespace; none for kinds without one.
    pub namespace: Option<String>,
    /// The API group; empty for the core group.
    pub group: String,
    /// The name in URLs, such as `deployments`.
    pub plural: String,
}

impl Scope {
    /// A kind of the core group or another one.
    pub fn new(namespace: Option<&str>, group: &str, plural: &str) -> Self {
        Scope {
            namespace: namespace.map(str::to_owned),
            group: group.to_owned(),
            plural: plural.to_owned(),
        }
    }

    /// `deployments.apps`.
    pub fn resource(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}

/// What a right is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Reading: `plan`, `diff`, `status`.
    Plan,
    /// Dry runs, and writing.
    Apply,
    /// Deleting objects and state.
    Delete,
    /// A help that is done without: causes in messages, exact predictions.
    Help,
}

impl Purpose {
    /// The name of the check.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Plan => "plan",
            Purpose::Apply => "apply",
            Purpose::Delete => "delete",
            Purpose::Help => "causes",
        }
    }
}

/// The rights that a target needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rights {
    needs: BTreeMap<(Scope, &'static str), Need>,
}

/// What a right is needed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The first that needs it.
    pub purpose: Purpose,
    /// The objects that it is about, for roles that are limited to names; none: any of the kind.
    pub names: Option<BTreeSet<String>>,
}

/// A target's own state.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The namespace of record, releases and lock.
    pub namespace: &'a str,
    /// The names of the Secrets that a plan reads: the record and the key.
    pub read: [&'a str; 2],
    /// The name of the lock.
    pub lease: &'a str,
    /// A namespace that an apply would make.
    pub creates: Option<&'a str>,
}

impl Rights {
    /// What the state needs, and the messages about `namespace`.
    pub fn of_state(state: State<'_>, namespace: &str) -> Self {
        let mut rights = Rights::default();
        let secrets = Scope::new(Some(state.namespace), "", "secrets");
        let leases = Scope::new(Some(state.namespace), "coordination.k8s.io", "leases");
        rights.need(Purpose::Plan, &secrets, &["get"], &state.read);
        // Releases are Secrets with numbers in their names.
        rights.need(
            Purpose::Apply,
            &secrets,
            &["list", "create", "update", "patch", "delete"],
            &[],
        );
        rights.need(Purpose::Apply, &leases, &["get", "create", "update"], &[state.lease]);
        rights.need(Purpose::Delete, &leases, &["delete"], &[state.lease]);
        if let Some(name) = state.creates {
            let namespaces = Scope::new(None, "", "namespaces");
            rights.need(Purpose::Apply, &namespaces, &["get", "create"], &[name]);
        }
        for (group, plural) in [("", "pods"), ("apps", "replicasets"), ("", "events")] {
            rights.need(Purpose::Help, &Scope::new(Some(namespace), group, plural), &["list"], &[]);
        }
        rights
    }

    /// What an object of the set needs.
    pub fn add_object(&mut self, scope: &Scope, name: &str, handling: Handling) {
        let deletes = match handling {
            Handling::Ignore => return,
            Handling::Recreate => Purpose::Apply,
            Handling::Shared | Handling::Replace | Handling::CreateOnly => Purpose::Delete,
        };
        self.need(Purpose::Plan, scope, &["get", "list"], &[name]);
        self.need(Purpose::Apply, scope, &["create", "patch"], &[name]);
        self.need(deletes, scope, &["delete"], &[name]);
    }

    /// What an object of the inventory needs that the set no longer has: an apply deletes it.
    pub fn add_left(&mut self, scope: &Scope, name: &str) {
        self.need(Purpose::Plan, scope, &["get", "list"], &[name]);
        self.need(Purpose::Apply, scope, &["delete"], &[name]);
    }

    /// Adds verbs on the objects of these names; none: on any.
    fn need(&mut self, purpose: Purpose, scope: &Scope, verbs: &[&'static str], names: &[&str]) {
        for verb in verbs {
            // No role can limit these to names.
            let of_one = !names.is_empty() && !matches!(*verb, "list" | "create");
            let names: Option<BTreeSet<String>> =
                of_one.then(|| names.iter().map(|name| (*name).to_owned()).collect());
            let key = (scope.clone(), *verb);
            match self.needs.get_mut(&key) {
                None => drop(self.needs.insert(key, Need { purpose, names })),
                Some(known) => {
                    known.purpose = known.purpose.min(purpose);
                    known.names = match (known.names.take(), names) {
                        (Some(mut all), Some(more)) => {
                            all.extend(more);
                            Some(all)
                        }
                        (None, _) | (_, None) => None,
                    };
                }
            }
        }
    }

    /// Each right once, with what it is needed for.
    pub fn iter(&self) -> impl Iterator<Item = (&Scope, &'static str, &Need)> {
        self.needs.iter().map(|((scope, verb), need)| (scope, *verb, need))
    }

    /// The Roles and the ClusterRole that grant all of it to `user`, each with its binding. `home` is
    /// the namespace that tells the application from others of its name.
    pub fn roles(&self, app: &str, home: &str, user: Option<&str>) -> Vec<Value> {
        let mut kinds: BTreeMap<&Scope, BTreeSet<&str>> = BTreeMap::new();
        for (scope, verb, _) in self.iter() {
            kinds.entry(scope).or_default().insert(verb);
        }
        let mut rules: BTreeMap<Option<&str>, BTreeMap<(&str, Vec<&str>), Vec<&str>>> =
            BTreeMap::new();
        for (scope, verbs) in kinds {
            let place = rules.entry(scope.namespace.as_deref()).or_default();
            let key = (scope.group.as_str(), in_order(&verbs));
            place.entry(key).or_default().push(&scope.plural);
        }
        let mut roles = Vec::new();
        for (namespace, rules) in rules {
            let (kind, name) = match namespace {
                Some(_) => ("Role", format!("mcd-{app}")),
                None => ("ClusterRole", format!("mcd-{home}-{app}")),
            };
            let rules: Vec<Value> = rules
                .into_iter()
                .map(|((group, verbs), resources)| {
                    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
                })
                .collect();
            let mut metadata = json!({"name": name});
            if let Some(namespace) = namespace {
                metadata["namespace"] = namespace.into();
            }
            roles.push(json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
                "metadata": metadata, "rules": rules,
            }));
            if let Some(user) = user {
                roles.push(json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": format!("{kind}Binding"),
                    "metadata": metadata,
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
                    "subjects": [subject(user)],
                }));
            }
        }
        roles
    }
}

/// Rights in words: ``create/patch `services`, `deployments.apps` in namespace `web` ``. Kinds
/// with the same verbs stand together, as do those of a namespace.
pub fn in_words(rights: &[(&Scope, &str)]) -> String {
    let mut kinds: BTreeMap<&Scope, BTreeSet<&str>> = BTreeMap::new();
    for (scope, verb) in rights {
        kinds.entry(scope).or_default().insert(verb);
    }
    let mut places: BTreeMap<Option<&str>, BTreeMap<Vec<&str>, Vec<String>>> = BTreeMap::new();
    for (scope, verbs) in kinds {
        let place = places.entry(scope.namespace.as_deref()).or_default();
        place.entry(in_order(&verbs)).or_default().push(format!("`{}`", scope.resource()));
    }
    let places = places.into_iter().map(|(namespace, groups)| {
        let groups = groups.into_iter();
        let groups =
            groups.map(|(verbs, kinds)| format!("{} {}", verbs.join("/"), kinds.join(", ")));
        let place = match namespace {
            Some(namespace) => format!("in namespace `{namespace}`"),
            None => "in the whole cluster".to_owned(),
        };
        format!("{} {place}", groups.collect::<Vec<_>>().join("; "))
    });
    places.collect::<Vec<_>>().join("; ")
}

/// Verbs in the order in which people write them.
fn in_order(verbs: &BTreeSet<&str>) -> Vec<&'static str> {
    ["get", "list", "create", "update", "patch", "delete"]
        .into_iter()
        .filter(|verb| verbs.contains(verb))
        .collect()
}

/// The subject of a binding for the name by which the server knows a user.
fn subject(user: &str) -> Value {
    let account = user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    match account {
        Some((namespace, name)) => {
            json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
        }
        None => json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights() -> Rights {
        let read = ["mcd.web", "mcd-key.web"];
        let state = State { namespace: "web", read, lease: "mcd.web", creates: None };
        let mut rights = Rights::of_state(state, "web");
        rights.add_object(&Scope::new(Some("web"), "apps", "deployments"), "web", Handling::Shared);
        rights.add_object(&Scope::new(Some("web"), "", "services"), "web", Handling::Shared);
        rights.add_left(&Scope::new(Some("web"), "", "configmaps"), "old");
        rights.add_object(
            &Scope::new(None, "rbac.authorization.k8s.io", "clusterroles"),
            "web",
            Handling::Shared,
        );
        rights
    }

    #[test]
    fn each_right_is_needed_once_for_what_needs_it_first() {
        let mut rights = rights();
        let secrets = Scope::new(Some("web"), "", "secrets");
        rights.add_object(&secrets, "s", Handling::Shared);
        let of = |verb: &str| {
            let found = rights.iter().filter(|(s, v, _)| **s == secrets && *v == verb);
            let found: Vec<&Need> = found.map(|(_, _, need)| need).collect();
            assert_eq!(found.len(), 1, "{verb}");
            found[0].clone()
        };
        assert_eq!(of("list"), Need { purpose: Purpose::Plan, names: None });
        assert_eq!(of("patch"), Need { purpose: Purpose::Apply, names: None });
        let names = ["mcd-key.web", "mcd.web", "s"].map(str::to_owned);
        let names = Some(BTreeSet::from(names));
        assert_eq!(of("get"), Need { purpose: Purpose::Plan, names });
        let left = Scope::new(Some("web"), "", "configmaps");
        assert!(!rights.iter().any(|(s, verb, _)| *s == left && verb == "patch"));
    }

    #[test]
    fn an_apply_deletes_what_it_prunes_and_makes_anew() {
        let mut rights = rights();
        let delete = |rights: &Rights, plural: &str| {
            let mut found =
                rights.iter().filter(|(s, verb, _)| s.plural == plural && *verb == "delete");
            found.next().map(|(.., need)| need.purpose)
        };
        assert_eq!(delete(&rights, "services"), Some(Purpose::Delete));
        assert_eq!(delete(&rights, "configmaps"), Some(Purpose::Apply));
        let jobs = Scope::new(Some("web"), "batch", "jobs");
        rights.add_object(&jobs, "ignored", Handling::Ignore);
        assert_eq!(delete(&rights, "jobs"), None);
        rights.add_object(&jobs, "j", Handling::Recreate);
        assert_eq!(delete(&rights, "jobs"), Some(Purpose::Apply));
    }

    #[test]
    fn kinds_with_the_same_verbs_stand_together() {
        let (a, b) =
            (Scope::new(Some("n"), "", "services"), Scope::new(Some("n"), "apps", "deployments"));
        let c = Scope::new(None, "", "namespaces");
        let rights = [
            (&a, "patch"),
            (&a, "create"),
            (&b, "create"),
            (&b, "patch"),
            (&b, "get"),
            (&c, "get"),
        ];
        assert_eq!(
            in_words(&rights),
            "get `namespaces` in the whole cluster; create/patch `services`; get/create/patch \
             `deployments.apps` in namespace `n`"
        );
    }

    #[test]
    fn the_roles_grant_what_is_asked_and_no_more() {
        let roles = rights().roles("web", "shop", Some("system:serviceaccount:ci:deployer"));
        let text: String =
            roles.iter().map(|role| format!("---\n{}", crate::manifest::to_yaml(role))).collect();
        insta::assert_snapshot!(text);
    }
}
