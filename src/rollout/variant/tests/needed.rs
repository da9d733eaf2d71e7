//! What comes with a canary: copies of what changes, and what is new.

use super::*;

/// Pods that use everything there is to use.
fn pods(tag: &str) -> Value {
    json!({
    "serviceAccountName": "runner", "priorityClassName": "high", "runtimeClassName": "fast",
    "imagePullSecrets": [{"name": "pull"}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
    "initContainers": [{"name": "init", "image": "init", "env": [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "token", "key": "k"}}}]}],
    "containers": [{"name": "web", "image": format!("web:{tag}"),
        "envFrom": [{"configMapRef": {"name": "cfg"}}, {"secretRef": {"name": "made"}}]}],
    "volumes": [
        {"name": "files", "configMap": {"name": "files"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "scratch"}}}},
        {"name": "vault", "csi": {"driver": "secrets-store.csi.k8s.io",
            "volumeAttributes": {"secretProviderClass": "vault"}}},
    ]})
}

fn secret(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"k": value}})
}

fn cluster(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// All that the pods need, and what is beside it.
fn everything() -> Vec<Value> {
    let subjects = json!([{"kind": "ServiceAccount", "name": "runner", "namespace": "shop"}]);
    vec![
        cluster("v1", "Namespace", "shop"),
        cluster("v1", "Namespace", "other"),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"}, "spec": {"group": "example.com"}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "others.example.org"}, "spec": {"group": "example.org"}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner"},
            "imagePullSecrets": [{"name": "of-account"}]}),
        cluster("v1", "ServiceAccount", "other"),
        json!({"apiVersion": RBAC, "kind": "Role", "metadata": {"name": "things"},
            "rules": [{"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}]}),
        json!({"apiVersion": RBAC, "kind": "RoleBinding", "metadata": {"name": "things"},
            "subjects": [{"kind": "ServiceAccount", "name": "runner"}],
            "roleRef": {"kind": "Role", "name": "things"}}),
        json!({"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": "nodes"}}),
        json!({"apiVersion": RBAC, "kind": "ClusterRoleBinding", "metadata": {"name": "nodes"},
            "subjects": subjects, "roleRef": {"kind": "ClusterRole", "name": "nodes"}}),
        json!({"apiVersion": RBAC, "kind": "RoleBinding", "metadata": {"name": "others"},
            "subjects": [{"kind": "ServiceAccount", "name": "other"}],
            "roleRef": {"kind": "Role", "name": "others"}}),
        cluster(RBAC, "Role", "others"),
        cluster("scheduling.k8s.io/v1", "PriorityClass", "high"),
        cluster("node.k8s.io/v1", "RuntimeClass", "fast"),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpu", "namespace": "shop"}}),
        secret("pull", "p"),
        secret("of-account", "p"),
        secret("token", "t"),
        secret("unused", "u"),
        json!({"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret",
            "metadata": {"name": "maker"}, "spec": {"target": {"name": "made"}}}),
        json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"name": "made"}, "spec": {"secretName": "elsewhere"}}),
        config_map("cfg", "c"),
        config_map("files", "f"),
        config_map("unused", "u"),
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
            "spec": {"storageClassName": "slow", "volumeName": "disk", "accessModes": ["ReadWriteOnce"]}}),
        cluster("v1", "PersistentVolumeClaim", "unused"),
        cluster("v1", "PersistentVolume", "disk"),
        cluster("storage.k8s.io/v1", "StorageClass", "slow"),
        cluster("storage.k8s.io/v1", "StorageClass", "scratch"),
        cluster("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass", "vault"),
    ]
}

/// What of [`everything`] the pods need, in the order of the release.
const NEEDED: &str = "namespace/shop \
    customresourcedefinition.apiextensions.k8s.io/things.example.com serviceaccount/runner \
    role.rbac.authorization.k8s.io/things rolebinding.rbac.authorization.k8s.io/things \
    clusterrole.rbac.authorization.k8s.io/nodes clusterrolebinding.rbac.authorization.k8s.io/nodes \
    priorityclass.scheduling.k8s.io/high runtimeclass.node.k8s.io/fast \
    resourceclaimtemplate.resource.k8s.io/gpu secret/pull secret/of-account secret/token \
    externalsecret.external-secrets.io/maker configmap/cfg configmap/files \
    persistentvolumeclaim/data persistentvolume/disk storageclass.storage.k8s.io/slow \
    storageclass.storage.k8s.io/scratch \
    secretproviderclass.secrets-store.csi.x-k8s.io/vault";

fn needed() -> Vec<&'static str> {
    NEEDED.split_whitespace().collect()
}

#[test]
fn what_is_new_comes_first_as_the_release_has_it() {
    let mut after = everything();
    after.push(deployment("web", 3, pods("2")));
    let world = World::running(vec![deployment("web", 3, pods("1"))]).to(after);
    let variant = world.made(&sized("1"));
    assert_eq!(shorts(&variant.prerequisites), needed());
    assert_eq!(shorts(&variant.objects), ["deployment.apps/web-canary"]);
    let copy = find(&variant.objects, "deployment.apps/web-canary");
    assert_eq!(copy["spec"]["template"]["spec"], pods("2"), "nothing has another name");
    for object in &variant.prerequisites {
        let own = world.set.iter().find(|o| o.id.short() == object.id.short()).unwrap();
        let mut expected = own.clone();
        expected.set_namespace(object.id.namespace.as_deref());
        assert_eq!(*object, expected);
    }
    let read = to_read(&world.set, "shop", &sized("1"), &world.settings).unwrap();
    let mut known: Vec<String> = needed().iter().map(|s| (*s).to_owned()).collect();
    let copies = [
        "configmap/cfg-canary",
        "configmap/files-canary",
        "secret/pull-canary",
        "secret/token-canary",
        "deployment.apps/web",
        "deployment.apps/web-canary",
    ];
    known.extend(copies.map(str::to_owned));
    known.sort();
    let mut asked: Vec<String> = read.keys().map(ObjectId::short).collect();
    asked.sort();
    assert_eq!(asked, known);
    assert_eq!(read[&id("apps", "Deployment", "web-canary")].api_version(), "apps/v1");
}

#[test]
fn what_exists_and_stays_is_used_as_it_is() {
    let release = |tag: &str| {
        let mut all = everything();
        all.push(deployment("web", 3, pods(tag)));
        all
    };
    let variant = World::running(release("1")).to(release("2")).made(&sized("1"));
    assert!(variant.prerequisites.is_empty(), "{:?}", shorts(&variant.prerequisites));
    assert_eq!(shorts(&variant.objects), ["deployment.apps/web-canary"]);
    assert_eq!(
        variant.notes,
        [
            "the canary of Deployment shop/web shares PersistentVolumeClaim shop/data with it, which \
          one node alone can use (ReadWriteOnce): the canary's pods wait for room there"
        ]
    );
}

#[test]
fn what_exists_and_changes_is_copied_or_left() {
    let mut before = everything();
    before.push(deployment("web", 3, pods("1")));
    let mut after = everything();
    after.push(deployment("web", 3, pods("2")));
    for object in &mut after {
        match object["metadata"]["name"].as_str().unwrap() {
            "cfg" | "token" | "unused" | "pull" => object["data"] = json!({"k": "changed"}),
            // Labels are no content.
            "files" => object["metadata"]["labels"] = json!({"a": "b"}),
            "things" | "runner" | "data" | "maker" | "of-account" => {
                object["metadata"]["annotations"] = json!({"a": "b"});
            }
            _ => {}
        }
    }
    let variant = World::running(before).to(after).made(&sized("1"));
    assert!(variant.prerequisites.is_empty());
    assert_eq!(
        shorts(&variant.objects),
        [
            "configmap/cfg-canary",
            "secret/pull-canary",
            "secret/token-canary",
            "deployment.apps/web-canary"
        ]
    );
    let spec = &find(&variant.objects, "deployment.apps/web-canary")["spec"]["template"]["spec"];
    let mut expected = pods("2");
    expected["imagePullSecrets"][0]["name"] = "pull-canary".into();
    expected["containers"][0]["envFrom"][0]["configMapRef"]["name"] = "cfg-canary".into();
    expected["initContainers"][0]["env"][0]["valueFrom"]["secretKeyRef"]["name"] =
        "token-canary".into();
    assert_eq!(*spec, expected);
    assert_eq!(find(&variant.objects, "secret/token-canary")["data"], json!({"k": "changed"}));
    let as_it_is: Vec<&str> = variant
        .notes
        .iter()
        .filter_map(|note| {
            note.strip_suffix(" changes with the primary: the canary uses it as it is")
        })
        .collect();
    assert_eq!(
        as_it_is,
        [
            "PersistentVolumeClaim shop/data",
            "Secret shop/of-account",
            "ServiceAccount shop/runner",
            "ExternalSecret maker",
            "Role shop/things",
            "RoleBinding shop/things",
        ]
    );
}

#[test]
fn what_this_rollout_has_made_is_new_still() {
    let mut after = everything();
    after.push(deployment("web", 3, pods("2")));
    let mut world = World::running(vec![deployment("web", 3, pods("1"))]).to(after);
    let first = world.made(&sized("1"));
    // The step is over, or died on its way.
    for object in first.prerequisites.iter().chain(&first.objects) {
        world.live.insert(object.id.clone(), object.value.clone());
        world.created.insert(object.id.clone());
    }
    let again = world.made(&sized("1"));
    assert_eq!(again.prerequisites, first.prerequisites);
    assert_eq!(again.objects, first.objects);
    assert_eq!(again.notes, first.notes);
}

#[test]
fn what_the_running_release_does_not_know_is_compared_with_what_is_live() {
    let uses = |tag: &str| {
        deployment(
            "web",
            3,
            json!({"containers": [{"name": "web", "image": tag,
            "envFrom": [{"configMapRef": {"name": "cfg"}}]}]}),
        )
    };
    let copies = |live: Value| {
        let mut world =
            World::running(vec![uses("1")]).to(vec![config_map("cfg", "new"), uses("2")]);
        world.live.insert(id("", "ConfigMap", "cfg"), live);
        shorts(&world.made(&sized("1")).objects).len() > 1
    };
    assert!(!copies(json!({"metadata": {"uid": "u"}, "data": {"k": "new"}})));
    assert!(copies(json!({"data": {"k": "old"}})));
    assert!(copies(json!({"data": {"k": "new", "more": "x"}})));
    assert!(copies(json!(null)), "it may not be read");
}

#[test]
fn what_is_never_changed_is_never_copied() {
    let uses = |tag: &str| {
        deployment(
            "web",
            3,
            json!({"containers": [{"name": "web", "image": tag,
            "envFrom": [{"configMapRef": {"name": "cfg"}}]}]}),
        )
    };
    for handling in ["create-only", "ignore"] {
        let config = |value: &str| {
            let mut config = config_map("cfg", value);
            config["metadata"]["annotations"] = json!({"mcd.dev/apply": handling});
            config
        };
        let mut world =
            World::running(vec![config("a"), uses("1")]).to(vec![config("b"), uses("2")]);
        let variant = world.made(&sized("1"));
        assert_eq!(shorts(&variant.objects), ["deployment.apps/web-canary"], "{handling}");
        assert!(variant.prerequisites.is_empty(), "{handling}");
        world.live.remove(&id("", "ConfigMap", "cfg"));
        let made = shorts(&world.made(&sized("1")).prerequisites);
        assert_eq!(made.len(), usize::from(handling == "create-only"), "{handling}");
    }
}

#[test]
fn copies_are_hashed_like_originals() {
    use crate::plan::{config_hash, pod_template, referenced_configs};
    let uses = |tag: &str, value: &str| {
        let mut all =
            vec![config_map("cfg", value), config_map("same", "s"), secret("token", value)];
        all.push(deployment(
            "web",
            3,
            json!({"containers": [{"name": "web", "image": tag, "envFrom": [
            {"configMapRef": {"name": "cfg"}}, {"configMapRef": {"name": "same"}},
            {"secretRef": {"name": "token"}}]}]}),
        ));
        all
    };
    let hash = |value: &str| {
        let variant = World::running(uses("1", "a")).to(uses("2", value)).made(&sized("1"));
        let web = variant.objects.iter().find(|o| o.id.kind == "Deployment").unwrap();
        let used = referenced_configs(pod_template(&web.gvk, &web.value).unwrap(), "shop");
        let contents: Vec<(ObjectId, &Value)> = variant
            .objects
            .iter()
            .filter(|o| used.contains(&o.id))
            .map(|o| (o.id.clone(), &o.value))
            .collect();
        assert_eq!(contents.len(), 2, "the copies, and nothing else");
        config_hash(&[1; 32], &contents)
    };
    assert_eq!(hash("b"), hash("b"));
    assert_ne!(hash("b"), hash("c"));
}
