//! Refusals of manifests, each on a real API server (A4): what cannot be changed, what is too large,
//! what is missing, what one may not do. Words are short, nothing is tried again that cannot pass,
//! and no value of a Secret is in any of them.

use serde_json::{Value, json};
use testbed::{Bed, Context, Proxy, User};

use crate::support::World;

fn world(prefix: &str, yaml: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/all.yaml", yaml);
    world
}

/// The error of each object of a plan, as one text.
fn errors(world: &World, code: i32) -> Vec<(String, String)> {
    let run = world.ok(code, &["plan", "-o", "json"]);
    run.hides("Invalid value").hides("hunter2").hides("aHVudGVyM");
    world.ok(code, &["apply", "-y"]).hides("Invalid value").hides("hunter2").hides("aHVudGVyM");
    let plan = run.json();
    let all = plan["targets"][0]["errors"].as_array().cloned().unwrap_or_default();
    let text = |error: &Value| {
        let list = |key: &str| {
            let all = error[key].as_array().cloned().unwrap_or_default();
            all.iter().map(|t| t.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" | ")
        };
        format!("{} | {} | {}", error["message"].as_str().unwrap(), list("causes"), list("hints"))
    };
    let name = |error: &Value| {
        format!(
            "{}/{}",
            error["object"]["kind"].as_str().unwrap(),
            error["object"]["name"].as_str().unwrap()
        )
    };
    all.iter().map(|error| (name(error), text(error))).collect()
}

#[track_caller]
fn says<'a>(errors: &'a [(String, String)], object: &str, words: &[&str]) -> &'a str {
    let (_, text) = errors.iter().find(|(name, _)| name == object).unwrap_or_else(|| {
        panic!("no error of {object}: {errors:#?}");
    });
    for word in words {
        assert!(text.contains(word), "{object}: no {word:?} in {text:?}");
    }
    text
}

const FIXED: &str = "apiVersion: v1
kind: Secret
metadata: {name: typed}
type: Opaque
stringData: {password: hunter2}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bound}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: first}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: nobody}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 2Gi}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 0
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: \"db:1\"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  suspend: true
  template:
    spec: {restartPolicy: Never, containers: [{name: a, image: \"a:1\", env: [{name: P, value: plain-value}]}]}
";

/// Each kind's fields that are fixed once the object exists, with a short reason.
#[test]
fn what_cannot_be_changed() {
    let world = world("fixed", FIXED);
    world.ok(0, &["apply", "-y", "--wait=false"]);
    world.ok(0, &["diff", "--verify"]);
    let changed = FIXED
        .replace("type: Opaque", "type: example.com/other")
        .replace("clusterIP: None", "clusterIP: 10.0.0.250")
        .replace("name: first", "name: second")
        .replace("storage: 2Gi", "storage: 1Gi")
        .replace("name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", "name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}")
        .replace("value: plain-value", "value: another-value");
    world.write("k8s/all.yaml", &changed);
    let errors = errors(&world, 4);
    let both = ["cannot be changed once the object exists", "another name"];
    for (object, field) in [
        ("Secret/typed", "`type`"),
        ("Service/web", "`spec.clusterIPs[0]`"),
        ("RoleBinding/bound", "`roleRef`"),
        ("PersistentVolumeClaim/data", "`spec"),
        ("StatefulSet/db", "`spec`"),
        ("Job/once", "`spec.template"),
    ] {
        let text = says(&errors, object, &both);
        assert!(text.contains(field), "{object}: {text}");
        assert!(text.len() < 600, "{object} is told at length: {text}");
        for value in ["plain-value", "another-value", "v1.", "{", "&"] {
            assert!(!text.contains(value), "{object}: {value} in {text}");
        }
    }
    says(&errors, "StatefulSet/db", &["fields other than"]);
    // With the annotation each of them is made anew.
    let anew = |text: &str| {
        text.replace(
            "metadata: {name: ",
            "metadata: {annotations: {mcd.dev/apply: recreate}, name: ",
        )
    };
    let only = |keep: &[&str], text: &str| {
        let kept: Vec<&str> =
            text.split("---\n").filter(|d| keep.iter().any(|k| d.contains(k))).collect();
        kept.join("---\n")
    };
    let some = only(&["kind: Secret", "kind: Service\n", "kind: RoleBinding"], &changed)
        .replace("10.0.0.250", "None");
    world.write("k8s/all.yaml", &anew(&some));
    world.ok(0, &["plan", "--prune=false"]).says("± Secret").says("± RoleBinding");
    world
        .ok(0, &["apply", "-y", "--wait=false", "--prune=false"])
        .says("2 recreated")
        .hides("hunter2");
    assert_eq!(world.live("us-east", "secret", "typed")["type"], "example.com/other");
    assert_eq!(world.live("us-east", "rolebinding", "bound")["roleRef"]["name"], "second");
    world.ok(0, &["diff", "--verify", "--prune=false"]);
}

#[test]
fn what_is_too_large() {
    let secret = |size: usize| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: big}}\nstringData: {{a: {}}}\n",
            "hunter2-".repeat(size / 8)
        )
    };
    let world = world("too-large", &secret(1_100_000));
    says(&errors(&world, 4), "Secret/big", &["too large", "1048576"]);
    world.write("k8s/all.yaml", &secret(3_200_000));
    says(&errors(&world, 4), "Secret/big", &["too large"]);
    world.write(
        "k8s/all.yaml",
        &format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: noted, annotations: {{a: {}}}}}\n",
            "x".repeat(300_000)
        ),
    );
    says(&errors(&world, 4), "ConfigMap/noted", &["too large", "metadata.annotations"]);
}

/// The user's mistakes that the server answers with a 500: told as what they are, once.
#[test]
fn mistakes_of_a_manifest_are_asked_about_once() {
    let proxy = Proxy::start(Bed::shared().cluster("us-east"));
    let world = World::with_contexts("mistakes", &[proxy.context()]);
    world.plain(&["us-east"]);
    let pod = |containers: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {{containers: [{containers}]}}\n"
        )
    };
    for (yaml, words) in [
        (
            pod("{name: a, image: a, imagee: b}"),
            [".spec.containers", "imagee: field not declared in schema"],
        ),
        (pod("{name: a, image: 12345678}"), [".image", "expected string"]),
        (pod("{image: a}"), ["spec.containers[0].name", "required value"]),
        (pod("{name: a, image: a}, {name: a, image: b}"), [".spec.containers", "duplicate"]),
    ] {
        world.write("k8s/all.yaml", &yaml);
        proxy.clear_log();
        let plan = world.ok(4, &["plan"]);
        plan.says(words[0]).says(words[1]).hides("12345678");
        let asked = proxy.requests().iter().filter(|r| r.method == "PATCH").count();
        assert_eq!(asked, 1, "{yaml}");
    }
    // Of a Secret only where; and the server never sees what is no base64.
    proxy.clear_log();
    world.write(
        "k8s/all.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata: {a: hunter2}\n",
    );
    world.ok(4, &["plan"]).says("Secret").says("base64").hides("hunter2");
    assert_eq!(proxy.requests().iter().filter(|r| r.method == "PATCH").count(), 0);
}

#[test]
fn a_version_that_is_not_served() {
    let world = world(
        "version",
        "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n",
    );
    says(&errors(&world, 4), "Deployment/web", &["no kind `Deployment` in `apps/v1beta1`"]);
}

/// What a pod names has to be there; of a workload the server does not look at it, so mcd does.
#[test]
fn what_pods_name_and_is_not_there() {
    let pod = |more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {{{more}, containers: [{{name: a, image: a}}]}}\n"
        )
    };
    let world = world("pod-names", &pod("serviceAccountName: absent"));
    says(
        &errors(&world, 4),
        "Pod/web",
        &["names something that is not there", "service account", "absent"],
    );
    world.write("k8s/all.yaml", &pod("priorityClassName: absent"));
    says(
        &errors(&world, 4),
        "Pod/web",
        &["names something that is not there", "PriorityClass", "absent"],
    );
    world.write("k8s/all.yaml", &pod("runtimeClassName: absent"));
    says(
        &errors(&world, 4),
        "Pod/web",
        &["names something that is not there", "RuntimeClass", "absent"],
    );
    world.write(
        "k8s/all.yaml",
        &crate::support::web("web:1")
            .replace("      containers:", "      serviceAccountName: absent\n      containers:"),
    );
    world.ok(0, &["plan"]).says("ServiceAccount").says("absent");
    let apply = world.ok(1, &["apply", "-y", "--timeout", "5s"]);
    apply.says("Deployment").says("absent");
}

/// A quota that refuses the pods of a workload: the workload is taken, and its pods are missed.
#[test]
fn a_quota_of_pods() {
    let world = world("quota-pods", &crate::support::web("web:1"));
    world.kubectl_apply(
        "us-east",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: 1}}\n",
    );
    testbed::wait_for("the quota counts", std::time::Duration::from_secs(30), || {
        let quota = world.live("us-east", "resourcequota", "few");
        match quota["status"]["hard"]["pods"].as_str() {
            Some("1") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    let apply = world.ok(1, &["apply", "-y", "--timeout", "10s"]);
    apply.says("Deployment").says("exceeded quota: few").says("pods=1");
}

fn as_user(prefix: &str, user: &str) -> World {
    let context = Context::of(Bed::shared().cluster("us-east")).as_user(User::named(user));
    let world = World::with_contexts(prefix, &[context]);
    world.plain(&["us-east"]);
    world
}

/// To create by an apply takes two rights.
#[test]
fn patch_without_create() {
    let world = as_user("patch-only", "patcher");
    world.write(
        "k8s/all.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n",
    );
    let state = json!({"apiGroups": ["", "coordination.k8s.io"], "resources": ["secrets", "leases"], "verbs": ["*"]});
    let own =
        json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "patch"]});
    world.grant("patcher", &json!([state, own]));
    testbed::wait_for("the rights count", std::time::Duration::from_secs(30), || {
        let plan = world.mcd(&["plan"]);
        if plan.code == 0 { Ok(()) } else { Err(plan.to_string()) }
    });
    world.ok(0, &["plan"]).says("user `patcher` cannot create `configmaps`");
    world
        .ok(1, &["apply", "-y"])
        .says("user `patcher` cannot create `configmaps`")
        .says("nothing was written");
}

/// Nobody grants what they do not hold.
#[test]
fn rights_that_the_user_does_not_hold() {
    let world = as_user("escalate", "climber");
    world.write(
        "k8s/all.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: all}\nrules: [{apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"]}]\n",
    );
    let state = json!({"apiGroups": ["", "coordination.k8s.io"], "resources": ["secrets", "leases"], "verbs": ["*"]});
    let own = json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["get", "list", "patch", "create"]});
    world.grant("climber", &json!([state, own]));
    testbed::wait_for("the rights count", std::time::Duration::from_secs(30), || {
        let plan = world.mcd(&["plan"]);
        if plan.stdout.contains("grants rights") { Ok(()) } else { Err(plan.to_string()) }
    });
    for verb in [&["plan"][..], &["apply", "-y"]] {
        world
            .ok(1, verb)
            .says("grants rights that the user does not hold")
            .says("`escalate` or `bind`");
    }
}
