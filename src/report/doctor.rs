//! What `mcd doctor` found, as a document and as a table.

use schemars::JsonSchema;
use serde::Serialize;

use super::group::names;
use super::plan::plural;
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
    fn word(self) -> (&'static str, Role) {
        match self {
            CheckState::Ok => ("ok", Role::Ok),
            CheckState::Warn => ("warn", Role::Warn),
            CheckState::Fail => ("FAIL", Role::Fail),
            CheckState::Skipped => ("skipped", Role::Dim),
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

/// The table, what to do, and how many would work. Of several targets only what is not well is
/// shown, unless all is asked for.
pub fn text(report: &DoctorReport, verbose: bool, look: Look) -> String {
    let mut table = Table::new(vec!["CLUSTER", "CHECK", "STATE", "MESSAGE"]);
    let all = verbose || report.targets.len() == 1;
    for target in &report.targets {
        let mut row = |check: &str, state: CheckState, message: String| {
            let (word, role) = state.word();
            table.row(vec![
                Cell::styled(target.target.clone(), Role::Bold),
                Cell::from(check),
                Cell::styled(word, role),
                Cell::from(message),
            ]);
        };
        let bad = |check: &&CheckReport| matches!(check.state, CheckState::Warn | CheckState::Fail);
        let shown = target.checks.iter().filter(|check| all || bad(check));
        for check in shown {
            row(&check.check, check.state, check.message.clone());
        }
        if !all && !target.checks.iter().any(|check| bad(&check)) {
            let said = ["user", "state"].into_iter().filter_map(|name| {
                let found = target.checks.iter().find(|c| c.check == name)?;
                (found.state == CheckState::Ok).then_some(found.message.as_str())
            });
            row("all", CheckState::Ok, said.collect::<Vec<_>>().join("; "));
        }
    }
    let mut text = table.render(look);
    text += &todo(report, look);
    let failed = |target: &&TargetDoctor| target.checks.iter().any(|c| c.state == CheckState::Fail);
    let bad = report.targets.iter().filter(failed).count();
    let targets = plural(report.targets.len(), "target");
    text += &match bad {
        0 => format!("\nNothing would fail in {targets}.\n"),
        bad => format!("\nSomething would fail in {bad} of {targets}.\n"),
    };
    text
}

/// What to do, each once, with the checks and the targets that it is for.
fn todo(report: &DoctorReport, look: Look) -> String {
    struct Todo<'a> {
        hint: String,
        state: CheckState,
        checks: Vec<&'a str>,
        targets: Vec<&'a str>,
    }
    let mut todo: Vec<Todo<'_>> = Vec::new();
    for target in &report.targets {
        for check in target.checks.iter().filter(|check| !check.hints.is_empty()) {
            let (name, hint) = (target.target.as_str(), check.hints.join("; "));
            let known = todo.iter().position(|known| known.hint == hint);
            let at = known.unwrap_or_else(|| {
                let (checks, targets) = (Vec::new(), Vec::new());
                todo.push(Todo { hint, state: check.state, checks, targets });
                todo.len() - 1
            });
            let Some(known) = todo.get_mut(at) else { continue };
            if !known.checks.contains(&check.check.as_str()) {
                known.checks.push(&check.check);
            }
            if !known.targets.contains(&name) {
                known.targets.push(name);
            }
        }
    }
    let mut text = String::new();
    for Todo { hint, state, checks, targets } in todo {
        let (_, role) = state.word();
        let checks = look.paint(role, &checks.join(", "));
        text += &format!("\n{checks} in {}:\n  {hint}\n", names(&targets, report.targets.len()));
    }
    text
}
