//! What a server's refusal means. Pure: status, body and the object in, a class out, so that every
//! row of "A4" and "A5" is a test.
//!
//! Texts of a server may quote values: what follows "Invalid value:" is never kept, Go dumps and
//! diffs are cut, and of a refusal of a Secret only paths and what the server itself made up
//! (names, numbers of a quota) are kept.

use serde_json::Value;

use super::error::CallErrorKind;
use super::text::{
    clean, first_line, is_immutable, missing_right, quoted, server_numbers, webhook_down,
    without_value,
};
use crate::manifest::{Gvk, ObjectId};

/// Why a server refused a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// 422: fields are wrong.
    Invalid {
        /// One for each field.
        causes: Vec<Cause>,
    },
    /// 422: fields that can only be set when the object is made.
    Immutable {
        /// The fields, joined by commas, as the server names them (`spec.selector`). For some
        /// kinds it is only `spec`.
        field: String,
        /// What the server says of them, without values.
        message: String,
    },
    /// The manifest does not fit the kind's schema: unknown field, wrong type, duplicate key. A
    /// server-side apply gets a 500 for it (A4), so never retry one.
    Schema {
        /// The path and what is wrong with it.
        message: String,
    },
    /// 403: the user has not the right.
    Forbidden {
        /// User, verb, resource and namespace.
        message: String,
    },
    /// 403: the user would grant rights that they do not hold themselves.
    Escalation {
        /// What the server says.
        message: String,
    },
    /// A webhook, a policy or PodSecurity denies the object.
    Admission {
        /// Who denies: a webhook's name, or a policy's.
        webhook: String,
        /// Its reason; empty when it gave none, or when the object is a Secret.
        message: String,
    },
    /// 500: an admission or conversion webhook could not be called.
    WebhookDown {
        /// The webhook's name.
        webhook: String,
        /// Such as `connection refused`.
        message: String,
    },
    /// 403: a quota or a limit range.
    Quota {
        /// The quota's name and numbers.
        message: String,
    },
    /// 403: a pod names a service account, priority class or runtime class that is not there.
    MissingReference {
        /// What is missing.
        message: String,
    },
    /// 404: the server does not serve the kind in this version.
    MissingKind,
    /// 404: the object's namespace is not there.
    MissingNamespace {
        /// The namespace.
        name: String,
    },
    /// 403: the object's namespace is being deleted.
    NamespaceTerminating {
        /// The namespace.
        name: String,
    },
    /// 404: the object is not there.
    NotFound,
    /// 409: an object of that name is there.
    AlreadyExists,
    /// 409: other managers own fields of a server-side apply, one entry for each field.
    Conflict(Vec<FieldConflict>),
    /// 409: the object is no longer the one that was read (resourceVersion or uid).
    Moved,
    /// The object, its data or its annotations are too large.
    TooLarge {
        /// What is too large, and the limit where the server says it.
        message: String,
    },
    /// 429, after the retries.
    Throttled,
    /// 502, 503, 504, after the retries.
    Unavailable {
        /// What the server says.
        message: String,
    },
    /// Anything else that the server said in its own form.
    Other {
        /// The HTTP status.
        code: u16,
        /// The machine-readable reason, such as `MethodNotAllowed`; may be empty.
        reason: String,
        /// What the server says; empty when it may quote a Secret.
        message: String,
    },
}

/// One field of an invalid object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The field as the server names it; may be empty.
    pub field: String,
    /// What is wrong, without the value; empty for Secrets.
    pub message: String,
}

/// One field that another manager owns (A5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// The server's words: `conflict with "kubectl-edit" using apps/v1`.
    pub manager_text: String,
    /// The manager in them; empty when they have another form.
    pub manager: String,
    /// The subresource through which it wrote, such as `scale`.
    pub subresource: Option<String>,
    /// The version that it wrote in; the server leaves it out when the other is an Apply.
    pub api_version: Option<String>,
    /// The path as the server prints it: `.spec.replicas`.
    pub field: String,
}

/// What the refused call was about.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    /// The object, when it was about one.
    pub(super) object: Option<ObjectId>,
    /// The kind, when it was about one.
    pub(super) gvk: Option<Gvk>,
}

impl About {
    /// Whether texts may quote a Secret's values.
    pub(super) fn secret(&self) -> bool {
        self.object.as_ref().is_some_and(ObjectId::is_secret)
            || self.gvk.as_ref().is_some_and(|g| g.group.is_empty() && g.kind == "Secret")
    }
}

/// Classifies an answer whose status is not 2xx.
pub(super) fn classify(
    status: u16,
    content_type: &str,
    body: &[u8],
    about: &About,
) -> CallErrorKind {
    if status == 401 {
        return CallErrorKind::Unauthorized;
    }
    let document = serde_json::from_slice::<Value>(body).ok().filter(Value::is_object);
    if let Some(document) = document.filter(|d| d["kind"] == "Status") {
        return CallErrorKind::Refused(Status { code: status, document, about }.classify());
    }
    let plain = String::from_utf8_lossy(body);
    CallErrorKind::Refused(match status {
        404 if plain.trim_start().starts_with("404 page not found") => Refusal::MissingKind,
        413 => Refusal::TooLarge { message: "the request is too large".to_owned() },
        429 => Refusal::Throttled,
        502..=504 => Refusal::Unavailable { message: String::new() },
        403 => Refusal::Forbidden { message: String::new() },
        _ => {
            return CallErrorKind::BadAnswer {
                status,
                content_type: clean(content_type),
                length: body.len(),
                why: "it is not an answer of a Kubernetes API server".to_owned(),
            };
        }
    })
}

/// Whether a refusal may pass by itself, by status and body: 500 only when a webhook could not be
/// called.
pub(super) fn webhook_is_down(status: u16, body: &[u8]) -> bool {
    status == 500
        && serde_json::from_slice::<Value>(body)
            .ok()
            .and_then(|d| d["message"].as_str().map(|m| webhook_down(m).is_some()))
            .unwrap_or(false)
}

/// A `Status` document with its context.
struct Status<'a> {
    code: u16,
    document: Value,
    about: &'a About,
}

impl Status<'_> {
    fn message(&self) -> &str {
        self.document["message"].as_str().unwrap_or_default()
    }

    fn reason(&self) -> &str {
        self.document["reason"].as_str().unwrap_or_default()
    }

    fn causes(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        fn text<'a>(cause: &'a Value, key: &str) -> &'a str {
            cause[key].as_str().unwrap_or_default()
        }
        let causes = self.document["details"]["causes"].as_array().into_iter().flatten();
        causes.map(|c| (text(c, "reason"), text(c, "field"), text(c, "message")))
    }

    /// A text of someone else (a webhook, a policy), unless it may quote a Secret.
    fn foreign(&self, text: &str) -> String {
        if self.about.secret() { String::new() } else { clean(text) }
    }

    fn classify(&self) -> Refusal {
        if let Some(denied) = self.admission() {
            return denied;
        }
        match self.code {
            400 => self.bad_request(),
            403 => self.forbidden(),
            404 => self.not_found(),
            409 => self.conflict(),
            413 => Refusal::TooLarge { message: self.server_text() },
            422 => self.invalid(),
            429 => Refusal::Throttled,
            500 => self.internal(),
            502..=504 => Refusal::Unavailable { message: self.server_text() },
            _ => self.other(),
        }
    }

    /// The message of the server itself, without its prefix; empty for Secrets.
    fn server_text(&self) -> String {
        self.foreign(first_line(self.message()))
    }

    fn other(&self) -> Refusal {
        let message = self.message();
        let message = if message.contains("Invalid value:") { "" } else { message };
        Refusal::Other {
            code: self.code,
            reason: clean(self.reason()),
            message: self.foreign(first_line(message)),
        }
    }

    /// Denials come with any code: webhooks and policies choose theirs.
    fn admission(&self) -> Option<Refusal> {
        let texts = std::iter::once(self.message()).chain(self.causes().map(|(.., m)| m));
        for text in texts {
            if let Some((_, rest)) = text.split_once("admission webhook ") {
                let (webhook, rest) = quoted(rest, '"')?;
                if let Some(why) = rest.strip_prefix(" denied the request") {
                    let why = why.strip_prefix(':').unwrap_or_default().trim();
                    return Some(Refusal::Admission {
                        webhook: clean(&webhook),
                        message: self.foreign(why),
                    });
                }
            }
            if let Some((_, rest)) = text.split_once("ValidatingAdmissionPolicy ") {
                let (policy, rest) = quoted(rest, '\'')?;
                if let Some((_, why)) = rest.split_once("denied request") {
                    let why = why.strip_prefix(':').unwrap_or_default().trim();
                    return Some(Refusal::Admission {
                        webhook: clean(&policy),
                        message: self.foreign(why),
                    });
                }
            }
            if let Some((_, rest)) = text.split_once("violates PodSecurity ") {
                let (level, rest) = quoted(rest, '"')?;
                return Some(Refusal::Admission {
                    webhook: format!("PodSecurity {}", clean(&level)),
                    message: clean(rest.trim_start_matches(':')),
                });
            }
        }
        None
    }

    fn bad_request(&self) -> Refusal {
        let message = first_line(self.message());
        if let Some((_, fields)) = message.split_once("strict decoding error: ") {
            return Refusal::Schema { message: clean(fields) };
        }
        if let Some((_, why)) = message.split_once("cannot be handled as a ") {
            let why = why.split_once(": ").map_or("", |(_, why)| why);
            return Refusal::Schema { message: self.foreign(why) };
        }
        self.other()
    }

    fn forbidden(&self) -> Refusal {
        let message = self.message();
        let terminating = self.causes().any(|(reason, ..)| reason == "NamespaceTerminating");
        if terminating || message.contains("because it is being terminated") {
            let named = message
                .split_once("content in namespace ")
                .and_then(|(_, rest)| rest.split_whitespace().next());
            return Refusal::NamespaceTerminating { name: self.namespace(named) };
        }
        let why = message.split_once(" is forbidden: ").map_or(message, |(_, why)| why);
        if let Some((_, numbers)) = why.split_once("exceeded quota: ") {
            return Refusal::Quota {
                message: format!("exceeded quota: {}", server_numbers(numbers)),
            };
        }
        if let Some((_, numbers)) = why.split_once("failed quota: ") {
            return Refusal::Quota {
                message: format!("failed quota: {}", server_numbers(numbers)),
            };
        }
        if [" usage per ", "limit to request ratio"].iter().any(|t| why.contains(t)) {
            return Refusal::Quota { message: self.foreign(why) };
        }
        if why.contains("attempting to grant RBAC permissions not currently held") {
            return Refusal::Escalation { message: clean(first_line(why)) };
        }
        let missing = why.starts_with("error looking up service account")
            || why.starts_with("no PriorityClass with name")
            || (why.contains("RuntimeClass") && why.contains("not found"));
        if missing {
            return Refusal::MissingReference { message: clean(why) };
        }
        if let Some(right) = missing_right(why) {
            return Refusal::Forbidden { message: right };
        }
        Refusal::Forbidden { message: self.foreign(why) }
    }

    fn not_found(&self) -> Refusal {
        let details = &self.document["details"];
        let (kind, name) = (text(&details["kind"]), text(&details["name"]));
        let is_namespace =
            self.about.gvk.as_ref().is_some_and(|g| g.group.is_empty() && g.kind == "Namespace");
        if kind == "namespaces" && !is_namespace {
            return Refusal::MissingNamespace { name: self.namespace(Some(name)) };
        }
        if name.is_empty() && self.message().contains("could not find the requested resource") {
            return Refusal::MissingKind;
        }
        Refusal::NotFound
    }

    fn namespace(&self, named: Option<&str>) -> String {
        let own = || self.about.object.as_ref().and_then(|o| o.namespace.as_deref());
        named.filter(|n| !n.is_empty()).or_else(own).map(clean).unwrap_or_default()
    }

    fn conflict(&self) -> Refusal {
        if self.reason() == "AlreadyExists" {
            return Refusal::AlreadyExists;
        }
        let conflicts: Vec<_> = self
            .causes()
            .filter(|(reason, ..)| *reason == "FieldManagerConflict")
            .map(|(_, field, message)| FieldConflict::new(field, message))
            .collect();
        if conflicts.is_empty() { Refusal::Moved } else { Refusal::Conflict(conflicts) }
    }

    fn invalid(&self) -> Refusal {
        let causes: Vec<(&str, &str)> = self.causes().map(|(_, f, m)| (f, m)).collect();
        if causes.iter().any(|(field, m)| *field == "metadata.uid" && m.contains("Invalid value")) {
            return Refusal::Moved;
        }
        let too_large = |(field, message): &&(&str, &str)| {
            // A ConfigMap as a whole is `[]`.
            message.starts_with("Too long")
                && ["", "[]", "data", "metadata.annotations"].contains(field)
        };
        if let Some((field, message)) = causes.iter().find(too_large) {
            let message = match *field {
                "" | "[]" => without_value(message),
                field => format!("`{field}`: {}", without_value(message)),
            };
            return Refusal::TooLarge { message };
        }
        if causes.is_empty() {
            return self.other();
        }
        if causes.iter().all(|(_, message)| is_immutable(message)) {
            let mut fields: Vec<String> = causes.iter().map(|(f, _)| clean(f)).collect();
            fields.dedup();
            let message = causes.first().map(|(_, m)| without_value(m)).unwrap_or_default();
            return Refusal::Immutable { field: fields.join(", "), message };
        }
        let cause = |(field, message): &(&str, &str)| Cause {
            field: clean(field),
            message: if self.about.secret() { String::new() } else { without_value(message) },
        };
        Refusal::Invalid { causes: causes.iter().map(cause).collect() }
    }

    fn internal(&self) -> Refusal {
        let message = self.message();
        if let Some((webhook, why)) = webhook_down(message) {
            return Refusal::WebhookDown { webhook, message: self.foreign(&why) };
        }
        if message.contains("etcdserver: request is too large")
            || message.contains("trying to send message larger than max")
        {
            return Refusal::TooLarge {
                message: "the object is too large to be stored".to_owned(),
            };
        }
        for start in ["failed to create typed patch object", "failed to create typed live object"] {
            if let Some((_, rest)) = message.split_once(start) {
                return Refusal::Schema { message: self.typed(rest) };
            }
        }
        if let Some((_, why)) = message.split_once("failed to convert new object") {
            let base64 = why.contains("illegal base64 data");
            let text = if base64 { "a value of `data` is not base64" } else { "" };
            return Refusal::Schema { message: text.to_owned() };
        }
        self.other()
    }

    /// `(/web; apps/v1, Kind=Deployment): .spec.x: field not declared in schema`, one or several
    /// such lines, to paths and reasons. Values stand after "got" and are cut.
    fn typed(&self, rest: &str) -> String {
        let rest = rest.split_once("): ").map_or(rest, |(_, rest)| rest);
        let lines = rest.lines().map(str::trim).filter(|line| line.starts_with('.'));
        let texts: Vec<String> = lines
            .map(|line| {
                let (path, why) = line.split_once(": ").unwrap_or((line, ""));
                let why = why.split(", got ").next().unwrap_or_default();
                match why {
                    _ if self.about.secret() => clean(path),
                    "" => clean(path),
                    why => format!("{}: {}", clean(path), clean(why)),
                }
            })
            .collect();
        texts.join("; ")
    }
}

impl FieldConflict {
    fn new(field: &str, message: &str) -> Self {
        let rest = message.split_once("conflict with ").map(|(_, rest)| rest);
        let (manager, rest) = rest.and_then(|rest| quoted(rest, '"')).unwrap_or_default();
        let subresource = rest
            .split_once("with subresource ")
            .and_then(|(_, rest)| quoted(rest, '"'))
            .map(|(subresource, _)| subresource);
        let version = rest.split_once(" using ").and_then(|(_, v)| v.split_whitespace().next());
        FieldConflict {
            manager_text: clean(message),
            manager: clean(&manager),
            subresource: subresource.map(|s| clean(&s)),
            api_version: version.map(clean),
            field: clean(field),
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
