//! Looks at everything that a plan, an apply and a delete of a target need, and changes nothing.
//! Each check stands for itself: what one finds never hides another, unless it cannot be made at
//! all.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use tokio::time::Instant;

use super::delete::lost_record;
use super::job::Job;
use super::observe::PARALLEL;
use super::rollout::blocked;
use crate::cluster::error::API_DOWN;
use crate::cluster::state::lease::{self, Occupant};
use crate::cluster::state::{Record, ReleaseState};
use crate::cluster::{CallError, Discovery, Lookup, Resource};
use crate::config::{Identity, Render};
use crate::error::{Error, Exit};
use crate::manifest::{Gvk, Object};
use crate::plan::Handling;
use crate::plan::rights::{Need, Purpose, Rights, Scope, State, in_words};
use crate::render::Rendered;

/// A server's clock may be off by so much before it is said: tokens and certificates go by it.
const CLOCK: Duration = Duration::from_secs(10);

/// The oldest minor version of Kubernetes 1 with server-side apply for everyone.
const OLDEST: u32 = 22;

/// What a check came to.
#[derive(Clone, Debug)]
pub enum Found {
    /// All is well.
    Ok(String),
    /// It works, and someone should know.
    Warn(String, String),
    /// Something would fail, with what to do.
    Fail(Error),
    /// It could not be made, and why.
    Skipped(String),
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// A word, such as `reachable`.
    pub name: &'static str,
    /// What it came to.
    pub found: Found,
}

/// All that was found of a target.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// In the order in which a run would meet them.
    pub checks: Vec<Check>,
    /// What the cluster is, as a pin for the fleet.
    pub identity: Option<Identity>,
    /// The Roles that grant what is needed.
    pub roles: Vec<serde_json::Value>,
}

impl Diagnosis {
    /// Adds a check.
    pub fn add(&mut self, name: &'static str, found: Found) {
        self.checks.push(Check { name, found });
    }

    /// Says of the checks that cannot be made why.
    pub fn skip(&mut self, names: &[&'static str], why: &str) {
        names.iter().for_each(|name| self.add(name, Found::Skipped(why.to_owned())));
    }
}

/// The checks that need the server's answer.
pub const AT_THE_SERVER: [&str; 14] = [
    "version",
    "tls",
    "clock",
    "identity",
    "user",
    "render",
    "apis",
    "namespace",
    "plan",
    "apply",
    "delete",
    "causes",
    "state",
    "lock",
];

/// Whether the server answers, and which it is. False: nothing else can be asked.
pub async fn greet(job: &Job, diagnosis: &mut Diagnosis) -> bool {
    let started = Instant::now();
    let version = match job.cluster.version().await {
        Ok(version) => version,
        Err(error) => {
            diagnosis.add("reachable", Found::Fail(job.failed(error, None)));
            return false;
        }
    };
    let took = started.elapsed().as_millis();
    let url = &job.cluster.server().url;
    diagnosis
        .add("reachable", Found::Ok(format!("{} at {url}, in {took} ms", version.git_version)));
    diagnosis.add("version", skew(job, &version.major, &version.minor, &version.git_version));
    diagnosis.add("tls", tls(job));
    diagnosis.add("clock", clock(job));
    true
}

/// What there is to be said of a target whose objects are rendered, or were not.
pub async fn examine(job: &Job, rendered: Result<&Rendered, &Error>, diagnosis: &mut Diagnosis) {
    let user = whoami(job, diagnosis).await;
    match rendered {
        Ok(rendered) => {
            let objects = rendered.objects.len();
            let by = rendered.tool.as_ref().map_or_else(
                || "plain manifests".to_owned(),
                |tool| format!("{} {}", tool.name, tool.version),
            );
            diagnosis.add("render", Found::Ok(format!("{objects} objects by {by}")));
        }
        Err(error) => diagnosis.add("render", Found::Fail(error.clone())),
    }
    let discovery = match job.cluster.discovery().await {
        Ok(discovery) => discovery,
        Err(error) => {
            diagnosis.add("apis", Found::Fail(job.failed(error, None)));
            return diagnosis
                .skip(&["plan", "apply", "delete", "causes"], "the APIs are not known");
        }
    };
    let objects = rendered.map_or(&[][..], |rendered| &rendered.objects);
    match rendered {
        Ok(_) => apis(job, &discovery, objects, diagnosis),
        Err(_) => diagnosis.skip(&["apis"], "the kinds are not known"),
    }
    diagnosis.add("namespace", namespace(job).await);
    let record = job.store.record().await;
    let known = record.as_ref().ok().and_then(|found| found.as_ref()).map(|(record, _)| record);
    let rights = rights(job, &discovery, objects, known);
    judge_rights(job, &rights, user.as_deref(), rendered.is_ok(), diagnosis).await;
    let (app, home) = (job.target.app.as_str(), &job.target.state_namespace);
    diagnosis.roles = rights.roles(app, home, user.as_deref());
    let lost = match &record {
        // As `status` does: releases that were applied, and no record of them.
        Ok(None) => lost_record(job).await.unwrap_or_default(),
        Ok(Some(_)) | Err(_) => None,
    };
    let known = record.as_ref().map(|found| found.as_ref().map(|(record, _)| record));
    diagnosis.add("state", lost.map_or_else(|| state(known, job.cluster.now()), Found::Fail));
    diagnosis.add("lock", lock(job).await);
}

fn skew(job: &Job, major: &str, minor: &str, git_version: &str) -> Found {
    let digits: String = minor.chars().take_while(char::is_ascii_digit).collect();
    let number: Option<u32> = digits.parse().ok();
    if major == "1" && number.is_some_and(|number| number < OLDEST) {
        return Found::Fail(
            Error::new(Exit::Failed, format!("{git_version} is too old"))
                .hint(format!("mcd applies on the server's side, which needs 1.{OLDEST} or later")),
        );
    }
    let of_helm = match &job.target.render {
        Render::Helm(helm) => helm.kube_version.as_deref(),
        Render::Kustomize(_) | Render::Manifests(_) => None,
    };
    let is = format!("{major}.{digits}");
    let told = [
        ("`kubeVersion` of the fleet", job.target.cluster.kube_version.as_deref()),
        ("`render.helm.kubeVersion`", of_helm),
    ];
    for (place, version) in told {
        let Some(version) = version else { continue };
        let plain = version.trim_start_matches('v');
        let same = plain == is || plain.strip_prefix(&is).is_some_and(|rest| rest.starts_with('.'));
        if !same {
            return Found::Warn(
                format!("{place} is {version}, the server's is {git_version}"),
                format!("set it to \"{is}\": charts are rendered for it"),
            );
        }
    }
    Found::Ok(is)
}

fn tls(job: &Job) -> Found {
    let server = job.cluster.server();
    if server.url.starts_with("http://") {
        return Found::Warn(
            "not encrypted".to_owned(),
            "use the `https` address of the server".to_owned(),
        );
    }
    if server.insecure {
        return Found::Warn(
            "the server's certificate is not verified".to_owned(),
            "remove `insecure-skip-tls-verify` from the kubeconfig's cluster, and give it \
             `certificate-authority-data`"
                .to_owned(),
        );
    }
    let by = match &server.ca_digest {
        Some(_) => "the kubeconfig's authority",
        None => "an authority that this machine trusts",
    };
    Found::Ok(format!("verified by {by}"))
}

fn clock(job: &Job) -> Found {
    let ahead = job.cluster.now().duration_since(jiff::Timestamp::now());
    let off = Duration::try_from(ahead.abs()).unwrap_or_default();
    let seconds = off.as_secs();
    if off <= CLOCK {
        return Found::Ok(format!("within {} s of the server's", seconds + 1));
    }
    let side = if ahead.is_negative() { "behind" } else { "ahead of" };
    Found::Warn(
        format!("the server's clock is {seconds} s {side} this machine's"),
        "set the clock that is wrong: tokens and certificates go by it. mcd itself goes by the \
         server's"
            .to_owned(),
    )
}

/// The pin, and what could be pinned. What the server does not tell is left out of the latter.
pub async fn identity(job: &Job, diagnosis: &mut Diagnosis) -> bool {
    let cluster = &job.target.cluster;
    let mut known = job.cluster.server().identity();
    known.kube_system = job.cluster.kube_system().await.ok().flatten();
    known.cluster_property = job.cluster.cluster_property().await.ok().flatten();
    diagnosis.identity = Some(known);
    let scrub = |e: Error| e.map_text(|text| job.scrubber.scrub(text));
    match job.cluster.check_identity(cluster).await.map_err(scrub) {
        Ok(()) if cluster.identity.is_some() => {
            diagnosis.add("identity", Found::Ok("as pinned".to_owned()));
            true
        }
        Ok(()) => {
            diagnosis.add("identity", Found::Ok("not pinned; `-o yaml` prints the pin".to_owned()));
            true
        }
        Err(error) => {
            diagnosis.add("identity", Found::Fail(error));
            false
        }
    }
}

async fn whoami(job: &Job, diagnosis: &mut Diagnosis) -> Option<String> {
    match job.cluster.whoami().await {
        Ok(user) => {
            diagnosis.add("user", Found::Ok(user.clone()));
            Some(user)
        }
        Err(error) if error.is_missing() => {
            let why = "servers before 1.28 do not say who one is".to_owned();
            diagnosis.add("user", Found::Skipped(why));
            None
        }
        Err(error) => {
            diagnosis.add("user", Found::Fail(job.failed(error, None)));
            None
        }
    }
}

fn apis(job: &Job, discovery: &Discovery, objects: &[Object], diagnosis: &mut Diagnosis) {
    let defined = crate::plan::Definitions::of(objects);
    let kinds: BTreeSet<&Gvk> = objects.iter().map(|object| &object.gvk).collect();
    let mut all_there = true;
    for gvk in &kinds {
        let of_set = defined.kinds.contains(&(gvk.group.clone(), gvk.kind.clone()));
        let error = match discovery.lookup(gvk) {
            Lookup::Served(_) => continue,
            Lookup::Unknown if of_set => continue,
            Lookup::Unknown => {
                let message =
                    format!("the cluster has no kind `{}` in `{}`", gvk.kind, gvk.api_version());
                let error = Error::new(Exit::Failed, message);
                match discovery.versions(&gvk.group, &gvk.kind).first() {
                    Some(version) => error.hint(format!("it serves it in version `{version}`")),
                    None => {
                        error.hint("install what defines it, or put its definition into the set")
                    }
                }
            }
            Lookup::Unavailable => {
                let message = format!("the API `{}` is not available", gvk.api_version());
                Error::new(Exit::Failed, message).hint(API_DOWN)
            }
        };
        all_there = false;
        diagnosis.add("apis", Found::Fail(error.in_target(&job.target.name)));
    }
    if !all_there {
        return;
    }
    let stale = discovery.stale_groups();
    let found = match stale {
        [] => match kinds.len() {
            0 => Found::Ok("there are no objects".to_owned()),
            1 => Found::Ok("its kind is served".to_owned()),
            kinds => Found::Ok(format!("all {kinds} kinds are served")),
        },
        _ => Found::Warn(
            format!(
                "APIs that nothing of this application needs do not answer: {}",
                stale.join(", ")
            ),
            API_DOWN.to_owned(),
        ),
    };
    diagnosis.add("apis", found);
}

async fn namespace(job: &Job) -> Found {
    let name = &job.target.namespace;
    let namespaces = Resource::new(Gvk::new("v1", "Namespace"), "namespaces", false);
    match job.cluster.get(&namespaces, None, name).await {
        Ok(Some(found)) if found["metadata"]["deletionTimestamp"].is_string() => Found::Fail(
            Error::new(Exit::Failed, format!("the namespace `{name}` is being deleted"))
                .hint("wait until it is gone, then try again"),
        ),
        Ok(Some(_)) => Found::Ok(format!("`{name}` is there")),
        Ok(None) if job.target.create_namespace => Found::Ok(format!("`{name}` will be made")),
        Ok(None) => Found::Fail(
            Error::new(Exit::Failed, format!("the namespace `{name}` is not there"))
                .hint("create it, or set `createNamespace: true`"),
        ),
        Err(error) if error.is_forbidden() => {
            Found::Skipped(format!("`{name}` may not be read, which nothing needs"))
        }
        Err(error) => Found::Fail(job.failed(error, None)),
    }
}

/// What the objects of the set, what the inventory has besides, and the state need.
fn rights(job: &Job, discovery: &Discovery, objects: &[Object], record: Option<&Record>) -> Rights {
    let target = &job.target;
    let creates = target.create_namespace.then_some(target.namespace.as_str());
    let (record_name, key, lease) = (job.names.record(), job.names.key(), job.names.lease());
    let state = State {
        namespace: &target.state_namespace,
        read: [&record_name, &key],
        lease: &lease,
        creates,
    };
    let mut rights = Rights::of_state(state, &target.namespace);
    let mut known = BTreeSet::new();
    for object in objects {
        let Some((plural, namespaced)) = place(discovery, objects, &object.gvk) else { continue };
        let written = object.id.namespace.as_deref().unwrap_or(&target.namespace);
        let scope = Scope::new(namespaced.then_some(written), &object.gvk.group, &plural);
        // An annotation that cannot be read is what a plan complains about.
        let handling = Handling::of(object).unwrap_or_default();
        rights.add_object(&scope, &object.id.name, handling);
        known.insert((scope, object.id.name.as_str()));
    }
    for (id, member) in record.into_iter().flat_map(|record| &record.inventory) {
        if let Lookup::Served(resource) = discovery.lookup_any(&Record::gvk(id, member)) {
            let scope = Scope::new(id.namespace.as_deref(), &id.group, &resource.plural);
            // Without the set nobody knows what left it.
            if !objects.is_empty() && !known.contains(&(scope.clone(), id.name.as_str())) {
                rights.add_left(&scope, &id.name);
            }
        }
    }
    rights
}

/// Name and scope of a kind, by the server or by a definition of the set.
fn place(discovery: &Discovery, objects: &[Object], gvk: &Gvk) -> Option<(String, bool)> {
    if let Lookup::Served(resource) = discovery.lookup(gvk) {
        return Some((resource.plural.clone(), resource.namespaced));
    }
    let specs = objects
        .iter()
        .filter(|o| o.gvk.kind == "CustomResourceDefinition")
        .map(|o| &o.value["spec"]);
    let mut specs = specs.filter(|s| s["group"] == *gvk.group && s["names"]["kind"] == *gvk.kind);
    let spec = specs.next()?;
    Some((spec["names"]["plural"].as_str()?.to_owned(), spec["scope"] != "Cluster"))
}

/// Asks the server about each right, first for all objects of a kind, then one by one.
async fn judge_rights(
    job: &Job,
    rights: &Rights,
    user: Option<&str>,
    rendered: bool,
    diagnosis: &mut Diagnosis,
) {
    let asked: Vec<_> = stream::iter(rights.iter())
        .map(|(scope, verb, need)| async move {
            (need.purpose, (scope, verb), may(job, scope, verb, need).await)
        })
        .buffered(PARALLEL)
        .collect()
        .await;
    let who = user.map_or_else(|| "the user".to_owned(), |user| format!("user `{user}`"));
    for purpose in [Purpose::Plan, Purpose::Apply, Purpose::Delete, Purpose::Help] {
        let (mut count, mut missing, mut failed) = (0, Vec::new(), None);
        for (_, right, answer) in asked.iter().filter(|(of, ..)| *of == purpose) {
            count += 1;
            match answer {
                Ok(true) => {}
                Ok(false) => missing.push(*right),
                Err(error) => failed = Some(error.clone()),
            }
        }
        let lacks = format!("{who} cannot {}", in_words(&missing));
        let found = match (failed, missing.is_empty(), purpose) {
            (Some(error), ..) => Found::Fail(job.failed(error, None)),
            (None, true, Purpose::Plan | Purpose::Apply | Purpose::Delete) if !rendered => {
                Found::Ok(format!("{}; those of the objects are not known", counted(count)))
            }
            (None, true, _) => Found::Ok(format!("all {}", counted(count))),
            (None, false, Purpose::Help) => Found::Warn(
                lacks,
                "messages say that something is not healthy, and not why".to_owned(),
            ),
            (None, false, Purpose::Plan | Purpose::Apply | Purpose::Delete) => Found::Fail(
                Error::new(Exit::Failed, lacks)
                    .hint("`mcd doctor --role` prints the Role that grants it"),
            ),
        };
        diagnosis.add(purpose.word(), found);
    }
}

fn counted(rights: usize) -> String {
    if rights == 1 { "1 right".to_owned() } else { format!("{rights} rights") }
}

async fn may(job: &Job, scope: &Scope, verb: &str, need: &Need) -> Result<bool, CallError> {
    let version =
        if scope.group.is_empty() { "*".to_owned() } else { format!("{}/*", scope.group) };
    let namespaced = scope.namespace.is_some();
    let resource = Resource::new(Gvk::new(&version, ""), &scope.plural, namespaced);
    let namespace = scope.namespace.as_deref();
    if job.cluster.may(verb, &resource, namespace, None).await? {
        return Ok(true);
    }
    let Some(names) = &need.names else { return Ok(false) };
    for name in names {
        if !job.cluster.may(verb, &resource, namespace, Some(name)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn state(record: Result<Option<&Record>, &Error>, now: jiff::Timestamp) -> Found {
    let held = record.as_ref().ok().and_then(|record| blocked((*record)?, now));
    if let Some(error) = held {
        return Found::Warn(format!("{error:#}"), error.hints().join("; "));
    }
    match record {
        // Whether the right to is there was looked at already.
        Err(error) if matches!(error.exit(), Exit::Unreachable) => {
            Found::Skipped(format!("{error:#}"))
        }
        Err(error) => Found::Fail(error.clone()),
        Ok(None) => Found::Ok("not deployed yet".to_owned()),
        Ok(Some(record)) => match record.releases.last() {
            Some(last) if last.state == ReleaseState::Staged => Found::Warn(
                format!("release {} is under way or was interrupted", last.number),
                "`mcd apply` goes on where it stopped".to_owned(),
            ),
            _ => Found::Ok(match record.active {
                Some(number) => format!("release {number} is active"),
                None => "no release is active".to_owned(),
            }),
        },
    }
}

async fn lock(job: &Job) -> Found {
    match lease::occupant(&job.cluster, &job.names).await {
        Ok(Occupant::Nobody) => Found::Ok("free".to_owned()),
        Ok(Occupant::Gone(who)) => {
            Found::Ok(format!("left behind by {who}; the next run takes it over"))
        }
        Ok(Occupant::Present(who)) => {
            Found::Fail(Error::new(Exit::Failed, format!("held by {who}")).hint(
                "wait until that run is done; `mcd unlock` removes the lock of one that died",
            ))
        }
        Err(error) if matches!(error.exit(), Exit::Unreachable) => {
            Found::Skipped(format!("{error:#}"))
        }
        Err(error) => Found::Fail(error),
    }
}
