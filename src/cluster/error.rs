//! A call that failed, and what the user reads of it.

use std::fmt;
use std::time::Duration;

use super::refusal::Refusal;
use crate::config::TargetName;
use crate::error::{Error, Exit};
use crate::manifest::{Gvk, ObjectId};

/// A call to an API server that failed. Holds no secret value.
#[derive(Clone, Debug, PartialEq)]
pub struct CallError {
    /// The call, such as `PATCH Deployment shop/web`.
    pub call: String,
    /// Why it failed.
    pub kind: CallErrorKind,
    /// Where and about what.
    pub context: Box<CallContext>,
}

/// What a call was about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallContext {
    /// The server's host and port; empty when no connection was tried.
    pub server: String,
    /// The kubeconfig's name of the user, if it has one.
    pub user: Option<String>,
    /// Whether the call would have changed something (a dry run would not).
    pub write: bool,
    /// The kind that the call was about.
    pub gvk: Option<Gvk>,
}

/// The result of a call.
pub(super) type CallResult<T> = std::result::Result<T, CallError>;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum CallErrorKind {
    /// No connection, or it broke before the answer was complete.
    Unreachable {
        /// Such as `connection refused`.
        why: String,
    },
    /// The server is not the one that it should be, or does not take us for whom we are: TLS.
    Distrusted {
        /// What is wrong, as a fragment.
        why: String,
        /// What to do.
        next: &'static str,
    },
    /// No complete answer within the call's timeout.
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// 401: the credentials are not accepted.
    Unauthorized,
    /// The credential plugin of the kubeconfig's user failed.
    Credentials {
        /// What it said, in its own words.
        why: String,
    },
    /// The server refused.
    Refused(Refusal),
    /// The run was cancelled.
    Cancelled,
    /// The answer is not one of a Kubernetes API server. Its body is never shown: it may hold
    /// anything.
    BadAnswer {
        /// The HTTP status.
        status: u16,
        /// The body's type.
        content_type: String,
        /// The body's length in bytes.
        length: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The kubeconfig, or the call itself, is wrong; nothing was sent.
    Config(Error),
}

impl CallError {
    /// A failure before anything was sent.
    pub(super) fn config(call: impl Into<String>, error: Error) -> Self {
        CallError { call: call.into(), kind: CallErrorKind::Config(error), context: Box::default() }
    }

    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.kind {
            CallErrorKind::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the object, its kind or its namespace is not there.
    pub fn is_missing(&self) -> bool {
        matches!(
            self.refusal(),
            Some(Refusal::NotFound | Refusal::MissingKind | Refusal::MissingNamespace { .. })
        )
    }

    /// Whether the user may not do this (403 by RBAC).
    pub fn is_forbidden(&self) -> bool {
        matches!(self.refusal(), Some(Refusal::Forbidden { .. }))
    }

    /// Whether the server answers, and only what serves this one API group does not: an aggregated
    /// API server that is down (503). Groups of Kubernetes itself are never served by another one.
    pub fn is_api_down(&self) -> bool {
        let group = self.context.gvk.as_ref().map_or("", |gvk| &*gvk.group);
        matches!(self.refusal(), Some(Refusal::Unavailable { .. }))
            && group.contains('.')
            && !group.ends_with(".k8s.io")
    }

    /// Whether the whole cluster is out of reach, so that further calls make no sense.
    pub fn is_cluster_wide(&self) -> bool {
        match &self.kind {
            CallErrorKind::Unreachable { .. }
            | CallErrorKind::Distrusted { .. }
            | CallErrorKind::Timeout { .. }
            | CallErrorKind::Unauthorized
            | CallErrorKind::Credentials { .. }
            | CallErrorKind::Cancelled
            | CallErrorKind::BadAnswer { .. }
            | CallErrorKind::Config(_) => true,
            CallErrorKind::Refused(_) => false,
        }
    }

    /// The exit code (design §3). A cluster that cannot be reached or read: 9. A manifest that the
    /// server cannot take, or that needs something which is not there: 4. Admission: 5. A conflict
    /// to decide, or an object that moved: 6. Everything else that a write meets: 1.
    pub fn exit(&self) -> Exit {
        let failed = if self.context.write { Exit::Failed } else { Exit::Unreachable };
        match &self.kind {
            CallErrorKind::Unreachable { .. }
            | CallErrorKind::Distrusted { .. }
            | CallErrorKind::Timeout { .. }
            | CallErrorKind::Unauthorized
            | CallErrorKind::Credentials { .. }
            | CallErrorKind::BadAnswer { .. } => Exit::Unreachable,
            CallErrorKind::Cancelled => Exit::Interrupted,
            CallErrorKind::Config(error) => error.exit(),
            CallErrorKind::Refused(refusal) => match refusal {
                Refusal::Invalid { .. }
                | Refusal::Immutable { .. }
                | Refusal::Schema { .. }
                | Refusal::Quota { .. }
                | Refusal::MissingReference { .. }
                | Refusal::MissingKind
                | Refusal::MissingNamespace { .. }
                | Refusal::TooLarge { .. } => Exit::Manifest,
                Refusal::Admission { .. } => Exit::Policy,
                Refusal::Conflict(_) | Refusal::Moved | Refusal::NamespaceTerminating { .. } => {
                    Exit::Blocked
                }
                Refusal::Throttled | Refusal::Unavailable { .. } => Exit::Unreachable,
                Refusal::Forbidden { .. } => failed,
                Refusal::Escalation { .. }
                | Refusal::WebhookDown { .. }
                | Refusal::NotFound
                | Refusal::AlreadyExists => Exit::Failed,
                Refusal::Other { code: 400 | 422, .. } => Exit::Manifest,
                Refusal::Other { .. } => failed,
            },
        }
    }

    /// What the user reads: what happened, where, why, what next. The object is left out where a
    /// read failed because of the cluster: then each object would tell the same.
    pub fn into_error(mut self, target: &TargetName, object: Option<&ObjectId>) -> Error {
        let exit = self.exit();
        let object = object.filter(|_| self.context.write || !self.is_cluster_wide());
        // `PATCH Deployment shop/web` is only `PATCH` beside the object.
        let name = object.map(|object| format!(" {object}"));
        if let Some(verb) = name.and_then(|name| Some(self.call.strip_suffix(&name)?.to_owned())) {
            self.call = verb;
        }
        if let CallErrorKind::Config(error) = self.kind {
            let error = error.in_target(target);
            return match object {
                Some(object) => error.on(object),
                None => error,
            };
        }
        let Story { message, because, hint } = self.story();
        let mut error = Error::new(exit, message).in_target(target);
        if let Some(object) = object {
            error = error.on(object);
        }
        for cause in because {
            error = error.because(cause);
        }
        if let Some(hint) = hint {
            error = error.hint(hint);
        }
        error
    }

    fn kind_name(&self) -> String {
        self.context.gvk.as_ref().map_or_else(
            || "the kind".to_owned(),
            |gvk| format!("kind `{}` in `{}`", gvk.kind, gvk.api_version()),
        )
    }

    fn story(&self) -> Story {
        let server = &self.context.server;
        match &self.kind {
            CallErrorKind::Unreachable { why } => {
                Story::new(format!("`{server}` cannot be reached")).why(why).next(
                    "see whether the server runs, and whether it is reached from here (VPN, proxy)",
                )
            }
            CallErrorKind::Distrusted { why, next } => {
                Story::new(format!("`{server}` is not trusted")).why(why).next(*next)
            }
            CallErrorKind::Timeout { after } => {
                Story::new(format!("`{server}` gave no answer within {}", seconds(*after)))
                    .why(&self.call)
                    .next("see whether the server is healthy, or raise `--request-timeout`")
            }
            CallErrorKind::Unauthorized => {
                let whose = self.context.user.as_ref().map_or_else(
                    || "the request without credentials".to_owned(),
                    |user| format!("the credentials of user `{user}`"),
                );
                Story::new(format!("`{server}` refused {whose} (401)"))
                    .next("log in again, or see which user the kubeconfig's context names")
            }
            CallErrorKind::Credentials { why } => {
                let user = self.context.user.as_deref().unwrap_or_default();
                Story::new(format!("no credentials for user `{user}`"))
                    .why(why)
                    .next("run the command that the kubeconfig names by hand, and log in where it asks for it")
            }
            CallErrorKind::Refused(refusal) => self.refused(refusal),
            CallErrorKind::Cancelled => Story::new("interrupted").why(&self.call),
            CallErrorKind::BadAnswer { status, content_type, length, why } => {
                let kind = if content_type.is_empty() { "unknown type" } else { content_type };
                Story::new(format!("`{server}` gave an answer that cannot be used"))
                    .why(format!("{}: status {status}, {length} bytes of {kind}: {why}", self.call))
                    .next("see whether the kubeconfig's `server` is the address of a Kubernetes API server")
            }
            CallErrorKind::Config(error) => Story::new(error.message()),
        }
    }

    fn refused(&self, refusal: &Refusal) -> Story {
        match refusal {
            Refusal::Invalid { causes } => {
                let texts = causes.iter().map(|cause| match (&*cause.field, &*cause.message) {
                    ("", message) => message.to_owned(),
                    (field, "") => format!("`{field}`"),
                    (field, message) => format!("`{field}`: {message}"),
                });
                let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
                Story::new("the server finds the object invalid").why(texts.join("; "))
            }
            Refusal::Immutable { field, message } => {
                Story::new(format!("`{field}` cannot be changed once the object exists"))
                    .why(message)
                    .next("keep the value, or give the object another name; or annotate it with `mcd.dev/apply: recreate`: then it is deleted and made anew")
            }
            Refusal::Schema { message } => {
                Story::new("the manifest does not fit the kind's schema").why(message)
            }
            Refusal::Forbidden { message } => {
                let story = if message.is_empty() {
                    Story::new(format!("{} is forbidden (403)", self.call))
                } else {
                    Story::new(message)
                };
                story.next("ask for the right, or use another user (`--as`, the context's user)")
            }
            Refusal::Escalation { message } => {
                Story::new("the object grants rights that the user does not hold")
                    .why(message)
                    .next("deploy with a user that holds them, or that has the verb `escalate` or `bind`")
            }
            Refusal::Admission { webhook, message } => {
                Story::new(format!("admission by `{webhook}` denies the object")).why(message)
            }
            Refusal::WebhookDown { webhook, message } => {
                Story::new(format!("the webhook `{webhook}` could not be called"))
                    .why(message)
                    .next("see whether the pods behind the webhook run, then try again")
            }
            Refusal::Quota { message } => Story::new(message)
                .next("raise the quota, or ask for less"),
            Refusal::MissingReference { message } => {
                Story::new("the object names something that is not there").why(message)
            }
            Refusal::MissingKind => match &self.context.gvk {
                Some(gvk) => Story::new(format!("the cluster has no {}", self.kind_name()))
                    .next(format!(
                        "the definition of `{}` must be applied first, or its version is another one",
                        gvk.kind
                    )),
                None => Story::new(format!("{} is not known to the server (404)", self.call))
                    .next("see whether the kubeconfig's `server` is the address of a Kubernetes API server"),
            },
            Refusal::MissingNamespace { name } => {
                Story::new(format!("the namespace `{name}` is not there"))
                    .next("create it, or set `createNamespace: true`")
            }
            Refusal::NamespaceTerminating { name } => {
                Story::new(format!("the namespace `{name}` is being deleted"))
                    .next("wait until it is gone, then try again")
            }
            Refusal::NotFound => Story::new("the object is not there"),
            Refusal::AlreadyExists => Story::new("the object is there already"),
            Refusal::Conflict(conflicts) => {
                let mut fields: Vec<String> = conflicts
                    .iter()
                    .map(|c| match &*c.manager {
                        "" => format!("`{}`: {}", c.field, c.manager_text),
                        manager => format!("`{}` belongs to `{manager}`", c.field),
                    })
                    .collect();
                fields.dedup();
                Story::new("other managers own fields of the object").why(fields.join("; "))
            }
            Refusal::Moved => Story::new("the object was changed by someone in the meantime")
                .next("run the command again: it reads the object anew"),
            Refusal::TooLarge { message } => {
                Story::new("the object is too large for the server").why(message)
            }
            Refusal::Throttled => {
                Story::new(format!("`{}` asks to slow down (429)", self.context.server)).why(&self.call)
                    .next("try again later, or lower `--concurrency`")
            }
            Refusal::Unavailable { message } if self.is_api_down() => {
                let gvk = self.context.gvk.as_ref();
                let version = gvk.map(Gvk::api_version).unwrap_or_default();
                Story::new(format!("the API `{version}` is not available"))
                    .why(message)
                    .next(API_DOWN)
            }
            Refusal::Unavailable { message } => {
                Story::new(format!("`{}` is not available", self.context.server))
                    .why(&self.call)
                    .why(message)
                    .next("try again when the server is healthy")
            }
            Refusal::Other { code, reason, message } => {
                let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
                Story::new(format!("the server refuses {} ({code}{reason})", self.call)).why(message)
            }
        }
    }
}

/// What to do about an aggregated API server that is down.
pub(crate) const API_DOWN: &str = "`kubectl get apiservices` names what serves it and why it does not answer; run the command \
     again when it does, or remove the APIService when nothing serves it any more";

/// The parts of an error's text.
struct Story {
    message: String,
    because: Vec<String>,
    hint: Option<String>,
}

impl Story {
    fn new(message: impl Into<String>) -> Self {
        Story { message: message.into(), because: Vec::new(), hint: None }
    }

    fn why(mut self, cause: impl Into<String>) -> Self {
        let cause = cause.into();
        if !cause.is_empty() {
            self.because.push(cause);
        }
        self
    }

    fn next(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// `30s`, `1.5s`.
fn seconds(duration: Duration) -> String {
    format!("{}s", (duration.as_secs_f64() * 10.0).round() / 10.0)
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let CallErrorKind::Config(error) = &self.kind {
            return error.fmt(f);
        }
        let story = self.story();
        f.write_str(&story.message)?;
        story.because.iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests;
