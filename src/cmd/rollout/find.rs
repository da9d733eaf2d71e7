//! The rollout that a command is about: found with the application's files, or from one of its
//! clusters without them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::super::args::{ClusterArgs, ProjectArgs};
use super::super::session::Session;
use crate::apply::Job;
use crate::apply::rollout::{Route, aborted, bare, route, target};
use crate::cluster::state::{ClosedRollout, Header, OpenRollout, Place, Record, RolloutId};
use crate::config::{AppName, ClusterSpec, Target, TargetName, is_dns_label};
use crate::error::{Error, Exit, Result};
use crate::ui::Ui;

/// Which rollout.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Rollout")]
pub(super) struct FindArgs {
    /// The application file; not needed with `--app`
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "mcd.yaml",
        env = "MCD_FILE",
        hide_env = true
    )]
    file: PathBuf,

    /// The fleet file; default: what the application file says
    #[arg(long, value_name = "FILE", env = "MCD_FLEET", hide_env = true)]
    fleet: Option<PathBuf>,

    /// The application, without its file: any one of the rollout's clusters says the rest
    #[arg(long, value_name = "NAME", requires_all = ["namespace", "context"], value_parser = app)]
    app: Option<AppName>,

    /// With `--app`: the application's namespace
    #[arg(short, long, value_name = "NAMESPACE", requires = "app", value_parser = namespace)]
    namespace: Option<String>,

    /// With `--app`: the namespace of its state, where `stateNamespace` is set
    #[arg(long, value_name = "NAMESPACE", requires = "app", value_parser = namespace)]
    state_namespace: Option<String>,

    /// With `--app`: the kubeconfig context of one of the rollout's clusters
    #[arg(long, value_name = "CONTEXT", requires = "app")]
    context: Option<String>,

    /// The rollout, where more than one is open
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

fn app(text: &str) -> Result<AppName, String> {
    match is_dns_label(text, 40) {
        true => Ok(AppName::new(text)),
        false => Err("expected a DNS label of at most 40 characters".to_owned()),
    }
}

fn namespace(text: &str) -> Result<String, String> {
    match is_dns_label(text, 63) {
        true => Ok(text.to_owned()),
        false => Err("expected a DNS label of at most 63 characters".to_owned()),
    }
}

/// A rollout, as far as its records can be read.
pub(super) struct Found {
    /// Over the targets that can be reached.
    pub session: Session,
    /// What it is; none: no record that can be read has an open rollout.
    pub header: Option<Header>,
    /// Its targets in the order of its waves; those of the files when none is open.
    pub members: Vec<Member>,
}

/// A target of a rollout.
pub(super) struct Member {
    /// Where it is.
    pub place: Place,
    /// The work on it; none: no context leads there, or it was not staged.
    pub job: Option<Job>,
    /// Its record, or why it could not be read.
    pub record: Result<Option<Record>>,
}

impl Member {
    /// What the record says of the open rollout of that name.
    pub(super) fn open(&self, id: &RolloutId) -> Option<&OpenRollout> {
        let record = self.record.as_ref().ok()?.as_ref()?;
        record.rollout.as_deref().filter(|open| open.header.id == *id)
    }

    /// What the record says of how that rollout ended.
    pub(super) fn closed(&self, id: &RolloutId) -> Option<&ClosedRollout> {
        let record = self.record.as_ref().ok()?.as_ref()?;
        record.closed.as_ref().filter(|closed| closed.id == *id)
    }
}

/// That the rollout may go forward: nobody takes it back, and it was staged in all its targets.
///
/// # Errors
/// Someone has begun to take it back, or the run that opened it ended while it staged (exit 6).
pub(super) fn may_go_on(members: &[Member], header: &Header) -> Result<()> {
    let id = &header.id;
    let opens = || members.iter().filter_map(|member| member.open(id));
    if let Some(abort) = opens().find_map(|open| open.abort.as_ref()) {
        return Err(aborted(id, abort));
    }
    if let Some(closed) = members.iter().filter_map(|m| m.closed(id)).find(|c| c.aborted) {
        return Err(Error::new(Exit::Blocked, format!("rollout {id} is taken back"))
            .because(closed.message.clone().unwrap_or_else(|| "someone aborted it".to_owned()))
            .hint("`mcd rollout abort` takes the rest back"));
    }
    let begun = members.iter().any(|member| member.closed(id).is_some())
        || opens().any(OpenRollout::is_staged_everywhere);
    let lacks = |member: &&Member| member.place.not_staged.is_none() && member.open(id).is_none();
    let lacking: Vec<&str> =
        members.iter().filter(lacks).map(|member| member.place.target.as_str()).collect();
    if begun || lacking.is_empty() {
        return Ok(());
    }
    Err(Error::new(Exit::Blocked, format!("rollout {id} was never staged in all its targets"))
        .because(format!(
            "the run that opened it ended before, or is at it; {} of {} lack it: {}",
            lacking.len(),
            members.len(),
            lacking.join(", ")
        ))
        .hint("`mcd rollout abort` takes back what was staged; nothing was applied yet"))
}

/// A target of the files, or the one that `--context` names, and its record.
struct Seed {
    target: Arc<Target>,
    read: Result<(Job, Option<Record>)>,
}

impl Seed {
    fn open(&self) -> Option<&OpenRollout> {
        self.read.as_ref().ok()?.1.as_ref()?.rollout.as_deref()
    }

    /// Whether it is where the rollout's target is. One of the same name whose record has the
    /// rollout is, by whatever address it was reached.
    fn is_at(&self, place: &Place, session: &Session, id: &RolloutId) -> bool {
        let same_namespace = self.target.namespace == place.namespace
            && self.target.state_namespace == place.state_namespace;
        let by_server = || {
            session.server(&self.target).is_ok_and(|server| {
                let cluster = self.target.cluster.clone();
                route(place, &[Route { cluster, server }]).is_ok()
            })
        };
        let by_record = || {
            self.target.name == place.target
                && self.open().is_some_and(|open| open.header.id == *id)
        };
        same_namespace && (by_record() || by_server())
    }
}

/// Opens a session over the rollout that the arguments mean.
///
/// # Errors
/// Exit 3: more than one is open, or the one that `--id` names is not. Exit 9: none was found, and
/// not every cluster could be asked.
pub(super) async fn find(args: &FindArgs, clusters: &ClusterArgs, ui: &Ui) -> Result<Found> {
    let mut session = match (&args.app, &args.namespace, &args.context) {
        (Some(app), Some(namespace), Some(context)) => {
            let state = args.state_namespace.as_ref();
            let target = bare(
                app,
                ClusterSpec::of_context(context, context),
                namespace,
                state.unwrap_or(namespace),
                state.is_some(),
            );
            Session::without_files(target, clusters, ui)?
        }
        _ => {
            let project = ProjectArgs {
                file: args.file.clone(),
                fleet: args.fleet.clone(),
                targets: Vec::new(),
                selector: None,
                waves: Vec::new(),
                vars: Vec::new(),
            };
            Session::open(&project, clusters, None, ui).map_err(|error| {
                if args.file.exists() {
                    return error;
                }
                error.hint("without its file: `--app NAME -n NAMESPACE --context CONTEXT`")
            })?
        }
    };
    let seeds = read(&session, session.targets.clone()).await;
    let header = choose(&seeds, args.id.as_deref())?;
    if let Some(error) = nobody(args, &seeds) {
        return Err(error);
    }
    let members = match &header {
        Some(header) => members(&mut session, header, &seeds).await,
        None => {
            let seed = |seed: Seed| {
                let (job, record) = match seed.read {
                    Ok((job, record)) => (Some(job), Ok(record)),
                    Err(error) => (None, Err(error)),
                };
                let place = session.server(&seed.target).ok();
                let place = place.map(|server| crate::apply::rollout::place(&seed.target, &server));
                Some(Member { place: place?, job, record })
            };
            seeds.into_iter().filter_map(seed).collect()
        }
    };
    session.settle().await;
    Ok(Found { session, header, members })
}

/// Without files a name that is mistyped must not look like an application at rest.
fn nobody(args: &FindArgs, seeds: &[Seed]) -> Option<Error> {
    let (Some(app), Some(namespace), Some(context)) = (&args.app, &args.namespace, &args.context)
    else {
        return None;
    };
    let absent = seeds.iter().all(|seed| matches!(seed.read, Ok((_, None))));
    let what = format!("there is no application `{app}` in the namespace `{namespace}`");
    absent.then(|| {
        Error::config(what).because(format!("the context is `{context}`")).hint(
            "check `--app`, `-n` and `--context`; where the application's file sets \
             `stateNamespace`, `--state-namespace` too",
        )
    })
}

/// Reads the records of targets.
async fn read(session: &Session, targets: Vec<Arc<Target>>) -> Vec<Seed> {
    let all = session.each_of(targets, |target| async move {
        let job = session.job(&target).await?;
        let record = job.store.record().await?;
        Ok((job, record.map(|(record, _)| record)))
    });
    let seed = |(target, read): (Arc<Target>, Result<_>)| Seed {
        read: read.map_err(|e: Error| e.in_target(&target.name)),
        target,
    };
    all.await.into_iter().map(seed).collect()
}

/// The rollout that is meant.
fn choose(seeds: &[Seed], id: Option<&str>) -> Result<Option<Header>> {
    let mut open: Vec<(&Header, Vec<&TargetName>)> = Vec::new();
    for seed in seeds {
        let Some(rollout) = seed.open() else { continue };
        match open.iter_mut().find(|(header, _)| header.id == rollout.header.id) {
            Some((_, targets)) => targets.push(&seed.target.name),
            None => open.push((&rollout.header, vec![&seed.target.name])),
        }
    }
    let list = || {
        let shown = open.iter().map(|(header, targets)| {
            let names: Vec<&str> = targets.iter().take(5).map(|name| name.as_str()).collect();
            let more = targets.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} on {}{more}", header.id, names.join(", "))
        });
        shown.collect::<Vec<_>>().join("; ")
    };
    if let Some(id) = id {
        return match open.iter().find(|(header, _)| header.id.as_str() == id) {
            Some((header, _)) => Ok(Some((*header).clone())),
            None if open.is_empty() => {
                Err(Error::config(format!("the rollout `{id}` is not open")))
            }
            None => Err(Error::config(format!("the rollout `{id}` is not open"))
                .because(format!("there is {}", list()))),
        };
    }
    match open.as_slice() {
        [] => {
            // What cannot be seen may be there.
            let unread: Vec<&Error> =
                seeds.iter().filter_map(|seed| seed.read.as_ref().err()).collect();
            match unread.first() {
                Some(error) if unread.len() == seeds.len() => Err((*error).clone()),
                _ => Ok(None),
            }
        }
        [(header, _)] => Ok(Some((*header).clone())),
        _ => Err(Error::config(format!("{} rollouts are open", open.len()))
            .because(list())
            .hint("choose one with `--id`")),
    }
}

/// The rollout's targets, each with its record.
async fn members(session: &mut Session, header: &Header, seeds: &[Seed]) -> Vec<Member> {
    let routes = session.routes();
    let places = header.waves.iter().flat_map(|wave| &wave.targets);
    let reached: Vec<(Place, Result<Arc<Target>>)> = places
        .map(|place| (place.clone(), reach(place, header, seeds, &routes, session)))
        .collect();
    let targets: Vec<Arc<Target>> =
        reached.iter().filter_map(|(_, target)| target.as_ref().ok().cloned()).collect();
    session.retarget(targets.clone());
    // What was read on the way here need not be read again.
    let seed_of = |target: &Arc<Target>| seeds.iter().find(|s| Arc::ptr_eq(&s.target, target));
    let unread = targets.iter().filter(|target| seed_of(target).is_none()).cloned().collect();
    let mut rest = read(session, unread).await.into_iter().map(|seed| seed.read);
    let member = |(place, target): (Place, Result<Arc<Target>>)| {
        let read = match target {
            Ok(target) => match seed_of(&target) {
                Some(seed) => seed.read.clone(),
                None => {
                    rest.next().unwrap_or_else(|| Err(Error::new(Exit::Failed, "was not read")))
                }
            },
            Err(error) => Err(error),
        };
        match read {
            Ok((job, record)) => Member { place, job: Some(job), record: Ok(record) },
            Err(error) => Member { place, job: None, record: Err(error) },
        }
    };
    reached.into_iter().map(member).collect()
}

/// How this machine reaches a place. The rollout's own name of the target is what it is called by.
fn reach(
    place: &Place,
    header: &Header,
    seeds: &[Seed],
    routes: &[Route],
    session: &Session,
) -> Result<Arc<Target>> {
    if let Some(why) = &place.not_staged {
        let error = Error::new(Exit::Failed, "was not staged").because(why.clone());
        return Err(error.in_target(&place.target));
    }
    match seeds.iter().find(|seed| seed.is_at(place, session, &header.id)) {
        Some(Seed { target, .. }) if target.name == place.target => Ok(target.clone()),
        Some(Seed { target, .. }) => {
            let name = place.target.clone();
            let cluster = ClusterSpec { name: name.clone(), ..target.cluster.clone() };
            Ok(Arc::new(Target { name, cluster, ..(**target).clone() }))
        }
        None => {
            let route = route(place, routes)?;
            Ok(Arc::new(target(&session.project.app, place, route)))
        }
    }
}
