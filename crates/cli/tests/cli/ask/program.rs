//! `--approval-command`: a program that answers.

use super::house;
use crate::support::{House, Said};

/// A program that answers, outside of the project.
fn program(house: &House, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    house.write("bin/answer", &format!("#!/bin/sh\n{script}\n"));
    let path = house.home().join("bin/answer");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn ask(house: &House, program: &str) -> Said {
    house.say([
        "run",
        "--approval-command",
        program,
        "--approval-timeout",
        "20s",
        "--",
        "touch",
        "made",
    ])
}

fn made(house: &House) -> bool {
    house.project().join("made").exists()
}

#[test]
fn it_reads_the_question_and_its_yes_runs_the_command() {
    let house = house();
    let answer = program(
        &house,
        "cat > ~/question; echo '{\"decision\":\"approved\"}'",
    );
    let said = ask(&house, &answer);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(made(&house));
    let question = std::fs::read_to_string(house.home().join("question")).unwrap();
    assert_eq!(question.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&question).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    insta::assert_snapshot!(pretty.replace(house.home().to_str().unwrap(), "HOME"));
}

#[test]
fn always_is_kept_and_asked_no_more() {
    let house = house();
    let answer = program(
        &house,
        "cat > /dev/null; echo '{\"decision\":\"approved-always\"}'",
    );
    assert_eq!(ask(&house, &answer).code, 0);
    let said = house.say(["run", "--", "touch", "made"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_no_carries_its_note() {
    let house = house();
    let answer = program(
        &house,
        "echo '{\"decision\":\"denied\",\"note\":\"ask me tomorrow\"}'",
    );
    let said = ask(&house, &answer);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("ask me tomorrow"), "{said:?}");
    assert!(!made(&house));
}

#[test]
fn every_failure_is_a_no() {
    let yes = "echo '{\"decision\":\"approved\"}'";
    for script in [
        "exit 0".to_owned(),
        "echo yes".to_owned(),
        "echo '{\"decision\":\"approved\"'".to_owned(),
        format!("{yes}; {yes}"),
        format!("{yes}; exit 1"),
        format!("{yes}; kill -9 $$"),
        "echo '{\"decision\":\"approved-with-everything\"}'".to_owned(),
        "head -c 100000 /dev/zero".to_owned(),
        format!("{yes} >&2"),
    ] {
        let house = house();
        let answer = program(&house, &script);
        let said = ask(&house, &answer);
        assert_eq!(said.code, 126, "{script}: {said:?}");
        assert!(
            said.err.contains("nobody could be asked"),
            "{script}: {said:?}"
        );
        assert!(!made(&house), "{script}");
    }
}

#[test]
fn one_that_does_not_answer_in_time_is_ended_and_is_a_no() {
    let house = house();
    let answer = program(&house, "echo $$ > ~/pid; exec sleep 1000");
    let said = house.say([
        "run",
        "--approval-command",
        &answer,
        "--approval-timeout",
        "1s",
        "--",
        "touch",
        "made",
    ]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("no answer in time"), "{said:?}");
    assert!(!made(&house));
    let pid = std::fs::read_to_string(house.home().join("pid")).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn one_that_is_not_there_is_refused_before_anything_is_asked() {
    let house = house();
    let said = ask(&house, "/nonexistent/answer");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("no such program"), "{said:?}");
}

#[test]
fn one_that_the_command_could_write_is_refused() {
    let house = house();
    let outside = program(&house, "echo '{\"decision\":\"approved\"}'");
    let inside = house.project().join("answer");
    std::fs::copy(&outside, &inside).unwrap();
    let said = ask(&house, inside.to_str().unwrap());
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("could answer for itself"), "{said:?}");
    assert!(!made(&house));
    // So is one that lies in what a flag opens.
    let bin = house.home().join("bin");
    let said = house.say([
        "run",
        "-w",
        bin.to_str().unwrap(),
        "--approval-command",
        &outside,
        "--",
        "touch",
        "made",
    ]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(!made(&house));
}

#[test]
fn it_does_not_run_in_the_sandbox() {
    let house = house();
    let answer = program(
        &house,
        "echo kept > ~/outside; echo '{\"decision\":\"approved\"}'",
    );
    assert_eq!(ask(&house, &answer).code, 0);
    assert!(house.home().join("outside").exists());
}

#[test]
fn a_tool_of_the_project_in_the_search_path_does_not_answer_for_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = house();
    let executable = |file: &str, text: &str| {
        house.write(file, text);
        let path = house.home().join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let yes = "#!/bin/sh\ncat > /dev/null; touch ~/escaped; echo '{\"decision\":\"approved\"}'\n";
    executable("project/tools/interpreter", yes);
    let answer = executable("bin/answer", "#!/usr/bin/env interpreter\n");
    let tools = house.project().join("tools");
    for first in [tools.to_str().unwrap(), "tools", ""] {
        let said = Said::of(
            house
                .palisade()
                .env("PATH", format!("{first}:/usr/local/bin:/usr/bin:/bin"))
                .args(["run", "--approval-command", answer.to_str().unwrap()])
                .args(["--", "touch", "made"])
                .output()
                .unwrap(),
        );
        assert_eq!(said.code, 126, "{first}: {said:?}");
        assert!(!made(&house) && !house.home().join("escaped").exists());
    }
    // One that no command can write is found there.
    executable(
        "bin/interpreter",
        "#!/bin/sh\ncat > /dev/null; echo '{\"decision\":\"approved\"}'\n",
    );
    let bin = house.home().join("bin");
    let said = Said::of(
        house
            .palisade()
            .env(
                "PATH",
                format!("{}:{}:/usr/bin:/bin", tools.display(), bin.display()),
            )
            .args(["run", "--approval-command", answer.to_str().unwrap()])
            .args(["--", "touch", "made"])
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!house.home().join("escaped").exists());
}

#[test]
fn a_time_that_no_clock_can_count_is_refused() {
    let house = house();
    let answer = program(&house, "cat > /dev/null");
    for time in ["18446744073709551615s", "31d", "0s"] {
        let said = house.say([
            "run",
            "--approval-command",
            &answer,
            "--approval-timeout",
            time,
            "--",
            "touch",
            "made",
        ]);
        assert_eq!(said.code, 2, "{time}: {said:?}");
        assert!(!said.err.contains("panicked"), "{said:?}");
    }
}
