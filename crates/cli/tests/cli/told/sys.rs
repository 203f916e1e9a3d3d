//! A system-call filter around a program, as a container or a profile has one.
#![expect(
    unsafe_code,
    reason = "a filter is installed between fork and exec, by the raw call"
)]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, sock_filter, sock_fprog,
};

/// Where the number of the call, and the low half of its first argument, are.
const NUMBER: u32 = 0;
const FIRST_ARGUMENT: u32 = 16;

/// Refuses these calls to the program, each with an error number. With `no_new_user`, also to make a user namespace by
/// `clone`.
pub(super) fn filter(command: &mut Command, refused: &[(i64, i32)], no_new_user: bool) {
    let mut program = vec![load(NUMBER)];
    for (number, errno) in refused {
        program.push(jump(BPF_JEQ, u32::try_from(*number).unwrap(), 0, 1));
        program.push(refuse(*errno));
    }
    if no_new_user {
        let clone = u32::try_from(libc::SYS_clone).unwrap();
        program.push(jump(BPF_JEQ, clone, 0, 3));
        program.push(load(FIRST_ARGUMENT));
        let new_user = u32::try_from(libc::CLONE_NEWUSER).unwrap();
        program.push(jump(BPF_JSET, new_user, 0, 1));
        program.push(refuse(libc::EPERM));
    }
    program.push(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    let install = move || {
        let filter = sock_fprog {
            len: u16::try_from(program.len()).unwrap_or(0),
            filter: program.as_ptr().cast_mut(),
        };
        // SAFETY: plain numbers, and a filter that lives as long as the call, which only reads it.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    std::ptr::from_ref(&filter),
                    0,
                    0,
                ) == 0
        };
        match done {
            true => Ok(()),
            false => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: two system calls, which allocate nothing and lock nothing; the filter lives in the closure.
    unsafe { command.pre_exec(install) };
}

fn load(offset: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, offset)
}

fn refuse(errno: i32) -> sock_filter {
    let errno = u32::try_from(errno).unwrap();
    statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter {
        code: u16::try_from(code).unwrap(),
        jt: 0,
        jf: 0,
        k,
    }
}

fn jump(kind: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter {
        jt: yes,
        jf: no,
        ..statement(BPF_JMP | kind | BPF_K, k)
    }
}
