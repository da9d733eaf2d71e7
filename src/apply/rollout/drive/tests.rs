//! The driver over a few targets: what it does when, what it tells, how it ends, and with which code.

use std::cell::RefCell;
use std::collections::VecDeque;

use jiff::SignedDuration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::cluster::state::{ClosedRollout, Place, RolloutId, TargetProgress, WavePlan, Who};
use crate::event::{Event, EventKind, Events};
use crate::rollout::{Pause, Step, StopReason};

/// Does what it is told: of each target how its calls end, one after the other, each after so many
/// seconds; what is not said is done at once.
#[derive(Default)]
struct Script {
    steps: RefCell<BTreeMap<&'static str, VecDeque<(u64, Ended)>>>,
    looks: RefCell<BTreeMap<&'static str, VecDeque<Looked>>>,
    /// When an approval can be read, in seconds from the start.
    approval: Option<(u64, Gate)>,
    calls: RefCell<Vec<(u64, String)>>,
    started: Option<Instant>,
}

impl Script {
    fn new() -> Self {
        Script { started: Some(Instant::now()), ..Script::default() }
    }

    fn step(self, target: &'static str, seconds: u64, ended: Ended) -> Self {
        self.steps.borrow_mut().entry(target).or_default().push_back((seconds, ended));
        self
    }

    fn look(self, target: &'static str, looked: Looked) -> Self {
        self.looks.borrow_mut().entry(target).or_default().push_back(looked);
        self
    }

    fn seconds(&self) -> u64 {
        self.started.map_or(0, |started| started.elapsed().as_secs())
    }

    fn called(&self, call: String) {
        let now = self.seconds();
        self.calls.borrow_mut().push((now, call));
    }

    /// The calls, each with its second.
    fn said(&self) -> Vec<String> {
        self.calls.borrow().iter().map(|(at, call)| format!("{at} {call}")).collect()
    }

    /// The same, without looks and notes.
    fn acts(&self) -> Vec<String> {
        let quiet = |call: &String| !(call.contains(" look") || call.contains(" soak"));
        self.said().into_iter().filter(quiet).collect()
    }
}

impl Fleet for Script {
    async fn advance(&self, target: &TargetName, step: Option<usize>) -> Ended {
        let step = step.map_or("-".to_owned(), |step| step.to_string());
        self.called(format!("{target} step {step}"));
        let next = self.steps.borrow_mut().get_mut(target.as_str()).and_then(VecDeque::pop_front);
        let (seconds, ended) = next.unwrap_or((1, Ended::Done));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        match ended {
            // In the time of this server.
            Ended::Paused { .. } => Ended::Paused { since: self.now(target) },
            ended => ended,
        }
    }

    async fn look(&self, target: &TargetName, last: bool) -> Looked {
        self.called(format!("{target} look{}", if last { " last" } else { "" }));
        let next = self.looks.borrow_mut().get_mut(target.as_str()).and_then(VecDeque::pop_front);
        match next.unwrap_or(Looked::Healthy { since: self.now(target) }) {
            Looked::Healthy { .. } => Looked::Healthy { since: self.now(target) },
            Looked::NotYet(reason) if last => Looked::Failed(Error::new(Exit::Failed, reason)),
            looked => looked,
        }
    }

    async fn undo(&self, target: &TargetName) -> Result<(), Error> {
        self.called(format!("{target} undo"));
        Ok(())
    }

    async fn close(
        &self,
        target: &TargetName,
        stand: Stand,
        _message: Option<String>,
    ) -> Result<(), Error> {
        self.called(format!("{target} close {stand:?}"));
        Ok(())
    }

    async fn note_soak(&self, target: &TargetName, _since: Timestamp) -> Result<(), Error> {
        self.called(format!("{target} soak"));
        Ok(())
    }

    async fn approvals(&self, _wave: usize) -> Result<Vec<Approval>, (TargetName, Error)> {
        let given = self.approval.filter(|(at, _)| *at <= self.seconds());
        let approval = |(_, gate): (u64, Gate)| Approval {
            wave: gate.wave,
            step: gate.step,
            who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
            at: Timestamp::UNIX_EPOCH,
        };
        Ok(given.map(approval).into_iter().collect())
    }

    /// Its servers have not noticed that it is not 1970 any more.
    fn now(&self, _target: &TargetName) -> Timestamp {
        let elapsed = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        Timestamp::UNIX_EPOCH + SignedDuration::try_from(elapsed).unwrap()
    }
}

/// Waves of targets, `a b` and so on, all of whose targets go through these steps.
fn header(waves: &[&str], steps: Vec<Step>) -> Header {
    let place = |name: &str| Place {
        target: TargetName::new(name),
        context: name.to_owned(),
        server: String::new(),
        ca_digest: None,
        namespace: "shop".to_owned(),
        state_namespace: "shop".to_owned(),
        state_namespace_is_set: false,
        not_staged: None,
    };
    let wave = |(index, targets): (usize, &&str)| WavePlan {
        name: format!("w{}", index + 1),
        targets: targets.split_whitespace().map(place).collect(),
        max_concurrent: 9,
        max_failures: 0,
        mandatory: BTreeSet::new(),
        soak: Duration::ZERO,
        progress_deadline: Duration::from_secs(600),
        approval: false,
    };
    Header {
        id: RolloutId::new(Timestamp::UNIX_EPOCH, 1),
        by_hand: false,
        opened: Timestamp::UNIX_EPOCH,
        who: Who { user: "alice".into(), host: "laptop".into(), ci: None },
        commit: None,
        waves: waves.iter().enumerate().map(wave).collect(),
        steps,
        variants: crate::rollout::VariantSettings::default(),
        on_failure: OnFailure::Stop,
    }
}

fn pending(header: &Header) -> BTreeMap<TargetName, Known> {
    let progress = TargetProgress {
        release: Some(2),
        previous: Some(1),
        hand: Vec::new(),
        steps: (0..header.steps.len()).collect(),
        reason: "image web 1 → 2".to_owned(),
        done: 0,
        stand: Stand::Pending,
        since: Timestamp::UNIX_EPOCH,
        healthy: None,
        soak: None,
        interrupted: None,
        message: None,
        variants: BTreeSet::new(),
        created: BTreeSet::new(),
    };
    let places = header.waves.iter().flat_map(|wave| &wave.targets);
    places.map(|place| (place.target.clone(), Known::Open(Box::new(progress.clone())))).collect()
}

fn how() -> (How, UnboundedReceiver<Event>) {
    let (events, receiver) = Events::channel();
    let halt = CancellationToken::new();
    (How { cap: None, wait_approval: None, retry_failed: false, halt, events }, receiver)
}

async fn run(script: &Script, header: &Header) -> Outcome {
    drive(script, header, pending(header), &how().0).await
}

fn ends(outcome: &Outcome) -> Vec<(&str, End)> {
    outcome.targets.iter().map(|(name, target)| (name.as_str(), target.end)).collect()
}

fn failed() -> Ended {
    Ended::Failed(Error::new(Exit::Failed, "is not healthy"))
}

#[tokio::test(start_paused = true)]
async fn a_failure_cancels_no_sibling_and_starts_no_other() {
    let script = Script::new().step("a", 1, failed()).step("b", 60, Ended::Done);
    let header = header(&["a b", "c"], vec![Step::Primary, Step::Clean]);
    let outcome = run(&script, &header).await;
    // What is under way finishes its step, and no more than that.
    assert_eq!(script.said(), ["0 a step 0", "0 b step 0"]);
    assert_eq!(script.seconds(), 60);
    assert_eq!(
        ends(&outcome),
        [("a", End::Failed), ("b", End::Unfinished), ("c", End::NotStarted)]
    );
    assert_eq!(outcome.exit(false), Exit::Failed);
    let reason = StopReason::Budget { failed: 1, allowed: 0 };
    assert_eq!(outcome.stop, Some(Stop { wave: 0, reason }));
}

#[tokio::test(start_paused = true)]
async fn who_is_blocked_has_not_failed_and_nothing_new_starts() {
    let locked = Error::new(Exit::Blocked, "locked by bob@desk");
    let script = Script::new().step("a", 1, Ended::of(locked));
    let mut header = header(&["a b c"], vec![Step::Primary]);
    header.waves[0].max_concurrent = 2;
    let outcome = run(&script, &header).await;
    assert_eq!(script.said(), ["0 a step 0", "0 b step 0"]);
    assert_eq!(
        ends(&outcome),
        [("a", End::Unfinished), ("b", End::Succeeded), ("c", End::NotStarted)]
    );
    assert_eq!(outcome.exit(true), Exit::Blocked);
    assert!(outcome.targets.values().all(|target| !target.failed && target.open));
}

#[tokio::test(start_paused = true)]
async fn inside_the_budget_a_failed_target_goes_back_and_all_records_are_closed() {
    let script = Script::new().step("a", 1, failed());
    let mut header = header(&["a b", "c"], vec![Step::Primary]);
    header.waves[0].max_failures = 1;
    let outcome = run(&script, &header).await;
    assert_eq!(
        script.said(),
        [
            "0 a step 0",
            "0 b step 0",
            "1 a undo",
            "1 a close Failed",
            "1 c step 0",
            "2 b close Succeeded",
            "2 c close Succeeded"
        ]
    );
    assert_eq!(ends(&outcome), [("a", End::Undone), ("b", End::Succeeded), ("c", End::Succeeded)]);
    assert_eq!((outcome.exit(false), outcome.exit(true)), (Exit::Budget, Exit::Ok));
}

#[tokio::test(start_paused = true)]
async fn pauses_last_as_long_as_they_say_whatever_the_servers_clock() {
    let pause = Step::Pause(Pause { period: Some(Duration::from_secs(300)) });
    let at_a_pause = Ended::Paused { since: Timestamp::UNIX_EPOCH };
    let script = Script::new().step("a", 1, at_a_pause);
    let header = header(&["a"], vec![pause, Step::Primary]);
    let outcome = run(&script, &header).await;
    let want = ["0 a step 0", "301 a step 0", "302 a step 1", "303 a close Succeeded"];
    assert_eq!(script.said(), want);
    assert_eq!(outcome.exit(false), Exit::Ok);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_waited_for_as_long_as_asked() {
    let gate = Gate { wave: 0, step: None };
    for (given, wait, exit, seconds) in [
        (None, None, Exit::Paused, 0),
        (Some(1000), None, Exit::Paused, 0),
        (Some(0), None, Exit::Ok, 1),
        (Some(12), Some(60), Exit::Ok, 16),
        (Some(1000), Some(60), Exit::Paused, 60),
        (Some(1000), Some(3), Exit::Paused, 3),
    ] {
        let script = Script { approval: given.map(|at| (at, gate)), ..Script::new() };
        let mut header = header(&["a"], vec![Step::Primary]);
        header.waves[0].approval = true;
        let (mut how, _events) = how();
        how.wait_approval = wait.map(Duration::from_secs);
        let outcome = drive(&script, &header, pending(&header), &how).await;
        let waits = if exit == Exit::Paused { vec![gate] } else { Vec::new() };
        assert_eq!((outcome.exit(false), &outcome.waits_for), (exit, &waits), "{given:?} {wait:?}");
        assert_eq!(script.seconds(), seconds, "{given:?} {wait:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn others_go_on_while_one_waits_for_approval() {
    let pause = Step::Pause(Pause { period: None });
    let at_a_pause = Ended::Paused { since: Timestamp::UNIX_EPOCH };
    let gate = Gate { wave: 0, step: Some(0) };
    let script = Script { approval: Some((7, gate)), ..Script::new() }
        .step("a", 1, at_a_pause)
        .step("b", 30, Ended::Done);
    let header = header(&["a b"], vec![pause, Step::Primary]);
    let outcome = run(&script, &header).await;
    // It is seen though nobody waits for it alone.
    assert_eq!(
        script.acts(),
        [
            "0 a step 0",
            "0 b step 0",
            "11 a step 0",
            "12 a step 1",
            "30 b step 1",
            "31 a close Succeeded",
            "31 b close Succeeded"
        ]
    );
    assert_eq!(outcome.exit(false), Exit::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_dip_during_the_soak_is_forgiven_and_a_minute_is_not() {
    let dip = || Looked::NotYet("2 of 3 ready".to_owned());
    let lost = || Looked::Unreachable(Error::new(Exit::Unreachable, "no route to host"));
    let healthy = || Looked::Healthy { since: Timestamp::UNIX_EPOCH };
    let mut header = header(&["a", "b"], vec![Step::Primary]);
    header.waves[0].soak = Duration::from_secs(30);

    let script = Script::new().look("a", healthy()).look("a", dip()).look("a", lost());
    let outcome = run(&script, &header).await;
    assert_eq!(outcome.exit(false), Exit::Ok, "{:?}", script.said());
    let acts = ["0 a step 0", "31 b step 0", "32 a close Succeeded", "32 b close Succeeded"];
    assert_eq!(script.acts(), acts);

    // An autoscaler that is still at it holds the wave up.
    let script = (0..13).fold(Script::new().look("a", healthy()), |s, _| s.look("a", dip()));
    assert_eq!(run(&script, &header).await.exit(false), Exit::Ok);
    assert_eq!(script.acts()[1], "43 b step 0", "{:?}", script.said());

    let script = (0..99).fold(Script::new().look("a", healthy()), |s, _| s.look("a", dip()));
    let outcome = run(&script, &header).await;
    assert_eq!((outcome.exit(false), script.seconds()), (Exit::Failed, 64), "{:?}", script.said());
    assert_eq!(ends(&outcome), [("a", End::Failed), ("b", End::NotStarted)]);

    let script = (0..99).fold(Script::new().look("a", healthy()), |s, _| s.look("a", lost()));
    assert_eq!(run(&script, &header).await.exit(false), Exit::Unreachable);
    // Who was never healthy has the time of a step.
    let script = (0..999).fold(Script::new(), |s, _| s.look("a", dip()));
    assert_eq!(run(&script, &header).await.exit(false), Exit::Failed);
    assert!((600..610).contains(&(script.seconds() - 1)), "{}", script.seconds());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_told_to_stop_starts_nothing_and_waits_for_what_runs() {
    let script = Script::new().step("a", 10, Ended::Halted).step("b", 20, Ended::Done);
    let header = header(&["a b", "c"], vec![Step::Primary]);
    let (how, _events) = how();
    let halt = how.halt.clone();
    let signal = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        halt.cancel();
    };
    let (outcome, ()) = tokio::join!(drive(&script, &header, pending(&header), &how), signal);
    assert_eq!((script.said().len(), script.seconds()), (2, 20));
    assert_eq!(
        ends(&outcome),
        [("a", End::Unfinished), ("b", End::Succeeded), ("c", End::NotStarted)]
    );
    assert_eq!((outcome.exit(false), outcome.halted), (Exit::Interrupted, true));
}

#[tokio::test(start_paused = true)]
async fn taken_back_the_last_wave_first() {
    let header = header(&["a", "b c", "d"], vec![Step::Primary]);
    let script = Script::new();
    let mut known = pending(&header);
    known.insert(TargetName::new("c"), Known::Missing(Error::new(Exit::Unreachable, "no route")));
    let outcome = abort(&script, &header, known.clone(), &how().0).await;
    assert_eq!(
        script.said(),
        [
            "0 d undo",
            "0 d close Undone",
            "0 b undo",
            "0 b close Undone",
            "0 a undo",
            "0 a close Undone"
        ]
    );
    assert_eq!(outcome.exit_of_abort(), Exit::Unreachable);
    assert_eq!(
        ends(&outcome),
        [("a", End::Undone), ("b", End::Undone), ("c", End::Unreachable), ("d", End::Undone)]
    );
    // What has ended is not taken back, and that is said.
    let closed = ClosedRollout {
        id: header.id.clone(),
        stand: Stand::Succeeded,
        release: None,
        at: Timestamp::UNIX_EPOCH,
        message: None,
        aborted: false,
    };
    known.insert(TargetName::new("c"), Known::Closed(closed));
    let outcome = abort(&Script::new(), &header, known, &how().0).await;
    assert_eq!(outcome.exit_of_abort(), Exit::Failed);
    let hints = outcome.targets[&TargetName::new("c")].troubles[0].hints();
    assert_eq!(hints, ["go back with `mcd rollback -t c`"]);
}

/// The kinds of a run's events, in order, with their targets.
fn told(mut receiver: UnboundedReceiver<Event>) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(Event { target, kind }) = receiver.try_recv() {
        let what = match kind {
            EventKind::WaveStarted { wave, targets } => format!("{wave} starts with {targets}"),
            EventKind::WaveEnded { wave, failed } => format!("{wave} ends, {failed} failed"),
            EventKind::Soak { wave, .. } => format!("{wave} soaks"),
            EventKind::ApprovalNeeded { wave, pause } => format!("{wave} needs approval {pause:?}"),
            EventKind::Approved { wave, pause, who } => format!("{wave} {pause:?} by {who}"),
            EventKind::StepStarted { step } => format!("{step} starts"),
            EventKind::StepEnded { step, ok } => format!("{step} ends: {ok}"),
            EventKind::Paused { step, .. } => format!("{step} pauses"),
            EventKind::TargetFailed { reason, .. } => format!("failed: {reason}"),
            EventKind::Undoing { release } => format!("goes back to {release:?}"),
            EventKind::Undone { release } => format!("is back at {release:?}"),
            EventKind::Stopped { wave, reason } => {
                format!("{} stops: {reason}", wave.map_or_else(String::new, |w| w.to_string()))
            }
            EventKind::Waiting { reason } => format!("waits: {reason}"),
            other => format!("{other:?}"),
        };
        all.push(match target {
            Some(target) => format!("{target}: {what}"),
            None => what,
        });
    }
    all
}

#[tokio::test(start_paused = true)]
async fn what_happens_is_told_once() {
    let pause = Step::Pause(Pause { period: None });
    let gate = Gate { wave: 0, step: Some(0) };
    let at_a_pause = || Ended::Paused { since: Timestamp::UNIX_EPOCH };
    let script = Script { approval: Some((0, gate)), ..Script::new() }
        .step("a", 1, at_a_pause())
        .step("b", 2, at_a_pause())
        .step("b", 1, Ended::Done)
        .step("b", 2, failed())
        .step("c", 1, failed());
    let mut header = header(&["a b", "c"], vec![pause, Step::Primary]);
    header.waves[0].max_failures = 1;
    header.waves[0].soak = Duration::from_secs(20);
    let (how, receiver) = how();
    drive(&script, &header, pending(&header), &how).await;
    insta::assert_snapshot!(told(receiver).join("\n"));
}
