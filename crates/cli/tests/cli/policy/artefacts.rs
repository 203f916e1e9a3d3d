//! `policy show --backend`: what any system would be told, on any system.

use super::policy;
use crate::support::House;

#[test]
fn each_backend_prints_its_plan_and_what_that_enforces() {
    let house = House::new();
    let home = house.home().to_str().unwrap();
    for (backend, parts) in [
        (
            "seatbelt",
            &[
                "(version 1)\n(deny default",
                "(param \"ROOT_0\")",
                "; ROOT_0 = ",
            ][..],
        ),
        (
            "linux-landlock",
            &[
                "tier: full",
                "mask      [HOME]/.ssh/",
                "protect   [HOME]/project/.git",
                "landlock:\n",
                "system calls:\n",
            ][..],
        ),
        (
            "windows-token",
            &[
                "token: ",
                "protected [HOME]/project/.git",
                "job: kill-on-close",
            ][..],
        ),
    ] {
        let said = policy(&house, &["show", "--backend", backend, "--emulated"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.err.contains("made-up machine"), "{said:?}");
        for part in parts.iter().chain(&["\nwhat that enforces:\n"]) {
            let part = part.replace("[HOME]", home);
            assert!(said.out.contains(&part), "{backend}: {part}\n{}", said.out);
        }
    }
}

#[test]
fn what_a_system_cannot_keep_is_said() {
    let house = House::new();
    let said = policy(&house, &["show", "--backend", "windows-token"]);
    assert!(said.out.contains("--accept-loss network\n"), "{}", said.out);
    let said = policy(
        &house,
        &["show", "--backend", "linux-landlock", "--emulated"],
    );
    assert!(!said.out.contains("--accept-loss"), "{}", said.out);
}

#[test]
fn flags_change_what_is_compiled() {
    let house = House::new();
    let show = ["show", "--backend", "linux-landlock", "--emulated"];
    let network = policy(&house, &[&show[..], &["--net"]].concat());
    assert!(
        network.out.contains("network: the host's"),
        "{}",
        network.out
    );
    let read_only = policy(&house, &[&show[..], &["--read-only"]].concat());
    let writable = format!("writable  {}", house.project().display());
    assert!(!read_only.out.contains(&writable), "{}", read_only.out);
    let open = policy(&house, &[&show[..], &["--mode", "open"]].concat());
    assert_eq!(open.code, 2, "{open:?}");
}

#[test]
fn the_filter_is_listed_for_people_and_programs() {
    let house = House::new();
    let show = [
        "show",
        "--backend",
        "linux-landlock",
        "--emulated",
        "--instructions",
    ];
    let said = policy(&house, &show);
    assert!(
        said.out.contains("\n    0: 0x0020   0   0 0x00000004\n"),
        "{}",
        said.out
    );
    let said = policy(&house, &[&show[..], &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(value["emulated"], true);
    assert_eq!(value["instructions"][0], serde_json::json!([32, 0, 0, 4]));
    assert!(value["refusal"].is_null(), "{value:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn this_machine_is_looked_at_where_it_can_be() {
    let house = House::new();
    let said = policy(&house, &["show", "--backend", "linux-landlock"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("for this machine"), "{said:?}");
    // Nothing is at ~/.ssh here, so nothing is masked there.
    let mask = format!("mask      {}/.ssh/", house.home().display());
    assert!(!said.out.contains(&mask), "{}", said.out);
}
