//! Processes.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;
use std::time::Duration;

use super::check;
use super::files::owned;

/// Starts a child that runs this and ends with its value; only for programs with one thread.
pub(crate) fn fork(child: impl FnOnce() -> u8) -> io::Result<i32> {
    // SAFETY: the probe has one thread, so no lock is held by another one, and the child never returns from here.
    match check(unsafe { libc::fork() })? {
        0 => {
            let code = child();
            // SAFETY: ends the process.
            unsafe { libc::_exit(code.into()) }
        }
        pid => Ok(pid),
    }
}

/// Goes on as a new process again and again, as long as this says so; only for programs with one thread.
pub(crate) fn run_on(goes_on: &dyn Fn() -> bool) {
    while goes_on() {
        // SAFETY: the probe has one thread, so no lock is held by another one; the older process ends at once.
        unsafe {
            if libc::fork() > 0 {
                libc::_exit(0);
            }
        }
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
    Stopped,
}

/// Waits for a child to end, or with `stopped` also to stop.
pub(crate) fn wait(pid: i32, stopped: bool) -> io::Result<End> {
    let mut status = 0;
    let flags = if stopped { libc::WUNTRACED } else { 0 };
    // SAFETY: the status outlives the call.
    check(unsafe { libc::waitpid(pid, &raw mut status, flags) })?;
    Ok(if libc::WIFSTOPPED(status) {
        End::Stopped
    } else if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    })
}

/// Sends a signal to one process; never to a group or to all.
pub(crate) fn kill(pid: i32, signal: c_int) -> io::Result<()> {
    one(pid)?;
    // SAFETY: no memory is passed.
    check(unsafe { libc::kill(pid, signal) })?;
    Ok(())
}

/// Sends a signal to what watches over a sandbox, which may be the first process there is in it.
pub(crate) fn signal_watcher(pid: i32, signal: c_int) -> io::Result<()> {
    if pid < 1 {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: no memory is passed.
    check(unsafe { libc::kill(pid, signal) })?;
    Ok(())
}

/// Sends a signal to the first thread of a process.
pub(crate) fn kill_thread(pid: i32, signal: c_int) -> io::Result<()> {
    one(pid)?;
    // SAFETY: no memory is passed.
    check(unsafe { libc::syscall(libc::SYS_tgkill, pid, pid, signal) })?;
    Ok(())
}

/// Zero and negative numbers would name groups.
fn one(pid: i32) -> io::Result<()> {
    if pid <= 1 {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

pub(crate) fn open(pid: i32) -> io::Result<OwnedFd> {
    one(pid)?;
    // SAFETY: no memory is passed.
    owned(check(unsafe {
        libc::syscall(libc::SYS_pidfd_open, pid, 0)
    })?)
}

pub(crate) fn signal_by_descriptor(process: &OwnedFd, signal: c_int) -> io::Result<()> {
    // SAFETY: no information about the signal is passed.
    check(unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            signal,
            ptr::null::<libc::siginfo_t>(),
            0,
        )
    })?;
    Ok(())
}

pub(crate) fn take_descriptor(process: &OwnedFd, number: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    owned(check(unsafe {
        libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0)
    })?)
}

/// Traces a process without stopping it, until this process ends.
pub(crate) fn trace(pid: i32) -> io::Result<()> {
    one(pid)?;
    const NOTHING: usize = 0;
    // SAFETY: seizing takes no memory, with no options.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, NOTHING, NOTHING) })?;
    Ok(())
}

fn span(at: *mut libc::c_void, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: at,
        iov_len: length,
    }
}

fn place(address: u64) -> *mut libc::c_void {
    ptr::without_provenance_mut(usize::try_from(address).unwrap_or_default())
}

pub(crate) fn read_memory(pid: i32, address: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; length];
    let here = span(bytes.as_mut_ptr().cast(), length);
    let there = span(place(address), length);
    // SAFETY: the local part is a live buffer; the other address is of another process, and checked there.
    let done = unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0) };
    check(done as i64)?;
    Ok(bytes)
}

pub(crate) fn write_memory(pid: i32, address: u64, bytes: &[u8]) -> io::Result<()> {
    // The kernel only reads the local part.
    let here = span(bytes.as_ptr().cast_mut().cast(), bytes.len());
    let there = span(place(address), bytes.len());
    // SAFETY: the local part is a live buffer; the other address is of another process, and checked there.
    let done = unsafe { libc::process_vm_writev(pid, &raw const here, 1, &raw const there, 1, 0) };
    check(done as i64)?;
    Ok(())
}

/// Lowers how many descriptors a process may have; zero is this process.
pub(crate) fn limit_descriptors(pid: i32, most: u64) -> io::Result<()> {
    // SAFETY: all zeros is a valid limit, which the kernel fills in.
    let mut limit: libc::rlimit64 = unsafe { std::mem::zeroed() };
    // SAFETY: the limit outlives the call.
    check(unsafe { libc::prlimit64(pid, libc::RLIMIT_NOFILE, ptr::null(), &raw mut limit) })?;
    limit.rlim_cur = most.min(limit.rlim_max);
    // SAFETY: the limit outlives the call.
    check(unsafe { libc::prlimit64(pid, libc::RLIMIT_NOFILE, &raw const limit, ptr::null_mut()) })?;
    Ok(())
}

pub(crate) fn lower_priority(pid: i32) -> io::Result<()> {
    one(pid)?;
    let who = libc::id_t::try_from(pid).unwrap_or_default();
    // SAFETY: no memory is passed.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, who, 19) })?;
    Ok(())
}

/// The processors that a process may run on.
fn affinity(pid: i32) -> io::Result<libc::cpu_set_t> {
    // SAFETY: all zeros is an empty set, which the kernel fills in.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        check(libc::sched_getaffinity(
            pid,
            size_of_val(&set),
            &raw mut set,
        ))?;
        Ok(set)
    }
}

/// On how many processors a process may run; zero is this process.
pub(crate) fn processors(pid: i32) -> io::Result<i32> {
    let set = affinity(pid)?;
    // SAFETY: it only reads the set.
    Ok(unsafe { libc::CPU_COUNT(&set) })
}

/// Keeps a process to the first processor that it has.
pub(crate) fn pin(pid: i32) -> io::Result<()> {
    one(pid)?;
    let set = affinity(pid)?;
    // SAFETY: all zeros is an empty set; the numbers are below the size of a set.
    unsafe {
        let mut first: libc::cpu_set_t = std::mem::zeroed();
        if let Some(cpu) = (0..1024).find(|&cpu| libc::CPU_ISSET(cpu, &set)) {
            libc::CPU_SET(cpu, &mut first);
        }
        check(libc::sched_setaffinity(
            pid,
            size_of_val(&first),
            &raw const first,
        ))?;
    }
    Ok(())
}

pub(crate) fn new_session() -> io::Result<i32> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setsid() })
}

/// Ignores what usually ends a process.
pub(crate) fn ignore_signals() {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        // SAFETY: ignoring installs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Ends this process by a signal after so many seconds.
pub(crate) fn alarm(seconds: u32) {
    // SAFETY: no memory is passed.
    unsafe { libc::alarm(seconds) };
}

pub(crate) fn become_root() -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setuid(0) })?;
    Ok(())
}

/// The user, and the user whose rights count.
pub(crate) fn users() -> (u32, u32) {
    // SAFETY: no memory is passed, and neither call fails.
    unsafe { (libc::getuid(), libc::geteuid()) }
}

/// The group of this process.
pub(crate) fn group() -> u32 {
    // SAFETY: no memory is passed, and the call does not fail.
    unsafe { libc::getgid() }
}

pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: the flags are of namespaces; nothing of this process's memory changes.
    check(unsafe { libc::unshare(flags) })?;
    Ok(())
}

pub(crate) const NEW_USER: c_int = libc::CLONE_NEWUSER;
pub(crate) const NEW_USER_AND_MOUNTS: c_int = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;

/// Joins the network namespace of this descriptor.
pub(crate) fn join_network(namespace: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

/// A child in a user namespace of its own, by `clone`; it ends at once.
pub(crate) fn clone_user() -> io::Result<()> {
    let flags = c_ulong::from(NEW_USER.cast_unsigned() | libc::SIGCHLD.cast_unsigned());
    // SAFETY: without a stack the child gets a copy of this one, as with fork, and ends at once.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    finish(pid)
}

/// The same by `clone3`.
pub(crate) fn clone3_user() -> io::Result<()> {
    // `struct clone_args` in its first form: flags, three addresses, the signal, three more.
    let arguments: [u64; 8] = [
        u64::from(NEW_USER.cast_unsigned()),
        0,
        0,
        0,
        u64::from(libc::SIGCHLD.cast_unsigned()),
        0,
        0,
        0,
    ];
    // SAFETY: the arguments are as long as is said; the child is as with fork, and ends at once.
    let pid = check(unsafe {
        libc::syscall(
            libc::SYS_clone3,
            arguments.as_ptr(),
            size_of_val(&arguments),
        )
    })?;
    finish(pid)
}

fn finish(pid: i64) -> io::Result<()> {
    if pid == 0 {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) }
    }
    wait(i32::try_from(pid).unwrap_or(-1), false).map(drop)
}

/// Adds a filter that allows everything.
pub(crate) fn allow_everything() -> io::Result<()> {
    const ALLOW: u32 = 0x7fff_0000;
    let mut program = [libc::sock_filter {
        code: 6,
        jt: 0,
        jf: 0,
        k: ALLOW,
    }];
    let filter = libc::sock_fprog {
        len: 1,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the first call takes numbers; the filter of one instruction outlives the second.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const filter,
        ))?;
    }
    Ok(())
}

/// Switches address randomisation off for this process's next program.
pub(crate) fn no_randomisation() -> io::Result<()> {
    const ADDR_NO_RANDOMIZE: c_ulong = 0x0004_0000;
    // SAFETY: no memory is passed.
    check(unsafe { libc::personality(ADDR_NO_RANDOMIZE) })?;
    Ok(())
}

/// How much processor time this process has used.
pub(crate) fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
