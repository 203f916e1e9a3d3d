//! `doctor` and `setup`: what this machine can enforce, and who may change that.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::Value;

use crate::looked::redacted;
use crate::support::House;

fn doctor(house: &House) -> (Value, i32) {
    let said = house.say(["doctor", "--json"]);
    let object =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    (object, said.code)
}

fn finding<'a>(report: &'a Value, name: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    let mut named = findings.iter().filter(|finding| finding["name"] == name);
    named
        .next()
        .unwrap_or_else(|| panic!("no {name}: {report}"))
}

#[test]
fn the_exit_code_is_whether_everything_is_enforced() {
    let house = House::new();
    let (report, code) = doctor(&house);
    let guarantees = report["guarantees"].as_array().unwrap();
    assert!(guarantees.len() >= 8, "{report}");
    let all = guarantees.iter().all(|one| one["level"] == "enforced");
    assert_eq!(
        (code == 0, report["full"].as_bool()),
        (all, Some(all)),
        "{report}"
    );
    // What it says is what a run finds.
    let ran = house.say(["run", "--", "true"]);
    assert_eq!(ran.code == 0, all, "{ran:?}");
}

#[test]
fn every_gap_has_a_cost_and_every_part_is_looked_at() {
    let house = House::new();
    let (report, _) = doctor(&house);
    for finding in report["findings"].as_array().unwrap() {
        assert_eq!(
            finding["state"] == "gap",
            finding["cost"].is_string(),
            "{finding}"
        );
    }
    let mut names = vec!["helper", "git", "config", "state"];
    if cfg!(target_os = "linux") {
        names.extend(["kernel", "landlock", "seccomp", "namespaces", "cgroups"]);
    }
    for name in names {
        let says = finding(&report, name)["says"].as_str().unwrap();
        assert!(!says.is_empty(), "{name}");
    }
}

#[test]
fn it_works_where_no_project_can_be() {
    let house = House::new();
    let output = house
        .palisade()
        .arg("doctor")
        .current_dir(house.home())
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("yes: ") || text.starts_with("no: "),
        "{text}"
    );
    assert!(
        text.trim_end()
            .lines()
            .last()
            .unwrap()
            .starts_with("next: "),
        "{text}"
    );
}

#[test]
fn a_state_directory_that_others_can_write_is_a_gap() {
    let house = House::new();
    let state = house.home().join(".local/state/palisade");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let (report, _) = doctor(&house);
    let found = finding(&report, "state");
    let remedy = format!("chmod go-w {}", fs::canonicalize(&state).unwrap().display());
    assert_eq!(
        (&found["state"], &found["remedy"]),
        (&"gap".into(), &remedy.into()),
        "{found}"
    );
}

#[test]
fn the_remedy_for_git_mends_it() {
    let house = House::new();
    let (before, _) = doctor(&house);
    if finding(&before, "git")["state"] == "gap" {
        eprintln!("skipped: there is no git of the system's");
        return;
    }
    let found = finding(&before, "git-bare");
    if found["state"] == "fine" {
        eprintln!("skipped: the system sets safe.bareRepository already");
        return;
    }
    let remedy = found["remedy"].as_str().unwrap();
    let words: Vec<&str> = remedy.split(' ').skip(1).collect();
    house.git(words);
    let (after, _) = doctor(&house);
    assert_eq!(finding(&after, "git-bare")["state"], "fine", "{after}");
}

#[test]
fn setup_is_not_for_those_inside() {
    let house = House::new();
    let said = house
        .palisade()
        .args(["setup", "--apply"])
        .env("PALISADE_SANDBOX", "linux-landlock")
        .output()
        .unwrap();
    assert_snapshot!(redacted(&house, &crate::support::Said::of(said)));
}

#[test]
fn setup_writes_nothing_unless_it_is_told_to() {
    let house = House::new();
    let there = || fs::read("/etc/apparmor.d/palisade").ok();
    let before = there();
    let said = house.say(["setup"]);
    assert_eq!(there(), before);
    // Nothing to do, the profile, or why there is none for this program.
    assert!(matches!(said.code, 0 | 126), "{said:?}");
    let profile = said.out.contains("userns,") && said.out.contains("/etc/apparmor.d/palisade");
    let nothing = said.out.starts_with("nothing to do");
    assert!(profile || nothing || said.code == 126, "{said:?}");
}
