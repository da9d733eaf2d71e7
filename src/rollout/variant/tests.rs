use serde_json::json;

use super::*;
use crate::manifest::Origin;
use crate::rollout::Workload;

mod golden;
mod isolation;
mod kinds;
mod needed;
mod properties;

/// A world in namespace `shop`: what a release has, what ran before, what is live.
#[derive(Clone, Default)]
struct World {
    set: Vec<Object>,
    previous: Vec<Object>,
    live: BTreeMap<ObjectId, Value>,
    autoscalers: Vec<Value>,
    created: BTreeSet<ObjectId>,
    settings: VariantSettings,
}

impl World {
    /// A release that runs, as the manifests have it.
    fn running(objects: Vec<Value>) -> Self {
        let mut world = World { previous: made(&objects), ..World::default() };
        world.set.clone_from(&world.previous);
        let ids: Vec<(ObjectId, Value)> = Set::new(&world.previous, "shop")
            .items
            .iter()
            .map(|item| (item.id.clone(), item.value().clone()))
            .collect();
        world.live.extend(ids);
        world
    }

    /// The release to come.
    fn to(mut self, objects: Vec<Value>) -> Self {
        self.set = made(&objects);
        self
    }

    fn live(&self) -> Live<'_> {
        Live {
            namespace: "shop",
            objects: &self.live,
            autoscalers: &self.autoscalers,
            previous: &self.previous,
            created: &self.created,
        }
    }

    fn canary(&self, canary: &Canary) -> Result<Variant, Vec<Error>> {
        super::canary(&self.set, &self.live(), canary, &self.settings)
    }

    /// The canary that is made; its errors fail the test.
    fn made(&self, canary: &Canary) -> Variant {
        self.canary(canary).unwrap_or_else(|errors| panic!("{}", words(&errors)))
    }

    /// Why none is made.
    fn refused(&self, canary: &Canary) -> String {
        words(&self.canary(canary).expect_err("a refusal"))
    }
}

fn words(errors: &[Error]) -> String {
    let one = |e: &Error| format!("{} {e}; {}", e.exit().code(), e.hints().join("; "));
    errors.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn made(objects: &[Value]) -> Vec<Object> {
    let object = |value: &Value| Object::new(value.clone(), Origin::default()).expect("an object");
    objects.iter().map(object).collect()
}

fn sized(amount: &str) -> Canary {
    Canary { replicas: Amount::parse(amount).unwrap(), service: false, suffix: "canary".into() }
}

fn with_service(amount: &str) -> Canary {
    Canary { service: true, ..sized(amount) }
}

fn id(group: &str, kind: &str, name: &str) -> ObjectId {
    ObjectId {
        group: group.into(),
        kind: kind.into(),
        namespace: Some("shop".into()),
        name: name.into(),
    }
}

fn shorts(objects: &[Object]) -> Vec<String> {
    objects.iter().map(|object| object.id.short()).collect()
}

fn find<'o>(objects: &'o [Object], short: &str) -> &'o Value {
    let found = objects.iter().find(|object| object.id.short() == short);
    &found.unwrap_or_else(|| panic!("no {short} in {:?}", shorts(objects))).value
}

/// A Deployment with pods labelled `app: NAME` and this pod spec.
fn deployment(name: &str, replicas: u32, pods: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pods}}})
}

fn image(tag: &str) -> Value {
    json!({"containers": [{"name": "web", "image": format!("web:{tag}")}]})
}

fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}})
}

fn service(name: &str, selector: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": selector, "ports": [{"port": 80}]}})
}
