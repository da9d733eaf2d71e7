//! What kinds a server serves. Parsing is pure; the requests are in `api.rs`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::manifest::Gvk;

/// Asks for aggregated discovery and takes the old documents from servers that do not know it.
pub(super) const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// A kind as a server serves it. Cheap to clone: every planned object has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Group, version and kind.
    pub gvk: Gvk,
    /// The name in URLs, such as `deployments`.
    pub plural: String,
    /// The name that `kubectl get` takes for one, such as `deployment`; may be empty.
    pub singular: String,
    /// Short names, such as `deploy`.
    pub short_names: Arc<Vec<String>>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it, such as `list`.
    pub verbs: Arc<Vec<String>>,
    /// Its subresources, such as `status` and `scale`.
    pub subresources: Arc<Vec<String>>,
}

impl Resource {
    /// A resource of which only names and scope are known: for kinds that every server has.
    pub fn new(gvk: Gvk, plural: &str, namespaced: bool) -> Self {
        Resource {
            gvk,
            plural: plural.to_owned(),
            singular: String::new(),
            short_names: Arc::default(),
            namespaced,
            verbs: Arc::default(),
            subresources: Arc::default(),
        }
    }

    /// Whether the server lists `verb` for it.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == verb)
    }

    /// Whether it has the subresource.
    pub fn has_subresource(&self, name: &str) -> bool {
        self.subresources.iter().any(|s| s == name)
    }
}

/// What a server says of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup<'a> {
    /// It serves it.
    Served(&'a Resource),
    /// It may serve it: whoever answers for its group, such as an aggregated API server that is
    /// down, could not be asked. Never a reason to take objects for gone.
    Unavailable,
    /// It does not serve it.
    Unknown,
}

/// The kinds of a server, as of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discovery {
    groups: Vec<Group>,
    by_gvk: HashMap<Gvk, (usize, usize)>,
    stale: Vec<String>,
}

/// One group and version; those of a group stand together, the preferred version first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Group {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resources: Vec<Resource>,
    /// The server could not ask whoever serves it.
    pub(super) stale: bool,
}

impl Group {
    /// `apps/v1`, or `v1` for the core group.
    pub(super) fn api_version(&self) -> String {
        Gvk { group: self.group.clone(), version: self.version.clone(), kind: String::new() }
            .api_version()
    }
}

impl Discovery {
    /// Puts group versions together, in the server's order.
    pub(super) fn new(groups: Vec<Group>) -> Self {
        let mut by_gvk = HashMap::new();
        for (i, group) in groups.iter().enumerate() {
            for (j, resource) in group.resources.iter().enumerate() {
                by_gvk.entry(resource.gvk.clone()).or_insert((i, j));
            }
        }
        let stale = groups.iter().filter(|g| g.stale).map(Group::api_version).collect();
        Discovery { groups, by_gvk, stale }
    }

    /// The kind in exactly that version: for what is to be written.
    pub fn lookup(&self, gvk: &Gvk) -> Lookup<'_> {
        match self.resolve(gvk) {
            Some(resource) => Lookup::Served(resource),
            None if self.stale.contains(&gvk.api_version()) => Lookup::Unavailable,
            None => Lookup::Unknown,
        }
    }

    /// The kind in that version, else in the one that the server prefers: for what exists already.
    pub fn lookup_any(&self, gvk: &Gvk) -> Lookup<'_> {
        let served = self.resolve(gvk).or_else(|| self.by_kind(&gvk.group, &gvk.kind));
        let stale = |g: &Group| g.stale && g.group == gvk.group;
        match served {
            Some(resource) => Lookup::Served(resource),
            None if self.groups.iter().any(stale) => Lookup::Unavailable,
            None => Lookup::Unknown,
        }
    }

    /// The kind in exactly that version. None: the server does not serve it, or could not say (see
    /// [`Discovery::lookup`]).
    pub fn resolve(&self, gvk: &Gvk) -> Option<&Resource> {
        let (group, resource) = self.by_gvk.get(gvk)?;
        self.groups.get(*group)?.resources.get(*resource)
    }

    /// The kind in the version that the server prefers.
    pub fn by_kind(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.resources().find(|r| r.gvk.group == group && r.gvk.kind == kind)
    }

    /// The versions in which the server serves the kind, preferred first.
    pub fn versions(&self, group: &str, kind: &str) -> Vec<&str> {
        self.resources()
            .filter(|r| r.gvk.group == group && r.gvk.kind == kind)
            .map(|r| r.gvk.version.as_str())
            .collect()
    }

    /// All kinds, in the server's order of groups and versions.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.groups.iter().flat_map(|g| &g.resources)
    }

    /// What helm takes as `--api-versions`: `apps/v1` and `apps/v1/Deployment`, sorted.
    pub fn api_versions(&self) -> Vec<String> {
        let versions = self.groups.iter().map(Group::api_version);
        let kinds = self.resources().map(|r| format!("{}/{}", r.gvk.api_version(), r.gvk.kind));
        versions.chain(kinds).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Group versions whose server could not be asked (a broken APIService): kinds in them may
    /// exist although they are not found.
    pub fn stale_groups(&self) -> &[String] {
        &self.stale
    }
}

/// Reads one document of aggregated discovery. None: it is another kind of document.
pub(super) fn aggregated(document: &Value) -> Option<Vec<Group>> {
    if document["kind"] != "APIGroupDiscoveryList" {
        return None;
    }
    let mut groups = Vec::new();
    for item in list(&document["items"]) {
        let name = text(&item["metadata"]["name"]);
        for version in list(&item["versions"]) {
            let mut group = Group {
                group: name.clone(),
                version: text(&version["version"]),
                resources: Vec::new(),
                stale: version["freshness"] == "Stale",
            };
            for resource in list(&version["resources"]) {
                let kind = text(&resource["responseKind"]["kind"]);
                let plural = text(&resource["resource"]);
                if kind.is_empty() || plural.is_empty() {
                    continue;
                }
                group.resources.push(Resource {
                    gvk: Gvk { group: group.group.clone(), version: group.version.clone(), kind },
                    plural,
                    singular: text(&resource["singularResource"]),
                    short_names: Arc::new(texts(&resource["shortNames"])),
                    namespaced: resource["scope"] == "Namespaced",
                    verbs: Arc::new(texts(&resource["verbs"])),
                    subresources: Arc::new(
                        list(&resource["subresources"]).map(|s| text(&s["subresource"])).collect(),
                    ),
                });
            }
            groups.push(group);
        }
    }
    Some(groups)
}

/// Reads the old document of `/api` or `/apis`: group versions whose resources are still to be
/// asked for, the preferred version of each group first.
pub(super) fn legacy_groups(document: &Value) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut push = |group: &str, version: String| {
        let known = groups.iter().any(|g| g.group == group && g.version == version);
        if !version.is_empty() && !known {
            groups.push(Group { group: group.to_owned(), version, ..Group::default() });
        }
    };
    if document["kind"] == "APIVersions" {
        texts(&document["versions"]).into_iter().for_each(|version| push("", version));
    }
    for item in list(&document["groups"]) {
        let name = text(&item["name"]);
        push(&name, text(&item["preferredVersion"]["version"]));
        list(&item["versions"]).for_each(|v| push(&name, text(&v["version"])));
    }
    groups
}

/// Reads an `APIResourceList` into `group`.
pub(super) fn legacy_resources(group: &mut Group, document: &Value) {
    for item in list(&document["resources"]) {
        let (name, kind) = (text(&item["name"]), text(&item["kind"]));
        if name.is_empty() || kind.is_empty() {
            continue;
        }
        if let Some((parent, subresource)) = name.split_once('/') {
            if let Some(parent) = group.resources.iter_mut().find(|r| r.plural == parent) {
                Arc::make_mut(&mut parent.subresources).push(subresource.to_owned());
            }
            continue;
        }
        group.resources.push(Resource {
            gvk: Gvk { group: group.group.clone(), version: group.version.clone(), kind },
            plural: name,
            singular: text(&item["singularName"]),
            short_names: Arc::new(texts(&item["shortNames"])),
            namespaced: item["namespaced"] == true,
            verbs: Arc::new(texts(&item["verbs"])),
            subresources: Arc::default(),
        });
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    list(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apps(kind: &str) -> Gvk {
        Gvk::new("apps/v1", kind)
    }

    #[test]
    fn aggregated_documents_are_read_with_stale_groups_named() {
        let document = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "freshness": "Current",
              "resources": [{"resource": "deployments", "scope": "Namespaced", "verbs": ["get", "patch"],
                "singularResource": "deployment", "shortNames": ["deploy"],
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "subresources": [{"subresource": "scale"}, {"subresource": "status"}]},
                {"resource": "odd", "scope": "Namespaced"}]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]},
        ]});
        let discovery = Discovery::new(aggregated(&document).unwrap());
        let deployment = discovery.resolve(&apps("Deployment")).unwrap();
        assert_eq!((deployment.plural.as_str(), deployment.namespaced), ("deployments", true));
        assert!(deployment.can("patch") && !deployment.can("list"));
        assert!(deployment.has_subresource("scale"));
        assert_eq!(discovery.resolve(&apps("Odd")), None);
        assert_eq!(discovery.stale_groups(), ["metrics.k8s.io/v1beta1"]);
        let metrics = |version: &str| Gvk::new(&format!("metrics.k8s.io/{version}"), "PodMetrics");
        assert_eq!(discovery.lookup(&metrics("v1beta1")), Lookup::Unavailable);
        assert_eq!(discovery.lookup(&metrics("v1")), Lookup::Unknown);
        assert_eq!(discovery.lookup_any(&metrics("v1")), Lookup::Unavailable);
        assert_eq!(discovery.lookup(&apps("Deployment")), Lookup::Served(deployment));
        assert_eq!(
            discovery.lookup_any(&Gvk::new("apps/v1beta1", "Deployment")),
            Lookup::Served(deployment)
        );
        assert_eq!(discovery.lookup_any(&apps("Odd")), Lookup::Unknown);
        assert_eq!(
            discovery.api_versions(),
            ["apps/v1", "apps/v1/Deployment", "metrics.k8s.io/v1beta1"]
        );
    }

    #[test]
    fn legacy_documents_put_the_preferred_version_first() {
        let document = json!({"kind": "APIGroupList", "groups": [{"name": "autoscaling",
            "versions": [{"version": "v1"}, {"version": "v2"}], "preferredVersion": {"version": "v2"}}]});
        let mut groups = legacy_groups(&document);
        for group in &mut groups {
            let resources = json!({"resources": [
                {"name": "horizontalpodautoscalers", "kind": "HorizontalPodAutoscaler", "namespaced": true, "verbs": ["get"]},
                {"name": "horizontalpodautoscalers/status", "kind": "HorizontalPodAutoscaler", "namespaced": true, "verbs": ["get"]}]});
            legacy_resources(group, &resources);
        }
        let discovery = Discovery::new(groups);
        let hpa = discovery.by_kind("autoscaling", "HorizontalPodAutoscaler").unwrap();
        assert_eq!(hpa.gvk.version, "v2");
        assert_eq!(*hpa.subresources, ["status"]);
        assert_eq!(discovery.versions("autoscaling", "HorizontalPodAutoscaler"), ["v2", "v1"]);
        assert_eq!(legacy_groups(&json!({"kind": "APIVersions", "versions": ["v1"]})).len(), 1);
    }

    #[test]
    fn documents_of_any_shape_are_survived() {
        for document in [json!(null), json!([]), json!({"items": 3}), json!({"kind": "Status"})] {
            assert_eq!(aggregated(&document), None);
            assert!(legacy_groups(&document).is_empty());
        }
        let odd = json!({"kind": "APIGroupDiscoveryList", "items": [{"versions": [{"resources": [1]}]}, "x"]});
        assert_eq!(Discovery::new(aggregated(&odd).unwrap()).resources().count(), 0);
    }
}
