use super::*;
use crate::rollout::{Amount, Canary, Pause};

fn place(target: &str) -> Place {
    Place {
        target: TargetName::new(target),
        context: target.into(),
        server: format!("https://{target}:6443"),
        ca_digest: None,
        namespace: "shop".into(),
        state_namespace: "shop".into(),
        state_namespace_is_set: false,
        not_staged: None,
    }
}

fn wave(name: &str, targets: &[&str]) -> WavePlan {
    WavePlan {
        name: name.into(),
        targets: targets.iter().map(|target| place(target)).collect(),
        max_concurrent: 1,
        max_failures: 0,
        mandatory: BTreeSet::new(),
        soak: Duration::ZERO,
        progress_deadline: Duration::from_secs(600),
        approval: false,
    }
}

fn canary() -> Step {
    let replicas = Amount::parse("20%").unwrap();
    Step::Canary(Canary { replicas, service: false, suffix: "canary".into() })
}

fn open(by_hand: bool) -> OpenRollout {
    let at: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    OpenRollout {
        header: Header {
            id: RolloutId::new(at, 0x1f9c),
            by_hand,
            opened: at,
            who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
            commit: None,
            waves: vec![wave("first", &["us"]), wave("rest", &["eu"])],
            steps: match by_hand {
                true => Vec::new(),
                false => vec![
                    canary(),
                    Step::Pause(Pause { period: Some(Duration::from_secs(300)) }),
                    Step::Primary,
                    Step::Clean,
                ],
            },
            variants: VariantSettings::default(),
            on_failure: OnFailure::Stop,
        },
        progress: TargetProgress {
            release: Some(5),
            previous: Some(4),
            steps: if by_hand { Vec::new() } else { vec![0, 2, 3] },
            hand: Vec::new(),
            reason: "image web 1.27 → 1.28".into(),
            done: 0,
            stand: Stand::Pending,
            since: at,
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

#[test]
fn the_next_step_is_among_those_of_the_target() {
    let mut open = open(false);
    let eu = TargetName::new("eu");
    assert_eq!(open.next_step(), Some(&canary()));
    assert_eq!(open.place_of(&eu), "wave 2 of 2, step 1/3");
    open.progress.done = 1;
    assert_eq!(open.next_step(), Some(&Step::Primary));
    open.progress.done = 3;
    assert_eq!(open.next_step(), None);
    assert_eq!(open.place_of(&eu), "wave 2 of 2, 3 of 3 steps done");
    assert_eq!(open.place_of(&TargetName::new("elsewhere")), "3 of 3 steps done");
}

#[test]
fn steps_by_hand_are_the_targets_own() {
    let mut open = open(true);
    let us = TargetName::new("us");
    open.header.waves.pop();
    assert_eq!(open.place_of(&us), "0 steps done by hand");
    open.progress.push_by_hand(canary());
    assert_eq!(open.place_of(&us), "step 1 by hand (canary)");
    // It failed; another step takes its place.
    open.progress.push_by_hand(Step::Primary);
    assert_eq!(open.steps(), [Step::Primary]);
    open.progress.done = 1;
    assert_eq!((open.next_step(), open.is_complete_by_hand()), (None, false));
    open.progress.push_by_hand(Step::Clean);
    assert_eq!((open.next_step(), open.is_complete_by_hand()), (Some(&Step::Clean), false));
    open.progress.done = 2;
    assert!(open.is_complete_by_hand());
    open.progress.push_by_hand(canary());
    open.progress.done = 3;
    assert!(open.is_complete_by_hand(), "the primary is up to date, and a canary is nothing new");
    assert_eq!(open.progress.steps, [0, 1, 2]);
}

#[test]
fn what_is_stored_is_read_back() {
    for by_hand in [false, true] {
        let mut open = open(by_hand);
        open.progress.push_by_hand(canary());
        let text = serde_json::to_string(&open).unwrap();
        assert_eq!(serde_json::from_str::<OpenRollout>(&text).unwrap(), open);
    }
}
