//! Plugins as small shell scripts.

use std::path::Path;

use super::*;
use crate::cluster::fake::{Fake, Reply, Setup, spec};
use crate::cluster::{CallError, CallErrorKind, Cluster, Kubeconfigs, Resource};
use crate::error::Exit;
use crate::manifest::Gvk;

const COUNT: &str = "echo run >> \"$(dirname \"$0\")/runs\"";

/// A user whose plugin is a script in the setup's folder.
fn setup(url: &str, script: &str, more: &str) -> Setup {
    let user = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: IfAvailable{more}}}"
    );
    let setup = Setup::new(url, &user);
    let path = setup.folder.path().join("plugin");
    // Written by another process: a file that this one has open for writing while a test beside
    // starts a process could not be run ("text file busy").
    let text = format!("#!/bin/sh\n{COUNT}\n{script}\n");
    let write = "cat > \"$1\" && chmod +x \"$1\"";
    duct::cmd("sh", ["-c", write, "sh", path.to_str().unwrap()]).stdin_bytes(text).run().unwrap();
    setup
}

fn prints(status: &str) -> String {
    format!(
        "printf '%s' '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{status}}}'"
    )
}

fn runs(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("runs")).map_or(0, |text| text.lines().count())
}

async fn connect(setup: &Setup, shared: &Kubeconfigs, context: &str) -> Result<Cluster, CallError> {
    let spec = spec(context, None);
    Cluster::connect(&spec.name, &spec, shared, &setup.options, setup.collect()).await
}

async fn get(cluster: &Cluster) -> Result<(), CallError> {
    let pods = Resource::new(Gvk::new("v1", "Pod"), "pods", true);
    cluster.get(&pods, Some("shop"), "web").await.map(drop)
}

fn pod() -> Reply {
    Reply::json(200, &json!({"kind": "Pod"}))
}

#[tokio::test]
async fn a_plugin_runs_once_for_all_clusters_of_a_user() {
    let fake = Fake::serve(|_, _| pod()).await;
    let setup = setup(&fake.url, &prints("{\"token\":\"hunter2\"}"), "");
    let shared = Kubeconfigs::new(&setup.options);
    let (one, two) = tokio::join!(connect(&setup, &shared, "one"), connect(&setup, &shared, "two"));
    for cluster in [one.unwrap(), two.unwrap()] {
        get(&cluster).await.unwrap();
        get(&cluster).await.unwrap();
    }
    assert_eq!(runs(setup.folder.path()), 1);
    for seen in fake.seen() {
        assert_eq!(seen.header("authorization"), ["Bearer hunter2"]);
    }
}

#[tokio::test]
async fn a_plugin_runs_again_when_its_token_is_refused_or_expires() {
    let token = "n=$(wc -l < \"$(dirname \"$0\")/runs\"); printf 'status: {token: t%s}' $n";
    let fake = Fake::serve(|seen, _| match seen.header("authorization")[..] {
        ["Bearer t2"] => pod(),
        _ => Reply::Answer(401, vec![], vec![]),
    })
    .await;
    let setup_1 = setup(&fake.url, token, "");
    let cluster = connect(&setup_1, &Kubeconfigs::new(&setup_1.options), "one").await.unwrap();
    get(&cluster).await.unwrap();
    get(&cluster).await.unwrap();
    assert_eq!((runs(setup_1.folder.path()), fake.seen().len()), (2, 3));

    let past = "2020-01-01T00:00:00Z";
    let expired = prints(&format!("{{\"token\":\"t2\",\"expirationTimestamp\":\"{past}\"}}"));
    let setup_2 = setup(&fake.url, &expired, "");
    let cluster = connect(&setup_2, &Kubeconfigs::new(&setup_2.options), "one").await.unwrap();
    get(&cluster).await.unwrap();
    assert_eq!(runs(setup_2.folder.path()), 2);
}

#[tokio::test]
async fn credentials_that_stay_refused_are_tried_twice() {
    let fake = Fake::serve(|_, _| Reply::Answer(401, vec![], vec![])).await;
    let setup = setup(&fake.url, &prints("{\"token\":\"hunter2\"}"), "");
    let cluster = connect(&setup, &Kubeconfigs::new(&setup.options), "one").await.unwrap();
    let error = get(&cluster).await.unwrap_err();
    assert_eq!(
        (error.kind, error.context.user.as_deref()),
        (CallErrorKind::Unauthorized, Some("dev"))
    );
    assert_eq!((runs(setup.folder.path()), fake.seen().len()), (2, 2));
}

#[tokio::test]
async fn a_plugin_that_fails_says_why_and_runs_once() {
    let setup =
        setup("http://127.0.0.1:9", "echo first >&2; echo 'session expired' >&2; exit 3", "");
    let shared = Kubeconfigs::new(&setup.options);
    for context in ["one", "two"] {
        let error = connect(&setup, &shared, context).await.unwrap_err();
        assert_eq!(error.exit(), Exit::Unreachable);
        let text = error.to_string();
        assert!(text.starts_with("no credentials for user `dev`: the command `"), "{text}");
        assert!(text.ends_with("/plugin` exited with 3: first / session expired"), "{text}");
    }
    assert_eq!(runs(setup.folder.path()), 1);
}

#[tokio::test]
async fn a_plugin_that_hangs_is_ended_with_its_children() {
    let mut setup =
        setup("http://127.0.0.1:9", "sleep 600 & echo $! > \"$(dirname \"$0\")/child\"; wait", "");
    setup.options.credential_timeout = Duration::from_millis(300);
    let error = connect(&setup, &Kubeconfigs::new(&setup.options), "one").await.unwrap_err();
    assert!(error.to_string().contains("did not end within"), "{error}");
    let child = std::fs::read_to_string(setup.folder.path().join("child")).unwrap();
    let child = rustix::process::Pid::from_raw(child.trim().parse().unwrap()).unwrap();
    // It is killed, but may be a zombie of init for a moment.
    let ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero()));
        stat.is_err()
            || stat.is_ok_and(|s| s.contains(") Z ") || s.contains(") X "))
            || rustix::process::test_kill_process(child).is_err()
    };
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while !ended() {
        assert!(std::time::Instant::now() < deadline, "the child still runs");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancelled_run_does_not_wait_for_a_plugin() {
    let setup = setup("http://127.0.0.1:9", "sleep 600", "");
    setup.options.cancel.cancel();
    let error = connect(&setup, &Kubeconfigs::new(&setup.options), "one").await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Cancelled);
}

#[tokio::test]
async fn a_plugin_gets_what_it_is_promised_and_no_terminal() {
    let script = format!(
        "printf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$(dirname \"$0\")/info\"; cat > \"$(dirname \"$0\")/stdin\"; [ \"$REGION\" = eu ] && [ \"$1\" = login ] && {}",
        prints("{\"token\":\"t\"}")
    );
    let more = ", args: [login], env: [{name: REGION, value: eu}], provideClusterInfo: true";
    let setup = setup("http://127.0.0.1:9", &script, more);
    connect(&setup, &Kubeconfigs::new(&setup.options), "one").await.unwrap();
    let read = |name: &str| std::fs::read_to_string(setup.folder.path().join(name)).unwrap();
    let info: serde_json::Value = serde_json::from_str(&read("info")).unwrap();
    let expected = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "spec": {"interactive": false, "cluster": {"server": "http://127.0.0.1:9"}},
    });
    assert_eq!(info, expected);
    assert_eq!(read("stdin"), "");
}

#[tokio::test]
async fn plugins_that_cannot_work_are_configuration_errors() {
    let exec = |fields: &str| {
        Setup::new(
            "http://127.0.0.1:9",
            &format!("exec: {{apiVersion: client.authentication.k8s.io/v1, {fields}}}"),
        )
    };
    let cases = [
        (exec("interactiveMode: Never"), Exit::Config, "its `exec` names no command"),
        (exec("command: x, interactiveMode: Always"), Exit::Config, "wants a terminal"),
        (
            exec("command: no-such-command, installHint: brew install it"),
            Exit::Unreachable,
            "`no-such-command` cannot be run: No such file or directory (os error 2) (brew install it)",
        ),
    ];
    for (setup, exit, expected) in cases {
        let error = connect(&setup, &Kubeconfigs::new(&setup.options), "one").await.unwrap_err();
        assert_eq!(error.exit(), exit);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn credentials_are_read_from_json_and_yaml_and_never_shown() {
    let token = parse(b"{\"status\": {\"token\": \"hunter2\", \"expirationTimestamp\": \"2030-01-01T00:00:00Z\"}}").unwrap();
    assert!(token.expires.is_some() && !format!("{token:?}").contains("hunter2"));
    let pem = parse(b"status:\n  clientCertificateData: |\n    A\n  clientKeyData: B\n").unwrap();
    assert_eq!(pem.certificate, Some(("A\n".to_owned(), "B".to_owned())));
    let mut user = AuthInfo::default();
    pem.put_into(&mut user);
    assert_eq!(user.client_certificate_data.as_deref(), Some("QQo="));
    for nothing in ["", "{}", "status: {}", "{\"status\": {\"token\": \"\"}}", "\u{0}", "[1]"] {
        assert!(parse(nothing.as_bytes()).is_none(), "{nothing:?}");
    }
}
