//! Resolution end to end, on files in memory.

use serde_json::json;

use super::*;
use crate::config::API_VERSION;
use crate::config::read::Memory;
use crate::config::target::{Render, ReplicaOverride, ValuesSource};

const FLEET: &str = "\
apiVersion: mcd.dev/v1alpha1
kind: Fleet
clusters:
- name: us-east
  context: prod-us-east
  kubeconfig: ./kube/us.yaml
  labels: {env: prod, region: us, tier: canary}
  values: {domain: us.example.com, replicas: 5}
  kubeVersion: '1.34'
- name: us-west
  labels: {env: prod, region: us}
  values: {domain: us-west.example.com}
- name: eu-west
  labels: {env: prod, region: eu}
  values: {domain: eu.example.com, replicas: 2}
- name: dev
  labels: {env: dev}
tools: {kustomize: {v5.4.3: /opt/kustomize-5.4.3, '5.8.2': ../bin/kustomize}}
allow: {plugins: true}
";

const APPLICATION: &str = "\
apiVersion: mcd.dev/v1alpha1
kind: Application
metadata: {name: web}
fleet: ../fleet.yaml
select: {labels: {env: prod}}
namespace: web
stateNamespace: mcd-{{ app.name }}
createNamespace: true
vars:
  tag: {required: true}
  size: {default: 3}
render:
  kustomize: {path: overlays/prod, version: '>=5.4 <6', env: {REGION: '{{ labels.region }}'}}
images: [{name: registry/web, newTag: '{{ vars.tag }}'}]
replicas: [{name: web, count: '{{ values.replicas | default(vars.size) }}'}]
patches:
- target: {kind: Deployment, name: web}
  json6902: [{op: add, path: /metadata/annotations/domain, value: '{{ values.domain }}'}]
overrides:
- select: {labels: {region: us}}
  render: {kustomize: {path: overlays/us}}
  vars: {size: {default: 4}}
- select: {clusters: [us-east]}
  namespace: web-east
  render: {kustomize: {version: 5.8.2, args: [--load-restrictor=LoadRestrictionsNone]}}
- select: {clusters: [eu-*]}
  render:
    helm:
      chart: chart
      values: [values.yaml, {file: 'values-{{ labels.region }}.yaml', optional: true}, {inline: {ns: '{{ target.namespace }}'}}]
      set: {replicas: '{{ values.replicas }}'}
      setString: {replicas: '{{ values.replicas }}'}
  images: [{name: registry/web, newName: eu/web}]
";

fn memory(files: &[(&str, &str)]) -> Memory {
    let mut all: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (path, text) in files {
        all.insert(path.into(), (*text).to_owned());
    }
    for path in [
        "/repo/.git/HEAD",
        "/repo/app/overlays/prod/kustomization.yaml",
        "/repo/app/overlays/us/kustomization.yaml",
        "/repo/app/chart/Chart.yaml",
        "/repo/app/values.yaml",
        "/repo/app/k8s/web.yaml",
    ] {
        all.entry(path.into()).or_default();
    }
    Memory(all)
}

fn files() -> Memory {
    memory(&[("/repo/fleet.yaml", FLEET), ("/repo/app/mcd.yaml", APPLICATION)])
}

fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn project() -> Project {
    Resolver::new(&files())
        .load(Path::new("/repo/app/mcd.yaml"), None, &given(&[("tag", "1.4.2")]))
        .expect("it resolves")
}

fn target<'p>(project: &'p Project, name: &str) -> &'p Target {
    project.targets.iter().find(|target| target.name.as_str() == name).expect("the target")
}

#[test]
fn the_files_of_the_design_resolve() {
    let project = project();
    let names: Vec<&str> = project.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["us-east", "us-west", "eu-west"], "in the order of the fleet");
    assert_eq!(project.file, Path::new("/repo/app/mcd.yaml"));
    assert_eq!(project.root, Path::new("/repo"));
    assert_eq!(project.clusters.len(), 4);
    assert_eq!(project.warnings, []);

    let east = target(&project, "us-east");
    assert_eq!(east.namespace, "web-east");
    assert_eq!((east.state_namespace.as_str(), east.state_namespace_is_set), ("mcd-web", true));
    assert!(east.create_namespace && east.allow_plugins);
    assert_eq!(east.cluster.context, "prod-us-east");
    assert_eq!(east.cluster.kubeconfig.as_deref(), Some(Path::new("/repo/kube/us.yaml")));
    assert_eq!(east.tools["kustomize"]["5.4.3"], Path::new("/opt/kustomize-5.4.3"));
    assert_eq!(east.tools["kustomize"]["5.8.2"], Path::new("/bin/kustomize"));
    let Render::Kustomize(kustomize) = &east.render else { panic!("{:?}", east.render) };
    assert_eq!(kustomize.path, Path::new("/repo/app/overlays/us"));
    assert_eq!(kustomize.version.as_deref(), Some("5.8.2"));
    assert_eq!(kustomize.args, ["--load-restrictor=LoadRestrictionsNone"]);
    assert_eq!(kustomize.env["REGION"], "us");
    assert_eq!(east.images[0].new_tag.as_deref(), Some("1.4.2"));
    assert_eq!(east.replicas, [ReplicaOverride { name: "web".into(), count: 5 }]);
    assert_eq!(east.vars["tag"], json!("1.4.2"));
    assert_eq!(east.patches[0].origin, "/repo/app/mcd.yaml:17");

    let west = target(&project, "us-west");
    assert_eq!(west.cluster.context, "us-west", "the name, never the current context");
    let Render::Kustomize(kustomize) = &west.render else { panic!("{:?}", west.render) };
    assert_eq!(kustomize.version.as_deref(), Some(">=5.4 <6"));
    assert_eq!(west.replicas[0].count, 4, "the default of an override");

    let eu = target(&project, "eu-west");
    let Render::Helm(helm) = &eu.render else { panic!("{:?}", eu.render) };
    assert_eq!(helm.release, "web");
    assert_eq!(helm.set["replicas"], json!(2), "keeps its type");
    assert_eq!(helm.set_string["replicas"], "2", "text where text is wanted");
    assert_eq!(
        helm.values,
        [
            ValuesSource::File { path: "/repo/app/values.yaml".into(), optional: false },
            ValuesSource::File { path: "/repo/app/values-eu.yaml".into(), optional: true },
            ValuesSource::Inline(json!({"ns": "web"})),
        ]
    );
    assert_eq!(eu.images[0].new_name.as_deref(), Some("eu/web"));
    assert_eq!(eu.images[0].new_tag.as_deref(), Some("1.4.2"), "merged by name");
}

#[test]
fn every_setting_says_where_it_comes_from() {
    let project = project();
    let mut text = String::new();
    for target in &project.targets {
        let settings = target.settings();
        text.push_str(&format!("# {}\n", target.name));
        Node::at(settings, &crate::config::node::test_mark()).leaves(&mut |path, node| {
            let path = super::super::node::path_text(path);
            let place = target.provenance.get(&path).expect("each leaf has its place");
            text.push_str(&format!("{path} = {}  # {place}\n", node.to_value()));
        });
    }
    insta::assert_snapshot!("provenance", text);
}

#[test]
fn the_command_line_narrows_targets() {
    let project = project();
    let narrow = |names: &[&str], selector: Option<&str>| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let selector = selector.map(|text| Selector::parse(text).expect(text));
        project
            .narrow(&names, selector.as_ref(), &[])
            .map(|targets| targets.iter().map(|t| t.name.to_string()).collect::<Vec<_>>().join(" "))
    };
    let cases: &[(&[&str], Option<&str>, &str)] = &[
        (&[], None, "us-east us-west eu-west"),
        (&["us-*"], None, "us-east us-west"),
        (&["eu-west", "us-east", "us-*"], None, "us-east us-west eu-west"),
        (&["{us-west,eu-west}"], None, "us-west eu-west"),
        (&[], Some("region=us"), "us-east us-west"),
        (&["*-west"], Some("region=us"), "us-west"),
        (&[], Some("tier!=canary"), "us-west eu-west"),
        (&["us-east"], Some("tier"), "us-east"),
    ];
    for (names, selector, expected) in cases {
        assert_eq!(narrow(names, *selector).as_deref(), Ok(*expected), "{names:?} {selector:?}");
    }
    let wrong: &[(&[&str], Option<&str>)] = &[
        (&["us-eats"], None),
        (&["us-east", "asia-*"], None),
        (&["dev"], None),
        (&["["], None),
        (&[], Some("regoin=us")),
        (&[], Some("env=dev")),
        (&["us-east"], Some("region=eu")),
    ];
    let told: Vec<String> = wrong
        .iter()
        .map(|(names, selector)| {
            let error = narrow(names, *selector).expect_err("nothing is selected");
            assert_eq!(error.exit(), crate::error::Exit::Config);
            format!("{error}\n  {}", error.hints().join("\n  ").replace('\n', "\n  "))
        })
        .collect();
    insta::assert_snapshot!("narrowing_to_nothing", told.join("\n"));
}

#[test]
fn the_flag_wins_over_the_fleet_of_the_file() {
    let other = "apiVersion: mcd.dev/v1alpha1\nkind: Fleet\nclusters: [{name: lab, labels: {env: prod, region: us}, values: {domain: lab}}]\n";
    let files = memory(&[
        ("/repo/fleet.yaml", FLEET),
        ("/repo/app/mcd.yaml", &APPLICATION.replace("us-east", "lab").replace("eu-*", "lab")),
        ("/other/fleet.yaml", other),
    ]);
    let project = Resolver::new(&files)
        .load(
            Path::new("/repo/app/mcd.yaml"),
            Some("/other/fleet.yaml".into()),
            &given(&[("tag", "1"), ("tag", "2"), ("size", "7")]),
        )
        .expect_err("`values.replicas` is not there for `set`");
    assert!(project.message().contains("values.replicas"), "{project}");
}

#[test]
fn what_the_command_line_gives_wins_and_the_last_of_a_name_counts() {
    let files = files();
    let vars = given(&[("tag", "1"), ("tag", "2"), ("size", "7")]);
    let project =
        Resolver::new(&files).load(Path::new("/repo/app/mcd.yaml"), None, &vars).expect("resolves");
    let west = target(&project, "us-west");
    assert_eq!(west.vars, [("tag".into(), json!("2")), ("size".into(), json!(7))].into());
    assert_eq!(west.replicas[0].count, 7);
}

#[test]
fn an_override_that_selects_no_target_is_a_warning() {
    let text = format!("{APPLICATION}- select: {{clusters: [dev]}}\n  namespace: dev\n");
    let files = memory(&[("/repo/fleet.yaml", FLEET), ("/repo/app/mcd.yaml", &text)]);
    let project = Resolver::new(&files)
        .load(Path::new("/repo/app/mcd.yaml"), None, &given(&[("tag", "1")]))
        .expect("it resolves");
    let told: Vec<String> = project.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["/repo/app/mcd.yaml:34:11: the override selects none of the targets: cluster dev"]
    );
}

#[test]
fn an_error_of_every_target_is_told_once() {
    let text = APPLICATION.replace("namespace: web\nstate", "namespace: Web\nstate");
    let files = memory(&[("/repo/fleet.yaml", FLEET), ("/repo/app/mcd.yaml", &text)]);
    let errors = Resolver::new(&files)
        .check(Path::new("/repo/app/mcd.yaml"), None, &given(&[("tag", "1")]))
        .expect_err("`Web` is no namespace");
    let told: Vec<String> =
        errors.iter().map(|e| format!("{e}; {}", e.hints().join("; "))).collect();
    let expected = "/repo/app/mcd.yaml:6:12: us-west: `Web` is no name for a namespace; use \
                    lower-case letters, digits and `-`, at most 63, with a letter or digit at \
                    both ends; the same in `eu-west`";
    assert_eq!(told, [expected], "us-east has a namespace of its own");
}

#[test]
fn places_need_neither_variables_nor_inputs() {
    let mut files = files();
    files.0.retain(|path, _| {
        path.starts_with("/repo/.git") || path.extension().is_some_and(|e| e == "yaml")
    });
    files.0.remove(Path::new("/repo/app/overlays/us/kustomization.yaml"));
    let path = Path::new("/repo/app/mcd.yaml");
    let full = Resolver::new(&files).load(path, None, &[]).expect_err("`tag` is required");
    assert_eq!(full.message(), "the variable `tag` has no value");
    let project = Resolver::new(&files).places().load(path, None, &[]).expect("it resolves");
    let place = |t: &Target| format!("{} {} {}", t.name, t.namespace, t.state_namespace);
    let places: Vec<String> = project.targets.iter().map(place).collect();
    assert_eq!(places, ["us-east web-east mcd-web", "us-west web mcd-web", "eu-west web mcd-web"]);

    let text = APPLICATION.replace("namespace: web\n", "namespace: 'web-{{ vars.tag }}'\n");
    let files = memory(&[("/repo/fleet.yaml", FLEET), ("/repo/app/mcd.yaml", &text)]);
    let error = Resolver::new(&files).places().load(path, None, &[]).expect_err("needs `tag`");
    assert_eq!(error.message(), "`vars.tag` is not defined");
    assert_eq!(error.hints()[0], "give it a value: `--var tag=…`, or a `default`");
}

/// Values as a confused author might write them: keys of ours in odd places, odd types.
fn odd_values() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::*;
    let text = prop::sample::select(vec![
        "",
        "web",
        "k8s",
        "../..",
        "{{ labels.env }}",
        "{{ x",
        "*",
        "[",
        "us-east",
        "auto",
        "5.8",
        "registry/web:1",
        "/a/b",
        "add",
        "In",
        "prod",
        "~",
        "\u{0}",
        "é",
    ]);
    let key = prop::sample::select(vec![
        "clusters",
        "labels",
        "expressions",
        "key",
        "operator",
        "values",
        "kustomize",
        "helm",
        "manifests",
        "path",
        "version",
        "chart",
        "set",
        "inline",
        "file",
        "name",
        "newTag",
        "count",
        "target",
        "json6902",
        "merge",
        "op",
        "select",
        "render",
        "images",
        "replicas",
        "patches",
        "vars",
        "default",
        "required",
        "namespace",
        "env",
        "a.b/c",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        text.prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map(key.clone(), inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

proptest::proptest! {
    /// Whatever is written, the answer is a project or errors of configuration that say where.
    #[test]
    fn odd_files_are_answered_never_a_panic(
        select in odd_values(), render in odd_values(), rest in odd_values(), over in odd_values(),
    ) {
        for (key, value) in [
            ("select", &select), ("render", &render), ("images", &rest), ("replicas", &rest),
            ("patches", &rest), ("vars", &rest), ("overrides", &over), ("namespace", &over),
        ] {
            let mut file = json!({
                "apiVersion": API_VERSION, "kind": "Application", "metadata": {"name": "web"},
                "clusters": [{"name": "us-east", "labels": {"env": "prod"}}],
                "select": {}, "namespace": "web", "render": {"manifests": ["k8s"]},
            });
            file[key] = value.clone();
            if key == "overrides" {
                file[key] = json!([{"select": {}, "render": render, "images": over}]);
            }
            let files = memory(&[("/repo/app/mcd.yaml", &file.to_string())]);
            let path = Path::new("/repo/app/mcd.yaml");
            if let Err(errors) = Resolver::new(&files).check(path, None, &[]) {
                proptest::prop_assert!(!errors.is_empty());
                for error in errors {
                    proptest::prop_assert_eq!(error.exit(), crate::error::Exit::Config);
                    proptest::prop_assert!(error.location().is_some(), "{}", error);
                }
            }
        }
    }
}
