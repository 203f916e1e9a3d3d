//! What a process may do to itself and to others beyond files: priorities, limits, filters, namespaces.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use super::files::owned;
use super::{check, terminated};

/// A higher priority for this process.
pub(crate) fn raise_priority() -> io::Result<()> {
    // The highest: whatever it has now, this is more.
    // SAFETY: no memory is passed.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) })?;
    Ok(())
}

/// A higher hard limit of descriptors for this process.
pub(crate) fn raise_limit() -> io::Result<()> {
    // SAFETY: all zeros is a valid limit, which the kernel fills in, and which outlives both calls.
    unsafe {
        let mut limit: libc::rlimit64 = std::mem::zeroed();
        check(libc::getrlimit64(libc::RLIMIT_NOFILE, &raw mut limit))?;
        limit.rlim_max += 1;
        check(libc::setrlimit64(libc::RLIMIT_NOFILE, &raw const limit))?;
    }
    Ok(())
}

/// Lets another process run only when nothing else wants to.
pub(crate) fn make_idle(pid: i32) -> io::Result<()> {
    // SAFETY: all zeros is the only parameter that this policy takes.
    check(unsafe {
        let nothing: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(pid, libc::SCHED_IDLE, &raw const nothing)
    })?;
    Ok(())
}

/// The same for its input and output.
pub(crate) fn make_idle_for_disks(pid: i32) -> io::Result<()> {
    const PROCESS: c_int = 1;
    const IDLE: c_int = 3 << 13;
    // SAFETY: no memory is passed.
    check(unsafe { libc::syscall(libc::SYS_ioprio_set, PROCESS, pid, IDLE) })?;
    Ok(())
}

/// Where the locks of another process are, and whether it shares memory with this one: both ask for the right to look.
pub(crate) fn peek(pid: i32) -> [(&'static str, io::Result<i64>); 3] {
    const SAME_MEMORY: c_int = 1;
    let mut head = 0_usize;
    let mut length = 0_usize;
    // SAFETY: two numbers that outlive the first call; the second takes numbers, the third looks at no page.
    unsafe {
        [
            (
                "get_robust_list",
                check(libc::syscall(
                    libc::SYS_get_robust_list,
                    pid,
                    &raw mut head,
                    &raw mut length,
                )),
            ),
            (
                "kcmp",
                check(libc::syscall(
                    libc::SYS_kcmp,
                    libc::getpid(),
                    pid,
                    SAME_MEMORY,
                    0,
                    0,
                )),
            ),
            (
                "move_pages",
                check(libc::syscall(libc::SYS_move_pages, pid, 0, 0, 0, 0, 0)),
            ),
        ]
    }
}

/// A descriptor of the first process there is.
pub(crate) fn open_first() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    owned(check(unsafe { libc::syscall(libc::SYS_pidfd_open, 1, 0) })?)
}

/// Joins namespaces of a process by its descriptor.
pub(crate) fn join(process: &OwnedFd, which: c_int) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setns(process.as_raw_fd(), which) })?;
    Ok(())
}

/// The namespaces that take a capability, each by its name.
pub(crate) const NAMESPACES: [(&str, c_int); 7] = [
    ("mounts", libc::CLONE_NEWNS),
    ("network", libc::CLONE_NEWNET),
    ("processes", libc::CLONE_NEWPID),
    ("messages", libc::CLONE_NEWIPC),
    ("names", libc::CLONE_NEWUTS),
    ("groups", libc::CLONE_NEWCGROUP),
    ("time", 0x80),
];

/// Makes memory that can be read executable as well, for what this process starts.
pub(crate) fn read_implies_execute() -> io::Result<()> {
    const READ_IMPLIES_EXEC: c_ulong = 0x0040_0000;
    // SAFETY: no memory is passed.
    check(unsafe { libc::personality(READ_IMPLIES_EXEC) })?;
    Ok(())
}

/// Hangs up the terminal of this process; only for one that has made a session of its own, and so has none.
pub(crate) fn hang_up() -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::vhangup() })?;
    Ok(())
}

/// Another user for this process.
pub(crate) fn become_user(user: u32) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setresuid(user, user, user) })?;
    Ok(())
}

/// Takes in the orphans among its descendants.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })?;
    Ok(())
}

/// A child that becomes a sibling: a child of this process's parent.
pub(crate) fn fork_sibling(child: impl FnOnce() -> u8) -> io::Result<()> {
    let flags = c_ulong::from(libc::CLONE_PARENT.cast_unsigned() | libc::SIGCHLD.cast_unsigned());
    // SAFETY: without a stack the child gets a copy of this one, as with fork, and never returns from here.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    if pid == 0 {
        let code = child();
        // SAFETY: ends the child.
        unsafe { libc::_exit(code.into()) }
    }
    Ok(())
}

/// Adds a filter that allows everything and has a listener, who may let calls pass.
pub(crate) fn listen_to_calls() -> io::Result<OwnedFd> {
    const SET_MODE_FILTER: c_int = 1;
    const NEW_LISTENER: c_int = 1 << 3;
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
        owned(check(libc::syscall(
            libc::SYS_seccomp,
            SET_MODE_FILTER,
            NEW_LISTENER,
            &raw const filter,
        ))?)
    }
}

/// Adds a Landlock domain that allows writing everywhere.
pub(crate) fn allow_writing_everywhere() -> io::Result<()> {
    const PATH_BENEATH: c_int = 1;
    const WRITE_FILE: u64 = 1 << 1;
    let handled: [u64; 1] = [WRITE_FILE];
    let root = super::at::open(Path::new("/"), libc::O_PATH)?;
    // SAFETY: one word of the length that is said, which outlives the call.
    let rules = owned(check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            handled.as_ptr(),
            size_of_val(&handled),
            0,
        )
    })?)?;
    #[repr(C, packed)]
    struct Beneath {
        allowed: u64,
        parent: c_int,
    }
    let rule = Beneath {
        allowed: WRITE_FILE,
        parent: root.as_raw_fd(),
    };
    // SAFETY: the rule is laid out as the kernel reads it and outlives the call; the other calls take numbers.
    unsafe {
        check(libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            0,
        ))?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::syscall(
            libc::SYS_landlock_restrict_self,
            rules.as_raw_fd(),
            0,
        ))?;
    }
    Ok(())
}

/// Mounts a directory over another one; only for a mount namespace of one's own.
pub(crate) fn bind(source: &Path, target: &Path) -> io::Result<()> {
    let (source, target) = (terminated(source)?, terminated(target)?);
    // SAFETY: terminated strings that outlive the call.
    check(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            ptr::null(),
            libc::MS_BIND,
            ptr::null(),
        )
    })?;
    Ok(())
}

/// Asks the kernel to send a signal to a process when a pipe can be read, and writes to the pipe.
pub(crate) fn signal_by_pipe(pid: i32, signal: c_int) -> io::Result<()> {
    let mut ends: [c_int; 2] = [-1, -1];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
    let [read, write] = ends;
    let (read, write) = (owned(read.into())?, owned(write.into())?);
    // SAFETY: numbers, and one byte that outlives the last call.
    unsafe {
        check(libc::fcntl(read.as_raw_fd(), libc::F_SETOWN, pid))?;
        check(libc::fcntl(read.as_raw_fd(), F_SETSIG, signal))?;
        check(libc::fcntl(
            read.as_raw_fd(),
            libc::F_SETFL,
            libc::O_ASYNC | libc::O_NONBLOCK,
        ))?;
        check(libc::write(write.as_raw_fd(), c"x".as_ptr().cast(), 1) as i64)?;
    }
    Ok(())
}

const F_SETSIG: c_int = 10;
