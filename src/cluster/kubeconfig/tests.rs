//! Kubeconfigs on disk, by kubectl's rules.

use super::*;
use crate::cluster::fake::spec;
use crate::error::Exit;

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Files { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A kubeconfig with one context, whose cluster is named the same.
    fn context(&self, file: &str, name: &str, server: &str) -> PathBuf {
        self.write(
            file,
            &format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters: [{{name: {name}, cluster: {{server: '{server}'}}}}]\n\
                 contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\nusers: [{{name: {name}, user: {{token: hunter2}}}}]\n"
            ),
        )
    }

    fn list(&self, paths: &[PathBuf]) -> Kubeconfigs {
        Kubeconfigs::new(&ConnectOptions {
            environment: Environment {
                kubeconfig: Some(std::env::join_paths(paths).unwrap()),
                home: Some(self.folder.path().join("home")),
                ..Environment::default()
            },
            ..ConnectOptions::default()
        })
    }
}

fn server(kubeconfigs: &Kubeconfigs, context: &str) -> String {
    kubeconfigs.check(&spec(context, None)).unwrap().url
}

fn error(kubeconfigs: &Kubeconfigs, context: &str) -> String {
    let error = kubeconfigs.check(&spec(context, None)).unwrap_err();
    assert_eq!(error.exit(), Exit::Config);
    let hints: String = error.hints().iter().map(|hint| format!("\n{hint}")).collect();
    let text = format!("{error}{hints}");
    assert!(!text.contains("hunter2"), "{text}");
    text
}

const ENDS: &str = "https://one.example:6443";

#[test]
fn a_list_skips_missing_and_empty_entries_and_the_first_wins() {
    let files = Files::new();
    let first = files.context("a", "one", ENDS);
    let second = files.context("b", "one", "https://other.example");
    let third = files.context("c", "two", "https://two.example");
    let missing = files.folder.path().join("missing");
    let list = files.list(&[missing, PathBuf::new(), first, second, third]);
    assert_eq!(server(&list, "one"), ENDS);
    assert_eq!(server(&list, "two"), "https://two.example:443");
    assert_eq!(list.contexts(None).unwrap(), ["one", "two"]);
}

#[test]
fn an_explicit_file_beats_the_list_and_the_fleets_beats_both() {
    let files = Files::new();
    let ambient = files.context("a", "one", "https://ambient.example");
    let flag = files.context("b", "one", "https://flag.example");
    let fleet = files.context("c", "one", "https://fleet.example");
    let mut options = ConnectOptions::default();
    options.environment.kubeconfig = Some(ambient.into_os_string());
    options.kubeconfig = Some(flag);
    let kubeconfigs = Kubeconfigs::new(&options);
    assert_eq!(server(&kubeconfigs, "one"), "https://flag.example:443");
    let of_fleet = spec("one", Some(fleet));
    assert_eq!(kubeconfigs.check(&of_fleet).unwrap().url, "https://fleet.example:443");
    let missing = spec("one", Some(files.folder.path().join("missing")));
    let error = kubeconfigs.check(&missing).unwrap_err();
    assert!(error.to_string().ends_with("missing` is missing"), "{error}");
}

#[test]
fn the_home_folders_file_is_the_last_resort_and_absent_is_told() {
    let files = Files::new();
    files.context("home/.kube/config", "one", ENDS);
    assert_eq!(server(&files.list(&[]), "one"), ENDS);
    let absent = Files::new();
    let text = error(&absent.list(&[absent.folder.path().join("x")]), "one");
    assert!(text.contains("no context `one` in the kubeconfig: `"), "{text}");
    assert!(text.contains("/x` is missing\nthe kubeconfig has no contexts"), "{text}");
}

#[test]
fn an_unknown_context_is_never_the_current_one() {
    let files = Files::new();
    let paths =
        [files.context("a", "prod-us-east", ENDS), files.context("b", "prod-us-west", ENDS)];
    let text = error(&files.list(&paths), "prod-us-eats");
    assert!(text.contains("no context `prod-us-eats` in the kubeconfig"), "{text}");
    assert!(text.contains("\nis it `prod-us-east`?"), "{text}");
    assert!(text.contains("\nthe contexts are `prod-us-east`, `prod-us-west`"), "{text}");
    assert!(error(&files.list(&paths), "").contains("names no kubeconfig context"));
}

#[test]
fn paths_are_relative_to_their_own_file() {
    let files = Files::new();
    let pem = "-----BEGIN CERTIFICATE-----\nAQIDBA==\n-----END CERTIFICATE-----\n";
    files.write("sub/pki/ca.pem", pem);
    let text = "clusters: [{name: c, cluster: {server: 'https://one.example', certificate-authority: pki/ca.pem}}]\ncontexts: [{name: one, context: {cluster: c}}]\n";
    let list = files.list(&[files.write("sub/config", text)]);
    let server = list.check(&spec("one", None)).unwrap();
    // The sha256 of the bytes 1, 2, 3, 4.
    let digest = "9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a";
    assert_eq!(server.ca_digest.as_deref(), Some(digest));
    let list = files.list(&[files.write("config", text)]);
    assert!(self::error(&list, "one").contains("`certificate-authority` `"));
}

#[test]
fn what_a_context_names_must_be_there() {
    let files = Files::new();
    let context = |fields: &str| {
        let text = format!(
            "clusters: [{{name: c, cluster: {{server: 'https://a'}}}}, {{name: odd, cluster: {{server: 'ftp://a'}}}}, {{name: empty}}, \
             {{name: ca, cluster: {{server: 'https://a', certificate-authority-data: aHVudGVyMg==}}}}]\n\
             contexts: [{{name: one, context: {{{fields}}}}}]\nusers: [{{name: u, user: {{}}}}]"
        );
        files.list(&[files.write("config", &text)])
    };
    assert_eq!(server(&context("cluster: c"), "one"), "https://a:443");
    let cases = [
        ("cluster: nope, user: u", "no cluster `nope` in the kubeconfig"),
        ("cluster: empty, user: u", "no cluster `empty` in the kubeconfig"),
        ("cluster: c, user: nope", "no user `nope` in the kubeconfig"),
        ("cluster: odd", "its `server` is not an http or https URL"),
        ("cluster: ca", "its `certificate-authority-data` has no certificate"),
    ];
    for (fields, expected) in cases {
        let text = error(&context(fields), "one");
        assert!(text.contains(expected) && text.contains("context `one`"), "{text}");
    }
}

#[test]
fn a_broken_file_is_an_error_with_its_place_and_without_its_text() {
    let files = Files::new();
    let fine = files.context("a", "one", ENDS);
    for (broken, line) in [
        ("users:\n- name: u\n  user: {token: hunter2", ":"),
        ("users:\n- name: u\n  user: hunter2\n", ":3:"),
        ("clusters:\n  hunter2: x\n", ":"),
        ("\thunter2", ":1:"),
    ] {
        let path = files.write("broken", broken);
        let text = error(&files.list(&[fine.clone(), path]), "one");
        assert!(text.contains("broken` cannot be read"), "{text}");
        assert!(text.contains(&format!("/broken{line}")), "{text}");
    }
    let folder = files.list(&[files.folder.path().to_owned()]);
    assert!(error(&folder, "one").contains("cannot be read"));
}

#[test]
fn insecure_and_server_are_told_and_tls_names_are_taken() {
    let files = Files::new();
    let text = "clusters: [{name: c, cluster: {server: 'https://me:hunter2@a.example:8443/k8s/', insecure-skip-tls-verify: true, tls-server-name: b.example, proxy-url: 'http://p:1'}}]\ncontexts: [{name: one, context: {cluster: c}}]\n";
    let list = files.list(&[files.write("config", text)]);
    let entry = list.entry(&spec("one", None), &ConnectOptions::default()).unwrap();
    assert!(entry.server.insecure);
    assert_eq!(entry.server.url, "https://a.example:8443/k8s");
    assert_eq!(entry.server.host, "a.example:8443");
    assert_eq!(entry.config.tls_server_name.as_deref(), Some("b.example"));
    assert_eq!(entry.config.proxy_url.unwrap().to_string(), "http://p:1/");
    assert!(!entry.config.default_retry);
}
