//! `palisade trust`.

use super::plain;
use crate::support::House;
use crate::support::terminal::Terminal;

/// A project whose policy loosens.
const LOOSENS: &str = "version = 1

[[rule]]
id = \"build\"
prefix = [\"cargo\", \"publish\"]
decision = \"allow\"
why = \"the release job\"

[network]
access = \"full\"
";

fn house() -> House {
    let house = House::new();
    house.write("project/.palisade/policy.toml", LOOSENS);
    house
}

fn trusted(house: &House) -> bool {
    let said = house.say(["trust", "--show"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.out.contains(": you trust it")
}

#[test]
fn it_shows_files_hash_and_what_would_be_new() {
    let house = house();
    let said = house.say(["trust", "--show"]);
    assert_eq!(said.code, 0, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.out));
}

#[test]
fn yes_agrees_and_remove_takes_it_back() {
    let house = house();
    assert!(!trusted(&house));
    let said = house.say(["trust", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(trusted(&house));
    let said = house.say(["trust", "--remove"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!trusted(&house));
}

#[test]
fn one_byte_more_and_nobody_has_agreed() {
    let house = house();
    house.say(["trust", "--yes"]);
    house.write("project/.palisade/policy.toml", &format!("{LOOSENS}\n"));
    let said = house.say(["trust", "--show"]);
    assert!(said.out.contains("changed since you agreed"), "{said:?}");
}

#[test]
fn without_a_terminal_nobody_agrees() {
    let house = house();
    let said = house.say(["trust"]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("--yes"), "{said:?}");
    assert!(!trusted(&house));
}

#[test]
fn on_the_terminal_only_the_word_is_agreement() {
    let house = house();
    for (typed, agreed) in [
        ("\n", false),
        ("y\n", false),
        ("no\n", false),
        ("yes\n", true),
    ] {
        let mut terminal = Terminal::start(house.palisade().arg("trust"));
        terminal.expect("Type yes: ");
        terminal.type_keys(typed);
        let code = terminal.end().code();
        assert_eq!(code == Some(0), agreed, "{typed:?}: {}", terminal.all());
        assert_eq!(trusted(&house), agreed);
    }
}

#[test]
fn what_changes_while_somebody_reads_it_is_not_agreed_to() {
    let house = house();
    let mut terminal = Terminal::start(house.palisade().arg("trust"));
    terminal.expect("Type yes: ");
    house.write(
        "project/.palisade/policy.toml",
        "version = 1\npreset = \"open\"\n",
    );
    terminal.type_keys("yes\n");
    assert_ne!(terminal.end().code(), Some(0), "{}", terminal.all());
    assert!(!trusted(&house));
}

#[test]
fn a_project_without_a_policy_has_nothing_to_trust() {
    let house = House::new();
    let said = house.say(["trust"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("no policy of its own"), "{said:?}");
}

#[test]
fn a_rule_holds_only_once_it_is_trusted() {
    let house = House::new();
    house.write(
        "project/.palisade/policy.toml",
        "version = 1\n[limits]\nprocs = 77\n[network]\naccess = \"full\"\n",
    );
    let decides = |house: &House| house.say(["why", "example.org:443"]).code;
    let before = decides(&house);
    house.say(["trust", "--yes"]);
    assert_ne!(
        before,
        decides(&house),
        "the network is open once it is trusted"
    );
}
