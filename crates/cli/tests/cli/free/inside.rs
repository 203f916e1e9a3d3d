//! `palisade` inside a sandbox of its own.

use super::{house, nothing_changed, unavailable};
use crate::support::{House, Said};

/// Runs `palisade` in a sandbox, with the marker, or without.
fn inside(house: &House, marker: bool, arguments: &[&str]) -> Said {
    // Where a sandbox sees it: its /tmp is its own.
    let program = house.home().join("bin/palisade");
    if !program.exists() {
        std::fs::create_dir(program.parent().unwrap()).unwrap();
        std::fs::copy(house.palisade().get_program(), &program).unwrap();
    }
    let mut palisade = house.palisade();
    palisade.args(["--quiet", "run", "--"]);
    if !marker {
        palisade.args(["env", "-u", "PALISADE_SANDBOX", "-u", "PALISADE_RUN"]);
    }
    palisade.arg(program).args(arguments);
    Said::of(palisade.output().unwrap())
}

#[test]
fn what_only_a_person_may_do_is_refused_with_and_without_the_marker() {
    let house = house();
    if unavailable(&house) {
        return;
    }
    for marker in [true, false] {
        for arguments in [
            &["trust", "--yes"][..],
            &["trust", "--remove"],
            &["approvals", "revoke", "--all"],
            &["setup"],
            &["run", "-w", "..", "--", "touch", "../freed"],
            &["run", "--net", "--", "touch", "../freed"],
            &["run", "--mode", "open", "--", "touch", "../freed"],
            &["run", "--grant", "write:..", "--", "touch", "../freed"],
            &[
                "run",
                "--accept-loss",
                "writes-outside",
                "--",
                "touch",
                "../freed",
            ],
            &["run", "--git", "full", "--", "touch", "../freed"],
            &["run", "--policy", "freed.toml", "--", "touch", "../freed"],
        ] {
            let said = inside(&house, marker, arguments);
            assert_ne!(said.code, 0, "{arguments:?}: {said:?}");
            assert!(
                said.err.contains("refused inside a sandbox of Palisade's"),
                "{marker} {arguments:?}: {said:?}"
            );
            assert!(!house.home().join("freed").exists());
            nothing_changed(&house, &said);
        }
    }
}

#[test]
fn outside_the_same_is_not_refused_for_that() {
    let house = house();
    let said = house.say(["run", "-w", "..", "--", "true"]);
    assert!(!said.err.contains("refused inside"), "{said:?}");
    let said = house.say(["trust", "--show"]);
    assert!(!said.err.contains("refused inside"), "{said:?}");
}

#[test]
fn a_run_inside_says_why_it_does_not_and_what_does() {
    let house = house();
    if unavailable(&house) {
        return;
    }
    for marker in [true, false] {
        let said = inside(&house, marker, &["run", "--", "echo", "it's inside"]);
        assert_eq!((said.code, said.out.as_str()), (126, ""), "{said:?}");
        assert!(
            said.err.starts_with(
                "palisade: refused: a sandbox inside a sandbox of Palisade's cannot keep"
            ),
            "{said:?}"
        );
        // The last line runs, and no line accepts a loss.
        assert!(!said.err.contains("--accept-loss"), "{said:?}");
        let last = said.err.lines().last().unwrap();
        assert_eq!(last, r"    echo 'it'\''s inside'", "{said:?}");
        nothing_changed(&house, &said);
    }
    // What only answers works, without what people agreed to.
    let said = inside(&house, true, &["check", "--", "git", "push", "--force"]);
    assert_eq!(said.code, 4, "{said:?}");
    let said = inside(&house, true, &["why", "--access", "read", "."]);
    assert_eq!(said.code, 0, "{said:?}");
}
