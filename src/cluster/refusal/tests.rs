//! The rows of A4 and A5 as a real API server gave them (Kubernetes 1.36).

#![allow(clippy::needless_pass_by_value)]

use serde_json::json;

use super::*;

fn object(kind: &str) -> About {
    let api_version = match kind {
        "Secret" | "Pod" | "ConfigMap" | "Namespace" | "Service" => "v1",
        "Deployment" | "StatefulSet" => "apps/v1",
        "Job" => "batch/v1",
        _ => "example.com/v1",
    };
    let gvk = Gvk::new(api_version, kind);
    let id = ObjectId {
        group: gvk.group.clone(),
        kind: kind.to_owned(),
        namespace: (kind != "Namespace").then(|| "shop".to_owned()),
        name: "web".to_owned(),
    };
    About { object: Some(id), gvk: Some(gvk) }
}

fn status(code: u16, reason: &str, message: &str, details: &Value) -> Vec<u8> {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details, "code": code})
    .to_string()
    .into_bytes()
}

fn refusal_of(kind: &str, code: u16, reason: &str, message: &str, details: Value) -> Refusal {
    let body = status(code, reason, message, &details);
    match classify(code, "application/json", &body, &object(kind)) {
        CallErrorKind::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

fn plain(kind: &str, code: u16, reason: &str, message: &str) -> Refusal {
    refusal_of(kind, code, reason, message, Value::Null)
}

fn invalid(kind: &str, causes: &[(&str, &str, &str)]) -> Refusal {
    let causes: Vec<Value> = causes
        .iter()
        .map(|(reason, field, message)| json!({"reason": reason, "field": field, "message": message}))
        .collect();
    let details = json!({"name": "web", "kind": kind, "causes": causes});
    refusal_of(kind, 422, "Invalid", "Thing \"web\" is invalid: …", details)
}

fn text(value: &str) -> String {
    value.to_owned()
}

#[test]
fn a_missing_kind_is_a_plain_404() {
    let about = object("Widget");
    let kind = classify(404, "text/plain; charset=utf-8", b"404 page not found\n", &about);
    assert_eq!(kind, CallErrorKind::Refused(Refusal::MissingKind));
    // The same from an aggregated server or a removed version.
    let details = json!({"causes": [{"reason": "UnexpectedServerResponse", "message": "404 page not found"}]});
    let message = "the server could not find the requested resource";
    assert_eq!(refusal_of("Widget", 404, "NotFound", message, details), Refusal::MissingKind);
}

#[test]
fn a_missing_namespace_is_told_from_a_missing_object() {
    let details = json!({"name": "shop", "kind": "namespaces"});
    let message = "namespaces \"shop\" not found";
    assert_eq!(
        refusal_of("Deployment", 404, "NotFound", message, details.clone()),
        Refusal::MissingNamespace { name: text("shop") }
    );
    assert_eq!(refusal_of("Namespace", 404, "NotFound", message, details), Refusal::NotFound);
    let details = json!({"name": "web", "group": "apps", "kind": "deployments"});
    let message = "deployments.apps \"web\" not found";
    assert_eq!(refusal_of("Deployment", 404, "NotFound", message, details), Refusal::NotFound);
}

#[test]
fn a_terminating_namespace_is_a_403_with_a_cause() {
    let message = "deployments.apps \"web\" is forbidden: unable to create new content in namespace shop because it is being terminated";
    let details = json!({"name": "web", "kind": "deployments", "causes": [{"reason": "NamespaceTerminating",
        "message": "namespace shop is being terminated", "field": "metadata.namespace"}]});
    assert_eq!(
        refusal_of("Deployment", 403, "Forbidden", message, details),
        Refusal::NamespaceTerminating { name: text("shop") }
    );
}

#[test]
fn references_of_pods_are_403s() {
    let cases = [
        "pods \"web\" is forbidden: error looking up service account shop/robot: serviceaccount \"robot\" not found",
        "pods \"web\" is forbidden: no PriorityClass with name high was found",
        "pods \"web\" is forbidden: pod rejected: RuntimeClass \"gvisor\" not found",
    ];
    for message in cases {
        let why = message.split_once("forbidden: ").unwrap().1;
        assert_eq!(
            plain("Pod", 403, "Forbidden", message),
            Refusal::MissingReference { message: text(why) }
        );
    }
}

#[test]
fn quotas_keep_their_numbers_even_for_secrets() {
    let message = "secrets \"web\" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=4, limited: count/secrets=4";
    let expected = "exceeded quota: q, requested: count/secrets=1, used: count/secrets=4, limited: count/secrets=4";
    assert_eq!(
        plain("Secret", 403, "Forbidden", message),
        Refusal::Quota { message: text(expected) }
    );
    let message = "pods \"web\" is forbidden: failed quota: q: must specify limits.cpu for: c";
    assert_eq!(
        plain("Pod", 403, "Forbidden", message),
        Refusal::Quota { message: text("failed quota: q: must specify limits.cpu for: c") }
    );
    let message = "pods \"web\" is forbidden: maximum cpu usage per Container is 1, but limit is 2";
    assert_eq!(
        plain("Pod", 403, "Forbidden", message),
        Refusal::Quota { message: text("maximum cpu usage per Container is 1, but limit is 2") }
    );
}

#[test]
fn missing_rights_name_user_verb_resource_and_place() {
    let cases = [
        (
            "deployments.apps \"web\" is forbidden: User \"dev\" cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"shop\"",
            "user `dev` cannot patch `deployments.apps` in namespace `shop`",
        ),
        (
            "secrets is forbidden: User \"system:serviceaccount:a:b\" cannot list resource \"secrets\" in API group \"\" at the cluster scope",
            "user `system:serviceaccount:a:b` cannot list `secrets` in the whole cluster",
        ),
        ("forbidden: User \"dev\" cannot get path \"/apis\"", "user `dev` cannot get `/apis`"),
    ];
    for (message, expected) in cases {
        for kind in ["Deployment", "Secret"] {
            assert_eq!(
                plain(kind, 403, "Forbidden", message),
                Refusal::Forbidden { message: text(expected) }
            );
        }
    }
    let message = "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"dev\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";
    let expected = "user \"dev\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:";
    assert_eq!(
        plain("Role", 403, "Forbidden", message),
        Refusal::Escalation { message: text(expected) }
    );
}

#[test]
fn admission_denies_with_any_code() {
    let denied = |webhook: &str, message: &str| Refusal::Admission {
        webhook: text(webhook),
        message: text(message),
    };
    let hook = "admission webhook \"policy.example.com\" denied the request: images must come from registry.example.com";
    for code in [400, 403, 422] {
        assert_eq!(
            plain("Deployment", code, "Forbidden", hook),
            denied("policy.example.com", "images must come from registry.example.com")
        );
    }
    // A webhook's message may quote the object.
    assert_eq!(plain("Secret", 403, "Forbidden", hook), denied("policy.example.com", ""));
    let silent = "admission webhook \"policy.example.com\" denied the request without explanation";
    assert_eq!(plain("Deployment", 403, "Forbidden", silent), denied("policy.example.com", ""));
    let policy = "ValidatingAdmissionPolicy 'replicas' with binding 'all' denied request: at most 5 replicas";
    let message = format!("deployments.apps \"web\" is forbidden: {policy}");
    let details = json!({"name": "web", "kind": "deployments", "causes": [{"message": policy}]});
    assert_eq!(
        refusal_of("Deployment", 422, "Invalid", &message, details),
        denied("replicas", "at most 5 replicas")
    );
    let message = "pods \"web\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true)";
    assert_eq!(
        plain("Pod", 403, "Forbidden", message),
        denied(
            "PodSecurity restricted:latest",
            "runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true)"
        )
    );
}

#[test]
fn a_webhook_that_is_down_is_a_500_that_may_pass() {
    let cases = [
        (
            "Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: Post \"https://hook.shop.svc:443/m?timeout=5s\": dial tcp 10.0.0.7:443: connect: connection refused",
            "connection refused",
        ),
        (
            "Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: Post \"https://hook.shop.svc:443/m?timeout=1s\": context deadline exceeded",
            "context deadline exceeded",
        ),
    ];
    for (message, why) in cases {
        assert_eq!(
            plain("Deployment", 500, "InternalError", message),
            Refusal::WebhookDown { webhook: text("x.example.com"), message: text(why) }
        );
        assert!(webhook_is_down(500, &status(500, "InternalError", message, &Value::Null)));
    }
    let message = "conversion webhook for example.com/v1, Kind=Widget failed: Post \"https://w.shop.svc:443/c\": connect: connection refused";
    assert_eq!(
        plain("Widget", 500, "InternalError", message),
        Refusal::WebhookDown {
            webhook: text("conversion of example.com/v1, Kind=Widget"),
            message: text("connection refused")
        }
    );
}

#[test]
fn a_manifest_that_does_not_fit_the_schema_is_a_500_that_never_passes() {
    let typed = |kind: &str, rest: &str| {
        let message =
            format!("failed to create typed patch object (shop/web; apps/v1, Kind={kind}): {rest}");
        let body = status(500, "", &message, &Value::Null);
        assert!(!webhook_is_down(500, &body));
        match classify(500, "application/json", &body, &object(kind)) {
            CallErrorKind::Refused(Refusal::Schema { message }) => message,
            other => panic!("{other:?}"),
        }
    };
    let cases = [
        (".spec.x: field not declared in schema", ".spec.x: field not declared in schema"),
        (
            ".data.a: expected string, got &value.valueUnstructured{Value:12345678}",
            ".data.a: expected string",
        ),
        (
            ".data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"x\":\"hunter2\"}}",
            ".data.a: expected string",
        ),
        (
            "errors:\n  .spec.x: field not declared in schema\n  .spec.replicas: expected numeric (int or float), got string",
            ".spec.x: field not declared in schema; .spec.replicas: expected numeric (int or float)",
        ),
        (
            ".spec.template.spec.containers: element 0: associative list with keys has an element that omits key field \"name\" (and doesn't have default value)",
            ".spec.template.spec.containers: element 0: associative list with keys has an element that omits key field \"name\" (and doesn't have default value)",
        ),
    ];
    for (rest, expected) in cases {
        assert_eq!(typed("Deployment", rest), expected);
        let secret = typed("Secret", rest);
        assert!(!secret.contains("hunter2") && !secret.contains(": "), "{secret}");
        assert!(secret.starts_with('.'), "{secret}");
    }
    let message = "failed to convert new object (shop/web; /v1, Kind=Secret) to smd typed: illegal base64 data at input byte 4";
    assert_eq!(
        plain("Secret", 500, "", message),
        Refusal::Schema { message: text("a value of `data` is not base64") }
    );
    let strict = "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.x\", duplicate field \"spec.replicas\"";
    assert_eq!(
        plain("Deployment", 400, "BadRequest", strict),
        Refusal::Schema {
            message: text("unknown field \"spec.x\", duplicate field \"spec.replicas\"")
        }
    );
}

#[test]
fn immutable_fields_are_named_without_their_values() {
    let cases = [
        (
            "Deployment",
            "FieldValueInvalid",
            "spec.selector",
            "Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app\":\"new\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable",
            "field is immutable",
        ),
        (
            "Secret",
            "FieldValueInvalid",
            "type",
            "Invalid value: \"kubernetes.io/tls\": field is immutable",
            "field is immutable",
        ),
        (
            "RoleBinding",
            "FieldValueInvalid",
            "roleRef",
            "Invalid value: rbac.RoleRef{APIGroup:\"rbac.authorization.k8s.io\", Kind:\"Role\", Name:\"b\"}: cannot change roleRef",
            "cannot change roleRef",
        ),
        (
            "Service",
            "FieldValueInvalid",
            "spec.clusterIPs[0]",
            "Invalid value: [\"10.0.0.9\"]: may not change once set",
            "may not change once set",
        ),
        (
            "ConfigMap",
            "FieldValueForbidden",
            "data",
            "Forbidden: field is immutable when `immutable` is set",
            "field is immutable when `immutable` is set",
        ),
        (
            "Job",
            "FieldValueInvalid",
            "spec.template",
            "Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:\"\"}, Spec:core.PodSpec{Env:[]core.EnvVar{core.EnvVar{Name:\"P\", Value:\"hunter2\"}}}}: field is immutable",
            "field is immutable",
        ),
        (
            "StatefulSet",
            "FieldValueForbidden",
            "spec",
            "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden",
        ),
        (
            "PersistentVolumeClaim",
            "FieldValueForbidden",
            "spec",
            "Forbidden: spec is immutable after creation except resources.requests for bound claims\n  core.PersistentVolumeClaimSpec{\n- \tStorage: \"hunter2\"\n",
            "spec is immutable after creation except resources.requests for bound claims",
        ),
        (
            "PersistentVolumeClaim",
            "FieldValueForbidden",
            "spec.resources.requests.storage",
            "Forbidden: field can not be less than status.capacity",
            "field can not be less than status.capacity",
        ),
    ];
    for (kind, reason, field, message, expected) in cases {
        assert_eq!(
            invalid(kind, &[(reason, field, message)]),
            Refusal::Immutable { field: text(field), message: text(expected) },
            "{kind} {field}"
        );
    }
}

#[test]
fn invalid_fields_keep_the_reason_and_lose_the_value() {
    let cases = [
        ("Required value", "required value"),
        ("Invalid value: 0: must be greater than zero", "must be greater than zero"),
        (
            "Invalid value: \"Bad_Name\": a lowercase RFC 1123 label must consist of lower case characters (e.g. 'my-name', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            "a lowercase RFC 1123 label must consist of lower case characters (e.g. 'my-name', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        (
            "Invalid value: \"string\": spec.replicas in body must be of type integer: \"string\"",
            "spec.replicas in body must be of type integer",
        ),
        (
            "Invalid value: \"null\": spec.m in body must be of type object: \"null\"",
            "spec.m in body must be of type object",
        ),
        (
            "Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\"",
            "must be one of \"Always\", \"Never\"",
        ),
        ("Duplicate value: \"t\"", "duplicate value: \"t\""),
        ("Too many: 5: must have at most 3 items", "too many: 5: must have at most 3 items"),
        ("Forbidden: may not be set", "may not be set"),
        // Nothing that follows can be told from the value.
        ("Invalid value: \"pass: hunter2\"", "the value is not accepted"),
        ("Invalid value: \"a \\\"b: hunter2\"", "the value is not accepted"),
        ("Invalid value: {\"password\":\"x: hunter2\"}", "the value is not accepted"),
        ("Invalid value: hunter2", "the value is not accepted"),
        ("Invalid value: map[string]interface {}{\"x\":\"hunter2\"}", "the value is not accepted"),
        ("odd Invalid value: \"hunter2\": no", "the value is not accepted"),
    ];
    for (message, expected) in cases {
        let cause = Cause { field: text("spec.a"), message: text(expected) };
        assert_eq!(
            invalid("Widget", &[("FieldValueInvalid", "spec.a", message)]),
            Refusal::Invalid { causes: vec![cause] },
            "{message}"
        );
        // Of a Secret only the path.
        let cause = Cause { field: text("data[a]"), message: String::new() };
        assert_eq!(
            invalid("Secret", &[("FieldValueInvalid", "data[a]", message)]),
            Refusal::Invalid { causes: vec![cause] }
        );
    }
}

#[test]
fn sizes_have_three_answers() {
    let message = "Too long: may not be more than 1048576 bytes";
    assert_eq!(
        invalid("Secret", &[("FieldValueTooLong", "data", message)]),
        Refusal::TooLarge { message: text("`data`: too long: may not be more than 1048576 bytes") }
    );
    assert_eq!(
        invalid("ConfigMap", &[("FieldValueTooLong", "[]", message)]),
        Refusal::TooLarge { message: text("too long: may not be more than 1048576 bytes") }
    );
    let message = "Too long: may not be more than 262144 bytes";
    assert_eq!(
        invalid("ConfigMap", &[("FieldValueTooLong", "metadata.annotations", message)]),
        Refusal::TooLarge {
            message: text("`metadata.annotations`: too long: may not be more than 262144 bytes")
        }
    );
    let message = "Request entity too large: limit is 3145728";
    assert_eq!(
        plain("ConfigMap", 413, "RequestEntityTooLarge", message),
        Refusal::TooLarge { message: text(message) }
    );
    // A name that is too long is not a size.
    let refusal = invalid(
        "Service",
        &[("FieldValueTooLong", "metadata.name", "Too long: may not be more than 63 bytes")],
    );
    assert!(matches!(refusal, Refusal::Invalid { .. }), "{refusal:?}");
}

#[test]
fn conflicts_name_manager_and_field() {
    let cases = [
        ("conflict with \"kubectl-edit\" using apps/v1", "kubectl-edit", None, Some("apps/v1")),
        ("conflict with \"helm\"", "helm", None, None),
        (
            "conflict with \"kube-controller-manager\" with subresource \"scale\" using autoscaling/v1",
            "kube-controller-manager",
            Some("scale"),
            Some("autoscaling/v1"),
        ),
        ("something new", "", None, None),
    ];
    for (message, manager, subresource, version) in cases {
        let field = ".spec.template.spec.containers[name=\"c\"].image";
        let details = json!({"causes": [{"reason": "FieldManagerConflict", "message": message, "field": field}]});
        let conflict = FieldConflict {
            manager_text: text(message),
            manager: text(manager),
            subresource: subresource.map(text),
            api_version: version.map(text),
            field: text(field),
        };
        assert_eq!(
            refusal_of("Deployment", 409, "Conflict", "Apply failed with 1 conflict", details),
            Refusal::Conflict(vec![conflict])
        );
    }
}

#[test]
fn what_moved_is_told_from_what_exists() {
    let stale = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again";
    let details = json!({"name": "web", "group": "apps", "kind": "deployments"});
    assert_eq!(refusal_of("Deployment", 409, "Conflict", stale, details), Refusal::Moved);
    let gone = "Operation cannot be fulfilled on configmaps \"web\": uid mismatch: the provided object specified uid x, and no existing object was found";
    assert_eq!(plain("ConfigMap", 409, "Conflict", gone), Refusal::Moved);
    let uid = [("FieldValueInvalid", "metadata.uid", "Invalid value: \"x\": field is immutable")];
    assert_eq!(invalid("ConfigMap", &uid), Refusal::Moved);
    let exists = "secrets \"web\" already exists";
    assert_eq!(plain("Secret", 409, "AlreadyExists", exists), Refusal::AlreadyExists);
}

#[test]
fn a_refusal_without_details_keeps_its_code_and_no_value() {
    let message = "the server rejected our request due to an error in our request";
    assert_eq!(
        refusal_of("Deployment", 422, "Invalid", message, json!({})),
        Refusal::Other { code: 422, reason: text("Invalid"), message: text(message) }
    );
    for (kind, message) in
        [("Deployment", "Thing is invalid: a: Invalid value: \"hunter2\""), ("Secret", "hunter2")]
    {
        assert_eq!(
            plain(kind, 422, "Invalid", message),
            Refusal::Other { code: 422, reason: text("Invalid"), message: String::new() }
        );
    }
    let not_allowed = plain("Pod", 405, "MethodNotAllowed", "not allowed");
    assert!(matches!(not_allowed, Refusal::Other { code: 405, .. }));
}

#[test]
fn answers_of_others_are_no_refusals() {
    let about = object("Deployment");
    let bad = |code, body: &[u8]| {
        matches!(classify(code, "text/html", body, &about), CallErrorKind::BadAnswer { .. })
    };
    assert!(bad(404, b"<html>not found</html>"));
    assert!(bad(302, b""));
    assert!(bad(500, b"hunter2"));
    assert!(bad(500, b"{\"kind\": \"Statu"));
    assert!(bad(422, b"[]") && bad(422, b"{}") && bad(400, b"\xff\xfe"));
    assert_eq!(classify(401, "text/plain", b"", &about), CallErrorKind::Unauthorized);
    let unavailable = classify(503, "text/html", b"<html>hunter2", &about);
    let expected = Refusal::Unavailable { message: String::new() };
    assert_eq!(unavailable, CallErrorKind::Refused(expected));
}

#[test]
fn texts_are_safe_for_a_terminal() {
    let cases = [
        ("a\u{1b}[31mred\u{1b}[0m b", "ared b"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]8;;http://e\u{1b}\\link", "link"),
        ("line\nnext\t\r\n tab\u{0}end", "line next tab end"),
        ("\u{202e}reversed\u{2069}", "reversed"),
        ("trailing \n", "trailing"),
    ];
    for (input, expected) in cases {
        assert_eq!(clean(input), expected);
    }
    assert_eq!(clean(&"é".repeat(5000)).chars().count(), 601);
}

proptest::proptest! {
    /// Whatever a server says, classifying it never panics, and nothing of a Secret comes out.
    #[test]
    fn no_text_of_a_server_panics_or_leaks(
        code in 400u16..600,
        reason in "(Invalid|Forbidden|Conflict|NotFound|)",
        prefix in "(|failed calling webhook |admission webhook \"x\" denied the request: |Invalid value: |failed to create typed patch object \\(a\\): |x is forbidden: |exceeded quota: |User \"u\" cannot |.data.p: expected string, got )",
        tail in "[\"'{}:,. \\\\a-zé\n]{0,30}",
    ) {
        // Where a server puts a value; as a part of a path it would be a key, which is shown.
        let message = format!("{prefix}{tail}: hunter2");
        let details = json!({"causes": [{"field": "data[p]", "reason": "FieldManagerConflict", "message": prefix}]});
        let body = status(code, &reason, &message, &details);
        let kind = classify(code, "application/json", &body, &object("Secret"));
        proptest::prop_assert!(
            !format!("{kind:?}").contains("hunter2") || prefix.starts_with("exceeded") || prefix.starts_with("User"),
            "{kind:?}"
        );
        let _ = classify(code, &reason, message.as_bytes(), &object("Deployment"));
    }
}
