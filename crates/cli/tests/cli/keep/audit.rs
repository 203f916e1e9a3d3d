//! `palisade audit`.

use std::os::unix::fs::PermissionsExt as _;

use super::plain;
use crate::support::House;

fn record(time: &str, argv: &str, rest: &str) -> String {
    format!(
        "{{\"v\":1,\"time\":\"{time}\",\"call_id\":\"run-1\",\"tool\":\"session\",\"argv\":{argv},\"cwd\":\"/srv/app\",{rest},\"bytes_out\":0,\"duration_ms\":5}}\n"
    )
}

/// A house with a record: an old file, a bad line, a command with hidden characters, a denial, a refusal, and a torn end.
fn house() -> House {
    let house = House::new();
    let fine = "\"outcome\":\"exited\",\"exit_code\":0,\"sandbox\":\"landlock\"";
    let old = record("2026-03-01T12:00:00.000Z", "[\"cargo\",\"test\"]", fine);
    house.write(".local/state/palisade/audit/audit.jsonl.1", &old);
    let mut text = record(
        "2026-03-02T12:00:00.000Z",
        "[\"echo\",\"a\\u202eb\\u001b[2J\"]",
        fine,
    );
    text.push_str("this is no record\n");
    text.push_str(&record(
        "2026-03-03T12:00:00.000Z",
        "[\"touch\",\"/etc/x\"]",
        "\"outcome\":\"denied\",\"exit_code\":1,\"sandbox\":\"landlock\",\"evidence\":[{\"kind\":\"likely\",\"resource\":\"write /etc/x\",\"clause\":\"nothing allows it\"}]",
    ));
    text.push_str(&record(
        "2026-03-04T12:00:00.000Z",
        "[\"sudo\",\"ls\"]",
        "\"outcome\":\"refused\",\"refusal\":\"rule `no-sudo` forbids it\"",
    ));
    text.push_str("{\"v\":1,\"time\":\"2026-03");
    house.write(".local/state/palisade/audit/audit.jsonl", &text);
    for directory in [".local/state/palisade", ".local/state/palisade/audit"] {
        let directory = house.home().join(directory);
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    house
}

fn lines(house: &House, arguments: &[&str]) -> usize {
    let all: Vec<&str> = ["audit", "--json"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let said = house.say(all);
    assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
    for line in said.out.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["v"], 1);
    }
    said.out.lines().count()
}

#[test]
fn people_see_everything_and_bad_lines_are_counted() {
    let house = house();
    let said = house.say(["audit"]);
    assert_eq!(said.code, 0, "{said:?}");
    insta::assert_snapshot!(said.out);
    assert!(said.err.contains("1 lines are no records"), "{said:?}");
}

#[test]
fn it_can_be_cut_down() {
    let house = house();
    assert_eq!(lines(&house, &[]), 4);
    assert_eq!(lines(&house, &["--denied"]), 2);
    assert_eq!(lines(&house, &["--last", "3"]), 3);
    assert_eq!(lines(&house, &["--last", "1", "--denied"]), 1);
    assert_eq!(lines(&house, &["--since", "2026-03-02"]), 3);
    assert_eq!(lines(&house, &["--since", "2026-03-03T12:00:01Z"]), 1);
    assert_eq!(lines(&house, &["--since", "2026-03-03T14:00:00+02:00"]), 2);
    assert_eq!(lines(&house, &["--since", "1h"]), 0);
}

#[test]
fn a_time_that_is_none_is_refused() {
    let house = house();
    let said = house.say(["audit", "--since", "yesterday"]);
    assert_eq!(said.code, 2, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
}

#[test]
fn what_ran_is_in_it() {
    let house = House::new();
    let said = house.say(["--quiet", "run", "--", "true"]);
    if said.code != 0 {
        eprintln!("skipped: no sandbox works here: {}", said.err);
        return;
    }
    assert_eq!(lines(&house, &["--since", "1h"]), 1);
}

#[test]
fn without_a_record_there_is_none() {
    let house = House::new();
    let said = house.say(["audit"]);
    assert_eq!((said.code, said.out.as_str()), (0, "no such record\n"));
}
