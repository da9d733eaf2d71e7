//! What most verbs begin with: files read, targets resolved, kubeconfigs checked, signals heard,
//! and a reporter that listens. Settings are resolved here once; nothing below reads arguments or
//! the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use futures::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use super::args::{ClusterArgs, Color, EventsArgs, GlobalArgs, ProjectArgs, RenderArgs};
use super::signals::Interrupt;
use crate::apply::rollout::Route;
use crate::apply::{
    Job, MoveFrom, Observed, PlanOptions, Restoration, Whereabouts, observe, restore,
};
use crate::cluster::state::{StateNames, StatePlace};
use crate::cluster::{Cluster, ConnectOptions, Impersonate, Kubeconfigs, Note, Notes, Server};
use crate::config::{ClusterSpec, Project, Resolver, Selector, Target, TargetName};
use crate::error::{Error, Exit, Result};
use crate::event::{EventKind, Events, Phase};
use crate::manifest::Scrubber;
use crate::render::{Capabilities, RenderOptions, Rendered, Renderer, needs_capabilities};
use crate::report::reporter::Reporter;
use crate::rollout::variant::labelled;
use crate::ui::{ColorChoice, Ui, UiOptions};

/// A run over the targets of an application.
pub(crate) struct Session {
    pub(crate) project: Project,
    /// The targets that the arguments selected, in the order of the fleet.
    pub(crate) targets: Vec<Arc<Target>>,
    pub(crate) scrubber: Scrubber,
    pub(crate) interrupt: Interrupt,
    pub(crate) events: Events,
    reporter: Reporter,
    kubeconfigs: Arc<Kubeconfigs>,
    connect: ConnectOptions,
    renderer: Option<Renderer>,
    /// Where state is to come from.
    move_from: Option<MoveFrom>,
    /// Where these files put state, by the server.
    places: OnceLock<BTreeMap<String, Arc<BTreeSet<StatePlace>>>>,
    /// How many targets at once.
    pub(crate) concurrency: usize,
}

/// How many targets at once when nothing else is said: with hundreds of clusters the limit is
/// the machine's own.
const CONCURRENCY: usize = 64;

/// The terminal's options.
pub(crate) fn ui_options(global: &GlobalArgs) -> UiOptions {
    UiOptions {
        color: match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        },
        quiet: global.quiet,
        verbose: global.verbose > 0,
        width: None,
    }
}

/// Starts the log, if there is to be one. Bodies of requests and answers are never logged: the
/// client would log them when they do not decode.
pub(crate) fn start_log(global: &GlobalArgs) -> Result<()> {
    let Some(path) = &global.log_file else { return Ok(()) };
    let failed = |e: std::io::Error| {
        Error::config(format!("cannot write the log `{}`", path.display())).because(e.to_string())
    };
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path).map_err(failed)?;
    let filter = tracing_subscriber::EnvFilter::new("off,mcd=debug");
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(std::sync::Mutex::new(file))
        .finish();
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|e| Error::config("cannot start the log").because(e.to_string()))
}

/// Reads the files and selects the targets. Nothing is contacted. Verbs that render nothing need
/// no variables and no inputs of rendering.
pub(crate) fn project(
    args: &ProjectArgs,
    renders: bool,
    kubeconfigs: &Kubeconfigs,
) -> Result<(Project, Vec<Target>)> {
    let resolver = Resolver::default().with_contexts(kubeconfigs);
    let resolver = if renders { resolver } else { resolver.places() };
    let project = resolver.load(&args.file, args.fleet.clone(), &args.vars)?;
    let selector = args.selector.as_deref().map(Selector::parse).transpose()?;
    let targets = if renders {
        project.narrow(&args.targets, selector.as_ref(), &args.waves)?
    } else {
        project.narrow_to_state(&args.targets, selector.as_ref(), &args.waves)?
    };
    Ok((project, targets))
}

/// The kubeconfigs of the process's environment, with what `--kubeconfig` names.
pub(crate) fn ambient_kubeconfigs(kubeconfig: Option<PathBuf>) -> Kubeconfigs {
    Kubeconfigs::new(&ConnectOptions { kubeconfig, ..ConnectOptions::from_env() })
}

impl Session {
    /// Opens a session. `render` is none for verbs that render nothing.
    pub(crate) fn open(
        args: &ProjectArgs,
        clusters: &ClusterArgs,
        render: Option<&RenderArgs>,
        ui: &Ui,
    ) -> Result<Self> {
        let kubeconfigs = ambient_kubeconfigs(clusters.kubeconfig.clone());
        let (project, targets) = project(args, render.is_some(), &kubeconfigs)?;
        Self::over(project, targets, kubeconfigs, clusters, render, ui)
    }

    /// Opens a session over an application in a place that the arguments name, without its files.
    pub(crate) fn without_files(target: Target, clusters: &ClusterArgs, ui: &Ui) -> Result<Self> {
        let kubeconfigs = ambient_kubeconfigs(clusters.kubeconfig.clone());
        let project = Project::without_files(target.app.clone());
        Self::over(project, vec![target], kubeconfigs, clusters, None, ui)
    }

    fn over(
        project: Project,
        targets: Vec<Target>,
        kubeconfigs: Kubeconfigs,
        clusters: &ClusterArgs,
        render: Option<&RenderArgs>,
        ui: &Ui,
    ) -> Result<Self> {
        for warning in &project.warnings {
            ui.warning(&warning.to_string());
        }
        let (events, receiver) = Events::channel();
        let reporter =
            Reporter::start(receiver, ui, targets.iter().map(|t| t.name.clone()).collect());
        let said = reporter.handle();
        let interrupt = Interrupt::listen(move || {
            said.line("stopping after the write in flight; again to leave at once");
        })
        .map_err(|e| Error::config("cannot listen for signals").because(e.to_string()))?;
        let scrubber = Scrubber::default();
        let connect = ConnectOptions {
            kubeconfig: clusters.kubeconfig.clone(),
            request_timeout: clusters.request_timeout,
            impersonate: clusters.as_user.clone().map(|user| Impersonate {
                user,
                groups: clusters.as_groups.clone(),
                uid: clusters.as_uid.clone(),
            }),
            cancel: interrupt.token().clone(),
            ..ConnectOptions::from_env()
        };
        let renderer =
            render.map(|args| new_renderer(args, scrubber.clone(), interrupt.token().clone()));
        Ok(Session {
            project,
            targets: targets.into_iter().map(Arc::new).collect(),
            scrubber,
            interrupt,
            events,
            reporter,
            kubeconfigs: Arc::new(kubeconfigs),
            connect,
            renderer,
            move_from: None,
            places: OnceLock::new(),
            concurrency: clusters.concurrency.map_or(CONCURRENCY, |n| n as usize),
        })
    }

    /// Goes on with other targets: those of a rollout, once its header was read.
    pub(crate) fn retarget(&mut self, targets: Vec<Arc<Target>>) {
        self.reporter.targets(targets.iter().map(|t| t.name.clone()).collect());
        self.targets = targets;
    }

    /// Every context at hand with where it leads: the fleet's clusters first, then the kubeconfig's
    /// contexts. Those that are broken lead nowhere.
    pub(crate) fn routes(&self) -> Vec<Route> {
        let contexts = self.kubeconfigs.contexts(None).unwrap_or_default();
        let contexts = contexts.iter().map(|name| ClusterSpec::of_context(name, name));
        let clusters = self.project.clusters.iter().cloned().chain(contexts);
        let routes = clusters.filter_map(|cluster| {
            let server = self.kubeconfigs.check(&cluster).ok()?;
            server.check_identity(&cluster).ok()?;
            Some(Route { cluster, server })
        });
        routes.collect()
    }

    /// The same session, in which state comes from elsewhere.
    #[must_use]
    pub(crate) fn moving(self, from: Option<&MoveFrom>) -> Self {
        Session { move_from: from.cloned(), ..self }
    }

    /// What is known of where the state of a target may be besides.
    fn whereabouts(&self, target: &Target) -> Whereabouts {
        let places = self.places.get_or_init(|| {
            let mut places: BTreeMap<String, BTreeSet<StatePlace>> = BTreeMap::new();
            for target in self.project.targets.iter().chain(&self.project.others) {
                if let Ok(server) = self.server(target) {
                    places.entry(server.url).or_default().insert(StateNames::of(target).place());
                }
            }
            places.into_iter().map(|(url, places)| (url, Arc::new(places))).collect()
        });
        let others = self.server(target).ok().and_then(|server| places.get(&server.url));
        Whereabouts { from: self.move_from.clone(), others: others.cloned().unwrap_or_default() }
    }

    /// Checks every context before anything is contacted.
    /// Two targets with one server and namespace are an error: they would write the same objects
    /// and the same record.
    pub(crate) fn check_contexts(&self) -> Result<()> {
        let mut places: BTreeMap<(String, &str), &Target> = BTreeMap::new();
        for target in &self.targets {
            let server = self.server(target)?;
            if let Some(first) = places.insert((server.url, &target.namespace), target) {
                return Err(Error::config(format!(
                    "the targets `{}` and `{}` are one: the same server and the namespace `{}`",
                    first.name, target.name, target.namespace
                ))
                .hint(format!(
                    "check the contexts `{}` and `{}`, or give one an override of `namespace`",
                    first.cluster.context, target.cluster.context
                )));
            }
        }
        Ok(())
    }

    /// Runs `work` for every target, several at once, and returns the results in the order of the
    /// fleet: one target's failure never hides another's result.
    pub(crate) async fn each<T, F>(&self, work: impl Fn(Arc<Target>) -> F) -> Vec<(Arc<Target>, T)>
    where
        F: Future<Output = T>,
    {
        self.each_of(self.targets.clone(), work).await
    }

    /// The same for other targets than the run's own.
    pub(crate) async fn each_of<T, F>(
        &self,
        targets: Vec<Arc<Target>>,
        work: impl Fn(Arc<Target>) -> F,
    ) -> Vec<(Arc<Target>, T)>
    where
        F: Future<Output = T>,
    {
        stream::iter(targets)
            .map(|target| {
                let future = work(target.clone());
                let events = self.events.of(&target.name);
                async move {
                    let result = future.await;
                    // It waits for the others now; the display must not say that it works.
                    events.phase(Phase::Pending);
                    (target, result)
                }
            })
            .buffered(self.concurrency)
            .collect()
            .await
    }

    /// What a target's context names, once it is known not to contradict the pin.
    pub(crate) fn server(&self, target: &Target) -> Result<Server> {
        let server =
            self.kubeconfigs.check(&target.cluster).map_err(|e| e.in_target(&target.name))?;
        server.check_identity(&target.cluster)?;
        Ok(server)
    }

    /// Connects to a target's cluster, and makes sure that it is the right one before anything
    /// else is read.
    pub(crate) async fn job(&self, target: &Arc<Target>) -> Result<Job> {
        let job = self.connect(target).await?;
        let right = job.cluster.check_identity(&target.cluster).await;
        right.map_err(|e| e.map_text(|text| self.scrubber.scrub(text)))?;
        Ok(job)
    }

    /// As [`Session::job`], for a cluster that is no target of this run: nothing of it is shown.
    pub(crate) async fn quiet_job(&self, target: &Arc<Target>) -> Result<Job> {
        let (unheard, _) = Events::channel();
        let job = self.connect_as(target, unheard).await?;
        job.cluster.check_identity(&target.cluster).await?;
        Ok(job)
    }

    /// Connects to a target's cluster, whichever it is.
    pub(crate) async fn connect(&self, target: &Arc<Target>) -> Result<Job> {
        self.connect_as(target, self.events.of(&target.name)).await
    }

    async fn connect_as(&self, target: &Arc<Target>, events: Events) -> Result<Job> {
        events.phase(Phase::Connecting);
        let cluster = Cluster::connect(
            &target.name,
            &target.cluster,
            &self.kubeconfigs,
            &self.connect,
            notes(&events, &self.scrubber),
        )
        .await
        .map_err(|e| e.into_error(&target.name, None))?;
        Ok(Job::new(
            target.clone(),
            cluster,
            events,
            self.scrubber.clone(),
            self.interrupt.token().clone(),
        )
        .knowing(self.whereabouts(target)))
    }

    /// Renders a target. The cluster is asked only where helm has to know it.
    pub(crate) async fn render(
        &self,
        target: &Target,
        cluster: Option<&Cluster>,
    ) -> Result<Rendered> {
        let renderer = self.renderer()?;
        self.events.of(&target.name).phase(Phase::Rendering);
        let capabilities = match cluster {
            Some(cluster) if needs_capabilities(target) => {
                let failed = |e: crate::cluster::CallError| e.into_error(&target.name, None);
                let version = cluster.version().await.map_err(failed)?;
                let discovery = cluster.discovery().await.map_err(failed)?;
                Some(Capabilities {
                    kube_version: version.git_version,
                    api_versions: discovery.api_versions(),
                })
            }
            _ => None,
        };
        let scrubbed =
            |e: Error| e.in_target(&target.name).map_text(|text| self.scrubber.scrub(text));
        let rendered = renderer.render(target, capabilities.as_ref()).await.map_err(scrubbed)?;
        self.labelled(target, rendered).map_err(scrubbed)
    }

    /// What was rendered, with the label of variants where the application's isolation puts one
    /// into the primary too: then every command that plans or applies means these objects.
    pub(crate) fn labelled(&self, target: &Target, rendered: Rendered) -> Result<Rendered> {
        let variants = &self.project.rollout.variants;
        match labelled(rendered.objects, variants, &target.namespace) {
            Ok(objects) => Ok(Rendered { objects, ..rendered }),
            Err(errors) => {
                let joined = errors.into_iter().reduce(|first, e| first.because(e.to_string()));
                Err(joined.unwrap_or_else(|| Error::config("the label of variants does not fit")))
            }
        }
    }

    /// The renderer of a verb that renders.
    pub(crate) fn renderer(&self) -> Result<&Renderer> {
        self.renderer.as_ref().ok_or_else(|| Error::config("nothing is rendered here"))
    }

    /// Connects, renders and plans a target.
    pub(crate) async fn observe(
        &self,
        target: Arc<Target>,
        options: PlanOptions,
    ) -> std::result::Result<(Job, Rendered, Observed), Vec<Error>> {
        let one = |e: Error| vec![self.halt(e.in_target(&target.name))];
        // Rendering fails the same whether or not the cluster is there, and says more.
        let early = if needs_capabilities(&target) {
            None
        } else {
            Some(self.render(&target, None).await.map_err(one)?)
        };
        let job = self.job(&target).await.map_err(one)?;
        let rendered = match early {
            Some(rendered) => rendered,
            None => self.render(&target, Some(&job.cluster)).await.map_err(one)?,
        };
        let observed = observe(&job, &rendered, options).await;
        let observed = observed
            .map_err(|errors| errors.into_iter().map(|e| self.halt(e)).collect::<Vec<_>>())?;
        Ok((job, rendered, observed))
    }

    /// Connects, and plans to go back to release `to` or to the one before the active one. Nothing is
    /// rendered.
    pub(crate) async fn observe_release(
        &self,
        target: Arc<Target>,
        to: Option<u64>,
        options: PlanOptions,
    ) -> std::result::Result<Restoration, Vec<Error>> {
        let job =
            self.job(&target).await.map_err(|e| vec![self.halt(e.in_target(&target.name))])?;
        let restoration = restore(&job, to, options).await;
        restoration.map_err(|errors| errors.into_iter().map(|e| self.halt(e)).collect())
    }

    /// After a signal, whatever failed for it failed because of it.
    fn halt(&self, error: Error) -> Error {
        match self.interrupt.exit() {
            Some(exit) if error.exit() != exit => {
                let halted = Error::new(exit, "interrupted");
                match error.target() {
                    Some(target) => halted.in_target(target),
                    None => halted,
                }
            }
            _ => error,
        }
    }

    /// Takes the progress display away, so that a question or a result can be printed.
    pub(crate) async fn settle(&self) {
        self.reporter.hide().await;
    }

    /// Writes events to the file that was asked for, from now on.
    ///
    /// # Errors
    /// It cannot be written (exit 3).
    pub(crate) fn record(&self, args: &EventsArgs) -> Result<()> {
        args.events.as_ref().map_or(Ok(()), |path| self.reporter.record(path))
    }

    /// Says nothing about the run from now on, not even that it is stopping: for a verb that shows
    /// everything itself.
    pub(crate) fn mute(&self) {
        self.reporter.mute();
    }

    /// Brings the progress display back.
    pub(crate) fn resume(&self) {
        self.reporter.show();
    }

    /// Asks before something is written. `nothing` says that nothing happened when the user
    /// declines, or interrupts.
    pub(crate) async fn confirm(&self, ui: &Ui, question: String, nothing: &str) -> Result<()> {
        let terminal = ui.clone();
        let asked = tokio::task::spawn_blocking(move || terminal.confirm(&question));
        tokio::select! {
            answer = asked => match answer.unwrap_or(Ok(false))? {
                true => Ok(()),
                false => Err(Error::new(Exit::Blocked, format!("declined; {nothing}"))),
            },
            () = self.interrupt.token().cancelled() => {
                let exit = self.interrupted().unwrap_or(Exit::Interrupted);
                Err(Error::new(exit, format!("interrupted; {nothing}")))
            }
        }
    }

    /// The exit code with which the run was interrupted, if it was.
    pub(crate) fn interrupted(&self) -> Option<Exit> {
        self.interrupt.exit()
    }

    /// The kubeconfig context of a target, for reports.
    pub(crate) fn target(&self, name: &TargetName) -> Option<&Arc<Target>> {
        self.targets.iter().find(|t| t.name == *name)
    }
}

fn new_renderer(args: &RenderArgs, scrubber: Scrubber, cancel: CancellationToken) -> Renderer {
    let options = RenderOptions {
        kustomize_bin: args.kustomize_bin.clone(),
        helm_bin: args.helm_bin.clone(),
        timeout: args.tool_timeout,
        ..RenderOptions::from_env()
    };
    Renderer::new(options, scrubber, cancel)
}

/// What a client says on the way, as events.
fn notes(events: &Events, scrubber: &Scrubber) -> Notes {
    let events = events.clone();
    let scrubber = scrubber.clone();
    Arc::new(move |note| match note {
        Note::Retry { call, attempt, wait, why } => {
            let why = scrubber.scrub(&why);
            events.send(EventKind::Retry { call, attempt, wait, why });
        }
        Note::Answers => events.send(EventKind::Answers),
        Note::Warning { object, text } => events.warn(object.as_ref(), scrubber.scrub(&text)),
        Note::InsecureTls => events.warn(None, "the server's certificate is not verified"),
    })
}
