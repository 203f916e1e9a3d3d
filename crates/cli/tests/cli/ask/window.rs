//! Who sits at the terminal, and what can be seen there.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use super::{MOMENT, house, plain};
use crate::support::terminal::Terminal;

const READY: &str = " ? ";

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let house = house();
    let mut palisade = house.palisade();
    plain(&mut palisade).args(["run", "--", "touch", "made"]);
    let mut terminal = Terminal::start(&mut palisade);
    // As fast as it can be typed, from before the question until it is complete.
    while !terminal.has_shown(READY) {
        terminal.type_keys("y");
        std::thread::sleep(std::time::Duration::from_millis(100));
        if terminal.has_shown("| touch made") {
            break;
        }
    }
    terminal.expect(READY);
    std::thread::sleep(MOMENT);
    assert!(!house.project().join("made").exists(), "{}", terminal.all());
    terminal.type_keys("q");
    assert_eq!(terminal.end().code(), Some(126), "{}", terminal.all());
    assert!(!house.project().join("made").exists());
}

#[test]
fn a_closed_terminal_is_a_no() {
    let house = house();
    let mut palisade = house.palisade();
    plain(&mut palisade).args(["run", "--", "touch", "made"]);
    let mut terminal = Terminal::start(&mut palisade);
    terminal.expect(READY);
    terminal.hang_up();
    let status = terminal.end();
    assert!(!status.success(), "{status:?}");
    assert!(!house.project().join("made").exists());
}

#[test]
fn hidden_characters_are_seen() {
    let house = house();
    let mut palisade = house.palisade();
    let tricky = "made\u{202e}gpj.\u{1b}[2J\r\n[y] yes";
    plain(&mut palisade).args(["run", "--", "touch", tricky]);
    let mut terminal = Terminal::start(&mut palisade);
    let shown = terminal.expect(READY);
    assert!(
        shown.contains(r"touch $'made\u{202e}gpj.\u{1b}[2J\r\n[y] yes'"),
        "{shown}"
    );
    assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"));
    terminal.type_keys("q");
    assert_eq!(terminal.end().code(), Some(126));
}

#[test]
fn in_a_window_of_20_columns_no_line_of_a_command_looks_like_ours() {
    let house = house();
    let mut palisade = house.palisade();
    // Padded so that the rest would start a line of such a window.
    let tricky = format!("{}a yes runs it in its sandbox", " ".repeat(13));
    plain(&mut palisade).args(["--quiet", "run", "--", "touch", &tricky, "made"]);
    let mut terminal = Terminal::start_sized(&mut palisade, 24, 20);
    let shown = terminal.expect(READY);
    let question = shown.trim_start_matches(['\r', '\n']);
    for line in question.split("\r\n") {
        assert!(line.chars().count() <= 20, "{line:?}");
    }
    let lines: Vec<&str> = question.split("\r\n").collect();
    let ours = lines
        .iter()
        .filter(|line| line.starts_with("a yes runs"))
        .count();
    assert_eq!(ours, 1, "{shown}");
    assert!(lines.first().unwrap().starts_with("| touch"), "{shown}");
    let answers = shown.replace("\r\n", " ");
    for key in [
        "[y] yes, once",
        "[s] for this session",
        "[n] no",
        "[q] abort",
    ] {
        assert!(answers.contains(key), "{key} in {shown}");
    }
    terminal.type_keys("q");
    assert_eq!(terminal.end().code(), Some(126));
}

#[test]
fn the_question_is_not_on_standard_output() {
    let house = house();
    let mut palisade = house.palisade();
    plain(&mut palisade).args(["run", "--", "touch", "made"]);
    let out = house.home().join("out");
    let file = std::fs::File::create(&out).unwrap();
    let mut terminal = Terminal::start_with(&mut palisade, 24, 80, move |command, terminal| {
        command
            .stdin(stream(terminal))
            .stdout(file)
            .stderr(stream(terminal));
    });
    terminal.expect(READY);
    terminal.type_keys("y");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.all());
    assert_eq!(std::fs::read_to_string(out).unwrap(), "");
}

fn stream(terminal: &OwnedFd) -> Stdio {
    Stdio::from(terminal.try_clone().unwrap())
}

#[test]
fn without_a_terminal_on_both_sides_nobody_is_asked() {
    type Streams = fn(&mut Command, &OwnedFd);
    let cases: [(&str, Streams); 3] = [
        ("standard input is not a terminal", |command, terminal| {
            command.stdin(Stdio::null()).stderr(stream(terminal));
        }),
        ("standard error is not a terminal", |command, terminal| {
            command.stdin(stream(terminal)).stderr(Stdio::piped());
        }),
        ("standard input is not a terminal", |command, _| {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }),
    ];
    for (why, streams) in cases {
        let house = house();
        let mut palisade = house.palisade();
        plain(&mut palisade).args(["run", "--", "touch", "made"]);
        let mut terminal = Terminal::start_with(&mut palisade, 24, 80, streams);
        assert_eq!(terminal.end().code(), Some(126), "{why}");
        let piped = terminal.piped_errors();
        let all = format!("{}{piped}", terminal.all());
        assert!(all.contains(why), "{why}: {all}");
        assert!(all.contains("nobody could be asked"), "{all}");
        assert!(all.contains("--approval-command"), "{all}");
        assert!(!house.project().join("made").exists());
    }
}

#[test]
fn what_a_command_left_behind_does_not_hide_the_question() {
    let house = house();
    let outside = house.home().join("outside");
    // The title of a window that never ends: whatever follows would be part of it, and so would the question.
    let script = format!(
        "mkdir {} || {{ printf '\\033]0;'; exit 1; }}",
        outside.display()
    );
    let ask = |term: &str| {
        let mut palisade = house.palisade();
        plain(&mut palisade).env("TERM", term);
        palisade.args(["run", "--approval", "on-failure", "--", "sh", "-c", &script]);
        let mut terminal = Terminal::start(&mut palisade);
        let shown = terminal.expect(READY);
        terminal.type_keys("q");
        assert_ne!(terminal.end().code(), Some(0));
        shown
    };
    let shown = ask("xterm");
    let begun = shown.rfind("\u{1b}]0;").expect(&shown);
    let ended = shown.rfind("\u{18}\u{1b}\\").expect(&shown);
    let asked = shown.rfind("| sh -c").expect(&shown);
    assert!(begun < ended && ended < asked, "{shown:?}");
    let shown = ask("dumb");
    assert!(!shown.contains('\u{18}'), "{shown:?}");
}

#[test]
fn the_words_of_a_rule_cannot_hide_either() {
    let house = house();
    house.write(
        "project/.palisade/policy.toml",
        "version = 1\n[[rule]]\nid = \"theirs\"\nprefix = [\"touch\"]\ndecision = \"prompt\"\n\
         why = \"fine\\u001b[8m\\u202e\\n [y] yes ? \"\n",
    );
    let mut palisade = house.palisade();
    plain(&mut palisade).args(["run", "--", "touch", "made"]);
    let mut terminal = Terminal::start(&mut palisade);
    let shown = terminal.expect("[q] abort ? ");
    assert!(
        !shown.contains("\u{1b}[8m") && !shown.contains('\u{202e}'),
        "{shown}"
    );
    assert!(!shown.contains("\n [y] yes"), "{shown}");
    terminal.type_keys("q");
    assert_eq!(terminal.end().code(), Some(126));
}
