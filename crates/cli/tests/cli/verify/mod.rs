//! `verify`: every promise, tried on this machine.

use std::os::unix::process::CommandExt as _;

use crate::support::{House, Said};

#[test]
#[cfg(target_os = "linux")]
fn what_doctor_says_holds() {
    let house = House::new();
    house.write("project/mine", "mine\n");
    let full = house.say(["doctor"]).code == 0;
    let said = house.say(["verify", "--json", "--quiet"]);
    let report: serde_json::Value =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let rows = report["guarantees"].as_array().unwrap();
    assert!(rows.len() >= 8, "{report}");
    let mut tried = 0;
    for row in rows {
        let enforced = row["found"] == "enforced";
        // Nothing is called enforced without an attempt that was stopped.
        assert!(!enforced || row["stopped"].as_u64() > Some(0), "{row}");
        assert_eq!(row["promised"] == "enforced", enforced, "{row}");
        tried += row["tried"].as_u64().unwrap();
    }
    assert!(tried > 50, "{tried}");
    let kept = report["kept"].as_bool().unwrap();
    assert_eq!((kept, said.code), (full, i32::from(!full)), "{report}");
    assert!(!full || report["useful"].as_u64() > Some(10), "{report}");
    // Nothing of the user's was touched.
    assert_eq!(house.read("mine"), "mine\n");
}

#[test]
#[cfg(target_os = "linux")]
fn commits_and_what_the_user_denies_are_tried_too() {
    let house = House::new();
    house.write("private/by-flag", "mine\n");
    house.write("private/by-file", "mine\n");
    let denied = house.home().join("private/by-file");
    house.write(
        ".config/palisade/policy.toml",
        &format!("version = 1\n[filesystem]\ndeny = [{denied:?}]\n"),
    );
    let full = house.say(["doctor"]).code == 0;
    let said = house.say([
        "verify",
        "--json",
        "--quiet",
        "--git",
        "commit",
        "--deny-read",
        "../private/by-flag",
    ]);
    let report: serde_json::Value =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let row = |name: &str| {
        let rows = report["guarantees"].as_array().unwrap();
        let row = rows.iter().find(|row| row["guarantee"] == name);
        row.unwrap_or_else(|| panic!("{name}: {report}")).clone()
    };
    let (import, reads) = (row("git-import"), row("denied-reads"));
    if !full {
        eprintln!("skipped: this machine does not keep everything: {import}");
        return;
    }
    assert_eq!(import["found"], "enforced", "{import}");
    assert!(import["stopped"].as_u64() >= Some(5), "{import}");
    assert_eq!(reads["found"], "enforced", "{reads}");
    // Without the flag it is one less: what it denies was really tried.
    let without = house.say(["verify", "--json", "--quiet"]);
    let without: serde_json::Value = serde_json::from_str(&without.out).unwrap();
    let rows = without["guarantees"].as_array().unwrap();
    let fewer = rows.iter().find(|row| row["guarantee"] == "denied-reads");
    let fewer = fewer.unwrap()["stopped"].as_u64().unwrap();
    assert_eq!(reads["stopped"].as_u64(), Some(fewer + 1), "{reads}");
    assert_eq!(
        (report["kept"].as_bool(), said.code),
        (Some(true), 0),
        "{report}"
    );
}

#[test]
fn a_policy_without_a_sandbox_promises_nothing() {
    let house = House::new();
    let said = house.say(["verify", "--mode", "open"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("promises nothing"), "{said:?}");
}

#[test]
fn as_an_attempt_it_says_one_line_and_nothing_else() {
    let house = House::new();
    let mut command = house.palisade();
    command
        .arg0("palisade-probe")
        .args(["no-such-attempt", "run"]);
    let said = Said::of(command.output().unwrap());
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.out.starts_with("broken: ") && said.out.lines().count() == 1,
        "{said:?}"
    );
}
