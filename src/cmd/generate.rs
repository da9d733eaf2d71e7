//! What is generated from the command line's own definition: schemas, completions, man pages,
//! the reference. All of it is checked in, and `.ci/run` tells when it is stale.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueEnum};

use super::{Cli, Outcome};
use crate::config::{self, SchemaKind};
use crate::error::{Error, Exit};
use crate::report::model::{PlanReport, RunReport};
use crate::ui::Ui;

/// Arguments of `mcd schema`.
#[derive(Args, Debug)]
pub(super) struct SchemaArgs {
    /// Which document
    #[arg(value_enum)]
    pub document: Document,
}

/// The documents with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Document {
    /// The fleet file.
    Fleet,
    /// The application file.
    Application,
    /// The output of `plan -o json` and `diff -o json`.
    Plan,
    /// The output of `apply`, `rollback`, `delete` and `status` with `-o json`.
    Run,
    /// The output of `history -o json`.
    History,
    /// The output of `history show -o json`.
    Release,
    /// The output of `compare -o json`.
    Compare,
    /// The output of `doctor -o json`.
    Doctor,
    /// The output of the verbs of a rollout with `-o json`.
    Rollout,
    /// A line of the file that `--events` names.
    Event,
}

/// Prints a JSON Schema.
pub(crate) fn schema(args: &SchemaArgs, ui: &Ui) -> Outcome {
    let text = match args.document {
        Document::Fleet => config::schema(SchemaKind::Fleet),
        Document::Application => config::schema(SchemaKind::Application),
        Document::Plan => output::<PlanReport>(),
        Document::Run => output::<RunReport>(),
        Document::History => output::<super::history::HistoryReport>(),
        Document::Release => output::<super::release::ShowReport>(),
        Document::Compare => output::<crate::report::compare::CompareReport>(),
        Document::Doctor => output::<crate::report::doctor::DoctorReport>(),
        Document::Rollout => output::<crate::report::rollout::RolloutReport>(),
        Document::Event => output::<crate::report::EventLine<'_>>(),
    };
    ui.data(&text)?;
    Ok(Exit::Ok)
}

/// The schema of what is written: what may be left out is not required.
fn output<T: schemars::JsonSchema>() -> String {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Arguments of `mcd completions`.
#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs, ui: &Ui) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcd", &mut script);
    ui.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// Arguments of `mcd man`.
#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// The folder that gets one page a command
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Writes man pages.
pub(crate) fn man(args: &ManArgs, ui: &Ui) -> Outcome {
    let failed = |e: std::io::Error| {
        Error::config(format!("cannot write man pages into `{}`", args.folder.display()))
            .because(e.to_string())
    };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(failed)?;
    ui.status(&format!("man pages written into {}", args.folder.display()));
    Ok(Exit::Ok)
}

/// Arguments of `mcd reference`.
#[derive(Args, Debug)]
pub(super) struct ReferenceArgs {}

/// Prints the reference of every command.
pub(crate) fn reference(ui: &Ui) -> Outcome {
    let mut text = String::from(
        "# Command reference\n\nMade by `mcd reference` from the command line's own definition.\n",
    );
    let mut root = Cli::command().term_width(100);
    root.build();
    section(&mut root, &mut text);
    ui.data(&text)?;
    Ok(Exit::Ok)
}

fn section(command: &mut clap::Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or("mcd").to_owned();
    let help = command.render_long_help().to_string();
    let help = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    for sub in command.get_subcommands_mut().filter(|sub| !sub.is_hide_set()) {
        section(sub, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_says_what_it_does() {
        for sub in Cli::command().get_subcommands() {
            assert!(sub.get_about().is_some(), "{} has no help", sub.get_name());
        }
    }
}
