use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::cluster::state::{Header, Place, RolloutId, StateNames, TargetProgress, WavePlan, Who};
use crate::config::AppName;
use crate::rollout::{OnFailure, Step, VariantSettings};

const NOW: &str = "2026-01-02T03:04:05Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn alice() -> Who {
    Who { user: "alice".into(), host: "laptop".into(), ci: None }
}

fn record() -> Record {
    let us = TargetName::new("us-east");
    Record::new(&StateNames::new(&us, &AppName::new("web"), "shop", None), "shop")
}

fn open(stand: Stand) -> OpenRollout {
    let place = |target: &str| Place {
        target: TargetName::new(target),
        context: target.into(),
        server: String::new(),
        ca_digest: None,
        namespace: "shop".into(),
        state_namespace: "shop".into(),
        state_namespace_is_set: false,
        not_staged: None,
    };
    let wave = |name: &str, target: &str| WavePlan {
        name: name.into(),
        targets: vec![place(target)],
        max_concurrent: 1,
        max_failures: 0,
        mandatory: BTreeSet::new(),
        soak: Duration::ZERO,
        progress_deadline: Duration::ZERO,
        approval: false,
    };
    OpenRollout {
        header: Header {
            id: RolloutId::new(now(), 7),
            by_hand: false,
            opened: now(),
            who: alice(),
            commit: None,
            waves: vec![wave("first", "eu"), wave("rest", "us-east")],
            steps: vec![Step::Primary, Step::Clean],
            variants: VariantSettings::default(),
            on_failure: OnFailure::Stop,
        },
        progress: TargetProgress {
            release: Some(2),
            previous: Some(1),
            steps: vec![0, 1],
            hand: Vec::new(),
            reason: String::new(),
            done: 1,
            stand,
            since: now(),
            healthy: None,
            soak: None,
            interrupted: None,
            message: None,
            variants: BTreeSet::new(),
            created: BTreeSet::new(),
        },
        staged: true,
        abort: None,
        approvals: Vec::new(),
    }
}

fn freeze(until: Option<&str>) -> Freeze {
    let until = until.map(|text| text.parse().unwrap());
    Freeze { who: alice(), reason: "Black Friday".into(), at: now(), until }
}

fn said(record: &Record) -> String {
    let error = blocked(record, now()).unwrap();
    assert_eq!(error.exit(), Exit::Blocked);
    format!("{error:#}")
}

#[test]
fn an_open_rollout_blocks_and_says_where_it_is() {
    assert!(blocked(&record(), now()).is_none());
    let mut record = record();
    record.rollout = Some(Box::new(open(Stand::Paused)));
    insta::assert_snapshot!(said(&record), @"rollout r-20260102-030405-0007, wave 2 of 2, step 2/2, paused: resume or abort: opened by alice@laptop, 2026-01-02 03:04 UTC");
    record.freeze = Some(freeze(None));
    insta::assert_snapshot!(said(&record), @"rollout r-20260102-030405-0007, wave 2 of 2, step 2/2, paused: resume or abort: opened by alice@laptop, 2026-01-02 03:04 UTC: frozen: by alice@laptop on 2026-01-02 03:04 UTC: Black Friday");
}

#[test]
fn a_frozen_target_blocks_until_its_time_is_over() {
    let mut record = record();
    record.freeze = Some(freeze(None));
    insta::assert_snapshot!(said(&record), @"frozen: by alice@laptop on 2026-01-02 03:04 UTC: Black Friday");
    record.freeze = Some(freeze(Some("2026-01-02T04:00:00Z")));
    insta::assert_snapshot!(said(&record), @"frozen until 2026-01-02 04:00 UTC: by alice@laptop on 2026-01-02 03:04 UTC: Black Friday");
    assert!(frozen(&record, "2026-01-02T04:00:00Z".parse().unwrap()).is_none());
    assert!(blocked(&record, "2026-01-02T04:00:00Z".parse().unwrap()).is_none());
}
