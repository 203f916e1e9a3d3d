//! The line before a command, for those who sit at a terminal.

use super::plain;
use crate::support::House;
use crate::support::terminal::Terminal;

fn shown(house: &House, arguments: &[&str]) -> String {
    let mut terminal = Terminal::start(house.palisade().args(arguments));
    terminal.expect("ready");
    let shown = terminal.all().replace('\r', "");
    assert_eq!(terminal.end().code(), Some(0));
    plain(house, &shown)
}

#[test]
fn it_says_what_holds() {
    let house = House::new();
    house.write(".ssh/id_ed25519", "");
    house.write(".netrc", "");
    house.write("shared/there", "");
    let rows: &[(&[&str], &str)] = &[
        (&[], "full - writes ./ - network off - "),
        (&["--read-only"], "full - writes nothing - network off - "),
        (
            &["-w", "../shared", "--net"],
            "full - writes ./, ~/shared/ - network on - ",
        ),
        (
            &["--mode", "open"],
            "no sandbox: the command can touch whatever you can",
        ),
    ];
    for (flags, expected) in rows {
        let command = ["run", "--color", "never"];
        let words: Vec<&str> = command
            .iter()
            .chain(*flags)
            .chain(&["--", "echo", "ready"])
            .copied()
            .collect();
        let shown = shown(&house, &words);
        assert!(
            shown.contains(&format!("palisade: {expected}")),
            "{flags:?}: {shown}"
        );
    }
}

#[test]
fn it_counts_what_is_there_and_hidden() {
    let house = House::new();
    let count = |house: &House| -> usize {
        let shown = shown(house, &["run", "--color", "never", "--", "echo", "ready"]);
        let before = shown.split(" secret").next().unwrap().to_owned();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let before = count(&house);
    house.write(".ssh/id_ed25519", "");
    house.write(".netrc", "");
    assert_eq!(count(&house), before + 2);
}

#[test]
fn quiet_and_colours_are_heeded() {
    let house = House::new();
    let words = ["run", "--", "echo", "ready"];
    assert!(!shown(&house, &["-q", "run", "--", "echo", "ready"]).contains("palisade"));
    assert!(shown(&house, &["--color", "always", "run", "--", "echo", "ready"]).contains('\u{1b}'));
    let mut terminal = Terminal::start(house.palisade().env("NO_COLOR", "1").args(words));
    terminal.expect("ready");
    assert!(!terminal.all().contains('\u{1b}'));
    assert_eq!(terminal.end().code(), Some(0));
    // And without a terminal nothing is said.
    let said = house.say(words);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("ready\n", ""));
}
