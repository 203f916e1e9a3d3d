//! What is said after a system call was forbidden: that, where the kernel ended the command for it, and nothing where the
//! command only got an error.

use std::os::unix::fs::PermissionsExt as _;

use super::plain;
use crate::support::House;

/// A program of 32 bits that exits with 0: its one system call is one of another interface.
fn other_interface() -> Vec<u8> {
    const BASE: u32 = 0x0804_8000;
    const HEADERS: u32 = 52 + 32;
    // mov eax, 1; xor ebx, ebx; int 0x80
    let code = [0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80];
    let size = HEADERS + u32::try_from(code.len()).unwrap();
    let mut program = b"\x7fELF\x01\x01\x01".to_vec();
    program.resize(16, 0);
    let half = |program: &mut Vec<u8>, value: u16| program.extend(value.to_le_bytes());
    let word = |program: &mut Vec<u8>, value: u32| program.extend(value.to_le_bytes());
    // An executable for the i386, whose one segment is described behind this header.
    half(&mut program, 2);
    half(&mut program, 3);
    for value in [1, BASE + HEADERS, 52, 0, 0] {
        word(&mut program, value);
    }
    for value in [52, 32, 1, 0, 0, 0] {
        half(&mut program, value);
    }
    // The segment is this file, to be read and run.
    for value in [1, 0, BASE, BASE, size, size, 5, 0x1000] {
        word(&mut program, value);
    }
    program.extend(code);
    program
}

#[test]
fn a_command_that_the_kernel_ended_for_one_is_told() {
    let house = House::new();
    let program = house.project().join("other");
    std::fs::write(&program, other_interface()).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    if !house
        .command(&program)
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: this kernel runs no programs of 32 bits");
        return;
    }
    let events = house.home().join("events");
    let mut command = house.palisade();
    command.args(["run", "--events"]).arg(&events);
    let said = crate::support::Said::of(command.args(["--", "./other"]).output().unwrap());
    // 128 and the number of SIGSYS.
    assert_eq!(said.code, 159, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
    let told = std::fs::read_to_string(events).unwrap();
    assert!(told.contains(r#""evidence":"system-call""#), "{told}");
    let last = house.say(["why", "--last"]);
    assert!(last.out.contains("SIGSYS"), "{last:?}");
}

#[test]
fn a_call_that_is_refused_with_an_error_is_named_by_its_program() {
    let house = House::new();
    // To trace: forbidden, with an error that many other things have, too.
    let script = "my $r = syscall(101, 16, 1, 0, 0); print STDERR \"ptrace: $!\\n\"; exit($r < 0)";
    let said = house.say(["run", "--", "perl", "-e", script]);
    if said.code == 127 || cfg!(not(target_arch = "x86_64")) {
        eprintln!("skipped: there is no perl, or the call has another number");
        return;
    }
    assert_eq!(said.code, 1, "{said:?}");
    let told = said.err.strip_prefix("ptrace: Operation not permitted\n");
    let told = told.unwrap_or_default();
    assert!(
        told.starts_with("palisade: blocked: trace a process (system call ptrace): "),
        "{said:?}"
    );
}
