//! `cargo bench-mcd`: mcd beside kubectl, on three real control planes of 200 objects each.
//!
//! Both do the same work on the same clusters in namespaces of their own, in turns within one run, so that what else the
//! machine does hits both. What counts is the ratio of the medians.

mod build;
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
--only WORK  start, unchanged, changed or apply; may be repeated
--mcd PATH   a binary to measure (a release build of this checkout)
";

/// Runs of what takes milliseconds, for each run of the rest.
const SHORT: usize = 5;

struct Arguments {
    runs: usize,
    works: Vec<Work>,
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
    let mut arguments = Arguments { runs: 5, works: Vec::new(), mcd: None };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--runs" => arguments.runs = value.parse().ok().filter(|n| *n > 0)?,
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
    if arguments.works.is_empty() {
        arguments.works = vec![Work::Start, Work::Unchanged, Work::Changed, Work::Apply];
    }
    Some(arguments)
}

fn run(arguments: Arguments) -> Result<()> {
    let mcd = match arguments.mcd {
        Some(path) => path.canonicalize().map_err(|e| Error::new(format!("--mcd: {e}")))?,
        None => build::release()?,
    };
    let bed = Bed::shared();
    say(&format!("before: {}", load()));
    let mut bench = Bench::prepare(bed, mcd)?;
    let mut rows = Vec::new();
    for work in &arguments.works {
        rows.push(bench.row(*work, arguments.runs)?);
    }
    let requests = bench.requests(&arguments.works)?;
    say(&format!("after: {}", load()));
    let report = format!(
        "{} clusters, {OBJECTS} objects each; medians of {} runs ({} of the start), least and most in brackets.\n\n{}\n{requests}",
        bed.clusters().len(),
        arguments.runs,
        arguments.runs * SHORT,
        table(&rows)
    );
    print(&mut std::io::stdout(), &report);
    Ok(())
}

/// The contestants, each where it has deployed the application.
struct Bench {
    bed: &'static Bed,
    mcd: PathBuf,
    for_mcd: Site,
    for_kubectl: Site,
}

impl Bench {
    /// Deploys the application by each contestant, and lets each work once so that every cache is warm.
    fn prepare(bed: &'static Bed, mcd: PathBuf) -> Result<Bench> {
        say("deploying what is planned");
        let for_mcd = Site::new(bed, &mcd)?;
        let for_kubectl = Site::new(bed, &mcd)?;
        let bench = Bench { bed, mcd, for_mcd, for_kubectl };
        for work in [Work::Apply, Work::Unchanged] {
            one_by_one(bench.for_mcd.tasks(Contestant::Mcd, work))?;
            one_by_one(bench.for_kubectl.tasks(Contestant::Loop, work))?;
        }
        Ok(bench)
    }

    /// Measures one kind of work.
    fn row(&self, work: Work, runs: usize) -> Result<Row> {
        let [mut mcd, mut kubectl, mut together] = [const { Vec::new() }; 3];
        let (name, goal, runs, contestants): (String, Goal, usize, &[Contestant]) = match work {
            Work::Start => (
                "start (`version --client`)".to_owned(),
                Goal::Time(Duration::from_millis(10)),
                runs * SHORT,
                &[Contestant::Mcd, Contestant::Loop],
            ),
            Work::Unchanged => ("plan, nothing changed".to_owned(), Goal::Ratio(12.0), runs, &ALL),
            Work::Changed => {
                let images = IMAGES * self.bed.clusters().len();
                (format!("plan, all {images} images changed"), Goal::Ratio(3.5), runs, &ALL)
            }
            Work::Apply => ("first apply".to_owned(), Goal::Ratio(3.0), runs, &ALL),
        };
        for n in 0..runs {
            say(&format!("{name}: {} of {runs}", n + 1));
            // Nobody always comes first.
            let order = contestants.iter().cycle().skip(n).take(contestants.len());
            for contestant in order {
                let sample = self.sample(*contestant, work)?;
                match contestant {
                    Contestant::Mcd => mcd.push(sample),
                    Contestant::Loop => kubectl.push(sample),
                    Contestant::AtOnce => together.push(sample),
                }
            }
        }
        Ok(Row { work: name, mcd, kubectl, at_once: together, goal })
    }

    fn sample(&self, who: Contestant, work: Work) -> Result<Sample> {
        let fresh;
        let site = match (who, work) {
            (_, Work::Apply) => {
                fresh = Site::new(self.bed, &self.mcd)?;
                &fresh
            }
            (Contestant::Mcd, _) => &self.for_mcd,
            (Contestant::Loop | Contestant::AtOnce, _) => &self.for_kubectl,
        };
        let tasks = site.tasks(who, work);
        match who {
            Contestant::Mcd | Contestant::Loop => one_by_one(tasks),
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

const ALL: [Contestant; 3] = [Contestant::Mcd, Contestant::Loop, Contestant::AtOnce];

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
