//! `palisade sh` and `palisade-sh`, wherever a shell is expected.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{House, Said};
use crate::told::plain;

/// A link that stands in for a shell.
fn shell(house: &House) -> PathBuf {
    let link = house.home().join("palisade-sh");
    if !link.exists() {
        let program = house.palisade().get_program().to_owned();
        std::os::unix::fs::symlink(program, &link).unwrap();
    }
    link
}

fn said(command: &mut Command) -> Said {
    Said::of(command.output().unwrap())
}

fn there(house: &House, program: &str) -> bool {
    let found = said(
        house
            .command("sh")
            .args(["-c", &format!("command -v {program}")]),
    );
    if found.code != 0 {
        eprintln!("skipped: there is no {program}");
    }
    found.code == 0
}

#[test]
fn positional_parameters_arrive_byte_for_byte() {
    let house = House::new();
    let odd = OsString::from_vec(b"\xff '\"\n*".to_vec());
    let output = house
        .command(shell(&house))
        .args(["-c", "printf '%s\\0' \"$0\" \"$@\"", "name", "--", "-c", ""])
        .arg(&odd)
        .args(["--quiet", "-w"])
        .output()
        .unwrap();
    let expected = b"name\0--\0-c\0\0\xff '\"\n*\0--quiet\0-w\0";
    assert_eq!(output.stdout, expected, "{output:?}");
}

#[test]
fn options_that_callers_pass_mean_what_they_mean_to_a_shell() {
    let house = House::new();
    let rows: &[(&[&str], i32, &str)] = &[
        (&["-c", "exit 7"], 7, ""),
        (&["-ec", "false; echo no"], 1, ""),
        (&["-e", "-c", "false; echo no"], 1, ""),
        (&["-lc", "echo hi"], 0, "hi\n"),
        (&["-uc", "echo $none_such"], 127, ""),
        (&["-euo", "pipefail", "-c", "false | true; echo no"], 1, ""),
        (&["-c", "--", "echo dashes"], 0, "dashes\n"),
        (&["-c", "nosuch-program"], 127, ""),
        (&["echo one && echo string"], 0, "one\nstring\n"),
    ];
    for (arguments, code, out) in rows {
        let as_link = said(house.command(shell(&house)).args(*arguments));
        assert_eq!(
            (as_link.code, as_link.out.as_str()),
            (*code, *out),
            "{arguments:?}: {as_link:?}"
        );
        let as_command = said(house.palisade().arg("sh").args(*arguments));
        assert_eq!(
            (as_command.code, as_command.out),
            (as_link.code, as_link.out),
            "{arguments:?}"
        );
    }
}

#[test]
fn options_of_ours_come_before_those_of_the_shell() {
    let house = House::new();
    house.write("shared/there", "");
    let run = said(
        house
            .palisade()
            .args(["sh", "-w", "../shared", "-c", "echo x > ../shared/x"]),
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert!(house.home().join("shared/x").exists());
}

#[test]
fn whoever_calls_the_link_as_a_shell_cannot_loosen_the_sandbox() {
    let house = House::new();
    house.write("shared/there", "");
    let script = "echo x > ../shared/x";
    for options in [&["--mode=open"][..], &["-w", "../shared"], &["--net"]] {
        let run = said(
            house
                .command(shell(&house))
                .args(options)
                .args(["-c", script]),
        );
        assert_ne!(run.code, 0, "{options:?}: {run:?}");
        assert!(!house.home().join("shared/x").exists(), "{options:?}");
    }
    if there(&house, "make") {
        house.write(
            "project/Makefile",
            ".SHELLFLAGS = --mode=open -c\nall:\n\techo x > ../shared/x\n",
        );
        let link = shell(&house);
        let run = said(
            house
                .command("make")
                .arg(format!("SHELL={}", link.display())),
        );
        assert_ne!(run.code, 0, "{run:?}");
        assert!(!house.home().join("shared/x").exists(), "{run:?}");
    }
    // What is said afterwards leads to the command that takes them.
    let run = said(house.command(shell(&house)).args(["-c", script]));
    assert!(run.err.contains("palisade sh -w "), "{run:?}");
}

#[test]
fn a_file_is_judged_by_its_text_and_knows_its_name() {
    let house = House::new();
    house.write("project/build.sh", "#!/bin/sh\necho \"$0: $*\"; exit 4\n");
    let run = said(house.palisade().args(["sh", "./build.sh", "a b", "-c"]));
    assert_eq!(
        (run.code, run.out.as_str()),
        (4, "./build.sh: a b -c\n"),
        "{run:?}"
    );
    house.write("project/evil.sh", "echo first\nrm -rf /\n");
    let run = said(house.palisade().args(["sh", "./evil.sh"]));
    assert_eq!((run.code, run.out.as_str()), (126, ""), "{run:?}");
    assert!(run.err.contains("refused"), "{run:?}");
}

#[test]
fn nothing_is_read_for_a_command_that_it_could_not_read_itself() {
    let house = House::new();
    house.write(".ssh/id_ed25519", "hidden-words\n");
    std::os::unix::fs::symlink("../.ssh/id_ed25519", house.project().join("link.sh")).unwrap();
    for file in ["../.ssh/id_ed25519", "./link.sh"] {
        let run = said(house.palisade().args(["sh", file]));
        assert_eq!(run.code, 126, "{run:?}");
        assert!(!run.err.contains("hidden-words"), "{run:?}");
        assert!(run.err.contains("is a secret"), "{run:?}");
    }
}

#[test]
fn nobody_types_into_it() {
    let house = House::new();
    let mut text = String::new();
    for arguments in [&[][..], &["-s"], &["-i"], &["-c"], &["--", "./nosuch.sh"]] {
        let run = said(house.command(shell(&house)).args(arguments));
        text.push_str(&format!("{arguments:?} -> {}\n{}", run.code, run.err));
    }
    house.write("project/tool.sh", "#!/usr/bin/env python3\n");
    let run = said(house.palisade().args(["sh", "./tool.sh"]));
    text.push_str(&format!(
        "a script of another program -> {}\n{}",
        run.code, run.err
    ));
    house.write("project/long.sh", &"echo\n".repeat(40_000));
    let run = said(house.palisade().args(["sh", "./long.sh"]));
    text.push_str(&format!("too long -> {}\n{}", run.code, run.err));
    insta::assert_snapshot!(plain(&house, &text));
}

#[test]
fn make_runs_its_lines_in_it() {
    let house = House::new();
    if !there(&house, "make") {
        return;
    }
    let makefile = "all:\n\t@echo \"in $$PALISADE_SANDBOX\"; touch made\n\t-@touch ../outside\nbad:\n\t@exit 3\n";
    house.write("project/Makefile", makefile);
    let set = format!("SHELL={}", shell(&house).display());
    let run = said(house.command("make").args([&set, "all"]));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.out.contains("in landlock") || !cfg!(target_os = "linux"),
        "{run:?}"
    );
    assert!(house.project().join("made").exists());
    assert!(!house.home().join("outside").exists());
    let run = said(house.command("make").args([&set, "bad"]));
    assert!(run.err.contains("Error 3"), "{run:?}");
}

#[test]
fn npm_runs_its_scripts_in_it() {
    let house = House::new();
    if !there(&house, "npm") {
        return;
    }
    house.write(
        "project/package.json",
        r#"{"scripts":{"show":"echo in $PALISADE_SANDBOX with","bad":"exit 3"}}"#,
    );
    let npm = |arguments: &[&str]| {
        let mut command = house.command("npm");
        command
            .arg("--update-notifier=false")
            .arg(format!("--script-shell={}", shell(&house).display()))
            .args(["run", "--silent"])
            .args(arguments);
        said(&mut command)
    };
    let run = npm(&["show", "--", "it's given"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (0, "in landlock with it's given\n"),
        "{run:?}"
    );
    assert_eq!(npm(&["bad"]).code, 3);
}
