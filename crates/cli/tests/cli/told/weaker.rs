//! Machines that cannot keep the policy: one line is refused, the line that it prints runs.
//!
//! The machines are emulated, but really so: the program runs where the kernel refuses it what it needs.

use super::{below, plain};
use crate::support::{House, Said};

const WITHOUT: &str = "go without";

/// Runs a line where no user namespace can be made, as where an administrator or a profile keeps them from people.
fn without_user_namespaces(house: &House, line: &str) -> Option<Said> {
    let script = format!("echo 0 > /proc/sys/user/max_user_namespaces || exit 99; {line}");
    let said = Said::of(
        house
            .command("unshare")
            .args(["--user", "--map-root-user", "--", "bash", "-c", &script])
            .output()
            .ok()?,
    );
    match said.code == 99 || said.err.contains("unshare:") {
        true => {
            eprintln!("skipped: user namespaces cannot be switched off here");
            None
        }
        false => Some(said),
    }
}

fn program(house: &House) -> String {
    house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned()
}

#[test]
fn without_user_namespaces_the_second_line_runs() {
    let house = House::new();
    let first = format!("{} run -- touch made", program(&house));
    let Some(said) = without_user_namespaces(&house, &first) else {
        return;
    };
    assert_eq!(said.code, 126, "{said:?}");
    assert!(!house.project().join("made").exists());
    insta::assert_snapshot!(plain(&house, &said.err));
    let Some(said) = without_user_namespaces(&house, &below(&said, WITHOUT)) else {
        return;
    };
    assert_eq!(said.code, 0, "{said:?}");
    assert!(house.project().join("made").exists());
    // And what still holds is kept.
    let outside = format!(
        "{} run --accept-loss protected-paths --accept-loss metadata-outside --accept-loss process-isolation -- touch ../outside",
        program(&house)
    );
    let said = without_user_namespaces(&house, &outside).unwrap();
    assert_ne!(said.code, 0, "{said:?}");
    assert!(!house.home().join("outside").exists());
}

/// Runs a line under a system-call filter that refuses namespaces, as a container has one: that of another sandbox, with
/// its marker taken off.
fn in_a_container(house: &House, inner: &str) -> Said {
    Said::of(
        house
            .palisade()
            .args(["run", "-c"])
            .arg(format!(
                "unset PALISADE_SANDBOX; export XDG_STATE_HOME=$TMPDIR/state; {inner}"
            ))
            .output()
            .unwrap(),
    )
}

#[test]
fn in_a_container_the_second_line_runs() {
    let house = House::new();
    // The program has to be where the outer sandbox shows it.
    let copy = house.home().join("palisade");
    std::fs::copy(program(&house), &copy).unwrap();
    let said = in_a_container(&house, "../palisade run -- touch made");
    assert_eq!(said.code, 126, "{said:?}");
    assert!(
        said.err
            .contains("an outer system-call filter refuses namespaces"),
        "{said:?}"
    );
    let said = in_a_container(&house, &below(&said, WITHOUT));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(house.project().join("made").exists());
}

#[test]
fn one_host_alone_is_refused_with_its_guarantee() {
    let house = House::new();
    let said = house.say(["run", "--net=example.org", "--", "true"]);
    assert_eq!(said.code, 126, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
}
