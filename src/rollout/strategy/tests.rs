//! T10, and what else decides: sets before and after → the strategy and its reason.

use serde_json::{Value, json};

use super::*;
use crate::cluster::Resource;
use crate::config::TargetName;
use crate::diff::object_diff;
use crate::error::Error;
use crate::manifest::{Gvk, Origin};
use crate::ownership::Digest;
use crate::plan::{Basis, Condemned, Handling, Ownership, Prune, Retirement, set_config_hash};
use crate::rollout::{Amount, Canary, Step, StepSettings, VariantSettings};

fn settings(workloads: &[(&str, &str)]) -> RolloutSettings {
    let step = |step| StepSettings { step, select: None };
    let canary = Canary { replicas: Amount::Count(1), service: false, suffix: "canary".to_owned() };
    let workloads = workloads
        .iter()
        .map(|(kind, name)| Workload { kind: (*kind).into(), name: (*name).into() })
        .collect();
    RolloutSettings {
        steps: vec![step(Step::Canary(canary)), step(Step::Primary), step(Step::Clean)],
        variants: VariantSettings { workloads, ..VariantSettings::default() },
        ..RolloutSettings::default()
    }
}

/// A workload with one container.
fn workload(kind: &str, name: &str, image: &str, replicas: Option<u32>) -> Value {
    let mut value = json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}},
    });
    if let Some(replicas) = replicas {
        value["spec"]["replicas"] = replicas.into();
    }
    value
}

fn deployment(name: &str, image: &str) -> Value {
    workload("Deployment", name, image, Some(2))
}

fn config(kind: &str, name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {"name": name, "namespace": "shop"}, "data": {"key": value},
    })
}

/// One that uses a ConfigMap, with the hash that goes with it.
fn using(mut workload: Value, map: &str, hash: &str) -> Value {
    workload["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "settings", "configMap": {"name": map}}]);
    set_config_hash(&mut workload, hash);
    workload
}

fn service(port: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": {"ports": [{"port": port}]},
    })
}

fn gvk(value: &Value) -> Gvk {
    Gvk::new(value["apiVersion"].as_str().unwrap(), value["kind"].as_str().unwrap())
}

/// The plan from one set to another, as the server would tell the differences.
fn plan(before: &[Value], after: &[Value]) -> TargetPlan {
    let find = |set: &[Value], id: &ObjectId| {
        set.iter().find(|value| ObjectId::of(value).as_ref() == Some(id)).cloned()
    };
    let objects = after
        .iter()
        .map(|value| {
            let id = ObjectId::of(value).unwrap();
            let live = find(before, &id);
            let diff = object_diff(&id, live.as_ref(), Some(value));
            let action = match &live {
                None => Action::Create,
                Some(_) if diff.is_empty() => Action::Unchanged,
                Some(_) => Action::Change,
            };
            ObjectPlan {
                gvk: gvk(value),
                origin: Origin { source: "k8s".into(), document: 1, line: 1 },
                resource: None,
                rank: 0,
                after_health: false,
                action,
                diff,
                manifest: value.clone(),
                digest: Digest::of_json(&[0; 32], "test", value),
                basis: Basis::default(),
                ownership: Ownership::default(),
                handling: Handling::default(),
                leaves: Vec::new(),
                unverified: None,
                warnings: Vec::new(),
                id,
            }
        })
        .collect();
    let mut prune = Prune::default();
    for value in before {
        let id = ObjectId::of(value).unwrap();
        if find(after, &id).is_none() {
            prune.sweep.delete.push(Condemned {
                diff: object_diff(&id, Some(value), None),
                resource: Resource::new(gvk(value), "things", true),
                uid: "u".into(),
                rank: 0,
                objection: None,
                id,
            });
        }
    }
    TargetPlan {
        target: TargetName::new("eu"),
        held: None,
        tool: None,
        chart: None,
        server_version: "v1.36.3".into(),
        objects,
        retires: Vec::new(),
        untouched: Vec::new(),
        prune,
        hooks: Vec::new(),
        warnings: Vec::new(),
        moves: None,
        unfinished: before.is_empty().then(|| "the target has no record yet".to_owned()),
    }
}

fn auto(before: &[Value], after: &[Value], settings: &RolloutSettings) -> String {
    told(&plan(before, after), settings, StrategyChoice::Auto)
}

fn told(plan: &TargetPlan, settings: &RolloutSettings, choice: StrategyChoice) -> String {
    let Strategy { kind, reason } = strategy(plan, settings, choice);
    format!("{}: {reason}", kind.word())
}

/// The rows of T10, with the right values.
#[test]
fn each_target_by_what_changes_in_it() {
    let all = settings(&[]);
    let web = |tag: &str| deployment("web", &format!("registry/shop/web:{tag}"));
    let scaled = |n| workload("Deployment", "web", "web:1", n);
    let stateful = |tag| workload("StatefulSet", "db", tag, Some(3));
    let rows: &[(&[Value], &[Value], &str)] = &[
        // The image changes in one target only.
        (&[web("1.27"), service(80)], &[web("1.28"), service(80)], "steps: image web 1.27 → 1.28"),
        (&[web("1.27"), service(80)], &[web("1.27"), service(80)], "none: no changes"),
        // Only the count.
        (&[scaled(Some(2))], &[scaled(Some(3))], "plain: scale Deployment/web from 2 to 3"),
        (&[scaled(None)], &[scaled(Some(3))], "plain: scale Deployment/web from unset to 3"),
        // A ConfigMap that is renamed: one goes, one comes, and the pods use the new one.
        (
            &[using(web("1"), "settings-1", "a"), config("ConfigMap", "settings-1", "x")],
            &[using(web("1"), "settings-2", "b"), config("ConfigMap", "settings-2", "y")],
            "steps: Deployment/web uses ConfigMap/settings-2, ConfigMap/settings-2 new",
        ),
        // One whose content changes.
        (
            &[using(web("1"), "settings", "a"), config("ConfigMap", "settings", "x")],
            &[using(web("1"), "settings", "b"), config("ConfigMap", "settings", "y")],
            "steps: ConfigMap/settings changed",
        ),
        // It changed before, and the pods do not have it yet.
        (
            &[using(web("1"), "settings", "a"), config("ConfigMap", "settings", "x")],
            &[using(web("1"), "settings", "b"), config("ConfigMap", "settings", "x")],
            "steps: configuration of Deployment/web",
        ),
        // One that no pod uses.
        (
            &[web("1"), config("ConfigMap", "dashboard", "x")],
            &[web("1"), config("ConfigMap", "dashboard", "y")],
            "plain: changes ConfigMap/dashboard",
        ),
        // Other workloads than Deployments.
        (&[stateful("db:1")], &[stateful("db:2")], "steps: image db 1 → 2"),
        (
            &[workload("DaemonSet", "agent", "agent:1", None)],
            &[workload("DaemonSet", "agent", "agent:2", None)],
            "steps: image agent 1 → 2",
        ),
        // An application of configuration alone.
        (
            &[config("ConfigMap", "a", "x"), config("Secret", "b", "eA==")],
            &[config("ConfigMap", "a", "y"), config("Secret", "b", "eQ==")],
            "steps: ConfigMap/a changed, Secret/b changed",
        ),
        // A new workload beside others.
        (
            &[web("1")],
            &[web("1"), deployment("worker", "worker:1")],
            "steps: Deployment/worker is new",
        ),
        // One that goes.
        (&[web("1"), deployment("old", "old:1")], &[web("1")], "plain: deletes Deployment/old"),
        // One that gets another name.
        (
            &[web("1")],
            &[deployment("shop", "registry/shop/web:1")],
            "plain: Deployment/shop is not there: steps are skipped",
        ),
        // The first deployment.
        (&[], &[web("1"), service(80)], "plain: first deployment: steps are skipped"),
        (&[], &[config("ConfigMap", "a", "x")], "plain: first deployment: steps are skipped"),
        // Everything but the workload is there: someone deleted it, or it is the first one.
        (
            &[service(80)],
            &[web("1"), service(80)],
            "plain: Deployment/web is not there: steps are skipped",
        ),
        // Anything else.
        (&[web("1"), service(80)], &[web("1"), service(81)], "plain: changes Service/web"),
        (
            &[scaled(Some(2)), service(80)],
            &[scaled(Some(3)), service(81), config("ConfigMap", "a", "x")],
            "plain: scale Deployment/web from 2 to 3, changes Service/web and 1 more",
        ),
        // A count beside an image.
        (
            &[scaled(Some(2))],
            &[workload("Deployment", "web", "web:2", Some(5))],
            "steps: image web 1 → 2",
        ),
        (
            &[
                json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": "shop"},
                "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}}}}}),
                web("1"),
            ],
            &[
                json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": "shop"},
                "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:2"}]}}}}}}),
                web("1"),
            ],
            "plain: changes CronJob/c",
        ),
    ];
    for (before, after, want) in rows {
        assert_eq!(auto(before, after, &all), *want);
    }
}

#[test]
fn only_the_workloads_that_are_named_go_through_the_steps() {
    let named = settings(&[("Deployment", "web")]);
    let set = |web: &str, worker: &str| [deployment("web", web), deployment("worker", worker)];
    for (before, after, want) in [
        (set("web:1", "w:1"), set("web:2", "w:1"), "steps: image web 1 → 2"),
        (set("web:1", "w:1"), set("web:1", "w:2"), "plain: changes Deployment/worker"),
        (set("web:1", "w:1"), set("web:2", "w:2"), "steps: image web 1 → 2"),
    ] {
        assert_eq!(auto(&before, &after, &named), want);
    }
    let after = set("web:1", "w:1");
    assert_eq!(auto(&after[..1], &after, &named), "plain: creates Deployment/worker");
    assert_eq!(
        auto(&after[1..], &after, &named),
        "plain: Deployment/web is not there: steps are skipped",
        "none of the named ones is live"
    );
}

#[test]
fn what_of_a_pod_template_changes() {
    let all = settings(&[]);
    let (before, template) = (deployment("web", "web:1"), "/spec/template");
    let rows = [
        (
            "/spec/containers/0/resources",
            json!({"limits": {"cpu": "1"}}),
            "pod template of Deployment/web: .spec.containers[name=\"app\"].resources",
        ),
        ("/metadata", json!({"labels": {"a": "b"}}), "pod template of Deployment/web: .metadata"),
        (
            "/spec/containers/0/image",
            json!("other.example.com:5000/web"),
            "image web:1 → other.example.com:5000/web:latest",
        ),
        (
            "/spec/containers/0/image",
            json!(format!("web:2@sha256:{}", "0123456789abcdef".repeat(4))),
            "image web 1 → sha256:0123456789ab",
        ),
    ];
    for (path, value, want) in rows {
        let mut after = before.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        after.pointer_mut(&format!("{template}{parent}")).unwrap()[key] = value;
        assert_eq!(auto(std::slice::from_ref(&before), &[after], &all), format!("steps: {want}"));
    }
    let many = |tag: &str| -> Vec<Value> {
        (0..4).map(|i| deployment(&format!("d{i}"), &format!("image{i}:{tag}"))).collect()
    };
    assert_eq!(
        auto(&many("1"), &many("2"), &all),
        "steps: image image0 1 → 2, image image1 1 → 2 and 2 more"
    );
    let same = |tag: &str| -> Vec<Value> {
        (0..4).map(|i| deployment(&format!("d{i}"), &format!("shop:{tag}"))).collect()
    };
    assert_eq!(auto(&same("1"), &same("2"), &all), "steps: image shop 1 → 2", "each once");
}

#[test]
fn what_is_asked_for() {
    let all = settings(&[]);
    let image = plan(&[deployment("web", "web:1")], &[deployment("web", "web:2")]);
    let count = plan(
        &[workload("Deployment", "web", "web:1", Some(2))],
        &[workload("Deployment", "web", "web:1", Some(3))],
    );
    let first = plan(&[], &[deployment("web", "web:1")]);
    let none = plan(&[deployment("web", "web:1")], &[deployment("web", "web:1")]);
    let rows = [
        (&image, StrategyChoice::Plain, "plain: asked for; image web 1 → 2"),
        (&image, StrategyChoice::Steps, "steps: image web 1 → 2"),
        (&count, StrategyChoice::Plain, "plain: asked for; scale Deployment/web from 2 to 3"),
        (&count, StrategyChoice::Steps, "steps: asked for; scale Deployment/web from 2 to 3"),
        (&first, StrategyChoice::Steps, "plain: first deployment: steps are skipped"),
        (&none, StrategyChoice::Steps, "none: no changes"),
        (&none, StrategyChoice::Plain, "none: no changes"),
    ];
    for (plan, choice, want) in rows {
        assert_eq!(told(plan, &all, choice), want, "{choice:?}");
    }
    let without = RolloutSettings::default();
    assert_eq!(told(&image, &without, StrategyChoice::Auto), "plain: changes Deployment/web");
    assert_eq!(told(&first, &without, StrategyChoice::Auto), "plain: first deployment");
}

#[test]
fn work_without_a_change_of_a_field() {
    let all = settings(&[]);
    let set = [deployment("web", "web:1"), service(80)];
    let mut plan = plan(&set, &set);
    plan.objects[1].action = Action::Change;
    assert_eq!(told(&plan, &all, StrategyChoice::Auto), "plain: takes over fields of Service/web");
    plan.objects[0].action = Action::Recreate("the selector is immutable".into());
    assert_eq!(told(&plan, &all, StrategyChoice::Auto), "steps: recreates Deployment/web");
    plan.objects[0].action = Action::Refused(Error::manifest("no"));
    assert_eq!(
        told(&plan, &all, StrategyChoice::Auto),
        "plain: changes Deployment/web, takes over fields of Service/web"
    );
    let mut idle = self::plan(&set, &set);
    idle.retires = vec![Retirement {
        namespace: "shop".into(),
        name: "web".into(),
        revisions: 1,
        kept: Vec::new(),
    }];
    assert_eq!(told(&idle, &all, StrategyChoice::Auto), "plain: retires the helm release shop/web");
    idle.retires.clear();
    idle.unfinished = Some("the target has no record yet".into());
    assert_eq!(told(&idle, &all, StrategyChoice::Auto), "plain: the target has no record yet");
}

/// The right-hand sides of the steps that a target then goes through.
#[test]
fn the_steps_that_follow() {
    let settings = settings(&[]);
    let of = |kind| Strategy { kind, reason: String::new() };
    let target = crate::rollout::waves::tests::project("  steps: []\n").targets.remove(0);
    assert_eq!(of(StrategyKind::None).steps(&settings, &target), [0; 0]);
    assert_eq!(of(StrategyKind::Plain).steps(&settings, &target), [1]);
    assert_eq!(of(StrategyKind::Steps).steps(&settings, &target), [0, 1, 2]);
}
