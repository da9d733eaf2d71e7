//! Dependencies of local charts, built in private copies; and charts that kustomize inflates.

use std::fs;
use std::path::{Path, PathBuf};

use testbed::{ChartServer, ChartServerOptions};

use crate::chart_world::{Charts, HELMS, PASSWORD, login_for, login_of, write};
use crate::support::{CLUSTERS, World};

/// All files below the repository of the application.
fn files(world: &World) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(world.path(), &mut found);
    // What the user's tools keep at home is theirs.
    found.retain(|path| !path.starts_with(world.path().join("home")));
    found.sort();
    found
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Chart.Name }}'}\n\
    data: {version: '{{ .Chart.Version }}'}\n";

/// A server of the charts `db` and `cache`, and of the registry, that wants a login.
fn server(charts: &Charts) -> (ChartServer, testbed::Registry) {
    let registry = charts.world.bed.registry();
    charts.package("db", "1.0.0");
    charts.package("db", "1.1.0");
    let cache = charts.package("cache", "2.0.0");
    charts.push(&registry, &[&cache]);
    fs::remove_file(&cache).unwrap();
    charts.index();
    let server = ChartServer::start(ChartServerOptions {
        folder: charts.folder.path().to_owned(),
        registry: Some(registry.host()),
        login: Some(login_of()),
        ..ChartServerOptions::default()
    });
    (server, registry)
}

/// `helm dependency update`, as a user who is logged in runs it.
fn update(charts: &Charts, server: &ChartServer) {
    let config = charts.folder.path().join("repositories.yaml");
    write(
        &config,
        &format!(
            "apiVersion: ''\nrepositories:\n- {{name: x, url: '{}', username: robot, password: '{PASSWORD}'}}\n",
            server.url()
        ),
    );
    let login = charts.folder.path().join("login.json");
    let login = login.display().to_string();
    let host = server.host();
    charts.helm(&[
        "registry",
        "login",
        &host,
        "--plain-http",
        "-u",
        "robot",
        "-p",
        PASSWORD,
        "--registry-config",
        &login,
    ]);
    let chart = charts.world.path().join("deploy/chart").display().to_string();
    charts.helm(&[
        "dependency",
        "update",
        &chart,
        "--plain-http",
        "--registry-config",
        &login,
        "--repository-config",
        &config.display().to_string(),
    ]);
    // As in a repository that ignores archives.
    fs::remove_dir_all(charts.world.path().join("deploy/chart/charts")).unwrap();
}

fn chart(world: &World, server: &ChartServer, db: &str) {
    let (url, host) = (server.url(), server.host());
    world.write("deploy/chart/templates/cm.yaml", CONFIG_MAP);
    world.write(
        "deploy/chart/Chart.yaml",
        &format!(
            "apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies:\n\
             - {{name: db, version: '{db}', repository: '{url}'}}\n\
             - {{name: cache, version: ^2, repository: 'oci://{host}/charts'}}\n\
             - {{name: lib, version: ^0, repository: 'file://../../lib'}}\n"
        ),
    );
    world.write("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.3.0\n");
    world.write("lib/templates/cm.yaml", CONFIG_MAP);
}

#[test]
fn what_the_lock_names_is_built_in_a_private_copy() {
    let charts = Charts::new();
    let world = &charts.world;
    let (server, _registry) = server(&charts);
    chart(world, &server, "~1.0.0");
    // The repository starts here: `file://` leads out of the chart, and not out of it.
    fs::create_dir(world.path().join(".git")).unwrap();
    update(&charts, &server);
    let host = server.host();
    let logins = login_for(&server.url(), "")
        + &format!(
            "- {{url: 'oci://{host}', usernameEnv: CHARTS_USER, passwordEnv: CHARTS_PASSWORD, plainHttp: true}}\n"
        );
    charts.files(&CLUSTERS, "chart: deploy/chart, helmVersion: 3.22.0", &logins);
    let path = world.path().join("mcd.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let other = "overrides:\n- {select: {clusters: [us-west]}, render: {helm: {helmVersion: 4.3.1, set: {a: 1}}}}\n";
    fs::write(&path, text + other).unwrap();
    let before = files(world);
    let run = charts.with_login(&["apply", "-y"]);
    assert_eq!(run.code, 0, "{run}");
    run.hides(PASSWORD);
    for cluster in CLUSTERS {
        let version =
            |name: &str| world.live(cluster, "configmap", name)["data"]["version"].clone();
        assert_eq!(
            ["web", "db", "cache", "lib"].map(version),
            ["0.1.0", "1.0.0", "2.0.0", "0.3.0"]
        );
    }
    assert_eq!(files(world), before, "something was written into the repository");
    // Built once for the three targets.
    let pulled = server
        .asked()
        .iter()
        .filter(|a| a.path.ends_with("db-1.0.0.tgz") && a.status == 200)
        .count();
    // One is of `helm dependency update` itself.
    assert_eq!(pulled, 2, "{:?}", server.asked());
    for helm in HELMS {
        charts.files(&["us-east"], &format!("chart: deploy/chart, helmVersion: {helm}"), &logins);
        let run = charts.with_login(&["validate"]);
        assert_eq!(run.code, 0, "{run}");

        // Without a login.
        charts.files(&["us-east"], &format!("chart: deploy/chart, helmVersion: {helm}"), "");
        world
            .ok(4, &["validate"])
            .says("`helm dependency build deploy/chart`")
            .says("it wants a login");
    }
}

/// A dependency may name a repository as `helm repo add` did, in both of helm's forms.
#[test]
fn repositories_by_the_name_that_helm_knows() {
    let charts = Charts::new();
    let world = &charts.world;
    let (server, _registry) = server(&charts);
    let known = |name: &str| {
        format!(
            "apiVersion: ''\nrepositories:\n- {{name: {name}, url: '{}', username: robot, password: '{PASSWORD}'}}\n",
            server.url()
        )
    };
    let config = charts.folder.path().join("repositories.yaml");
    write(&config, &known("corp"));
    let own = world.path().join("home/.config/helm/repositories.yaml");
    world.write("deploy/chart/templates/cm.yaml", CONFIG_MAP);
    charts.files(&["us-east"], "chart: deploy/chart", "");
    let chart = world.path().join("deploy/chart").display().to_string();
    for form in ["@corp", "alias:corp"] {
        world.write(
            "deploy/chart/Chart.yaml",
            &format!(
                "apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies:\n\
                 - {{name: db, version: ~1.0.0, repository: '{form}'}}\n"
            ),
        );
        let config = config.display().to_string();
        charts.helm(&["dependency", "update", &chart, "--repository-config", &config]);
        fs::remove_dir_all(world.path().join("deploy/chart/charts")).unwrap();
        write(&own, &known("corp"));
        let run = world.ok(0, &["plan"]);
        run.says("ConfigMap").says("/db").hides(PASSWORD);
        write(&own, &known("other"));
        let run = world.ok(4, &["plan"]);
        run.says("takes `db` from the repository `corp`, which helm does not know");
        run.says("helm repo add corp URL").hides(PASSWORD);
    }
}

#[test]
fn a_lock_that_is_missing_or_old_is_named() {
    let charts = Charts::new();
    let world = &charts.world;
    let (server, _registry) = server(&charts);
    chart(world, &server, "~1.0.0");
    fs::create_dir(world.path().join(".git")).unwrap();
    charts.files(&["us-east"], "chart: deploy/chart", "");
    let run = world.ok(4, &["validate"]);
    run.says("lacks its dependency `db`, and has no Chart.lock");
    run.says("run `helm dependency update deploy/chart` and commit Chart.lock");

    update(&charts, &server);
    // Another range than the one that was locked.
    chart(world, &server, "~1.1.0");
    for helm in HELMS {
        charts.files(&["us-east"], &format!("chart: deploy/chart, helmVersion: {helm}"), "");
        let run = world.ok(4, &["validate"]);
        run.says("out of sync")
            .says("run `helm dependency update deploy/chart` and commit Chart.lock");
    }

    // What is all there needs neither lock nor server.
    fs::remove_file(world.path().join("deploy/chart/Chart.lock")).unwrap();
    drop(server);
    for name in ["db", "cache", "lib"] {
        world.write(
            &format!("deploy/chart/charts/{name}/Chart.yaml"),
            &format!("apiVersion: v2\nname: {name}\nversion: 1.1.0\n"),
        );
    }
    let yaml = fs::read_to_string(world.path().join("deploy/chart/Chart.yaml")).unwrap();
    let yaml = yaml.replace("'^2'", "'*'").replace("^2", "'*'").replace("^0", "'*'");
    world.write("deploy/chart/Chart.yaml", &yaml);
    world.ok(0, &["validate"]);
}

#[test]
fn charts_that_kustomize_inflates_are_pulled_apart() {
    let charts = Charts::new();
    let world = &charts.world;
    charts.package("db", "1.0.0");
    charts.package("db", "1.1.0");
    charts.index();
    let server = charts.serve(false);
    for (overlay, version) in [("east", "1.0.0"), ("west", "1.1.0")] {
        world.write(
            &format!("{overlay}/kustomization.yaml"),
            &format!(
                "helmCharts:\n- {{name: db, repo: '{}', version: {version}, releaseName: db}}\n",
                server.url()
            ),
        );
    }
    world.application(
        &["us-east", "us-west"],
        "render: {kustomize: {path: east, version: 5.8.2, args: [--enable-helm]}}\noverrides:\n\
         - {select: {clusters: [us-west]}, render: {kustomize: {path: west, version: 5.4.3}}}\n",
    );
    let before = files(world);
    world.ok(0, &["apply", "-y"]);
    let version = |cluster| world.live(cluster, "configmap", "db")["data"]["version"].clone();
    assert_eq!(["us-east", "us-west"].map(version), ["1.0.0", "1.1.0"]);
    assert_eq!(files(world), before, "something was written into the repository");
}
