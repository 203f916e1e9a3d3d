//! The administrator's floor binds flags.

use std::process::Command;

use crate::support::{House, Said};

/// The program with this as the administrator's policy, in a mount namespace of the test's own; `None`, with the reason
/// said, where none can be made.
fn with_floor(house: &House, policy: &str, arguments: &[&str]) -> Option<Said> {
    house.write("etc/palisade/policy.toml", policy);
    let program = house.palisade().get_program().to_owned();
    let mut outer = house.command("unshare");
    if !rustix::process::geteuid().is_root() {
        // The administrator's files belong to root, who is not there for others.
        eprintln!("skipped: only root can put a policy of its own in the administrator's place");
        return None;
    }
    outer
        .args(["--mount", "sh", "-c"])
        .arg(
            "mkdir -p /etc/palisade 2>/dev/null
             mount -t tmpfs none /etc/palisade || exit 99
             cp \"$HOME/etc/palisade/policy.toml\" /etc/palisade/ && chmod 644 /etc/palisade/policy.toml || exit 99
             exec \"$@\"",
        )
        .arg("sh")
        .arg(program)
        .args(arguments);
    let said = Said::of(outer.output().unwrap());
    if said.code == 99
        || Command::new("unshare")
            .args(["--mount", "true"])
            .status()
            .is_err()
    {
        eprintln!("skipped: no mount namespace can be made: {}", said.err);
        return None;
    }
    Some(said)
}

#[test]
fn a_flag_below_the_floor_is_refused_and_names_the_floor() {
    let house = House::new();
    let floor = "version = 1\n[floor]\nno-network = true\nno-unsandboxed = true\n";
    for flags in [&["--net"][..], &["--mode", "open"]] {
        let mut arguments = vec!["run"];
        arguments.extend(flags);
        arguments.extend(["--", "touch", "mine"]);
        let Some(said) = with_floor(&house, floor, &arguments) else {
            return;
        };
        assert_ne!(said.code, 0, "{flags:?}: {said:?}");
        assert!(said.err.contains("floor"), "{flags:?}: {said:?}");
        assert!(
            !house.project().join("mine").exists(),
            "{flags:?}: {said:?}"
        );
    }
    // What the floor does not speak about is as ever.
    if let Some(said) = with_floor(&house, floor, &["run", "--", "touch", "fine"]) {
        assert_eq!(said.code, 0, "{said:?}");
        assert!(house.project().join("fine").exists());
    }
}
