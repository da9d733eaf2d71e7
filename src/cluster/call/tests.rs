//! Bad days: retries, hangs, resets, garbage, cancellation, against a server that does as told.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::cluster::fake::{Fake, Reply, Setup};
use crate::cluster::refusal::Refusal;
use crate::cluster::{Apply, Resource};
use crate::config::TargetName;
use crate::error::Exit;
use crate::manifest::Gvk;

fn deployments() -> Resource {
    Resource::new(Gvk::new("apps/v1", "Deployment"), "deployments", true)
}

fn web() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}})
}

fn status(code: u16, message: &str) -> Reply {
    Reply::json(code, &json!({"kind": "Status", "message": message, "code": code}))
}

async fn get(cluster: &Cluster) -> CallResult<Option<Value>> {
    cluster.get(&deployments(), Some("shop"), "web").await
}

async fn apply(cluster: &Cluster, dry_run: bool) -> CallResult<crate::cluster::Applied> {
    let how = Apply { manager: "mcd:shop/web", force: false, dry_run };
    cluster.apply(&deployments(), Some("shop"), "web", &web(), how).await
}

/// What the user reads.
fn story(error: CallError) -> (Exit, String) {
    let error = error.into_error(&TargetName::new("us-east"), None);
    let hints: String = error.hints().iter().map(|hint| format!("\nhint: {hint}")).collect();
    (error.exit(), format!("{error}{hints}"))
}

#[tokio::test]
async fn transient_answers_are_retried_and_each_retry_is_told() {
    let fake = Fake::serve(|_, n| match n {
        0 => status(503, "down"),
        1 => status(429, "slow").with("Retry-After: 0"),
        2 => status(500, "failed calling webhook \"x\": connection refused"),
        _ => Reply::json(200, &web()),
    })
    .await;
    let setup = Setup::new(&fake.url, "");
    assert_eq!(get(&setup.connect().await).await.unwrap(), Some(web()));
    let whys: Vec<_> = setup
        .noted()
        .into_iter()
        .map(|note| match note {
            Note::Retry { call, attempt, why, .. } => format!("{call} {attempt} {why}"),
            Note::Answers => "answers".to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "GET Deployment shop/web 1 503 Service Unavailable",
        "GET Deployment shop/web 2 429 Too Many Requests",
        "GET Deployment shop/web 3 500, a webhook could not be called",
        "answers",
    ];
    assert_eq!(whys, expected);
}

#[tokio::test]
async fn retries_end() {
    let fake = Fake::serve(|_, _| status(503, "the server is unhealthy")).await;
    let setup = Setup::new(&fake.url, "");
    let (exit, text) = story(get(&setup.connect().await).await.unwrap_err());
    assert_eq!((exit, fake.seen().len()), (Exit::Unreachable, 4));
    assert!(
        text.contains("is not available") && text.contains("the server is unhealthy"),
        "{text}"
    );
}

#[tokio::test]
async fn a_retry_after_beyond_the_deadline_fails_at_once() {
    let fake = Fake::serve(|_, _| status(429, "").with("Retry-After: 3600")).await;
    let setup = Setup::new(&fake.url, "");
    let error = get(&setup.connect().await).await.unwrap_err();
    assert_eq!(error.refusal(), Some(&Refusal::Throttled));
    assert_eq!((fake.seen().len(), setup.noted().len()), (1, 0));
}

#[tokio::test]
async fn the_users_mistakes_are_not_retried() {
    let fake = Fake::serve(|_, _| {
        status(500, "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.x: field not declared in schema")
    })
    .await;
    let setup = Setup::new(&fake.url, "");
    let (exit, text) = story(apply(&setup.connect().await, false).await.unwrap_err());
    assert_eq!((exit, fake.seen().len()), (Exit::Manifest, 1));
    assert!(text.contains(".spec.x: field not declared in schema"), "{text}");
}

#[tokio::test]
async fn a_refused_connection_names_the_address_and_is_given_up_soon() {
    let fake = Fake::serve(|_, _| Reply::Close).await;
    let (url, setup) = (fake.url.clone(), Setup::new(&fake.url, ""));
    drop(fake);
    // The listener is closed once its task has ended.
    while tokio::net::TcpStream::connect(url.trim_start_matches("http://")).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let (exit, text) = story(get(&setup.connect().await).await.unwrap_err());
    let host = url.trim_start_matches("http://");
    assert_eq!(exit, Exit::Unreachable);
    let expected = format!("us-east: `{host}` cannot be reached: connection refused\nhint: ");
    assert!(text.starts_with(&expected), "{text}");
    assert_eq!(setup.noted().len(), 3);
}

#[tokio::test]
async fn an_unknown_host_says_so() {
    let mut setup = Setup::new("http://no-such-host.invalid:6443", "");
    setup.options.retry = crate::cluster::RetryPolicy::none();
    let (exit, text) = story(get(&setup.connect().await).await.unwrap_err());
    assert_eq!(exit, Exit::Unreachable);
    assert!(text.contains("`no-such-host.invalid:6443` cannot be reached: "), "{text}");
    assert!(!text.contains("client error"), "{text}");
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_body_included() {
    for reply in [|| Reply::Hang, || Reply::Partial { hang: true }] {
        let fake = Fake::serve(move |_, _| reply()).await;
        let mut setup = Setup::new(&fake.url, "");
        setup.options.request_timeout = Duration::from_millis(100);
        let error = apply(&setup.connect().await, false).await.unwrap_err();
        let after = Duration::from_millis(100);
        assert_eq!(error.kind, CallErrorKind::Timeout { after });
        let (exit, text) = story(error);
        assert_eq!((exit, fake.seen().len()), (Exit::Unreachable, 1));
        assert!(text.contains("gave no answer within 0.1s: PATCH Deployment shop/web"), "{text}");
    }
}

#[tokio::test]
async fn a_broken_connection_is_retried_unless_a_create_may_have_happened() {
    let fake = Fake::serve(|_, n| match n {
        0 => Reply::Close,
        1 => Reply::Partial { hang: false },
        _ => Reply::json(200, &web()),
    })
    .await;
    let setup = Setup::new(&fake.url, "");
    apply(&setup.connect().await, false).await.unwrap();
    assert_eq!(fake.seen().len(), 3);

    let fake = Fake::serve(|_, _| Reply::Close).await;
    let setup = Setup::new(&fake.url, "");
    let cluster = setup.connect().await;
    let error = cluster.create(&deployments(), Some("shop"), &web(), "mcd").await.unwrap_err();
    assert!(matches!(error.kind, CallErrorKind::Unreachable { .. }), "{error:?}");
    assert_eq!((fake.seen().len(), setup.noted().len()), (1, 0));
    // What the server says that it did not do may be done again.
    let fake = Fake::serve(|_, n| match n {
        0 => status(503, ""),
        _ => Reply::json(201, &web()),
    })
    .await;
    let setup = Setup::new(&fake.url, "");
    let cluster = setup.connect().await;
    cluster.create(&deployments(), Some("shop"), &web(), "mcd").await.unwrap();
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn answers_that_are_none_are_errors_that_show_nothing_of_them() {
    type Make = fn() -> Reply;
    let html = || Reply::Answer(200, vec!["Content-Type: text/html".into()], b"<b>hunter2".into());
    let cases: [(Make, &str); 5] = [
        (html, "status 200, 10 bytes of text/html: it is not JSON (line 1 column 1)"),
        (|| Reply::Answer(200, vec![], b"{\"a\": \"hunter2".into()), "it is not JSON"),
        (|| Reply::json(200, &json!(["hunter2"])), "it is not a JSON object"),
        (
            || Reply::Answer(302, vec!["Location: https://login/hunter2".into()], vec![]),
            "status 302",
        ),
        (|| Reply::Answer(404, vec![], b"<html>hunter2".into()), "status 404"),
    ];
    for (reply, expected) in cases {
        let fake = Fake::serve(move |_, _| reply()).await;
        let setup = Setup::new(&fake.url, "");
        let (exit, text) = story(get(&setup.connect().await).await.unwrap_err());
        assert_eq!(exit, Exit::Unreachable);
        assert!(text.contains(expected) && !text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn warnings_are_told_once_for_an_object_and_withheld_for_secrets() {
    let fake = Fake::serve(|_, _| {
        Reply::json(200, &web()).with("Warning: 299 - \"a \\\"b\\\" is deprecated\"")
    })
    .await;
    let setup = Setup::new(&fake.url, "");
    let cluster = setup.connect().await;
    assert_eq!(apply(&cluster, true).await.unwrap().warnings, ["a \"b\" is deprecated"]);
    apply(&cluster, false).await.unwrap();
    let secrets = Resource::new(Gvk::new("v1", "Secret"), "secrets", true);
    cluster.get(&secrets, Some("shop"), "web").await.unwrap();
    let texts: Vec<_> = setup
        .noted()
        .into_iter()
        .map(|note| match note {
            Note::Warning { object, text } => format!("{}: {text}", object.unwrap()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert_eq!(texts[0], "Deployment shop/web: a \"b\" is deprecated");
    assert!(texts[1].starts_with("Secret shop/web: ") && !texts[1].contains("deprecated"));
}

#[tokio::test]
async fn the_servers_time_is_learned() {
    let skew = SignedDuration::from_hours(5);
    let date = (Timestamp::now() + skew).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let fake =
        Fake::serve(move |_, _| Reply::json(200, &web()).with(&format!("Date: {date}"))).await;
    let setup = Setup::new(&fake.url, "");
    let cluster = setup.connect().await;
    let near = |expected: Timestamp| {
        let off = cluster.now().duration_since(expected).abs();
        assert!(off < SignedDuration::from_secs(2), "{off}");
    };
    near(Timestamp::now());
    get(&cluster).await.unwrap();
    near(Timestamp::now() + skew);
}

#[tokio::test]
async fn a_cancelled_run_leaves_reads_and_finishes_writes() {
    let (asked, was_asked) = tokio::sync::mpsc::unbounded_channel();
    let fake = Fake::serve(move |seen, n| {
        asked.send(()).unwrap();
        if seen.line.starts_with("GET") && n == 0 { Reply::Hang } else { Reply::json(200, &web()) }
    })
    .await;
    let mut was_asked = was_asked;
    let setup = Setup::new(&fake.url, "");
    let cluster = setup.connect().await;
    let cancel = setup.options.cancel.clone();
    let waiting = tokio::spawn({
        let cluster = cluster.clone();
        async move { get(&cluster).await }
    });
    was_asked.recv().await.unwrap();
    cancel.cancel();
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!((error.kind.clone(), error.exit()), (CallErrorKind::Cancelled, Exit::Interrupted));
    // Nothing new starts, except for what has to be tidied up.
    assert_eq!(apply(&cluster, false).await.unwrap_err().kind, CallErrorKind::Cancelled);
    assert_eq!(fake.seen().len(), 1);
    apply(&cluster.uncancelled(), false).await.unwrap();
}

#[tokio::test]
async fn a_write_in_flight_is_waited_for() {
    let token = tokio_util::sync::CancellationToken::new();
    let cancel = token.clone();
    // The run is cancelled while the server has the write in hand.
    let fake = Fake::serve(move |_, _| {
        cancel.cancel();
        Reply::json(201, &web())
    })
    .await;
    let mut setup = Setup::new(&fake.url, "");
    setup.options.cancel = token.clone();
    let applied = apply(&setup.connect().await, false).await.unwrap();
    assert!(applied.created && token.is_cancelled());
}

#[tokio::test]
async fn a_write_that_failed_says_why_although_the_run_was_cancelled() {
    let token = tokio_util::sync::CancellationToken::new();
    let cancel = token.clone();
    let fake = Fake::serve(move |_, _| {
        cancel.cancel();
        status(503, "")
    })
    .await;
    let mut setup = Setup::new(&fake.url, "");
    setup.options.cancel = token;
    setup.options.retry.base = Duration::from_secs(20);
    setup.options.retry.max = Duration::from_secs(20);
    let error = apply(&setup.connect().await, false).await.unwrap_err();
    assert!(matches!(error.refusal(), Some(Refusal::Unavailable { .. })), "{error:?}");
}

#[tokio::test]
async fn refused_credentials_name_the_user_and_never_the_token() {
    let fake = Fake::serve(|_, _| status(401, "Unauthorized")).await;
    let setup = Setup::new(&fake.url, "token: hunter2");
    let error = get(&setup.connect().await).await.unwrap_err();
    assert_eq!(fake.seen()[0].header("authorization"), ["Bearer hunter2"]);
    let debug = format!("{error:?}");
    let (exit, text) = story(error);
    assert_eq!((exit, fake.seen().len()), (Exit::Unreachable, 1));
    assert!(text.contains("refused the credentials of user `dev` (401)"), "{text}");
    assert!(text.contains("hint: log in again"), "{text}");
    assert!(!text.contains("hunter2") && !debug.contains("hunter2"));
}

#[tokio::test]
async fn calls_at_once_are_limited() {
    let (busy, peak) = (
        std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)),
        std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)),
    );
    use std::sync::atomic::Ordering::SeqCst;
    let fake = Fake::serve(|_, _| Reply::json(200, &web())).await;
    let mut setup = Setup::new(&fake.url, "");
    setup.options.parallel = 2;
    let cluster = setup.connect().await;
    let calls = (0..12).map(|_| {
        let (cluster, busy, peak) = (cluster.clone(), busy.clone(), peak.clone());
        async move {
            let used = 2 - cluster.inner.permits.available_permits();
            peak.fetch_max(used, SeqCst);
            busy.fetch_add(1, SeqCst);
            get(&cluster).await.unwrap();
        }
    });
    futures::future::join_all(calls).await;
    assert_eq!((busy.load(SeqCst), fake.seen().len()), (12, 12));
    assert!(peak.load(SeqCst) <= 2);
    assert_eq!(cluster.inner.permits.available_permits(), 2);
}
