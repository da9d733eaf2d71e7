//! Reading status fields that may be absent, of the wrong type, or multi-line.

use jiff::Timestamp;
use serde_json::Value;

/// A status condition, as every kind writes them.
pub(super) struct Condition<'a> {
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    /// When the status last changed.
    pub(super) since: Option<Timestamp>,
    /// The generation that it speaks of, where the kind says so.
    pub(super) generation: Option<i64>,
}

impl<'a> Condition<'a> {
    pub(super) fn read(value: &'a Value) -> Self {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        Condition {
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            since: time(&value["lastTransitionTime"]),
            generation: integer(&value["observedGeneration"]),
        }
    }
    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }
    pub(super) fn is_false(&self) -> bool {
        self.status == "False"
    }
    /// `Reason: message`, or what there is of it.
    pub(super) fn text(&self) -> String {
        reason(self.reason, self.message)
    }
}

/// The condition of type `kind` in `conditions`.
pub(super) fn condition_in<'a>(conditions: &'a Value, kind: &str) -> Option<Condition<'a>> {
    let found = conditions.as_array()?.iter().find(|c| c["type"] == kind)?;
    Some(Condition::read(found))
}

/// The condition of type `kind` in the object's status.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<Condition<'a>> {
    condition_in(&object["status"]["conditions"], kind)
}

/// `Reason: message` on one line, or what there is of it.
pub(super) fn reason(reason: &str, message: &str) -> String {
    match (reason.is_empty(), one_line(message)) {
        (true, message) if message.is_empty() => "no reason given".into(),
        (true, message) => message,
        (false, message) if message.is_empty() || message == reason => reason.into(),
        (false, message) => format!("{reason}: {message}"),
    }
}

/// A server's message on one line, cut where it stops being one: a line is for a table.
pub(super) fn one_line(message: &str) -> String {
    const LONGEST: usize = 400;
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A count of the status: absent means 0.
pub(super) fn count(object: &Value, field: &str) -> i64 {
    object["status"][field].as_i64().unwrap_or(0)
}

/// `spec.replicas`, which the API defaults to 1.
pub(super) fn replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// A generation: an integer, or, as Argo Rollouts writes it, a string of digits.
pub(super) fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// An RFC 3339 time.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Whether the object is owned by the one with this uid.
pub(super) fn owned_by(object: &Value, uid: &str) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().any(|owner| owner["uid"] == uid)
}

/// `1 replica`, `2 replicas`.
pub(super) fn plural(n: i64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The object that an event is about (core/v1 and events.k8s.io/v1 name it differently).
pub(super) fn event_object(event: &Value) -> &Value {
    if event["regarding"].is_object() { &event["regarding"] } else { &event["involvedObject"] }
}

/// What an event says (core/v1 and events.k8s.io/v1 name it differently).
pub(super) fn event_message(event: &Value) -> &str {
    event["message"].as_str().or_else(|| event["note"].as_str()).unwrap_or_default()
}

/// When an event was last seen.
pub(super) fn event_time(event: &Value) -> Option<Timestamp> {
    let series = &event["series"]["lastObservedTime"];
    [series, &event["lastTimestamp"], &event["eventTime"], &event["metadata"]["creationTimestamp"]]
        .into_iter()
        .find_map(time)
}
