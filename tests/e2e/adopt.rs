//! Objects of other deployers: helm 3 and 4 as they are; kapp and kluctl by what they leave behind.

use std::time::Duration;

use serde_json::Value;
use testbed::wait_for;

use crate::support::{World, web};

/// The two versions of helm in the test bed.
const HELMS: [&str; 2] = ["3.22.0", "4.3.1"];

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata: {name: web, labels: {app.kubernetes.io/managed-by: Helm}}
stringData: {password: correct-horse, legacy: battery-staple}
";

/// A chart whose objects have more than the manifests will.
fn chart(world: &World) {
    let old = web("{{ .Values.image }}")
        .replace("data: {greeting: hello}", "data: {greeting: hello, legacy: x}")
        .replace("ports: [{port: 80}]", "ports: [{name: a, port: 80}, {name: b, port: 81}]");
    world.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    world.write("chart/templates/web.yaml", &format!("{old}---\n{SECRET}"));
    world.write(
        "chart/templates/old.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {a: {{ .Values.a | quote }}}\n",
    );
    world.write("chart/values.yaml", "a: \"1\"\nimage: web:1\n");
}

/// What is to be taken over: without `legacy`, port 81 and the ConfigMap `old`.
fn manifests(image: &str) -> String {
    web(image).replace("ports: [{port: 80}]", "ports: [{name: a, port: 80}]")
        + "---\n"
        + &SECRET
            .replace(", legacy: battery-staple", "")
            .replace(", labels: {app.kubernetes.io/managed-by: Helm}", "")
}

/// The pods of `web`, once they are those of the newest revision.
fn pods(world: &World) -> String {
    world.kubectl("us-east", &["rollout", "status", "deployment/web", "--timeout=60s"]);
    world.kubectl(
        "us-east",
        &["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.uid}"],
    )
}

#[test]
fn a_helm_release_is_taken_over_and_helm_lets_go() {
    for version in HELMS {
        let world = World::new("adopt-helm");
        world.plain(&["us-east"]);
        chart(&world);
        for args in [["install", "web", "chart"], ["upgrade", "web", "chart"]] {
            let chart = world.path().join("chart").display().to_string();
            let run = world.helm(version, &[args[0], args[1], &chart, "--set", "a=2"]);
            assert_eq!(run.code, 0, "helm {version} {args:?}\n{run}");
        }
        let before = pods(&world);
        world.write("k8s/web.yaml", &manifests("web:1"));

        // Without a word of the user's nothing is taken.
        let plan = world.ok(6, &["plan"]);
        plan.says(
            "it is deployed by helm (release NS/web)"
                .replace("NS", world.namespace.name())
                .as_str(),
        );
        plan.says("--adopt");
        world.ok(6, &["apply", "-y", "--force-conflicts"]).says("nothing was written");

        // The plan says what is taken, what goes, and what stays behind.
        let name = world.namespace.name().to_owned();
        let plan = world.ok(0, &["plan", "--adopt"]);
        plan.says(&format!("adopts from helm (release {name}/web)"))
            .says("data.legacy")
            .says("meta.helm.sh/release-name")
            .says(&format!("helm release {name}/web (2 revisions): hidden from helm"))
            .says(&format!("ConfigMap {name}/old: of that release, not in the manifests; kept"))
            .hides("battery-staple")
            .hides("correct-horse");
        let json = world.ok(0, &["plan", "--adopt", "-o", "json"]).json();
        let retires = &json["targets"][0]["retires"][0];
        assert_eq!((&retires["name"], &retires["revisions"]), (&"web".into(), &2.into()));
        assert_eq!(retires["kept"][0]["name"], "old");
        let changes = json["targets"][0]["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 4, "{json:#}");
        assert!(changes.iter().all(|c| c["adoptsFrom"][0]["tool"] == "helm"), "{json:#}");
        world.ok(1, &["diff", "--adopt"]).says("legacy");

        world.ok(0, &["adopt", "-y"]).says("Healthy");
        assert_eq!(pods(&world), before, "helm {version}: no pod restarts");

        // What the manifests lack went, with what helm had written for itself.
        let config = world.live("us-east", "configmap", "web");
        assert_eq!(config["data"], serde_json::json!({"greeting": "hello"}));
        assert!(config["metadata"]["annotations"].is_null(), "{config:#}");
        let secret = world.live("us-east", "secret", "web");
        assert_eq!(secret["data"], serde_json::json!({"password": "Y29ycmVjdC1ob3JzZQ=="}));
        assert!(secret["metadata"]["labels"]["app.kubernetes.io/managed-by"].is_null());
        let ports = &world.live("us-east", "service", "web")["spec"]["ports"];
        assert_eq!(ports.as_array().map(Vec::len), Some(1));
        for kind in ["deployment", "service", "configmap", "secret"] {
            assert_eq!(owners(&world.live("us-east", kind, "web")), [world.manager()], "{kind}");
        }
        world.ok(0, &["diff"]);
        world.ok(0, &["diff", "--verify"]);
        world.ok(0, &["plan", "--adopt", "--detailed-exitcode"]);

        // helm knows nothing of it any more, and can delete nothing.
        let gone = world.helm(version, &["uninstall", "web"]);
        assert_ne!(gone.code, 0, "{gone}");
        gone.says("not found");
        world.helm(version, &["list", "--all"]).hides("web");
        let chart = world.path().join("chart").display().to_string();
        let upgrade = world.helm(version, &["upgrade", "web", &chart]);
        assert_ne!(upgrade.code, 0, "{upgrade}");
        let install = world.helm(version, &["upgrade", "--install", "web", &chart]);
        assert_ne!(install.code, 0, "{install}");
        assert_eq!(pods(&world), before, "helm {version}: nothing was deleted");
        world.ok(0, &["diff", "--verify"]);

        // From here on it is an application like any other.
        world.write("k8s/web.yaml", &manifests("web:2"));
        world.ok(0, &["apply", "-y"]).says("Healthy");
        assert_ne!(pods(&world), before);

        // The way back, as the manual has it.
        let after = pods(&world);
        let hidden = ["label", "secret", "-l", "owner=retired-by-mcd,name=web", "owner=helm"];
        world.kubectl("us-east", &[&hidden[..], &["--overwrite"]].concat());
        world.helm(version, &["history", "web"]).says("deployed");
        let take = ["upgrade", "web", &chart, "--take-ownership", "--set", "image=web:2"];
        let back = world.helm(version, &take);
        assert_eq!(back.code, 0, "{back}");
        // What is helm's again is not deleted with the application.
        world
            .ok(0, &["delete", "--dry-run"])
            .says(&format!("it is deployed by helm (release {name}/web) now"));
        let state = format!("mcd.dev/state={name}.web");
        world.kubectl("us-east", &["delete", "secrets,leases", "-l", &state]);
        world.ok(0, &["status"]).says("NotDeployed");
        assert_eq!(pods(&world), after, "helm {version}: no pod restarts on the way back");
        assert_eq!(world.helm(version, &["uninstall", "web"]).code, 0);
        for (kind, object) in [("deployment", "web"), ("secret", "web"), ("configmap", "old")] {
            assert!(!world.exists("us-east", kind, object), "helm {version}: {kind}/{object}");
        }
    }
}

/// helm can keep its releases in ConfigMaps too. What of a release was not taken over is not
/// deleted with the application.
#[test]
fn a_release_in_configmaps_ends_too_and_delete_leaves_what_was_not_taken() {
    let world = World::new("adopt-driver");
    world.plain(&["us-east"]);
    chart(&world);
    let chart = world.path().join("chart").display().to_string();
    let install =
        world.helm_with(&[("HELM_DRIVER", "configmap")], "4.3.1", &["install", "web", &chart]);
    assert_eq!(install.code, 0, "{install}");
    world.write("k8s/web.yaml", &manifests("web:1"));
    let name = world.namespace.name();
    world.ok(0, &["adopt", "-y"]).says(&format!("helm release {name}/web (1 revision)"));
    let gone = world.helm_with(&[("HELM_DRIVER", "configmap")], "4.3.1", &["uninstall", "web"]);
    assert_ne!(gone.code, 0, "{gone}");
    world.ok(0, &["delete", "-y"]);
    for kind in ["deployment", "service", "configmap", "secret"] {
        assert!(!world.exists("us-east", kind, "web"), "{kind}");
    }
    assert!(world.exists("us-east", "configmap", "old"), "never the application's");
    assert!(world.exists("us-east", "configmap", "sh.helm.release.v1.web.v1"), "helm's");
}

/// The managers of an object besides controllers, by apply where not said otherwise.
fn owners(live: &Value) -> Vec<String> {
    let all = live["metadata"]["managedFields"].as_array().expect("managedFields");
    let names = all
        .iter()
        .filter(|entry| entry["subresource"].is_null())
        .map(|entry| entry["manager"].as_str().expect("a manager").to_owned());
    names.filter(|name| name != "kube-controller-manager").collect()
}

/// `mcd adopt` creates nothing: a name that is not there is a mistake.
#[test]
fn adopting_what_is_not_there_is_refused() {
    let world = World::new("adopt-none");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.kubectl_apply(
        "us-east",
        &web("web:1").replace(
            "kind: Service\nmetadata: {name: web}",
            "kind: Service\nmetadata: {name: other}",
        ),
    );
    world
        .ok(6, &["adopt", "-y"])
        .says("it does not exist, and `mcd adopt` only takes over what is there")
        .says("nothing was written");
    assert!(world.live("us-east", "deployment", "web")["metadata"]["labels"].is_null());
    world.ok(0, &["apply", "--adopt", "-y"]);
    assert!(world.exists("us-east", "service", "web"));
    world.ok(0, &["adopt", "-y"]).says("unchanged");
}

/// Objects without managedFields take one apply, not two.
#[test]
fn objects_whose_owners_were_cleared_take_one_apply() {
    let world = World::new("adopt-cleared");
    world.plain(&["us-east"]);
    let old = web("web:1").replace("data: {greeting: hello}", "data: {greeting: hello, legacy: x}");
    world.kubectl_apply("us-east", &old);
    let before = pods(&world);
    for kind in ["deployment", "service", "configmap"] {
        let clear = r#"{"metadata": {"managedFields": [{}]}}"#;
        world.kubectl("us-east", &["patch", kind, "web", "--type=merge", "-p", clear]);
    }
    // The controller writes into what it watches; the object that nobody writes to has no owner.
    let config = world.live("us-east", "configmap", "web");
    assert!(
        config["metadata"]["managedFields"]
            .as_array()
            .is_none_or(|m| m.iter().all(|e| e["manager"].is_null())),
        "{config:#}"
    );
    world.write("k8s/web.yaml", &web("web:1"));
    world.ok(0, &["plan"]).says(".data.legacy").says("takes over from before-first-apply");
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let config = world.live("us-east", "configmap", "web");
    assert_eq!(config["data"], serde_json::json!({"greeting": "hello"}));
    assert_eq!(owners(&config), [world.manager()]);
    assert_eq!(pods(&world), before, "nothing restarts");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
}

/// Of objects without owners, what the server and its controllers wrote stays: a claim keeps its
/// volume, a Job its selector, a Service its address.
#[test]
fn what_the_server_wrote_into_cleared_objects_stays() {
    let world = World::new("adopt-server");
    world.plain(&["us-east"]);
    let volume = format!("{}-volume", world.namespace.name());
    let claim = format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: web}}\nspec:\n  accessModes: [ReadWriteOnce]\n  storageClassName: \"\"\n  volumeName: {volume}\n  resources: {{requests: {{storage: 1Gi}}}}\n---\n"
    );
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}\n---\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}\n";
    let bound = Volume::new(&world, &volume);
    world.kubectl_apply("us-east", &format!("{claim}{job}{service}"));
    wait_for("the claim is bound", Duration::from_secs(60), || {
        match world.live("us-east", "pvc", "web")["status"]["phase"].as_str() {
            Some("Bound") => Ok(()),
            phase => Err(format!("{phase:?}")),
        }
    });
    world.kubectl("us-east", &["wait", "job/web", "--for=condition=complete", "--timeout=60s"]);
    for kind in ["pvc", "job", "service"] {
        let clear = r#"{"metadata": {"managedFields": [{}]}}"#;
        world.kubectl("us-east", &["patch", kind, "web", "--type=merge", "-p", clear]);
    }
    let address = world.live("us-east", "service", "web")["spec"].clone();
    world.write("k8s/web.yaml", &format!("{claim}{job}{service}"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "pvc", "web");
    assert_eq!(live["status"]["phase"], "Bound");
    assert_eq!(live["metadata"]["finalizers"], serde_json::json!(["kubernetes.io/pvc-protection"]));
    assert_eq!(live["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"], "yes");
    let last = "kubectl.kubernetes.io/last-applied-configuration";
    assert!(live["metadata"]["annotations"][last].is_null());
    assert_eq!(world.live("us-east", "service", "web")["spec"], address);
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    drop(bound);
}

/// A volume, which no namespace takes with it.
struct Volume<'a> {
    world: &'a World,
    name: String,
}

impl<'a> Volume<'a> {
    fn new(world: &'a World, name: &str) -> Self {
        let volume = serde_json::json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "", "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/nowhere"},
                "claimRef": {"name": "web", "namespace": world.namespace.name()},
            },
        });
        world.kubectl_apply("us-east", &volume.to_string());
        Volume { world, name: name.to_owned() }
    }
}

impl Drop for Volume<'_> {
    fn drop(&mut self) {
        let args = ["delete", "pv", &self.name, "--wait=false", "--ignore-not-found"];
        self.world.bed.kubectl(self.world.cluster("us-east"), &args);
    }
}

/// What says by its label alone that it is another application's, and what has its manager.
#[test]
fn another_applications_objects_are_refused_by_its_name() {
    let world = World::new("adopt-other");
    world.plain(&["us-east"]);
    world.write(
        "k8s/web.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: b}\n",
    );
    world.kubectl_apply("us-east", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, labels: {mcd.dev/app: shop.api}}\ndata: {a: b}\n");
    world.ok(6, &["apply", "--adopt", "-y"]).says("belongs to `shop.api`");
    world.kubectl("us-east", &["delete", "configmap", "shared"]);
    let yaml = std::fs::read_to_string(world.path().join("mcd.yaml")).unwrap();
    world.write("api.yaml", &yaml.replace("metadata: {name: web}", "metadata: {name: api}"));
    world.ok(0, &["apply", "-f", "api.yaml", "-y"]);
    let name = world.namespace.name();
    world
        .ok(6, &["apply", "--adopt", "--force-conflicts", "-y"])
        .says(&format!("it belongs to the application `{name}/api`"));
    assert_eq!(owners(&world.live("us-east", "configmap", "shared")), [format!("mcd:{name}/api")]);
}

/// What kapp makes of `web`: its labels in metadata, selectors and pods, the object in annotations.
fn kapps(old: &str) -> String {
    let labels = "labels: {kapp.k14s.io/app: \"17\", kapp.k14s.io/association: v1.5d}";
    old.replace(
        "metadata: {name: web}",
        &format!(
            "metadata: {{name: web, {labels}, annotations: {{kapp.k14s.io/identity: v1;x, \
             kapp.k14s.io/original: '{{\"password\":\"correct-horse\"}}'}}}}"
        ),
    )
    .replace("{matchLabels: {app: web}}", "{matchLabels: {app: web, kapp.k14s.io/app: \"17\"}}")
    .replace(
        "metadata: {labels: {app: web}}",
        &format!("metadata: {{{}, app: web}}}}", labels.trim_end_matches('}')),
    )
    .replace("selector: {app: web}", "selector: {app: web, kapp.k14s.io/app: \"17\"}")
}

impl World {
    /// kubectl with a manifest, as another tool's field manager.
    fn as_manager(&self, args: &[&str], manager: &str, yaml: &str) {
        let manager = format!("--field-manager={manager}");
        let namespace = ["-n", self.namespace.name()];
        let all: Vec<&str> =
            namespace.iter().chain(args).copied().chain([manager.as_str(), "-f", "-"]).collect();
        let output = self.bed.kubectl_with_input(self.cluster("us-east"), &all, yaml);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// kapp's label stays in the selector, which cannot change, and in the pods, which do not restart.
#[test]
fn what_kapp_made_is_taken_over_with_its_selector() {
    let world = World::new("adopt-kapp");
    world.plain(&["us-east"]);
    let old = web("web:1").replace("data: {greeting: hello}", "data: {greeting: hello, legacy: x}")
        + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: correct-horse}\n";
    world.as_manager(&["create"], "kapp", &kapps(&old));
    let before = pods(&world);
    let new = web("web:1")
        + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: correct-horse}\n";
    world.write("k8s/web.yaml", &new);
    world.ok(6, &["plan"]).says("it is deployed by kapp (17)").hides("correct-horse");
    world
        .ok(0, &["plan", "--adopt"])
        .says("adopts from kapp (17)")
        .says("keeps .spec.selector.matchLabels[\"kapp.k14s.io/app\"]: a selector cannot change")
        .says("taken over from kapp (17): delete its app's ConfigMap")
        .hides("correct-horse");
    world.ok(1, &["diff", "--adopt"]).hides("correct-horse");
    world.ok(0, &["adopt", "-y"]).says("Healthy");
    assert_eq!(pods(&world), before, "no pod restarts");
    let live = world.live("us-east", "deployment", "web");
    let wanted = serde_json::json!({"app": "web", "kapp.k14s.io/app": "17"});
    assert_eq!(live["spec"]["selector"]["matchLabels"], wanted);
    assert_eq!(live["spec"]["template"]["metadata"]["labels"]["kapp.k14s.io/association"], "v1.5d");
    for kind in ["deployment", "service", "configmap", "secret"] {
        let live = world.live("us-east", kind, "web");
        let metadata = &live["metadata"];
        assert_eq!(metadata["labels"].as_object().map(serde_json::Map::len), Some(1), "{kind}");
        let kapps = metadata["annotations"].as_object().into_iter().flatten();
        assert_eq!(kapps.filter(|(key, _)| key.starts_with("kapp")).count(), 0, "{kind}");
        assert_eq!(owners(&live), [world.manager()], "{kind}");
    }
    let service = world.live("us-east", "service", "web");
    assert_eq!(service["spec"]["selector"], serde_json::json!({"app": "web"}));
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    // A change later on still keeps it, and a workload that is made anew has it no more.
    world.write("k8s/web.yaml", &new.replace("web:1", "web:2"));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    assert_eq!(
        world.live("us-east", "deployment", "web")["spec"]["selector"]["matchLabels"],
        wanted
    );
    let anew = "kind: Deployment\nmetadata: {name: web, annotations: {mcd.dev/apply: recreate}}";
    let old = "kind: Deployment\nmetadata: {name: web}";
    world.write("k8s/web.yaml", &new.replace("web:1", "web:2").replace(old, anew));
    world.ok(0, &["apply", "-y"]).says("Healthy");
    let live = world.live("us-east", "deployment", "web");
    assert_eq!(live["spec"]["selector"]["matchLabels"], serde_json::json!({"app": "web"}));
    world.ok(0, &["diff", "--verify"]);
}

/// kluctl applies on the server's side, Secrets with `stringData`.
#[test]
fn what_kluctl_applied_is_taken_over() {
    let world = World::new("adopt-kluctl");
    world.plain(&["us-east"]);
    let marked =
        "metadata: {name: web, labels: {kluctl.io/discriminator: shop-prod, kluctl.io/tag-0: web}}";
    let old = web("web:1").replace("data: {greeting: hello}", "data: {greeting: hello, legacy: x}")
        + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: correct-horse, legacy: battery-staple}\n";
    world.as_manager(
        &["apply", "--server-side"],
        "kluctl",
        &old.replace("metadata: {name: web}", marked),
    );
    let before = pods(&world);
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: correct-horse}\n";
    world.write("k8s/web.yaml", &(web("web:1") + secret));
    world.ok(6, &["apply", "-y"]).says("it is deployed by kluctl (shop-prod)");
    world
        .ok(0, &["plan", "--adopt"])
        .says("adopts from kluctl (shop-prod)")
        .says("data.legacy")
        .hides("battery-staple");
    world.ok(0, &["apply", "--adopt", "-y"]).says("Healthy");
    assert_eq!(pods(&world), before, "no pod restarts");
    let live = world.live("us-east", "secret", "web");
    assert_eq!(live["data"], serde_json::json!({"password": "Y29ycmVjdC1ob3JzZQ=="}));
    for kind in ["deployment", "service", "configmap", "secret"] {
        let live = world.live("us-east", kind, "web");
        assert_eq!(owners(&live), [world.manager()], "{kind}");
        assert_eq!(live["metadata"]["labels"].as_object().map(serde_json::Map::len), Some(1));
    }
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
    // The other tool comes back: the object stops again, and nothing is undone silently.
    world.as_manager(
        &["apply", "--server-side", "--force-conflicts"],
        "kluctl",
        &old.replace("metadata: {name: web}", marked),
    );
    world.ok(6, &["apply", "-y"]).says("it is deployed by kluctl (shop-prod)");
    world.ok(0, &["apply", "--adopt", "-y"]).says("Healthy");
    world.ok(0, &["diff", "--verify"]);
}

/// Marks alone, without the tool's manager, as after an import by hand; and a tool that is still
/// at work.
#[test]
fn marks_that_a_hand_set_go_and_controllers_are_named() {
    let world = World::new("adopt-marks");
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world.kubectl_apply("us-east", &web("web:1"));
    let flux =
        ["kustomize.toolkit.fluxcd.io/name=shop", "kustomize.toolkit.fluxcd.io/namespace=flux"];
    world.kubectl("us-east", &["label", "configmap", "web", flux[0], flux[1]]);
    world.kubectl(
        "us-east",
        &[
            "annotate",
            "service",
            "web",
            "argocd.argoproj.io/tracking-id=shop:/Service:a/web",
            "note=n",
        ],
    );
    world
        .ok(0, &["plan", "--adopt"])
        .says("adopts from Flux (shop)")
        .says("adopts from Argo CD (application shop)")
        .says("takes over from kubectl-client-side-apply")
        .says("suspend its Kustomization")
        .says("--cascade=false");
    world.ok(0, &["apply", "--adopt", "-y"]);
    let labels = &world.live("us-east", "configmap", "web")["metadata"]["labels"];
    assert_eq!(labels.as_object().map(serde_json::Map::len), Some(1), "{labels}");
    let annotations = &world.live("us-east", "service", "web")["metadata"]["annotations"];
    assert_eq!(annotations, &serde_json::json!({"note": "n"}), "a hand's own stays");
    world.ok(0, &["diff"]);
    world.ok(0, &["diff", "--verify"]);
}

/// A release whose Secrets may not be read is not taken over halfway.
#[test]
fn a_release_that_cannot_be_read_is_not_taken_over() {
    let world = World::new("adopt-elsewhere");
    world.plain(&["us-east"]);
    world.write(
        "k8s/web.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n",
    );
    let marked = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: kube-system}}\ndata: {a: b}\n";
    world.as_manager(&["create"], "helm", marked);
    let name = world.namespace.name();
    world.kubectl(
        "us-east",
        &[
            "create",
            "role",
            "deployer",
            "--verb=*",
            "--resource=configmaps,secrets,leases.coordination.k8s.io",
        ],
    );
    world.kubectl(
        "us-east",
        &["create", "rolebinding", "deployer", "--role=deployer", "--user=deployer"],
    );
    world
        .ok(9, &["apply", "--adopt", "-y", "--as", "deployer"])
        .says("helm's release kube-system/web has to end")
        .says("nothing was written");
    assert_eq!(owners(&world.live("us-east", "configmap", "web")), ["helm"], "{name}");
}
