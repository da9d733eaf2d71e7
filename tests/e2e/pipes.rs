//! Output into pipes, files and narrow terminals.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{CLUSTERS, Run, World, web};

fn planned() -> World {
    let world = World::new("pipes");
    world.plain(&CLUSTERS);
    world.write("k8s/web.yaml", &web("web:1"));
    world
}

/// `mcd plan | head -1`: whoever has read enough is no error, and never a panic.
#[test]
fn a_reader_that_leaves_early() {
    let world = planned();
    for args in [
        &["plan"][..],
        &["plan", "-o", "json"],
        &["plan", "-o", "yaml"],
        &["diff"],
        &["render"],
        &["targets"],
        &["status"],
        &["history"],
        &["--help"],
        &["schema", "application"],
    ] {
        // A reader that is gone before the first byte, and one that takes a single one.
        for bytes in [0, 1] {
            let mut child =
                world.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut stdout = child.stdout.take().unwrap();
            let mut some = vec![0; bytes];
            stdout.read_exact(&mut some).unwrap();
            drop(stdout);
            let run = Run::of(child.wait_with_output().unwrap());
            run.hides("panicked").hides("roken pipe");
            assert!([0, 1, 141].contains(&run.code), "{args:?} {run}");
        }
    }
}

/// An apply goes on when nobody reads its output any more.
#[test]
fn an_apply_is_not_ended_by_its_reader() {
    let world = planned();
    let mut child = world
        .command(&["apply", "-y"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    child.wait().unwrap();
    for cluster in CLUSTERS {
        assert!(world.exists(cluster, "deployment", "web"), "{cluster}");
    }
    let history = world.ok(0, &["history", "-o", "json"]).json();
    for target in history["targets"].as_array().unwrap() {
        assert_eq!(target["releases"][0]["state"], "active", "{history:#}");
    }
    world.ok(0, &["diff"]);
}

#[test]
fn colours_are_for_those_who_want_them() {
    let world = planned();
    let colourful = |args: &[&str], env: &[(&str, &str)]| {
        let output = world.command(args).envs(env.iter().copied()).output().unwrap();
        let run = Run::of(output);
        run.stdout.contains('\x1b') || run.stderr.contains('\x1b')
    };
    assert!(!colourful(&["plan"], &[]), "not into a pipe");
    assert!(colourful(&["plan", "--color=always"], &[]));
    assert!(colourful(&["plan", "--color=always"], &[("NO_COLOR", "1")]), "the flag wins");
    assert!(colourful(&["plan"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colourful(&["plan"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colourful(&["plan", "--color=never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colourful(&["plan", "-o", "json", "--color=always"], &[]), "a document is data");
    // The diff for machines is the diff for people without colours.
    let plain = world.ok(1, &["diff", "--color=never"]).stdout;
    let colours = world.ok(1, &["diff", "--color=always"]).stdout;
    assert!(colours.contains("\x1b[") && !plain.contains('\x1b'));
}

/// Data goes to stdout, everything else to stderr, and quiet is quiet.
#[test]
fn streams_are_kept_apart() {
    let world = planned();
    for args in
        [&["plan", "-o", "json"][..], &["apply", "-y", "-o", "json"], &["status", "-o", "json"]]
    {
        world.ok(0, args).json();
    }
    let quiet = world.ok(0, &["plan", "-q", "-o", "json"]);
    assert_eq!(quiet.stderr, "");
    // What may be a mistake is no status line: said once, and with `-q` too.
    let empty = World::new("pipes-empty");
    empty.plain(&["us-east"]);
    empty.write("k8s/web.yaml", "");
    let empty = empty.ok(0, &["apply", "-y", "-q"]);
    let said = empty.stderr.matches("rendering gave no objects").count();
    assert_eq!(said, 1, "{empty}");
    let names = world.ok(0, &["targets", "-o", "name"]).stdout;
    assert_eq!(names, "us-east\nus-west\neu-west\n");
}
