//! Arguments that several verbs share, and the types that read them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::apply::MoveFrom;
use crate::cluster::state::StatePlace;
pub use crate::duration::parse as duration;
use crate::plan::Besides;
use crate::rollout::StrategyChoice;

/// Flags of every verb.
#[derive(Args, Clone, Debug)]
pub struct GlobalArgs {
    /// When to use colour: auto (by the terminal, NO_COLOR and CLICOLOR_FORCE), always, never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        env = "MCD_COLOR",
        hide_env = true,
        value_name = "WHEN",
        help_heading = "Global options"
    )]
    pub color: Color,

    /// Show results and errors only
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,

    /// Show more: how many objects stay unchanged, every attempt that failed
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,

    /// Write a log of what mcd does to this file (never with secret values)
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "MCD_LOG_FILE",
        hide_env = true,
        help_heading = "Global options"
    )]
    pub log_file: Option<PathBuf>,

    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpShort, help_heading = "Global options")]
    help: Option<bool>,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which application, which targets, which values.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Application")]
pub struct ProjectArgs {
    /// The application file
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "mcd.yaml",
        env = "MCD_FILE",
        hide_env = true
    )]
    pub file: PathBuf,

    /// The fleet file; default: what the application file says
    #[arg(long, value_name = "FILE", env = "MCD_FLEET", hide_env = true)]
    pub fleet: Option<PathBuf>,

    /// Only these targets; globs work, and the flag may be repeated
    #[arg(short, long = "target", value_name = "NAME")]
    pub targets: Vec<String>,

    /// Only targets whose cluster has these labels (`env=prod,region!=us`, `tier in (a,b)`)
    #[arg(short = 'l', long, value_name = "SELECTOR", env = "MCD_SELECTOR", hide_env = true)]
    pub selector: Option<String>,

    /// Only targets of this wave of the application file; may be repeated
    #[arg(long = "wave", value_name = "NAME")]
    pub waves: Vec<String>,

    /// Set a variable of the application file; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = name_value)]
    pub vars: Vec<(String, String)>,
}

/// Where the fleet's generators find contexts, for verbs that contact no cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Clusters")]
pub struct KubeconfigArgs {
    /// The kubeconfig in which generators of the fleet look; default: $KUBECONFIG (a list), then
    /// ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// How to reach clusters.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Clusters")]
pub struct ClusterArgs {
    /// The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Act as this user
    #[arg(long = "as", value_name = "USER", env = "MCD_AS", hide_env = true)]
    pub as_user: Option<String>,

    /// Act as a member of this group; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "as_user")]
    pub as_groups: Vec<String>,

    /// Act with this uid
    #[arg(long = "as-uid", value_name = "UID", requires = "as_user")]
    pub as_uid: Option<String>,

    /// How long one call to an API server may take
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration, env = "MCD_REQUEST_TIMEOUT", hide_env = true)]
    pub request_timeout: Duration,

    /// How many targets at once; default: all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), env = "MCD_CONCURRENCY", hide_env = true)]
    pub concurrency: Option<u32>,
}

impl ClusterArgs {
    /// Those of a verb that contacts no cluster.
    pub(crate) fn offline(kubeconfig: Option<PathBuf>) -> Self {
        ClusterArgs {
            kubeconfig,
            as_user: None,
            as_groups: Vec::new(),
            as_uid: None,
            request_timeout: Duration::from_secs(30),
            concurrency: None,
        }
    }
}

/// How to render.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Rendering")]
pub struct RenderArgs {
    /// Use this kustomize, for the targets whose version it satisfies
    #[arg(long, value_name = "PATH", env = "MCD_KUSTOMIZE_BIN", hide_env = true)]
    pub kustomize_bin: Option<PathBuf>,

    /// Use this helm, for the targets whose version it satisfies
    #[arg(long, value_name = "PATH", env = "MCD_HELM_BIN", hide_env = true)]
    pub helm_bin: Option<PathBuf>,

    /// How long one run of kustomize or helm may take
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration, env = "MCD_TOOL_TIMEOUT", hide_env = true)]
    pub tool_timeout: Duration,
}

/// The form of the result on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Table,
    /// JSON, with a documented schema.
    Json,
    /// The same as YAML.
    Yaml,
    /// One name a line.
    Name,
}

/// `-o`.
#[derive(Args, Clone, Copy, Debug)]
pub struct OutputArgs {
    /// The form of the result on stdout: table, json, yaml, or name (one a line)
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true,
        env = "MCD_OUTPUT",
        hide_env = true
    )]
    pub output: Output,
}

/// Waiting for health.
#[derive(Args, Clone, Copy, Debug)]
pub struct WaitArgs {
    /// Wait until the targets are healthy, or what was deleted is gone (`--wait=false`: don't)
    #[arg(long, hide_possible_values = true, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    /// How long to wait for a target; default: 10m, and for a step of a rollout what its wave says
    #[arg(long, value_name = "DURATION", value_parser = duration, env = "MCD_TIMEOUT", hide_env = true)]
    pub timeout: Option<Duration>,
}

/// How long a target may take when nothing is said.
const PATIENCE: Duration = Duration::from_secs(600);

impl WaitArgs {
    /// How long to wait for a target.
    pub(crate) fn patience(self) -> Duration {
        self.timeout.unwrap_or(PATIENCE)
    }
}

/// How a release reaches each target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StrategyArg {
    /// By what changes in it.
    #[default]
    Auto,
    /// At once.
    Plain,
    /// Through the steps of the application file.
    Steps,
}

impl StrategyArg {
    /// The same for whoever decides.
    pub(crate) fn choice(self) -> StrategyChoice {
        match self {
            StrategyArg::Auto => StrategyChoice::Auto,
            StrategyArg::Plain => StrategyChoice::Plain,
            StrategyArg::Steps => StrategyChoice::Steps,
        }
    }
}

/// How a rollout is driven.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Rollout")]
pub struct DriveArgs {
    /// Exit with 0 also when targets failed, as long as no wave had more failures than it may
    #[arg(long)]
    pub budget_ok: bool,

    /// Wait for an approval, at most so long, rather than end with exit code 7
    #[arg(long, value_name = "DURATION", value_parser = duration, env = "MCD_WAIT_APPROVAL", hide_env = true)]
    pub wait_approval: Option<Duration>,
}

/// Where state comes from.
#[derive(Args, Clone, Debug)]
pub struct MoveArgs {
    /// Bring the application's state here from another state namespace, or from what the
    /// application was called: `shop`, `shop/web`
    #[arg(long, value_name = "NAMESPACE[/NAME]", value_parser = move_from)]
    pub move_from: Option<MoveFrom>,
}

/// What is deleted only when it is asked for.
#[derive(Args, Clone, Copy, Debug)]
pub struct BesidesArgs {
    /// Delete namespaces that the application owns, with everything in them
    #[arg(long)]
    pub with_namespaces: bool,

    /// Delete definitions that the application owns, with all their objects
    #[arg(long)]
    pub with_definitions: bool,

    /// Delete volumes and claims that the application owns, with their data
    #[arg(long)]
    pub with_volumes: bool,
}

impl BesidesArgs {
    /// The same for whoever deletes.
    pub(crate) fn besides(self) -> Besides {
        Besides {
            namespaces: self.with_namespaces,
            definitions: self.with_definitions,
            volumes: self.with_volumes,
        }
    }
}

/// What happens, for programs.
#[derive(Args, Clone, Debug)]
pub struct EventsArgs {
    /// Write every event of the run to this file, as lines of JSON, after what it holds
    #[arg(long, value_name = "FILE", env = "MCD_EVENTS", hide_env = true)]
    pub events: Option<PathBuf>,
}

/// Confirmation.
#[derive(Args, Clone, Copy, Debug)]
pub struct ConfirmArgs {
    /// Don't ask; needed where stdin or stderr is not a terminal
    #[arg(short, long)]
    pub yes: bool,
}

/// Reads `NAME=VALUE`.
fn name_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE".into()),
    }
}

/// Reads the number of a release.
pub(crate) fn release_number(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "releases are counted from 1; `mcd history` lists them".into())
}

/// Reads a namespace, or where an application's state is.
fn move_from(text: &str) -> Result<MoveFrom, String> {
    if text.contains('/') {
        return StatePlace::try_from(text.to_owned()).map(MoveFrom::Place);
    }
    match StatePlace::of_record(text, "mcd.x") {
        Some(_) => Ok(MoveFrom::Namespace(text.to_owned())),
        None => Err("expected a namespace, or NAMESPACE/APPLICATION".to_owned()),
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        assert_eq!(name_value("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(name_value("a="), Ok(("a".into(), String::new())));
        assert!(name_value("=b").is_err());
        assert!(name_value("a").is_err());
    }
}
