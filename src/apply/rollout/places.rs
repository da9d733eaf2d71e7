//! The clusters of a rollout, found again by whoever has kubeconfigs and no files: each place of
//! its header against what the contexts at hand lead to (design §7). Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::cluster::Server;
use crate::cluster::state::Place;
use crate::config::{AppName, ClusterSpec, Conflicts, Render, Target};
use crate::error::{Error, Exit};
use crate::health::Rules;

/// A context at hand, and where it leads.
#[derive(Clone, Debug)]
pub struct Route {
    /// The cluster as this machine reaches it.
    pub cluster: ClusterSpec,
    /// What its context names.
    pub server: Server,
}

impl Route {
    /// Whether it leads to where the rollout's target is. Two servers of one address with different
    /// authorities are two clusters; a kubeconfig may leave the authority to the system.
    fn leads_to(&self, place: &Place) -> bool {
        let same_ca = match (&self.server.ca_digest, &place.ca_digest) {
            (Some(own), Some(known)) => own == known,
            (None, _) | (_, None) => true,
        };
        same_ca && self.server.url.eq_ignore_ascii_case(&place.server)
    }
}

/// The route to a place: of several, the one with the context's name of then, or the target's, or
/// the first.
///
/// # Errors
/// None leads there (exit 9).
pub fn route<'a>(place: &Place, routes: &'a [Route]) -> Result<&'a Route, Error> {
    let mut leading = routes.iter().filter(|route| route.leads_to(place));
    let first = leading.clone().next();
    let by_context = leading.clone().find(|route| route.cluster.context == place.context);
    let by_name = leading.find(|route| route.cluster.name == place.target);
    by_context.or(by_name).or(first).ok_or_else(|| {
        Error::new(Exit::Unreachable, format!("no context leads to `{}`", place.server))
            .in_target(&place.target)
            .because(format!("it was reached through the context `{}`", place.context))
            .hint("add its context to the kubeconfig, or name another file with `--kubeconfig`")
    })
}

/// The target at a place, reached by a route. Nothing can be rendered of it; what a step needs to
/// know besides is in its release.
pub fn target(app: &AppName, place: &Place, route: &Route) -> Target {
    let cluster = ClusterSpec { name: place.target.clone(), ..route.cluster.clone() };
    bare(app, cluster, &place.namespace, &place.state_namespace, place.state_namespace_is_set)
}

/// An application in a cluster of which nothing is known but where its record is.
pub fn bare(
    app: &AppName,
    cluster: ClusterSpec,
    namespace: &str,
    state_namespace: &str,
    state_namespace_is_set: bool,
) -> Target {
    Target {
        name: cluster.name.clone(),
        app: app.clone(),
        cluster,
        namespace: namespace.to_owned(),
        state_namespace: state_namespace.to_owned(),
        state_namespace_is_set,
        create_namespace: false,
        vars: BTreeMap::<String, Value>::new(),
        render: Render::Manifests(Vec::new()),
        images: Vec::new(),
        replicas: Vec::new(),
        patches: Vec::new(),
        conflicts: Conflicts::default(),
        ignore: Vec::new(),
        health: Rules::default(),
        root: PathBuf::new(),
        allow_plugins: false,
        tools: BTreeMap::new(),
        chart_repositories: Vec::new(),
        provenance: BTreeMap::new(),
    }
}

/// Where a target is, for the header of a rollout.
pub fn place(target: &Target, server: &Server) -> Place {
    Place {
        target: target.name.clone(),
        context: target.cluster.context.clone(),
        server: server.url.clone(),
        ca_digest: server.ca_digest.clone(),
        namespace: target.namespace.clone(),
        state_namespace: target.state_namespace.clone(),
        state_namespace_is_set: target.state_namespace_is_set,
        not_staged: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route_of(name: &str, context: &str, url: &str, ca: Option<&str>) -> Route {
        Route {
            cluster: ClusterSpec::of_context(name, context),
            server: Server {
                url: url.into(),
                host: "host".into(),
                ca_digest: ca.map(Into::into),
                insecure: false,
            },
        }
    }

    #[test]
    fn places_are_found_by_server_and_authority_whatever_they_are_called() {
        let routes = [
            route_of("a", "admin@a", "https://a:6443", Some("ca-a")),
            route_of("b", "b", "https://b:6443", None),
            route_of("b2", "viewer@b", "https://b:6443", None),
            route_of("c", "c", "https://a:6443", Some("ca-of-another")),
        ];
        let app = AppName::new("web");
        let there = |target: &str, context: &str, url: &str, ca: Option<&str>| {
            let cluster = ClusterSpec::of_context(target, context);
            let target = bare(&app, cluster, "shop", "shop", false);
            place(&target, &route_of(target.name.as_str(), context, url, ca).server)
        };
        let found = |place: &Place| route(place, &routes).map(|r| r.cluster.context.clone());
        let rows = [
            (there("us", "prod-us", "https://a:6443", Some("ca-a")), "admin@a"),
            (there("us", "prod-us", "https://A:6443", Some("ca-of-another")), "c"),
            (there("eu", "viewer@b", "https://b:6443", None), "viewer@b"),
            (there("b2", "else", "https://b:6443", Some("ca-b")), "viewer@b"),
            (there("eu", "else", "https://b:6443", Some("ca-b")), "b"),
        ];
        for (place, context) in rows {
            assert_eq!(found(&place).unwrap(), context, "{place:?}");
        }
        let error = found(&there("ap", "prod-ap", "https://d:6443", None)).unwrap_err();
        assert_eq!(error.exit(), Exit::Unreachable);
        insta::assert_snapshot!(error, @"ap: no context leads to `https://d:6443`: it was reached through the context `prod-ap`");
        let found = target(&app, &there("us", "prod-us", "https://a:6443", None), &routes[0]);
        assert_eq!((found.name.as_str(), found.cluster.context.as_str()), ("us", "admin@a"));
    }
}
