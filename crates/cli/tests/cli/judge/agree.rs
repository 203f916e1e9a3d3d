//! What `check` says would become of a command is what becomes of it.

use std::path::Path;

use palisade::runner::config::State;
use palisade::runner::exec_policy::ExecPolicyAmendment;
use palisade::runner::exec_policy::approvals::{AmendmentSource, Keep, Moment, edit_for};
use palisade::runner::policy::AbsolutePath;

use super::check;
use crate::looked::make_executable;
use crate::support::House;

/// Commands that end with 0 where they run, and change nothing.
const COMMANDS: [&[&str]; 13] = [
    &["true"],
    &["ls"],
    &["git", "status"],
    &["env", "LD_PRELOAD=", "true"],
    &["./frob"],
    &["rm", "-rf", "build"],
    &["git", "push", "--force", "--dry-run"],
    &["sudo", "-n", "true"],
    &["bash", "-c", "true; ls | cat"],
    &["bash", "-c", "echo $(ls)"],
    &["bash", "-c", "true && rm -rf build"],
    &["bash", "-c", "ls && sudo -n true"],
    &["find", ".", "-name", "nothing", "-delete"],
];

fn compare(house: &House, flags: &[&str], command: &[&str]) {
    let (said, _) = check(house, flags, command);
    let becomes = said["requirement"]["becomes"].as_str().unwrap();
    let words = ["run"].iter().chain(flags).chain(&["--"]).chain(command);
    let ran = house.say(words);
    // Nobody can be asked here, so what asks is refused, too.
    let expected = match becomes {
        "runs" => 0,
        _ => 126,
    };
    assert_eq!(
        ran.code, expected,
        "{flags:?} {command:?}: {becomes}: {ran:?}"
    );
}

fn house() -> House {
    let house = House::new();
    house.write("project/frob", "#!/bin/sh\nexit 0\n");
    make_executable(&house, "project/frob");
    house
}

#[test]
fn run_does_what_check_says() {
    let house = house();
    for command in COMMANDS {
        compare(&house, &[], command);
    }
}

#[test]
fn under_every_approval_policy() {
    let house = house();
    for approval in ["never", "unless-trusted", "on-failure"] {
        for command in [COMMANDS[1], COMMANDS[4], COMMANDS[5], COMMANDS[9]] {
            compare(&house, &["--approval", approval], command);
        }
    }
}

#[test]
fn kept_approvals_hold_for_both() {
    let house = house();
    let fetch = ["git", "fetch", "--all", "--dry-run"];
    let (before, code) = check(&house, &[], &fetch);
    assert_eq!(
        (code, &before["requirement"]["becomes"]),
        (3, &"asks".into()),
        "{before}"
    );
    compare(&house, &[], &fetch);
    let project = AbsolutePath::new(std::fs::canonicalize(house.project()).unwrap()).unwrap();
    let keep = Keep::for_project(project, Moment::from_unix(0).unwrap());
    let amendment = ExecPolicyAmendment::new(["git", "fetch"]).unwrap();
    let rule = before["rule"]["id"].as_str().unwrap();
    let edit = edit_for(&amendment, AmendmentSource::RulePrompt(rule), &keep).unwrap();
    State::new(house.home().join(".local/state/palisade"))
        .approvals()
        .store(&edit)
        .unwrap();
    let (after, code) = check(&house, &[], &fetch);
    // The rule still asks; its question is answered.
    assert_eq!(
        (code, &after["requirement"]["becomes"]),
        (3, &"runs".into()),
        "{after}"
    );
    compare(&house, &[], &fetch);
}

#[test]
fn a_program_of_the_same_name_elsewhere_is_another_one() {
    let house = house();
    house.write("project/ls", "#!/bin/sh\nexit 0\n");
    make_executable(&house, "project/ls");
    let (own, _) = check(&house, &[], &["./ls"]);
    assert_eq!(own["decision"], "prompt", "{own}");
    let absolute = house.project().join("ls");
    let (absolute, _) = check(&house, &[], &[Path::to_str(&absolute).unwrap()]);
    assert_eq!(absolute["decision"], "prompt", "{absolute}");
    let (real, _) = check(&house, &[], &["ls"]);
    assert_eq!(real["decision"], "allow", "{real}");
}
