//! `--events`: every line of every kind of run holds to the schema, and the last says how it ended.
#![expect(
    clippy::indexing_slicing,
    reason = "a value of JSON that is not there is null, and a test may end"
)]

mod schema;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use self::schema::Schema;
use crate::support::{House, Said};

/// Runs with events in a file, and returns them.
fn run<A: AsRef<OsStr>>(
    house: &House,
    arguments: impl IntoIterator<Item = A>,
) -> (Said, Vec<Value>) {
    let file = house.home().join("events.jsonl");
    let _ = std::fs::remove_file(&file);
    let said = Said::of(
        house
            .palisade()
            .args(["run", "--events"])
            .arg(&file)
            .args(arguments)
            .output()
            .unwrap(),
    );
    let text = std::fs::read_to_string(&file).unwrap();
    (said, lines(&text))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks all of them against the schema, and that they are numbered; returns their types.
fn checked(schema: &Schema, events: &[Value]) -> Vec<String> {
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at, "{event}");
        assert_eq!(event["id"], events[0]["id"], "{event}");
    }
    events.iter().map(|event| schema.check(event)).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn every_kind_of_run_is_described_and_its_last_line_says_how_it_ended() {
    let schema = Schema::of_events();
    let house = House::new();
    house.write(
        "answer",
        "#!/bin/sh\ncat > /dev/null; echo '{\"answer\":\"no\"}'\n",
    );
    house.write("project/script.py", "#!/usr/bin/python3\n");
    let mut seen = BTreeSet::new();
    let bad = "--policy ../bad.toml -- true";
    house.write("bad.toml", "version = 1\nnonsense = true\n");
    let rows: &[(&str, &str, i32)] = &[
        ("-- true", "start decision attempt end", 0),
        ("-- false", "start decision attempt end", 1),
        ("-- nosuch", "start decision attempt end", 127),
        (
            "--timeout 1s -- sleep 600",
            "start decision attempt end",
            124,
        ),
        ("-- touch /etc/x", "start decision attempt denied end", 1),
        (
            "--net=host.invalid -- true",
            "start decision attempt end",
            0,
        ),
        ("-- rm -rf /", "start decision refused", 126),
        (
            "-- rm -rf build",
            "start decision question answer refused",
            126,
        ),
        (bad, "failed", 2),
        ("--mode open -- true", "start decision attempt end", 0),
        ("--grant nonsense -- true", "failed", 2),
        ("--workspace .. -- true", "refused", 126),
    ];
    for (arguments, types, code) in rows {
        let (said, events) = run(&house, words(arguments));
        assert_eq!(said.code, *code, "{arguments}: {said:?}");
        let found = checked(&schema, &events);
        assert_eq!(found.join(" "), *types, "{arguments}: {events:?}");
        let last = events.last().unwrap();
        assert_eq!(last["exit_code"], said.code, "{arguments}: {last}");
        seen.extend(found);
    }
    assert_eq!(seen, schema.types());
}

#[test]
fn a_code_of_the_command_is_told_from_one_of_ours() {
    let house = House::new();
    for code in [124, 125, 126, 127, 137] {
        let (said, events) = run(&house, ["--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!(said.code, code);
        let last = events.last().unwrap();
        assert_eq!(
            (&last["outcome"], &last["code"]),
            (&"exited".into(), &code.into())
        );
    }
    let (said, events) = run(&house, ["--", "perl", "-e", "kill 9, $$"]);
    if said.code == 127 {
        eprintln!("skipped: there is no perl");
        return;
    }
    assert_eq!(said.code, 137);
    let last = events.last().unwrap();
    assert_eq!(
        (&last["outcome"], &last["signal"]),
        (&"signaled".into(), &9.into())
    );
}

#[test]
fn the_denial_has_the_line_that_runs_it_again() {
    let house = House::new();
    house.write("shared/there", "");
    let (_, events) = run(&house, ["--", "touch", "../shared/x"]);
    let denied = events
        .iter()
        .find(|event| event["type"] == "denied")
        .unwrap();
    assert_eq!(denied["clause"], "no writable root holds it");
    let line = denied["rerun"].as_str().unwrap();
    let said = Said::of(house.command("bash").args(["-c", line]).output().unwrap());
    assert_eq!(said.code, 0, "{line}: {said:?}");
    assert!(house.home().join("shared/x").exists());
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let house = House::new();
    let word = OsString::from_vec(b"\xff\xfe".to_vec());
    let (said, events) = run(
        &house,
        [
            "--".as_ref(),
            "printf".as_ref(),
            "%s".as_ref(),
            word.as_os_str(),
        ],
    );
    assert_eq!(said.code, 0, "{said:?}");
    Schema::of_events().check(&events[0]);
    assert_eq!(events[0]["argv"][2]["base64"], "//4=");
}

#[test]
fn a_file_is_the_users_alone_is_added_to_and_is_out_of_reach_of_the_command() {
    let house = House::new();
    let file = house.project().join("events.jsonl");
    let first = house.say(["run", "--events", "events.jsonl", "--", "true"]);
    assert_eq!(first.code, 0, "{first:?}");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for script in [
        "echo forged >> events.jsonl",
        "mv events.jsonl moved",
        "ln -f events.jsonl other && echo forged >> other",
        "truncate -s 0 events.jsonl",
    ] {
        let said = house.say(["run", "--events", "events.jsonl", "-c", script]);
        assert_ne!(said.code, 0, "{script}: {said:?}");
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("forged\n"), "{text}");
    let events = lines(&text);
    let ids: BTreeSet<&str> = events
        .iter()
        .map(|event| event["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 5, "{text}");
    let last =
        |event: &&Value| matches!(event["type"].as_str(), Some("end" | "refused" | "failed"));
    assert_eq!(events.iter().filter(last).count(), 5, "{text}");
}

#[test]
fn a_descriptor_is_written_and_not_inherited() {
    let house = House::new();
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let line = format!(
        "{program} run --events fd:9 -c 'echo forged >&9; ls /proc/self/fd' 9> ../fd.jsonl"
    );
    let said = Said::of(house.command("bash").args(["-c", &line]).output().unwrap());
    let open: Vec<&str> = said.out.split_whitespace().collect();
    assert!(!open.contains(&"9"), "{said:?}");
    let text = std::fs::read_to_string(house.home().join("fd.jsonl")).unwrap();
    assert!(!text.contains("forged\n"), "{text}");
    let types = checked(&Schema::of_events(), &lines(&text));
    assert_eq!(types.last().map(String::as_str), Some("end"), "{text}");
}

#[test]
fn a_descriptor_that_is_none_is_refused_before_anything_runs() {
    let house = House::new();
    for named in ["fd:77", "fd:1", "fd:x", "fd:-1", "/nonexistent/x"] {
        let said = house.say(["run", "--events", named, "--", "touch", "made"]);
        assert_eq!(said.code, 2, "{named}: {said:?}");
        assert!(said.err.contains(&format!("--events {named}")), "{said:?}");
        assert!(!house.project().join("made").exists());
    }
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let line = format!("{program} run --events fd:9 -- touch made 9< /dev/null");
    let said = Said::of(house.command("bash").args(["-c", &line]).output().unwrap());
    assert_eq!(said.code, 2, "{said:?}");
    assert!(!house.project().join("made").exists());
}

#[test]
fn events_that_cannot_be_written_are_told_and_change_nothing_else() {
    let house = House::new();
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let said = house.say(["run", "--events", "/dev/full", "--", "sh", "-c", "exit 3"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("--events: "), "{said:?}");
}

#[test]
fn a_link_that_somebody_put_there_leads_nowhere() {
    let house = House::new();
    house.write("target", "kept\n");
    std::os::unix::fs::symlink("../target", house.project().join("link")).unwrap();
    std::os::unix::fs::symlink("../nothing", house.project().join("dangling")).unwrap();
    std::fs::hard_link(house.home().join("target"), house.project().join("second")).unwrap();
    for named in ["link", "dangling", "second"] {
        let said = house.say(["run", "--events", named, "--", "true"]);
        assert_eq!(said.code, 2, "{named}: {said:?}");
    }
    let target = std::fs::read_to_string(house.home().join("target")).unwrap();
    assert_eq!(target, "kept\n");
    assert!(!house.home().join("nothing").exists());
    // A pipe behind a link is what a shell hands over.
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let line = format!("{program} run --events >(cat > ../piped) -- true; wait $!");
    let said = Said::of(house.command("bash").args(["-c", &line]).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    let piped = std::fs::read_to_string(house.home().join("piped")).unwrap();
    assert!(piped.contains("\"type\":\"end\""), "{piped}");
}

#[test]
fn the_example_of_the_book_holds_to_the_schema() {
    let page = include_str!("../../../../../docs/exit-codes.md");
    let (_, block) = page.split_once("```json\n").unwrap();
    let (line, _) = block.split_once("\n```").unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(Schema::of_events().check(&line), "end");
    for kind in Schema::of_events().types() {
        assert!(page.contains(&format!("`{kind}`")), "{kind}");
    }
}

#[test]
fn what_the_command_writes_as_well_is_no_place_for_events() {
    let house = House::new();
    let program = house.palisade();
    let program = program.get_program().to_string_lossy().into_owned();
    let bash = |line: &str| {
        let line = format!("palisade() {{ {program} \"$@\"; }}; {line}");
        Said::of(house.command("bash").args(["-c", &line]).output().unwrap())
    };
    let forge = "-- sh -c 'echo forged; echo forged > pipe; touch made'";
    let rows = [
        // A pipe of the project, and one behind a link.
        (
            126,
            format!(
                "mkfifo pipe; cat pipe > ../read 2> /dev/null & palisade run --events pipe {forge}"
            ),
        ),
        (
            126,
            format!("cat pipe > ../read 2> /dev/null & palisade run --events fd:9 {forge} 9> pipe"),
        ),
        (
            126,
            format!(
                "ln -s pipe link; cat pipe > ../read 2> /dev/null & palisade run --events link {forge}"
            ),
        ),
        // The command's own streams.
        (2, format!("palisade run --events fd:9 {forge} 9>&1")),
        (2, format!("palisade run --events ../own {forge} >> ../own")),
        // A second name.
        (
            2,
            format!("touch ../one; ln ../one two; palisade run --events fd:9 {forge} 9>> ../one"),
        ),
        // Nobody reads: nothing to wait for.
        (
            2,
            format!("mkfifo ../lonely; palisade run --events ../lonely {forge}"),
        ),
    ];
    for (code, line) in &rows {
        let said = bash(line);
        assert_eq!(said.code, *code, "{line}: {said:?}");
        assert!(said.err.contains("--events "), "{line}: {said:?}");
        assert!(!house.project().join("made").exists(), "{line}");
    }
    // A pipe outside of the project is out of reach of the command.
    let said = bash(
        "mkfifo ../pipe; cat ../pipe > ../read & \
         palisade -q run --events ../pipe -- sh -c 'echo forged > ../pipe'; wait $!",
    );
    let text = std::fs::read_to_string(house.home().join("read")).unwrap();
    assert!(!text.contains("\nforged"), "{text} {said:?}");
    let types = checked(&Schema::of_events(), &lines(&text));
    assert_eq!(types.last().map(String::as_str), Some("end"), "{text}");
}
