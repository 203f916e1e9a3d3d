//! Each key of a question on the terminal.

use super::{MOMENT, house, plain};
use crate::support::House;
use crate::support::terminal::Terminal;

/// Between keys that do nothing: nothing shows that one was read.
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(50);

/// Where a question waits for its key.
const READY: &str = " ? ";

fn ask(house: &House) -> Terminal {
    let mut terminal = Terminal::start(
        plain(&mut house.palisade()).args(["--quiet", "run", "--", "touch", "made"]),
    );
    terminal.expect(READY);
    terminal
}

#[track_caller]
fn ends(mut terminal: Terminal, code: i32) -> String {
    let status = terminal.end();
    assert_eq!(status.code(), Some(code), "{}", terminal.all());
    assert!(terminal.is_cooked(), "the terminal is as it was");
    terminal.all().to_owned()
}

fn made(house: &House) -> bool {
    house.project().join("made").exists()
}

#[test]
fn the_question_says_what_why_and_which_keys() {
    let house = house();
    let mut terminal = Terminal::start(
        plain(&mut house.palisade()).args(["--quiet", "run", "--", "touch", "made"]),
    );
    let shown = terminal.expect(READY);
    let home = house.home().to_str().unwrap();
    let shown = shown.replace(home, "HOME").replace("\r\n", "\n");
    insta::assert_snapshot!(shown.trim());
    assert!(!made(&house));
    terminal.type_keys("q");
    ends(terminal, 126);
}

#[test]
fn y_runs_it_once() {
    let house = house();
    for _ in 0..2 {
        let mut terminal = ask(&house);
        terminal.type_keys("y");
        ends(terminal, 0);
        assert!(made(&house));
    }
    assert!(
        !house
            .home()
            .join(".local/state/palisade/approvals.toml")
            .exists()
    );
}

#[test]
fn s_runs_it_for_the_session() {
    let house = house();
    let mut terminal = ask(&house);
    terminal.type_keys("s");
    ends(terminal, 0);
    assert!(made(&house));
    assert!(
        !house
            .home()
            .join(".local/state/palisade/approvals.toml")
            .exists()
    );
}

#[test]
fn a_shows_the_rule_and_the_file_and_keeps_it_only_if_agreed_to() {
    let house = house();
    let mut terminal = ask(&house);
    terminal.type_keys("a");
    let shown = terminal.expect("keep that?");
    let shown = shown.replace("\r\n| ", "");
    assert!(shown.contains("begins with `touch"), "{shown}");
    assert!(
        shown.contains(".local/state/palisade/approvals.toml"),
        "{shown}"
    );
    terminal.expect("back ");
    // The same key once more is no agreement, and neither is Enter.
    for key in ["a", "\r"] {
        terminal.type_keys(key);
        std::thread::sleep(BETWEEN);
    }
    assert!(!made(&house));
    terminal.press_until("n", READY);
    assert!(!made(&house));
    terminal.type_keys("a");
    terminal.expect("back ");
    terminal.type_keys("y");
    ends(terminal, 0);
    assert!(made(&house));
    let kept = std::fs::read_to_string(house.home().join(".local/state/palisade/approvals.toml"));
    assert!(kept.unwrap().contains("touch"));
    // The next time nobody is asked, and nobody has to be there.
    let said = house.say(["run", "--", "touch", "made"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn n_takes_a_note_that_reaches_the_refusal() {
    let house = house();
    let mut terminal = ask(&house);
    terminal.type_keys("n");
    terminal.expect("why not?");
    terminal.type_keys("nott");
    terminal.type_keys("\u{7f} here: \u{e9}\r");
    let shown = ends(terminal, 126);
    assert!(shown.contains("not here: \u{e9}"), "{shown}");
    assert!(!made(&house));
}

#[test]
fn n_without_a_note_is_a_plain_no() {
    let house = house();
    let mut terminal = ask(&house);
    terminal.type_keys("n");
    terminal.expect("no note) ");
    terminal.type_keys("\r");
    ends(terminal, 126);
    assert!(!made(&house));
}

#[test]
fn q_and_ctrl_c_abort() {
    for key in ["q", "\u{3}"] {
        let house = house();
        let mut terminal = ask(&house);
        terminal.type_keys(key);
        ends(terminal, 126);
        assert!(!made(&house));
    }
}

#[test]
fn nothing_else_is_an_answer() {
    let house = house();
    let mut terminal = ask(&house);
    // Enter, space, capitals, a key of another question, Escape, an arrow, end of file, Ctrl-Z, and several at once.
    for keys in [
        "\r", "\n", " ", "Y", "g", "\u{1b}", "\u{1b}[A", "\u{4}", "\u{1a}", "yes", "yy",
    ] {
        terminal.type_keys(keys);
        std::thread::sleep(BETWEEN);
    }
    std::thread::sleep(MOMENT);
    assert!(!made(&house));
    terminal.press_until("y", "y\r\n");
    ends(terminal, 0);
    assert!(made(&house));
}

#[test]
fn a_signal_ends_it_and_leaves_the_terminal_as_it_was() {
    for (signal, number) in [
        (rustix::process::Signal::TERM, 15),
        (rustix::process::Signal::INT, 2),
    ] {
        use std::os::unix::process::ExitStatusExt as _;
        let house = house();
        let mut terminal = ask(&house);
        assert!(!terminal.is_cooked());
        let pid = rustix::process::Pid::from_raw(terminal.pid()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        let status = terminal.end();
        let ended = status.signal() == Some(number) || status.code() == Some(126);
        assert!(ended, "{status:?} {}", terminal.all());
        assert!(terminal.is_cooked());
        assert!(!made(&house));
    }
}

#[test]
fn a_denied_command_is_asked_about_again_with_the_grant_that_would_help() {
    let house = House::new();
    let outside = house.home().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let target = outside.join("deep");
    let run = |keys: &[(&str, &str)]| {
        let target = target.to_str().unwrap();
        let mut palisade = house.palisade();
        plain(&mut palisade).args(["run", "--approval", "on-failure", "--", "mkdir", target]);
        let mut terminal = Terminal::start(&mut palisade);
        for (text, key) in keys {
            let shown = terminal.expect(text);
            assert!(!target_exists(&house), "{shown}");
            terminal.type_keys(key);
        }
        let status = terminal.end();
        (status.code(), terminal.all().to_owned())
    };
    let (code, shown) = run(&[(READY, "n"), ("no note) ", "\r")]);
    assert_ne!(code, Some(0), "{shown}");
    assert!(
        shown.replace("\r\n", "").contains("lets it write"),
        "{shown}"
    );
    let (code, shown) = run(&[(READY, "y")]);
    assert_eq!(code, Some(0), "{shown}");
    std::fs::remove_dir(&target).unwrap();
    // For the project: the next run has it.
    let (code, shown) = run(&[(READY, "a"), ("back ", "y")]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.replace("\r\n| ", "").contains("grants.json"),
        "{shown}"
    );
    std::fs::remove_dir(&target).unwrap();
    let (code, shown) = run(&[]);
    assert_eq!(code, Some(0), "{shown}");
}

fn target_exists(house: &House) -> bool {
    house.home().join("outside/deep").exists()
}
