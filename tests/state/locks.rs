//! Locks: who gets one, who takes one over, who loses one.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn of_six_that_lock_at_once_one_wins_and_the_next_gets_it_when_it_is_given_up() {
    let place = Place::new("lock").await;
    let results = futures::future::join_all((0..6).map(|_| place.lock(60))).await;
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 5));
    let (guard, holder, _) = won.into_iter().next().unwrap().unwrap();
    for error in lost {
        let error = error.err().unwrap();
        assert_eq!(error.exit(), Exit::Blocked, "{error}");
        assert!(error.message().starts_with("locked by alice@laptop, pid "), "{error}");
    }
    assert_eq!(place.holder().await, Some(holder.identity()));
    guard.fence().check().unwrap();
    let lease = place.get("leases", "mcd.web").await;
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 60);
    assert_eq!(lease["metadata"]["labels"]["mcd.dev/state"], place.names.app_label);

    let error = unlock(&place.cluster, &place.names).await.unwrap_err();
    assert_eq!(error.exit(), Exit::Blocked);
    assert!(error.hints()[0].contains("on this machine"), "{error:?}");

    guard.release().await.unwrap();
    assert_eq!(place.holder().await, None);
    assert_eq!(unlock(&place.cluster, &place.names).await.unwrap(), None);
    let (next, _, told) = place.lock(60).await.unwrap();
    assert_eq!(told, [] as [&str; 0], "nothing to wait for");
    next.remove().await.unwrap();
    assert_eq!(look(&place.cluster, &place.names).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_is_dropped_gives_the_lock_up() {
    let place = Place::new("lock").await;
    let (guard, _, _) = place.lock(60).await.unwrap();
    drop(guard);
    let started = Instant::now();
    while place.holder().await.is_some() {
        assert!(started.elapsed() < Duration::from_secs(20), "it is still held");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_was_killed_on_this_machine_is_taken_over_at_once() {
    let place = Place::new("lock").await;
    let (guard, holder, _) = place.lock(3600).await.unwrap();
    let mut lease = place.get("leases", "mcd.web").await;
    // The same lease, as a process would leave it that is no more.
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let mut process = serde_json::to_value(holder.process.unwrap()).unwrap();
    process["pid"] = pid.into();
    let identity = format!("alice@laptop, pid {pid}");
    lease["spec"]["holderIdentity"] = identity.clone().into();
    let note = json!({"identity": identity, "process": process}).to_string();
    lease["metadata"]["annotations"]["mcd.dev/holder"] = note.into();
    let (status, text) = place.call("PUT", place.path("leases", "mcd.web"), Some(lease)).await;
    assert_eq!(status, 200, "{text}");
    let (next, holder, told) = place.lock(60).await.unwrap();
    assert_eq!(told, [] as [&str; 0]);
    assert_eq!(place.holder().await, Some(holder.identity()));
    next.release().await.unwrap();
    drop(guard);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_elsewhere_is_watched_for_its_duration_and_taken_over_when_it_stood_still() {
    let place = Place::new("lock").await;
    place.foreign_lease(2, 0).await;
    let started = Instant::now();
    let (guard, holder, told) = place.lock(60).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(told, ["waiting up to 2 s to see whether bob@ci still holds the lock"]);
    let view = look(&place.cluster, &place.names).await.unwrap().unwrap();
    assert_eq!((view.holder, view.transitions), (Some(holder.identity()), 4));
    guard.release().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_elsewhere_that_renews_keeps_the_lock() {
    let place = Place::new("lock").await;
    place.foreign_lease(600, 0).await;
    let renewal = async {
        // Until the watcher has looked once, a renewal would be no news to it.
        place.waiting.notified().await;
        let renewed = place.cluster.now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        place.patch_lease(json!({"spec": {"renewTime": renewed}})).await;
    };
    let (locked, ()) = tokio::join!(place.lock(60), renewal);
    let error = locked.err().unwrap();
    assert_eq!(error.exit(), Exit::Blocked);
    assert!(error.message().starts_with("locked by bob@ci since 20"), "{error}");
    let error = unlock(&place.cluster, &place.names).await.unwrap_err();
    assert!(error.hints()[0].contains("the lock can be freed in "), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_lock_ends_with_the_run_and_a_cancelled_run_still_gives_its_own_up() {
    let place = Place::new("lock").await;
    let (guard, _, _) = place.lock(60).await.unwrap();
    place.cancel.cancel();
    guard.release().await.unwrap();
    let place = Place::new("lock").await;
    place.foreign_lease(600, 0).await;
    let interrupt = async {
        place.waiting.notified().await;
        place.cancel.cancel();
    };
    let (locked, ()) = tokio::join!(place.lock(60), interrupt);
    assert_eq!(locked.err().unwrap().exit(), Exit::Interrupted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_was_silent_for_ten_durations_is_taken_at_once() {
    let place = Place::new("lock").await;
    place.cluster.version().await.unwrap(); // learns the server's time
    place.foreign_lease(60, 605).await;
    let (guard, _, told) = place.lock(60).await.unwrap();
    assert_eq!(told, [] as [&str; 0]);
    guard.remove().await.unwrap();
    place.foreign_lease(60, 70).await;
    assert_eq!(unlock(&place.cluster, &place.names).await.unwrap().as_deref(), Some("bob@ci"));
    assert_eq!(place.holder().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_renewed_and_a_lost_one_stops_writing() {
    let place = Place::new("lock").await;
    let (guard, holder, _) = place.lock(3).await.unwrap();
    let first = look(&place.cluster, &place.names).await.unwrap().unwrap();
    let started = Instant::now();
    loop {
        let now = look(&place.cluster, &place.names).await.unwrap().unwrap();
        if now.renewed > first.renewed {
            assert_eq!(now.holder, Some(holder.identity()));
            assert_eq!(now.acquired, first.acquired);
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it is not renewed");
    }
    guard.fence().check().unwrap();
    // Someone annotates the lease: it is still ours.
    place.patch_lease(json!({"metadata": {"annotations": {"note": "hello"}}})).await;
    let before = look(&place.cluster, &place.names).await.unwrap().unwrap().renewed;
    let started = Instant::now();
    while look(&place.cluster, &place.names).await.unwrap().unwrap().renewed == before {
        assert!(started.elapsed() < Duration::from_secs(20), "it is not renewed");
    }
    guard.fence().check().unwrap();
    // Someone else takes it.
    place.patch_lease(json!({"spec": {"holderIdentity": "bob@ci"}})).await;
    let fence = guard.fence();
    let lost = fence.lost().cancelled();
    tokio::time::timeout(Duration::from_secs(20), lost).await.expect("it is noticed");
    let error = fence.check().unwrap_err();
    assert_eq!(error.exit(), Exit::Blocked);
    assert!(error.to_string().contains("it is held by bob@ci now"), "{error}");
    assert!(guard.release().await.is_err());
    assert_eq!(place.holder().await.as_deref(), Some("bob@ci"), "what is not ours stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_whose_answers_are_lost_is_ours_and_one_that_cannot_be_renewed_is_lost() {
    let (place, proxy) = Place::behind_proxy("lock").await;
    let leases = || Match::writes().path("/leases");
    proxy.inject(leases().times(1), Fault::ResetAfter);
    let (guard, holder, told) = place.lock(6).await.unwrap();
    assert_eq!(told, [] as [&str; 0]);
    // The same for a renewal.
    proxy.inject(leases().times(1), Fault::ResetAfter);
    let first = look(&place.cluster, &place.names).await.unwrap().unwrap();
    let started = Instant::now();
    while look(&place.cluster, &place.names).await.unwrap().unwrap().renewed == first.renewed {
        assert!(started.elapsed() < Duration::from_secs(30), "it is not renewed");
    }
    guard.fence().check().unwrap();
    assert_eq!(place.holder().await, Some(holder.identity()));
    // Then nothing gets through: before others may take it, we stop.
    proxy.hang();
    let fence = guard.fence();
    let lost = tokio::time::timeout(Duration::from_secs(6), fence.lost().cancelled());
    lost.await.expect("it is noticed within the lease's duration");
    let error = fence.check().unwrap_err();
    assert!(error.to_string().contains("it could not be renewed in time"), "{error}");
    assert!(guard.release().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn giving_up_a_lock_does_not_wait_for_a_server_that_hangs() {
    let (place, proxy) = Place::behind_proxy("lock").await;
    let (guard, _, _) = place.lock(60).await.unwrap();
    proxy.hang();
    let started = Instant::now();
    let error = guard.release().await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(error.exit(), Exit::Unreachable);
}
