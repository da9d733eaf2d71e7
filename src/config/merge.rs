//! Settings over settings (design §2): maps merge, scalars and lists replace, null removes;
//! `images` and `replicas` merge by name, `patches`, `ignore`, `health` and helm's `values` append; an override that
//! names another renderer replaces the whole `render`.

use std::collections::BTreeMap;

use super::node::{Entry, Kind, Node};

/// The renderers, of which an application has exactly one.
pub(crate) const RENDERERS: &[&str] = &["kustomize", "helm", "manifests"];

/// Merges the settings of an override over those so far. Both are maps of checked keys.
pub(crate) fn merge_settings(base: &mut Node, over: Node) {
    merge_keys(base, over, &|key, base, over| match key {
        "render" => merge_render(base, over),
        "images" | "replicas" => merge_by_name(base, over),
        "patches" | "ignore" | "health" => append(base, over),
        _ => merge(base, over),
    });
}

/// The renderers that a `render` names, nulls apart.
pub(crate) fn renderers(render: &Node) -> Vec<&'static str> {
    RENDERERS.iter().copied().filter(|name| render.get(name).is_some()).collect()
}

fn merge_render(base: &mut Node, over: Node) {
    let (old, new) = (renderers(base), renderers(&over));
    if !new.is_empty() && old != new {
        *base = without_nulls(over);
        return;
    }
    merge_keys(base, over, &|key, base, over| match key {
        "helm" => merge_keys(base, over, &|key, base, over| match key {
            "values" => append(base, over),
            _ => merge(base, over),
        }),
        _ => merge(base, over),
    });
}

/// The rule for plain values; RFC 7386 read as one for layers.
fn merge(base: &mut Node, over: Node) {
    merge_keys(base, over, &|_, base, over| merge(base, over));
}

/// Merges two maps, with `inner` for keys that both have; what is no map replaces.
fn merge_keys(base: &mut Node, over: Node, inner: &dyn Fn(&str, &mut Node, Node)) {
    let (Kind::Map(old), Kind::Map(_)) = (&mut base.kind, &over.kind) else {
        *base = without_nulls(over);
        return;
    };
    let Kind::Map(new) = over.kind else { return };
    for (key, entry) in new {
        if entry.value.is_null() {
            old.remove(&key);
        } else if let Some(below) = old.get_mut(&key).filter(|e| !e.value.is_null()) {
            below.key = entry.key;
            inner(&key, &mut below.value, entry.value);
        } else {
            let entry = Entry { key: entry.key, value: without_nulls(entry.value) };
            old.insert(key, entry);
        }
    }
}

/// A map that comes whole has nothing left to remove. What stands in lists stays as it is: there
/// null may be a value (a patch that removes a field, helm's inline values).
fn without_nulls(mut node: Node) -> Node {
    if let Kind::Map(map) = node.kind {
        let map: BTreeMap<String, Entry> = map
            .into_iter()
            .filter(|(_, entry)| !entry.value.is_null())
            .map(|(key, e)| (key, Entry { key: e.key, value: without_nulls(e.value) }))
            .collect();
        node.kind = Kind::Map(map);
    }
    node
}

fn append(base: &mut Node, over: Node) {
    match (&mut base.kind, over.kind) {
        (Kind::List(old), Kind::List(new)) => old.extend(new),
        (_, kind) => *base = Node { kind, mark: over.mark, template: over.template },
    }
}

fn merge_by_name(base: &mut Node, over: Node) {
    let (Kind::List(old), Kind::List(_)) = (&mut base.kind, &over.kind) else {
        *base = over;
        return;
    };
    let Kind::List(new) = over.kind else { return };
    for item in new {
        let name = item.get("name").and_then(Node::as_str).map(str::to_owned);
        let same = old.iter_mut().find(|one| {
            name.is_some() && one.get("name").and_then(Node::as_str) == name.as_deref()
        });
        match same {
            Some(one) => merge(one, item),
            None => old.push(without_nulls(item)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::node::test_mark;

    fn merged(base: Value, over: Value) -> Value {
        let mark = test_mark();
        let mut node = Node::at(base, &mark);
        merge_settings(&mut node, Node::at(over, &mark));
        node.to_value()
    }

    #[test]
    fn each_rule_of_merging() {
        let cases = [
            (
                "scalars replace",
                json!({"namespace": "a"}),
                json!({"namespace": "b"}),
                json!({"namespace": "b"}),
            ),
            (
                "what the override does not name stays",
                json!({"namespace": "a"}),
                json!({}),
                json!({"namespace": "a"}),
            ),
            (
                "null removes",
                json!({"namespace": "a", "images": [{"name": "x"}]}),
                json!({"images": null}),
                json!({"namespace": "a"}),
            ),
            (
                "maps merge",
                json!({"render": {"kustomize": {"path": "a", "env": {"A": "1", "B": "2"}}}}),
                json!({"render": {"kustomize": {"env": {"B": null, "C": "3"}, "version": "5"}}}),
                json!({"render": {"kustomize":
                {"path": "a", "env": {"A": "1", "C": "3"}, "version": "5"}}}),
            ),
            (
                "lists replace",
                json!({"render": {"kustomize": {"path": "a", "args": ["x", "y"]}}}),
                json!({"render": {"kustomize": {"args": ["z"]}}}),
                json!({"render": {"kustomize": {"path": "a", "args": ["z"]}}}),
            ),
            (
                "manifests are a list",
                json!({"render": {"manifests": ["a", "b"]}}),
                json!({"render": {"manifests": ["c"]}}),
                json!({"render": {"manifests": ["c"]}}),
            ),
            (
                "another renderer replaces all",
                json!({"render": {"kustomize": {"path": "a", "args": ["x"]}}}),
                json!({"render": {"helm": {"chart": "c", "release": null}}}),
                json!({"render": {"helm": {"chart": "c"}}}),
            ),
            (
                "another renderer beside a null",
                json!({"render": {"kustomize": {"path": "a"}}}),
                json!({"render": {"kustomize": null, "manifests": ["m"]}}),
                json!({"render": {"manifests": ["m"]}}),
            ),
            (
                "helm's values append, its other lists replace",
                json!({"render": {"helm":
                {"chart": "c", "values": ["a", {"inline": {"x": null}}], "args": ["p"]}}}),
                json!({"render": {"helm": {"values": [{"file": "b"}], "args": ["q"]}}}),
                json!({"render": {"helm": {"chart": "c",
                "values": ["a", {"inline": {"x": null}}, {"file": "b"}], "args": ["q"]}}}),
            ),
            (
                "helm's values can be removed",
                json!({"render": {"helm": {"values": ["a"]}}}),
                json!({"render": {"helm": {"values": null}}}),
                json!({"render": {"helm": {}}}),
            ),
            (
                "images merge by name",
                json!({"images": [{"name": "a", "newTag": "1"}, {"name": "b", "newTag": "1"}]}),
                json!({"images": [{"name": "b", "newTag": null, "digest": "sha256:0"},
                               {"name": "c", "newTag": "3"}]}),
                json!({"images": [{"name": "a", "newTag": "1"}, {"name": "b", "digest": "sha256:0"},
                               {"name": "c", "newTag": "3"}]}),
            ),
            (
                "replicas merge by name",
                json!({"replicas": [{"name": "a", "count": 1}]}),
                json!({"replicas": [{"name": "a", "count": 2}, {"name": "b", "count": 0}]}),
                json!({"replicas": [{"name": "a", "count": 2}, {"name": "b", "count": 0}]}),
            ),
            (
                "patches append, and their nulls stay",
                json!({"patches": [{"merge": {"a": 1}}]}),
                json!({"patches": [{"merge": {"b": null}}]}),
                json!({"patches": [{"merge": {"a": 1}}, {"merge": {"b": null}}]}),
            ),
            (
                "ignored fields append",
                json!({"ignore": [{"kind": "A", "paths": [".spec.a"]}]}),
                json!({"ignore": [{"kind": "A", "paths": [".spec.b"]}]}),
                json!({"ignore": [{"kind": "A", "paths": [".spec.a"]},
                               {"kind": "A", "paths": [".spec.b"]}]}),
            ),
            (
                "a key of its own",
                json!({}),
                json!({"images": [{"name": "x", "newTag": "1"}]}),
                json!({"images": [{"name": "x", "newTag": "1"}]}),
            ),
            (
                "a null of the base gives way",
                json!({"render": null}),
                json!({"render": {"manifests": ["m"]}}),
                json!({"render": {"manifests": ["m"]}}),
            ),
        ];
        for (name, base, over, expected) in cases {
            assert_eq!(merged(base, over), expected, "{name}");
        }
    }

    #[test]
    fn the_place_of_a_value_is_that_of_the_layer_that_gave_it() {
        let mark = test_mark();
        let mut base =
            Node::at(json!({"render": {"kustomize": {"path": "a", "args": ["x"]}}}), &mark);
        let mut over = Node::at(json!({"render": {"kustomize": {"args": ["y"]}}}), &mark);
        over.set_layer(crate::config::node::Layer::Override(3));
        merge_settings(&mut base, over);
        let place = |path: &[&str]| base.nearest(path).mark.provenance();
        assert_eq!(place(&["render", "kustomize", "path"]), "mcd.yaml:1");
        assert_eq!(place(&["render", "kustomize", "args", "0"]), "mcd.yaml:1 (overrides[3])");
    }
}
