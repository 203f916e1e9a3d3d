//! A descriptor that tells the end of a child, where the system has no handle for processes: a thread waits, and closes a
//! pipe.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use crate::os::sys::wait::Reap;
use crate::os::sys::wait_pid::end_of;

/// The stack of the thread, which only waits.
const STACK: usize = 128 * 1024;

/// Tells the end of a child, and leaves it to be reaped by others.
#[derive(Debug)]
pub(super) struct Waiter {
    ended: OwnedFd,
}

impl Waiter {
    /// Of a child that nobody has reaped.
    pub(super) fn new(pid: i32) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        std::thread::Builder::new()
            .name("palisade-waiter".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                // That somebody else has reaped it is an end, too.
                let _ = end_of(pid, Reap::WaitNot);
                drop(writer);
            })?;
        Ok(Self {
            ended: reader.into(),
        })
    }

    /// Readable from the end on.
    pub(super) fn status(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}
