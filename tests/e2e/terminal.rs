//! At a terminal: questions, and what moves.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use testbed::wait_for;

use crate::support::{World, web};

/// A run at a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(world: &World, args: &[&str]) -> Self {
        Self::with(world, args, &[])
    }

    fn with(world: &World, args: &[&str], env: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let child = world
            .command(args)
            .env("TERM", "xterm")
            .envs(env.iter().copied())
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Ends with an error when the last of those who have the terminal is gone.
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        Terminal { child, keyboard, screen }
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        wait_for(&format!("{text:?} on the screen"), Duration::from_secs(30), || {
            let screen = self.screen.lock().unwrap().clone();
            if screen.contains(text) { Ok(()) } else { Err(screen) }
        });
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    #[track_caller]
    fn ends(&mut self, code: i32) {
        let started = Instant::now();
        let status = wait_for("the run ends", Duration::from_secs(30), || {
            self.child.try_wait().unwrap().ok_or_else(|| self.screen.lock().unwrap().clone())
        });
        let screen = self.screen.lock().unwrap().clone();
        assert_eq!(status.code(), Some(code), "after {:?}: {screen}", started.elapsed());
    }
}

fn world(prefix: &str) -> World {
    let world = World::new(prefix);
    world.plain(&["us-east"]);
    world.write("k8s/web.yaml", &web("web:1"));
    world
}

#[test]
fn it_asks_before_it_writes() {
    let world = world("ask");
    for (answer, code) in [("n\n", 6), ("\n", 6), ("perhaps\n", 6), ("\x04", 6)] {
        let mut run = Terminal::start(&world, &["apply"]);
        run.shows("Plan: 3 to create");
        run.shows("[y/N]");
        run.types(answer);
        run.shows("declined; nothing was written");
        run.ends(code);
    }
    assert!(!world.exists("us-east", "deployment", "web"));
    let mut run = Terminal::start(&world, &["apply"]);
    run.shows("[y/N]");
    run.types("y\n");
    run.shows("Healthy");
    run.ends(0);
    // Nothing to do is nothing to ask for.
    Terminal::start(&world, &["apply"]).ends(0);
    let mut run = Terminal::start(&world, &["delete"]);
    run.shows("[y/N]");
    run.types("no\n");
    run.ends(6);
    assert!(world.exists("us-east", "deployment", "web"));
}

#[test]
fn init_asks_before_it_takes_every_context() {
    let world = World::new("ask-init");
    world.write("k8s/web.yaml", &web("web:1"));
    let mut run = Terminal::start(&world, &["init"]);
    run.shows("Take all 3 contexts (us-east, us-west, eu-west)? [y/N]");
    run.types("n\n");
    run.shows("declined; nothing was written");
    run.shows("--context");
    run.ends(6);
    assert!(!world.path().join("fleet.yaml").exists());
    let mut run = Terminal::start(&world, &["init"]);
    run.shows("[y/N]");
    run.types("y\n");
    run.shows("wrote mcd.yaml");
    run.ends(0);
    assert!(world.path().join("fleet.yaml").exists());
}

#[test]
fn it_can_be_left_at_the_question() {
    let world = world("ask-int");
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut run = Terminal::start(&world, &["apply"]);
        run.shows("[y/N]");
        Command::new("kill").args([signal, &run.child.id().to_string()]).status().unwrap();
        let started = Instant::now();
        run.ends(code);
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
        run.shows("nothing was written");
    }
    assert!(!world.exists("us-east", "deployment", "web"));
}

/// Whatever the width, nothing is lost but the layout.
#[test]
fn it_may_be_narrow() {
    let world = world("narrow");
    for (columns, color) in [("1", ""), ("30", "1"), ("60", ""), ("nonsense", ""), ("100000", "")] {
        for args in [&["plan"][..], &["diff", "--context-lines=0"], &["status"], &["targets"]] {
            let env = [("COLUMNS", columns), ("NO_COLOR", color)];
            let mut run = Terminal::with(&world, args, &env);
            run.ends(i32::from(args[0] == "diff"));
            run.shows("us-");
            let screen = run.screen.lock().unwrap().clone();
            assert!(!screen.contains("panicked"), "{screen}");
            assert!(color.is_empty() || !screen.contains("\x1b[1m"), "{screen:?}");
        }
    }
}

/// The table changes in its place, and its last state is left behind.
#[test]
fn a_watch_at_a_terminal() {
    let world = world("watch-live");
    let mut run = Terminal::start(&world, &["status", "--watch"]);
    run.shows("NotDeployed");
    world.ok(0, &["apply", "-y"]);
    run.shows("Healthy");
    let id = run.child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    run.ends(130);
    let screen = run.screen.lock().unwrap().clone();
    let last = screen.rsplit("CLUSTER").next().unwrap();
    assert!(last.contains("Healthy") && last.contains("2/2"), "{screen:?}");
    assert!(!screen.contains("stopping after"), "{screen:?}");
}
