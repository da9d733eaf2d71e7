//! Selectors that kapp has written its own label into. They cannot change, so a workload that is
//! adopted keeps that label, in the selector and in its pods, until it is recreated (A3.5).

use serde_json::{Map, Value};

use super::path::{FieldPath, Segment};

/// What kapp's keys start with.
const KAPP: &str = "kapp.k14s.io/";

/// Adds to a manifest the labels of kapp that the live workload selects its pods by, with those
/// that its pods carry, so that adopting it restarts none. Answers what of the selector is kept.
///
/// A Service's selector is no part of it: that follows the manifest, whose labels the pods have
/// too. Else it would find no pods of a workload that is made anew.
pub fn keep_selector(manifest: &mut Value, live: &Value) -> Vec<FieldPath> {
    let kapps = |labels: &Value| -> Map<String, Value> {
        let all = labels.as_object().into_iter().flatten();
        all.filter(|(key, _)| key.starts_with(KAPP)).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    let selector = kapps(&live["spec"]["selector"]["matchLabels"]);
    let is_workload = live["spec"]["template"].is_object();
    let wanted = &manifest["spec"]["selector"]["matchLabels"];
    if !is_workload || selector.is_empty() || !wanted.is_object() {
        return Vec::new();
    }
    let path = FieldPath::fields(&["spec", "selector", "matchLabels"]);
    let kept = selector.keys().filter(|key| wanted.get(key.as_str()).is_none());
    let kept: Vec<FieldPath> = kept.map(|key| path.join(Segment::Field(key.clone()))).collect();
    let pods = kapps(&live["spec"]["template"]["metadata"]["labels"]);
    let places = [
        (&["spec", "selector", "matchLabels"][..], selector),
        (&["spec", "template", "metadata", "labels"][..], pods),
    ];
    for (place, labels) in places {
        let at = place.iter().try_fold(&mut *manifest, |value, key| value.get_mut(*key));
        if let Some(map) = at.and_then(Value::as_object_mut) {
            for (key, value) in labels {
                map.entry(key).or_insert(value);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::path;
    use super::*;

    fn workload(selector: Value, pods: Value) -> Value {
        json!({"spec": {
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": pods}},
        }})
    }

    #[test]
    fn kapps_labels_stay_in_selector_and_pods() {
        let live = workload(
            json!({"app": "web", "kapp.k14s.io/app": "17"}),
            json!({"app": "web", "kapp.k14s.io/app": "17", "kapp.k14s.io/association": "v1.x", "old": "1"}),
        );
        let mut manifest = workload(json!({"app": "web"}), json!({"app": "web", "new": "1"}));
        let kept = keep_selector(&mut manifest, &live);
        assert_eq!(kept, [path(".spec.selector.matchLabels.kapp.k14s.io/app")]);
        assert_eq!(
            manifest,
            workload(
                json!({"app": "web", "kapp.k14s.io/app": "17"}),
                json!({"app": "web", "kapp.k14s.io/app": "17", "kapp.k14s.io/association": "v1.x", "new": "1"}),
            )
        );
        assert!(keep_selector(&mut manifest.clone(), &live).is_empty(), "said once");
    }

    #[test]
    fn everything_else_is_as_the_manifest_says() {
        let service = json!({"spec": {"selector": {"app": "web", "kapp.k14s.io/app": "17"}}});
        let plain = workload(json!({"app": "web"}), json!({"app": "web"}));
        let odd = json!({"spec": {"selector": {"matchExpressions": []}, "template": {}}});
        for (manifest, live) in [
            (json!({"spec": {"selector": {"app": "web"}}}), &service),
            (plain.clone(), &plain),
            (odd.clone(), &odd),
            (json!({}), &plain),
        ] {
            let mut same = manifest.clone();
            assert!(keep_selector(&mut same, live).is_empty());
            assert_eq!(same, manifest);
        }
    }
}
