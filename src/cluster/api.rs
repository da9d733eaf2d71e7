//! The verbs: what is read from and written to a cluster, as untyped JSON.

use std::fmt::Write as _;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Answer, Call, JSON};
use super::connect::Cluster;
use super::discovery::{self, Discovery, Resource};
use super::error::{CallError, CallErrorKind, CallResult};
use super::refusal::{About, Refusal};
use super::retry::Repeat;
use super::text::clean;
use crate::error::Error;
use crate::manifest::ObjectId;

/// Objects in one answer to a list.
const PAGE: usize = 500;

/// Asks for the metadata of objects only.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// How a server-side apply is made.
#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    /// The field manager, at most 128 bytes.
    pub manager: &'a str,
    /// Take fields that other managers own.
    pub force: bool,
    /// Only ask what would come of it.
    pub dry_run: bool,
}

/// What came of a server-side apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object as it is (or would be) now.
    pub object: Value,
    /// Whether it was not there before.
    pub created: bool,
    /// What the server warned of.
    pub warnings: Vec<String>,
}

/// What came of a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Gone,
    /// It is going: finalizers, or a grace period.
    Accepted,
    /// It was not there.
    NotFound,
}

/// A server's version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// Such as `v1.34.2`, or `v1.34.2-gke.100`.
    pub git_version: String,
    /// Such as `1`.
    pub major: String,
    /// Such as `34`, or `34+`.
    pub minor: String,
}

impl Cluster {
    /// The server's version; asked for once.
    pub async fn version(&self) -> CallResult<ServerVersion> {
        let get = || async {
            let call = Call::get("/version".into(), "GET /version".into(), About::default());
            let (answer, value) = self.send_json(&call).await?;
            serde_json::from_value(value)
                .map_err(|_| self.bad_answer(&call, &answer, "it is not a version".to_owned()))
        };
        self.inner.version.get(get).await
    }

    /// The kinds that the server serves; asked for once. Aggregated where the server knows that
    /// (two calls), else one call a group; a group that cannot be asked is noted, not an error.
    pub async fn discovery(&self) -> CallResult<Arc<Discovery>> {
        self.inner.discovery.get(|| async { self.discover().await.map(Arc::new) }).await
    }

    /// The kinds as of now, as after a definition was applied.
    pub async fn refresh_discovery(&self) -> CallResult<Arc<Discovery>> {
        let fresh = Arc::new(self.discover().await?);
        self.inner.discovery.put(fresh.clone()).await;
        Ok(fresh)
    }

    async fn discover(&self) -> CallResult<Discovery> {
        let (core, named) =
            tokio::try_join!(self.discovery_document("/api"), self.discovery_document("/apis"))?;
        let mut groups = Vec::new();
        for document in [core, named] {
            match discovery::aggregated(&document) {
                Some(found) => groups.extend(found),
                None => groups.extend(self.legacy(&document).await?),
            }
        }
        Ok(Discovery::new(groups))
    }

    async fn discovery_document(&self, path: &str) -> CallResult<Value> {
        let mut call = Call::get(path.into(), format!("GET {path}"), About::default());
        call.accept = discovery::ACCEPT;
        let (answer, document) = match self.send_json(&call).await {
            // Something in between that takes the names of types literally.
            Err(CallError {
                kind: CallErrorKind::Refused(Refusal::Other { code: 406, .. }),
                ..
            }) => {
                call.accept = JSON;
                self.send_json(&call).await?
            }
            answer => answer?,
        };
        let known = ["APIGroupDiscoveryList", "APIGroupList", "APIVersions"];
        match document["kind"].as_str() {
            Some(kind) if known.contains(&kind) => Ok(document),
            _ => Err(self.bad_answer(&call, &answer, "it is no list of API groups".to_owned())),
        }
    }

    async fn legacy(&self, document: &Value) -> CallResult<Vec<discovery::Group>> {
        let asked = discovery::legacy_groups(document).into_iter().map(|mut group| async move {
            let version = group.api_version();
            let base = if group.group.is_empty() { "/api" } else { "/apis" };
            let path = format!("{base}/{version}");
            let call = Call::get(path.clone(), format!("GET {path}"), About::default());
            match self.send_json(&call).await {
                Ok((_, document)) => discovery::legacy_resources(&mut group, &document),
                Err(CallError { kind: CallErrorKind::Refused(_), .. }) => group.stale = true,
                Err(error) => return Err(error),
            }
            Ok(group)
        });
        stream::iter(asked).buffered(self.inner.options.parallel.max(1)).try_collect().await
    }

    /// Reads an object; none when it, or its namespace, is not there.
    pub async fn get(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> CallResult<Option<Value>> {
        let call = self.object_call(Method::GET, resource, namespace, name, &[])?;
        match self.send_json(&call).await {
            Ok((_, object)) => Ok(Some(object)),
            Err(error) => match error.refusal() {
                Some(Refusal::NotFound | Refusal::MissingNamespace { .. }) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Reads the objects of a kind, of all namespaces without `namespace`, that `labels` and
    /// `fields` (selectors as kubectl takes them) select. Each has its apiVersion and kind.
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> CallResult<Vec<Value>> {
        self.list_as(JSON, resource, namespace, labels, fields).await
    }

    /// The same, but only their apiVersion, kind and metadata.
    pub async fn list_metadata(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> CallResult<Vec<Value>> {
        self.list_as(METADATA, resource, namespace, labels, fields).await
    }

    async fn list_as(
        &self,
        accept: &'static str,
        resource: &Resource,
        namespace: Option<&str>,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> CallResult<Vec<Value>> {
        let mut items = Vec::new();
        let mut next = String::new();
        let mut paged = true;
        loop {
            let mut query: Vec<(&str, String)> = Vec::new();
            query.extend(labels.map(|labels| ("labelSelector", labels.to_owned())));
            query.extend(fields.map(|fields| ("fieldSelector", fields.to_owned())));
            if paged {
                query.push(("limit", PAGE.to_string()));
            }
            if !next.is_empty() {
                query.push(("continue", next.clone()));
            }
            let path = path(resource, namespace, None, &query);
            let place = namespace.map_or(String::new(), |ns| format!(" in {ns}"));
            let what = format!("LIST {}{place}", resource.gvk.kind);
            let mut call = Call::get(path, what, about(resource));
            call.accept = accept;
            let (answer, mut page) = match self.send_json(&call).await {
                // The list is older than what the server keeps: start anew, in one piece.
                Err(CallError {
                    kind: CallErrorKind::Refused(Refusal::Other { code: 410, .. }),
                    ..
                }) if paged && !next.is_empty() => {
                    items.clear();
                    next.clear();
                    paged = false;
                    continue;
                }
                answer => answer?,
            };
            let Value::Array(found) = page["items"].take() else {
                // An empty list may be `null`.
                if page.get("metadata").is_some() && page["kind"] != "Status" {
                    return Ok(items);
                }
                return Err(self.bad_answer(&call, &answer, "it is no list".to_owned()));
            };
            for mut item in found {
                let Some(fields) = item.as_object_mut() else {
                    return Err(self.bad_answer(&call, &answer, "an item is no object".to_owned()));
                };
                fields.insert("apiVersion".into(), resource.gvk.api_version().into());
                fields.insert("kind".into(), resource.gvk.kind.clone().into());
                items.push(item);
            }
            match page["metadata"]["continue"].as_str() {
                // A server that answers with the same mark forever would never end.
                Some(mark) if !mark.is_empty() && mark != next => mark.clone_into(&mut next),
                _ => return Ok(items),
            }
        }
    }

    /// Applies a manifest on the server's side, strictly validated.
    pub async fn apply(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        body: &Value,
        how: Apply<'_>,
    ) -> CallResult<Applied> {
        let mut query = writing(how.manager, how.dry_run);
        query.push(("fieldValidation", "Strict".to_owned()));
        if how.force {
            query.push(("force", "true".to_owned()));
        }
        let mut call = self.object_call(Method::PATCH, resource, namespace, name, &query)?;
        call.content_type = "application/apply-patch+yaml";
        call.body = body.to_string().into_bytes();
        call.write = !how.dry_run;
        let (answer, object) = self.send_json(&call).await?;
        Ok(Applied { object, created: answer.status == 201, warnings: answer.warnings })
    }

    /// Creates an object. It is tried again only when the first try cannot have made it; a
    /// connection that breaks after it was sent leaves open whether it did.
    pub async fn create(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        body: &Value,
        manager: &str,
    ) -> CallResult<Value> {
        let mut query = writing(manager, false);
        query.push(("fieldValidation", "Strict".to_owned()));
        let name = body["metadata"]["name"].as_str().unwrap_or_default();
        let call = Call {
            method: Method::POST,
            body: body.to_string().into_bytes(),
            repeat: Repeat::Unsent,
            write: true,
            ..Call::get(
                path(resource, namespace, None, &query),
                format!("POST {}", id(resource, namespace, name)),
                About { object: Some(id(resource, namespace, name)), ..about(resource) },
            )
        };
        Ok(self.send_json(&call).await?.1)
    }

    /// Replaces an object. With a resourceVersion in `body`, only that one.
    pub async fn replace(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        body: &Value,
        manager: &str,
        dry_run: bool,
    ) -> CallResult<Value> {
        let mut query = writing(manager, dry_run);
        query.push(("fieldValidation", "Strict".to_owned()));
        let call = self.object_call(Method::PUT, resource, namespace, name, &query)?;
        self.edit(call, JSON, body, dry_run).await
    }

    /// Changes an object by RFC 6902. Replace `/metadata/resourceVersion` in it rather than testing
    /// it: a failed test cannot be told from a wrong patch (A2.4).
    pub async fn json_patch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        patch: &Value,
        manager: &str,
        dry_run: bool,
    ) -> CallResult<Value> {
        let query = writing(manager, dry_run);
        let call = self.object_call(Method::PATCH, resource, namespace, name, &query)?;
        self.edit(call, "application/json-patch+json", patch, dry_run).await
    }

    /// Changes an object by RFC 7386. A `metadata.resourceVersion` in it is a precondition.
    pub async fn merge_patch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        patch: &Value,
        manager: &str,
        dry_run: bool,
    ) -> CallResult<Value> {
        let query = writing(manager, dry_run);
        let call = self.object_call(Method::PATCH, resource, namespace, name, &query)?;
        self.edit(call, "application/merge-patch+json", patch, dry_run).await
    }

    /// A write that may carry a precondition: when the first try took effect, a second would be
    /// refused as stale, as if someone else had written.
    async fn edit(
        &self,
        mut call: Call,
        content_type: &'static str,
        body: &Value,
        dry_run: bool,
    ) -> CallResult<Value> {
        call.content_type = content_type;
        call.body = body.to_string().into_bytes();
        call.write = !dry_run;
        call.repeat = if dry_run { Repeat::Safe } else { Repeat::Unsent };
        Ok(self.send_json(&call).await?.1)
    }

    /// Deletes an object in the background (a Job's pods go with it, A4.5), with `uid` only that
    /// one: another object of the name is [`Refusal::Moved`].
    pub async fn delete(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        uid: Option<&str>,
    ) -> CallResult<Deleted> {
        self.send_delete(resource, namespace, name, uid, false).await
    }

    /// Asks what would come of [`Cluster::delete`]: rights and admission are checked, and nothing
    /// goes.
    pub async fn would_delete(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        uid: Option<&str>,
    ) -> CallResult<Deleted> {
        self.send_delete(resource, namespace, name, uid, true).await
    }

    async fn send_delete(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        uid: Option<&str>,
        dry_run: bool,
    ) -> CallResult<Deleted> {
        // The server reads the options; the query is for whoever looks on, as a proxy or a log.
        let query: &[_] = if dry_run { &[("dryRun", "All".to_owned())] } else { &[] };
        let mut call = self.object_call(Method::DELETE, resource, namespace, name, query)?;
        let mut options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background",
        });
        if let Some(uid) = uid {
            options["preconditions"] = json!({"uid": uid});
        }
        if dry_run {
            options["dryRun"] = json!(["All"]);
        }
        call.body = options.to_string().into_bytes();
        call.write = !dry_run;
        let safe = dry_run || uid.is_some();
        call.repeat = if safe { Repeat::Safe } else { Repeat::Unsent };
        match self.send_json(&call).await {
            Ok((answer, value)) => Ok(deleted(&answer, &value)),
            Err(error) => match error.refusal() {
                Some(Refusal::NotFound | Refusal::MissingNamespace { .. }) => Ok(Deleted::NotFound),
                _ => Err(error),
            },
        }
    }

    /// Whether the user has the right (a SelfSubjectAccessReview; everyone may ask, A8.4).
    pub async fn may(
        &self,
        verb: &str,
        resource: &Resource,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> CallResult<bool> {
        let attributes = json!({
            "verb": verb, "group": resource.gvk.group, "version": resource.gvk.version,
            "resource": resource.plural, "namespace": namespace.filter(|_| resource.namespaced),
            "name": name,
        });
        let review = json!({"spec": {"resourceAttributes": attributes}});
        let value =
            self.review("authorization.k8s.io/v1", "SelfSubjectAccessReview", review).await?;
        Ok(value["status"]["allowed"] == true)
    }

    /// Whom the server takes the user for (a SelfSubjectReview; Kubernetes 1.28 and later).
    pub async fn whoami(&self) -> CallResult<String> {
        let value = self.review("authentication.k8s.io/v1", "SelfSubjectReview", json!({})).await?;
        Ok(clean(value["status"]["userInfo"]["username"].as_str().unwrap_or_default()))
    }

    /// Asks the server something by a POST that stores nothing.
    async fn review(&self, api_version: &str, kind: &str, mut body: Value) -> CallResult<Value> {
        let path = format!("/apis/{api_version}/{}s", kind.to_lowercase());
        body["apiVersion"] = api_version.into();
        body["kind"] = kind.into();
        let call = Call {
            method: Method::POST,
            body: body.to_string().into_bytes(),
            ..Call::get(path, format!("POST {kind}"), About::default())
        };
        Ok(self.send_json(&call).await?.1)
    }

    /// A call about one object.
    fn object_call(
        &self,
        method: Method,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        query: &[(&str, String)],
    ) -> CallResult<Call> {
        let object = id(resource, namespace, name);
        let what = format!("{method} {object}");
        // The path without a name is that of all objects of the kind.
        if name.is_empty() {
            return Err(CallError::config(what, Error::manifest("the object has no name")));
        }
        if resource.namespaced && namespace.is_none_or(str::is_empty) {
            let error = Error::manifest("the object has no namespace").on(&object);
            return Err(CallError::config(what, error));
        }
        let about = About { object: Some(object), ..about(resource) };
        let path = path(resource, namespace, Some(name), query);
        Ok(Call { method, ..Call::get(path, what, about) })
    }
}

fn deleted(answer: &Answer, value: &Value) -> Deleted {
    // The object itself comes back when it is still there; else a Status.
    let going = value["metadata"]["deletionTimestamp"].is_string();
    if going || answer.status == 202 { Deleted::Accepted } else { Deleted::Gone }
}

fn about(resource: &Resource) -> About {
    About { object: None, gvk: Some(resource.gvk.clone()) }
}

fn id(resource: &Resource, namespace: Option<&str>, name: &str) -> ObjectId {
    ObjectId {
        group: resource.gvk.group.clone(),
        kind: resource.gvk.kind.clone(),
        namespace: namespace.filter(|_| resource.namespaced).map(str::to_owned),
        name: name.to_owned(),
    }
}

fn writing(manager: &str, dry_run: bool) -> Vec<(&'static str, String)> {
    let mut query = vec![("fieldManager", manager.to_owned())];
    if dry_run {
        query.push(("dryRun", "All".to_owned()));
    }
    query
}

/// Path and query of a kind's objects, or of one.
pub(super) fn path(
    resource: &Resource,
    namespace: Option<&str>,
    name: Option<&str>,
    query: &[(&str, String)],
) -> String {
    let version = encode(&resource.gvk.version);
    let mut path = match &*resource.gvk.group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", encode(group)),
    };
    let namespace = namespace.filter(|_| resource.namespaced);
    let parts = namespace.map(|ns| ["namespaces", ns]).into_iter().flatten();
    for part in parts.chain([resource.plural.as_str()]).chain(name) {
        path.push('/');
        path.push_str(&encode(part));
    }
    for (i, (key, value)) in query.iter().enumerate() {
        path.push(if i == 0 { '?' } else { '&' });
        path.push_str(key);
        path.push('=');
        path.push_str(&encode(value));
    }
    path
}

/// Percent-encodes all but what every part of a URL may hold (RFC 3986), so that a name can never
/// be another path.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            // Writing to a string does not fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests;
