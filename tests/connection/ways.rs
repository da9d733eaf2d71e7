//! The ways to a server: a pod's service account, proxies, plugins, certificates, lists of kubeconfigs.

use super::*;

#[tokio::test]
async fn in_a_cluster_the_pods_service_account_is_used() {
    let namespace = namespace();
    let bed = Bed::shared();
    let cluster = bed.cluster("us-east");
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig: Value =
        serde_json::from_slice(&std::fs::read(bed.kubeconfig(&[us_east()]).path()).unwrap())
            .unwrap();
    let ca = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap();
    let pem = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, ca).unwrap();
    let mut options = ConnectOptions::default();
    let mut spec = spec("pod");
    spec.in_cluster = true;
    let connect = async |options: &ConnectOptions| {
        let kubeconfigs = Kubeconfigs::new(options);
        let notes = Heard::default().notes();
        Cluster::connect(&spec.name, &spec, &kubeconfigs, options, notes).await
    };
    let (exit, text) = read(connect(&options).await.unwrap_err());
    assert_eq!(exit, Exit::Config);
    assert!(text.contains("works only in a pod"), "{text}");
    assert!(text.contains("KUBERNETES_SERVICE_HOST is not set"), "{text}");

    options.environment.service_host = Some(cluster.address().ip().to_string());
    options.environment.service_port = Some(cluster.address().port().to_string());
    options.environment.service_account = Some(folder.path().to_owned());
    std::fs::write(folder.path().join("ca.crt"), pem).unwrap();
    let (_, text) = read(connect(&options).await.unwrap_err());
    assert!(text.contains("/token`: No such file"), "{text}");

    let write = |token: &str| std::fs::write(folder.path().join("token"), token).unwrap();
    write("stale");
    let pod = connect(&options).await.unwrap();
    assert_eq!(pod.version().await.unwrap_err().kind, CallErrorKind::Unauthorized);
    write(&cluster.service_account_token(namespace.name(), "default"));
    pod.version().await.unwrap();
    let account = format!("system:serviceaccount:{}:default", namespace.name());
    assert_eq!(pod.whoami().await.unwrap(), account);
}

/// A tunnel as proxies for https make them (CONNECT); counts what it was asked for.
async fn tunnel() -> (String, Arc<Mutex<Vec<String>>>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    tokio::spawn(async move {
        loop {
            let (mut near, _) = socket.accept().await.unwrap();
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(near.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let to = head.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
                seen.lock().unwrap().push(to.to_owned());
                let mut far = tokio::net::TcpStream::connect(to).await.unwrap();
                near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                tokio::io::copy_bidirectional(&mut near, &mut far).await.ok();
            });
        }
    });
    (url, asked)
}

#[tokio::test]
async fn a_proxy_of_the_kubeconfig_is_used() {
    let (proxy, asked) = tunnel().await;
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = Bed::shared().kubeconfig(&[us_east()]);
    let path = folder.path().join("config");
    rewrite(kubeconfig.path(), &path, |cluster| cluster["proxy-url"] = proxy.clone().into());
    let (cluster, _) = connect(&options(&path), "us-east").await.unwrap();
    cluster.version().await.unwrap();
    let address = Bed::shared().cluster("us-east").address().to_string();
    assert_eq!(*asked.lock().unwrap(), [address]);

    rewrite(kubeconfig.path(), &path, |cluster| cluster["proxy-url"] = "http://127.0.0.1:1".into());
    let (cluster, _) = connect(&options(&path), "us-east").await.unwrap();
    let (exit, text) = read(cluster.version().await.unwrap_err());
    assert_eq!(exit, Exit::Unreachable);
    assert!(text.contains("connection refused"), "{text}");
}

/// A plugin that gives a client certificate, as some clouds do; it runs in the environment that the
/// kubeconfig says.
#[tokio::test]
async fn a_credential_plugin_may_give_a_certificate() {
    let bed = Bed::shared();
    let kubeconfig = bed.kubeconfig(&[us_east().as_user(User::named("exec-dev"))]);
    let mut config: Value =
        serde_json::from_slice(&std::fs::read(kubeconfig.path()).unwrap()).unwrap();
    let user = config["users"][0]["user"].take();
    let pem = |key: &str| {
        let text = user[key].as_str().unwrap();
        let engine = &base64::engine::general_purpose::STANDARD;
        String::from_utf8(base64::Engine::decode(engine, text).unwrap()).unwrap()
    };
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {
            "clientCertificateData": pem("client-certificate-data"),
            "clientKeyData": pem("client-key-data"),
        },
    });
    config["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
        "args": ["-c", "printf '%s' \"$CREDENTIAL\""], "interactiveMode": "Never",
        "env": [{"name": "CREDENTIAL", "value": credential.to_string()}],
    }});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, config.to_string()).unwrap();
    let (cluster, _) = connect(&options(&path), "us-east").await.unwrap();
    assert_eq!(cluster.whoami().await.unwrap(), "exec-dev");
}

#[tokio::test]
async fn certificates_are_verified() {
    let (cluster, heard) = through(us_east().trusting(Bed::shared().cluster("eu-west"))).await;
    let started = Instant::now();
    let (exit, text) = read(cluster.version().await.unwrap_err());
    assert_eq!(exit, Exit::Unreachable);
    assert!(text.to_lowercase().contains("certificate"), "{text}");
    // It does not get better by trying again.
    assert_eq!(heard.retries(), [""; 0]);
    assert!(started.elapsed() < Duration::from_secs(5));

    for (flaw, words, hint) in [
        (
            Flaw::Expired,
            "its certificate expired on 2022-01-01",
            "have the server's certificate renewed",
        ),
        (
            Flaw::Early,
            "its certificate is not valid yet before 2048-01-01",
            "set this machine's clock",
        ),
        (
            Flaw::OtherName,
            "its certificate is for `elsewhere.example.com`, not for `127.0.0.1`",
            "`tls-server-name`",
        ),
        (Flaw::Plain, "it does not answer by TLS", "the address, and the port, of an API server"),
    ] {
        let impostor = Impostor::start(flaw);
        let context = us_east().at_server(impostor.server()).trusting_ca(impostor.ca());
        let (cluster, heard) = through(context).await;
        let (exit, text) = read(cluster.version().await.unwrap_err());
        assert_eq!(exit, Exit::Unreachable, "{flaw:?}: {text}");
        assert!(text.contains("is not trusted: ") && text.contains(words), "{flaw:?}: {text}");
        assert!(text.contains(hint), "{flaw:?}: {text}");
        assert_eq!(heard.retries(), [""; 0], "{flaw:?}");
    }

    let (cluster, heard) = through(us_east().without_verification()).await;
    cluster.version().await.unwrap();
    assert_eq!(heard.0.lock().unwrap()[..], [Note::InsecureTls]);
    assert!(cluster.server().insecure && cluster.server().ca_digest.is_none());
}

/// Changes the clusters of a kubeconfig (which is JSON) and writes it elsewhere.
fn rewrite(kubeconfig: &Path, to: &Path, change: impl Fn(&mut Value)) {
    let mut config: Value = serde_json::from_slice(&std::fs::read(kubeconfig).unwrap()).unwrap();
    for cluster in config["clusters"].as_array_mut().unwrap() {
        change(&mut cluster["cluster"]);
    }
    std::fs::write(to, config.to_string()).unwrap();
}

#[tokio::test]
async fn the_servers_name_can_be_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = Bed::shared().kubeconfig(&[us_east()]);
    let path = folder.path().join("config");
    for (name, fine) in [("kubernetes.default.svc", true), ("wrong.example", false)] {
        rewrite(kubeconfig.path(), &path, |cluster| cluster["tls-server-name"] = name.into());
        let (cluster, _) = connect(&options(&path), "us-east").await.unwrap();
        let version = cluster.version().await;
        assert_eq!(version.is_ok(), fine, "{name}: {version:?}");
    }
}

#[tokio::test]
async fn a_kubeconfig_list_with_missing_and_relative_entries() {
    let folder = tempfile::tempdir().unwrap();
    let bed = Bed::shared();
    let east = bed.kubeconfig(&[us_east()]);
    let west = bed.kubeconfig(&[Context::of(bed.cluster("us-west"))]);
    // The authority of the first is a file beside it, named by a relative path.
    let moved = folder.path().join("east");
    rewrite(east.path(), &moved, |cluster| {
        let data = cluster["certificate-authority-data"].take();
        let pem = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            data.as_str().unwrap(),
        );
        std::fs::write(folder.path().join("ca.pem"), pem.unwrap()).unwrap();
        cluster.as_object_mut().unwrap().remove("certificate-authority-data");
        cluster["certificate-authority"] = "ca.pem".into();
    });
    let list = [folder.path().join("missing"), PathBuf::new(), moved, west.path().to_owned()];
    let mut options = ConnectOptions::default();
    options.environment.kubeconfig = Some(std::env::join_paths(list).unwrap());
    for context in ["us-east", "us-west"] {
        let (cluster, _) = connect(&options, context).await.unwrap();
        cluster.version().await.unwrap();
        assert!(cluster.server().ca_digest.is_some());
    }
    let error = connect(&options, "us-eats").await.unwrap_err();
    let (exit, text) = read(error);
    assert_eq!(exit, Exit::Config);
    assert!(text.contains("no context `us-eats`") && text.contains("is it `us-east`?"), "{text}");
}
