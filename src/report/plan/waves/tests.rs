use insta::assert_snapshot;

use super::*;

fn target(
    name: &str,
    strategy: Option<StrategyKind>,
    reason: &str,
    steps: &[usize],
) -> TargetStrategyReport {
    TargetStrategyReport {
        target: name.into(),
        strategy,
        reason: reason.into(),
        steps: steps.to_vec(),
    }
}

fn wave(number: usize, name: &str, targets: Vec<TargetStrategyReport>) -> WavePlanReport {
    WavePlanReport {
        wave: number,
        name: name.into(),
        max_concurrent: targets.len(),
        max_failures: 0,
        mandatory: Vec::new(),
        soak_seconds: 0,
        progress_deadline_seconds: 600,
        approval: false,
        targets,
    }
}

const STEPS: Option<StrategyKind> = Some(StrategyKind::Steps);
const PLAIN: Option<StrategyKind> = Some(StrategyKind::Plain);

fn report(waves: Vec<WavePlanReport>) -> RolloutPlanReport {
    RolloutPlanReport {
        opens: true,
        steps: ["canary 20%", "pause 5m", "run ./smoke.sh", "primary", "clean"]
            .map(str::to_owned)
            .to_vec(),
        on_failure: "stop".into(),
        waves,
    }
}

/// One of each, over three waves.
fn mixed() -> RolloutPlanReport {
    let image = "image web 1.27 → 1.28";
    let first = vec![target("us-canary", STEPS, image, &[1, 2, 3, 4, 5])];
    let second = vec![
        target("us-east", STEPS, image, &[1, 2, 4, 5]),
        target("us-west", PLAIN, "scale Deployment/web from 2 to 3", &[4]),
        target("us-south", Some(StrategyKind::None), "no changes", &[]),
    ];
    let rest = vec![
        target("eu-west", PLAIN, "first deployment: steps are skipped", &[4]),
        target("eu-north", None, "not planned", &[]),
    ];
    report(vec![
        WavePlanReport { soak_seconds: 600, ..wave(1, "first", first) },
        WavePlanReport {
            max_concurrent: 1,
            max_failures: 1,
            mandatory: vec!["us-east".into()],
            soak_seconds: 0,
            progress_deadline_seconds: 90,
            ..wave(2, "us", second)
        },
        WavePlanReport { approval: true, ..wave(3, "rest", rest) },
    ])
}

fn shown(report: &RolloutPlanReport, width: Option<usize>) -> String {
    text(report, Look { color: false, width })
}

#[test]
fn waves_and_targets() {
    assert_snapshot!("wide", shown(&mixed(), Some(140)));
    assert_snapshot!("narrow", shown(&mixed(), Some(80)));
    assert_eq!(shown(&mixed(), None).lines().count(), 13);
}

#[test]
fn one_wave() {
    let targets = vec![
        target("us-east", STEPS, "image web 1 → 2", &[1, 2, 3, 4, 5]),
        target("us-west", PLAIN, "scale Deployment/web from 2 to 3", &[4]),
    ];
    let mut report = report(vec![wave(1, "all", targets)]);
    report.on_failure = "rollback-all".into();
    assert_snapshot!(shown(&report, Some(80)));
}

#[test]
fn nothing_opens() {
    let targets = vec![target("us-east", PLAIN, "changes Service/web", &[4])];
    let mut report = report(vec![wave(1, "all", targets)]);
    report.opens = false;
    assert_snapshot!(shown(&report, Some(80)));
    for target in &mut report.waves[0].targets {
        target.strategy = Some(StrategyKind::None);
    }
    assert_eq!(shown(&report, Some(80)), "");
}

#[test]
fn many_targets_read_like_few() {
    let many = |prefix: &str, n: usize, reason: &str| -> Vec<TargetStrategyReport> {
        let name = |i| format!("{prefix}-{i:02}");
        (1..=n).map(|i| target(&name(i), STEPS, reason, &[1, 2, 3, 4, 5])).collect()
    };
    let canaries = many("canary", 2, "image web 1.27 → 1.28");
    let mut rest = many("us", 30, "image web 1.27 → 1.28");
    rest.extend(many("eu", 28, "ConfigMap/settings changed, image web 1.27 → 1.28"));
    rest.push(target("eu-99", PLAIN, "scale Deployment/web from 2 to 3", &[4]));
    let rest = WavePlanReport {
        max_concurrent: 15,
        max_failures: 5,
        mandatory: (1..=30).map(|i| format!("us-{i:02}")).collect(),
        ..wave(2, "rest", rest)
    };
    assert_snapshot!(shown(&report(vec![wave(1, "canaries", canaries), rest]), Some(100)));
}

#[test]
fn numbers_in_runs() {
    for (numbers, want) in
        [(&[][..], "-"), (&[4], "4"), (&[1, 2], "1-2"), (&[1, 2, 3, 5, 7, 8], "1-3, 5, 7-8")]
    {
        assert_eq!(ranges(numbers), want);
    }
}
