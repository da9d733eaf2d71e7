//! What the user reads of each failure, and the exit code.

use super::*;
use crate::cluster::refusal::{Cause, FieldConflict};

fn read(kind: CallErrorKind, write: bool) -> String {
    let error = CallError {
        call: "PATCH Deployment shop/web".to_owned(),
        kind,
        context: Box::new(CallContext {
            server: "10.0.0.1:6443".to_owned(),
            user: Some("dev".to_owned()),
            write,
            gvk: Some(Gvk::new("apps/v1", "Deployment")),
        }),
    };
    let object = ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: Some("shop".to_owned()),
        name: "web".to_owned(),
    };
    let error = error.into_error(&TargetName::new("us-east"), Some(&object));
    let hints: String = error.hints().iter().map(|hint| format!("\n      next: {hint}")).collect();
    format!("[{}] {error}{hints}\n", error.exit().code())
}

fn text(value: &str) -> String {
    value.to_owned()
}

#[test]
fn every_failure_says_what_where_why_and_what_next() {
    let conflict = |manager: &str, field: &str| FieldConflict {
        manager_text: format!("conflict with \"{manager}\" using apps/v1"),
        manager: text(manager),
        subresource: None,
        api_version: Some(text("apps/v1")),
        field: text(field),
    };
    let message = || text("…");
    let refusals = [
        Refusal::Invalid {
            causes: vec![
                Cause { field: text("spec.a"), message: text("required value") },
                Cause { field: text("data[p]"), message: String::new() },
            ],
        },
        Refusal::Immutable { field: text("spec.selector"), message: text("field is immutable") },
        Refusal::Schema { message: text(".spec.x: field not declared in schema") },
        Refusal::Forbidden {
            message: text("user `dev` cannot patch `deployments.apps` in namespace `shop`"),
        },
        Refusal::Forbidden { message: String::new() },
        Refusal::Escalation { message: message() },
        Refusal::Admission { webhook: text("policy.example.com"), message: text("no latest tags") },
        Refusal::WebhookDown {
            webhook: text("x.example.com"),
            message: text("connection refused"),
        },
        Refusal::Quota {
            message: text("exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4"),
        },
        Refusal::MissingReference { message: text("no PriorityClass with name high was found") },
        Refusal::MissingKind,
        Refusal::MissingNamespace { name: text("shop") },
        Refusal::NamespaceTerminating { name: text("shop") },
        Refusal::NotFound,
        Refusal::AlreadyExists,
        Refusal::Conflict(vec![
            conflict("kubectl-edit", ".spec.replicas"),
            conflict("helm", ".spec.paused"),
        ]),
        Refusal::Moved,
        Refusal::TooLarge { message: text("`data`: too long: may not be more than 1048576 bytes") },
        Refusal::Throttled,
        Refusal::Unavailable { message: message() },
        Refusal::Other { code: 405, reason: text("MethodNotAllowed"), message: message() },
    ];
    let mut all: String =
        refusals.into_iter().map(|r| read(CallErrorKind::Refused(r), true)).collect();
    let others = [
        CallErrorKind::Unreachable { why: text("connection refused") },
        CallErrorKind::Unreachable { why: text("invalid peer certificate: UnknownIssuer") },
        CallErrorKind::Timeout { after: Duration::from_secs(30) },
        CallErrorKind::Unauthorized,
        CallErrorKind::Credentials { why: text("the command `login` exited with 1: expired") },
        CallErrorKind::Cancelled,
        CallErrorKind::BadAnswer {
            status: 302,
            content_type: text("text/html"),
            length: 12,
            why: text("it is not an answer of a Kubernetes API server"),
        },
        CallErrorKind::Config(Error::config("no context `x` in the kubeconfig")),
    ];
    all.extend(others.into_iter().map(|kind| read(kind, true)));
    insta::assert_snapshot!(all);
}

#[test]
fn a_read_that_is_forbidden_is_a_cluster_that_is_not_read() {
    let forbidden = || CallErrorKind::Refused(Refusal::Forbidden { message: text("x") });
    assert!(read(forbidden(), false).starts_with("[9] "));
    assert!(read(forbidden(), true).starts_with("[1] "));
}
