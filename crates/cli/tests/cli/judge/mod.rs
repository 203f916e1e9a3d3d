//! `check` and `explain`: what would become of a command, and that `run` agrees.

mod agree;
mod texts;

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{House, Said};

/// What `check` says about a command, as data, and its exit code.
fn check(house: &House, flags: &[&str], command: &[&str]) -> (Value, i32) {
    let words = ["check", "--json"].iter().chain(flags).chain(&["--"]);
    let said = house.say(words.chain(command));
    let object =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    (object, said.code)
}

/// Runs the program with something to read.
fn with_input(house: &House, arguments: &[&str], input: &[u8]) -> Said {
    let mut child = house
        .palisade()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may refuse before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    Said::of(child.wait_with_output().unwrap())
}

#[test]
fn the_decision_is_what_the_rules_say() {
    let house = House::new();
    for (command, decision, source, code) in [
        (&["ls", "-l"][..], "allow", "rule", 0),
        (&["./frob"], "prompt", "unmatched", 3),
        (&["find", ".", "-delete"], "prompt", "danger", 3),
        (&["bash", "-c", "frob $(cat x)"], "prompt", "opaque", 3),
        (&["git", "push"], "prompt", "rule", 3),
        (&["git", "push", "--force"], "forbid", "rule", 4),
        (
            &["bash", "-c", "ls && timeout 5 sudo reboot"],
            "forbid",
            "rule",
            4,
        ),
    ] {
        let (said, exited) = check(&house, &[], command);
        assert_eq!(
            (&said["decision"], &said["source"], exited),
            (&decision.into(), &source.into(), code),
            "{command:?}: {said}"
        );
        assert_eq!(said["rule"].is_object(), source == "rule", "{said}");
        assert_eq!(said["sandbox"].is_null(), decision == "forbid", "{said}");
    }
}

#[test]
fn the_requirement_is_a_field_of_its_own() {
    let house = House::new();
    for (approval, becomes) in [
        ("on-request", "runs"),
        ("unless-trusted", "asks"),
        ("never", "runs"),
    ] {
        let (said, code) = check(&house, &["--approval", approval], &["./frob"]);
        assert_eq!((code, &said["decision"]), (3, &"prompt".into()), "{said}");
        assert_eq!(
            said["requirement"]["becomes"], becomes,
            "{approval}: {said}"
        );
        assert_eq!(said["requirement"]["contained"], true, "{said}");
    }
    let (said, code) = check(&house, &["--approval", "never"], &["git", "push"]);
    assert_eq!(
        (code, &said["requirement"]["becomes"]),
        (3, &"refused".into())
    );
}

#[test]
fn a_rule_is_named_with_its_file_and_line() {
    let house = House::new();
    let policy = ".config/palisade/policy.toml";
    house.write(
        policy,
        "version = 1\n\n[[rule]]\nid = \"no-frob\"\nprefix = [\"frob\"]\ndecision = \"forbid\"\nwhy = \"frobbing is for people\"\n",
    );
    let (said, code) = check(&house, &[], &["env", "A=b", "nice", "frob", "-x"]);
    assert_eq!(
        (code, &said["rule"]["id"]),
        (4, &"no-frob".into()),
        "{said}"
    );
    let file = house.home().join(policy);
    assert_eq!(said["rule"]["file"], file.to_str().unwrap());
    assert_eq!(
        (&said["rule"]["line"], &said["rule"]["layer"]),
        (&3.into(), &"user".into())
    );
    assert_eq!(said["requirement"]["refusal"], "frobbing is for people");
    let steps = said["segments"][0]["unwrapped"].as_array().unwrap();
    assert_eq!(steps.len(), 2, "{said}");
}

#[test]
fn a_script_is_read_from_standard_input() {
    let house = House::new();
    for (script, code) in [
        (&b"cd sub && ls | head\n"[..], 0),
        (b"make\n./frob\n", 3),
        (b"ls; git push --force", 4),
        (b"ls \xff", 3),
    ] {
        let said = with_input(&house, &["check"], script);
        assert_eq!(said.code, code, "{}: {said:?}", script.escape_ascii());
    }
}

#[test]
fn what_makes_no_sense_is_bad_usage() {
    let house = House::new();
    let empty = with_input(&house, &["check"], b" \n");
    let nul = with_input(&house, &["check"], b"ls \0");
    let name = house.say(["check", "--", ""]);
    let flag = house.say(["check", "--nonsense"]);
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\nnonsense = 2\n",
    );
    let policy = house.say(["check", "--", "ls"]);
    for said in [empty, nul, name, flag, policy] {
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
        assert!(!said.err.is_empty());
    }
}

#[test]
fn bytes_that_are_no_text_are_judged_as_they_are() {
    use std::os::unix::ffi::OsStrExt as _;
    let house = House::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\x1b[31m");
    let said = Said::of(
        house
            .palisade()
            .args(["check", "--", "ls"])
            .arg(odd)
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        !said.out.contains('\x1b') && said.out.contains(r"\xff"),
        "{said:?}"
    );
}

#[test]
#[cfg(unix)]
fn no_byte_of_a_command_is_lost() {
    use std::os::unix::ffi::OsStrExt as _;
    let house = House::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let mut command = house.palisade();
    command.args(["check", "--json", "--", "ls", "é"]).arg(odd);
    let said = Said::of(command.output().unwrap());
    let object: Value = serde_json::from_str(&said.out).unwrap();
    // The form of events: docs/events.schema.json, `bytes`.
    let expected = serde_json::json!(["ls", "é", { "base64": "//4=" }]);
    assert_eq!(object["command"], expected, "{object}");
    let said = with_input(&house, &["check", "--json"], b"ls \xff\n");
    let object: Value = serde_json::from_str(&said.out).unwrap();
    let expected = serde_json::json!({ "base64": "bHMg/wo=" });
    assert_eq!(object["script"], expected, "{object}");
}
