//! From prepared bytes to a running program. The child shares our memory until exec, so that the cost does not depend on
//! how large this program is; between clone and exec it makes system calls only.

use std::ffi::{CStr, CString};
use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Errno;

use super::{check, last_error};

/// The steps of a child on its way to exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::os) enum SpawnStep {
    Process = 1,
    Signals,
    Session,
    Stdio,
    Terminal,
    Descriptors,
    WorkingDirectory,
    ProgramChanged,
    Exec,
}

impl SpawnStep {
    const ALL: [Self; 9] = [
        Self::Process,
        Self::Signals,
        Self::Session,
        Self::Stdio,
        Self::Terminal,
        Self::Descriptors,
        Self::WorkingDirectory,
        Self::ProgramChanged,
        Self::Exec,
    ];
}

/// A step that failed.
pub(in crate::os) type Failed = (SpawnStep, Errno);

/// Strings as exec wants them: pointers with a null at the end.
pub(in crate::os) struct ExecStrings {
    pointers: Vec<*const libc::c_char>,
    _owned: Vec<CString>,
}

impl ExecStrings {
    pub(in crate::os) fn new(strings: Vec<CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|string| string.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _owned: strings,
        }
    }
}

/// Everything that a child needs, ready.
pub(in crate::os) struct Prepared {
    /// Where the program may be, in order.
    pub(in crate::os) candidates: Vec<CString>,
    /// What the only candidate must be: its device and inode number.
    pub(in crate::os) identity: Option<(u64, u64)>,
    pub(in crate::os) argv: ExecStrings,
    pub(in crate::os) env: ExecStrings,
    pub(in crate::os) cwd: CString,
    /// What the directory must be: its device and inode number.
    pub(in crate::os) directory: Option<(u64, u64)>,
    pub(in crate::os) terminal: bool,
}

/// Starts a program and returns when it runs: its number, and a handle that can mean no other process.
///
/// The descriptors must be above 2, so that none is overwritten before it is used.
pub(in crate::os) fn spawn(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
) -> Result<(i32, OwnedFd), Failed> {
    let during = |errno| (SpawnStep::Process, errno);
    let stack = GuardedStack::new().map_err(during)?;
    let (failures, theirs) = failure_pipe().map_err(during)?;
    let report = theirs.as_raw_fd();
    let child = || {
        let (step, errno) = become_command(prepared, stdio);
        let mut record = [0_u8; 8];
        let parts = [step as u8, 0, 0, 0]
            .into_iter()
            .chain(errno.raw_os_error().to_le_bytes());
        for (slot, byte) in record.iter_mut().zip(parts) {
            *slot = byte;
        }
        // SAFETY: the record is ours; the child ends without touching anything else.
        unsafe {
            libc::write(report, record.as_ptr().cast(), record.len());
            libc::_exit(127)
        }
    };
    let (pid, handle) = vfork(&stack, &child).map_err(during)?;
    drop(theirs);
    // The child has left our memory by exec or by its end: what it had to say is in the pipe, and nobody else, who may
    // have inherited the other end by a fork of this program, is waited for.
    let mut record = [0_u8; 8];
    match rustix::io::read(&failures, &mut record) {
        Ok(8) => {
            let _ = super::wait::end_of(std::os::fd::AsFd::as_fd(&handle), super::wait::Reap::Wait);
            let [step, _, _, _, errno @ ..] = record;
            let errno = Errno::from_raw_os_error(i32::from_le_bytes(errno));
            let known = SpawnStep::ALL
                .into_iter()
                .find(|known| *known as u8 == step);
            Err((known.unwrap_or(SpawnStep::Process), errno))
        }
        _ => Ok((pid, handle)),
    }
}

/// A pipe that exec closes; reading it does not block, and its writing end is out of the way of descriptors 0-2.
fn failure_pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    use rustix::pipe::{PipeFlags, pipe_with};
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let writer = rustix::io::fcntl_dupfd_cloexec(&writer, 3)?;
    Ok((reader, writer))
}

/// Turns the new process into the command; returns only if a step fails. System calls only: nothing allocates, locks or
/// panics here.
fn become_command(prepared: &Prepared, stdio: [BorrowedFd<'_>; 3]) -> Failed {
    if let Err(failed) = set_up(prepared, stdio) {
        return failed;
    }
    let mut last = Errno::NOENT;
    for candidate in &prepared.candidates {
        if let Some(judged) = prepared.identity {
            match rustix::fs::stat(candidate.as_c_str()) {
                Err(errno) => return (SpawnStep::Exec, errno),
                Ok(now) if (now.st_dev, now.st_ino) != judged => {
                    return (SpawnStep::ProgramChanged, Errno::STALE);
                }
                Ok(_) => {}
            }
        }
        match exec(candidate, &prepared.argv, &prepared.env) {
            Errno::NOENT | Errno::NOTDIR => {}
            // Another directory may have one that can be run; if none has, this is the better answer.
            errno @ Errno::ACCESS => last = errno,
            errno => return (SpawnStep::Exec, errno),
        }
    }
    (SpawnStep::Exec, last)
}

fn set_up(prepared: &Prepared, stdio: [BorrowedFd<'_>; 3]) -> Result<(), Failed> {
    let during = |step: SpawnStep| move |errno: Errno| (step, errno);
    reset_dispositions();
    rustix::process::setsid().map_err(during(SpawnStep::Session))?;
    let [stdin, stdout, stderr] = stdio;
    rustix::stdio::dup2_stdin(stdin).map_err(during(SpawnStep::Stdio))?;
    rustix::stdio::dup2_stdout(stdout).map_err(during(SpawnStep::Stdio))?;
    rustix::stdio::dup2_stderr(stderr).map_err(during(SpawnStep::Stdio))?;
    if prepared.terminal {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())
            .map_err(during(SpawnStep::Terminal))?;
    }
    close_others_on_exec().map_err(during(SpawnStep::Descriptors))?;
    rustix::process::chdir(prepared.cwd.as_c_str()).map_err(during(SpawnStep::WorkingDirectory))?;
    if let Some(judged) = prepared.directory {
        // After it was entered: no link can lead elsewhere any more.
        let now = rustix::fs::stat(c".").map_err(during(SpawnStep::WorkingDirectory))?;
        if (now.st_dev, now.st_ino) != judged {
            return Err((SpawnStep::WorkingDirectory, Errno::STALE));
        }
    }
    // Last, so that no signal of this program's can end the child before it is one of its own.
    empty_mask().map_err(during(SpawnStep::Signals))
}

/// Marks everything but descriptors 0-2 to be closed by exec.
fn close_others_on_exec() -> Result<(), Errno> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: no memory is passed; nothing is closed now.
    check(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            libc::c_uint::MAX,
            CLOSE_RANGE_CLOEXEC,
        )
    })
    .map(drop)
}

/// Gives every signal its default meaning: no handler of ours runs in a child that shares our memory, and nothing that
/// this program ignores is ignored by the command.
fn reset_dispositions() {
    // As the kernel has it: handler, flags, restorer and mask. The C library would refuse the signals that it keeps for
    // itself, which whoever started this program may have ignored.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: the action is as large as the kernel reads, and all zeroes is the default one; signals that cannot be
        // changed are refused, which is fine.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null_mut::<libc::c_void>(),
                size_of::<u64>(),
            );
        }
    }
}

fn empty_mask() -> Result<(), Errno> {
    // SAFETY: an all-zero set is valid storage for sigemptyset.
    let mut none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the set is ours and initialised by the first call.
    check(libc::c_long::from(unsafe {
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    }))
    .map(drop)
}

/// Starts a program in place of this process; returns only if that fails.
fn exec(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Errno {
    // SAFETY: program and both arrays are terminated and outlive the call.
    unsafe {
        libc::execve(
            program.as_ptr(),
            argv.pointers.as_ptr(),
            env.pointers.as_ptr(),
        )
    };
    last_error()
}

/// How many bytes the stack of a child has.
const STACK: usize = 64 * 1024;

/// Memory for the stack of a child that shares ours, with an inaccessible page below it.
struct GuardedStack {
    base: *mut libc::c_void,
    length: usize,
}

impl GuardedStack {
    fn new() -> Result<Self, Errno> {
        let page = rustix::param::page_size();
        let length = STACK + page;
        // SAFETY: a fresh anonymous mapping; no existing memory is touched.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(last_error());
        }
        let stack = Self { base, length };
        // SAFETY: the first page of our own mapping.
        check(libc::c_long::from(unsafe {
            libc::mprotect(base, page, libc::PROT_NONE)
        }))?;
        Ok(stack)
    }

    fn top(&self) -> *mut libc::c_void {
        // SAFETY: one past the end of our mapping, which is page-aligned and so aligned for a stack.
        unsafe { self.base.byte_add(self.length) }
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which no child uses any more: vfork returns after the child's exec or end.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

/// Runs `child` in a new process that shares this one's memory, while the calling thread waits for its exec or end.
///
/// `child` must never return, allocate, lock or panic, and must make system calls only.
fn vfork<F: Fn()>(stack: &GuardedStack, child: &F) -> Result<(i32, OwnedFd), Errno> {
    extern "C" fn enter<F: Fn()>(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is the closure that the waiting caller keeps alive.
        let child = unsafe { &*child.cast::<F>() };
        child();
        127
    }
    // A handler must not run in the child, where it would act on our memory.
    // SAFETY: all-zero sets are valid storage.
    let (mut all, mut old): (libc::sigset_t, libc::sigset_t) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    // SAFETY: both sets are ours.
    let blocked = unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old)
    };
    if blocked != 0 {
        return Err(Errno::from_raw_os_error(blocked));
    }
    // SAFETY: the location of this thread's errno is always valid.
    let errno = unsafe { *libc::__errno_location() };
    let mut handle: libc::c_int = -1;
    // SAFETY: the stack is unused and lives until the child has left our memory; the closure outlives the call; the
    // child blocks all signals until none has a handler; the kernel writes the handle before it lets us go on.
    let pid = unsafe {
        libc::clone(
            enter::<F>,
            stack.top(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
            ptr::from_ref(child).cast_mut().cast(),
            &raw mut handle,
        )
    };
    let result = check(libc::c_long::from(pid));
    // SAFETY: restores what the child's system calls may have overwritten.
    unsafe { *libc::__errno_location() = errno };
    // SAFETY: `old` was filled in above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut()) };
    result?;
    if handle < 0 {
        return Err(Errno::NOSYS);
    }
    // SAFETY: the kernel has just given us this descriptor.
    Ok((pid, unsafe { OwnedFd::from_raw_fd(handle) }))
}
