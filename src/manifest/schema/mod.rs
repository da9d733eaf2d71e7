//! Objects against the schemas of Kubernetes' own kinds, without a cluster.
//!
//! `kubernetes.json` is made from the OpenAPI document of Kubernetes 1.36 by `compact.jq`, which
//! tells its form. It says what fields there are, of what types, and which have to be there; the
//! rest (ranges, which fields go together) only a server checks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Object;
use super::check::{Problem, what};
use crate::error::{Error, Location};
use crate::suggest;

/// The version of Kubernetes whose schemas are known.
pub const SCHEMA_VERSION: &str = "1.36";

/// What checking a set of objects found.
#[derive(Debug, Default)]
pub struct Findings {
    /// One for each fault (exit 4), with its object and the object's place. No value is in them.
    pub errors: Vec<Error>,
    /// Kinds whose schemas are not known, such as `Certificate (cert-manager.io/v1)`, sorted:
    /// custom kinds, and versions that Kubernetes 1.36 no longer has, or does not have yet.
    pub not_checked: Vec<String>,
}

/// Checks objects of Kubernetes' own kinds: unknown fields, wrong types, missing fields, items of
/// a list with the same key, quantities.
pub fn check_built_in(objects: &[Object]) -> Findings {
    let schemas = schemas();
    let mut findings = Findings::default();
    let mut not_checked = BTreeSet::new();
    for object in objects {
        let api_version = object.gvk.api_version();
        let kind = &object.gvk.kind;
        let mut walk = Walk { schemas, path: Vec::new(), found: Vec::new() };
        match schemas.kinds.get(format!("{api_version}/{kind}").as_str()) {
            Some(name) => walk.object(&object.value, name),
            None => match unknown_kind(schemas, &api_version, kind) {
                Some(problem) => walk.found.push(problem),
                None => {
                    not_checked.insert(format!("{kind} ({api_version})"));
                }
            },
        }
        findings.errors.extend(walk.found.iter().map(|problem| error(problem, object)));
    }
    findings.not_checked = not_checked.into_iter().collect();
    findings
}

fn error(problem: &Problem, object: &Object) -> Error {
    let mut error = Error::manifest(problem.text()).on(&object.id);
    if object.origin.line > 0 {
        error = error.at(Location {
            file: object.origin.source.clone(),
            line: object.origin.line,
            column: 0,
            text: String::new(),
        });
    }
    match &problem.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// A kind that its API group and version, which are known, do not have. No definition can add
/// kinds to those.
fn unknown_kind(schemas: &Schemas, api_version: &str, kind: &str) -> Option<Problem> {
    let prefix = format!("{api_version}/");
    let known: Vec<&str> = schemas.kinds.keys().filter_map(|k| k.strip_prefix(&*prefix)).collect();
    if known.is_empty() {
        return None;
    }
    let problem = Problem::new(&[], format!("`{api_version}` has no kind `{kind}`"));
    let elsewhere = schemas.kinds.keys().filter_map(|k| k.rsplit_once('/'));
    let versions: Vec<&str> = elsewhere.filter(|(_, k)| *k == kind).map(|(v, _)| v).collect();
    Some(match (versions.is_empty(), suggest::hint(kind, known)) {
        (false, _) => problem.hint(format!("its apiVersion is `{}`", versions.join("` or `"))),
        (true, Some(hint)) => problem.hint(hint),
        (true, None) => problem,
    })
}

#[derive(Default, Deserialize)]
struct Schemas {
    /// `apps/v1/Deployment` → the name of its type.
    #[serde(borrow)]
    kinds: BTreeMap<&'static str, &'static str>,
    types: HashMap<&'static str, Type>,
}

#[derive(Deserialize)]
struct Type {
    #[serde(borrow)]
    fields: BTreeMap<&'static str, &'static str>,
    required: Vec<&'static str>,
}

fn schemas() -> &'static Schemas {
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        // A test reads the same text; it cannot be wrong in one place only.
        serde_json::from_str(include_str!("kubernetes.json")).unwrap_or_default()
    })
}

struct Walk {
    schemas: &'static Schemas,
    path: Vec<String>,
    found: Vec<Problem>,
}

impl Walk {
    fn object(&mut self, value: &Value, name: &str) {
        let Some(map) = value.as_object() else { return self.wrong("a map", value) };
        let Some(schema) = self.schemas.types.get(name) else { return };
        if schema.fields.is_empty() {
            return;
        }
        for (key, value) in map {
            match schema.fields.get(key.as_str()) {
                Some(form) => self.below(key, |walk| walk.value(value, form)),
                None => self.unknown(key, schema),
            }
        }
        for key in &schema.required {
            if map.get(*key).is_none_or(Value::is_null) {
                self.below(key, |walk| walk.report("is missing", None));
            }
        }
    }

    /// A value against a type in the notation of `compact.jq`. Null is no value: it is stripped.
    fn value(&mut self, value: &Value, form: &'static str) {
        if value.is_null() || form == "*" {
            return;
        }
        if let Some(name) = form.strip_prefix('@') {
            self.object(value, name);
        } else if let Some(rest) = form.strip_prefix("{}") {
            match value {
                Value::Object(map) => self.map(map, rest),
                other => self.wrong("a map", other),
            }
        } else if let Some((keys, rest)) = form.strip_prefix('[').and_then(|f| f.split_once(']')) {
            match value {
                Value::Array(items) => self.list(items, keys, rest),
                other => self.wrong("a list", other),
            }
        } else {
            self.scalar(value, form);
        }
    }

    fn map(&mut self, map: &Map<String, Value>, form: &'static str) {
        for (key, value) in map {
            self.below(key, |walk| walk.value(value, form));
        }
    }

    fn list(&mut self, items: &[Value], keys: &'static str, form: &'static str) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (i, item) in items.iter().enumerate() {
            self.below(&i.to_string(), |walk| {
                walk.value(item, form);
                if keys.is_empty() || !item.is_object() {
                    return;
                }
                if let Some(first) = seen.insert(identity(item, keys), i) {
                    let keys = keys.replace(',', "` and `");
                    walk.report(format!("has the `{keys}` of item {first}"), None);
                }
            });
        }
    }

    fn scalar(&mut self, value: &Value, form: &str) {
        let is_whole = value.is_i64() || value.is_u64();
        let (is_good, name) = match form {
            "s" => (value.is_string(), "a string"),
            "b" => (value.is_boolean(), "a boolean"),
            "i" => (is_whole, "an integer"),
            "n" => (value.is_number(), "a number"),
            "x" => (is_whole || value.is_string(), "an integer or a string"),
            "q" => (
                value.is_number() || value.as_str().is_some_and(is_quantity),
                "a quantity, such as `500m` or `1Gi`",
            ),
            _ => (true, ""),
        };
        if !is_good {
            self.wrong(name, value);
        }
    }

    fn below(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(key.to_owned());
        check(self);
        self.path.pop();
    }

    fn unknown(&mut self, key: &str, schema: &Type) {
        let hint = suggest::hint(key, schema.fields.keys().copied());
        self.below(key, |walk| {
            walk.report(format!("is no field in Kubernetes {SCHEMA_VERSION}"), hint);
        });
    }

    fn wrong(&mut self, wanted: &str, value: &Value) {
        let is_scalar = value.is_boolean() || value.is_number();
        let hint = (wanted == "a string" && is_scalar).then(|| "quote it".to_owned());
        let found = match value {
            Value::Number(n) if n.is_f64() => "a number with a fraction",
            Value::String(_) if wanted.starts_with("a quantity") => "another string",
            other => what(other),
        };
        self.report(format!("must be {wanted}, and is {found}"), hint);
    }

    fn report(&mut self, message: impl Into<String>, hint: Option<String>) {
        self.found.push(Problem { path: self.path.clone(), message: message.into(), hint });
    }
}

/// What the server tells the items of a list apart by. It takes a port without protocol for TCP.
fn identity(item: &Value, keys: &str) -> String {
    let values = keys.split(',').map(|key| match &item[key] {
        Value::Null if key == "protocol" => "\"TCP\"".to_owned(),
        value => value.to_string(),
    });
    values.collect::<Vec<_>>().join(",")
}

/// A quantity as the API server reads it: a decimal with a unit or an exponent.
fn is_quantity(text: &str) -> bool {
    const UNITS: [&str; 16] =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
    let (number, unit) = body.split_at(end);
    let has_digits = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() < 2;
    let exponent = unit.strip_prefix(['e', 'E']).map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let has_exponent =
        exponent.is_some_and(|e| !e.is_empty() && e.bytes().all(|b| b.is_ascii_digit()));
    has_digits && (UNITS.contains(&unit) || has_exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::objects;

    fn findings(text: &str) -> Findings {
        check_built_in(&objects(text, "f.yaml").unwrap())
    }

    #[test]
    fn the_schemas_are_whole() {
        let read: Schemas = serde_json::from_str(include_str!("kubernetes.json")).unwrap();
        assert!(read.kinds.len() > 80 && read.types.len() > 400);
        for kind in [
            "v1/Pod",
            "apps/v1/Deployment",
            "batch/v1/CronJob",
            "v1/Secret",
            "autoscaling/v2/HorizontalPodAutoscaler",
            "rbac.authorization.k8s.io/v1/Role",
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
        ] {
            assert!(read.kinds.contains_key(kind), "{kind}");
        }
        let forms = read.types.values().flat_map(|t| t.fields.values());
        for form in forms {
            let last = form.rsplit([']', '}']).next().unwrap();
            match last.strip_prefix('@') {
                Some(name) => assert!(read.types.contains_key(name), "{name}"),
                None => assert!(["s", "b", "i", "n", "q", "x", "*"].contains(&last), "{form}"),
            }
        }
    }

    #[test]
    fn good_objects_pass() {
        let text = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {a: b}, annotations: {c: d}, ownerReferences: []}
spec:
  replicas: 3
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}, creationTimestamp: null}
    spec:
      nodeSelector: null
      containers:
      - name: c
        image: a
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]
        env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        resources: {limits: {cpu: 1, memory: 1.5Gi, ephemeral-storage: 1e3}, requests: {cpu: 0.5}}
        livenessProbe: {httpGet: {port: http, path: /}}
      volumes: [{name: t, emptyDir: {}}]
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {a: hunter2}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dbs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Db, plural: dbs}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {a: 1},
      x-kubernetes-preserve-unknown-fields: true, items: {type: string}, additionalProperties: true}}}}
"#;
        let found = findings(text);
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        assert!(found.not_checked.is_empty());
    }

    #[test]
    fn custom_kinds_and_other_versions_are_not_checked() {
        let text = "
{apiVersion: example.com/v1, kind: Db, metadata: {name: a}, spec: {x: 1}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a}}
---
{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: a}}
---
{apiVersion: example.com/v1, kind: Db, metadata: {name: b}}
";
        let found = findings(text);
        assert!(found.errors.is_empty());
        assert_eq!(
            found.not_checked,
            [
                "Db (example.com/v1)",
                "HTTPRoute (gateway.networking.k8s.io/v1)",
                "PodDisruptionBudget (policy/v1beta1)",
            ]
        );
    }

    #[test]
    fn every_fault_is_named_with_its_path() {
        let text = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: web, label: {a: b}}
spec:
  replica: 2
  replicas: 2.5
  paused: "yes"
  template:
    spec:
      terminationGracePeriodSeconds: "30"
      containers:
      - image: 7
        imge: x
        args: --x
        command: [1, a]
        ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}, {name: x}]
        resources: {limits: {cpu: 1 core, memory: true}}
        livenessProbe: {httpGet: {port: 80.5}}
      volumes: {name: x}
      nodeSelector: {a: 1}
---
apiVersion: apps/v1
kind: Deploymnet
metadata: {name: a}
---
apiVersion: v1
kind: Deployment
metadata: {name: a}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {ports: [{name: a, port: 80}, {name: b, port: 80}], selector: []}
"#;
        let all: Vec<_> = findings(text)
            .errors
            .iter()
            .map(|e| format!("{e} ({})", e.hints().join("; ")))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn quantities() {
        for good in ["1", "0.5", ".5", "5.", "-1", "+1k", "100m", "1Gi", "1e3", "1E3", "1E", "2e-1"]
        {
            assert!(is_quantity(good), "{good}");
        }
        for bad in ["", "m", ".", "1 Gi", "1gi", "1GB", "1.2.3", "1e", "1e+", "one", "1Kib", "--1"]
        {
            assert!(!is_quantity(bad), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_manifest_panics(spec in crate::manifest::yaml::tests::json_value()) {
            let value = serde_json::json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a"}, "spec": spec});
            let object = Object::new(value, Default::default()).unwrap();
            let _ = check_built_in(&[object]);
        }
    }
}
