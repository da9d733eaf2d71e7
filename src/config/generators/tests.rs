use std::path::{Path, PathBuf};

use super::*;
use crate::config::{Memory, Project, Resolver};

/// Contexts of a kubeconfig, by no order.
struct Known;

impl Contexts for Known {
    fn contexts(&self, kubeconfig: Option<&Path>) -> Result<Vec<String>> {
        match kubeconfig {
            None => Ok(["prod-us", "dev", "prod-eu"].map(str::to_owned).to_vec()),
            Some(path) if path == Path::new("/fleet/kube/ap") => Ok(vec!["ap".to_owned()]),
            Some(path) => Err(Error::config(format!("`{}` is missing", path.display()))),
        }
    }
}

fn project(fleet: &str, files: &[(&str, &str)]) -> Result<Project> {
    let app = "apiVersion: mcd.dev/v1alpha1\nkind: Application\nmetadata: {name: web}\n\
               fleet: ../fleet/fleet.yaml\nselect: {}\nnamespace: web\nrender: {manifests: [a.yaml]}\n";
    let fleet = format!("apiVersion: mcd.dev/v1alpha1\nkind: Fleet\n{fleet}");
    let mut memory = Memory::default();
    let given = [("app/mcd.yaml", app), ("app/a.yaml", ""), ("fleet/fleet.yaml", &fleet)];
    for (name, text) in given.iter().chain(files) {
        memory.0.insert(Path::new("/").join(name), (*text).to_owned());
    }
    let resolver = Resolver::new(&memory).with_contexts(&Known);
    resolver.load(Path::new("/app/mcd.yaml"), None, &[])
}

#[test]
fn what_is_found_comes_after_what_is_listed_in_a_stable_order() {
    let fleet = "clusters:\n- name: z\ngenerators:\n- files: clusters/*/c*.yaml\n\
                 - kubeconfig: {contexts: 'prod-*', labels: {at: '{{ context }}'}}\n\
                 - kubeconfig: {contexts: '*', file: kube/ap}\n";
    let files = [
        ("fleet/clusters/b/c2.yaml", "name: b2\nkubeconfig: ./b.kubeconfig\n"),
        ("fleet/clusters/b/c1.yaml", "name: b1\n---\nname: b0\n"),
        ("fleet/clusters/a/c.yaml", "name: a\n"),
        ("fleet/clusters/a/.c.yaml", "name: hidden\n"),
        ("fleet/clusters/README.md", "no folder"),
    ];
    let project = project(fleet, &files).unwrap();
    let names: Vec<&str> = project.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "b1", "b0", "b2", "prod-eu", "prod-us", "ap"]);
    let of = |name: &str| project.targets.iter().find(|t| t.name.as_str() == name).unwrap();
    // Paths are relative to the file that names them.
    assert_eq!(of("b2").cluster.kubeconfig, Some(PathBuf::from("/fleet/clusters/b/b.kubeconfig")));
    assert_eq!(of("ap").cluster.kubeconfig, Some(PathBuf::from("/fleet/kube/ap")));
    assert_eq!(of("prod-eu").cluster.labels["at"], "prod-eu");
    let origin = |name: &str, key: &str| of(name).provenance[key].clone();
    assert_eq!(origin("b2", "name"), "/fleet/clusters/b/c2.yaml:1 (generators[0])");
    assert_eq!(origin("prod-us", "cluster.context"), "/fleet/fleet.yaml:7 (generators[1])");
    assert_eq!(
        origin("prod-us", "cluster.labels.at"),
        "/fleet/fleet.yaml:7 (generators[1]), from `{{ context }}`"
    );
}

#[test]
fn a_kubeconfig_that_is_missing_is_an_error_at_its_place() {
    let fleet = "generators:\n- kubeconfig: {contexts: '*', file: kube/none}\n";
    let error = project(fleet, &[]).unwrap_err();
    assert_eq!(error.to_string(), "/fleet/fleet.yaml:4:26: `/fleet/kube/none` is missing");
}
