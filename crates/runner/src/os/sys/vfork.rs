//! A child that shares our memory until exec, so that the cost does not depend on how large this program is.

use std::mem;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Errno;

use super::{check, last_error};

/// How many bytes the stack of a child has.
const STACK: usize = 64 * 1024;

/// Memory for the stack of a child that shares ours, with an inaccessible page below it.
pub(super) struct GuardedStack {
    base: *mut libc::c_void,
    length: usize,
}

impl GuardedStack {
    pub(super) fn new() -> Result<Self, Errno> {
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
pub(super) fn vfork<F: Fn()>(stack: &GuardedStack, child: &F) -> Result<(i32, OwnedFd), Errno> {
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
