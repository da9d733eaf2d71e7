//! What `mcd doctor` found, as a document and as a table.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cell, Table};
use crate::apply::{Check, Diagnosis, Found};
use crate::config::{Identity, Target};
use crate::error::Exit;
use crate::ui::{Look, Role};

/// What `mcd doctor -o json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// `mcd.dev/doctor/v1`.
    pub schema: String,
    /// The application.
    pub application: String,
    /// One entry a target, in the order of the fleet.
    pub targets: Vec<TargetDoctor>,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// What was found of one target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetDoctor {
    /// The target.
    pub target: String,
    /// The kubeconfig context.
    pub context: String,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// What the cluster is: the pin to paste as `identity` into the fleet. What the user may not
    /// read is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The checks, in the order in which a run would meet them.
    pub checks: Vec<CheckReport>,
}

/// One check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// `context`, `reachable`, `version`, `tls`, `clock`, `identity`, `user`, `render`, `apis`,
    /// `namespace`, `plan`, `apply`, `delete` and `causes` (rights), `state`, `lock`.
    pub check: String,
    /// `ok`, `warn` (it works), `fail` (something would fail), `skipped` (it could not be looked at).
    pub state: CheckState,
    /// What was found.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckState {
    /// All is well.
    Ok,
    /// It works, and someone should know.
    Warn,
    /// Something would fail.
    Fail,
    /// It could not be looked at.
    Skipped,
}

impl CheckState {
    fn word(self) -> (&'static str, Option<Role>) {
        match self {
            CheckState::Ok => ("ok", Some(Role::Ok)),
            CheckState::Warn => ("warn", Some(Role::Warn)),
            CheckState::Fail => ("FAIL", Some(Role::Fail)),
            CheckState::Skipped => ("skipped", Some(Role::Dim)),
        }
    }
}

impl TargetDoctor {
    /// The report of a diagnosis.
    pub fn new(target: &Target, diagnosis: &Diagnosis) -> Self {
        TargetDoctor {
            target: target.name.to_string(),
            context: target.cluster.context.clone(),
            namespace: target.namespace.clone(),
            identity: diagnosis.identity.clone(),
            checks: diagnosis.checks.iter().map(CheckReport::new).collect(),
        }
    }
}

impl CheckReport {
    fn new(check: &Check) -> Self {
        let (state, message, hints) = match &check.found {
            Found::Ok(message) => (CheckState::Ok, message.clone(), Vec::new()),
            Found::Warn(message, hint) => (CheckState::Warn, message.clone(), vec![hint.clone()]),
            Found::Fail(error) => (CheckState::Fail, format!("{error:#}"), error.hints().to_vec()),
            Found::Skipped(why) => (CheckState::Skipped, why.clone(), Vec::new()),
        };
        CheckReport { check: check.name.to_owned(), state, message, hints }
    }
}

/// What a diagnosis means for the exit code: 9 where the cluster could not be reached or read, 1
/// where something else would fail.
pub fn exit(diagnosis: &Diagnosis) -> Exit {
    diagnosis.checks.iter().fold(Exit::Ok, |exit, check| match &check.found {
        Found::Ok(_) | Found::Warn(..) | Found::Skipped(_) => exit,
        Found::Fail(error) => exit.and(match error.exit() {
            code @ (Exit::Unreachable | Exit::Interrupted | Exit::Terminated) => code,
            Exit::Ok
            | Exit::Failed
            | Exit::Changes
            | Exit::Config
            | Exit::Manifest
            | Exit::Policy
            | Exit::Blocked
            | Exit::Paused
            | Exit::Budget => Exit::Failed,
        }),
    })
}

/// The table, what to do, and how many would work.
pub fn text(report: &DoctorReport, look: Look) -> String {
    let mut table = Table::new(vec!["CLUSTER", "CHECK", "STATE", "MESSAGE"]);
    for target in &report.targets {
        for check in &target.checks {
            let (word, role) = check.state.word();
            let state = role.map_or_else(|| Cell::from(word), |role| Cell::styled(word, role));
            table.row(vec![
                Cell::styled(target.target.clone(), Role::Bold),
                Cell::from(check.check.clone()),
                state,
                Cell::from(check.message.clone()),
            ]);
        }
    }
    let mut text = table.render(look);
    let hints = report.targets.iter().flat_map(|target| {
        let checks = target.checks.iter().filter(|check| !check.hints.is_empty());
        checks.map(move |check| (target, check))
    });
    for (n, (target, check)) in hints.enumerate() {
        if n == 0 {
            text.push('\n');
        }
        let (_, role) = check.state.word();
        let name = format!("{} {}", target.target, check.check);
        let name = role.map_or_else(|| name.clone(), |role| look.paint(role, &name));
        text += &format!("{name}: {}\n", check.hints.join("; "));
    }
    let failed = |target: &&TargetDoctor| target.checks.iter().any(|c| c.state == CheckState::Fail);
    let bad = report.targets.iter().filter(failed).count();
    let all = report.targets.len();
    text += &match bad {
        0 => format!("\nNothing would fail in {}.\n", super::plan::plural(all, "target")),
        bad => {
            format!("\nSomething would fail in {bad} of {}.\n", super::plan::plural(all, "target"))
        }
    };
    text
}
