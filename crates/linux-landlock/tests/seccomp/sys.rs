//! A child that puts a filter on itself and makes calls: the only unsafe code of these tests.
#![expect(unsafe_code, reason = "fork, seccomp and raw system calls")]

use std::io;
use std::os::fd::RawFd;

use palisade_linux_landlock::seccomp::Instruction;

/// One call to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) number: i64,
    pub(crate) args: [u64; 6],
}

/// What came of the calls: the errno of each (0 if it worked), or the signal that ended the child.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Errnos(Vec<i32>),
    Signal(i32),
    /// The filter could not be installed.
    NotInstalled(i32),
}

/// Makes the calls in a child under the filter; as another user if one is given.
pub(crate) fn under_filter(
    filter: &[Instruction],
    uid: Option<u32>,
    attempts: &[Attempt],
) -> Outcome {
    in_child(filter, uid, attempts.len(), |report| {
        for attempt in attempts {
            let [a, b, c, d, e, f] = attempt.args;
            // SAFETY: the tests pass no pointers but null and invalid ones, which the kernel refuses.
            let result = unsafe { libc::syscall(attempt.number, a, b, c, d, e, f) };
            report(if result < 0 { errno() } else { 0 });
        }
    })
}

/// Makes a call through the 32-bit interface in a child, under the filter.
#[cfg(target_arch = "x86_64")]
pub(crate) fn int80_under_filter(filter: &[Instruction], number: u32) -> Outcome {
    in_child(filter, None, 1, |report| {
        let result: i32;
        // SAFETY: a call without arguments; the registers that the kernel may change are named.
        unsafe {
            std::arch::asm!(
                "int 0x80",
                inlateout("eax") number => result,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        report(if result < 0 { -result } else { 0 });
    })
}

/// Tries to reach a socket by its path from one end of a pair, in a child under the filter.
///
/// Reports the errno of `socketpair`, of `connect` and of `sendto`.
pub(crate) fn pair_reaches(filter: &[Instruction], kind: i32, path: &str) -> Outcome {
    // SAFETY: all zeros is an address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = 1;
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = from.cast_signed();
    }
    let address = &raw const address;
    let length = u32::try_from(size_of::<libc::sockaddr_un>()).unwrap();
    in_child(filter, None, 3, |report| {
        let mut ends = [0; 2];
        let status = |result: i64| if result < 0 { errno() } else { 0 };
        // SAFETY: there is room for two descriptors.
        report(status(i64::from(unsafe {
            libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr())
        })));
        // SAFETY: the address outlives the call.
        report(status(i64::from(unsafe {
            libc::connect(ends[0], address.cast(), length)
        })));
        // SAFETY: the address and the byte outlive the call.
        report(status(unsafe {
            let byte = [0_u8; 1];
            let data = byte.as_ptr().cast();
            libc::sendto(ends[1], data, 1, 0, address.cast(), length) as i64
        }));
    })
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}

/// Between fork and exit, the child makes system calls only: the test runner has other threads.
fn in_child(
    filter: &[Instruction],
    uid: Option<u32>,
    expected: usize,
    act: impl Fn(&dyn Fn(i32)),
) -> Outcome {
    let mut pipe = [0; 2];
    // SAFETY: there is room for two descriptors.
    let made = unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0);
    let [read, write] = pipe;
    // SAFETY: the child makes system calls only, and ends in `_exit`.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let failed = drop_to(uid).and_then(|()| install(filter)).err();
        if let Some(failed) = failed {
            send(write, failed);
            // SAFETY: ends the child.
            unsafe { libc::_exit(3) }
        }
        act(&|errno| send(write, errno));
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) }
    }
    // SAFETY: the parent's copy of the write end, closed once.
    unsafe { libc::close(write) };
    let mut errnos = Vec::new();
    let mut word = [0_u8; 4];
    // SAFETY: there is room for four bytes.
    while unsafe { libc::read(read, word.as_mut_ptr().cast(), 4) } == 4 {
        errnos.push(i32::from_ne_bytes(word));
    }
    let mut status = 0;
    // SAFETY: the read end, closed once; the child that was made above.
    unsafe {
        libc::close(read);
        assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
    }
    if libc::WIFSIGNALED(status) {
        return Outcome::Signal(libc::WTERMSIG(status));
    }
    if libc::WEXITSTATUS(status) == 3 {
        return Outcome::NotInstalled(errnos.first().copied().unwrap_or(0));
    }
    assert_eq!(errnos.len(), expected);
    Outcome::Errnos(errnos)
}

fn send(descriptor: RawFd, errno: i32) {
    let word = errno.to_ne_bytes();
    // SAFETY: four bytes that outlive the call.
    unsafe { libc::write(descriptor, word.as_ptr().cast(), 4) };
}

fn drop_to(uid: Option<u32>) -> Result<(), i32> {
    let Some(uid) = uid else { return Ok(()) };
    // SAFETY: numbers only. The raw calls, because libc would ask the other threads, which a fork has not.
    let result = unsafe {
        libc::syscall(libc::SYS_setresgid, uid, uid, uid)
            | libc::syscall(libc::SYS_setresuid, uid, uid, uid)
    };
    if result == 0 { Ok(()) } else { Err(errno()) }
}

fn install(filter: &[Instruction]) -> Result<(), i32> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| libc::E2BIG)?,
        // The layouts are the same, and the kernel only reads.
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: numbers only; then a program that outlives the call.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let program = &raw const program;
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, program)
    };
    if result == 0 { Ok(()) } else { Err(errno()) }
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}
