//! What holds for every release.

use proptest::prelude::*;

use super::super::labels::{selects, sends_to};
use super::super::references::configs;
use super::*;

/// What differs between generated releases.
#[derive(Clone, Debug)]
struct Shape {
    workloads: Vec<Pods>,
    /// Of each of [`CONFIGS`]: whether it is in the release, whether what runs has it, whether it
    /// changes.
    configs: Vec<(bool, bool, bool)>,
    isolation: Isolation,
    service: bool,
    percent: u32,
}

/// The pods of a Deployment.
#[derive(Clone, Debug)]
struct Pods {
    replicas: u32,
    live: u32,
    /// Which of [`CONFIGS`] they use, and how.
    uses: Vec<(usize, usize)>,
    own_label: bool,
}

const CONFIGS: [(&str, &str); 6] = [
    ("ConfigMap", "a"),
    ("ConfigMap", "b"),
    ("ConfigMap", "a-canary-x"),
    ("Secret", "a"),
    ("Secret", "s"),
    ("Secret", "t"),
];

fn shapes() -> impl Strategy<Value = Shape> {
    let pods = (
        0..5u32,
        0..9u32,
        prop::collection::vec((0..CONFIGS.len(), 0..4usize), 0..6),
        any::<bool>(),
    )
        .prop_map(|(replicas, live, uses, own_label)| Pods { replicas, live, uses, own_label });
    let isolation = prop::sample::select(vec![
        Isolation::Auto,
        Isolation::Share,
        Isolation::Label,
        Isolation::Rename,
    ]);
    (
        prop::collection::vec(pods, 1..4),
        prop::collection::vec(any::<(bool, bool, bool)>(), CONFIGS.len()),
        isolation,
        any::<bool>(),
        1..101u32,
    )
        .prop_map(|(workloads, configs, isolation, service, percent)| Shape {
            workloads,
            configs,
            isolation,
            service,
            percent,
        })
}

fn pod_spec(pods: &Pods, tag: &str) -> Value {
    let mut env = Vec::new();
    let mut env_from = Vec::new();
    let mut volumes = Vec::new();
    let mut pull = Vec::new();
    for (config, way) in &pods.uses {
        let (kind, name) = CONFIGS[*config];
        let is_map = kind == "ConfigMap";
        match way {
            0 => env_from.push(match is_map {
                true => json!({"configMapRef": {"name": name}}),
                false => json!({"secretRef": {"name": name}}),
            }),
            1 => {
                let key = if is_map { "configMapKeyRef" } else { "secretKeyRef" };
                env.push(json!({"name": "E", "valueFrom": {key: {"name": name, "key": "k"}}}));
            }
            2 => {
                let key = if is_map { "configMap" } else { "secret" };
                volumes
                    .push(json!({"name": "v", "projected": {"sources": [{key: {"name": name}}]}}));
            }
            _ if is_map => volumes.push(json!({"name": "v", "configMap": {"name": name}})),
            _ => pull.push(json!({"name": name})),
        }
    }
    json!({"imagePullSecrets": pull, "volumes": volumes, "initContainers": [{"name": "i", "env": env}],
        "containers": [{"name": "c", "image": tag, "envFrom": env_from}]})
}

fn release(shape: &Shape, is_next: bool) -> Vec<Value> {
    let mut objects = Vec::new();
    for ((kind, name), (is_there, ran, changes)) in CONFIGS.iter().zip(&shape.configs) {
        let value = if is_next && *changes { "bmV3" } else { "b2xk" };
        if if is_next { *is_there } else { *ran } {
            objects.push(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name},
                "immutable": true, "data": {"k": value}}));
        }
    }
    for (i, pods) in shape.workloads.iter().enumerate() {
        let name = format!("web{i}");
        let tag = if is_next { "2" } else { "1" };
        let mut web = deployment(&name, pods.replicas, pod_spec(pods, tag));
        if pods.own_label {
            let labels = &mut web["spec"]["template"]["metadata"]["labels"];
            labels["mcd.dev/variant"] = "primary".into();
            labels["tier"] = "front".into();
        }
        objects.push(service(&name, json!({"app": name})));
        objects.push(web);
    }
    objects
}

fn world(shape: &Shape) -> World {
    let mut world = World::running(release(shape, false)).to(release(shape, true));
    for (i, pods) in shape.workloads.iter().enumerate() {
        let web = id("apps", "Deployment", &format!("web{i}"));
        world.live.get_mut(&web).unwrap()["spec"]["replicas"] = pods.live.into();
    }
    world.settings.isolation = shape.isolation;
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_canary_is_whole_and_apart(shape in shapes()) {
        let world = world(&shape);
        let step = Canary { service: shape.service, ..sized(&format!("{}%", shape.percent)) };
        let variant = world.made(&step);

        // Nothing of the release has another name, and no copy the name of one of it.
        let taken: BTreeSet<ObjectId> = Set::new(&world.set, "shop").items.into_iter()
            .chain(Set::new(&world.previous, "shop").items).map(|item| item.id).collect();
        for copy in &variant.objects {
            prop_assert!(!taken.contains(&copy.id), "{} is taken", copy.id);
            prop_assert_eq!(Some(copy.id.clone()), ObjectId::of(&copy.value));
            let labels = &copy.value["metadata"]["labels"];
            prop_assert_eq!(&labels["mcd.dev/variant"], "canary");
        }
        // Prerequisites exist nowhere, and are what the release has.
        for new in &variant.prerequisites {
            prop_assert!(!world.live.contains_key(&new.id));
            let own = world.set.iter().find(|o| o.id.short() == new.id.short()).unwrap();
            prop_assert_eq!(&own.to_owned().value["data"], &new.value["data"]);
        }

        let there: BTreeSet<ObjectId> = variant.objects.iter().chain(&variant.prerequisites)
            .map(|o| o.id.clone()).chain(world.live.keys().cloned()).collect();
        let release = Set::new(&world.set, "shop");
        for (i, pods) in shape.workloads.iter().enumerate() {
            let original = release.get(&id("apps", "Deployment", &format!("web{i}"))).unwrap();
            let copy = find(&variant.objects, &format!("deployment.apps/web{i}-canary"));
            let wanted = (shape.percent * pods.live).div_ceil(100).max(1);
            prop_assert_eq!(&copy["spec"]["replicas"], wanted);

            // Every reference that the original could resolve, the copy can, and sees the
            // release's content.
            let template = &copy["spec"]["template"];
            let used = configs(template, Some("shop"));
            for own in configs(original.template().unwrap(), Some("shop")) {
                let Some(content) = release.get(&own) else { continue };
                let copied = ObjectId { name: format!("{}-canary", own.name), ..own.clone() };
                let seen = if used.contains(&copied) { copied } else { own };
                prop_assert!(used.contains(&seen) && there.contains(&seen), "{seen} is not there");
                let found = variant.objects.iter().chain(&variant.prerequisites)
                    .find(|o| o.id == seen).map(|o| &o.value).or_else(|| world.live.get(&seen));
                prop_assert_eq!(&found.unwrap()["data"], &content.value()["data"]);
            }

            // The copy selects its own pods and no others; under `label` and `rename` no
            // Service of the primary reaches them.
            let labels = &template["metadata"]["labels"];
            prop_assert!(selects(&copy["spec"]["selector"], labels));
            let (front, primary) = match shape.isolation {
                Isolation::Label => {
                    let after = labelled(world.set.clone(), &world.settings, "shop").unwrap();
                    (find(&after, &format!("service/web{i}")).clone(),
                        find(&after, &format!("deployment.apps/web{i}")).clone())
                }
                _ => (find(&world.set, &format!("service/web{i}")).clone(),
                    original.value().clone()),
            };
            let primary_labels = &primary["spec"]["template"]["metadata"]["labels"];
            prop_assert!(sends_to(&front, primary_labels));
            prop_assert!(selects(&primary["spec"]["selector"], primary_labels));
            prop_assert_eq!(&primary["spec"]["selector"], &original.value()["spec"]["selector"]);
            prop_assert!(!selects(&copy["spec"]["selector"], primary_labels));
            let apart = matches!(shape.isolation, Isolation::Label | Isolation::Rename);
            prop_assert_eq!(sends_to(&front, labels), !apart);
            let counted = selects(&primary["spec"]["selector"], labels);
            prop_assert_eq!(counted, shape.isolation != Isolation::Rename);
            if shape.service {
                let own = find(&variant.objects, &format!("service/web{i}-canary"));
                prop_assert!(sends_to(own, labels) && !sends_to(own, primary_labels));
            }
        }
    }

    #[test]
    fn a_step_can_be_repeated(shape in shapes()) {
        let mut world = world(&shape);
        let step = sized(&format!("{}%", shape.percent));
        let first = world.made(&step);
        // It dies after any number of writes.
        let written: Vec<Object> =
            first.prerequisites.iter().chain(&first.objects).cloned().collect();
        for object in written {
            world.live.insert(object.id.clone(), object.value.clone());
            world.created.insert(object.id.clone());
            let again = world.made(&step);
            prop_assert_eq!(&again.objects, &first.objects);
            prop_assert_eq!(&again.prerequisites, &first.prerequisites);
        }
        let known = to_read(&world.set, "shop", &step, &world.settings).unwrap();
        prop_assert!(first.objects.iter().all(|o| known.contains_key(&o.id)));
    }
}
