//! `cargo bench-mcd`: mcd beside kubectl, on three real control planes of 200 objects each.
//!
//! Both do the same work on the same clusters in namespaces of their own, in turns within one run, so that what else the
//! machine does hits both. What counts is the ratio of the medians.

mod build;
mod fleet;
mod manifests;
mod measure;
mod site;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use testbed::{Bed, Context, Error, Proxy, Result};

use manifests::{IMAGES, OBJECTS};
use measure::{Sample, at_once, one_by_one};
use site::{Contestant, Site, Work};
use table::{Goal, Row, table};

const USAGE: &str = "\
mcd beside kubectl, on three real control planes of 200 objects each.

cargo bench-mcd [--runs N] [--only WORK]... [--mcd PATH]

--runs N     how often each is run (5)
--only WORK  start, unchanged, changed, apply, fleet, rollout or tick; may be repeated
--mcd PATH   a binary to measure (a release build of this checkout)
";

/// Runs of what takes milliseconds, for each run of the rest.
const SHORT: usize = 5;

struct Arguments {
    runs: usize,
    works: Vec<Work>,
    /// Many small targets too.
    fleet: bool,
    /// A rollout over them.
    rollout: bool,
    /// What a decision across many takes.
    tick: bool,
    mcd: Option<PathBuf>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(arguments) = parse(&words) else {
        print(&mut std::io::stderr(), USAGE);
        return ExitCode::from(3);
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            print(&mut std::io::stderr(), &format!("error: {e}\n"));
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Option<Arguments> {
    let mut arguments = Arguments {
        runs: 5,
        works: Vec::new(),
        fleet: false,
        rollout: false,
        tick: false,
        mcd: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--runs" => arguments.runs = value.parse().ok().filter(|n| *n > 0)?,
            "--only" if value == "fleet" => arguments.fleet = true,
            "--only" if value == "tick" => arguments.tick = true,
            "--only" if value == "rollout" => arguments.rollout = true,
            "--only" => arguments.works.push(match value.as_str() {
                "start" => Work::Start,
                "unchanged" => Work::Unchanged,
                "changed" => Work::Changed,
                "apply" => Work::Apply,
                _ => return None,
            }),
            "--mcd" => arguments.mcd = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    let some = arguments.fleet || arguments.rollout || arguments.tick;
    if arguments.works.is_empty() && !some {
        (arguments.fleet, arguments.rollout, arguments.tick) = (true, true, true);
        arguments.works = vec![Work::Start, Work::Unchanged, Work::Changed, Work::Apply];
    }
    Some(arguments)
}

fn run(arguments: Arguments) -> Result<()> {
    let mcd = match arguments.mcd {
        Some(path) => path.canonicalize().map_err(|e| Error::new(format!("--mcd: {e}")))?,
        None => build::release("mcd")?,
    };
    let bed = Bed::shared();
    say(&format!("before: {}", load()));
    let mut rows = Vec::new();
    if arguments.tick {
        rows.push(tick_row()?);
    }
    let mut requests = String::new();
    if arguments.fleet || arguments.rollout {
        say("deploying many small targets");
        let targets = fleet::Targets::deploy(bed, &mcd)?;
        if arguments.fleet {
            rows.push(fleet_row(&targets, arguments.runs)?);
        }
        if arguments.rollout {
            rows.push(rollout_row(&targets, arguments.runs)?);
        }
    }
    if !arguments.works.is_empty() {
        let mut bench = Bench::prepare(bed, mcd)?;
        for work in &arguments.works {
            rows.push(bench.row(*work, arguments.runs)?);
        }
        requests = bench.requests(&arguments.works)?;
    }
    say(&format!("after: {}", load()));
    let report = format!(
        "{} clusters, {OBJECTS} objects each; {} runs ({} of the start).\n\n{}\n{requests}",
        bed.clusters().len(),
        arguments.runs,
        arguments.runs * SHORT,
        table(&rows)
    );
    print(&mut std::io::stdout(), &report);
    Ok(())
}

/// The decisions of a rollout across a thousand targets.
fn tick_row() -> Result<Row> {
    let tick = build::release("tick")?;
    say("deciding across a thousand targets");
    let output = std::process::Command::new(&tick)
        .output()
        .map_err(|e| Error::new(format!("{}: {e}", tick.display())))?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let times = lines.lines().filter_map(|line| line.parse().ok()).map(Duration::from_nanos);
    let samples: Vec<Sample> = times.map(|time| Sample { time, peak: 0 }).collect();
    if !output.status.success() || samples.is_empty() {
        return Err(Error::new(format!("{} ended with {}", tick.display(), output.status)));
    }
    Ok(Row {
        work: format!("a decision across 1,000 targets ({} of a rollout)", samples.len()),
        runs: vec![("mcd", samples)],
        goal: Goal::Time(Duration::from_millis(1)),
    })
}

/// A plan of many small targets beside its LISTs alone.
fn fleet_row(targets: &fleet::Targets, runs: usize) -> Result<Row> {
    let work = targets.name();
    let (mut plans, mut lists) = (Vec::new(), Vec::new());
    for n in 0..runs {
        say(&format!("{work}: {} of {runs}", n + 1));
        plans.push(one_by_one(vec![targets.plan()])?);
        lists.push(targets.ask()?);
    }
    let runs = vec![("mcd", plans), ("its LISTs alone, 8 at once a cluster", lists)];
    Ok(Row { work, runs, goal: Goal::Within(2.0) })
}

/// A rollout that is open in many small targets.
fn rollout_row(targets: &fleet::Targets, runs: usize) -> Result<Row> {
    let work = format!("a rollout open in {} targets with 20 objects each", targets.count());
    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for n in 0..runs {
        say(&format!("{work}: {} of {runs}", n + 1));
        for (all, sample) in samples.iter_mut().zip(targets.roll()?) {
            all.push(sample);
        }
    }
    let names = ["`apply`, up to an approval", "`rollout status`", "`rollout abort`"];
    let runs = names.into_iter().zip(samples).collect();
    Ok(Row { work, runs, goal: Goal::Memory(150 * 1024) })
}

/// The contestants, each where it has deployed the application.
struct Bench {
    bed: &'static Bed,
    mcd: PathBuf,
    for_mcd: Site,
    server_side: Site,
    client_side: Site,
}

impl Bench {
    /// Deploys the application by each contestant, and lets each work once so that every cache is warm.
    fn prepare(bed: &'static Bed, mcd: PathBuf) -> Result<Bench> {
        say("deploying what is planned");
        let site = || Site::new(bed, &mcd);
        let (for_mcd, server_side, client_side) = (site()?, site()?, site()?);
        let bench = Bench { bed, mcd, for_mcd, server_side, client_side };
        for who in [Contestant::Mcd, Contestant::Loop, Contestant::ClientSide] {
            for work in [Work::Apply, Work::Unchanged] {
                one_by_one(bench.site(who).tasks(who, work))?;
            }
        }
        Ok(bench)
    }

    /// Where a contestant has deployed the application.
    fn site(&self, who: Contestant) -> &Site {
        match who {
            Contestant::Mcd => &self.for_mcd,
            Contestant::Loop | Contestant::AtOnce => &self.server_side,
            Contestant::ClientSide => &self.client_side,
        }
    }

    /// Measures one kind of work.
    fn row(&self, work: Work, runs: usize) -> Result<Row> {
        let (name, goal, runs) = match work {
            Work::Start => {
                let goal = Goal::Time(Duration::from_millis(10));
                ("start (`version --client`)".to_owned(), goal, runs * SHORT)
            }
            Work::Unchanged => ("plan, nothing changed".to_owned(), Goal::Ratio(12.0), runs),
            Work::Changed => {
                let images = IMAGES * self.bed.clusters().len();
                (format!("plan, all {images} images changed"), Goal::Ratio(3.5), runs)
            }
            Work::Apply => ("first apply".to_owned(), Goal::Ratio(3.0), runs),
        };
        let contestants = match work {
            Work::Start => &Contestant::ALL[..2],
            Work::Unchanged | Work::Changed | Work::Apply => &Contestant::ALL[..],
        };
        let mut samples: Vec<(Contestant, Vec<Sample>)> =
            contestants.iter().map(|who| (*who, Vec::new())).collect();
        for n in 0..runs {
            say(&format!("{name}: {} of {runs}", n + 1));
            // Nobody always comes first.
            for i in 0..samples.len() {
                let at = (n + i) % samples.len();
                if let Some((who, samples)) = samples.get_mut(at) {
                    samples.push(self.sample(*who, work)?);
                }
            }
        }
        let runs = samples.into_iter().map(|(who, samples)| (who.name(), samples)).collect();
        Ok(Row { work: name, runs, goal })
    }

    fn sample(&self, who: Contestant, work: Work) -> Result<Sample> {
        let fresh;
        let site = match work {
            Work::Apply => {
                fresh = Site::new(self.bed, &self.mcd)?;
                &fresh
            }
            Work::Start | Work::Unchanged | Work::Changed => self.site(who),
        };
        let tasks = site.tasks(who, work);
        match who {
            Contestant::Mcd | Contestant::Loop | Contestant::ClientSide => one_by_one(tasks),
            Contestant::AtOnce => at_once(tasks),
        }
    }

    /// What mcd asks one cluster for each kind of work, seen by a proxy in between.
    fn requests(&mut self, works: &[Work]) -> Result<String> {
        let proxies: Vec<Proxy> = self.bed.clusters().iter().map(Proxy::start).collect();
        let contexts: Vec<Context> = proxies.iter().map(Proxy::context).collect();
        let mut text = String::from(
            "| work of mcd | requests to each cluster | of them writes | connections to each |\n|---|---|---|---|\n",
        );
        for work in works {
            let mut fresh;
            let (name, site) = match work {
                Work::Start => continue,
                Work::Unchanged => ("plan, nothing changed", &mut self.for_mcd),
                Work::Changed => ("plan, all images changed", &mut self.for_mcd),
                Work::Apply => {
                    fresh = Site::new(self.bed, &self.mcd)?;
                    ("first apply", &mut fresh)
                }
            };
            site.through(self.bed, &contexts);
            proxies.iter().for_each(Proxy::clear_log);
            one_by_one(site.tasks(Contestant::Mcd, *work))?;
            let each = |count: &dyn Fn(&Proxy) -> usize| {
                let mut counts: Vec<usize> = proxies.iter().map(count).collect();
                counts.sort_unstable();
                counts.dedup();
                counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" to ")
            };
            text += &format!(
                "| {name} | {} | {} | {} |\n",
                each(&|p| p.requests().len()),
                each(&|p| p.writes().len()),
                each(&|p| p.connections()),
            );
        }
        Ok(text)
    }
}

/// How busy the machine is.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let average = text.split_whitespace().next().unwrap_or("unknown").to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("load {average} on {cores} cores")
}

fn say(line: &str) {
    print(&mut std::io::stderr(), &format!("bench: {line}\n"));
}

/// A closed pipe is no reason to fail.
fn print(stream: &mut dyn std::io::Write, text: &str) {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok();
}
