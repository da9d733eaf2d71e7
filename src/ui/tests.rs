//! What is written, where, in which style; what is asked; what is made harmless.

use std::io::{self, Write};

use insta::assert_snapshot;

use super::*;
use crate::config::TargetName;
use crate::error::Location;
use crate::manifest::ObjectId;

fn terminal() -> World {
    World {
        stdin_terminal: true,
        stdout_terminal: true,
        stderr_terminal: true,
        terminal_width: Some(100),
        term: Some("xterm-256color".into()),
        ..World::default()
    }
}

/// Escape characters as `^`, so that they can be read here.
fn visible(text: &str) -> String {
    text.replace('\x1b', "^")
}

#[test]
fn colour_is_decided_once_by_flag_then_variables_then_terminal() {
    let with = |change: fn(&mut World)| {
        let mut world = terminal();
        change(&mut world);
        world
    };
    // (world, choice, is it a terminal) → colour.
    let rows: Vec<(&str, World, ColorChoice, bool, bool)> = vec![
        ("terminal", terminal(), ColorChoice::Auto, true, true),
        ("pipe", terminal(), ColorChoice::Auto, false, false),
        ("always", terminal(), ColorChoice::Always, false, true),
        ("never", terminal(), ColorChoice::Never, true, false),
        ("dumb", with(|w| w.term = Some("dumb".into())), ColorChoice::Auto, true, false),
        ("NO_COLOR", with(|w| w.no_color = Some("1".into())), ColorChoice::Auto, true, false),
        (
            "NO_COLOR empty",
            with(|w| w.no_color = Some(String::new())),
            ColorChoice::Auto,
            true,
            true,
        ),
        (
            "flag over NO_COLOR",
            with(|w| w.no_color = Some("1".into())),
            ColorChoice::Always,
            true,
            true,
        ),
        (
            "NO_COLOR over FORCE_COLOR",
            with(|w| {
                w.no_color = Some("1".into());
                w.force_color = Some("1".into());
            }),
            ColorChoice::Auto,
            true,
            false,
        ),
        ("FORCE_COLOR", with(|w| w.force_color = Some("1".into())), ColorChoice::Auto, false, true),
        (
            "FORCE_COLOR=0",
            with(|w| w.force_color = Some("0".into())),
            ColorChoice::Auto,
            true,
            false,
        ),
        (
            "CLICOLOR_FORCE",
            with(|w| w.clicolor_force = Some("1".into())),
            ColorChoice::Auto,
            false,
            true,
        ),
        (
            "CLICOLOR_FORCE=0",
            with(|w| w.clicolor_force = Some("0".into())),
            ColorChoice::Auto,
            false,
            false,
        ),
        ("CLICOLOR=0", with(|w| w.clicolor = Some("0".into())), ColorChoice::Auto, true, false),
        ("CI alone", with(|w| w.ci = Some("true".into())), ColorChoice::Auto, false, false),
    ];
    for (what, world, choice, is_terminal, wanted) in rows {
        assert_eq!(world.color(choice, is_terminal), wanted, "{what}");
    }
}

#[test]
fn the_live_area_is_for_terminals_that_can() {
    assert!(terminal().draws_live(false));
    assert!(!terminal().draws_live(true));
    assert!(World { ci: Some("false".into()), ..terminal() }.draws_live(false));
    assert!(!World { ci: Some("true".into()), ..terminal() }.draws_live(false));
    assert!(!World { term: Some("dumb".into()), ..terminal() }.draws_live(false));
    assert!(!World { stderr_terminal: false, ..terminal() }.draws_live(false));
}

#[test]
fn widths() {
    let look = |world: World, width: Option<usize>| {
        let options = UiOptions { width, ..UiOptions::default() };
        Ui::buffer_in(world, &options, "").0.out().width
    };
    assert_eq!(look(terminal(), None), Some(100));
    assert_eq!(look(World { columns: Some("120".into()), ..terminal() }, None), Some(120));
    assert_eq!(look(World { columns: Some("0".into()), ..terminal() }, None), Some(100));
    assert_eq!(look(World { columns: Some("wide".into()), ..terminal() }, None), Some(100));
    assert_eq!(look(World { terminal_width: None, ..terminal() }, None), Some(80));
    assert_eq!(look(World { terminal_width: Some(3), ..terminal() }, None), Some(20));
    // A pipe has none, whatever the variables say.
    assert_eq!(look(World { columns: Some("120".into()), ..World::default() }, None), None);
    assert_eq!(look(World::default(), Some(60)), Some(60));
}

#[test]
fn data_and_the_rest_go_their_own_ways() {
    let (ui, written) = Ui::buffer();
    ui.data("a\n").expect("memory");
    ui.status("applying");
    ui.detail("GET /api");
    ui.warning("tool is old\nsecond line");
    ui.hint("try `mcd init`");
    ui.data("b\n").expect("memory");
    assert_eq!(written.stdout(), "a\nb\n");
    assert_snapshot!(written.stderr(), @"
    applying
    warning: tool is old
      second line
    hint: try `mcd init`
    ");
}

#[test]
fn quiet_and_verbose() {
    let say = |quiet: bool, verbose: bool| {
        let options = UiOptions { quiet, verbose, ..UiOptions::default() };
        let (ui, written) = Ui::buffer_in(World::default(), &options, "");
        ui.status("status");
        ui.detail("detail");
        ui.warning("w");
        ui.hint("h");
        ui.error(&Error::config("e"));
        written.stderr()
    };
    assert_eq!(say(false, false), "status\nwarning: w\nhint: h\nerror: e\n");
    assert_eq!(say(true, false), "warning: w\nerror: e\n");
    assert_eq!(say(false, true), "status\ndetail\nwarning: w\nhint: h\nerror: e\n");
}

fn an_error() -> Error {
    let object = ObjectId {
        group: "apps".into(),
        kind: "Deployment".into(),
        namespace: Some("shop".into()),
        name: "web".into(),
    };
    Error::manifest("the server refuses the manifest")
        .in_target(&TargetName::new("us-east"))
        .on(&object)
        .at(Location {
            file: "k8s/web.yaml".into(),
            line: 14,
            column: 9,
            text: "        contxt: us-east".into(),
        })
        .because("field `contxt` is unknown")
        .because("helm said:\nline one\nline two")
        .hint("did you mean `context`?")
}

#[test]
fn an_error_says_what_where_why_and_what_next() {
    let (ui, written) = Ui::buffer();
    ui.error(&an_error());
    assert_snapshot!(written.stderr(), @"
    error: us-east: Deployment shop/web: the server refuses the manifest
      --> k8s/web.yaml:14:9
       |
    14 |         contxt: us-east
       |         ^^^^^^
      caused by: field `contxt` is unknown
      caused by: helm said:
        line one
        line two
    hint: did you mean `context`?
    ");
}

#[test]
fn an_error_in_colour() {
    let options = UiOptions { color: ColorChoice::Always, ..UiOptions::default() };
    let (ui, written) = Ui::buffer_in(World::default(), &options, "");
    ui.error(&an_error());
    assert_snapshot!(visible(&written.stderr()), @"
    ^[1m^[31merror:^[0m us-east: Deployment shop/web: the server refuses the manifest
      ^[2m-->^[0m k8s/web.yaml:14:9
       ^[2m|^[0m
    ^[2m14^[0m ^[2m|^[0m         contxt: us-east
       ^[2m|^[0m ^[1m^[31m        ^^^^^^^[0m
      ^[2mcaused by:^[0m field `contxt` is unknown
      ^[2mcaused by:^[0m helm said:
        line one
        line two
    ^[36mhint:^[0m did you mean `context`?
    ");
}

fn located(column: usize, text: &str, width: Option<usize>) -> String {
    let options = UiOptions { width, ..UiOptions::default() };
    let (ui, written) = Ui::buffer_in(World::default(), &options, "");
    let file = "mcd.yaml".to_owned();
    ui.error(&Error::config("no").at(Location { file, line: 7, column, text: text.into() }));
    written.stderr()
}

#[test]
fn places_of_all_kinds() {
    // No text, no column; a column without a word; one past the end; tabs and wide characters.
    assert_snapshot!(located(0, "", None), @"
    error: no
      --> mcd.yaml:7
    ");
    assert_snapshot!(located(0, "name: web", None), @"
    error: no
     --> mcd.yaml:7
      |
    7 | name: web
    ");
    assert_snapshot!(located(6, "name: {", None), @"
    error: no
     --> mcd.yaml:7:6
      |
    7 | name: {
      |      ^
    ");
    assert_snapshot!(located(99, "name:", None), @"
    error: no
     --> mcd.yaml:7:99
      |
    7 | name:
      |      ^
    ");
    assert_snapshot!(located(5, "\t東: web", None), @"
    error: no
     --> mcd.yaml:7:5
      |
    7 | 	東: web
      | 	    ^^^
    ");
}

#[test]
fn a_long_line_is_cut_around_its_column() {
    let line = format!("{}contxt: {}", "a".repeat(90), "b".repeat(90));
    assert_snapshot!(located(91, &line, Some(60)), @"
    error: no
     --> mcd.yaml:7:91
      |
    7 | …aaaaaaaaaaaaaaaaaaaaaaaaaaacontxt: bbbbbbbbbbbbbbbbbbb…
      |                             ^^^^^^
    ");
    assert_snapshot!(located(3, &line, Some(60)), @"
    error: no
     --> mcd.yaml:7:3
      |
    7 | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(located(188, &line, Some(60)), @"
    error: no
     --> mcd.yaml:7:188
      |
    7 | …bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
      |                                                       ^
    ");
}

#[test]
fn texts_from_elsewhere_cannot_play_with_the_terminal() {
    let evil = "a\x1b[2J\x07b\u{9b}31m\u{202e}c\td\r\n\x7f";
    assert_eq!(clean(evil), "a␛[2J␇b\u{fffd}31m\u{fffd}c\td␍\n␡");
    assert!(matches!(clean("plain — text\n"), std::borrow::Cow::Borrowed(_)));
    // Our own styles pass the last guard, nothing else does.
    let styled = "\x1b[1mok\x1b[0m\x1b[38;5;9m \x1b]8;;http://x\x07 \x1b[2K \x1b[3";
    assert_eq!(
        visible(&clean::for_terminal(styled, true)),
        "^[1mok^[0m^[38;5;9m ␛]8;;http://x␇ ␛[2K ␛[3"
    );
    assert_eq!(clean::for_terminal("\x1b[1mok", false), "␛[1mok");
    // On their way to a terminal, all texts pass it; a pipe gets data as it is.
    let (ui, written) = Ui::buffer_in(terminal(), &UiOptions::default(), "");
    ui.data("x\x1b[2J\n").expect("memory");
    ui.status("x\x1b[2J");
    ui.error(&Error::config("bad \x1b[31m name"));
    assert_eq!(written.stdout(), "x␛[2J\n");
    assert_snapshot!(visible(&written.stderr()), @"
    x␛[2J
    ^[1m^[31merror:^[0m bad ␛[31m name
    ");
    let (ui, written) = Ui::buffer();
    ui.data("x\x1b[2J\n").expect("memory");
    assert_eq!(written.stdout(), "x\x1b[2J\n");
}

#[test]
fn a_question_wants_a_terminal_and_a_clear_yes() {
    let ask = |input: &str| {
        let (ui, written) = Ui::buffer_in(
            terminal(),
            &UiOptions { color: ColorChoice::Never, ..UiOptions::default() },
            input,
        );
        let answer = ui.confirm("apply to 3 targets?").expect("a terminal");
        assert_eq!(written.stderr(), "apply to 3 targets? [y/N] ");
        answer
    };
    for yes in ["y\n", "Y\n", " yes \n", "YES"] {
        assert!(ask(yes), "{yes:?}");
    }
    for no in ["\n", "", "n\n", "yesterday\n", "ja\n"] {
        assert!(!ask(no), "{no:?}");
    }
    for world in [
        World { stdin_terminal: false, ..terminal() },
        World { stderr_terminal: false, ..terminal() },
    ] {
        let (ui, written) = Ui::buffer_in(world, &UiOptions::default(), "y\n");
        let error = ui.confirm("apply?").expect_err("no terminal");
        assert_eq!(error.exit(), Exit::Config);
        assert!(error.hints()[0].contains("-y"), "{error:?}");
        assert_eq!(written.stderr(), "");
    }
}

/// A stream whose other end fails.
struct Failing(ErrorKind);

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from(self.0))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failing(kind: ErrorKind) -> Ui {
    let streams = Streams {
        out: Box::new(Failing(kind)),
        err: Box::new(Failing(kind)),
        input: Box::new(io::empty()),
    };
    Ui::on(streams, ProgressDrawTarget::hidden(), World::default(), &UiOptions::default())
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let ui = failing(ErrorKind::BrokenPipe);
    assert!(!ui.is_closed());
    ui.data("a\n").expect("no error");
    assert!(ui.is_closed());
    ui.data("b\n").expect("no error");
    ui.status("nobody reads this either");

    let ui = failing(ErrorKind::StorageFull);
    let error = ui.data("a\n").expect_err("a full disk");
    assert_eq!(error.exit(), Exit::Failed);
    assert_eq!(error.message(), "could not write to standard output");
    assert!(!ui.is_closed());
}

#[test]
fn errors_that_differ_in_their_targets_are_told_once() {
    let (ui, written) = Ui::buffer();
    let error = |target: &str| {
        Error::manifest("the patch selects no object")
            .in_target(&TargetName::new(target))
            .hint("see")
    };
    let mut errors: Vec<Error> = ["a", "b", "c"].map(error).into();
    errors.insert(1, Error::config("another").in_target(&TargetName::new("a")));
    ui.errors(&errors);
    assert_snapshot!(written.stderr(), @"
    error: a, b, c: the patch selects no object
    hint: see
    error: a: another
    ");
    let (ui, written) = Ui::buffer();
    let many: Vec<Error> = (0..9).map(|n| error(&format!("c{n}"))).collect();
    ui.errors(&many);
    assert!(written.stderr().starts_with("error: c0, c1, c2, c3, c4, c5 and 3 more: the patch"));
}
