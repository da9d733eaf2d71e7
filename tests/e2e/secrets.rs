//! A Secret's values are in no output: neither plain nor in base64, of no verb, in no form, no
//! error, no log; not when the server refuses the Secret, not when a tool quotes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use testbed::{Admission, Verdict};

use crate::support::{Run, World};

/// Values that must not be seen.
struct Vault<'a> {
    world: &'a World,
    forms: Vec<String>,
}

impl<'a> Vault<'a> {
    fn new(world: &'a World, values: &[&str]) -> Self {
        let mut forms = Vec::new();
        for value in values {
            forms.push((*value).to_owned());
            // Without the padding, and without the last group that a neighbour may change.
            let encoded = STANDARD.encode(value);
            forms.push(encoded.trim_end_matches('=').to_owned());
            let json = serde_json::Value::from(*value).to_string();
            forms.push(json.trim_matches('"').to_owned());
            forms.extend(value.lines().filter(|line| line.len() > 8).map(str::to_owned));
        }
        Vault { world, forms }
    }

    #[track_caller]
    fn check(&self, what: &str, text: &str) {
        for form in &self.forms {
            assert!(!text.contains(form.as_str()), "{what} shows {form:?}:\n{text}");
        }
    }

    /// Runs a verb with everything that can be said, and looks at all of it.
    #[track_caller]
    fn run(&self, code: i32, args: &[&str]) -> Run {
        let log = self.world.path().join("mcd.log");
        let flags = ["-vv", "--log-file", log.to_str().unwrap()];
        let run = self.world.mcd(&[args, &flags].concat());
        self.check(&format!("mcd {args:?}"), &format!("{run}"));
        self.check(&format!("the log of mcd {args:?}"), &std::fs::read_to_string(&log).unwrap());
        assert_eq!(run.code, code, "mcd {args:?}\n{run}");
        run
    }

    /// Every verb that reads, in every form.
    #[track_caller]
    fn look(&self, diff: i32, plan: i32) {
        for form in ["table", "json", "yaml", "name"] {
            self.run(plan, &["plan", "-o", form]);
            self.run(diff, &["diff", "-o", form]);
            self.run(0, &["status", "-o", form]);
            self.run(0, &["history", "-o", form]);
            self.run(0, &["targets", "-o", form]);
        }
        self.run(diff, &["diff", "--verify", "--context-lines=50"]);
        self.run(0, &["render"]);
        self.run(0, &["validate"]);
    }
}

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n";

fn secret(password: &str, pin: &str) -> String {
    let key = KEY.replace('\n', "\n    ");
    format!(
        "apiVersion: v1
kind: Secret
metadata:
  name: web
  annotations: {{note.example.com/owner: annotated-{password}}}
data:
  password: {}
stringData:
  token: token-{password}
  pin: \"{pin}\"
  tls.key: |
    {key}
",
        STANDARD.encode(password)
    )
}

#[test]
fn what_is_created_changed_and_removed_is_masked_everywhere() {
    let world = World::new("secrets");
    world.plain(&["us-east"]);
    let (first, second) = ("hunter2-first", "correct-horse-battery");
    let token = |password: &str| format!("token-{password}");
    let (t1, t2) = (token(first), token(second));
    let vault = Vault::new(&world, &[first, second, &t1, &t2, "73190846", "55512347", KEY]);
    world.write("k8s/secret.yaml", &secret(first, "73190846"));
    vault.look(1, 0);
    vault.run(0, &["apply", "-y"]);
    vault.look(0, 0);

    world.write("k8s/secret.yaml", &secret(second, "55512347"));
    vault.look(1, 0);
    // What changed is told, and that it changed.
    vault.run(1, &["diff"]).says("password").says("token").hides("-  tls.key");
    let plan = vault.run(0, &["plan", "-o", "json"]).json();
    let fields = plan["targets"][0]["changes"][0]["fields"].as_array().unwrap();
    let paths: Vec<&str> = fields.iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&".data.password"), "{paths:?}");
    assert!(!paths.iter().any(|p| p.contains("tls.key")), "{paths:?}");
    for form in ["json", "yaml", "table"] {
        vault.run(0, &["apply", "-y", "--dry-run", "-o", form]);
    }
    vault.run(0, &["apply", "-y", "-o", "json"]);

    // Someone's hand.
    let patch = format!(r#"{{"stringData":{{"password":"{first}"}}}}"#);
    world.kubectl("us-east", &["patch", "secret", "web", "--type=merge", "-p", &patch]);
    vault.look(1, 0);
    vault.run(0, &["plan"]).says("kubectl-patch");
    vault.run(0, &["apply", "-y"]);

    // A key less.
    world.write("k8s/secret.yaml", &secret(second, "55512347").replace("  pin:", "  # pin:"));
    vault.look(1, 0);
    vault.run(0, &["apply", "-y", "-o", "yaml"]);
    vault.run(0, &["delete", "-y"]);

    // They are there for those who ask for them, and nobody else's to read.
    world.ok(0, &["render", "--show-secrets"]).says(&STANDARD.encode(second));
    world.ok(0, &["render", "--out", "out"]);
    let file = world.path().join("out/us-east.yaml");
    assert!(std::fs::read_to_string(&file).unwrap().contains(&STANDARD.encode(second)));
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

/// kubectl keeps the whole Secret in an annotation.
#[test]
fn what_kubectl_keeps_in_its_annotation_is_masked() {
    let world = World::new("secrets-csa");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["left-by-kubectl", "hunter2-first", "dropped-value"]);
    let old = secret("left-by-kubectl", "1") + "  dropped: dropped-value\n";
    let old = old.replace("  pin:", "  other: dropped-value\n  pin:");
    world.kubectl_apply("us-east", &old.replace("  dropped: dropped-value\n", ""));
    world.write("k8s/secret.yaml", &secret("hunter2-first", "1"));
    vault.look(1, 0);
    vault.run(0, &["apply", "-y"]);
    vault.look(0, 0);
    let live = world.live("us-east", "secret", "web");
    assert!(live["data"]["other"].is_null());
    vault.check(
        "the annotations",
        &live["metadata"]["annotations"].to_string().replace("annotated-hunter2-first", ""),
    );
}

/// What the server, or mcd in its place, refuses is told by its place.
#[test]
fn a_secret_that_is_refused_is_named_by_its_place() {
    let world = World::new("secrets-refused");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["hunter2-first", "73190846", "not base64!", "nested-value"]);
    let data =
        |lines: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: web}}\n{lines}\n");
    for (lines, key) in [
        ("data: {password: not base64!}", "password"),
        ("data: {password: 73190846}", "password"),
        ("stringData: {pin: 73190846}", "pin"),
        ("data: {password: {inner: nested-value}}", "password"),
        ("stringData: {password: [nested-value]}", "password"),
        ("data: hunter2-first", "data"),
        ("stringData: {password: hunter2-first, password: hunter2-first}", "password"),
        ("stringData: {password: hunter2-first, : : nested-value}", "secret.yaml:4"),
        ("stringData: {password: \"hunter2-first}", "secret.yaml"),
        ("stringData: {password: *nested-value}", "secret.yaml:4"),
        ("stringData:\n  password: hunter2-first\n nested-value: x", "secret.yaml:6"),
    ] {
        world.write("k8s/secret.yaml", &data(lines));
        for verb in ["plan", "diff", "validate", "render"] {
            vault.run(4, &[verb]).says("secret.yaml").says(key);
        }
        vault.run(4, &["plan", "-o", "json"]);
        vault.run(4, &["apply", "-y"]);
        vault.run(4, &["apply", "-y", "-o", "yaml"]);
    }
    // The server's own words.
    for (lines, word) in [
        ("type: kubernetes.io/tls\nstringData: {password: hunter2-first}", "tls.crt"),
        (
            "type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: hunter2-first}",
            "dockerconfigjson",
        ),
        ("stringData: {\"bad key hunter\": hunter2-first}", "Secret"),
        ("stringData: {password: hunter2-first}\nstringdata: {a: nested-value}", "stringdata"),
        ("date: {password: nested-value}", "date"),
    ] {
        world.write("k8s/secret.yaml", &data(lines));
        vault.run(4, &["plan"]).says("us-east").says("web").says(word);
        vault.run(4, &["plan", "-o", "json"]);
        vault.run(4, &["diff"]);
        vault.run(4, &["apply", "-y"]);
    }
    assert!(!world.exists("us-east", "secret", "web"));
}

#[test]
fn a_secret_that_is_too_large_or_immutable_is_not_quoted() {
    let world = World::new("secrets-large");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["hunter2-first", "hunter2-second"]);
    let large = "hunter2-first ".repeat(80_000);
    world.write(
        "k8s/secret.yaml",
        &format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: web}}\nstringData: {{big: {large}}}\n"
        ),
    );
    vault.run(4, &["plan"]).says("too large").says("1048576");
    vault.run(4, &["apply", "-y"]).says("us-east");

    let immutable = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: web}}\nimmutable: true\n\
             stringData: {{password: {value}}}\n"
        )
    };
    world.write("k8s/secret.yaml", &immutable("hunter2-first"));
    vault.run(0, &["apply", "-y"]);
    world.write("k8s/secret.yaml", &immutable("hunter2-second"));
    vault.run(4, &["plan"]).says("cannot be changed").says("data");
    vault.run(4, &["plan", "-o", "json"]);
    vault.run(4, &["apply", "-y"]);
    vault.run(0, &["history"]);
}

/// A webhook may say anything.
#[test]
fn a_webhook_that_quotes_the_secret_is_not_quoted() {
    let world = World::new("secrets-webhook");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["hunter2-first"]);
    world.write("k8s/secret.yaml", &secret("hunter2-first", "1"));
    let cluster = world.cluster("us-east");
    let message = "password aHVudGVyMi1maXJzdA== (hunter2-first) is weak".to_owned();
    {
        let deny = Verdict::Deny { code: 403, message: message.clone() };
        let _policy = Admission::start(cluster, world.namespace.name(), deny);
        vault.run(5, &["plan"]).says("policy.testbed.mcd.dev").says("Secret");
        vault.run(5, &["plan", "-o", "json"]);
        vault.run(5, &["diff"]);
        vault.run(5, &["apply", "-y"]);
    }
    let _policy = Admission::start(cluster, world.namespace.name(), Verdict::Warn(message));
    vault.run(0, &["plan"]);
    vault.run(0, &["apply", "-y"]);
    vault.run(0, &["history", "-o", "json"]);
}

/// What helm is told, and says when it fails.
#[test]
fn values_that_helm_quotes_are_not_quoted() {
    let world = World::new("secrets-helm");
    world.application(
        &["us-east"],
        "vars: {password: {required: true}}\n\
         render: {helm: {chart: chart, values: [{inline: {db: {password: inline-hunter2}}}],\n\
         setString: {password: \"{{ vars.password }}\"}}}\n",
    );
    world.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    world.write("chart/values.yaml", "password: default-hunter2\n");
    let vault = Vault::new(&world, &["said-to-helm", "inline-hunter2", "default-hunter2"]);
    let var = "--var=password=said-to-helm";
    for template in [
        "{{ fail (printf \"weak password %s and %s\" .Values.password .Values.db.password) }}",
        "a: {{ .Values.password | quote }}\n  b: {{ .Values.db.password }}\n c: [\n",
        "{{ template \"nothing\" .Values }}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {p: {{ .Values.password }}, p: {{ .Values.db.password }}}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata: {p: {{ .Values.password }}, q: {{ .Values.db.password }}}\n",
    ] {
        world.write("chart/templates/all.yaml", template);
        for verb in ["plan", "validate", "render", "diff"] {
            vault.run(4, &[verb, var]).says("us-east");
        }
        vault.run(4, &["apply", "-y", var]);
    }
    let good = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\n\
                stringData: {p: {{ .Values.password }}, q: {{ .Values.db.password }}}\n";
    world.write("chart/templates/all.yaml", good);
    vault.run(0, &["plan", var, "-o", "json"]);
    vault.run(0, &["apply", "-y", var]);
    vault.run(0, &["diff", var]);
    // kustomize quotes what it does not understand.
    world.application(&["us-east"], "render: {kustomize: {path: k}}\n");
    for line in
        ["literals: [no-equals-said-to-helm]", "literals: [{a: said-to-helm}]", "envs: [said.env]"]
    {
        world.write("k/said.env", "a b=inline-hunter2\n");
        world.write("k/kustomization.yaml", &format!("secretGenerator:\n- name: web\n  {line}\n"));
        vault.run(4, &["plan"]).says("us-east");
        vault.run(4, &["apply", "-y"]);
    }
}

/// What pods and controllers say of themselves.
#[test]
fn a_reason_that_quotes_a_secret_is_not_quoted() {
    let world = World::new("secrets-reason");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["hunter2-first"]);
    world.write("k8s/secret.yaml", &secret("hunter2-first", "1"));
    world.write("k8s/web.yaml", &crate::support::web("web:never-ready"));
    vault.run(0, &["apply", "-y", "--wait=false"]);
    let namespace = world.namespace.name();
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let pods = testbed::wait_for("both pods", std::time::Duration::from_secs(30), || {
        let list = world.cluster("us-east").get(&pods)["items"].clone();
        let all = list.as_array().cloned().unwrap_or_default();
        if all.len() == 2 { Ok(all) } else { Err(format!("{} pods", all.len())) }
    });
    for pod in pods {
        let event = serde_json::json!({
            "metadata": {"generateName": "web-"},
            "involvedObject": {
                "apiVersion": "v1", "kind": "Pod", "namespace": namespace,
                "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"],
            },
            "type": "Warning",
            "reason": "Unhealthy",
            "message": "login with hunter2-first failed",
            "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": "2026-01-01T00:00:00Z",
            "count": 1,
        });
        let path = format!("/api/v1/namespaces/{namespace}/events");
        let answer = world.cluster("us-east").call("POST", &path, Some(&event)).unwrap();
        assert!(answer.is_success(), "{}", answer.text);
    }
    for form in ["table", "json", "yaml"] {
        vault.run(1, &["apply", "-y", "--timeout=1s", "-o", form]).says("login with *** failed");
        vault.run(0, &["status", "-o", form]).says("login with *** failed");
        vault.run(1, &["status", "--wait", "--timeout=1s", "-o", form]);
        vault.run(0, &["history", "-o", form]);
    }
}

/// A value that the server quotes in the refusal of another object.
#[test]
fn the_refusal_of_another_object_does_not_quote_it_either() {
    let world = World::new("secrets-other");
    world.plain(&["us-east"]);
    let vault = Vault::new(&world, &["Hunter2-First"]);
    world.write(
        "k8s/all.yaml",
        "apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: Hunter2-First}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: Hunter2-First, ports: [{port: 80, name: Hunter2-First}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  restartPolicy: Hunter2-First
  containers: [{name: Hunter2-First, image: web:1, env: [{name: A, value: Hunter2-First}]}]
",
    );
    // The fields of the plan are the manifest's own, and not of a Secret.
    let plan = world.ok(4, &["plan", "-o", "json"]).json();
    let errors = &plan["targets"][0]["errors"];
    assert_eq!(errors.as_array().map(Vec::len), Some(2), "{errors:#}");
    vault.check("the plan", &errors.to_string());
    let apply = world.ok(4, &["apply", "-y", "-o", "json"]).json();
    vault.check("the apply", &apply.to_string());
}
