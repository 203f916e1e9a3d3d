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
