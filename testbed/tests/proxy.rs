//! The fault proxy, in front of a real cluster.

#![allow(clippy::unwrap_used, reason = "functions of a test are tests too")]

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use testbed::{
    Bed, Cluster, Fault, KillSwitch, Kubeconfig, Match, Proxy, Reply, TestNamespace, User, When,
    wait_for,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy in front of `us-east`, and what a client needs to go through it.
struct Setup {
    cluster: &'static Cluster,
    namespace: TestNamespace,
    proxy: Proxy,
    kubeconfig: Kubeconfig,
}

impl Setup {
    fn new() -> Setup {
        let bed = Bed::shared();
        let cluster = bed.cluster("us-east");
        let namespace = TestNamespace::new("proxy", std::slice::from_ref(cluster));
        let proxy = Proxy::start(cluster);
        let context = proxy.context().named("p").in_namespace(namespace.name());
        let kubeconfig = bed.kubeconfig(&[context]);
        Setup { cluster, namespace, proxy, kubeconfig }
    }

    /// kubectl through the proxy.
    fn kubectl(&self, args: &[&str]) -> Command {
        let mut command = Command::new(Bed::shared().tools_dir().join("bin/kubectl"));
        command
            .env("KUBECONFIG", &self.kubeconfig)
            .args(["--context=p", "--request-timeout=5s"])
            .args(args)
            .stdin(Stdio::null());
        command
    }

    /// Its success and stderr.
    fn run(&self, args: &[&str]) -> (bool, String) {
        let output = self.kubectl(args).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }

    fn exists(&self, config_map: &str) -> bool {
        let namespace = self.namespace.name();
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{config_map}");
        self.cluster.call("GET", &path, None).unwrap().is_success()
    }
}

#[test]
fn everything_passes_until_it_is_told_otherwise() {
    let setup = Setup::new();
    assert_eq!(setup.run(&["create", "configmap", "a"]), (true, String::new()));
    let writes = setup.proxy.writes();
    assert_eq!(writes.len(), 1);
    assert_eq!((writes[0].method.as_str(), writes[0].status), ("POST", Some(201)));
    assert!(writes[0].path.contains("/configmaps?"), "{}", writes[0].path);
    assert!(!writes[0].faulted);
    assert!(setup.proxy.connections() > 0);
    // A dry run is not a write.
    assert!(setup.run(&["create", "configmap", "b", "--dry-run=server"]).0);
    assert_eq!(setup.proxy.writes().len(), 1);
    setup.proxy.clear_log();
    assert!(setup.proxy.requests().is_empty());
}

#[test]
fn users_stay_who_they_are() {
    let setup = Setup::new();
    let namespace = setup.namespace.name();
    let token = setup.cluster.service_account_token(namespace, "default");
    for (user, who) in [
        (User::Admin, "testbed-admin".to_owned()),
        (User::named("jane"), "jane".to_owned()),
        (User::Token(token), format!("system:serviceaccount:{namespace}:default")),
    ] {
        let kubeconfig = Kubeconfig::of(&[setup.proxy.context().named("p").as_user(user)]);
        let mut whoami =
            setup.kubectl(&["auth", "whoami", "-o=jsonpath={.status.userInfo.username}"]);
        let output = whoami.env("KUBECONFIG", &kubeconfig).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), who);
    }
}

#[test]
fn watches_pass_through_as_they_come() {
    let setup = Setup::new();
    let mut watch = setup
        .kubectl(&["get", "configmaps", "--watch-only", "-o=name", "--request-timeout=0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = watch.stdout.take().unwrap();
    wait_for("the watch is open", PATIENCE, || {
        let open = setup
            .proxy
            .requests()
            .iter()
            .any(|r| r.path.contains("watch=true") && r.status == Some(200));
        if open { Ok(()) } else { Err(format!("{:?}", setup.proxy.requests())) }
    });
    let path = format!("/api/v1/namespaces/{}/configmaps", setup.namespace.name());
    let made = json!({"metadata": {"name": "seen"}});
    assert_eq!(setup.cluster.call("POST", &path, Some(&made)).unwrap().status, 201);
    let line = std::io::BufRead::lines(std::io::BufReader::new(stdout))
        .map(Result::unwrap)
        .find(|line| line.contains("seen"));
    assert_eq!(line.as_deref(), Some("configmap/seen"));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn it_refuses_hangs_and_resets_at_one_address() {
    let setup = Setup::new();
    let get = ["get", "configmaps"];
    assert!(setup.run(&get).0);

    setup.proxy.refuse();
    let error = TcpStream::connect(setup.proxy.address()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    let (success, stderr) = setup.run(&get);
    assert!(!success && stderr.contains("refused"), "{stderr}");

    setup.proxy.hang();
    let start = Instant::now();
    let output =
        setup.kubectl(&["get", "--raw=/version", "--request-timeout=1s"]).output().unwrap();
    assert!(!output.status.success() && start.elapsed() >= Duration::from_millis(900));

    setup.proxy.reset();
    let (success, stderr) = setup.run(&["get", "--raw=/version"]);
    assert!(!success && (stderr.contains("reset") || stderr.contains("EOF")), "{stderr}");

    setup.proxy.open();
    assert!(setup.run(&get).0);
}

#[test]
fn it_answers_in_the_servers_place() {
    let setup = Setup::new();
    let patches = || Match::writes().method("POST").path("/configmaps").times(1);
    let reply = Reply::status(403).body("text/plain", "go away");
    setup.proxy.inject(patches(), Fault::Answer(reply));
    let (success, stderr) = setup.run(&["create", "configmap", "a"]);
    assert!(!success && stderr.contains("go away"), "{stderr}");
    assert!(!setup.exists("a"));
    // The rule is used up.
    assert!(setup.run(&["create", "configmap", "a"]).0);

    setup.proxy.inject(Match::any(), Fault::status(500));
    let (success, stderr) = setup.run(&["get", "--raw=/version"]);
    assert!(!success && stderr.contains("internal error of the test bed"), "{stderr}");
    setup.proxy.heal();
    // kubectl retries by itself when it is told to.
    setup.proxy.clear_log();
    let busy = Reply::status(429).retry_after(1);
    setup.proxy.inject(Match::any().path("/version").times(1), Fault::Answer(busy));
    let start = Instant::now();
    assert!(setup.run(&["get", "--raw=/version"]).0);
    assert!(start.elapsed() >= Duration::from_secs(1));
    let statuses: Vec<_> = setup.proxy.requests().iter().filter_map(|r| r.status).collect();
    assert_eq!(statuses, [429, 200]);
}

#[test]
fn requests_are_lost_before_or_after_the_server_saw_them() {
    let setup = Setup::new();
    let create = |name: &str| setup.run(&["create", "configmap", name]);
    let writes = || Match::writes().times(1);
    setup.proxy.inject(writes(), Fault::Reset);
    assert!(!create("before").0);
    assert!(!setup.exists("before"));

    setup.proxy.inject(writes(), Fault::ResetAfter);
    assert!(!create("after").0);
    assert!(setup.exists("after"));

    let start = Instant::now();
    setup.proxy.inject(writes(), Fault::Slow(Duration::from_secs(1)));
    assert!(create("slow").0 && start.elapsed() >= Duration::from_secs(1));

    let list = || Match::any().path("/configmaps").times(1);
    setup.proxy.inject(list(), Fault::Cut(10));
    let (success, stderr) = setup.run(&["get", "configmaps"]);
    assert!(!success, "{stderr}");
    setup.proxy.inject(list(), Fault::Stall(10));
    let start = Instant::now();
    let output = setup.kubectl(&["get", "configmaps", "--request-timeout=1s"]).output().unwrap();
    assert!(!output.status.success() && start.elapsed() >= Duration::from_millis(900));
    setup.proxy.inject(list(), Fault::Hang);
    assert!(
        !setup.kubectl(&["get", "configmaps", "--request-timeout=1s"]).status().unwrap().success()
    );
}

#[test]
fn a_test_can_act_while_a_request_is_held() {
    let setup = Setup::new();
    let spawn = |name: &str| -> Child {
        setup.kubectl(&["create", "configmap", name]).stdout(Stdio::null()).spawn().unwrap()
    };
    let hold = setup.proxy.hold(Match::writes());
    let mut child = spawn("held");
    assert_eq!(hold.wait(PATIENCE).method, "POST");
    assert!(!setup.exists("held"));
    hold.release();
    assert!(child.wait().unwrap().success());
    assert!(setup.exists("held"));

    let hold = setup.proxy.hold_answer(Match::writes());
    let mut child = spawn("answered");
    hold.wait(PATIENCE);
    assert!(setup.exists("answered"));
    assert!(child.try_wait().unwrap().is_none());
    drop(hold);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_process_is_ended_before_or_after_its_nth_write() {
    let setup = Setup::new();
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        std::fs::write(folder.path().join(format!("{name}.json")), object.to_string()).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    for (when, made) in [(When::Before, [true, false, false]), (When::After, [true, true, false])] {
        let switch = KillSwitch::at_write(2, when);
        setup.proxy.attach(&switch);
        let mut child =
            setup.kubectl(&["apply", "-f", folder]).stdout(Stdio::null()).spawn().unwrap();
        switch.target(&child);
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{when:?}");
        wait_for("the switch says so", PATIENCE, || {
            if switch.fired() { Ok(()) } else { Err(String::new()) }
        });
        assert_eq!(switch.writes(), 2);
        assert_eq!(["a", "b", "c"].map(|n| setup.exists(n)), made, "{when:?}");
        setup.run(&["delete", "configmap", "a", "b", "--ignore-not-found"]);
    }
}
