//! Sandboxes that may write more than a project.

use std::fs;

use super::{
    attack, house, nothing_changed, nothing_in_changed, nothing_in_is_mine, nothing_is_mine,
    places, ran, text, unavailable, usual, whole_homes,
};
use crate::support::House;

#[test]
fn in_an_ordinary_sandbox_nothing_changes() {
    let house = house();
    if unavailable(&house) {
        return;
    }
    let said = attack(&house, &[], &usual(&house));
    assert!(ran(&house), "{said:?}");
    nothing_changed(&house, &said);
}

#[test]
fn with_the_whole_home_writable_the_rest_of_it_is_but_not_what_decides() {
    for which in [0, 1] {
        let house = house();
        if unavailable(&house) {
            return;
        }
        let home = text(house.home());
        let (flag, workspace) = &whole_homes(&house)[which];
        let targets = places(&house, workspace);
        let said = attack(&house, &[flag, home, "--allow-home-root"], &targets);
        assert!(ran(&house), "{flag}: {said:?}");
        nothing_in_changed(&house, workspace, &said);
        let said = house.say([
            "--quiet",
            "run",
            *flag,
            home,
            "--allow-home-root",
            "--",
            "touch",
            "../fine",
        ]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(house.home().join("fine").exists());
    }
}

#[test]
fn what_is_not_there_yet_cannot_be_made() {
    for which in [0, 1] {
        let house = House::new();
        if unavailable(&house) {
            return;
        }
        let home = text(house.home());
        let (flag, workspace) = &whole_homes(&house)[which];
        let targets = places(&house, workspace);
        let said = attack(&house, &[flag, home, "--allow-home-root"], &targets);
        assert!(ran(&house), "{flag}: {said:?}");
        nothing_in_is_mine(&house, workspace, &said);
        assert!(!house.home().join(".config/palisade/policy.toml").exists());
    }
}

#[test]
fn a_grant_to_what_holds_it_does_not_open_it() {
    for open in [".config", ".local", ".local/state"] {
        let house = house();
        if unavailable(&house) {
            return;
        }
        let grant = format!("write:{}", text(&house.home().join(open)));
        let said = attack(&house, &["--grant", &grant], &usual(&house));
        assert!(ran(&house), "{open}: {said:?}");
        nothing_changed(&house, &said);
    }
    // Where what decides is not there yet.
    let house = House::new();
    fs::create_dir(house.home().join(".config")).unwrap();
    let grant = format!("write:{}", text(&house.home().join(".config")));
    let said = attack(&house, &["--grant", &grant], &usual(&house));
    assert!(ran(&house), "{said:?}");
    nothing_is_mine(&house, &said);
}

#[test]
fn what_decides_is_opened_by_no_flag() {
    for open in [
        ".config/palisade",
        ".config/palisade/policy.toml",
        ".local/state/palisade",
        ".local/state/palisade/approvals.toml",
        "project/.palisade",
        "project/.palisade/policy.toml",
    ] {
        let house = house();
        let path = house.home().join(open);
        let grant = format!("write:{}", text(&path));
        for flags in [["-w", text(&path)], ["--grant", &grant]] {
            let said = attack(&house, &flags, &usual(&house));
            assert!(
                [2, 125, 126].contains(&said.code),
                "{flags:?} is refused before anything runs: {said:?}"
            );
            assert!(!ran(&house), "{flags:?}: {said:?}");
            let names = ["must be out of reach", "decides about commands"];
            assert!(names.iter().any(|name| said.err.contains(name)), "{said:?}");
            nothing_changed(&house, &said);
        }
    }
}

#[test]
fn a_policy_that_a_flag_names_is_out_of_reach_or_refused() {
    let house = house();
    house.write("project/own.toml", "version = 1\n");
    house.write("elsewhere/own.toml", "version = 1\n");
    let elsewhere = house.home().join("elsewhere");
    let file = elsewhere.join("own.toml");
    for flags in [
        vec!["--policy", "own.toml"],
        vec!["--policy", text(&file), "-w", text(&elsewhere)],
    ] {
        let said = attack(&house, &flags, &[]);
        assert!(!ran(&house), "{flags:?}: {said:?}");
        assert!(said.err.contains("out of reach"), "{said:?}");
    }
}

#[test]
fn a_list_of_protected_names_without_ours_protects_ours_all_the_same() {
    let house = house();
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\n[filesystem]\nprotected = [\".secret\"]\n",
    );
    if unavailable(&house) {
        return;
    }
    let said = attack(
        &house,
        &[],
        &[(house.project().join(".palisade"), "policy.toml")],
    );
    assert!(ran(&house), "{said:?}");
    nothing_is_mine(&house, &said);
}

#[test]
fn the_program_itself_cannot_be_replaced_where_home_is_writable() {
    let house = house();
    if unavailable(&house) {
        return;
    }
    let installed = house.home().join(".cargo/bin/palisade");
    fs::create_dir_all(installed.parent().unwrap()).unwrap();
    let program = house.palisade().get_program().to_owned();
    fs::copy(program, &installed).unwrap();
    let before = fs::metadata(&installed).unwrap().len();
    house.write(
        "project/attack.sh",
        "b=$HOME/.cargo/bin; echo x > $b/palisade; rm -f $b/palisade; echo x > $b/new; mv -f $b/new $b/palisade
         mv $b $b.moved; mkdir -p $b; echo x > $b/palisade; mv $HOME/.cargo $HOME/.c; mkdir -p $b; echo x > $b/palisade
         touch ran\n",
    );
    for flag in ["-w", "--workspace"] {
        let mut palisade = house.command(&installed);
        palisade
            .args([
                "--quiet",
                "run",
                flag,
                text(house.home()),
                "--allow-home-root",
            ])
            .args(["--", "sh", "attack.sh"]);
        let output = palisade.output().unwrap();
        let after = fs::metadata(&installed).unwrap();
        assert_eq!((after.len(), after.is_file()), (before, true), "{output:?}");
        fs::remove_file(house.project().join("ran")).expect("the attack ran");
    }
}
