//! Charts from repositories and registries: pulled by helm 3 and helm 4, pinned, with logins that
//! nothing shows, and the words for what goes wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use testbed::{ChartServer, ChartServerOptions, Registry};

use crate::chart_world::{Charts, HELMS, PASSWORD, login_for, login_of, sha256, write};
use crate::support::Run;

#[test]
fn a_chart_of_a_repository_is_applied_and_recorded() {
    let charts = Charts::new();
    let world = &charts.world;
    charts.package("web", "1.2.2");
    let archive = charts.package("web", "1.2.3");
    charts.package("web", "2.0.0");
    charts.index();
    let server = charts.serve(false);
    for helm in HELMS {
        let keys = format!(
            "chart: web, repository: '{}/', version: ^1.2, helmVersion: {helm}, set: {{color: blue}}",
            server.url()
        );
        charts.files(&["us-east"], &keys, "");
        world.ok(0, &["validate"]);
        world.ok(0, &["apply", "-y"]);
        let live = world.live("us-east", "configmap", "web");
        assert_eq!(live["data"]["version"], "1.2.3");
        assert_eq!(live["data"]["color"], "blue");
        let plan = world.ok(0, &["plan", "-o", "json"]).json();
        let chart = &plan["targets"][0]["chart"];
        assert_eq!(plan["targets"][0]["state"], "unchanged", "{plan}");
        assert_eq!(chart["name"], "web");
        assert_eq!(chart["version"], "1.2.3");
        assert_eq!(chart["repository"], server.url());
        assert_eq!(chart["digest"], sha256(&archive));
        let history = world.ok(0, &["history", "-o", "json"]).json();
        assert_eq!(&history["targets"][0]["releases"][0]["chart"], chart);
        world.ok(0, &["plan", "-v"]).says(&format!("chart web 1.2.3 of {}", server.url()));
        world.ok(0, &["targets"]).says("helm web ^1.2");
        world.ok(0, &["delete", "-y"]);
    }
}

#[test]
fn a_chart_of_a_registry_is_applied_and_pinned() {
    let charts = Charts::new();
    let world = &charts.world;
    let registry = world.bed.registry();
    let (old, new) = (charts.package("web", "1.2.2"), charts.package("web", "1.2.3"));
    let digest = charts.push(&registry, &[&old, &new]);
    let host = registry.host();
    let plain = format!("chartRepositories: [{{url: 'oci://{host}', plainHttp: true}}]\n");
    for helm in HELMS {
        let keys =
            |more: &str| format!("chart: 'oci://{host}/charts/web', helmVersion: {helm}, {more}");
        charts.files(&["us-east"], &keys("version: ~1.2.0"), &plain);
        world.ok(0, &["apply", "-y"]);
        assert_eq!(world.live("us-east", "configmap", "web")["data"]["version"], "1.2.3");
        let plan = world.ok(0, &["plan", "-o", "json"]).json();
        assert_eq!(plan["targets"][0]["chart"]["digest"], digest);
        assert_eq!(plan["targets"][0]["chart"]["repository"], format!("oci://{host}/charts"));

        charts.files(&["us-east"], &keys(&format!("version: 1.2.3, digest: '{digest}'")), &plain);
        world.ok(0, &["plan"]);
        let wrong = format!("sha256:{}", "0a".repeat(32));
        charts.files(&["us-east"], &keys(&format!("version: 1.2.2, digest: '{wrong}'")), &plain);
        let run = world.ok(4, &["apply", "-y"]);
        run.says("is not the chart that is pinned").says(&wrong).says("nothing was written");
        assert_eq!(world.live("us-east", "configmap", "web")["data"]["version"], "1.2.3");

        charts.files(&["us-east"], &keys("version: 9.9.9"), &plain);
        let run = world.ok(4, &["plan"]);
        run.says("has no version `9.9.9`").says("the newest that it has is `1.2.3`");
        let keys = format!("chart: 'oci://{host}/charts/wbe', helmVersion: {helm}, version: 1.2.3");
        charts.files(&["us-east"], &keys, &plain);
        world.ok(4, &["plan"]).says("the registry has no chart").says("check its name");
    }
    // Helm 4 does not fall back to plain HTTP.
    charts.files(
        &["us-east"],
        &format!("chart: 'oci://{host}/charts/web', version: 1.2.3, helmVersion: 4.3.1"),
        "",
    );
    world.ok(4, &["plan"]).says("it speaks plain HTTP").says("plainHttp: true");
}

#[test]
fn a_pinned_chart_is_pulled_once_and_never_believed() {
    let charts = Charts::new();
    let world = &charts.world;
    let archive = charts.package("web", "1.2.3");
    charts.index();
    let server = charts.serve(false);
    let digest = sha256(&archive);
    let keys =
        format!("chart: web, repository: '{}', version: 1.2.3, digest: '{digest}'", server.url());
    charts.files(&["us-east", "us-west"], &keys, "");
    world.ok(0, &["apply", "-y"]);
    let pulled = |server: &ChartServer| {
        server.asked().iter().filter(|asked| asked.path.ends_with(".tgz")).count()
    };
    assert_eq!(pulled(&server), 1);
    let asked = server.asked().len();
    world.ok(0, &["plan"]);
    assert_eq!(server.asked().len(), asked, "a plan that changes nothing pulled again");

    // A file of the cache that is another one is not used.
    let kept = world.path().join("home/.cache/mcd/charts").join(digest.replace(':', "-"));
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o77, 0);
    fs::write(kept.join("chart.tgz"), "tampered with").unwrap();
    world.ok(0, &["plan"]);
    assert_eq!(pulled(&server), 2);
    drop(server);
    world.ok(0, &["plan"]);

    // Another chart under the same version is refused.
    fs::remove_dir_all(world.path().join("home/.cache")).unwrap();
    write(&charts.folder.path().join("source/web/values.yaml"), "color: red\n");
    charts.helm(&["package", "source/web"]);
    charts.index();
    let server = charts.serve(false);
    let keys =
        format!("chart: web, repository: '{}', version: 1.2.3, digest: '{digest}'", server.url());
    charts.files(&["us-east", "us-west"], &keys, "");
    let run = world.ok(4, &["apply", "-y"]);
    run.says("is not the chart that is pinned").says(&digest).says(&sha256(&archive));

    // An archive that is not the one of the index is refused without a pin, too.
    let mut bytes = fs::read(charts.package("web", "1.2.4")).unwrap();
    charts.index();
    bytes.extend([0, 0]);
    fs::write(charts.folder.path().join("web-1.2.4.tgz"), bytes).unwrap();
    let keys = format!("chart: web, repository: '{}', version: 1.2.4", server.url());
    charts.files(&["us-east"], &keys, "");
    world.ok(4, &["plan"]).says("is not the one that its index lists");
}

/// A server that wants a login, with the chart `web` in a repository and in a registry.
fn behind_login(charts: &Charts, registry: &Registry) -> ChartServer {
    let archive = charts.package("web", "1.2.3");
    charts.index();
    charts.push(registry, &[&archive]);
    ChartServer::start(ChartServerOptions {
        folder: charts.folder.path().to_owned(),
        registry: Some(registry.host()),
        login: Some(login_of()),
        ..ChartServerOptions::default()
    })
}

#[test]
fn logins_reach_the_server_and_nothing_else() {
    let charts = Charts::new();
    let world = &charts.world;
    let registry = world.bed.registry();
    let server = behind_login(&charts, &registry);
    // A helm that keeps the arguments and the variables that it was given.
    let wrapper = world.path().join("helm");
    let log = world.path().join("helm.log");
    for helm in HELMS {
        let real = world.bed.helm(helm);
        write(
            &wrapper,
            &format!(
                "#!/bin/sh\n{{ printf '%s\\n' \"$0\" \"$@\"; }} >> '{}'\nexec '{}' \"$@\"\n",
                log.display(),
                real.display()
            ),
        );
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let repository = format!("chart: web, repository: '{}', version: 1.2.3", server.url());
        let oci = format!("chart: 'oci://{}/charts/web', version: 1.2.3", server.host());
        for (keys, url, more) in [
            (repository.as_str(), server.url(), ""),
            (oci.as_str(), format!("oci://{}", server.host()), ", plainHttp: true"),
        ] {
            charts.files(&["us-east"], keys, &login_for(&url, more));
            let wrapper = wrapper.display().to_string();
            let args =
                ["plan", "-v", "--log-file", "mcd.log", "--helm-bin", &wrapper, "-o", "json"];
            let run = charts.with_login(&args);
            assert_eq!(run.code, 0, "{run}");
            run.hides(PASSWORD);
            assert_eq!(run.json()["targets"][0]["counts"]["create"], 1);

            // A wrong password: what to do, and not what it was.
            let mut command = world.command(&args);
            let output = command
                .env("CHARTS_USER", "robot")
                .env("CHARTS_PASSWORD", "wrong-hunter2")
                .output();
            let run = Run::of(output.unwrap());
            assert_eq!(run.code, 4, "{run}");
            run.says("refuses the login of `CHARTS_USER` and `CHARTS_PASSWORD`");
            run.hides("wrong-hunter2");
            // No login at all.
            world.ok(3, &["plan"]).says("the environment variable `CHARTS_USER` is not set");
            let fleet = match more {
                "" => String::new(),
                _ => format!("chartRepositories: [{{url: '{url}'{more}}}]\n"),
            };
            charts.files(&["us-east"], keys, &fleet);
            world.ok(4, &["plan"]).says("it wants a login").says("usernameEnv");
        }
    }
    let asked = server.asked();
    let right = format!("robot:{PASSWORD}");
    assert!(asked.iter().any(|a| a.path.ends_with(".tgz") && a.login.as_ref() == Some(&right)));
    assert!(asked.iter().any(|a| a.path.starts_with("/v2/") && a.login.as_ref() == Some(&right)));

    let encoded = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&right)
    };
    let kept = fs::read_to_string(&log).unwrap();
    assert!(kept.contains("--version=1.2.3"), "{kept}");
    for text in [kept, fs::read_to_string(world.path().join("mcd.log")).unwrap_or_default()] {
        for secret in [PASSWORD, "wrong-hunter2", &encoded] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn logins_of_helms_own_files_are_used() {
    let charts = Charts::new();
    let world = &charts.world;
    let registry = world.bed.registry();
    let server = behind_login(&charts, &registry);
    // As `helm repo add` and `helm registry login` leave them.
    let own = world.path().join("home/.config/helm");
    write(
        &own.join("repositories.yaml"),
        &format!(
            "apiVersion: ''\nrepositories:\n- {{name: corp, url: '{}', username: robot, password: '{PASSWORD}'}}\n",
            server.url()
        ),
    );
    let login = charts.folder.path().join("login.json");
    charts.helm(&[
        "registry",
        "login",
        &server.host(),
        "--plain-http",
        "-u",
        "robot",
        "-p",
        PASSWORD,
        "--registry-config",
        &login.display().to_string(),
    ]);
    fs::create_dir_all(own.join("registry")).unwrap();
    fs::copy(&login, own.join("registry/config.json")).unwrap();
    for helm in HELMS {
        let keys = format!(
            "chart: web, repository: '{}', version: 1.2.3, helmVersion: {helm}",
            server.url()
        );
        charts.files(&["us-east"], &keys, "");
        world.ok(0, &["plan"]).hides(PASSWORD);
        let host = server.host();
        let keys = format!("chart: 'oci://{host}/charts/web', version: 1.2.3, helmVersion: {helm}");
        let plain = format!("chartRepositories: [{{url: 'oci://{host}', plainHttp: true}}]\n");
        charts.files(&["us-east"], &keys, &plain);
        world.ok(0, &["plan"]).hides(PASSWORD);
    }
}

#[test]
fn what_a_repository_lacks_is_named() {
    let charts = Charts::new();
    let world = &charts.world;
    charts.package("web", "1.2.2");
    charts.package("web", "1.2.3");
    charts.index();
    let server = charts.serve(false);
    let url = server.url();
    for helm in HELMS {
        let files = |chart: &str, url: &str, version: &str| {
            let keys = format!(
                "chart: {chart}, repository: '{url}', version: '{version}', helmVersion: {helm}"
            );
            charts.files(&["us-east"], &keys, "");
        };
        files("web", &url, "9.9.9");
        let run = world.ok(4, &["validate"]);
        run.says("has no version `9.9.9` of the chart `web`").says("it has `1.2.3`, `1.2.2`");
        files("web", &url, "^9");
        world.ok(4, &["plan"]).says("has no version `^9`").says("it has `1.2.3`, `1.2.2`");
        files("wbe", &url, "1.2.3");
        world.ok(4, &["plan"]).says("has no chart `wbe`").says("did you mean `web`?");
        files("web", &format!("{url}/stable"), "1.2.3");
        world.ok(4, &["plan"]).says("cannot be read").says("/stable/index.yaml`");
        // A port that nobody listens on any more.
        let gone = charts.serve(false).url();
        files("web", &gone, "1.2.3");
        let run = world.ok(4, &["apply", "-y"]);
        run.says("cannot be read").says("connection refused").says("can be reached from here");
    }
}

/// A server whose certificate an authority of one's own has signed: `caFile` makes it trusted, and
/// nothing else does. (It is an API server: it has no charts, and says so.)
#[test]
fn an_authority_of_ones_own() {
    let charts = Charts::new();
    let world = &charts.world;
    let cluster = world.cluster("us-east");
    let url = format!("{}/charts", cluster.server());
    let config = fs::read(world.kubeconfig.path()).unwrap();
    let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
    let authority =
        config["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap();
    let engine = &base64::engine::general_purpose::STANDARD;
    let authority = base64::Engine::decode(engine, authority).unwrap();
    for helm in HELMS {
        let keys = format!("chart: web, repository: '{url}', version: 1.2.3, helmVersion: {helm}");
        charts.files(&["us-east"], &keys, "");
        world.ok(4, &["plan"]).says("unknown authority");
        fs::write(world.path().join("ca.pem"), &authority).unwrap();
        let trusted = format!("chartRepositories: [{{url: '{url}', caFile: ca.pem}}]\n");
        charts.files(&["us-east"], &keys, &trusted);
        let run = world.ok(4, &["plan"]);
        run.hides("unknown authority").says("40");
    }
}

#[test]
fn a_slow_repository_is_given_up() {
    let charts = Charts::new();
    let world = &charts.world;
    charts.package("web", "1.2.3");
    charts.index();
    let server = ChartServer::start(ChartServerOptions {
        folder: charts.folder.path().to_owned(),
        delay: Duration::from_secs(600),
        ..ChartServerOptions::default()
    });
    let keys = format!("chart: web, repository: '{}', version: 1.2.3", server.url());
    charts.files(&["us-east"], &keys, "");
    let begin = std::time::Instant::now();
    let run = world.ok(4, &["plan", "--tool-timeout", "1s"]);
    run.says("`helm repo update").says("did not end within 1 s and was stopped");
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}

#[test]
fn targets_pull_what_is_theirs_at_the_same_time() {
    let charts = Charts::new();
    let world = &charts.world;
    charts.package("web", "1.2.2");
    charts.package("web", "1.2.3");
    charts.index();
    let server = charts.serve(false);
    let keys = format!("chart: web, repository: '{}', version: 1.2.2", server.url());
    charts.files(&crate::support::CLUSTERS, &keys, "");
    let path = world.path().join("mcd.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let overrides = "overrides:\n\
         - {select: {clusters: [us-west]}, render: {helm: {version: 1.2.3, helmVersion: 4.3.1}}}\n\
         - {select: {clusters: [eu-west]}, render: {helm: {helmVersion: 3.22.0}}}\n";
    fs::write(&path, text + overrides).unwrap();
    world.ok(0, &["apply", "-y"]);
    let version = |cluster: &str| {
        world.live(cluster, "configmap", "web")["data"]["version"].as_str().unwrap().to_owned()
    };
    assert_eq!(crate::support::CLUSTERS.map(version), ["1.2.2", "1.2.3", "1.2.2"]);
    // Two charts, each pulled once.
    let pulled = server.asked().iter().filter(|asked| asked.path.ends_with(".tgz")).count();
    assert_eq!(pulled, 2);
}
