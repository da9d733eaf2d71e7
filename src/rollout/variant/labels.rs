//! Labels and what selects by them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Other values for labels, by key.
pub(super) type Renames = BTreeMap<String, String>;

/// Whether a label selector (`matchLabels`, `matchExpressions`) selects what has these labels. An
/// empty one selects everything, an absent one nothing.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let Some(map) = selector.as_object() else { return false };
    let pairs = map.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let all_labels = pairs.into_iter().all(|(key, value)| labels.get(key) == Some(value));
    all_labels && expressions(selector).all(|expression| holds(expression, labels))
}

/// Whether a Service sends to pods with these labels. One without a selector sends to none.
pub(super) fn sends_to(service: &Value, labels: &Value) -> bool {
    let selector = service["spec"]["selector"].as_object();
    service["spec"]["type"] != "ExternalName"
        && selector.is_some_and(|selector| {
            !selector.is_empty()
                && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        })
}

/// The expressions of a label selector.
pub(super) fn expressions(selector: &Value) -> impl Iterator<Item = &Value> {
    selector["matchExpressions"].as_array().into_iter().flatten()
}

fn holds(expression: &Value, labels: &Value) -> bool {
    let found = expression["key"].as_str().and_then(|key| labels.get(key));
    let listed = |value: &Value| expression["values"].as_array().is_some_and(|v| v.contains(value));
    match expression["operator"].as_str() {
        Some("In") => found.is_some_and(listed),
        Some("NotIn") => !found.is_some_and(listed),
        Some("Exists") => found.is_some(),
        Some("DoesNotExist") => found.is_none(),
        _ => false,
    }
}

/// Gives the labels in `map` that have another value from now on that value.
pub(super) fn rename(map: &mut Map<String, Value>, renames: &Renames) {
    for (key, value) in map {
        if let Some(renamed) = renames.get(key) {
            *value = renamed.as_str().into();
        }
    }
}

/// The same in a label selector. An expression about a label that has another value now could
/// only be right by chance, so its place is taken by the value itself.
pub(super) fn rename_selector(selector: &mut Value, renames: &Renames) {
    let Some(map) = selector.as_object_mut() else { return };
    if let Some(labels) = map.get_mut("matchLabels").and_then(Value::as_object_mut) {
        rename(labels, renames);
    }
    let Some(list) = map.get_mut("matchExpressions").and_then(Value::as_array_mut) else { return };
    let mut exact = Vec::new();
    list.retain(|expression| {
        let renamed = expression["key"].as_str().and_then(|key| renames.get_key_value(key));
        exact.extend(renamed);
        renamed.is_none()
    });
    if list.is_empty() {
        map.remove("matchExpressions");
    }
    if !exact.is_empty() {
        let exact = exact.into_iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        insert(map, "matchLabels", exact);
    }
}

/// Puts entries into the map under a key, which is made when there is none.
pub(super) fn insert(
    parent: &mut Map<String, Value>,
    key: &str,
    entries: impl IntoIterator<Item = (String, Value)>,
) {
    let value = parent.entry(key).or_insert_with(|| json!({}));
    if value.is_null() {
        *value = json!({});
    }
    if let Some(map) = value.as_object_mut() {
        map.extend(entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_selectors_select() {
        let labels = json!({"app": "web", "tier": "front"});
        let rows = [
            (json!({}), true),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "web", "x": "y"}}), false),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["api"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["web"]}]}),
                true,
            ),
            (json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}), true),
            (json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false),
            (
                json!({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}),
                false,
            ),
            (json!(null), false),
        ];
        for (selector, expected) in rows {
            assert_eq!(selects(&selector, &labels), expected, "{selector}");
        }
        let service = |selector: Value| json!({"spec": {"selector": selector}});
        assert!(sends_to(&service(json!({"app": "web"})), &labels));
        assert!(!sends_to(&service(json!({"app": "api"})), &labels));
        assert!(!sends_to(&service(json!({})), &labels));
        assert!(!sends_to(&service(json!(null)), &labels));
        let external = json!({"spec": {"type": "ExternalName", "selector": {"app": "web"}}});
        assert!(!sends_to(&external, &labels));
    }

    #[test]
    fn renamed_selectors_say_the_new_value() {
        let renames = Renames::from([("app".to_owned(), "web-canary".to_owned())]);
        let rows = [
            (
                json!({"matchLabels": {"app": "web", "x": "y"}}),
                json!({"matchLabels": {"app": "web-canary", "x": "y"}}),
            ),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}),
                json!({"matchLabels": {"app": "web-canary"}}),
            ),
            (
                json!({"matchLabels": {"x": "y"}, "matchExpressions": [
                    {"key": "app", "operator": "Exists"}, {"key": "x", "operator": "Exists"}]}),
                json!({"matchLabels": {"x": "y", "app": "web-canary"},
                    "matchExpressions": [{"key": "x", "operator": "Exists"}]}),
            ),
            (json!({"matchLabels": {"x": "y"}}), json!({"matchLabels": {"x": "y"}})),
            (json!(null), json!(null)),
        ];
        for (mut selector, expected) in rows {
            rename_selector(&mut selector, &renames);
            assert_eq!(selector, expected);
        }
    }
}
