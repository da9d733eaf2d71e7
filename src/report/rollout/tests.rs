use std::collections::BTreeMap;
use std::time::Duration;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::cluster::state::{
    Approval, ClosedRollout, Commit, Freeze, Header, OpenRollout, Place, Record, RolloutId, Stand,
    StateNames, TargetProgress, WavePlan, Who,
};
use crate::config::{AppName, TargetName};
use crate::error::{Error, Exit};
use crate::manifest::ObjectId;
use crate::rollout::{Amount, Canary, OnFailure, Pause, Percent, Step, VariantSettings};
use crate::ui::Look;

/// A rollout over waves of so many targets, at a moment that tests set.
struct Scene {
    header: Header,
    records: BTreeMap<TargetName, Result<Record, Error>>,
}

fn start() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// So many seconds after the start.
fn at(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

fn who() -> Who {
    Who { user: "alice".into(), host: "laptop".into(), ci: None }
}

fn name(wave: usize, index: usize) -> TargetName {
    TargetName::new(format!("{}-{}", ["eu", "us", "ap"][wave], index + 1))
}

fn place(target: &TargetName) -> Place {
    Place {
        target: target.clone(),
        context: format!("prod-{target}"),
        server: format!("https://{target}.example.com:6443"),
        ca_digest: None,
        namespace: "shop".into(),
        state_namespace: "shop".into(),
        state_namespace_is_set: false,
        not_staged: None,
    }
}

/// Canary, a pause of five minutes, a pause until approved, primary, clean.
fn steps() -> Vec<Step> {
    let canary =
        Canary { replicas: Amount::Percent(Percent(20)), service: false, suffix: "canary".into() };
    vec![
        Step::Canary(canary),
        Step::Pause(Pause { period: Some(Duration::from_secs(300)) }),
        Step::Pause(Pause { period: None }),
        Step::Primary,
        Step::Clean,
    ]
}

impl Scene {
    /// All staged, nothing begun.
    fn new(sizes: &[usize]) -> Self {
        let wave = |(index, size): (usize, &usize)| WavePlan {
            name: ["first", "rest", "last"][index].into(),
            targets: (0..*size).map(|i| place(&name(index, i))).collect(),
            max_concurrent: size.div_ceil(2),
            max_failures: index,
            mandatory: [].into(),
            soak: Duration::from_secs(600),
            progress_deadline: Duration::from_secs(600),
            approval: index == 2,
        };
        let header = Header {
            id: RolloutId::new(start(), 0x1f9c),
            by_hand: false,
            opened: start(),
            who: who(),
            commit: Some(Commit { id: "1a2b3c4d5e6f".into(), dirty: Some(false) }),
            waves: sizes.iter().enumerate().map(wave).collect(),
            steps: steps(),
            variants: VariantSettings::default(),
            on_failure: OnFailure::Stop,
        };
        let mut scene = Scene { header, records: BTreeMap::new() };
        for (wave, size) in sizes.iter().enumerate() {
            for index in 0..*size {
                let open = OpenRollout {
                    header: scene.header.clone(),
                    progress: TargetProgress {
                        release: Some(42),
                        hand: Vec::new(),
                        previous: Some(41),
                        steps: vec![0, 1, 2, 3, 4],
                        reason: "image web 1.27 → 1.28".into(),
                        done: 0,
                        stand: Stand::Pending,
                        since: start(),
                        healthy: None,
                        soak: None,
                        interrupted: None,
                        message: None,
                        variants: [].into(),
                        created: [].into(),
                    },
                    staged: true,
                    abort: None,
                    approvals: Vec::new(),
                };
                let record = Record { rollout: Some(Box::new(open)), ..record() };
                scene.records.insert(name(wave, index), Ok(record));
            }
        }
        scene
    }

    fn record(&mut self, wave: usize, index: usize) -> &mut Record {
        self.records.get_mut(&name(wave, index)).unwrap().as_mut().unwrap()
    }

    fn open(&mut self, wave: usize, index: usize) -> &mut OpenRollout {
        self.record(wave, index).rollout.as_mut().unwrap()
    }

    fn is(
        &mut self,
        wave: usize,
        index: usize,
        done: usize,
        stand: Stand,
        since: i64,
    ) -> &mut Self {
        let progress = &mut self.open(wave, index).progress;
        (progress.done, progress.stand, progress.since) = (done, stand, at(since));
        self
    }

    fn says(&mut self, wave: usize, index: usize, message: &str) -> &mut Self {
        self.open(wave, index).progress.message = Some(message.into());
        self
    }

    fn down(&mut self, wave: usize, index: usize) -> &mut Self {
        let error = Error::new(Exit::Unreachable, "`10.0.0.1:6443` cannot be reached")
            .because("connection refused");
        self.records.insert(name(wave, index), Err(error));
        self
    }

    /// Every target of the wave is done, and its soak began then.
    fn done(&mut self, wave: usize, soak: i64) -> &mut Self {
        for index in 0..self.header.waves[wave].targets.len() {
            self.is(wave, index, 5, Stand::Succeeded, soak);
            self.open(wave, index).progress.soak = Some(at(soak));
        }
        self
    }

    fn approve(&mut self, wave: usize, step: Option<usize>, when: i64) -> &mut Self {
        let approval = Approval { wave, step, who: who(), at: at(when) };
        self.open(wave, 0).approvals.push(approval);
        self
    }

    fn close(&mut self, wave: usize, index: usize, stand: Stand, when: i64, message: Option<&str>) {
        let id = self.header.id.clone();
        let record = self.record(wave, index);
        record.rollout = None;
        record.active = Some(if stand == Stand::Succeeded { 42 } else { 41 });
        let message = message.map(str::to_owned);
        record.closed = Some(ClosedRollout {
            id,
            stand,
            release: Some(42),
            at: at(when),
            message,
            aborted: false,
        });
    }

    fn sights(&self) -> Sights {
        let mut sights = Sights::new("web");
        self.see(&mut sights);
        sights
    }

    fn see(&self, sights: &mut Sights) {
        for (target, record) in &self.records {
            let record = record.as_ref().map(Some);
            sights.saw(target, &format!("prod-{target}"), "shop", record);
        }
    }

    fn report(&self, seconds: i64) -> RolloutReport {
        RolloutReport::of(&self.sights(), at(seconds))
    }

    fn text(&self, seconds: i64, width: Option<usize>) -> String {
        shown(&self.report(seconds), seconds, width)
    }
}

fn record() -> Record {
    let target = TargetName::new("any");
    let names = StateNames::new(&target, &AppName::new("web"), "shop", None);
    Record { active: Some(41), ..Record::new(&names, "shop") }
}

fn shown(report: &RolloutReport, seconds: i64, width: Option<usize>) -> String {
    text(report, Shown::default(), at(seconds), Look { color: false, width })
}

#[test]
fn under_way() {
    let mut scene = Scene::new(&[1, 4, 2]);
    scene.done(0, 100);
    scene.is(1, 0, 5, Stand::Succeeded, 750);
    scene.is(1, 1, 3, Stand::Running, 760);
    scene.is(1, 2, 1, Stand::Paused, 800);
    let report = scene.report(900);
    assert_eq!((report.state, report.exit_code), (RolloutState::Running, 0));
    assert_snapshot!("under_way_140", scene.text(900, Some(140)));
    assert_snapshot!("under_way_80", scene.text(900, Some(80)));
    assert_snapshot!("under_way_60", scene.text(900, Some(60)));
    assert_snapshot!("under_way_pipe", scene.text(900, None));
    let color = text(&report, Shown::default(), at(900), Look { color: true, width: Some(140) });
    assert_snapshot!("under_way_color", color.replace('\x1b', "^"));
}

#[test]
fn staged_and_not_begun() {
    let scene = Scene::new(&[1, 2]);
    let report = scene.report(5);
    assert_eq!(report.state, RolloutState::Pending);
    assert_snapshot!(scene.text(5, Some(140)));
}

#[test]
fn at_a_pause() {
    let mut scene = Scene::new(&[2]);
    scene.is(0, 0, 1, Stand::Paused, 100).is(0, 1, 1, Stand::Paused, 120);
    assert_eq!(scene.report(200).state, RolloutState::Paused);
    assert_snapshot!(scene.text(200, Some(140)));
    let report = scene.report(1000);
    assert_eq!(report.targets[0].gate.as_ref().unwrap().seconds_left, Some(0));
    assert_eq!(report.state, RolloutState::Pending, "it is over, and nobody goes on");
}

#[test]
fn waiting_for_someone() {
    let mut scene = Scene::new(&[1, 2]);
    scene.is(0, 0, 2, Stand::Paused, 100);
    let report = scene.report(200);
    assert_eq!(report.state, RolloutState::Waiting);
    assert_eq!(
        report.waits_for,
        [Needed { wave: 1, name: "first".into(), step: Some(3), targets: 1 }]
    );
    assert_snapshot!("waiting_at_a_pause", scene.text(200, Some(80)));
    assert_eq!(
        report.next,
        [
            "`mcd rollout approve` lets 1 target past the pause",
            "then `mcd rollout resume` goes on; `mcd rollout abort` takes it back"
        ]
    );

    scene.approve(0, Some(2), 250);
    let report = scene.report(300);
    // Nobody goes on with it yet.
    assert_eq!((report.state, report.waits_for.len()), (RolloutState::Pending, 0));

    // An approval counts from whichever record it is read.
    let mut scene = Scene::new(&[1, 2, 3]);
    scene.done(0, 0).done(1, 700);
    let report = scene.report(2000);
    assert_eq!((report.state, report.waves[2].state), (RolloutState::Waiting, WaveState::Waiting));
    assert_eq!(report.message, "wave 3 of 3 (last) waits for approval");
    assert_snapshot!("waiting_to_start", scene.text(2000, Some(140)));
    scene.approve(2, None, 2100);
    let report = scene.report(2200);
    assert_eq!((report.state, report.waves[2].state), (RolloutState::Pending, WaveState::Pending));
    assert_eq!(report.waves[2].approved_by.as_deref(), Some("alice@laptop"));
}

#[test]
fn soaking() {
    let mut scene = Scene::new(&[2, 2]);
    scene.done(0, 100);
    let report = scene.report(400);
    assert_eq!((report.state, report.waves[0].state), (RolloutState::Soaking, WaveState::Soaking));
    assert_snapshot!(scene.text(400, Some(140)));
    // Its end is the next wave's turn.
    let report = scene.report(701);
    assert_eq!((report.state, report.waves[0].state), (RolloutState::Pending, WaveState::Done));
}

#[test]
fn the_first_wave_failed_and_nothing_after_it_started() {
    let mut scene = Scene::new(&[1, 4]);
    scene.is(0, 0, 0, Stand::Failed, 60).says(
        0,
        0,
        "Deployment shop/web-canary: is not healthy: pod web-canary-7d9: ImagePullBackOff",
    );
    let report = scene.report(120);
    assert_eq!((report.state, report.waves[0].state), (RolloutState::Stopped, WaveState::Failed));
    assert_eq!(report.message, "wave 1 of 2 (first): 1 of 1 target failed, none may");
    assert_snapshot!("failed_140", scene.text(120, Some(140)));
    assert_snapshot!("failed_80", scene.text(120, Some(80)));

    // The run that saw it knows more than the record.
    let object = ObjectId {
        group: "apps".into(),
        kind: "Deployment".into(),
        namespace: Some("shop".into()),
        name: "web-canary".into(),
    };
    let error = Error::new(Exit::Failed, "is not healthy after 60s")
        .on(&object)
        .because("pod web-canary-7d9: ImagePullBackOff");
    let mut sights = scene.sights();
    sights.failed(&name(0, 0), std::slice::from_ref(&error));
    sights.failed(&name(0, 0), &[error]);
    let report = RolloutReport::of(&sights, at(120));
    assert_eq!(report.targets[0].errors.len(), 1, "told once");
    assert_snapshot!("failed_in_this_run", shown(&report, 120, None));
}

#[test]
fn inside_the_budget() {
    let mut scene = Scene::new(&[1, 4]);
    scene.done(0, 0);
    scene.is(1, 1, 3, Stand::Running, 800).is(1, 2, 0, Stand::Undoing, 800);
    let why = Some("Deployment shop/web: is not healthy");
    scene.close(1, 0, Stand::Failed, 790, why);
    let report = scene.report(900);
    // One that goes back inside the budget does not take the rest along.
    assert_eq!(report.waves[1].failed, 1);
    scene.is(1, 2, 0, Stand::Pending, 0);
    let report = scene.report(900);
    assert_eq!((report.state, report.waves[1].state), (RolloutState::Running, WaveState::Running));
    assert_snapshot!("budget_used", scene.text(900, Some(140)));

    for index in 1..4 {
        scene.close(1, index, Stand::Succeeded, 1500, None);
    }
    scene.close(0, 0, Stand::Succeeded, 1500, None);
    // Without the header nobody knows the waves any more.
    let report = scene.report(1600);
    assert_eq!(report.state, RolloutState::Succeeded);
    assert_snapshot!("closed_long_ago", scene.text(1600, Some(140)));
    // Whoever ran it has it.
    let mut sights = Sights::of("web", &scene.header);
    scene.see(&mut sights);
    let report = RolloutReport::of(&sights, at(1600));
    assert_eq!((report.state, report.waves[1].state), (RolloutState::Succeeded, WaveState::Done));
    assert_snapshot!("closed_just_now", shown(&report, 1600, Some(140)));
}

#[test]
fn a_mandatory_target_failed() {
    let mut scene = Scene::new(&[1, 4]);
    scene.header.waves[1].mandatory = [name(1, 2)].into();
    for (wave, size) in [(0, 1), (1, 4)] {
        for index in 0..size {
            let header = scene.header.clone();
            scene.open(wave, index).header = header;
        }
    }
    scene.done(0, 0);
    scene.is(1, 2, 3, Stand::Failed, 800);
    let report = scene.report(900);
    assert_eq!(report.state, RolloutState::Stopped);
    assert_eq!(report.message, "wave 2 of 2 (rest): us-3 failed and is mandatory");
}

#[test]
fn undone_in_part_and_whole() {
    let mut scene = Scene::new(&[1, 2]);
    scene.is(0, 0, 3, Stand::Undoing, 800);
    scene.is(1, 0, 0, Stand::Undone, 790).is(1, 1, 0, Stand::Undone, 780);
    let report = scene.report(900);
    assert_eq!(report.state, RolloutState::Undoing);
    assert_snapshot!("undone_in_part", scene.text(900, Some(140)));
    for (wave, index) in [(0, 0), (1, 0), (1, 1)] {
        scene.close(wave, index, Stand::Undone, 950, Some("aborted by alice@laptop"));
    }
    let report = scene.report(1000);
    assert_eq!((report.state, report.next.len()), (RolloutState::Undone, 0));
    assert_snapshot!("undone", scene.text(1000, Some(140)));
}

#[test]
fn not_all_can_be_seen() {
    let mut scene = Scene::new(&[1, 3]);
    scene.done(0, 0);
    scene.is(1, 1, 0, Stand::Running, 700).down(1, 0);
    scene.header.waves[1].targets[2].not_staged = Some("no such context: `prod-us-3`".into());
    for (wave, index) in [(0, 0), (1, 1)] {
        let header = scene.header.clone();
        scene.open(wave, index).header = header;
    }
    scene.records.remove(&name(1, 2));
    let report = scene.report(900);
    assert_eq!((report.exit_code, report.waves[1].unreachable), (9, 1));
    assert_eq!(report.waves[1].failed, 1);
    assert_snapshot!("some_unreachable", scene.text(900, Some(140)));

    scene.records.remove(&name(1, 1));
    scene.records.remove(&name(0, 0));
    let report = scene.report(900);
    assert_eq!((report.state, report.exit_code), (RolloutState::Unknown, 9));
    assert_snapshot!("all_unreachable", scene.text(900, None));
}

#[test]
fn none_at_all() {
    let mut sights = Sights::new("web");
    sights.saw(&name(0, 0), "prod", "shop", Ok(None));
    let report = RolloutReport::of(&sights, at(0));
    assert_eq!((report.state, report.exit_code), (RolloutState::None, 0));
    assert_snapshot!(shown(&report, 0, Some(80)), @"web: there is no rollout, and none was closed");
}

#[test]
fn what_does_not_change_and_what_is_frozen() {
    let mut scene = Scene::new(&[3]);
    for index in [0, 1] {
        let progress = &mut scene.open(0, index).progress;
        (progress.release, progress.stand) = (None, Stand::Succeeded);
        progress.steps.clear();
        progress.reason = "nothing changes".into();
    }
    scene.record(0, 1).freeze =
        Some(Freeze { who: who(), reason: "holidays".into(), at: at(0), until: Some(at(3600)) });
    scene.is(0, 2, 0, Stand::Running, 10);
    assert_snapshot!("unchanged_and_frozen", scene.text(20, Some(140)));
    assert!(scene.report(4000).targets[1].warnings.is_empty(), "the freeze is over");
}

#[test]
fn of_many_targets_those_that_need_a_look_are_shown() {
    let mut scene = Scene::new(&[4, 40, 16]);
    scene.done(0, 0).done(1, 700);
    scene.is(1, 6, 3, Stand::Running, 800).is(1, 7, 1, Stand::Paused, 800);
    scene.is(1, 8, 3, Stand::Failed, 800).says(1, 8, "Deployment shop/web: is not healthy");
    scene.down(1, 9);
    for index in 20..40 {
        scene.is(1, index, 0, Stand::Pending, 0);
    }
    let text = scene.text(900, Some(140));
    assert_snapshot!("sixty", text);
    assert_snapshot!("sixty_80", scene.text(900, Some(80)));
    let report = scene.report(900);
    let all = super::text(
        &report,
        Shown { all: true, tree: false },
        at(900),
        Look { color: false, width: None },
    );
    assert_eq!(
        all.lines().filter(|line| line.contains("prod") || line.starts_with("us-")).count(),
        40 + 1 - 1
    );
    assert_snapshot!("sixty_json_keys", keys(&report));
}

/// The keys of the document's first target of each state, as a reader would see them.
fn keys(report: &RolloutReport) -> String {
    let value = serde_json::to_value(report).unwrap();
    let names = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    format!(
        "{}\nwave: {}\ntarget: {}",
        names(&value),
        names(&value["waves"][1]),
        names(&value["targets"][10])
    )
}

#[test]
fn three_hundred_targets_stay_small() {
    let mut scene = Scene::new(&[20, 200, 80]);
    scene.done(0, 0);
    let sights = scene.sights();
    assert_eq!(sights.headers.len(), 1, "kept once, not in each target");
    let report = RolloutReport::of(&sights, at(900));
    assert_eq!(report.targets.len(), 300);
    let lines = shown(&report, 900, Some(140)).lines().count();
    assert!(lines < 20, "{lines} lines");
    let bytes = serde_json::to_vec(&report).unwrap().len();
    assert!(bytes < 300 * 600, "{bytes} bytes");
}

#[test]
fn the_newest_open_rollout_is_the_one_that_is_meant() {
    let mut old = Scene::new(&[1]);
    old.close(0, 0, Stand::Succeeded, 10, None);
    let mut sights = old.sights();
    let mut new = Scene::new(&[1, 1]);
    new.header.id = RolloutId::new(at(60), 1);
    new.header.opened = at(60);
    let header = new.header.clone();
    new.open(1, 0).header = header;
    sights.saw(&name(1, 0), "prod", "shop", Ok(Some(new.record(1, 0))));
    let report = RolloutReport::of(&sights, at(100));
    assert_eq!(report.id, Some(new.header.id.to_string()));
    assert_eq!(report.targets[0].state, TargetStand::NotStaged, "the other belongs to none");
}

#[test]
fn by_hand() {
    let mut scene = Scene::new(&[2]);
    scene.header.by_hand = true;
    scene.header.steps.clear();
    let header = scene.header.clone();
    for index in [0, 1] {
        let open = scene.open(0, index);
        open.header = header.clone();
        open.progress.steps.clear();
        open.progress.push_by_hand(steps()[0].clone());
        scene.is(0, index, 1, Stand::Paused, 60);
    }
    let report = scene.report(90);
    assert_eq!((report.state, report.waits_for.len()), (RolloutState::Paused, 0));
    assert_snapshot!("by_hand", scene.text(90, Some(140)));
    assert_eq!(report.next, ["`mcd rollout primary` goes on; `mcd rollout abort` takes it back"]);

    scene.open(0, 0).progress.push_by_hand(Step::Primary);
    scene.is(0, 0, 1, Stand::Running, 100);
    let report = scene.report(110);
    assert_eq!(report.targets[0].step.as_ref().unwrap().step.as_deref(), Some("primary"));
    scene.is(0, 0, 2, Stand::Paused, 120);
    let report = scene.report(130);
    assert_eq!(
        report.next,
        ["`mcd rollout clean` removes the copies, and ends it; `mcd rollout abort` takes it back"]
    );
}

#[test]
fn what_other_documents_say() {
    let mut scene = Scene::new(&[1, 2]);
    scene.is(1, 0, 2, Stand::Paused, 60);
    let target = name(1, 0);
    let record = scene.record(1, 0);
    record.target = target;
    let words = OpenReport::of(record).unwrap().words();
    assert_eq!(
        words,
        "rollout r-20261130-120000-1f9c is open: wave 2 of 2, step 3/5 pause, paused"
    );
    assert_eq!(FreezeReport::of(record, at(0)), None);
    record.freeze =
        Some(Freeze { who: who(), reason: "holidays".into(), at: at(0), until: Some(at(3600)) });
    let words = FreezeReport::of(record, at(0)).unwrap().words();
    assert_eq!(words, "frozen by alice@laptop until 2026-11-30 13:00 UTC: holidays");
    assert_eq!(FreezeReport::of(record, at(3600)), None, "it is over");
    let lasting = Freeze { who: who(), reason: "audit".into(), at: at(0), until: None };
    assert_eq!(FreezeReport::from(&lasting).words(), "frozen by alice@laptop: audit");
}
