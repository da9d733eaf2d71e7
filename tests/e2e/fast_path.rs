//! The digests against the server's own word: an object that a plan calls unchanged without
//! asking is one that a dry run leaves unchanged, whatever strangers did to it (design §6).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::World;

/// How many objects are edited by a stranger, over all rounds.
const EDITS: usize = 200;

/// A generator of numbers that is the same in every run with the same seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("small")
    }
    fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

#[test]
fn what_is_called_unchanged_is_unchanged() {
    let seed =
        std::env::var("MCD_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_261_130);
    let mut numbers = Numbers(seed);
    let world = World::new("fast");
    world.application(&["us-east"], "render: {manifests: [k8s/]}\n");
    let data = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fast-path/");
        std::fs::read_to_string(format!("{folder}{name}")).expect("test data")
    };
    // The definition belongs to all tests of this cluster, so no application may own it.
    world.kubectl_apply("us-east", &data("definition.yaml"));
    world.kubectl(
        "us-east",
        &["wait", "--for=condition=Established", "crd/things.fp.example.com", "--timeout=30s"],
    );
    world.write("k8s/built-in.yaml", &data("built-in.yaml"));
    world.write("k8s/custom.yaml", &data("custom.yaml"));
    world.ok(0, &["apply", "-y", "--wait=false"]);
    world.ok(0, &["plan", "--detailed-exitcode"]);

    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut edits = 0;
    while edits < EDITS {
        let objects = members(&world);
        let mut edited = Vec::new();
        for (path, live) in &objects {
            // Some objects stay as they are in each round.
            if numbers.below(4) == 0 {
                continue;
            }
            let Some(patch) = edit(live, &mut numbers) else { continue };
            let answer = world.cluster("us-east").call(
                "PATCH",
                &format!("{path}?fieldManager=stranger"),
                Some(&patch),
            );
            edits += 1;
            match answer {
                Ok(answer) if answer.is_success() => edited.push((path.clone(), patch)),
                _ => *seen.entry("edits that the server refused").or_default() += 1,
            }
        }
        *seen.entry("edits that it took").or_default() += edited.len();
        let fast = changed(&world, &["plan", "-o", "json"]);
        let asked = changed(&world, &["plan", "--verify", "-o", "json"]);
        let missed: BTreeSet<_> = asked.difference(&fast).collect();
        assert!(
            missed.is_empty(),
            "called unchanged although an apply changes them (seed {seed}): {missed:?}\n{edited:#?}"
        );
        *seen.entry("objects that an apply would change").or_default() += asked.len();
        *seen.entry("objects unchanged").or_default() += objects.len() - asked.len();
        restore(&world);
    }
    println!("seed {seed}: {seen:?}, none missed");
    assert!(seen["edits that it took"] > EDITS / 5, "{seen:?}");
    assert!(seen["objects that an apply would change"] > 30, "{seen:?}");
}

/// The live members with their API paths.
fn members(world: &World) -> Vec<(String, Value)> {
    let namespace = world.namespace.name();
    let mut members = Vec::new();
    for (api, kinds) in [
        ("/api/v1", "configmaps secrets services serviceaccounts"),
        ("/apis/apps/v1", "deployments statefulsets"),
        ("/apis/batch/v1", "cronjobs"),
        ("/apis/networking.k8s.io/v1", "ingresses networkpolicies"),
        ("/apis/policy/v1", "poddisruptionbudgets"),
        ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
        ("/apis/rbac.authorization.k8s.io/v1", "roles rolebindings"),
        ("/apis/fp.example.com/v1", "things"),
    ] {
        for kind in kinds.split(' ') {
            let path = format!("{api}/namespaces/{namespace}/{kind}");
            let list = world.cluster("us-east").get(&format!("{path}?labelSelector=mcd.dev%2Fapp"));
            for item in list["items"].as_array().into_iter().flatten() {
                let name = item["metadata"]["name"].as_str().expect("a name");
                members.push((format!("{path}/{name}"), item.clone()));
            }
        }
    }
    members
}

/// The objects that a plan does not call unchanged.
fn changed(world: &World, args: &[&str]) -> BTreeSet<String> {
    let plan = world.mcd(args).json();
    assert_eq!(
        plan["targets"][0]["errors"]
            .as_array()
            .map_or(0, |errors| { errors.iter().filter(|e| e["exitCode"] == 9).count() }),
        0,
        "{plan:#}"
    );
    let changes = plan["targets"][0]["changes"].as_array().expect("changes");
    changes.iter().map(|c| format!("{}/{}", c["kind"], c["name"])).collect()
}

/// Brings everything back. What cannot be changed back (a port that was renumbered by hand) is
/// deleted and made again.
fn restore(world: &World) {
    let run = world.mcd(&["apply", "-y", "--wait=false", "--force-conflicts", "--timeout", "3s"]);
    if run.code == 0 {
        return;
    }
    let plan = world.mcd(&["plan", "--verify", "-o", "json"]).json();
    for change in plan["targets"][0]["changes"].as_array().expect("changes") {
        let name = format!(
            "{}/{}",
            change["kind"].as_str().unwrap().to_lowercase(),
            change["name"].as_str().unwrap()
        );
        world.kubectl("us-east", &["delete", &name, "--ignore-not-found", "--cascade=foreground"]);
    }
    world.ok(0, &["apply", "-y", "--wait=false", "--force-conflicts", "--timeout", "3s"]);
}

/// A random edit as a JSON patch: replace, remove, add, move or double something.
fn edit(live: &Value, numbers: &mut Numbers) -> Option<Value> {
    let roots: &[&str] =
        if numbers.below(7) == 0 { &["metadata"] } else { &["spec", "data", "rules", "subjects"] };
    let mut nodes = Vec::new();
    for root in roots {
        let (value, path) = match *root {
            "metadata" => (&live["metadata"]["labels"], "/metadata/labels".to_owned()),
            root => (&live[root], format!("/{root}")),
        };
        if !value.is_null() {
            walk(value, &path, &mut nodes);
        }
    }
    if nodes.is_empty() {
        return None;
    }
    let (path, value, in_list) = numbers.pick(&nodes).clone();
    let op = match numbers.below(5) {
        0 => json!({"op": "remove", "path": path}),
        1 => {
            let other = match &value {
                Value::Number(n) => json!(n.as_i64()? + 1),
                Value::String(s) => json!(format!("{s}x")),
                Value::Bool(b) => json!(!b),
                other => other.clone(),
            };
            json!({"op": "replace", "path": path, "value": other})
        }
        2 if value.is_object() => json!({"op": "add", "path": format!("{path}/zz"), "value": "zz"}),
        3 if in_list => {
            let (list, index) = path.rsplit_once('/')?;
            if index == "0" {
                return None;
            }
            json!({"op": "move", "from": path, "path": format!("{list}/0")})
        }
        _ if in_list => {
            let mut double = value.clone();
            for key in ["name", "n", "port", "containerPort"] {
                match double.get_mut(key) {
                    Some(Value::String(s)) => s.push('z'),
                    Some(Value::Number(n)) => {
                        let next = n.as_i64()? + 1;
                        double[key] = json!(next);
                    }
                    _ => {}
                }
            }
            if let Value::String(s) = &mut double {
                s.push('z');
            }
            json!({"op": "add", "path": path, "value": double})
        }
        _ => return None,
    };
    Some(json!([op]))
}

fn walk(value: &Value, path: &str, nodes: &mut Vec<(String, Value, bool)>) {
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                nodes.push((path.clone(), below.clone(), false));
                walk(below, &path, nodes);
            }
        }
        Value::Array(list) => {
            for (index, below) in list.iter().enumerate() {
                let path = format!("{path}/{index}");
                nodes.push((path.clone(), below.clone(), true));
                walk(below, &path, nodes);
            }
        }
        _ => {}
    }
}
