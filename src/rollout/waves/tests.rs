use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::config::{Memory, Project, Resolver};

/// Eight targets: two of tier canary, six of tier prod in two regions.
const FLEET: &str = "\
apiVersion: mcd.dev/v1alpha1
kind: Fleet
clusters:
- {name: us-canary, labels: {tier: canary, region: us}}
- {name: eu-canary, labels: {tier: canary, region: eu}}
- {name: us-1, labels: {tier: prod, region: us}}
- {name: us-2, labels: {tier: prod, region: us}}
- {name: us-3, labels: {tier: prod, region: us}}
- {name: eu-1, labels: {tier: prod, region: eu}}
- {name: eu-2, labels: {tier: prod, region: eu}}
- {name: eu-3, labels: {tier: prod, region: eu}}
";

pub(in crate::rollout) fn project(rollout: &str) -> Project {
    let application = format!(
        "apiVersion: mcd.dev/v1alpha1\nkind: Application\nmetadata: {{name: web}}\n\
         fleet: fleet.yaml\nselect: {{}}\nnamespace: web\nrender: {{manifests: [k8s]}}\n\
         rollout:\n{rollout}"
    );
    let files: BTreeMap<_, _> = [
        ("/repo/fleet.yaml".into(), FLEET.to_owned()),
        ("/repo/mcd.yaml".into(), application),
        ("/repo/k8s/web.yaml".into(), String::new()),
    ]
    .into();
    Resolver::new(&Memory(files))
        .load(Path::new("/repo/mcd.yaml"), None, &[])
        .unwrap_or_else(|error| panic!("{error}\n{:?}", error.location()))
}

fn place(target: &Target) -> Result<Place> {
    Ok(Place {
        target: target.name.clone(),
        context: target.cluster.context.clone(),
        server: format!("https://{}", target.name),
        ca_digest: None,
        namespace: target.namespace.clone(),
        state_namespace: target.state_namespace.clone(),
        state_namespace_is_set: target.state_namespace_is_set,
        not_staged: None,
    })
}

/// `name: targets; at once, may fail, mandatory` of each wave.
fn planned(project: &Project, names: &[&str], waves: &[&str]) -> Vec<String> {
    let owned = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let targets = project.narrow(&owned(names), None, &owned(waves)).unwrap();
    plan_waves(&project.rollout, &targets, place)
        .unwrap()
        .iter()
        .map(|wave| {
            let targets: Vec<&str> = wave.targets.iter().map(|p| p.target.as_str()).collect();
            let mandatory: Vec<&str> = wave.mandatory.iter().map(|t| t.as_str()).collect();
            format!(
                "{}: {}; {}, {}, [{}]",
                wave.name,
                targets.join(" "),
                wave.max_concurrent,
                wave.max_failures,
                mandatory.join(" ")
            )
        })
        .collect()
}

const WAVES: &str = "  waves:
  - {name: first, select: {labels: {tier: canary}}}
  - {name: us, select: {labels: {tier: prod, region: us}}, maxConcurrent: 50%, maxFailures: 40%, mandatory: [us-*]}
  - {name: rest, maxConcurrent: 9, maxFailures: 9, mandatory: [eu-1], soak: 10m, progressDeadline: 90s, approval: true}
";

#[test]
fn numbers_are_of_the_targets_of_the_run() {
    let project = project(WAVES);
    let all = [
        "first: us-canary eu-canary; 2, 0, []",
        "us: us-1 us-2 us-3; 1, 1, [us-1 us-2 us-3]",
        "rest: eu-1 eu-2 eu-3; 3, 3, [eu-1]",
    ];
    assert_eq!(planned(&project, &[], &[]), all);
    assert_eq!(planned(&project, &[], &["us", "first"]), all[..2]);
    assert_eq!(
        planned(&project, &["us-2", "eu-2"], &[]),
        ["us: us-2; 1, 0, [us-2]", "rest: eu-2; 1, 1, []"]
    );
    let waves = plan_waves(&project.rollout, &project.targets, place).unwrap();
    let [first, _, rest] = waves.as_slice() else { panic!("{waves:?}") };
    assert_eq!(
        (first.soak, first.progress_deadline, first.approval),
        (Duration::ZERO, STEP_DEADLINE, false)
    );
    assert_eq!(
        (rest.soak, rest.progress_deadline, rest.approval),
        (Duration::from_secs(600), Duration::from_secs(90), true)
    );
    assert_eq!(first.targets[1].server, "https://eu-canary");
}

#[test]
fn without_waves_there_is_one() {
    let project = project("  steps: [{primary: {}}]\n");
    assert_eq!(planned(&project, &["us-*"], &[]), ["all: us-canary us-1 us-2 us-3; 4, 0, []"]);
    assert_eq!(plan_waves(&project.rollout, &[], place), Ok(vec![]));
}

#[test]
fn what_opens_a_rollout() {
    use crate::rollout::{Strategy, StrategyKind};
    let (none, plain, steps) = (StrategyKind::None, StrategyKind::Plain, StrategyKind::Steps);
    let primary = "  steps: [{primary: {}}]\n";
    let one = |rules: &str| format!("  waves: [{{name: all{rules}}}]\n");
    let rows: &[(&str, &[StrategyKind], bool)] = &[
        (primary, &[none, none], false),
        (primary, &[none, plain], false),
        (primary, &[plain, steps], true),
        (WAVES, &[none, none], false),
        (WAVES, &[none, plain], true),
        (&one(""), &[plain], false),
        (&one(", mandatory: [us-1]"), &[plain], false),
        (&one(", soak: 1s"), &[plain], true),
        (&one(", soak: 1s"), &[none], false),
        (&one(", approval: true"), &[plain], true),
        (&one(", maxFailures: 1"), &[plain], true),
        (&one(", maxConcurrent: 7"), &[plain], true),
        (&one(", maxConcurrent: 8"), &[plain], false),
        (&one(", progressDeadline: 1m"), &[plain], true),
        ("  onFailure: rollback\n", &[plain], true),
    ];
    for (rollout, kinds, want) in rows {
        let project = project(rollout);
        let waves = plan_waves(&project.rollout, &project.targets, place).unwrap();
        let strategies: Vec<Strategy> =
            kinds.iter().map(|kind| Strategy { kind: *kind, reason: String::new() }).collect();
        assert_eq!(opens(&project.rollout, &waves, &strategies), *want, "{rollout} {kinds:?}");
    }
}

#[test]
fn a_place_that_is_not_known_is_an_error() {
    let project = project(WAVES);
    let failed = plan_waves(&project.rollout, &project.targets, |target| {
        if target.name.as_str() == "eu-1" {
            Err(Error::config("no context"))
        } else {
            place(target)
        }
    });
    assert_eq!(failed.unwrap_err().message(), "no context");
}

#[test]
fn each_target_goes_through_its_own_steps() {
    let project = project(
        "  steps:
  - {canary: {replicas: 20%}, select: {labels: {region: us}}}
  - {pause: {for: 5m}}
  - {primary: {}}
  - {run: {command: [smoke]}, select: {clusters: [eu-1, us-1]}}
  - {clean: {}}
",
    );
    let words: Vec<&str> = steps(&project.rollout).iter().map(Step::word).collect();
    assert_eq!(words, ["canary", "pause", "primary", "run", "clean"]);
    for (name, want) in [
        ("us-1", &[0, 1, 2, 3, 4][..]),
        ("us-2", &[0, 1, 2, 4]),
        ("eu-1", &[1, 2, 3]),
        ("eu-2", &[1, 2]),
    ] {
        let target = project.targets.iter().find(|t| t.name.as_str() == name).unwrap();
        assert_eq!(steps_of(&project.rollout, target), want, "{name}");
    }
    assert_eq!(plain_steps(&project.rollout), [2]);
}

#[test]
fn a_canary_is_cleaned_though_no_step_says_so() {
    let project = project("  steps: [{canary: {}}, {primary: {}}]\n");
    let words: Vec<&str> = steps(&project.rollout).iter().map(Step::word).collect();
    assert_eq!(words, ["canary", "primary", "clean"]);
    assert_eq!(steps_of(&project.rollout, &project.targets[0]), [0, 1, 2]);
}

#[test]
fn a_rollout_without_steps_has_the_primary() {
    let project = project(WAVES);
    assert_eq!(steps(&project.rollout), [Step::Primary]);
    assert_eq!(steps_of(&project.rollout, &project.targets[0]), [0]);
    assert_eq!(plain_steps(&project.rollout), [0]);
}
