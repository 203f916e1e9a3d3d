//! Bad input: one screen each, and the documented exit code. Nothing runs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::{plain, typed};
use crate::support::{House, Said};

/// The most lines that fit a screen, with room for the prompt.
const SCREEN: usize = 22;

fn told(house: &House, said: &Said) -> String {
    assert_eq!(said.out, "", "{said:?}");
    assert!(said.err.lines().count() <= SCREEN, "{}", said.err);
    assert!(!said.err.contains('\u{1b}'), "{said:?}");
    format!("exit code {}\n{}", said.code, plain(house, &said.err))
}

#[test]
fn words_that_make_no_sense() {
    let house = House::new();
    let rows: &[(&str, &[&str])] = &[
        ("unknown_flag", &["run", "--nonsense", "--", "true"]),
        ("unknown_command", &["rum", "--", "true"]),
        ("no_command", &["run", "--"]),
        ("empty_program", &["run", "--", ""]),
        (
            "unknown_guarantee",
            &["run", "--accept-loss", "everything", "--", "true"],
        ),
        (
            "unknown_grant",
            &["run", "--grant", "nonsense:/x", "--", "true"],
        ),
        ("bad_time", &["run", "--timeout", "soon", "--", "true"]),
        ("bad_size", &["run", "--memory", "much", "--", "true"]),
        ("bad_host", &["run", "--net=a b", "--", "true"]),
        (
            "no_such_workspace",
            &["run", "--workspace", "nosuch", "--", "true"],
        ),
        (
            "home_as_workspace",
            &["run", "--workspace", "..", "--", "true"],
        ),
        ("home_to_write", &["run", "-w", "..", "--", "true"]),
        ("no_such_program", &["run", "--", "nosuch-program"]),
        (
            "no_policy_file",
            &["run", "--policy", "nosuch.toml", "--", "true"],
        ),
    ];
    for (name, words) in rows {
        let said = house.say(*words);
        assert_ne!(said.code, 0, "{name}");
        insta::assert_snapshot!(*name, told(&house, &said));
    }
}

#[test]
fn a_policy_that_is_malformed_says_line_and_column() {
    let house = House::new();
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\n[filesystem]\nwrite = [\".\",\n",
    );
    insta::assert_snapshot!(
        "malformed_policy",
        told(&house, &house.say(["run", "--", "true"]))
    );
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\n[filesystem]\nwrit = [\".\"]\n",
    );
    insta::assert_snapshot!(
        "misspelt_policy",
        told(&house, &house.say(["run", "--", "true"]))
    );
}

#[test]
fn a_policy_that_others_can_write_is_not_used() {
    let house = House::new();
    house.write(".config/palisade/policy.toml", "version = 1\n");
    let file = house.home().join(".config/palisade/policy.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    insta::assert_snapshot!(
        "writable_policy",
        told(&house, &house.say(["run", "--", "true"]))
    );
}

#[test]
fn a_program_that_cannot_be_executed() {
    let house = House::new();
    house.write("project/plain", "no program\n");
    let said = house.say(["run", "--", "./plain"]);
    assert_eq!(said.code, 126, "{said:?}");
    insta::assert_snapshot!("not_executable", told(&house, &said));
}

#[test]
fn arguments_that_are_no_text_arrive_as_they_are() {
    let house = House::new();
    let odd = OsString::from_vec(b"\xff\xfe\x80 x".to_vec());
    let output = house
        .palisade()
        .args(["run", "--", "printf", "%s"])
        .arg(&odd)
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"\xff\xfe\x80 x", "{output:?}");
    // And in a line to type.
    house.write("shared/there", "");
    let output = house
        .palisade()
        .args(["run", "--", "sh", "-c", "touch ../shared/x", "name"])
        .arg(&odd)
        .output()
        .unwrap();
    let said = Said::of(output);
    assert!(said.err.contains(r"$'\377\376\200 x'"), "{said:?}");
}

#[test]
fn a_directory_that_is_gone() {
    let house = House::new();
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let line = format!("mkdir gone && cd gone && rmdir ../gone && {program} run -- true");
    let said = typed(&house, &line);
    insta::assert_snapshot!("deleted_cwd", told(&house, &said));
}

#[test]
fn help_is_short_and_has_examples() {
    let house = House::new();
    for (name, words, most) in [
        ("help", &["-h"][..], 40),
        ("run_help", &["run", "-h"], 42),
        ("sh_help", &["sh", "-h"], 42),
    ] {
        let said = house.say(words);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.lines().count() <= most, "{}", said.out);
        assert!(said.out.contains("Examples:"), "{}", said.out);
        insta::assert_snapshot!(name, said.out);
    }
}

#[test]
fn short_help_fits_on_a_small_screen() {
    let house = House::new();
    for command in ["run", "sh", "check", "explain", "verify"] {
        let said = house.say([command, "-h"]);
        assert_eq!(said.code, 0, "{said:?}");
        let widest = said.out.lines().map(|line| line.chars().count()).max();
        // The line of the prompt is the 24th.
        assert!(
            said.out.lines().count() <= 23 && widest <= Some(80),
            "{command}: {widest:?}\n{}",
            said.out
        );
        // The long one has every option.
        let long = house.say([command, "--help"]);
        assert!(long.out.contains("--accept-loss"), "{}", long.out);
    }
}

#[test]
fn paths_of_flags_may_lead_up() {
    let house = House::new();
    house.write("notes", "mine\n");
    house.write("shared/there", "");
    house.write(".netrc", "hidden words\n");
    std::fs::create_dir(house.project().join("src")).unwrap();
    let script = [
        "run",
        "--grant",
        "read:src/../../.netrc",
        "-c",
        "cat ../.net?c",
    ];
    let said = house.say(script);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "hidden words\n"),
        "{said:?}"
    );
    for flags in [["-w", "src/../../shared"], ["--grant", "write:../shared"]] {
        let said = house.say(
            ["run"]
                .iter()
                .chain(&flags)
                .chain(&["--", "touch", "../shared/x"]),
        );
        assert_eq!(said.code, 0, "{flags:?}: {said:?}");
        std::fs::remove_file(house.home().join("shared/x")).unwrap();
    }
    let said = house.say([
        "run",
        "--deny-read",
        "src/../../notes",
        "-c",
        "cat ../notes",
    ]);
    assert!(said.code != 0 && said.out.is_empty(), "{said:?}");
    let said = house.say(["run", "--workspace", "src/..", "--", "touch", "made"]);
    assert_eq!(said.code, 0, "{said:?}");
    // Where it leads cannot be told, and is not guessed.
    for flags in [["-w", "gone/../../shared"], ["--grant", "read:gone/../x"]] {
        let said = house.say(["run"].iter().chain(&flags).chain(&["--", "true"]));
        assert_eq!(said.code, 2, "{said:?}");
        assert!(
            said.err.contains("where `..` leads cannot be told"),
            "{said:?}"
        );
    }
}

/// A name that renames the window, begins a line of its own and turns the rest around.
const NASTY: &str = "n\u{1b}]0;x\u{7}\n  help: sudo x\u{202e}v";

#[test]
fn names_that_others_chose_neither_move_the_cursor_nor_begin_a_line() {
    let house = House::new();
    let project = house.home().join(NASTY);
    std::fs::create_dir_all(project.join("sub")).unwrap();
    std::fs::write(project.join("script"), "#!/usr/bin/\u{1b}]0;x\u{7}py\n").unwrap();
    let policies = [
        "version = 1\n",
        "version = 1\nnonsense = 1\n",
        "version = 1\nnonsense = \u{1b}\n",
        "version = 1\n[[rule]]\nid = \"theirs\"\nprefix = [\"true\"]\ndecision = \"forbid\"\n\
         why = \"\\u001b]0;x\\u0007\\n  help: sudo x\\u202e\"\n\
         [filesystem]\nwrite = [\"/opt/\\u001b]0;x\\n  help: sudo x\\u202e\"]\n",
    ];
    let missing = format!("/nonexistent/{NASTY}");
    let here = format!("./{NASTY}");
    let lines: &[&[&str]] = &[
        &["run", "--", "true"],
        &["run", "--", "true", NASTY],
        &["run", "--", &here],
        &["run", "--workspace", &missing, "--", "true"],
        &["run", "--policy", &missing, "--", "true"],
        &["run", "--events", &missing, "--", "true"],
        &["run", "--grant", NASTY, "--", "true"],
        &["run", "--approval-command", &here, "--", "true"],
        &["run", "--approval-socket", &here, "--", "true"],
        &["sh", "./script"],
        &["check", "--", "true"],
        &["check", "--json", "--", "true"],
        &["explain", "--", "true"],
        &["why", "."],
        &["why", NASTY],
        &["why", "--last"],
        &["policy", "show"],
        &["policy", "test"],
        &["policy", "lint", ".palisade/policy.toml"],
        &["policy", "lint", NASTY],
        &["policy", "fmt", NASTY],
        &["policy", "diff", NASTY, NASTY],
        &["policy", "init"],
        &["trust", "--show"],
        &["trust", NASTY],
        &["audit"],
        &["audit", "--json"],
    ];
    for policy in policies {
        std::fs::create_dir_all(project.join(".palisade")).unwrap();
        std::fs::write(project.join(".palisade/policy.toml"), policy).unwrap();
        for line in lines {
            let mut palisade = house.palisade();
            palisade.current_dir(&project).args(["--color", "always"]);
            let said = Said::of(palisade.args(*line).output().unwrap());
            for text in [&said.out, &said.err] {
                assert!(!text.contains("\u{1b}]"), "{line:?}: {said:?}");
                assert!(!text.contains(['\u{7}', '\u{202e}']), "{line:?}: {said:?}");
                assert!(!text.contains("\n  help: sudo"), "{line:?}: {said:?}");
            }
        }
    }
}

#[test]
fn an_answer_that_is_cut_short_is_no_success() {
    let house = House::new();
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: there is no /dev/full");
        return;
    };
    for line in [
        &["policy", "show"][..],
        &["check", "--", "ls"],
        &["completions", "bash"],
    ] {
        let mut palisade = house.palisade();
        palisade.args(line).stdout(full.try_clone().unwrap());
        let said = Said::of(palisade.output().unwrap());
        assert_eq!(said.code, 125, "{line:?}: {said:?}");
        assert!(said.err.contains("standard output"), "{said:?}");
    }
}
