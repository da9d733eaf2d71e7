//! One file a verb: arguments → settings → the modules below → an outcome.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Exit};
use crate::ui::Ui;

mod adopt;
mod apply;
pub mod args;
mod compare;
mod delete;
mod deploy;
mod diff;
mod doctor;
mod external;
mod freeze;
mod generate;
mod history;
mod init;
mod orphans;
mod plan;
mod release;
mod render;
mod rollback;
mod rollout;
mod session;
mod signals;
mod status;
mod strategy;
mod targets;
mod unlock;
mod validate;
mod version;
mod watch;

/// The exit codes, for `--help` and the manual.
pub const EXIT_CODES: &str = "\
Exit codes:
    0  done; nothing to do
    1  a target failed · diff, compare: differences · status --wait: not healthy · doctor: a check fails
    2  changes present (only with --detailed-exitcode)
    3  usage or configuration; a confirmation without a terminal
    4  rendering failed, or the server refuses a manifest (invalid, immutable, quota)
    5  policy, or admission denied
    6  blocked: locked, frozen, a rollout in progress, a conflict to decide, a plan that no longer
       holds, declined
    7  paused, waiting for approval
    8  done, with failures inside the budget
    9  a cluster could not be reached, or not read (401, 403)
  130  interrupted (143: terminated)
When several apply, the first of 130/143, 3, 4, 5, 1, 9, 6, 7, 8, 2, 0 wins; for diff and compare 9 wins over 1.";

/// Deploy one application to many Kubernetes clusters: render for each target with its own
/// kustomize or helm, see what would change, apply, and see how each cluster stands.
#[derive(Debug, Parser)]
#[command(
    name = "mcd",
    version,
    about,
    long_about = None,
    after_help = EXIT_CODES,
    disable_help_flag = true,
    disable_help_subcommand = true,
    max_term_width = 100,
)]
pub struct Cli {
    #[command(flatten)]
    global: args::GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a fleet and an application file from the kubeconfig and what lies in this folder
    Init(init::InitArgs),
    /// List the resolved targets: cluster, context, namespace, labels, tool
    Targets(targets::TargetsArgs),
    /// Check files, rendering and manifests without a cluster
    Validate(validate::ValidateArgs),
    /// Write each target's manifests to stdout or a folder
    Render(render::RenderVerbArgs),
    /// Show what would change, as a unified diff (exit 1: differences)
    Diff(diff::DiffArgs),
    /// Show what an apply would do in each target
    Plan(plan::PlanArgs),
    /// Make each target what its manifests say, and wait until it is healthy
    Apply(apply::ApplyArgs),
    /// Take over what another deployer, such as helm, has made, and apply the manifests to it
    Adopt(adopt::AdoptArgs),
    /// Give each target the objects of an earlier release again
    Rollback(rollback::RollbackArgs),
    /// Take a release through steps and waves; look at it, approve it, go on, take it back
    Rollout(rollout::RolloutArgs),
    /// Delete the application from the targets
    Delete(delete::DeleteArgs),
    /// Show how the application stands in each target
    Status(status::StatusArgs),
    /// Show the releases of each target
    History(history::HistoryArgs),
    /// Show what two targets have that is not the same (exit 1: differences)
    Compare(compare::CompareArgs),
    /// Check that all is there that plan, apply and delete need: reachable, identity, rights, APIs, tools
    Doctor(doctor::DoctorArgs),
    /// Keep everyone from writing to the targets, until it is lifted or its time is over
    Freeze(freeze::FreezeArgs),
    /// Remove the lock that a run left behind
    Unlock(unlock::UnlockArgs),
    /// Print the JSON Schema of a file or of an output
    Schema(generate::SchemaArgs),
    /// Print the completion script of a shell
    Completions(generate::CompletionsArgs),
    /// Write the man pages into a folder
    Man(generate::ManArgs),
    /// Print the reference of every command as Markdown
    #[command(hide = true)]
    Reference(generate::ReferenceArgs),
    /// Print the version of mcd, and of each cluster
    Version(version::VersionArgs),
}

/// What a verb came to.
pub(crate) type Outcome = Result<Exit, Error>;

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let ui = Ui::new(&session::ui_options(&cli.global));
    let outcome = session::start_log(&cli.global).and_then(|()| dispatch(cli, &ui));
    let exit = match outcome {
        Ok(exit) => exit,
        Err(error) => {
            ui.error(&error);
            error.exit()
        }
    };
    ExitCode::from(exit.code())
}

/// Parses the command line. clap's own code for usage errors is 2, which here means changes.
fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let _ = error.print();
        ExitCode::from(if error.use_stderr() { Exit::Config.code() } else { Exit::Ok.code() })
    })
}

fn dispatch(cli: Cli, ui: &Ui) -> Outcome {
    let global = cli.global;
    match cli.command {
        Command::Init(args) => init::run(&args, ui),
        Command::Schema(args) => generate::schema(&args, ui),
        Command::Completions(args) => generate::completions(&args, ui),
        Command::Man(args) => generate::man(&args, ui),
        Command::Reference(_) => generate::reference(ui),
        Command::Version(args) if args.client => version::client(&args, ui),
        command => {
            install_tls();
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .map_err(|e| Error::config("could not start").because(e.to_string()))?;
            let outcome = runtime.block_on(run(command, &global, ui));
            // A tool or a call that does not end must not hold the process after its result.
            runtime.shutdown_background();
            outcome
        }
    }
}

async fn run(command: Command, global: &args::GlobalArgs, ui: &Ui) -> Outcome {
    match command {
        Command::Targets(args) => targets::run(&args, ui),
        Command::Validate(args) => validate::run(&args, global, ui).await,
        Command::Render(args) => render::run(&args, global, ui).await,
        Command::Diff(args) => diff::run(&args, global, ui).await,
        Command::Plan(args) => plan::run(&args, global, ui).await,
        Command::Apply(args) => apply::run(&args, global, ui).await,
        Command::Adopt(args) => adopt::run(args, global, ui).await,
        Command::Rollback(args) => rollback::run(&args, global, ui).await,
        Command::Rollout(args) => rollout::run(args, global, ui).await,
        Command::Freeze(args) => freeze::run(&args, ui).await,
        Command::Delete(args) => delete::run(&args, global, ui).await,
        Command::Status(args) => status::run(&args, global, ui).await,
        Command::History(args) => history::run(&args, ui).await,
        Command::Compare(args) => compare::run(args, ui).await,
        Command::Doctor(args) => doctor::run(&args, global, ui).await,
        Command::Unlock(args) => unlock::run(&args, global, ui).await,
        Command::Version(args) => version::run(&args, global, ui).await,
        Command::Init(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Reference(_) => Ok(Exit::Ok),
    }
}

/// Chooses the one crypto provider of the process: rustls refuses to guess when several are
/// compiled in.
fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
