//! Links, and variables that lead elsewhere.

use std::fs;
use std::os::unix::fs::symlink;

use super::{
    MINE, attack, house, keep, places, ran, text, unavailable, usual, whole_homes, write_attack,
};
use crate::support::{House, Said};

#[test]
fn a_configuration_that_is_a_link_is_guarded_where_it_leads() {
    for there in [true, false] {
        let house = House::new();
        if unavailable(&house) {
            return;
        }
        let dots = house.home().join("dots");
        fs::create_dir_all(dots.join("config")).unwrap();
        if there {
            house.write("dots/config/palisade/policy.toml", "version = 1\n");
        }
        symlink("dots/config", house.home().join(".config")).unwrap();
        let target = [(dots.join("config/palisade"), "policy.toml")];
        let said = attack(&house, &["-w", text(&dots)], &target);
        assert!(ran(&house), "{said:?}");
        let decides = house.home().join(".config/palisade/policy.toml");
        let decides = fs::read_to_string(decides).unwrap_or_default();
        assert!(!decides.contains("mine"), "{said:?}");
    }
}

#[test]
fn a_link_that_leads_nowhere_yet_is_guarded_there() {
    let house = House::new();
    if unavailable(&house) {
        return;
    }
    let dots = house.home().join("dots");
    fs::create_dir(&dots).unwrap();
    symlink("dots/config", house.home().join(".config")).unwrap();
    let target = [(dots.join("config/palisade"), "policy.toml")];
    let said = attack(&house, &["-w", text(&dots)], &target);
    let decides = house.home().join(".config/palisade/policy.toml");
    assert!(!decides.exists(), "{said:?}");
}

#[test]
fn a_policy_file_that_is_a_link_into_reach_is_refused() {
    let house = House::new();
    house.write("dots/own.toml", "version = 1\n");
    fs::create_dir_all(house.home().join(".config/palisade")).unwrap();
    let link = house.home().join(".config/palisade/policy.toml");
    symlink("../../dots/own.toml", link).unwrap();
    let dots = house.home().join("dots");
    let said = attack(&house, &["-w", text(&dots)], &[]);
    assert!(!ran(&house), "{said:?}");
    assert!(said.err.contains("out of reach"), "{said:?}");
    // Where it leads out of reach, it is as good as any.
    if !unavailable(&house) {
        let said = attack(&house, &[], &[(dots.clone(), "own.toml")]);
        assert!(ran(&house), "{said:?}");
        let text = fs::read_to_string(dots.join("own.toml")).unwrap();
        assert_eq!(text, "version = 1\n");
    }
}

#[test]
fn a_policy_file_with_a_second_name_is_refused() {
    let house = House::new();
    house.write(".config/palisade/policy.toml", "version = 1\n");
    let file = house.home().join(".config/palisade/policy.toml");
    fs::hard_link(&file, house.project().join("second")).unwrap();
    house.write("project/attack.sh", "echo mine >> second; touch ran\n");
    let said = house.say(["run", "--", "sh", "attack.sh"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("hard links"), "{said:?}");
    assert!(!ran(&house));
    // So are kept approvals.
    let house = House::new();
    keep(
        &house,
        ".local/state/palisade/approvals.toml",
        "version = 1\n",
    );
    let file = house.home().join(".local/state/palisade/approvals.toml");
    fs::hard_link(&file, house.project().join("second")).unwrap();
    let said = house.say(["run", "--", "touch", "ran"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.err.contains("hard links") && !ran(&house), "{said:?}");
}

#[test]
fn variables_that_lead_elsewhere_leave_the_usual_places_guarded() {
    let house = house();
    if unavailable(&house) {
        return;
    }
    let elsewhere = house.home().join("elsewhere");
    for (flag, workspace) in whole_homes(&house) {
        let mut targets = places(&house, &workspace);
        targets.push((elsewhere.join("config/palisade"), "policy.toml"));
        targets.push((elsewhere.join("state/palisade"), "approvals.toml"));
        write_attack(&house, &targets);
        let mut palisade = house.palisade();
        palisade
            .env("XDG_CONFIG_HOME", elsewhere.join("config"))
            .env("XDG_STATE_HOME", elsewhere.join("state"))
            .args(["--quiet", "run", flag, text(house.home())])
            .args(["--allow-home-root", "--", "sh", "attack.sh"]);
        let said = Said::of(palisade.output().unwrap());
        fs::remove_file(house.project().join("ran")).expect("the attack ran");
        for (directory, file) in &targets {
            let there = fs::read_to_string(directory.join(file)).unwrap_or_default();
            assert_ne!(there, MINE, "{}: {said:?}", directory.display());
        }
    }
}

#[test]
fn variables_that_lead_into_the_project_give_it_nothing() {
    let house = House::new();
    if unavailable(&house) {
        return;
    }
    let (config, state) = (
        house.project().join("config"),
        house.project().join("state"),
    );
    write_attack(
        &house,
        &[
            (config.join("palisade"), "policy.toml"),
            (state.join("palisade"), "approvals.toml"),
        ],
    );
    let mut palisade = house.palisade();
    palisade
        .env("XDG_CONFIG_HOME", &config)
        .env("XDG_STATE_HOME", &state)
        .args(["--quiet", "run", "--", "sh", "attack.sh"]);
    let said = Said::of(palisade.output().unwrap());
    assert!(ran(&house), "{said:?}");
    assert!(!config.join("palisade/policy.toml").exists(), "{said:?}");
    assert!(!state.join("palisade/approvals.toml").exists(), "{said:?}");
}

#[test]
fn a_link_to_the_configuration_that_commands_could_replace_is_refused() {
    for (link, target) in [
        (".config", "config"),
        (".local", "local"),
        (".local/state", "state"),
    ] {
        let house = House::new();
        let outside = House::new();
        fs::create_dir(outside.home().join(target)).unwrap();
        let at = house.home().join(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(outside.home().join(target), &at).unwrap();
        let said = attack(
            &house,
            &["-w", text(house.home()), "--allow-home-root"],
            &usual(&house),
        );
        assert!(!ran(&house), "{link}: {said:?}");
        assert!(said.err.contains("decides about commands"), "{said:?}");
        assert!(at.is_symlink(), "{link}: {said:?}");
    }
}

#[test]
fn a_link_in_the_middle_of_the_way_is_as_good_as_the_file() {
    let house = House::new();
    house.write("safe/own.toml", "version = 1\n");
    fs::create_dir_all(house.home().join(".config/palisade")).unwrap();
    fs::create_dir(house.home().join("dots")).unwrap();
    let home = house.home();
    symlink("../safe/own.toml", home.join("dots/middle.toml")).unwrap();
    symlink(
        "../../dots/middle.toml",
        home.join(".config/palisade/policy.toml"),
    )
    .unwrap();
    let said = attack(&house, &["-w", text(&home.join("dots"))], &[]);
    assert!(!ran(&house), "{said:?}");
    assert!(said.err.contains("out of reach"), "{said:?}");
}
