//! A closer look at a target: what its objects have made, the last warnings about them, and the
//! last lines of containers that fail. Whatever may not be read is left out, and said.

use futures::stream::{self, StreamExt};

use super::around::{Around, Needs, has_pods};
use super::job::Job;
use super::wait::{Look, Subject, scrub};
use crate::cluster::LogOf;
use crate::health::{Health, Log, Node, parts, warnings};
use crate::manifest::ObjectId;

/// How many of a log's last lines are read.
const LOG_LINES: usize = 10;

/// How many logs of a target are read, and how many of one object's.
const LOGS: usize = 8;
const LOGS_OF_ONE: usize = 2;

/// How many at once.
const LOGS_AT_ONCE: usize = 4;

/// The longest line of a log that is kept (characters).
const LONGEST_LINE: usize = 400;

/// Which objects are looked at closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All.
    All,
    /// Those that are not healthy.
    Unhealthy,
}

/// What a closer look gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The objects, those of the manifests' kinds in the order of their names.
    pub nodes: Vec<Node>,
    /// Kinds that could not be read, such as `events`.
    pub unread: Vec<String>,
}

/// Looks closer at what a look has judged: a bounded number of calls, each bounded in time.
pub(super) async fn tree(job: &Job, subjects: &[Subject], look: &Look, which: Which) -> Tree {
    let shown: Vec<&Subject> = subjects
        .iter()
        .filter(|s| which == Which::All || look.verdicts.get(&s.id).is_some_and(is_bad))
        .collect();
    let needs = Needs {
        namespaces: shown
            .iter()
            .filter(|s| has_pods(&s.id) || look.verdicts.get(&s.id).is_some_and(is_bad))
            .filter_map(|s| s.id.namespace.clone())
            .collect(),
        jobs: shown.iter().any(|s| s.id.kind == "CronJob"),
        classes: false,
    };
    let around = Around::read(job, &needs).await;
    let at = around.at(job.cluster.now(), &job.target.health);
    let nodes = shown.iter().filter_map(|subject| {
        let verdict = look.verdicts.get(&subject.id)?.clone();
        let bad = is_bad(&verdict);
        let mut node = Node::new(subject.id.clone(), verdict);
        node.ready = look.pods_of.get(&subject.id).map(|pods| (pods.ready, pods.wanted));
        if let Some(uid) = &subject.own.uid {
            node.parts = parts(uid, &at);
            if bad {
                node.warnings = warnings(uid, &at);
            }
        }
        Some(node)
    });
    let mut tree = Tree { nodes: nodes.collect(), unread: around.unread.iter().cloned().collect() };
    add_logs(job, &mut tree.nodes).await;
    for node in &mut tree.nodes {
        node.walk(&mut |node| clean(job, node));
    }
    tree
}

fn is_bad(verdict: &crate::health::Verdict) -> bool {
    verdict.health != Health::Healthy
}

/// Asks for the last words of the containers that fail, of the worst pods first.
async fn add_logs(job: &Job, nodes: &mut [Node]) {
    let mut wanted: Vec<(ObjectId, String, bool)> = Vec::new();
    for node in nodes.iter_mut() {
        let mut of_one = 0;
        node.walk(&mut |node| {
            for failing in &node.failing {
                if of_one < LOGS_OF_ONE && wanted.len() < LOGS {
                    of_one += 1;
                    wanted.push((node.id.clone(), failing.container.clone(), failing.previous));
                }
            }
        });
    }
    let read: Vec<(ObjectId, Log)> = stream::iter(wanted)
        .map(|(pod, container, previous)| async move {
            let log = read_log(job, &pod, container, previous).await;
            (pod, log)
        })
        .buffered(LOGS_AT_ONCE)
        .collect()
        .await;
    for node in nodes {
        node.walk(&mut |node| {
            let own = read.iter().filter(|(pod, _)| *pod == node.id && node.id.kind == "Pod");
            node.logs.extend(own.map(|(_, log)| log.clone()));
        });
    }
}

async fn read_log(job: &Job, pod: &ObjectId, container: String, previous: bool) -> Log {
    let namespace = pod.namespace.as_deref().unwrap_or_default();
    let of = LogOf { namespace, pod: &pod.name, container: &container, previous, lines: LOG_LINES };
    let mut previous = previous;
    let mut answer = job.cluster.log(of).await;
    // The node may have removed the container that failed: what runs, or ran last, is left.
    if previous && answer.as_ref().is_err_and(|e| !e.is_forbidden() && !e.is_cluster_wide()) {
        let now = job.cluster.log(LogOf { previous: false, ..of }).await;
        if now.is_ok() {
            (answer, previous) = (now, false);
        }
    }
    let lines = match answer {
        // Before lines are cut: the beginning of a value is one that nobody knows.
        Ok(text) => Ok(last_lines(&job.scrubber.scrub(&text))),
        Err(error) if error.is_forbidden() => {
            Err("no right to read logs (get of pods/log)".to_owned())
        }
        Err(error) => Err(format!("{:#}", job.failed(error, None))),
    };
    Log { container, previous, lines }
}

/// The last lines, none of them too long, nothing in them that a terminal would obey.
fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<String> =
        text.lines().map(harmless).filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(LOG_LINES);
    let cut = |line: &String| match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.clone(),
    };
    lines[from..].iter().map(cut).collect()
}

/// A line without styles, control characters and marks that reorder text. What is left keeps its
/// spaces: a stack trace is read by its indents.
fn harmless(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                if chars.next_if_eq(&'[').is_some() {
                    while chars.next().is_some_and(|c| !('\x40'..='\x7e').contains(&c)) {}
                }
            }
            '\t' => out.push_str("    "),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Conditions and events are texts of others.
fn clean(job: &Job, node: &mut Node) {
    scrub(&mut node.verdict, &job.scrubber);
    for warning in &mut node.warnings {
        warning.message = job.scrubber.scrub(&warning.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_log_are_harmless_and_keep_their_indents() {
        let text = "old\n".repeat(20)
            + "\x1b[31mpanic:\x1b[0m no \u{202e}config\r\n\n\tat main\x07\n   \n"
            + &"x".repeat(500);
        let lines = last_lines(&text);
        assert_eq!(lines.len(), LOG_LINES);
        assert_eq!(lines[6], "old");
        assert_eq!(lines[7], "panic: no config");
        assert_eq!(lines[8], "    at main");
        assert_eq!(lines[9], format!("{}…", "x".repeat(LONGEST_LINE)));
        assert_eq!(last_lines(""), [""; 0]);
    }
}
