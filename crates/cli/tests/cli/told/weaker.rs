//! Machines that cannot keep the policy: one line is refused, the line that it prints runs.
//!
//! The machines are emulated, but really so: the program runs where the kernel refuses it what it needs.

use super::{below, plain, sys};
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

/// Runs a line in a shell that a filter keeps from some system calls.
fn filtered(house: &House, refused: &[(i64, i32)], line: &str) -> Said {
    let mut shell = house.command("bash");
    shell.args(["-c", line]);
    sys::filter(&mut shell, refused, true);
    Said::of(shell.output().unwrap())
}

/// What the usual profile of a container refuses of what sandboxes are made of.
const CONTAINER: [(i64, i32); 6] = [
    (libc::SYS_unshare, libc::EPERM),
    (libc::SYS_setns, libc::EPERM),
    (libc::SYS_mount, libc::EPERM),
    (libc::SYS_umount2, libc::EPERM),
    (libc::SYS_pivot_root, libc::EPERM),
    (libc::SYS_clone3, libc::ENOSYS),
];

#[test]
fn in_a_container_the_second_line_runs() {
    let house = House::new();
    let said = filtered(
        &house,
        &CONTAINER,
        &format!("{} run -- touch made", program(&house)),
    );
    assert_eq!(said.code, 126, "{said:?}");
    assert!(!house.project().join("made").exists());
    insta::assert_snapshot!(plain(&house, &said.err));
    let said = filtered(&house, &CONTAINER, &below(&said, WITHOUT));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(house.project().join("made").exists());
}

/// What a profile such as that of Ubuntu 24.04 does: a user namespace can be made, but nothing is allowed in it.
const NOTHING_INSIDE: [(i64, i32); 3] = [
    (libc::SYS_mount, libc::EACCES),
    (libc::SYS_open_tree, libc::EACCES),
    (libc::SYS_move_mount, libc::EACCES),
];

#[test]
fn where_namespaces_are_allowed_and_nothing_in_them_the_second_line_runs() {
    let house = House::new();
    let run = |line: &str| {
        let mut shell = house.command("bash");
        shell.args(["-c", line]);
        sys::filter(&mut shell, &NOTHING_INSIDE, false);
        Said::of(shell.output().unwrap())
    };
    let said = run(&format!("{} run -- touch made", program(&house)));
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("no user namespaces"), "{said:?}");
    let said = run(&below(&said, WITHOUT));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(house.project().join("made").exists());
}

#[test]
fn one_host_alone_is_refused_with_its_guarantee_where_there_is_no_network_of_its_own() {
    let house = House::new();
    let losses = "--accept-loss protected-paths --accept-loss metadata-outside --accept-loss process-isolation";
    let first = format!("{} run --net=example.org {losses} -- true", program(&house));
    let said = filtered(&house, &CONTAINER, &first);
    assert_eq!(said.code, 126, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
    // Whoever goes without it has no network at all, and is told so.
    let again = filtered(&house, &CONTAINER, &below(&said, WITHOUT));
    assert_eq!(again.code, 0, "{again:?}");
}
