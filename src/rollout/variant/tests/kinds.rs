//! Which workloads have a canary, and what is said about the others.

use super::*;

fn stateful(name: &str, spec: Value) -> Value {
    let mut all = json!({"replicas": 5, "serviceName": name,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": image("1")}});
    for (key, value) in spec.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": all})
}

fn daemon(name: &str, tag: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": image(tag)}}})
}

fn named(world: World, workloads: &[(&str, &str)]) -> World {
    let workloads = workloads
        .iter()
        .map(|(kind, name)| Workload { kind: (*kind).into(), name: (*name).into() })
        .collect();
    let settings = VariantSettings { workloads, ..world.settings.clone() };
    World { settings, ..world }
}

#[test]
fn names_that_are_no_workload_with_a_canary() {
    let mut fixed = deployment("fixed", 1, image("1"));
    fixed["metadata"]["annotations"] = json!({"mcd.dev/apply": "create-only"});
    let release = vec![
        deployment("web", 3, image("1")),
        deployment("api", 3, image("1")),
        stateful("db", json!({})),
        stateful("manual", json!({"updateStrategy": {"type": "OnDelete"}})),
        daemon("agent", "1"),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate"},
            "spec": {"template": {"spec": image("1")}}}),
        fixed,
    ];
    let world = World::running(release);
    let said = |kind: &str, name: &str| {
        named(world.clone(), &[(kind, name)]).refused(&sized("1")).replace("`rollout.", "`")
    };
    assert_eq!(
        said("Deployment", "wbe"),
        "3 `workloads` names Deployment `wbe`, which is not in the manifests; did you mean `web`?"
    );
    assert_eq!(
        said("Deployment", "db"),
        "3 `workloads` names Deployment `db`, which is not in the manifests; there is StatefulSet shop/db"
    );
    assert!(said("Deployment", "zzzzzz").ends_with(
        "there are Deployment `web`, Deployment `api`, StatefulSet `db`, StatefulSet `manual`, Deployment `fixed`"
    ));
    assert_eq!(
        said("DaemonSet", "agent"),
        "3 DaemonSet shop/agent: a DaemonSet has no canary: `workloads` names it; leave it out of \
         `workloads`: it changes with the primary"
    );
    assert!(said("Job", "migrate").contains("a Job has no canary"));
    assert!(said("Deployment", "fixed").contains("`mcd.dev/apply` is `create-only`"));
    assert!(said("StatefulSet", "manual").contains("OnDelete"));
    let both = named(world.clone(), &[("Job", "migrate"), ("Deployment", "no")]);
    assert_eq!(both.canary(&sized("1")).unwrap_err().len(), 2);
    let same = to_read(&both.set, "shop", &sized("1"), &both.settings).unwrap_err();
    assert_eq!(same.len(), 2);
}

#[test]
fn without_a_deployment_there_is_nothing_to_copy() {
    let world = World::running(vec![stateful("db", json!({})), daemon("agent", "1")]);
    let said = world.refused(&sized("1"));
    assert!(said.starts_with("3 there is no Deployment that could have a canary"), "{said}");
    assert!(said.contains("name StatefulSet shop/db in `rollout.workloads`"), "{said}");
    let said = World::running(vec![config_map("a", "b")]).refused(&sized("1"));
    assert!(said.contains("`--strategy plain`"), "{said}");
}

#[test]
fn what_changes_without_a_canary_is_said() {
    let before = vec![
        deployment("web", 3, image("1")),
        stateful("db", json!({})),
        daemon("agent", "1"),
        daemon("same", "1"),
    ];
    let mut after = before.clone();
    after[0] = deployment("web", 3, image("2"));
    after[1]["spec"]["template"]["spec"] = image("2");
    after[2] = daemon("agent", "2");
    after.push(stateful("cache", json!({})));
    let variant = World::running(before).to(after).made(&sized("1"));
    assert_eq!(
        variant.notes,
        [
            "StatefulSet shop/db changes with the primary: `rollout.workloads` does not name it",
            "DaemonSet shop/agent changes with the primary: a DaemonSet has no canary",
            "StatefulSet shop/cache is new, and comes with the primary",
        ]
    );
}

#[test]
fn a_stateful_set_changes_its_highest_ordinals() {
    let rows = [
        // amount, live, of the release, partition, what is said
        (
            "20%",
            5,
            json!({}),
            4,
            "of 5 pods the 1 of the highest ordinals run the new release, in place",
        ),
        (
            "50%",
            5,
            json!({}),
            2,
            "of 5 pods the 3 of the highest ordinals run the new release, in place",
        ),
        ("100%", 3, json!({}), 0, "all 3 pods run the new release, in place"),
        ("9", 3, json!({}), 0, "all 3 pods run the new release, in place"),
        ("1", 1, json!({}), 0, "all 1 pod run the new release, in place"),
        (
            "60%",
            5,
            json!({"updateStrategy": {"rollingUpdate": {"partition": 4, "maxUnavailable": 2}}}),
            4,
            "of 5 pods the 1 of the highest ordinals run the new release, in place",
        ),
    ];
    for (amount, live, spec, partition, said) in rows {
        let mut world = World::running(vec![stateful("db", spec.clone())]);
        let db = id("apps", "StatefulSet", "db");
        world.live.get_mut(&db).unwrap()["spec"]["replicas"] = live.into();
        let variant = named(world, &[("StatefulSet", "db")]).made(&sized(amount));
        assert!(variant.objects.is_empty());
        let made = find(&variant.partitioned, "statefulset.apps/db");
        let mut expected =
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
        if !spec["updateStrategy"].is_null() {
            expected["rollingUpdate"]["maxUnavailable"] = 2.into();
        }
        assert_eq!(made["spec"]["updateStrategy"], expected, "{amount} of {live}");
        assert_eq!(made["spec"]["replicas"], live, "{amount} of {live}");
        assert_eq!(made["spec"]["template"]["metadata"]["labels"], json!({"app": "db"}));
        assert_eq!(variant.notes, [format!("StatefulSet shop/db: {said}")]);
    }
}

#[test]
fn a_stateful_set_that_is_new_or_empty() {
    let mut world =
        named(World::running(vec![stateful("db", json!({}))]), &[("StatefulSet", "db")]);
    let db = id("apps", "StatefulSet", "db");
    world.live.get_mut(&db).unwrap()["spec"]["replicas"] = 0.into();
    let variant = world.made(&sized("50%"));
    let made = find(&variant.partitioned, "statefulset.apps/db");
    assert_eq!(made["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 0);
    assert_eq!(
        variant.notes,
        ["StatefulSet shop/db runs no pods: there is nothing to be its canary"]
    );
    world.live.clear();
    world.previous.clear();
    let variant = world.made(&sized("50%"));
    assert!(variant.partitioned.is_empty());
    assert_eq!(variant.notes, ["StatefulSet shop/db is new, and comes with the primary"]);
}

#[test]
fn a_stateful_set_uses_copies_of_what_changes() {
    let uses = json!({"containers": [{"name": "db", "image": "db:1",
        "envFrom": [{"configMapRef": {"name": "cfg"}}]}]});
    let set = |value: &str| {
        let mut db = stateful("db", json!({}));
        db["spec"]["template"]["spec"] = uses.clone();
        vec![config_map("cfg", value), db]
    };
    let world = named(World::running(set("a")).to(set("b")), &[("StatefulSet", "db")]);
    let variant = world.made(&sized("1"));
    assert_eq!(shorts(&variant.objects), ["configmap/cfg-canary"]);
    let made = find(&variant.partitioned, "statefulset.apps/db");
    let from = &made["spec"]["template"]["spec"]["containers"][0]["envFrom"][0];
    assert_eq!(from["configMapRef"]["name"], "cfg-canary");
}

#[test]
fn new_and_empty_workloads() {
    let before = vec![deployment("web", 3, image("1"))];
    let mut after = before.clone();
    after.push(deployment("worker", 6, image("1")));
    let mut world = World::running(before).to(after);
    let web = id("apps", "Deployment", "web");
    world.live.get_mut(&web).unwrap()["spec"]["replicas"] = 0.into();
    let variant = world.made(&sized("50%"));
    assert_eq!(find(&variant.objects, "deployment.apps/worker-canary")["spec"]["replicas"], 3);
    assert_eq!(
        variant.notes,
        [
            "Deployment shop/web runs no pods: its copy `web-canary` has 1 pod",
            "Deployment shop/worker is new: its copy `worker-canary` has 3 pods",
        ]
    );
    // An autoscaler begins with its least.
    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "worker"}, "spec": {"minReplicas": 8,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"}}});
    world.set.extend(super::made(&[scaler]));
    let variant = world.made(&sized("50%"));
    assert_eq!(find(&variant.objects, "deployment.apps/worker-canary")["spec"]["replicas"], 4);
}

#[test]
fn names_that_are_taken() {
    let web = || deployment("web", 3, image("1"));
    let world = World::running(vec![web(), deployment("web-canary", 1, image("1"))]);
    let said = world.refused(&sized("1"));
    assert!(
        said.contains(
            "3 Deployment shop/web: the name of its copy, `web-canary`, is taken: \
            Deployment shop/web-canary is an object of the release to come; use another `suffix`"
        ),
        "{said}"
    );
    assert!(world.canary(&Canary { suffix: "next".into(), ..sized("1") }).is_ok());
    let said = world.clone().to(vec![web()]).refused(&sized("1"));
    assert!(said.contains("is an object of the release that runs"), "{said}");
    // Somebody else's.
    let mut world = World::running(vec![web()]);
    let other = id("apps", "Deployment", "web-canary");
    world.live.insert(other.clone(), deployment("web-canary", 1, image("1")));
    let said = world.refused(&sized("1"));
    assert!(
        said.starts_with(
            "6 Deployment shop/web-canary: exists, and is no canary: it lacks the \
            label `mcd.dev/variant: canary`"
        ),
        "{said}"
    );
    // One of an earlier rollout.
    world.live.get_mut(&other).unwrap()["metadata"]["labels"] =
        json!({"mcd.dev/variant": "canary"});
    assert!(world.canary(&sized("1")).is_ok());
    let long = World::running(vec![service(&"s".repeat(60), json!({"app": "web"})), web()]);
    let said = long.refused(&with_service("1"));
    assert!(said.contains("has 67 characters: it may have 63"), "{said}");
    assert!(world.refused(&Canary { suffix: "Ä".into(), ..sized("1") }).contains("suffix"));
}

#[test]
fn services_of_its_own() {
    let web = || deployment("web", 3, image("1"));
    let world = World::running(vec![web()]);
    let said = world.refused(&with_service("1"));
    assert!(said.contains("no Service sends to the workloads that have a canary"), "{said}");
    let world = World::running(vec![
        web(),
        service("web", json!({"app": "web"})),
        service("other", json!({"app": "other"})),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web-pods"}, "spec": {
            "clusterIP": "None", "publishNotReadyAddresses": true, "selector": {"app": "web"}}}),
    ]);
    let variant = world.made(&with_service("1"));
    assert_eq!(
        shorts(&variant.objects),
        ["service/web-canary", "service/web-pods-canary", "deployment.apps/web-canary"]
    );
    assert_eq!(
        find(&variant.objects, "service/web-pods-canary")["spec"],
        json!({"type": "ClusterIP", "clusterIP": "None", "publishNotReadyAddresses": true,
            "selector": {"app": "web", "mcd.dev/variant": "canary"}})
    );
    let with = |name: &str| {
        let settings = VariantSettings { service: Some(name.into()), ..Default::default() };
        World { settings, ..world.clone() }
    };
    let variant = with("web").made(&with_service("1"));
    assert_eq!(shorts(&variant.objects), ["service/web-canary", "deployment.apps/web-canary"]);
    let said = with("wbe").refused(&with_service("1"));
    assert!(said.contains("`rollout.service` names `wbe`") && said.contains("`web`?"), "{said}");
    let said = with("other").refused(&with_service("1"));
    assert!(said.contains("Service shop/other: sends to none of the workloads"), "{said}");
}
