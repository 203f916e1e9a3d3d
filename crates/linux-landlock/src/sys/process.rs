//! Making processes, and what a process does between fork and exec.

use std::ffi::{CStr, CString};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use super::check;

/// Which of two processes this is.
pub(crate) enum Forked {
    /// The new one.
    Child,
    /// The old one, with the new one's id.
    Parent(i32),
}

/// Forks. Only for a process with one thread: the child may then allocate.
pub(crate) fn fork() -> Result<Forked, Errno> {
    // SAFETY: the callers are the helper's own processes, which have one thread.
    match check(libc::c_long::from(unsafe { libc::fork() }))? {
        0 => Ok(Forked::Child),
        pid => i32::try_from(pid)
            .map(Forked::Parent)
            .map_err(|_| Errno::SRCH),
    }
}

/// Forks into new namespaces, given by `CLONE_NEW*` flags. Only for a process with one thread.
pub(crate) fn fork_into(namespaces: libc::c_int) -> Result<Forked, Errno> {
    fork_with(namespaces | libc::SIGCHLD)
}

/// Forks a child that whoever waits for any child passes over: [`has_children`](super::reap::has_children) does not see it,
/// and only [`reap_this`](super::reap::reap_this) reaps it. Only for a process with one thread.
pub(crate) fn fork_aside() -> Result<Forked, Errno> {
    // To the kernel this is a child whose end sends no signal.
    fork_with(0)
}

fn fork_with(flags: libc::c_int) -> Result<Forked, Errno> {
    // SAFETY: without CLONE_VM and with no stack given this is a fork; the caller has one thread.
    let pid = check(unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::c_long::from(flags),
            ptr::null::<libc::c_void>(),
            ptr::null::<libc::c_void>(),
            ptr::null::<libc::c_void>(),
            0_usize,
        )
    })?;
    match pid {
        0 => Ok(Forked::Child),
        pid => i32::try_from(pid)
            .map(Forked::Parent)
            .map_err(|_| Errno::SRCH),
    }
}

/// Gives the calling thread namespaces of its own.
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> Result<(), Errno> {
    // SAFETY: descriptors stay shared: only namespaces are asked for, and callers rely on nothing else of the thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Ends the process at once: no destructor, no handler.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Marks every descriptor from `first` on to be closed by exec.
pub(crate) fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: no memory is passed; nothing is closed now.
    check(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            CLOSE_RANGE_CLOEXEC,
        )
    })
    .map(drop)
}

/// Closes every descriptor from `first` to `last`.
pub(crate) fn close_range(first: u32, last: u32) -> Result<(), Errno> {
    if first > last {
        return Ok(());
    }
    // SAFETY: the callers keep no descriptor in the range: they are processes that give up what they inherited.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) }).map(drop)
}

/// Closes every descriptor from 3 on but these. Only for a process that has just been forked and never drops what it
/// inherited: who forked it owns those descriptors, and the numbers mean nothing here any more.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut kept: Vec<u32> = kept
        .iter()
        .filter_map(|kept| u32::try_from(kept.as_raw_fd()).ok())
        .collect();
    kept.sort_unstable();
    let mut first = 3;
    for number in kept.into_iter().filter(|number| *number >= 3) {
        if let Some(last) = number.checked_sub(1) {
            close_range(first, last)?;
        }
        first = number.saturating_add(1);
    }
    close_range(first, u32::MAX)
}

/// Strings as exec wants them: pointers with a null at the end, made before the fork.
pub(crate) struct ExecStrings {
    pointers: Vec<*const libc::c_char>,
    _owned: Vec<CString>,
}

impl ExecStrings {
    pub(crate) fn new(strings: Vec<CString>) -> Self {
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

/// Starts a program in place of this process; returns only if that fails.
pub(crate) fn exec(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Errno {
    // SAFETY: program and both arrays are terminated and outlive the call.
    unsafe {
        libc::execve(
            program.as_ptr(),
            argv.pointers.as_ptr(),
            env.pointers.as_ptr(),
        )
    };
    super::last_error()
}

/// How many bytes the stack of a [`vfork`] child has.
const STACK: usize = 64 * 1024;

/// Memory for the stack of a child that shares ours, with an inaccessible page below it.
#[derive(Debug)]
pub(crate) struct GuardedStack {
    base: *mut libc::c_void,
    length: usize,
}

// SAFETY: the memory belongs to the value alone; whoever owns it may use it from any thread.
unsafe impl Send for GuardedStack {}

impl GuardedStack {
    pub(crate) fn new() -> Result<Self, Errno> {
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
            return Err(super::last_error());
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
        // SAFETY: our own mapping, which no child uses any more: vfork returns after the child's exec or exit.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

/// Runs `child` in a new process that shares this one's memory while the calling thread waits for its exec or exit.
///
/// `child` must never return, allocate, lock or panic, and must make system calls only.
pub(crate) fn vfork<F: Fn()>(stack: &GuardedStack, child: &F) -> Result<i32, Errno> {
    extern "C" fn enter<F: Fn()>(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is the closure that the waiting caller keeps alive.
        let child = unsafe { &*child.cast::<F>() };
        child();
        127
    }
    // A handler must not run in the child, where it would act on the caller's memory.
    // SAFETY: all-zero sets are valid storage.
    let (mut all, mut old): (libc::sigset_t, libc::sigset_t) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    // SAFETY: both sets are ours.
    check(libc::c_long::from(unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old)
    }))?;
    // SAFETY: the location of this thread's errno is always valid.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the stack is unused and lives until the child has left our memory; the closure outlives the call; the
    // child blocks all signals until it resets their handlers.
    let pid = unsafe {
        libc::clone(
            enter::<F>,
            stack.top(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            ptr::from_ref(child).cast_mut().cast(),
        )
    };
    let result = check(libc::c_long::from(pid));
    // SAFETY: restores what the child's system calls may have overwritten.
    unsafe { *libc::__errno_location() = errno };
    // SAFETY: `old` was filled in above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut()) };
    result.and_then(|pid| i32::try_from(pid).map_err(|_| Errno::SRCH))
}

/// Sets every signal with a handler back to its default, so that none runs in a child that shares memory.
pub(crate) fn reset_handlers() {
    for signal in 1..=64 {
        // SAFETY: an all-zero action is the default one; signals that cannot be changed are refused, which is fine.
        unsafe {
            let mut now: libc::sigaction = mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut now) == 0
                && now.sa_sigaction != libc::SIG_DFL
                && now.sa_sigaction != libc::SIG_IGN
            {
                let default: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
    }
}
