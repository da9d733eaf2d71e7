//! `mcd init`: writes a commented fleet and application file from the kubeconfig's contexts and from
//! what lies in the folder. No cluster is contacted.

mod names;
mod scan;
mod text;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use globset::Glob;

use self::text::Member;
use super::Outcome;
use crate::cluster::{ConnectOptions, Kubeconfigs};
use crate::config::{ClusterSpec, Disk, Files, Resolver};
use crate::error::{Error, Exit, Result};
use crate::report::plan::plural;
use crate::ui::Ui;

/// The application file that it writes.
const APPLICATION: &str = "mcd.yaml";

/// Arguments of `mcd init`.
#[derive(Args, Debug)]
pub(super) struct InitArgs {
    /// What to render: a folder with a kustomization, a chart or manifests, or a manifest; default:
    /// what is found in this folder and below
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// The application's name; default: that of the folder
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The namespace to deploy to; default: the application's name
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Contexts of the kubeconfig that become clusters; globs work, and the flag may be repeated.
    /// Default: all
    #[arg(long = "context", value_name = "CONTEXT")]
    contexts: Vec<String>,

    /// The fleet file to write; one that is there is used as it is
    #[arg(
        long,
        value_name = "FILE",
        default_value = "fleet.yaml",
        env = "MCD_FLEET",
        hide_env = true
    )]
    fleet: PathBuf,

    /// The kubeconfig file; default: $KUBECONFIG (a list), then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Write over files that are there
    #[arg(long)]
    force: bool,

    /// Don't ask before all contexts are taken
    #[arg(short, long)]
    yes: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &InitArgs, ui: &Ui) -> Outcome {
    let folder = std::env::current_dir()
        .map_err(|e| Error::config("the current folder cannot be read").because(e.to_string()))?;
    if !args.force && Path::new(APPLICATION).exists() {
        return Err(Error::config(format!("`{APPLICATION}` is there already"))
            .hint("`--force` writes over it"));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => names::application(&folder.file_name().unwrap_or_default().to_string_lossy()),
    };
    let found = scan::scan(&folder, args.path.as_deref())?;
    let fleet_is_there = args.fleet.exists() && !args.force;
    let members = match fleet_is_there {
        true if !args.contexts.is_empty() => {
            let fleet = args.fleet.display();
            return Err(Error::config(format!(
                "`{fleet}` is there already, with its own clusters"
            ))
            .hint("leave `--context` out to use it as it is, or `--force` to write over it"));
        }
        true => Vec::new(),
        false => members(args, ui)?,
    };
    let fleet_name = args.fleet.display().to_string();
    let namespace = args.namespace.as_deref().unwrap_or(&name);
    let application = text::application(&name, namespace, &fleet_name, &found.source, &members);

    let fleet_text = (!fleet_is_there).then(|| text::fleet(&members));
    // As any other verb will see them, before they are there: a name that is none, a path that
    // leads out.
    let drafts = Drafts::new([
        (args.fleet.as_path(), fleet_text.as_deref()),
        (Path::new(APPLICATION), Some(&application)),
    ]);
    if let Err(mut errors) = Resolver::new(&drafts).check(Path::new(APPLICATION), None, &[])
        && let Some(last) = errors.pop()
    {
        ui.errors(&errors);
        return Err(last.hint("nothing was written"));
    }
    let mut wrote = String::new();
    if let Some(text) = &fleet_text {
        write(&args.fleet, text, args.force)?;
        let listed: Vec<&str> = members
            .iter()
            .filter(|member| member.instead.is_none())
            .map(|member| member.name.as_str())
            .collect();
        let clusters = plural(listed.len(), "cluster");
        wrote += &format!("wrote {fleet_name}: {clusters} ({})\n", listed.join(", "));
    } else {
        wrote += &format!("{fleet_name} is there already, and is used as it is\n");
    }
    write(Path::new(APPLICATION), &application, args.force)?;
    wrote += &format!(
        "wrote {APPLICATION}: `{name}`, rendered from {}, for the namespace `{namespace}`\n",
        found.source
    );
    ui.data(&wrote)?;
    for other in &found.others {
        ui.hint(&format!("there is {other}, too: `mcd init --force {}` takes that", other.path()));
    }
    ui.status(
        "next: `mcd validate` checks it without a cluster, `mcd plan` shows what an apply would do, \
         `mcd apply` does it",
    );
    Ok(Exit::Ok)
}

/// The disk with files that are not written yet, by their absolute paths.
struct Drafts(BTreeMap<PathBuf, String>);

impl Drafts {
    fn new<'a>(files: impl IntoIterator<Item = (&'a Path, Option<&'a str>)>) -> Self {
        let place = |(path, text): (&Path, Option<&str>)| {
            Some((in_real_folder(path).ok()?, text?.to_owned()))
        };
        Drafts(files.into_iter().filter_map(place).collect())
    }
}

impl Files for Drafts {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        match self.0.get(&in_real_folder(path)?) {
            Some(text) => Ok(text.clone()),
            None => Disk.read(path),
        }
    }

    fn list(&self, folder: &Path) -> std::io::Result<Vec<String>> {
        Disk.list(folder)
    }

    fn canonical(&self, path: &Path) -> std::io::Result<PathBuf> {
        match in_real_folder(path) {
            Ok(draft) if self.0.contains_key(&draft) => Ok(draft),
            _ => Disk.canonical(path),
        }
    }
}

/// The path with its folder canonical; it need not exist itself.
fn in_real_folder(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(path),
    }
}

/// The clusters: one a context, and one a server.
fn members(args: &InitArgs, ui: &Ui) -> Result<Vec<Member>> {
    let connect =
        ConnectOptions { kubeconfig: args.kubeconfig.clone(), ..ConnectOptions::from_env() };
    let kubeconfigs = Kubeconfigs::new(&connect);
    let all = kubeconfigs.contexts(None)?;
    if all.is_empty() {
        return Err(Error::config("the kubeconfig has no contexts")
            .hint("name another file by `--kubeconfig` or KUBECONFIG"));
    }
    let chosen = choose(&all, &args.contexts)?;
    if chosen.len() > 1 && args.contexts.is_empty() && !args.yes && ui.can_confirm().is_ok() {
        let question = format!("Take all {} contexts ({})?", chosen.len(), chosen.join(", "));
        if !ui.confirm(&question)? {
            return Err(Error::new(Exit::Blocked, "declined; nothing was written")
                .hint("`--context 'prod-*'` chooses some of them"));
        }
    }
    // Relative to the fleet file, which may be elsewhere.
    let beside = args.fleet.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    let place = |path: &PathBuf| match std::path::absolute(path) {
        Ok(absolute) if !beside => absolute.display().to_string(),
        _ => path.display().to_string(),
    };
    let kubeconfig = args.kubeconfig.as_ref().map(place);
    let mut members: Vec<Member> = Vec::new();
    let mut servers: Vec<(String, String)> = Vec::new();
    let mut taken = Vec::new();
    for context in chosen {
        let name = names::cluster(context, &taken);
        // A context that names no server is no reason to leave out the others.
        let instead = match kubeconfigs.check(&ClusterSpec::of_context(&name, context)) {
            Err(error) => Some(error.message().to_owned()),
            Ok(server) => {
                let first = servers.iter().find(|(url, _)| *url == server.url);
                let first = first.map(|(_, first)| format!("the same server as {first}"));
                servers.push((server.url, name.clone()));
                first
            }
        };
        if instead.is_none() {
            taken.push(name.clone());
        }
        members.push(Member {
            environment: names::environment(context),
            name,
            context: context.to_owned(),
            kubeconfig: kubeconfig.clone(),
            instead,
        });
    }
    if taken.is_empty() {
        let why = members.into_iter().next().and_then(|member| member.instead).unwrap_or_default();
        return Err(Error::config("no context of the kubeconfig can be used").because(why));
    }
    Ok(members)
}

/// The contexts that one of the globs matches, in the order of the kubeconfig.
fn choose<'a>(all: &'a [String], globs: &[String]) -> Result<Vec<&'a str>> {
    let mut chosen = vec![globs.is_empty(); all.len()];
    for glob in globs {
        let matcher = Glob::new(glob)
            .map_err(|e| Error::config(format!("`{glob}` is no glob")).because(e.to_string()))?
            .compile_matcher();
        let mut any = false;
        for (name, chosen) in all.iter().zip(&mut chosen) {
            // A name with brackets or stars in it stands for itself, too.
            if name == glob || matcher.is_match(name) {
                (*chosen, any) = (true, true);
            }
        }
        if !any {
            let error = Error::config(format!("no context of the kubeconfig matches `{glob}`"));
            return Err(match crate::suggest::hint(glob, all.iter().map(String::as_str)) {
                Some(hint) => error.hint(hint),
                None => error.hint(format!("there are {}", all.join(", "))),
            });
        }
    }
    Ok(all.iter().zip(chosen).filter(|(_, c)| *c).map(|(name, _)| name.as_str()).collect())
}

/// Writes a file, over one that is there only when forced.
fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !force {
        options.create_new(true);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| {
        let what = format!("`{}` cannot be written", path.display());
        match e.kind() {
            ErrorKind::AlreadyExists => {
                Error::config(what).because("it is there already").hint("`--force` writes over it")
            }
            _ => Error::config(what).because(e.to_string()),
        }
    })
}
