//! Which targets share a connection.

use serde_json::json;

use super::super::fake::{Fake, Reply, Setup, spec};
use super::*;

/// How often a server is asked for its version by targets of these contexts.
async fn asked(setup: &Setup, fake: &Fake, contexts: &[(&str, ConnectOptions)]) -> usize {
    let kubeconfigs = Kubeconfigs::new(&setup.options);
    let before = fake.seen().len();
    for (context, options) in contexts {
        let spec = spec(context, None);
        let cluster =
            Cluster::connect(&spec.name, &spec, &kubeconfigs, options, setup.collect()).await;
        cluster.unwrap().version().await.unwrap();
    }
    fake.seen().len() - before
}

#[tokio::test]
async fn targets_of_one_server_and_user_share_what_it_says() {
    let version = json!({"gitVersion": "v1.36.3", "major": "1", "minor": "36"});
    let fake = Fake::serve(move |_, _| Reply::json(200, &version)).await;
    let setup = Setup::new(&fake.url, "token: hunter2");
    let config = std::fs::read_to_string(setup.folder.path().join("config")).unwrap();
    // The same under other names, and another user.
    let more = config.replace(
        "users: [",
        "users: [{name: same, user: {token: hunter2}}, {name: other, user: {token: hunter3}}, ",
    );
    let more = more.replace(
        "contexts: [",
        "contexts: [{name: same, context: {cluster: c, user: same, namespace: shop}}, \
         {name: other, context: {cluster: c, user: other}}, ",
    );
    std::fs::write(setup.folder.path().join("config"), more).unwrap();
    let plain = || setup.options.clone();
    let someone = Impersonate { user: "ann".to_owned(), groups: vec![], uid: None };
    let as_someone = ConnectOptions { impersonate: Some(someone), ..plain() };

    assert_eq!(asked(&setup, &fake, &[("one", plain()), ("two", plain())]).await, 1);
    assert_eq!(asked(&setup, &fake, &[("one", plain()), ("same", plain())]).await, 1);
    assert_eq!(asked(&setup, &fake, &[("one", plain()), ("other", plain())]).await, 2);
    assert_eq!(asked(&setup, &fake, &[("one", plain()), ("one", as_someone)]).await, 2);
}
