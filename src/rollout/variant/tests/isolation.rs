//! How a canary is kept apart, and what is said about it.

use super::super::labels::{selects, sends_to};
use super::*;

fn isolated(world: World, isolation: Isolation) -> World {
    let settings = VariantSettings { isolation, ..world.settings.clone() };
    World { settings, ..world }
}

/// A Deployment of three pods behind a Service, with what counts its pods.
fn release(tag: &str) -> Vec<Value> {
    vec![
        service("web", json!({"app": "web"})),
        deployment("web", 3, image(tag)),
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"}, "spec": {"scaleTargetRef":
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}}),
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "web"}, "spec": {"podSelector": {"matchLabels": {"app": "web"}}}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "all"}, "spec": {"podSelector": {}}}),
    ]
}

fn world() -> World {
    World::running(release("1")).to(release("2"))
}

fn pod_labels(object: &Value) -> &Value {
    &object["spec"]["template"]["metadata"]["labels"]
}

#[test]
fn share_spreads_and_counts() {
    for isolation in [Isolation::Share, Isolation::Auto] {
        let variant = isolated(world(), isolation).made(&sized("1"));
        let copy = find(&variant.objects, "deployment.apps/web-canary");
        assert_eq!(*pod_labels(copy), json!({"app": "web", "mcd.dev/variant": "canary"}));
        assert!(variant.first.is_empty());
        assert_eq!(
            variant.notes,
            [
                "Service shop/web spreads by number of pods: 1 of 4 is the canary's",
                "HorizontalPodAutoscaler shop/web counts the canary's pods in its averages; the \
                 canary keeps its 1 pod",
                "PodDisruptionBudget shop/web counts the canary's pods too",
            ]
        );
    }
}

#[test]
fn autoscalers_that_are_only_live_are_known() {
    let mut world = World::running(vec![deployment("web", 3, image("1"))]);
    // An item of a LIST has no kind.
    world.autoscalers = vec![json!({"metadata": {"name": "own", "namespace": "shop"}, "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})];
    let notes = world.made(&sized("2")).notes;
    assert_eq!(
        notes,
        ["HorizontalPodAutoscaler shop/own counts the canary's pods in its averages; the canary \
          keeps its 2 pods"]
    );
}

#[test]
fn rename_keeps_everything_apart() {
    let mut world = isolated(world(), Isolation::Rename);
    let spread = json!({"topologySpreadConstraints": [
            {"labelSelector": {"matchLabels": {"app": "web"}}},
            {"labelSelector": {"matchLabels": {"app": "db"}}}],
        "affinity": {
            "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"podAffinityTerm": {"labelSelector": {"matchLabels": {"app": "db"}}}}]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchExpressions": [
                    {"key": "app", "operator": "In", "values": ["web"]}]}}]}},
        "containers": []});
    world.set[1] = super::made(&[deployment("web", 3, spread)]).remove(0);
    let variant = world.made(&sized("1"));
    let copy = find(&variant.objects, "deployment.apps/web-canary");
    assert_eq!(*pod_labels(copy), json!({"app": "web-canary", "mcd.dev/variant": "canary"}));
    assert_eq!(
        copy["spec"]["selector"],
        json!({"matchLabels": {"app": "web-canary", "mcd.dev/variant": "canary"}})
    );
    let spec = &copy["spec"]["template"]["spec"];
    let own = |name: &str| json!({"labelSelector": {"matchLabels": {"app": name}}});
    assert_eq!(spec["topologySpreadConstraints"], json!([own("web-canary"), own("db")]));
    let affinity = &spec["affinity"];
    assert_eq!(
        affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
        json!([own("web-canary")])
    );
    assert_eq!(
        affinity["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"],
        json!([{"podAffinityTerm": own("db")}])
    );
    assert_eq!(
        variant.notes,
        [
            "no Service sends anything to the canary of Deployment shop/web; `service: true` gives \
             it one of its own",
            "HorizontalPodAutoscaler shop/web does not count the canary's pods; the canary keeps \
             its 1 pod",
            "PodDisruptionBudget shop/web does not know the canary's pods of Deployment shop/web",
            "NetworkPolicy shop/web does not know the canary's pods of Deployment shop/web",
        ]
    );
    let variant = world.made(&with_service("1"));
    let own = find(&variant.objects, "service/web-canary");
    assert!(sends_to(own, pod_labels(find(&variant.objects, "deployment.apps/web-canary"))));
    assert_eq!(own["spec"]["selector"], json!({"app": "web-canary", "mcd.dev/variant": "canary"}));
    assert!(!variant.notes.iter().any(|note| note.contains("service: true")));
}

#[test]
fn rename_turns_whatever_selects() {
    let with = |selector: Value, labels: Value, front: Value| {
        let mut web = deployment("web", 3, image("1"));
        web["spec"]["selector"] = selector;
        web["spec"]["template"]["metadata"]["labels"] = labels;
        isolated(World::running(vec![service("web", front), web]), Isolation::Rename)
    };
    // By an expression.
    let expression =
        json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "w"]}]});
    let world = with(expression.clone(), json!({"app": "web"}), json!({"app": "web"}));
    let variant = world.made(&sized("1"));
    let copy = find(&variant.objects, "deployment.apps/web-canary");
    assert_eq!(
        copy["spec"]["selector"],
        json!({"matchLabels": {"app": "web-canary", "mcd.dev/variant": "canary"}})
    );
    assert!(!selects(&expression, pod_labels(copy)));
    // A Service that selects by a label which the Deployment does not select by.
    let labels = json!({"app": "web", "tier": "front", "x": "y"});
    let world = with(json!({"matchLabels": {"app": "web"}}), labels, json!({"tier": "front"}));
    let variant = world.made(&sized("1"));
    assert_eq!(
        *pod_labels(find(&variant.objects, "deployment.apps/web-canary")),
        json!({"app": "web-canary", "tier": "front-canary", "x": "y", "mcd.dev/variant": "canary"})
    );
    // Nothing that could be otherwise.
    let any = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
    let said = with(any, json!({"app": "web"}), json!({"no": "pods"})).refused(&sized("1"));
    assert!(
        said.starts_with("3 Deployment shop/web: its selector would select a canary's pods too"),
        "{said}"
    );
    let long = "l".repeat(60);
    let said = with(json!({"matchLabels": {"app": long}}), json!({"app": long}), json!({}))
        .refused(&sized("1"));
    assert!(said.contains("of the copy's label `app` has 67 characters"), "{said}");
}

#[test]
fn label_comes_in_two_phases() {
    let mut world = isolated(world(), Isolation::Label);
    let variant = world.made(&sized("1"));
    assert_eq!(shorts(&variant.first.templates), ["deployment.apps/web"]);
    let labelled = find(&variant.first.templates, "deployment.apps/web");
    let mut expected = release("1")[1].clone();
    expected["metadata"]["namespace"] = "shop".into();
    expected["spec"]["template"]["metadata"]["labels"]["mcd.dev/variant"] = "primary".into();
    assert_eq!(*labelled, expected, "what runs, and the label in its template alone");
    assert_eq!(shorts(&variant.first.services), ["service/web"]);
    let narrowed = find(&variant.first.services, "service/web");
    assert_eq!(narrowed["spec"]["selector"], json!({"app": "web", "mcd.dev/variant": "primary"}));
    let copy = find(&variant.objects, "deployment.apps/web-canary");
    assert!(!sends_to(narrowed, pod_labels(copy)) && sends_to(narrowed, pod_labels(labelled)));
    assert_eq!(
        variant.notes[..2],
        [
            "the pods of Deployment shop/web restart once: with `isolation: label` they get the \
             label `mcd.dev/variant: primary`, and then Service shop/web selects by it",
            "no Service sends anything to the canary of Deployment shop/web; `service: true` gives \
             it one of its own",
        ]
    );
    // From then on it is there.
    world.previous = super::labelled(world.previous, &world.settings, "shop").unwrap();
    let again = world.made(&sized("1"));
    assert!(again.first.is_empty());
    assert_eq!(again.objects, variant.objects);
    assert_eq!(again.notes[..], variant.notes[1..]);
}

#[test]
fn a_labelled_release_is_what_is_applied() {
    let settings = VariantSettings { isolation: Isolation::Label, ..Default::default() };
    let before = super::made(&release("1"));
    let after = super::labelled(before.clone(), &settings, "shop").unwrap();
    let differing: Vec<String> = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|(before, _)| before.id.short())
        .collect();
    assert_eq!(differing, ["service/web", "deployment.apps/web"]);
    assert_eq!(after[1].id, before[1].id, "the namespace is as it was written");
    assert_eq!(after[1].value["spec"]["selector"], before[1].value["spec"]["selector"]);
    assert_eq!(super::labelled(after.clone(), &settings, "shop").unwrap(), after);
    for isolation in [Isolation::Auto, Isolation::Share, Isolation::Rename] {
        let settings = VariantSettings { isolation, ..Default::default() };
        assert_eq!(super::labelled(before.clone(), &settings, "shop").unwrap(), before);
    }
    // What a release lacks is not its business.
    let workloads = vec![Workload { kind: "Deployment".into(), name: "gone".into() }];
    let other = VariantSettings { workloads, ..settings };
    assert_eq!(super::labelled(before.clone(), &other, "shop").unwrap(), before);
}

#[test]
fn what_label_cannot_do() {
    let refused = |objects: &[Value], settings: &VariantSettings| {
        let settings = VariantSettings { isolation: Isolation::Label, ..settings.clone() };
        words(&super::labelled(super::made(objects), &settings, "shop").unwrap_err())
    };
    let agent = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {}}}});
    let mut all = release("1");
    all.push(agent.clone());
    let said = refused(&all, &VariantSettings::default());
    assert!(
        said.starts_with("3 Service shop/web: it selects pods of DaemonSet shop/agent too"),
        "{said}"
    );
    all.push(service("web-only", json!({"app": "web", "x": "y"})));
    let named = VariantSettings {
        service: Some("web-only".into()),
        isolation: Isolation::Label,
        ..Default::default()
    };
    assert!(super::labelled(super::made(&all), &named, "shop").is_ok());
    let mut own = deployment("web", 1, image("1"));
    own["spec"]["selector"]["matchLabels"]["mcd.dev/variant"] = "stable".into();
    own["spec"]["template"]["metadata"]["labels"]["mcd.dev/variant"] = "stable".into();
    let said = refused(&[own.clone()], &VariantSettings::default());
    assert!(said.contains("does not select pods with `mcd.dev/variant: primary`"), "{said}");
    let mut stable = VariantSettings::default();
    stable.label.primary = "stable".into();
    stable.isolation = Isolation::Label;
    let same = super::made(&[own]);
    assert_eq!(super::labelled(same.clone(), &stable, "shop").unwrap(), same);
    // What runs has to be of a release.
    let mut unknown = isolated(world(), Isolation::Label);
    unknown.previous.clear();
    let said = unknown.refused(&sized("1"));
    assert!(said.contains("what runs is of no release yet"), "{said}");
}

#[test]
fn auto_uses_a_label_that_is_there() {
    let mut web = deployment("web", 3, image("1"));
    web["spec"]["template"]["metadata"]["labels"]["mcd.dev/variant"] = "primary".into();
    web["spec"]["selector"]["matchLabels"]["mcd.dev/variant"] = "primary".into();
    let front = service("web", json!({"app": "web", "mcd.dev/variant": "primary"}));
    let variant = World::running(vec![front, web]).made(&with_service("1"));
    assert!(variant.first.is_empty());
    let copy = find(&variant.objects, "deployment.apps/web-canary");
    let labels = json!({"app": "web", "mcd.dev/variant": "canary"});
    assert_eq!(*pod_labels(copy), labels);
    assert_eq!(copy["spec"]["selector"], json!({"matchLabels": labels}));
    assert_eq!(find(&variant.objects, "service/web-canary")["spec"]["selector"], labels);
    assert!(variant.notes.is_empty(), "{:?}", variant.notes);
}

#[test]
fn what_two_sets_of_pods_cannot_share_is_said() {
    let pods = json!({"containers": [{"name": "web", "ports": [{"containerPort": 80, "hostPort": 80}]}],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}]}}});
    let world = World::running(vec![deployment("web", 3, pods)]);
    assert_eq!(
        world.made(&sized("1")).notes,
        [
            "the pods of Deployment shop/web use ports of their nodes: the canary's need nodes without one",
            "the pods of Deployment shop/web keep apart from each other (required anti-affinity): \
             the canary's need places without one",
        ]
    );
    let notes = isolated(world, Isolation::Rename).made(&sized("1")).notes;
    assert!(!notes.iter().any(|note| note.contains("anti-affinity")), "{notes:?}");
}

#[test]
fn a_new_service_comes_with_the_primary() {
    let mut after = release("2");
    after.push(service("admin", json!({"app": "web"})));
    let notes = world().to(after).made(&sized("1")).notes;
    assert_eq!(notes.last().unwrap(), "Service shop/admin is new, and comes with the primary");
}
